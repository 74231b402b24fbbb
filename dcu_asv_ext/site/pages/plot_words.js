"use strict";
/* What a plot has besides its canvas: the legend, and a table of its points that is built when it is opened. */
dcu.plotting.words = (() => {
  function swatch(one) {
    const { DASHES, SERIES } = dcu.plotting.paint;
    const colour = one.colour === null ? "var(--text)" : `var(--series-${(one.colour % SERIES) + 1})`;
    const lineOf = one.line === false ? null : dcu.el("svg:line", {
      x1: 0, x2: 28, y1: 7, y2: 7, "stroke-width": 2, "stroke-dasharray": DASHES[one.dash % DASHES.length || 0].join(" "),
    });
    const pointOf = one.points === false ? null : dcu.el("svg:path", { d: SHAPES[one.shape % SHAPES.length || 0] });
    const made = dcu.el("svg:svg", { width: 28, height: 14, "aria-hidden": "true", class: "plot-swatch" }, lineOf, pointOf);
    made.style.color = colour;
    return made;
  }

  const SHAPES = ["M10 7a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z", "M10 3h8v8h-8Z", "M14 2l5 9h-10Z", "M14 1.500l5.500 5.500l-5.500 5.500l-5.500 -5.500Z",
    "M14 12l5 -9h-10Z", "M10 2h8l-4 5l4 5h-8l4 -5Z"];

  /* One button per series: shown or hidden; or the plain names that a page tells. */
  function legend(plot) {
    const told = plot.options.legend;
    if (told) {
      return dcu.el("ul", { class: "plot-legend", "aria-label": dcu.text("plot.legend-plain") }, told.map((one) => dcu.el("li", {}, swatch(one), one.label)));
    }
    return dcu.el("ul", { class: "plot-legend", "aria-label": dcu.text("plot.legend") }, plot.model.series.map((one, number) =>
      dcu.el("li", {}, dcu.el("button", {
        type: "button",
        "aria-pressed": String(!plot.hidden.has(number)),
        onclick: (event) => {
          plot.toggle(number);
          event.currentTarget.setAttribute("aria-pressed", String(!plot.hidden.has(number)));
        },
      }, swatch(one), one.label))));
  }

  /* What the signs say that are in a plot's options: a set of kinds. */
  function kinds({ marks = [], bad = [], series, y }) {
    const found = new Set([...marks, ...bad].map((one) => one.kind));
    if (y.scale === "log" && series.some((one) => one.y.some((value) => value !== null && value <= 0))) found.add("below");
    return found;
  }

  function signs(found) {
    const told = ["change", "event", "set-up", "restart", "tag", "failed", "missing", "below"].filter((one) => found.has(one));
    return told.length ? dcu.el("p", { class: "plot-signs" }, told.map((one) => dcu.text(`plot.sign-${one}`)).join(" · ")) : null;
  }

  /* Every point as a row, behind <details>. A column in which no point has anything is exported alone. */
  function table(plot) {
    const { x, y, table: { byX = false, columns: more = [] } = {} } = plot.options;
    const body = dcu.el("div", {});
    const made = dcu.el("details", { class: "plot-table" }, dcu.el("summary", {}, dcu.text("plot.table", { count: plot.model.count })), body);
    made.addEventListener("toggle", () => {
      if (!made.open || body.firstChild) return;
      const rows = plot.model.series.flatMap((one) => one.stops);
      if (byX) rows.sort((a, b) => a.x - b.x);
      const series = (stop) => plot.model.series[stop.series];
      const figure = (name) => (stop) => (stop.bad || !series(stop)[name] ? null : series(stop)[name][stop.index]);
      const column = (key, name) => ({
        key, title: dcu.text(`plot.column-${key}`), numeric: true, value: figure(name),
        cell: (stop) => dcu.format.value(figure(name)(stop), y.unit), hidden: rows.every((stop) => figure(name)(stop) === null),
      });
      const other = (one) => ({ ...one, value: (stop) => (stop.bad ? null : one.value(stop.series, stop.index)) });
      const rounds = (stop) => (!stop.bad && series(stop).clouds && series(stop).clouds[stop.index]) || [];
      body.append(dcu.table({
        caption: plot.options.label,
        columns: [
          { key: "x", title: x.title, value: (stop) => stop.x, cell: (stop) => x.text(stop.x) },
          ...more.map(other),
          { key: "series", title: dcu.text("plot.column-series"), value: (stop) => series(stop).label, cell: (stop) => series(stop).label },
          column("value", "y"), column("low", "low"), column("high", "high"),
          { key: "rounds", title: dcu.text("plot.column-rounds"), hidden: !rows.some((stop) => rounds(stop).length), value: (stop) => rounds(stop).length,
            cell: (stop) => rounds(stop).map((one) => dcu.format.value(one, y.unit)).join(", ") },
          { key: "note", title: dcu.text("plot.column-note"), hidden: !rows.some((stop) => stop.bad), value: (stop) => (stop.bad ? stop.bad.text : ""),
            cell: (stop) => (stop.bad ? stop.bad.text : "") },
        ],
        rows, filter: true, csv: "points",
      }));
    });
    return made;
  }

  return { legend, kinds, signs, table };
})();
