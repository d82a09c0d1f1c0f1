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
from motecrypt.studies.facts import Comparison, Tolerance
from motecrypt.studies.judge import Between, Bound, Evidence
from motecrypt.studies.wlan.claims import claim, of

SAID = 1000.0
#: "Almost 1000 times" names an order of magnitude: half of one up and down still agrees.
ABOUT_1000 = Between(SAID / math.sqrt(10), SAID * math.sqrt(10))
ROUNDED = Tolerance(0.0, 0.0, 'wording: "almost 1000 times", half an order of magnitude')
TEXT = "asymmetric techniques are almost 1000 times slower than symmetric ones"
EFFICIENT = "public-key encryption is not efficient for small mobile devices"
#: Of the rows of single operations.
SINGLE = " / one message, "
ROWS = "motecrypt reproduce wlan --rows"
AGREEMENT = ("x25519", "agree")
RSA_BYTES = 256
DAY_MESSAGES = 86400 / EVERY_S
#: Public keys are not efficient where they take more than the encryption that they make possible.
MORE_THAN_AES = Bound("above", 1.0)


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
    text = (
        f"AES: {next(iter(aes.values())).cipher}, our fastest on the device; a year: a message of "
        f"{MESSAGE_BYTES} bytes every {EVERY_S / 60:g} minutes; simulated, warm flash cache, recorded on "
        f"{days} (docs/public-key.md says what does not fit)"
    )
    columns = ("device", "algorithm", "operation", "cycles", "one message", "1,024 bytes", "a year", "1000x?")
    return [Section("How many times slower than AES: public-key operations", columns, lines, text)]


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
    whole = claim(
        "asymmetric",
        TEXT,
        f"{len(found)} operations, one message each",
        "ratio of cycles",
        SAID,
        f"{min(ratios):,.0f} to {max(ratios):,.0f}",
        expected=ABOUT_1000,
        tolerance=ROUNDED,
        found=farthest,
        evidence=Evidence(
            "other",
            cause="the ratio depends on the operation, the device and most of all on the bytes that AES gets",
            known="shown by experiment",
            command=ROWS,
        ),
        note=f"within a factor of 3.2 of 1000 in {agreeing} of {len(found)}; against 1,024 bytes in "
        f"{sum(_about(one.kilobyte) for one in found)}, against a year of messages in "
        f"{sum(_about(one.year) for one in found)}",
    )
    return [whole, *(_operation(one) for one in found)]


def _operation(one: Slower) -> Comparison:
    return claim(
        f"asymmetric-{one.device}-{one.algorithm}-{one.operation}",
        TEXT,
        f"{one.algorithm} {one.operation}{SINGLE}{one.device}",
        "ratio of cycles",
        SAID,
        one.message,
        kind="derived",
        expected=ABOUT_1000,
        tolerance=ROUNDED,
        evidence=_against("AES gets 16 bytes, and operations differ by far more than a factor of ten"),
        note=f"{one.implementation}: {one.cycles:,} cycles{_behind(one)}; {times(one.kilobyte)} times 1,024 "
        f"bytes, {times(one.year)} times a year of messages",
    )


def _against(cause: str) -> Evidence:
    base = of("claim-asymmetric")
    return Evidence(
        "other", derived_from=base.derived_from, cause=cause, known="shown by experiment", command=ROWS
    )


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
            rows.append(
                claim(
                    f"asymmetric-{one.device}-{made}",
                    TEXT,
                    f"one {one.algorithm} agreement / {name}, {one.device}",
                    "ratio of cycles",
                    SAID,
                    ratio,
                    kind="derived",
                    expected=ABOUT_1000,
                    tolerance=ROUNDED,
                    evidence=_against("one agreement gives a key for all that follows"),
                    note=f"{one.implementation}; a year: {YEAR_S / EVERY_S:,.0f} messages of {MESSAGE_BYTES} "
                    "bytes",
                )
            )
    return rows


def _rsa(rows: Sequence[PublicKeyRow], aes: Mapping[str, AesCost]) -> list[Comparison]:
    """The likeliest reading: RSA and AES over the same bytes, those of one RSA block."""
    made = []
    for device, cost in aes.items():
        for operation, what in (("verify", "public"), ("sign", "private")):
            best = fastest(rows, device, "rsa2048", operation)
            if best is None or best.cycles is None:
                continue
            made.append(
                claim(
                    f"asymmetric-{device}-rsa-{what}",
                    TEXT,
                    f"RSA-2048, {what} operation / AES of its {RSA_BYTES} bytes, {device}",
                    "ratio of cycles",
                    SAID,
                    best.cycles / cost.cycles(RSA_BYTES),
                    kind="derived",
                    expected=ABOUT_1000,
                    tolerance=ROUNDED,
                    evidence=_against("RSA's public exponent is short, its private one is not"),
                    note=f"{best.implementation}: {best.cycles:,} cycles",
                )
            )
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
            first = not made
            ratio = cost.cycles / (messages * aes[device].cycles(MESSAGE_BYTES))
            made.append(
                claim(
                    "asymmetric-efficient" if first else f"asymmetric-efficient-{often}-{device}",
                    EFFICIENT,
                    f"EDHOC with X25519, {name}, {device}",
                    "cycles / those of AES",
                    "yes",
                    ratio,
                    kind="claim" if first else "derived",
                    expected=MORE_THAN_AES,
                    evidence=Evidence(
                        "other",
                        derived_from=() if first else of("claim-asymmetric-efficient").derived_from,
                        cause="a handshake is rare, and the messages under its key are many",
                        known="shown by experiment",
                        command="motecrypt reproduce wlan",
                    ),
                    note="; ".join(
                        [
                            f"{cost.time_us / 1e3:,.0f} ms a handshake",
                            *cost.behind,
                            f"a message of {MESSAGE_BYTES} bytes every {EVERY_S / 60:g} minutes",
                            "the radio's energy is in 'reproduce rf'",
                        ]
                    ),
                )
            )
    return made
