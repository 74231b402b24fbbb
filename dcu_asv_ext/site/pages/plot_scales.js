"use strict";
/* Ranges and ticks. An axis names its unit once; its ticks are plain numbers of that unit, as precise as they must be. */
dcu.plotting.scales = (() => {
  const UNITS = {
    seconds: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]],
    bytes: [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
    share: [[0.01, "%"]],
  };
  const ROOM = 0.08; // of a range, at either end
  const DAY = 86400000;
  const MOST_PLACES = 12; // behind the point
  const ROOMY = 7; // letters that an axis has room for

  /* [size, name] of the unit in which a range is told. */
  function unit(name, [low, high]) {
    const scales = UNITS[name];
    if (!scales) return [1, name === "value" || name === undefined ? "" : name];
    const size = Math.max(Math.abs(low), Math.abs(high));
    return scales.find(([one]) => size >= one) || scales[scales.length - 1];
  }

  /* The range of y for the extent of what is seen. */
  function range(extent, log) {
    if (!extent) return log ? [0.1, 1] : [0, 1];
    const [low, high] = extent;
    if (log) {
      const room = Math.max(ROOM * Math.log(high / low), 0.02);
      return [low * Math.exp(-room), high * Math.exp(room)];
    }
    const room = high === low ? Math.abs(high) * 0.05 || 1 : ROOM * (high - low);
    // Figures that are never below zero do not get an axis that is.
    return [low >= 0 ? Math.max(low - room, Math.min(0, low)) : low - room, high + room];
  }

  /* A step of 1, 2 or 5 times a power of ten (of two for bytes) that gives at most `count` ticks. */
  function step(span, count, binary) {
    const least = span / Math.max(count, 1);
    if (binary && least >= 1) return 2 ** Math.ceil(Math.log2(least));
    const power = 10 ** Math.floor(Math.log10(least));
    return power * [1, 2, 5, 10].find((one) => one * power >= least * (1 - 1e-9));
  }

  function evenly(low, high, by) {
    const found = [];
    const first = Math.ceil(low / by - 1e-9);
    for (let i = first; i * by <= high + by * 1e-9; i++) found.push(i * by);
    return found;
  }

  function ticks(low, high, count, log, name) {
    if (!log || high / low < 20) {
      const [size] = unit(name, [low, high]);
      // Of a binary unit's parts; below one of it, of the next smaller one.
      if (name === "bytes") return evenly(low, high, step(high - low, count, true));
      return evenly(low / size, high / size, step((high - low) / size, count, false)).map((one) => one * size);
    }
    const decades = Math.log10(high / low);
    const every = Math.max(1, Math.ceil(decades / count));
    const within = 3 * decades <= count + 1 ? [1, 2, 5] : [1];
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += every) found.push(...within.map((one) => one * 10 ** power));
    return found.filter((one) => one >= low && one <= high);
  }

  /* Texts of ticks, without the unit: with as many digits as tell them apart. */
  function texts(found, size, log) {
    const told = found.map((one) => one / size);
    if (log) return told.map((one) => (one >= 1e-3 && one < 1e6 ? dcu.format.digits(one) : Number(one.toPrecision(2)).toExponential()));
    const by = told.length > 1 ? Math.abs(told[1] - told[0]) : Math.abs(told[0]) || 1;
    const whole = (one) => Math.abs(one - Math.round(one)) < 1e-6;
    let places = Math.min(Math.max(0, -Math.floor(Math.log10(by) + 1e-9)), MOST_PLACES);
    while (places < MOST_PLACES && !whole(by * 10 ** places)) places += 1;
    const plain = told.map((one) => one.toFixed(places));
    if (plain.every((one) => one.length <= ROOMY)) return plain;
    const most = Math.max(...told.map(Math.abs));
    const digits = Math.min(Math.max(0, places + Math.floor(Math.log10(most))), 6);
    return told.map((one) => (one === 0 ? "0" : one.toExponential(digits)));
  }

  /* Dates at ticks, in UTC: as long as their distance asks for. */
  function dates(found) {
    const by = found.length > 1 ? found[1] - found[0] : DAY;
    return found.map((ms) => {
      const text = new Date(ms).toISOString();
      return by < DAY ? `${text.slice(0, 10)}\n${text.slice(11, 16)}` : text.slice(0, by < 27 * DAY ? 10 : 7);
    });
  }

  /* Beginnings of hours, days, months or years, at most `count`. */
  function dateTicks(low, high, count) {
    const least = (high - low) / Math.max(count, 1);
    const short = [1, 2, 3, 6, 12].map((one) => (one * DAY) / 24).concat([1, 2, 4, 7, 14].map((one) => one * DAY));
    const by = short.find((one) => one >= least);
    if (by) return evenly(low, high, by);
    const months = [1, 2, 3, 6, 12, 24, 60, 120].find((one) => one * 30 * DAY >= least) || 120;
    const first = new Date(low);
    const found = [];
    for (let month = first.getUTCFullYear() * 12 + first.getUTCMonth(); ; month++) {
      const at = Date.UTC(Math.floor(month / 12), month % 12);
      if (at > high) return found;
      if (month % months === 0 && at >= low) found.push(at);
    }
  }

  return { unit, range, step, ticks, evenly, texts, dates, dateTicks };
})();
