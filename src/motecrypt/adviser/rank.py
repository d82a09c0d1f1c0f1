"""The adviser: one pure function from plain records to a ranking with a reason for every place.

`advise(question, candidates, device, radio, link, battery, regulator)` looks at nothing but its arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from motecrypt.adviser.costs import (
    Setting,
    duty_percent,
    message_costs,
    plain_costs,
    taken_bytes,
    usable_fraction,
    volts_needed,
)
from motecrypt.adviser.exchange import message_bytes_max
from motecrypt.adviser.model import (
    Advice,
    BatteryPart,
    Candidate,
    DeviceFacts,
    Entry,
    Exclusion,
    LinkFacts,
    MessageCosts,
    Question,
    RadioPart,
    RegulatorPart,
)
from motecrypt.adviser.notes import SHOWN_PERCENT, notes, warnings
from motecrypt.adviser.shown import TIME_VARIES, number, percent, plural
from motecrypt.adviser.storage import StoragePart

ORDER = ("recommended", "acceptable", "legacy", "unrated")
MEMORY_WEIGHT = 0.1
"""All of a device's RAM (or all of its flash) counts as much as this share of the energy: with equal
batteries the smaller wins, and half of the RAM is never traded for a thousandth of the energy."""
TIMING_WEIGHT = 0.1
"""A time that depends on the data counts as much as this share of the energy: among nearly equal ones the
constant-time implementation comes first."""


def advise(
    question: Question,
    candidates: Sequence[Candidate],
    device: DeviceFacts,
    radio: RadioPart,
    link: LinkFacts,
    battery: BatteryPart,
    regulator: RegulatorPart,
    other_regulators: Sequence[RegulatorPart] = (),
    chip: DeviceFacts | None = None,
    storage: StoragePart | None = None,
) -> Advice:
    """Rank the usable candidates, with the reason for each rank and for each exclusion.

    Ranked by security status; then by energy for each message, plus `MEMORY_WEIGHT` of it times the
    shares of the device's flash and RAM that are taken, plus `TIMING_WEIGHT` of that where the time varies
    with the data. The order of two candidates depends on nothing but these two.

    Parameters
    ----------
    candidates
        As measured; lengths between measured ones are interpolated linearly, others not measured.
    other_regulators
        Only for a note: whether one of them would make the battery last much longer.
    chip
        Only for a note, where `device` is a board: its chip alone.
    storage
        Where the node stores its records instead of sending them; `radio` is then its `as_radio`.

    Returns
    -------
    Advice
        With `refusal` set and nothing ranked where the supply cannot run the device, or the link does not
        take such a message.
    """
    volts_min = volts_needed(device, regulator)
    usable = usable_fraction(battery, volts_min)
    refusal = supply_refusal(device, battery, regulator) or link_refusal(link, radio, question)
    if refusal:
        return Advice(refusal, (), (), (), None, 0.0, volts_min)
    setting = Setting(question, device, radio, link, battery, regulator, storage)
    plaintext = plain_costs(setting, usable)
    found: list[tuple[tuple[int, float, str], Candidate, MessageCosts, float]] = []
    exclusions: list[Exclusion] = []
    for candidate in candidates:
        excluded = unfit(candidate, question, link)
        costs = None if excluded else message_costs(setting, candidate, usable)
        if costs is not None:
            excluded = _over_budget(setting, candidate, costs)
        if excluded is not None:
            exclusions.append(excluded)
        elif costs is None:
            exclusions.append(_without_figures(candidate, question))
        else:
            weight = costs.energy.total_uj * (1 + MEMORY_WEIGHT * _memory_share(candidate, device))
            weight *= 1 + TIMING_WEIGHT * candidate.timing_varies
            key = (ORDER.index(candidate.security), weight, candidate.name)
            found.append((key, candidate, costs, weight))
    found = sorted(found, key=lambda entry: entry[0])
    entries = tuple(
        Entry(
            rank=rank,
            candidate=candidate,
            costs=costs,
            more_energy_percent=_more(costs.energy.total_uj, plaintext.energy.total_uj),
            weight=weight,
            reason=_reason(candidate, costs, found[0][1], found[0][2], rank),
        )
        for rank, (_, candidate, costs, weight) in enumerate(found, start=1)
    )
    lives = _other_lives(setting, found[0][1], other_regulators) if found else []
    bare = message_costs(replace(setting, device=chip), found[0][1], usable) if found and chip else None
    said = notes(setting, entries, tuple(exclusions), plaintext, usable, volts_min, lives, bare)
    grave = warnings(setting, entries[0], usable, volts_min, bare) if entries else ()
    return Advice("", entries, tuple(exclusions), said, plaintext, usable, volts_min, grave)


def life_days(
    question: Question,
    candidate: Candidate,
    device: DeviceFacts,
    radio: RadioPart,
    link: LinkFacts,
    battery: BatteryPart,
    regulator: RegulatorPart,
) -> float | None:
    """How many days the battery lasts with one candidate, ranked or not; None where it has no figures for the
    question's messages. The supply must fit the device (`supply_refusal`)."""
    usable = usable_fraction(battery, volts_needed(device, regulator))
    setting = Setting(question, device, radio, link, battery, regulator)
    costs = message_costs(setting, candidate, usable)
    return None if costs is None else costs.life_days


def supply_refusal(device: DeviceFacts, battery: BatteryPart, regulator: RegulatorPart) -> str:
    """Why this battery through this regulator cannot run the device; empty when it can."""
    clock = f"{device.clock_hz / 1e6:g} MHz"
    gives = f"{battery.name} gives {battery.volts:.3g} V"
    full = f"{battery.name} gives up to {battery.volts_full:.3g} V when it is full"
    if regulator.kind == "none":
        needs = f"{device.title} at {clock} needs {device.volts_min:g} to {device.volts_max:g} V"
        if battery.volts < device.volts_min:
            return f"{gives}; {needs}: use more cells, or a step-up regulator (--regulator switch)"
        if battery.volts_full > device.volts_max:
            return f"{full}; {needs}: use fewer cells, or a regulator (--regulator linear or switch)"
        return ""
    low = volts_needed(device, regulator)
    if battery.volts < low:
        return f"{gives}; {regulator.title} needs {low:.3g} V for {device.volts:g} V: take more cells" + (
            ", or --regulator switch" if regulator.kind == "linear" else ""
        )
    if battery.volts_full > regulator.volts_in_max:
        return f"{full}; {regulator.title} takes {regulator.volts_in_max:g} V: take fewer cells"
    return ""


def link_refusal(link: LinkFacts, radio: RadioPart, question: Question) -> str:
    """Why such messages cannot be delivered so over this radio; empty when they can."""
    if question.answer_bytes and question.delivery == "one-way":
        return "--answer: a one-way node receives none; use --delivery unconfirmed or confirmed"
    if not question.linked:
        if question.delivery == "confirmed":
            return "--delivery confirmed: only the secure link confirms; add replay to --need"
        return ""
    low, high = link.packet_bytes_min, link.packet_bytes_max
    if not low <= radio.packet_bytes <= high:
        has = f"{radio.name} has packets of {radio.packet_bytes:d} bytes"
        return f"{has}; the link takes {low:d} to {high:d}: set --packet-bytes"
    most = message_bytes_max(link, radio)
    for option, length in (("--bytes", question.message_bytes), ("--answer", question.answer_bytes)):
        if length > most:
            return (
                f"{option} {length:d}: the link takes messages of up to {most:d} bytes in its "
                f"{link.pieces_max:d} packets of {radio.packet_bytes:d} bytes; send it in parts"
            )
    return ""


def unfit(candidate: Candidate, question: Question, link: LinkFacts) -> Exclusion | None:
    """Why no measurement can help this candidate: broken, or without what is needed; else None.

    Needs no figures, so that nobody measures what cannot be chosen.
    """
    if candidate.security == "broken":
        return Exclusion(candidate, (), f"broken: {candidate.security_reason}")
    if "integrity" in question.needs and candidate.tag_bytes == 0:
        return Exclusion(candidate, (), "no integrity: changed messages are accepted")
    if question.linked and candidate.cipher not in link.suites:
        return Exclusion(
            candidate,
            (),
            f"not in the secure link, which refuses replays; the link has {', '.join(link.suites)}",
        )
    return None


def _other_lives(
    setting: Setting, first: Candidate, regulators: Sequence[RegulatorPart]
) -> list[tuple[str, float]]:
    """Days that the first would last through other regulators that can run the device."""
    lives = []
    for other in regulators:
        if other == setting.regulator or supply_refusal(setting.device, setting.battery, other):
            continue
        usable = usable_fraction(setting.battery, volts_needed(setting.device, other))
        costs = message_costs(replace(setting, regulator=other), first, usable)
        if costs is not None:
            lives.append((other.name, costs.life_days))
    return lives


def _without_figures(candidate: Candidate, question: Question) -> Exclusion:
    if candidate.status != "ok":
        unmeasured = candidate.status == "not measured"
        return Exclusion(candidate, (), candidate.reason, failed=True, unmeasured=unmeasured)
    length = taken_bytes(candidate, question.message_bytes)
    return Exclusion(candidate, (), f"not measured at {length:d} bytes", unmeasured=True)


def _over_budget(setting: Setting, candidate: Candidate, costs: MessageCosts) -> Exclusion | None:
    """Which budgets a measured candidate breaks, and by how much; None when it keeps them all."""
    question = setting.question
    if "constant-time" in question.needs and candidate.timing_varies:
        return Exclusion(candidate, (), TIME_VARIES)
    duty, duty_max = duty_percent(setting, costs), setting.radio.duty_percent
    limits = (
        (
            "flash",
            candidate.flash_taken,
            question.budgets.flash_max,
            "takes {needed} bytes of flash, {over} too many",
            number,
        ),
        (
            "ram",
            candidate.ram_taken,
            question.budgets.ram_max,
            "takes {needed} bytes of RAM with its stack, {over} too many",
            number,
        ),
        (
            "overhead",
            costs.overhead_bytes,
            question.budgets.overhead_max,
            "adds {needed} bytes, {over} too many",
            number,
        ),
        (
            "latency",
            costs.latency_us,
            question.budgets.latency_us_max,
            f"takes {{needed}} ms until {'stored' if setting.storage else 'delivered'}, {{over}} too long",
            _ms,
        ),
        (
            "interval",
            costs.busy_us,
            question.interval_s * 1e6,
            "is busy {needed} ms with each, {over} too long",
            _ms,
        ),
        (
            "duty",
            duty,
            duty_max,
            "is on the air {needed} of the time, {over} more than its band allows",
            percent,
        ),
    )
    broken = []
    for name, needed, limit, text, words in limits:
        if limit is not None and needed > limit:
            said = text.replace("{needed}", words(needed)).replace("{over}", words(needed - limit))
            broken.append((name, said, needed / max(1, limit)))
    if not broken:
        return None
    names, said_all, ratios = zip(*broken, strict=True)
    return Exclusion(candidate, names, "; ".join(said_all), max(ratios))


def _ms(us: float) -> str:
    return f"{us / 1000:,.1f}"


def _memory_share(candidate: Candidate, device: DeviceFacts) -> float:
    return candidate.flash_taken / device.flash_bytes + candidate.ram_taken / device.ram_bytes


def _more(value: float, base: float) -> float:
    return (value / base - 1) * 100


def _reason(
    candidate: Candidate, costs: MessageCosts, first: Candidate, least: MessageCosts, rank: int
) -> str:
    """Why this place: the security status, then energy and memory next to the first's."""
    packets = plural(costs.packets, "packet")
    varies = [TIME_VARIES] if candidate.timing_varies else []
    if rank == 1:
        stored = f"{number(costs.air_bytes)} bytes a record"
        sent = {"alone": packets, "stored": stored}.get(costs.form, f"{costs.form}, {packets}")
        first_in = f"{candidate.security}, and first in energy, memory and timing together: {sent}"
        return "; ".join([first_in, *varies])
    words = [candidate.security if candidate.security == first.security else _behind(candidate), *varies]
    energy = _more(costs.energy.total_uj, least.energy.total_uj)
    more = costs.packets - least.packets
    if which := _which(more, "more", "fewer"):
        words.append(f"{plural(abs(more), 'packet')} {which}")
    if costs.cycles != least.cycles:
        words.append(f"{_times(costs.cycles, least.cycles)} the cycles")
    if abs(energy) < SHOWN_PERCENT:
        words.append("the same energy as the first")
    else:
        words.append(f"{percent(abs(energy))} {_which(energy, 'more', 'less')} energy than the first")
    flash = candidate.flash_taken - first.flash_taken
    ram = candidate.ram_taken - first.ram_taken
    memory = [
        f"{number(abs(amount))} bytes {which} {what}"
        for what, amount in (("flash", flash), ("RAM", ram))
        if (which := _which(amount, "more", "less"))
    ]
    return ", ".join([*words, *memory])


def _which(difference: float, above: str, below: str) -> str:
    """The word for more or the word for less; none where there is no difference."""
    return above if difference > 0 else below if difference < 0 else ""


def _behind(candidate: Candidate) -> str:
    return f"only {candidate.security} ({candidate.security_reason})"


def _times(value: float, base: float) -> str:
    return f"{value / base:.2f} times"
