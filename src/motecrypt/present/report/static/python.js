// JavaScript that `present/report/translate.py` makes needs these parts of Python: numbers as text, comparisons, containers.
// It has null for None and an Array for a list or tuple. JavaScript has one kind of number, so the translated code gives
// each number that it writes a format.
"use strict";

const python = (() => {
  class InputError extends Error {}

  // --- numbers as text, rounded as Python does: to the nearest, ties to even ---

  // `short` was rounded from `exact`, which has 30 digits more than the `kept` that stay.
  function evened(short, exact, kept) {
    if (!/^50*$/.test(exact.slice(kept))) return short;
    const cut = exact.slice(0, kept).replace(/\.$/, "");
    return Number(cut[cut.length - 1]) % 2 === 0 ? cut : short;
  }
  function fixed(value, digits) {
    const exact = value.toFixed(Math.min(100, digits + 30));
    return evened(value.toFixed(digits), exact, exact.indexOf(".") + 1 + digits);
  }
  function general(value, digits) {
    const [exact, power] = value.toExponential(Math.min(100, digits + 29)).split("e");
    const [rounded, higher] = value.toExponential(digits - 1).split("e");
    const short = evened(rounded, exact, digits + 1);
    const exponent = Number(short === rounded ? higher : power);
    const places = short.replace(".", "");
    if (exponent < -4 || exponent >= digits) {
      const [first, rest] = [places[0], places.slice(1).replace(/0+$/, "")];
      const shift = String(Math.abs(exponent)).padStart(2, "0");
      return `${first}${rest ? `.${rest}` : ""}e${exponent < 0 ? "-" : "+"}${shift}`;
    }
    const padded = exponent < 0 ? "0".repeat(-exponent) + places : places;
    const whole = Math.max(exponent, 0) + 1;
    const rest = padded.slice(whole).replace(/0+$/, "");
    return padded.slice(0, whole) + (rest ? `.${rest}` : "");
  }
  function format(value, specification) {
    const [, comma, digits, kind] = /^(,?)(?:\.(\d+))?([dfg])$/.exec(specification);
    if (typeof value !== "number" || (kind === "d" && !Number.isInteger(value))) {
      throw new TypeError(`'${value}' cannot be written as '${specification}'`);
    }
    if (Number.isNaN(value)) return "nan";
    const sign = value < 0 || Object.is(value, -0) ? "-" : "", size = Math.abs(value);
    if (size === Infinity) return `${sign}inf`;
    if (size >= 1e21) throw new RangeError(`${value} is too large to be written`);
    const many = digits === undefined ? 6 : Number(digits);
    const text = kind === "d" ? String(size) : kind === "f" ? fixed(size, many) : general(size, many || 1);
    const [whole, ...rest] = text.split(".");
    return (kind === "d" && value === 0 ? "" : sign) + [comma ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole, ...rest].join(".");
  }
  function text(value) {
    if (typeof value !== "string") throw new TypeError(`'${value}' is written without a format`);
    return value;
  }
  const str = (value) => (typeof value === "string" ? value : format(value, "d"));

  // --- records ---

  class Struct {
    static defaults = {};
    constructor(values) {
      const { fields, defaults, name } = new.target;
      for (const field of fields) {
        const value = values[field] === undefined ? defaults[field] : values[field];
        if (value === undefined) throw new TypeError(`${name} lacks ${field}`);
        this[field] = value;
      }
      for (const field in values) if (!(field in this)) throw new TypeError(`${name} has no ${field}`);
    }
  }
  class NamedTuple extends Struct {
    * [Symbol.iterator]() { yield* Object.values(this); }
  }
  const replace = (record, changes) => new record.constructor({ ...record, ...changes });
  const fields = (dict) => Object.fromEntries(dict.items());

  // --- dictionaries: the keys may be tuples and records ---

  // One text for equal keys: what is in one, in order.
  function hash(key) {
    if (typeof key !== "object" || key === null) return key;
    let text = "\0(";
    for (const name in key) text += `${typeof key[name] === "string" ? JSON.stringify(key[name]) : hash(key[name])},`;
    return `${text})`;
  }
  class Dict {
    constructor(pairs = []) {
      this.pairs = new Map();
      for (const [key, value] of pairs) this.set(key, value);
    }
    set(key, value) {
      const name = hash(key), there = this.pairs.get(name);
      if (there) there[1] = value;
      else this.pairs.set(name, [key, value]);
    }
    has(key) { return this.pairs.has(hash(key)); }
    get(key, otherwise = null) {
      const there = this.pairs.get(hash(key));
      return there ? there[1] : otherwise;
    }
    setdefault(key, value) {
      if (!this.has(key)) this.set(key, value);
      return this.get(key);
    }
    items() { return [...this.pairs.values()]; }
    keys() { return this.items().map(([key]) => key); }
    values() { return this.items().map(([, value]) => value); }
    get size() { return this.pairs.size; }
    [Symbol.iterator]() { return this.keys()[Symbol.iterator](); }
    static fromkeys(keys) { return new Dict(Array.from(keys, (key) => [key, null])); }
  }
  const dict = (pairs) => new Dict(pairs);
  // What JSON.parse gave, with a dictionary for each object.
  function fromJson(value) {
    if (Array.isArray(value)) return value.map(fromJson);
    if (value === null || typeof value !== "object") return value;
    return new Dict(Object.entries(value).map(([key, inner]) => [key, fromJson(inner)]));
  }

  // --- what holds for every value ---

  const len = (value) => ("length" in Object(value) ? value.length : value.size);
  const isContainer = (value) => Array.isArray(value) || value instanceof Dict || value instanceof Set;
  const truth = (value) => (isContainer(value) ? len(value) > 0 : value !== null && value !== false && value !== 0 && value !== "");
  const or = (value, other) => (truth(value) ? value : other());
  const and = (value, other) => (truth(value) ? other() : value);

  function same(a, b) {
    if (a === b || typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
    if (a instanceof Set && b instanceof Set) return a.size === b.size && [...a].every((one) => b.has(one));
    if (a instanceof Dict && b instanceof Dict) return a.size === b.size && a.keys().every((key) => b.has(key) && same(a.get(key), b.get(key)));
    const [ours, theirs] = [Object.values(a), Object.values(b)];
    return a.constructor === b.constructor && ours.length === theirs.length && ours.every((one, index) => same(one, theirs[index]));
  }
  // Below, equal or above: -1, 0 or 1; lists by their first difference.
  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a < b ? -1 : a > b ? 1 : 0;
    if (Array.isArray(a) && Array.isArray(b)) {
      for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
        const found = compare(a[i], b[i]);
        if (found) return found;
      }
      return a.length - b.length;
    }
    if (typeof a !== "string" || typeof b !== "string") return compare(numeric(a), numeric(b));
    return a < b ? -1 : a > b ? 1 : 0;
  }
  function extreme(values, sign, { key = (one) => one, default: otherwise } = {}) {
    const all = [...values];
    if (!all.length && otherwise !== undefined) return otherwise;
    if (!all.length) throw new RangeError("nothing to choose from");
    return all.reduce((best, one) => (compare(key(one), key(best)) * sign > 0 ? one : best));
  }

  // --- operators and functions that differ ---

  function numeric(value) {
    if (typeof value !== "number" && typeof value !== "boolean") throw new TypeError(`no number: '${value}'`);
    return Number(value);
  }
  const add = (a, b) => (typeof a === "string" && typeof b === "string" ? a + b : numeric(a) + numeric(b));
  const sub = (a, b) => numeric(a) - numeric(b);
  const mul = (a, b) => numeric(a) * numeric(b);
  function div(a, b) {
    if (numeric(b) === 0) throw new RangeError("division by zero");
    return numeric(a) / b;
  }
  const floordiv = (a, b) => Math.floor(div(a, b));
  const mod = (a, b) => a - floordiv(a, b) * b;
  const bitor = (a, b) => (a instanceof Set && b instanceof Set ? new Set([...a, ...b]) : numeric(a) | numeric(b));
  const divmod = (a, b) => [floordiv(a, b), mod(a, b)];
  const repeat = (values, count) => Array.from({ length: Math.max(0, count) }, () => values).flat();
  function comb(n, k) {
    let result = 1;
    for (let i = 1; i <= k; i += 1) result = (result * (n - k + i)) / i;
    return result;
  }
  function sum(values) {
    const result = [...values].reduce((total, one) => total + Number(one), 0);
    if (!Number.isInteger(result)) throw new TypeError("'sum' is for whole numbers: its rounding depends on the Python");
    return result;
  }

  function at(values, key) {
    const found = values instanceof Dict ? values.pairs.get(hash(key))?.[1] : values.at(key);
    if (found === undefined) throw new RangeError(`nothing at '${key}'`);
    return found;
  }
  const put = (values, key, value) => (values instanceof Dict ? values.set(key, value) : values.splice(key, 1, value));
  const has = (values, one) => (Array.isArray(values) ? values.some((other) => same(one, other)) : "has" in Object(values) ? values.has(one) : values.includes(one));

  function float(value) {
    const known = { inf: Infinity, "-inf": -Infinity }[value] ?? Number(value);
    if (Number.isNaN(known)) throw new TypeError(`no number: '${value}'`);
    return known;
  }
  const int = (value) => Math.trunc(float(value));
  const zip = (first, ...rest) => Array.from(first, (one, index) => [one, ...rest.map((values) => values.at(index))]);
  const pairwise = (values) => values.slice(1).map((one, index) => [values[index], one]);
  const enumerate = (values, { start = 0 } = {}) => Array.from(values, (one, index) => [index + start, one]);
  const range = (from, to) => (to === undefined ? range(0, from) : Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index));
  const sorted = (values, { key = (one) => one } = {}) => [...values].sort((a, b) => compare(key(a), key(b)));
  const list = (values = []) => [...values];
  const any = (values) => values.some(truth);
  const all = (values) => values.every(truth);
  function set(values = []) {
    if ([...values].some((one) => typeof one === "object")) throw new TypeError("a set has texts and numbers only");
    return new Set(values);
  }
  function cached(work) {
    const known = new Dict();
    return (...given) => {
      if (!known.has(given)) known.set(given, work(...given));
      return known.get(given);
    };
  }
  const pattern = (source) => new RegExp(`^(?:${source})$`, "u");

  // --- methods ---

  const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
  const ENDS = new RegExp(`^${SPACE}|${SPACE}$`, "g");
  const methods = {
    append: (values, one) => values.push(one),
    fullmatch: (made, words) => {
      const found = made.exec(words);
      return found && Array.from(found, (group) => group ?? null);
    },
    get: (values, key, otherwise) => values.get(key, otherwise),
    index: (values, one) => {
      const found = values.findIndex((other) => same(one, other));
      if (found < 0) throw new RangeError(`${one} is not there`);
      return found;
    },
    items: (values) => values.items(),
    join: (between, words) => Array.from(words, text).join(between),
    keys: (values) => values.keys(),
    lower: (words) => words.toLowerCase(),
    replace: (words, old, other) => words.split(old).join(other),
    setdefault: (values, key, value) => values.setdefault(key, value),
    startswith: (words, start) => words.startsWith(start),
    strip: (words) => words.replace(ENDS, ""),
    upper: (words) => words.toUpperCase(),
    values: (values) => values.values(),
  };

  return {
    InputError, Struct, NamedTuple, Dict, add, all, and, any, at, bitor, cached, comb, compare, dict, div, divmod, enumerate, extreme, fields,
    float, floordiv, format, fromJson, has, int, len, list, methods, mod, mul, or, pairwise, pattern, put, range, repeat, replace, same, set,
    sorted, str, sub, sum, text, truth, zip,
  };
})();
