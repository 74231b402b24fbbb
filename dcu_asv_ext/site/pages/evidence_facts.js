"use strict";
/* What was found besides the samples: figures, correctness, the cold start, conditions, and what could not be
   measured. */
(() => {
  const { el, text, format, evidence } = dcu;
  const { figures, number, object, list } = evidence;

  /* ---- status and figures */

  /* What went wrong, with its text as it was; rounds that ended in the same way stand together. */
  function faults(view) {
    const found = new Map();
    for (const { record } of view.rows.filter((row) => row.record.status !== "ok")) {
      const key = JSON.stringify([record.status, record.error]);
      found.set(key, [...(found.get(key) || []), record]);
    }
    return [...found.values()].map(([first, ...more]) => {
      const error = object(first, "error");
      const rounds = evidence.spans([first, ...more].map((one) => one.round));
      const texts = ["traceback", "output", "allocator"].filter((name) => error[name]);
      return el("div", { class: "fault" },
        el("p", {}, el("strong", {}, text("evidence.of-round", { round: rounds, value: first.status }))),
        evidence.facts([[text("evidence.stage"), error.stage], [text("evidence.kind"), error.kind], [text("evidence.type"), error.type]]),
        texts.map((name) => evidence.behind(text(`evidence.${name}`), () => evidence.verbatim(String(error[name]), text(`evidence.${name}`)))));
    });
  }

  function notes(view) {
    const found = new Map();
    for (const { record } of view.rows) for (const note of list(record, "notes")) found.set(note, [...(found.get(note) || []), record.round]);
    const own = [...found].map(([note, rounds]) => (rounds.length === view.rows.length ? note : text("evidence.of-rounds", { value: note, rounds: evidence.spans(rounds) })));
    const quick = view.rows.some(({ derived }) => derived.quick) ? [text("evidence.quick")] : [];
    const foreign = view.rows.some(({ derived }) => derived.ours === false) ? [text("evidence.other-protocol")] : [];
    const thinned = [...new Set(view.rows.flatMap(({ derived }) => list(derived, "thinned")))];
    const all = [...quick, ...foreign, ...(thinned.length ? [text("evidence.thinned", { what: thinned.join(", ") })] : []), ...list(view.entry, "notes"), ...own];
    return all.length > 0 && evidence.under(text("evidence.notes"), el("ul", {}, all.map((note) => el("li", {}, note))));
  }

  /* One row a metric: the figure of the history, and what the rounds that are looked at come to. */
  function figureRow(view, metric) {
    const told = object(view.entry, "figures", metric);
    const here = figures(view.rows.map(({ derived }) => number(derived, "figures", metric, "value")));
    const unit = evidence.unitOf(view.fn, metric);
    const reason = told.reason || view.rows.map(({ derived }) => evidence.at(derived, "figures", metric, "reason")).find(Boolean) || "";
    return {
      metric, unit, label: evidence.labelOf(metric), value: number(told, "median"), low: number(told, "ci_low"), high: number(told, "ci_high"),
      rounds: number(told, "rounds"), here: here.median, least: here.min, most: here.max, count: here.n,
      asv: number(view.entry, "asv", metric, "value"), reason: number(told, "median") === null ? reason : "", notes: list(told, "notes").join("; "),
    };
  }

  function figureTable(view) {
    const metrics = [...new Set([...Object.keys(object(view.entry, "figures")), ...view.rows.flatMap(({ record }) => list(record, "metrics"))])];
    const order = Object.keys(dcu.index.metrics);
    metrics.sort((a, b) => order.indexOf(a) - order.indexOf(b));
    const rows = metrics.map((metric) => figureRow(view, metric));
    const value = (key) => (row) => format.value(row[key], row.unit);
    // Where other rounds are looked at than the history's figure is made of.
    const other = rows.some((row) => row.here !== null && row.value !== null && row.count !== row.rounds);
    const columns = [
      { key: "label", title: text("evidence.col.metric"), cell: (row) => [row.label, el("code", { class: "name" }, row.metric)] },
      { key: "value", title: text("evidence.col.value"), numeric: true, cell: (row) => (row.value === null ? text("evidence.none") : el("strong", {}, value("value")(row))) },
      { key: "interval", title: text("evidence.col.interval"), numeric: true, value: (row) => row.low, cell: (row) => evidence.interval(row) },
      { key: "rounds", title: text("evidence.col.rounds"), numeric: true },
      ...(other ? [{ key: "here", title: text("evidence.col.here"), numeric: true, cell: value("here") }] : []),
      { key: "least", title: text("evidence.col.least"), numeric: true, cell: value("least") },
      { key: "most", title: text("evidence.col.most"), numeric: true, cell: value("most") },
      { key: "asv", title: text("evidence.col.asv"), numeric: true, cell: value("asv"), help: text("evidence.col.asv-help") },
      { key: "reason", title: text("evidence.col.reason"), value: (row) => row.reason || row.notes, cell: (row) => el("span", { class: "evidence-reason" }, row.reason || row.notes) },
    ].filter((column) => column.key !== "reason" || rows.some((row) => row.reason || row.notes));
    return dcu.table({ columns, rows, caption: text("evidence.figures"), hideCaption: true, csv: `${view.fn.slug}-${evidence.hash8(view.ci)}-figures` });
  }

  evidence.parts.summary = (view) => evidence.section("summary", text("evidence.figures"), faults(view), figureTable(view), notes(view));

  /* ---- correctness */

  function label(prefix) {
    return (name) => {
      const key = `${prefix}.${name}`;
      return key in dcu.texts ? text(key) : name.replace(/_/g, " ");
    };
  }

  /* The tolerance of an element is atol + rtol * |ref|: what it is at the least and at the largest |ref|. */
  function toleranceText(rows) {
    const record = rows.map((row) => object(row.record, "correctness")).find((one) => number(one, "atol") !== null);
    if (!record) return null;
    const largest = record.max_absolute && record.max_error ? record.max_absolute / record.max_error : null;
    const told = { atol: format.digits(record.atol, 3), rtol: format.digits(record.rtol, 3), error: format.digits(record.max_absolute, 3) };
    if (largest === null || !format.known(largest)) return text("evidence.tolerance", told);
    return text("evidence.tolerance-of", { ...told, allowed: format.digits(record.atol + record.rtol * largest, 3), largest: format.digits(largest, 3) });
  }

  evidence.parts.correctness = (view) => {
    const found = evidence.shared(view.rows, (record) => object(record, "correctness"));
    if (!found.size) return evidence.section("correctness", text("evidence.correctness"), evidence.quiet(text("evidence.unchecked")));
    const judged = view.rows.map(({ record }) => evidence.at(record, "correctness", "correct")).filter((one) => typeof one === "boolean");
    const word = judged.includes(false) ? "wrong" : judged.length ? "passed" : "not measured";
    const metric = figures(view.rows.map(({ record }) => number(record, "correctness", "task_metric")));
    const limit = figures(view.rows.map(({ record }) => number(record, "correctness", "tolerance")));
    found.delete("correct");
    return evidence.section("correctness", text("evidence.correctness"),
      el("p", {}, dcu.verdict(word, text(`evidence.result.${word.replace(" ", "-")}`)), " ", toleranceText(view.rows)),
      metric.n > 0 && limit.n > 0 && limit.median > 0 && el("p", {}, evidence.bar(metric.max / limit.median), ` ${text("evidence.of-tolerance", { value: format.digits(metric.max), limit: format.digits(limit.median), share: format.digits((100 * metric.max) / limit.median, 3) })}`),
      evidence.sharedFacts(found, view.rows.length, label("evidence.correct")));
  };

  /* ---- the cold start */

  function coldRows(rows) {
    const names = [...new Set(rows.flatMap(({ record }) => Object.keys(object(record, "parts"))))];
    return names.map((name) => {
      const told = figures(rows.map(({ record }) => number(record, "parts", name)));
      const inside = figures(rows.map(({ record }) => number(record, "cold", "in_first_call", name)));
      return { name, label: label("evidence.cold-part")(name), how: label("evidence.cold-how")(name), seconds: told.median, least: told.min, most: told.max, inside: inside.median };
    });
  }

  evidence.parts.cold = (view) => {
    const { rows } = view;
    const found = coldRows(rows);
    const first = figures(rows.map(({ record }) => number(record, "times", "cold", 0)));
    if (!found.length && !first.n) return null;
    const most = Math.max(...found.map((row) => row.seconds || 0), 1e-12);
    const columns = [
      { key: "label", title: text("evidence.col.part") },
      { key: "seconds", title: text("evidence.col.median"), numeric: true, cell: (row) => [evidence.bar(row.seconds / most), ` ${format.time(row.seconds)}`] },
      { key: "least", title: text("evidence.col.least"), numeric: true, cell: (row) => format.time(row.least) },
      { key: "most", title: text("evidence.col.most"), numeric: true, cell: (row) => format.time(row.most) },
      { key: "inside", title: text("evidence.col.in-first"), numeric: true, cell: (row) => format.time(row.inside) },
      { key: "how", title: text("evidence.col.how"), value: (row) => (row.how === row.name.replace(/_/g, " ") ? "" : row.how) },
    ].filter((column) => found.some((row) => row[column.key] !== null));
    const cache = evidence.shared(rows, (record) => object(record, "switches", "cache"));
    const wrote = evidence.shared(rows, (record) => ({ written: list(record, "cold", "wrote") }));
    return evidence.section("cold", text("evidence.cold"),
      first.n > 0 && el("p", {}, text("evidence.cold-first", { median: format.time(first.median), low: format.time(first.min), high: format.time(first.max) })),
      found.length > 0 && dcu.table({ columns, rows: found, caption: text("evidence.cold-parts"), hideCaption: true, csv: `${view.fn.slug}-${evidence.hash8(view.ci)}-cold`, sort: ["seconds", "desc"] }),
      evidence.under(text("evidence.caches"), evidence.sharedFacts(new Map([...cache, ...wrote]), rows.length, label("evidence.cache"))));
  };

  /* ---- conditions */

  const PREFIXES = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];

  function amountText(name, amount) {
    if (name === "bytes") return format.bytes(amount);
    const [size, prefix] = PREFIXES.find(([one]) => Math.abs(amount) >= one) || [1, ""];
    return `${format.digits(amount / size)} ${prefix}${name}`;
  }

  /* The declared work of a call, and what it comes to in a second by the medians of the rounds. */
  function work(view) {
    const found = evidence.shared(view.rows, (record) => object(record, "work"));
    const medians = ["latency", "device_time"].map((pass) => [pass, figures(view.rows.map((row) => figures(evidence.used(row, pass)).median)).median]);
    return evidence.facts([...found].map(([name, values]) => {
      const [{ value }] = values;
      const rates = medians.filter(([, median]) => median > 0).map(([pass, median]) => text("evidence.rate", { rate: amountText(name, value / median), clock: pass }));
      return [name, format.known(value) ? [amountText(name, value), ...rates].join("; ") : null];
    }));
  }

  /* A seed may have 64 bits, which a number of JavaScript does not hold: then as it stands in the line. */
  function exactSeed(seed, line) {
    if (!format.known(seed) || Number.isSafeInteger(seed)) return seed;
    return (/"seed":\s*(-?\d+)/.exec(line) || ["", String(seed)])[1];
  }

  /* name of a group -> what of the record it shows */
  const GROUPS = {
    boundary: (record) => object(record, "boundary"),
    input: (record, row) => ({ ...object(record, "input"), seed: exactSeed(record.seed, row.line) }),
    device: (record) => object(record, "device"),
    software: (record) => object(record, "software"),
    switches: (record) => {
      const { cache, ...others } = object(record, "switches");
      return others;
    },
    host: (record) => object(record, "host"),
    project: (record) => object(record, "project"),
    // Order and start, of which every round has its own, stand in the table of the rounds.
    measurement: (record) => Object.fromEntries(["session", "protocol", "kind", "variant", "param_index", "dirty", "head", "env", "machine"].map((name) => [name, record[name]])
      .filter(([, value]) => value !== undefined && value !== null)),
    versions: (record) => object(record, "versions"),
  };

  evidence.parts.conditions = (view) => {
    const groups = Object.entries(GROUPS).map(([name, choose]) => {
      const found = evidence.shared(view.rows, choose);
      const told = found.size ? evidence.sharedFacts(found, view.rows.length, label("evidence.fact")) : null;
      return told && el("div", {}, el("h3", {}, text(`evidence.group.${name}`)), told);
    }).filter(Boolean);
    const declared = work(view);
    if (declared) groups.splice(2, 0, el("div", {}, el("h3", {}, text("evidence.group.work")), declared));
    return evidence.section("conditions", text("evidence.conditions"), groups.length > 0 && el("div", { class: "evidence-columns" }, groups));
  };

  /* ---- what could not be measured */

  function reasons(view) {
    const found = new Map();
    const add = (what, reason, round) => {
      const key = JSON.stringify([what, String(reason)]);
      const one = found.get(key) || { what, reason: String(reason), rounds: [] };
      if (!one.rounds.includes(round)) one.rounds.push(round);
      found.set(key, one);
    };
    for (const { record } of view.rows) {
      const groups = [["", object(record, "missing")], [text("evidence.memory"), object(record, "memory", "missing")], [text("evidence.memory.first"), object(record, "memory", "first", "missing")],
        [text("evidence.cold"), object(record, "cold", "missing")], [text("evidence.state"), object(record, "state", "missing")], [text("profile.name"), object(record, "profile", "missing")]];
      for (const [group, missing] of groups) {
        for (const [name, reason] of Object.entries(missing)) add(group ? `${group}: ${name.replace(/_/g, " ")}` : evidence.labelOf(name), reason, record.round);
      }
      if (record.sampled && record.sampled.missing) add(text("evidence.clocks"), record.sampled.missing, record.round);
    }
    return [...found.values()];
  }

  evidence.parts.missing = (view) => {
    const rows = reasons(view);
    if (!rows.length) return null;
    const columns = [
      { key: "what", title: text("evidence.col.what") },
      { key: "reason", title: text("evidence.col.reason") },
      { key: "rounds", title: text("evidence.col.rounds"), value: (row) => evidence.spans(row.rounds) },
    ];
    return evidence.section("missing", text("evidence.missing"), dcu.table({ columns, rows, caption: text("evidence.missing"), hideCaption: true }));
  };
})();
