"use strict";
/* Figures as people read them. A number that is missing is shown as a dash. */
dcu.format = (() => {
  const NONE = "–";
  const TIMES = [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
    [1e-9, "ns"],
  ];
  const BYTES = [
    [2 ** 40, "TiB"],
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
  ];

  const known = (value) => typeof value === "number" && Number.isFinite(value);

  function digits(value, count = 4) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e6 || size < 1e-4) return value.toExponential(Math.max(count - 2, 1));
    return String(Number(value.toPrecision(count)));
  }

  function scaled(value, scales, least) {
    const [scale, unit] = scales.find(([one]) => Math.abs(value) >= one) || least;
    return `${digits(value / scale)} ${unit}`;
  }

  function time(seconds) {
    if (!known(seconds)) return NONE;
    return seconds === 0 ? "0 s" : scaled(seconds, TIMES, TIMES[3]);
  }

  const bytes = (value) => (known(value) ? scaled(value, BYTES, [1, "B"]) : NONE);

  /* A figure with its unit, as asv names it. */
  function value(figure, unit) {
    if (!known(figure)) return NONE;
    if (unit === "seconds") return time(figure);
    if (unit === "bytes") return bytes(figure);
    if (unit === "share") return `${digits(100 * figure, 3)} %`;
    return digits(figure);
  }

  const ratio = (one) => (known(one) ? (one >= 100 ? digits(one, 3) : one.toFixed(3)) : NONE);

  /* A ratio as a signed change; from 3 on as a factor. */
  function change(one) {
    if (!known(one)) return NONE;
    if (one >= 3) return `×${digits(one, 3)}`;
    const percent = 100 * (one - 1);
    return `${percent >= 0 ? "+" : "−"}${Math.abs(percent).toFixed(Math.abs(percent) >= 1 ? 1 : 2)} %`;
  }

  const interval = (low, high) => (known(low) && known(high) ? `[${ratio(low)}, ${ratio(high)}]` : NONE);

  /* Of milliseconds since 1970, in UTC as asv has it. */
  const date = (ms) => (known(ms) && ms > 0 ? new Date(ms).toISOString().slice(0, 10) : NONE);

  const params = (names, values) => values.map((one, i) => (names[i] ? `${names[i]}=${one}` : one)).join(", ");

  return { NONE, known, digits, time, bytes, value, ratio, change, interval, date, params };
})();
