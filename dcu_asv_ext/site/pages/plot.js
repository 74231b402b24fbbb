"use strict";
/* Series of points over commits, dates or numbers: a wrapper of uPlot, which has the axes, the canvas and the drag.

   const plot = dcu.plot(options)
     plot.element        put it anywhere: it is drawn as soon as it is in the document and has a width, and again when
                         its width or the theme changes
     plot.set(options)   other data or looks in the same element; what is hidden and seen stays as it is
     plot.zoom(range)    what is seen of x: [from, to], or null for all
     plot.hair(x)        a thin line at x (where another plot is pointed at); null: none
   options
     label               what is to be seen: the caption, and the text for those who do not see
     height              CSS pixels, 260
     x: {kind: "number" | "date" (milliseconds, shown in UTC),
         title,          of the column in the table
         text(x),        of a point, in the table and beside the pointer
         tick(x)?,       of a tick; with lines: 2, "\n" begins a second line
         whole?,         false: ticks may lie between whole numbers
         extent?,        [from, to] of everything: plots that lie below one another share it
         range?}         [from, to] that is seen at first; null: all
     y: {scale: "linear" | "log", unit}   as asv names it: "seconds", "bytes", "share", ...
     series: [{
       label, colour (0..5), shape (0..5), dash (0..3),
       x, y,             lists, x rising; y null: a gap
       low?, high?,      lists: the interval of a point, or null; interval: "whisker" (so where nothing is told) or "band"
       clouds?,          list of lists (or null): the rounds of a point, in their order
       breaks?,          places of points that the line does not reach from the one before
       levels?,          [[from x, to x, y]]
       line?             true, false or "steps"; points?: true or false
       note?(i)          more lines beside the pointer
       hidden?}]
     bad?: [{series (its place), x, kind: "failed" | "missing", text}]    at the bottom
     marks?: [{x, kind: "change" | "event" | "set-up" | "restart" | "tag", label, text, after? (it lies between that x and
               its own), tone?: "worse" | "better" | "neutral"}]
     zones?: [{from, to, label, colour?}]                                  ranges of x, shaded
     empty?              what is told instead of a plot without a point
     legend?             [{label, colour (or null), shape, dash, line?, points?}]: plain names; false: none; else a button
                         for each series that hides and shows it
     signs?, table?      false: without (what the signs say: dcu.plotting.words.signs)
     onOpen({series, index, x, bad})    clicked, or Enter
     onPoint(the same, or null), onZoom([from, to] or null), onToggle(series, hidden)
   Mouse: drag zooms, a double click shows all, shift and drag pans, the wheel zooms once the plot was clicked.
   Keys: left and right from point to point, up and down between series, Home, End, Enter opens, + - 0 zoom,
   Page Up and Down pan. A plot tells on its element when it was drawn, first and last, by performance.now(): data-first,
   data-drawn; and how many points it has: data-points. */
dcu.plot = (() => {
  const { model: models, scales, paint, cursor: cursors, words } = dcu.plotting;
  const HEIGHT = 260;
  const AXIS = 62; // CSS pixels of the y axis: the same in all plots, so that those below one another are in line
  const live = new Set();

  function redrawAll() {
    for (const plot of live) plot.themed();
  }
  document.addEventListener("dcu:theme", redrawAll);

  const waiting = []; // what draws the plots that are out of sight

  /* What is seen is drawn at once, the rest one by one, so that nobody waits for it. */
  function inTurn(plot, draw) {
    const { top, bottom } = plot.host.getBoundingClientRect();
    if (bottom >= 0 && top <= window.innerHeight) {
      draw();
      return;
    }
    if (!waiting.length) setTimeout(next);
    waiting.push(draw);
  }

  function next() {
    const draw = waiting.shift();
    if (waiting.length) setTimeout(next);
    draw();
  }

  function axes(plot) {
    const { x, y } = plot.options;
    const line = { stroke: () => plot.colours.grid, width: 1 };
    const common = { stroke: () => plot.colours.text, font: plot.colours.font, grid: line, ticks: { ...line, size: 5 } };
    const count = (u, room, length) => Math.max(Math.floor(length / room), 1);
    const log = plot.model.log;
    return [
      {
        ...common,
        size: x.lines === 2 ? 46 : 30,
        splits: (u, _, low, high) => {
          const most = count(u, 90, u.width - AXIS);
          if (x.kind === "date") return scales.dateTicks(low, high, most);
          return scales.evenly(low, high, Math.max(scales.step(high - low, most), x.whole === false ? 0 : 1));
        },
        values: (u, found) => (x.kind === "date" ? scales.dates(found) : found.map(x.tick || ((one) => dcu.format.digits(one)))),
      },
      {
        ...common,
        size: AXIS,
        splits: (u, _, low, high) => (plot.valued() ? scales.ticks(low, high, count(u, 38, plot.height()), log, y.unit) : []),
        values: (u, found) => {
          const [size, name] = scales.unit(y.unit, [u.scales.y.min, u.scales.y.max]);
          plot.unit.textContent = found.length ? name : "";
          return scales.texts(found, size, log && u.scales.y.max / u.scales.y.min >= 20);
        },
      },
    ];
  }

  /* uPlot draws axes and grid; its one series has no points, ours are drawn by the hook. */
  function begin(plot, width) {
    const [from, to] = plot.range();
    const [low, high] = plot.rangeY();
    return new uPlot({
      width,
      height: plot.height(),
      padding: [plot.model.marks.length ? paint.STRIP + 2 : 8, 28, 0, 0],
      legend: { show: false },
      cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: false, setScale: false }, bind: { dblclick: () => null } },
      scales: {
        x: { time: false, auto: false, min: from, max: to },
        y: { auto: false, min: low, max: high, distr: plot.model.log ? 3 : 1 },
      },
      axes: axes(plot),
      series: [{}, { show: false }],
      hooks: {
        draw: [(u) => {
          paint.all(u, plot.model, plot.hidden, plot.colours);
          const { dataset } = plot.element;
          dataset.drawn = String(performance.now());
          if (!dataset.first) dataset.first = dataset.drawn;
        }],
        setSelect: [(u) => {
          const [left, room] = [u.select.left, u.select.width];
          if (room > 4) plot.zoom([u.posToVal(left, "x"), u.posToVal(left + room, "x")], true);
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }],
      },
    }, [[from, to], [null, null]], plot.host);
  }

  function make(options) {
    const plot = { hidden: new Set(), seen: null, u: null };
    plot.height = () => plot.options.height || HEIGHT;
    plot.range = () => plot.seen || plot.model.extent;
    const seen = () => models.seen(plot.model, plot.hidden, ...plot.range());
    plot.valued = () => seen() !== null;
    plot.rangeY = () => scales.range(seen(), plot.model.log);
    plot.frame = () => paint.frame(plot.u, plot.model);
    plot.unit = dcu.el("span", { class: "plot-unit", "aria-hidden": "true" });
    plot.reset = dcu.el("button", { type: "button", class: "plot-reset", hidden: true, onclick: () => plot.zoom(null, true) }, dcu.text("plot.reset"));
    plot.host = dcu.el("div", { class: "plot-host", role: "application", tabindex: 0 });
    plot.element = dcu.el("figure", { class: "plot" });
    const pointer = (plot.cursor = cursors.make(plot));
    plot.host.addEventListener("keydown", pointer.key);
    plot.host.addEventListener("blur", () => pointer.at && pointer.point(null));
    plot.host.addEventListener("dblclick", () => plot.zoom(null, true));

    function draw() {
      if (plot.u) plot.u.destroy();
      plot.u = null;
      plot.stale = false;
      const width = Math.floor(plot.host.clientWidth);
      if (!width || !plot.model.count || !plot.host.isConnected) return;
      plot.colours = paint.look(plot.host);
      plot.u = begin(plot, width);
      pointer.over(plot.u);
      live.add(plot);
    }

    function rescale() {
      plot.stale = false;
      if (!plot.u) return;
      pointer.point(null);
      const [from, to] = plot.range();
      const [low, high] = plot.rangeY();
      plot.u.batch(() => {
        plot.u.setScale("x", { min: from, max: to });
        plot.u.setScale("y", { min: low, max: high });
      });
    }

    /* `told`: by the reader, so the page is to know. */
    plot.zoom = (range, told = false) => {
      const [least, most] = plot.model.extent;
      const whole = !range || range[1] - range[0] >= most - least;
      if (!whole) {
        const span = range[1] - range[0];
        const from = Math.min(Math.max(range[0], least), most - span);
        plot.seen = [from, from + span];
      } else plot.seen = null;
      plot.reset.hidden = !plot.seen;
      plot.stale = true;
      if (plot.inSight) rescale();
      if (told && plot.options.onZoom) plot.options.onZoom(plot.seen);
    };

    plot.toggle = (number) => {
      if (!plot.hidden.delete(number)) plot.hidden.add(number);
      plot.zoom(plot.seen);
      if (plot.options.onToggle) plot.options.onToggle(number, plot.hidden.has(number));
    };

    plot.set = (now) => {
      plot.options = now;
      plot.model = models.make(now);
      plot.hidden = new Set(now.series.flatMap((one, i) => (one.hidden ? [i] : [])));
      if (now.x.range !== undefined) plot.seen = now.x.range;
      plot.reset.hidden = !plot.seen;
      plot.host.setAttribute("aria-label", now.label);
      plot.host.setAttribute("aria-description", dcu.text("plot.keys"));
      const some = plot.model.count > 0;
      plot.element.dataset.points = String(plot.model.count);
      plot.host.hidden = !some;
      plot.host.style.minHeight = `${plot.height()}px`; // so that nothing moves when it is drawn
      plot.element.replaceChildren(...[
        dcu.el("figcaption", {}, now.label, plot.reset),
        some && now.legend !== false && words.legend(plot),
        some ? null : dcu.el("p", { class: "plot-empty" }, now.empty || dcu.text("plot.empty")),
        dcu.el("div", { class: "plot-area" }, plot.unit, plot.host),
        pointer.spoken,
        some && now.signs !== false && words.signs(words.kinds(now)),
        some && now.table !== false && words.table(plot),
      ].filter(Boolean));
      if (plot.host.isConnected) draw();
    };

    plot.themed = () => {
      plot.colours = paint.look(plot.host);
      plot.u.redraw(false, true);
    };

    new ResizeObserver(() => {
      if (!plot.host.isConnected) {
        if (plot.u) plot.u.destroy();
        plot.u = null;
        live.delete(plot);
      } else if (!plot.u) inTurn(plot, draw);
      else if (plot.host.clientWidth && plot.host.clientWidth !== plot.u.width) {
        plot.u.setSize({ width: plot.host.clientWidth, height: plot.height() });
      }
    }).observe(plot.host);

    // Plots may share what is seen of x: those out of sight follow when they come into it.
    plot.inSight = true;
    new IntersectionObserver(([entry]) => {
      plot.inSight = entry.isIntersecting;
      if (plot.inSight && plot.stale) rescale();
    }, { rootMargin: "100px" }).observe(plot.host);

    plot.set(options);
    return { element: plot.element, set: plot.set, zoom: (range) => plot.zoom(range), hair: (x) => plot.u && pointer.hair(x),
      range: () => plot.range() };
  }

  return make;
})();
