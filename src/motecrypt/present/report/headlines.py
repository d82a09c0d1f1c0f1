"""Findings as sentences made from the figures: what the tiles of the front page say. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from motecrypt.present.report.sources import SourcePart
from motecrypt.present.report.summaries import CipherSummary
from motecrypt.studies.counts import COMPARED

#: What a newcomer would take otherwise.
YARDSTICK = "aes128-cbc"
SOUND = ("recommended",)
#: The memories of a device; a message too long for the firmware is not the implementation's failure.
MEMORIES = ("flash", "ram")


def told_verdicts(sources: Sequence[SourcePart]) -> Iterator[str]:
    known = [source for source in sources if source.measured]
    total: Counter[str] = Counter()
    for source in known:
        total.update(source.counts)
    judged = sum(total[verdict] for verdict in (*COMPARED, "paper is inconsistent"))
    if not judged:
        return
    worst = max(known, key=lambda s: s.counts["paper is inconsistent"])
    yield (
        f"{len(known)} published sources were tested again: {total['matches']} of {judged} figures and "
        f"claims that could be checked match, {total['differs']} differ, and in "
        f"{total['paper is inconsistent']} the paper contradicts itself, a standard or physics, most of "
        f"these ({worst.counts['paper is inconsistent']}) in “{worst.title}”."
    )


def told_attacks(ciphers: Sequence[CipherSummary]) -> Iterator[str]:
    """What an attack of ours got, the hardest hit first."""
    found = [
        (part.cipher.name, audit)
        for part in ciphers
        for audit in part.audit
        if audit.part.startswith("attack:") and audit.weight == "bad"
    ]
    names = list(dict.fromkeys(name for name, _ in found))
    if not names:
        return
    name, audit = next((f for f in found if "ciphertext" in f[1].part), found[0])
    told = _short(audit.sentences[0]) if audit.sentences else f"{audit.title}: {audit.verdict}."
    more = (
        f" Our attacks also succeed against {_list(n for n in names if n != name)}." if len(names) > 1 else ""
    )
    yield f"{name} is broken in practice: {told}{more}"


def told_cheapest(ciphers: Sequence[CipherSummary]) -> Iterator[tuple[str, str]]:
    """For each device its name, and the recommended cipher that takes least time, next to the yardstick."""
    by_name = {part.cipher.name: part for part in ciphers}
    devices = dict.fromkeys(name for part in ciphers for name in part.best if name != "host")
    for device in devices:
        length = _common_length(ciphers, device)
        times = {
            part.cipher.name: (time, part.best[device])
            for part in ciphers
            if part.cipher.security in SOUND
            and device in part.best
            and part.message_bytes == length
            and (time := part.best[device].time_us("encrypt")) is not None
        }
        if len(times) < 2:
            continue
        best = min(times, key=lambda name: times[name][0])
        time, cost = times[best]
        beside = ""
        yard = by_name.get(YARDSTICK)
        plain = yard.best.get(device) if yard is not None and yard.message_bytes == length else None
        if plain is not None and (other := plain.time_us("encrypt")):
            beside = f"; {YARDSTICK}, which does not detect changes, takes {other:,.0f} µs"
        yield (
            device,
            f"On {device} the fastest recommended cipher measured is {best} ({cost.implementation}): "
            f"{time:,.0f} µs for {length} bytes, {cost.flash_bytes:,} bytes of flash{beside}.",
        )


def _common_length(ciphers: Iterable[CipherSummary], device: str) -> int:
    counted = Counter(part.message_bytes for part in ciphers if device in part.best)
    return counted.most_common(1)[0][0] if counted else 0


def told_timing(ciphers: Sequence[CipherSummary]) -> Iterator[str]:
    varying: Mapping[str, None] = dict.fromkeys(
        part.cipher.name
        for part in ciphers
        for cost in part.costs
        if cost.ran and cost.varies == "yes" and cost.device != "host"
    )
    if varying:
        yield (
            f"The time of {len(varying)} ciphers depends on key or message in at least one implementation, "
            f"which an attacker can measure: {_list(varying)}."
        )


def told_room(ciphers: Sequence[CipherSummary]) -> Iterator[str]:
    failed = [(c, s) for part in ciphers for c in part.costs if (s := c.shortfall) and s.memory in MEMORIES]
    if failed:
        first, shortfall = failed[0]
        yield (
            f"{'1 implementation does' if len(failed) == 1 else f'{len(failed)} implementations do'} not fit "
            f"{'its' if len(failed) == 1 else 'their'} device, such as {first.cipher} by "
            f"{first.implementation} ({first.placement}) on {first.device}: {shortfall.text}."
        )


def _short(sentence: str, most: int = 225) -> str:
    """The sentence, ended at a comma where it grows too long."""
    if len(sentence) <= most:
        return sentence
    end = max(sentence.rfind(mark, 0, most) for mark in (", ", "; ", "), "))
    return f"{sentence[: end if end > 60 else most].rstrip(',; ')}."


def _list(names: Iterable[str], most: int = 5) -> str:
    known = list(names)
    told = ", ".join(known[:most])
    return f"{told} and {len(known) - most} more" if len(known) > most else told
