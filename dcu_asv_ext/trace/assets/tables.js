// The tables: sorted by a click on a heading, filtered by a text, the longest ones cut until asked for.

const FIRST_ROWS = 50;

class Table {
  constructor(place, name, data, showName) {
    Object.assign(this, { place, name, data, showName });
    this.column = Math.max(0, data.columns.findIndex(([key]) => key === data.sort));
    this.falling = true;
    this.text = "";
    this.all = false;
    if (!data.rows.length) {
      place.append(element("p", { class: "scope" }, told("table_empty")));
      return;
    }
    this.build();
    this.fill();
  }

  build() {
    const input = element("input", {
      type: "search", id: `${this.name}-filter`, placeholder: told("table_filter"),
      "aria-label": `${told("table_filter")}: ${document.getElementById(`${this.name}-title`).textContent}`,
      oninput: () => { this.text = input.value.trim().toLowerCase(); this.fill(); },
    });
    this.count = element("span", { class: "found", "aria-live": "polite" });
    this.headings = new Map();
    this.data.columns.forEach(([key, kind], number) => {
      if (kind === "text") return; // drawn below its row, as wide as the table
      const button = element("button", { type: "button", onclick: () => this.sortBy(number) }, told(`column_${key}`), element("span", { class: "arrow", "aria-hidden": "true" }));
      this.headings.set(number, element("th", { scope: "col", class: kind }, button));
    });
    this.body = element("tbody");
    this.more = element("p", { class: "more" });
    const table = element("table", { "aria-labelledby": `${this.name}-title` }, element("thead", {}, element("tr", {}, ...this.headings.values())), this.body);
    const label = `${document.getElementById(`${this.name}-title`).textContent}: ${told("table_scroll")}`;
    this.place.append(element("div", { class: "toolbar" }, input, this.count),
      element("div", { class: "sideways", tabindex: "0", role: "region", "aria-label": label }, table), this.more);
  }

  /** By this column, figures from the largest on and texts from A; a second time the other way round. */
  sortBy(number) {
    const text = ["name", "text", "line"].includes(this.data.columns[number][1]);
    this.falling = number === this.column ? !this.falling : !text;
    this.column = number;
    this.fill();
  }

  chosen() {
    const sign = this.falling ? -1 : 1;
    const value = (row) => (Array.isArray(row[this.column]) ? row[this.column][0] : row[this.column]);
    const matches = (row) => row.some((cell) => typeof cell !== "number" && String(cell ?? "").toLowerCase().includes(this.text));
    return this.data.rows.filter((row) => !this.text || matches(row)).sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === null || y === null) return (x === null) - (y === null); // what is not known comes last
      return sign * (typeof x === "string" ? x.localeCompare(y) : x - y);
    });
  }

  fill() {
    this.headings.forEach((heading, number) => {
      const sorted = number === this.column;
      heading.setAttribute("aria-sort", sorted ? (this.falling ? "descending" : "ascending") : "none");
      heading.querySelector(".arrow").textContent = sorted ? (this.falling ? " ▼" : " ▲") : "";
    });
    const rows = this.chosen();
    const shown = this.all ? rows : rows.slice(0, FIRST_ROWS);
    this.body.replaceChildren(...shown.flatMap((row) => this.drawn(row)));
    this.count.textContent = rows.length ? told("table_count", { shown: grouped(rows.length), all: grouped(this.data.rows.length) }) : told("table_none");
    this.more.replaceChildren();
    if (shown.length < rows.length) {
      this.more.append(element("button", { type: "button", onclick: () => { this.all = true; this.fill(); } }, told("table_all", { count: grouped(rows.length) })));
    }
    const [rest, seconds] = this.data.rest;
    if (rest) this.more.append(element("span", {}, told("table_rest", { count: grouped(rest), time: time(seconds * 1e9) })));
  }

  /** The row, and below it what its figures mean. */
  drawn(row) {
    const cells = row.map((cell, number) => [cell, this.data.columns[number][1]]);
    const texts = cells.flatMap(([cell, kind]) => (kind === "text" ? this.lines(cell, kind) : []));
    const figures = element("tr", { class: texts.length ? "told" : "" }, ...cells.filter(([, kind]) => kind !== "text").map(([cell, kind]) => this.cell(cell, kind)));
    if (!texts.length) return [figures];
    return [figures, element("tr", { class: "meaning" }, element("td", { colspan: this.headings.size }, element("div", { class: "meaning" }, ...texts)))];
  }

  cell(value, kind) {
    if (kind === "name") {
      const [short, whole, number] = value;
      const inside = number !== null && this.showName
        ? element("button", { type: "button", class: "name", title: whole, "aria-label": told("table_show", { name: short }), onclick: () => this.showName(number) }, element("bdi", {}, short))
        : element("bdi", { title: whole }, short);
      return element("th", { scope: "row", class: kind }, inside);
    }
    if (kind === "share") {
      const bar = element("span", { class: "bar", "aria-hidden": "true" });
      bar.style.width = `${Math.round(100 * (value ?? 0))}%`;
      return element("td", { class: kind }, element("span", { class: "figure-of-bar" }, value === null ? "–" : share(value)), bar);
    }
    if (kind === "line") return element("td", { class: kind }, ...this.lines(value, kind));
    const write = { count: grouped, seconds: (one) => time(one * 1e9), bytes: size }[kind];
    return element("td", { class: kind }, value === null || value === undefined ? "–" : write(value));
  }

  /** Sentences all of them; of other lists the first, and the others on demand. */
  lines(value, kind) {
    const lines = String(value ?? "").split("\n").filter(Boolean);
    const shown = lines.map((line) => element("div", { title: kind === "line" ? line : null }, element("bdi", {}, line)));
    if (kind === "text" || shown.length < 2) return shown;
    const more = told("more_lines", { count: shown.length - 1 });
    return [shown[0], element("details", {}, element("summary", {}, more), ...shown.slice(1))];
  }
}
