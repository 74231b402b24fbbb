"use strict";
/* Memory: before, at the peak and after, by each way of looking at it; who was alive at the peak; what grows.
   Bytes are medians of the rounds that are looked at; where they differ the range stands beside. */
(() => {
  const { el, text, format, evidence } = dcu;
  const { figures, number, object, list } = evidence;
  const PARTS = ["before", "peak", "after"];

  /* From the narrowest to the widest view; of each what was before, at the peak and after, where it lies in `memory`. */
  const LEVELS = [
    ["requested", [null, ["requested_peak"], null]],
    ["allocated", [["baseline_allocated"], ["peak_allocated"], ["after_allocated"]]],
    ["reserved", [["baseline_reserved"], ["peak_reserved"], ["after_reserved"]]],
    ["card", [["card", "before"], ["card", "peak"], ["card", "after"]]],
    ["process", [["rss_before"], ["rss_peak"], ["rss_after"]]],
  ];

  const over = (groups, path) => (path ? figures(groups.map((one) => number(one, ...path))) : figures([]));

  /* The levels of which something is told: {name, before, peak, after}, each as `figures` has it. */
  function levels(groups) {
    return LEVELS.map(([name, paths]) => ({ name, ...Object.fromEntries(PARTS.map((part, at) => [part, over(groups, paths[at])])) }))
      .filter((level) => PARTS.some((part) => level[part].n));
  }

  /* A first call's card has its peak among the readings of that pass. */
  function firstGroups(rows) {
    return rows.map(({ record }) => {
      const first = object(record, "memory", "first");
      const peak = number(record, "sampled", "passes", "cold", "used_bytes");
      const card = object(first, "card");
      if (peak === null || number(card, "before") === null) return first;
      return { ...first, card: { ...card, peak: Math.max(peak, card.before, card.after || 0) } };
    });
  }

  const readable = (told) => {
    if (!told.n) return format.NONE;
    return told.min === told.max ? format.bytes(told.median) : text("evidence.median-range", { median: format.bytes(told.median), low: format.bytes(told.min), high: format.bytes(told.max) });
  };

  /* A table of bars; `most`: bytes of a whole bar. */
  function levelTable(found, caption, most) {
    const cell = (told) => el("td", { class: "evidence-level" }, told.n > 0 && evidence.bar(told.median / most), el("span", {}, readable(told)));
    const row = (level) => el("tr", {}, el("th", { scope: "row" }, text(`evidence.level.${level.name}`)), PARTS.map((part) => cell(level[part])),
      el("td", { class: "numeric" }, difference(level.peak, level.before)), el("td", { class: "numeric" }, difference(level.after, level.before)));
    const heads = ["level", ...PARTS, "added", "kept"].map((name) => el("th", { scope: "col", class: ["added", "kept"].includes(name) ? "numeric" : null }, text(`evidence.memory.${name}`)));
    return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      el("table", { class: "evidence-levels" }, el("caption", {}, caption), el("thead", {}, el("tr", {}, heads)), el("tbody", {}, found.map(row))));
  }

  function difference(one, other) {
    if (!one.n || !other.n) return format.NONE;
    const by = one.median - other.median;
    return by === 0 ? "0" : `${by > 0 ? "+" : "−"}${format.bytes(Math.abs(by))}`;
  }

  /* The facts beside the levels: the card's, the allocator's. */
  function beside(rows) {
    const groups = rows.map(({ record }) => object(record, "memory"));
    const last = (...path) => groups.map((one) => evidence.at(one, ...path)).filter((one) => one !== undefined && one !== null).pop();
    const outside = over(groups, ["outside_allocator"]);
    const others = last("card", "others");
    const seconds = number(last("empty_cache"), "seconds");
    return evidence.facts([
      [text("evidence.outside"), outside.n ? readable(outside) : null],
      [text("evidence.card"), last("card", "source") === undefined ? null : text("evidence.card-told", {
        source: last("card", "source"), readings: evidence.readable(last("card", "readings")), interval: format.time(last("card", "interval")), total: format.bytes(last("card", "total")),
      })],
      [text("evidence.card-own"), last("card", "own") === undefined ? null : format.bytes(last("card", "own"))],
      [text("evidence.others"), others ? othersText(others) + (last("card", "contended") ? ` ${text("evidence.contended")}` : "") : null],
      [text("evidence.retries"), eventsText(groups, "retries")],
      [text("evidence.ooms"), eventsText(groups, "ooms")],
      [text("evidence.empty-cache"), last("empty_cache") === undefined ? null : text("evidence.empty-cache-told", { calls: last("empty_cache", "calls"), seconds: format.time(seconds) })],
      [text("evidence.method"), last("method") === undefined ? null : String(last("method"))],
    ]);
  }

  function othersText(others) {
    if (!others.count) return text("evidence.nobody");
    return text(others.mib === undefined ? "evidence.others-told" : "evidence.others-held", { count: others.count, held: format.bytes(others.mib * 2 ** 20) });
  }

  function eventsText(groups, name) {
    const [steady, first] = [over(groups, [name]), over(groups, ["first", name])];
    if (!steady.n && !first.n) return null;
    return text("evidence.events", { steady: steady.n ? steady.max : format.NONE, first: first.n ? first.max : format.NONE });
  }

  evidence.parts.memory = (view) => {
    const { rows, entry } = view;
    const steady = levels(rows.map(({ record }) => object(record, "memory")));
    const first = levels(firstGroups(rows));
    const all = [...steady, ...first].flatMap((level) => PARTS.map((part) => level[part].median || 0));
    const most = Math.max(...all, 1);
    const advice = list(entry, "memory", "advice");
    const nothing = !steady.length && !first.length && evidence.quiet(text("evidence.no-memory"));
    return evidence.section("memory", text("evidence.memory"),
      nothing,
      steady.length > 0 && levelTable(steady, text("evidence.memory.steady"), most),
      first.length > 0 && levelTable(first, text("evidence.memory.first"), most),
      beside(rows),
      advice.length > 0 && evidence.under(text("evidence.advice"), el("ol", {}, advice.map((one) => el("li", {}, el("strong", {}, one.kind), `: ${one.text}. `, el("span", { class: "quiet" }, one.how))))));
  };

  /* ---- who was alive, what grew */

  const holderColumns = (whole) => [
    { key: "where", title: text("evidence.holder.where"), cell: (row) => el("code", {}, row.where || format.NONE) },
    { key: "what", title: text("evidence.holder.what") },
    { key: "count", title: text("evidence.holder.count"), numeric: true },
    { key: "bytes", title: text("evidence.holder.bytes"), numeric: true, cell: (row) => format.bytes(row.bytes) },
    ...(whole ? [{ key: "share", title: text("evidence.holder.share"), numeric: true, value: (row) => row.bytes / whole, cell: (row) => [evidence.bar(row.bytes / whole), ` ${format.digits((100 * row.bytes) / whole, 3)} %`] }] : []),
  ];

  /* Holders of the last round that has them; those of the earlier ones are the same call's. */
  function aliveTable(view) {
    const row = [...view.rows].reverse().find(({ record }) => number(record, "memory", "alive", "bytes"));
    if (!row) return null;
    const alive = row.record.memory.alive;
    const rest = [["before-call", alive.before_call], ["rest", alive.rest]]
      .filter(([, bytes]) => bytes).map(([name, bytes]) => ({ where: text(`evidence.holder.${name}`), what: "", count: null, bytes }));
    const unexplained = number(alive, "unexplained");
    return [
      evidence.quiet([text("evidence.alive-about", { bytes: format.bytes(alive.bytes), round: row.record.round, method: alive.method || format.NONE }),
        unexplained ? ` ${text("evidence.unexplained", { bytes: format.bytes(unexplained) })}` : ""]),
      dcu.table({ columns: holderColumns(alive.bytes), rows: [...list(alive, "holders"), ...rest], caption: text("evidence.alive"), hideCaption: true, csv: `${view.fn.slug}-${evidence.hash8(view.ci)}-alive`, sort: ["bytes", "desc"] }),
      list(alive, "earlier").length > 0 && evidence.under(text("evidence.holder.earlier"),
        dcu.table({ columns: holderColumns(alive.bytes), rows: alive.earlier, caption: text("evidence.holder.earlier"), hideCaption: true, sort: ["bytes", "desc"] })),
    ];
  }

  function growthText(growth) {
    const sure = number(growth, "ci_low") !== null && number(growth, "ci_high") !== null
      ? text("evidence.growth-interval", { low: format.bytes(growth.ci_low), high: format.bytes(growth.ci_high) }) : text("evidence.growth-no-interval");
    const key = growth.leak ? "evidence.leak" : "evidence.no-leak";
    return text(key, { slope: format.bytes(growth.slope), sure, calls: evidence.readable(growth.calls) });
  }

  /* Of the round in the middle, as the other tools tell it. */
  function growthPart(view) {
    const found = view.rows.map(({ record }) => object(record, "memory", "growth")).filter((one) => number(one, "slope") !== null).sort((a, b) => a.slope - b.slope);
    if (!found.length) return null;
    const growth = found[Math.floor(found.length / 2)];
    const grew = list(growth, "grew");
    return evidence.under(text("evidence.growth"),
      el("p", { class: growth.leak ? "note" : "quiet" }, growthText(growth)),
      evidence.facts([
        [text("evidence.growth-reason"), growth.reason || null],
        [text("evidence.growth-reserved"), number(growth, "reserved_slope") === null ? null : text("evidence.a-call", { bytes: format.bytes(growth.reserved_slope) })],
        [text("evidence.growth-method"), growth.method || null],
      ]),
      grew.length > 0 && dcu.table({ columns: holderColumns(0), rows: grew, caption: text("evidence.grew"), sort: ["bytes", "desc"] }));
  }

  evidence.parts.alive = (view) => evidence.section("alive", text("evidence.alive"), aliveTable(view), growthPart(view));
})();
