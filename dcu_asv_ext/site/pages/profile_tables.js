"use strict";
/* The tables of a kept profile, see dcu_asv_ext/trace/digest.py. Its rows are sums over all profiled calls; the pages
   tell them of one call, and export both. */
(() => {
  const { el, text, format, evidence } = dcu;

  /* table -> its cells by place, which of them are seconds, and the one that orders it. "(rest)" is a row of sums. */
  const TABLES = {
    operators: { cells: ["name", "calls", "self_device", "device", "self_cpu", "cpu", "kernels"], seconds: ["self_device", "device", "self_cpu", "cpu"], counts: ["calls", "kernels"], order: ["self_device", "self_cpu"] },
    kernels: { cells: ["name", "shape", "count", "seconds", "operators"], seconds: ["seconds"], counts: ["count"], order: ["seconds"] },
    copies: { cells: ["direction", "count", "bytes", "seconds", "source", "operator"], seconds: ["seconds"], counts: ["count", "bytes"], order: ["seconds"] },
    syncs: { cells: ["kind", "name", "count", "seconds", "source", "operator"], seconds: ["seconds"], counts: ["count"], order: ["seconds"] },
    gaps: { cells: ["cause", "count", "seconds", "source"], seconds: ["seconds"], counts: ["count"], order: ["seconds"] },
  };
  const CODE = ["name", "shape", "source", "operator", "operators"];

  const plain = (cell) => (Array.isArray(cell) ? cell.join(", ") : cell === undefined ? null : cell);

  const rowsOf = (digest, name) => evidence.list(digest, name).filter(Array.isArray)
    .map((row) => Object.fromEntries(TABLES[name].cells.map((cell, place) => [cell, plain(row[place])])));

  const sum = (rows, key) => rows.reduce((whole, row) => whole + (format.known(row[key]) ? row[key] : 0), 0);

  /* A count of one call: 2, 2.5. */
  const each = (value, steps) => (format.known(value) ? format.digits(value / steps) : format.NONE);

  function column(key, table, steps) {
    const title = text(`profile.col.${key}`);
    if (table.seconds.includes(key)) return { key, title, numeric: true, cell: (row) => format.time(format.known(row[key]) ? row[key] / steps : null) };
    if (key === "bytes") return { key, title, numeric: true, cell: (row) => format.bytes(format.known(row[key]) ? row[key] / steps : null) };
    if (table.counts.includes(key)) return { key, title, numeric: true, cell: (row) => each(row[key], steps) };
    return { key, title, cell: (row) => (CODE.includes(key) && row[key] ? el("code", {}, row[key]) : row[key] || format.NONE) };
  }

  /* Share of the column that orders the table: where that is nothing, of the next one. */
  function shareColumn(rows, order) {
    const whole = sum(rows, order);
    return whole > 0 && {
      key: "share", title: text("profile.col.share"), numeric: true, value: (row) => (format.known(row[order]) ? row[order] / whole : null),
      cell: (row) => (format.known(row[order]) ? [evidence.bar(row[order] / whole), `${format.digits((100 * row[order]) / whole, 3)} %`] : format.NONE),
    };
  }

  /* One table as a section; where it is empty the reason, if the profile tells one. */
  function section(name, digest, file, why) {
    const table = TABLES[name];
    const rows = rowsOf(digest, name);
    const steps = digest.steps || 1;
    const title = text(`profile.${name}`);
    if (!rows.length) return evidence.section(name, title, evidence.quiet(why || text("profile.no-rows")));
    const order = table.order.find((key) => sum(rows, key) > 0) || table.order[0];
    const columns = table.cells.filter((key) => rows.some((row) => row[key] !== null && row[key] !== "" && row[key] !== undefined)).map((key) => column(key, table, steps));
    const [first] = columns.filter((one) => ["name", "direction", "cause"].includes(one.key));
    const ordered = [first, ...columns.filter((one) => one !== first), shareColumn(rows, order)].filter(Boolean);
    return evidence.section(name, title,
      evidence.quiet(text(`profile.${name}-about`, { steps })),
      dcu.table({ columns: ordered, rows, caption: title, hideCaption: true, filter: rows.length > 8, csv: `${file}-${name}`, sort: [order, "desc"], state: name }));
  }

  dcu.profile = { TABLES, section };
})();
