// The explorer: filters, a scatter with its Pareto front, and cost against message length.
"use strict";

const LINES_MAX = 6;
const explorerForm = document.getElementById("explorer-form");
const explorerRows = report.explorer.rows.map((row) => {
  const texts = new Set(report.explorer.worded);
  const value = (index) => (texts.has(index) ? report.explorer.words[row[index]] : row[index]);
  return Object.fromEntries(report.explorer.columns.map((name, index) => [name, value(index)]));
});

const QUANTITIES = {
  time: { title: "time, µs", of: (row, operation) => row[`${operation}_us`] },
  energy: { title: "energy, µJ", of: (row, operation) => row[`${operation}_uj`] },
  flash: { title: "flash, bytes", of: (row) => row.flash_bytes },
  ram: { title: "RAM, bytes", of: (row) => row.ram_bytes },
  stack: { title: "stack, bytes", of: (row) => row.stack_bytes },
};

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

function explorerState() {
  const form = new FormData(explorerForm);
  return {
    x: form.get("x"),
    y: form.get("y"),
    operation: form.get("operation"),
    messageBytes: Number(form.get("message_bytes")),
    cipher: String(form.get("cipher") || "").trim().toLowerCase(),
    device: new Set(form.getAll("device")),
    library: new Set(form.getAll("library")),
    standing: new Set(form.getAll("standing")),
  };
}

function chosenRows(state) {
  return explorerRows.filter(
    (row) =>
      state.device.has(row.device) &&
      state.library.has(row.library) &&
      state.standing.has(row.standing) &&
      row.ad_bytes === 0 &&
      (!state.cipher || row.cipher.includes(state.cipher)),
  );
}

// Logarithmic where the values are positive and span much, else from zero.
function axisOf(field, numbers, title) {
  const least = Math.min(...numbers), largest = Math.max(...numbers);
  const axis = { field, type: "quantitative", title };
  if (!(least > 0) || largest / least < 20) {
    return { ...axis, scale: { zero: true, nice: true }, axis: { tickCount: 6 } };
  }
  const low = Math.floor(Math.log10(least)), high = Math.ceil(Math.log10(largest));
  const values = [];
  for (let power = low; power <= high; power += 1) {
    for (const part of high - low < 3 ? [1, 2, 5] : [1]) values.push(Number(`${part}e${power}`));
  }
  return { ...axis, scale: { type: "log", nice: false, padding: 9 }, axis: { values, format: ",~r" } };
}

function scatter(points, front, state) {
  const numbered = new Map(front.map((point, index) => [point, index + 1]));
  const rows = points.map((point) => ({
    x: point.x,
    y: point.y,
    device: point.row.device,
    cipher: point.row.cipher,
    standing: point.row.standing,
    implementation: point.row.implementation,
    "key bits": point.row.key_bits,
    placement: point.row.placement,
    front: numbered.get(point) || null,
  }));
  const axis = (name, field) => axisOf(field, points.map((point) => point[field]), QUANTITIES[name].title);
  const x = axis(state.x, "x"), y = axis(state.y, "y");
  const legend = { orient: "bottom", columns: 2 };
  const standings = ["recommended", "acceptable", "legacy", "broken", "unrated"];
  const color = {
    field: "standing",
    type: "nominal",
    title: null,
    legend,
    scale: { domain: standings, range: ["#3f9b6b", "#3b82c4", "#c8901a", "#c4503a", "#8a8a8a"] },
  };
  const shape = { field: "device", type: "nominal", title: null, legend: { orient: "top" } };
  const tooltip = ["cipher", "standing", "device", "implementation", "key bits", "placement"]
    .map((field) => ({ field }))
    .concat([
      { field: "x", type: "quantitative", title: QUANTITIES[state.x].title },
      { field: "y", type: "quantitative", title: QUANTITIES[state.y].title },
    ]);
  const dots = (filter, mark) => ({
    transform: [{ filter }],
    mark: { type: "point", size: 60, ...mark },
    encoding: { x, y, color, shape, tooltip },
  });
  return {
    data: { values: rows },
    height: 340,
    layer: [
      {
        transform: [{ filter: "datum.front" }],
        mark: { type: "line", interpolate: "step-after", opacity: 0.5, strokeDash: [4, 3], color: "gray" },
        encoding: { x, y, detail: { field: "device" }, order: { field: "x", type: "quantitative" } },
      },
      dots("!datum.front", { filled: false, strokeWidth: 1.6 }),
      dots("datum.front", { filled: true, opacity: 1 }),
      {
        transform: [{ filter: "datum.front" }],
        mark: { type: "text", dx: 8, dy: -7, fontSize: 11, align: "left" },
        encoding: { x, y, text: { field: "front" } },
      },
    ],
  };
}

function frontTable(front, state) {
  const body = document.querySelector("#explorer-front tbody");
  body.replaceChildren(
    ...front.map(({ row }, index) => {
      const line = document.createElement("tr");
      const texts = [row.device, row.cipher, row.standing, row.implementation, row.key_bits, row.placement];
      const numbers = [
        row[`${state.operation}_us`], row[`${state.operation}_uj`],
        row.flash_bytes, row.ram_bytes, row.stack_bytes,
      ];
      const cells = [index + 1, ...texts, ...numbers.map(figureText), row.varies];
      cells.forEach((text, column) => {
        const cell = document.createElement("td");
        cell.textContent = text;
        if (column === 0 || column === 5 || (column >= 7 && column <= 11)) cell.className = "n";
        line.append(cell);
      });
      return line;
    }),
  );
}

// The fastest implementation of each cipher on each device, of those measured at three lengths or more.
function lengthLines(rows, state) {
  const series = new Map();
  for (const row of rows) {
    const value = QUANTITIES[state.y].of(row, state.operation);
    if (!known(value)) continue;
    const bits = row.cipher.includes(String(row.key_bits)) ? "" : `, ${row.key_bits} bit`;
    const where = row.placement === "flash" ? "" : ` (${row.placement})`;
    const name = `${row.device} ${row.cipher} ${row.implementation}${where}${bits}`;
    if (!series.has(name)) series.set(name, { name, group: `${row.device} ${row.cipher}`, values: new Map() });
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

function drawLengths(rows, state) {
  const lines = lengthLines(rows, state);
  const chosen = lines.slice(0, LINES_MAX);
  const values = chosen.flatMap((line) =>
    [...line.values]
      .sort((a, b) => a[0] - b[0])
      .map(([length, value]) => ({ series: line.name, message_bytes: length, value })),
  );
  const note = document.getElementById("lengths-note");
  const quantity = QUANTITIES[state.y].title;
  const element = document.getElementById("lengths-plot");
  note.textContent = chosen.length
    ? `${quantity} to ${state.operation}, the best implementation of each cipher on each device; ` +
      `${chosen.length} of ${lines.length} shown, the cheapest by the byte. Filters above choose others.`
    : "Nothing chosen was measured at three lengths or more: motecrypt measure ... --bytes 16,32,64,128";
  if (!chosen.length) {
    element.replaceChildren();
    return;
  }
  const legend = { orient: "bottom", columns: 1, labelLimit: 300 };
  const by = { field: "series", type: "nominal", title: null, sort: null, legend };
  const silent = { ...by, legend: null };  // the points' legend is enough
  const x = { field: "message_bytes", type: "quantitative", title: "message, bytes", scale: { zero: false } };
  const y = axisOf("value", values.map((value) => value.value), quantity);
  draw(element, {
    data: { values },
    height: 260,
    layer: [
      { mark: { type: "line", strokeWidth: 1.8 }, encoding: { x, y, stroke: silent, strokeDash: silent } },
      {
        mark: { type: "point", size: 48, strokeWidth: 1.8 },
        encoding: { x, y, color: by, shape: by, tooltip: [{ field: "series" }, { field: "message_bytes" }, { field: "value" }] },
      },
    ],
  });
}

function updateExplorer() {
  const state = explorerState();
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
  const left = here.length - points.length;
  document.getElementById("explorer-count").textContent =
    `${points.length} implementations at ${state.messageBytes} bytes, ${front.length} on the front` +
    (left ? `; ${left} more have no such figure (no energy without a known current).` : ".");
  const element = document.getElementById("explorer-plot");
  if (points.length) draw(element, scatter(points, front, state));
  else element.textContent = "Nothing fits these filters: tick more devices, libraries or security statuses.";
  frontTable(front, state);
  drawLengths(rows, state);
}

function startExplorer() {
  const counts = new Map();
  for (const row of explorerRows) counts.set(row.message_bytes, (counts.get(row.message_bytes) || 0) + 1);
  const select = explorerForm.elements.message_bytes;
  const lengths = [...counts.keys()].sort((a, b) => a - b);
  const most = Math.max(...counts.values());
  const usual = counts.get(16) * 2 >= most ? 16 : lengths.find((length) => counts.get(length) === most);
  for (const length of lengths) {
    const option = new Option(`${length} bytes (${counts.get(length)})`, String(length));
    option.selected = length === usual;
    select.append(option);
  }
  explorerForm.addEventListener("input", updateExplorer);
  explorerForm.addEventListener("submit", (event) => event.preventDefault());
  const watch = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watch.disconnect();
    updateExplorer();
  }, { rootMargin: "600px" });
  watch.observe(explorerForm);
  window.addEventListener("beforeprint", updateExplorer);
}

if (explorerForm && explorerRows.length) startExplorer();
