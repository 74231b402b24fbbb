"use strict";
/* The small parts that several pages show. */
(() => {
  const { el, text } = dcu;

  /* A labelled <select> whose choice is an entry of the view's state. What an address has chosen and is not among the
     options is one more, so that nothing is chosen unseen.
     options: [[value, text], ...], and {label, options} for a group of them; chosen: what is done with a choice, if not
     that. */
  dcu.choice = ({ label, name, options, value, chosen }) => {
    const act = chosen || ((one) => dcu.router.change({ [name]: one }));
    const select = el("select", { name, onchange: (event) => act(event.target.value) });
    const option = ([one, told]) => el("option", { value: one, selected: String(one) === String(value) }, told);
    const all = options.flatMap((one) => (Array.isArray(one) ? [one] : one.options)).map(([one]) => String(one));
    if (value !== null && value !== undefined && value !== "" && !all.includes(String(value))) select.append(option([value, text("choice.unknown", { value })]));
    for (const one of options) {
      select.append(Array.isArray(one) ? option(one) : el("optgroup", { label: one.label }, one.options.map(option)));
    }
    return el("label", { class: "choice" }, el("span", {}, label), select);
  };

  const VERDICTS = {
    // word: [class, symbol]
    regression: ["regression", "✗"],
    improvement: ["improvement", "✓"],
    "no change": ["no-change", "="],
    inconclusive: ["inconclusive", "?"],
    "not comparable": ["not-comparable", "≠"],
    "not measured": ["not-comparable", "∅"],
    missing: ["not-comparable", "∅"],
    failed: ["failed", "!"],
    "failed before and after": ["failed", "!"],
    wrong: ["failed", "!"],
    "wrong result": ["failed", "!"],
    fixed: ["improvement", "✓"],
    passed: ["improvement", "✓"],
    "only before": ["no-change", "−"],
    "only after": ["no-change", "+"],
    told: ["no-change", "i"],
  };

  /* The class and the symbol of a word; one that is not known is shown plainly. */
  const kindOf = (word) => VERDICTS[word] || ["no-change", "•"];

  /* A verdict, or the outcome of a gate: word and symbol, so that colour is never all. */
  dcu.verdict = (word, shown) => {
    const [kind, symbol] = kindOf(word);
    const key = `verdict.${word}`;
    const told = shown || (key in dcu.texts ? text(key) : word);
    return el(
      "span",
      { class: `badge ${kind}` },
      el("span", { "aria-hidden": "true", class: "symbol" }, symbol),
      told,
    );
  };
  dcu.verdict.kind = (word) => kindOf(word)[0];

  /* A commit: its first letters, and the way to it where the project tells one. which: its position in the index, or
     a hash, which the index need not have. */
  dcu.commitLink = (which) => {
    if (which === null || which === undefined) return el("span", {}, dcu.format.NONE);
    const ci = typeof which === "string" ? dcu.find.commit(which) : which;
    const [hash, , subject] = ci === null ? [which, 0, ""] : dcu.index.commits[ci];
    const short = el("code", {}, hash.slice(0, 8));
    const base = dcu.index.show_commit_url || "";
    if (!/^https?:\/\//i.test(base)) return el("span", { class: "commit", title: subject || null }, short);
    return el("a", { class: "commit", href: base + hash, title: subject || null, rel: "noreferrer" }, short);
  };

  /* The heading of a page, which takes the focus when the page is gone to; what else stands on its line. */
  dcu.heading = (told, ...more) => el("div", { class: "heading" }, el("h1", { tabindex: "-1" }, told), ...more);

  /* Let the reader keep a text as a file. */
  dcu.download = (name, content, type = "application/json") => {
    const address = URL.createObjectURL(new Blob([content], { type: `${type};charset=utf-8` }));
    el("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };

  /* Browsers give the clipboard to pages of a secure address alone; a site on an intranet is none. */
  async function copy(content, from) {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(content);
    const range = document.createRange();
    range.selectNodeContents(from);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    if (!document.execCommand("copy")) throw new Error(text("copy-failed"));
    return undefined;
  }

  /* A command to run, with a button that copies it. */
  dcu.copyable = (command) => {
    const code = el("code", { tabindex: "0", role: "region", "aria-label": text("command") }, command);
    const status = el("span", { class: "status", role: "status" });
    const button = el("button", { type: "button" }, text("copy"));
    button.addEventListener("click", () =>
      copy(command, code).then(
        () => {
          status.textContent = text("copied");
        },
        () => {
          status.textContent = text("copy-failed");
        },
      ),
    );
    return el("div", { class: "command" }, code, button, status);
  };

  /* What to do where there is nothing to show. */
  dcu.nothing = (told, ...more) => el("div", { class: "nothing" }, el("p", {}, told), ...more);
})();
