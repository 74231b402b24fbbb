"use strict";
/* Tables that can be sorted, filtered and taken away. */
(() => {
  const { el, text } = dcu;
  const PAGE = 200;
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  const absent = (value) => value === null || value === undefined || value === "" || Number.isNaN(value);

  /* What is missing comes last, whichever way. */
  function compare(a, b, way) {
    if (absent(a) || absent(b)) return Number(absent(a)) - Number(absent(b));
    if (typeof a === "number" && typeof b === "number") return way * (a - b);
    return way * collator.compare(String(a), String(b));
  }

  /* A spreadsheet takes a text that begins with one of these for a formula; names may come from anybody. */
  const FORMULA = /^[=+\-@\t\r]/;

  function csvField(value) {
    if (absent(value)) return "";
    const plain = String(value);
    const safe =
      typeof value === "number" || !FORMULA.test(plain) || Number.isFinite(Number(plain)) ? plain : `'${plain}`;
    return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
  }

  function toCsv(columns, rows) {
    const lines = [
      columns.map((one) => csvField(one.key)),
      ...rows.map((row) => columns.map((one) => csvField(one.value(row)))),
    ];
    return lines.map((fields) => fields.join(",")).join("\r\n") + "\r\n";
  }

  function toJson(columns, rows) {
    const plain = rows.map((row) =>
      Object.fromEntries(columns.map((one) => [one.key, absent(one.value(row)) ? null : one.value(row)])),
    );
    return JSON.stringify(plain, null, 1) + "\n";
  }

  /* A column with all that may be left out. */
  function whole(column) {
    const value = column.value || ((row) => row[column.key]);
    const shown = (row) => (absent(value(row)) ? dcu.format.NONE : String(value(row)));
    return {
      ...column,
      value,
      order: column.order || value,
      cell: column.cell || shown,
      text: column.text || ((row) => (absent(value(row)) ? "" : String(value(row)))),
    };
  }

  class Table {
    constructor({
      columns,
      rows,
      caption,
      filter = false,
      csv = "",
      sort = null,
      state = "",
      empty = "",
      rowClass = null,
      hideCaption = false,
      write = {},
    }) {
      Object.assign(this, { rows, caption, csv, state, rowClass, first: 0 });
      this.exported = columns.map(whole);
      this.columns = this.exported.filter((one) => !one.hidden);
      this.write = {
        csv: (found) => toCsv(this.exported, found),
        json: (found) => toJson(this.exported, found),
        ...write,
      };
      this.empty = empty || text("table.empty");
      const query = state ? dcu.router.state().query : {};
      const [key, way] = (query[`${state}.sort`] || "").split(":");
      this.sort = this.columns.some((one) => one.key === key) ? [key, way === "desc" ? "desc" : "asc"] : sort;
      this.words = filter ? query[`${state}.find`] || "" : "";
      this.element = this.build(filter, hideCaption);
      this.fill();
    }

    build(filter, hideCaption) {
      this.body = el("tbody", {});
      this.heads = this.columns.map((column) => this.head(column));
      const table = el(
        "table",
        {},
        el("caption", { class: hideCaption ? "unseen" : null }, this.caption),
        this.headings(),
        this.body,
      );
      this.found = el("span", { class: "found", role: "status" });
      this.pages = el("div", { class: "pager" });
      const tools =
        (filter || this.csv) &&
        el("div", { class: "tools" }, filter && this.filterBox(), this.found, this.csv && this.exports());
      const box = el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": this.caption }, table);
      return el("div", { class: "table" }, tools || null, box, this.pages);
    }

    /* The heads, below those of their groups where columns have some. */
    headings() {
      const heads = el("tr", {}, this.heads);
      if (!this.columns.some((one) => one.group)) return el("thead", {}, heads);
      const groups = [];
      for (const { group = "" } of this.columns) {
        if (groups.length && groups[groups.length - 1][0] === group) groups[groups.length - 1][1] += 1;
        else groups.push([group, 1]);
      }
      const cell = ([group, span]) =>
        group ? el("th", { scope: "colgroup", colspan: span, class: "group" }, group) : el("td", { colspan: span });
      return el("thead", {}, el("tr", { class: "groups" }, groups.map(cell)), heads);
    }

    head(column) {
      const button = el(
        "button",
        { type: "button", title: column.help || null, onclick: () => this.sortBy(column) },
        column.title,
        el("span", { class: "way", "aria-hidden": "true" }),
      );
      return el(
        "th",
        { scope: "col", class: column.numeric ? "numeric" : null, "data-key": column.key },
        button,
        column.below,
      );
    }

    filterBox() {
      const input = el("input", { type: "search", value: this.words, autocomplete: "off", spellcheck: "false" });
      input.addEventListener("input", () => {
        this.words = input.value;
        this.first = 0;
        this.keep();
        this.fill();
      });
      return el("label", { class: "choice" }, el("span", {}, text("table.filter")), input);
    }

    exports() {
      const button = (kind, type) =>
        el(
          "button",
          {
            type: "button",
            onclick: () => dcu.download(`${this.csv}.${kind}`, this.write[kind](this.chosen()), type),
          },
          text(`table.${kind}`),
        );
      return el("span", { class: "exports" }, button("csv", "text/csv"), button("json", "application/json"));
    }

    sortBy(column) {
      const [key, way] = this.sort || [];
      const other = way === "asc" ? "desc" : "asc";
      this.sort = [column.key, key === column.key ? other : column.numeric ? "desc" : "asc"];
      this.first = 0;
      this.keep();
      this.fill();
    }

    /* Sort and filter are part of the address where the table has a name there. */
    keep() {
      if (this.state)
        dcu.router.note({ [`${this.state}.sort`]: (this.sort || []).join(":"), [`${this.state}.find`]: this.words });
    }

    /* The rows that the filter leaves, in order. */
    chosen() {
      const words = this.words.toLowerCase().split(/\s+/).filter(Boolean);
      const matches = (row) => {
        const all = this.columns
          .map((one) => one.text(row))
          .join("\n")
          .toLowerCase();
        return words.every((word) => all.includes(word));
      };
      const left = words.length ? this.rows.filter(matches) : [...this.rows];
      const column = this.sort && this.columns.find((one) => one.key === this.sort[0]);
      if (!column) return left;
      const way = this.sort[1] === "desc" ? -1 : 1;
      return left
        .map((row) => [column.order(row), row])
        .sort((a, b) => compare(a[0], b[0], way))
        .map(([, row]) => row);
    }

    fill() {
      const rows = this.chosen();
      this.heads.forEach((head) => {
        const mine = this.sort && head.dataset.key === this.sort[0];
        if (mine) head.setAttribute("aria-sort", this.sort[1] === "desc" ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
      this.body.replaceChildren(...rows.slice(this.first, this.first + PAGE).map((row) => this.row(row)));
      if (!rows.length) {
        const told = this.rows.length ? text("table.no-match") : this.empty;
        this.body.append(el("tr", {}, el("td", { colspan: this.columns.length, class: "quiet" }, told)));
      }
      this.found.textContent =
        rows.length === this.rows.length
          ? text("table.rows", { count: rows.length })
          : text("table.found", { count: rows.length, all: this.rows.length });
      this.fillPages(rows.length);
    }

    row(row) {
      const cells = this.columns.map((column, place) =>
        el(
          place ? "td" : "th",
          { scope: place ? null : "row", class: column.numeric ? "numeric" : null },
          column.cell(row),
        ),
      );
      return el("tr", { class: this.rowClass ? this.rowClass(row) : null }, cells);
    }

    fillPages(count) {
      if (count <= PAGE) {
        this.pages.replaceChildren();
        return;
      }
      const go = (first) => () => {
        this.first = first;
        this.fill();
        this.element.scrollIntoView({ block: "start" });
        this.element.querySelector(".scroll").focus({ preventScroll: true });
      };
      this.pages.replaceChildren(
        el(
          "button",
          { type: "button", disabled: this.first === 0, onclick: go(this.first - PAGE) },
          text("table.back"),
        ),
        el(
          "span",
          {},
          text("table.range", { from: this.first + 1, to: Math.min(this.first + PAGE, count), all: count }),
        ),
        el(
          "button",
          { type: "button", disabled: this.first + PAGE >= count, onclick: go(this.first + PAGE) },
          text("table.on"),
        ),
      );
    }
  }

  /* A real table in a box of its own that scrolls.
     columns: [{key, title, value(row) for sorting and export (default row[key]), cell(row) -> node or text, numeric,
     text(row) for the filter where `value` is not what is read, order(row) for sorting where `value` is not what is
     sorted by, help, hidden: exported alone, group: a heading above it and its neighbours, below: what stands
     below its title}]; the first one names the row.
     caption; filter: with a box to filter; csv: name of the exported files; sort: [key, "asc"|"desc"];
     state: a name under which sort and filter are kept in the address; empty: what is said where there are no rows;
     write: {csv(rows), json(rows)} where the files are not made of the columns; rowClass(row); hideCaption: for screen
     readers alone, where a heading says the same. */
  dcu.table = (options) => new Table(options).element;
})();
