// The explorer's two charts as Vega-Lite: two costs at a time, and a cost against message length.
"use strict";

const LINES_MAX = 6;
// Where there are more points than this, one is drawn for each field of a grid: they cannot be distinguished.
const POINTS_MAX = 1500;
const GRID_MAX = 60;
const LINE_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [2, 5]];

// Whether an axis is logarithmic: as chosen, or where the values are positive and span much.
function isLogarithmic(numbers, wanted) {
  const least = leastOf(numbers);
  if (!(least > 0)) return false;
  return wanted === "log" || (wanted !== "linear" && mostOf(numbers) / least >= 20);
}

function leastOf(numbers) {
  return numbers.reduce((a, b) => Math.min(a, b), Infinity);
}

function mostOf(numbers) {
  return numbers.reduce((a, b) => Math.max(a, b), -Infinity);
}

function axisOf(field, numbers, title, wanted = "auto") {
  const axis = { field, type: "quantitative" };
  if (!isLogarithmic(numbers, wanted)) {
    return { ...axis, title, scale: { zero: true, nice: true }, axis: { tickCount: 6 } };
  }
  const low = Math.floor(Math.log10(leastOf(numbers))), high = Math.ceil(Math.log10(mostOf(numbers)));
  const values = [];
  for (let power = low; power <= high; power += 1) {
    for (const part of high - low < 3 ? [1, 2, 5] : [1]) values.push(Number(`${part}e${power}`));
  }
  const scale = { type: "log", nice: false, padding: 9 };
  return { ...axis, title: `${title} (logarithmic)`, scale, axis: { values, format: ",~r" } };
}

// A device keeps its colour and shape in every chart.
function deviceScales(devices) {
  const domain = [...new Set(devices)].sort();
  const of = (kind) => domain.map((device) => (report.looks[device] || {})[kind]);
  return {
    colour: { domain, range: of("colour").map((colour) => colour || "#8C8C8C") },
    shape: { domain, range: of("shape").map((shape) => shape || "circle") },
  };
}

// Each device's points in one field of a grid as one point; all of a front stay. The grid gets coarser until
// few points are left.
function binned(points, front, state) {
  if (points.length <= POINTS_MAX) return points.map((point) => ({ ...point, count: 1 }));
  const whole = new Set(front);
  const kept = front.map((point) => ({ ...point, count: 1, front: point }));
  const rest = points.filter((point) => !whole.has(point));
  const place = (field, scale) => {
    const numbers = points.map((point) => point[field]);
    const turned = isLogarithmic(numbers, scale) ? Math.log : (value) => value;
    const low = turned(leastOf(numbers)), span = turned(mostOf(numbers)) - low || 1;
    return (value) => (turned(value) - low) / span;
  };
  const across = place("x", state.xScale), up = place("y", state.yScale);
  for (let steps = GRID_MAX; ; steps = Math.floor(steps * 0.7)) {
    const fields = new Map();
    for (const point of rest) {
      const key = `${point.row.device} ${Math.floor(across(point.x) * steps)} ${Math.floor(up(point.y) * steps)} ${point.row.security === "broken"}`;
      const before = fields.get(key);
      if (before) before.count += 1;
      else fields.set(key, { ...point, count: 1 });
    }
    if (fields.size <= POINTS_MAX || steps < 4) return [...kept, ...fields.values()];
  }
}

function scatter(points, front, state) {
  const numbered = new Map(front.map((point, index) => [point, index + 1]));
  const shown = binned(points, front, state);
  const many = shown.length < points.length;
  const rows = shown.map((point, index) => ({
    x: state.x === "security" ? point.row.security : point.x,
    y: state.y === "security" ? point.row.security : point.y,
    device: point.row.device,
    cipher: point.row.cipher,
    security: point.row.security,
    implementation: point.row.implementation,
    "key bits": point.row.key_bits,
    placement: point.row.placement,
    front: numbered.get(many ? point.front : points[index]) || null,
    ...(many ? { count: point.count } : {}),
  }));
  const titleOf = (name) => quantityTitle(name, state.operation, points.map((point) => point.row));
  const axis = (name, field, scale) => {
    if (name !== "security") {
      return axisOf(field, points.map((point) => point[field]), titleOf(name), scale);
    }
    const there = STATUSES.filter((security) => points.some((point) => point.row.security === security));
    return { field, type: "ordinal", title: "security status", scale: { domain: there, type: "band", padding: 0.3 }, axis: { labelAngle: 0 } };
  };
  const x = axis(state.x, "x", state.xScale), y = axis(state.y, "y", state.yScale);
  const scales = deviceScales(rows.map((row) => row.device));
  const legend = { orient: "bottom", columns: Math.min(4, scales.colour.domain.length) };
  const series = { field: "device", type: "nominal", title: null, legend };
  const color = { ...series, scale: scales.colour }, shape = { ...series, scale: scales.shape };
  // On an axis of statuses each device has its own lane.
  const lane = { field: "device", type: "nominal", scale: { domain: scales.colour.domain, padding: 0.4 } };
  const lanes = { ...(state.x === "security" ? { xOffset: lane } : {}), ...(state.y === "security" ? { yOffset: lane } : {}) };
  const tooltip = ["cipher", "security", "device", "implementation", "key bits", "placement", ...(many ? ["count"] : [])]
    .map((field) => ({ field }))
    .concat(["x", "y"].filter((field) => state[field] !== "security").map((field) => (
      { field, type: "quantitative", title: titleOf(state[field]) })));
  const size = many
    ? { size: { field: "count", type: "quantitative", legend: null, scale: { range: [24, 190], domainMin: 1 } } }
    : {};
  const dots = (filter, mark) => ({
    transform: [{ filter }],
    mark: { type: "point", ...(many ? {} : { size: 60 }), ...mark },
    encoding: { x, y, ...lanes, color, shape, tooltip, ...size },
  });
  const joined = {
    transform: [{ filter: "datum.front" }],
    mark: { type: "line", interpolate: "step-after", opacity: 0.5, strokeDash: [4, 3], color: "gray" },
    encoding: { x, y, detail: { field: "device" }, order: { field: "x", type: "quantitative" } },
  };
  const isBroken = (row) => row.security === "broken";
  const steps = state.x !== "security" && state.y !== "security";
  const sign = (filter, encoding, mark) => ({
    transform: [{ filter }],
    mark: { type: "text", fontSize: 11, ...mark },
    encoding: { x, y, ...lanes, ...encoding },
  });
  return {
    data: { values: rows },
    height: 340,
    layer: [
      ...(steps ? [joined] : []),
      // A layer without a row would have no extent.
      ...(rows.some((row) => !row.front) ? [dots("!datum.front", { filled: false, strokeWidth: 1.6, opacity: 0.75 })] : []),
      dots("datum.front", { filled: true, opacity: 1 }),
      ...(rows.some(isBroken) ? [sign("datum.security === 'broken'", { text: { value: "✕" } }, { fontSize: 8 })] : []),
      sign("datum.front", { text: { field: "front" } }, { dx: 8, dy: -7, align: "left" }),
    ],
  };
}

// Lengths that were measured, as points. The thin lines between them only join those of one series: what is
// between was not measured, and costs go up in steps of a block.
function lengthsChart(lines, state) {
  const values = lines.flatMap((line) =>
    [...line.values]
      .sort((a, b) => a[0] - b[0])
      .map(([length, value]) => ({ series: line.name, device: line.device, message_bytes: length, value })),
  );
  const names = lines.map((line) => line.name);
  const before = lines.map((line, index) => lines.slice(0, index).filter((one) => one.device === line.device).length);
  const legend = { orient: "bottom", columns: 1, labelLimit: 300 };
  const by = (range) => ({ field: "series", type: "nominal", title: null, legend, scale: { domain: names, range } });
  const look = (kind, instead) => lines.map((line) => (report.looks[line.device] || {})[kind] || instead);
  const x = { field: "message_bytes", type: "quantitative", title: "message, bytes", scale: { zero: false } };
  const y = axisOf("value", values.map((value) => value.value), quantityTitle(state.lengthsOf, state.operation, lines), state.yScale);
  const tooltip = ["series", "message_bytes", "value"].map((field) => ({ field }));
  const color = by(look("colour", "#8C8C8C"));
  return {
    data: { values },
    height: 260,
    layer: [
      {
        mark: { type: "line", strokeWidth: 0.8, opacity: 0.7 },
        encoding: { x, y, color, strokeDash: by(before.map((count) => LINE_DASHES[count % LINE_DASHES.length])) },
      },
      {
        mark: { type: "point", size: 48, strokeWidth: 1.8 },
        encoding: { x, y, color, shape: by(look("shape", "circle")), tooltip },
      },
    ],
  };
}
