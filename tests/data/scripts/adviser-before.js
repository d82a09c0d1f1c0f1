// What the adviser's pictures ask of other scripts: its numbers in words, its form, and a place to draw.
const adviser = {
  percent: (value) => `${value.toFixed(1)} %`, number: (value) => value.toPrecision(3), days: (value) => `${value} days`,
  in_years: (days) => days > 730,
};
const asked_of = [], drawn_in = [];
const adviserForm = { elements: { device: { value: "uno" } } };
const candidatesOf = (device) => [
  { device, points: [{ message_bytes: 16 }, { message_bytes: 20 }] }, { device, points: [{ message_bytes: 18 }] },
];
const draw = (element, specification) => drawn_in.push([element.id, specification]);
const python = { replace: (question, changes) => ({ ...question, ...changes }) };
globalThis.setTimeout = (work, later) => { document.told.push(`later ${later}`); work(); return 7; };
globalThis.clearTimeout = (number) => document.told.push(`not ${number}`);
