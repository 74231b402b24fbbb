"use strict";
/* What stands around every page: name, ways to the others, theme; and at the foot where it all is from. */
dcu.frame = (() => {
  const { el, text } = dcu;
  // page -> pages that are shown beneath it
  const WAYS = [
    ["overview", []],
    ["changes", []],
    ["benchmarks", ["benchmark", "evidence", "profile"]],
    ["compare", []],
    ["matrix", []],
  ];

  function theme() {
    const options = [
      ["", text("theme.system")],
      ["light", text("theme.light")],
      ["dark", text("theme.dark")],
    ];
    return dcu.choice({
      label: text("theme"),
      name: "theme",
      options,
      value: dcuTheme.chosen(),
      chosen: dcuTheme.choose,
    });
  }

  function top() {
    const links = WAYS.map(([page]) =>
      el("li", {}, el("a", { href: dcu.router.link(page), "data-page": page }, text(`nav.${page}`))),
    );
    links.push(el("li", {}, el("a", { href: "../index.html", class: "away" }, text("nav.asv"))));
    document
      .getElementById("top")
      .replaceChildren(
        el("a", { class: "brand", href: dcu.router.link("overview") }, dcu.index.project),
        el("nav", { "aria-label": text("nav") }, el("ul", {}, links)),
        theme(),
      );
  }

  function foot() {
    const { made_at: made, version, commits, project_url: home } = dcu.index;
    const when = (made || "").replace("T", " ").replace(/(\.\d+)?(Z|\+00:00)$/, " UTC");
    document
      .getElementById("foot")
      .replaceChildren(
        el("p", {}, text("foot.made", { when, version, count: commits.length })),
        el("p", {}, text("foot.data")),
        ...(/^https?:\/\//i.test(home || "")
          ? [el("p", {}, el("a", { href: home, rel: "noreferrer" }, text("foot.home")))]
          : []),
      );
  }

  /* Which way is the present one; the choice of a branch goes along. */
  function mark(state) {
    for (const [page, beneath] of WAYS) {
      const link = document.querySelector(`#top a[data-page="${page}"]`);
      if (page === state.page || beneath.includes(state.page))
        link.setAttribute("aria-current", page === state.page ? "page" : "true");
      else link.removeAttribute("aria-current");
      if (page === "overview" || page === "changes")
        link.href = dcu.router.link(page, [], { branch: state.query.branch });
    }
  }

  /* Called once the index is there. */
  function show() {
    const skip = document.querySelector(".skip");
    skip.textContent = text("skip");
    // The address is the view's: the link must not change it.
    skip.addEventListener("click", (event) => {
      event.preventDefault();
      document.getElementById("main").focus();
    });
    top();
    foot();
    document.addEventListener("dcu:shown", (event) => mark(event.detail));
  }

  return { show };
})();
