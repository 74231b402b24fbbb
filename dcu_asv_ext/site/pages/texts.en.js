"use strict";
/* Every text of the pages. Another language is another file like this one. A page's texts begin with its name. */
Object.assign(dcu.texts, {
  // ---- all pages
  "title": "Performance history",
  "fault": "This cannot be shown",
  "no-page": "There is no page {page}.",
  "no-data": "The file data/{key}.js cannot be loaded: copy the folder of the site whole, or publish it again.",
});
