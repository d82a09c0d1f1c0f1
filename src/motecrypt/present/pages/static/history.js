// Rows and charts whose names have all the words of the search field.
"use strict";
const find = document.getElementById("history-find");
const foundStatus = document.getElementById("history-status");

function filterHistory() {
  const words = find.value.toLowerCase().split(/\s+/).filter(word => word !== "");
  let shown = 0;
  for (const one of document.querySelectorAll("[data-search]")) {
    one.hidden = !words.every(word => one.dataset.search.toLowerCase().includes(word));
    shown += !one.hidden && one.tagName === "TR" ? 1 : 0;
  }
  foundStatus.textContent = words.length === 0 ? "" : `${number(shown)} figures fit.`;
}
find?.addEventListener("input", filterHistory);
