"use strict";
/* Draws a plot's model on uPlot's canvas, in one pass over the points that are seen. Sizes are CSS pixels. */
dcu.plotting.paint = (() => {
  const DASHES = [[], [6, 3], [2, 3], [9, 3, 2, 3]];
  const STRIP = 16; // above the plot, for the marks' signs and labels
  /* Ours for the custom properties of colours.css. */
  const COLOURS = { ground: "page", text: "text", faint: "quiet", grid: "grid", worse: "regression", better: "improvement",
    neutral: "not-comparable", failed: "failed", zone: "shade" };
  const SERIES = 6; // --series-1 and on

  /* Adds a shape around a point to a path. */
  const SHAPES = [
    (path, x, y, r) => { path.moveTo(x + r, y); path.arc(x, y, r, 0, 2 * Math.PI); },
    (path, x, y, r) => path.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r),
    (path, x, y, r) => polygon(path, [[x, y - 1.25 * r], [x + 1.15 * r, y + 0.8 * r], [x - 1.15 * r, y + 0.8 * r]]),
    (path, x, y, r) => polygon(path, [[x, y - 1.3 * r], [x + 1.3 * r, y], [x, y + 1.3 * r], [x - 1.3 * r, y]]),
    (path, x, y, r) => polygon(path, [[x, y + 1.25 * r], [x + 1.15 * r, y - 0.8 * r], [x - 1.15 * r, y - 0.8 * r]]),
    (path, x, y, r) => polygon(path, [[x - r, y - 1.2 * r], [x + r, y - 1.2 * r], [x, y], [x + r, y + 1.2 * r],
      [x - r, y + 1.2 * r], [x, y]]),
  ];

  function polygon(path, points) {
    points.forEach(([x, y], i) => (i ? path.lineTo(x, y) : path.moveTo(x, y)));
    path.closePath();
  }

  /* The theme's colours, as they are now where the element stands. */
  function look(element) {
    const style = getComputedStyle(element);
    const of = (name) => style.getPropertyValue(`--${name}`).trim() || style.color;
    const found = Object.fromEntries(Object.entries(COLOURS).map(([name, one]) => [name, of(one)]));
    found.series = Array.from({ length: SERIES }, (_, i) => of(`series-${i + 1}`));
    found.font = `12px ${style.fontFamily}`;
    return found;
  }

  /* What maps values to canvas pixels now. */
  function frame(u, model) {
    const { left, top, width, height } = u.bbox;
    const [x, y] = [u.scales.x, u.scales.y];
    const over = width / (x.max - x.min);
    const of = model.log ? Math.log10 : (value) => value;
    const [low, high] = [of(y.min), of(y.max)];
    const bottom = top + height;
    return {
      left, top, width, height, bottom, log: model.log, from: x.min, to: x.max, px: devicePixelRatio || 1,
      x: (value) => left + (value - x.min) * over,
      y: (value) => (model.log && !(value > 0) ? bottom : bottom - ((of(value) - low) / (high - low)) * height),
    };
  }

  function all(u, model, hidden, colours) {
    const pen = u.ctx;
    const at = frame(u, model);
    pen.save();
    pen.beginPath();
    pen.rect(at.left, at.top, at.width, at.height);
    pen.clip();
    for (const zone of model.zones) zoneOf(pen, at, zone, colours);
    for (const mark of model.marks) markLine(pen, at, mark, colours);
    model.series.forEach((one, number) => {
      if (!hidden.has(number)) seriesOf(pen, at, one, colours.series[one.colour % SERIES], colours);
    });
    badOnes(pen, at, model, hidden, colours);
    pen.restore();
    pen.save();
    markLabels(pen, at, model.marks, colours);
    zoneLabels(pen, at, model.zones, colours);
    pen.restore();
  }

  function zoneOf(pen, at, zone, colours) {
    const plain = zone.colour === undefined;
    pen.globalAlpha = plain ? 1 : 0.12;
    pen.fillStyle = plain ? colours.zone : colours.series[zone.colour % SERIES];
    pen.fillRect(at.x(zone.from), at.top, at.x(zone.to) - at.x(zone.from), at.height);
    pen.globalAlpha = 1;
  }

  function zoneLabels(pen, at, zones, colours) {
    pen.fillStyle = colours.faint;
    pen.font = scaled(colours.font, at.px);
    pen.textBaseline = "top";
    pen.textAlign = "left";
    for (const zone of zones) {
      const [left, right] = [Math.max(at.x(zone.from), at.left), Math.min(at.x(zone.to), at.left + at.width)];
      if (zone.label && right - left > pen.measureText(zone.label).width + 8 * at.px) {
        pen.fillText(zone.label, left + 4 * at.px, at.top + 3 * at.px);
      }
    }
  }

  const scaled = (font, px) => font.replace(/^12/, String(12 * px));

  function seriesOf(pen, at, one, colour, colours) {
    const { place } = dcu.plotting.model;
    const first = Math.max(place(one.x, at.from) - 1, 0);
    const end = Math.min(place(one.x, at.to) + 1, one.x.length);
    if (end <= first) return;
    const gap = end - first > 1 ? ((one.x[end - 1] - one.x[first]) / (end - first - 1)) * (at.x(1) - at.x(0)) / at.px : 99;
    const parts = one.pieces.map(([a, b]) => [Math.max(a, first), Math.min(b, end)]).filter(([a, b]) => a < b);
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineJoin = "round";
    if (one.low && one.interval === "band") band(pen, at, one, parts);
    if (one.clouds) cloud(pen, at, one, first, end, gap);
    if (one.line !== false) line(pen, at, one, parts, gap);
    if (one.low && one.interval !== "band") whiskers(pen, at, one, first, end, gap);
    if (one.levels) levels(pen, at, one);
    if (one.points !== false) points(pen, at, one, first, end, gap, colours);
  }

  /* Between the ends of the intervals; a point without one ends it. */
  function band(pen, at, one, parts) {
    const path = new Path2D();
    for (const [first, end] of parts) {
      let run = [];
      for (let i = first; i <= end; i++) {
        if (i < end && dcu.format.known(one.low[i])) run.push(i);
        else if (run.length) {
          const upper = run.map((k) => [at.x(one.x[k]), at.y(one.high[k])]);
          const lower = run.map((k) => [at.x(one.x[k]), at.y(one.low[k])]).reverse();
          polygon(path, [...upper, ...lower]);
          run = [];
        }
      }
    }
    pen.globalAlpha = 0.2;
    pen.fill(path);
    pen.globalAlpha = 1;
  }

  /* Every value of the rounds, once per small square: what lies on one another is drawn once. Where there is room,
     a point's rounds stand beside one another in their order. Many small rectangles are drawn faster one by one than as
     one path. */
  function cloud(pen, at, one, first, end, gap) {
    const side = Math.round((gap > 8 ? 3 : 2) * at.px);
    const columns = Math.ceil(at.width / side) + 1;
    const taken = new Uint8Array(columns * (Math.ceil(at.height / side) + 1));
    pen.globalAlpha = 0.45;
    for (let i = first; i < end; i++) {
      const values = one.clouds[i];
      if (!values) continue;
      const apart = gap > 5 * values.length ? Math.min(gap / (2 * values.length), 4) * at.px : 0;
      for (let k = 0; k < values.length; k++) {
        const x = at.x(one.x[i]) + apart * (k - (values.length - 1) / 2) - at.left;
        const y = at.y(values[k]) - at.top;
        if (!(x >= 0 && x <= at.width && y >= 0 && y <= at.height)) continue;
        const cell = Math.floor(y / side) * columns + Math.floor(x / side);
        if (!apart && taken[cell]) continue;
        taken[cell] = 1;
        pen.fillRect(Math.round(x + at.left - side / 2), Math.round(y + at.top - side / 2), side, side);
      }
    }
    pen.globalAlpha = 1;
  }

  function line(pen, at, one, parts, gap) {
    const path = new Path2D();
    for (const [first, end] of parts) {
      for (let i = first; i < end; i++) {
        const [x, y] = [at.x(one.x[i]), at.y(one.y[i])];
        if (i === first) path.moveTo(x, y);
        else {
          if (one.line === "steps") path.lineTo(x, at.y(one.y[i - 1]));
          path.lineTo(x, y);
        }
      }
    }
    pen.lineWidth = (one.levels ? 1 : 1.5) * at.px;
    pen.globalAlpha = one.levels ? 0.6 : 1;
    const dash = gap > 3 ? DASHES[one.dash % DASHES.length || 0] : []; // too dense to be seen, and slow
    pen.setLineDash(dash.map((each) => each * at.px));
    pen.stroke(path);
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  function whiskers(pen, at, one, first, end, gap) {
    const cap = (gap > 14 ? 3 : 0) * at.px;
    pen.globalAlpha = gap < 3 ? 0.4 : 0.8;
    for (let i = first; i < end; i++) {
      if (!dcu.format.known(one.low[i])) continue;
      const [x, low, high] = [at.x(one.x[i]), at.y(one.low[i]), at.y(one.high[i])];
      pen.fillRect(Math.round(x - at.px / 2), high, at.px, low - high);
      for (const y of cap ? [low, high] : []) pen.fillRect(x - cap, y - at.px / 2, 2 * cap, at.px);
    }
    pen.globalAlpha = 1;
  }

  function levels(pen, at, one) {
    const path = new Path2D();
    for (const [from, to, value] of one.levels) {
      const [left, right] = [at.x(from), at.x(to)];
      path.moveTo(Math.min(left, right - at.px), at.y(value));
      path.lineTo(Math.max(right, left + at.px), at.y(value));
    }
    pen.lineWidth = 2.5 * at.px;
    pen.stroke(path);
  }

  function points(pen, at, one, first, end, gap, colours) {
    const shape = SHAPES[one.shape % SHAPES.length || 0];
    const small = gap <= 4; // nobody can tell shapes apart
    const radius = (gap > 9 ? 3.2 : small ? 1.4 : 2.3) * at.px;
    const path = new Path2D();
    const floor = new Path2D(); // values that a logarithmic scale has no place for
    for (let i = first; i < end; i++) {
      if (one.least[i] === null) continue;
      const [x, y] = [at.x(one.x[i]), at.y(one.y[i])];
      if (at.log && one.y[i] <= 0) SHAPES[4](floor, x, at.bottom - 4 * at.px, 3 * at.px);
      else if (small) pen.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
      else shape(path, x, y, radius);
    }
    if (gap > 9) {
      pen.save();
      pen.strokeStyle = colours.ground;
      pen.lineWidth = 2 * at.px;
      pen.stroke(path);
      pen.restore();
    }
    pen.fill(path);
    pen.lineWidth = at.px;
    pen.stroke(floor);
  }

  /* At the bottom: a cross where a measurement failed, a ring where it is missing. */
  function badOnes(pen, at, model, hidden, colours) {
    const paths = { failed: new Path2D(), missing: new Path2D() };
    const y = at.bottom - 6 * at.px;
    const r = 3 * at.px;
    for (const one of model.bad) {
      if (hidden.has(one.series) || one.x < at.from || one.x > at.to) continue;
      const x = at.x(one.x);
      if (one.kind === "missing") SHAPES[0](paths.missing, x, y, r);
      else {
        paths.failed.moveTo(x - r, y - r);
        paths.failed.lineTo(x + r, y + r);
        paths.failed.moveTo(x + r, y - r);
        paths.failed.lineTo(x - r, y + r);
      }
    }
    pen.lineWidth = 1.5 * at.px;
    pen.strokeStyle = colours.faint;
    pen.stroke(paths.missing);
    pen.lineWidth = 2 * at.px;
    pen.strokeStyle = colours.failed;
    pen.stroke(paths.failed);
  }

  const KINDS = { // sign (a shape), dash of the line
    change: [2, []],
    event: [3, [5, 3]],
    "set-up": [1, [2, 2]],
    restart: [5, [8, 2, 2, 2]],
    tag: [0, [1, 4]],
  };

  const toneOf = (mark, colours) => (mark.kind === "tag" ? colours.faint : colours[mark.tone || "neutral"]);

  function markLine(pen, at, mark, colours) {
    if (mark.x < at.from || mark.x > at.to) return;
    const x = at.x(mark.x);
    pen.strokeStyle = pen.fillStyle = toneOf(mark, colours);
    if (dcu.format.known(mark.after)) { // the change lies somewhere between the two
      pen.globalAlpha = 0.15;
      pen.fillRect(at.x(mark.after), at.top, x - at.x(mark.after), at.height);
    }
    pen.globalAlpha = mark.kind === "tag" ? 0.6 : 0.9;
    pen.lineWidth = at.px;
    pen.setLineDash(KINDS[mark.kind][1].map((one) => one * at.px));
    pen.beginPath();
    pen.moveTo(x, at.top);
    pen.lineTo(x, at.bottom);
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  /* Signs of the marks above the plot, and their labels where they overlap nothing: what matters more comes first, and
     a tag gives way even with its sign. */
  function markLabels(pen, at, marks, colours) {
    pen.font = scaled(colours.font, at.px);
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    const y = at.top - (STRIP / 2) * at.px;
    const half = 5 * at.px;
    const order = Object.keys(KINDS);
    const taken = [];
    const free = (from, to) => !taken.some(([left, right]) => left < to && right > from);
    const shown = marks.filter((one) => one.x >= at.from && one.x <= at.to).sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
    const firm = shown.filter((one) => one.kind !== "tag");
    for (const mark of firm) sign(pen, at, mark, y, colours);
    for (const mark of shown) {
      const x = at.x(mark.x);
      const tag = mark.kind === "tag";
      if (tag && !free(x - half, x + half)) continue;
      if (tag) sign(pen, at, mark, y, colours);
      taken.push([x - half, x + half]);
      const text = mark.label.length > 24 ? `${mark.label.slice(0, 23)}…` : mark.label;
      const [left, right] = [x + half + at.px, x + half + 3 * at.px + pen.measureText(text).width];
      const others = firm.some((one) => one.x !== mark.x && at.x(one.x) + half > left && at.x(one.x) - half < right);
      if (!text || others || !free(left, right) || right > at.left + at.width + 12 * at.px) continue;
      taken.push([left, right]);
      pen.fillStyle = tag ? colours.faint : colours.text;
      pen.fillText(text, left, y);
    }
  }

  function sign(pen, at, mark, y, colours) {
    const path = new Path2D();
    const shape = mark.kind === "change" && mark.tone === "better" ? 4 : KINDS[mark.kind][0];
    SHAPES[shape](path, at.x(mark.x), y, (mark.kind === "tag" ? 2 : 3.5) * at.px);
    pen.fillStyle = toneOf(mark, colours);
    pen.fill(path);
  }

  return { all, look, frame, DASHES, SHAPES, SERIES, STRIP };
})();
