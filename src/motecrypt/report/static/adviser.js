// The adviser, as src/motecrypt/advise has it in Python: the same records, the same arithmetic, the same
// sentences. A test holds the two together on random questions. Pure: no element of the page is touched.
"use strict";

const adviser = (() => {
  const YEAR_S = 365.25 * 86400;

  // --- numbers, written and rounded as Python does (ties to even) ---

  function fixed(value, digits) {
    const text = value.toFixed(digits);
    const exact = value.toFixed(Math.min(100, digits + 30));
    const cut = exact.indexOf(".") + 1 + digits;
    if (!/^50*$/.test(exact.slice(cut))) return text;
    const kept = exact.slice(0, cut).replace(/\.$/, "");
    return Number(kept[kept.length - 1]) % 2 === 0 ? kept : text;
  }
  const grouped = (text) => text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const number = (value) => grouped(fixed(value, 0));
  const percent = (value) => `${fixed(value, value < 1 ? 2 : value < 10 ? 1 : 0)} %`;
  const significant = (value, digits = 6) => String(Number(value.toPrecision(digits)));
  const tenths = (value) => {
    const [whole, rest] = fixed(value, 1).split(".");
    return `${grouped(whole)}.${rest}`;
  };
  function days(value) {
    if (value >= 730.5) return `${fixed(value / 365.25, 1)} years`;
    return value < 10 ? `${fixed(value, 1)} days` : `${number(value)} days`;
  }
  const plural = (count, word) => `${count} ${word}${count !== 1 ? "s" : ""}`;
  const inOrder = (a, b) => {
    for (let i = 0; i < a.length; i += 1) {
      if (a[i] < b[i]) return -1;
      if (a[i] > b[i]) return 1;
    }
    return 0;
  };

  // --- amounts with units, refused when unknown ---

  const SECONDS = { us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400 };
  const BYTES = { "": 1, B: 1, k: 1024, K: 1024, kB: 1024, KB: 1024, KiB: 1024, M: 1048576, MiB: 1048576 };

  function amount(text, option, units, example) {
    const match = /^([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)$/.exec(text.trim());
    if (!match) throw new Error(`${option} '${text}': no amount; write ${example}`);
    if (!(match[2] in units)) {
      const said = match[2] ? `unknown unit '${match[2]}'` : "no unit";
      const known = Object.keys(units).filter(Boolean).join(", ");
      throw new Error(`${option} '${text}': ${said}; use ${known}, as in ${example}`);
    }
    return Number(match[1]) * units[match[2]];
  }
  function seconds(text, option, example = "10s") {
    const value = amount(text, option, SECONDS, example);
    if (value <= 0) throw new Error(`${option} '${text}': must be above zero, as in ${example}`);
    return value;
  }
  function wholeBytes(text, option, example = "4k") {
    const value = amount(text, option, BYTES, example);
    if (!Number.isInteger(value)) {
      throw new Error(`${option} '${text}': no whole number of bytes, write ${example}`);
    }
    return value;
  }

  // "3xAA", "CR2032" or "1200mAh,3.7V" as one battery.
  function battery(text, cells) {
    const own = /^\s*([0-9.]+)\s*(m?)Ah\s*,\s*([0-9.]+)\s*V\s*$/i.exec(text);
    if (own) {
      const capacity = Number(own[1]) * (own[2] ? 1 : 1000), volts = Number(own[3]);
      if (!(capacity > 0) || !(volts > 0)) throw new Error(`--battery '${text}': write 1200mAh,3.7V`);
      return {
        name: text, title: "as given; its voltage is taken as constant", cells: 1,
        capacity_mah: capacity, volts, volts_full: volts, volts_empty: volts,
        self_discharge_percent_per_year: 0, pulse_ma: Infinity, curve: [[volts, 0], [volts * 0.999, 1]],
      };
    }
    const match = /^(?:([0-9]{1,2})\s*x\s*)?([A-Za-z0-9-]+)$/.exec(text.trim());
    const cell = match && Object.values(cells).find((one) => one.name.toLowerCase() === match[2].toLowerCase());
    if (!cell) {
      const known = Object.keys(cells).join(", ");
      throw new Error(`--battery '${text}': unknown; write 3xAA or 1200mAh,3.7V; there are: ${known}`);
    }
    const count = Number(match[1] || 1);
    if (count < 1 || count > 24) throw new Error(`--battery: ${count} cells of ${cell.name}; take 1 to 24`);
    return {
      ...cell,
      name: count > 1 ? `${count}x${cell.name}` : cell.name,
      cells: count,
      volts: cell.volts * count,
      volts_full: cell.volts_full * count,
      volts_empty: cell.volts_empty * count,
      curve: cell.curve.map(([volts, used]) => [volts * count, used]),
    };
  }

  // --- what one message costs (advise/costs.py) ---

  function takenBytes(candidate, messageBytes) {
    const multiple = candidate.message_bytes_multiple;
    return Math.max(Math.ceil(messageBytes / multiple) * multiple, candidate.message_bytes_min);
  }
  function nonceOnAir(candidate, counterBytes) {
    if (candidate.nonce === "random") return candidate.nonce_bytes;
    return candidate.nonce === "counter" ? Math.min(counterBytes, candidate.nonce_bytes) : 0;
  }
  function sealedBytes(candidate, messageBytes, counterBytes) {
    return nonceOnAir(candidate, counterBytes) + takenBytes(candidate, messageBytes) + candidate.tag_bytes;
  }
  function atLength(points, messageBytes) {
    const below = points.filter((p) => p.message_bytes <= messageBytes);
    const above = points.filter((p) => p.message_bytes >= messageBytes);
    if (!below.length || !above.length) return null;
    const a = below[below.length - 1], b = above[0];
    const names = ["setup_cycles", "encrypt_cycles", "decrypt_cycles"];
    if (a.message_bytes === b.message_bytes) return names.map((name) => a[name]);
    const part = (messageBytes - a.message_bytes) / (b.message_bytes - a.message_bytes);
    return names.map((name) => a[name] + part * (b[name] - a[name]));
  }
  function onAir(radio, sealed) {
    const packets = Math.ceil(sealed / radio.packet_bytes);
    const handed = radio.timeout_us > 0 ? packets * radio.packet_bytes : sealed;
    const full = Math.floor(handed / radio.packet_bytes);
    const rest = handed - full * radio.packet_bytes;
    return [handed, packets, full * radio.air_us[radio.packet_bytes] + radio.air_us[rest]];
  }
  function deliveryUs(radio, handed) {
    const full = Math.floor(handed / radio.packet_bytes);
    const rest = handed - full * radio.packet_bytes;
    const line = radio.packet_bytes * radio.serial_byte_us;
    const air = radio.air_us[radio.packet_bytes];
    const slot = air + radio.gap_us;
    const steady = Math.max(line, slot);
    const lastFull = full ? line + air + (full - 1) * steady + line : 0;
    if (rest === 0) return lastFull;
    const airFree = full ? line + (full - 1) * steady + slot : 0;
    const ready = handed * radio.serial_byte_us + radio.timeout_us;
    const restEnd = Math.max(ready, airFree) + radio.air_us[rest];
    return Math.max(restEnd, lastFull) + rest * radio.serial_byte_us;
  }
  function voltsNeeded(device, regulator) {
    if (regulator.kind === "none") return device.volts_min;
    return regulator.kind === "linear" ? device.volts + regulator.dropout_v : regulator.volts_in_min;
  }
  function usableFraction(cells, voltsMin) {
    if (voltsMin <= cells.volts_empty) return 1;
    if (voltsMin > cells.volts_full) return 0;
    for (let i = 0; i + 1 < cells.curve.length; i += 1) {
      const [high, before] = cells.curve[i], [low, after] = cells.curve[i + 1];
      if (low <= voltsMin && voltsMin <= high) {
        return high === low ? after : before + ((high - voltsMin) / (high - low)) * (after - before);
      }
    }
    return 1;
  }
  const batteryUj = (cells) => cells.capacity_mah * 3.6 * cells.volts * 1e6;

  function energyOf(setting, cpuUs, [writeUs, airUs, gapUs, answerUs], awakeUs) {
    const { question, device, radio, battery: cells, regulator } = setting;
    const intervalUs = question.interval_s * 1e6;
    const sleepUs = Math.max(0, intervalUs - awakeUs);
    const deviceV = regulator.kind === "none" ? cells.volts : device.volts;
    const radioV = regulator.kind === "switch" ? radio.supply_v : Math.min(radio.supply_v, cells.volts);
    const loads = {  // part: [volts, milliamperes, microseconds] of each load in it
      cpu: [[deviceV, device.active_ma, cpuUs]],
      send: [
        [radioV, radio.rx_ma, writeUs],
        [radioV, radio.tx_ma, airUs],
        [deviceV, device.idle_ma, writeUs + airUs],
      ],
      receive: [[radioV, radio.rx_ma, gapUs + answerUs], [deviceV, device.idle_ma, gapUs + answerUs]],
      sleep: [[deviceV, device.sleep_ma, sleepUs], [radioV, radio.sleep_ma, sleepUs]],
      wake: [[deviceV, device.active_ma, device.wake_us], [radioV, radio.rx_ma, radio.wake_us]],
    };
    const sum = (terms) => terms.reduce((total, term) => total + term, 0);
    const parts = Object.fromEntries(
      Object.entries(loads).map(([name, load]) => [name, sum(load.map(([v, ma, us]) => (v * ma * us) / 1000))]),
    );
    const all = Object.values(loads).flat();
    const drawn = regulator.kind === "switch"
      ? sum(all.map(([v, ma, us]) => (v * ma * us) / 1000)) / regulator.efficiency
      : sum(all.map(([, ma, us]) => (cells.volts * ma * us) / 1000));
    const own = (cells.volts * regulator.quiescent_ma * intervalUs) / 1000;
    const inParts = sum(Object.values(parts));
    const lost = drawn - inParts + own;
    const share = ((cells.self_discharge_percent_per_year / 100) * question.interval_s) / YEAR_S;
    const self = batteryUj(cells) * share;
    return {
      cpu_uj: parts.cpu, send_uj: parts.send, receive_uj: parts.receive, sleep_uj: parts.sleep,
      wake_uj: parts.wake, regulator_uj: lost, self_discharge_uj: self, total_uj: inParts + lost + self,
    };
  }

  function messageCosts(setting, sealed, cycles, setupCycles, sealedAnswer, usable) {
    const { question, device, radio } = setting;
    const [handed, packets, airUs] = onAir(radio, sealed);
    const writeUs = handed * radio.serial_byte_us;
    const gapUs = packets * radio.gap_us;
    const sendUs = Math.max(writeUs, 0) + airUs + gapUs;
    let answerUs = 0;
    if (sealedAnswer > 0) {
      const [, answerPackets, answerAirUs] = onAir(radio, sealedAnswer);
      answerUs = radio.turn_round_us + answerAirUs + (answerPackets - 1) * radio.gap_us;
    }
    const cpuUs = (cycles / device.clock_hz) * 1e6;
    const deliveredUs = deliveryUs(radio, handed);
    const awakeUs = device.wake_us + cpuUs + radio.wake_us + sendUs + answerUs;
    const energy = energyOf(setting, cpuUs, [writeUs, airUs, gapUs, answerUs], awakeUs);
    return {
      sealed_bytes: sealed,
      overhead_bytes: sealed - question.message_bytes,
      air_bytes: handed,
      packets,
      cycles,
      setup_us: (setupCycles / device.clock_hz) * 1e6,
      cpu_us: cpuUs,
      air_time_us: airUs,
      latency_us: cpuUs + deliveredUs,
      busy_us: Math.max(awakeUs, device.wake_us + cpuUs + radio.wake_us + deliveredUs + answerUs),
      energy,
      life_days: (((batteryUj(setting.battery) * usable) / energy.total_uj) * question.interval_s) / 86400,
    };
  }

  // --- ranking (advise/rank.py) ---

  function nameOf(candidate) {
    const place = candidate.placement === "flash" ? "" : ` in ${candidate.placement.toUpperCase()}`;
    const bits = candidate.cipher.includes(String(candidate.key_bits)) ? "" : ` (${candidate.key_bits} bits)`;
    return `${candidate.cipher} ${candidate.implementation}${place}${bits}`;
  }
  const flashOf = (candidate) => candidate.flash_bytes || 0;
  const ramOf = (candidate) => (candidate.ram_bytes || 0) + (candidate.stack_bytes || 0);
  const more = (value, base) => (value / base - 1) * 100;

  function refusalOf(device, cells, regulator) {
    const gives = `${cells.name} gives ${significant(cells.volts, 3)} V`;
    const gaveFull = `${cells.name} gives up to ${significant(cells.volts_full, 3)} V when it is full`;
    if (regulator.kind === "none") {
      const range = `${significant(device.volts_min)} to ${significant(device.volts_max)} V`;
      const needs = `${device.title} at ${significant(device.clock_hz / 1e6)} MHz needs ${range}`;
      if (cells.volts < device.volts_min) {
        return `${gives}; ${needs}: take more cells, or a regulator that raises it (--regulator switch)`;
      }
      if (cells.volts_full > device.volts_max) {
        return `${gaveFull}; ${needs}: take fewer cells, or a regulator (--regulator linear or switch)`;
      }
      return "";
    }
    const low = voltsNeeded(device, regulator);
    if (cells.volts < low) {
      const wants = `${regulator.title} needs ${significant(low, 3)} V for ${significant(device.volts)} V`;
      return `${gives}; ${wants}: take more cells${regulator.kind === "linear" ? ", or --regulator switch" : ""}`;
    }
    if (cells.volts_full > regulator.volts_in_max) {
      const takes = `${regulator.title} takes ${significant(regulator.volts_in_max)} V`;
      return `${gaveFull}; ${takes}: take fewer cells`;
    }
    return "";
  }

  const exclusion = (candidate, reason, budgets = [], excess = 0, failed = false) =>
    ({ candidate, budgets, reason, excess, failed });

  function unfit(candidate, question) {
    const needs = new Set(question.needs);
    if (candidate.standing === "broken") return exclusion(candidate, `broken: ${candidate.standing_reason}`);
    if (needs.has("integrity") && candidate.tag_bytes === 0) {
      return exclusion(candidate, "no integrity: changed messages are not refused");
    }
    if (needs.has("replay") && candidate.tag_bytes === 0) {
      return exclusion(candidate, "no protection against replay: its counter could be changed unseen");
    }
    if (needs.has("replay") && (candidate.nonce !== "counter" || question.counter_bytes === 0)) {
      return exclusion(candidate, "no protection against replay: no counter travels with a message");
    }
    return null;
  }

  function costsOf(setting, candidate, usable) {
    if (candidate.status !== "ok") return null;
    const { question } = setting;
    const cycles = atLength(candidate.points, takenBytes(candidate, question.message_bytes));
    let answerCycles = 0, answerBytes = 0;
    if (question.answer_bytes > 0) {
      const answer = atLength(candidate.points, takenBytes(candidate, question.answer_bytes));
      if (answer === null) return null;
      answerCycles = answer[2];
      answerBytes = sealedBytes(candidate, question.answer_bytes, question.counter_bytes);
    }
    if (cycles === null) return null;
    const sealed = sealedBytes(candidate, question.message_bytes, question.counter_bytes);
    return messageCosts(setting, sealed, cycles[1] + answerCycles, cycles[0], answerBytes, usable);
  }

  // Days that the first would last through other regulators that can run the device.
  function otherLives(setting, first, regulators) {
    return regulators
      .filter((other) => other.name !== setting.regulator.name && !refusalOf(setting.device, setting.battery, other))
      .map((other) => {
        const usable = usableFraction(setting.battery, voltsNeeded(setting.device, other));
        return [other.name, costsOf({ ...setting, regulator: other }, first, usable)];
      })
      .filter(([, costs]) => costs)
      .map(([name, costs]) => [name, costs.life_days]);
  }

  function overBudget({ question }, candidate, costs) {
    const latency = question.latency_us_max, interval = question.interval_s * 1e6;
    const limits = [
      ["flash", flashOf(candidate), question.flash_max, "takes {} bytes of flash, {} too many", 1],
      ["ram", ramOf(candidate), question.ram_max, "takes {} bytes of RAM with its stack, {} too many", 1],
      ["overhead", costs.overhead_bytes, question.overhead_max, "adds {} bytes, {} too many", 1],
      ["latency", costs.latency_us, latency, "takes {} ms until delivered, {} too long", 1000],
      ["interval", costs.busy_us, interval, "is busy {} ms with each, {} too long", 1000],
    ];
    const broken = limits.filter(([, needed, limit]) => limit !== null && needed > limit);
    if (!broken.length) return null;
    const said = broken.map(([, needed, limit, text, unit]) => {
      const tell = unit === 1 ? number : tenths;
      return text.replace("{}", tell(needed / unit)).replace("{}", tell((needed - limit) / unit));
    });
    const excess = Math.max(...broken.map(([, needed, limit]) => needed / Math.max(1, limit)));
    return exclusion(candidate, said.join("; "), broken.map(([name]) => name), excess);
  }

  function reasonOf(candidate, costs, first, least, rank) {
    if (rank === 1) {
      return `${candidate.standing}, and least energy and memory together: ${plural(costs.packets, "packet")}`;
    }
    const same = candidate.standing === first.standing;
    const words = [same ? candidate.standing : `only ${candidate.standing} (${candidate.standing_reason})`];
    if (costs.packets !== least.packets) {
      const count = costs.packets - least.packets;
      words.push(`${plural(Math.abs(count), "packet")} ${count > 0 ? "more" : "less"}`);
    }
    if (costs.cycles !== least.cycles) words.push(`${fixed(costs.cycles / least.cycles, 2)} times the cycles`);
    const energy = more(costs.energy.total_uj, least.energy.total_uj);
    words.push(Math.abs(energy) < 0.005
      ? "the same energy as the first"
      : `${percent(Math.abs(energy))} ${energy >= 0 ? "more" : "less"} energy than the first`);
    for (const [count, what] of [[flashOf(candidate) - flashOf(first), "flash"], [ramOf(candidate) - ramOf(first), "RAM"]]) {
      if (count) words.push(`${number(Math.abs(count))} bytes ${count > 0 ? "more" : "less"} ${what}`);
    }
    return words.join(", ");
  }

  // data: what `motecrypt.advise.export` gave. Returns what `motecrypt.advise.advise` returns.
  function advise(data, question, deviceName, radioName, cells, regulatorName) {
    const device = data.devices[deviceName], radio = data.radios[radioName];
    const regulator = data.regulators[regulatorName];
    const voltsMin = voltsNeeded(device, regulator);
    const usable = usableFraction(cells, voltsMin);
    const refusal = refusalOf(device, cells, regulator);
    if (refusal) return { refusal, entries: [], exclusions: [], notes: [], plaintext: null, usable: 0 };
    const setting = { question, device, radio, battery: cells, regulator };
    const plaintext = messageCosts(setting, question.message_bytes, 0, 0, question.answer_bytes, usable);
    const found = [], exclusions = [];
    for (const candidate of data.candidates[deviceName]) {
      let excluded = unfit(candidate, question);
      const costs = excluded ? null : costsOf(setting, candidate, usable);
      if (costs) excluded = overBudget(setting, candidate, costs);
      if (excluded) {
        exclusions.push(excluded);
      } else if (!costs) {
        const length = takenBytes(candidate, question.message_bytes);
        const failed = candidate.status !== "ok";
        const why = failed ? candidate.reason : `not measured at ${length} bytes`;
        exclusions.push(exclusion(candidate, why, [], 0, failed));
      } else {
        const share = flashOf(candidate) / device.flash_bytes + ramOf(candidate) / device.ram_bytes;
        const weight = costs.energy.total_uj * (1 + data.memory_weight * share);
        const key = [data.order.indexOf(candidate.standing), weight, nameOf(candidate)];
        found.push({ key, candidate, costs, weight });
      }
    }
    found.sort((a, b) => inOrder(a.key, b.key));
    const entries = found.map(({ candidate, costs, weight }, index) => ({
      rank: index + 1,
      candidate,
      costs,
      more_energy_percent: more(costs.energy.total_uj, plaintext.energy.total_uj),
      weight,
      reason: reasonOf(candidate, costs, found[0].candidate, found[0].costs, index + 1),
    }));
    const lives = found.length ? otherLives(setting, found[0].candidate, Object.values(data.regulators)) : [];
    const tools = { messageCosts, nonceOnAir, flashOf, nameOf, number, percent, days, significant, plural, inOrder, fixed };
    const notes = adviserNotes(tools, setting, entries, exclusions, plaintext, usable, voltsMin, lives);
    return { refusal: "", entries, exclusions, notes, plaintext, usable };
  }

  return { advise, battery, seconds, wholeBytes, nameOf, flashOf, ramOf, number, percent, days };
})();
