"use strict";
/* The state of a view is its address: #/page/part/part?name=value. */
dcu.router = (() => {
  let current = { page: "", path: [], query: {} };

  function parse(hash) {
    const [path, query] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
    const [page, ...parts] = path.split("/").map(decodeURIComponent);
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

  async function show() {
    const main = document.getElementById("main");
    const before = current;
    const now = (current = parse(location.hash));
    const page = dcu.pages.get(now.page);
    const same = before.page === now.page && before.path.join("/") === now.path.join("/") && main.dataset.shown === now.page;
    try {
      if (!page) throw new Error(dcu.text("no-page", { page: now.page }));
      if (same && page.update) {
        await page.update(now, main);
        return;
      }
      main.dataset.shown = "";
      main.setAttribute("aria-busy", "true");
      const shown = dcu.el("div", { class: `page page-${now.page}` });
      await page.show(now, shown);
      if (current !== now) return; // somebody went on meanwhile
      main.replaceChildren(shown);
      main.dataset.shown = now.page;
      document.title = `${shown.querySelector("h1")?.textContent || dcu.text("title")} · ${dcu.index.project}`;
      if (page.shown) page.shown(now, shown);
      document.dispatchEvent(new CustomEvent("dcu:shown", { detail: now }));
    } catch (fault) {
      if (current !== now) return;
      main.replaceChildren(dcu.el("div", { class: "fault", role: "alert" }, dcu.el("h1", {}, dcu.text("fault")), dcu.el("p", {}, fault.message)));
      if (!(fault instanceof Error) || fault.name !== "Error") console.error(fault);
    } finally {
      if (current === now) main.removeAttribute("aria-busy");
    }
  }

  return { link, change, show, state: () => current };
})();
