"use strict";
/* The columns in which a matrix is read: those of its rows, in groups; each figure is a level, its interval, its reach. */
dcu.matrixColumns = (() => {
  const { el, text, format } = dcu;
  const GROUPS = [
    ["what", ["variant", "label", "kind", "commit", "dirty", "head", "evidence"]],
    ["device", ["machine", "device_kind", "device_product", "device_architecture", "driver"]],
    ["software", ["env", "env_vars", "dtk", "runtime", "torch", "python", "package_size"]],
    ["input", ["inputs", "input_bytes", "input_sets", "seed", "boundary", "cache"]],
    ["repetitions", ["rounds", "samples", "batch", "cut"]],
    ["clocks", []], ["memory", []], ["correctness", []], ["profile", []], ["other", []],
    ["status", ["status", "missing", "notes"]],
    ["record", ["unit", "protocol", "versions", "source", "facts", "conditions", "times"]],
  ];
  const USUAL = [
    "kind", "rounds", "latency", "latency_ci", "device_time", "cold_start", "peak_allocated", "peak_reserved", "peak_card",
    "max_error", "value", "value_ci", "status", "evidence",
  ];
  const IN_BYTES = ["input_bytes", "package_size"];
  const NUMERIC = ["rounds", "input_sets"];
  const LONG = 60; // letters from which on a cell is folded

  const spaced = (name) => name.replace(/_/g, " ");
  const absent = (value) => value === null || value === undefined || value === "" || (typeof value === "object" && !Object.keys(value).length);

  const nameOf = (row) => dcu.benchmarkName(row.benchmark, row.params);

  // ---- cells

  /* A value of any kind as one line. */
  function line(value) {
    if (absent(value)) return "";
    if (typeof value === "boolean") return text(value ? "matrix.yes" : "matrix.no");
    if (typeof value === "number") return format.digits(value, 6);
    if (Array.isArray(value)) return value.map(line).join(", ");
    if (typeof value === "object") return Object.entries(value).map(([name, one]) => `${name}: ${line(one)}`).join("; ");
    return value;
  }

  function folded(value) {
    const told = line(value);
    if (typeof value !== "object") return told.length > LONG / 2 ? el("span", { class: "long" }, told) : told || format.NONE;
    if (told.length <= LONG) return told || format.NONE;
    const made = el("details", {}, el("summary", {}, text("matrix.entries", { count: Object.keys(value).length })));
    made.addEventListener("toggle", () => {
      if (!made.open || made.children.length > 1) return;
      const named = ([name, one]) => el("li", {}, Array.isArray(value) ? null : el("b", {}, `${name} `), line(one));
      made.append(el("ul", {}, Object.entries(value).map(named)));
    });
    return made;
  }

  function evidenceCell(row, place) {
    const made = row.source === "asv" ? null : dcu.evidenceLink(row.benchmark, { place, commit: dcu.find.commit(row.commit), params: row.params });
    if (made) made.setAttribute("aria-label", text("matrix.evidence-of", { name: nameOf(row) }));
    return made || format.NONE;
  }

  const CELLS = {
    commit: (row) => el("code", {}, String(row.commit || format.NONE).slice(0, 8)),
    head: (row) => el("code", {}, String(row.head || format.NONE).slice(0, 8)),
    status: (row) => (/^\w+$/.test(row.status) && row.status !== "ok" ? dcu.verdict(row.status) : folded(row.status)),
  };

  // ---- columns

  function plain(name, place) {
    const bytes = IN_BYTES.includes(name);
    const usual = bytes ? (row) => format.bytes(row[name]) : (row) => folded(row[name]);
    return {
      key: name, title: dcu.texts[`matrix.column.${name}`] || spaced(name), numeric: bytes || NUMERIC.includes(name),
      value: (row) => (typeof row[name] === "number" ? row[name] : line(row[name])),
      cell: name === "evidence" ? (row) => evidenceCell(row, place) : CELLS[name] || usual,
      has: (row) => !absent(row[name]),
    };
  }

  const unitOf = (name, row) => (dcu.index.metrics[name] || {}).unit || (name === "value" ? row.unit : "") || "";

  /* Of a metric: its level, the 95 % interval over the rounds, and from the least sample to the greatest. */
  function figure(name) {
    const at = (row, part) => row[`${name}_${part}`];
    const shown = (row, part) => format.value(at(row, part), unitOf(name, row));
    const pair = (row, low, high) =>
      (format.known(at(row, low)) && format.known(at(row, high)) ? `${shown(row, low)} – ${shown(row, high)}` : format.NONE);
    const group = spaced(name);
    return [
      { key: name, title: text("matrix.median"), value: (row) => at(row, "median"), cell: (row) => shown(row, "median") },
      { key: `${name}_ci`, title: text("matrix.interval"), value: (row) => at(row, "ci_low"), cell: (row) => pair(row, "ci_low", "ci_high") },
      { key: `${name}_range`, title: text("matrix.range"), value: (row) => at(row, "min"), cell: (row) => pair(row, "min", "max") },
    ].map((one) => ({ ...one, group, numeric: true, help: (dcu.index.metrics[name] || {}).label, has: (row) => format.known(one.value(row)) }));
  }

  function kindOfMetric(name) {
    const { unit, source } = dcu.index.metrics[name] || {};
    if (source === "profile") return "profile";
    if (source === "memory" || unit === "bytes") return "memory";
    if (source === "correctness") return "correctness";
    return unit === "seconds" ? "clocks" : "other";
  }

  /* What lies at the steady call beside the peaks: bytes. */
  function level(name) {
    return {
      key: name, title: spaced(name), group: text("matrix.group.memory"), numeric: true,
      value: (row) => row[name], cell: (row) => format.bytes(row[name]), has: (row) => format.known(row[name]),
    };
  }

  /* [{name, columns}] of all that rows have, a group each; columns are as dcu.table takes them, with `has(row)`. */
  function groups(names, place) {
    const metrics = names.filter((one) => one.endsWith("_median")).map((one) => one.slice(0, -"_median".length));
    const parts = new Set(metrics.flatMap((one) => ["median", "ci_low", "ci_high", "min", "max"].map((part) => `${one}_${part}`)));
    const listed = new Set(["benchmark", "params", ...GROUPS.flatMap(([, own]) => own)]);
    const others = names.filter((one) => !listed.has(one) && !parts.has(one));
    return GROUPS.map(([name, own]) => ({
      name,
      columns: [
        ...own.filter((one) => names.includes(one)).map((one) => ({ ...plain(one, place), group: text(`matrix.group.${name}`) })),
        ...metrics.filter((one) => kindOfMetric(one) === name).flatMap(figure),
        ...(name === "memory" ? others.map(level) : []),
      ],
    }));
  }

  const first = (place) => ({
    key: "benchmark", title: text("matrix.column.benchmark"), value: nameOf, cell: (row) => dcu.benchmarkLink(row.benchmark, { params: row.params, place }),
  });

  return { groups, first, USUAL };
})();
