"use strict";
/* The newest measured commit of each machine and environment, against the commit before it or another base. */
(() => {
  const { el, text, format } = dcu;
  const LATELY = 10;
  const FAILED = ["failed", "failed before and after"]; // rows that say again what the lists of wrong results and failures say
  const TILES = ["regression", "improvement", "inconclusive", "not comparable"];

  async function show(state, main) {
    const [overview, changes] = await Promise.all([dcu.load("overview"), dcu.load("changes")]);
    main.append(dcu.heading(text("overview.title")));
    const names = overview.branches.map((one) => one.name);
    const name = state.query.branch || names[0];
    const branch = overview.branches.find((one) => one.name === name);
    if (!branch) {
      main.append(dcu.nothing(names.length ? text("overview.no-branch", { name }) : text("overview.no-branches")));
      return;
    }
    const bases = basesOf(branch.heads);
    const base = bases.some(([key]) => key === state.query.base) ? state.query.base : "predecessor";
    const chosen = dcu.find.place(state.query.place || "");
    main.append(choices(state, names, name, branch, bases, base));
    const heads = chosen === null ? branch.heads : branch.heads.filter((one) => one.place === chosen);
    if (!heads.length) main.append(dcu.nothing(text("overview.not-measured", { name }), dcu.copyable("asv run NEW")));
    if (heads.length > 1) main.append(summary(state, heads, base));
    for (const head of heads) main.append(section(head, base, name));
    main.append(lately(changes, name, chosen), notes());
  }

  // ---- what is chosen

  const keyOf = (base) => (base.kind === "predecessor" ? base.kind : `${base.kind}:${base.name}`);

  function baseName(base) {
    return base.kind === "predecessor" ? text("overview.predecessor") : text(`overview.${base.kind}`, { name: base.name });
  }

  /* [key, text] of every base of some head, the predecessor first. */
  function basesOf(heads) {
    const found = new Map([["predecessor", text("overview.predecessor")]]);
    for (const head of heads) for (const base of head.bases) found.set(keyOf(base), baseName(base));
    return [...found];
  }

  function choices(state, names, name, branch, bases, base) {
    const places = branch.heads.map((head) => [dcu.index.places[head.place].key, dcu.placeName(head.place)]);
    return el("div", { class: "choices" },
      dcu.choice({ label: text("branch"), name: "branch", options: names.map((one) => [one, one]), value: name }),
      dcu.choice({ label: text("overview.against"), name: "base", options: bases, value: base }),
      places.length > 1 && dcu.choice({ label: text("place"), name: "place", options: [["", text("all")], ...places], value: state.query.place || "" }));
  }

  // ---- several places at a glance

  const baseOf = (head, key) => head.bases.find((one) => keyOf(one) === key) || null;
  const closed = (base) => (base && base.gate ? Object.values(base.gate.gates).filter((one) => one === "failed").length : null);
  const count = (base, word) => (base && base.comparison ? base.counts[word] || 0 : null);

  /* A count that stands out if it is not 0; a dash where nothing was compared. */
  const figure = (found, kind) => el("span", { class: found ? `figure ${kind}` : "quiet" }, found === null ? format.NONE : found);

  function summary(state, heads, key) {
    const number = (name, title, kind, value) => ({ key: name, title, numeric: true, value, cell: (head) => figure(value(head), kind) });
    const counted = (word) => number(word, text(`overview.count.${word}`), dcu.verdict.kind(word), (head) => count(baseOf(head, key), word));
    const columns = [
      { key: "place", title: text("place"), value: (head) => dcu.placeName(head.place),
        cell: (head) => el("a", { class: "name", href: dcu.router.link("overview", [], { ...state.query, place: dcu.index.places[head.place].key }) }, dcu.placeName(head.place)) },
      { key: "commit", title: text("overview.newest"), value: (head) => dcu.index.commits[head.commit][1],
        cell: (head) => [dcu.commitLink(head.commit), " ", format.date(dcu.index.commits[head.commit][1])], text: (head) => dcu.index.commits[head.commit][0] },
      ...TILES.map(counted),
      number("gates", text("overview.gates"), "failed", (head) => closed(baseOf(head, key))),
      number("wrong", text("overview.wrong"), "failed", (head) => head.wrong.length),
      number("failed", text("overview.failures"), "failed", (head) => head.failed.length),
    ];
    return dcu.table({ columns, rows: heads, caption: text("overview.summary"), csv: "overview", state: "s" });
  }

  // ---- one place

  function section(head, key, branch) {
    const base = baseOf(head, key);
    const { device, product } = dcu.index.places[head.place];
    const id = `head-${head.place}`;
    const machine = [device, product].filter(Boolean).join(", ");
    return el("section", { "aria-labelledby": id },
      el("h2", { id }, dcu.placeName(head.place), machine && el("span", { class: "head-machine" }, machine)),
      sides(head, base),
      tiles(head, base),
      head.reason && el("p", { class: "note" }, head.reason),
      base && base.refused && el("p", { class: "note" }, base.refused),
      gates(head, base),
      faults(head, head.wrong, "wrong", branch),
      faults(head, head.failed, "failures", branch),
      rows(head, base, branch));
  }

  function sides(head, base) {
    const commit = (ci) => [dcu.commitLink(ci), " ", el("span", { class: "subject" }, dcu.index.commits[ci][2]), " ", el("span", { class: "quiet" }, format.date(dcu.index.commits[ci][1]))];
    const has = base && base.commit !== null && base.commit !== undefined;
    return el("dl", { class: "head-sides" },
      el("dt", {}, text("overview.newest")),
      el("dd", {}, commit(head.commit), head.age > 0 && el("span", { class: "quiet" }, " ", text("overview.age", { count: head.age }))),
      has && [el("dt", {}, text("overview.against")),
        el("dd", {}, commit(base.commit), " ", el("span", { class: "quiet" }, baseName(base)), " · ", dcu.compareLink(head.place, base.commit, head.commit, text("overview.compare")))]);
  }

  /* The figures of a place. Nothing compared: no figures, and the reason is told below. */
  function tiles(head, base) {
    const tile = (kind, told, number) => el("div", { class: `tile ${kind}${number ? "" : " zero"}` }, el("dt", {}, told), el("dd", {}, number));
    const compared = base && base.comparison;
    return el("dl", { class: "tiles" },
      compared && TILES.map((word) => tile(dcu.verdict.kind(word), text(`overview.count.${word}`), count(base, word))),
      compared && base.gate && tile("failed", text("overview.gates"), closed(base)),
      tile("failed", text("overview.wrong"), head.wrong.length),
      tile("failed", text("overview.failures"), head.failed.length));
  }

  function gates(head, base) {
    if (!base || !base.comparison) return null;
    if (base.gate_error) return el("p", { class: "note" }, base.gate_error);
    if (!base.gate) return null;
    const { gate } = base;
    const outcomes = el("ul", { class: "gate-outcomes" }, Object.entries(gate.gates).map(([name, outcome]) =>
      el("li", {}, el("span", {}, text("overview.gate", { name })), " ", dcu.verdict(outcome))));
    if (!gate.failed.length) return outcomes;
    const columns = [
      { key: "benchmark", title: text("overview.benchmark"), value: (one) => dcu.benchmarkName(one.benchmark || "", one.params),
        cell: (one) => (one.benchmark ? dcu.benchmarkLink(one.benchmark, { params: one.params, place: head.place }) : text("overview.whole")) },
      { key: "gate", title: text("overview.which-gate") },
      { key: "metric", title: text("overview.metric") },
      { key: "outcome", title: text("overview.outcome"), cell: (one) => dcu.verdict(one.outcome || "failed") },
      { key: "word", title: text("overview.finding") },
      { key: "reason", title: text("overview.reason"), cell: (one) => el("span", { class: "row-reason long" }, one.reason) },
    ];
    const caption = gate.more ? text("overview.findings-more", { count: gate.more }) : text("overview.findings");
    return [outcomes, el("details", { open: gate.failed.some((one) => one.outcome === "failed") && gate.failed.length <= 5 }, el("summary", {}, text("overview.why", { count: gate.failed.length })),
      dcu.table({ columns, rows: gate.failed, caption }))];
  }

  function faults(head, found, what, branch) {
    if (!found.length) return null;
    const columns = [
      { key: "function", title: text("overview.benchmark"), value: (one) => dcu.benchmarkName(one.function, one.params),
        cell: (one) => dcu.benchmarkLink(one.function, { params: one.params, place: head.place, branch }) },
      { key: "reason", title: text("overview.reason"), cell: (one) => el("span", { class: "row-reason long" }, one.reason) },
      { key: "evidence", title: text("overview.evidence"), value: () => "", cell: (one) => dcu.evidenceLink(one.function, { place: head.place, commit: head.commit, params: one.params }) || format.NONE },
    ];
    return [el("h3", {}, text(`overview.${what}`)), dcu.table({ columns, rows: found, caption: text(`overview.${what}`), hideCaption: true })];
  }

  // ---- what differs

  function rows(head, base, branch) {
    if (!base) return dcu.nothing(text("overview.no-base"));
    if (!base.comparison) return uncompared(head, base, branch);
    const told = new Set([...head.wrong, ...head.failed].map((one) => dcu.benchmarkName(one.function, one.params)));
    const shown = base.rows.filter((one) => !FAILED.includes(one.verdict) || !told.has(dcu.benchmarkName(one.benchmark, one.params)));
    if (!shown.length) return dcu.nothing(text("overview.same", { count: count(base, "no change") || 0 }));
    const limits = dcu.ratioLimits(shown);
    const all = Object.values(base.counts).reduce((sum, one) => sum + one, 0) - (base.counts["no change"] || 0);
    const caption = all > base.rows.length ? text("overview.rows-most", { count: base.rows.length, all }) : text("overview.rows");
    const place = head.place;
    const columns = [
      { key: "benchmark", title: text("overview.benchmark"), value: (one) => dcu.benchmarkName(one.benchmark, one.params),
        cell: (one) => dcu.benchmarkLink(one.benchmark, { params: one.params, place, branch }) },
      { key: "metric", title: text("overview.metric") },
      { key: "verdict", title: text("overview.verdict"), cell: (one) => dcu.verdict(one.verdict) },
      { key: "ratio", title: text("overview.change"), numeric: true, cell: dcu.changeText },
      { key: "interval", title: text("overview.interval"), value: (one) => one.ci_low,
        cell: (one) => el("div", { class: "drawn" }, dcu.intervalMark({ ratio: one.ratio, low: one.ci_low, high: one.ci_high, limits, word: one.verdict }), el("span", {}, dcu.changeInterval(one))) },
      { key: "before", title: text("overview.before"), numeric: true, cell: (one) => format.value(one.before, one.unit) },
      { key: "after", title: text("overview.after"), numeric: true, cell: (one) => format.value(one.after, one.unit) },
      { key: "reason", title: text("overview.reason"), cell: (one) => el("span", { class: "row-reason" }, reason(one)) },
      { key: "evidence", title: text("overview.evidence"), value: () => "",
        cell: (one) => dcu.evidenceLink(one.benchmark, { place, commit: head.commit, params: one.params }) || format.NONE },
    ];
    return dcu.table({ columns, rows: shown, caption, filter: shown.length > 8, csv: `overview-${head.place}`, state: `r${head.place}` });
  }

  /* Where the figures decided, the reason says what stands beside it; there it is told what explains the change. */
  const reason = (row) => row.explanation || (["regression", "improvement"].includes(row.verdict) ? "" : row.reason);

  function uncompared(head, base, name) {
    if (base.commit === null || base.commit === undefined) {
      return dcu.nothing(text("overview.one-only", { name }), dcu.copyable(`asv run '${dcu.index.commits[head.commit][0].slice(0, 8)}~1^!'`));
    }
    return dcu.nothing(base.reason || text("overview.not-compared"), dcu.copyable(dcu.sides.command(head.place, base.commit, head.commit)));
  }

  // ---- what else

  function lately(changes, name, place) {
    const found = dcu.changeRows(changes, name).filter((one) => place === null || one.place === place);
    const heading = el("h2", {}, text("overview.lately"));
    const way = el("p", {}, el("a", { href: dcu.router.link("changes", [], { branch: name }) }, text("overview.all-changes", { count: found.length })));
    if (!found.length) return [heading, dcu.nothing(dcu.changeRows.why(changes, name)), way];
    return el("section", { class: "lately" }, heading, dcu.changeTable(found.slice(0, LATELY), { branch: name, caption: text("overview.lately-caption"), state: "" }), way);
  }

  function notes() {
    const { notes: told } = dcu.index;
    if (!told.length) return null;
    return el("section", {}, el("h2", {}, text("overview.notes")), el("ul", { class: "notes" }, told.map((one) => el("li", {}, one))));
  }

  dcu.pages.set("overview", { show });
})();
