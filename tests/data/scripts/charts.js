// Of the report: how specifications are fitted to widths and to paper, what is saved, tables and their cells.
const line = { mark: "line", encoding: { y: { type: "nominal" } }, height: 100, width: 300, title: "One", data: { values: [{ a: 1 }, { b: "x" }] } };
const bare = { mark: "bar" }, tall = { height: 300, width: 90, layer: [{ encoding: { y: { type: "quantitative" } } }, { data: { values: [{ c: 2 }] } }] };
const several = { hconcat: [line, tall, bare], title: { text: "All" } };
const below = { vconcat: [bare], spacing: 3 }, free = { concat: [line, line, tall], columns: 2, title: { anchor: "start" } };
const all = { line, bare, tall, several, below, free };
const found = {};
for (const [name, one] of Object.entries(all)) {
  found[`${name} panels`] = panels(one);
  found[`${name} values`] = [values(one), csv(values(one)), values(one, "panel")];
  for (const width of [100, 260, 480, 519, 520, 700, 899, 900, 1200, 1800]) {
    found[`${name} ${width}`] = [sized(one, width), sized(one, width, 30), paperSized(one, width), lowered(one, width), lowered(one)];
  }
}
for (const width of [260, 499, 500, 519, 520, 899, 900]) found[`theme ${width}`] = [themed(width), paperTheme(width)];
found.csv = csv([{ a: "=1+1", b: "-5", c: null, d: 'say "x"' }, { a: "a,b", b: "+x", e: "two\nlines", f: 0, g: "@x" }, { a: "-x", b: "\tx" }]);
for (const value of [null, "text", {}, { one: 1, two: "x" }]) {
  tooltip(null, { clientX: 700, clientY: 590 }, null, value);
  const box = document.getElementById("tooltip");
  box.offsetWidth = 100;
  box.offsetHeight = 50;
  found[`tooltip ${JSON.stringify(value)}`] = tree(box);
}
tooltip(null, { clientX: 10, clientY: 20 }, null, { one: 1 });
found.tooltip = tree(document.getElementById("tooltip"));
// page.js
const made = wordedTable(["", "figure"], [["12 %", "a long text of more than forty characters, which is"], [document.createElement("b"), "<1.5"], ["~-3", "x 1"]], "Label");
found.table = tree(made);
const inner = made.querySelector("table");
fitTable(inner);
found.unmeasured = tree(inner);
made.clientWidth = 100;
fitTable(inner);
found.cards = tree(inner);
narrow.matches = false;
for (const wide of [100, 101, 102]) {
  inner.offsetWidth = wide;
  fitTable(inner);
  found[`cards of ${wide}`] = inner.className;
}
found.folded = tree(folded("Title", 7));
found.rows = [["good, nearly", "why", "what", "where", "1", "2"], ["other", "w", "x", "y"]].map((one) => rowTexts(one).map(tree));
const part = document.createElement("details");
part.dataset.source = "paper";
fillSource(part);
found.source = tree(part);
answer(found);
