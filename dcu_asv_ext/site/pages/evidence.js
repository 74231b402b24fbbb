"use strict";
/* The page of one measurement: #/evidence/<slug>/<place>/<commit>?params&session&round&pass&scale. */
(() => {
  const { el, text, format, evidence } = dcu;

  /* What an address means; throws a sentence for what this site does not have. */
  function meant(path) {
    const [slug, key, hash] = path;
    if (path.length < 3) throw new Error(text("evidence.no-address"));
    const fn = dcu.find.fn(slug);
    const pi = dcu.find.place(key);
    const ci = dcu.find.commit(hash);
    if (fn === null) throw new Error(text("evidence.no-function", { name: slug }));
    if (pi === null || !fn.places[pi]) throw new Error(text("evidence.no-place", { name: fn.label, place: key }));
    if (ci === null) throw new Error(text("evidence.no-commit", { commit: hash }));
    return { fn, pi, ci };
  }

  /* The function's series at a place, whichever files they lie in. */
  async function linesOf(fn, pi) {
    const parts = await Promise.all(fn.places[pi].parts.map((key) => dcu.load(key)));
    return parts.flatMap((part) => part.lines);
  }

  /* The commits at which there is a value, in the order of a branch that has this one; this one is among them. */
  function measured(lines, ci, name) {
    const having = new Set(lines.flatMap((line) => [
      ...line.timelines.flatMap((one) => one.commits),
      ...line.failed.map(([one]) => one),
    ]));
    const holding = dcu.index.branches.filter((one) => one.commits.includes(ci));
    const branch = holding.find((one) => one.name === name) || holding[0];
    const order = branch ? branch.commits : dcu.index.commits.map((_, place) => place);
    return order.filter((one) => one === ci || having.has(one));
  }

  const hash8 = (ci) => dcu.index.commits[ci][0].slice(0, 8);

  /* The parameters as entries of other pages' addresses; the page of a benchmark takes several values of each. */
  function paramsQuery(fn, params, told = (value) => value) {
    return Object.fromEntries(params.map((value, place) => [`p.${(fn.params[place] || {}).name || place}`, told(value)]));
  }

  /* Links to the commits before and after, and to the other views of the same. */
  function ways(page, { fn, pi, ci, params, state }, order, more = []) {
    const place = dcu.index.places[pi].key;
    const at = order.indexOf(ci);
    const [before, after] = [order[at - 1], order[at + 1]];
    const kept = { params: params.join(","), branch: state.query.branch, pass: state.query.pass, scale: state.query.scale };
    const step = (to, key) => to !== undefined && el("a", { class: "evidence-step", href: dcu.router.link(page, [fn.slug, place, hash8(to)], kept) }, text(`evidence.${key}`, { commit: hash8(to) }));
    const links = [
      el("a", { href: dcu.router.link("benchmark", [fn.slug], { place, branch: state.query.branch, ...paramsQuery(fn, params, dcu.alone) }) }, text("evidence.to-benchmark")),
      before !== undefined && el("a", { href: dcu.router.link("compare", [], { place, before: hash8(before), after: hash8(ci), benchmark: fn.name, ...paramsQuery(fn, params) }) }, text("evidence.to-compare", { commit: hash8(before) })),
      ...more,
      dcu.index.matrices.some(([one, commit]) => one === pi && commit === ci) && el("a", { href: dcu.router.link("matrix", [], { place, commit: hash8(ci) }) }, text("evidence.to-matrix")),
    ];
    return el("nav", { class: "evidence-ways", "aria-label": text("evidence.ways") }, el("ul", {}, [step(before, "earlier"), step(after, "later"), ...links].filter(Boolean).map((one) => el("li", {}, one))));
  }

  /* What commit, machine and environment this is. */
  function about({ pi, ci }) {
    const [, date, subject] = dcu.index.commits[ci];
    const place = dcu.index.places[pi];
    const tags = dcu.index.tags.filter(([, one]) => one === ci).map(([name]) => name);
    return evidence.facts([
      [text("evidence.commit"), [dcu.commitLink(ci), ` ${format.date(date)} ${subject || ""}`, tags.map((name) => el("span", { class: "evidence-tag" }, name))]],
      [text("place"), `${place.machine}, ${place.env}`],
      place.product || place.device ? [text("evidence.device"), [place.product, place.device && `(${place.device})`].filter(Boolean).join(" ")] : ["", null],
    ]);
  }

  const title = (fn, params) => (params.length ? `${fn.label}(${format.params(fn.params.map((one) => one.name), params)})` : fn.label);

  /* The same commit on other machines. */
  function placeChoice(page, { fn, pi, ci, state }) {
    const places = Object.keys(fn.places).map(Number);
    const go = (key) => {
      location.hash = dcu.router.link(page, [fn.slug, key, hash8(ci)], { ...state.query, session: null, round: null });
    };
    const named = (one) => [dcu.index.places[one].key, dcu.placeName(one)];
    return places.length > 1 && dcu.choice({ label: text("place"), name: "place", options: places.map(named), value: dcu.index.places[pi].key, chosen: go });
  }

  /* The choices of machine, parameters, session and round: entries of the address. */
  function choices(view) {
    const { fn, found, entry, all, session, round } = view;
    const names = fn.params.map((one) => one.name);
    const params = found.entries.map((one) => [one.params.join(","), format.params(names, one.params)]);
    const started = (one) => readableTime(one.rows[0].record.started_at);
    const sessions = all.map((one, place) => [one.name, text(one.quick ? "evidence.session-quick" : "evidence.session-of", {
      number: place + 1, all: all.length, rounds: one.rows.length, when: started(one),
    })]);
    const rounds = [["", text("evidence.all-rounds", { count: session.rows.length })], ...session.rows.map(({ record }) => [String(record.round), text("evidence.round", { round: record.round })])];
    return el("div", { class: "choices" },
      placeChoice("evidence", view),
      params.length > 1 && dcu.choice({ label: text("evidence.params"), name: "params", options: params, value: entry.params.join(","), chosen: (value) => dcu.router.change({ params: value, session: null, round: null }) }),
      sessions.length > 1 && dcu.choice({ label: text("evidence.session"), name: "session", options: sessions, value: session.name, chosen: (value) => dcu.router.change({ session: value, round: null }) }),
      rounds.length > 2 && dcu.choice({ label: text("evidence.rounds"), name: "round", options: rounds, value: round === null ? "" : String(round) }));
  }

  /* "2026-11-30 12:00:05 UTC" of an ISO time; what is none stays as it is. */
  function readableTime(told) {
    const time = Date.parse(/[Zz]|[+-]\d\d:?\d\d$/.test(told || "") ? told : `${told}Z`);
    return Number.isNaN(time) ? String(told || format.NONE) : `${new Date(time).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  }

  /* The view of an address: what is chosen of the evidence. */
  function view(state, where, found) {
    const entry = evidence.chosen(found.entries, state.query.params);
    const all = evidence.sessions(entry.rows);
    const session = all.find((one) => one.name === state.query.session) || evidence.newest(all);
    const one = session.rows.filter(({ record }) => String(record.round) === state.query.round);
    return { ...where, state, found, entry, params: entry.params, all, session, round: one.length ? one[0].record.round : null, rows: one.length ? one : session.rows };
  }

  /* Whether parameters are meant that were measured, and have no evidence where others have some. */
  function elsewhere({ fn, pi }, found, told) {
    const is = (params) => params.join(",") === told;
    return !found.entries.some((one) => is(one.params)) && fn.places[pi].combos.some(is);
  }

  /* What the address asks for and is not there. */
  function inVain({ fn, params, session, round, state: { query } }) {
    const told = [
      query.params !== undefined && query.params !== params.join(",") &&
        text("evidence.no-params", { params: query.params || format.NONE, shown: title(fn, params) }),
      query.session && query.session !== session.name && text("evidence.no-session", { session: query.session }),
      query.round && query.round !== String(round) && text("evidence.no-round", { round: query.round }),
    ];
    return told.filter(Boolean).map((one) => el("p", { class: "note" }, one));
  }

  async function show(state, main) {
    const where = meant(state.path);
    const [lines, found] = await Promise.all([linesOf(where.fn, where.pi), evidence.load(where.fn, where.pi, where.ci)]);
    const order = measured(lines, where.ci, state.query.branch);
    if (!found.entries.length || elsewhere(where, found, state.query.params)) {
      const seen = evidence.without({ ...where, state }, lines);
      main.append(dcu.heading(title(where.fn, seen.params)), about(where), ways("evidence", { ...where, state, params: seen.params }, order), ...seen.nodes);
      return;
    }
    const seen = view(state, where, found);
    const profiled = seen.entry.rows.some(({ record }) => evidence.number(record, "profile", "steps") !== null);
    const profile = profiled && el("a", { href: dcu.router.link("profile", state.path, { params: seen.params.join(","), branch: state.query.branch }) }, text("evidence.to-profile"));
    const { parts } = evidence;
    const sections = [parts.summary, parts.times, parts.rounds, parts.clocks, parts.memory, parts.alive, parts.correctness, parts.cold, parts.conditions, parts.missing, parts.records]
      .map((part) => part(seen)).filter(Boolean);
    main.append(dcu.heading(title(where.fn, seen.params)), about(where), ways("evidence", seen, order, [profile]), choices(seen), ...inVain(seen), evidence.contents(sections), ...sections);
  }

  Object.assign(evidence, { meant, linesOf, measured, ways, about, title, hash8, readableTime, placeChoice });
  dcu.pages.set("evidence", { show });
})();
