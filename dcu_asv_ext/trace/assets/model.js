// The rows of the timeline in typed columns, and its lanes. A row is its number; -1 is none. Times in ns.

const ROLES = ["operator", "span", "call", "launch", "sync", "copy_call", "memory_call", "kernel", "copy", "fill", "gap", "finding"];
const ROLE = Object.fromEntries(ROLES.map((name, number) => [name, number]));
const CAUSES = ["host late", "at a synchronisation", "waiting on a copy", "waiting on another stream", "between rows", "unknown"];
const FINDING_LEVELS = 6;

class Model {
  constructor(data) {
    this.names = data.names;
    this.short = new Map(Object.entries(data.short).map(([number, text]) => [Number(number), text]));
    this.colour = new Map(data.colours.map((name, place) => [name, place]));
    this.findings = data.findings;
    this.skewed = data.skewed;
    const gaps = Object.values(data.gaps);
    const count =
      data.lanes.reduce((sum, lane) => sum + lane.s.length, 0) +
      gaps.reduce((sum, lane) => sum + lane.s.length, 0) +
      data.findings.length;
    this.count = count;
    this.start = new Float64Array(count);
    this.end = new Float64Array(count);
    this.name = new Int32Array(count).fill(-1);
    this.level = new Uint8Array(count);
    this.role = new Uint8Array(count);
    this.further = new Int32Array(count).fill(-1);
    this.bytes = new Float64Array(count).fill(-1);
    this.call = new Int32Array(count).fill(-1);
    this.source = new Int32Array(count).fill(-1);
    this.cause = new Int8Array(count).fill(-1);
    this.laneOf = new Uint16Array(count);
    this.lanes = [];
    this.filled = 0;
    // Device rows name their calls by the number of a row, so the lanes of the trace come first in the columns.
    const traced = data.lanes.map((lane) => this.addLane(lane, lane.kind, lane.group, lane.label));
    const idle = Object.entries(data.gaps).map(([device, rows]) => this.addGaps(device, rows));
    const found = this.addFindings(data.findings);
    this.lanes = [...found, ...traced.filter((lane) => lane.kind !== "stream")];
    for (const device of new Set(traced.filter((lane) => lane.kind === "stream").map((lane) => lane.group))) {
      this.lanes.push(...traced.filter((lane) => lane.kind === "stream" && lane.group === device));
      this.lanes.push(...idle.filter((lane) => lane.group === device));
    }
    this.lanes.forEach((lane, number) => this.laneOf.fill(number, lane.first, lane.first + lane.count));
    this.launched = new Int32Array(count).fill(-1);
    for (let row = count - 1; row >= 0; row--) if (this.call[row] >= 0) this.launched[this.call[row]] = row;
  }

  addLane(columns, kind, group, label) {
    const first = this.filled;
    let at = 0;
    for (let i = 0; i < columns.s.length; i++) {
      const row = first + i;
      at += columns.s[i];
      this.start[row] = at;
      this.end[row] = at + columns.d[i];
    }
    if (columns.n) this.name.set(columns.n, first);
    if (columns.l) this.level.set(columns.l, first);
    if (columns.r) this.role.set(columns.r, first);
    if (columns.i) this.further.set(columns.i, first);
    if (columns.b) this.bytes.set(columns.b, first);
    if (columns.c) this.call.set(columns.c, first);
    if (columns.o) this.source.set(columns.o, first);
    this.filled += columns.s.length;
    return this.laneFrom(first, kind, group, label, columns.levels ?? 1);
  }

  addGaps(device, columns) {
    const lane = this.addLane(columns, "gaps", device, "");
    this.role.fill(ROLE.gap, lane.first, lane.first + lane.count);
    this.cause.set(columns.k, lane.first);
    return lane;
  }

  /** The findings as rows of one lane; a row's `further` is the finding's number. */
  addFindings(findings) {
    if (!findings.length) return [];
    const order = findings.map((_, number) => number).sort((a, b) => findings[a][0] - findings[b][0] || findings[b][1] - findings[a][1]);
    const free = [];
    const first = this.filled;
    for (const number of order) {
      const [begin, end] = findings[number];
      const row = this.filled++;
      let level = free.findIndex((since) => since <= begin);
      if (level < 0) level = Math.min(free.length, FINDING_LEVELS - 1);
      free[level] = Math.max(end, free[level] ?? 0);
      this.start[row] = begin;
      this.end[row] = end;
      this.level[row] = level;
      this.role[row] = ROLE.finding;
      this.further[row] = number;
    }
    return [this.laneFrom(first, "findings", "", "", free.length)];
  }

  laneFrom(first, kind, group, label, levels) {
    const lane = { kind, group, label, first, count: this.filled - first, levels: [] };
    const rows = Array.from({ length: levels }, () => []);
    for (let row = first; row < this.filled; row++) rows[this.level[row]].push(row);
    lane.levels = rows.map((each) => this.levelFrom(each));
    return lane;
  }

  /** Rows of one level do not overlap: their starts and their ends are sorted. `done`: time filled before each. */
  levelFrom(rows) {
    const level = {
      rows: Int32Array.from(rows),
      starts: Float64Array.from(rows, (row) => this.start[row]),
      ends: new Float64Array(rows.length),
      done: new Float64Array(rows.length + 1),
    };
    let latest = -Infinity;
    rows.forEach((row, i) => {
      latest = Math.max(latest, this.end[row]);
      level.ends[i] = latest;
      level.done[i + 1] = level.done[i] + this.end[row] - this.start[row];
    });
    return level;
  }

  duration(row) {
    return this.end[row] - this.start[row];
  }

  /** What a row is called, whole. */
  nameOf(row) {
    if (this.role[row] === ROLE.gap) return told(`cause_${CAUSES[this.cause[row]]}`);
    if (this.role[row] === ROLE.finding) return this.findings[this.further[row]][2];
    return this.names[this.name[row]];
  }

  labelOf(row) {
    if (this.role[row] === ROLE.finding) return `${this.further[row] + 1}  ${this.nameOf(row)}`;
    return this.short.get(this.name[row]) ?? this.nameOf(row);
  }

  /** The line of code that a row comes from, "" where the trace does not tell. */
  sourceOf(row) {
    const from = this.call[row] >= 0 && this.source[row] < 0 ? this.call[row] : row;
    return this.source[from] >= 0 ? this.names[this.source[from]] : "";
  }

  /** From the start of the call that launched a row to the row's own start; null where that is not known. */
  delayOf(row) {
    if (this.call[row] < 0 || this.skewed) return null;
    return this.start[row] - this.start[this.call[row]];
  }

  laneLabel(lane) {
    return told(`lane_${lane.kind}`, { name: lane.label });
  }

  groupLabel(lane) {
    if (lane.kind === "findings") return "";
    return told(lane.kind === "stream" || lane.kind === "gaps" ? "group_device" : "group_thread", { name: lane.group });
  }

  /** Numbers of all rows whose name has `text` in it, in the order of time. */
  search(text) {
    const wanted = text.toLowerCase();
    const named = this.names.map((name, number) =>
      name.toLowerCase().includes(wanted) || (this.short.get(number) ?? "").toLowerCase().includes(wanted));
    return this.rowsWhere((row) => this.name[row] >= 0 && named[this.name[row]]);
  }

  rowsWhere(holds) {
    const found = [];
    for (let row = 0; row < this.count; row++) if (holds(row)) found.push(row);
    return found.sort((a, b) => this.start[a] - this.start[b]);
  }
}

/** Place of the first of sorted values that is greater than `value`, from `from` on. */
function firstAbove(values, value, from = 0) {
  let low = from;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
