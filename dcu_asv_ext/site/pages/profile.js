"use strict";
/* The page of a kept profile: #/profile/<slug>/<place>/<commit>?params&round&call. */
(() => {
  const { el, text, format, evidence, profile } = dcu;
  const { number, object } = evidence;

  const digestOf = (record, call) => object(record, "profile", ...(call === "first" ? ["first_call"] : []));
  const isProfiled = (row) => ["", "first"].some((call) => number(digestOf(row.record, call), "steps") !== null);

  /* The profiled rounds of an entry, newest first. */
  const profiled = (entry) => (entry ? entry.rows.filter(isProfiled).reverse() : []);

  /* What a round is called in the address: several sessions have rounds of one number. */
  const nameOf = ({ record, derived }) => `${derived.session}.${record.round}`;

  const quoted = (word) => `'${word.replace(/'/g, "'\\''")}'`;

  /* Values without the quotes that asv has around texts. */
  const bare = (value) => value.replace(/^(['"])(.*)\1$/, "$2");

  function bench(fn, params) {
    return quoted(params.length ? `${fn.name}(${params.map(bare).join(", ")})` : fn.name);
  }

  /* ---- the timeline */

  function timeline(view, row) {
    const told = view.found.traces.find((one) => one.params.join("\n") === view.params.join("\n"));
    if (told) {
      const address = told.file.split("/").map(encodeURIComponent).join("/");
      return evidence.section("timeline", text("profile.timeline"),
        el("p", {}, el("a", { href: address, target: "_blank", rel: "noopener" }, text("profile.open-timeline", { size: format.bytes(told.bytes) }))),
        el("iframe", { class: "timeline", src: address, loading: "lazy", title: text("profile.timeline-of", { name: evidence.title(view.fn, view.params) }) }));
    }
    const trace = digestOf(row.record, view.call).trace;
    const folder = view.entry.file.replace(/\.evidence\.jsonl(\.gz)?$/, ".traces");
    const kept = trace ? `dcu-asv profile ${quoted(`results/${folder}/${trace}`)} --html timeline.html` : null;
    return evidence.section("timeline", text("profile.timeline"), evidence.quiet(text(kept ? "profile.no-timeline" : "profile.no-trace")),
      dcu.copyable(kept || `dcu-asv profile ${bench(view.fn, view.params)} --commit ${evidence.hash8(view.ci)} --html timeline.html`));
  }

  /* ---- other commits */

  /* The nearest commit before or after that has a profile of these parameters; evidence alone has some. */
  async function neighbour(view, order, way) {
    for (let at = order.indexOf(view.ci) + way; at >= 0 && at < order.length; at += way) {
      if (!evidence.filesOf(view.fn, view.pi, order[at]).length) continue;
      const { entries } = await evidence.load(view.fn, view.pi, order[at]);
      if (profiled(entries.find((one) => one.params.join("\n") === view.params.join("\n"))).length) return order[at];
    }
    return null;
  }

  /* The commit itself between its neighbours that have a profile. */
  async function stepping(view, order) {
    const found = await Promise.all([neighbour(view, order, -1), neighbour(view, order, 1)]);
    return [found[0], view.ci, found[1]].filter((one) => one !== null);
  }

  const comparison = (view, before) => evidence.section("compare", text("profile.compare"), evidence.quiet(text("profile.compare-about", { commit: evidence.hash8(before) })),
    dcu.copyable(`dcu-asv profile ${bench(view.fn, view.params)} --compare ${evidence.hash8(before)} ${evidence.hash8(view.ci)}`));

  /* ---- the page */

  function choices(view, rows) {
    const names = view.fn.params.map((one) => one.name);
    const entries = view.found.entries.filter((one) => profiled(one).length);
    const rounds = rows.map((row) => [nameOf(row), text("profile.round-of", { round: row.record.round, started: evidence.readableTime(row.record.started_at) })]);
    const calls = [["", "profile.steady-calls"], ["first", "profile.first-call"]].filter(([call]) => number(digestOf(view.row.record, call), "steps") !== null);
    return el("div", { class: "choices" },
      evidence.placeChoice("profile", view),
      entries.length > 1 && dcu.choice({ label: text("evidence.params"), name: "params", options: entries.map((one) => [one.params.join(","), format.params(names, one.params)]), value: view.params.join(","), chosen: (value) => dcu.router.change({ params: value, round: null, call: null }) }),
      rounds.length > 1 && dcu.choice({ label: text("evidence.rounds"), name: "round", options: rounds, value: nameOf(view.row) }),
      calls.length > 1 && dcu.choice({ label: text("profile.calls"), name: "call", options: calls.map(([call, key]) => [call, text(key)]), value: view.call }));
  }

  function without(main, view, order) {
    const reasons = [...new Set((view.entry ? view.entry.rows : []).flatMap(({ record }) => Object.values(object(record, "profile", "missing"))))];
    main.append(dcu.heading(evidence.title(view.fn, view.params)), evidence.about(view), evidence.ways("profile", view, order, [toEvidence(view)]),
      dcu.nothing(text("profile.none"), reasons.map((reason) => el("p", {}, String(reason))),
        dcu.copyable(`dcu-asv profile ${bench(view.fn, view.params)} --commit ${evidence.hash8(view.ci)}`)));
  }

  const toEvidence = (view) => el("a", { href: dcu.router.link("evidence", view.state.path, { params: view.params.join(","), branch: view.state.query.branch }) }, text("profile.to-evidence"));

  /* What the address asks for and is not there. */
  function inVain({ fn, params, row, state: { query } }) {
    const told = [
      query.params !== undefined && query.params !== params.join(",") &&
        text("evidence.no-params", { params: query.params || format.NONE, shown: evidence.title(fn, params) }),
      query.round && query.round !== nameOf(row) && text("profile.no-round", { round: query.round }),
    ];
    return told.filter(Boolean).map((one) => el("p", { class: "note" }, one));
  }

  async function show(state, main) {
    const where = { ...evidence.meant(state.path), state };
    const [lines, found] = await Promise.all([evidence.linesOf(where.fn, where.pi), evidence.load(where.fn, where.pi, where.ci)]);
    const asked = found.entries.find((one) => one.params.join(",") === state.query.params);
    const entry = asked || found.entries.find((one) => profiled(one).length) || found.entries[0] || null;
    const rows = profiled(entry);
    const view = { ...where, found, entry, params: entry ? entry.params : [] };
    const order = await stepping(view, evidence.measured(lines, where.ci, state.query.branch));
    if (!rows.length) {
      without(main, view, order);
      return;
    }
    view.row = rows.find((row) => nameOf(row) === state.query.round) || rows[0];
    view.call = number(digestOf(view.row.record, state.query.call), "steps") !== null && state.query.call === "first" ? "first" : number(digestOf(view.row.record, ""), "steps") === null ? "first" : "";
    const { record } = view.row;
    const digest = digestOf(record, view.call);
    const file = `${where.fn.slug}-${evidence.hash8(where.ci)}`;
    const why = object(digest, "missing").device || object(digest, "missing").rows || object(digest, "missing").kernel_count;
    const sections = [
      profile.figuresPart(record, digest, where.fn, file), profile.findingsPart(digest),
      ...Object.keys(profile.TABLES).map((name) => profile.section(name, digest, file, name === "operators" ? "" : why)),
      timeline(view, view.row), order[0] !== where.ci && comparison(view, order[0]),
    ].filter(Boolean);
    main.append(dcu.heading(evidence.title(where.fn, view.params)), evidence.about(where), evidence.ways("profile", view, order, [toEvidence(view)]), choices(view, rows), ...inVain(view), evidence.contents(sections), ...sections);
  }

  dcu.pages.set("profile", { show });
})();
