// The adviser of src/motecrypt/adviser (Python) in JavaScript: the same records, the same arithmetic, the same
// sentences. A test holds the two together on random questions. Pure: no element of the page is touched.
"use strict";

const adviser = (() => {
  const { filled, sentOnce, exchange } = adviserExchange;
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
    if (!match) throw new Error(`${option} '${text}': not an amount; write ${example}`);
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
      throw new Error(`${option} '${text}': not a whole number of bytes; write ${example}`);
    }
    return value;
  }

  function lossShare(text, option, most) {
    if (!/^[0-9]+(\.[0-9]+)?$/.test(text.trim()) || Number(text) > most) {
      throw new Error(`${option} '${text}': not a share of packets; write per cent, from 0 to ${most}`);
    }
    return Number(text) / 100;
  }

  // "3xAA", "CR2032" or "1200mAh,3.7V" as one battery.
  function battery(text, cells) {
    const own = /^\s*([0-9.]+)\s*(m?)Ah\s*,\s*([0-9.]+)\s*V\s*$/i.exec(text);
    if (own) {
      const capacity = Number(own[1]) * (own[2] ? 1 : 1000), volts = Number(own[3]);
      if (!(capacity > 0) || !(volts > 0)) throw new Error(`--battery '${text}': write 1200mAh,3.7V`);
      return {
        name: text, title: "as given; its voltage is assumed constant", cells: 1,
        capacity_mah: capacity, volts, volts_full: volts, volts_empty: volts,
        self_discharge_percent_per_year: 0, shelf_years: 0, pulse_ma: Infinity, curve: [[volts, 0], [volts * 0.999, 1]],
      };
    }
    const match = /^(?:([0-9]{1,2})\s*x\s*)?([A-Za-z0-9-]+)$/.exec(text.trim());
    const cell = match && Object.values(cells).find((one) => one.name.toLowerCase() === match[2].toLowerCase());
    if (!cell) {
      const known = Object.keys(cells).join(", ");
      throw new Error(`--battery '${text}': unknown; write 3xAA or 1200mAh,3.7V; available: ${known}`);
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

  // --- what the link sends, how often, and computes (advise/exchange.py) ---

  const sumOf = (terms) => terms.reduce((total, term) => total + term, 0);
  const streams = (radio) => radio.serial_byte_us > 0;
  const shortRoom = (link, radio) => radio.packet_bytes - link.short_overhead_bytes;
  const messageBytesMax = (link, radio) =>
    link.pieces_max * (radio.packet_bytes - link.piece_head_bytes) - link.long_overhead_bytes;

  function shortForm(link, messageBytes, confirmed = false) {
    return { name: "short", sizes: [messageBytes + link.short_overhead_bytes], filling: 0, confirmed };
  }
  function longForm(link, radio, messageBytes, confirmed = false) {
    const piece = radio.packet_bytes - link.piece_head_bytes;
    const content = messageBytes + link.long_overhead_bytes;
    const count = Math.ceil(content / piece);
    const rest = content - (count - 1) * piece;
    const last = streams(radio) ? piece : rest;
    const sizes = [...filled(count - 1, radio.packet_bytes), last + link.piece_head_bytes];
    return { name: "long", sizes, filling: last - rest, confirmed };
  }
  function usualForm(link, radio, messageBytes, confirmed = false) {
    const room = shortRoom(link, radio);
    const short = streams(radio) ? messageBytes === room : messageBytes <= room;
    return short ? shortForm(link, messageBytes, confirmed) : longForm(link, radio, messageBytes, confirmed);
  }
  function plainForm(radio, sealed) {
    const rest = sealed % radio.packet_bytes;
    const sizes = filled(Math.floor(sealed / radio.packet_bytes), radio.packet_bytes);
    if (rest) sizes.push(radio.timeout_us > 0 ? radio.packet_bytes : rest);
    return { name: "alone", sizes, filling: sumOf(sizes) - sealed, confirmed: false };
  }
  function formsOf({ question, radio, link, constants }) {
    const length = question.message_bytes;
    const usual = usualForm(link, radio, length, question.delivery === "confirmed");
    if (question.delivery === "confirmed" || usual.name === "long") return [[1, usual]];
    if (question.delivery === "one-way") {
      const every = link.one_way_long_every;
      return [[1 - 1 / every, usual], [1 / every, longForm(link, radio, length)]];
    }
    const step = longForm(link, radio, length, true);
    const least = constants.least_chance;
    const times = 1 / Math.max(least, 1 - exchange(step.sizes.length, question.loss, link.tries, least).lost);
    const share = times / (link.short_after_answer + times);
    return [[1 - share, usual], [share, step]];
  }

  // --- what one message costs (advise/costs.py) ---

  function takenBytes(candidate, messageBytes) {
    const multiple = candidate.message_bytes_multiple;
    return Math.max(Math.ceil(messageBytes / multiple) * multiple, candidate.message_bytes_min);
  }
  const sealedAlone = (candidate, messageBytes) =>
    candidate.nonce_bytes + takenBytes(candidate, messageBytes) + candidate.tag_bytes;

  function atLength(points, messageBytes) {
    const below = points.filter((p) => p.message_bytes <= messageBytes);
    const above = points.filter((p) => p.message_bytes >= messageBytes);
    if (!below.length || !above.length) return null;
    const a = below[below.length - 1], b = above[0];
    if (a.message_bytes === b.message_bytes) return a;
    const part = (messageBytes - a.message_bytes) / (b.message_bytes - a.message_bytes);
    const between = (name) => a[name] + part * (b[name] - a[name]);
    return {
      message_bytes: messageBytes,
      setup_cycles: between("setup_cycles"),
      encrypt_cycles: between("encrypt_cycles"),
      decrypt_cycles: between("decrypt_cycles"),
    };
  }
  function burst(radio, sizes) {
    let ready = 0, free = 0, out = 0, air = 0;
    for (const size of sizes) {
      const line = size * radio.serial_byte_us;
      ready += line;
      const end = Math.max(ready, free) + radio.air_us[size];
      air += radio.air_us[size];
      free = end + radio.gap_us;
      out = Math.max(out, end) + line;
    }
    return { on: free, air, delivered: out };
  }
  function answerUs(link, radio, lastBytes) {
    const size = streams(radio) ? radio.packet_bytes : link.answer_bytes;
    return lastBytes * radio.serial_byte_us + radio.turn_round_us + burst(radio, [size]).delivered;
  }
  function patienceUs(link, radio) {
    const slow = 100 * Math.ceil((4 * radio.air_us[radio.packet_bytes]) / 1000 / 100);
    return Math.max(link.answer_ms, slow) * 1000;
  }
  function trafficOf({ question, radio, link, constants }, linked) {
    const usual = linked[0][1];
    const sum = { usual, packets: 0, on: 0, air: 0, listen: 0, answers: 0, changes: 0, lost: 0 };
    for (const [share, form] of linked) {
      const count = form.sizes.length, last = form.sizes[count - 1];
      const done = form.confirmed
        ? exchange(count, question.loss, link.tries, constants.least_chance)
        : sentOnce(count, question.loss);
      let on = 0, air = 0, sent = 0;
      done.bursts.forEach((often, others) => {
        const one = burst(radio, [...form.sizes.slice(0, others), last]);
        on += often * one.on;
        air += often * one.air;
        sent += often * (others + 1);
      });
      const silence = Math.max(0, patienceUs(link, radio) - on / sumOf(done.bursts));
      sum.packets += share * sent;
      sum.on += share * on;
      sum.air += share * air;
      const heard = form.confirmed ? done.answers * answerUs(link, radio, last) : 0;
      sum.listen += share * (heard + done.silences * silence);
      sum.answers += share * done.answers;
      sum.changes += share * (2 * form.confirmed + (form.name !== usual.name) * (form.confirmed ? 1 : 2));
      sum.lost += share * done.lost;
    }
    return { ...sum, delivered: burst(radio, usual.sizes).delivered };
  }
  function replyUs({ question, radio, link }, sizes, confirmed, lastBytes) {
    const begins = radio.turn_round_us + (confirmed ? 0 : lastBytes * radio.serial_byte_us);
    const comesUs = begins + burst(radio, sizes).delivered;
    const comes = (1 - question.loss) ** sizes.length;
    return comes * comesUs + (1 - comes) * patienceUs(link, radio);
  }
  function linkCycles({ link }, work, seal, reply, sent) {
    const blocks = work.part_blocks
      ? Math.ceil(seal.message_bytes / work.block_bytes)
      : Math.floor(seal.message_bytes / work.block_bytes);
    const unit = seal.encrypt_cycles / (work.base + work.block * blocks);
    const setup = work.setup ? seal.setup_cycles : 0;
    const derive = work.derive * unit + setup;
    let cycles = seal.setup_cycles + seal.encrypt_cycles;
    cycles += sent.answers * (work.prove * unit + setup);
    let { changes } = sent, saves = 1 / link.claim_sent;
    if (reply) {
      cycles += reply.setup_cycles + reply.decrypt_cycles;
      changes += 2;
      saves += 1 / link.claim_received;
    }
    return [cycles + (changes + 3 * saves) * derive, saves];
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

  const shelfDays = (cells) => (cells.shelf_years ? (cells.shelf_years * YEAR_S) / 86400 : Infinity);
  const dutyPercent = ({ question }, costs) => (costs.air_time_us / (question.interval_s * 1e6)) * 100;

  function energyOf(setting, cpuUs, storeUs, [onUs, airUs, listenUs], awakeUs) {
    const { question, device, radio, battery: cells, regulator } = setting;
    const intervalUs = question.interval_s * 1e6;
    const restUs = Math.max(0, intervalUs - awakeUs);
    const deviceV = regulator.kind === "none" ? cells.volts : device.volts;
    const radioV = regulator.kind === "switch" ? radio.supply_v : Math.min(radio.supply_v, cells.volts);
    const wakes = device.sleeps ? 1 : 0;
    const loads = {  // part: [volts, milliamperes, microseconds] of each load in it
      cpu: [[deviceV, device.active_ma, cpuUs]],
      store: [[deviceV, device.active_ma, storeUs]],
      send: [
        [radioV, radio.rx_ma, onUs - airUs],
        [radioV, radio.tx_ma, airUs],
        [deviceV, device.idle_ma, onUs],
      ],
      receive: [[radioV, radio.rx_ma, listenUs], [deviceV, device.idle_ma, listenUs]],
      between: [
        [deviceV, device.sleeps ? device.sleep_ma : device.active_ma, restUs],
        [radioV, device.sleeps ? radio.sleep_ma : radio.rx_ma, restUs],
      ],
      wake: [[deviceV, device.active_ma, wakes * device.wake_us], [radioV, radio.rx_ma, wakes * radio.wake_us]],
    };
    const parts = Object.fromEntries(
      Object.entries(loads).map(([name, load]) => [name, sumOf(load.map(([v, ma, us]) => (v * ma * us) / 1000))]),
    );
    const inParts = sumOf(Object.values(parts));
    const drawn = regulator.kind === "switch"
      ? inParts / regulator.efficiency
      : sumOf(Object.values(loads).flat().map(([, ma, us]) => (cells.volts * ma * us) / 1000));
    const own = (cells.volts * regulator.quiescent_ma * intervalUs) / 1000;
    const lost = drawn - inParts + own;
    const share = ((cells.self_discharge_percent_per_year / 100) * question.interval_s) / YEAR_S;
    const self = batteryUj(cells) * share;
    return {
      cpu_uj: parts.cpu, store_uj: parts.store, send_uj: parts.send, receive_uj: parts.receive,
      between_uj: parts.between, wake_uj: parts.wake, regulator_uj: lost, self_discharge_uj: self,
      total_uj: inParts + lost + self,
    };
  }

  function costsOf(setting, sent, back, { cycles, setupCycles, saves, tag }, usable) {
    const { question, device, radio, link } = setting;
    const { usual } = sent;
    const last = usual.sizes[usual.sizes.length - 1];
    const listenUs = sent.listen + (back.length ? replyUs(setting, back, usual.confirmed, last) : 0);
    const cpuUs = (cycles / device.clock_hz) * 1e6;
    const storeUs = saves * link.save_bytes_changed * device.store_byte_us;
    const wakeUs = device.sleeps ? device.wake_us + radio.wake_us : 0;
    const awakeUs = wakeUs + cpuUs + storeUs + sent.on + listenUs;
    const energy = energyOf(setting, cpuUs, storeUs, [sent.on, sent.air, listenUs], awakeUs);
    const chargeDays = (((batteryUj(setting.battery) * usable) / energy.total_uj) * question.interval_s) / 86400;
    const sealed = sumOf(usual.sizes) - usual.filling;
    return {
      form: usual.name,
      packet_sizes: usual.sizes,
      packets: usual.sizes.length,
      air_bytes: sumOf(usual.sizes),
      sealed_bytes: sealed,
      overhead_bytes: sealed - question.message_bytes,
      tag_bytes: tag,
      packets_mean: sent.packets,
      cycles,
      setup_us: (setupCycles / device.clock_hz) * 1e6,
      cpu_us: cpuUs,
      air_time_us: sent.air,
      latency_us: cpuUs + sent.delivered,
      busy_us: awakeUs,
      lost: sent.lost,
      energy,
      life_days: Math.min(chargeDays, shelfDays(setting.battery)),
    };
  }
  function plainCosts(setting, usable) {
    const { question, radio } = setting;
    const back = plainForm(radio, question.answer_bytes).sizes;
    const work = { cycles: 0, setupCycles: 0, saves: 0, tag: 0 };
    return costsOf(setting, trafficOf(setting, [[1, plainForm(radio, question.message_bytes)]]), back, work, usable);
  }
  const linked = (question) => question.needs.includes("replay");

  function messageCosts(setting, candidate, usable) {
    const { question, radio, link } = setting;
    if (candidate.status !== "ok") return null;
    const seal = atLength(candidate.points, takenBytes(candidate, question.message_bytes));
    let reply = null;
    if (question.answer_bytes > 0) {
      reply = atLength(candidate.points, takenBytes(candidate, question.answer_bytes));
      if (reply === null) return null;
    }
    if (seal === null) return null;
    if (linked(question)) {
      const sent = trafficOf(setting, formsOf(setting));
      const back = reply ? usualForm(link, radio, question.answer_bytes).sizes : [];
      const work = link.suites[candidate.cipher];
      const [cycles, saves] = linkCycles(setting, work, seal, reply, sent);
      const tag = sent.usual.name === "short" ? link.short_tag_bytes : link.long_tag_bytes;
      return costsOf(setting, sent, back, { cycles, setupCycles: 0, saves, tag }, usable);
    }
    const form = plainForm(radio, sealedAlone(candidate, question.message_bytes));
    const back = reply ? plainForm(radio, sealedAlone(candidate, question.answer_bytes)).sizes : [];
    const cycles = seal.encrypt_cycles + (reply ? reply.decrypt_cycles : 0);
    const work = { cycles, setupCycles: seal.setup_cycles, saves: 0, tag: candidate.tag_bytes };
    return costsOf(setting, trafficOf(setting, [[1, form]]), back, work, usable);
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
        return `${gives}; ${needs}: use more cells, or a step-up regulator (--regulator switch)`;
      }
      if (cells.volts_full > device.volts_max) {
        return `${gaveFull}; ${needs}: use fewer cells, or a regulator (--regulator linear or switch)`;
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

  function linkRefusal(link, radio, question) {
    if (question.answer_bytes && question.delivery === "one-way") {
      return "--answer: a one-way node receives none; use --delivery unconfirmed or confirmed";
    }
    if (!linked(question)) {
      return question.delivery === "confirmed"
        ? "--delivery confirmed: only the secure link confirms; add replay to --need"
        : "";
    }
    const low = link.packet_bytes_min, high = link.packet_bytes_max;
    if (!(low <= radio.packet_bytes && radio.packet_bytes <= high)) {
      const has = `${radio.name} has packets of ${radio.packet_bytes} bytes`;
      return `${has}; the link takes ${low} to ${high}: set --packet-bytes`;
    }
    const most = messageBytesMax(link, radio);
    for (const [option, length] of [["--bytes", question.message_bytes], ["--answer", question.answer_bytes]]) {
      if (length > most) {
        return `${option} ${length}: the link takes messages of up to ${most} bytes in its ${link.pieces_max} ` +
          `packets of ${radio.packet_bytes} bytes; send it in parts`;
      }
    }
    return "";
  }

  function unfit(candidate, question, link) {
    if (candidate.standing === "broken") return exclusion(candidate, `broken: ${candidate.standing_reason}`);
    if (question.needs.includes("integrity") && candidate.tag_bytes === 0) {
      return exclusion(candidate, "no integrity: changed messages are accepted");
    }
    if (linked(question) && !(candidate.cipher in link.suites)) {
      const has = Object.keys(link.suites).join(", ");
      return exclusion(candidate, `not in the secure link, which refuses replays; the link has ${has}`);
    }
    return null;
  }

  // Days that the first would last through other regulators that can run the device.
  function otherLives(setting, first, regulators) {
    return regulators
      .filter((other) => other.name !== setting.regulator.name && !refusalOf(setting.device, setting.battery, other))
      .map((other) => {
        const usable = usableFraction(setting.battery, voltsNeeded(setting.device, other));
        return [other.name, messageCosts({ ...setting, regulator: other }, first, usable)];
      })
      .filter(([, costs]) => costs)
      .map(([name, costs]) => [name, costs.life_days]);
  }

  function overBudget(setting, candidate, costs) {
    const { question } = setting;
    if (question.needs.includes("constant-time") && candidate.timing_varies) {
      return exclusion(candidate, "its time depends on the data");
    }
    const latency = question.latency_us_max, interval = question.interval_s * 1e6;
    const ms = (us) => tenths(us / 1000);
    const duty = dutyPercent(setting, costs), dutyMax = setting.radio.duty_percent;
    const limits = [
      ["flash", flashOf(candidate), question.flash_max, "takes {} bytes of flash, {} too many", number],
      ["ram", ramOf(candidate), question.ram_max, "takes {} bytes of RAM with its stack, {} too many", number],
      ["overhead", costs.overhead_bytes, question.overhead_max, "adds {} bytes, {} too many", number],
      ["latency", costs.latency_us, latency, "takes {} ms until delivered, {} too long", ms],
      ["interval", costs.busy_us, interval, "is busy {} ms with each, {} too long", ms],
      ["duty", duty, dutyMax, "is on the air {} of the time, {} more than its band allows", percent],
    ];
    const broken = limits.filter(([, needed, limit]) => limit !== null && needed > limit);
    if (!broken.length) return null;
    const said = broken.map(([, needed, limit, text, words]) =>
      text.replace("{}", words(needed)).replace("{}", words(needed - limit)));
    const excess = Math.max(...broken.map(([, needed, limit]) => needed / Math.max(1, limit)));
    return exclusion(candidate, said.join("; "), broken.map(([name]) => name), excess);
  }

  function reasonOf(candidate, costs, first, least, rank) {
    const varies = candidate.timing_varies ? ["its time depends on the data"] : [];
    if (rank === 1) {
      const packets = plural(costs.packets, "packet");
      const sent = costs.form === "alone" ? packets : `${costs.form}, ${packets}`;
      return [`${candidate.standing}, and first in energy, memory and timing together: ${sent}`, ...varies].join("; ");
    }
    const same = candidate.standing === first.standing;
    const words = [same ? candidate.standing : `only ${candidate.standing} (${candidate.standing_reason})`, ...varies];
    if (costs.packets !== least.packets) {
      const count = costs.packets - least.packets;
      words.push(`${plural(Math.abs(count), "packet")} ${count > 0 ? "more" : "fewer"}`);
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

  // data: what `motecrypt.adviser.export` gave. `of`: "board" or "chip". `sleeps`: also where no example does.
  // Returns what `motecrypt.adviser.advise` returns.
  function advise(data, question, deviceName, radioName, cells, regulatorName, of = "board", sleeps = false) {
    const radio = data.radios[radioName], { link } = data;
    const regulator = data.regulators[regulatorName];
    const sleepers = data.sleepers[deviceName] || [];
    const sleeping = sleeps || sleepers.includes(radioName) || (streams(radio) && sleepers.includes("serial"));
    const refusedAs = (kind) => data.refusals[deviceName][kind][sleeping ? 1 : 0];
    if (refusedAs(of)) throw new Error(refusedAs(of));
    const part = (kind, known) => (refusedAs(kind) ? null : { ...known[deviceName], sleeps: sleeping });
    const chip = part("chip", data.chips);
    const device = of === "chip" ? chip : part("board", data.devices);
    const voltsMin = voltsNeeded(device, regulator);
    const usable = usableFraction(cells, voltsMin);
    const supply = refusalOf(device, cells, regulator);
    const refusal = supply || linkRefusal(link, radio, question);
    if (refusal) return { refusal, refused: supply ? "battery" : "bytes", entries: [], exclusions: [], notes: [], warnings: [], plaintext: null, usable: 0 };
    const setting = { question, device, radio, link, battery: cells, regulator, constants: data.constants };
    const plaintext = plainCosts(setting, usable);
    const found = [], exclusions = [];
    for (const candidate of data.candidates[deviceName]) {
      let excluded = unfit(candidate, question, link);
      const costs = excluded ? null : messageCosts(setting, candidate, usable);
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
        const timing = candidate.timing_varies ? data.constants.timing_weight : 0;
        const weight = costs.energy.total_uj * (1 + data.constants.memory_weight * share) * (1 + timing);
        const key = [data.constants.order.indexOf(candidate.standing), weight, nameOf(candidate)];
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
    const bare = found.length && of === "board" && chip
      ? messageCosts({ ...setting, device: chip }, found[0].candidate, usable)
      : null;
    const tools = {
      messageCosts, atLength, takenBytes, longForm, shortRoom, streams, patienceUs, dutyPercent, shelfDays, linked,
      flashOf, nameOf, number, percent, days, significant, plural, inOrder, fixed,
    };
    const told = adviserNotes(tools, setting, entries, exclusions, plaintext, usable, voltsMin, lives, bare);
    const hardware = entries.length ? data.hardware[deviceName] : "";
    const saved = hardware && percent((entries[0].costs.energy.cpu_uj / entries[0].costs.energy.total_uj) * 100);
    const notes = [...(hardware ? [hardware.replace("{saved}", saved)] : []), ...told.notes];
    return { refusal: "", refused: "", entries, exclusions, notes, warnings: told.warnings, plaintext, usable };
  }

  // Constant time by itself asks for more than is usual, not for less (advise/defaults.py).
  function wholeNeeds(asked, usual) {
    const needs = asked.join() === "constant-time" ? [...usual, ...asked] : asked;
    return ["confidentiality", "integrity", "replay", "constant-time"].filter((need) => needs.includes(need));
  }

  return { advise, battery, seconds, wholeBytes, wholeNeeds, lossShare, nameOf, flashOf, ramOf, number, percent, days };
})();
