"use strict";
/* What the overview says of one machine and environment: the newest measured commit there against a base. A base is
   an entry of "overview"; its key is "predecessor", "tag:<name>" or "branch:<name>". */
dcu.overviewPlace = (() => {
  const { el, text, format } = dcu;
  // Rows that say again what the lists of wrong results and failures say.
  const FAILED = ["failed", "failed before and after"];
  const TILES = ["regression", "improvement", "inconclusive", "not comparable"];

  const keyOf = (base) => (base.kind === "predecessor" ? base.kind : `${base.kind}:${base.name}`);

  function baseName(base) {
    return base.kind === "predecessor"
      ? text("overview.predecessor")
      : text(`overview.${base.kind}`, { name: base.name });
  }

  const baseOf = (head, key) => head.bases.find((one) => keyOf(one) === key) || null;
  const closed = (base) =>
    base && base.gate ? Object.values(base.gate.gates).filter((one) => one === "failed").length : null;
  const count = (base, word) => (base && base.comparison ? base.counts[word] || 0 : null);

  function section(head, key, branch) {
    const base = baseOf(head, key);
    const { device, product } = dcu.index.places[head.place];
    const id = `head-${head.place}`;
    const machine = [device, product].filter(Boolean).join(", ");
    return el(
      "section",
      { "aria-labelledby": id },
      el("h2", { id }, dcu.placeName(head.place), machine && el("span", { class: "head-machine" }, machine)),
      sides(head, base),
      tiles(head, base),
      head.reason && el("p", { class: "note" }, head.reason),
      base && base.refused && el("p", { class: "note" }, base.refused),
      gates(head, base),
      faults(head, head.wrong, "wrong", branch),
      faults(head, head.failed, "failures", branch),
      rows(head, base, branch),
    );
  }

  function sides(head, base) {
    const commit = (ci) => [
      dcu.commitLink(ci),
      " ",
      el("span", { class: "subject" }, dcu.index.commits[ci][2]),
      " ",
      el("span", { class: "quiet" }, format.date(dcu.index.commits[ci][1])),
    ];
    const has = base && base.commit !== null && base.commit !== undefined;
    return el(
      "dl",
      { class: "head-sides" },
      el("dt", {}, text("overview.newest")),
      el(
        "dd",
        {},
        commit(head.commit),
        head.age > 0 && el("span", { class: "quiet" }, " ", text("overview.age", { count: head.age })),
      ),
      has && [
        el("dt", {}, text("overview.against")),
        el(
          "dd",
          {},
          commit(base.commit),
          " ",
          el("span", { class: "quiet" }, baseName(base)),
          " · ",
          dcu.compareLink(head.place, base.commit, head.commit, text("overview.compare")),
        ),
      ],
    );
  }

  /* The figures of a place. Nothing compared: no figures, and the reason is told below. */
  function tiles(head, base) {
    const tile = (kind, told, number) =>
      el("div", { class: `tile ${kind}${number ? "" : " zero"}` }, el("dt", {}, told), el("dd", {}, number));
    const compared = base && base.comparison;
    return el(
      "dl",
      { class: "tiles" },
      compared &&
        TILES.map((word) => tile(dcu.verdict.kind(word), text(`overview.count.${word}`), count(base, word))),
      compared && base.gate && tile("failed", text("overview.gates"), closed(base)),
      tile("failed", text("overview.wrong"), head.wrong.length),
      tile("failed", text("overview.failures"), head.failed.length),
    );
  }

  function gates(head, base) {
    if (!base || !base.comparison) return null;
    if (base.gate_error) return el("p", { class: "note" }, base.gate_error);
    if (!base.gate) return null;
    const { gate } = base;
    const outcomes = el(
      "ul",
      { class: "gate-outcomes" },
      Object.entries(gate.gates).map(([name, outcome]) =>
        el("li", {}, el("span", {}, text("overview.gate", { name })), " ", dcu.verdict(outcome)),
      ),
    );
    if (!gate.failed.length) return outcomes;
    const columns = [
      {
        key: "benchmark",
        title: text("overview.benchmark"),
        value: (one) => dcu.benchmarkName(one.benchmark || "", one.params),
        cell: (one) =>
          one.benchmark
            ? dcu.benchmarkLink(one.benchmark, { params: one.params, place: head.place })
            : text("overview.whole"),
      },
      { key: "gate", title: text("overview.which-gate") },
      { key: "metric", title: text("overview.metric") },
      { key: "outcome", title: text("overview.outcome"), cell: (one) => dcu.verdict(one.outcome || "failed") },
      { key: "word", title: text("overview.finding") },
      {
        key: "reason",
        title: text("overview.reason"),
        cell: (one) => el("span", { class: "row-reason long" }, one.reason),
      },
    ];
    const caption = gate.more ? text("overview.findings-more", { count: gate.more }) : text("overview.findings");
    return [
      outcomes,
      el(
        "details",
        { open: gate.failed.some((one) => one.outcome === "failed") && gate.failed.length <= 5 },
        el("summary", {}, text("overview.why", { count: gate.failed.length })),
        dcu.table({ columns, rows: gate.failed, caption }),
      ),
    ];
  }

  function faults(head, found, what, branch) {
    if (!found.length) return null;
    const columns = [
      {
        key: "function",
        title: text("overview.benchmark"),
        value: (one) => dcu.benchmarkName(one.function, one.params),
        cell: (one) => dcu.benchmarkLink(one.function, { params: one.params, place: head.place, branch }),
      },
      {
        key: "reason",
        title: text("overview.reason"),
        cell: (one) => el("span", { class: "row-reason long" }, one.reason),
      },
      {
        key: "evidence",
        title: text("overview.evidence"),
        value: () => "",
        cell: (one) =>
          dcu.evidenceLink(one.function, { place: head.place, commit: head.commit, params: one.params }) ||
          format.NONE,
      },
    ];
    return [
      el("h3", {}, text(`overview.${what}`)),
      dcu.table({ columns, rows: found, caption: text(`overview.${what}`), hideCaption: true }),
    ];
  }

  // ---- what differs

  function rows(head, base, branch) {
    if (!base) return dcu.nothing(text("overview.no-base"));
    if (!base.comparison) return uncompared(head, base, branch);
    const empty = base.rows.filter(withoutValue);
    const told = new Set([...head.wrong, ...head.failed].map((one) => dcu.benchmarkName(one.function, one.params)));
    const shown = base.rows.filter(
      (one) =>
        !empty.includes(one) &&
        (!FAILED.includes(one.verdict) || !told.has(dcu.benchmarkName(one.benchmark, one.params))),
    );
    const differing = Object.values(base.counts).reduce((sum, one) => sum + one, 0) - (base.counts["no change"] || 0);
    const left = differing - base.rows.length; // in the whole comparison alone
    if (!shown.length) {
      const same = text("overview.same", { count: count(base, "no change") || 0 });
      return [dcu.nothing(left > 0 ? text("overview.rows-left", { count: left }) : same), folded(empty)];
    }
    const listed = base.rows.length - empty.length;
    const caption =
      left > 0 ? text("overview.rows-most", { count: listed, all: listed + left }) : text("overview.rows");
    return [table(head, branch, shown, caption), folded(empty)];
  }

  /* Nothing is to be seen in such a row: what was to be measured is there on neither side. */
  const withoutValue = (row) => row.verdict === "missing" && !format.known(row.before) && !format.known(row.after);

  /* Rows without a value as one line: how many, and each reason once. */
  function folded(found) {
    if (!found.length) return null;
    const reasons = [...new Set(found.map((one) => one.reason).filter(Boolean))].join("; ");
    const told = text("overview.without-value", { count: found.length });
    return el("p", { class: "quiet row-reason long" }, reasons ? `${told}: ${reasons}` : told);
  }

  function table(head, branch, shown, caption) {
    const limits = dcu.ratioLimits(shown);
    const place = head.place;
    const columns = [
      {
        key: "benchmark",
        title: text("overview.benchmark"),
        value: (one) => dcu.benchmarkName(one.benchmark, one.params),
        cell: (one) => dcu.benchmarkLink(one.benchmark, { params: one.params, place, branch }),
      },
      { key: "metric", title: text("overview.metric") },
      { key: "verdict", title: text("overview.verdict"), cell: (one) => dcu.verdict(one.verdict) },
      { key: "ratio", title: text("overview.change"), numeric: true, cell: dcu.changeText },
      {
        key: "interval",
        title: text("overview.interval"),
        value: (one) => one.ci_low,
        cell: (one) =>
          el(
            "div",
            { class: "drawn stacked" },
            dcu.intervalMark({ ratio: one.ratio, low: one.ci_low, high: one.ci_high, limits, word: one.verdict }),
            el("span", {}, dcu.changeInterval(one)),
          ),
      },
      {
        key: "before",
        title: text("overview.before"),
        help: text("overview.level-help"),
        numeric: true,
        cell: (one) => format.value(one.before, one.unit),
      },
      {
        key: "after",
        title: text("overview.after"),
        help: text("overview.level-help"),
        numeric: true,
        cell: (one) => format.value(one.after, one.unit),
      },
      {
        key: "reason",
        title: text("overview.reason"),
        cell: (one) => el("span", { class: "row-reason" }, reason(one)),
      },
      {
        key: "evidence",
        title: text("overview.evidence"),
        value: () => "",
        cell: (one) =>
          dcu.evidenceLink(one.benchmark, { place, commit: head.commit, params: one.params }) || format.NONE,
      },
    ];
    return dcu.table({
      columns,
      rows: shown,
      caption: `${caption}. ${text("overview.levels")}`,
      filter: shown.length > 8,
      csv: `overview-${head.place}`,
      state: `r${head.place}`,
    });
  }

  /* A reason that says what the figures beside it say is not told; what explains a change is, and what would settle
     an open row. */
  function reason(row) {
    if (row.explanation) return row.explanation;
    if (["regression", "improvement"].includes(row.verdict)) return "";
    if (row.verdict !== "inconclusive" || !format.known(row.ci_low)) return row.reason;
    const settle = row.rounds_needed
      ? text("overview.settle", { count: row.rounds_needed })
      : text("overview.settle-hardly");
    const chance = row.ci_low > 1 || row.ci_high < 1;
    return chance ? `${text("overview.chance")} ${settle}` : settle;
  }

  function uncompared(head, base, name) {
    if (base.commit === null || base.commit === undefined) {
      return dcu.nothing(
        text("overview.one-only", { name }),
        dcu.copyable(`asv run '${dcu.index.commits[head.commit][0].slice(0, 8)}~1^!'`),
      );
    }
    return dcu.nothing(
      base.reason || text("overview.not-compared"),
      dcu.copyable(dcu.sides.command(head.place, base.commit, head.commit)),
    );
  }

  return { TILES, keyOf, baseName, baseOf, closed, count, section };
})();
