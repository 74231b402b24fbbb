"use strict";
/* Every function: its newest figure, how it went, and what changed last. Data of a function are loaded when its row is
   scrolled into view, few at a time. */
(() => {
  const { el, text, format } = dcu;
  const AT_ONCE = 3; // files that are fetched together
  const MARGIN = "200px"; // a row so near to the view is drawn

  async function show(state, main) {
    const changes = await dcu.load("changes");
    main.append(dcu.heading(text("benchmarks.title")));
    const { functions, branches } = dcu.index;
    if (!functions.length) {
      main.append(dcu.nothing(text("benchmarks.none"), dcu.copyable("asv run NEW"), dcu.copyable("asv publish")));
      return;
    }
    const branch = dcu.find.branch(state.query.branch) || branches[0] || null;
    const place = placeOf(state.query.place);
    main.append(choices(state, branch, place), ...inVain(state.query));
    const rows = functions
      .filter((fn) => String(place) in fn.places)
      .map((fn) => ({ fn, metric: mainMetric(fn), last: null }));
    lastChanges(rows, changes, branch, place);
    main.append(
      dcu.table({
        columns: columns(branch, place),
        rows,
        caption: text("benchmarks.caption", { place: dcu.placeName(place) }),
        filter: true,
        csv: "benchmarks",
        state: "t",
        empty: text("benchmarks.none-here"),
      }),
    );
  }

  /* What the address asks for and this site does not have. */
  function inVain({ branch, place }) {
    const told = [
      branch && dcu.find.branch(branch) === null && text("benchmarks.no-branch", { branch }),
      place && dcu.find.place(place) === null && text("benchmarks.no-place", { place }),
    ];
    return told.filter(Boolean).map((one) => el("p", { class: "note" }, one));
  }

  /* The chosen place, else the one with most functions. */
  function placeOf(key) {
    const found = dcu.find.place(key || "");
    if (found !== null) return found;
    const counts = dcu.index.places.map(
      (_, pi) => dcu.index.functions.filter((fn) => String(pi) in fn.places).length,
    );
    return counts.indexOf(Math.max(...counts));
  }

  const mainMetric = (fn) => (fn.metrics.includes("latency") ? "latency" : fn.metrics[0]);

  function choices(state, branch, place) {
    const { branches, places } = dcu.index;
    return el(
      "div",
      { class: "choices" },
      branches.length > 1 &&
        dcu.choice({
          label: text("branch"),
          name: "branch",
          options: branches.map(({ name }) => [name, name]),
          value: branch.name,
        }),
      places.length > 1 &&
        dcu.choice({
          label: text("place"),
          name: "place",
          options: places.map((one, pi) => [one.key, dcu.placeName(pi)]),
          value: places[place].key,
        }),
    );
  }

  /* The newest change of each function there, and how many there are. */
  function lastChanges(rows, changes, branch, place) {
    const found = new Map();
    if (branch) {
      for (const change of dcu.changeRows(changes, branch.name)) {
        if (!change.benchmark || change.place !== place) continue;
        const fn = dcu.find.byName(change.benchmark);
        if (fn) found.set(fn, [...(found.get(fn) || []), change]);
      }
    }
    for (const row of rows) {
      const mine = found.get(row.fn) || [];
      row.last = mine[0] || null;
      row.changes = mine.length;
    }
  }

  function columns(branch, place) {
    const combos = (row) => row.fn.places[place].combos.length;
    return [
      {
        key: "name",
        title: text("benchmarks.name"),
        value: (row) => row.fn.name,
        cell: (row) => dcu.benchmarkLink(row.fn.name, { place, branch: branch && branch.name }),
      },
      {
        key: "went",
        title: text("benchmarks.went"),
        help: text("benchmarks.went-help"),
        value: () => "",
        cell: (row) => el("div", { class: "went" }, trend(row, branch, place)),
      },
      {
        key: "last",
        title: text("benchmarks.last"),
        value: (row) => row.last && format.date(row.last.date),
        order: (row) => row.last && row.last.date,
        cell: last,
        text: (row) => (row.last ? `${row.last.commit} ${row.last.subject} ${row.last.what}` : ""),
      },
      { key: "changes", title: text("benchmarks.changes"), numeric: true },
      { key: "kind", title: text("benchmarks.kind"), value: (row) => kind(row.fn), cell: (row) => kind(row.fn) },
      {
        key: "metrics",
        title: text("benchmarks.metrics"),
        numeric: true,
        value: (row) => row.fn.metrics.length,
        cell: (row) => el("span", { title: row.fn.metrics.join(", ") }, row.fn.metrics.length),
      },
      { key: "combinations", title: text("benchmarks.combinations"), numeric: true, value: combos },
    ];
  }

  const kind = (fn) => (fn.ours ? text(`benchmarks.kind.${fn.kind}`) : text("benchmarks.kind.asv"));

  function last(row) {
    const one = row.last;
    if (!one) return el("span", { class: "quiet" }, text("benchmarks.no-change"));
    return el(
      "span",
      { class: "last" },
      dcu.verdict(one.what),
      " ",
      el("span", { class: "numeric" }, dcu.changeText(one)),
      " ",
      el("span", { class: "quiet" }, one.metric),
      " ",
      dcu.commitLink(one.ci === null ? one.commit : one.ci),
      " ",
      el("span", { class: "quiet day" }, format.date(one.date), one.pending && ` (${text("changes.pending")})`),
    );
  }

  // ---- how it went

  const queue = [];
  let running = 0;

  function next() {
    while (running < AT_ONCE && queue.length) {
      const task = queue.shift();
      running += 1;
      task().finally(() => {
        running -= 1;
        next();
      });
    }
  }

  const seen = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        seen.unobserve(target);
        queue.push(async () => {
          // Gone on meanwhile: nobody looks at it any more.
          if (target.isConnected) await target.draw();
        });
      }
      next();
    },
    { rootMargin: MARGIN },
  );

  /* A place for the drawing, filled when it comes into view. */
  function trend(row, branch, place) {
    const box = el("span", { class: "trend" });
    box.draw = async () => {
      try {
        box.replaceChildren(...drawn(row, branch, place, await dcu.load(row.fn.places[place].parts[0])));
      } catch (fault) {
        box.replaceChildren(el("span", { class: "quiet" }, fault.message));
      }
      box.dataset.drawn = "";
    };
    seen.observe(box);
    return box;
  }

  function drawn(row, branch, place, data) {
    const line = data.lines.find((one) => one.metric === row.metric) || data.lines[0];
    const values = line ? valuesOf(line, branch) : [];
    if (!values.length) return [el("span", { class: "quiet" }, text("benchmarks.no-value"))];
    const unit = row.fn.units[line.metric];
    const newest = format.value(values[values.length - 1], unit);
    const about = { metric: line.metric, count: values.length, first: format.value(values[0], unit), last: newest };
    const of = line.params.length
      ? ` (${format.params(
          row.fn.params.map((one) => one.name),
          line.params,
        )})`
      : "";
    return [
      dcu.sparkline(values, text("benchmarks.trend", about) + of),
      el("span", { class: "numeric", title: line.metric + of }, newest),
    ];
  }

  /* The values of a line on a branch, oldest first. */
  function valuesOf(line, branch) {
    const points = new Map();
    for (const timeline of line.timelines)
      timeline.commits.forEach((ci, place) => points.set(ci, timeline.values[place]));
    const order = branch ? branch.commits : [...points.keys()].sort((a, b) => a - b);
    return order.filter((ci) => points.has(ci)).map((ci) => points.get(ci));
  }

  dcu.pages.set("benchmarks", { show });
})();
