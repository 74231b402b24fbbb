"use strict";
/* The raw samples: in the order in which they were taken, and how they are spread; rounds side by side. */
(() => {
  const { el, text, format, evidence } = dcu;
  const { figures, number, object, list } = evidence;

  /* part -> [colour, shape] of its points */
  const PARTS = { cold: [3, 3], warm_up: [1, 2], before: [4, 1], steady: [0, 0], timed: [0, 0] };
  /* Beyond this factor between the longest and the shortest time a linear axis shows little but the longest. */
  const WIDE = 8;
  // A row of dots: its height, their size, and the lines that they stand on in turn.
  const STRIP = 38, RADIUS = 2.4, LANES = 7;

  const partText = (part) => text(`evidence.part.${part}`);

  function passText(pass) {
    const key = `evidence.pass.${pass}`;
    return key in dcu.texts ? text(key) : pass;
  }

  /* The pass that the address asks for, else the first that there is. */
  const passOf = ({ state, rows }) => {
    const all = evidence.passes(rows);
    return [all.includes(state.query.pass) ? state.query.pass : all[0], all];
  };

  /* Every sample of the rows: {round, number (of the round's), place (of all), value, part}. */
  function samples(rows, pass) {
    let place = 0;
    return rows.flatMap((row) => evidence.sequence(row, pass).map((one, at) => ({ ...one, round: row.record.round, number: at + 1, place: (place += 1) })));
  }

  function seriesOf(found, part) {
    const mine = found.filter((one) => one.part === part);
    const breaks = mine.flatMap((one, place) => (place && (mine[place - 1].round !== one.round || mine[place - 1].place !== one.place - 1) ? [place] : []));
    const [colour, shape] = PARTS[part];
    return {
      label: partText(part), colour, shape, x: mine.map((one) => one.place), y: mine.map((one) => (format.known(one.value) && one.value >= 0 ? one.value : null)),
      breaks, line: mine.length > 1, note: (i) => [text("evidence.sample-of", { round: mine[i].round, number: mine[i].number })],
    };
  }

  /* The plot of a pass in acquisition order, one round after the other. */
  function sequencePlot(found, pass, scale, rows) {
    const parts = Object.keys(PARTS).filter((part) => found.some((one) => one.part === part));
    const bounds = rows.map(({ record }) => {
      const mine = found.filter((one) => one.round === record.round);
      return mine.length ? { from: mine[0].place - 0.5, to: mine[mine.length - 1].place + 0.5, label: text("evidence.round", { round: record.round }) } : null;
    }).filter(Boolean);
    const rounds = parts.map((part) => found.filter((one) => one.part === part).map((one) => one.round));
    const plot = dcu.plot({
      label: text("evidence.sequence-label", { pass: passText(pass), parts: parts.map(partText).join(", ") }),
      height: 320,
      x: { kind: "number", title: text("evidence.sample"), text: (x) => text("evidence.sample-number", { number: x }), extent: [0, found.length + 1] },
      y: { scale, unit: "seconds" },
      series: parts.map((part) => seriesOf(found, part)),
      table: { byX: true, columns: [{ key: "round", title: text("evidence.col.round"), numeric: true, value: (series, i) => rounds[series][i] }] },
      zones: bounds.length > 1 ? bounds.filter((_, place) => place % 2 === 0).concat(bounds.filter((_, place) => place % 2).map((one) => ({ ...one, colour: 0 }))) : [],
      empty: text("evidence.no-samples"),
    });
    return plot.element;
  }

  /* ---- spread */

  /* A row of dots on an axis from `low` to `high`, with the middle half as a box and the median as a line. Places are
     percentages, so the drawing is as wide as it may be. */
  function strip(row, pass, [low, high]) {
    const all = evidence.sequence(row, pass).filter((one) => ["before", "steady", "timed"].includes(one.part) && format.known(one.value));
    const x = (value) => evidence.share((value - low) / (high - low || 1));
    const told = figures(evidence.used(row, pass));
    if (!told.n) return null;
    // Dots that would hide one another stand on lines in turn, the same every time.
    const dot = (one, place) => el("svg:circle", { class: `dot ${one.part}`, cx: x(one.value), cy: 4 + ((place * 3) % LANES) * ((STRIP - 8) / (LANES - 1)), r: RADIUS });
    const label = text("evidence.strip-label", { round: row.record.round, count: told.n, median: format.time(told.median), low: format.time(told.q1), high: format.time(told.q3), least: format.time(told.min), most: format.time(told.max) });
    return el("svg:svg", { class: "evidence-strip", height: STRIP, role: "img", "aria-label": label },
      el("svg:rect", { class: "middle", x: x(told.q1), width: evidence.share((told.q3 - told.q1) / (high - low || 1)), y: 1, height: STRIP - 2 }),
      all.map(dot),
      el("svg:line", { class: "median", x1: x(told.median), x2: x(told.median), y1: 0, y2: STRIP }));
  }

  function axis([low, high]) {
    const at = [0, 0.25, 0.5, 0.75, 1];
    const [, unit] = format.time(high).split(" ");
    const scale = { s: 1, ms: 1e-3, "µs": 1e-6, ns: 1e-9 }[unit] || 1;
    const digits = Math.max(3, Math.ceil(Math.log10(high / (high - low || high))) + 2);
    const told = (part) => `${format.digits((low + part * (high - low)) / scale, Math.min(digits, 8))}${part === 1 ? ` ${unit}` : ""}`;
    return el("div", { class: "evidence-strip-axis", "aria-hidden": "true" }, at.map((part) => el("span", {}, told(part))));
  }

  function distribution(rows, pass) {
    const values = rows.flatMap((row) => evidence.sequence(row, pass)).filter((one) => ["before", "steady", "timed"].includes(one.part)).map((one) => one.value);
    const { n, min, max } = figures(values);
    if (n < 2) return null;
    const limits = min === max ? [min * 0.99, max * 1.01 || 1] : [min, max];
    const strips = rows.map((row) => [text("evidence.round", { round: row.record.round }), strip(row, pass, limits)]).filter(([, drawn]) => drawn);
    return evidence.under(text("evidence.spread"),
      evidence.quiet(text("evidence.spread-about")),
      el("div", { class: "evidence-strips" }, strips.map(([label, drawn]) => [el("span", { "aria-hidden": "true" }, label), drawn]), el("span", {}), axis(limits)));
  }

  /* ---- rounds */

  const percent = (part) => (format.known(part) ? `${format.digits(100 * part, 3)} %` : format.NONE);

  /* One row a round: what its samples come to, and under what they were taken. */
  function roundRow(row, pass) {
    const { record, derived } = row;
    const told = figures(evidence.used(row, pass));
    const before = evidence.sequence(row, pass).filter((one) => one.part === "before").length;
    const own = object(record, "sampled", "passes", pass);
    const steady = object(derived, "steady");
    return {
      round: record.round, order: number(record, "order"), started: evidence.readableTime(record.started_at), status: record.status,
      samples: told.n, before, batch: number(record, "batch", pass), median: told.median, least: told.min, most: told.max,
      spread: told.n > 1 ? (told.q3 - told.q1) / told.median : null, cold: number(record, "times", "cold", 0),
      warmUp: list(record, "times", "warm_up").length || null, clock: number(own, "core_clock_mhz"), load: number(record, "software", "load_1min"),
      steady: pass === "latency" ? steady.kind || "" : "", why: steady.reason || "",
      thinned: list(derived, "thinned").length > 0,
    };
  }

  const time = (key, title) => ({ key, title, numeric: true, cell: (row) => format.time(row[key]) });
  const plain = (key, title, numeric = false) => ({ key, title, numeric });

  function columns(pass, rows) {
    const all = [
      plain("round", text("evidence.col.round"), true),
      { key: "started", title: text("evidence.col.started"), cell: (row) => el("span", { class: "evidence-whole" }, row.started) },
      time("median", text("evidence.col.median")),
      { key: "spread", title: text("evidence.col.spread"), numeric: true, cell: (row) => percent(row.spread), help: text("evidence.col.spread-help") },
      time("least", text("evidence.col.least")),
      time("most", text("evidence.col.most")),
      plain("samples", text("evidence.col.samples"), true),
      { ...plain("before", text("evidence.col.before"), true), help: text("evidence.col.before-help") },
      { ...plain("batch", text("evidence.col.batch"), true), help: text("evidence.col.batch-help") },
      plain("warmUp", text("evidence.col.warm-up"), true),
      time("cold", text("evidence.col.cold")),
      { key: "steady", title: text("evidence.col.steady"), cell: (row) => el("span", { title: row.why || null }, row.steady || format.NONE) },
      { key: "clock", title: text("evidence.col.clock"), numeric: true, cell: (row) => (row.clock === null ? format.NONE : `${row.clock} MHz`) },
      plain("load", text("evidence.col.load"), true),
      { key: "status", title: text("evidence.col.status"), cell: (row) => (row.status === "ok" ? "ok" : el("span", { class: "badge failed" }, row.status)) },
    ];
    const needed = ["round", "started", "median", "samples"];
    return all.filter((one) => needed.includes(one.key) || rows.some((row) => row[one.key] !== null && row[one.key] !== "" && row[one.key] !== undefined))
      .filter((one) => (one.key !== "status" || rows.some((row) => row.status !== "ok")) && (one.key !== "before" || rows.some((row) => row.before)));
  }

  /* ---- parts of the page */

  evidence.parts.times = (view) => {
    const { rows, state } = view;
    const [pass, all] = passOf(view);
    if (pass === undefined) return evidence.section("times", text("evidence.times"), evidence.quiet(text("evidence.no-times")));
    const found = samples(rows, pass);
    const { min, max } = figures(found.map((one) => one.value));
    const scale = ["log", "linear"].includes(state.query.scale) ? state.query.scale : (min > 0 && max > WIDE * min ? "log" : "linear");
    const scales = ["linear", "log"].map((one) => [one, text(`evidence.scale.${one}`)]);
    const chosen = el("div", { class: "choices" },
      all.length > 1 && dcu.choice({ label: text("evidence.pass"), name: "pass", options: all.map((one) => [one, passText(one)]), value: pass }),
      dcu.choice({ label: text("evidence.scale"), name: "scale", options: scales, value: scale }));
    const bad = found.filter((one) => !format.known(one.value)).length;
    return evidence.section("times", text("evidence.times"), chosen,
      evidence.quiet(text(pass === "latency" ? "evidence.times-about" : "evidence.times-about-pass")),
      bad > 0 && evidence.quiet(text("evidence.bad-samples", { count: bad, all: found.length })),
      sequencePlot(found, pass, scale === "log" && min > 0 ? "log" : "linear", rows), pass === "latency" && steadyText(rows), distribution(rows, pass));
  };

  /* What was found of each round's steady part, and the rule by which its warm-up ended. */
  function steadyText(rows) {
    const told = rows.filter(({ derived }) => derived.steady).map(({ record, derived }) => {
      const { kind, reason } = derived.steady;
      return el("li", {}, text("evidence.steady-of", { round: record.round, kind, reason }));
    });
    const rules = [...new Set(rows.map(({ record }) => evidence.at(record, "warm_up", "rule")).filter(Boolean))];
    const batched = [...new Set(rows.map(({ record }) => object(record, "warm_up")).filter((one) => number(one, "batch") > 1).map((one) => text("evidence.batched", { batch: one.batch, from: one.batched_from })))];
    return told.length > 0 && evidence.behind(text("evidence.steady"), () => el("div", {}, el("ul", {}, told), rules.map((rule) => evidence.quiet(text("evidence.rule", { rule }))), batched.map(evidence.quiet)));
  }

  evidence.parts.rounds = (view) => {
    const [pass] = passOf(view);
    if (pass === undefined) return null;
    const rows = view.rows.map((row) => roundRow(row, pass));
    const medians = figures(rows.map((row) => row.median));
    const table = dcu.table({
      columns: columns(pass, rows), rows, caption: text("evidence.rounds-caption", { pass: passText(pass) }), hideCaption: true,
      csv: `${view.fn.slug}-${evidence.hash8(view.ci)}-rounds`, sort: ["round", "asc"],
    });
    return evidence.section("rounds", text("evidence.rounds-title", { pass: passText(pass) }),
      medians.n > 1 && evidence.quiet(text("evidence.rounds-about", { count: medians.n, median: format.time(medians.median), range: percent((medians.max - medians.min) / medians.median) })),
      table);
  };
})();
