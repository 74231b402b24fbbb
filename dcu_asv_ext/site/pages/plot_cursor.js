"use strict";
/* Pointing at a plot's points, by mouse and by keys. `plot` is the inside of plot.js: {options, model, hidden, host,
   u, frame(), zoom(range), range()}. */
dcu.plotting.cursor = (() => {
  const NEAR = 28; // CSS pixels from the pointer
  const KEYS = {
    ArrowLeft: (own) => own.step(-1),
    ArrowRight: (own) => own.step(1),
    ArrowUp: (own) => own.other(-1),
    ArrowDown: (own) => own.other(1),
    Home: (own) => own.end(0),
    End: (own) => own.end(-1),
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

  function make(plot) {
    const tip = dcu.el("div", { class: "plot-tip", hidden: true, "aria-hidden": "true" });
    const ring = dcu.el("div", { class: "plot-ring", hidden: true });
    const hair = dcu.el("div", { class: "plot-hair", hidden: true });
    const spoken = dcu.el("p", { class: "plot-spoken", role: "status" });
    const own = { plot, tip, spoken, at: null };

    /* Where a stop is seen, in CSS pixels of the plot's area. */
    function seen(stop) {
      const at = plot.frame();
      const y = stop.bad ? at.bottom - 6 * at.px : at.y(plot.model.series[stop.series].y[stop.index]);
      return [(at.x(stop.x) - at.left) / at.px, (y - at.top) / at.px];
    }

    own.nearest = (left, top) => {
      const at = plot.frame();
      const x = (one) => at.from + (one / (at.width / at.px)) * (at.to - at.from);
      const [from, to] = [x(left - NEAR), x(left + NEAR)];
      let [best, least] = [null, Infinity];
      plot.model.series.forEach((one, number) => {
        if (plot.hidden.has(number)) return;
        const { place } = dcu.plotting.model;
        for (let k = place(one.at, from); k < one.stops.length && one.at[k] <= to; k++) {
          const [a, b] = seen(one.stops[k]);
          const far = Math.hypot(a - left, (b - top) / 4); // what is above or below is meant rather than what is beside
          if (far < least) [best, least] = [one.stops[k], far];
        }
      });
      return best;
    };

    function marksAt(stop) {
      return plot.model.marks.filter((one) => one.x === stop.x && one.text).map((one) => one.text);
    }

    /* Point at a stop, or at none. */
    own.point = (stop, aloud = false) => {
      own.at = stop;
      tip.hidden = ring.hidden = !stop;
      own.hair(stop ? stop.x : null);
      if (stop) {
        const [left, top] = seen(stop);
        ring.style.transform = `translate(${left}px, ${top}px)`;
        const lines = told(plot, stop).concat(marksAt(stop));
        tip.replaceChildren(...lines.map((text, i) => dcu.el(i ? "div" : "strong", {}, text)));
        const width = plot.u.over.clientWidth;
        const room = tip.offsetWidth + 14;
        tip.style.left = `${Math.max(0, left + room <= width ? left + 14 : Math.min(left - room, width - room))}px`;
        tip.style.top = `${Math.max(0, Math.min(top + 12, plot.u.over.clientHeight - tip.offsetHeight))}px`;
        if (aloud) spoken.textContent = lines.join("; ");
      }
      if (plot.options.onPoint) plot.options.onPoint(stop);
    };

    own.hair = (x) => {
      const at = plot.frame();
      hair.hidden = x === null || x < at.from || x > at.to;
      if (!hair.hidden) hair.style.transform = `translateX(${(at.x(x) - at.left) / at.px}px)`;
    };

    /* By keys. */
    const shown = () => plot.model.series.map((_, i) => i).filter((i) => !plot.hidden.has(i) && plot.model.series[i].stops.length);
    const go = (stop) => {
      const [from, to] = plot.range();
      if (stop.x < from || stop.x > to) {
        const half = (to - from) / 2;
        plot.zoom([stop.x - half, stop.x + half], true);
      }
      own.point(stop, true);
    };
    const first = () => {
      const number = shown()[0];
      if (number === undefined) return null;
      const one = plot.model.series[number];
      return one.stops[Math.min(dcu.plotting.model.place(one.at, plot.range()[0]), one.stops.length - 1)];
    };
    own.step = (by) => {
      if (!own.at) return own.end(by < 0 ? -1 : "first");
      const { stops } = plot.model.series[own.at.series];
      const next = stops[stops.indexOf(own.at) + by];
      return next && go(next);
    };
    own.other = (by) => {
      if (!own.at) return own.end("first");
      const all = shown();
      const one = plot.model.series[all[(all.indexOf(own.at.series) + by + all.length) % all.length]];
      const after = Math.min(dcu.plotting.model.place(one.at, own.at.x), one.stops.length - 1);
      const before = Math.max(after - 1, 0);
      const nearer = Math.abs(one.at[before] - own.at.x) < Math.abs(one.at[after] - own.at.x) ? before : after;
      return go(one.stops[nearer]);
    };
    own.end = (which) => {
      const start = own.at || first();
      if (!start) return;
      const { stops } = plot.model.series[start.series];
      go(which === "first" ? start : which === 0 ? stops[0] : stops[stops.length - 1]);
    };
    own.open = () => {
      if (own.at && plot.options.onOpen) plot.options.onOpen(own.at);
    };
    own.pan = (by) => {
      const [from, to] = plot.range();
      plot.zoom([from + by * (to - from), to + by * (to - from)], true);
    };
    own.nearer = (by, middle) => {
      const [from, to] = plot.range();
      const at = middle !== undefined ? middle : own.at ? own.at.x : (from + to) / 2;
      plot.zoom([at - (at - from) * by, at + (to - at) * by], true);
    };
    own.key = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS) || !plot.u) return;
      event.preventDefault();
      KEYS[event.key](own);
    };

    /* uPlot is new: pointing goes on over it. */
    own.over = (u) => {
      u.over.append(hair, ring, tip);
      tip.hidden = ring.hidden = hair.hidden = true;
      let down = null;
      u.over.addEventListener("mousedown", (event) => {
        down = event.button === 0 ? [event.clientX, event.clientY, plot.range(), event.shiftKey] : null;
      });
      u.over.addEventListener("mousemove", (event) => {
        if (down && down[3] && event.buttons) {
          const [from, to] = down[2];
          const by = ((event.clientX - down[0]) / u.over.clientWidth) * (to - from);
          plot.zoom([from - by, to - by], true);
        } else if (!event.buttons) own.point(own.nearest(event.offsetX, event.offsetY));
      });
      u.over.addEventListener("mouseleave", () => own.point(null));
      u.over.addEventListener("click", (event) => {
        if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 4) return;
        own.point(own.nearest(event.offsetX, event.offsetY));
        own.open();
      });
      u.over.addEventListener("wheel", (event) => {
        if (!plot.host.contains(document.activeElement) && !event.ctrlKey) return; // the page scrolls
        event.preventDefault();
        const [from, to] = plot.range();
        const middle = from + (event.offsetX / u.over.clientWidth) * (to - from);
        if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) own.pan(event.deltaX / 1000);
        else own.nearer(Math.exp(event.deltaY / 500), middle);
      }, { passive: false });
    };
    return own;
  }

  return { make, told };
})();
