// Choosing rows: pointing, clicking, going from row to row; and telling what a row is.

class Choice {
  constructor(view, elements) {
    this.view = view;
    this.model = view.model;
    this.elements = elements;
    this.found = [];
    this.place = -1;
  }

  /** Pairs of what is known of a row, in the order in which one asks for it. */
  facts(row) {
    const { model } = this;
    const role = ROLES[model.role[row]];
    const lane = model.lanes[model.laneOf[row]];
    const facts = [
      [told("detail_duration"), time(model.duration(row))],
      [told("detail_start"), axisTime(model.start[row], Math.max(1, Math.min(this.view.range / 1000, model.start[row] / 1000)))],
    ];
    const delay = model.delayOf(row);
    if (delay !== null) facts.push([told("detail_delay"), time(delay)]);
    if (role === "finding") return facts;
    if (model.further[row] >= 0) {
      facts.push([told(role === "operator" ? "detail_shapes" : "detail_shape"), model.names[model.further[row]]]);
    }
    if (model.bytes[row] >= 0) {
      facts.push([told("detail_bytes"), size(model.bytes[row])]);
      if ((role === "copy" || role === "fill") && model.duration(row) > 0) {
        facts.push([told("detail_bandwidth"), `${size((model.bytes[row] / model.duration(row)) * 1e9)}/s`]);
      }
    }
    const source = model.sourceOf(row);
    if (source) facts.push([told("detail_source"), source]);
    facts.push([told("detail_lane"), [model.groupLabel(lane), model.laneLabel(lane)].join(", ")]);
    return facts;
  }

  roleOf(row) {
    return told(`role_${ROLES[this.model.role[row]]}`);
  }

  hover(row, x, y) {
    const { tip, timeline } = this.elements;
    if (row !== this.view.hovered) {
      this.view.hovered = row;
      this.view.changed();
      if (row >= 0) {
        const name = element("strong", {}, cut(this.model.labelOf(row), 160));
        const lines = this.facts(row).slice(0, 7).map(([key, value]) => element("div", {}, `${key}: `, element("bdi", {}, cut(value, 160))));
        tip.replaceChildren(element("div", { class: "tip-role" }, this.roleOf(row)), name, ...lines);
      }
    }
    tip.hidden = row < 0;
    if (row < 0) return;
    const box = timeline.getBoundingClientRect();
    const left = x + 14 + tip.offsetWidth > box.width ? Math.max(0, x - tip.offsetWidth - 10) : x + 14;
    tip.style.left = `${left}px`;
    tip.style.top = `${y + 16}px`;
  }

  choose(row) {
    this.view.chosen = row;
    if (row >= 0) {
      const finding = this.model.role[row] === ROLE.finding;
      this.view.reveal(row);
      this.scrollTo(row);
      this.tell(row, finding);
    } else {
      this.elements.details.replaceChildren(told("nothing_chosen"));
      this.view.changed();
    }
  }

  scrollTo(row) {
    const place = this.view.placeOf(row);
    const { scroll } = this.elements;
    if (!place) return;
    if (place.y < scroll.scrollTop) scroll.scrollTop = place.y - 30;
    else if (place.y + place.height > scroll.scrollTop + scroll.clientHeight) {
      scroll.scrollTop = place.y + place.height - scroll.clientHeight + 30;
    }
  }

  tell(row, finding) {
    const { model } = this;
    const whole = model.nameOf(row);
    const facts = this.facts(row);
    if (!finding && model.name[row] >= 0) facts.push([told("detail_same"), this.same(row)]);
    const pairs = facts.map(([key, value]) => element("div", {}, element("dt", {}, key), element("dd", {}, element("bdi", {}, value))));
    const buttons = [];
    const go = (key, action) => buttons.push(element("button", { type: "button", onclick: action }, told(key)));
    if (model.call[row] >= 0) go("detail_call", () => this.choose(model.call[row]));
    if (model.launched[row] >= 0) go("detail_rows", () => this.choose(model.launched[row]));
    go("detail_zoom", () => this.view.showAround(model.start[row], model.end[row], 0.5));
    this.elements.details.replaceChildren(
      element("p", { class: "details-name" }, element("span", { class: "details-role" }, this.roleOf(row)), " ",
        element("bdi", {}, finding ? model.labelOf(row) : whole)),
      element("dl", {}, ...pairs),
      element("div", { class: "buttons" }, ...buttons),
    );
  }

  same(row) {
    const { model } = this;
    let count = 0;
    let total = 0;
    for (let other = 0; other < model.count; other++) {
      if (model.name[other] === model.name[row] && model.role[other] === model.role[row]) {
        count += 1;
        total += model.duration(other);
      }
    }
    return told("detail_same_told", { count: grouped(count), time: time(total) });
  }

  /** Mark the rows whose name has a text in it; all others turn pale. Returns how many there are. */
  find(text) {
    this.found = text ? this.model.search(text) : [];
    this.place = -1;
    this.mark(text ? this.found : null);
    return this.found.length;
  }

  mark(rows) {
    this.view.marked = null;
    if (rows) {
      this.view.marked = new Uint8Array(this.model.count);
      for (const row of rows) this.view.marked[row] = 1;
    }
    this.view.changed();
  }

  /** To the next (1) or previous (-1) of the rows that were found; the first time, to one that is seen if there is. */
  step(direction) {
    if (!this.found.length) return;
    if (this.place < 0) {
      const seen = this.found.findIndex((row) => this.model.end[row] >= this.view.begin);
      this.place = Math.max(seen, 0);
    } else {
      this.place = (this.place + direction + this.found.length) % this.found.length;
    }
    const row = this.found[this.place];
    if (this.model.duration(row) < this.view.range / 400) {
      const around = Math.max(this.model.duration(row) * 20, LEAST_RANGE);
      this.view.show(this.model.start[row] - around, this.model.end[row] + around);
    }
    this.choose(row);
  }

  /** All rows of a name: the longest is shown. */
  showName(number) {
    this.found = this.model.rowsWhere((row) => this.model.name[row] === number);
    if (!this.found.length) return;
    this.mark(this.found);
    this.place = this.found.reduce((best, row, i) => (this.model.duration(row) > this.model.duration(this.found[best]) ? i : best), 0);
    const row = this.found[this.place];
    this.view.showAround(this.model.start[row], this.model.end[row], 4);
    this.choose(row);
  }

  /** A finding's stretch; where that holds several steps, its first, and with each further call the next one. */
  showFinding(number) {
    const { view, model } = this;
    const [begin, end] = model.findings[number];
    const steps = DATA.steps.filter(([first, last]) => last > begin && first < end);
    const again = view.finding === number;
    view.finding = number;
    if (steps.length > 1) {
      this.turn = again ? (this.turn + 1) % steps.length : 0;
      view.showAround(Math.max(begin, steps[this.turn][0]), Math.min(end, steps[this.turn][1]), 0.05);
    } else {
      view.showAround(begin, end, 0.08);
    }
    const row = model.rowsWhere((one) => model.role[one] === ROLE.finding && model.further[one] === number)[0];
    this.choose(row);
  }

  letGo() {
    this.view.finding = -1;
    this.found = [];
    this.mark(null);
    this.hover(-1);
    this.choose(-1);
  }
}

function cut(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
