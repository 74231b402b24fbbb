"use strict";
/* What a reader may choose on a benchmark's page. Every choice is an entry of the address. */
dcu.benchmark.controls = (() => {
  const { el, text } = dcu;
  const { join, paramKey, EVERY } = dcu.benchmark.choices;

  const machineText = (place) => (place.product || place.device ? `${place.machine} (${place.product || place.device})` : place.machine);

  /* Machine, and the environment among those of the machine; with more than one device, those of a device together. */
  function placeChoices(choice) {
    const all = choice.places.map((pi) => dcu.index.places[pi]);
    const now = dcu.index.places[choice.pi];
    const machines = [...new Map(all.map((one) => [one.machine, one])).values()];
    const devices = [...new Set(machines.map((one) => one.device || ""))];
    const option = (one) => [one.machine, machineText(one)];
    const grouped = devices.map((device) => ({
      label: device || text("benchmark.no-device"),
      options: machines.filter((one) => (one.device || "") === device).map(option),
    }));
    // A change of machine keeps the environment where that machine has it, too.
    const toMachine = (machine) => {
      const own = all.filter((one) => one.machine === machine);
      dcu.router.change({ place: (own.find((one) => one.env === now.env) || own[0]).key });
    };
    return [
      dcu.choice({ label: text("benchmark.machine"), name: "machine", value: now.machine, chosen: toMachine, options: devices.length > 1 ? grouped : machines.map(option) }),
      dcu.choice({ label: text("benchmark.environment"), name: "place", value: now.key, options: all.filter((one) => one.machine === now.machine).map((one) => [one.key, one.env]) }),
    ];
  }

  function branchChoice(choice) {
    const options = dcu.index.branches.map((one) => [one.name, one.name]);
    if (dcu.benchmark.choices.strays()) options.push([EVERY, text("benchmark.every-commit")]);
    return dcu.choice({ label: text("branch"), name: "branch", value: choice.branch ? choice.branch.name : EVERY, options });
  }

  /* Buttons of which several may be pressed. chosen: a set; done(set): what is done with another one. */
  function several(label, name, options, chosen, done) {
    const buttons = options.map(([value, told]) => el("button", {
      type: "button", name: `${name}=${value}`, "aria-pressed": String(chosen.has(value)),
      onclick: () => {
        const next = new Set(chosen);
        if (!next.delete(value)) next.add(value);
        if (next.size) done(options.map(([one]) => one).filter((one) => next.has(one)));
      },
    }, told));
    const all = options.length > 2 && chosen.size < options.length && el("button", {
      type: "button", name: `${name}*`, class: "all", "aria-label": text("benchmark.all-of", { name: label }), onclick: () => done(options.map(([one]) => one)),
    }, text("all"));
    return el("div", { class: "several", role: "group", "aria-label": label }, el("span", { "aria-hidden": "true" }, label), el("div", {}, buttons, all));
  }

  function paramChoices(choice) {
    const { fn } = choice;
    return fn.params.map((param, at) => {
      const there = new Set(choice.measured.map((combo) => combo[at]));
      const values = param.values.filter((one) => there.has(one));
      if (values.length < 2) return null;
      // What is drawn without any choice becomes one with the first.
      const now = Object.fromEntries(fn.params.map((_, i) => [paramKey(fn, i), join([...choice.chosen[i]])]));
      return several(param.name || text("benchmark.parameter", { number: at + 1 }), paramKey(fn, at), values.map((one) => [one, one]), choice.chosen[at],
        (next) => dcu.router.change({ ...now, [paramKey(fn, at)]: join(next) }));
    }).filter(Boolean);
  }

  function metricChoice(choice) {
    const { fn, metrics } = choice;
    if (fn.metrics.length < 2) return null;
    return several(text("benchmark.metrics"), "metrics", fn.metrics.map((one) => [one, one]), metrics,
      (next) => dcu.router.change({ metrics: next.length === fn.metrics.length ? null : join(next) }));
  }

  /* The facts of the place, as its newest result tells them. */
  function facts(place) {
    const told = Object.entries(place.facts || {});
    if (!told.length) return el("p", { class: "quiet" }, text("benchmark.no-facts"));
    return el("details", {}, el("summary", {}, text("benchmark.facts")),
      el("dl", { class: "facts" }, told.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))));
  }

  function make(choice) {
    return el("section", { class: "benchmark-choices", "aria-label": text("benchmark.choices") },
      el("div", { class: "choices" },
        placeChoices(choice),
        branchChoice(choice),
        dcu.choice({ label: text("benchmark.x"), name: "x", value: choice.dates ? "dates" : "commits", options: [["commits", text("benchmark.x-commits")], ["dates", text("benchmark.x-dates")]] }),
        dcu.choice({ label: text("benchmark.y"), name: "y", value: choice.log ? "log" : "linear", options: [["linear", text("benchmark.y-linear")], ["log", text("benchmark.y-log")]] })),
      el("div", { class: "choices" }, metricChoice(choice), paramChoices(choice)),
      facts(dcu.index.places[choice.pi]));
  }

  return { make };
})();
