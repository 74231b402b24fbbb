"use strict";
/* Small parts of the evidence and profile pages: sections, facts, bars, rows of dots. */
(() => {
  const { el, text, format } = dcu;

  const BYTES = /(^|[._])(bytes|size|total_memory|memory_total)$|_bytes$/;

  /* A part of a page with its heading; null where nothing is in it. id: what it is jumped to by. */
  function section(id, title, ...children) {
    const inside = children.flat(Infinity).filter(Boolean);
    if (!inside.length) return null;
    const heading = el("h2", { id: `part-${id}`, tabindex: "-1" }, title);
    return el("section", { class: `part part-${id}` }, heading, inside);
  }

  /* Buttons to a page's sections: an address of its own would be another view's. */
  function contents(sections) {
    const jump = (heading) => () => {
      heading.scrollIntoView();
      heading.focus({ preventScroll: true });
    };
    const items = sections.map((one) => one.querySelector("h2")).map((heading) =>
      el("li", {}, el("button", { type: "button", class: "evidence-jump", onclick: jump(heading) }, heading.textContent))
    );
    return el("nav", { class: "evidence-contents", "aria-label": text("evidence.contents") }, el("ul", {}, items));
  }

  const quiet = (told) => el("p", { class: "quiet" }, told);

  const under = (title, ...children) => [el("h3", {}, title), ...children];

  /* A recorded value as text; `name` tells its unit where it has one. */
  function readable(value, name = "") {
    if (value === null || value === undefined || value === "") return format.NONE;
    if (typeof value === "boolean") return text(value ? "evidence.yes" : "evidence.no");
    if (Array.isArray(value)) return value.length ? value.map((one) => readable(one)).join(", ") : format.NONE;
    if (typeof value === "object") return JSON.stringify(value);
    if (typeof value !== "number") return String(value);
    if (BYTES.test(name)) return format.bytes(value);
    return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
  }

  /* Names and what they are: [[name, node or text], ...]; null where there are none. */
  function facts(pairs) {
    const told = pairs.filter(([, value]) => value !== null && value !== undefined);
    if (!told.length) return null;
    return el("dl", { class: "evidence-facts" }, told.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  }

  /* Facts of several rounds, from evidence.shared: a value that not all have stands with its rounds. */
  function sharedFacts(found, count, label = (name) => name.replace(/_/g, " ")) {
    const told = ({ value, rounds }, name) =>
      rounds.length === count ? readable(value, name) : text("evidence.of-rounds", { value: readable(value, name), rounds: spans(rounds) });
    return facts([...found].map(([name, values]) => [label(name), values.map((one) => told(one, name)).join("; ")]));
  }

  /* Whole numbers in short: "1 to 3, 5". */
  function spans(numbers) {
    const runs = [];
    for (const one of [...numbers].sort((a, b) => a - b)) {
      const last = runs[runs.length - 1];
      if (last && one === last[1] + 1) last[1] = one;
      else runs.push([one, one]);
    }
    return runs.map(([from, to]) => (from === to ? String(from) : to === from + 1 ? `${from}, ${to}` : text("evidence.from-to", { from, to }))).join(", ");
  }

  const share = (part) => `${(100 * part).toFixed(2)}%`;

  /* A bar as long as its part of the whole, beside its text. kind: a class that gives the colour. */
  function bar(part, kind = "") {
    const width = Math.max(0, Math.min(1, part));
    return el("svg:svg", { class: "evidence-bar", "aria-hidden": "true" }, el("svg:rect", { class: `fill ${kind}`, x: 0, y: 0, height: "100%", width: share(width) }));
  }

  /* What is long behind its summary, made when it is asked for. */
  function behind(summary, make, open = false) {
    const details = el("details", {}, el("summary", {}, summary));
    const fill = () => details.open && details.children.length === 1 && details.append(make());
    details.addEventListener("toggle", fill);
    details.open = open;
    fill();
    return details;
  }

  /* Text as it is, in a box that scrolls. */
  const verbatim = (content, label) => el("pre", { class: "evidence-verbatim", tabindex: "0", role: "region", "aria-label": label }, content);

  /* The unit of a metric, and its name as people read it. */
  const unitOf = (fn, metric) => (fn.units && fn.units[metric]) || (dcu.index.metrics[metric] || {}).unit || "";
  const labelOf = (metric) => (dcu.index.metrics[metric] || {}).label || metric;

  /* The 95 % interval of a row {low, high, unit}; figures that never differed have one of no width. */
  function interval({ low, high, unit }) {
    if (!format.known(low) || !format.known(high)) return format.NONE;
    return low === high ? text("evidence.exact") : text("evidence.from-to", { from: format.value(low, unit), to: format.value(high, unit) });
  }

  /* JSON of one line with line breaks, every number as it was written: one of 64 bits would not survive a parse. */
  function pretty(line) {
    let depth = 0;
    const next = () => "\n" + "  ".repeat(depth);
    return line.replace(/"(?:[^"\\]|\\.)*"|\[\]|\{\}|[[{}\],:]|\s+/g, (token) => {
      if (/^\s/.test(token)) return "";
      if (token === "{" || token === "[") {
        depth += 1;
        return token + next();
      }
      if (token === "}" || token === "]") {
        depth -= 1;
        return next() + token;
      }
      if (token === ",") return token + next();
      return token === ":" ? ": " : token;
    });
  }

  // name of a part of the page -> what makes it of a view; in the order in which evidence.js has them
  dcu.evidence.parts = {};
  Object.assign(dcu.evidence, { section, contents, quiet, under, readable, facts, sharedFacts, spans, bar, share, behind, verbatim, unitOf, labelOf, interval, pretty });
})();
