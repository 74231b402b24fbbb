"use strict";
/* What a comparison says as a whole: what differs besides the code, the guard, the shift, the gates, the notes, the rule. */
dcu.compareReport = (() => {
  const { el, text, format } = dcu;
  const SHOWN = 8; // so many differences, and findings of one kind, stand there unfolded
  const AT_ONCE = 200; // so many more at a time

  function section(key, ...content) {
    const id = `compare-${key}`;
    return el("section", { "aria-labelledby": id }, el("h2", { id }, text(`compare.${key}`)), ...content);
  }

  // ---- what differs besides the code

  function kindOf(one) {
    if (one.declared) return "declared";
    return one.matters ? "matters" : "harmless";
  }

  function differencesTable(found, caption) {
    return dcu.table({
      caption,
      hideCaption: true,
      rows: found,
      rowClass: (one) => (kindOf(one) === "matters" ? "matters" : null),
      columns: [
        { key: "name", title: text("compare.fact") },
        { key: "before", title: text("compare.before") },
        { key: "after", title: text("compare.after") },
        { key: "kind", title: text("compare.weight"), value: (one) => text(`compare.${kindOf(one)}`) },
      ],
    });
  }

  function differences(report) {
    const found = report.differences;
    if (!found.length) return section("differences", el("p", {}, text("compare.nothing-differs")));
    const grave = found.filter((one) => one.matters || one.declared);
    const rest = found.filter((one) => !grave.includes(one));
    const first = grave.length ? grave : rest.slice(0, rest.length > SHOWN ? 0 : SHOWN);
    const folded = first === grave ? rest : rest.slice(first.length);
    return section("differences",
      !grave.length && el("p", {}, text("compare.only-harmless")),
      first.length ? differencesTable(first, text("compare.facts")) : null,
      folded.length > 0 && folding(text("compare.harmless-facts", { count: folded.length }), () => differencesTable(folded, text("compare.harmless-caption"))));
  }

  /* What is made when it is opened, so that what nobody opens costs nothing. */
  function folding(summary, make, open = false) {
    const made = el("details", { open }, el("summary", {}, summary));
    const fill = () => { if (made.open && made.children.length === 1) made.append(make()); };
    made.addEventListener("toggle", fill);
    fill();
    return made;
  }

  // ---- the gates

  function figures(one) {
    if (one.before === null && one.after === null) return null;
    const change = `${format.value(one.before, one.unit)} → ${format.value(one.after, one.unit)}`;
    const ratio = format.known(one.ratio) ? format.ratio(one.ratio) : one.no_ratio;
    const interval = one.exact ? text("compare.exact") : format.known(one.ci_low) && format.interval(one.ci_low, one.ci_high);
    return [change, ratio, interval].filter(Boolean).join(" · ");
  }

  function finding(one, common, place) {
    const asked = one.rule && ["failed", "inconclusive"].includes(one.outcome) && text("compare.asked", { rule: one.rule });
    const reason = [!common && one.reason, asked].filter(Boolean).join("; ");
    return el("li", {},
      one.benchmark ? dcu.benchmarkLink(one.benchmark, { params: one.params, place }) : one.name,
      one.metric && el("span", { class: "metric" }, one.metric),
      el("span", { class: "figures" }, figures(one)),
      reason && el("span", { class: "reason" }, reason));
  }

  /* A long list in steps. */
  function list(found, common, place) {
    const made = el("ul", { class: "findings" }, found.slice(0, AT_ONCE).map((one) => finding(one, common, place)));
    const rest = found.slice(AT_ONCE);
    if (!rest.length) return made;
    const more = el("button", { type: "button", onclick: () => more.replaceWith(list(rest, common, place)) }, text("compare.more", { count: rest.length }));
    return el("div", {}, made, more);
  }

  /* Findings of one outcome, word and reason. */
  function group(found, place) {
    const first = found[0];
    const alike = found.length > 1 && found.every((one) => one.reason === first.reason);
    const summary = [dcu.verdict(first.finding), ` ${found.length}`, alike && el("span", { class: "reason" }, ` ${first.reason}`)];
    return folding(summary, () => list(found, alike, place), first.outcome === "failed" && found.length <= SHOWN);
  }

  function grouped(found, key) {
    const made = new Map();
    for (const one of found) made.set(key(one), [...(made.get(key(one)) || []), one]);
    return [...made.values()];
  }

  function gate([name, { outcome, findings }], place) {
    const groups = grouped(findings, (one) => JSON.stringify([one.outcome, one.finding]));
    return el("li", { class: "gate" },
      el("h3", {}, dcu.texts[`compare.gate.${name}`] ? text(`compare.gate.${name}`) : name, " ", dcu.verdict(outcome)),
      groups.length ? groups.map((one) => group(one, place)) : el("p", { class: "quiet" }, text("compare.no-findings")));
  }

  function gates(report, place) {
    const found = report.gates;
    if (!found) return null;
    if (found.error) return section("gates", el("p", { class: "note" }, text("compare.gates-not-asked", { reason: found.error })));
    return section("gates",
      // The conclusion may begin with the outcome's own word.
      el("p", {}, dcu.verdict(found.outcome), " ", found.conclusion.replace(`${found.outcome}: `, "")),
      el("ul", { class: "gates" }, Object.entries(found.gates).map((one) => gate(one, place))),
      // What the comparison itself says is not said twice.
      found.notes.filter((note) => !report.notes.includes(note)).map((note) => el("p", { class: "quiet" }, note)));
  }

  // ---- all of it

  function shift(report) {
    if (!format.known(report.shift)) return null;
    const ratio = format.ratio(report.shift);
    const same = ratio === format.ratio(1);
    return el("p", {}, same ? text("compare.no-shift") : text("compare.shift", { ratio, change: format.change(report.shift) }));
  }

  function guard(report) {
    return [
      report.refused && el("div", { class: "note", role: "note" }, el("h2", {}, text("compare.refused")), el("p", {}, report.refused)),
      shift(report),
    ];
  }

  /* place: position. */
  const above = (report, place) => [differences(report), ...guard(report), gates(report, place)].filter(Boolean);

  /* Settings by name; what none has said of is left out. */
  function settings(report) {
    const told = Object.entries(report.settings).filter(([, value]) => value !== null && !(Array.isArray(value) && !value.length));
    const line = (value) => (Array.isArray(value) ? value.join(", ") : String(value));
    return el("dl", { class: "settings" }, told.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, line(value)))));
  }

  function below(report, command) {
    return [
      report.notes.length > 0 && section("notes", el("ul", {}, report.notes.map((note) => el("li", {}, note)))),
      section("rule",
        el("p", {}, report.rule), folding(text("compare.settings"), () => settings(report)),
        el("p", {}, text("compare.command")), dcu.copyable(command)),
    ].filter(Boolean);
  }

  return { above, below };
})();
