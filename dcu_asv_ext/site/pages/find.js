"use strict";
/* What the index holds, by the names that addresses use. Nothing found is null, never undefined; positions may be 0,
   so ask `=== null`. */
dcu.find = (() => {
  const made = new Map(); // name of a table -> Map

  function table(name, entries) {
    if (!made.has(name)) made.set(name, new Map(entries()));
    return made.get(name);
  }

  const told = (found) => (found === undefined ? null : found);

  /* Position in index.places of "machine~env". */
  function place(key) {
    return told(table("places", () => dcu.index.places.map((one, pi) => [one.key, pi])).get(key));
  }

  /* Position in index.commits of a hash, or of its first 8 letters. */
  function commit(hash) {
    return told(
      table("commits", () => dcu.index.commits.map(([full], ci) => [full.slice(0, 8), ci])).get(
        String(hash || "").slice(0, 8),
      ),
    );
  }

  /* The entry of index.functions by its slug. */
  function fn(slug) {
    return told(table("functions", () => dcu.index.functions.map((one) => [one.slug, one])).get(slug));
  }

  /* The entry of index.functions by its own name, or by the name that asv has for one of its metrics. */
  function byName(name) {
    const names = () => {
      const asvs = dcu.index.functions.flatMap((one) => Object.values(one.asv || {}).map((asv) => [asv, one]));
      return [...asvs, ...dcu.index.functions.map((one) => [one.name, one])];
    };
    return told(table("names", names).get(name));
  }

  /* The branch of a name; without one the first; null where there is none of that name. */
  function branch(name) {
    if (!name) return dcu.index.branches[0] || null;
    return told(dcu.index.branches.find((one) => one.name === name));
  }

  return { place, commit, fn, byName, branch };
})();
