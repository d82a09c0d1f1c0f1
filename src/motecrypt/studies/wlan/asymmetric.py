"""What the source says of public-key cryptography, next to what its operations cost: "almost 1000 times
slower" than symmetric techniques, and not efficient for small devices. Pure: from the recorded figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from motecrypt.adviser.publickey.baseline import AesCost, aes_costs
from motecrypt.adviser.publickey.handshakes import EVERY_S, MESSAGE_BYTES, YEAR_S, compute, handshakes
from motecrypt.adviser.publickey.page_costs import times
from motecrypt.adviser.publickey.rows import PublicKeyRow, behind_by, fastest, kept_records, recorded
from motecrypt.adviser.publickey.slower import Slower, slower
from motecrypt.base.model import Operation, Section
from motecrypt.catalog import Catalog
from motecrypt.studies.facts import Comparison
from motecrypt.studies.judge import Between
from motecrypt.studies.wlan.claims import first_of
from motecrypt.studies.wlan.tables import row
from motecrypt.studies.words import words

SAID = 1000.0
#: "Almost 1000 times" names an order of magnitude: half of one up and down still agrees.
ABOUT_1000 = Between(SAID / math.sqrt(10), SAID * math.sqrt(10))
#: Of the rows of single operations.
SINGLE = " / one message, "
AGREEMENT = ("x25519", "agree")
RSA_BYTES = 256
DAY_MESSAGES = 86400 / EVERY_S


def asymmetric(catalog: Catalog) -> list[Comparison]:
    """Both statements, judged over all devices, then each operation by itself."""
    rows, aes = recorded(), aes_costs()
    found = _slower(catalog, rows, aes)
    return [*_thousand(found), *_longer(found), *_rsa(rows, aes), *_efficient(catalog, rows, aes)]


def judged(catalog: Catalog) -> list[Comparison]:
    """The rows that no other table shows: all but those of each operation."""
    return [row for row in asymmetric(catalog) if SINGLE not in row.column]


def sections(catalog: Catalog) -> list[Section]:
    """Every operation that ran, divided by AES three ways."""
    rows, aes = recorded(), aes_costs()
    found = _slower(catalog, rows, aes)
    lines = [
        [
            *(one.device, one.algorithm, one.operation, f"{one.cycles:,}{_behind(one)}"),
            *(times(one.message), times(one.kilobyte), times(one.year), _holds(one)),
        ]
        for one in found
    ]
    days = ", ".join(sorted({row.measured_on for row in rows}))
    told = {"aes": next(iter(aes.values())).cipher, "bytes": MESSAGE_BYTES, "minutes": EVERY_S / 60}
    return [words("wlan").section("slower", lines, **told, days=days)]


def _slower(catalog: Catalog, rows: Sequence[PublicKeyRow], aes: Mapping[str, AesCost]) -> list[Slower]:
    kinds: dict[str, Sequence[Operation]] = {
        name: catalog.public_keys[name].operations for name in sorted({row.algorithm for row in rows})
    }
    return slower(rows, aes, kinds)


def _behind(one: Slower) -> str:
    """How far its cycles are behind public code, to follow them."""
    found = behind_by(one.device, one.algorithm, one.operation, one.cycles, kept_records())
    return "" if found is None else f", {found.short} ({found.record.code})"


def _about(ratio: float) -> bool:
    return ABOUT_1000.low <= ratio <= ABOUT_1000.high


def _holds(one: Slower) -> str:
    """For which of the three it holds."""
    names = (("message", one.message), ("1,024 bytes", one.kilobyte), ("year", one.year))
    return ", ".join(name for name, ratio in names if _about(ratio)) or "no"


def _thousand(found: Sequence[Slower]) -> list[Comparison]:
    """The claim over all operations, then each operation against one message."""
    ratios = [one.message for one in found]
    agreeing = sum(map(_about, ratios))
    farthest = max(ratios, key=lambda ratio: abs(math.log(ratio / SAID)))
    whole = row(
        "thousand",
        count=len(found),
        published=SAID,
        expected=ABOUT_1000,
        found=farthest,
        least=min(ratios),
        most=max(ratios),
        agreeing=agreeing,
        kilobyte=sum(_about(one.kilobyte) for one in found),
        year=sum(_about(one.year) for one in found),
    )
    return [whole, *(_operation(one) for one in found)]


def _operation(one: Slower) -> Comparison:
    told = {"single": SINGLE, "behind": _behind(one)}
    told |= {"kilobyte": times(one.kilobyte), "year": times(one.year)}
    return row("operation", one=one, published=SAID, measured=one.message, expected=ABOUT_1000, **told)


def _longer(found: Sequence[Slower]) -> list[Comparison]:
    """One agreement against more than one message: the key is used again."""
    rows = []
    for one in found:
        if (one.algorithm, one.operation) != AGREEMENT:
            continue
        for made, name, ratio in (
            ("kilobyte", "1,024 bytes", one.kilobyte),
            ("year", "a year of messages", one.year),
        ):
            told = {
                "one": one,
                "made": made,
                "name": name,
                "bytes": MESSAGE_BYTES,
                "messages": YEAR_S / EVERY_S,
            }
            rows.append(row("agreement", **told, published=SAID, measured=ratio, expected=ABOUT_1000))
    return rows


def _rsa(rows: Sequence[PublicKeyRow], aes: Mapping[str, AesCost]) -> list[Comparison]:
    """The likeliest reading: RSA and AES over the same bytes, those of one RSA block."""
    made = []
    for device, cost in aes.items():
        for operation, what in (("verify", "public"), ("sign", "private")):
            best = fastest(rows, device, "rsa2048", operation)
            if best is None or best.cycles is None:
                continue
            told = {"device": device, "what": what, "best": best, "bytes": RSA_BYTES}
            own = best.cycles / cost.cycles(RSA_BYTES)
            made.append(row("rsa", **told, published=SAID, measured=own, expected=ABOUT_1000))
    return made


def _efficient(
    catalog: Catalog, rows: Sequence[PublicKeyRow], aes: Mapping[str, AesCost]
) -> list[Comparison]:
    """A handshake for a day, for a year, and one for each message, next to the encryption it serves."""
    edhoc = handshakes()["edhoc"]
    made: list[Comparison] = []
    costs = {name: compute(edhoc, catalog.device(name), rows, cost) for name, cost in aes.items()}
    for often, name, messages in (
        ("day", "a handshake a day", DAY_MESSAGES),
        ("year", "a handshake a year", YEAR_S / EVERY_S),
    ):
        for device, cost in costs.items():
            if cost.missing:
                continue
            made.append(
                row(
                    "efficient",
                    **first_of(not made, "claim-asymmetric-efficient"),
                    often=often,
                    device=device,
                    name=name,
                    measured=cost.cycles / (messages * aes[device].cycles(MESSAGE_BYTES)),
                    ms=cost.time_us / 1e3,
                    behind="".join(f"; {text}" for text in cost.behind),
                    bytes=MESSAGE_BYTES,
                    minutes=EVERY_S / 60,
                )
            )
    return made
