"use strict";
/* What a plot is told, made ready for drawing and pointing: the extent of every point, and every series' stops,
   which are its points and its failed or missing measurements in the order of x. Nothing here knows of pixels. */
dcu.plotting = {};
dcu.plotting.model = (() => {
  const known = dcu.format.known;

  /* The first place in a rising list whose value is not below `value`. */
  function place(rising, value) {
    let [low, high] = [0, rising.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rising[middle] < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /* Least and greatest of a point's value, interval and cloud; null where there is no value. */
  function reaches(one) {
    const least = new Array(one.x.length).fill(null);
    const most = least.slice();
    for (let i = 0; i < one.x.length; i++) {
      if (!known(one.y[i])) continue;
      let [low, high] = [one.y[i], one.y[i]];
      if (one.low && known(one.low[i])) [low, high] = [Math.min(low, one.low[i]), Math.max(high, one.high[i])];
      for (const value of (one.clouds && one.clouds[i]) || []) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
      least[i] = low;
      most[i] = high;
    }
    return { least, most };
  }

  /* Runs of points that a line joins, as [first, end): cut at points without a value and at the breaks. */
  function pieces(one) {
    const cut = new Set(one.breaks || []);
    const found = [];
    let first = null;
    for (let i = 0; i <= one.x.length; i++) {
      const there = i < one.x.length && known(one.y[i]);
      if (first !== null && (!there || cut.has(i))) {
        found.push([first, i]);
        first = null;
      }
      if (there && first === null) first = i;
    }
    return found;
  }

  function stops(one, number, bad) {
    const found = [];
    one.x.forEach((x, i) => {
      if (known(one.y[i])) found.push({ series: number, index: i, x, bad: null });
    });
    for (const each of bad) {
      if (each.series === number) found.push({ series: number, index: null, x: each.x, bad: each });
    }
    return found.sort((a, b) => a.x - b.x);
  }

  /* The whole extent of x: as told, or of all points; a single point gets room at both sides. */
  function wide(options, series) {
    if (options.x.extent) return options.x.extent;
    const all = series.flatMap((one) => (one.stops.length ? [one.stops[0].x, one.stops[one.stops.length - 1].x] : []));
    if (!all.length) return [0, 1];
    const [from, to] = [Math.min(...all), Math.max(...all)];
    const room = from === to ? (options.x.kind === "date" ? 43200000 : 1) : 0.02 * (to - from);
    return [from - room, to + room];
  }

  function make(options) {
    const bad = options.bad || [];
    const series = options.series.map((one, number) => {
      const own = stops(one, number, bad);
      return { ...one, ...reaches(one), pieces: pieces(one), stops: own, at: own.map((stop) => stop.x) };
    });
    const extent = wide(options, series);
    return { series, bad, marks: options.marks || [], zones: options.zones || [], extent,
      log: options.y.scale === "log", count: series.reduce((sum, one) => sum + one.stops.length, 0) };
  }

  /* Least and greatest of what is seen between two x, of the series that are not hidden; null where nothing is. */
  function seen(model, hidden, from, to) {
    let [least, most] = [Infinity, -Infinity];
    model.series.forEach((one, number) => {
      if (hidden.has(number)) return;
      const end = place(one.x, to + 1e-9);
      for (let i = place(one.x, from); i < end; i++) {
        if (one.least[i] === null) continue;
        if (!model.log || one.least[i] > 0) least = Math.min(least, one.least[i]);
        else if (one.y[i] > 0) least = Math.min(least, one.y[i]);
        if (!model.log || one.most[i] > 0) most = Math.max(most, one.most[i]);
      }
    });
    return least <= most ? [least, most] : null;
  }

  return { make, seen, place };
})();
