"use strict";
/* The state of a view is its address: #/page/part/part?name=value. */
dcu.router = (() => {
  let current = { page: "", path: [], query: {} };
  let seen = null; // the state whose view stands there; null of none, and of a fault

  /* A part that is no encoding is taken as it stands. */
  function decoded(part) {
    try {
      return decodeURIComponent(part);
    } catch (_) {
      return part;
    }
  }

  function parse(hash) {
    const [path, query] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
    const [page, ...parts] = path.split("/").map(decoded);
    return { page: page || "overview", path: parts, query: Object.fromEntries(new URLSearchParams(query || "")) };
  }

  /* An address; entries of `query` that are null, undefined or "" are left out. */
  function link(page, path = [], query = {}) {
    const told = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
    const search = new URLSearchParams(told).toString();
    return "#/" + [page, ...path].map(encodeURIComponent).join("/") + (search ? "?" + search : "");
  }

  /* Change entries of the present view's state, which is shown anew. */
  function change(query, keep = false) {
    const address = link(current.page, current.path, { ...current.query, ...query });
    if (keep) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
    show();
  }

  /* Keep entries of the present view's state in the address; nothing is shown anew. */
  function note(query) {
    const address = link(current.page, current.path, { ...current.query, ...query });
    history.replaceState(null, "", address);
    current.query = parse(address).query;
  }

  /* Where the reader is before a view is shown anew: who looks at the same view stays there. */
  function standing() {
    const { name } = document.activeElement || {};
    return { name, top: window.scrollY };
  }

  /* A page that is gone to takes the focus, so that it is read out from its heading on; within a page what was
     chosen keeps it, and where that has gone with the choice, what the page means by [data-focus], or the heading. */
  function settle(shown, stood, first) {
    const heading = shown.querySelector("[data-focus]") || shown.querySelector("h1");
    if (stood) {
      const control =
        stood.name && [...shown.querySelectorAll("[name]")].find((one) => one.getAttribute("name") === stood.name);
      if (control || document.activeElement === document.body) focus(control || heading);
      window.scrollTo(0, stood.top);
      return;
    }
    if (first) return;
    window.scrollTo(0, 0);
    focus(heading);
  }

  function focus(one) {
    if (!one) return;
    if (/^H\d$/.test(one.tagName)) one.setAttribute("tabindex", "-1");
    one.focus({ preventScroll: true });
  }

  /* What stands there becomes the view of a state, or a fault. */
  function put(main, shown, state, stood, first) {
    main.replaceChildren(shown);
    document.title = `${shown.querySelector("h1")?.textContent || dcu.text("title")} · ${dcu.index.project}`;
    settle(shown, stood, first);
    document.dispatchEvent(new CustomEvent("dcu:shown", { detail: state }));
  }

  const alike = (one, other) => one.page === other.page && one.path.join("/") === other.path.join("/");

  async function show() {
    const main = document.getElementById("main");
    const first = current.page === "";
    const now = (current = parse(location.hash));
    const page = dcu.pages.get(now.page);
    main.dataset.shown = "";
    main.setAttribute("aria-busy", "true");
    try {
      if (!page) throw new Error(dcu.text("no-page", { page: now.page }));
      const shown = dcu.el("div", { class: `page page-${now.page}` });
      await page.show(now, shown);
      if (current !== now) return; // somebody went on meanwhile
      const stood = seen && alike(seen, now) ? standing() : null;
      seen = now;
      put(main, shown, now, stood, first);
      main.dataset.shown = now.page;
    } catch (fault) {
      if (current !== now) return;
      seen = null;
      const told = [dcu.el("h1", {}, dcu.text("fault")), dcu.el("p", {}, fault.message)];
      put(main, dcu.el("div", { class: "fault", role: "alert" }, told), now, null, first);
      if (!(fault instanceof Error) || fault.name !== "Error") console.error(fault);
    } finally {
      if (current === now) main.removeAttribute("aria-busy");
    }
  }

  return { link, change, note, show, state: () => current };
})();
