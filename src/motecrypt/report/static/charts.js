// Draws figures with the Vega inside this file, when they come into view; saves them as SVG and CSV.
"use strict";

const report = JSON.parse(document.getElementById("data").textContent);
const drawable = Boolean(window.vega && window.vegaLite);
const drawn = new Map();  // element -> { view, specification }
const failures = [];      // what could not be drawn, for whoever tests this page

// A specification without a width of its own gets the width of its place.
function sized(specification, width) {
  const own = ["hconcat", "vconcat", "concat"].some((key) => key in specification);
  return own || "width" in specification ? specification : { ...specification, width };
}

function compile(specification, width) {
  const themed = {
    ...sized(specification, width),
    autosize: specification.autosize || { type: "fit-x", contains: "padding" },
    config: report.theme,
  };
  if (["hconcat", "vconcat", "concat"].some((key) => key in specification)) delete themed.autosize;
  return window.vegaLite.compile(themed).spec;
}

// Draws now. Data is inside the specification, so the view is complete when this returns.
function draw(element, specification) {
  if (!drawable) {
    element.textContent = "This report was made without Vega: its tables hold all figures.";
    return null;
  }
  const known = drawn.get(element);
  if (known) known.view.finalize();
  const width = Math.max(260, element.clientWidth || 440);
  try {
    const view = new window.vega.View(window.vega.parse(compile(specification, width)), {
      renderer: "svg",
      container: element,
      hover: true,
      logLevel: window.vega.Error,
    });
    view.tooltip(tooltip);
    view.run();
    drawn.set(element, { view, specification, width });
    return view;
  } catch (error) {
    failures.push(String(error));
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
  if (specification && !drawn.has(element)) draw(element, specification);
}

const figures = [...document.querySelectorAll("figure[data-figure]")];
const watcher = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      drawFigure(entry.target);
    }
  },
  { rootMargin: "400px" },
);
figures.forEach((figure) => watcher.observe(figure));

// Figures take the width of their place: drawn again when it changed.
let waiting = 0;
window.addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    for (const [element, { specification, width }] of [...drawn]) {
      if (element.clientWidth && Math.abs(element.clientWidth - width) > 8) draw(element, specification);
    }
  }, 150);
});

// On paper everything is open and drawn.
let closed = [];
window.addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  closed.forEach((part) => { part.open = true; });
  figures.forEach(drawFigure);
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
  if (!known) return;
  if (kind === "csv") {
    save(`${name}.csv`, "text/csv", csv(values(known.specification)));
  } else {
    const picture = await known.view.toSVG();
    const style = '<rect width="100%" height="100%" fill="white"/>';
    const light = picture.replaceAll("currentColor", "#1a1a1a").replace(/(<svg[^>]*>)/, `$1${style}`);
    save(`${name}.svg`, "image/svg+xml", light);
  }
});
