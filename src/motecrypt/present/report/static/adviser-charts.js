// The adviser's pictures: where the energy goes, and battery life against interval and message size.
"use strict";

const SHARES = [
  ["cipher", (e) => e.cpu_uj],
  ["storing counters", (e) => e.store_uj],
  ["radio", (e) => e.send_uj + e.receive_uj],
  ["between messages", (e) => e.between_uj],
  ["waking", (e) => e.wake_uj],
  ["regulator", (e) => e.regulator_uj],
  ["self-discharge", (e) => e.self_discharge_uj],
];
const INTERVALS_S = [1, 3, 10, 30, 60, 180, 600, 1800, 3600, 21600, 86400];
const LIFE_LINES = 3;
const PLAIN = "without encryption";

// Shares of one message's energy as a bar, and in words.
function energyShares(part, first) {
  part.hidden = !first;
  if (!first) return;
  const energy = first.costs.energy;
  const shares = SHARES.map(([name, of], index) => ({ name, value: of(energy), index })).filter(({ value }) => value > 0);
  const bar = part.querySelector(".strip"), words = part.querySelector("ul");
  const span = (kind, index) => {
    const element = document.createElement("span");
    element.className = `${kind} e${index}`;
    return element;
  };
  bar.replaceChildren(...shares.map(({ value, index }) => {
    const piece = span("share", index);
    piece.style.flexGrow = String(value / energy.total_uj);
    return piece;
  }));
  words.replaceChildren(...shares.map(({ name, value, index }) => {
    const line = document.createElement("li");
    const asleep = name === "between messages" ? " (asleep, or idle where the program does not sleep)" : "";
    line.append(span("key", index), `${name}${asleep}: ${adviser.percent((value / energy.total_uj) * 100)}, ${adviser.number(value)} µJ`);
    return line;
  }));
}

// The life of the first of each cipher, and of plaintext, for each of some questions; null where there is none,
// so that no line goes over it.
function lives(ask, questions, ciphers) {
  const rows = [];
  for (const [x, question, marked] of questions) {
    let advice = null;
    try {
      advice = ask(question, ciphers);
    } catch {
      continue;
    }
    const days = (cipher) => {
      if (advice.refusal) return null;
      if (cipher === PLAIN) return advice.plaintext.life_days;
      const entry = advice.entries.find((one) => one.candidate.cipher === cipher);
      return entry ? entry.costs.life_days : null;
    };
    for (const line of [PLAIN, ...ciphers]) rows.push({ x, line, days: days(line), ...(marked ? { marked } : {}) });
  }
  return rows;
}

// `steps`: each x is a whole number of bytes, and every one of them is there. Only marked points have symbols.
function lifeChart(rows, ciphers, title, steps) {
  const known = rows.map((row) => row.days).filter((days) => days !== null);
  const inYears = adviser.in_years(Math.max(...known));
  const values = rows.map((row) => ({
    ...row, life: row.days !== null && inYears ? row.days / 365.25 : row.days, said: row.days === null ? "" : adviser.days(row.days),
  }));
  const series = {
    field: "line", type: "nominal", title: null, sort: null, legend: { orient: "bottom", columns: 2 },
    scale: { domain: [...ciphers, PLAIN] },
  };
  const x = {
    field: "x", type: "quantitative", title,
    scale: steps ? { zero: false } : { type: "log" },
    axis: steps ? {} : { values: [1, 10, 60, 600, 3600, 86400], labelExpr: "datum.value < 60 ? datum.value + ' s' : datum.value < 3600 ? datum.value / 60 + ' min' : datum.value < 86400 ? datum.value / 3600 + ' h' : datum.value / 86400 + ' d'" },
  };
  const far = !steps && Math.max(...known) / Math.min(...known) > 5;
  const y = { field: "life", type: "quantitative", title: `battery life, ${inYears ? "years" : "days"}`, scale: far ? { type: "log" } : { zero: true }, axis: { format: ",~r", tickCount: 5 } };
  const tooltip = [{ field: "line" }, { field: "x", title }, { field: "said", title: "battery life" }];
  const mark = { type: "line", strokeWidth: 1.8, ...(steps ? { interpolate: "step" } : {}) };
  return {
    data: { values },
    height: 190,
    layer: [
      { mark, encoding: { x, y, color: series, strokeDash: series } },
      { transform: [{ filter: "datum.marked" }], mark: { type: "point", size: 36, strokeWidth: 1.6 }, encoding: { x, y, color: series, shape: series } },
      { mark: { type: "point", size: 60, opacity: 0 }, encoding: { x, y, tooltip } },  // values under the pointer
    ],
  };
}

// Whole numbers from 1 to `most`, and intervals over a decade in as many parts as `parts`.
const everyLength = (most) => Array.from({ length: most }, (_, index) => index + 1);
const everyInterval = (parts = 8) => Array.from({ length: 5 * parts + 1 }, (_, index) => Number((10 ** (index / parts)).toPrecision(3)));

let lifeWaits = 0;

// Draws when the reader pauses: each curve asks the adviser dozens of questions, about the ciphers drawn alone.
function adviserCharts({ question, ask }, advice) {
  energyShares(document.getElementById("adviser-shares"), advice.entries[0]);
  const ciphers = [...new Set(advice.entries.map((entry) => entry.candidate.cipher))].slice(0, LIFE_LINES);
  clearTimeout(lifeWaits);
  lifeWaits = setTimeout(() => {
    const longest = Math.min(64, Math.max(...candidatesOf(adviserForm.elements.device.value).flatMap((one) => one.points.map((point) => point.message_bytes))));
    const sizes = everyLength(Math.max(longest, question.message_bytes));
    const intervals = [...new Set([...everyInterval().filter((each) => each <= 86400), ...INTERVALS_S, question.interval_s])].sort((a, b) => a - b);
    const byInterval = lives(ask, intervals.map((s) => [s, python.replace(question, { interval_s: s }), INTERVALS_S.includes(s) || s === question.interval_s]), ciphers);
    const bySize = lives(ask, sizes.map((n) => [n, python.replace(question, { message_bytes: n }), n === question.message_bytes]), ciphers);
    draw(document.getElementById("life-by-interval"), lifeChart(byInterval, ciphers, "time between messages", false));
    draw(document.getElementById("life-by-size"), lifeChart(bySize, ciphers, "message, bytes", true));
  }, 60);
}
