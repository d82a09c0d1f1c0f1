// How a message and its answers go when packets are lost, as src/motecrypt/adviser/exchange.py follows it: the
// mean number of bursts, answers and silences, and the share that is given up. Pure.
"use strict";

const adviserExchange = (() => {
  const filled = (count, value) => new Array(count).fill(value);

  const sentOnce = (fragments, loss) =>
    ({ bursts: [...filled(fragments - 1, 0), 1], answers: 0, silences: 0, lost: 1 - (1 - loss) ** fragments });

  function choose(n, k) {
    let result = 1;
    for (let i = 1; i <= k; i += 1) result = (result * (n - k + i)) / i;
    return result;
  }
  // [n] is the chance that n of these arrive.
  const binomial = (sent, got) =>
    Array.from({ length: sent + 1 }, (_, n) => choose(sent, n) * got ** n * (1 - got) ** (sent - n));

  // The fragments that the receiver has: the first, those between with and without an acknowledgement, the
  // last.
  const NOTHING = [0, 0, 0, 0], LAST_ALONE = [0, 0, 0, 1];

  // What the last fragment brings: chance, "accepted", "missing" or "silence", what is held then.
  function endings(held, whole, heads, got) {
    const lost = 1 - got;
    if (whole && held[3] && heads) {
      return [
        [got, "accepted", NOTHING],
        [lost * got * got, "missing", LAST_ALONE],
        [lost * got * lost, "silence", LAST_ALONE],
        [lost * lost, "silence", NOTHING],
      ];
    }
    const then = whole ? NOTHING : [...held.slice(0, 3), 1];
    return [[lost, "silence", held], [got * got, whole ? "accepted" : "missing", then], [got * lost, "silence", then]];
  }

  const exchanges = new Map();
  function exchange(fragments, loss, tries, leastChance) {
    const key = `${fragments} ${loss} ${tries}`;
    if (!exchanges.has(key)) exchanges.set(key, followed(fragments, loss, tries, leastChance));
    return exchanges.get(key);
  }
  // Adds to the chance of a state; `words` distinguish it from the others.
  function addTo(states, words, state, chance) {
    const key = words.join(" ");
    const found = states.get(key);
    if (found) found.chance += chance;
    else states.set(key, { ...state, chance });
  }
  function followed(fragments, loss, tries, leastChance) {
    const got = 1 - loss;
    const middle = Math.max(0, fragments - 2);
    const heads = fragments > 1 ? 1 : 0;
    const arriving = Array.from({ length: fragments }, (_, sent) => binomial(sent, got));
    const bursts = filled(fragments, 0);
    let answers = 0, silences = 0, givenUp = 0;
    let at = new Map();
    addTo(at, [], { held: NOTHING, known: [0, 0, 0], told: true, before: 0 }, 1);
    while (at.size) {
      const beforeLast = new Map();
      for (const { held, known, told, before, chance } of at.values()) {
        if (chance < leastChance) continue;
        const firstSent = told ? heads - held[0] : heads;
        const knownSent = told ? known[1] - held[1] : 0;
        const freshSent = told ? middle - known[1] - held[2] : 0;
        bursts[firstSent + knownSent + freshSent] += chance;
        arriving[firstSent].forEach((a, first) => arriving[knownSent].forEach((b, again) =>
          arriving[freshSent].forEach((c, fresh) => {
            const then = [held[0] | first, held[1] + again, held[2] + fresh, held[3]];
            addTo(beforeLast, [...then, ...known, before], { held: then, known, before }, chance * a * b * c);
          })));
      }
      at = new Map();
      for (const { held, known, before, chance } of beforeLast.values()) {
        const whole = held[0] === heads && held[1] + held[2] === middle;
        for (const [part, end, then] of endings(held, whole, heads, got)) {
          const here = chance * part;
          if (end === "silence") silences += here;
          else answers += here;
          if (end === "accepted") continue;
          const told = end === "missing";
          const isNew = told && (then[0] > known[0] || then[2] > 0 || then[3] > known[2]);
          const vain = isNew ? 0 : before + 1;
          if (vain === tries) {
            givenUp += here;
            continue;
          }
          const holds = told ? [then[0], then[1] + then[2], 0, then[3]] : then;
          const knows = told
            ? [Math.max(then[0], known[0]), known[1] + then[2], Math.max(then[3], known[2])]
            : known;
          addTo(at, [...holds, ...knows, told, vain], { held: holds, known: knows, told, before: vain }, here);
        }
      }
    }
    return { bursts, answers, silences, lost: givenUp };
  }

  return { filled, sentOnce, exchange };
})();
