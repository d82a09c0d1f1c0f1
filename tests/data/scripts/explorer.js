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
answer(found);
