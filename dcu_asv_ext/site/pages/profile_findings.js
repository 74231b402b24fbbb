"use strict";
/* Figures of a profile with what the profiler itself cost, and its findings. */
(() => {
  const { el, text, format, evidence } = dcu;
  const { figures, number, object, list } = evidence;
  /* Upper over lower quartile of calls from which on their median says little (trace/profiler_cost.py). */
  const SCATTERED = 2;

  const scattered = (times) => {
    const { n, q1, q3 } = figures(times);
    return n > 0 && q3 > SCATTERED * q1;
  };

  /* What the profiler cost, as a sentence. */
  function cost(record, digest) {
    const overhead = number(digest, "overhead");
    if (overhead === null) return text(digest.first ? "profile.cost-first" : "profile.cost-unknown");
    const latency = figures(list(record, "times", "latency"));
    if (overhead < 1 || scattered(list(digest, "seconds")) || scattered(list(record, "times", "latency"))) return text("profile.cost-doubtful");
    return text("profile.cost", { ratio: format.digits(overhead, 3), latency: format.time(latency.median) });
  }

  function about(record, digest) {
    const calls = figures(list(digest, "seconds"));
    return evidence.facts([
      [text("profile.steps"), digest.steps === undefined ? null : text(digest.first ? "profile.first-call" : "profile.steps-told", { count: digest.steps })],
      [text("profile.call"), calls.n ? text("evidence.median-range", { median: format.time(calls.median), low: format.time(calls.min), high: format.time(calls.max) }) : null],
      [text("profile.cost-name"), cost(record, digest)],
      [text("profile.stacks"), typeof digest.stacks === "boolean" ? evidence.readable(digest.stacks) : null],
      [text("profile.trace"), digest.trace ? String(digest.trace) : null],
      [text("evidence.col.round"), text("profile.of-round", { round: record.round, started: evidence.readableTime(record.started_at) })],
    ]);
  }

  /* ---- one call */

  function callTable(record, digest, fn, file) {
    const missing = { ...object(digest, "missing"), ...object(record, "missing") };
    const names = Object.keys(dcu.index.metrics).filter((name) => dcu.index.metrics[name].source === "profile");
    const rows = names.map((name) => {
      const range = list(digest, "varies", name);
      return { name, label: evidence.labelOf(name), unit: evidence.unitOf(fn, name), value: number(digest, "per_call", name), varies: range.length ? text("evidence.from-to", { from: range[0], to: range[1] }) : "", reason: missing[name] || missing.device || missing.rows || "" };
    }).filter((row) => row.value !== null || row.reason);
    if (!rows.length) return null;
    const columns = [
      { key: "label", title: text("evidence.col.metric"), cell: (row) => [row.label, el("code", { class: "name" }, row.name)] },
      { key: "value", title: text("profile.of-a-call"), numeric: true, cell: (row) => (row.value === null ? text("evidence.none") : el("strong", {}, format.value(row.value, row.unit))) },
      { key: "varies", title: text("profile.varies") },
      { key: "reason", title: text("evidence.col.reason"), value: (row) => (row.value === null ? row.reason : "") },
    ].filter((column) => ["label", "value"].includes(column.key) || rows.some((row) => column.value ? column.value(row) : row[column.key]));
    return dcu.table({ columns, rows, caption: text("profile.figures"), hideCaption: true, csv: `${file}-profile` });
  }

  /* ---- totals of the trace */

  const grouped = (value) => (format.known(value) ? value.toLocaleString("en") : format.NONE);

  function copyText(one, steps) {
    return text("profile.copy-total", { count: grouped(one.count), each: format.digits(one.count / steps), bytes: format.known(one.bytes) ? format.bytes(one.bytes) : text("profile.bytes-untold"), seconds: format.time(one.seconds) });
  }

  function totals(digest) {
    const found = object(digest, "totals");
    const steps = digest.steps || 1;
    const time = (name) => (number(found, name) === null ? null : text("profile.total", { whole: format.time(found[name]), each: format.time(found[name] / steps) }));
    const count = (name) => (number(found, name) === null ? null : text("profile.total", { whole: grouped(found[name]), each: format.digits(found[name] / steps) }));
    const share = (name) => (number(found, name) === null ? null : format.value(found[name], "share"));
    const copies = [["copies", "profile.copies-of"], ["copies_as_kernels", "profile.copies-as-kernels"]].flatMap(([name, key]) =>
      Object.entries(object(found, name)).map(([way, one]) => [text(key, { way }), copyText(one, steps)]));
    const waits = Object.entries(object(found, "syncs")).map(([kind, number_]) => `${kind}: ${grouped(number_)}`).join(", ");
    return evidence.facts([
      [text("profile.kernel-count"), count("kernel_count")],
      [text("profile.kernel-time"), time("kernel_time")],
      [text("profile.busy"), time("busy_time")],
      [text("profile.span"), time("span")],
      [text("profile.idle"), share("idle_share")],
      [text("profile.overlap"), share("overlap_share")],
      ...copies,
      [text("profile.sync-count"), count("sync_count") && [count("sync_count"), waits && ` (${waits})`].filter(Boolean)],
      [text("profile.unlaunched"), found.unlaunched ? grouped(found.unlaunched) : null],
      [text("profile.devices"), list(found, "devices").length ? text("profile.devices-told", { count: found.devices.length, streams: evidence.readable(found.streams), flavour: String(found.flavour || format.NONE) }) : null],
      [text("profile.events"), number(found, "events") === null ? null : grouped(found.events)],
      [text("profile.rank"), found.rank === null || found.rank === undefined ? null : evidence.readable(found.rank)],
    ]);
  }

  function figuresPart(record, digest, fn, file) {
    const faults = list(digest, "faults").map((fault) => el("p", { class: "note" }, String(fault)));
    const whole = totals(digest);
    return evidence.section("figures", text("profile.figures"), faults, about(record, digest), evidence.quiet(text("profile.profiled-times")),
      callTable(record, digest, fn, file), whole && evidence.under(text("profile.totals"), whole));
  }

  /* ---- findings */

  function finding(one, steps) {
    const gain = one.end_to_end === false ? text("profile.no-gain") : text("profile.gain", { whole: format.time(one.seconds), each: format.time(one.seconds / steps) });
    const share = format.known(one.share) ? text("profile.share", { share: format.value(one.share, "share") }) : "";
    return el("li", { class: "profile-finding" },
      el("h3", {}, String(one.kind), el("span", { class: "gain" }, [gain, share].filter(Boolean).join("; "))),
      format.known(one.share) && evidence.bar(one.share),
      el("p", {}, String(one.text || "")),
      one.next_step && el("p", {}, el("strong", {}, text("profile.next")), ` ${one.next_step}`),
      one.source && el("p", { class: "quiet" }, text("profile.at"), " ", el("code", {}, one.source)));
  }

  function findingsPart(digest) {
    const found = list(digest, "findings").filter((one) => one !== null && typeof one === "object");
    const steps = digest.steps || 1;
    return evidence.section("findings", text("profile.findings"),
      found.length ? [evidence.quiet(text("profile.findings-about", { steps })), el("ol", { class: "profile-findings" }, found.map((one) => finding(one, steps)))] : evidence.quiet(text("profile.no-findings")));
  }

  Object.assign(dcu.profile, { figuresPart, findingsPart });
})();
