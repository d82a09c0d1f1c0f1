// The instructions of a line, made when the line is opened.
"use strict";

function addCell(row, text, kind) {
  const cell = row.insertCell();
  cell.className = kind;
  cell.textContent = text;
}

function instructionRow([address, text, times, cycles]) {
  const row = document.createElement("tr");
  row.className = "instruction";
  addCell(row, "", "n");
  addCell(row, number(cycles), "n");
  addCell(row, percent(cycles, data.total), "n");
  addCell(row, number(times), "n");
  addCell(row, `${address}:  ${text || "(not in the file)"}`, "text");
  return row;
}

function unfold(button) {
  const row = button.closest("tr");
  const listing = Number(row.closest("details").dataset.listing);
  const rows = data.instructions[listing][Number(row.dataset.line)] ?? [];
  if (button.getAttribute("aria-expanded") === "true") {
    while (row.nextElementSibling?.classList.contains("instruction")) {
      row.nextElementSibling.remove();
    }
  } else {
    row.after(...rows.map(instructionRow));
  }
  const open = button.getAttribute("aria-expanded") !== "true";
  button.setAttribute("aria-expanded", String(open));
  button.textContent = open ? "▾" : "▸";
}

document.querySelectorAll("table.source").forEach(table => {
  table.addEventListener("click", event => {
    const button = event.target.closest("button.fold");
    if (button) {
      unfold(button);
    }
  });
});
// A function without lines has one row: its instructions are what there is to see.
document.querySelectorAll("details.listing").forEach(listing => {
  const buttons = listing.querySelectorAll("button.fold");
  if (buttons.length === 1 && listing.querySelectorAll("tbody tr").length === 1) {
    unfold(buttons[0]);
  }
});
