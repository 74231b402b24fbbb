// The page's data and texts, and figures as people read them. Names of a trace are only ever set as text.

const DATA = JSON.parse(document.getElementById("data").textContent);
const TEXTS = JSON.parse(document.getElementById("texts").textContent);

/** A text of the page, `{name}` replaced by the value of that name. */
function told(key, values = {}) {
  return TEXTS[key].replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** An element; children may be texts. Properties that begin with "on" are listeners. */
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function three(value) {
  const digits = Math.abs(value) < 9.995 ? 2 : Math.abs(value) < 99.95 ? 1 : 0;
  return value.toFixed(digits);
}

const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
const SIZES = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];

function time(nanoseconds) {
  if (nanoseconds === 0) return "0";
  const [factor, unit] = TIMES.find(([one]) => Math.abs(nanoseconds) >= one * 0.9995) ?? TIMES.at(-1);
  return `${three(nanoseconds / factor)} ${unit}`;
}

function size(bytes) {
  const found = SIZES.find(([one]) => Math.abs(bytes) >= one);
  return found ? `${three(bytes / found[0])} ${found[1]}` : `${bytes} B`;
}

function share(value) {
  return `${(100 * value).toFixed(value > 0 && value < 0.0995 ? 1 : 0)} %`;
}

function grouped(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** Times of an axis: as many digits as the distance of its marks needs. */
function axisTime(nanoseconds, distance) {
  const [factor, unit] = TIMES.find(([one]) => distance >= one / 10) ?? TIMES.at(-1);
  const digits = Math.max(0, Math.ceil(-Math.log10(distance / factor) - 1e-9));
  return `${(nanoseconds / factor).toFixed(digits)} ${unit}`;
}
