// The flame graph, the call tree that folds, and the slider over the stack. Texts are set as text, never as HTML.
"use strict";
const ROW = 23;
const LEAST_SHARE = 0.0008; // of the shown width: narrower blocks are not drawn

const flame = (() => {
  const nodes = data.flame.nodes.map(([parent, name, calls, cycles, own], place) =>
    ({place, parent, name: data.flame.names[name], calls, cycles, own, below: [], depth: 0}));
  for (const node of nodes) {
    if (node.parent >= 0) {
      nodes[node.parent].below.push(node);
      node.depth = nodes[node.parent].depth + 1;
    }
  }
  return {nodes, roots: nodes.filter(node => node.parent < 0), chosen: null, drawn: new Map(), current: null};
})();
const flameBox = document.getElementById("flame");
const flameStatus = document.getElementById("flame-status");
const flameFind = document.getElementById("flame-find");
const flameReset = document.getElementById("flame-reset");

function colour(name) {
  let hash = 0;
  for (const letter of name) {
    hash = (hash * 31 + letter.codePointAt(0)) >>> 0;
  }
  return `c${hash % 6}`;
}

function described(node) {
  const calls = node.calls === 1 ? "1 call" : `${number(node.calls)} calls`;
  return `${node.name}: ${number(node.cycles)} cycles (${percent(node.cycles, data.total)}), ` +
    `${number(node.own)} of them its own, ${calls}`;
}

function addBlock(node, left, width, above) {
  const block = document.createElement("button");
  block.type = "button";
  block.textContent = node.name;
  block.className = colour(node.name) + (above ? " above" : "");
  block.style.left = `${100 * left}%`;
  block.style.width = `${100 * width}%`;
  block.style.top = `${ROW * node.depth}px`;
  block.tabIndex = -1;
  block.setAttribute("aria-label", described(node));
  block.title = described(node);
  block.addEventListener("click", () => choose(node));
  block.addEventListener("focus", () => { flame.current = node; tell(node); });
  block.addEventListener("mouseenter", () => tell(node));
  flame.drawn.set(node, block);
  flameBox.append(block);
}

function addBelow(node, left, width) {
  let at = left;
  for (const child of node.below) {
    const wide = width * child.cycles / (node.cycles || 1);
    if (wide >= LEAST_SHARE) {
      addBlock(child, at, wide, false);
      addBelow(child, at, wide);
    }
    at += wide;
  }
}

function drawFlame() {
  flameBox.replaceChildren();
  flame.drawn.clear();
  if (flame.chosen === null) {
    let at = 0;
    for (const root of flame.roots) {
      const wide = root.cycles / data.total;
      addBlock(root, at, wide, false);
      addBelow(root, at, wide);
      at += wide;
    }
  } else {
    for (let node = flame.nodes[flame.chosen.parent]; node; node = flame.nodes[node.parent]) {
      addBlock(node, 0, 1, true);
    }
    addBlock(flame.chosen, 0, 1, false);
    addBelow(flame.chosen, 0, 1);
  }
  const deepest = Math.max(0, ...[...flame.drawn.keys()].map(node => node.depth));
  flameBox.style.height = `${ROW * (deepest + 1) + 1}px`;
  const first = flame.drawn.get(flame.current) ?? flame.drawn.values().next().value;
  if (first) {
    first.tabIndex = 0;
  }
  flameReset.disabled = flame.chosen === null;
  mark();
}

function choose(node) {
  flame.chosen = node.parent < 0 && flame.roots.length === 1 ? null : node;
  flame.current = node;
  drawFlame();
  flame.drawn.get(node)?.focus();
}

function everything() {
  flame.chosen = null;
  drawFlame();
  flame.drawn.get(flame.current)?.focus();
}

function tell(node) {
  flameStatus.textContent = described(node);
}

function mark() {
  const wanted = flameFind.value.trim().toLowerCase();
  let found = 0;
  for (const [node, block] of flame.drawn) {
    const hit = wanted !== "" && node.name.toLowerCase().includes(wanted);
    block.classList.toggle("match", hit);
    block.classList.toggle("miss", wanted !== "" && !hit);
  }
  if (wanted !== "") {
    for (const node of flame.nodes) {
      found += node.name.toLowerCase().includes(wanted) ? node.own : 0;
    }
    flameStatus.textContent = `${percent(found, data.total)} of all cycles are in the functions that match.`;
  }
}

// The nearest block that is drawn to the left or right in the same row.
function beside(node, step) {
  const row = [...flame.drawn.keys()].filter(other => other.depth === node.depth)
    .sort((a, b) => Number.parseFloat(flame.drawn.get(a).style.left) - Number.parseFloat(flame.drawn.get(b).style.left));
  return row[row.indexOf(node) + step];
}

function moved(node, key) {
  switch (key) {
    case "ArrowDown": return node.below.find(child => flame.drawn.has(child));
    case "ArrowUp": return flame.nodes[node.parent];
    case "ArrowRight": return beside(node, 1);
    case "ArrowLeft": return beside(node, -1);
    default: return undefined;
  }
}

flameBox.addEventListener("keydown", event => {
  if (event.key === "Escape") {
    event.preventDefault();
    everything();
    return;
  }
  const next = flame.current && event.key.startsWith("Arrow") ? moved(flame.current, event.key) : undefined;
  const block = flame.drawn.get(next);
  if (event.key.startsWith("Arrow")) {
    event.preventDefault();
  }
  if (block) {
    flame.drawn.get(flame.current).tabIndex = -1;
    block.tabIndex = 0;
    block.focus();
  }
});
flameFind.addEventListener("input", mark);
flameReset.addEventListener("click", everything);
flame.current = flame.roots[0] ?? null;
drawFlame();

// The call tree: a row is hidden while any of its callers is folded.
const treeRows = new Map([...document.querySelectorAll("#tree tbody tr")].map(row => [row.dataset.place, row]));

function foldedAbove(row) {
  for (let above = treeRows.get(row.dataset.parent); above; above = treeRows.get(above.dataset.parent)) {
    if (above.querySelector("button.fold")?.getAttribute("aria-expanded") === "false") {
      return true;
    }
  }
  return false;
}

document.getElementById("tree").addEventListener("click", event => {
  const button = event.target.closest("button.fold");
  if (button) {
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    button.textContent = open ? "▸" : "▾";
    treeRows.forEach(row => { row.hidden = foldedAbove(row); });
  }
});

// The stack at a time.
const stackAt = document.getElementById("stack-at");
function tellStack() {
  const slot = data.stack.slots[Number(stackAt.value)];
  const begin = number(Number(stackAt.value) * data.stack.slot);
  const text = slot === null ? "not known" : `${number(slot[0])} bytes, in ${data.stack.names[slot[1]]}`;
  document.getElementById("stack-status").textContent = `From ${begin} ${data.stack.unit}: ${text}.`;
  stackAt.setAttribute("aria-valuetext", `${begin} ${data.stack.unit}: ${text}`);
}
if (stackAt) {
  stackAt.addEventListener("input", tellStack);
  stackAt.value = data.stack.slots.reduce((most, slot, at) => (slot?.[0] ?? -1) > (data.stack.slots[most]?.[0] ?? -1) ? at : most, 0);
  tellStack();
}
