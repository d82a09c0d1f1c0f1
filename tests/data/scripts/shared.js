// What all pages share: numbers, shares, sorting; and the search of a history.
const found = {
  numbers: [0, 1, 1234567, 0.12345, -1234.5678, 1e-7].map(number),
  shares: [[1, 3], [1, 0], [0, 7], [999, 1000]].map(([part, whole]) => percent(part, whole)),
};
const texts = ["10", "9", "-3 %", "", "b", "a", "1,234.5 x", "~2", " 7 ", "a"];
found.keys = texts.map((text) => String(sortKey({ textContent: text })));
const table = document.createElement("table");
const head = table.createTHead().insertRow(), body = table.createTBody();
for (const name of ["one", "two"]) head.insertCell().append(Object.assign(document.createElement("button"), { textContent: name }));
texts.forEach((text, at) => { const row = body.insertRow(); row.insertCell().textContent = text; row.insertCell().textContent = String(at % 3); });
for (const column of [0, 0, 1, 1, 0]) {
  const before = [...body.children];
  body.append = (...rows) => { body.children = rows; };
  sortBy(table, column);
  found[`sorted ${Object.keys(found).length} ${column}`] = [body.children.map((row) => row.children.map((cell) => cell.textContent)), tree(head), before.length];
}
const rows = ["uno aes", "pico aes", "pico rc4", "chart aes"].map((text, at) => {
  const row = document.createElement(at === 3 ? "figure" : "tr");
  row.dataset.search = text.toUpperCase();
  return row;
});
document.lists["[data-search]"] = rows;
for (const text of ["", "aes", " AES  pico ", "x", "c"]) {
  find.value = text;
  find.fire("input");
  found[`search '${text}'`] = [rows.map((row) => row.hidden), foundStatus.textContent];
}
answer(found);
