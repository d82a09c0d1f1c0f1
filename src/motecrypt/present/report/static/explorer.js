// The explorer's form: its state is in the page's address, and all that is shown follows from it.
"use strict";

const explorerForm = document.getElementById("explorer-form");
const EXPLORER_GROUPS = ["device", "library", "security"];
const EXPLORER_FIELDS = ["x", "y", "xscale", "yscale", "operation", "cache", "bytes", "search", "flash", "ram"];
const explorerShown = {  // what is not a field of the form
  sort: "front", descending: false, pins: [], rows: ROWS_AT_ONCE, defaults: null, started: false, last: null,
};

// --- the form -------------------------------------------------------------------------------------

// Marks a field as wrong, with the reason next to it; an empty reason clears it.
function fieldError(field, reason) {
  const id = `${field.form.id}-${field.name}-error`;
  let told = document.getElementById(id);
  if (!told && reason) {
    told = document.createElement("span");
    told.id = id;
    told.className = "field-error";
    field.closest("label").append(told);
  }
  if (told) told.textContent = reason;
  if (reason) {
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", id);
  } else {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  }
  return reason;
}

// Bytes as people write them; throws what is wrong in the words of the form.
function bytesAtMost(field, label) {
  const text = field.value.trim();
  if (!text) return null;
  const found = /^(\d+)\s*(k?)$/i.exec(text);
  if (!found) throw new Error(`${label} '${text}': write a number of bytes, such as 4096 or 4k`);
  return Number(found[1]) * (found[2] ? 1024 : 1);
}

function explorerState() {
  const form = new FormData(explorerForm);
  const field = (name) => explorerForm.elements.namedItem(name);
  const problems = [];
  const checked = (name, read) => {
    try {
      const value = read(field(name));
      fieldError(field(name), "");
      return value;
    } catch (error) {
      problems.push(fieldError(field(name), error.message));
      return null;
    }
  };
  const same = form.get("x") === form.get("y");
  if (same) problems.push(fieldError(field("y"), "Up: choose another figure than across"));
  else fieldError(field("y"), "");
  return {
    x: form.get("x"),
    y: form.get("y"),
    xScale: form.get("xscale"),
    yScale: form.get("yscale"),
    lengthsOf: form.get("y") === "security" ? "time" : form.get("y"),
    operation: form.get("operation"),
    cache: form.get("cache"),
    messageBytes: Number(form.get("bytes")),
    search: String(form.get("search") || "").trim(),
    flashMax: checked("flash", (one) => bytesAtMost(one, "Flash at most")),
    ramMax: checked("ram", (one) => bytesAtMost(one, "RAM at most")),
    constant: Boolean(form.get("constant")),
    device: new Set(form.getAll("device")),
    library: new Set(form.getAll("library")),
    security: new Set(form.getAll("security")),
    sort: explorerShown.sort,
    descending: explorerShown.descending,
    pins: explorerShown.pins,
    problems,
  };
}

// --- the page's address ---------------------------------------------------------------------------

// What differs from the form as it was made, as the end of an address.
function explorerAddress() {
  const form = new FormData(explorerForm);
  const words = new URLSearchParams();
  for (const name of EXPLORER_FIELDS) {
    if (form.get(name) !== explorerShown.defaults.get(name)) words.set(name, form.get(name));
  }
  if (form.get("constant")) words.set("constant", "1");
  for (const name of EXPLORER_GROUPS) {
    const now = form.getAll(name).join(","), usual = explorerShown.defaults.getAll(name).join(",");
    if (now !== usual) words.set(name, now);
  }
  if (explorerShown.sort !== "front") words.set("sort", explorerShown.sort);
  if (explorerShown.descending) words.set("order", "descending");
  for (const pin of explorerShown.pins) words.append("pin", pin);
  return words.size ? `#explorer?${words}` : "#explorer";
}

// Sets the form as an address says. What it does not name is as usual, and what there is not is left out.
function readExplorerAddress(address) {
  const [part, query] = address.split("?", 2);
  if (part !== "#explorer" || query === undefined) return false;
  const words = new URLSearchParams(query);
  for (const name of EXPLORER_FIELDS) {
    const field = explorerForm.elements.namedItem(name);
    const wanted = words.get(name) ?? explorerShown.defaults.get(name);
    if (field.tagName !== "SELECT" || [...field.options].some((one) => one.value === wanted)) field.value = wanted;
  }
  explorerForm.elements.namedItem("constant").checked = words.get("constant") === "1";
  for (const name of EXPLORER_GROUPS) {
    const wanted = words.get(name)?.split(",") ?? explorerShown.defaults.getAll(name);
    for (const box of explorerForm.querySelectorAll(`input[name=${name}]`)) box.checked = wanted.includes(box.value);
  }
  const sort = words.get("sort");
  explorerShown.sort = EXPLORER_COLUMNS.some(([name]) => name === sort) ? sort : "front";
  explorerShown.descending = words.get("order") === "descending";
  explorerShown.pins = words.getAll("pin").slice(0, PINS_MAX);
  return true;
}

// --- what is shown --------------------------------------------------------------------------------

function explorerCounted(points, here, front, state) {
  const left = here.length - points.length;
  const many = points.length > POINTS_MAX;
  const scales = ["x", "y"].filter((axis) => state[axis] !== "security").map((axis) => {
    const log = isLogarithmic(points.map((point) => point[axis]), state[`${axis}Scale`]);
    return `${axis === "x" ? "across" : "up"} ${log ? "logarithmic" : "linear"}`;
  });
  const wanted = ["x", "y"].some((axis) => state[`${axis}Scale`] === "log" && state[axis] !== "security"
    && points.length && !isLogarithmic(points.map((point) => point[axis]), "log"));
  return [
    `${points.length} implementations at ${state.messageBytes} bytes, ${front.length} on the front; ${scales.join(", ")}`,
    wanted ? "; a logarithmic axis needs figures above 0" : "",
    many ? "; neighbours of one device are drawn as one point, larger for more" : "",
    left ? `; ${left} more have no such figure (no energy without a known current).` : ".",
  ].join("");
}

function updateExplorer() {
  const state = explorerState();
  const told = document.getElementById("explorer-count");
  if (state.problems.length) {
    told.textContent = `Not shown: ${state.problems.join("; ")}.`;
    return;
  }
  if (explorerShown.started) history.replaceState(null, "", explorerAddress());
  const rows = chosenRows(state);
  const here = rows.filter((row) => row.message_bytes === state.messageBytes);
  const points = here
    .map((row) => ({
      row,
      x: QUANTITIES[state.x].of(row, state.operation),
      y: QUANTITIES[state.y].of(row, state.operation),
    }))
    .filter((point) => known(point.x) && known(point.y));
  const front = paretoFront(points);
  told.textContent = explorerCounted(points, here, front, state);
  const element = document.getElementById("explorer-plot");
  const axisTitle = (axis) => quantityTitle(state[axis], state.operation, points.map((point) => point.row));
  element.setAttribute("aria-label",
    `${axisTitle("y")} against ${axisTitle("x")}, ${points.length} implementations; the table below has them`);
  if (points.length) draw(element, scatter(points, front, state));
  else nothingToDraw(element, "Nothing fits these filters: tick more devices, libraries or security statuses, or search for less.");
  const numbers = new Map(front.map((point, index) => [point.row, index + 1]));
  explorerShown.last = { state, here, numbers };
  showExplorerTable();
  showLengths(rows, state);
  document.getElementById("explorer-command").textContent = rowsCommand(here, state.messageBytes);
}

function nothingToDraw(element, text) {
  drawn.get(element)?.finalize?.();
  drawn.delete(element);
  element.textContent = text;
}

function showExplorerTable() {
  const { state, here, numbers } = explorerShown.last;
  explorerHead(state, (name) => {
    explorerShown.descending = explorerShown.sort === name && !explorerShown.descending;
    explorerShown.sort = name;
    rearranged(`#explorer-table button[data-sort=${name}]`);
  });
  const sorted = sortedRows(here, state, numbers);
  explorerTable(sorted, state, numbers, explorerShown.rows, (name) => {
    const pins = explorerShown.pins;
    explorerShown.pins = pins.includes(name) ? pins.filter((one) => one !== name) : [...pins, name].slice(-PINS_MAX);
    rearranged(`#explorer-table button[data-pin="${CSS.escape(name)}"]`);
  });
  fitExplorerTable();
  explorerCompared(here, state);
  const more = document.getElementById("explorer-more");
  more.hidden = sorted.length <= explorerShown.rows;
  more.textContent = `Show ${Math.min(ROWS_AT_ONCE, sorted.length - explorerShown.rows)} more of ${sorted.length} rows`;
  explorerShown.sorted = sorted;
}

// The table again after a button in it, which keeps the focus. Neither chart changes.
function rearranged(focused) {
  Object.assign(explorerShown.last.state, {
    sort: explorerShown.sort, descending: explorerShown.descending, pins: explorerShown.pins,
  });
  history.replaceState(null, "", explorerAddress());
  showExplorerTable();
  document.querySelector(focused)?.focus();
}

function showLengths(rows, state) {
  const lines = lengthLines(rows, state);
  const chosen = lines.slice(0, LINES_MAX);
  const note = document.getElementById("lengths-note");
  const element = document.getElementById("lengths-plot");
  note.textContent = chosen.length
    ? `${quantityTitle(state.lengthsOf, state.operation, chosen)}; the best implementation of each cipher on each device; ` +
      `${chosen.length} of ${lines.length} shown, the cheapest by the byte. Filters above choose others. ` +
      "Points are measured; the thin lines only join those of one series, because costs go up in steps between them."
    : "Nothing chosen was measured at three lengths or more: motecrypt measure ... --bytes 16,32,64,128";
  if (chosen.length) draw(element, lengthsChart(chosen, state));
  else nothingToDraw(element, "");
}

// --- copies ---------------------------------------------------------------------------------------

async function copyText(text, button) {
  let copied = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");  // where a page may not use the clipboard
    area.value = text;
    button.after(area);
    area.select();
    copied = document.execCommand("copy");
    area.remove();
    button.focus();
  }
  const told = document.getElementById("explorer-copied");
  told.textContent = copied ? `Copied: ${text.length > 120 ? `${text.slice(0, 120)}...` : text}` : `Not copied: ${text}`;
}

const EXPLORER_ACTIONS = {
  link: (button) => copyText(new URL(explorerAddress(), location.href).href, button),
  command: (button) => copyText(document.getElementById("explorer-command").textContent, button),
  csv: () => {
    const { state, numbers } = explorerShown.last;
    save("explorer.csv", "text/csv", csv(explorerValues(explorerShown.sorted, state, numbers)));
  },
  reset: () => {
    explorerForm.reset();
    Object.assign(explorerShown, { sort: "front", descending: false, pins: [], rows: ROWS_AT_ONCE });
    updateExplorer();
  },
  more: () => {
    explorerShown.rows += ROWS_AT_ONCE;
    showExplorerTable();
  },
};

function startExplorer() {
  const counts = new Map();
  const at = report.explorer.columns.indexOf("message_bytes");
  for (const row of report.explorer.rows) counts.set(row[at], (counts.get(row[at]) || 0) + 1);
  const select = explorerForm.elements.namedItem("bytes");
  const lengths = [...counts.keys()].sort((a, b) => a - b);
  const most = mostOf([...counts.values()]);
  const usual = counts.get(16) * 2 >= most ? 16 : lengths.find((length) => counts.get(length) === most);
  for (const length of lengths) {
    select.append(new Option(`${length} bytes (${counts.get(length)})`, String(length), length === usual, length === usual));
  }
  // Where no cold cache was measured, a warm one is shown first.
  const there = (cache) => report.explorer.words.some((word) => word.endsWith(`, ${cache}`));
  if (there("warm") && !there("cold")) {
    for (const option of explorerForm.elements.namedItem("cache").options) option.defaultSelected = option.selected = option.value === "warm";
  }
  explorerShown.defaults = new FormData(explorerForm);
  const asked = readExplorerAddress(location.hash);
  explorerForm.addEventListener("input", ({ target }) => {
    if (["x", "y"].includes(target.name) && target.value === "security") {  // a map has every status
      for (const box of explorerForm.querySelectorAll("input[name=security]")) box.checked = true;
    }
    explorerShown.started = true;
    explorerShown.rows = ROWS_AT_ONCE;
    updateExplorer();
  });
  explorerForm.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("explorer").addEventListener("click", (event) => {
    const action = event.target.dataset && EXPLORER_ACTIONS[event.target.dataset.explorer];
    if (action) action(event.target);
  });
  window.addEventListener("hashchange", () => {
    if (readExplorerAddress(location.hash)) updateExplorer();
  });
  const watch = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watch.disconnect();
    if (!explorerShown.last) updateExplorer();
  }, { rootMargin: "600px" });
  watch.observe(explorerForm);
  window.addEventListener("beforeprint", updateExplorer);
  if (asked) {
    updateExplorer();
    document.getElementById("explorer").scrollIntoView();
  }
}

if (explorerForm && report.explorer.rows.length) startExplorer();
