// Links into closed parts open them; buttons copy; tables are cards on a narrow screen. What follows a ? is for the part itself.
"use strict";

function openTarget() {
  const target = document.getElementById(location.hash.slice(1).split("?", 1)[0]);
  if (!target) return;
  let opened = false;
  for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) {
    opened = opened || !part.open;
    part.open = true;
  }
  if (opened) target.scrollIntoView();
}

window.addEventListener("hashchange", openTarget);
document.addEventListener("click", (event) => {
  const link = event.target.closest && event.target.closest('a[href^="#"]');
  if (link && link.hash === location.hash) openTarget();
});
openTarget();

// Escape closes the part that the focus is in, and gives the focus to its heading. Fields keep their own Escape.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || event.target.matches("input, select, textarea")) return;
  const part = event.target.closest("details[open]");
  if (!part) return;
  part.open = false;
  part.querySelector("summary").focus();
});

// Copies the text of an element; the button then reads so.
document.addEventListener("click", async (event) => {
  const button = event.target.closest && event.target.closest("[data-copy]");
  if (!button) return;
  const words = button.dataset.words || button.textContent;
  button.dataset.words = words;
  try {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select the text to copy it";
  }
  setTimeout(() => { button.textContent = words; }, 2000);
});

// On a narrow screen the rows of a table are cards: each cell says its column. The roles keep it a table for
// screen readers.
const narrow = window.matchMedia("(max-width: 37.5rem)");

function labelCells(table) {
  const titles = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent);
  table.setAttribute("role", "table");
  for (const part of table.querySelectorAll("thead, tbody")) part.setAttribute("role", "rowgroup");
  for (const title of table.querySelectorAll("thead th")) title.setAttribute("role", "columnheader");
  for (const row of table.rows) {
    row.setAttribute("role", "row");
    if (row.parentElement.tagName !== "TBODY") continue;
    [...row.cells].forEach((cell, index) => {
      cell.setAttribute("role", cell.tagName === "TH" ? "rowheader" : "cell");
      if (cell.colSpan === 1 && titles[index]) cell.dataset.title = titles[index];
    });
  }
}

// Cards on a phone, and wherever a table would be wider than its place. What is closed is looked at when it is
// opened.
function fitTable(table) {
  const place = table.parentElement;
  table.classList.remove("labelled");
  if (!place.clientWidth || !(narrow.matches || table.offsetWidth > place.clientWidth + 1)) return;
  if (!table.hasAttribute("role")) labelCells(table);
  table.classList.add("labelled");
}

function labelTables(part = document) {
  part.querySelectorAll("table.cards").forEach(fitTable);
}

let resizing = 0;
window.addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(labelTables, 150);
});
document.addEventListener("toggle", (event) => {
  if (event.target.open) labelTables(event.target);
}, true);
labelTables();

// The tables of a source are made when they are opened.
function wordedTable(columns, rows, label) {
  const table = document.createElement("table");
  table.className = "cards";
  const head = table.createTHead().insertRow();
  for (const title of columns) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = title || "row";
    head.append(cell);
  }
  const body = table.createTBody();
  for (const texts of rows) {
    const line = body.insertRow();
    for (const text of texts) {
      const cell = line.insertCell();
      if (text instanceof Node) cell.append(text);
      else cell.textContent = text;
      if (/^[<>~]?-?[\d.,]+( %)?$/.test(cell.textContent)) cell.className = "n";
      else if (cell.textContent.length > 40) cell.className = "long";
    }
  }
  const box = document.createElement("div");
  box.className = "scroll";
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", label);
  box.append(table);
  return box;
}

function folded(title, count) {
  const part = document.createElement("details");
  part.className = "section";
  const summary = document.createElement("summary");
  const rows = document.createElement("span");
  rows.className = "count";
  rows.textContent = ` ${count} rows`;
  summary.append(title, rows);
  part.append(summary);
  return part;
}

// `what` with `where` it is in the source below it; the verdict with its sign.
function rowTexts(cells) {
  const [verdict, why, what, where, ...figures] = cells;
  const cell = document.createElement("span"), small = document.createElement("small");
  small.textContent = where;
  cell.append(what, small);
  const name = Object.keys(report.signs).find((one) => verdict.startsWith(one));
  const said = document.createElement("span");
  said.className = `verdict v-${(name || "").replaceAll(" ", "-")}`;
  said.textContent = `${report.signs[name] || ""} ${verdict}`;
  return [said, why, cell, ...figures];
}

function fillSource(part) {
  const { words, columns, sources } = report.tables;
  const source = sources[part.dataset.source];
  const read = (rows) => rows.map((row) => row.map((place) => words[place]));
  const named = (title, count) => `${part.dataset.source}, table ${count}: ${title}`;
  for (const [index, section] of source.sections.entries()) {
    const made = folded(section.title, section.rows.length);
    made.append(wordedTable(section.columns, read(section.rows), named(section.title, index + 1)));
    if (section.text) {
      const note = document.createElement("p");
      note.className = "note";
      note.textContent = section.text;
      made.append(note);
    }
    part.append(made);
  }
  const all = folded("Every figure and claim with its verdict", source.rows.length);
  const titles = columns.filter((name) => name !== "where");
  all.append(wordedTable(titles, read(source.rows).map(rowTexts), named("every row with its verdict", "of all")));
  part.append(all);
}

document.addEventListener("toggle", (event) => {
  const part = event.target;
  if (!part.open || !part.matches || !part.matches("details[data-source]") || part.dataset.filled) return;
  part.dataset.filled = "yes";
  fillSource(part);
}, true);
