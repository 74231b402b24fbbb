"use strict";
/* Change points, events of a machine, changes of its set-up and restarted series of a branch, as rows of one table. */
(() => {
  const { el, text, format } = dcu;
  const NAMED = 3; // benchmarks that are named in a row about many

  /* The branch's entry in "changes"; null where there is none. */
  const ofBranch = (changes, name) => changes.branches.find((one) => one.name === name) || null;

  function common(what, entry) {
    const { commit, date, subject, machine, environment } = entry;
    const ci = dcu.find.commit(commit);
    return {
      what,
      commit,
      date,
      machine,
      environment,
      entry,
      ci,
      subject: subject || (ci === null ? "" : dcu.index.commits[ci][2]),
      place: dcu.find.place(`${machine}~${environment}`),
      range: entry.range || null,
      rangeCommits: entry.range_commits || 1,
      pending: Boolean(entry.pending),
      ratio: entry.ratio,
      difference: entry.difference,
      unit: entry.unit,
      members: entry.members || [],
    };
  }

  function change(entry) {
    const row = common(entry.kind, entry);
    return {
      ...row,
      benchmark: entry.benchmark,
      params: entry.params,
      metric: entry.metric,
      name: dcu.benchmarkName(entry.benchmark, entry.params),
      reason: entry.reason,
    };
  }

  function event(entry) {
    const told = { moved: entry.moved, all: entry.benchmarks, kind: text(`verdict.${entry.kind}`) };
    return {
      ...common("event", entry),
      name: text("changes.event-name", told),
      reason: text("changes.event-reason"),
      kind: entry.kind,
    };
  }

  function setUp(entry) {
    const reason = text(entry.side_by_side ? "changes.side-by-side" : "changes.set-up-reason", {
      count: entry.series,
    });
    return { ...common("set-up", entry), name: entry.text, reason };
  }

  function restart(entry) {
    const more = entry.benchmarks.length - NAMED;
    const names =
      entry.benchmarks.slice(0, NAMED).join(", ") + (more > 0 ? ` ${text("changes.more", { count: more })}` : "");
    return {
      ...common("restart", entry),
      name: text("changes.restart-name", { names }),
      reason: text("changes.restart-reason", { what: entry.changed }),
      benchmarks: entry.benchmarks,
    };
  }

  /* All that happened on a branch, newest first; at one commit the set-up first, then what concerns many, then the
     largest. name: of the branch. */
  dcu.changeRows = (changes, name) => {
    const found = ofBranch(changes, name);
    if (!found) return [];
    const order = new Map((dcu.find.branch(name) || { commits: [] }).commits.map((ci, number) => [ci, number]));
    const at = (row) => (order.has(row.ci) ? order.get(row.ci) : -1);
    const rank = { "set-up": 0, restart: 1, event: 2 };
    const rankOf = (row) => (row.what in rank ? rank[row.what] : 3);
    const size = (row) =>
      format.known(row.ratio) && row.ratio > 0 ? Math.abs(Math.log(row.ratio)) : Math.abs(row.difference || 0);
    const rows = [
      ...found.set_ups.map(setUp),
      ...found.restarts.map(restart),
      ...found.events.map(event),
      ...found.changes.map(change),
    ];
    return rows.sort((a, b) => at(b) - at(a) || b.date - a.date || rankOf(a) - rankOf(b) || size(b) - size(a));
  };

  /* Why a branch has no change, in a sentence. */
  dcu.changeRows.why = (changes, name) => {
    const found = ofBranch(changes, name);
    if (!found) return text("changes.no-branch", { name });
    return found.too_short ? text("changes.too-short", { count: found.too_short }) : text("changes.none");
  };

  // ---- cells

  function what(row) {
    if (row.what === "event")
      return el(
        "span",
        { class: "badge event" },
        el("span", { class: "symbol", "aria-hidden": "true" }, "◆"),
        text("changes.event"),
      );
    if (row.what === "set-up")
      return el(
        "span",
        { class: "badge set-up" },
        el("span", { class: "symbol", "aria-hidden": "true" }, "■"),
        text("changes.set-up"),
      );
    if (row.what === "restart")
      return el(
        "span",
        { class: "badge restart" },
        el("span", { class: "symbol", "aria-hidden": "true" }, "⋈"),
        text("changes.restart"),
      );
    return dcu.verdict(row.what);
  }

  const whatText = (row) =>
    ["event", "set-up", "restart"].includes(row.what) ? text(`changes.${row.what}`) : text(`verdict.${row.what}`);

  function name(row, branch) {
    const link = (one) => dcu.benchmarkLink(one.benchmark, { params: one.params, place: row.place, branch });
    if (row.benchmark) return [link(row), el("div", { class: "quiet" }, row.metric)];
    const members = row.members.map((one) =>
      el("li", {}, link(one), " ", el("span", { class: "quiet" }, one.metric), " ", dcu.changeText(one)),
    );
    const names = (row.benchmarks || []).map((one) =>
      el("li", {}, dcu.benchmarkLink(one, { place: row.place, branch })),
    );
    const list = [...members, ...names];
    return [
      el("span", { class: "name" }, row.name),
      list.length > 0 &&
        el(
          "details",
          {},
          el("summary", {}, text("changes.members", { count: list.length })),
          el("ul", { class: "members" }, list),
        ),
    ];
  }

  function commit(row) {
    const told = [
      el(
        "span",
        { class: "row-commit" },
        dcu.commitLink(row.ci === null ? row.commit : row.ci),
        row.subject && el("span", { class: "subject" }, " ", row.subject),
      ),
    ];
    if (row.range && row.rangeCommits > 1) {
      told.push(
        el(
          "span",
          { class: "row-range quiet" },
          text("changes.range", { count: row.rangeCommits }),
          " ",
          dcu.commitLink(row.range[0]),
          " … ",
          dcu.commitLink(row.range[1]),
        ),
      );
    }
    const before = row.range ? dcu.find.commit(row.range[0]) : null;
    if (row.benchmark && row.place !== null && before !== null && row.ci !== null && before !== row.ci) {
      told.push(
        el(
          "span",
          { class: "row-ways" },
          dcu.compareLink(row.place, before, row.ci),
          " ",
          dcu.evidenceLink(row.benchmark, { place: row.place, commit: row.ci, params: row.params }),
        ),
      );
    }
    return told;
  }

  function sure(row) {
    const word = row.pending ? "pending" : "believed";
    const badge = ["set-up", "restart"].includes(row.what)
      ? null
      : el(
          "span",
          { class: `badge ${row.pending ? "inconclusive" : "no-change"}` },
          el("span", { class: "symbol", "aria-hidden": "true" }, row.pending ? "?" : "●"),
          text(`changes.${word}`),
        );
    return [badge, el("span", { class: "row-reason" }, row.reason)];
  }

  function drawn(row, limits) {
    const { ci_low: low, ci_high: high } = row.entry;
    const word = row.kind || row.what;
    return el(
      "div",
      { class: "drawn stacked" },
      dcu.intervalMark({ ratio: row.ratio, low, high, limits, word }),
      el("span", {}, dcu.changeInterval(row.entry)),
    );
  }

  const levels = ({ entry, unit }) =>
    format.known(entry.before)
      ? ["before", "after"].map((which) => el("div", {}, format.value(entry[which], unit)))
      : format.NONE;

  /* The table of such rows. branch: name, which the links keep. */
  dcu.changeTable = (rows, { branch, caption, state, filter = false, csv = "" }) => {
    const limits = dcu.ratioLimits(rows.map((row) => row.entry));
    const several = new Set(rows.map((row) => `${row.machine}~${row.environment}`)).size > 1;
    const columns = [
      {
        key: "date",
        title: text("changes.when"),
        value: (row) => format.date(row.date),
        cell: (row) => el("span", { class: "day" }, format.date(row.date)),
        order: (row) => row.date,
      },
      { key: "what", title: text("changes.what"), cell: what, text: whatText },
      {
        key: "name",
        title: text("changes.where"),
        cell: (row) => name(row, branch),
        text: (row) => `${row.name} ${row.metric || ""}`,
      },
      { key: "metric", title: text("changes.metric"), hidden: true },
      { key: "ratio", title: text("changes.by"), numeric: true, cell: dcu.changeText },
      {
        key: "interval",
        title: text("changes.interval"),
        value: (row) => row.entry.ci_low,
        cell: (row) => drawn(row, limits),
      },
      { key: "ci_high", title: "", value: (row) => row.entry.ci_high, hidden: true },
      { key: "after", title: text("changes.levels"), numeric: true, value: (row) => row.entry.after, cell: levels },
      { key: "before", title: "", value: (row) => row.entry.before, hidden: true },
      { key: "unit", title: "", hidden: true },
      { key: "commit", title: text("changes.commit"), cell: commit, text: (row) => `${row.commit} ${row.subject}` },
      {
        key: "pending",
        title: text("changes.sure"),
        value: (row) => row.pending,
        order: (row) => Number(row.pending),
        cell: sure,
        text: (row) => `${text(row.pending ? "changes.pending" : "changes.believed")} ${row.reason}`,
      },
      { key: "subject", title: "", hidden: true },
      {
        key: "machine",
        title: text("changes.machine"),
        hidden: !several,
        cell: (row) => el("span", { class: "name" }, `${row.machine}, ${row.environment}`),
        text: (row) => `${row.machine} ${row.environment}`,
      },
      { key: "environment", title: "", hidden: true },
    ];
    return dcu.table({ columns, rows, caption, state, filter, csv });
  };
})();
