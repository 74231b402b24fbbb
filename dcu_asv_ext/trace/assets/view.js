// What of the timeline is seen: the time range, the places of the lanes, what is chosen and marked.

const GUTTER = 190;
const NARROW = 640;
const HEIGHTS = { findings: 20, operators: 17, calls: 16, stream: 22, gaps: 16 };
const CAPTION = 17;
const SPACE = 7;
const LEAST_RANGE = 50;

class View {
  constructor(model, span) {
    this.model = model;
    const margin = (span[1] - span[0]) * 0.01;
    this.whole = [span[0] - margin, span[1] + margin];
    // Of a trace that is not here as a whole, the first part that is.
    [this.begin, this.end] = DATA.left_out ? DATA.windows[0] : this.whole;
    this.width = 1;
    this.chosen = -1;
    this.hovered = -1;
    this.finding = -1;
    this.marked = null; // Uint8Array: rows that are not pale
    this.folded = new Set();
    this.changed = () => {};
  }

  get range() {
    return this.end - this.begin;
  }

  get gutter() {
    return this.width < NARROW ? 0 : GUTTER;
  }

  get plot() {
    return this.width - this.gutter;
  }

  x(at) {
    return this.gutter + ((at - this.begin) / this.range) * this.plot;
  }

  at(x) {
    return this.begin + ((x - this.gutter) / this.plot) * this.range;
  }

  show(begin, end) {
    let range = Math.min(Math.max(end - begin, LEAST_RANGE), this.whole[1] - this.whole[0]);
    const middle = (begin + end) / 2;
    const first = Math.min(Math.max(middle - range / 2, this.whole[0]), this.whole[1] - range);
    this.begin = first;
    this.end = first + range;
    this.changed();
  }

  /** By a factor below 1 nearer; what is at `around` stays there. */
  zoom(factor, around = (this.begin + this.end) / 2) {
    const range = Math.min(Math.max(this.range * factor, LEAST_RANGE), this.whole[1] - this.whole[0]);
    const begin = around - ((around - this.begin) / this.range) * range;
    this.show(begin, begin + range);
  }

  /** By a share of what is seen. */
  pan(part) {
    this.show(this.begin + part * this.range, this.end + part * this.range);
  }

  showWhole() {
    this.show(...this.whole);
  }

  /** Around a stretch, with some room beside it. */
  showAround(begin, end, room = 0.15) {
    const margin = Math.max((end - begin) * room, LEAST_RANGE / 2);
    this.show(begin - margin, end + margin);
  }

  /** Move, without another zoom, so far that a row is seen. */
  reveal(row) {
    const { start, end } = this.model;
    if (end[row] >= this.begin && start[row] <= this.end) return this.changed();
    const middle = (start[row] + end[row]) / 2;
    return this.show(middle - this.range / 2, middle + this.range / 2);
  }

  /** Places of the lanes from top to bottom: top, height of a level, caption (narrow), heading of a group. */
  layout() {
    const places = [];
    let y = 4;
    let group = null;
    for (const [number, lane] of this.model.lanes.entries()) {
      const key = this.groupKey(lane);
      const heads = key !== group && lane.kind !== "findings";
      group = key;
      const folded = this.folded.has(key);
      if (heads) y += SPACE;
      const place = { number, lane, key, heads, folded, headTop: y, top: y, step: HEIGHTS[lane.kind], height: 0 };
      if (heads) y += CAPTION + 4;
      if (!folded) {
        place.captionTop = y;
        if (this.gutter === 0) y += CAPTION;
        place.top = y;
        place.height = lane.levels.length * place.step;
        y += place.height + SPACE;
      }
      places.push(place);
    }
    this.places = places;
    this.height = y + 4;
    return places;
  }

  groupKey(lane) {
    return `${lane.kind === "stream" || lane.kind === "gaps" ? "device" : lane.kind === "findings" ? "" : "thread"} ${lane.group}`;
  }

  /** The row at a place of the canvas; -1 where there is none within two pixels. */
  rowAt(x, y) {
    const place = this.places.find((one) => !one.folded && y >= one.top && y < one.top + one.height);
    if (!place || x < this.gutter) return -1;
    const level = place.lane.levels[Math.floor((y - place.top) / place.step)];
    const near = (2 / this.plot) * this.range;
    const at = this.at(x);
    let best = -1;
    let distance = near;
    // Ends are sorted: candidates are the first that ends behind the place, and the one before it.
    const after = firstAbove(level.ends, at - near);
    for (let i = Math.max(after - 1, 0); i < Math.min(after + 50, level.rows.length); i++) {
      if (level.starts[i] > at + near) break;
      const row = level.rows[i];
      const away = Math.max(level.starts[i] - at, at - this.model.end[row], 0);
      if (away <= distance) {
        if (away === 0) return row;
        best = row;
        distance = away;
      }
    }
    return best;
  }

  placeOf(row) {
    const place = this.places.find((one) => one.number === this.model.laneOf[row]);
    return place && !place.folded ? { y: place.top + this.model.level[row] * place.step, height: place.step } : null;
  }

  /** The row after (1) or before (-1) one on its level. */
  neighbour(row, direction) {
    const level = this.model.lanes[this.model.laneOf[row]].levels[this.model.level[row]];
    return level.rows[level.rows.indexOf(row) + direction] ?? row;
  }

  /** The row of the level below (1) or above (-1) that is nearest in time to one; also of the next lane. */
  beside(row, direction) {
    const levels = this.places.filter((one) => !one.folded).flatMap((one) => one.lane.levels.filter((level) => level.rows.length));
    const mine = levels.findIndex((level) => level.rows.includes(row));
    const level = levels[mine + direction];
    if (!level) return row;
    const middle = Math.min(Math.max((this.model.start[row] + this.model.end[row]) / 2, this.begin), this.end);
    const after = Math.min(firstAbove(level.ends, middle), level.rows.length - 1);
    const before = Math.max(after - 1, 0);
    return middle - level.ends[before] < level.starts[after] - middle ? level.rows[before] : level.rows[after];
  }

  /** The first row to be seen, for who begins with the keyboard. */
  firstSeen() {
    for (const place of this.places) {
      if (place.folded || place.lane.kind === "findings") continue;
      for (const level of place.lane.levels) {
        const i = firstAbove(level.ends, this.begin);
        if (i < level.rows.length && level.starts[i] < this.end) return level.rows[i];
      }
    }
    return -1;
  }
}
