"use strict";
/* Pointing at a plot's points, by mouse and by keys; plot.js has the plot. */
dcu.plotting.Cursor = (() => {
  const { place } = dcu.plotting.model;
  const NEAR = 28; // CSS pixels from the pointer
  const KEYS = {
    ArrowLeft: (own) => own.step(-1),
    ArrowRight: (own) => own.step(1),
    ArrowUp: (own) => own.other(-1),
    ArrowDown: (own) => own.other(1),
    Home: (own) => own.end(false),
    End: (own) => own.end(true),
    PageUp: (own) => own.pan(-0.5),
    PageDown: (own) => own.pan(0.5),
    "+": (own) => own.nearer(0.5),
    "=": (own) => own.nearer(0.5),
    "-": (own) => own.nearer(2),
    0: (own) => own.plot.zoom(null, true),
    Enter: (own) => own.open(),
    " ": (own) => own.open(),
    Escape: (own) => own.point(null),
  };

  /* The lines that tell a stop. */
  function told(plot, stop) {
    const one = plot.model.series[stop.series];
    const { x, y } = plot.options;
    if (stop.bad) return [one.label, x.text(stop.x), stop.bad.text];
    const i = stop.index;
    const value = (figure) => dcu.format.value(figure, y.unit);
    const lines = [one.label, x.text(stop.x), value(one.y[i])];
    if (one.low && dcu.format.known(one.low[i])) {
      lines.push(dcu.text("plot.interval", { low: value(one.low[i]), high: value(one.high[i]) }));
    }
    if (one.clouds && one.clouds[i]) {
      const shown = one.clouds[i].slice(0, 12).map(value).join(", ");
      lines.push(dcu.text("plot.rounds", { rounds: shown + (one.clouds[i].length > 12 ? ", …" : "") }));
    }
    return one.note ? lines.concat(one.note(i)) : lines;
  }

  class Cursor {
    constructor(plot) {
      this.plot = plot;
      this.at = null; // the stop that is pointed at
      this.tip = dcu.el("div", { class: "plot-tip", hidden: true, "aria-hidden": "true" });
      this.ring = dcu.el("div", { class: "plot-ring", hidden: true });
      this.line = dcu.el("div", { class: "plot-hair", hidden: true });
      this.spoken = dcu.el("p", { class: "plot-spoken unseen", role: "status" });
      plot.host.addEventListener("keydown", (event) => this.key(event));
      plot.host.addEventListener("blur", () => this.at && this.point(null));
    }

    /* Where a stop is seen, in CSS pixels of the plot's area. */
    seen(stop) {
      const at = this.plot.frame();
      const y = stop.bad ? at.bottom - 6 * at.px : at.y(this.plot.model.series[stop.series].y[stop.index]);
      return [(at.x(stop.x) - at.left) / at.px, (y - at.top) / at.px];
    }

    /* The stop that is meant by a place; null where none is near. */
    nearest(left, top) {
      const at = this.plot.frame();
      const x = (one) => at.from + (one / (at.width / at.px)) * (at.to - at.from);
      const [from, to] = [x(left - NEAR), x(left + NEAR)];
      let [best, least] = [null, Infinity];
      this.plot.model.series.forEach((one, number) => {
        if (this.plot.hidden.has(number)) return;
        for (let k = place(one.at, from); k < one.stops.length && one.at[k] <= to; k++) {
          const [a, b] = this.seen(one.stops[k]);
          const far = Math.hypot(a - left, (b - top) / 4); // what is above or below is meant rather than what is beside
          if (far < least) [best, least] = [one.stops[k], far];
        }
      });
      return best;
    }

    /* Point at a stop, or at none. */
    point(stop, aloud = false) {
      const { model, options } = this.plot;
      this.at = stop;
      this.tip.hidden = this.ring.hidden = !stop;
      this.hair(stop ? stop.x : null);
      if (stop) {
        const marks = model.marks.filter((one) => one.x === stop.x && one.text).map((one) => one.text);
        const lines = told(this.plot, stop).concat(marks);
        this.show(lines, ...this.seen(stop));
        if (aloud) this.spoken.textContent = lines.join("; ");
      }
      if (options.onPoint) options.onPoint(stop);
    }

    /* Beside the point, within the plot. */
    show(lines, left, top) {
      const { over } = this.plot.u;
      this.ring.style.transform = `translate(${left}px, ${top}px)`;
      this.tip.replaceChildren(...lines.map((text, i) => dcu.el(i ? "div" : "strong", {}, text)));
      const room = this.tip.offsetWidth + 14;
      const beside = left + room <= over.clientWidth ? left + 14 : Math.min(left - room, over.clientWidth - room);
      this.tip.style.left = `${Math.max(0, beside)}px`;
      this.tip.style.top = `${Math.max(0, Math.min(top + 12, over.clientHeight - this.tip.offsetHeight))}px`;
    }

    hair(x) {
      const at = this.plot.frame();
      this.line.hidden = x === null || x < at.from || x > at.to;
      if (!this.line.hidden) this.line.style.transform = `translateX(${(at.x(x) - at.left) / at.px}px)`;
    }

    open() {
      const { onOpen } = this.plot.options;
      if (this.at && onOpen) onOpen(this.at);
    }

    /* ---- keys */

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS) || !this.plot.u) return;
      event.preventDefault();
      KEYS[event.key](this);
    }

    go(stop) {
      const [from, to] = this.plot.range();
      const half = (to - from) / 2;
      if (stop.x < from || stop.x > to) this.plot.zoom([stop.x - half, stop.x + half], true);
      this.point(stop, true);
    }

    /* The stops of the series that is pointed at; before anything is, of the first one that is shown. */
    stops() {
      const [first] = this.shown();
      const number = this.at ? this.at.series : first;
      return number === undefined ? [] : this.plot.model.series[number].stops;
    }

    shown() {
      const { model, hidden } = this.plot;
      return model.series.map((_, i) => i).filter((i) => !hidden.has(i) && model.series[i].stops.length);
    }

    step(by) {
      const stops = this.stops();
      const [from] = this.plot.range();
      const next = this.at ? stops[stops.indexOf(this.at) + by] : stops.find((one) => one.x >= from);
      if (next) this.go(next);
    }

    /* The nearest stop of another series. */
    other(by) {
      const all = this.shown();
      if (!this.at || !all.length) {
        this.step(1);
        return;
      }
      const { stops } = this.plot.model.series[all[(all.indexOf(this.at.series) + by + all.length) % all.length]];
      const { x } = this.at;
      this.go(stops.reduce((best, one) => (Math.abs(one.x - x) < Math.abs(best.x - x) ? one : best)));
    }

    end(last) {
      const stops = this.stops();
      if (stops.length) this.go(stops[last ? stops.length - 1 : 0]);
    }

    pan(by) {
      const [from, to] = this.plot.range();
      this.plot.zoom([from + by * (to - from), to + by * (to - from)], true);
    }

    nearer(by, middle) {
      const [from, to] = this.plot.range();
      const at = middle !== undefined ? middle : this.at ? this.at.x : (from + to) / 2;
      this.plot.zoom([at - (at - from) * by, at + (to - at) * by], true);
    }

    /* ---- the mouse */

    /* uPlot is new: pointing goes on over it. */
    over(u) {
      u.over.append(this.line, this.ring, this.tip);
      this.tip.hidden = this.ring.hidden = this.line.hidden = true;
      this.down = null;
      u.over.addEventListener("mousedown", (event) => {
        const { clientX, clientY, shiftKey } = event;
        this.down = event.button === 0 ? { clientX, clientY, shiftKey, range: this.plot.range() } : null;
      });
      u.over.addEventListener("mousemove", (event) => this.moved(event, u));
      u.over.addEventListener("mouseleave", () => this.point(null));
      u.over.addEventListener("click", (event) => this.clicked(event));
      u.over.addEventListener("wheel", (event) => this.turned(event, u), { passive: false });
    }

    moved(event, u) {
      if (this.down && this.down.shiftKey && event.buttons) {
        const [from, to] = this.down.range;
        const by = ((event.clientX - this.down.clientX) / u.over.clientWidth) * (to - from);
        this.plot.zoom([from - by, to - by], true);
      } else if (!event.buttons) this.point(this.nearest(event.offsetX, event.offsetY));
    }

    clicked(event) {
      const { down } = this;
      if (!down || Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > 4) return; // a drag
      this.point(this.nearest(event.offsetX, event.offsetY));
      this.open();
    }

    turned(event, u) {
      if (!this.plot.host.contains(document.activeElement) && !event.ctrlKey) return; // the page scrolls
      event.preventDefault();
      const [from, to] = this.plot.range();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX / 1000);
      else this.nearer(Math.exp(event.deltaY / 500), from + (event.offsetX / u.over.clientWidth) * (to - from));
    }
  }

  return Cursor;
})();
