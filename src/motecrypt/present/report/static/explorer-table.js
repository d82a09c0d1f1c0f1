// The explorer's table of what is shown: sorted by any column, rows pinned, two of them compared.
"use strict";

const ROWS_AT_ONCE = 50;
const PINS_MAX = 2;
// name, heading, whether it is a number, and its value of a row
const EXPLORER_COLUMNS = [
  ["front", "front", true, (row, _state, front) => front.get(row) ?? null],
  ["device", "device", false, (row) => row.device],
  ["cipher", "cipher", false, (row) => row.cipher],
  ["security", "security status", false, (row) => row.security],
  ["implementation", "implementation", false, (row) => (row.flags ? `${row.implementation} ${row.flags}` : row.implementation)],
  ["key_bits", "key", true, (row) => row.key_bits],
  ["placement", "placement", false, (row) => row.placement],
  ["time", "time µs", true, (row, state) => row[`${state.operation}_us`]],
  ["energy", "energy µJ", true, (row, state) => row[`${state.operation}_uj`]],
  ["flash", "flash", true, (row) => row.flash_bytes],
  ["ram", "RAM", true, (row) => row.ram_bytes],
  ["stack", "stack", true, (row, state) => row[`${state.operation}_stack_bytes`]],
  ["varies", "time of any operation varies", false, (row) => row.varies],
];

function sortedRows(rows, state, front) {
  const column = EXPLORER_COLUMNS.find(([name]) => name === state.sort) || EXPLORER_COLUMNS[0];
  const value = (row) => {
    const found = column[3](row, state, front);
    return column[0] === "security" ? STATUSES.indexOf(found) : found;
  };
  const turn = state.descending ? -1 : 1;
  const keyed = rows.map((row, index) => [value(row), index, row]);
  keyed.sort(([a, i], [b, j]) => {
    if (!known(a) || !known(b)) return known(a) ? -1 : known(b) ? 1 : i - j;  // unknown ones always last
    if (a === b) return i - j;
    return (typeof a === "number" ? a - b : String(a).localeCompare(String(b))) * turn || i - j;
  });
  return keyed.map(([, , row]) => row);
}

function explorerHead(state, choose) {
  const head = document.querySelector("#explorer-table thead tr");
  head.replaceChildren(
    ...EXPLORER_COLUMNS.map(([name, heading]) => {
      const cell = document.createElement("th");
      const button = document.createElement("button");
      cell.scope = "col";
      if (state.sort === name) cell.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
      button.type = "button";
      button.className = "sort";
      button.dataset.sort = name;
      button.textContent = heading;
      button.addEventListener("click", () => choose(name));
      cell.append(button);
      return cell;
    }),
    Object.assign(document.createElement("th"), { scope: "col", textContent: "compare" }),
  );
}

function explorerTable(rows, state, front, shown, pin) {
  const body = document.querySelector("#explorer-table tbody");
  body.replaceChildren(
    ...rows.slice(0, shown).map((row) => {
      const line = document.createElement("tr");
      const name = rowName(row);
      const pinned = state.pins.includes(name);
      if (front.has(row)) line.className = "on-front";
      for (const [column, heading, numeric, of] of EXPLORER_COLUMNS) {
        const cell = document.createElement("td");
        const value = of(row, state, front);
        cell.textContent = numeric ? figureText(value) : value;
        cell.dataset.label = heading;
        cell.dataset.column = column;
        if (numeric) cell.className = "n";
        line.append(cell);
      }
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = pinned ? "Unpin" : "Pin";
      button.dataset.pin = name;
      button.setAttribute("aria-pressed", String(pinned));
      button.setAttribute("aria-label", `${pinned ? "Unpin" : "Pin"} ${row.device} ${row.cipher} ${row.implementation}, ${row.key_bits} bit`);
      button.addEventListener("click", () => pin(name));
      const cell = document.createElement("td");
      cell.append(button);
      line.append(cell);
      return line;
    }),
  );
}

// Once in the page: cards on a narrow screen (page.js).
function fitExplorerTable() {
  const table = document.getElementById("explorer-table");
  table.removeAttribute("role");
  fitTable(table);
}

// The pinned rows next to each other, with the second as a multiple of the first.
function explorerCompared(rows, state) {
  const part = document.getElementById("explorer-compared");
  const pinned = state.pins.map((name) => rows.find((row) => rowName(row) === name)).filter(Boolean);
  part.hidden = !state.pins.length;
  const gone = state.pins.length - pinned.length;
  const line = (tag, texts) => {
    const made = document.createElement("tr");
    texts.forEach((text, index) => {
      const cell = document.createElement(index === 0 || tag === "th" ? "th" : "td");
      if (cell.tagName === "TH") cell.scope = tag === "th" ? "col" : "row";
      else if (/^[\d.,]+( times)?$/.test(text)) cell.className = "n";
      cell.textContent = text;
      made.append(cell);
    });
    return made;
  };
  const whose = (row) => `${row.device} ${row.cipher} ${row.implementation}`;
  const ratio = (values) => {
    const [a, b] = values;
    return values.length > 1 && a > 0 && known(b) ? `${figureText(b / a)} times` : "";
  };
  const two = pinned.length > 1;
  const table = part.querySelector("table");
  table.tHead.replaceChildren(line("th", ["figure", ...pinned.map(whose), ...(two ? ["second to first"] : [])]));
  table.tBodies[0].replaceChildren(
    ...EXPLORER_COLUMNS.slice(3).map(([name, heading, numeric, of]) => {
      const values = pinned.map((row) => of(row, state, new Map()));
      const texts = values.map((value) => (numeric ? figureText(value) || "not known" : String(value)));
      const compared = numeric && name !== "key_bits" ? ratio(values) : "";
      return line("td", [heading, ...texts, ...(two ? [compared] : [])]);
    }),
  );
  part.querySelector(".note").textContent = [
    gone ? `${gone} of the pinned is not among the rows of this message length and these filters.` : "",
    pinned.length === 1 ? "Pin a second row of the table to compare the two." : "",
  ].filter(Boolean).join(" ");
}

// The rows with every column, for CSV: what is shown, not only what is on the screen.
function explorerValues(rows, state, front) {
  return rows.map((row) => ({ front: front.get(row) ?? null, operation: state.operation, ...row }));
}
