"""The most important findings over the studies, from their comparisons: every figure is theirs.

Each teller looks for certain rows and writes a sentence about them. If a row is
missing, not measured, or has another verdict, it is skipped and the next one gets its place. After the
tellers come the facts that differ by the largest factors. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from motecrypt.studies.claim_ids import ClaimId
from motecrypt.studies.counts import AGAINST, facts
from motecrypt.studies.facts import Comparison, Verdict

Rows = Sequence[Comparison]
COUNT = 5


@dataclass(frozen=True)
class Highlight:
    """One sentence and the rows it rests on."""

    study: str
    text: str
    rows: tuple[Comparison, ...]


def highlights(by_study: Mapping[str, Rows], count: int = COUNT) -> list[Highlight]:
    """The `count` most important findings, the most important first.

    Parameters
    ----------
    by_study
        Each study's comparisons by its name; studies may be missing.
    """
    told = []
    for name, tell in _TELLERS:
        highlight = tell(by_study.get(name, ()))
        if highlight is not None:
            text, rows = highlight
            told.append(Highlight(study=name, text=text, rows=rows))
    used = {id(row) for highlight in told for row in highlight.rows}
    told += [h for h in _largest(by_study) if not any(id(row) in used for row in h.rows)]
    return told[:count]


Told = tuple[str, tuple[Comparison, ...]]


def _row(rows: Rows, wanted: ClaimId, *verdicts: Verdict) -> Comparison | None:
    """The first row with that topic and one of these verdicts; without any, against the source."""
    return next((r for r in rows if r.topic == wanted and r.verdict in (verdicts or AGAINST)), None)


def _rc4d_security(rows: Rows) -> Told | None:
    row = _row(rows, ClaimId.RC4D_STRONGER_THAN_RC4)
    if row is None or row.measured is None:
        return None
    how = f"; {row.brief}" if row.brief else ""
    return f"RC4D is broken, although its source calls it stronger than RC4: {row.measured}{how}", (row,)


def _wlan_doubling(rows: Rows) -> Told | None:
    row = _row(rows, ClaimId.WLAN_ENCRYPTION_DOUBLES)
    if row is None or not isinstance(row.measured, float):
        return None
    encoded = _row(rows, ClaimId.WLAN_HEX_DOUBLES, "matches")
    rest = ""
    if encoded is not None and isinstance(encoded.measured, float):
        rest = f"; hexadecimal output does, {encoded.measured:.2f} times"
    text = (
        f"Encryption does not make a Wi-Fi transfer {row.published} times as long, as the paper states: "
        f"the cipher sends {row.measured:.6f} times the bytes{rest}"
    )
    return text, (row,) if encoded is None else (row, encoded)


def _number(value: float | str | None) -> float:
    return float(value) if isinstance(value, float | int) else math.nan


def _rf_times(rows: Rows) -> Told | None:
    timed = [r for r in rows if r.topic == ClaimId.RF_LINE_BOUND]
    early = [r for r in timed if r.verdict == "paper is inconsistent"]  # not those that a clock may explain
    waits = _row(rows, ClaimId.RF_PADDING_SPARES_TIMEOUT, "matches")
    if not early or waits is None:
        return None
    text = (
        f"{len(early)} of {len(timed)} printed radio times are shorter than the serial line takes, by more "
        f"than a clock may be off; what decides is whether the last packet is full: {waits.measured} ms "
        f"({waits.column})"
    )
    return text, (*early, waits)


def _pico_cache(rows: Rows) -> Told | None:
    timed = []
    for row in rows:
        warm = row.figures.get("warm_us")
        if warm is not None and isinstance(row.published, float) and isinstance(row.measured, float):
            timed.append((row, round(warm)))
    between = [
        (row, warm) for row, warm in timed if warm <= float(row.published or 0) <= float(row.measured or 0)
    ]
    if not between:
        return None
    row, least = max(between, key=lambda pair: float(pair[0].measured or 0) / pair[1])
    figures = f"warm {least:g}, paper {row.published:g}, cold {row.measured:g} {row.unit}"
    text = (
        f"On the Pico the flash cache decides: {len(between)} of {len(timed)} printed times are between our "
        f"warm and cold ones ({row.row} {row.column}: {figures})"
    )
    return text, tuple(r for r, _ in between)


def _wlan_blowfish(rows: Rows) -> Told | None:
    host = [r for r in rows if r.topic == ClaimId.WLAN_BLOWFISH_AGAINST_AES and r.verdict in AGAINST]
    figured = [r for r in host if isinstance(r.measured, float)]
    if not figured:
        return None
    least = min(figured, key=lambda r: float(r.measured or 0))
    most = max(figured, key=lambda r: float(r.measured or 0))
    text = (
        f"Blowfish does not cost {least.published:g} of AES, as printed: it costs {least.measured:.1f} "
        f"({_short(least)}) to {most.measured:.1f} times as much ({_short(most)})"
    )
    return text, tuple(host)


def _short(row: Comparison) -> str:
    return row.column.removeprefix("this host, ")


def _rc4d_speed(rows: Rows) -> Told | None:
    row = _row(rows, ClaimId.RC4D_FASTER_THAN_AES)
    if row is None or not isinstance(row.measured, float | int):
        return None
    text = (
        f"With our code RC4D is {row.measured:g} times as fast as AES in the same conditions, not "
        f"{row.published:g} times: {row.cause}"
    )
    author = _row(rows, ClaimId.RC4D_FASTER_THAN_AES, "matches")
    if author is None or not author.like_for_like.startswith("author's code"):
        return text, (row,)
    recorded = ", as recorded," if author.like_for_like.endswith("recorded") else ""
    return f"{text}. With the author's code{recorded} it is {author.measured:g} times", (row, author)


_TELLERS: tuple[tuple[str, Callable[[Rows], Told | None]], ...] = (
    ("rc4d", _rc4d_security),
    ("wlan", _wlan_doubling),
    ("rf", _rf_times),
    ("pico", _pico_cache),
    ("wlan", _wlan_blowfish),
    ("rc4d", _rc4d_speed),
)


def _largest(by_study: Mapping[str, Rows]) -> list[Highlight]:
    """What differs, by how far ours is from the paper, one for each row text; not what is only better, and
    not rows that their study shows without scoring them (`figures["scored"]` is 0)."""
    found: dict[tuple[str, str], tuple[float, Highlight]] = {}
    for name, rows in by_study.items():
        for row in facts(rows):
            if row.verdict not in AGAINST or row.better or not row.ratio or row.ratio <= 0:
                continue
            if not row.figures.get("scored", 1):
                continue
            text = f"{', '.join(part for part in (row.row, row.column) if part)}: {_figures(name, row)}"
            far = abs(math.log(row.ratio))
            key = (name, row.row)
            if key not in found or far > found[key][0]:
                found[key] = (
                    far,
                    Highlight(name, f"{text} ({told})" if (told := row.brief or row.note) else text, (row,)),
                )
    return [h for _, h in sorted(found.values(), key=lambda pair: (-pair[0], pair[1].text))]


def _figures(study: str, row: Comparison) -> str:
    """Both figures: what was printed, and what was measured with which code."""
    if study == "hardware":
        printed, whose = "on the chip", "in the simulator"
    else:
        printed = "paper"
        whose = "the author's code" if row.like_for_like.startswith("author's code") else "ours"
    return f"{printed} {_value(row.published)}, {whose} {_value(row.measured)} {row.unit}".strip()


def _value(value: float | str | None) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"
