"""How the adviser's answer is shown: as five lines and the best few, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from motecrypt.adviser import api as advise
from motecrypt.adviser.hardware.bounds import bound_named
from motecrypt.adviser.shown import (
    NOTHING_TO_WATCH,
    TIME_VARIES,
    days,
    life_percent,
    number,
    percent,
    plural,
    row,
)
from motecrypt.cli._output import print_answer, print_blank, print_table, print_words, typed_with


def document(question: advise.Question, answer: advise.Advice) -> dict[str, Any]:
    """The answer as JSON: flat enough to be read without knowing the records."""

    def name(candidate: advise.Candidate) -> dict[str, Any]:
        keys = ("cipher", "implementation", "key_bits", "placement", "cache", "standing")
        return {key: getattr(candidate, key) for key in keys}

    def sizes(candidate: advise.Candidate) -> dict[str, Any]:
        return {key: getattr(candidate, key) for key in ("flash_bytes", "ram_bytes", "stack_bytes")}

    return {
        "question": asdict(question),
        "usable_charge": answer.usable,
        "plaintext": asdict(answer.plaintext) if answer.plaintext else None,
        "ranked": [
            {
                "rank": e.rank,
                **name(e.candidate),
                **sizes(e.candidate),
                "ram_with_stack_bytes": e.candidate.ram_taken,
                **asdict(e.costs),
                "packets": e.costs.packets,
                "air_bytes": e.costs.air_bytes,
                **_per_kb(e.costs, question),
                "more_energy_percent": e.more_energy_percent,
                "cpu_energy_percent": _cpu_percent(e),
                "life_percent_of_plaintext": life_percent(e, answer.plaintext),
                "timing_varies": e.candidate.timing_varies,
                "reason": e.reason,
            }
            for e in answer.entries
        ],
        "excluded": [
            {**name(e.candidate), "group": e.group, "budgets": e.budgets, "reason": e.reason}
            for e in answer.exclusions
        ],
        "notes": answer.notes,
        "warnings": answer.warnings,
    }


COLUMNS = (
    *("", "cipher", "implementation", "tag", "flash", "RAM", "ms", "packets", "bytes", "µJ", "life"),
    *("of unencrypted", "why"),
)
STORED_COLUMNS = tuple("write ms" if name == "packets" else name for name in COLUMNS)
LEAST = ("write ms", "bytes", "ms", "of unencrypted", "RAM", "flash", "tag", "implementation", "µJ")


Parts = tuple[advise.DeviceFacts, str, advise.BatteryPart, advise.RegulatorPart]


def asked_text(question: advise.Question, parts: Parts) -> str:
    """What was asked, in one sentence."""
    device, where, battery, between = parts
    through = "" if between.name == "none" else f" through {between.title}"
    return (
        f"{question.message_bytes} bytes every {question.interval_s:g} s, "
        f"{'stored' if where.startswith('to ') else question.delivery}, from "
        f"{device.title} ({_OF[device.of]}) {where}, on "
        f"{battery.name} ({battery.volts:g} V, {number(battery.capacity_mah)} mAh){through}; needs "
        f"{', '.join(question.needs) or 'nothing'}"
    )


def print_answered(
    question: advise.Question,
    answer: advise.Advice,
    parts: Parts,
    step: str,
    top: int | None,
    exported: str = "",
) -> None:
    """The answer in five lines, then the best few; with `top` None all of them. `exported`: what the next
    step exports, where it is not the first rank; without a step, why there is none."""
    first, count = answer.entries[0], len(answer.entries)
    one, costs = first.candidate, first.costs
    others = len(answer.warnings) - 1
    warned = answer.warnings[0] if answer.warnings else NOTHING_TO_WATCH
    if others > 0 and top is not None:
        warned += f" {plural(others, 'more warning')}: --all"
    varies = f"; {TIME_VARIES}" if one.timing_varies else ""
    print_answer(
        asked_text(question, parts),
        (
            ("Use", f"{one.name}: {one.standing}{varies}"),
            (
                "Costs",
                f"{_work(costs, question, bound_named(parts[0].name))}; "
                f"{number(one.flash_taken)} bytes of flash, {number(one.ram_taken)} of RAM; "
                f"{percent(_cpu_percent(first))} of the energy",
            ),
            (
                "Battery",
                f"{days(costs.life_days)}, {percent(life_percent(first, answer.plaintext))} of the battery "
                "life without encryption",
            ),
            ("Watch out", warned),
            *([] if step else [("Export", exported)]),
        ),
        step or typed_with("--json" if top is None else "--all"),
    )
    if step and exported:
        print_words(exported)
    print_blank()
    shown = answer.entries if top is None else answer.entries[:top]
    title = "All ranks" if len(shown) == count else f"The best {len(shown)} of {count}"
    stored = costs.form == "stored"
    columns, legend = (STORED_COLUMNS, _STORED_LEGEND) if stored else (COLUMNS, _LEGEND)
    texts = [row(entry, answer.plaintext) for entry in shown]
    rows = [[one[name or "rank"] for name in columns] for one in texts]
    print_table(title, columns, rows, legend if top is None else "", LEAST)
    if top is None:
        for note in answer.notes:
            print_words(f"- {note}")
        print_blank()
        return
    ranks = f"{plural(count - len(shown), 'more rank')} and " if count > len(shown) else ""
    print_words(f"{ranks}{plural(len(answer.notes), 'note')}: --all")


def print_refused(question: advise.Question, answer: advise.Advice, parts: Parts) -> None:
    """The question and the notes, if nothing fits; the error has the rest."""
    print_words(asked_text(question, parts), "bold")
    for note in answer.notes[1:]:
        print_words(f"- {note}")


def _work(costs: advise.MessageCosts, question: advise.Question, bound: str) -> str:
    """What encrypting takes, and what it adds; `bound`: how far its time is from that of a real chip."""
    each = f"{costs.cpu_us / 1000:.2f} ms{f' ({bound})' if bound else ''}"
    if costs.form != "stored":
        return f"{each} and {plural(costs.packets, 'packet')} a message"
    per_kb = _per_kb(costs, question)
    each += f" and {costs.overhead_bytes} more bytes a record"
    return f"{each}; {per_kb['cpu_us_per_kb'] / 1000:.2f} ms and {per_kb['cpu_uj_per_kb']:,.0f} µJ per KB"


def _per_kb(costs: advise.MessageCosts, question: advise.Question) -> dict[str, float]:
    """Time and energy to encrypt 1,024 bytes of data in such records."""
    share = 1024 / question.message_bytes
    return {"cpu_us_per_kb": costs.cpu_us * share, "cpu_uj_per_kb": costs.energy.cpu_uj * share}


def _cpu_percent(entry: advise.Entry) -> float:
    """The share of the energy that computing takes."""
    return entry.costs.energy.cpu_uj / entry.costs.energy.total_uj * 100


_OF = {"board": "the stock board", "chip": "the chip alone"}
_LEGEND = (
    "packets, bytes: of the usual message, passed to the radio; RAM: with the deepest stack; ms: encrypting; "
    "µJ: drawn from the battery for one message and the time until the next; "
    "of unencrypted: % of the battery life without encryption"
)
_STORED_LEGEND = (
    "bytes: of a record with its nonce and tag; RAM: with the deepest stack; ms: encrypting a record; "
    "write ms: storing it; µJ: drawn from the battery for one record and the time until the next; "
    "of unencrypted: % of the battery life without encryption"
)


_GROUPS = {
    "broken": "Not ranked: broken",
    "needs": "Not ranked: without a needed property",
    "failed": "Not ranked: no figures on this device",
    "budget": "Not ranked: over a budget",
}


def print_excluded(exclusions: Sequence[advise.Exclusion]) -> None:
    """A table for each group; in it a row for each reason, with all it holds for."""
    for group in advise.EXCLUDED:
        by_reason: dict[str, list[advise.Candidate]] = {}
        for exclusion in exclusions:
            if exclusion.group == group:
                by_reason.setdefault(exclusion.reason, []).append(exclusion.candidate)
        if not by_reason:
            continue
        count = sum(map(len, by_reason.values()))
        if group in ("broken", "needs"):
            columns: tuple[str, ...] = ("ciphers", "implementations", "why")
            rows: list[list[object]] = [
                [", ".join(dict.fromkeys(c.cipher for c in members)), len(members), reason]
                for reason, members in by_reason.items()
            ]
        else:
            columns = ("implementation", "why")
            rows = [[", ".join(c.name for c in members), reason] for reason, members in by_reason.items()]
        print_table(f"{_GROUPS[group]} ({count})", columns, rows)
