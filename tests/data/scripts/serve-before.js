// A page whose form to measure is not there, so that nothing begins by itself.
document.ids.set("measure-form", null);
const kept = new Map();
globalThis.sessionStorage = {
  setItem: (name, text) => kept.set(name, text), getItem: (name) => kept.get(name) ?? null, removeItem: (name) => kept.delete(name),
};
globalThis.FormData = class {
  constructor(form) { this.pairs = form.pairs; }
  get(name) { return this.pairs.find(([one]) => one === name)?.[1] ?? null; }
  getAll(name) { return this.pairs.filter(([one]) => one === name).map(([, value]) => value); }
  [Symbol.iterator]() { return this.pairs[Symbol.iterator](); }
};
globalThis.Event = class { constructor(kind, how) { Object.assign(this, { kind, ...how }); } };
