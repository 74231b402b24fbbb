"use strict";
/* The part of the comparison's page where both sides are chosen. */
dcu.compareChoice = (() => {
  const { el, text, sides } = dcu;
  const MOST_LETTERS = 90;

  const clipped = (told) => (told.length > MOST_LETTERS ? `${told.slice(0, MOST_LETTERS)}…` : told);

  /* What has a name first, then every branch from its newest commit on, then the others. */
  function commitOptions(pi) {
    const here = sides.measured(pi);
    const entry = (ci) => [sides.short(ci), clipped(sides.called(ci))];
    const group = (label, commits) => ({ label, options: [...commits].reverse().map(entry) });
    const left = new Set(here);
    const groups = [group(text("compare.named"), here.filter((ci) => sides.names(ci).length))];
    for (const branch of dcu.index.branches) {
      const mine = branch.commits.filter((ci) => left.has(ci));
      mine.forEach((ci) => left.delete(ci));
      groups.push(group(text("compare.of-branch", { branch: branch.name }), mine));
    }
    groups.push(group(text("compare.others"), [...left]));
    return groups.filter((one) => one.options.length);
  }

  const change = (query) => dcu.router.change(query, true);

  /* The pair moves along as it is; a side that was chosen stays where it is. */
  function step(pi, before, after, steps) {
    const there = sides.along(pi, after, steps);
    if (there === null) return null;
    const follows = sides.along(pi, after, -1) === before;
    return { pi, before: follows ? sides.along(pi, there, -1) : before, after: there };
  }

  function button(name, label, found) {
    const go = () => change(sides.query(found.pi, found.before, found.after));
    return el("button", { type: "button", name, disabled: !found, onclick: go }, label);
  }

  function element({ pi, before, after }) {
    const options = commitOptions(pi);
    const places = dcu.index.places.map((one, at) => [one.key, dcu.placeName(at)]);
    const side = (name, ci) => dcu.choice({
      label: text(`compare.${name}`), name, options, value: ci === null ? "" : sides.short(ci),
      chosen: (hash) => change({ ...sides.query(pi, before, after), [name]: hash }),
    });
    const steps = after === null ? [null, null] : [step(pi, before, after, -1), step(pi, before, after, 1)];
    const swapped = before !== null && after !== null && { pi, before: after, after: before };
    const predecessor = after === null ? null : sides.along(pi, after, -1);
    return el("form", { class: "compare-choice", onsubmit: (event) => event.preventDefault() },
      dcu.choice({ label: text("place"), name: "place", options: places, value: dcu.index.places[pi].key, chosen: (place) => change({ place }) }),
      side("before", before), side("after", after),
      el("div", { class: "buttons", role: "group", "aria-label": text("compare.steps") },
        button("previous", text("compare.previous"), steps[0]),
        button("next", text("compare.next"), steps[1]),
        button("swap", text("compare.swap"), swapped),
        before !== predecessor && button("predecessor", text("compare.predecessor"), predecessor !== null && { pi, before: predecessor, after })));
  }

  return { element };
})();
