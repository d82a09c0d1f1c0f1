"""The findings of the front page: a sentence each, and the stored rows or figures that it rests on. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from motecrypt.present.report.headlines import (
    SOUND,
    told_attacks,
    told_cheapest,
    told_room,
    told_timing,
    told_verdicts,
)
from motecrypt.present.report.sources import SourcePart
from motecrypt.present.report.summaries import CipherSummary
from motecrypt.studies.claim_ids import ClaimId
from motecrypt.studies.counts import VERDICTS
from motecrypt.studies.facts import Comparison
from motecrypt.studies.highlights import highlights

TOLD = 4
#: Rows of a tile's evidence; the source's panel has the others.
ROWS_MAX = 12


@dataclass(frozen=True)
class Tile:
    """One finding of the front page.

    Attributes
    ----------
    kind
        The name of a study, or "broken", "wrong", "cost", "timing", "room", "verdicts".
    label
        What it is about, in a few words.
    text
        The finding, a sentence or two.
    rows
        The published facts that it rests on; of `of_rows` the first.
    columns, table
        Other evidence: titles and rows of figures or words.
    link
        The id of the part of the page that has the rest.
    """

    kind: str
    label: str
    text: str
    rows: Sequence[Comparison] = field(default_factory=tuple)
    of_rows: int = 0
    columns: Sequence[str] = field(default_factory=tuple)
    table: Sequence[Sequence[object]] = field(default_factory=tuple)
    link: str = ""


def tiles(sources: Sequence[SourcePart], ciphers: Sequence[CipherSummary]) -> list[Tile]:
    """What the studies came to, what is broken or computes wrong outputs, then what the ciphers cost.

    The studies' sentences are those that `motecrypt reproduce` ends with.
    """
    known = {source.name: source for source in sources if source.measured}
    found = highlights({name: source.rows for name, source in known.items()}, TOLD)
    made = [
        Tile(
            kind=one.study,
            label=known[one.study].title,
            text=f"{one.text}.",
            rows=one.rows[:ROWS_MAX],
            of_rows=len(one.rows),
            link=f"source-{one.study}",
        )
        for one in found
    ]
    attacked = any(row.topic == ClaimId.RC4D_STRONGER_THAN_RC4 for one in found for row in one.rows)
    made += _broken(ciphers, attacked)
    made += _wrong(ciphers)
    made += _verdicts(sources)
    made += _cheapest(ciphers)
    made += [
        Tile(
            "timing", "Timing", text, columns=("cipher", "device", "implementation"), table=_varying(ciphers)
        )
        for text in told_timing(ciphers)
    ]
    made += [
        Tile(
            "room",
            "Memory",
            text,
            columns=("cipher", "device", "implementation", "placement", "why"),
            table=_short(ciphers),
        )
        for text in told_room(ciphers)
    ]
    return made


def _broken(ciphers: Sequence[CipherSummary], attacked: bool) -> Iterator[Tile]:
    """Broken ciphers that were measured or attacked, with why they are broken."""
    broken = [part for part in ciphers if part.cipher.security == "broken" and (part.costs or part.audit)]
    attacks = [] if attacked else list(told_attacks(ciphers))
    if not broken and not attacks:
        return
    words = list(attacks)
    if broken:
        one = len(broken) == 1
        words.append(
            f"{len(broken)} cipher{' is' if one else 's are'} broken, and "
            f"{'is' if one else 'are'} never recommended, however fast: "
            f"{_named(part.cipher.name for part in broken)}."
        )
    yield Tile(
        "broken",
        "Broken ciphers",
        " ".join(words),
        columns=("cipher", "why", "source", "attacks of ours that succeed"),
        table=[
            (
                part.cipher.name,
                part.cipher.security_reason,
                part.cipher.security_source,
                "; ".join(f"{a.title}: {a.verdict}" for a in part.audit if a.weight == "bad"),
            )
            for part in broken
        ],
        link="ciphers",
    )


def _wrong(ciphers: Sequence[CipherSummary]) -> Iterator[Tile]:
    """Implementations whose outputs are not those of the oracle: they have no figure."""
    table = [
        (cost.cipher, cost.device, cost.implementation, cost.reason)
        for part in ciphers
        for cost in part.costs
        if any(m.status == "wrong-output" for m in cost.operations.values())
    ]
    if not table:
        return
    one = len(table) == 1
    names = dict.fromkeys(implementation for _, _, implementation, _ in table)
    yield Tile(
        "wrong",
        "Wrong outputs",
        f"{len(table)} implementation{' computes' if one else 's compute'} wrong outputs, and "
        f"{'has' if one else 'have'} no figure here: {_named(names)}.",
        columns=("cipher", "device", "implementation", "what is wrong"),
        table=table,
        link="ciphers",
    )


def _verdicts(sources: Sequence[SourcePart]) -> Iterator[Tile]:
    for text in told_verdicts(sources):
        known = [source for source in sources if source.measured]
        yield Tile(
            "verdicts",
            "Published figures",
            text,
            columns=("source", *VERDICTS),
            table=[(s.title, *(s.counts[verdict] for verdict in VERDICTS)) for s in known],
            link="sources",
        )


def _cheapest(ciphers: Sequence[CipherSummary]) -> Iterator[Tile]:
    """One for each device: its sentence, and the recommended ciphers that were measured on it."""
    for device, text in told_cheapest(ciphers):
        rows = sorted(
            (time, part.cipher.name, cost.implementation, part.message_bytes, cost.flash_bytes)
            for part in ciphers
            if part.cipher.security in SOUND and (cost := part.best.get(device)) is not None
            if (time := cost.time_us("encrypt")) is not None
        )
        yield Tile(
            "cost",
            f"Least time on {device}",
            text,
            columns=("cipher", "implementation", "bytes", "encrypt, µs", "flash"),
            table=[(name, body, length, round(time, 1), flash) for time, name, body, length, flash in rows],
            link="ciphers",
        )


def _varying(ciphers: Sequence[CipherSummary]) -> list[tuple[object, ...]]:
    return [
        (part.cipher.name, cost.device, cost.implementation)
        for part in ciphers
        for cost in part.costs
        if cost.ran and cost.varies == "yes" and cost.device != "host"
    ]


def _short(ciphers: Sequence[CipherSummary]) -> list[tuple[object, ...]]:
    return [
        (cost.cipher, cost.device, cost.implementation, cost.placement, cost.shortfall.text)
        for part in ciphers
        for cost in part.costs
        if cost.shortfall is not None
    ]


def _named(names: Iterable[str], most: int = 8) -> str:
    known = list(names)
    told = ", ".join(known[:most])
    return f"{told} and {len(known) - most} more" if len(known) > most else told
