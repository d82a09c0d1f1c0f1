// Draws figures with the Vega inside this file, when they come into view; saves them as SVG and CSV.
"use strict";

const report = JSON.parse(document.getElementById("data").textContent);
const drawable = typeof window.vegaEmbed === "function";
const drawn = new Map();  // element -> { view, specification, width }
const failures = [];      // what could not be drawn, for tests of this page

const panels = (specification) => ["hconcat", "vconcat", "concat"].some((key) => key in specification);

// A specification without a width of its own gets the width of its place; panels are set in as many
// columns as there is room for, and are narrower by `less`, which a first drawing was too wide by.
function sized(specification, width, less = 0) {
  if (!panels(specification)) {
    return { autosize: { type: "fit-x", contains: "padding" }, ...specification, width };
  }
  const { hconcat, vconcat, concat, ...rest } = specification;
  const parts = hconcat || vconcat || concat;
  const widest = Math.max(...parts.map((part) => (part.width || 200) + 95));
  const columns = Math.max(1, Math.floor(width / widest));
  const room = Math.max(110, width / columns - 90 - less / columns);
  const fitted = parts.map((part) => (part.width > room ? { ...part, width: room } : part));
  return { ...rest, concat: fitted, columns };
}

// The theme with legends and titles that fit where there is little room.
function themed(width) {
  if (width >= 900) return report.theme;
  const { legend, title } = report.theme;
  const columns = width < 520 ? 1 : 2;
  return {
    ...report.theme,
    legend: { ...legend, columns, labelLimit: Math.min(legend.labelLimit, width / columns - 60) },
    title: { ...title, fontSize: width < 520 ? 11 : title.fontSize, limit: width - 110 },
  };
}

// On paper panels are side by side and low, so that all figures take few pages.
let onPaper = false;
function lowered(part, width) {
  const encoding = part.encoding || (part.layer && part.layer[0].encoding) || {};
  const rows = encoding.y && encoding.y.type === "nominal";
  const height = typeof part.height === "number" ? part.height : 120;
  return { ...part, height: rows ? height * 0.6 : Math.min(height, 88), ...(width ? { width } : {}) };
}
function paperSized(specification, width) {
  if (!panels(specification)) return { ...lowered(specification), autosize: { type: "fit-x", contains: "padding" }, width };
  const { hconcat, vconcat, concat, ...rest } = specification;
  const parts = hconcat || vconcat || concat;
  const columns = Math.min(parts.length, Math.max(1, Math.floor(width / 165)));
  return { ...rest, spacing: 8, columns, concat: parts.map((part) => lowered(part, width / columns - 85)) };
}
function paperTheme(width) {
  const { axis, legend, title } = report.theme;
  const small = { labelFontSize: 10, titleFontSize: 10 };
  return {
    ...report.theme,
    axis: { ...axis, ...small, labelLimit: 110 },
    legend: { ...legend, ...small, ...(width < 500 ? { columns: 2, labelLimit: 120 } : {}) },
    title: { ...title, fontSize: 10, limit: 170 },
  };
}

// Draws, or draws again; resolves to the view. The last call for an element counts.
async function draw(element, specification, less = 0) {
  if (!drawable) {
    element.textContent = "This report was made without Vega: its tables hold all figures.";
    return null;
  }
  const width = Math.max(260, element.clientWidth || 440);
  const mine = { specification, width, view: null };
  const before = drawn.get(element);
  drawn.set(element, mine);
  if (before && before.finalize) before.finalize();
  try {
    const made = await window.vegaEmbed(element, onPaper ? paperSized(specification, width) : sized(specification, width, less), {
      mode: "vega-lite", renderer: "svg", actions: false, defaultStyle: false, config: onPaper ? paperTheme(width) : themed(width), tooltip,
    });
    if (drawn.get(element) !== mine) {
      made.finalize();
      return null;
    }
    const over = element.clientWidth ? element.scrollWidth - element.clientWidth : 0;
    if (over > 1 && less < 150 && panels(specification)) {
      made.finalize();
      drawn.delete(element);
      return draw(element, specification, less + over + 4);
    }
    mine.view = made.view;
    mine.finalize = made.finalize;
    return made.view;
  } catch (error) {
    failures.push(`${element.closest("figure")?.id}: ${error.message}`);
    element.textContent = `This figure could not be drawn (${error.message}); its data is in the tables.`;
    return null;
  }
}

// The values under the pointer, in one box for the whole page.
function tooltip(_handler, event, _item, value) {
  let box = document.getElementById("tooltip");
  if (!box) {
    box = document.createElement("div");
    box.id = "tooltip";
    document.body.append(box);
  }
  const entries = value && typeof value === "object" ? Object.entries(value) : [];
  box.hidden = !entries.length;
  box.replaceChildren(
    ...entries.map(([name, text]) => {
      const line = document.createElement("div");
      line.textContent = `${name}: ${text}`;
      return line;
    }),
  );
  if (!entries.length) return;
  box.style.left = `${Math.min(event.clientX + 12, window.innerWidth - box.offsetWidth - 8)}px`;
  box.style.top = `${Math.min(event.clientY + 12, window.innerHeight - box.offsetHeight - 8)}px`;
}

function drawFigure(figure) {
  const element = figure.querySelector(".plot");
  const specification = report.figures[figure.dataset.figure];
  return specification && !drawn.has(element) ? draw(element, specification) : null;
}

// First what is in view, then in idle moments the rest, so that printing finds all of it.
const figures = [...document.querySelectorAll("figure[data-figure]")];
const watcher = new IntersectionObserver(
  (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => drawFigure(entry.target)),
  { rootMargin: "400px" },
);
figures.forEach((figure) => watcher.observe(figure));

const idle = window.requestIdleCallback || ((work) => setTimeout(work, 50));
async function drawRest(left) {
  const figure = left.find((one) => !drawn.has(one.querySelector(".plot")));
  if (!figure) return;
  await drawFigure(figure);
  idle(() => drawRest(left));
}
window.addEventListener("load", () => idle(() => drawRest(figures)));

// Figures take the width of their place: drawn again when it changed.
const resized = new Map();
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    clearTimeout(resized.get(target));
    resized.set(target, setTimeout(() => {
      const known = drawn.get(target);
      if (!known || !target.clientWidth) return;
      if (Math.abs(target.clientWidth - known.width) > 8) draw(target, known.specification);
    }, 120));
  }
});
document.querySelectorAll(".plot").forEach((element) => widths.observe(element));

// The data of a figure as a table, made when it is asked for.
document.addEventListener("toggle", (event) => {
  const part = event.target;
  if (!part.open || !part.matches || !part.matches("details.data")) return;
  part.querySelector(".scroll")?.remove();  // a chart may have been drawn again since
  const figure = part.closest("figure");
  const rows = values(report.figures[figure.dataset.figure] || drawn.get(figure.querySelector(".plot"))?.specification || {});
  const columns = [...new Set(rows.flatMap(Object.keys))];
  const table = document.createElement("table");
  const line = (tag, texts) => {
    const row = document.createElement("tr");
    for (const text of texts) {
      const cell = document.createElement(tag);
      if (tag === "th") cell.scope = "col";
      cell.textContent = typeof text === "number" ? Number(text.toPrecision(6)).toLocaleString("en") : text ?? "";
      row.append(cell);
    }
    return row;
  };
  table.createTHead().append(line("th", columns));
  table.createTBody().append(...rows.map((row) => line("td", columns.map((column) => row[column]))));
  table.className = "cards";
  const box = document.createElement("div");
  box.className = "scroll";
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", `Data of ${figure.id.replace("figure-", "figure ")}: ${figure.querySelector("h3, h4").textContent}`);
  box.append(table);
  part.append(box);
}, true);

// On paper the sources are open, with their figures; tables of rows are for the screen.
let closed = [];
window.addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details.source:not([open])")];
  closed.forEach((part) => { part.open = true; });
});
window.addEventListener("afterprint", () => closed.forEach((part) => { part.open = false; }));

// For `motecrypt report --pdf`: opens the sources and draws each figure at the width that it has on paper.
const figuresOnPaper = () => figures.filter((figure) => figure.querySelector(".plot").clientWidth > 0);
async function preparePaper() {
  onPaper = true;
  document.querySelectorAll("details.source").forEach((part) => { part.open = true; });
  await new Promise((resolve) => { setTimeout(resolve, 400); });
  for (const figure of figuresOnPaper()) {
    const element = figure.querySelector(".plot");
    await draw(element, report.figures[figure.dataset.figure]);
  }
  for (const id of ["life-by-interval", "life-by-size"]) {
    const known = drawn.get(document.getElementById(id));
    if (known) await draw(document.getElementById(id), known.specification);
  }
}

// --- saving ---------------------------------------------------------------------------------------

function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function values(specification, panel = "") {
  const title = specification.title ?? panel;
  const name = typeof title === "string" ? title : title.text || panel;
  const own = (specification.data && specification.data.values) || [];
  const rows = own.map((value) => (panel ? { panel: name, ...value } : value));
  for (const key of ["layer", "hconcat", "vconcat", "concat"]) {
    for (const part of specification[key] || []) rows.push(...values(part, name || "panel"));
  }
  return rows;
}

function csv(rows) {
  const columns = [...new Set(rows.flatMap(Object.keys))];
  const cell = (value) => {
    const plain = value === null || value === undefined ? "" : String(value);
    // A spreadsheet computes what begins like a formula.
    const text = /^[=+\-@\t\r]/.test(plain) && !Number.isFinite(Number(plain)) ? `'${plain}` : plain;
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows.map((row) => columns.map((name) => row[name]))]
    .map((row) => row.map(cell).join(","))
    .join("\n");
}

document.addEventListener("click", async (event) => {
  const kind = event.target.dataset && event.target.dataset.save;
  if (!kind) return;
  const figure = event.target.closest("figure");
  const name = figure.id.replace(/^figure-/, "");
  const known = drawn.get(figure.querySelector(".plot"));
  if (!known || !known.view) return;
  if (kind === "csv") {
    save(`${name}.csv`, "text/csv", csv(values(known.specification)));
  } else {
    const picture = await known.view.toSVG();
    const style = '<rect width="100%" height="100%" fill="white"/>';
    const light = picture.replaceAll("currentColor", "#1a1a1a").replace(/(<svg[^>]*>)/, `$1${style}`);
    save(`${name}.svg`, "image/svg+xml", light);
  }
});
