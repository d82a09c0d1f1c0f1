// What all pages share: their data, tables that sort by a column, and numbers for people.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);

function number(value) {
  return value.toLocaleString("en-US", {maximumFractionDigits: 3});
}

function percent(part, whole) {
  return `${(100 * part / (whole || 1)).toFixed(1)} %`;
}

// A cell as what it is sorted by: a number where it begins with one, else text; an empty one last.
function sortKey(cell) {
  const text = cell.textContent.trim();
  const value = Number.parseFloat(text.replaceAll(",", ""));
  return Number.isNaN(value) ? (text === "" ? -Infinity : text) : value;
}

function compareKeys(a, b) {
  return typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? 1 : -1;
}

function sortBy(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const down = heads[column].getAttribute("aria-sort") !== "descending";
  const keyed = [...table.tBodies[0].rows].map(row => [sortKey(row.cells[column]), row]);
  keyed.sort((a, b) => (down ? -1 : 1) * compareKeys(a[0], b[0]));
  heads.forEach(head => head.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
  table.tBodies[0].append(...keyed.map(one => one[1]));
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.querySelector("button")?.addEventListener("click", () => sortBy(table, column));
  });
}
