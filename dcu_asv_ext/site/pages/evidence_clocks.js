"use strict";
/* The card while it was measured: core clock, power and temperature in each pass; who else was on it. */
(() => {
  const { el, text, format, evidence } = dcu;
  const { number, object, list } = evidence;

  /* name of the readings -> unit */
  const READINGS = { core_clock_mhz: "MHz", power_w: "W", temperature_c: "°C" };
  const SHAPES = 6, COLOURS = 8;

  const readingText = (name) => text(`evidence.reading.${name}`);

  /* Of one kind of reading a plot with a series for each round; null where no round has readings of it. */
  function plotOf(rows, name) {
    const having = rows.filter(({ record }) => list(record, "sampled", name).some(format.known) && list(record, "sampled", "times").length);
    if (!having.length) return null;
    const series = having.map(({ record }, place) => ({
      label: text("evidence.round", { round: record.round }), colour: place % COLOURS, shape: place % SHAPES, dash: Math.floor(place / COLOURS),
      x: record.sampled.times, y: record.sampled[name], line: "steps",
    }));
    return dcu.plot({
      label: text("evidence.readings-label", { name: readingText(name), count: having.length }),
      height: 180,
      x: { kind: "number", title: text("evidence.since-start"), text: (x) => text("evidence.seconds-in", { seconds: format.digits(x) }), whole: false },
      y: { scale: "linear", unit: READINGS[name] },
      series,
      zones: having.length === 1 ? zonesOf(having[0].record) : [],
    }).element;
  }

  /* The passes of a round as zones: of one round alone, since those of several lie over one another. */
  function zonesOf(record) {
    return Object.entries(object(record, "spans")).map(([name, [from, to]], place) => ({ from, to, label: passText(name), colour: place % COLOURS }));
  }

  function passText(name) {
    const key = `evidence.span.${name}`;
    return key in dcu.texts ? text(key) : name;
  }

  const reading = (key) => ({ key, title: readingText(key), numeric: true, cell: (row) => (row[key] === null ? format.NONE : `${row[key]} ${READINGS[key]}`) });

  /* Every pass of every round: how long it took, and what its readings come to. */
  function passTable(view) {
    const rows = view.rows.flatMap(({ record }) => {
      const names = Object.keys({ ...object(record, "spans"), ...object(record, "sampled", "passes") });
      return names.map((pass) => {
        const [from, to] = [number(record, "spans", pass, 0), number(record, "spans", pass, 1)];
        const own = object(record, "sampled", "passes", pass);
        return {
          pass: passText(pass), round: record.round, begin: from, seconds: from === null || to === null ? null : to - from,
          core_clock_mhz: number(own, "core_clock_mhz"), power_w: number(own, "power_w"), temperature_c: number(own, "temperature_c"),
          used_bytes: number(own, "used_bytes"), readings: number(own, "readings"),
        };
      });
    });
    if (!rows.length) return null;
    const columns = [
      { key: "pass", title: text("evidence.pass") },
      { key: "round", title: text("evidence.col.round"), numeric: true },
      { key: "begin", title: text("evidence.col.begin"), numeric: true, cell: (row) => format.time(row.begin) },
      { key: "seconds", title: text("evidence.col.took"), numeric: true, cell: (row) => format.time(row.seconds) },
      ...Object.keys(READINGS).map(reading),
      { key: "used_bytes", title: text("evidence.col.used"), numeric: true, cell: (row) => format.bytes(row.used_bytes) },
      { key: "readings", title: text("evidence.col.readings"), numeric: true },
    ].filter((column) => rows.some((row) => row[column.key] !== null));
    const table = () => dcu.table({ columns, rows, caption: text("evidence.passes"), hideCaption: true, csv: `${view.fn.slug}-${evidence.hash8(view.ci)}-passes`, filter: rows.length > 12 });
    return evidence.behind(text("evidence.passes"), table, view.rows.length === 1);
  }

  /* Why there are no readings, or no single ones. */
  function reasons(rows) {
    const found = new Map();
    const add = (reason, round) => found.set(reason, [...(found.get(reason) || []), round]);
    for (const { record, derived } of rows) {
      const sampled = object(record, "sampled");
      if (sampled.missing) add(String(sampled.missing), record.round);
      else if (list(derived, "thinned").includes("sampled")) add(text("evidence.readings-thinned"), record.round);
      else if (!Object.keys(sampled).length) add(text(derived.quick ? "evidence.readings-quick" : "evidence.readings-none"), record.round);
    }
    return [...found].map(([reason, rounds]) => evidence.quiet(rounds.length === rows.length ? reason : text("evidence.of-rounds", { value: reason, rounds: evidence.spans(rounds) })));
  }

  /* The card and the machine before and after: facts that are volatile, by round where they differ. */
  function states(rows) {
    const both = ["before", "after"].map((when) => {
      const found = evidence.shared(rows, (record) => object(record, "state", when));
      return found.size ? [el("h4", {}, text(`evidence.state.${when}`)), evidence.sharedFacts(found, rows.length)] : [];
    });
    const rest = evidence.shared(rows, (record) => {
      const { before, after, missing, ...others } = object(record, "state");
      return others;
    });
    if (!both.flat().length && !rest.size) return null;
    return evidence.under(text("evidence.state"), el("div", { class: "evidence-columns" }, both.filter((one) => one.length).map((one) => el("div", {}, one)),
      rest.size > 0 && el("div", {}, el("h4", {}, text("evidence.state.company")), evidence.sharedFacts(rest, rows.length))));
  }

  evidence.parts.clocks = (view) => {
    const { rows } = view;
    const plots = Object.keys(READINGS).map((name) => plotOf(rows, name)).filter(Boolean);
    const source = [...new Set(rows.map(({ record }) => object(record, "sampled")).filter((one) => one.source)
      .map((one) => text("evidence.sampled-by", { source: one.source, interval: format.time(one.interval), count: evidence.readable(one.count) })))];
    const throttled = [...new Set(rows.flatMap(({ record }) => list(record, "sampled", "throttle")))];
    const marks = rows.flatMap(({ record }) => list(record, "sampled", "marks").map((mark) => el("p", { class: "note" }, text("evidence.of-round", { round: record.round, value: mark }))));
    return evidence.section("clocks", text("evidence.clocks"), marks,
      throttled.length > 0 && evidence.quiet(text("evidence.throttled", { reasons: throttled.join(", ") })),
      reasons(rows), plots.length > 0 && rows.length > 1 && evidence.quiet(text("evidence.zones-hint")),
      plots.length > 0 && el("div", { class: "evidence-plots" }, plots), source.map(evidence.quiet), passTable(view), states(rows));
  };
})();
