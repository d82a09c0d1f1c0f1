"""What a person would miss, one sentence each: computed from the same records as the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from motecrypt.adviser import stored
from motecrypt.adviser.costs import (
    Setting,
    at_length,
    duty_percent,
    message_costs,
    patience_us,
    shelf_days,
    taken_bytes,
)
from motecrypt.adviser.exchange import long_form, short_room, streams
from motecrypt.adviser.model import Candidate, DeviceFacts, Entry, Exclusion, MessageCosts
from motecrypt.adviser.shown import days, number, percent, plural
from motecrypt.adviser.unknown import device_notes, radio_notes

FEW_CHARGE = 0.8
"""A note is given if the usable share of the charge is smaller."""
MUCH_LONGER = 1.2
"""A note is given if another regulator lengthens the battery's life by this factor."""

SHOWN_PERCENT = 0.005
"""A smaller difference is not mentioned: it would be shown as 0.00 %."""


def notes(
    setting: Setting,
    entries: Sequence[Entry],
    exclusions: Sequence[Exclusion],
    plaintext: MessageCosts,
    usable: float,
    volts_min: float,
    other_lives: Sequence[tuple[str, float]],
    bare: MessageCosts | None,
) -> tuple[str, ...]:
    """All notes that apply, the most important first. `other_lives`: regulators that would serve as well,
    with the days that the first would last through them. `bare`: what the first costs the chip alone."""
    supply = _supply(setting, usable, volts_min)
    if not entries:
        return (*_nothing_fits(exclusions), *supply, *_misfits(exclusions))
    first = entries[0]
    if setting.storage is not None:
        return (
            *stored.key_notes(setting.storage),
            *supply,
            *_board(setting, first, bare),
            *stored.rest_notes(setting.device),
            *stored.current_notes(setting.storage),
            *device_notes(setting.device, radio=False, counters=False),
            *stored.space_notes(setting, setting.storage, first),
            *_shelf(setting, first),
            *_other_supply(first, other_lives),
            *stored.share_notes(setting, first, plaintext),
            *stored.nonce_notes(first),
            *stored.time_notes(setting.storage),
            *_timing(first),
            *_smaller(entries),
            *_misfits(exclusions),
        )
    return (
        *supply,
        *_board(setting, first, bare),
        *_rest(setting),
        *_unknown(setting),
        *_shelf(setting, first),
        *_other_supply(first, other_lives),
        *_shares(setting, first, plaintext),
        *_form(setting, first, usable),
        *_steps(setting, first),
        *_losses(setting, first),
        *_patience(setting),
        *_duty(setting, first),
        *_timing(first),
        *_smaller(entries),
        *_misfits(exclusions),
    )


def warnings(
    setting: Setting, first: Entry, usable: float, volts_min: float, bare: MessageCosts | None
) -> tuple[str, ...]:
    """Those of the notes that call for an action or a decision, the most important first."""
    if setting.storage is not None:
        return (
            *stored.key_notes(setting.storage),
            *_timing(first),
            *_pulses(setting),
            *_board(setting, first, bare),
            *_charge(setting, usable, volts_min),
            *stored.rest_notes(setting.device),
            *stored.current_notes(setting.storage),
        )
    return (
        *_timing(first),
        *_pulses(setting),
        *(_losses(setting, first) if first.costs.lost * 100 >= SHOWN_PERCENT else []),
        *_board(setting, first, bare),
        *_charge(setting, usable, volts_min),
        *_rest(setting),
    )


def extension_note(device: DeviceFacts, lengths: Sequence[int]) -> str:
    """What is said where a message is longer than any that is measured; empty where none is."""
    longest, most = max(lengths, default=0), device.message_bytes_max
    if longest <= most:
        return ""
    return (
        f"The cycles for {number(longest)} bytes are not measured: the benchmark firmware on {device.title} "
        f"holds messages of up to {number(most)} bytes. They are extrapolated linearly from those for "
        f"{number(most // 2)} and {number(most)} bytes."
    )


def _board(setting: Setting, first: Entry, bare: MessageCosts | None) -> list[str]:
    """What the board around the chip costs, if that is much."""
    device, life_days = setting.device, first.costs.life_days
    if device.of != "board" or bare is None or bare.life_days < MUCH_LONGER * life_days:
        return []
    between_ma = device.sleep_ma if device.sleeps else device.active_ma
    return [
        f"The stock board {device.title} draws {between_ma:.3g} mA between messages. Its chip alone would "
        f"last {days(bare.life_days)} instead of {days(life_days)} (--bare-chip)."
    ]


def _rest(setting: Setting) -> list[str]:
    if setting.device.sleeps:
        return []
    return [
        "No sleep is counted: the exported example keeps device and radio on between messages. If your own "
        "program lets both sleep, use --sleeps."
    ]


def _unknown(setting: Setting) -> list[str]:
    device, radio = setting.device, setting.radio
    said = device_notes(device, radio=True, counters=setting.question.linked)
    return [*said, *radio_notes(radio, device.sleeps)]


def _shelf(setting: Setting, first: Entry) -> list[str]:
    battery = setting.battery
    if first.costs.life_days < shelf_days(battery):
        return []
    return [f"The life of {battery.name} ends with its shelf life of {battery.shelf_years:g} years."]


def _shares(setting: Setting, first: Entry, plaintext: MessageCosts) -> list[str]:
    energy = first.costs.energy
    total = energy.total_uj
    radio = energy.send_uj + energy.receive_uj
    between = "sleeping" if setting.device.sleeps else "waiting for the next message"
    shares = (
        (energy.store_uj, "keeping counters"),
        (radio, "the radio"),
        (energy.between_uj, between),
        (energy.wake_uj, "waking up"),
        (energy.regulator_uj, "regulating"),
        (energy.self_discharge_uj, "the battery's own discharge"),
    )
    rest = ", ".join(f"{what} {percent(uj / total * 100)}" for uj, what in shares if uj / total >= 0.0005)
    lost = percent(max(0.0, 1 - first.costs.life_days / plaintext.life_days) * 100)
    return [
        f"Encryption is {percent(energy.cpu_uj / total * 100)} of the energy of the first, {rest}; "
        f"it and the longer message shorten the battery's life by {lost}."
    ]


def _form(setting: Setting, first: Entry, usable: float) -> list[str]:
    """How the message goes, and what a message of another length would save or have for nothing."""
    question, radio, link = setting.question, setting.radio, setting.link
    costs = first.costs
    said = []
    if question.linked:
        length = costs.packet_sizes[0] if costs.packets == 1 else radio.packet_bytes
        up_to = "" if len(set(costs.packet_sizes)) == 1 else "up to "
        said.append(
            f"Each message goes {costs.form}: {plural(costs.packets, 'packet')} of {up_to}{length:d} bytes; "
            f"{costs.overhead_bytes:d} bytes are the link's."
        )
        room = short_room(link, radio)
        if costs.form == "long":
            asked = replace(setting, question=replace(question, message_bytes=room))
            less = message_costs(asked, _at(first.candidate, question.message_bytes, room), usable)
            saved = 0.0 if less is None else (1 - less.energy.total_uj / costs.energy.total_uj) * 100
            exactly = "exactly" if streams(radio) else "up to"
            gain = f": {percent(saved)} less energy" if saved >= SHOWN_PERCENT else ""
            said.append(f"A message of {exactly} {room:d} bytes would be one short packet{gain}.")
    filling = costs.air_bytes - costs.sealed_bytes
    if filling:
        said.append(
            f"The last packet is filled up with {filling:d} bytes, so {filling:d} more bytes of message cost "
            "no extra air time."
        )
    return said


def _at(candidate: Candidate, message_bytes: int, room: int) -> Candidate:
    """The candidate with figures for another length: where that was not measured, this length's."""
    seal = at_length(candidate.points, taken_bytes(candidate, message_bytes))
    if seal is None or at_length(candidate.points, room) is not None:
        return candidate
    points = sorted((*candidate.points, replace(seal, message_bytes=room)), key=lambda p: p.message_bytes)
    return replace(candidate, points=tuple(points))


def _steps(setting: Setting, first: Entry) -> list[str]:
    """The long messages that keep both ends synchronised."""
    question, radio, link = setting.question, setting.radio, setting.link
    if first.costs.form != "short":
        return []
    takes = plural(len(long_form(link, radio, question.message_bytes).sizes), "packet")
    if question.delivery == "confirmed":
        return [f"The first message after a start is sent long, in {takes}."]
    asked = so = ""
    if question.delivery != "one-way":
        asked, so = f" and one in {link.short_after_answer + 1:d} confirmed,", "both ends stay"
    return [
        f"The first message after a start and one in {link.long_every:d} are sent long, in {takes},{asked} "
        f"so that {so or 'the gateway stays'} synchronised."
    ]


def _losses(setting: Setting, first: Entry) -> list[str]:
    question, costs = setting.question, first.costs
    if not question.loss:
        return []
    share = percent(question.loss * 100)
    if question.delivery == "confirmed":
        return [
            f"With {share} of the packets lost, a message takes {costs.packets_mean:.2f} packets on average, "
            f"and {percent(costs.lost * 100)} of the messages are given up after "
            f"{setting.link.tries:d} tries."
        ]
    linked, alone = (
        "--delivery confirmed repeats",
        "without the secure link (--need replay) nothing retransmits",
    )
    return [
        f"With {share} of the packets lost, {percent(costs.lost * 100)} of the messages are lost; "
        f"{linked if question.linked else alone} them."
    ]


def _patience(setting: Setting) -> list[str]:
    """Where the radio makes a node wait longer for an answer than usual."""
    question, radio, link = setting.question, setting.radio, setting.link
    waits_us = patience_us(link, radio)
    if not question.linked or question.delivery == "one-way" or waits_us <= link.answer_ms * 1000:
        return []
    return [
        f"Over {radio.name} a node waits {number(waits_us / 1000)} ms for an answer, not "
        f"{link.answer_ms:d} ms: an export for this radio is set to that."
    ]


def _duty(setting: Setting, first: Entry) -> list[str]:
    if setting.radio.duty_percent >= 100:
        return []
    on_air = percent(duty_percent(setting, first.costs))
    return [f"The node is on the air {on_air} of the time; its band allows {setting.radio.duty_percent:g} %."]


def _timing(first: Entry) -> list[str]:
    if not first.candidate.timing_varies:
        return []
    return [
        f"The cycles of {first.candidate.name} depend on the data: its timing may leak information "
        "about them."
    ]


def _smaller(entries: Sequence[Entry]) -> list[str]:
    """The entry of the same security status that gives up least energy for a third less of flash."""
    first = entries[0]
    flash = first.candidate.flash_taken
    for entry in entries[1:]:
        other = entry.candidate
        if other.security != first.candidate.security or other.flash_bytes is None:
            continue
        if other.flash_bytes <= flash * 2 / 3:
            shorter = (1 - entry.costs.life_days / first.costs.life_days) * 100
            return [
                f"If flash is short: {other.name} takes {number(other.flash_bytes)} bytes instead of "
                f"{number(flash)}, for {percent(shorter)} of the battery's life."
            ]
    return []


def _supply(setting: Setting, usable: float, volts_min: float) -> list[str]:
    return [*_charge(setting, usable, volts_min), *_pulses(setting)]


def _charge(setting: Setting, usable: float, volts_min: float) -> list[str]:
    """How much of the battery's charge its voltage lets the device use, if that is little."""
    if usable >= FEW_CHARGE:
        return []
    text = f"{setting.battery.name} stays above the {volts_min:.3g} V that {setting.device.title} needs"
    return [f"{text} for only {percent(usable * 100)} of its charge, and no more is counted."]


def _pulses(setting: Setting) -> list[str]:
    """Whether the device's peak current is above what the battery gives."""
    battery, device, radio = setting.battery, setting.device, setting.radio
    peak = max(device.active_ma, device.idle_ma + max(radio.tx_ma, radio.rx_ma))
    if peak <= battery.pulse_ma:
        return []
    return [
        f"{battery.name} gives pulses of {battery.pulse_ma:g} mA, and {device.title} with {radio.name} "
        f"takes {peak:.3g} mA: it needs a parallel capacitor, or it fails well before the life given here."
    ]


def _other_supply(first: Entry, other_lives: Sequence[tuple[str, float]]) -> list[str]:
    """The regulator that makes the most of the battery, if that is much."""
    if not other_lives:
        return []
    name, life_days = max(other_lives, key=lambda other: other[1])
    if life_days < MUCH_LONGER * first.costs.life_days:
        return []
    lasts = f"{days(life_days)} instead of {days(first.costs.life_days)}"
    return [f"With --regulator {name} the same battery lasts {lasts}."]


def _misfits(exclusions: Sequence[Exclusion]) -> list[str]:
    """One sentence for each library configuration or variant that the device cannot hold, and for each
    that computes wrong outputs on it."""
    found: dict[str, list[Exclusion]] = {}
    failed = [e for e in exclusions if e.failed]  # others are out whether they run or not
    for exclusion in failed:
        if exclusion.candidate.status == "does-not-fit":
            place = "" if exclusion.candidate.placement == "flash" else " with its tables in RAM"
            found.setdefault(exclusion.candidate.implementation + place, []).append(exclusion)
    said = [f"{e.candidate.name} {e.reason}." for e in failed if e.candidate.status == "wrong-output"]
    for name, members in found.items():
        least = min(members, key=lambda e: (e.candidate.ram_bytes or 0, e.candidate.flash_taken))
        ciphers = list(dict.fromkeys(e.candidate.cipher for e in members))
        many = f" (and {len(ciphers) - 1:d} more)" if len(ciphers) > 1 else ""
        said.append(f"{name} {least.reason} for {least.candidate.cipher}{many}.")
    return said


def _nothing_fits(exclusions: Sequence[Exclusion]) -> list[str]:
    """Which budget excludes how many, and the nearest that would fit."""
    tried = [e for e in exclusions if e.budgets]
    hopeless = len(exclusions) - len(tried)
    unmeasured = sum(e.unmeasured for e in exclusions)
    if not tried and unmeasured:
        return [
            f"No candidate is left: {unmeasured:d} of {len(exclusions):d} are not measured at this length; "
            "the command measures them."
        ]
    if not tried:
        return [f"No candidate is left: none of the {len(exclusions):d} meets the needs and fits the device."]
    counts = []
    options = [{_option(budget) for budget in e.budgets} for e in tried]
    for option in dict.fromkeys(_option(budget) for e in tried for budget in e.budgets):
        alone = sum(broken == {option} for broken in options)
        some = sum(option in broken for broken in options)
        counts.append(f"--{option} excludes {some:d} ({alone:d} for this reason alone)")
    text = f"Nothing fits. Of {len(exclusions):d} implementations {hopeless:d} are out for other reasons; "
    nearest = min(tried, key=lambda e: (len(e.budgets), e.excess, e.candidate.name))
    return [f"{text}{', '.join(counts)}. The nearest is {nearest.candidate.name}: {nearest.reason}."]


def _option(budget: str) -> str:
    return "every" if budget in ("interval", "duty") else budget
