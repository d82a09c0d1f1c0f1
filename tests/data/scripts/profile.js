// Of the page of a profile: the flame graph, its keys and search, the tree that folds, the stack, and instructions.
const drawing = () => ({ flame: tree(flameBox), status: flameStatus.textContent, reset: Boolean(flameReset.disabled), told: document.told.splice(0) });
const found = { whole: drawing(), colours: ["", "a", "main", "é𝄞", "zzzzzzzz"].map(colour) };
for (const node of flame.nodes) {
  choose(node);
  found[`chosen ${node.name} ${node.place}`] = drawing();
}
everything();
found.everything = drawing();
flame.current = flame.roots[0];
for (const key of ["ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowUp", "ArrowLeft", "ArrowUp", "x", "ArrowDown", "Escape"]) {
  flameBox.fire("keydown", { key });
  found[`key ${Object.keys(found).length} ${key}`] = [flame.current.name, document.told.splice(0), flameStatus.textContent, [...flame.drawn.values()].map((one) => one.tabIndex)];
}
for (const text of ["", " WORK ", "nothing", "i"]) {
  flameFind.value = text;
  flameFind.fire("input");
  found[`find '${text}'`] = [flameStatus.textContent, [...flame.drawn.values()].map((one) => one.className)];
}
[...flame.drawn.values()][1].fire("mouseenter");
found.pointed = flameStatus.textContent;
[...flame.drawn.values()][1].fire("click");
found.clicked = drawing();
flameReset.fire("click");
found.reset = drawing();
const tree_of = document.getElementById("tree");
for (const place of ["0", "1", "0"]) {
  tree_of.fire("click", { target: treeRows.get(place).querySelector("button.fold") });
  found[`fold ${Object.keys(found).length} ${place}`] = [...treeRows.values()].map((row) => [row.hidden ?? false, tree(row)]);
}
tree_of.fire("click", { target: { closest: () => null } });
found.stack_first = [stackAt.value, tree(document.getElementById("stack-status")), stackAt.attributes];
for (const at of [0, 1, 2, 3]) {
  stackAt.value = String(at);
  stackAt.fire("input");
  found[`stack ${at}`] = [document.getElementById("stack-status").textContent, stackAt.attributes["aria-valuetext"]];
}
const table = document.lists["table.source"][0];
for (const number of [0, 1, 0, 0]) {
  const button = table.querySelectorAll("button.fold")[number];
  table.fire("click", { target: button });
  found[`unfold ${Object.keys(found).length} ${number}`] = tree(table);
}
found.alone = document.lists["details.listing"].map(tree);
answer(found);
