"use strict";
/* The experiment matrix as CSV and JSON, as `dcu-asv matrix` writes it: dcu_asv_ext.read_matrix reads both back without
   loss. A cell of the CSV is JSON where it is no text, nothing where there is no value, and text as it is, but as a JSON
   string where it could be taken for something else. */
dcu.matrixFiles = (() => {
  const FORMAT = 1;
  const FORMULA = /^[=+\-@]/; // a spreadsheet would run it
  const PRINTS = /^[^\p{C}\p{Z}]*$/u; // as Python has it, spaces aside

  const prints = (told) => PRINTS.test(told.replace(/ /g, ""));
  const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;

  /* JSON on one line; letters are themselves where all of them print. */
  function json(value) {
    const told = JSON.stringify(value);
    return prints(told) ? told : told.replace(/[^ -~]/g, escaped);
  }

  function readsAsJson(told) {
    try {
      JSON.parse(told);
      return true;
    } catch (fault) {
      return false;
    }
  }

  function cell(value) {
    if (value === null || value === undefined) return "";
    if (typeof value !== "string") return json(value);
    return value !== "" && prints(value) && !FORMULA.test(value) && !readsAsJson(value) ? value : json(value);
  }

  const field = (told) => (/[",\r\n]/.test(told) ? `"${told.replace(/"/g, '""')}"` : told);

  /* A heading, and a line for each row. */
  function csv(rows, columns) {
    const lines = [columns, ...rows.map((row) => columns.map((name) => cell(row[name])))];
    return lines.map((fields) => `${fields.map(field).join(",")}\r\n`).join("");
  }

  function entry(value) {
    return Array.isArray(value) && value.length ? `[\n${value.map(json).join(",\n")}\n]` : json(value);
  }

  /* One object, a row a line; more: what else it holds. */
  function whole(rows, more = {}) {
    const parts = Object.entries({ matrix: FORMAT, rows, ...more });
    return `{\n${parts.map(([name, value]) => `${json(name)}: ${entry(value)}`).join(",\n")}\n}\n`;
  }

  return { csv, whole };
})();
