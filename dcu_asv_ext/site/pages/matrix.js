"use strict";
/* The experiment matrix of one commit: all that is known of how each result was made, a row each. */
(() => {
  const { el, text, sides, matrixColumns: columns } = dcu;

  // ---- which one

  function chosen({ place, commit }) {
    const there = dcu.index.matrices;
    const wanted = place ? dcu.find.place(place) : null;
    const newestFirst = [...there].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const pi = there.some((one) => one[0] === wanted) ? wanted : newestFirst[0][0];
    const commits = newestFirst.filter((one) => one[0] === pi).map((one) => one[1]);
    const asked = commit ? dcu.find.commit(commit) : null;
    const ci = commits.includes(asked) ? asked : commits[0];
    const faults = [];
    if (place && pi !== wanted) faults.push(text("matrix.no-place", { place }));
    if (commit && ci !== asked) faults.push(text("matrix.no-commit", { commit }));
    return { pi, ci, commits, faults };
  }

  function choices({ pi, ci, commits }) {
    const places = [...new Set(dcu.index.matrices.map((one) => one[0]))].sort((a, b) => a - b);
    const go = (name) => (value) => dcu.router.change({ [name]: value }, true);
    return el("div", { class: "choices" },
      dcu.choice({
        label: text("place"), name: "place", value: dcu.index.places[pi].key, chosen: go("place"),
        options: places.map((one) => [dcu.index.places[one].key, dcu.placeName(one)]),
      }),
      dcu.choice({
        label: text("matrix.commit"), name: "commit", value: sides.short(ci), chosen: go("commit"),
        options: commits.map((one) => [sides.short(one), sides.called(one)]),
      }));
  }

  // ---- which variables differ

  function experiments(data) {
    const whole = (data.experiments || []).filter((one) => !one.part);
    const told = new Map();
    for (const one of whole) told.set(one.sentence, [...(told.get(one.sentence) || []), one]);
    const names = (found) => el("ul", {}, found.map((one) => el("li", {}, dcu.benchmarkName(one.benchmark, one.params))));
    const item = ([sentence, found]) => el("li", { class: found[0].single ? null : "note" },
      el("span", {}, sentence),
      el("details", {}, el("summary", {}, text("matrix.benchmarks", { count: found.length })), names(found)));
    return el("section", { "aria-labelledby": "matrix-differs" }, el("h2", { id: "matrix-differs" }, text("matrix.differs")),
      told.size ? el("ul", { class: "experiments" }, [...told].map(item)) : el("p", {}, text("matrix.one-variant")));
  }

  // ---- the columns that are shown

  function usual(data, groups) {
    const has = groups.flatMap((one) => one.columns);
    const variants = new Set(data.rows.map((row) => row.variant)).size > 1;
    return has.filter((one) => columns.USUAL.includes(one.key) || (variants && one.key === "variant")).map((one) => one.key);
  }

  /* Checkboxes of all columns that have a value in some row. */
  function columnChoice(groups, keys, act) {
    const box = (column, several) => {
      const input = el("input", { type: "checkbox", name: `column ${column.key}`, checked: keys.has(column.key), onchange: () => {
        if (input.checked) keys.add(column.key);
        else keys.delete(column.key);
        act();
      } });
      return el("label", { class: "check" }, input, several ? `${column.group}: ${column.title}` : column.title);
    };
    const metrics = ["clocks", "memory", "correctness", "profile", "other"];
    const set = ({ name, columns: own }) =>
      el("fieldset", {}, el("legend", {}, text(`matrix.group.${name}`)), own.map((one) => box(one, metrics.includes(name))));
    return el("details", { class: "columns" },
      el("summary", {}, text("matrix.choose")), el("div", {}, groups.filter((one) => one.columns.length).map(set)),
      el("button", { type: "button", name: "usual columns", onclick: () => dcu.router.change({ columns: null }) }, text("matrix.usual")));
  }

  // ---- export

  /* What of the experiments holds among some of the rows, by their places there. */
  function experimentsOf(data, rows) {
    const place = new Map(rows.map((row, at) => [data.rows.indexOf(row), at]));
    const within = (data.experiments || []).filter((one) => one.rows.every((at) => place.has(at)));
    return within.map((one) => ({ ...one, rows: one.rows.map((at) => place.get(at)) }));
  }

  function writers(data) {
    const names = Object.keys(data.rows[0] || {});
    return {
      csv: (rows) => dcu.matrixFiles.csv(rows, names),
      json: (rows) => dcu.matrixFiles.whole(rows, { experiments: experimentsOf(data, rows), notes: data.notes || [] }),
    };
  }

  // ---- the page

  function table(state, found, data) {
    const all = columns.groups(Object.keys(data.rows[0] || {}), found.pi);
    const groups = all.map((one) => ({ ...one, columns: one.columns.filter((column) => data.rows.some(column.has)) }));
    const wanted = state.query.columns === undefined ? usual(data, groups) : state.query.columns.split(",");
    const keys = new Set(wanted);
    const box = el("div", {});
    const fill = () => box.replaceChildren(dcu.table({
      columns: [columns.first(found.pi), ...groups.flatMap((one) => one.columns).filter((one) => keys.has(one.key))],
      rows: data.rows, caption: text("matrix.caption", { commit: sides.short(found.ci) }), hideCaption: true, filter: true, state: "rows",
      csv: `matrix-${dcu.index.places[found.pi].machine}-${sides.short(found.ci)}`, write: writers(data),
    }));
    const act = () => {
      dcu.router.note({ columns: [...keys].join(",") || "benchmark" });
      fill();
    };
    fill();
    const empty = all.flatMap((one) => one.columns).length - groups.flatMap((one) => one.columns).length;
    return [columnChoice(groups, keys, act), empty ? el("p", { class: "quiet" }, text("matrix.empty-columns", { count: empty })) : null, box];
  }

  async function show(state, main) {
    main.append(dcu.heading(text("matrix.title")));
    if (!dcu.index.matrices.length) {
      main.append(dcu.nothing(text("matrix.none")), dcu.copyable("dcu-asv matrix"));
      return;
    }
    const found = chosen(state.query);
    const data = await dcu.load(`m/${found.pi}-${sides.short(found.ci)}`);
    main.append(choices(found), ...found.faults.map((one) => el("p", { class: "note", role: "alert" }, one)));
    main.append(el("p", {}, text("matrix.about")), experiments(data));
    main.append(el("h2", {}, text("matrix.rows")), ...table(state, found, data).filter(Boolean));
    if (data.notes && data.notes.length) main.append(el("h2", {}, text("matrix.notes")), el("ul", {}, data.notes.map((one) => el("li", {}, one))));
  }

  dcu.pages.set("matrix", { show });
})();
