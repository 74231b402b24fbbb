"use strict";
/* A benchmark's lines as series of plots. Different questions are never one picture: what a user waits for, what the
   device does, what only the first call costs, memory, correctness, what a profile counts. */
dcu.benchmark.series = (() => {
  const { format } = dcu;

  /* Pictures, and the plots of each: metrics of one unit and like size. */
  const PICTURES = [
    ["clocks", [["latency", "device_time", "host_time"], ["cold_start", "process_wall", "compile_time"]]],
    ["memory", [["peak_allocated", "peak_reserved", "peak_card"], ["memory_growth"]]],
    ["correctness", [["max_error", "mean_error"], ["task_metric"]]],
  ];

  /* A metric's name with what it says. */
  function labelOf(metric) {
    const { label } = dcu.index.metrics[metric] || {};
    return label && label !== metric ? dcu.text("benchmark.metric-label", { metric, label }) : metric;
  }

  /* [[picture, [[metric, ...], ...]], ...] of the chosen metrics; empty ones left out. */
  function pictures(fn, metrics) {
    const known = new Set(PICTURES.flatMap(([, plots]) => plots.flat()));
    const rest = fn.metrics.filter((one) => !known.has(one));
    const profile = rest.filter((one) => dcu.index.metrics[one] && dcu.index.metrics[one].source === "profile");
    const units = [...new Set(profile.map((one) => fn.units[one]))];
    const all = [
      ...PICTURES,
      ["profile", units.map((unit) => profile.filter((one) => fn.units[one] === unit))],
      ["other", rest.filter((one) => !profile.includes(one)).map((one) => [one])],
    ];
    return all
      .map(([name, plots]) => [name, plots.map((plot) => plot.filter((one) => fn.metrics.includes(one) && metrics.has(one))).filter((plot) => plot.length)])
      .filter(([, plots]) => plots.length);
  }

  /* The ends of a point's interval; null where none can be told. */
  function interval(value, h, rounds, unit) {
    if (h === null || !rounds) return null;
    const half = h / Math.sqrt(rounds);
    return unit === "share" ? [value - half, value + half] : [value * Math.exp(-half), value * Math.exp(half)];
  }

  /* The points of a line on the axis, in its order, with the timeline that each belongs to. */
  function pointsOf(line, axis) {
    const found = [];
    line.timelines.forEach((timeline, t) => timeline.commits.forEach((ci, i) => {
      const x = axis.at.get(ci);
      if (x !== undefined) found.push({ x, ci, value: timeline.values[i], rounds: timeline.rounds[i], timeline: t });
    }));
    return found.sort((a, b) => a.x - b.x);
  }

  /* Where a line begins anew since what was measured, or how, became another. */
  function restarts(line, points) {
    const found = [];
    for (let i = 1; i < points.length; i++) {
      if (points[i].timeline === points[i - 1].timeline) continue;
      const [before, after] = [line.timelines[points[i - 1].timeline], line.timelines[points[i].timeline]];
      const what = ["version", "protocol"].filter((one) => before[one] !== after[one]);
      if (what.length) found.push({ index: i, x: points[i].x, what, before, after });
    }
    return found;
  }

  /* Failed and missing ones are gaps of the line: at their x there is no value. */
  function lineOf(line, axis, unit, look) {
    const points = pointsOf(line, axis);
    const bad = ["failed", "missing"].flatMap((kind) => line[kind].filter(([ci]) => axis.at.has(ci)).map(([ci, reason]) => ({
      x: axis.at.get(ci), kind, text: dcu.text(`benchmark.${kind}`, { reason }),
    })));
    const gaps = bad.map((one) => ({ x: one.x, value: null, timeline: null }));
    const all = gaps.length ? [...points, ...gaps].sort((a, b) => a.x - b.x) : points;
    const ends = all.map((one) => {
      if (one.value === null) return null;
      const { h } = line.timelines[one.timeline];
      return interval(one.value, h, Array.isArray(one.rounds) ? one.rounds.length : one.rounds, unit);
    });
    const breaks = [];
    for (let i = 1; i < all.length; i++) if (all[i].timeline !== all[i - 1].timeline) breaks.push(i);
    return {
      ...look,
      line, points, bad, breaks,
      restarts: restarts(line, points),
      x: all.map((one) => one.x),
      y: all.map((one) => one.value),
      low: ends.map((one) => one && one[0]),
      high: ends.map((one) => one && one[1]),
      clouds: all.map((one) => (Array.isArray(one.rounds) ? one.rounds : null)),
      note: (i) => noteOf(line, all[i]),
    };
  }

  function noteOf(line, point) {
    const { version, protocol } = line.timelines[point.timeline];
    const told = [];
    if (typeof point.rounds === "number" && point.rounds > 1) told.push(dcu.text("benchmark.alike", { count: point.rounds }));
    if (version) told.push(dcu.text("benchmark.version", { version: version.slice(0, 12) }));
    if (format.known(protocol)) told.push(dcu.text("benchmark.protocol", { protocol }));
    return told;
  }

  /* The parameters by which the combinations that are drawn differ. */
  function comboLabel(fn, combos, combo) {
    const varying = combo.map((_, at) => at).filter((at) => new Set(combos.map((one) => one[at])).size > 1);
    return format.params(varying.map((at) => fn.params[at].name), varying.map((at) => combo[at]));
  }

  /* Metrics of one plot are told apart by colour, combinations by shape and dash; where there is one of either, the
     other has both. */
  function looks(fn, metrics, combos) {
    return metrics.flatMap((metric, m) => combos.map((combo, c) => {
      const only = combos.length === 1 ? m : c;
      const named = [metrics.length > 1 || combos.length === 1 ? metric : "", combos.length > 1 ? comboLabel(fn, combos, combo) : ""];
      return { metric, combo, label: named.filter(Boolean).join(" · "), colour: metrics.length > 1 ? m : only, shape: only, dash: only };
    }));
  }

  /* Their names; where metrics and combinations both vary, metrics by colour and combinations by shape. A plot of one
     line has its name above it. */
  function legend(fn, metrics, combos) {
    if (metrics.length === 1 && combos.length === 1) return false;
    if (metrics.length === 1 || combos.length === 1) return looks(fn, metrics, combos);
    const byMetric = metrics.map((metric, m) => ({ label: metric, colour: m, shape: 0, dash: 0, points: false }));
    return [...byMetric, ...combos.map((combo, c) => ({ label: comboLabel(fn, combos, combo), colour: null, shape: c, dash: c }))];
  }

  /* The series of one plot. lines: of the data's files. */
  function make(choice, axis, lines, metrics) {
    const { fn, combos } = choice;
    return looks(fn, metrics, combos).map((look) => {
      const line = lines.find((one) => one.metric === look.metric && one.params.length === look.combo.length && one.params.every((value, at) => value === look.combo[at]));
      return lineOf(line || { metric: look.metric, params: look.combo, timelines: [], failed: [], missing: [] }, axis, fn.units[look.metric], look);
    });
  }

  return { pictures, make, legend, labelOf, interval };
})();
