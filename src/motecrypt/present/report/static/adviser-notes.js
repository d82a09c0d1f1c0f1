// What a person would miss, a sentence each, as src/motecrypt/adviser/notes.py has them. Pure.
"use strict";

function adviserNotes(tools, setting, entries, exclusions, plaintext, usable, voltsMin, otherLives, bare) {
  const {
    messageCosts, atLength, takenBytes, longForm, shortRoom, streams, patienceUs, dutyPercent, shelfDays, linked,
    flashOf, nameOf, number, percent, days, significant, plural, inOrder, fixed,
  } = tools;
  const { question, device, radio, link, battery, constants } = setting;

  function shares(first) {
    const { energy } = first.costs;
    const total = energy.total_uj;
    const rest = [
      [energy.store_uj, "keeping counters"],
      [energy.send_uj + energy.receive_uj, "the radio"],
      [energy.between_uj, device.sleeps ? "sleeping" : "waiting for the next message"],
      [energy.wake_uj, "waking up"],
      [energy.regulator_uj, "regulating"],
      [energy.self_discharge_uj, "the battery's own discharge"],
    ]
      .filter(([uj]) => uj / total >= 0.0005)
      .map(([uj, what]) => `${what} ${percent((uj / total) * 100)}`)
      .join(", ");
    const lost = percent(Math.max(0, 1 - first.costs.life_days / plaintext.life_days) * 100);
    return [
      `Encryption is ${percent((energy.cpu_uj / total) * 100)} of the energy of the first, ${rest}; ` +
        `it and the longer message shorten the battery's life by ${lost}.`,
    ];
  }

  // What the board around the chip costs, if that is much.
  function board({ costs }) {
    if (device.of !== "board" || !bare || bare.life_days < constants.much_longer * costs.life_days) return [];
    const between = device.sleeps ? device.sleep_ma : device.active_ma;
    return [
      `The stock board ${device.title} draws ${significant(between, 3)} mA between messages. Its chip alone would last ` +
        `${days(bare.life_days)} instead of ${days(costs.life_days)} (--bare-chip).`,
    ];
  }

  function rest() {
    if (device.sleeps) return [];
    return [
      "No sleep is counted: the exported example keeps device and radio on between messages. If your own " +
        "program lets both sleep, use --sleeps.",
    ];
  }

  // The figures that device and radio lack, and what is counted in their place, as in src/motecrypt/adviser/unknown.py.
  function unknown() {
    const said = {
      idle_ma: [true, `The current of ${device.title} while it waits for the radio is not known: its active current is counted.`],
      wake_us: [device.sleeps, `How long ${device.title} takes to wake up is not known and not counted: add wake_us to its device.toml.`],
      store_byte_us: [
        linked(question),
        `How long ${device.title} takes to store the link's counters is not known and not counted: add ` +
          "store_byte_us to its device.toml.",
      ],
    };
    const ofRadio = device.sleeps && radio.unknown.includes("wake_us");
    return [
      ...device.unknown.filter((name) => said[name][0]).map((name) => said[name][1]),
      ...(ofRadio ? [`How long ${radio.name} takes to wake up is not known and not counted: add wake_us to the radio's file.`] : []),
    ];
  }

  function shelf({ costs }) {
    if (costs.life_days < shelfDays(battery)) return [];
    return [`The life of ${battery.name} ends with its shelf life of ${significant(battery.shelf_years)} years.`];
  }

  // The candidate with figures for another length: where that was not measured, the message's.
  function withLength(candidate, room) {
    const seal = atLength(candidate.points, takenBytes(candidate, question.message_bytes));
    if (seal === null || atLength(candidate.points, room) !== null) return candidate;
    const points = [...candidate.points, { ...seal, message_bytes: room }];
    return { ...candidate, points: points.sort((a, b) => a.message_bytes - b.message_bytes) };
  }

  // How the message goes, and what a message of another length would save or have for nothing.
  function form({ costs, candidate }) {
    const said = [];
    if (linked(question)) {
      const length = costs.packets === 1 ? costs.packet_sizes[0] : radio.packet_bytes;
      const upTo = new Set(costs.packet_sizes).size === 1 ? "" : "up to ";
      said.push(
        `Each message goes ${costs.form}: ${plural(costs.packets, "packet")} of ${upTo}${length} bytes; ` +
          `${costs.overhead_bytes} bytes are the link's.`,
      );
      const room = shortRoom(link, radio);
      if (costs.form === "long") {
        const shorter = { ...setting, question: { ...question, message_bytes: room } };
        const less = messageCosts(shorter, withLength(candidate, room), usable);
        const saved = less === null ? 0 : (1 - less.energy.total_uj / costs.energy.total_uj) * 100;
        const gain = saved >= constants.shown_percent ? `: ${percent(saved)} less energy` : "";
        said.push(`A message of ${streams(radio) ? "exactly" : "up to"} ${room} bytes would be one short packet${gain}.`);
      }
    }
    const filling = costs.air_bytes - costs.sealed_bytes;
    if (filling) {
      said.push(
        `The last packet is filled up with ${filling} bytes, so ${filling} more bytes of message cost ` +
          "no extra air time.",
      );
    }
    return said;
  }

  // The long messages that keep both ends synchronised.
  function steps({ costs }) {
    if (costs.form !== "short") return [];
    const takes = plural(longForm(link, radio, question.message_bytes).sizes.length, "packet");
    if (question.delivery === "confirmed") return [`The first message after a start is sent long, in ${takes}.`];
    const oneWay = question.delivery === "one-way";
    const every = oneWay ? link.one_way_long_every : link.short_after_answer + 1;
    return [
      oneWay
        ? `The first message after a start and one in ${every} are sent long, in ${takes}, so that the gateway stays synchronised.`
        : `The first message after a start and one in ${every} are sent long and confirmed, in ${takes}, so that both ` +
          "ends stay synchronised.",
    ];
  }

  function losses({ costs }) {
    if (!question.loss) return [];
    const share = percent(question.loss * 100);
    const lost = percent(costs.lost * 100);
    const repeats = linked(question)
      ? "--delivery confirmed repeats"
      : "without the secure link (--need replay) nothing retransmits";
    return [
      question.delivery === "confirmed"
        ? `With ${share} of the packets lost, a message takes ${fixed(costs.packets_mean, 2)} packets on average, ` +
          `and ${lost} of the messages are given up after ${link.tries} tries.`
        : `With ${share} of the packets lost, ${lost} of the messages are lost; ${repeats} them.`,
    ];
  }

  // Where the radio makes a node wait longer for an answer than usual.
  function patience() {
    const waits = patienceUs(link, radio);
    if (!linked(question) || question.delivery === "one-way" || waits <= link.answer_ms * 1000) return [];
    return [
      `Over ${radio.name} a node waits ${number(waits / 1000)} ms for an answer, not ${link.answer_ms} ms: ` +
        "an export for this radio is set to that.",
    ];
  }

  function duty({ costs }) {
    if (radio.duty_percent >= 100) return [];
    return [
      `The node is on the air ${percent(dutyPercent(setting, costs))} of the time; ` +
        `its band allows ${significant(radio.duty_percent)} %.`,
    ];
  }

  function timing(first) {
    if (!first.candidate.timing_varies) return [];
    return [`The cycles of ${nameOf(first.candidate)} depend on the data: its timing may leak information about them.`];
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

  // How much of the battery's charge its voltage lets the device use, if that is little.
  function charge() {
    if (usable >= constants.few_charge) return [];
    return [
      `${battery.name} stays above the ${significant(voltsMin, 3)} V that ${device.title} needs for only ` +
        `${percent(usable * 100)} of its charge, and no more is counted.`,
    ];
  }

  // Whether the device's peak current is above what the battery gives.
  function pulses() {
    const peak = Math.max(device.active_ma, device.idle_ma + Math.max(radio.tx_ma, radio.rx_ma));
    if (peak <= battery.pulse_ma) return [];
    return [
      `${battery.name} gives pulses of ${significant(battery.pulse_ma)} mA, and ${device.title} with ${radio.name} ` +
        `takes ${significant(peak, 3)} mA: it needs a parallel capacitor, or it fails well before the life given here.`,
    ];
  }

  // The regulator that makes the most of the battery, if that is much.
  function otherSupply(first) {
    if (!otherLives.length) return [];
    const [name, life] = otherLives.reduce((a, b) => (b[1] > a[1] ? b : a));
    if (life < constants.much_longer * first.costs.life_days) return [];
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
      return [`No candidate is left: none of the ${exclusions.length} meets the needs and fits the device.`];
    }
    const hopeless = exclusions.length - tried.length;
    const optionOf = (budget) => (budget === "interval" || budget === "duty" ? "every" : budget);
    const options = tried.map(({ budgets }) => new Set(budgets.map(optionOf)));
    const counts = [...new Set(options.flatMap((broken) => [...broken]))].map((option) => {
      const those = options.filter((broken) => broken.has(option));
      const alone = those.filter((broken) => broken.size === 1).length;
      return `--${option} excludes ${those.length} (${alone} for this reason alone)`;
    });
    const key = ({ budgets, excess, candidate }) => [budgets.length, excess, nameOf(candidate)];
    const nearest = tried.reduce((a, b) => (inOrder(key(b), key(a)) < 0 ? b : a));
    return [
      `Nothing fits. Of ${exclusions.length} implementations ${hopeless} are out for other reasons; ` +
        `${counts.join(", ")}. The nearest is ${nameOf(nearest.candidate)}: ${nearest.reason}.`,
    ];
  }

  const first = entries[0];
  const supply = [...charge(), ...pulses()];
  if (!first) return { notes: [...nothingFits(), ...supply, ...misfits()], warnings: [] };
  const notes = [
    ...supply, ...board(first), ...rest(), ...unknown(), ...shelf(first), ...otherSupply(first),
    ...shares(first), ...form(first), ...steps(first), ...losses(first), ...patience(), ...duty(first), ...timing(first),
    ...smaller(), ...misfits(),
  ];
  // Those that call for an action or a decision, the most important first.
  const warnings = [
    ...timing(first), ...pulses(), ...(first.costs.lost * 100 >= constants.shown_percent ? losses(first) : []),
    ...board(first), ...charge(), ...rest(),
  ];
  return { notes, warnings };
}
