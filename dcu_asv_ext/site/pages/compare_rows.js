"use strict";
/* The rows of a comparison: verdicts to choose by, and one table. */
dcu.compareRows = (() => {
  const { el, text, format } = dcu;
  const FIGURES = ["regression", "improvement", "no change"]; // their reason says what the figures beside it say

  const nameOf = (row) => dcu.benchmarkName(row.benchmark, row.params) + (row.env ? ` [${row.env}]` : "");

  // ---- choosing

  const chosenWords = (state) => (state.query.verdicts || "").split(",").filter(Boolean);

  function verdicts(state, report) {
    const now = chosenWords(state);
    const toggle = (word) => {
      const left = now.includes(word) ? now.filter((one) => one !== word) : [...now, word];
      dcu.router.change({ verdicts: left.join(",") });
    };
    const counted = Object.entries(report.counts);
    return el("div", { class: "counts", role: "group", "aria-label": text("compare.by-verdict") },
      counted.map(([word, count]) => el("button",
        { type: "button", name: `verdict ${word}`, "aria-pressed": String(now.includes(word)), disabled: !count, onclick: () => toggle(word) },
        dcu.verdict(word), " ", el("strong", {}, count))),
      now.length ? el("button", { type: "button", name: "verdict all", onclick: () => dcu.router.change({ verdicts: null }) }, text("compare.every-verdict")) : null);
  }

  const distinct = (values) => [...new Set(values)];

  function choice(state, label, name, values, told = (one) => one) {
    return dcu.choice({ label, name, options: [["", text("all")], ...values.map((one) => [one, told(one)])], value: state.query[name] || "" });
  }

  /* Each parameter that has several values among the rows. */
  function parameters(state, rows) {
    const values = new Map();
    for (const row of rows) {
      for (const [name, value] of Object.entries(row.params)) values.set(name, (values.get(name) || new Set()).add(value));
    }
    const several = [...values].filter(([, found]) => found.size > 1);
    if (!several.length) return null;
    const active = several.some(([name]) => state.query[`p.${name}`]);
    return el("details", { open: active }, el("summary", {}, text("compare.parameters")),
      el("div", { class: "choices" }, several.map(([name, found]) => choice(state, name, `p.${name}`, [...found]))));
  }

  function choices(state, rows) {
    const metrics = distinct(rows.map((row) => row.metric));
    const benchmarks = distinct(rows.map((row) => row.benchmark)).sort();
    return [
      el("div", { class: "choices" },
        choice(state, text("compare.metric"), "metric", metrics, metricName),
        choice(state, text("compare.benchmark"), "benchmark", benchmarks)),
      parameters(state, rows),
    ];
  }

  const metricName = (name) => name.replace(/_/g, " ");

  function wanted(state, rows) {
    const words = chosenWords(state);
    const { metric, benchmark } = state.query;
    const params = Object.entries(state.query).filter(([name]) => name.startsWith("p.")).map(([name, value]) => [name.slice(2), value]);
    const tests = [
      (row) => !words.length || words.includes(row.verdict),
      (row) => !metric || row.metric === metric,
      (row) => !benchmark || row.benchmark === benchmark,
      (row) => params.every(([name, value]) => row.params[name] === value),
    ];
    return rows.filter((row) => tests.every((test) => test(row)));
  }

  // ---- cells

  const nameCell = (row, place) => [
    dcu.benchmarkLink(row.benchmark, { params: row.params, place }),
    row.env && el("span", { class: "quiet" }, ` [${row.env}]`),
    el("span", { class: "metric" }, metricName(row.metric)),
  ].filter(Boolean);

  /* A share is judged by its difference, in points; a ratio to 0 is none. */
  function changeCell(row) {
    if (format.known(row.difference_low)) return text("compare.points", { points: signed(100 * row.difference) });
    if (format.known(row.ratio)) return format.ratio(row.ratio);
    return row.no_ratio || format.NONE;
  }

  const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}`;
  const exact = (row) => row.exact && format.known(row.ratio) && row.ratio === row.ci_low && row.ratio === row.ci_high;

  function intervalText(row) {
    if (format.known(row.difference_low)) return `[${signed(100 * row.difference_low)}, ${signed(100 * row.difference_high)}]`;
    if (exact(row)) return text("compare.exact");
    if (!format.known(row.ratio) || !format.known(row.ci_low)) return "";
    return format.known(row.ci_high) ? format.interval(row.ci_low, row.ci_high) : `[${format.ratio(row.ci_low)}, ${text("compare.open")}]`;
  }

  /* How many more rounds of each side would settle an open row. */
  function needed(row) {
    if (row.verdict !== "inconclusive") return null;
    return row.rounds_needed ? `+${row.rounds_needed}` : text("compare.many");
  }

  /* Whether the drawn interval and the rounds that would settle it say all that the reason says. */
  const open = (row) => row.verdict === "inconclusive" && row.ci_low <= 1 && row.ci_high >= 1;

  function reasonCell(row) {
    const { clock, corrected } = row;
    const parts = [
      !FIGURES.includes(row.verdict) && !open(row) && row.reason,
      row.explanation && el("strong", {}, text("compare.why", { why: row.explanation })),
      clock && text("compare.clock", {
        before: format.digits(clock.before_mhz), after: format.digits(clock.after_mhz), ratio: format.ratio(clock.ratio),
        interval: format.interval(clock.ci_low, clock.ci_high), verdict: clock.verdict,
      }),
      corrected && text("compare.corrected", {
        verdict: corrected.verdict, ratio: format.ratio(corrected.ratio), interval: format.interval(corrected.ci_low, corrected.ci_high),
      }),
    ];
    return parts.filter(Boolean).map((one) => el("p", {}, one));
  }

  /* To the evidence of both sides, as far as there is some: of what failed too. */
  function evidenceLinks(row, found) {
    const link = (side) => {
      const made = dcu.evidenceLink(row.benchmark, { place: found.pi, commit: found[side], params: row.params });
      if (!made) return null;
      made.textContent = text(`compare.${side}`);
      made.setAttribute("aria-label", text(`compare.evidence-${side}`, { name: nameOf(row) }));
      return made;
    };
    return ["before", "after"].filter((side) => row.source[side]).map(link).filter(Boolean);
  }

  // ---- the table

  /* The ends and the middle of the axis that the intervals are drawn on. */
  const scale = (limits) => el("span", { class: "scale" }, [limits[0], 1, limits[1]].map((one) => el("span", {}, format.digits(one, 2))));

  /* Columns that are exported and not shown. */
  const more = (names) => names.map((key) => ({ key, hidden: true, value: (row) => row[key] }));

  const figures = (limits, margin) => [
    { key: "before", title: text("compare.before"), help: text("compare.level-help"), numeric: true, cell: (row) => format.value(row.before, row.unit) },
    { key: "after", title: text("compare.after"), help: text("compare.level-help"), numeric: true, cell: (row) => format.value(row.after, row.unit) },
    { key: "ratio", title: text("compare.ratio"), numeric: true, cell: changeCell },
    {
      key: "ci_low", title: text("compare.interval"), below: scale(limits),
      cell: (row) => [
        dcu.intervalMark({ ratio: row.ratio, low: row.ci_low, high: row.ci_high, limits, margin: 1 + margin, word: row.verdict }),
        el("span", { class: "figures" }, intervalText(row)),
      ],
    },
    ...more(["ci_high", "difference", "difference_low", "difference_high", "unit", "p_value"]),
  ];

  /* Columns in which no row has anything are exported alone. */
  function columns(found, report, limits) {
    const none = (has) => !report.rows.some(has);
    const order = Object.keys(report.counts); // of what matters
    return [
      {
        key: "benchmark", title: text("compare.benchmark"), value: (row) => row.benchmark,
        text: (row) => `${nameOf(row)} ${metricName(row.metric)}`, cell: (row) => nameCell(row, found.pi),
      },
      { key: "params", hidden: true, value: (row) => Object.values(row.params).join(",") },
      { key: "metric", hidden: true },
      { key: "verdict", title: text("compare.verdict"), cell: (row) => dcu.verdict(row.verdict), order: (row) => order.indexOf(row.verdict) },
      ...figures(limits, report.settings.margin || 0),
      { key: "rounds", title: text("compare.rounds"), numeric: true, value: (row) => [...new Set(row.rounds)].join(" / ") },
      {
        key: "rounds_needed", title: text("compare.needed"), help: text("compare.needed-help"), numeric: true, hidden: none(needed),
        value: (row) => (row.verdict === "inconclusive" ? row.rounds_needed : null), cell: (row) => needed(row) || format.NONE,
      },
      {
        key: "evidence", title: text("compare.evidence"), hidden: none((row) => evidenceLinks(row, found).length),
        value: (row) => evidenceLinks(row, found).map((one) => one.textContent).join(" "),
        text: () => "", cell: (row) => el("span", { class: "links" }, evidenceLinks(row, found)),
      },
      {
        key: "reason", title: text("compare.reason"), hidden: none((row) => reasonCell(row).length), cell: reasonCell,
        text: (row) => `${row.reason} ${row.explanation || ""}`,
      },
      ...more(["explanation"]),
    ];
  }

  /* Most rows do not change, and must not push those that do off the axis. */
  function axis(rows) {
    const changed = rows.filter((row) => ["regression", "improvement"].includes(row.verdict));
    const [all, some] = [dcu.ratioLimits(rows), dcu.ratioLimits(changed)];
    return some[1] > all[1] ? some : all;
  }

  return (state, found, report) => {
    const limits = axis(report.rows);
    const rows = wanted(state, report.rows);
    const name = `compare-${dcu.sides.short(found.before)}-${dcu.sides.short(found.after)}`;
    return [el("section", { "aria-labelledby": "compare-rows" },
      el("h2", { id: "compare-rows" }, text("compare.rows")),
      verdicts(state, report), choices(state, report.rows),
      el("p", { class: "quiet" }, text("compare.axis", { margin: `${format.digits(100 * (report.settings.margin || 0), 3)} %` }), " ", text("compare.levels")),
      dcu.table({
        columns: columns(found, report, limits), rows, caption: text("compare.caption"), hideCaption: true,
        filter: true, csv: name, state: "rows",
        empty: text(report.rows.length ? "table.no-match" : "compare.no-rows"),
      }))];
  };
})();
