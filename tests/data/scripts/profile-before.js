// What the page of a profile has before its scripts run: the tree of callers and the listings.
const rowsOf = (body, rows) => rows.map(([place, parent]) => {
  const row = body.insertRow(), button = document.createElement("button");
  Object.assign(row.dataset, { place, parent });
  button.className = "fold";
  button.setAttribute("aria-expanded", "true");
  if (place !== "2") row.insertCell().append(button);
  return row;
});
document.lists["#tree tbody tr"] = rowsOf(
  document.createElement("tbody"), [["0", "-1"], ["1", "0"], ["2", "1"], ["3", "-1"]],
);
const listing = (number, lines) => {
  const part = document.createElement("details"), table = document.createElement("table");
  part.dataset.listing = String(number);
  part.className = "listing";
  part.append(table);
  table.className = "source";
  const body = table.createTBody();
  for (let line = 0; line < lines; line += 1) {
    const button = document.createElement("button"), row = body.insertRow();
    row.dataset.line = String(line);
    button.className = "fold";
    button.setAttribute("aria-expanded", "false");
    row.insertCell().append(button);
  }
  return part;
};
const listings = [listing(0, 2), listing(1, 1)];
document.lists["details.listing"] = listings;
document.lists["table.source"] = listings.map((one) => one.children[0]);
