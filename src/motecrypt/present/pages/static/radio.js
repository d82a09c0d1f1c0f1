// The timeline under the slider. All times were computed by the program; here they are only drawn.
"use strict";
const LANES = ["into the sender", "waiting", "air", "out of the receiver"];
const byId = id => document.getElementById(id);
const slider = byId("radio-bytes"), countField = byId("radio-count"), lanes = byId("radio-lanes");

const milliseconds = us => number(us / 1000);

function shownVariant() {
  return data.variants[Number(byId("radio-variant")?.value ?? 0)];
}

function endOf(one) {
  return one.answered ?? one.delivered;
}

// A round number of microseconds that is at least this.
function roundUp(us) {
  const power = 10 ** Math.floor(Math.log10(us));
  return [1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10].map(part => part * power).find(value => value >= us);
}

function addSpan(lane, [kind, sender, begin, end, size], scale) {
  const block = document.createElement("span");
  block.className = `span k${kind}${sender === 1 ? " answer" : ""}`;
  block.style.left = `${100 * begin / scale}%`;
  block.style.width = `${100 * (end - begin) / scale}%`;
  block.textContent = (end - begin) / scale > 0.05 ? (kind === 1 ? `waits ${milliseconds(end - begin)} ms` : `${size} B`) : "";
  block.title = `${data.kinds[kind]}, ${size} bytes: ${milliseconds(begin)} to ${milliseconds(end)} ms`;
  lane.append(block);
}

function drawLanes(one, scale) {
  lanes.replaceChildren();
  LANES.forEach((name, kind) => {
    const label = document.createElement("span");
    label.className = "lane-name";
    label.textContent = name;
    const lane = document.createElement("div");
    lane.className = "lane";
    one.spans.filter(span => span[0] === kind).forEach(span => addSpan(lane, span, scale));
    lanes.append(label, lane);
  });
  const ruler = document.createElement("div");
  ruler.className = "ruler";
  for (let part = 0; part <= 4; part += 1) {
    const mark = document.createElement("span");
    mark.style.left = `${25 * part}%`;
    mark.textContent = `${milliseconds(scale * part / 4)} ms`;
    ruler.append(mark);
  }
  lanes.append(document.createElement("span"), ruler);
}

function fillTable(one) {
  const body = byId("radio-table").tBodies[0];
  body.replaceChildren(...one.spans.map(([kind, sender, begin, end, size]) => {
    const row = document.createElement("tr");
    const cells = [data.kinds[kind], sender === 1 ? "answer" : "message", milliseconds(begin), milliseconds(end), String(size)];
    cells.forEach((text, at) => {
      const cell = row.insertCell();
      cell.textContent = text;
      cell.className = at > 1 ? "n" : "";
    });
    return row;
  }));
}

function told(one, bytes) {
  const own = one.spans.filter(span => span[1] === 0);
  const packets = own.filter(span => span[0] === 2).length;
  const wait = own.filter(span => span[0] === 1).reduce((sum, span) => sum + span[3] - span[2], 0);
  const air = own.filter(span => span[0] === 2).reduce((sum, span) => sum + span[3] - span[2], 0);
  return `${number(bytes)} ${bytes === 1 ? "byte" : "bytes"} in ${number(packets)} ${packets === 1 ? "packet" : "packets"}: ` +
    `delivered after ${milliseconds(one.delivered)} ms, ${milliseconds(air)} ms of it on the air, ` +
    (wait > 0 ? `${milliseconds(wait)} ms waiting for the packet that is not full` : "no wait: the last packet is full") +
    (one.answered === null ? "." : `; answered after ${milliseconds(one.answered)} ms.`);
}

function drawRadio(bytes) {
  const lengths = shownVariant().lengths;
  const wanted = Math.min(lengths.length, Math.max(1, Math.round(bytes) || 1));
  const one = lengths[wanted - 1];
  const longest = byId("radio-fit").checked ? endOf(one) : Math.max(...lengths.map(endOf));
  slider.value = countField.value = String(wanted);
  const said = told(one, wanted);
  slider.setAttribute("aria-valuetext", said);
  byId("radio-status").textContent = said;
  byId("radio-less").disabled = wanted === 1;
  byId("radio-more").disabled = wanted === lengths.length;
  drawLanes(one, roundUp(longest));
  fillTable(one);
}

slider.addEventListener("input", () => drawRadio(Number(slider.value)));
countField.addEventListener("change", () => drawRadio(Number(countField.value)));
byId("radio-less").addEventListener("click", () => drawRadio(Number(slider.value) - 1));
byId("radio-more").addEventListener("click", () => drawRadio(Number(slider.value) + 1));
byId("radio-fit").addEventListener("change", () => drawRadio(Number(slider.value)));
byId("radio-variant")?.addEventListener("change", () => drawRadio(Number(slider.value)));
drawRadio(Number(slider.value));
