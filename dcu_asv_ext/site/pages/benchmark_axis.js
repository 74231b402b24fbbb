"use strict";
/* Where commits lie on the axis: by their number on a branch, or by date. A commit that has no place there (of another
   branch, or without a date) is in no plot. */
dcu.benchmark.axis = (() => {
  const { place } = dcu.plotting.model;

  /* branch: of the index, or null for all commits. */
  function make(branch, dates) {
    const all = dcu.index.commits;
    const members = branch ? branch.commits : all.map((_, ci) => ci);
    const numbers = branch ? branch.numbers : members;
    const at = new Map(); // position of a commit -> x
    const found = []; // [x, position], rising
    if (dates) {
      let last = -Infinity;
      for (const ci of members.filter((one) => all[one][1] > 0).sort((a, b) => all[a][1] - all[b][1])) {
        last = Math.max(all[ci][1], last + 1); // two commits of one moment stay two
        found.push([last, ci]);
      }
    } else members.forEach((ci, i) => found.push([numbers[i], ci]));
    for (const [x, ci] of found) at.set(ci, x);
    const xs = found.map(([x]) => x);
    const of = new Map(found.map(([x, ci]) => [x, ci]));

    const commit = (x) => (of.has(x) ? of.get(x) : null);
    const before = (x) => found[Math.max(0, Math.min(place(xs, x + 1e-9) - 1, found.length - 1))];
    const text = (x) => {
      const ci = commit(x);
      return ci === null ? String(x) : [all[ci][0].slice(0, 8), dcu.format.date(all[ci][1]), all[ci][2]].filter(Boolean).join(" · ");
    };
    const tick = (x) => `${x}\n${found.length ? dcu.format.date(all[before(x)[1]][1]) : ""}`;

    /* The range that shows the commits from one to another. */
    function range(from, to) {
      if (!found.length || (from === null && to === null)) return null;
      const low = at.has(from) ? at.get(from) : xs[0];
      const high = at.has(to) ? at.get(to) : xs[xs.length - 1];
      const room = dates ? Math.max((high - low) * 0.02, 3600000) : 0.5;
      return low <= high ? [low - room, high + room] : null;
    }

    /* The first and the last commit of a range; where none lies in it, those beside it. */
    function ends([from, to]) {
      const first = found[Math.min(place(xs, from), found.length - 1)];
      return [first[1], before(to)[1]];
    }

    return { at, dates, commit, text, tick, range, ends, undated: members.length - found.length };
  }

  return { make };
})();
