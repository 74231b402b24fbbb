"use strict";
/* The page of one benchmark: all its metrics on one axis of commits.
   #/benchmark/<slug>?place&p.<name>&branch&x&y&metrics&from&to&commit, or #/benchmark?name=<name, or asv's name>&machine. */
(() => {
  const { el, text } = dcu;
  const { choices, axis: axes, series: lines, changes, commit: commits, controls, asv } = dcu.benchmark;
  const HEIGHTS = [300, 200]; // CSS pixels of a picture's first plot, and of the others
  const SOON = 250; // ms after which a zoom is kept in the address: a drag is many

  let view = null; // what is shown now

  async function linesOf(choice) {
    if (choice.pi === null) return [];
    // Files are cut between combinations of parameters; `starts` are the first ones of each.
    const { parts, starts = [0], combos } = choice.fn.places[choice.pi];
    const wanted = new Set(choice.combos.map((combo) => {
      const place = combos.indexOf(combo);
      return starts.filter((one) => one <= place).length - 1;
    }));
    const files = await Promise.all([...wanted].map((part) => dcu.load(parts[part])));
    return files.flatMap((file) => file.lines);
  }

  function unknown(asked, main) {
    const near = choices.near(asked);
    main.append(
      dcu.heading(text("benchmark.unknown-title")),
      el("p", {}, text(asked ? "benchmark.unknown" : "benchmark.which", { name: asked })),
      near.length > 0 && el("ul", { class: "near" }, near.map((fn) => el("li", {}, el("a", { href: dcu.router.link("benchmark", [fn.slug]) }, fn.name)))),
      el("p", {}, el("a", { href: dcu.router.link("benchmarks") }, text("benchmark.list"))),
    );
  }

  /* All plots share the extent of what is measured, so that they are in line. */
  function extentOf(all, axis) {
    let [from, to] = [Infinity, -Infinity];
    for (const one of all) {
      for (const x of [one.x[0], one.x[one.x.length - 1]].filter((each) => each !== undefined)) [from, to] = [Math.min(from, x), Math.max(to, x)];
    }
    if (from > to) return null;
    const room = Math.max((to - from) * 0.015, axis.dates ? 43200000 : 0.5);
    return [from - room, to + room];
  }

  const linked = {
    zoom(range, from) {
      for (const one of view.plots) if (one !== from) one.plot.zoom(range);
      clearTimeout(view.timer);
      const { axis, state } = view;
      view.timer = setTimeout(() => {
        const [first, last] = range ? axis.ends(range).map((ci) => dcu.index.commits[ci][0].slice(0, 8)) : [null, null];
        if (dcu.router.state() === state) dcu.router.note({ from: first, to: last });
      }, SOON);
    },
    point(stop, from) {
      for (const one of view.plots) if (one !== from) one.plot.hair(stop ? stop.x : null);
    },
    open(stop, from) {
      const ci = view.axis.commit(stop.x);
      if (ci === null) return;
      const { choice } = view;
      if (commits.published(choice, ci)) location.hash = commits.evidenceLink(choice, ci, from.series[stop.series].combo);
      else dcu.router.change({ commit: dcu.index.commits[ci][0].slice(0, 8) });
    },
  };

  function optionsOf(one) {
    const { choice, axis, extent, found } = view;
    const dressed = found ? changes.dress(choice, axis, found, one.series) : { series: one.series, marks: [] };
    const [unit] = one.metrics.map((metric) => choice.fn.units[metric]);
    return {
      label: text("benchmark.plot", { metrics: one.metrics.map(lines.labelOf).join("; "), x: text(axis.dates ? "benchmark.by-date" : "benchmark.by-commit") }),
      height: one.height,
      x: { kind: axis.dates ? "date" : "number", title: text("benchmark.commit"), text: axis.text, tick: axis.tick, lines: axis.dates ? 1 : 2, extent: extent || undefined, range: axis.range(choice.from, choice.to) },
      y: { scale: choice.log ? "log" : "linear", unit },
      series: dressed.series,
      bad: one.series.flatMap((each, number) => each.bad.map((bad) => ({ ...bad, series: number }))),
      marks: dressed.marks,
      empty: text("benchmark.no-points"),
      legend: lines.legend(choice.fn, one.metrics, choice.combos),
      signs: false,
      onOpen: (stop) => linked.open(stop, one),
      onZoom: (range) => linked.zoom(range, one),
      onPoint: (stop) => linked.point(stop, one),
    };
  }

  function pictureOf(name, plots) {
    const { choice } = view;
    const made = plots.map((plot) => view.plots.find((one) => one.metrics === plot));
    return el("section", { class: `picture picture-${name}` },
      el("h2", {}, text(`benchmark.picture-${name}`)),
      made.map((one) => one.plot.element),
      asv.links(choice, plots.flat()));
  }

  function drawAll(mine) {
    const kinds = new Set();
    for (const one of mine.plots) {
      const options = optionsOf(one);
      if (one.plot) one.plot.set(options);
      else one.plot = dcu.plot(options);
      for (const kind of dcu.plotting.words.kinds(options)) kinds.add(kind);
    }
    mine.signs.replaceChildren(dcu.plotting.words.signs(kinds) || "");
  }

  /* Failed and missing measurements of what is drawn: those of one reason together. */
  function badOnes(choice, axis, all) {
    const groups = new Map();
    for (const one of all) {
      for (const each of one.bad) {
        const key = JSON.stringify([each.kind, each.text, one.metric]);
        if (!groups.has(key)) groups.set(key, { kind: each.kind, reason: each.text, metric: one.metric, params: new Set(), xs: [] });
        groups.get(key).params.add(dcu.format.params(choice.fn.params.map((param) => param.name), one.combo));
        groups.get(key).xs.push(each.x);
      }
    }
    if (!groups.size) return null;
    const end = (which) => (row) => Math[which](...row.xs);
    const column = (key, which) => ({ key, title: text(`benchmark.${key}`), value: end(which), cell: (row) => axis.text(end(which)(row)) });
    return el("section", {}, el("h2", {}, text("benchmark.bad")), dcu.table({
      caption: text("benchmark.bad"), hideCaption: true, rows: [...groups.values()], sort: ["count", "desc"], csv: "failed", filter: groups.size > 10,
      columns: [
        { key: "metric", title: text("benchmark.metric") },
        { key: "params", title: text("benchmark.params"), value: (row) => [...row.params].join("; ") },
        { key: "reason", title: text("benchmark.reason") },
        { key: "count", title: text("benchmark.count"), numeric: true, value: (row) => row.xs.length },
        column("first", "min"), column("last", "max"),
      ].filter((one) => one.key !== "params" || choice.fn.params.length),
    }));
  }

  /* The data of the changes come when they come: marks, levels and the table are added to what is drawn. */
  async function addChanges(mine) {
    try {
      mine.found = changes.of(await dcu.load("changes"), mine.choice);
    } catch (fault) {
      mine.tableBox.replaceChildren(el("p", { role: "alert" }, fault.message));
      return;
    }
    if (view !== mine) return;
    drawAll(mine);
    const drawn = mine.plots.flatMap((one) => one.series);
    mine.tableBox.replaceChildren(...changes.table(mine.choice, mine.found, drawn));
  }

  function notesOf(choice, axis) {
    const told = [...choice.notes];
    if (axis.undated) told.push(text("benchmark.undated", { count: axis.undated }));
    return told.map((one) => el("p", { class: "note" }, one));
  }

  async function show(state, main) {
    const choice = choices.read(state);
    if (!choice.fn) {
      unknown(choice.asked, main);
      return;
    }
    const { fn } = choice;
    main.append(dcu.heading(fn.label || fn.name));
    if (choice.pi === null) {
      main.append(el("div", {}, choice.notes.map((one) => el("p", { class: "note" }, one)), dcu.nothing(text("benchmark.nowhere"))));
      return;
    }
    const data = await linesOf(choice);
    const axis = axes.make(choice.branch, choice.dates);
    const pictures = lines.pictures(fn, choice.metrics);
    const mine = (view = { state, choice, axis, found: null, plots: [], timer: null, tableBox: el("div", {}), signs: el("div", {}) });
    for (const [, plots] of pictures) {
      plots.forEach((metrics, i) => mine.plots.push({ metrics, height: HEIGHTS[Math.min(i, 1)], series: lines.make(choice, axis, data, metrics) }));
    }
    const all = mine.plots.flatMap((one) => one.series);
    mine.extent = extentOf(all, axis);
    drawAll(mine);
    const open = choice.commit !== null && commits.show(choice, axis, data, choice.commit);
    main.append(
      controls.make(choice),
      ...notesOf(choice, axis),
      el("p", { class: "quiet" }, text("benchmark.how")),
      mine.signs,
      el("div", { class: open ? "benchmark-body beside" : "benchmark-body" },
        el("div", {}, pictures.map(([name, plots]) => pictureOf(name, plots))), open),
      el("section", {}, el("h2", {}, text("benchmark.changes")), mine.tableBox),
      badOnes(choice, axis, all) || "",
    );
    addChanges(mine);
  }

  dcu.pages.set("benchmark", { show });
})();
