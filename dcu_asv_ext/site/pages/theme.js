"use strict";
/* Light or dark, before anything is drawn: <html data-theme>. What the reader chose is kept; else as the system has it.
   Loaded without defer, and before the style. The event "dcu:theme" tells what is drawn on a canvas to draw again. */
window.dcuTheme = (() => {
  const PLACE = "dcu-theme";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = "";

  // A browser may keep nothing for a file, or nothing at all: the choice then lasts as long as the page.
  try {
    chosen = localStorage.getItem(PLACE) || "";
  } catch (_) {
    chosen = "";
  }

  function apply() {
    document.documentElement.dataset.theme = chosen || (dark.matches ? "dark" : "light");
    document.dispatchEvent(new CustomEvent("dcu:theme"));
  }

  /* name: "light", "dark", or "" for the system's. */
  function choose(name) {
    chosen = name;
    try {
      localStorage.setItem(PLACE, name);
    } catch (_) {
      // As above.
    }
    apply();
  }

  dark.addEventListener("change", apply);
  apply();
  return { choose, chosen: () => chosen };
})();
