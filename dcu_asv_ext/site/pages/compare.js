"use strict";
/* Two commits side by side: the verdicts where they were told at publishing, the figures alone where not. */
(() => {
  const { el, text, sides } = dcu;

  function side(label, ci) {
    const [, date, subject] = dcu.index.commits[ci];
    const names = sides.names(ci).map((name) => el("span", { class: "name" }, name));
    const told = [dcu.commitLink(ci), ...names, el("span", { class: "quiet" }, dcu.format.date(date)), el("span", { class: "subject" }, subject)];
    return el("div", {}, el("dt", {}, label), el("dd", {}, told));
  }

  /* The other way round may have been told: a ratio's verdict does not turn round by itself. */
  function otherWay({ pi, before, after }) {
    if (!sides.computed(pi, after, before)) return null;
    const address = dcu.router.link("compare", [], sides.query(pi, after, before));
    return el("p", {}, el("a", { href: address }, text("compare.other-way")));
  }

  async function content(state, found) {
    const { pi, before, after } = found;
    if (after === null || before === null) return [dcu.nothing(text(after === null ? "compare.no-commits" : "compare.no-earlier"))];
    if (before === after) return [dcu.nothing(text("compare.same"))];
    if (!sides.computed(pi, before, after)) {
      return [
        el("div", { class: "note" }, el("p", {}, text("compare.not-told")), otherWay(found), dcu.copyable(sides.command(pi, before, after))),
        await dcu.compareSeries(state, found),
      ];
    }
    const report = await dcu.load(`c/${pi}/${sides.short(before)}-${sides.short(after)}`);
    return [
      ...dcu.compareReport.above(report, pi),
      ...dcu.compareRows(state, found, report),
      ...dcu.compareReport.below(report, sides.command(pi, before, after)),
    ];
  }

  async function show(state, main) {
    if (!dcu.index.places.length) {
      main.append(dcu.heading(text("compare.title")), dcu.nothing(text("compare.no-commits")));
      return;
    }
    const found = sides.chosen(state.query);
    main.append(dcu.heading(text("compare.title")), dcu.compareChoice.element(found));
    for (const fault of found.faults) main.append(el("p", { class: "note", role: "alert" }, fault));
    if (found.before !== null && found.after !== null) {
      main.append(el("dl", { class: "sides" }, side(text("compare.before"), found.before), side(text("compare.after"), found.after)));
    }
    main.append(...(await content(state, found)));
  }

  dcu.pages.set("compare", { show });
})();
