// As much of a browser's document as the pages' scripts ask for, for tests in Node: elements with what was set
// on them. An element that is asked for by its id or by a selector is there; `tree` gives an element as JSON.
"use strict";

class Element {
  constructor(tag) {
    Object.assign(this, { tagName: tag.toUpperCase(), children: [], attributes: {}, style: {}, dataset: {}, named: new Map() });
    Object.assign(this, { handlers: {}, parentElement: null, own: "", colSpan: 1, clientWidth: 0, offsetWidth: 0 });
    this.classes = new Set();
    this.classList = {
      toggle: (name, on) => (on ? this.classes.add(name) : this.classes.delete(name)),
      add: (name) => this.classes.add(name),
      remove: (name) => this.classes.delete(name),
      contains: (name) => this.classes.has(name),
    };
  }
  get className() { return [...this.classes].join(" "); }
  set className(text) { this.classes = new Set(text.split(" ").filter(Boolean)); }
  get textContent() { return this.own + this.children.map((one) => one.textContent ?? one).join(""); }
  set textContent(text) { this.children = []; this.own = String(text); }
  append(...parts) { for (const part of parts) { this.children.push(part); if (part instanceof Element) part.parentElement = this; } }
  prepend(...parts) { this.append(...parts); this.children = [...parts, ...this.children.slice(0, -parts.length)]; }
  replaceChildren(...parts) { this.own = ""; this.children = []; this.append(...parts); }
  remove() { this.parentElement.children = this.parentElement.children.filter((one) => one !== this); }
  after(...parts) {
    const { children } = this.parentElement;
    children.splice(children.indexOf(this) + 1, 0, ...parts);
    for (const part of parts) part.parentElement = this.parentElement;
  }
  get nextElementSibling() { const { children } = this.parentElement; return children[children.indexOf(this) + 1] ?? null; }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  getAttribute(name) { return this.attributes[name] ?? null; }
  hasAttribute(name) { return name in this.attributes; }
  removeAttribute(name) { delete this.attributes[name]; }
  addEventListener(kind, handler) { (this.handlers[kind] ||= []).push(handler); }
  fire(kind, event = {}) { for (const one of this.handlers[kind] || []) one({ target: this, preventDefault() { document.told.push(`${kind} prevented`); }, ...event }); }
  focus() { document.told.push(`focus ${this.textContent || this.id || this.tagName}`); this.fire("focus"); }
  scrollIntoView() { document.told.push(`scroll to ${this.id || this.tagName}`); }
  part(tag) { const made = new Element(tag); this.append(made); return made; }
  createTHead() { return (this.tHead = this.part("thead")); }
  createTBody() { const made = this.part("tbody"); (this.tBodies ||= []).push(made); return made; }
  insertRow() { return this.part("tr"); }
  insertCell() { return this.part("td"); }
  get rows() { return this.children.flatMap((one) => (one.tagName === "TR" ? [one] : one.rows ?? [])); }
  get cells() { return this.children; }
  within() { return this.children.filter((one) => one instanceof Element).flatMap((one) => [one, ...one.within()]); }
  matches(selector) {
    return selector.split(",").some((each) => {
      const [, tag, name, attribute] = /^([a-z]*)(?:\.([\w-]+))?(?:\[([\w-]+)[^\]]*\])?$/.exec(each.trim().split(" ").at(-1)) || [];
      if (!tag && !name && !attribute) return false;
      return (!tag || this.tagName === tag.toUpperCase()) && (!name || this.classes.has(name)) && (!attribute || attribute in this.attributes);
    });
  }
  querySelectorAll(selector) { return this.within().filter((one) => one.matches(selector)); }
  querySelector(selector) {
    const found = this.querySelectorAll(selector)[0];
    if (found || !this.open_ended) return found ?? null;
    if (!this.named.has(selector)) this.named.set(selector, made(selector));
    return this.named.get(selector);
  }
  closest(selector) { return this.matches(selector) ? this : this.parentElement?.closest(selector) ?? null; }
}

const made = (name) => Object.assign(new Element("div"), { id: name, value: "", open_ended: true });

function tree(one) {
  if (!(one instanceof Element)) return one;
  const told = { tag: one.tagName.toLowerCase() };
  const more = { class: one.className, text: one.own, scope: one.scope, title: one.title, type: one.type, value: one.value };
  for (const [name, value] of Object.entries(more)) if (value) told[name] = value;
  for (const name of ["hidden", "disabled", "open", "checked"]) if (one[name]) told[name] = true;
  if (one.tabIndex !== undefined) told.tabIndex = one.tabIndex;
  for (const name of ["attributes", "style", "dataset"]) if (Object.keys(one[name]).length) told[name] = one[name];
  if (one.children.length) told.children = one.children.map(tree);
  for (const [name, part] of one.named) told[`within ${name}`] = tree(part);
  return told;
}

globalThis.document = {
  ids: new Map(), lists: {}, told: [], handlers: {}, body: new Element("body"),
  getElementById(id) {
    if (!this.ids.has(id)) this.ids.set(id, id === "data" ? { textContent: JSON.stringify(DATA) } : made(id));
    return this.ids.get(id);
  },
  createElement: (tag) => new Element(tag),
  querySelectorAll(selector) { return this.lists[selector] ?? []; },
  querySelector(selector) { return this.getElementById(selector); },
  addEventListener: Element.prototype.addEventListener,
};
globalThis.Node = Element;
globalThis.window = {
  addEventListener() {}, matchMedia: () => ({ matches: true }), innerWidth: 800, innerHeight: 600,
  vegaEmbed: () => new Promise(() => {}),
};
globalThis.location = { hash: "" };
globalThis.IntersectionObserver = class { observe() {} };
globalThis.ResizeObserver = class { observe() {} };
globalThis.tree = tree;
