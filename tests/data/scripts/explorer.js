// Of the explorer: axes, scales, points that are put together, and both charts.
const found = { scales: deviceScales(["uno", "pico", "uno", "odd"]) };
const ranges = [[1, 2, 3], [1, 19.9], [1, 20], [0, 5], [-1, 100], [], [0.003, 4000], [5, 5]];
for (const numbers of ranges) for (const wanted of ["auto", "log", "linear"]) {
  found[`axis ${numbers} ${wanted}`] = [isLogarithmic(numbers, wanted), axisOf("f", numbers, "title", wanted)];
}
const securities = ["recommended", "broken", "legacy"];
const row = (n) => ({
  device: ["uno", "pico", "odd"][n % 3], cipher: `c${n % 7}`, security: securities[n % 3 ? 0 : n % 2 + 1], implementation: `i${n}`, key_bits: 128,
  placement: n % 4 ? "flash" : "flash, cold", flags: "", message_bytes: 16, flash_bytes: 100 + n, ram_bytes: n, encrypt_us: 1 + n * n, encrypt_uj: 7 / (n + 1), encrypt_stack_bytes: 30 - n,
});
const point = (n) => ({ row: row(n), x: row(n).encrypt_us, y: row(n).encrypt_uj });
const state = { x: "time", y: "energy", xScale: "auto", yScale: "linear", operation: "encrypt", lengthsOf: "time", messageBytes: 16 };
const few = Array.from({ length: 9 }, (_, n) => point(n));
found.few = scatter(few, paretoFront(few), state);
found.security = scatter(few.map((one) => ({ ...one, x: STATUSES.indexOf(one.row.security) })), paretoFront(few).slice(0, 2), { ...state, x: "security" });
found.upward = scatter(few.slice(1, 3), few.slice(1, 3), { ...state, y: "security", yScale: "log" });
const many = Array.from({ length: POINTS_MAX + 1 }, (_, n) => point(n));
const front = paretoFront(many).slice(0, 5);
const drawn_many = scatter(many, front, state);
found.many = { ...drawn_many, data: [drawn_many.data.values.length, drawn_many.data.values.slice(0, 40)] };
found.edge = binned(many.slice(1), front, state).length;
const flat = many.map((one) => ({ ...one, y: 3 }));
found.flat = binned(flat, [], { ...state, xScale: "linear" }).slice(0, 30).map(({ x, y, count }) => [x, y, count]);
const lengths = [[64, 9], [16, 3], [32, 0.01]];
const lines = Array.from({ length: 8 }, (_, n) => ({ name: `line ${n}`, device: ["uno", "odd"][n % 2], placement: "flash, warm", values: new Map(lengths.map(([a, b]) => [a, b + n])) }));
found.lengths = lengthsChart(lines, state);
// The table of what is shown, its headings, and two pinned rows next to each other.
const some = [0, 1, 2, 3, 4, 5, 9].map(row);
some[1].encrypt_uj = null;
some[2].varies = "addresses";
some[3].flags = "-O3";
const places = new Map([[some[4], 1], [some[0], 2]]);
for (const [sort] of [...EXPLORER_COLUMNS, ["nothing"]]) for (const descending of [false, true]) {
  found[`sorted ${sort} ${descending}`] = sortedRows(some, { ...state, sort, descending }, places).map((one) => one.implementation);
}
const chosen = [];
explorerHead({ ...state, sort: "time", descending: true }, (name) => chosen.push(name));
const head = document.querySelector("#explorer-table thead tr");
found.head = tree(head);
explorerHead({ ...state, sort: "front", descending: false }, (name) => chosen.push(name));
found.other_head = head.children.map((one) => one.attributes);
head.children.slice(0, 3).forEach((one) => one.children[0].fire("click"));
const pins = [rowName(some[1]), rowName(some[0])];
explorerTable(some, { ...state, pins }, places, 3, (name) => chosen.push(name));
const body = document.querySelector("#explorer-table tbody");
found.body = tree(body);
body.querySelectorAll("button").forEach((one) => one.fire("click"));
found.chosen = chosen;
const part = document.getElementById("explorer-compared"), pinned_table = part.querySelector("table");
pinned_table.tHead = document.createElement("thead");
pinned_table.tBodies = [document.createElement("tbody")];
for (const [name, of] of Object.entries({ none: [], one: pins.slice(1), two: pins, turned: [...pins].reverse(), gone: [pins[0], "x"], lost: ["x"] })) {
  explorerCompared(some, { ...state, pins: of });
  found[`pinned ${name}`] = [Boolean(part.hidden), tree(pinned_table.tHead), tree(pinned_table.tBodies[0]), part.querySelector(".note").textContent];
}
found.values = explorerValues(some.slice(3, 5), state, places);
found.texts = [null, undefined, 0, 5, 1234567, 0.00012345, 999.96, 1000.4, -1234.5].map(figureText);
answer(found);
