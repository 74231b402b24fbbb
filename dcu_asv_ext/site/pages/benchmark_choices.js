"use strict";
/* What of a benchmark is shown, as the address tells it: machine and environment, branch, parameters, metrics, axis.
   Everything has a name there, so that an address still means the same after the next publish. */
dcu.benchmark = {};
dcu.benchmark.choices = (() => {
  const EVERY = "*"; // the branch that is all commits
  const USUAL = 4; // lines of a plot that are drawn before any parameters were chosen
  const MOST = 12; // combinations of parameters that are drawn at all

  /* Several values in one entry of the address: with | between them; \ before one that belongs to a value. */
  const join = (values) => values.map(dcu.alone).join("|");
  function split(text) {
    const found = [""];
    for (let i = 0; i < text.length; i++) {
      if (text[i] === "|") found.push("");
      else found[found.length - 1] += text[i] === "\\" && i + 1 < text.length ? text[++i] : text[i];
    }
    return found;
  }

  const paramKey = (fn, at) => `p.${fn.params[at].name || at}`;

  /* The chosen values of each parameter: null where nothing is chosen. Values that are not there are passed over. */
  function chosenValues(fn, query) {
    return fn.params.map((param, at) => {
      const told = query[paramKey(fn, at)];
      if (told === undefined) return null;
      const values = split(told).filter((one) => param.values.includes(one));
      return values.length ? values : null;
    });
  }

  /* As the parameters' values are declared; the data have them by the alphabet. */
  function inOrder(fn, combos) {
    const ranks = fn.params.map((param) => new Map(param.values.map((value, rank) => [value, rank])));
    const rank = (combo, at) => (ranks[at].has(combo[at]) ? ranks[at].get(combo[at]) : ranks[at].size);
    return [...combos].sort((a, b) => {
      const at = a.findIndex((value, i) => value !== b[i]);
      return at < 0 ? 0 : rank(a, at) - rank(b, at);
    });
  }

  /* The combinations that are drawn, of those measured at the place: all that fit, and without any choice no more than
     can be read in a plot of several metrics. */
  function combosOf(fn, measured, chosen) {
    const fits = measured.filter((combo) => combo.every((value, at) => !chosen[at] || chosen[at].includes(value)));
    const usual = Math.max(1, Math.floor(USUAL / Math.min(fn.metrics.length, 3)));
    return chosen.every((one) => one === null) ? fits.slice(0, usual) : fits;
  }

  /* The function that an address means; null where there is none. */
  function fnOf({ path, query }) {
    if (path.length) return dcu.find.fn(path[0]) || dcu.find.byName(path[0]);
    return query.name ? dcu.find.byName(query.name) : null;
  }

  const placesOf = (fn) => Object.keys(fn.places).map(Number).sort((a, b) => a - b);

  /* The one with most results; null of none. */
  function usualPlace(places) {
    const count = (pi) => (dcu.index.places[pi].commits || []).length;
    return places.length ? places.reduce((best, pi) => (count(pi) > count(best) ? pi : best)) : null;
  }

  /* Whether commits of this site lie outside all of its branches, or it has none. */
  function strays() {
    const on = new Set(dcu.index.branches.flatMap((one) => one.commits));
    return on.size < dcu.index.commits.length;
  }

  /* notes: sentences on what the address asks for and is not there. */
  function read(state) {
    const { query } = state;
    const fn = fnOf(state);
    const notes = [];
    if (!fn) return { fn: null, asked: state.path[0] || query.name || "", notes };
    const places = placesOf(fn);
    let pi = query.place ? dcu.find.place(query.place) : null;
    if (query.place && !places.includes(pi)) {
      notes.push(dcu.text("benchmark.no-place", { place: query.place }));
      pi = null;
    }
    // asv's pages know a machine alone.
    const own = places.filter((one) => dcu.index.places[one].machine === query.machine);
    if (query.machine && !query.place && !own.length) notes.push(dcu.text("benchmark.no-place", { place: query.machine }));
    if (pi === null) pi = usualPlace(own.length ? own : places);
    let branch = query.branch === EVERY ? null : dcu.find.branch(query.branch);
    if (query.branch && query.branch !== EVERY && !branch) {
      notes.push(dcu.text("benchmark.no-branch", { branch: query.branch }));
      branch = dcu.find.branch("");
    }
    const chosen = chosenValues(fn, query);
    fn.params.forEach((param, at) => {
      const asked = query[paramKey(fn, at)];
      if (asked !== undefined && !chosen[at]) notes.push(dcu.text("benchmark.no-value", { value: asked, param: param.name || at }));
    });
    const measured = pi === null ? [] : inOrder(fn, fn.places[pi].combos);
    const combos = combosOf(fn, measured, chosen);
    if (!combos.length && measured.length) notes.push(dcu.text("benchmark.no-combination"));
    if (combos.length > MOST) notes.push(dcu.text("benchmark.many", { shown: MOST, all: combos.length }));
    const asked = query.metrics === undefined ? [] : split(query.metrics);
    const metrics = fn.metrics.filter((one) => asked.includes(one));
    if (asked.length && !metrics.length) notes.push(dcu.text("benchmark.no-metric", { metrics: asked.join(", ") }));
    const commitOf = (hash) => {
      const ci = hash ? dcu.find.commit(hash) : null;
      if (hash && ci === null) notes.push(dcu.text("benchmark.no-commit", { commit: hash }));
      return ci;
    };
    return {
      fn, pi, branch, notes, places, measured,
      chosen: fn.params.map((_, at) => new Set(combos.map((combo) => combo[at]))),
      combos: combos.slice(0, MOST),
      metrics: new Set(metrics.length ? metrics : fn.metrics),
      dates: query.x === "dates",
      log: query.y === "log",
      from: commitOf(query.from),
      to: commitOf(query.to),
      commit: commitOf(query.commit),
    };
  }

  /* Names like the one that was asked for, best first: by the pairs of letters that they share (Dice). */
  function near(asked, count = 8) {
    const pairs = (name) => {
      const plain = name.toLowerCase();
      return new Set(Array.from({ length: Math.max(plain.length - 1, 0) }, (_, i) => plain.slice(i, i + 2)));
    };
    const wanted = pairs(asked.replace(/-[0-9a-f]{8}$/, ""));
    const like = (fn) => {
      const own = pairs(fn.name);
      const both = [...own].filter((one) => wanted.has(one)).length;
      return (2 * both) / (own.size + wanted.size || 1);
    };
    return dcu.index.functions.map((fn) => [like(fn), fn]).sort((a, b) => b[0] - a[0]).slice(0, count).map(([, fn]) => fn);
  }

  return { read, near, join, paramKey, placesOf, strays, EVERY };
})();
