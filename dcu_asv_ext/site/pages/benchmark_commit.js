"use strict";
/* What the page knows of one commit's figures, and where its raw data lie: shown beside the plots where no evidence of
   it was published. */
dcu.benchmark.commit = (() => {
  const { el, text, format } = dcu;

  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);
  const plainRegex = (name) => name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

  /* Whether the evidence page can show this commit. */
  function published(choice, ci) {
    return (choice.fn.places[choice.pi].evidence || []).some((file) => file.includes(ci));
  }

  const evidenceLink = (choice, ci, combo) =>
    dcu.router.link("evidence", [choice.fn.slug, dcu.index.places[choice.pi].key, dcu.index.commits[ci][0].slice(0, 8)], { params: combo.join(",") });

  /* One row for each metric and chosen combination: figures, or why there are none. */
  function rowsOf(choice, lines, ci) {
    const chosen = new Set(choice.combos.map((one) => JSON.stringify(one)));
    return lines.filter((line) => chosen.has(JSON.stringify(line.params))).flatMap((line) => {
      const own = { metric: line.metric, params: line.params, unit: choice.fn.units[line.metric] };
      const figures = line.timelines.flatMap((timeline) => {
        const i = timeline.commits.indexOf(ci);
        if (i < 0) return [];
        const rounds = timeline.rounds[i];
        const count = Array.isArray(rounds) ? rounds.length : rounds;
        return [{ ...own, value: timeline.values[i], rounds, count, ends: dcu.benchmark.series.interval(timeline.values[i], timeline.h, count, own.unit), version: timeline.version, protocol: timeline.protocol }];
      });
      const bad = ["failed", "missing"].flatMap((kind) => line[kind].filter(([one]) => one === ci).map(([, reason]) => ({ ...own, value: null, rounds: 0, count: 0, note: text(`benchmark.${kind}`, { reason }) })));
      return [...figures, ...bad];
    });
  }

  const roundsOf = (one) =>
    Array.isArray(one.rounds) ? text("plot.rounds", { rounds: one.rounds.map((each) => format.value(each, one.unit)).join(", ") })
      : one.rounds > 1 ? text("benchmark.alike", { count: one.rounds }) : null;

  function aboutOf(one) {
    const told = [one.version && text("benchmark.version", { version: one.version.slice(0, 12) }), format.known(one.protocol) && text("benchmark.protocol", { protocol: one.protocol })];
    return told.filter(Boolean).join(", ");
  }

  function row(one) {
    const small = (told) => told && el("div", { class: "quiet" }, told);
    if (one.note) return el("tr", {}, el("th", { scope: "row" }, one.metric), el("td", {}, one.note));
    const ends = one.ends && one.ends.map((each) => format.value(each, one.unit));
    return el("tr", {}, el("th", { scope: "row" }, one.metric), el("td", {},
      el("strong", {}, format.value(one.value, one.unit)),
      small(ends && text("plot.interval", { low: ends[0], high: ends[1] })), small(roundsOf(one)), small(aboutOf(one))));
  }

  /* A table for each chosen combination of parameters. */
  function tables(choice, rows) {
    const { fn } = choice;
    const groups = new Map();
    for (const one of rows) {
      const key = format.params(fn.params.map((param) => param.name), one.params);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(one);
    }
    if (!groups.size) return dcu.nothing(text("benchmark.no-figures"));
    return [...groups].map(([params, own]) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": params || text("benchmark.figures") },
      el("table", {}, el("caption", {}, params || text("benchmark.figures")),
        el("thead", { class: "unseen" }, el("tr", {}, ["metric", "value"].map((one) => el("th", { scope: "col" }, text(`benchmark.${one}`))))),
        el("tbody", {}, own.map(row)))));
  }

  /* The measured commit before this one, at the place: of any line. */
  function predecessor(axis, lines, ci) {
    const x = axis.at.get(ci);
    let found = null;
    for (const one of lines.flatMap((line) => line.timelines.flatMap((timeline) => timeline.commits))) {
      const at = axis.at.get(one);
      if (at < x && (found === null || at > axis.at.get(found))) found = one;
    }
    return found;
  }

  function show(choice, axis, lines, ci) {
    const [hash, date, subject] = dcu.index.commits[ci];
    const place = dcu.index.places[choice.pi];
    const short = hash.slice(0, 8);
    const before = predecessor(axis, lines, ci);
    const compare = before !== null && dcu.router.link("compare", [], { place: place.key, before: dcu.index.commits[before][0].slice(0, 8), after: short });
    const where = ["matrix", short, "--machine", place.machine, "--env", place.env, "--bench", `^${plainRegex(choice.fn.name)}`];
    return el("aside", { class: "benchmark-commit", "aria-label": text("benchmark.of-commit", { commit: short }) },
      el("div", { class: "heading" },
        el("h2", { tabindex: "-1", "data-focus": "" }, text("benchmark.of-commit", { commit: short })),
        el("button", { type: "button", name: "close", onclick: () => dcu.router.change({ commit: null }) }, text("benchmark.close"))),
      el("p", {}, dcu.commitLink(ci), ` ${format.date(date)} ${subject || ""}`),
      published(choice, ci)
        ? el("p", {}, el("a", { href: evidenceLink(choice, ci, choice.combos[0] || []) }, text("benchmark.evidence")))
        : el("p", { class: "quiet" }, text(choice.fn.ours ? "benchmark.no-evidence" : "benchmark.not-ours")),
      compare && el("p", {}, el("a", { href: compare }, text("benchmark.compare-before", { before: dcu.index.commits[before][0].slice(0, 8) }))),
      tables(choice, rowsOf(choice, lines, ci)),
      el("h3", {}, text("benchmark.raw")),
      el("ul", { class: "files" }, (choice.fn.ours ? [".json", ".evidence.jsonl"] : [".json"]).map((end) => el("li", {}, el("code", {}, `results/${place.machine}/${short}-${place.env}${end}`)))),
      choice.fn.ours && dcu.copyable(`dcu-asv ${where.map(quoted).join(" ")}`));
  }

  return { show, published, evidenceLink };
})();
