// The explorer's figures: rows, quantities, fronts, and rows as CSV and as a command. Draws nothing.
"use strict";

const STATUSES = ["recommended", "acceptable", "legacy", "broken", "unrated"];

// A figure of a row by the operation asked for; security is the place of its status, best first. `what` and
// `unit` are its title, with the operation between them where it is of one.
const QUANTITIES = {
  time: { what: "time", unit: "µs", operation: true, cached: true, of: (row, operation) => row[`${operation}_us`] },
  energy: { what: "energy", unit: "µJ", operation: true, cached: true, of: (row, operation) => row[`${operation}_uj`] },
  flash: { what: "flash", unit: "bytes", of: (row) => row.flash_bytes },
  ram: { what: "RAM without stack", unit: "bytes", of: (row) => row.ram_bytes },
  stack: { what: "stack", unit: "bytes", operation: true, of: (row, operation) => row[`${operation}_stack_bytes`] },
  security: { what: "security status", of: (row) => STATUSES.indexOf(row.security) },
};
const TO_DO = { setup: "to set up the key", encrypt: "to encrypt", decrypt: "to decrypt" };

// What an axis shows: figure, operation, unit, and the state of the flash cache of those rows that have one.
function quantityTitle(name, operation, rows) {
  const { what, unit, operation: ofOne, cached } = QUANTITIES[name];
  const caches = cached ? [...new Set(rows.map(cacheOf))].filter(Boolean) : [];
  return [
    [what, ...(ofOne ? [TO_DO[operation]] : [])].join(" "), ...(unit ? [unit] : []),
    ...(caches.length ? [`${caches.join(" or ")} flash cache`] : []),
  ].join(", ");
}

// "cold", "warm", or nothing where the code does not run through a flash cache.
function cacheOf(row) {
  return row.placement.split(", ")[1] || "";
}

let expanded = null;  // the rows as objects, made when they are first asked for: there may be many

function explorerRows() {
  if (!expanded) {
    const { columns, worded, words, rows } = report.explorer;
    const texts = new Set(worded);
    expanded = rows.map((row) => {
      const made = {};
      for (let index = 0; index < columns.length; index += 1) {
        made[columns[index]] = texts.has(index) ? words[row[index]] : row[index];
      }
      const stacks = made.stacks.split(",").map((bytes) => (bytes ? Number(bytes) : null));
      delete made.stacks;
      [made.setup_stack_bytes, made.encrypt_stack_bytes, made.decrypt_stack_bytes] = stacks;
      return made;
    });
  }
  return expanded;
}

// What distinguishes a row from the others of its message length: its place in the page's address.
function rowName(row) {
  return [row.device, row.cipher, row.implementation, row.key_bits, row.placement, row.flags].join("|");
}

function known(value) {
  return value !== null && value !== undefined;
}

function figureText(value) {
  if (!known(value)) return "";
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(4)));
}

// For each device the points that no other on it beats in both figures, from the least x on.
function paretoFront(points) {
  const least = new Map();
  const front = [];
  for (const point of [...points].sort((a, b) => a.x - b.x || a.y - b.y)) {
    if (point.y >= (least.get(point.row.device) ?? Infinity)) continue;
    least.set(point.row.device, point.y);
    front.push(point);
  }
  return front.sort((a, b) => a.row.device.localeCompare(b.row.device) || a.x - b.x);
}

// Rows that the filters choose; every word of the search is in a row's names.
function chosenRows(state) {
  const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  return explorerRows().filter((row) => {
    if (!state.device.has(row.device) || !state.library.has(row.library)) return false;
    if (!state.security.has(row.security)) return false;
    if (known(state.flashMax) && !(row.flash_bytes <= state.flashMax)) return false;
    if (known(state.ramMax) && !(row.ram_bytes <= state.ramMax)) return false;
    if (cacheOf(row) && cacheOf(row) !== state.cache) return false;
    if (state.constant && row.varies !== "none seen") return false;
    if (!words.length) return true;
    const names = `${row.cipher} ${row.implementation} ${row.device} ${row.kind} ${row.placement} ${row.flags}`.toLowerCase();
    return words.every((word) => names.includes(word));
  });
}

// The command that measures these rows (of one message length) again.
function rowsCommand(rows, messageBytes) {
  if (!rows.length) return "";
  const each = (name, values) => [...new Set(values)].sort().map((value) => `--${name} ${value}`);
  const libraries = new Set(rows.map((row) => row.library));
  const words = [
    ...each("device", rows.map((row) => row.device)),
    ...each("cipher", rows.map((row) => row.cipher)),
    ...(libraries.size <= 3 ? each("library", libraries) : []),
  ];
  return `motecrypt measure ${words.join(" ")} --bytes ${messageBytes}`;
}

// The fastest implementation of each cipher on each device, of those measured at three lengths or more.
function lengthLines(rows, state) {
  const series = new Map();
  for (const row of rows) {
    const value = QUANTITIES[state.lengthsOf].of(row, state.operation);
    if (!known(value)) continue;
    const bits = row.cipher.includes(String(row.key_bits)) ? "" : `, ${row.key_bits} bit`;
    const where = row.placement === "flash" ? "" : ` (${row.placement})`;
    const name = `${row.device} ${row.cipher} ${row.implementation}${where}${bits}`;
    if (!series.has(name)) {
      series.set(name, { name, device: row.device, placement: row.placement, group: `${row.device} ${row.cipher}`, values: new Map() });
    }
    const line = series.get(name);
    const before = line.values.get(row.message_bytes);
    line.values.set(row.message_bytes, before === undefined ? value : Math.min(value, before));
  }
  const best = new Map();
  for (const line of series.values()) {
    if (line.values.size < 3) continue;
    const cost = Math.min(...[...line.values].map(([length, value]) => value / Math.max(length, 1)));
    const before = best.get(line.group);
    if (!before || cost < before.cost) best.set(line.group, { ...line, cost });
  }
  return [...best.values()].sort((a, b) => a.cost - b.cost);
}
