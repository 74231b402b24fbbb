"use strict";
/* The records themselves, to keep and to look at; and the page of a commit whose evidence is not in the site. */
(() => {
  const { el, text, format, evidence } = dcu;

  const jsonl = (rows) => rows.map((row) => row.line).join("\n") + "\n";

  /* Where the whole lies, outside the site. */
  function command(view) {
    const { machine, env } = dcu.index.places[view.pi];
    const quoted = (word) => (/^[A-Za-z0-9._+:/=-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);
    const pattern = `^${view.fn.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(\\.|\\(|$)`;
    return `dcu-asv matrix ${evidence.hash8(view.ci)} --machine ${quoted(machine)} --env ${quoted(env)} --bench ${quoted(pattern)} --json --times`;
  }

  function told({ record, derived }, place) {
    return text("evidence.record-of", {
      number: place + 1, round: record.round, session: record.session === null ? format.NONE : record.session,
      started: evidence.readableTime(record.started_at), status: record.status, quick: derived.quick ? text("evidence.record-quick") : "",
    });
  }

  evidence.parts.records = (view) => {
    const { entry, rows, found } = view;
    const name = `${view.fn.slug}-${evidence.hash8(view.ci)}`;
    const keep = (key, chosen, suffix) => el("button", { type: "button", onclick: () => dcu.download(`${name}${suffix}.jsonl`, jsonl(chosen), "application/x-ndjson") }, text(key, { count: chosen.length }));
    const whole = found.entries.flatMap((one) => one.rows);
    return evidence.section("records", text("evidence.records"),
      evidence.quiet(text("evidence.records-about")),
      el("div", { class: "tools" },
        rows.length < entry.rows.length && keep("evidence.keep-rows", rows, "-selected"),
        keep("evidence.keep-entry", entry.rows, ""),
        whole.length > entry.rows.length && keep("evidence.keep-all", whole, "-all")),
      entry.rows.map((row, place) => evidence.behind(told(row, place), () => evidence.verbatim(evidence.pretty(row.line), told(row, place)))),
      evidence.quiet(text("evidence.file", { file: entry.file })),
      dcu.copyable(command(view)));
  };

  /* ---- without evidence */

  /* Places of a commit in a line's timelines: [{timeline, at}]. */
  const pointsOf = (line, ci) => line.timelines.map((timeline) => ({ timeline, at: timeline.commits.indexOf(ci) })).filter((one) => one.at >= 0);

  /* value, interval and rounds of a point, as the history has them. */
  function point({ timeline, at }, unit) {
    const value = timeline.values[at];
    const rounds = timeline.rounds[at];
    const count = Array.isArray(rounds) ? rounds.length : rounds;
    const reach = format.known(timeline.h) && count > 0 ? timeline.h / Math.sqrt(count) : null;
    const ends = reach === null ? [null, null] : unit === "share" ? [value - reach, value + reach] : [value * Math.exp(-reach), value * Math.exp(reach)];
    return { value, low: ends[0], high: ends[1], count, each: Array.isArray(rounds) ? rounds : [], version: timeline.version, protocol: timeline.protocol };
  }

  function historyRows(lines, ci, fn) {
    return lines.flatMap((line) => {
      const unit = evidence.unitOf(fn, line.metric);
      const common = { metric: line.metric, label: evidence.labelOf(line.metric), unit };
      const reasons = [["failed", line.failed], ["missing", line.missing]].flatMap(([word, list]) => list.filter(([one]) => one === ci).map(([, reason]) => ({ ...common, word, reason, value: null, low: null, high: null, count: null, each: [], version: "" })));
      return [...pointsOf(line, ci).map((one) => ({ ...common, word: "", reason: "", ...point(one, unit) })), ...reasons];
    });
  }

  function historyTable(rows, name) {
    const value = (key) => (row) => format.value(row[key], row.unit);
    const columns = [
      { key: "label", title: text("evidence.col.metric"), cell: (row) => [row.label, el("code", { class: "name" }, row.metric)] },
      { key: "value", title: text("evidence.col.value"), numeric: true, cell: (row) => (row.value === null ? (row.word ? dcu.verdict(row.word) : format.NONE) : el("strong", {}, value("value")(row))) },
      { key: "interval", title: text("evidence.col.interval"), numeric: true, value: (row) => row.low, cell: (row) => evidence.interval(row) },
      { key: "count", title: text("evidence.col.rounds"), numeric: true },
      { key: "each", title: text("evidence.col.each"), value: (row) => row.each.map((one) => format.value(one, row.unit)).join(", ") },
      { key: "version", title: text("evidence.col.version") },
      { key: "reason", title: text("evidence.col.reason"), cell: (row) => el("span", { class: "evidence-reason" }, row.reason) },
    ].filter((column) => ["label", "value"].includes(column.key) || rows.some((row) => { const one = row[column.key === "interval" ? "low" : column.key]; return one !== null && one !== "" && !(Array.isArray(one) && !one.length); }));
    return dcu.table({ columns, rows, caption: text("evidence.known"), hideCaption: true, csv: name });
  }

  /* Notes of the publish that name a commit's files, with or without what their names end in. */
  function notesOn(pi, ci) {
    const { machine, env } = dcu.index.places[pi];
    const [start, ends] = [` ${machine}/${evidence.hash8(ci)}`, [`-${env}.`, `-${env} `]];
    const isOfIt = (rest) => ends.some((end) => rest.includes(end));
    return dcu.index.notes.filter((one) => ` ${one} `.split(start).slice(1).some(isOfIt));
  }

  /* Whether a commit lies among those whose evidence is published: something else of it is, or it is of the measured
     commits before and after. */
  function amongPublished(pi, ci) {
    const published = new Set(dcu.index.evidence[pi] || []);
    const measured = dcu.index.places[pi].commits || dcu.index.commits.map((_, one) => one);
    const at = measured.indexOf(ci);
    const has = (place) => published.has(measured[place]);
    return published.has(ci) || (at >= 0 && has(at - 1) && (at === measured.length - 1 || has(at + 1)));
  }

  /* Why the site has no evidence of a commit, as far as it is known. */
  function whyNone(pi, ci) {
    const notes = notesOn(pi, ci);
    if (notes.length) return [text("evidence.unread"), el("ul", { class: "notes" }, notes.map((one) => el("li", {}, one)))];
    return [text(amongPublished(pi, ci) ? "evidence.none-kept" : "evidence.not-published")];
  }

  /* {params, nodes} of a commit without evidence in the site. lines: the function's series at the place. */
  evidence.without = ({ fn, pi, ci, state }, lines) => {
    const combos = fn.places[pi].combos;
    const params = combos.find((one) => one.join(",") === state.query.params) || combos[0] || [];
    const names = fn.params.map((one) => one.name);
    const mine = lines.filter((line) => line.params.join("\n") === params.join("\n"));
    const rows = historyRows(mine, ci, fn);
    const place = dcu.index.places[pi];
    const options = combos.map((one) => [one.join(","), format.params(names, one)]);
    return {
      params,
      nodes: [
        el("div", { class: "choices" }, evidence.placeChoice("evidence", { fn, pi, ci, state }),
          combos.length > 1 && dcu.choice({ label: text("evidence.params"), name: "params", options, value: params.join(",") })),
        dcu.nothing(...(fn.ours ? whyNone(pi, ci) : [text("evidence.not-ours")]),
          fn.ours && el("p", {}, text("evidence.file", { file: `${place.machine}/${evidence.hash8(ci)}-${place.env}.evidence.jsonl` })),
          fn.ours && dcu.copyable(command({ fn, pi, ci }))),
        evidence.section("known", text("evidence.known"), rows.length ? historyTable(rows, `${fn.slug}-${evidence.hash8(ci)}`) : evidence.quiet(text("evidence.nothing-known"))),
      ].filter(Boolean),
    };
  };
})();
