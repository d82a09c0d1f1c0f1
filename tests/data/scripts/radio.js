// Of the page of a radio: what is drawn for each length, with and without an answer, and what the fields do.
const variant = byId("radio-variant");
const parts = ["radio-lanes", "radio-status", "radio-less", "radio-more", "radio-bytes", "radio-count"];
const shown = () => [parts.map((id) => tree(byId(id))), tree(byId("radio-table").tBodies[0])];
const found = { rounded: [1, 1.1, 9.99, 10, 16, 26, 31, 41, 51, 76, 99, 100.5, 1500, 7600, 123456].map(roundUp) };
for (const wanted of [0, 1, 2, 2.4, 2.5, 3, 99, NaN]) {
  for (const fit of [true, false]) {
    byId("radio-fit").checked = fit;
    drawRadio(wanted);
    found[`${wanted} ${fit}`] = shown();
  }
}
variant.value = "1";
variant.fire("change");
found.variant = shown();
byId("radio-less").fire("click");
found.less = byId("radio-status").textContent;
byId("radio-more").fire("click");
found.more = byId("radio-status").textContent;
byId("radio-count").value = "1";
byId("radio-count").fire("change");
found.counted = byId("radio-status").textContent;
slider.value = "2";
slider.fire("input");
found.slid = byId("radio-status").textContent;
byId("radio-fit").fire("change");
answer(found);
