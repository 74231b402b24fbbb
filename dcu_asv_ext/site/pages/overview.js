"use strict";
/* The newest measured commit of each machine and environment, against the commit before it or another base. */
(() => {
  const { el, text, format } = dcu;
  const { TILES, keyOf, baseName, baseOf, closed, count } = dcu.overviewPlace;
  const LATELY = 10;

  async function show(state, main) {
    const [overview, changes] = await Promise.all([dcu.load("overview"), dcu.load("changes")]);
    main.append(dcu.heading(text("overview.title")));
    const names = overview.branches.map((one) => one.name);
    const name = state.query.branch || names[0];
    const branch = overview.branches.find((one) => one.name === name);
    if (!branch) {
      main.append(dcu.nothing(names.length ? text("overview.no-branch", { name }) : text("overview.no-branches")));
      return;
    }
    const bases = basesOf(branch.heads);
    const base = bases.some(([key]) => key === state.query.base) ? state.query.base : "predecessor";
    const chosen = dcu.find.place(state.query.place || "");
    main.append(choices(state, names, name, branch, bases, base), ...inVain(state.query, base, chosen));
    const heads = chosen === null ? branch.heads : branch.heads.filter((one) => one.place === chosen);
    if (!heads.length) main.append(dcu.nothing(text("overview.not-measured", { name }), dcu.copyable("asv run NEW")));
    if (heads.length > 1) main.append(summary(state, heads, base));
    for (const head of heads) main.append(dcu.overviewPlace.section(head, base, name));
    main.append(lately(changes, name, chosen));
    if (dcu.index.notes.length) main.append(notes());
  }

  // ---- what is chosen

  /* What the address asks for and this site does not have. */
  function inVain(query, base, place) {
    const told = [
      query.base && query.base !== base && text("overview.unknown-base", { base: query.base }),
      query.place && place === null && text("overview.unknown-place", { place: query.place }),
    ];
    return told.filter(Boolean).map((one) => el("p", { class: "note" }, one));
  }

  /* [key, text] of every base of some head, the predecessor first. */
  function basesOf(heads) {
    const found = new Map([["predecessor", text("overview.predecessor")]]);
    for (const head of heads) for (const base of head.bases) found.set(keyOf(base), baseName(base));
    return [...found];
  }

  function choices(state, names, name, branch, bases, base) {
    const places = branch.heads.map((head) => [dcu.index.places[head.place].key, dcu.placeName(head.place)]);
    return el(
      "div",
      { class: "choices" },
      dcu.choice({ label: text("branch"), name: "branch", options: names.map((one) => [one, one]), value: name }),
      dcu.choice({ label: text("overview.against"), name: "base", options: bases, value: base }),
      places.length > 1 &&
        dcu.choice({
          label: text("place"),
          name: "place",
          options: [["", text("all")], ...places],
          value: state.query.place || "",
        }),
    );
  }

  // ---- several places at a glance

  /* A count that stands out if it is not 0; a dash where nothing was compared. */
  const figure = (found, kind) =>
    el("span", { class: found ? `figure ${kind}` : "quiet" }, found === null ? format.NONE : found);

  function summary(state, heads, key) {
    const number = (name, title, kind, value) => ({
      key: name,
      title,
      numeric: true,
      value,
      cell: (head) => figure(value(head), kind),
    });
    const counted = (word) =>
      number(word, text(`overview.count.${word}`), dcu.verdict.kind(word), (head) => count(baseOf(head, key), word));
    const columns = [
      {
        key: "place",
        title: text("place"),
        value: (head) => dcu.placeName(head.place),
        cell: (head) =>
          el(
            "a",
            {
              class: "name",
              href: dcu.router.link("overview", [], { ...state.query, place: dcu.index.places[head.place].key }),
            },
            dcu.placeName(head.place),
          ),
      },
      {
        key: "commit",
        title: text("overview.newest"),
        value: (head) => dcu.index.commits[head.commit][1],
        cell: (head) => [dcu.commitLink(head.commit), " ", format.date(dcu.index.commits[head.commit][1])],
        text: (head) => dcu.index.commits[head.commit][0],
      },
      ...TILES.map(counted),
      number("gates", text("overview.gates"), "failed", (head) => closed(baseOf(head, key))),
      number("wrong", text("overview.wrong"), "failed", (head) => head.wrong.length),
      number("failed", text("overview.failures"), "failed", (head) => head.failed.length),
    ];
    return dcu.table({ columns, rows: heads, caption: text("overview.summary"), csv: "overview", state: "s" });
  }

  // ---- what else

  function lately(changes, name, place) {
    const found = dcu.changeRows(changes, name).filter((one) => place === null || one.place === place);
    const heading = el("h2", {}, text("overview.lately"));
    const way = el(
      "p",
      {},
      el(
        "a",
        { href: dcu.router.link("changes", [], { branch: name }) },
        text("overview.all-changes", { count: found.length }),
      ),
    );
    const shown = found.length
      ? dcu.changeTable(found.slice(0, LATELY), { branch: name, caption: text("overview.lately-caption"), state: "" })
      : dcu.nothing(dcu.changeRows.why(changes, name));
    return el("section", { class: "lately" }, heading, shown, way);
  }

  function notes() {
    const told = dcu.index.notes.map((one) => el("li", {}, one));
    return el("section", {}, el("h2", {}, text("overview.notes")), el("ul", { class: "notes" }, told));
  }

  dcu.pages.set("overview", { show });
})();
