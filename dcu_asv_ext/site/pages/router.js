"use strict";
/* The state of a view is its address: #/page/part/part?name=value. */
dcu.router = (() => {
  let current = { page: "", path: [], query: {} };

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

  /* Change entries of the present view's state. The page's `update` is called, or it is shown anew. */
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
  function standing(same) {
    const { name } = document.activeElement || {};
    return same ? { name, top: window.scrollY } : null;
  }

  /* A page that is gone to takes the focus, so that it is read out from its heading on. */
  function settle(shown, stood, first) {
    if (stood) {
      const control =
        stood.name && [...shown.querySelectorAll("[name]")].find((one) => one.getAttribute("name") === stood.name);
      if (control) control.focus({ preventScroll: true });
      window.scrollTo(0, stood.top);
      return;
    }
    if (first) return;
    window.scrollTo(0, 0);
    const heading = shown.querySelector("h1");
    if (heading) {
      heading.setAttribute("tabindex", "-1");
      heading.focus({ preventScroll: true });
    }
  }

  async function show() {
    const main = document.getElementById("main");
    const before = current;
    const now = (current = parse(location.hash));
    const page = dcu.pages.get(now.page);
    const same =
      before.page === now.page && before.path.join("/") === now.path.join("/") && main.dataset.shown === now.page;
    const first = before.page === "";
    try {
      if (!page) throw new Error(dcu.text("no-page", { page: now.page }));
      if (same && page.update) {
        await page.update(now, main.firstElementChild);
        document.dispatchEvent(new CustomEvent("dcu:shown", { detail: now }));
        return;
      }
      const stood = standing(same);
      main.dataset.shown = "";
      main.setAttribute("aria-busy", "true");
      const shown = dcu.el("div", { class: `page page-${now.page}` });
      await page.show(now, shown);
      if (current !== now) return; // somebody went on meanwhile
      main.replaceChildren(shown);
      main.dataset.shown = now.page;
      document.title = `${shown.querySelector("h1")?.textContent || dcu.text("title")} · ${dcu.index.project}`;
      if (page.shown) page.shown(now, shown);
      settle(shown, stood, first);
      document.dispatchEvent(new CustomEvent("dcu:shown", { detail: now }));
    } catch (fault) {
      if (current !== now) return;
      main.replaceChildren(
        dcu.el(
          "div",
          { class: "fault", role: "alert" },
          dcu.el("h1", {}, dcu.text("fault")),
          dcu.el("p", {}, fault.message),
        ),
      );
      if (!(fault instanceof Error) || fault.name !== "Error") console.error(fault);
    } finally {
      if (current === now) main.removeAttribute("aria-busy");
    }
  }

  return { link, change, note, show, state: () => current };
})();
