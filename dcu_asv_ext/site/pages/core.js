"use strict";
/* What all pages share: loading data, texts, making elements. Classic scripts, since a browser that opened the site
   as a file loads no modules, and no data but by a script's element. */
window.dcu = (() => {
  const waiting = new Map(); // key -> function that takes its data
  const asked = new Map(); // key -> promise
  const texts = {};

  /* A data file calls this: base64 of gzip of JSON. */
  function data(key, packed) {
    const letters = atob(packed);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i); // Uint8Array.from takes ten times as long
    const found = JSON.parse(fflate.strFromU8(fflate.gunzipSync(bytes)));
    waiting.get(key)(found);
    waiting.delete(key);
  }

  /* The data of a key ("index", "b/...", see pages/ of the package); one file, fetched once. */
  function load(key) {
    if (!asked.has(key)) asked.set(key, new Promise((resolve, reject) => fetchFile(key, resolve, reject)));
    return asked.get(key);
  }

  function fetchFile(key, resolve, reject) {
    waiting.set(key, resolve);
    const script = document.createElement("script");
    // A browser that keeps files must not mix those of two publishes.
    const publish = dcu.index ? dcu.index.made_at : Date.now();
    const path = key.split("/").map(encodeURIComponent).join("/");
    script.src = `data/${path}.js?${encodeURIComponent(publish)}`;
    script.onload = script.onerror = () => {
      script.remove();
      // A file that is not there, or was cut off, has handed nothing over.
      if (!waiting.delete(key)) return;
      asked.delete(key);
      reject(new Error(text("no-data", { key })));
    };
    document.head.append(script);
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
