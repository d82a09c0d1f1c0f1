"""What a person would miss, one sentence each: computed from the same records as the ranking."""

from __future__ import annotations

from collections.abc import Sequence

from motecrypt.advise.costs import (
    Setting,
    message_costs,
    nonce_on_air_bytes,
)
from motecrypt.advise.records import Entry, Exclusion, MessageCosts

FEW_CHARGE = 0.8
"""Below this usable share of the charge the supply is worth a note."""
MUCH_LONGER = 1.2
"""By this factor another regulator must lengthen the battery's life to be worth a note."""


def number(value: float) -> str:
    """A whole number with thousands set apart."""
    return f"{value:,.0f}"


def percent(value: float) -> str:
    """Per cent: two digits after the point below 1, one below 10, none above."""
    digits = 2 if value < 1 else 1 if value < 10 else 0
    return f"{value:.{digits}f} %"


def days(value: float) -> str:
    """Days, and years from two years on."""
    if value >= 730.5:
        return f"{value / 365.25:.1f} years"
    return f"{value:.1f} days" if value < 10 else f"{value:,.0f} days"


def notes(
    setting: Setting,
    entries: Sequence[Entry],
    exclusions: Sequence[Exclusion],
    plaintext: MessageCosts,
    usable: float,
    volts_min: float,
    other_lives: Sequence[tuple[str, float]],
) -> tuple[str, ...]:
    """All notes that hold, the most telling first. `other_lives`: regulators that would serve as well,
    with the days that the first would last through them."""
    supply = _supply(setting, usable, volts_min)
    if not entries:
        return (*_nothing_fits(exclusions), *supply, *_misfits(exclusions))
    first = entries[0]
    return (
        *supply,
        *_other_supply(first, other_lives),
        *_shares(first, plaintext),
        *_packets(setting, entries, usable),
        *_counter(setting, first),
        *_timing(first),
        *_smaller(entries),
        *_misfits(exclusions),
    )


def _shares(first: Entry, plaintext: MessageCosts) -> list[str]:
    energy = first.costs.energy
    total = energy.total_uj
    radio = energy.send_uj + energy.receive_uj
    shares = (
        (energy.cpu_uj, "encryption"),
        (radio, "the radio"),
        (energy.sleep_uj, "sleeping"),
        (energy.wake_uj, "waking up"),
        (energy.regulator_uj, "regulating"),
        (energy.self_discharge_uj, "the battery's own discharge"),
    )
    rest = ", ".join(f"{what} {percent(uj / total * 100)}" for uj, what in shares[1:] if uj / total >= 0.0005)
    lost = percent((1 - first.costs.life_days / plaintext.life_days) * 100)
    return [
        f"Encryption is {percent(energy.cpu_uj / total * 100)} of the energy of the first, {rest}; "
        f"it and the longer message shorten the battery's life by {lost}."
    ]


def _packets(setting: Setting, entries: Sequence[Entry], usable: float) -> list[str]:
    """Where few bytes decide on a whole packet; each length on air once, the first two."""
    said: list[str] = []
    radio = setting.radio
    seen: set[int] = set()
    for entry in entries:
        costs, candidate = entry.costs, entry.candidate
        if costs.sealed_bytes in seen or len(said) == 2:
            continue
        seen.add(costs.sealed_bytes)
        over = costs.sealed_bytes - (costs.packets - 1) * radio.packet_bytes
        carried = nonce_on_air_bytes(candidate, setting.question.counter_bytes) + candidate.tag_bytes
        if costs.packets < 2 or over > min(carried - 4, radio.packet_bytes - 1):
            continue
        less = message_costs(setting, costs.sealed_bytes - over, costs.cycles, 0.0, 0, usable)
        # The answer stays as it is: only what the message saves counts.
        with_answer = message_costs(setting, costs.sealed_bytes, costs.cycles, 0.0, 0, usable)
        saved = (with_answer.energy.total_uj - less.energy.total_uj) / costs.energy.total_uj * 100
        said.append(
            f"{candidate.cipher}: {over} byte{'s' if over != 1 else ''} less of tag and counter (it carries "
            f"{carried}) save one of {costs.packets} packets, {percent(saved)} of the energy."
        )
    first = entries[0].costs
    if radio.timeout_us > 0:
        free = first.air_bytes - first.sealed_bytes
        if free:
            said.append(
                f"The last packet is filled up with {free} bytes: a packet that is not full waits "
                f"{radio.timeout_us / 1000:g} ms in {radio.name}, with its receiver on. So {free} bytes more "
                "of message or tag cost nothing on the air."
            )
    return said


def _counter(setting: Setting, first: Entry) -> list[str]:
    question = setting.question
    sent = nonce_on_air_bytes(first.candidate, question.counter_bytes)
    if first.candidate.nonce != "counter" or not 0 < sent < 8:
        return []
    wrap_days = 256**sent * question.interval_s / 86400
    if wrap_days > 10 * first.costs.life_days:
        return []
    return [
        f"At this rate a {8 * sent}-bit counter wraps in {days(wrap_days)}: keep the whole counter at both "
        "ends, send only its low bytes, never use one twice, and keep it through a loss of power."
    ]


def _timing(first: Entry) -> list[str]:
    if not first.candidate.timing_varies:
        return []
    return [f"The cycles of {first.candidate.name} differ with the data: its time tells something about it."]


def _smaller(entries: Sequence[Entry]) -> list[str]:
    """The entry of the same standing that gives up least energy for a third less of flash."""
    first = entries[0]
    flash = first.candidate.flash_bytes or 0
    for entry in entries[1:]:
        other = entry.candidate
        if other.standing != first.candidate.standing or other.flash_bytes is None:
            continue
        if other.flash_bytes <= flash * 2 / 3:
            shorter = (1 - entry.costs.life_days / first.costs.life_days) * 100
            return [
                f"If flash is short: {other.name} takes {number(other.flash_bytes)} bytes instead of "
                f"{number(flash)}, for {percent(shorter)} of the battery's life."
            ]
    return []


def _supply(setting: Setting, usable: float, volts_min: float) -> list[str]:
    battery, device, radio = setting.battery, setting.device, setting.radio
    said = []
    if usable < FEW_CHARGE:
        text = (
            f"{battery.name} stays above the {volts_min:.3g} V that {device.title} needs for only "
            f"{percent(usable * 100)} of its charge"
        )
        said.append(f"{text}, and no more is counted.")
    peak = max(device.active_ma, device.idle_ma + max(radio.tx_ma, radio.rx_ma))
    if peak > battery.pulse_ma:
        said.append(
            f"{battery.name} gives pulses of {battery.pulse_ma:g} mA, and {device.title} with {radio.name} "
            f"takes {peak:.3g} mA: it needs a capacitor beside it, or fails well before the life given here."
        )
    return said


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
        least = min(members, key=lambda e: ((e.candidate.ram_bytes or 0), e.candidate.flash_bytes or 0))
        ciphers = list(dict.fromkeys(e.candidate.cipher for e in members))
        many = f" (and {len(ciphers) - 1} more)" if len(ciphers) > 1 else ""
        said.append(f"{name} {least.reason} for {least.candidate.cipher}{many}.")
    return said


def _nothing_fits(exclusions: Sequence[Exclusion]) -> list[str]:
    """Which budget excludes how many, and the nearest that would fit."""
    tried = [e for e in exclusions if e.budgets]
    hopeless = len(exclusions) - len(tried)
    if not tried:
        return [f"Nothing is left: none of the {len(exclusions)} meets the needs and fits the device."]
    counts = []
    for budget in dict.fromkeys(name for e in tried for name in e.budgets):
        with_it = [e for e in tried if budget in e.budgets]
        alone = sum(e.budgets == (budget,) for e in with_it)
        counts.append(f"--{_option(budget)} excludes {len(with_it)} ({alone} by itself)")
    text = f"Nothing fits. Of {len(exclusions)} implementations {hopeless} are out for other reasons; "
    nearest = min(tried, key=lambda e: (len(e.budgets), e.excess, e.candidate.name))
    return [f"{text}{', '.join(counts)}. The nearest is {nearest.candidate.name}: {nearest.reason}."]


def _option(budget: str) -> str:
    return "every" if budget == "interval" else budget
