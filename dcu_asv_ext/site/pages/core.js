"use strict";
/* What all pages share: loading data, texts, making elements. Classic scripts, since a browser that opened the site
   as a file loads no modules, and no data but by a script's element. */
window.dcu = (() => {
  const waiting = new Map(); // key -> {resolve, reject}
  const asked = new Map(); // key -> promise
  const texts = {};

  /* A data file calls this: base64 of gzip of JSON. */
  function data(key, packed) {
    const letters = atob(packed);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i); // Uint8Array.from takes ten times as long
    waiting.get(key).resolve(JSON.parse(fflate.strFromU8(fflate.gunzipSync(bytes))));
  }

  /* The data of a key ("index", "b/...", see the README of the data); one file, fetched once. */
  function load(key) {
    if (!asked.has(key)) {
      asked.set(
        key,
        new Promise((resolve, reject) => {
          waiting.set(key, { resolve, reject });
          const script = document.createElement("script");
          script.src = "data/" + key.split("/").map(encodeURIComponent).join("/") + ".js";
          script.onerror = () => {
            asked.delete(key);
            reject(new Error(text("no-data", { key })));
          };
          script.onload = () => script.remove();
          document.head.append(script);
        }),
      );
    }
    return asked.get(key);
  }

  const PLACE = /\{(\w+)(?::([^{}|]*)\|([^{}]*))?\}/g;

  /* The text of a key, with {name} replaced by the values, and {name:one|many} by the word that goes with the number. */
  function text(key, values = {}) {
    if (!(key in texts)) throw new Error(`there is no text "${key}"`);
    return texts[key].replace(PLACE, (whole, name, one, many) => {
      if (!(name in values)) return whole;
      if (one === undefined) return String(values[name]);
      return Number(values[name]) === 1 ? one : many;
    });
  }

  /* An element; children are elements or plain text, never markup. props: attributes, `on` + event for listeners;
     false, null and undefined leave an attribute out. */
  function el(tag, props, ...children) {
    const made = tag.startsWith("svg:")
      ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4))
      : document.createElement(tag);
    for (const [name, value] of Object.entries(props || {})) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value === true) made.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
    }
    made.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
    return made;
  }

  return { data, load, text, texts, el, pages: new Map(), index: null };
})();
