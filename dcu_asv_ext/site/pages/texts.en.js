"use strict";
/* Every text of the pages. Another language is another file like this one. A page's texts begin with its name. */
Object.assign(dcu.texts, {
  // ---- all pages
  "title": "Performance history",
  "fault": "This cannot be shown",
  "no-page": "There is no page {page}.",
  "no-data": "The file data/{key}.js cannot be loaded: copy the folder of the site whole, or publish it again.",
  "skip": "To the content",
  "nav": "Pages",
  "nav.overview": "Overview",
  "nav.changes": "Changes",
  "nav.benchmarks": "Benchmarks",
  "nav.compare": "Compare",
  "nav.matrix": "Matrix",
  "nav.asv": "asv's pages",
  "theme": "Theme",
  "theme.system": "System",
  "theme.light": "Light",
  "theme.dark": "Dark",
  "foot.made": "Made {when} by dcu-asv-ext {version} from {count} commits.",
  "foot.data": "The data lie in the folder data beside this page: JSON, gzip, base64, one file for each view.",
  "foot.home": "The project",
  "command": "Command",
  "copy": "Copy",
  "copied": "Copied.",
  "copy-failed": "The browser does not let the page copy: select the command and copy it.",
  "interval.label": "ratio {ratio}, 95 % interval {low} to {high}",
  "interval.ratio": "ratio {ratio}",
  "branch": "Branch",
  "place": "Machine and environment",
  "all": "All",

  // ---- tables
  "table.filter": "Filter",
  "table.csv": "CSV",
  "table.json": "JSON",
  "table.empty": "There is nothing to list.",
  "table.no-match": "No row matches.",
  "table.rows": "{count} rows",
  "table.found": "{count} of {all} rows",
  "table.range": "{from} to {to} of {all}",
  "table.back": "Back",
  "table.on": "On",

  // ---- plots
  "plot.legend": "Series: shown or hidden",
  "plot.table": "Table of the {count} points",
  "plot.reset": "Show all",
  "plot.empty": "There is no point to draw.",
  "plot.interval": "95 % interval {low} to {high}",
  "plot.rounds": "Rounds: {rounds}",
  "plot.keys": "Left and right arrows go from point to point, up and down between series; Enter opens; plus, minus and 0 zoom; Page Up and Page Down pan.",
  "plot.column-series": "Series",
  "plot.column-value": "Value",
  "plot.column-low": "Interval from",
  "plot.column-high": "to",
  "plot.column-rounds": "Rounds",
  "plot.column-note": "Note",
  "plot.sign-change": "▲ ▼ change point, shaded: where it may lie",
  "plot.sign-event": "◆ many benchmarks moved at once: the machine",
  "plot.sign-set-up": "■ the set-up changed",
  "plot.sign-restart": "⋈ begins anew: other version of the benchmark, or other way of measuring",
  "plot.sign-tag": "● tag",
  "plot.sign-failed": "× failed",
  "plot.sign-missing": "○ missing, with a reason",
  "plot.sign-below": "▽ zero or less, which a logarithmic scale has no place for",

  // ---- overview

  // ---- changes

  // ---- benchmarks (the list)

  // ---- benchmark

  // ---- evidence

  // ---- profile

  // ---- compare

  // ---- matrix
});
