// The adviser's form: reads the question, asks adviser.advise, shows the answer and the same as a command.
"use strict";

const adviserForm = document.getElementById("adviser-form");
const ADVICE_ROWS = 10;

// As the adviser's Python takes it: dictionaries for objects. The candidates of a device are unpacked when needed.
const adviserData = python.fromJson(report.adviser);
const unpacked = new Map();
function candidatesOf(device) {
  if (!unpacked.has(device)) unpacked.set(device, adviser.unpacked(adviserData, device));
  return unpacked.get(device);
}

// What the form has: a text for each option that is filled in, `need` a list, a flag where it is set.
function fieldsOf(form) {
  const texts = [...form].map(([name, value]) => [name, String(value).trim()]).filter(([name, text]) => name !== "need" && text);
  return python.dict([...texts, ["need", form.getAll("need")]]);
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

function excludedRows(exclusions) {
  const byReason = new Map();
  for (const { candidate, reason } of exclusions) {
    byReason.set(reason, [...(byReason.get(reason) || []), candidate.cipher]);
  }
  return [...byReason].map(([reason, ciphers]) => [reason, ciphers.length, [...new Set(ciphers)].join(", ")]);
}

// What the form asks, in the adviser's terms; an error names the field that cannot be read.
function readForm(form) {
  const device = form.get("device");
  const node = adviser.node_from(adviserData, device, form.get("radio"));
  const setting = adviser.setting_of(node, ...adviser.asked_in(fieldsOf(form)));
  adviser.check_measured(setting);
  // A question about some ciphers alone is answered faster; the ranks among those are the same.
  const ask = (question, ciphers = null) => {
    const own = candidatesOf(device).filter((one) => !ciphers || ciphers.includes(one.cipher));
    return adviser.answered(node, python.replace(setting, { question }), own);
  };
  return { question: setting.question, ask };
}

// An error in the form's own words: the option of the command is the label of its field here.
function showError(text) {
  const option = /^--([a-z-]+)/.exec(text);
  const field = option && adviserForm.elements[option[1]];
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
  return text.replace(option[0], label.firstChild.textContent.trim());
}

function showAdvice() {
  // The currents of some chips are not known without their boards.
  adviserForm.elements["bare-chip"].disabled = !(adviserForm.elements.device.value in report.adviser.chips);
  const form = new FormData(adviserForm);
  const verdict = document.getElementById("adviser-answer");
  const answerPart = document.getElementById("adviser-tables");
  const facts = document.getElementById("adviser-facts");
  const watch = document.getElementById("adviser-watch");
  document.getElementById("adviser-command").textContent = adviser.command_of(fieldsOf(form));
  let asked = null, advice = null, wrong = "";
  try {
    asked = readForm(form);
    advice = asked.ask(asked.question);
  } catch (error) {
    wrong = error.message;
  }
  const told = showError(wrong);
  answerPart.hidden = !advice;
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
    fillList(watch.querySelector("ul"), advice.warnings.length ? advice.warnings : [adviser.NOTHING_TO_WATCH]);
  } else verdict.textContent = adviser.NOTHING_FITS;
  adviserCharts(asked, advice);
  const notes = document.getElementById("adviser-notes");
  notes.closest("details").open = notes.closest("details").open || !first;
  fillList(notes, advice.notes);
  const columns = [...document.querySelectorAll("#adviser-ranked th")].map((head) => head.textContent);
  const rows = advice.entries.slice(0, ADVICE_ROWS).map((entry) => adviser.row(entry, advice.plaintext));
  fillRows("adviser-ranked", rows.map((row) => columns.map((name) => row.get(name))));
  fillRows("adviser-excluded", excludedRows(advice.exclusions));
}

// The answer: the cipher, the reason, the life, and the figures that matter.
function showFirst(verdict, facts, first, plaintext) {
  const row = adviser.row(first, plaintext), text = (name) => row.get(name);
  const strong = document.createElement("strong");
  strong.textContent = first.candidate.cipher;
  verdict.replaceChildren(
    strong,
    ` by ${first.candidate.implementation}: ${text("life")} on the battery, ${text("of unencrypted")} of what plaintext gets; ${first.reason}.`,
  );
  const bound = report.adviser.bounds[adviserForm.elements.device.value];
  const told = [
    ["battery life", text("life")],
    ["of unencrypted", text("of unencrypted")],
    ["energy for a message", `${text("µJ")} µJ`],
    ["encrypting", `${text("ms")} ms${bound ? ` (${bound})` : ""}`],
    ["packets", `${text("packets")} (${text("bytes")} bytes)`],
    ["flash", `${text("flash")} bytes`],
    ["RAM with stack", `${text("RAM")} bytes`],
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
