"use strict";
/* What the history tells of a benchmark's lines: change points, the machine's events, changes of the set-up. They become
   marks and levels of plots, and a table. */
dcu.benchmark.changes = (() => {
  const { el, text, format } = dcu;
  const FEWEST = 3; // points of a level that no change point bounds

  const commitAt = (axis, hash) => {
    const ci = dcu.find.commit(hash);
    return ci !== null && axis.at.has(ci) ? axis.at.get(ci) : null;
  };

  /* The changes of a place and a function; those of events and set-up changes belong to it, too. */
  function of(data, choice) {
    const empty = { changes: [], events: [], setUps: [] };
    const branch = data && choice.branch && data.branches.find((one) => one.name === choice.branch.name);
    if (!branch) return empty;
    const place = dcu.index.places[choice.pi];
    const here = (one) => one.machine === place.machine && one.environment === place.env;
    const mine = (one) => here(one) && one.benchmark === choice.fn.name;
    const [events, setUps] = [branch.events.filter(here), branch.set_ups.filter(here)];
    const within = (kind, all) => all.flatMap((one) => one.members.filter(mine).map((each) => ({ ...each, within: kind })));
    const changes = [...branch.changes.filter(mine).map((one) => ({ ...one, within: null })), ...within("event", events), ...within("set-up", setUps)];
    return { changes, events, setUps };
  }

  /* The same parameters as a list; the data have them by name. */
  const comboOf = (fn, change) => fn.params.map((param, at) => change.params[param.name || String(at)]);

  const sameLine = (fn, change, line) =>
    change.metric === line.metric && comboOf(fn, change).every((value, at) => value === line.params[at]);

  function size(change) {
    if (!format.known(change.ratio)) {
      if (!format.known(change.difference)) return format.NONE;
      return change.unit === "share" ? `${change.difference > 0 ? "+" : "−"}${format.digits(Math.abs(100 * change.difference), 3)} %p` : format.value(change.difference, change.unit);
    }
    return format.change(change.ratio);
  }

  function sure(change) {
    if (format.known(change.ci_low) && format.known(change.ci_high)) return format.interval(change.ci_low, change.ci_high);
    if (format.known(change.difference_low)) return `[${format.value(change.difference_low, change.unit)}, ${format.value(change.difference_high, change.unit)}]`;
    return "";
  }

  const range = (change) => change.range.map((hash) => hash.slice(0, 8)).join("..");

  function told(change, label) {
    const parts = [label, size(change), sure(change), change.kind, range(change)];
    if (change.pending) parts.push(text("benchmark.pending"));
    return parts.filter(Boolean).join(", ");
  }

  /* How much a change weighs when one label stands for several. */
  const weight = (change) => (format.known(change.ratio) && change.ratio > 0 ? Math.abs(Math.log(change.ratio)) : 0);

  /* Change points of the plot's lines; those of one commit share a mark. */
  function changeMarks(choice, axis, found, series) {
    const at = new Map();
    for (const one of series) {
      for (const change of found.changes.filter((each) => sameLine(choice.fn, each, one.line))) {
        const x = commitAt(axis, change.commit);
        if (x === null) continue;
        if (!at.has(x)) at.set(x, []);
        at.get(x).push({ change, label: one.label });
      }
    }
    return [...at].map(([x, all]) => {
      const most = all.reduce((a, b) => (weight(b.change) > weight(a.change) ? b : a)).change;
      const kinds = new Set(all.map((one) => one.change.kind));
      const after = Math.max(...all.map((one) => commitAt(axis, one.change.range[0])).filter(format.known));
      return {
        x, kind: "change", label: size(most), after: Number.isFinite(after) && after < x ? after : null,
        tone: kinds.size > 1 ? "neutral" : most.kind === "regression" ? "worse" : "better",
        text: all.map((one) => told(one.change, one.label)).join("; "),
      };
    });
  }

  function otherMarks(axis, found, series) {
    const marks = [];
    const add = (hash, mark) => {
      const x = commitAt(axis, hash);
      if (x !== null) marks.push({ x, ...mark });
    };
    for (const one of found.events) {
      const told = text("benchmark.event", { moved: one.moved, all: one.benchmarks, size: size(one) });
      add(one.commit, { kind: "event", label: text("benchmark.event-label"), text: told });
    }
    for (const one of found.setUps) {
      const names = one.differences.map((each) => each.name.split(".").pop());
      add(one.commit, { kind: "set-up", label: [...new Set(names)].slice(0, 2).join(", "), text: one.text });
    }
    for (const [x, what] of restartsOf(series)) {
      marks.push({ x, kind: "restart", label: text(`benchmark.restart-${what}`), text: text("benchmark.restart", { what: text(`benchmark.restart-${what}`) }) });
    }
    for (const [name, ci] of dcu.index.tags) {
      if (axis.at.has(ci)) marks.push({ x: axis.at.get(ci), kind: "tag", label: name, text: text("benchmark.tag", { name }) });
    }
    return marks;
  }

  function restartsOf(series) {
    const found = new Map();
    for (const one of series.flatMap((each) => each.restarts)) found.set(one.x, one.what.includes("version") ? "version" : "protocol");
    return found;
  }

  function median(values) {
    const sorted = [...values].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /* Levels of a line: of each stretch between two change points of a timeline; a stretch without any has its median. */
  function levels(choice, axis, found, one) {
    const made = [];
    one.line.timelines.forEach((timeline, t) => {
      const points = one.points.filter((point) => point.timeline === t);
      const here = found.changes
        .filter((each) => sameLine(choice.fn, each, one.line) && each.version === timeline.version && each.protocol === timeline.protocol)
        .map((change) => ({ change, place: points.findIndex((point) => dcu.index.commits[point.ci][0] === change.commit) }))
        .filter((each) => each.place > 0)
        .sort((a, b) => a.place - b.place);
      if (!here.length && points.length < FEWEST) return;
      [null, ...here].forEach((each, k) => {
        const stretch = points.slice(each ? each.place : 0, k < here.length ? here[k].place : points.length);
        if (!stretch.length) return;
        let value = each ? each.change.after : k < here.length ? here[k].change.before : null;
        if (!format.known(value)) value = median(stretch.map((point) => point.value));
        made.push([stretch[0].x, stretch[stretch.length - 1].x, value]);
      });
    });
    return made;
  }

  /* Marks and levels of one plot's series. */
  function dress(choice, axis, found, series) {
    return {
      marks: [...changeMarks(choice, axis, found, series), ...otherMarks(axis, found, series)],
      series: series.map((one) => ({ ...one, levels: levels(choice, axis, found, one) })),
    };
  }

  /* The changes of the lines that are drawn as a table, and how many others there are. */
  function table(choice, found, series) {
    const { fn, pi } = choice;
    const rows = found.changes.filter((each) => series.some((one) => sameLine(fn, each, one.line)));
    const limits = dcu.ratioLimits(rows);
    const others = found.changes.length - rows.length;
    const params = (one) => format.params(fn.params.map((param) => param.name), comboOf(fn, one));
    const link = (one) => dcu.router.link("compare", [], { place: dcu.index.places[pi].key, before: one.range[0].slice(0, 8), after: one.range[1].slice(0, 8) });
    const place = new Map(dcu.index.commits.map(([hash], ci) => [hash, ci]));
    const made = dcu.table({
      caption: text("benchmark.changes-caption"),
      hideCaption: true,
      rows,
      sort: ["date", "desc"],
      state: "changes",
      filter: rows.length > 10,
      csv: "changes",
      empty: text(choice.branch ? "benchmark.no-changes" : "benchmark.no-branch-changes"),
      columns: [
        { key: "date", title: text("benchmark.date"), value: (one) => one.date, cell: (one) => format.date(one.date), text: (one) => format.date(one.date) },
        { key: "commit", title: text("benchmark.commit"), value: (one) => one.commit, cell: (one) => [dcu.commitLink(place.has(one.commit) ? place.get(one.commit) : null), " ", one.subject] },
        { key: "metric", title: text("benchmark.metric"), value: (one) => one.metric, cell: (one) => one.metric },
        { key: "params", title: text("benchmark.params"), value: params, cell: params },
        { key: "ratio", title: text("benchmark.change"), numeric: true, value: (one) => one.ratio, cell: (one) => size(one), text: size },
        { key: "interval", title: text("benchmark.interval"), value: (one) => one.ci_low,
          cell: (one) => [dcu.intervalMark({ ratio: one.ratio, low: one.ci_low, high: one.ci_high, limits, word: one.kind }), sure(one)] },
        { key: "kind", title: text("benchmark.kind"), value: (one) => one.kind,
          cell: (one) => [dcu.verdict(one.kind), one.pending && ` ${text("benchmark.pending")}`, one.within && ` ${text(`benchmark.within-${one.within}`)}`] },
        { key: "range", title: text("benchmark.range"), value: range, cell: (one) => el("a", { href: link(one) }, range(one)) },
      ].filter((column) => column.key !== "params" || fn.params.length),
    });
    const told = others > 0 && el("p", { class: "quiet" }, text("benchmark.other-changes", { count: others }));
    return [made, told].filter(Boolean);
  }

  return { of, dress, table };
})();
