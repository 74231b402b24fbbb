"use strict";
/* All that changed on a branch. */
(() => {
  const { el, text } = dcu;
  const KINDS = ["regression", "improvement", "event", "set-up", "restart"];

  async function show(state, main) {
    const changes = await dcu.load("changes");
    main.append(dcu.heading(text("changes.title")));
    const names = changes.branches.map((one) => one.name);
    const name = state.query.branch || names[0];
    const branch = changes.branches.find((one) => one.name === name);
    if (!branch) {
      main.append(dcu.nothing(names.length ? text("changes.no-branch", { name }) : text("changes.no-branches")));
      return;
    }
    const all = dcu.changeRows(changes, name);
    main.append(el("p", { class: "quiet" }, text("changes.about")), choices(state, names, name, all));
    const rows = all.filter((row) => wanted(row, state.query));
    if (all.length) {
      main.append(
        dcu.changeTable(rows, {
          branch: name,
          caption: text("changes.caption", { name }),
          state: "t",
          filter: true,
          csv: `changes-${name}`,
        }),
      );
    } else {
      main.append(dcu.nothing(dcu.changeRows.why(changes, name)));
    }
    if (all.length && branch.too_short)
      main.append(el("p", { class: "quiet" }, text("changes.short", { count: branch.too_short })));
    if (branch.notes.length)
      main.append(
        el(
          "ul",
          { class: "notes" },
          branch.notes.map((one) => el("li", {}, one)),
        ),
      );
  }

  function choices(state, names, name, rows) {
    const { query } = state;
    const distinct = (of) => [...new Set(rows.map(of).filter(Boolean))].sort();
    const places = distinct((row) => (row.place === null ? "" : dcu.index.places[row.place].key)).map((key) => [
      key,
      dcu.placeName(dcu.find.place(key)),
    ]);
    const metrics = distinct((row) => row.metric).map((one) => [one, one]);
    const kinds = KINDS.map((kind) => [kind, rows.filter((row) => row.what === kind).length]).map(([kind, count]) => [
      kind,
      text("changes.kind", { kind: kindName(kind), count }),
    ]);
    const any = [["", text("all")]];
    return el(
      "div",
      { class: "choices" },
      dcu.choice({ label: text("branch"), name: "branch", options: names.map((one) => [one, one]), value: name }),
      dcu.choice({ label: text("changes.what"), name: "what", options: [...any, ...kinds], value: query.what || "" }),
      places.length > 1 &&
        dcu.choice({ label: text("place"), name: "place", options: [...any, ...places], value: query.place || "" }),
      metrics.length > 1 &&
        dcu.choice({
          label: text("changes.metric"),
          name: "metric",
          options: [...any, ...metrics],
          value: query.metric || "",
        }),
      dcu.choice({
        label: text("changes.sure"),
        name: "sure",
        options: [...any, ["pending", text("changes.pending")], ["believed", text("changes.believed")]],
        value: query.sure || "",
      }),
    );
  }

  const kindName = (kind) =>
    text(["event", "set-up", "restart"].includes(kind) ? `changes.${kind}` : `verdict.${kind}`);

  function wanted(row, { what, place, metric, sure }) {
    return (
      (!what || row.what === what) &&
      (!place || (row.place !== null && dcu.index.places[row.place].key === place)) &&
      (!metric || row.metric === metric) &&
      (!sure || row.pending === (sure === "pending"))
    );
  }

  dcu.pages.set("changes", { show });
})();
