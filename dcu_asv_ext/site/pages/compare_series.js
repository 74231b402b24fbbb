"use strict";
/* Two commits whose comparison was not made when the site was published: the figures of both sides beside each other,
   of the functions that the reader chooses, without a verdict. */
dcu.compareSeries = (() => {
  const { el, text, format, sides } = dcu;
  const AT_ONCE = 4; // files that are fetched together

  const functionsAt = (pi) => dcu.index.functions.filter((one) => one.places[pi]);

  const partsOf = (fn, pi) => fn.places[pi].parts;

  const filesOf = (functions, pi) => functions.reduce((sum, fn) => sum + partsOf(fn, pi).length, 0);

  /* What a line has at a commit: {value, low, high, rounds, unit, timeline}, or {reason}, or null. */
  function figureAt(line, ci, unit) {
    for (const timeline of line.timelines) {
      const at = timeline.commits.indexOf(ci);
      if (at < 0) continue;
      const value = timeline.values[at];
      const rounds = timeline.rounds[at];
      const count = Array.isArray(rounds) ? rounds.length : rounds;
      return { value, rounds: count, timeline, ...interval(value, count, timeline.h, unit) };
    }
    const without = [...line.failed, ...line.missing].find(([where]) => where === ci);
    return without ? { reason: without[1] } : null;
  }

  /* 95 % interval of a level, from the scatter of the timeline's rounds. */
  function interval(value, count, h, unit) {
    if (!format.known(h) || !format.known(value) || !count) return {};
    const half = h / Math.sqrt(count);
    if (unit === "share") return { low: value - half, high: value + half };
    return { low: value * Math.exp(-half), high: value * Math.exp(half) };
  }

  /* Why two figures of one series are not of the same thing. */
  function remark(before, after) {
    if (!before || !after) return text("compare.one-side");
    if (before.reason || after.reason) {
      const sides = [["compare.before", before], ["compare.after", after]];
      return sides.filter(([, one]) => one.reason).map(([name, one]) => `${text(name)}: ${one.reason}`).join("; ");
    }
    if (before.timeline.version !== after.timeline.version) return text("compare.other-version");
    if (before.timeline.protocol !== after.timeline.protocol) return text("compare.other-protocol");
    return before.timeline === after.timeline ? "" : text("compare.other-set-up");
  }

  function rowsOf(fn, data, found) {
    return data.lines.flatMap((line) => {
      const unit = fn.units[line.metric] || "";
      const [before, after] = [found.before, found.after].map((ci) => figureAt(line, ci, unit));
      if (!before && !after) return [];
      return [{ fn, name: dcu.benchmarkName(fn.name, line.params), unit, metric: line.metric, params: line.params, before, after, remark: remark(before, after) }];
    });
  }

  // ---- the table

  const level = (one) => (one && format.known(one.value) ? one.value : null);

  function figureCell(one, unit) {
    if (level(one) === null) return format.NONE;
    const around = format.known(one.low) ? `${format.value(one.low, unit)} – ${format.value(one.high, unit)}` : "";
    return [format.value(one.value, unit), el("span", { class: "figures" }, around)];
  }

  function ratio({ before, after }) {
    return level(before) && level(after) !== null ? after.value / before.value : null;
  }

  /* Of a share no ratio: the difference, in points. */
  function changeCell(row) {
    if (row.unit !== "share") return format.ratio(ratio(row));
    if (level(row.before) === null || level(row.after) === null) return format.NONE;
    const points = 100 * (row.after.value - row.before.value);
    return text("compare.points", { points: `${points < 0 ? "−" : "+"}${Math.abs(points).toFixed(1)}` });
  }

  const part = (row, name, what) => (row[name] && format.known(row[name][what]) ? row[name][what] : null);

  const side = (name) => [
    {
      key: name, title: text(`compare.${name}`), help: text("compare.series-help"), numeric: true,
      value: (row) => level(row[name]), cell: (row) => figureCell(row[name], row.unit),
    },
    { key: `${name}_low`, hidden: true, value: (row) => part(row, name, "low") },
    { key: `${name}_high`, hidden: true, value: (row) => part(row, name, "high") },
    { key: `${name}_rounds`, title: text("compare.rounds"), numeric: true, value: (row) => part(row, name, "rounds") },
  ];

  function table(rows, found) {
    return dcu.table({
      rows, caption: text("compare.series-caption"), hideCaption: true, filter: true, state: "rows", empty: text("compare.no-series"),
      csv: `figures-${sides.short(found.before)}-${sides.short(found.after)}`,
      columns: [
        { key: "benchmark", title: text("compare.benchmark"), value: (row) => row.name, cell: (row) => dcu.benchmarkLink(row.fn.name, { params: row.params, place: found.pi }) },
        { key: "metric", title: text("compare.metric"), cell: (row) => row.metric.replace(/_/g, " ") },
        ...side("before"), ...side("after"),
        { key: "ratio", title: text("compare.ratio"), numeric: true, value: ratio, cell: changeCell },
        { key: "unit", hidden: true },
        { key: "remark", title: text("compare.remark") },
      ],
    });
  }

  // ---- loading

  /* The files of some functions, a few at a time. told(done, all) is called as they come; it stops where it gives false. */
  async function fetched(functions, pi, told) {
    const wanted = functions.flatMap((fn) => partsOf(fn, pi).map((key) => [fn, key]));
    const got = [];
    for (let first = 0; first < wanted.length; first += AT_ONCE) {
      got.push(...(await Promise.all(wanted.slice(first, first + AT_ONCE).map(async ([fn, key]) => [fn, await dcu.load(key)]))));
      if (!told(got.length, wanted.length)) return null;
    }
    return got;
  }

  function progress(count) {
    const bar = el("progress", { max: count, value: 0, "aria-label": text("compare.loading") });
    const words = el("span", { role: "status" });
    const set = (done) => {
      bar.value = done;
      words.textContent = text("compare.loaded", { done, count });
    };
    return { element: el("p", { class: "progress" }, bar, " ", words), set };
  }

  /* Filled once its files are there; the page stands meanwhile. */
  function filling(box, { wanted, params }, found) {
    const bar = progress(filesOf(wanted, found.pi));
    box.replaceChildren(bar.element);
    const state = dcu.router.state();
    const told = (done) => {
      bar.set(done);
      return dcu.router.state() === state;
    };
    const rows = (got) => got.flatMap(([fn, data]) => rowsOf(fn, data, found)).filter((row) => meets(row, params));
    fetched(wanted, found.pi, told).then(
      (got) => got && box.replaceChildren(table(rows(got), found)),
      (fault) => box.replaceChildren(el("p", { class: "note", role: "alert" }, fault.message)));
  }

  function chooser({ functions, asked, wanted, params, pi }) {
    const anew = (query) => dcu.router.change({ benchmark: null, ...every(params), ...query });
    const options = [["", text("compare.choose")], ...functions.map((fn) => [fn.slug, fn.name])];
    return el("div", { class: "choices" },
      dcu.choice({
        label: text("compare.benchmark"), name: "function", options, value: asked,
        chosen: (slug) => anew({ function: slug, all: null }),
      }),
      el("button", {
        type: "button", name: "all", disabled: wanted === functions, onclick: () => anew({ function: null, all: "1" }),
      }, text("compare.show-all", { count: filesOf(functions, pi) })),
      params.length > 0 && el("button", { type: "button", name: "params", onclick: () => dcu.router.change(every(params)) }, text("compare.every-params")));
  }

  /* Links from other pages name a benchmark as they do for a comparison: `benchmark` and, for its rows, `p.<name>`. */
  function chosen(query, functions, pi) {
    const named = functions.find((fn) => fn.name === query.benchmark);
    const asked = query.function || (named ? named.slug : query.benchmark) || "";
    const one = functions.find((fn) => fn.slug === asked);
    const all = query.all === "1" || (!asked && filesOf(functions, pi) <= AT_ONCE);
    const params = Object.entries(query).filter(([name]) => name.startsWith("p.")).map(([name, value]) => [name.slice(2), value]);
    return { functions, pi, asked: all ? "" : asked, wanted: all ? functions : one ? [one] : [], params };
  }

  /* The query in which no parameter is chosen. */
  const every = (params) => Object.fromEntries(params.map(([name]) => [`p.${name}`, null]));

  /* Whether a row's parameters are as chosen. */
  const meets = ({ fn, params }, chosenParams) =>
    chosenParams.every(([name, value]) => fn.params.some((one, place) => one.name === name && params[place] === value));

  return function section(state, found) {
    const choice = chosen(state.query, functionsAt(found.pi), found.pi);
    const box = el("div", {});
    if (choice.wanted.length) filling(box, choice, found);
    else if (choice.asked) box.append(el("p", { class: "note" }, text("compare.no-function", { name: choice.asked })));
    return el("section", { "aria-labelledby": "compare-series" },
      el("h2", { id: "compare-series" }, text("compare.series")), chooser(choice), box);
  };
})();
