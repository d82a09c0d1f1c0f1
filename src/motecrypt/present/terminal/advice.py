"""How the adviser's answer is shown: as five lines and the best few."""

from __future__ import annotations

from collections.abc import Sequence

from motecrypt.adviser import api as advise
from motecrypt.adviser.costs import Setting
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
from motecrypt.present.terminal import BLANK, TextAnswer, TextBlock, TextTable, TextWords

COLUMNS = (
    *("", "cipher", "implementation", "tag", "flash", "RAM", "ms", "packets", "bytes", "µJ", "life"),
    *("of unencrypted", "why"),
)
STORED_COLUMNS = tuple("write ms" if name == "packets" else name for name in COLUMNS)
LEAST = ("write ms", "bytes", "ms", "of unencrypted", "RAM", "flash", "tag", "implementation", "µJ")


def asked_text(setting: Setting) -> str:
    """What was asked, in one sentence."""
    question, device, battery = setting.question, setting.device, setting.battery
    through = "" if setting.regulator.name == "none" else f" through {setting.regulator.title}"
    stored = setting.storage is not None
    return (
        f"{question.message_bytes} bytes every {question.interval_s:g} s, "
        f"{'stored' if stored else question.delivery}, from {device.title} ({_OF[device.of]}) "
        f"{'to' if stored else 'over'} {setting.radio.title}, on "
        f"{battery.name} ({battery.volts:g} V, {number(battery.capacity_mah)} mAh){through}; needs "
        f"{', '.join(question.needs) or 'nothing'}"
    )


def answered_view(
    setting: Setting, answer: advise.Advice, command: str, top: int | None, export: tuple[str, str]
) -> list[TextBlock]:
    """The answer in five lines, then the best few; with `top` None all of them.

    `command`: what comes next. `export`: what it exports, where that is not the first rank; why it exports
    nothing.
    """
    instead, refused = export
    first, count = answer.entries[0], len(answer.entries)
    one, costs = first.candidate, first.costs
    others = len(answer.warnings) - 1
    warned = answer.warnings[0] if answer.warnings else NOTHING_TO_WATCH
    if others > 0 and top is not None:
        warned += f" {plural(others, 'more warning')}: --all"
    varies = f"; {TIME_VARIES}" if one.timing_varies else ""
    lines = [
        ("Use", f"{one.name}: {one.security}{varies}"),
        (
            "Costs",
            f"{_work(costs, setting.question, bound_named(setting.device.name))}; "
            f"{number(one.flash_taken)} bytes of flash, {number(one.ram_taken)} of RAM; "
            f"{percent(costs.energy.cpu_percent)} of the energy",
        ),
        (
            "Battery",
            f"{days(costs.life_days)}, {percent(life_percent(first, answer.plaintext))} of the battery "
            "life without encryption",
        ),
        ("Watch out", warned),
        *([("Export", refused)] if refused else []),
    ]
    shown = answer.entries if top is None else answer.entries[:top]
    title = "All ranks" if len(shown) == count else f"The best {len(shown)} of {count}"
    columns, legend = (STORED_COLUMNS, _STORED_LEGEND) if costs.form == "stored" else (COLUMNS, _LEGEND)
    texts = [row(entry, answer.plaintext) for entry in shown]
    rows = [[one[name or "rank"] for name in columns] for one in texts]
    table = TextTable(title, columns, rows, legend if top is None else "", LEAST)
    told = TextAnswer(asked_text(setting), lines, command)
    blocks: list[TextBlock] = [told, TextWords(instead), BLANK, table]
    if top is None:
        return [*blocks, *(TextWords(f"- {note}") for note in answer.notes), BLANK]
    ranks = f"{plural(count - len(shown), 'more rank')} and " if count > len(shown) else ""
    return [*blocks, TextWords(f"{ranks}{plural(len(answer.notes), 'note')}: --all")]


def refused_view(setting: Setting, answer: advise.Advice) -> list[TextBlock]:
    """The question and the notes, if nothing fits; the error has the rest."""
    return [TextWords(asked_text(setting), "bold"), *(TextWords(f"- {note}") for note in answer.notes[1:])]


def _work(costs: advise.MessageCosts, question: advise.Question, bound: str) -> str:
    """What encrypting takes, and what it adds; `bound`: how far its time is from that of a real chip."""
    each = f"{costs.cpu_us / 1000:.2f} ms{f' ({bound})' if bound else ''}"
    if costs.form != "stored":
        return f"{each} and {plural(costs.packets, 'packet')} a message"
    per_kb = costs.per_kb(question.message_bytes)
    each += f" and {costs.overhead_bytes} more bytes a record"
    return f"{each}; {per_kb['cpu_us_per_kb'] / 1000:.2f} ms and {per_kb['cpu_uj_per_kb']:,.0f} µJ per KB"


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


def excluded_view(exclusions: Sequence[advise.Exclusion]) -> list[TextBlock]:
    """A table for each group; in it a row for each reason, with all it holds for."""
    tables: list[TextBlock] = []
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
        tables.append(TextTable(f"{_GROUPS[group]} ({count})", columns, rows))
    return tables
