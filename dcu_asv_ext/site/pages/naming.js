"use strict";
/* How a benchmark, a place and a change are named in a line, and where they lead. */
(() => {
  const { el, text, format } = dcu;
  const LONG = 100; // letters

  /* Name -> value of a combination, whether it is told by names or as a list of values. */
  function byName(fn, params) {
    if (!Array.isArray(params)) return params || {};
    return Object.fromEntries(
      params.map((value, place) => [(fn && fn.params[place] && fn.params[place].name) || String(place), value]),
    );
  }

  const shownParams = (params) =>
    Object.entries(params)
      .map(([name, value]) => (/^\d+$/.test(name) ? value : `${name}=${value}`))
      .join(", ");

  /* "name(n=256, float32)" */
  dcu.benchmarkName = (name, params = {}) => {
    const told = shownParams(byName(dcu.find.byName(name), params));
    return told ? `${name}(${told})` : name;
  };

  /* A value of a parameter in the address of a benchmark's page, where | stands between several. */
  dcu.alone = (value) => value.replace(/[\\|]/g, "\\$&");

  /* A benchmark's name, and the way to its page. place: position; params: name -> value, or a list of values. */
  dcu.benchmarkLink = (name, { params = {}, place = null, branch = null } = {}) => {
    const fn = dcu.find.byName(name);
    const shown = dcu.benchmarkName(name, params);
    const title = shown.length > LONG ? shown : null; // where a page shows its beginning alone
    if (!fn) return el("span", { class: "name", title }, shown);
    const query = { place: place === null ? null : dcu.index.places[place].key, branch };
    for (const [one, value] of Object.entries(byName(fn, params))) query[`p.${one}`] = dcu.alone(value);
    return el("a", { class: "name", title, href: dcu.router.link("benchmark", [fn.slug], query) }, shown);
  };

  /* The way to the evidence of a benchmark at a commit; null where none is published. */
  dcu.evidenceLink = (name, { place, commit, params = {} }) => {
    const fn = dcu.find.byName(name);
    const has = (dcu.index.evidence[place] || []).includes(commit);
    if (!fn || !has) return null;
    const values = Object.values(byName(fn, params)).join(",");
    const path = [fn.slug, dcu.index.places[place].key, dcu.index.commits[commit][0].slice(0, 8)];
    return el("a", { href: dcu.router.link("evidence", path, { params: values }) }, text("evidence-link"));
  };

  /* The way to the comparison of two commits (positions) of a place. */
  dcu.compareLink = (place, before, after, told = text("compare-link")) => {
    const short = (ci) => dcu.index.commits[ci][0].slice(0, 8);
    const query = { place: dcu.index.places[place].key, before: short(before), after: short(after) };
    return el("a", { href: dcu.router.link("compare", [], query) }, told);
  };

  /* "machine, environment" of a place. */
  dcu.placeName = (pi) => `${dcu.index.places[pi].machine}, ${dcu.index.places[pi].env}`;

  /* By how much: a ratio as a percentage; of a share, and of what was 0 before, the difference. */
  dcu.changeText = ({ ratio, difference, unit }) => {
    if (format.known(ratio)) return format.change(ratio);
    if (!format.known(difference)) return format.NONE;
    return `${difference < 0 ? "−" : "+"}${format.value(Math.abs(difference), unit)}`;
  };

  /* The 95 % interval of a change, as changeText has it; "exact" where the figures do not vary. */
  dcu.changeInterval = ({
    ratio,
    ci_low: low,
    ci_high: high,
    difference_low: least,
    difference_high: most,
    unit,
  }) => {
    if (format.known(least) && format.known(most)) {
      return `[${dcu.changeText({ difference: least, unit })}, ${dcu.changeText({ difference: most, unit })}]`;
    }
    if (!format.known(ratio) || !format.known(low)) return "";
    if (low === high) return text("exact");
    return `[${format.change(low)}, ${format.known(high) ? format.change(high) : text("open")}]`;
  };
})();
