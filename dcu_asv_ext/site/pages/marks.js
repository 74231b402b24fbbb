"use strict";
/* Small drawings within a line of text or a table. */
(() => {
  const { el, text, format } = dcu;
  const WIDTH = 120,
    HEIGHT = 18,
    EDGE = 6;
  const fixed = (number) => number.toFixed(1);

  const ENDS = [1.05, 1.1, 1.2, 1.3, 1.5, 2, 3, 5]; // of an axis; what lies beyond the last is drawn as an arrow
  const ON_AXIS = 0.8; // share of the intervals' ends that lie on it: one wild row must not flatten the others

  /* The limits of a ratio axis for all rows, 1 in the middle. rows: {ci_low, ci_high}. */
  dcu.ratioLimits = (rows) => {
    const away = rows
      .flatMap((one) => [one.ci_low, one.ci_high])
      .filter((one) => format.known(one) && one > 0)
      .map((one) => Math.exp(Math.abs(Math.log(one))))
      .sort((a, b) => a - b);
    const wanted = away.length ? away[Math.ceil(ON_AXIS * away.length) - 1] : 1;
    const end = ENDS.find((one) => one >= wanted) || ENDS[ENDS.length - 1];
    return [1 / end, end];
  };

  /* A 95 % interval of a ratio on a logarithmic axis, with the line of no change; what lies beyond the limits is an
     arrow. margin: the ratio up to which a change does not count, drawn as a band. word: the verdict that gives the
     colour. Null where there is no ratio. */
  dcu.intervalMark = ({ ratio, low, high, limits = [0.5, 2], margin = 1, word = "" }) => {
    if (!format.known(ratio) || ratio <= 0) return null;
    const [from, to] = limits.map(Math.log);
    const at = (one) => EDGE + ((WIDTH - 2 * EDGE) * (Math.log(one) - from)) / (to - from);
    const within = (x) => Math.min(Math.max(x, EDGE), WIDTH - EDGE);
    const inside = (x) => x > EDGE - 0.5 && x < WIDTH - EDGE + 0.5;
    const middle = HEIGHT / 2;
    const line = (x1, x2, y1, y2) => el("svg:line", { class: "reach", x1: fixed(x1), x2: fixed(x2), y1, y2 });
    const band = [within(at(1 / margin)), within(at(margin))];
    const parts =
      margin > 1
        ? [
            el("svg:rect", {
              class: "margin",
              x: fixed(band[0]),
              width: fixed(band[1] - band[0]),
              y: 1,
              height: HEIGHT - 2,
            }),
          ]
        : [];
    parts.push(el("svg:line", { class: "none", x1: fixed(at(1)), x2: fixed(at(1)), y1: 1, y2: HEIGHT - 1 }));
    if (format.known(low) && format.known(high) && low > 0) {
      parts.push(line(within(at(low)), within(at(high)), middle, middle));
      for (const end of [at(low), at(high)]) {
        if (inside(end)) parts.push(line(end, end, middle - 3, middle + 3));
        else parts.push(end < EDGE ? arrow(1, -1) : arrow(WIDTH - 1, 1));
      }
    }
    if (inside(at(ratio))) parts.push(el("svg:circle", { cx: fixed(at(ratio)), cy: middle, r: 3.2 }));
    const label =
      format.known(low) && format.known(high)
        ? text("interval.label", { ratio: format.ratio(ratio), low: format.ratio(low), high: format.ratio(high) })
        : text("interval.ratio", { ratio: format.ratio(ratio) });
    return el(
      "svg:svg",
      {
        class: `interval ${dcu.verdict.kind(word)}`,
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        width: WIDTH,
        height: HEIGHT,
        role: "img",
        "aria-label": label,
      },
      parts,
    );
  };

  function arrow(x, way) {
    const middle = HEIGHT / 2;
    return el("svg:path", { class: "beyond", d: `M${x} ${middle}l${-5 * way} -4v8z` });
  }

  /* A line of values without axes; gaps where they are missing. label: what a screen reader hears. */
  dcu.sparkline = (values, label, { width = 160, height = 28 } = {}) => {
    const known = values.filter(format.known);
    if (!known.length) return el("span", { class: "quiet" }, format.NONE);
    const least = known.reduce((a, b) => Math.min(a, b));
    const most = known.reduce((a, b) => Math.max(a, b));
    // A series that hardly moves is drawn flat: at least a tenth of its level fills the height.
    const span = Math.max(most - least, Math.abs(most) * 0.1) || 1;
    const middle = (least + most) / 2;
    const x = (place) => 2 + ((width - 4) * place) / Math.max(values.length - 1, 1);
    const y = (value) => height / 2 - ((height - 6) * (value - middle)) / span;
    let path = "";
    let pen = "M";
    values.forEach((value, place) => {
      if (!format.known(value)) {
        pen = "M";
        return;
      }
      path += `${pen}${fixed(x(place))} ${fixed(y(value))}`;
      pen = "L";
    });
    const last = values.reduce((found, value, place) => (format.known(value) ? place : found), 0);
    return el(
      "svg:svg",
      { class: "sparkline", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label },
      el("svg:path", { d: path }),
      el("svg:circle", { cx: fixed(x(last)), cy: fixed(y(values[last])), r: 2.4 }),
    );
  };
})();
