"use strict";
/* asv's own graphs of a benchmark. Its addresses: #NAME?machine=...&branch=...&p-PARAMETER=... */
dcu.benchmark.asv = (() => {
  function link(choice, metric) {
    const { fn, branch, combos } = choice;
    const query = new URLSearchParams();
    query.append("machine", dcu.index.places[choice.pi].machine);
    if (branch && dcu.index.branches.length > 1) query.append("branch", branch.name);
    fn.params.forEach((param, at) => {
      for (const value of new Set(combos.map((combo) => combo[at]))) query.append(`p-${param.name}`, value);
    });
    if (choice.dates) query.append("x-axis-scale", "date");
    if (choice.log) query.append("y-axis-scale", "log");
    return `../index.html#${encodeURIComponent(fn.asv[metric])}?${query}`;
  }

  /* Links to the graphs of some metrics. */
  function links(choice, metrics) {
    const { asv, gone = [] } = choice.fn;
    const known = metrics.filter((one) => asv[one] && !gone.includes(one));
    if (!known.length) return null;
    return dcu.el("p", { class: "quiet" }, dcu.text("benchmark.asv"), " ", known.map((one, i) => [i ? ", " : "", dcu.el("a", { href: link(choice, one) }, one)]));
  }

  return { links };
})();
