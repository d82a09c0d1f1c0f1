// Orders to the server that this page comes from (`motecrypt report --serve`): measure, watch, stop.
"use strict";

const measureForm = document.getElementById("measure-form");
const LOOK_MS = 500;
const KEPT = "motecrypt adviser";  // the adviser's form, kept while the page is read again

async function asked(path, order) {
  const options = order === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(order),
  };
  const response = await fetch(path, { cache: "no-store", ...options });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error || `the server answers ${response.status}`);
  return answer;
}

function measureSaid(text, busy) {
  document.getElementById("measure-state").textContent = text;
  document.getElementById("measure-progress").hidden = !busy;
  document.getElementById("measure-stop").hidden = !busy;
  for (const button of document.querySelectorAll("#measure-form button[type=submit], #adviser-measure")) button.disabled = busy;
}

function progressText(state) {
  const left = state.done > 0 && state.done < state.total ? (state.seconds / state.done) * (state.total - state.done) : null;
  return [
    state.total ? `${state.done} of ${state.total} firmwares measured` : "preparing",
    state.running.length ? `running: ${state.running.slice(0, 3).join(", ")}` : state.what,
    left === null ? "" : `about ${Math.max(1, Math.round(left))} s left`,
    `stops after ${Math.round(state.deadline_s / 60)} min at the latest`,
  ].filter(Boolean).join("; ");
}

async function watchOrder(number) {
  for (;;) {
    const state = await asked("progress");
    if (state.number !== number) return measureSaid("Another order took its place.", false);
    if (state.state !== "running") {
      measureSaid(`${state.state}: ${state.message}`, false);
      if (state.state !== "failed") {  // what is measured is in the page when it is read again
        sessionStorage.setItem("motecrypt measured", `${state.state}: ${state.message}`);
        keepAdviser();
        location.reload();
      }
      return null;
    }
    const bar = document.getElementById("measure-progress");
    bar.max = state.total || 1;
    bar.value = state.done;
    measureSaid(progressText(state), true);
    await new Promise((resume) => setTimeout(resume, LOOK_MS));
  }
}

async function orderMeasured(order) {
  measureSaid("asked for", true);
  try {
    const { number } = await asked("measure", order);
    await watchOrder(number);
  } catch (error) {
    measureSaid(`Not measured: ${error.message}`, false);
  }
}

// Whole numbers between commas; throws what is wrong in the words of the form.
function lengthsOf(field) {
  const words = field.value.split(",").map((word) => word.trim()).filter(Boolean);
  for (const word of words.length ? words : [""]) {
    if (!/^\d{1,5}$/.test(word) || Number(word) < 1 || Number(word) > 65535) {
      throw new Error(`Messages, bytes '${word}': write whole numbers from 1 to 65535, such as 16, 64`);
    }
  }
  return words.map(Number);
}

function measureOrder() {
  const fields = measureForm.elements;
  const ciphers = [...fields.namedItem("ciphers").selectedOptions].map((one) => one.value);
  const problem = fieldError(fields.namedItem("ciphers"), ciphers.length ? "" : "Ciphers: choose at least one");
  let bytes = null;
  try {
    bytes = lengthsOf(fields.namedItem("bytes"));
    fieldError(fields.namedItem("bytes"), "");
  } catch (error) {
    fieldError(fields.namedItem("bytes"), error.message);
  }
  const wrong = measureForm.querySelector("[aria-invalid=true]");
  if (wrong) wrong.focus();
  return problem || !bytes ? null : { kind: "measure", devices: [fields.namedItem("device").value], ciphers, bytes };
}

// --- the adviser ----------------------------------------------------------------------------------

function keepAdviser() {
  const form = document.getElementById("adviser-form");
  if (form) sessionStorage.setItem(KEPT, JSON.stringify([...new FormData(form)]));
}

function restoreAdviser(form) {
  const entries = JSON.parse(sessionStorage.getItem(KEPT) || "null");
  sessionStorage.removeItem(KEPT);
  if (!entries) return;
  for (const field of form.elements) {
    const values = entries.filter(([name]) => name === field.name).map(([, value]) => value);
    if (field.type === "checkbox") field.checked = values.includes(field.value);
    else if (values.length) [field.value] = values;
  }
  form.dispatchEvent(new Event("input", { bubbles: true }));
}

function adviserOrder(form) {
  const entries = new FormData(form);
  const whole = (name) => Number(String(entries.get(name) || "0").trim());
  return {
    kind: "advise",
    devices: [entries.get("device")],
    bytes: [whole("bytes")],
    answer: whole("answer"),
    delivery: entries.get("delivery"),
    needs: entries.getAll("need"),
  };
}

// The explorer's filters as the form: its first device, the ciphers that its search and statuses leave, its length.
function takeFilters() {
  const state = explorerState();
  const fields = measureForm.elements;
  const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  const devices = [...fields.namedItem("device").options].filter((one) => state.device.has(one.value));
  if (devices.length) fields.namedItem("device").value = devices[0].value;
  for (const option of fields.namedItem("ciphers").options) {
    const security = /\((\w+)\)$/.exec(option.text);
    option.selected = words.every((word) => option.value.includes(word)) && Boolean(security) && state.security.has(security[1]);
  }
  if (state.messageBytes) fields.namedItem("bytes").value = String(state.messageBytes);
  document.getElementById("measure").scrollIntoView();
  fields.namedItem("device").focus();
}

function startServed() {
  measureForm.addEventListener("submit", (event) => {
    event.preventDefault();
    const order = measureOrder();
    if (order) orderMeasured(order);
  });
  document.getElementById("measure-stop").addEventListener("click", () => asked("stop", {}).catch(() => {}));
  const form = document.getElementById("adviser-form");
  if (form) {
    const button = Object.assign(document.createElement("button"), {
      type: "button", id: "adviser-measure", textContent: "Measure what is missing for this question",
    });
    button.addEventListener("click", () => {
      document.getElementById("measure").scrollIntoView();
      orderMeasured(adviserOrder(form));
    });
    form.after(button);
    restoreAdviser(form);
  }
  const actions = document.querySelector("#explorer .actions");
  if (actions) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Measure more of these" });
    button.addEventListener("click", takeFilters);
    actions.prepend(button);
  }
  const said = sessionStorage.getItem("motecrypt measured");
  sessionStorage.removeItem("motecrypt measured");
  if (said) measureSaid(said, false);
  asked("progress").then((state) => {  // an order that this page did not begin, or began before it was read again
    if (state.state === "running") watchOrder(state.number).catch((error) => measureSaid(error.message, false));
  }).catch((error) => measureSaid(`The server does not answer: ${error.message}`, false));
}

if (measureForm) startServed();
