// Drawing: each row that has room as a box with its name; rows too short to be told apart as one pale box.

const APART = 1.5; // px: shorter rows are drawn together
const TEXT_FROM = 26; // px: shorter boxes carry no text
const PALE = 0.2; // of rows that are not marked while others are
const RULER = 40;

const LANE_ROLES = ["operator", "span", "call", "launch", "sync", "copy_call", "memory_call", "fill", "copy", "finding"];
const CAUSE_COLOURS = ["gap-host", "gap-sync", "gap-copy", "gap-stream", "gap-quiet", "gap-quiet"];
const KERNEL_COLOURS = 7;
const HATCHED = new Set(["copy", "sync", "copy_call", "gap-sync", "gap-copy", "gap-stream"]);

class Drawing {
  constructor(view, canvases) {
    this.view = view;
    this.model = view.model;
    this.canvases = canvases;
    this.boxes = 0;
    this.readColours();
  }

  /** The colours of the page's present scheme. */
  readColours() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(`--${name}`).trim();
    const pair = (name) => ({ fill: read(name), ink: read(`${name}-ink`) || read("box-ink"), hatch: HATCHED.has(name) });
    this.plain = Object.fromEntries(["page", "text", "quiet", "line", "band", "mark", "choice", "shade"].map((name) => [name, read(name)]));
    this.roles = Object.fromEntries(LANE_ROLES.map((name) => [name, pair(name)]));
    this.kernels = Array.from({ length: KERNEL_COLOURS }, (_, number) => pair(`kernel-${number}`));
    this.otherKernel = pair("kernel-other");
    this.causes = CAUSE_COLOURS.map(pair);
    this.font = `11px ${style.getPropertyValue("--sans")}`;
    this.hatches = new Map();
  }

  colourOf(row) {
    const role = this.model.role[row];
    if (role === ROLE.kernel) {
      const place = this.model.colour.get(this.model.name[row]);
      return place === undefined ? this.otherKernel : this.kernels[place];
    }
    if (role === ROLE.gap) return this.causes[this.model.cause[row]];
    return this.roles[ROLES[role]];
  }

  /** A canvas of this size in CSS pixels, cleared, and its context. */
  prepare(canvas, width, height) {
    const scale = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== wide || canvas.height !== high) {
      canvas.width = wide;
      canvas.height = high;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = this.font;
    context.textBaseline = "middle";
    return context;
  }

  frame() {
    const { view } = this;
    view.layout();
    this.boxes = 0;
    this.ruler(this.prepare(this.canvases.ruler, view.width, RULER));
    this.overview(this.prepare(this.canvases.overview, view.width, 34));
    const context = this.prepare(this.canvases.lanes, view.width, view.height);
    context.save();
    context.beginPath();
    context.rect(view.gutter, 0, view.plot, view.height);
    context.clip();
    this.background(context);
    for (const place of view.places) if (!place.folded) this.lane(context, place);
    this.leftOut(context, view.height);
    this.link(context);
    this.outline(context, view.hovered, 1.5);
    this.outline(context, view.chosen, 2.5);
    context.restore();
  }

  steps() {
    const { view } = this;
    return DATA.steps.map((step, number) => [...step, number]).filter(([begin, end]) => end > view.begin && begin < view.end);
  }

  background(context) {
    const { view, plain } = this;
    for (const [begin, end, , number] of this.steps()) {
      if (number % 2) continue;
      context.fillStyle = plain.band;
      context.fillRect(view.x(begin), 0, view.x(end) - view.x(begin), view.height);
    }
    context.fillStyle = plain.line;
    for (const at of this.marks().places) context.fillRect(Math.round(view.x(at)), 0, 1, view.height);
    if (view.finding >= 0) {
      const [begin, end] = this.model.findings[view.finding];
      context.fillStyle = plain.shade;
      context.fillRect(view.x(begin), 0, Math.max(1, view.x(end) - view.x(begin)), view.height);
    }
    context.fillStyle = plain.line;
    for (const place of view.places) if (place.heads) context.fillRect(0, place.headTop, view.width, 1);
  }

  /** Places of the axis: a distance of 1, 2 or 5 times a power of ten that leaves room for the figures. */
  marks() {
    const { view } = this;
    const least = (view.range * (view.gutter ? 95 : 72)) / view.plot;
    const power = 10 ** Math.floor(Math.log10(least));
    const distance = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least);
    const places = [];
    for (let at = Math.ceil(view.begin / distance) * distance; at < view.end; at += distance) places.push(at);
    return { places, distance };
  }

  ruler(context) {
    const { view, plain } = this;
    context.save();
    context.beginPath();
    context.rect(view.gutter, 0, view.plot, RULER);
    context.clip();
    for (const [begin, end, label, number] of this.steps()) {
      const [from, to] = [Math.max(view.x(begin), view.gutter), Math.min(view.x(end), view.width)];
      context.fillStyle = number % 2 ? plain.page : plain.band;
      context.fillRect(from, 0, to - from, RULER);
      context.fillStyle = plain.line;
      context.fillRect(view.x(begin), 0, 1, RULER);
      const text = told("step", { number: label });
      const room = to - from - 8;
      context.fillStyle = plain.text;
      if (context.measureText(text).width < room) context.fillText(text, from + 5, 10);
      else if (context.measureText(label).width < room) context.fillText(label, from + 4, 10);
    }
    const { places, distance } = this.marks();
    context.fillStyle = plain.quiet;
    for (const at of places) {
      const x = Math.round(view.x(at));
      context.fillRect(x, RULER - 18, 1, 18);
      context.fillText(axisTime(at, distance), x + 4, RULER - 10);
    }
    context.restore();
  }

  lane(context, place) {
    place.lane.levels.forEach((level, number) => {
      this.level(context, place.lane, level, place.top + number * place.step, place.step - 2);
    });
  }

  level(context, lane, level, y, height) {
    const { view, model } = this;
    const pixel = view.range / view.plot;
    let i = firstAbove(level.ends, view.begin - pixel);
    while (i < level.rows.length && level.starts[i] < view.end) {
      const row = level.rows[i];
      const from = view.x(level.starts[i]);
      const to = view.x(model.end[row]);
      if (to - from >= APART) {
        this.box(context, row, from, to, y, height);
        i += 1;
        continue;
      }
      // All that end within the same pixel, as one; how much of it they fill is how strong it is.
      const until = Math.max(view.at(Math.floor(from) + 1), level.ends[i]);
      const next = Math.max(firstAbove(level.ends, until, i), i + 1);
      const filled = Math.min(1, (level.done[next] - level.done[i]) / pixel);
      const shown = this.markedAmong(level.rows, i, next);
      const pale = view.marked && !view.marked[shown];
      context.globalAlpha = pale ? PALE / 2 : 0.35 + 0.65 * filled;
      context.fillStyle = this.colourOf(shown).fill;
      context.fillRect(Math.floor(from), y, 1, height);
      context.globalAlpha = 1;
      this.boxes += 1;
      i = next;
    }
  }

  /** Of some rows that are drawn as one, the one whose colour that gets: a marked one, else the first. */
  markedAmong(rows, from, to) {
    const { marked } = this.view;
    if (marked) for (let i = from; i < to; i++) if (marked[rows[i]]) return rows[i];
    return rows[from];
  }

  box(context, row, from, to, y, height) {
    const { view } = this;
    const left = Math.max(from, view.gutter - 2);
    const right = Math.min(to, view.width + 2);
    const wide = Math.max(1, right - left - (to - from > 3 ? 1 : 0));
    const colour = this.colourOf(row);
    const pale = view.marked && !view.marked[row];
    context.globalAlpha = pale ? PALE : 1;
    context.fillStyle = colour.fill;
    context.fillRect(left, y, wide, height);
    if (colour.hatch && wide > 4) {
      context.fillStyle = this.hatch(context, colour.ink);
      context.fillRect(left, y, wide, height);
    }
    context.globalAlpha = 1;
    if (wide > TEXT_FROM && !pale) this.text(context, this.model.labelOf(row), left + 4, y + height / 2 + 0.5, wide - 7, colour);
    this.boxes += 1;
  }

  /** As much of a text as there is room for, on a ground of the box's own colour so that a hatch does not cross it. */
  text(context, text, x, y, room, colour) {
    let shown = text.length > 300 ? text.slice(0, 300) : text;
    let width = context.measureText(shown).width;
    if (width > room) {
      const letters = Math.floor((shown.length * room) / width) - 1;
      if (letters < 2) return;
      shown = `${shown.slice(0, letters)}…`;
      width = Math.min(context.measureText(shown).width, room);
    }
    if (colour.hatch) {
      context.fillStyle = colour.fill;
      context.fillRect(x - 2, y - 7, width + 4, 13);
    }
    context.fillStyle = colour.ink;
    context.fillText(shown, x, y, room);
  }

  hatch(context, ink) {
    if (!this.hatches.has(ink)) {
      const tile = document.createElement("canvas");
      tile.width = tile.height = 6;
      const pen = tile.getContext("2d");
      pen.strokeStyle = ink;
      pen.globalAlpha = 0.35;
      pen.lineWidth = 1.2;
      for (const shift of [-6, 0, 6]) {
        pen.moveTo(shift, 6);
        pen.lineTo(shift + 6, 0);
      }
      pen.stroke();
      this.hatches.set(ink, context.createPattern(tile, "repeat"));
    }
    return this.hatches.get(ink);
  }

  outline(context, row, width) {
    if (row < 0) return;
    const { view } = this;
    const place = view.placeOf(row);
    if (!place) return;
    const from = Math.max(view.x(this.model.start[row]), view.gutter - 4);
    const to = Math.min(view.x(this.model.end[row]), view.width + 4);
    context.strokeStyle = this.plain.choice;
    context.lineWidth = width;
    context.strokeRect(from - 1, place.y - 1, Math.max(3, to - from + 1), place.height);
  }

  /** A line from the call to what it launched, of the row that is pointed at, else of the chosen one. */
  link(context) {
    const { view, model } = this;
    for (const row of new Set([view.hovered, view.chosen])) {
      if (row < 0) continue;
      const launched = model.call[row] >= 0 ? row : model.launched[row];
      if (launched < 0) continue;
      const call = model.call[launched];
      const [from, to] = [view.placeOf(call), view.placeOf(launched)];
      if (!from || !to) continue;
      const [x, y] = [view.x(model.start[call]), from.y + from.height - 2];
      const [toX, toY] = [view.x(model.start[launched]), to.y];
      context.strokeStyle = this.plain.choice;
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(x, y);
      context.bezierCurveTo(x, y + (toY - y) / 2, toX, y + (toY - y) / 2, toX, toY);
      context.moveTo(toX - 4, toY - 6);
      context.lineTo(toX, toY);
      context.lineTo(toX + 4, toY - 6);
      context.stroke();
    }
  }

  /** Hatched: what the page does not hold. */
  leftOut(context, height) {
    const { view } = this;
    let since = DATA.span[0];
    for (const [begin, end] of [...DATA.windows, [DATA.span[1], DATA.span[1]]]) {
      const from = Math.max(view.x(since), view.gutter);
      const to = Math.min(view.x(begin), view.width);
      if (begin > since && to > from) {
        context.fillStyle = this.hatch(context, this.plain.quiet);
        context.fillRect(from, 0, to - from, height);
      }
      since = end;
    }
  }

  /** The whole trace, how busy each device is in it, the findings, and what of it is seen. */
  overview(context) {
    const { view, plain, model } = this;
    const height = 34;
    const [first, last] = view.whole;
    const x = (at) => view.gutter + ((at - first) / (last - first)) * view.plot;
    const bins = DATA.overview;
    const [begin, end] = [x(DATA.span[0]), x(DATA.span[1])];
    bins.forEach(({ busy }, number) => {
      const high = (height - 6) / bins.length;
      const base = 6 + (number + 1) * high;
      const wide = (end - begin) / busy.length;
      context.fillStyle = this.kernels[0].fill;
      busy.forEach((percent, i) => {
        const tall = percent ? Math.max(1, ((high - 1) * percent) / 100) : 0;
        context.fillRect(begin + i * wide, base - tall, Math.max(wide, 0.6), tall);
      });
    });
    context.fillStyle = this.roles.finding.fill;
    for (const [from, to] of model.findings) context.fillRect(x(from), 1, Math.max(2, x(to) - x(from)), 3);
    context.fillStyle = plain.page;
    context.globalAlpha = 0.65;
    context.fillRect(view.gutter, 0, x(view.begin) - view.gutter, height);
    context.fillRect(x(view.end), 0, view.width - x(view.end), height);
    context.globalAlpha = 1;
    context.strokeStyle = plain.choice;
    context.lineWidth = 1.5;
    context.strokeRect(x(view.begin) + 0.75, 0.75, Math.max(2, x(view.end) - x(view.begin) - 1.5), height - 1.5);
    if (view.gutter) {
      context.fillStyle = plain.quiet;
      bins.forEach(({ device }, number) => {
        const text = device === "" ? told("lane_operators") : `${told("group_device", { name: device })}`;
        if (number < 3) context.fillText(text, 8, 6 + ((number + 0.5) * (height - 6)) / bins.length);
      });
    }
  }
}
