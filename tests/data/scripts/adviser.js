// Of the adviser: the bar of energies, the lives that are asked for, and both charts of them.
const energy = {
  cpu_uj: 10, store_uj: 0, send_uj: 20.5, receive_uj: 9.5, between_uj: 55, wake_uj: 1, regulator_uj: 0, self_discharge_uj: 4, total_uj: 100,
};
const part = document.getElementById("adviser-shares");
const found = {};
energyShares(part, { costs: { energy } });
found.shares = tree(part);
energyShares(part, undefined);
found.hidden = part.hidden;
found.lengths = [everyLength(0), everyLength(3)];
found.intervals = [everyInterval(), everyInterval(2)];
const entry = (cipher, life_days) => ({ candidate: { cipher }, costs: { life_days, energy: { ...energy, cpu_uj: life_days / 9 } } });
const ask = (question, ciphers) => {
  asked_of.push([question.interval_s, question.message_bytes, ...ciphers]);
  if (question.message_bytes === 7) throw new Error("too long");
  const days = (question.interval_s * 10) / question.message_bytes;
  return {
    refusal: question.message_bytes === 9 ? "no" : "", plaintext: { life_days: 2 * days },
    entries: ciphers.filter((one) => one !== "c" || question.interval_s > 100).map((one, n) => entry(one, days + n)),
  };
};
const question = { interval_s: 45, message_bytes: 21 };
found.lives = lives(ask, [[1, { ...question, message_bytes: 7 }, false], [2, question, true], [3, { ...question, message_bytes: 9 }, false]], ["a", "c"]);
for (const [name, rows] of Object.entries({
  near: [{ x: 1, line: "a", days: 10 }, { x: 2, line: "a", days: 50 }, { x: 3, line: "a", days: null }],
  far: [{ x: 1, line: "a", days: 10 }, { x: 2, line: "a", days: 51, marked: true }],
  years: [{ x: 1, line: "a", days: 731 }, { x: 2, line: "a", days: 730.5 }],
})) {
  for (const steps of [true, false]) found[`${name} ${steps}`] = lifeChart(rows, ["a", "b"], "title", steps);
}
document.told = [];
adviserCharts({ question, ask }, { entries: ["a", "b", "a", "c", "d"].map((one, n) => entry(one, 100 - n)) });
found.first = tree(part);
adviserCharts({ question: { ...question, interval_s: 60, message_bytes: 3 }, ask }, { entries: ["c"].map((one) => entry(one, 5)) });
found.told = document.told;
found.asked = asked_of;
found.drawn = drawn_in;
answer(found);
