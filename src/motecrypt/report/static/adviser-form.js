// The adviser's form: reads the question, asks adviser.advise, shows the answer and the same as a command.
"use strict";

const adviserForm = document.getElementById("adviser-form");
const ADVICE_ROWS = 10;

// Points are plain rows in the page, to keep it small.
for (const candidate of Object.values(report.adviser.candidates).flat()) {
  candidate.points = candidate.points.map((row) =>
    Object.fromEntries(report.adviser.point_columns.map((name, index) => [name, row[index]])),
  );
}

function readQuestion(form) {
  const text = (name) => String(form.get(name) || "").trim();
  const whole = (name, option, least, most) => {
    const value = Number(text(name));
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new Error(`${option} '${text(name)}': a whole number from ${least} to ${most}`);
    }
    return value;
  };
  const optional = (name, read) => (text(name) ? read(text(name)) : null);
  return {
    message_bytes: whole("bytes", "--bytes", 1, 65535),
    interval_s: adviser.seconds(text("every"), "--every"),
    answer_bytes: text("answer") ? whole("answer", "--answer", 0, 65535) : 0,
    delivery: text("delivery"),
    loss: adviser.lossShare(text("loss") || "0", "--loss", report.adviser.constants.loss_percent_max),
    flash_max: optional("flash", (value) => adviser.wholeBytes(value, "--flash")),
    ram_max: optional("ram", (value) => adviser.wholeBytes(value, "--ram", "512")),
    latency_us_max: optional("latency", (value) => adviser.seconds(value, "--latency", "50ms") * 1e6),
    overhead_max: optional("overhead", (value) => adviser.wholeBytes(value, "--overhead", "6")),
    needs: ["confidentiality", "integrity", "replay", "constant-time"].filter((need) => form.getAll("need").includes(need)),
  };
}

function adviserCommand(form) {
  const quoted = (value) => (/^[A-Za-z0-9.,_-]+$/.test(value) ? value : `'${value}'`);
  const usual = { regulator: "none", delivery: "unconfirmed", loss: "0", answer: "0" };
  const parts = ["device", "radio", "bytes", "every", "battery", "regulator", "delivery", "loss", "answer", "flash", "ram", "latency", "overhead"]
    .map((name) => [name, String(form.get(name) || "").trim()])
    .filter(([name, value]) => value && value !== usual[name])
    .map(([name, value]) => `--${name} ${quoted(value)}`);
  const needs = form.getAll("need");
  if (needs.join(",") !== "confidentiality,integrity,replay") parts.push(`--need '${needs.join(",")}'`);
  for (const flag of ["bare-chip", "sleeps"]) if (form.get(flag)) parts.push(`--${flag}`);
  return `motecrypt advise ${parts.join(" ")}`;
}

function cells(row, texts, tag = "td") {
  for (const [index, text] of texts.entries()) {
    const cell = document.createElement(tag);
    cell.textContent = text;
    if (tag === "td" && /^[\d.,]+( %)?$/.test(String(text))) cell.className = "n";
    if (index === texts.length - 1 && String(text).length > 40) cell.className = "long";
    row.append(cell);
  }
  return row;
}

function fillRows(id, rows) {
  const body = document.querySelector(`#${id} tbody`);
  body.replaceChildren(...rows.map((texts) => cells(document.createElement("tr"), texts)));
}

function entryTexts(entry, plaintext) {
  const { candidate, costs } = entry;
  const place = candidate.placement === "flash" ? "" : `, ${candidate.placement}`;
  return [
    entry.rank, candidate.cipher, candidate.implementation + place, costs.tag_bytes,
    adviser.number(adviser.flashOf(candidate)), adviser.number(adviser.ramOf(candidate)),
    (costs.cpu_us / 1000).toFixed(2), costs.packets, costs.air_bytes, adviser.number(costs.energy.total_uj),
    adviser.days(costs.life_days), adviser.percent((costs.life_days / plaintext.life_days) * 100), entry.reason,
  ];
}

function excludedRows(exclusions) {
  const byReason = new Map();
  for (const { candidate, reason } of exclusions) {
    byReason.set(reason, [...(byReason.get(reason) || []), candidate.cipher]);
  }
  return [...byReason].map(([reason, ciphers]) => [[...new Set(ciphers)].join(", "), ciphers.length, reason]);
}

function showAdvice() {
  const form = new FormData(adviserForm);
  const verdict = document.getElementById("adviser-answer");
  const answerPart = document.getElementById("adviser-tables");
  document.getElementById("adviser-command").textContent = adviserCommand(form);
  let advice = null;
  try {
    const question = readQuestion(form);
    const device = report.adviser.devices[form.get("device")];
    for (const [option, length] of [["--bytes", question.message_bytes], ["--answer", question.answer_bytes]]) {
      if (length > device.message_bytes_max) {
        throw new Error(`${option} ${length}: messages of up to ${device.message_bytes_max} bytes were measured on ${device.name}`);
      }
    }
    const battery = adviser.battery(String(form.get("battery")), report.adviser.cells);
    const of = form.get("bare-chip") ? "chip" : "board";
    advice = adviser.advise(
      report.adviser, question, form.get("device"), form.get("radio"), battery, form.get("regulator"), of,
      Boolean(form.get("sleeps")),
    );
  } catch (error) {
    verdict.textContent = error.message;
  }
  answerPart.hidden = !advice || Boolean(advice.refusal);
  if (!advice) return;
  if (advice.refusal) {
    verdict.textContent = advice.refusal;
    return;
  }
  const first = advice.entries[0];
  verdict.textContent = first
    ? `${first.candidate.cipher} by ${first.candidate.implementation}: ${adviser.days(first.costs.life_days)} on the battery, ` +
      `${adviser.percent((first.costs.life_days / advice.plaintext.life_days) * 100)} of what plaintext gets; ${first.reason}.`
    : "Nothing fits; the notes say which budget excludes how many.";
  const notes = document.getElementById("adviser-notes");
  notes.replaceChildren(
    ...advice.notes.map((text) => {
      const line = document.createElement("li");
      line.textContent = text;
      return line;
    }),
  );
  fillRows("adviser-ranked", advice.entries.slice(0, ADVICE_ROWS).map((entry) => entryTexts(entry, advice.plaintext)));
  fillRows("adviser-excluded", excludedRows(advice.exclusions));
}

if (adviserForm) {
  adviserForm.addEventListener("input", showAdvice);
  adviserForm.addEventListener("submit", (event) => event.preventDefault());
  showAdvice();
}
