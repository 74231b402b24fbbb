"use strict";
/* Which two commits are compared, measured where, and what the address says of it. Commits and places are positions in
   the index, as everywhere. */
dcu.sides = (() => {
  const { text } = dcu;
  const measuredAt = new Map(); // place -> its commits

  /* The commits that have a result at a place, oldest first. */
  function measured(pi) {
    if (!measuredAt.has(pi)) {
      const { places, commits } = dcu.index;
      measuredAt.set(pi, places[pi].commits || commits.map((_, ci) => ci));
    }
    return measuredAt.get(pi);
  }

  /* The measured commits of the first branch that a commit is on; all where it is on none. */
  function line(pi, ci) {
    const branch = dcu.index.branches.find((one) => one.commits.includes(ci));
    if (!branch) return measured(pi);
    const here = new Set(measured(pi));
    return branch.commits.filter((one) => here.has(one));
  }

  /* The measured commit so many steps along its line; null where the line ends before. */
  function along(pi, ci, steps) {
    const found = line(pi, ci);
    const there = found[found.indexOf(ci) + steps];
    return there === undefined ? null : there;
  }

  /* The newest measured commit of the first branch that has one there. */
  function newest(pi) {
    const here = measured(pi);
    const set = new Set(here);
    for (const { commits } of dcu.index.branches) {
      const found = commits.filter((one) => set.has(one));
      if (found.length) return found[found.length - 1];
    }
    return here.length ? here[here.length - 1] : null;
  }

  const computed = (pi, before, after) => dcu.index.comparisons.some((one) => one[0] === pi && one[1] === before && one[2] === after);

  /* The place that is looked at if the address names none: of the newest comparison, one of a known device first. */
  function usualPlace() {
    const { comparisons, places } = dcu.index;
    const known = ([pi]) => Number(Boolean(places[pi].device));
    const [first] = [...comparisons].sort((a, b) => known(b) - known(a) || b[2] - a[2] || a[0] - b[0]);
    return first ? first[0] : 0;
  }

  /* {pi, before, after, faults}: faults are sentences on what the address names and is not there; the usual stands in
     for it. before and after may be null where a place has no two commits. */
  function chosen({ place, before, after }) {
    const faults = [];
    let pi = place ? dcu.find.place(place) : usualPlace();
    if (pi === null) {
      faults.push(text("compare.no-place", { place }));
      pi = usualPlace();
    }
    const commitOf = (hash) => {
      const ci = hash ? dcu.find.commit(hash) : null;
      if (hash && ci === null) faults.push(text("compare.no-commit", { hash }));
      else if (hash && !measured(pi).includes(ci)) faults.push(text("compare.not-measured", { hash, place: dcu.index.places[pi].key }));
      else return ci;
      return null;
    };
    const wantedBefore = commitOf(before);
    const found = commitOf(after);
    const last = found === null ? newest(pi) : found;
    const first = wantedBefore === null && last !== null ? along(pi, last, -1) : wantedBefore;
    return { pi, before: first, after: last, faults };
  }

  const short = (ci) => dcu.index.commits[ci][0].slice(0, 8);

  /* What refers to a commit: branches of which it is the head, and tags. */
  function names(ci) {
    const heads = dcu.index.branches.filter((one) => one.head === ci).map((one) => one.name);
    return [...heads, ...dcu.index.tags.filter(([, at]) => at === ci).map(([name]) => name)];
  }

  /* `1a2b3c4d main, v1.2 · 2026-05-01 · Its subject`. */
  function called(ci) {
    const [, date, subject] = dcu.index.commits[ci];
    const start = [short(ci), names(ci).join(", ")].filter(Boolean).join(" ");
    return [start, dcu.format.date(date), subject].filter((one) => one && one !== dcu.format.NONE).join(" · ");
  }

  /* Entries of the address that mean a pair. */
  const query = (pi, before, after) => ({
    place: dcu.index.places[pi].key,
    before: before === null ? null : short(before),
    after: after === null ? null : short(after),
  });

  /* A word as a shell takes it. */
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);

  function command(pi, before, after) {
    const { machine, env } = dcu.index.places[pi];
    return ["dcu-asv", "compare", short(before), short(after), "--machine", machine, "--env", env].map(quoted).join(" ");
  }

  return { measured, line, along, computed, chosen, names, called, short, query, command };
})();
