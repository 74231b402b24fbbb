"use strict";
/* Evidence as the pages need it: which records are meant, and plain figures of them. No element is made here.
   The meaning of a record's fields is told in dcu_asv_ext/evidence/record.py. */
dcu.evidence = (() => {
  const known = dcu.format.known;

  /* A path into nested objects; undefined where a part is missing or is no object. */
  const at = (one, ...path) => path.reduce((found, name) => (found !== null && typeof found === "object" ? found[name] : undefined), one);

  const number = (one, ...path) => {
    const found = at(one, ...path);
    return known(found) ? found : null;
  };

  const object = (one, ...path) => {
    const found = at(one, ...path);
    return found !== null && typeof found === "object" && !Array.isArray(found) ? found : {};
  };

  const list = (one, ...path) => {
    const found = at(one, ...path);
    return Array.isArray(found) ? found : [];
  };

  /* ---- figures of many numbers; null of none */

  const sorted = (values) => values.filter(known).sort((a, b) => a - b);

  /* Between order statistics linearly, as numpy does. `ordered`: ascending. */
  function quantile(ordered, share) {
    if (!ordered.length) return null;
    const place = share * (ordered.length - 1);
    const low = Math.floor(place);
    const high = Math.min(low + 1, ordered.length - 1);
    return ordered[low] + (place - low) * (ordered[high] - ordered[low]);
  }

  function figures(values) {
    const ordered = sorted(values);
    const [q1, median, q3] = [0.25, 0.5, 0.75].map((share) => quantile(ordered, share));
    return { n: ordered.length, min: ordered.length ? ordered[0] : null, q1, median, q3, max: ordered.length ? ordered[ordered.length - 1] : null };
  }

  /* ---- which records */

  /* Positions of the files that hold a commit's evidence of a function at a place; [] where none was published. */
  const filesOf = (fn, pi, ci) => list(fn, "places", pi, "evidence").flatMap((commits, file) => (commits.includes(ci) ? [file] : []));

  /* The evidence of a commit: {names, traces, entries}, one entry for each combination of parameters, with its rows.
     A row is {record, derived, line}: a measurement, what was worked out of it, and its line of the file. */
  async function load(fn, pi, ci) {
    const [hash] = dcu.index.commits[ci];
    const files = await Promise.all(filesOf(fn, pi, ci).map((file) => dcu.load(`e/${fn.slug}/${pi}-${file}`)));
    const entries = new Map();
    for (const entry of files.flatMap((file) => file.commits).filter((one) => one.commit === hash)) {
      const rows = entry.lines.map((line, place) => ({ record: JSON.parse(line), derived: entry.derived[place], line }));
      const key = JSON.stringify(entry.params);
      if (entry.continued && entries.has(key)) entries.get(key).rows.push(...rows);
      else entries.set(key, { ...entry, rows });
    }
    return {
      names: files.length ? files[0].names : [],
      traces: files.flatMap((file) => file.traces || []).filter((one) => one.commit === hash),
      entries: [...entries.values()],
    };
  }

  /* The entry whose parameters an address means ("values joined by ,"), else the first; null of none. */
  const chosen = (entries, told) => entries.find((one) => one.params.join(",") === told) || entries[0] || null;

  /* Sessions, oldest first, each {name, rows, quick}: one row a round (its last measurement), by number. */
  function sessions(rows) {
    const found = new Map();
    for (const row of rows) {
      const { session } = row.derived;
      if (!found.has(session)) found.set(session, new Map());
      found.get(session).set(row.record.round, row);
    }
    return [...found].sort(([a], [b]) => a - b).map(([, rounds]) => {
      const mine = [...rounds.values()].sort((a, b) => a.record.round - b.record.round);
      return { name: String(mine[0].record.session), rows: mine, quick: mine.every((row) => row.derived.quick) };
    });
  }

  /* The newest that is not of single calls (--quick), else the newest. */
  function newest(all) {
    const full = all.filter((one) => !one.quick);
    return full[full.length - 1] || all[all.length - 1];
  }

  /* ---- the samples of one record */

  /* The steady part's kind where there are too few samples to look for one (stats/steady.py). */
  const UNKNOWN = "cannot tell";
  const PASSES = ["latency", "device_time", "host_time", "process_wall", "compile"];

  /* Every sample of a pass in the order in which they were taken: {value, part}, value null where there was none.
     part: "cold", "warm_up", "before" (timed, and left out: not steady yet), "steady", or "timed" where there is no
     steady segment or none is looked for. The warm-up and the timed samples are one sequence, which `derived` cuts. */
  function sequence(row, pass) {
    const times = object(row.record, "times");
    const timed = list(times, pass);
    if (pass !== "latency") return timed.map((value) => ({ value, part: "timed" }));
    const warmUp = list(times, "warm_up");
    const start = at(row.derived, "steady", "kind") === UNKNOWN ? null : number(row.derived, "steady", "start");
    const part = (place) => (start === null ? "timed" : place < start ? "before" : "steady");
    return [
      ...list(times, "cold").map((value) => ({ value, part: "cold" })),
      ...warmUp.map((value) => ({ value, part: "warm_up" })),
      ...timed.map((value, place) => ({ value, part: part(place + warmUp.length) })),
    ];
  }

  /* What the figures of a pass are made from. */
  const used = (row, pass) => sequence(row, pass).filter((one) => one.part === "steady" || one.part === "timed").map((one) => one.value);

  /* Passes with times, in the table's order; those of later protocols behind them. */
  function passes(rows) {
    const found = new Set(rows.flatMap((row) => Object.keys(object(row.record, "times"))));
    const others = [...found].filter((name) => !["cold", "warm_up", ...PASSES].includes(name));
    const sequenced = found.has("cold") || found.has("warm_up") ? ["latency"] : [];
    return [...PASSES.filter((name) => found.has(name) || sequenced.includes(name)), ...others];
  }

  /* ---- facts of several records */

  /* An object with its nested ones flattened: "packages.torch" -> value. Lists stay. */
  function flat(one, prefix = "") {
    return Object.entries(one).flatMap(([name, value]) =>
      value !== null && typeof value === "object" && !Array.isArray(value) ? flat(value, `${prefix}${name}.`) : [[prefix + name, value]]
    );
  }

  /* name -> [{value, rounds}] over rows, in order of first appearance; a value that a round does not have is left out. */
  function shared(rows, choose) {
    const found = new Map();
    for (const row of rows) {
      for (const [name, value] of flat(choose(row.record, row))) {
        const values = found.get(name) || [];
        const same = values.find((one) => JSON.stringify(one.value) === JSON.stringify(value));
        if (same) same.rounds.push(row.record.round);
        else values.push({ value, rounds: [row.record.round] });
        found.set(name, values);
      }
    }
    return found;
  }

  return { at, number, object, list, quantile, figures, filesOf, load, chosen, sessions, newest, sequence, used, passes, shared };
})();
