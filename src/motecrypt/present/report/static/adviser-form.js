// The adviser's form: reads the question, asks adviser.advise, shows the answer and the same as a command.
"use strict";

const adviserForm = document.getElementById("adviser-form");
const ADVICE_ROWS = 10;

// Candidates and their points are plain rows in the page, to keep it small.
function unpackCandidates(data) {
  const worded = new Set(data.worded);
  const named = (names, row) => Object.fromEntries(names.map((name, index) => [name, row[index]]));
  return Object.fromEntries(Object.entries(data.candidates).map(([device, rows]) => [
    device,
    rows.map((row) => ({
      ...named(data.candidate_columns, row.map((value, index) => (worded.has(index) ? data.words[value] : value))),
      points: row[row.length - 1].map((point) => named(data.point_columns, point)),
    })),
  ]));
}
report.adviser.candidates = unpackCandidates(report.adviser);

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
    answer_bytes: text("answer") ? whole("answer", "--answer", 0, 65535) : report.adviser.usual.answer,
    delivery: text("delivery"),
    loss: adviser.lossShare(text("loss") || report.adviser.usual.loss, "--loss", report.adviser.constants.loss_percent_max),
    flash_max: optional("flash", (value) => adviser.wholeBytes(value, "--flash")),
    ram_max: optional("ram", (value) => adviser.wholeBytes(value, "--ram", "512")),
    latency_us_max: optional("latency", (value) => adviser.seconds(value, "--latency", "50ms") * 1e6),
    overhead_max: optional("overhead", (value) => adviser.wholeBytes(value, "--overhead", "6")),
    needs: adviser.wholeNeeds(form.getAll("need"), report.adviser.usual.need),
  };
}

function adviserCommand(form) {
  const quoted = (value) => (/^[A-Za-z0-9.,_-]+$/.test(value) ? value : `'${value}'`);
  const { usual } = report.adviser;
  const parts = ["device", "radio", "bytes", "every", "battery", "regulator", "delivery", "loss", "answer", "flash", "ram", "latency", "overhead"]
    .map((name) => [name, String(form.get(name) || "").trim()])
    .filter(([name, value]) => value && value !== String(usual[name]))
    .map(([name, value]) => `--${name} ${quoted(value)}`);
  const needs = form.getAll("need");
  if (needs.join() !== usual.need.join()) parts.push(`--need '${needs.join(",")}'`);
  for (const flag of ["bare-chip", "sleeps"]) if (form.get(flag)) parts.push(`--${flag}`);
  return `motecrypt advise ${parts.join(" ")}`;
}

function cells(row, texts, tag = "td") {
  for (const text of texts) {
    const cell = document.createElement(tag);
    cell.textContent = text;
    if (tag === "td" && /^[\d.,]+( %)?$/.test(String(text))) cell.className = "n";
    if (String(text).length > 40) cell.className = "long";
    row.append(cell);
  }
  return row;
}

function fillRows(id, rows) {
  const body = document.querySelector(`#${id} tbody`);
  body.replaceChildren(...rows.map((texts) => cells(document.createElement("tr"), texts)));
  body.parentElement.removeAttribute("role");
  fitTable(body.parentElement);
}

function fillList(list, texts) {
  list.replaceChildren(...texts.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
}

function entryTexts(entry, plaintext) {
  const { candidate, costs } = entry;
  const place = candidate.placement === "flash" ? "" : `, ${candidate.placement}`;
  return [
    entry.rank, candidate.cipher, candidate.implementation + place, entry.reason, adviser.days(costs.life_days),
    adviser.percent((costs.life_days / plaintext.life_days) * 100), adviser.number(costs.energy.total_uj),
    (costs.cpu_us / 1000).toFixed(2), costs.packets, costs.air_bytes, costs.tag_bytes,
    adviser.number(adviser.flashOf(candidate)), adviser.number(adviser.ramOf(candidate)),
  ];
}

function excludedRows(exclusions) {
  const byReason = new Map();
  for (const { candidate, reason } of exclusions) {
    byReason.set(reason, [...(byReason.get(reason) || []), candidate.cipher]);
  }
  return [...byReason].map(([reason, ciphers]) => [reason, ciphers.length, [...new Set(ciphers)].join(", ")]);
}

// What the form asks, in the adviser's terms; an error names the field that cannot be read.
function readForm(form) {
  const question = readQuestion(form);
  const name = form.get("device");
  const device = report.adviser.devices[name] || report.adviser.chips[name];
  for (const [option, length] of [["--bytes", question.message_bytes], ["--answer", question.answer_bytes]]) {
    if (length > device.message_bytes_max) {
      throw new Error(`${option} ${length}: messages of up to ${device.message_bytes_max} bytes were measured on ${device.name}`);
    }
  }
  const battery = adviser.battery(String(form.get("battery")), report.adviser.cells);
  const of = form.get("bare-chip") ? "chip" : "board";
  const rest = [form.get("device"), form.get("radio"), battery, form.get("regulator"), of, Boolean(form.get("sleeps"))];
  // A question about some ciphers alone is answered faster; the ranks among those are the same.
  const ask = (asked, ciphers = null) => {
    const own = report.adviser.candidates[name];
    const data = ciphers && { ...report.adviser, candidates: { [name]: own.filter((one) => ciphers.includes(one.cipher)) } };
    return adviser.advise(data || report.adviser, asked, ...rest);
  };
  return { question, ask };
}

// An error in the form's own words: the option of the command is the label of its field here.
function showError(text, refused) {
  const option = /^--([a-z-]+)/.exec(text);
  const field = adviserForm.elements[option ? option[1] : refused];
  const label = field && field.closest && field.closest("label");
  for (const one of adviserForm.querySelectorAll("[aria-invalid]")) {
    one.removeAttribute("aria-invalid");
    one.removeAttribute("aria-errormessage");
  }
  if (!label) return text;
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-errormessage", "adviser-answer");
  const more = field.closest("details");
  if (more) more.open = true;
  const title = label.firstChild.textContent.trim();
  return option ? text.replace(option[0], title) : `${title}: ${text}`;
}

function showAdvice() {
  // The currents of some chips are not known without their boards.
  adviserForm.elements["bare-chip"].disabled = !(adviserForm.elements.device.value in report.adviser.chips);
  const form = new FormData(adviserForm);
  const verdict = document.getElementById("adviser-answer");
  const answerPart = document.getElementById("adviser-tables");
  const facts = document.getElementById("adviser-facts");
  const watch = document.getElementById("adviser-watch");
  document.getElementById("adviser-command").textContent = adviserCommand(form);
  let asked = null, advice = null, wrong = "";
  try {
    asked = readForm(form);
    advice = asked.ask(asked.question);
  } catch (error) {
    wrong = error.message;
  }
  const told = showError(wrong || (advice && advice.refusal) || "", advice && advice.refused);
  answerPart.hidden = !advice || Boolean(advice.refusal);
  facts.replaceChildren();
  watch.hidden = true;
  verdict.classList.toggle("wrong", answerPart.hidden);
  if (answerPart.hidden) {
    verdict.textContent = told;
    return;
  }
  const first = advice.entries[0];
  if (first) {
    showFirst(verdict, facts, first, advice.plaintext);
    watch.hidden = false;
    fillList(watch.querySelector("ul"), advice.warnings.length ? advice.warnings : ["nothing that these models cover"]);
  } else verdict.textContent = "Nothing fits; the notes say which budget excludes how many.";
  adviserCharts(asked, advice);
  const notes = document.getElementById("adviser-notes");
  notes.closest("details").open = notes.closest("details").open || !first;
  fillList(notes, advice.notes);
  fillRows("adviser-ranked", advice.entries.slice(0, ADVICE_ROWS).map((entry) => entryTexts(entry, advice.plaintext)));
  fillRows("adviser-excluded", excludedRows(advice.exclusions));
}

// The answer: the cipher, the reason, the life, and the figures that matter.
function showFirst(verdict, facts, first, plaintext) {
  const { candidate, costs } = first;
  const strong = document.createElement("strong");
  strong.textContent = candidate.cipher;
  const share = adviser.percent((costs.life_days / plaintext.life_days) * 100);
  verdict.replaceChildren(
    strong,
    ` by ${candidate.implementation}: ${adviser.days(costs.life_days)} on the battery, ${share} of what plaintext gets; ${first.reason}.`,
  );
  const bound = report.adviser.bounds[adviserForm.elements.device.value];
  const told = [
    ["battery life", adviser.days(costs.life_days)],
    ["of unencrypted", share],
    ["energy for a message", `${adviser.number(costs.energy.total_uj)} µJ`],
    ["encrypting", `${(costs.cpu_us / 1000).toFixed(2)} ms${bound ? ` (${bound})` : ""}`],
    ["packets", `${costs.packets} (${costs.air_bytes} bytes)`],
    ["flash", `${adviser.number(adviser.flashOf(candidate))} bytes`],
    ["RAM with stack", `${adviser.number(adviser.ramOf(candidate))} bytes`],
  ];
  for (const [name, value] of told) {
    const box = document.createElement("div"), term = document.createElement("dt"), text = document.createElement("dd");
    term.textContent = name;
    text.textContent = value;
    box.append(term, text);
    facts.append(box);
  }
}

if (adviserForm) {
  adviserForm.addEventListener("input", showAdvice);
  adviserForm.addEventListener("submit", (event) => event.preventDefault());
  showAdvice();
}
