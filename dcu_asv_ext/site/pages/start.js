"use strict";
(async () => {
  try {
    dcu.index = await dcu.load("index");
  } catch (fault) {
    document.getElementById("main").append(dcu.el("p", { role: "alert" }, fault.message));
    return;
  }
  dcu.frame.show();
  // Fired by links, by hand and by going back; "popstate" would show each view twice.
  window.addEventListener("hashchange", () => dcu.router.show());
  dcu.router.show();
})();
