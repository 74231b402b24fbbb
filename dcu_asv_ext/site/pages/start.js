"use strict";
(async () => {
  try {
    dcu.index = await dcu.load("index");
  } catch (fault) {
    document.getElementById("main").append(dcu.el("p", { role: "alert" }, fault.message));
    return;
  }
  dcu.frame.show();
  window.addEventListener("hashchange", () => dcu.router.show());
  window.addEventListener("popstate", () => dcu.router.show());
  dcu.router.show();
})();
