"""The Pico study's tables of strings: times, ciphertexts, memory and claims, each figure next to ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from motecrypt.base.model import Cell, Measurement, Operation, Section
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.studies.facts import Comparison, Tolerance
from motecrypt.studies.judge import Bound, Check, Evidence, compare
from motecrypt.studies.pico import ciphertexts, evictions
from motecrypt.studies.pico.figures import (
    AGAIN,
    CASES,
    DEVICE,
    KEY_BITS,
    MBED,
    OPERATIONS,
    SIZES,
    SOURCE,
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
        _plain(ciphertexts.TITLE, ciphertexts.ciphertexts(), ciphertexts.TEXT),
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
        value, cause, bring, figures = None, "", "", {}
        if isinstance(ours, str):
            note = ours
            bring = ours if case.configuration is None else ""
            if published is not None:
                blocks = case.processed_bytes // 16
                note += f"; {published / blocks:.0f} µs for each of {blocks} blocks"
        else:
            value, note = round(ours.time_us(boot2), 1), _facts(ours)
            if case.key_in_call:
                note += "; with the key's set-up, since the source's call takes the key; without its Base64"
            if published is None:
                note = f"the source printed none for {bits} bits; {note}"
            else:
                cause = _cause(ours, published, by_flags(found, case, bits, operation))
                note, figures = f"{note}; {cause}", {"warm_us": ours.time_us(0)}
        rows.append(
            compare(
                id=f"pico-time-{case.library}-{bits}-{operation}",
                source=SOURCE,
                table=TIMES,
                row=f"{case.title} AES-{bits}",
                column=operation,
                unit="µs",
                published=published,
                measured=value,
                tolerance=COMPILER,
                evidence=Evidence("author's code", bring=bring, less_is_better=True, cause=cause),
                note=note,
                figures=figures,
            )
        )
    return rows


def _facts(ours: CallTiming) -> str:
    band = "/".join(f"{ours.time_us(p):.0f}" for p in miss_cycles())
    at = "/".join(map(str, miss_cycles()))
    where = " after the key's set-up" if ours.costs else ""
    text = (
        f"warm {ours.time_us(0):.0f}; cold{where} {band} at {at} cycles a miss; "
        f"{ours.core_cycles:,} core cycles, {ours.misses} lines missed"
    )
    if ours.costs:
        code, tables = ours.costs.code_lines_new, ours.costs.table_lines_new
        name, share = ours.costs.functions[0] if ours.costs.functions else ("?", 0.0)
        text += f" (code {code}, tables {tables}); {100 * share:.0f} % of the instructions in {name}"
    return text


def _cause(ours: CallTiming, published: float, levels: Mapping[tuple[str, str], float]) -> str:
    """Why the paper differs: its place between warm and cold, and what this is consistent with."""
    _, boot2, _ = miss_cycles()
    fewer = {level: us for (level, cache), us in levels.items() if cache == "warm" and level != "-Os"}
    others = " and ".join(f"{us:.0f} at {level}" for level, us in sorted(fewer.items()))
    warm, cold = ours.time_us(0), ours.time_us(boot2)
    if published < warm:
        return (
            f"the published time is {100 * (1 - published / warm):.0f} % below even the warm figure, which "
            "no cache explains: its compiler made fewer instructions than GCC 12 does at -Os "
            f"({others}, warm)"
        )
    lines = ours.lines_for(published, boot2)
    if published > cold:
        return (
            f"the published time is {100 * (published / cold - 1):.0f} % above the cold figure: "
            f"{lines * boot2 / ours.misses:.0f} cycles a miss, or more than these bytes was timed"
            if ours.misses
            else "the published time is above the cold figure: more than these bytes was timed"
        )
    return (
        f"between warm and cold: {lines:.0f} of the {ours.misses} lines, at {boot2} cycles each, give the "
        "published time. The rest may have been in its cache: the sketch's loop repeats, and the printed "
        "pass is hardly its first, since the line that its setup() prints is missing."
        f"{_tables_alone(ours, published, fewer)} The compiler counts as well ({others}, warm)"
    )


def _tables_alone(ours: CallTiming, published: float, levels: Mapping[str, float]) -> str:
    """Whether the tables' lines, which no compiler changes, and the fastest core take more than the paper."""
    _, boot2, _ = miss_cycles()
    tables = ours.costs.table_lines_new if ours.costs else 0
    least = ours.time_us(boot2, tables) - ours.time_us(0) + min([ours.time_us(0), *levels.values()])
    if least <= published:
        return ""
    return (
        f" That some were there is certain at {boot2} cycles: the tables' {tables} lines, which no compiler "
        f"changes, and the fastest core would make {least:.0f} without a line of code missing."
    )


_TIME_TEXT = (
    "The source's bytes, key and IV; times in µs at 125 MHz, GCC 12 -Os. The clock starts behind the key's "
    "set-up, as in the source's sketch, so the call finds in the flash cache what the set-up left. cold: "
    "nothing else was there. A miss costs 56 cycles by the second boot stage of the source's own core (its "
    "bytes set the divider to 2), 112 with the SDK's default divider of 4; 35 would fit most rows: it is "
    "shown and used for nothing. The verdict is that of cold 56. alone: the cache emptied at the call. "
    "set-up: cold at 56, before the clock starts. paper is: its place between warm and cold 56."
)


def _time_section(timed: Timings) -> Section:
    low, boot2, high = miss_cycles()
    columns = (
        *("library", "key", "operation", "paper", "warm", f"cold {low}", f"cold {boot2}", f"cold {high}"),
        *("ratio", "alone", "set-up", "lines", "paper is"),
    )
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
    return Section(TIMES, columns, rows, _TIME_TEXT)


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
    return Section("Strings: residuals", ("figure", "paper", "ours", "verdict", "known", "cause"), lines)


def _compiler_section(found: Sequence[tuple[Cell, Measurement]]) -> Section:
    columns = (
        "library",
        "key",
        "operation",
        "paper",
        "-Os",
        "-O1",
        "-O2",
        "-Os cold",
        "-O1 cold",
        "-O2 cold",
    )
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
    text = (
        "48 random bytes; cold: the cache emptied at the call. The source names neither compiler nor flags; "
        "its core's own are an older GCC at -Os. What a compiler changes is as large as the residuals."
    )
    return Section("Strings: the compiler's part", columns, rows, text)


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
            value, bring = None, MBED
            checks: tuple[Check, ...] = ()
            if ours is None:
                note = why_unsized(found, case)
                bring = f"{note}, and {MBED}" if case.configuration is None else MBED
            elif column == "RAM":
                value = float(ours.ram_bytes)
                note = (
                    "of the whole program with Mbed OS, which is not here; ours is the library's part alone"
                )
            else:
                value, (checks, note) = float(ours.flash_bytes), _flash_check(case, published, ours)
            rows.append(
                compare(
                    id=_memory_id(case, column),
                    source=SOURCE,
                    table=MEMORY,
                    row=case.title,
                    column=column,
                    unit="bytes",
                    published=float(published),
                    measured=value,
                    evidence=Evidence("author's code", checks=checks, bring=bring),
                    note=note,
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
            check = Check(published, share, f"its own {used:,} bytes are {share:.1f} %", AGAIN, PERCENT)
            rows.append(
                compare(
                    id=f"{_memory_id(case, column)}-share",
                    source=SOURCE,
                    table=MEMORY,
                    row=case.title,
                    column=f"{column} share",
                    unit="%",
                    kind="derived",
                    published=published,
                    measured=round(share, 1),
                    tolerance=PERCENT,
                    evidence=Evidence(
                        "the paper itself", checks=(check,), derived_from=(_memory_id(case, column),)
                    ),
                    note=f"{used:,} of {there:,} bytes"
                    + ("" if check.holds else ": not the published value"),
                )
            )
    return rows


def _flash_check(case: Case, published: int, ours: Sized) -> tuple[tuple[Check, ...], str]:
    """Whether the printed bytes can hold the library at all."""
    needed, where = ours.symbol_bytes, case.library if case.configuration else f"./{case.library}"
    check = Check(
        said=float(published),
        expected=Bound("at least", float(needed)),
        why=f"{case.title} alone brings {needed:,} bytes of code and tables: {published:,} can hold neither "
        "it nor a program with Mbed OS and USB around it",
        command=f"motecrypt measure --device pico --library {where} --cipher aes128-cbc --bytes 48",
    )
    if not check.holds:
        return (check,), check.why
    return (check,), (
        f"{needed:,} bytes would fit, but the paper is of a whole program with Mbed OS and USB, and the same "
        "as case 3's, whose library is larger: it counts something else than the program's flash"
    )


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
        rows.append(
            compare(
                id=f"pico-memory-{larger.library}-less-{smaller.library}-{column.lower()}",
                source=SOURCE,
                table=MEMORY,
                row=f"{larger.title} less {smaller.title}",
                column=column,
                unit="bytes",
                kind="derived",
                published=pair[0] - pair[1],
                measured=value,
                tolerance=CLOSE,
                evidence=Evidence(
                    "author's code",
                    derived_from=tuple(_memory_id(case, column) for case in (larger, smaller)),
                    cause=note,
                ),
                note=note,
            )
        )
    return rows


def _memory_text(found: Sequence[tuple[Cell, Measurement]]) -> str:
    known = sizes(found)
    parts = [
        f"{name} {size.flash_bytes:,} bytes of flash, {size.ram_bytes:,} of RAM"
        for name in SIZES
        if (size := known.get(("mbedtls", name))) is not None
    ]
    return (
        "Ours: increase over the same firmware with a no-op cipher, AES-128, encryption and decryption. "
        f"Mbed TLS by its configuration: {'; '.join(parts)}. None of them fits the printed 4,082 bytes. "
        "Mbed OS sets rom-tables."
    )


def _plain(title: str, rows: Sequence[Comparison], text: str) -> Section:
    columns = ("row", "column", "paper", "ours", "verdict", "note")
    lines = [[r.row, r.column, _short(r.published), _short(r.measured), r.verdict, r.note] for r in rows]
    return Section(title, columns, lines, text)


def _short(value: float | str | None) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        digits = len(value) > 60 and " " not in value
        return value if not digits else f"{value[:16]}…{value[-8:]} ({len(value)} digits)"
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
