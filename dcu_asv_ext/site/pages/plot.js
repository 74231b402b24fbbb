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
     table?: {byX?,      true: its rows in the order of x, whatever series they are of; else one series after another
         columns?}       [{key, title, numeric?, value(series, i)}]: more of a point, after its x
     onOpen({series, index, x, bad})    clicked, or Enter
     onPoint(the same, or null), onZoom([from, to] or null), onToggle(series, hidden)
   Mouse: drag zooms, a double click shows all, shift and drag pans, the wheel zooms once the plot was clicked.
   Keys: left and right from point to point, up and down between series, Home, End, Enter opens, + - 0 zoom,
   Page Up and Down pan. A plot tells on its element when it was drawn, first and last, by performance.now(): data-first,
   data-drawn; and how many points it has: data-points. */
dcu.plot = (() => {
  const { model: models, scales, paint, words } = dcu.plotting;
  const HEIGHT = 260;
  const AXIS = 62; // CSS pixels of the y axis: the same in all plots, so that those below one another are in line
  const live = new Set();

  function redrawAll() {
    for (const plot of live) plot.themed();
  }
  document.addEventListener("dcu:theme", redrawAll);

  const waiting = []; // plots that are out of sight, to be drawn

  /* What is seen is drawn at once, the rest one by one, so that nobody waits for it. */
  function inTurn(plot) {
    const { top, bottom } = plot.host.getBoundingClientRect();
    if (bottom >= 0 && top <= window.innerHeight) {
      plot.draw();
      return;
    }
    if (!waiting.length) setTimeout(next);
    waiting.push(plot);
  }

  function next() {
    const plot = waiting.shift();
    if (waiting.length) setTimeout(next);
    plot.draw();
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
        splits: (u, _, low, high) => (plot.values() ? scales.ticks(low, high, count(u, 38, plot.height()), log, y.unit) : []),
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
      cursor: {
        x: false, y: false, points: { show: false }, drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => null, mousedown: (_, target, select) => (event) => event.shiftKey || select(event) }, // shift pans
      },
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

  class Plot {
    constructor(options) {
      Object.assign(this, { hidden: new Set(), seen: null, u: null, inSight: true, stale: false });
      const all = () => this.zoom(null, true);
      this.unit = dcu.el("span", { class: "plot-unit", "aria-hidden": "true" });
      this.reset = dcu.el("button", { type: "button", class: "plot-reset", hidden: true, onclick: all }, dcu.text("plot.reset"));
      this.host = dcu.el("div", { class: "plot-host", role: "application", tabindex: 0, "aria-description": dcu.text("plot.keys"), ondblclick: all });
      this.element = dcu.el("figure", { class: "plot" });
      this.cursor = new dcu.plotting.Cursor(this);
      new ResizeObserver(() => this.resized()).observe(this.host);
      new IntersectionObserver(([entry]) => this.looked(entry.isIntersecting), { rootMargin: "100px" }).observe(this.host);
      this.set(options);
    }

    height() {
      return this.options.height || HEIGHT;
    }

    /* What is seen of x. */
    range() {
      return this.seen || this.model.extent;
    }

    /* Least and greatest of the values that are seen; null of none. */
    values() {
      return models.seen(this.model, this.hidden, ...this.range());
    }

    rangeY() {
      return scales.range(this.values(), this.model.log);
    }

    frame() {
      return paint.frame(this.u, this.model);
    }

    set(options) {
      const focused = document.activeElement === this.host;
      this.options = options;
      this.model = models.make(options);
      this.hidden = new Set(options.series.flatMap((one, i) => (one.hidden ? [i] : [])));
      if (options.x.range !== undefined) this.seen = options.x.range;
      this.reset.hidden = !this.seen;
      this.element.dataset.points = String(this.model.count);
      this.host.hidden = !this.model.count;
      this.host.setAttribute("aria-label", options.label);
      this.host.style.minHeight = `${this.height()}px`; // so that nothing moves when it is drawn
      this.element.replaceChildren(...this.parts(options).filter(Boolean));
      if (!this.host.isConnected) return;
      this.draw();
      if (focused) this.host.focus({ preventScroll: true });
    }

    parts({ label, legend, signs, table, empty }) {
      const some = this.model.count > 0;
      return [
        dcu.el("figcaption", {}, label, this.reset),
        some && legend !== false && words.legend(this),
        !some && dcu.el("p", { class: "plot-empty" }, empty || dcu.text("plot.empty")),
        dcu.el("div", { class: "plot-area" }, this.unit, this.host),
        this.cursor.spoken,
        some && signs !== false && words.signs(words.kinds(this.options)),
        some && table !== false && words.table(this),
      ];
    }

    draw() {
      this.end();
      this.stale = false;
      const width = Math.floor(this.host.clientWidth);
      if (!width || !this.model.count || !this.host.isConnected) return;
      this.colours = paint.look(this.host);
      this.u = begin(this, width);
      this.cursor.over(this.u);
      live.add(this);
    }

    end() {
      if (this.u) this.u.destroy();
      this.u = null;
      live.delete(this);
    }

    themed() {
      this.colours = paint.look(this.host);
      this.u.redraw(false, true);
    }

    resized() {
      const width = this.host.clientWidth;
      if (!this.host.isConnected) this.end();
      else if (!this.u) inTurn(this);
      else if (width && width !== this.u.width) this.u.setSize({ width, height: this.height() });
    }

    /* Plots may share what is seen of x: those out of sight follow when they come into it. */
    looked(inSight) {
      this.inSight = inSight;
      if (inSight && this.stale) this.rescale();
    }

    rescale() {
      this.stale = false;
      if (!this.u) return;
      this.cursor.point(null);
      const [from, to] = this.range();
      const [low, high] = this.rangeY();
      this.u.batch(() => {
        this.u.setScale("x", { min: from, max: to });
        this.u.setScale("y", { min: low, max: high });
      });
    }

    /* `told`: by the reader, so that the page is to know. */
    zoom(range, told = false) {
      const [least, most] = this.model.extent;
      const span = range ? range[1] - range[0] : Infinity;
      const from = range && Math.min(Math.max(range[0], least), most - span);
      this.seen = span < most - least ? [from, from + span] : null;
      this.reset.hidden = !this.seen;
      this.stale = true;
      if (this.inSight) this.rescale();
      if (told && this.options.onZoom) this.options.onZoom(this.seen);
    }

    toggle(number) {
      if (!this.hidden.delete(number)) this.hidden.add(number);
      this.zoom(this.seen);
      if (this.options.onToggle) this.options.onToggle(number, this.hidden.has(number));
    }
  }

  return (options) => {
    const plot = new Plot(options);
    return {
      element: plot.element,
      set: (now) => plot.set(now),
      zoom: (range) => plot.zoom(range),
      range: () => plot.range(),
      hair: (x) => plot.u && plot.cursor.hair(x),
    };
  };
})();
