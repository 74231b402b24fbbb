// Mouse, touch and keyboard on the timeline, its buttons, its legend, and the labels of its lanes.

const WHEEL = 0.0016; // zoom per pixel of the wheel, as an exponent
const DRAG = 3; // px from which on a press is a drag

class Controls {
  constructor(view, choice, drawing, elements) {
    Object.assign(this, { view, choice, drawing, elements });
    this.model = view.model;
    this.pointers = new Map();
    this.buttons();
    this.pointer();
    this.wheel();
    this.keys();
    this.overview();
    this.legend();
    for (const button of document.querySelectorAll("[data-finding]")) {
      button.addEventListener("click", () => {
        choice.showFinding(Number(button.dataset.finding));
        elements.timeline.scrollIntoView({ block: "nearest" });
      });
    }
  }

  buttons() {
    const { view, elements, choice } = this;
    const button = (key, sign, action) => element("button", { type: "button", "aria-label": told(key), title: told(key), onclick: action }, sign);
    const zoom = element("span", { class: "group" },
      button("earlier", "◀", () => view.pan(-0.5)), button("zoom_out", "−", () => view.zoom(2)),
      button("zoom_in", "+", () => view.zoom(0.5)), button("later", "▶", () => view.pan(0.5)),
      element("button", { type: "button", onclick: () => view.showWhole() }, told("whole")));
    elements.range = element("span", { class: "range" });
    const parts = [zoom];
    if (DATA.steps.length > 1) parts.push(this.jump());
    const count = element("span", { class: "found", "aria-live": "polite" });
    const tellCount = () => {
      const { found, place } = choice;
      count.textContent = input.value ? (found.length ? told("find_count", { at: grouped(place + 1), count: grouped(found.length) }) : told("find_none")) : "";
    };
    const input = element("input", {
      type: "search", id: "find", placeholder: told("find"), "aria-label": told("find"),
      oninput: () => { choice.find(input.value.trim()); tellCount(); },
      onkeydown: (event) => { if (event.key === "Enter") { choice.step(event.shiftKey ? -1 : 1); tellCount(); } },
    });
    const step = (key, sign, direction) => button(key, sign, () => { choice.step(direction); tellCount(); });
    elements.letGo = element("button", { type: "button", hidden: "", onclick: () => { this.letGo(); tellCount(); } }, told("let_go"));
    parts.push(element("span", { class: "group" }, input, step("find_previous", "↑", -1), step("find_next", "↓", 1)), count, elements.letGo, elements.range);
    document.getElementById("toolbar").append(...parts);
    elements.find = input;
  }

  /** Nothing is chosen, found or marked any more. */
  letGo() {
    this.elements.find.value = "";
    this.choice.letGo();
  }

  jump() {
    const { view } = this;
    const options = [element("option", { value: "" }, told("jump_all"))];
    DATA.steps.forEach(([, , label], number) => options.push(element("option", { value: number }, told("step", { number: label }))));
    const select = element("select", {
      id: "jump", "aria-label": told("jump"),
      onchange: () => {
        if (select.value === "") view.showWhole();
        else view.showAround(DATA.steps[select.value][0], DATA.steps[select.value][1], 0.03);
      },
    }, ...options);
    return select;
  }

  /** Place of an event on the canvas of the lanes. */
  placeOf(event) {
    const box = this.elements.lanes.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  pointer() {
    const { view, choice, elements, pointers } = this;
    const canvas = elements.lanes;
    let moved = 0;
    canvas.addEventListener("pointerdown", (event) => {
      pointers.set(event.pointerId, [event.clientX, event.clientY]);
      canvas.setPointerCapture(event.pointerId);
      moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      const last = pointers.get(event.pointerId);
      const [x, y] = this.placeOf(event);
      if (!last) {
        const box = elements.timeline.getBoundingClientRect();
        choice.hover(view.rowAt(x, y), event.clientX - box.left, event.clientY - box.top);
        return;
      }
      if (pointers.size === 2) this.pinch(event);
      else {
        moved += Math.abs(event.clientX - last[0]);
        if (moved > DRAG) view.pan(-(event.clientX - last[0]) / view.plot);
      }
      pointers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    const up = (event) => {
      pointers.delete(event.pointerId);
      if (event.type === "pointerup" && moved <= DRAG) {
        const row = view.rowAt(...this.placeOf(event));
        if (row >= 0 && this.model.role[row] === ROLE.finding) choice.showFinding(this.model.further[row]);
        else choice.choose(row);
      }
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => choice.hover(-1));
    canvas.addEventListener("dblclick", (event) => {
      const row = view.rowAt(...this.placeOf(event));
      if (row >= 0) view.showAround(this.model.start[row], this.model.end[row]);
    });
  }

  /** Two fingers: what is between them stays there. */
  pinch(event) {
    const { view, pointers } = this;
    const [id] = [...pointers.keys()].filter((one) => one !== event.pointerId);
    const other = pointers.get(id)[0];
    const before = Math.abs(pointers.get(event.pointerId)[0] - other);
    const after = Math.abs(event.clientX - other);
    if (before < 4 || after < 4) return;
    const left = this.elements.lanes.getBoundingClientRect().left;
    view.zoom(before / after, view.at((event.clientX + other) / 2 - left));
  }

  wheel() {
    const { view, elements } = this;
    elements.timeline.addEventListener("wheel", (event) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      const chosen = event.ctrlKey || event.metaKey || elements.timeline.contains(document.activeElement);
      if (!sideways && !chosen) return; // the page scrolls
      event.preventDefault();
      const pixels = event.deltaMode === 1 ? 16 : 1;
      if (sideways) view.pan(((event.deltaX || event.deltaY) * pixels) / view.plot);
      else view.zoom(Math.exp(event.deltaY * pixels * WHEEL), view.at(Math.max(this.placeOf(event)[0], view.gutter)));
    }, { passive: false });
  }

  keys() {
    const { view, choice, elements } = this;
    const row = (move) => () => choice.choose(view.chosen >= 0 ? move(view.chosen) : view.firstSeen());
    const actions = {
      ArrowLeft: () => view.pan(-0.15), ArrowRight: () => view.pan(0.15),
      ArrowUp: () => view.zoom(0.7), ArrowDown: () => view.zoom(1 / 0.7),
      "+": () => view.zoom(0.5), "=": () => view.zoom(0.5), "-": () => view.zoom(2),
      0: () => view.showWhole(), Home: () => view.showWhole(),
      n: row((one) => view.neighbour(one, 1)), p: row((one) => view.neighbour(one, -1)),
      j: row((one) => view.beside(one, 1)), k: row((one) => view.beside(one, -1)),
      Enter: () => view.chosen >= 0 && view.showAround(this.model.start[view.chosen], this.model.end[view.chosen]),
      Escape: () => this.letGo(),
      "/": () => elements.find.focus(),
    };
    elements.timeline.addEventListener("keydown", (event) => {
      if (event.target !== elements.timeline || event.ctrlKey || event.metaKey || event.altKey) return;
      const action = actions[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    });
  }

  overview() {
    const { view, elements } = this;
    const go = (event) => {
      const x = event.clientX - elements.overview.getBoundingClientRect().left;
      const at = view.whole[0] + ((x - view.gutter) / view.plot) * (view.whole[1] - view.whole[0]);
      view.show(at - view.range / 2, at + view.range / 2);
    };
    elements.overview.addEventListener("pointerdown", (event) => {
      elements.overview.setPointerCapture(event.pointerId);
      go(event);
    });
    elements.overview.addEventListener("pointermove", (event) => event.buttons && go(event));
  }

  /** Of what is in this trace: the kernels that take most time, the kinds of rows, the causes of gaps. */
  legend() {
    const { model, elements } = this;
    const entries = [];
    const entry = (name, text, action) => {
      const key = element("span", { class: `key key-${name}`, "aria-hidden": "true" });
      entries.push(element("li", {}, key, action ? element("button", { type: "button", onclick: action }, element("bdi", {}, text)) : element("span", {}, text)));
    };
    const present = new Set(model.role);
    for (const [number, place] of model.colour) {
      const name = model.names[number];
      entry(`kernel-${place}`, cut(model.short.get(number) ?? name, 60), () => this.choice.showName(number));
    }
    if (model.colour.size === KERNEL_COLOURS) entry("kernel-other", told("legend_other"));
    for (const role of LANE_ROLES) if (present.has(ROLE[role])) entry(role, told(`role_${role}`));
    for (const cause of new Set(model.cause)) if (cause >= 0) entry(CAUSE_COLOURS[cause], `${told("role_gap")}: ${told(`cause_${CAUSES[cause]}`)}`);
    elements.legend.append(element("h3", {}, told("legend")), element("ul", {}, ...entries), element("p", { class: "scope" }, told("legend_coverage")));
  }

  /** Labels beside the lanes, above them where there is no room; groups can be folded. */
  labels() {
    const { view, elements } = this;
    const focused = document.activeElement?.dataset?.group;
    const made = [];
    for (const place of view.places) {
      if (place.heads) {
        const button = element("button", {
          type: "button", class: "lane-group", "aria-expanded": String(!place.folded), "data-group": place.key,
          title: view.model.groupLabel(place.lane),
          onclick: () => {
            if (!view.folded.delete(place.key)) view.folded.add(place.key);
            view.changed();
          },
        }, `${place.folded ? "▸" : "▾"} `, element("bdi", {}, view.model.groupLabel(place.lane)));
        button.style.top = `${place.headTop + 2}px`;
        made.push(button);
      }
      if (place.folded) continue;
      const label = element("span", { class: "lane-label" }, element("bdi", {}, view.model.laneLabel(place.lane)));
      label.style.top = `${view.gutter ? place.top : place.captionTop}px`;
      made.push(label);
    }
    elements.labels.replaceChildren(...made);
    if (focused) made.find((one) => one.dataset.group === focused)?.focus();
  }
}
