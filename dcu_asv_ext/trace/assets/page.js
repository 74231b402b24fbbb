// Puts the page together, and draws once for each change.

function startTimeline() {
  const byId = (id) => document.getElementById(id);
  const elements = Object.fromEntries(["timeline", "overview", "ruler", "scroll", "labels", "lanes", "tip", "details", "legend"].map((id) => [id, byId(id)]));
  if (!elements.timeline) return null;
  const model = new Model(DATA);
  const view = new View(model, DATA.span);
  const drawing = new Drawing(view, elements);
  const choice = new Choice(view, elements);
  const controls = new Controls(view, choice, drawing, elements);
  let asked = false;
  let layout = "";
  const draw = () => {
    asked = false;
    drawing.frame();
    const places = view.places.map((one) => `${one.key}${one.folded}${one.top}`).join() + view.gutter;
    if (places !== layout) controls.labels();
    layout = places;
    elements.range.textContent = told("range", {
      begin: axisTime(Math.max(view.begin, DATA.span[0]), view.range / 100),
      end: axisTime(view.end, view.range / 100), length: time(view.range),
    });
    elements.letGo.hidden = view.marked === null && view.finding < 0;
    // For who reads the page by a script, and for tests.
    Object.assign(elements.timeline.dataset, {
      begin: Math.round(view.begin), end: Math.round(view.end), boxes: drawing.boxes, chosen: view.chosen, rows: model.count,
    });
    elements.timeline.dataset.firstFrame ??= Math.round(performance.now());
  };
  view.changed = () => {
    if (!asked) requestAnimationFrame(draw);
    asked = true;
  };
  const measure = () => {
    view.width = Math.max(200, elements.scroll.clientWidth);
    view.changed();
  };
  new ResizeObserver(measure).observe(elements.scroll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    drawing.readColours();
    view.changed();
  });
  view.width = Math.max(200, elements.scroll.clientWidth);
  draw();
  return { choice, elements };
}

const timeline = startTimeline();
const showName = timeline && ((number) => {
  timeline.choice.showName(number);
  timeline.elements.timeline.scrollIntoView({ block: "nearest" });
});
for (const name of ["operators", "kernels"]) new Table(document.getElementById(name), name, DATA.tables[name], showName);
