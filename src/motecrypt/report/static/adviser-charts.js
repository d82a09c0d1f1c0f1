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

// The life of the first of each cipher, and of plaintext, for each of some questions.
function lives(ask, questions, ciphers) {
  const rows = [];
  for (const [x, question] of questions) {
    let advice = null;
    try {
      advice = ask(question);
    } catch {
      continue;
    }
    if (advice.refusal) continue;
    rows.push({ x, line: PLAIN, days: advice.plaintext.life_days });
    for (const cipher of ciphers) {
      const entry = advice.entries.find((one) => one.candidate.cipher === cipher);
      if (entry) rows.push({ x, line: cipher, days: entry.costs.life_days });
    }
  }
  return rows;
}

function lifeChart(rows, ciphers, title, logarithmic) {
  const series = {
    field: "line", type: "nominal", title: null, sort: null, legend: { orient: "bottom", columns: 2 },
    scale: { domain: [...ciphers, PLAIN] },
  };
  const x = {
    field: "x", type: "quantitative", title,
    scale: logarithmic ? { type: "log" } : { zero: false },
    axis: logarithmic ? { values: [1, 10, 60, 600, 3600, 86400], labelExpr: "datum.value < 60 ? datum.value + ' s' : datum.value < 3600 ? datum.value / 60 + ' min' : datum.value < 86400 ? datum.value / 3600 + ' h' : datum.value / 86400 + ' d'" } : {},
  };
  const days = rows.map((row) => row.days);
  const far = logarithmic && Math.max(...days) / Math.min(...days) > 5;
  const y = { field: "days", type: "quantitative", title: "battery life, days", scale: far ? { type: "log" } : { zero: true }, axis: { format: ",~r", tickCount: 5 } };
  const tooltip = [{ field: "line" }, { field: "x", title }, { field: "days", type: "quantitative", format: ",.4~g" }];
  return {
    data: { values: rows },
    height: 190,
    layer: [
      { mark: { type: "line", strokeWidth: 1.8 }, encoding: { x, y, color: series, strokeDash: series } },
      { mark: { type: "point", size: 36, strokeWidth: 1.6 }, encoding: { x, y, color: series, shape: series, tooltip } },
    ],
  };
}

let lifeWaits = 0;

// Draws when the reader pauses: each curve asks the adviser a dozen questions.
function adviserCharts({ question, ask }, advice) {
  energyShares(document.getElementById("adviser-shares"), advice.entries[0]);
  const ciphers = [...new Set(advice.entries.map((entry) => entry.candidate.cipher))].slice(0, LIFE_LINES);
  clearTimeout(lifeWaits);
  lifeWaits = setTimeout(() => {
    const longest = Math.min(64, Math.max(...report.adviser.candidates[adviserForm.elements.device.value].flatMap((one) => one.points.map((point) => point.message_bytes))));
    const sizes = [...new Set([1, 4, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64, question.message_bytes])]
      .filter((size) => size <= Math.max(longest, question.message_bytes)).sort((a, b) => a - b);
    const intervals = [...new Set([...INTERVALS_S, question.interval_s])].sort((a, b) => a - b);
    const byInterval = lives(ask, intervals.map((s) => [s, { ...question, interval_s: s }]), ciphers);
    const bySize = lives(ask, sizes.map((n) => [n, { ...question, message_bytes: n }]), ciphers);
    draw(document.getElementById("life-by-interval"), lifeChart(byInterval, ciphers, "time between messages", true));
    draw(document.getElementById("life-by-size"), lifeChart(bySize, ciphers, "message, bytes", false));
  }, 60);
}
