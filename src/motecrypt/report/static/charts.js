// Draws figures with the Vega inside this file, when they come into view; saves them as SVG and CSV.
"use strict";

const report = JSON.parse(document.getElementById("data").textContent);
const drawable = typeof window.vegaEmbed === "function";
const drawn = new Map();  // element -> { view, specification, width }
const failures = [];      // what could not be drawn, for tests of this page

const panels = (specification) => ["hconcat", "vconcat", "concat"].some((key) => key in specification);

// A specification without a width of its own gets the width of its place; panels are set in as many
// columns as there is room for.
function sized(specification, width) {
  if (!panels(specification)) {
    return { autosize: { type: "fit-x", contains: "padding" }, ...specification, width };
  }
  const { hconcat, vconcat, concat, ...rest } = specification;
  const room = width - 90;
  const parts = (hconcat || vconcat || concat).map((part) => (part.width > room ? { ...part, width: room } : part));
  const widest = Math.max(...parts.map((part) => (part.width || 200) + 95));
  return { ...rest, concat: parts, columns: Math.max(1, Math.floor(width / widest)) };
}

// Draws, or draws again; resolves to the view. The last call for an element counts.
async function draw(element, specification) {
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
    const made = await window.vegaEmbed(element, sized(specification, width), {
      mode: "vega-lite", renderer: "svg", actions: false, defaultStyle: false, config: report.theme, tooltip,
    });
    if (drawn.get(element) !== mine) {
      made.finalize();
      return null;
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

// On paper everything is open.
let closed = [];
window.addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  closed.forEach((part) => { part.open = true; });
});
window.addEventListener("afterprint", () => closed.forEach((part) => { part.open = false; }));

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
    const text = value === null || value === undefined ? "" : String(value);
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
