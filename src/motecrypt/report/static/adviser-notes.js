// What a person would miss, a sentence each, as src/motecrypt/advise/notes.py has them. Pure.
"use strict";

const FEW_CHARGE = 0.8;
const MUCH_LONGER = 1.2;

function adviserNotes(tools, setting, entries, exclusions, plaintext, usable, voltsMin, otherLives) {
  const { messageCosts, nonceOnAir, flashOf, nameOf, number, percent, days, significant, plural, inOrder } = tools;
  const { question, device, radio, battery } = setting;

  function shares(first) {
    const { energy } = first.costs;
    const total = energy.total_uj;
    const rest = [
      [energy.send_uj + energy.receive_uj, "the radio"],
      [energy.sleep_uj, "sleeping"],
      [energy.wake_uj, "waking up"],
      [energy.regulator_uj, "regulating"],
      [energy.self_discharge_uj, "the battery's own discharge"],
    ]
      .filter(([uj]) => uj / total >= 0.0005)
      .map(([uj, what]) => `${what} ${percent((uj / total) * 100)}`)
      .join(", ");
    const lost = percent((1 - first.costs.life_days / plaintext.life_days) * 100);
    return [
      `Encryption is ${percent((energy.cpu_uj / total) * 100)} of the energy of the first, ${rest}; ` +
        `it and the longer message shorten the battery's life by ${lost}.`,
    ];
  }

  // Where few bytes decide on a whole packet; each length on air once, the first two.
  function packets() {
    const said = [];
    const seen = new Set();
    for (const { costs, candidate } of entries) {
      if (seen.has(costs.sealed_bytes) || said.length === 2) continue;
      seen.add(costs.sealed_bytes);
      const over = costs.sealed_bytes - (costs.packets - 1) * radio.packet_bytes;
      const carried = nonceOnAir(candidate, question.counter_bytes) + candidate.tag_bytes;
      if (costs.packets < 2 || over > Math.min(carried - 4, radio.packet_bytes - 1)) continue;
      const less = messageCosts(setting, costs.sealed_bytes - over, costs.cycles, 0, 0, usable);
      const whole = messageCosts(setting, costs.sealed_bytes, costs.cycles, 0, 0, usable);
      const saved = ((whole.energy.total_uj - less.energy.total_uj) / costs.energy.total_uj) * 100;
      said.push(
        `${candidate.cipher}: ${plural(over, "byte")} less of tag and counter (it carries ` +
          `${carried}) save one of ${costs.packets} packets, ${percent(saved)} of the energy.`,
      );
    }
    const first = entries[0].costs;
    const free = first.air_bytes - first.sealed_bytes;
    if (radio.timeout_us > 0 && free) {
      said.push(
        `The last packet is filled up with ${free} bytes: a packet that is not full waits ` +
          `${significant(radio.timeout_us / 1000)} ms in ${radio.name}, with its receiver on. So ${free} bytes more ` +
          "of message or tag cost nothing on the air.",
      );
    }
    return said;
  }

  function counter(first) {
    const sent = nonceOnAir(first.candidate, question.counter_bytes);
    if (first.candidate.nonce !== "counter" || !(sent > 0 && sent < 8)) return [];
    const wrap = (256 ** sent * question.interval_s) / 86400;
    if (wrap > 10 * first.costs.life_days) return [];
    return [
      `At this rate a ${8 * sent}-bit counter wraps in ${days(wrap)}: keep the whole counter at both ` +
        "ends, send only its low bytes, never use one twice, and keep it through a loss of power.",
    ];
  }

  function timing(first) {
    if (!first.candidate.timing_varies) return [];
    return [`The cycles of ${nameOf(first.candidate)} differ with the data: its time tells something about it.`];
  }

  // The entry of the same standing that gives up least energy for a third less of flash.
  function smaller() {
    const first = entries[0];
    const flash = flashOf(first.candidate);
    const other = entries.slice(1).find(
      ({ candidate }) =>
        candidate.standing === first.candidate.standing &&
        candidate.flash_bytes !== null &&
        candidate.flash_bytes <= (flash * 2) / 3,
    );
    if (!other) return [];
    const shorter = (1 - other.costs.life_days / first.costs.life_days) * 100;
    return [
      `If flash is short: ${nameOf(other.candidate)} takes ${number(other.candidate.flash_bytes)} bytes instead of ` +
        `${number(flash)}, for ${percent(shorter)} of the battery's life.`,
    ];
  }

  function supply() {
    const said = [];
    if (usable < FEW_CHARGE) {
      said.push(
        `${battery.name} stays above the ${significant(voltsMin, 3)} V that ${device.title} needs for only ` +
          `${percent(usable * 100)} of its charge, and no more is counted.`,
      );
    }
    const peak = Math.max(device.active_ma, device.idle_ma + Math.max(radio.tx_ma, radio.rx_ma));
    if (peak > battery.pulse_ma) {
      said.push(
        `${battery.name} gives pulses of ${significant(battery.pulse_ma)} mA, and ${device.title} with ${radio.name} ` +
          `takes ${significant(peak, 3)} mA: it needs a capacitor beside it, or fails well before the life given here.`,
      );
    }
    return said;
  }

  // The regulator that makes the most of the battery, if that is much.
  function otherSupply(first) {
    if (!otherLives.length) return [];
    const [name, life] = otherLives.reduce((a, b) => (b[1] > a[1] ? b : a));
    if (life < MUCH_LONGER * first.costs.life_days) return [];
    return [`With --regulator ${name} the same battery lasts ${days(life)} instead of ${days(first.costs.life_days)}.`];
  }

  // One sentence for each library configuration or variant that the device cannot hold, and for each that
  // computes wrong outputs on it.
  function misfits() {
    const found = new Map();
    const failed = exclusions.filter((each) => each.failed); // others are out whether they run or not
    for (const excluded of failed) {
      const { candidate } = excluded;
      if (candidate.status !== "does-not-fit") continue;
      const place = candidate.placement === "flash" ? "" : " with its tables in RAM";
      const name = candidate.implementation + place;
      found.set(name, [...(found.get(name) || []), excluded]);
    }
    const wrong = failed
      .filter(({ candidate }) => candidate.status === "wrong-output")
      .map(({ candidate, reason }) => `${nameOf(candidate)} ${reason}.`);
    const large = [...found].map(([name, members]) => {
      const size = ({ candidate }) => [candidate.ram_bytes || 0, candidate.flash_bytes || 0];
      const least = members.reduce((a, b) => (inOrder(size(b), size(a)) < 0 ? b : a));
      const ciphers = new Set(members.map(({ candidate }) => candidate.cipher));
      const many = ciphers.size > 1 ? ` (and ${ciphers.size - 1} more)` : "";
      return `${name} ${least.reason} for ${least.candidate.cipher}${many}.`;
    });
    return [...wrong, ...large];
  }

  // Which budget excludes how many, and the nearest that would fit.
  function nothingFits() {
    const tried = exclusions.filter(({ budgets }) => budgets.length);
    if (!tried.length) {
      return [`Nothing is left: none of the ${exclusions.length} meets the needs and fits the device.`];
    }
    const hopeless = exclusions.length - tried.length;
    const counts = [...new Set(tried.flatMap(({ budgets }) => budgets))].map((budget) => {
      const those = tried.filter(({ budgets }) => budgets.includes(budget));
      const alone = those.filter(({ budgets }) => budgets.length === 1).length;
      const option = budget === "interval" ? "every" : budget;
      return `--${option} excludes ${those.length} (${alone} by itself)`;
    });
    const key = ({ budgets, excess, candidate }) => [budgets.length, excess, nameOf(candidate)];
    const nearest = tried.reduce((a, b) => (inOrder(key(b), key(a)) < 0 ? b : a));
    return [
      `Nothing fits. Of ${exclusions.length} implementations ${hopeless} are out for other reasons; ` +
        `${counts.join(", ")}. The nearest is ${nameOf(nearest.candidate)}: ${nearest.reason}.`,
    ];
  }

  const first = entries[0];
  if (!first) return [...nothingFits(), ...supply(), ...misfits()];
  return [
    ...supply(), ...otherSupply(first), ...shares(first), ...packets(), ...counter(first), ...timing(first),
    ...smaller(), ...misfits(),
  ];
}
