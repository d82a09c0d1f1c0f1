"""The Pico study's tables of strings: times, ciphertexts, memory and claims, each figure next to ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from motecrypt.base.model import Cell, Measurement, Operation, Section
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.studies.facts import Comparison, Tolerance
from motecrypt.studies.judge import Bound, agree
from motecrypt.studies.pico import ciphertexts, evictions
from motecrypt.studies.pico.figures import (
    CASES,
    DEVICE,
    KEY_BITS,
    MBED,
    OPERATIONS,
    SIZES,
    CallTiming,
    Case,
    Sized,
    Timings,
    brought_sizes,
    by_flags,
    measured,
    miss_cycles,
    printed,
    sizes,
    timings,
    why_unsized,
)
from motecrypt.studies.pico.string_claims import CLAIMS, claims
from motecrypt.studies.words import words

TIMES = "Strings: time"
MEMORY = "Strings: memory"

#: Per cent of the memory, as the compiler's output prints them next to the bytes; flash is the same in all.
PRINTED_SHARES = {1: 15.2, 2: 17.4, 3: 15.3, 4: 15.1}
PRINTED_FLASH_SHARE = 0.2

#: RAM of two programs of one author differs by what differs in them; our difference has no buffers.
CLOSE = Tolerance(0.25, 0.0, "model: the sketches' own buffers are not in ours")
COMPILER = Tolerance(0.05, 0.0, "compiler: the source names none; what another one changes is a table here")
PERCENT = Tolerance(0.0, 0.05, "rounding: one decimal is printed")


def comparisons(results: Results) -> list[Comparison]:
    """Every figure and claim about strings next to ours."""
    found, timed = measured(results), timings(results)
    return [
        *_times(timed, found),
        *ciphertexts.ciphertexts(),
        *_memory(found, brought_sizes(results)),
        *claims(timed, found),
    ]


def sections(results: Results) -> list[Section]:
    """The same for people."""
    found, timed = measured(results), timings(results)
    return [
        _time_section(timed),
        _cause_section(_times(timed, found)),
        evictions.section(timed),
        _compiler_section(found),
        _plain(ciphertexts.TITLE, ciphertexts.ciphertexts(), words("pico").text("ciphertexts")),
        _plain(MEMORY, _memory(found, brought_sizes(results)), _memory_text(found)),
        _plain(CLAIMS, claims(timed, found), ""),
    ]


# --- times -----------------------------------------------------------------------------------------


def _places() -> Iterator[tuple[Case, int, Operation]]:
    for case in CASES:
        for bits in KEY_BITS:
            for operation in OPERATIONS:
                yield case, bits, operation


def _times(timed: Timings, found: Sequence[tuple[Cell, Measurement]]) -> list[Comparison]:
    rows = []
    _, boot2, _ = miss_cycles()
    for case, bits, operation in _places():
        row = printed().get((case.number, bits))
        published = row.time_us(operation) if row else None
        ours = timed[case.number, bits, operation]
        told: dict[str, Any] = dict.fromkeys(("reason", "per_block", "blocks", "facts", "cause", "bring"))
        if isinstance(ours, str):
            told |= {"reason": ours, "bring": ours if case.configuration is None else None}
            if published is not None:
                blocks = case.processed_bytes // 16
                told |= {"blocks": blocks, "per_block": published / blocks}
        else:
            told |= {"facts": _facts(ours), "measured": round(ours.time_us(boot2), 1)}
            if published is not None:
                cause = _cause(ours, published, by_flags(found, case, bits, operation))
                told |= {"cause": cause, "figures": {"warm_us": ours.time_us(0)}}
        timed_ours = not isinstance(ours, str)
        rows.append(
            words("pico").row(
                "time",
                case=case,
                bits=bits,
                operation=operation,
                published=published,
                tolerance=COMPILER,
                unprinted=timed_ours and published is None,
                with_key=timed_ours and case.key_in_call,
                **told,
            )
        )
    return rows


def _facts(ours: CallTiming) -> str:
    name, share = ours.costs.functions[0] if ours.costs and ours.costs.functions else ("?", 0.0)
    return words("pico").text(
        "facts",
        warm=ours.time_us(0),
        costs=ours.costs,
        band="/".join(f"{ours.time_us(p):.0f}" for p in miss_cycles()),
        at="/".join(map(str, miss_cycles())),
        ours=ours,
        share=100 * share,
        name=name,
    )


def _cause(ours: CallTiming, published: float, levels: Mapping[tuple[str, str], float]) -> str:
    """Why the paper differs: its place between warm and cold, and what this is consistent with."""
    _, boot2, _ = miss_cycles()
    fewer = {level: us for (level, cache), us in levels.items() if cache == "warm" and level != "-Os"}
    others = " and ".join(f"{us:.0f} at {level}" for level, us in sorted(fewer.items()))
    warm, cold, said = ours.time_us(0), ours.time_us(boot2), words("pico")
    if published < warm:
        return said.text("below-warm", below=100 * (1 - published / warm), others=others)
    lines = ours.lines_for(published, boot2)
    if published > cold:
        return said.text(
            "above-cold",
            misses=ours.misses,
            above=100 * (published / cold - 1),
            cycles=lines * boot2 / ours.misses if ours.misses else 0.0,
        )
    # The tables' lines, which no compiler changes, and the fastest core may take more than the paper.
    tables = ours.costs.table_lines_new if ours.costs else 0
    least = ours.time_us(boot2, tables) - warm + min([warm, *fewer.values()])
    told = {"lines": lines, "misses": ours.misses, "boot2": boot2, "others": others, "tables": tables}
    return said.text("between", **told, least=None if least <= published else least)


def _time_section(timed: Timings) -> Section:
    low, boot2, high = miss_cycles()
    rows = []
    for case, bits, operation in _places():
        row = printed().get((case.number, bits))
        published = row.time_us(operation) if row else None
        start = [case.title, str(bits), operation, "" if published is None else f"{published:.0f}"]
        ours = timed[case.number, bits, operation]
        if isinstance(ours, str):
            rows.append([*start, *("",) * 8, ours])
            continue
        rows.append(
            [
                *start,
                *(f"{ours.time_us(p):.0f}" for p in (0, low, boot2, high)),
                f"{ours.time_us(boot2) / published:.2f}" if published else "",
                f"{ours.time_us(boot2, ours.misses_cold):.0f}",
                f"{ours.setup_us(boot2):.0f}",
                str(ours.misses),
                _place_of(published, ours.time_us(0), ours.time_us(boot2)),
            ]
        )
    return words("pico").section("time", rows, low=low, boot2=boot2, high=high)


def _place_of(published: float | None, warm: float, cold: float) -> str:
    if published is None:
        return "not printed"
    return "below warm" if published < warm else "above cold" if published > cold else "between"


def _cause_section(rows: Sequence[Comparison]) -> Section:
    lines = [
        [f"{r.row}, {r.column}", f"{r.published:g}", f"{r.measured:g}", r.verdict, r.cause_known, r.note]
        for r in rows
        if isinstance(r.published, float) and isinstance(r.measured, float)
    ]
    return words("pico").section("residuals", lines)


def _compiler_section(found: Sequence[tuple[Cell, Measurement]]) -> Section:
    rows = []
    for case, bits, operation in _places():
        levels = by_flags(found, case, bits, operation)
        row = printed().get((case.number, bits))
        if not levels or row is None:
            continue
        wanted = [(level, cache) for cache in ("warm", "cold") for level in ("-Os", "-O1", "-O2")]
        rows.append(
            [
                *(case.title, str(bits), operation, f"{row.time_us(operation):.0f}"),
                *(f"{levels[w]:.0f}" if w in levels else "" for w in wanted),
            ]
        )
    return words("pico").section("compiler", rows)


# --- memory ----------------------------------------------------------------------------------------


def _memory(
    found: Sequence[tuple[Cell, Measurement]], brought: Mapping[tuple[str, str], Sized]
) -> list[Comparison]:
    known = {**brought, **sizes(found)}
    rows = []
    for case in CASES:
        row = printed()[case.number, 128]
        ours = known.get((case.library, case.configuration or ""))
        for column, published in (("flash", row.flash_bytes), ("RAM", row.ram_bytes)):
            told: dict[str, Any] = {"reason": None, "needed": None, "bring": MBED}
            if ours is None:
                reason = why_unsized(found, case)
                told |= {
                    "reason": reason,
                    "bring": f"{reason}, and {MBED}" if case.configuration is None else MBED,
                }
            elif column == "RAM":
                told |= {"measured": float(ours.ram_bytes)}
            else:
                needed = Bound("at least", float(ours.symbol_bytes))  # whether it can hold the library at all
                told |= {"measured": float(ours.flash_bytes), "needed": ours.symbol_bytes}
                told |= {"check": (float(published), needed)}
            judged = told.get("check")
            rows.append(
                words("pico").row(
                    "memory",
                    name=_memory_id(case, column),
                    case=case,
                    memory=column,
                    published=float(published),
                    where=case.library if case.configuration else f"./{case.library}",
                    ram=ours is not None and column == "RAM",
                    small=judged is not None and not judged[1].holds(judged[0]),
                    large=judged is not None and judged[1].holds(judged[0]),
                    **told,
                )
            )
    return [*rows, *_shares(), *_differences(known, found)]


def _memory_id(case: Case, column: str) -> str:
    return f"pico-memory-{case.library}-{column.lower()}"


def _shares() -> list[Comparison]:
    """The source's percentages, compared with its own bytes and the device's memories."""
    memory = Catalog.load().device(DEVICE).memory
    rows = []
    for case in CASES:
        row = printed()[case.number, 128]
        for column, published, used in (
            ("RAM", PRINTED_SHARES[case.number], row.ram_bytes),
            ("flash", PRINTED_FLASH_SHARE, row.flash_bytes),
        ):
            there = memory[column.lower()].bytes
            share = 100 * used / there
            rows.append(
                words("pico").row(
                    "share",
                    name=_memory_id(case, column),
                    case=case,
                    memory=column,
                    published=published,
                    measured=round(share, 1),
                    tolerance=PERCENT,
                    check=(published, share),
                    share=share,
                    used=used,
                    there=there,
                    holds=agree(share, published, PERCENT),
                )
            )
    return rows


def _differences(
    known: dict[tuple[str, str], Sized], found: Sequence[tuple[Cell, Measurement]]
) -> list[Comparison]:
    """Case 3 less case 4: Mbed OS cancels out, so the printed figures can be compared with ours."""
    larger, smaller = CASES[2], CASES[3]
    ours = [known.get((c.library, c.configuration or "")) for c in (larger, smaller)]
    rows = []
    for column, name in (("flash", "flash_bytes"), ("RAM", "ram_bytes")):
        pair = [float(getattr(printed()[case.number, 128], name)) for case in (larger, smaller)]
        value, note = None, why_unsized(found, larger, smaller)
        if None not in ours:
            value = float(getattr(ours[0], name) - getattr(ours[1], name))
            note = "two contexts of the one, one of the other; what remains are the sketches' buffers"
            if column == "flash":
                note = "two libraries of so different sizes in the same flash: the paper does not count them"
        told = {"larger": larger, "smaller": smaller, "name": column.lower(), "memory": column}
        told |= {"published": pair[0] - pair[1], "measured": value, "tolerance": CLOSE, "note": note}
        rows.append(words("pico").row("difference", **told))
    return rows


def _memory_text(found: Sequence[tuple[Cell, Measurement]]) -> str:
    known = sizes(found)
    parts = [
        f"{name} {size.flash_bytes:,} bytes of flash, {size.ram_bytes:,} of RAM"
        for name in SIZES
        if (size := known.get(("mbedtls", name))) is not None
    ]
    return words("pico").text("memory", configurations="; ".join(parts))


def _plain(title: str, rows: Sequence[Comparison], text: str) -> Section:
    lines = [[r.row, r.column, _short(r.published), _short(r.measured), r.verdict, r.note] for r in rows]
    return words("pico").section("plain", lines, title=title, text=text)


def _short(value: float | str | None) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        digits = len(value) > 60 and " " not in value
        return value if not digits else f"{value[:16]}…{value[-8:]} ({len(value)} digits)"
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
