// Of the page that a server serves: what is told of an order, the lengths that are read, and the adviser's order.
const found = {};
const state = { done: 0, total: 0, seconds: 0, running: [], what: "linking", deadline_s: 600 };
for (const changes of [
  {}, { total: 9 }, { total: 9, done: 3, seconds: 30 }, { total: 9, done: 9, seconds: 30 }, { total: 9, done: 8, seconds: 0.1, what: "" },
  { total: 9, done: 1, seconds: 10, running: ["a", "b"] }, { running: ["a", "b", "c", "d"], deadline_s: 89 }, { done: 2, total: 1, seconds: 5 },
]) found[`state ${JSON.stringify(changes)}`] = progressText({ ...state, ...changes });
for (const value of ["16", "1, 65535", " 7 ,,8 ", "", ",", "0", "65536", "123456", "-1", "1.5", "a", "00016"]) {
  try {
    found[`lengths '${value}'`] = lengthsOf({ value });
  } catch (error) {
    found[`lengths '${value}'`] = error.message;
  }
}
const pairs = [["device", "uno"], ["bytes", " 16 "], ["answer", ""], ["delivery", "confirmed"], ["need", "a"], ["need", "b"], ["odd", "x"]];
found.order = adviserOrder({ pairs });
found.bare_order = adviserOrder({ pairs: [] });
for (const busy of [true, false]) {
  document.lists["#measure-form button[type=submit], #adviser-measure"] = [document.createElement("button")];
  measureSaid("text", busy);
  found[`said ${busy}`] = ["measure-state", "measure-progress", "measure-stop"].map((id) => tree(document.getElementById(id)));
  found[`button ${busy}`] = document.lists["#measure-form button[type=submit], #adviser-measure"].map(tree);
}
const form = document.getElementById("adviser-form");
form.pairs = pairs;
keepAdviser();
found.kept = [...kept];
const field = (name, type, value) => ({ name, type, value, checked: name === "other" });
const events = [];
const again = { elements: [field("bytes", "text", "1"), field("need", "checkbox", "b"), field("need", "checkbox", "c"), field("other", "checkbox", "x"), field("new", "text", "5")], dispatchEvent: (event) => events.push(event) };
restoreAdviser(again);
found.restored = [again.elements, events, [...kept]];
restoreAdviser(again);
found.nothing_to_restore = events.length;
answer(found);
