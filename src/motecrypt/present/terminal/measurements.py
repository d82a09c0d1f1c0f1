"""Measurements as a table or as JSON, the same for `measure` and `results`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from motecrypt.base.model import PUBLIC_KEY_OPERATIONS, Measurement
from motecrypt.catalog import Catalog
from motecrypt.present.terminal import BLANK, TextAnswer, TextBlock, TextTable
from motecrypt.present.terminal.ranking import Group, RankedMeasurement, ranked, smallest

if TYPE_CHECKING:
    from motecrypt.adviser.publickey.rows import Behind

BOUND = "±"
"""Column of how far a device's cycles are from those of real chips: an error bound, or the range seen."""

COLUMNS = (
    *("device", "cipher", "security", "implementation", "key", "operation", "bytes", "placement"),
    *("cycles", BOUND, "µs", "varies", "flash", "RAM", "stack", "note"),
)
LEAST = (
    *("note", "security", BOUND, "µs", "varies", "stack", "RAM", "flash", "placement", "key", "device"),
    "bytes",
)
"""Columns that are omitted in a narrow terminal, the least useful first."""

COMPARED_COLUMNS = (
    *("device", "cipher", "implementation", "key", "operation", "bytes", "placement", "toolchain"),
    *("cycles", "cycles %", "flash", "flash %", "RAM", "stack", "note"),
)

COMPARED_LEAST = (
    *("note", "stack", "RAM", "flash %", "flash", "cycles %", "placement", "key", "device", "bytes"),
)

BOARD_COLUMNS = (
    *("cipher", "implementation", "key", "operation", "bytes", "placement"),
    *("board's cycles", "simulated", "difference", "note"),
)
FAILED_COLUMNS = (
    *("device", "cipher", "implementation", "key", "operations", "bytes", "placement", "flash", "RAM"),
    "reason",
)
FAILED_LEAST = ("flash", "RAM", "placement", "key", "bytes", "operations", "device")


PUBLIC_CODE = "of public code"
"""Column of how many times the cycles of the fastest public code an operation takes; only where some does."""


def measurements_view(measurements: Sequence[Measurement], catalog: Catalog) -> list[TextBlock]:
    """What was measured, and below it what did not run and why: one row for all cells of one reason."""
    ran = [m for m in measurements if m.status == "ok"]
    table = [_table(COLUMNS, [_row(m, catalog) for m in ran], ran, _legend(ran))]
    return [*(table if ran or not measurements else ()), *failed_view(measurements)]


def _table(
    columns: Sequence[str], rows: Sequence[list[object]], measurements: Sequence[Measurement], legend: str
) -> TextTable:
    """The table, with how far its rows are behind public code after their cycles."""
    behind = [behind_public_code(m) for m in measurements]
    if any(behind):
        at = columns.index("cycles") + 1
        columns = (*columns[:at], PUBLIC_CODE, *columns[at:])
        rows = [
            [*row[:at], one.times if one else "", *row[at:]] for row, one in zip(rows, behind, strict=True)
        ]
        legend += "".join(f"; {text}" for text in dict.fromkeys(one.text for one in behind if one))
    return TextTable("Measurements", columns, rows, legend, LEAST)


def behind_public_code(m: Measurement) -> Behind | None:
    """How far a public-key operation is behind public code; None where none is known to be faster. Not with a
    cold cache: what was published was measured over and over."""
    if m.operation not in PUBLIC_KEY_OPERATIONS or m.cycles_median is None or m.cache == "cold":
        return None
    from motecrypt.adviser.publickey.rows import behind_by, kept_records  # not read for --help

    return behind_by(m.device, m.cipher, m.operation, m.cycles_median, kept_records())


def public_code_fields(m: Measurement) -> dict[str, Any]:
    """The same for programs; nothing for any operation but a public-key one."""
    if m.operation not in PUBLIC_KEY_OPERATIONS:
        return {}
    found = behind_public_code(m)
    return {
        "public_code": None if found is None else found.record.code,
        "public_code_cycles": None if found is None else found.record.cycles,
        "times_public_code": None if found is None else found.ratio,
    }


def ranked_documents(measurements: Sequence[Measurement], catalog: Catalog) -> list[dict[str, Any]]:
    """Every measurement as JSON, with its rank, how far its device is from real chips, and public code."""
    from motecrypt.adviser.hardware.bounds import bound_fields  # its data is not read for --help

    places = ranked(measurements, broken_of(catalog))
    told = {id(p.measurement): {"rank": p.rank, "rank_of": p.of, "best": p.best} for p in places}
    nothing = {"rank": None, "rank_of": None, "best": False}
    bounds = {name: bound_fields(name) for name in {m.device for m in measurements}}
    return [
        {**asdict(m), **told.get(id(m), nothing), **bounds[m.device], **public_code_fields(m)}
        for m in measurements
    ]


def ranked_view(measurements: Sequence[Measurement], catalog: Catalog) -> list[TextBlock]:
    """The best of each group that can be compared, then all with their ranks, and what did not run."""
    broken = broken_of(catalog)
    places = ranked(measurements, broken)
    ran = [p.measurement for p in places]
    if any(p.of > 1 for p in places):
        rows = [[f"{p.rank} best" if p.best else p.rank, *_row(p.measurement, catalog)] for p in places]
        table = _table(("rank", *COLUMNS), rows, ran, f"{_RANK_LEGEND}; {_legend(ran)}")
        return [TextAnswer("", _best(places, broken)), BLANK, table, *failed_view(measurements)]
    table = _table(COLUMNS, [_row(m, catalog) for m in ran], ran, _legend(ran))
    return [*([table] if places else []), *failed_view(measurements)]


def best_of(measurements: Sequence[Measurement], catalog: Catalog) -> Measurement | None:
    """The best encryption of the first group, or the only one that is not broken."""
    broken = broken_of(catalog)
    places = _main(ranked(measurements, broken))
    fit = (p.measurement for p in places if p.best or (p.of == 1 and p.measurement.cipher not in broken))
    return next(fit, None)


def broken_of(catalog: Catalog) -> set[str]:
    """The names of the ciphers and public-key algorithms that are broken."""
    broken = {cipher.name for cipher in catalog.ciphers.values() if cipher.security == "broken"}
    return broken | {each.name for each in catalog.public_keys.values() if each.security == "broken"}


GROUPS_SHOWN, WRONG_SHOWN = 4, 10
MAIN = ("encrypt", "agree", "sign", "decapsulate")


def _main(places: Sequence[RankedMeasurement]) -> list[RankedMeasurement]:
    """The places of one operation: of encryption, where there is any, else of the first that uses a key."""
    operations = dict.fromkeys(p.group.operation for p in places)
    main = next((o for o in MAIN if o in operations), next(iter(operations), ""))
    return [p for p in places if p.group.operation == main]


def _best(places: Sequence[RankedMeasurement], broken: Collection[str]) -> list[tuple[str, str]]:
    """Lines that name the best of each group, for encryption where there is any; at most four groups."""
    several = [p for p in _main(places) if p.of > 1]
    groups = list(dict.fromkeys(p.group for p in several))
    lines = []
    for group in groups[:GROUPS_SHOWN]:
        best = next((p.measurement for p in several if p.group == group and p.best), None)
        what = f"{group.operation} {group.message_bytes} bytes on {group.device}"
        cache = "" if group.cache == "none" else f", {group.cache} cache"
        kind = "" if group.operation in PUBLIC_KEY_OPERATIONS else _kind(group)
        what = what.replace(" 0 bytes", "") if group.operation in PUBLIC_KEY_OPERATIONS else what
        said = f"{what} ({group.key_bits}-bit key{kind}{cache}): "
        if best is None:
            lines.append(("Best", f"{said}none, all of these ciphers are broken"))
            continue
        said += f"{_called(best)}, {_number(best.cycles_median)} cycles"
        behind = behind_public_code(best)
        said += f", {behind.short} ({behind.record.code})" if behind else ""
        small = smallest(several, group, broken)
        if small is not None:
            said += f"; smallest: {_called(small)}, {_number(small.flash_bytes)} bytes of flash"
        lines.append(("Best", said))
    if len(groups) > GROUPS_SHOWN:
        lines.append(("More", f"{len(groups) - GROUPS_SHOWN} groups: see 'best' in the table"))
    return lines


def _kind(group: Group) -> str:
    return ", authenticated" if group.authenticated else ", not authenticated"


def _called(m: Measurement) -> str:
    """A measurement's cipher and implementation, with what sets it apart from its neighbours."""
    own_flags = " ".join(f for f in m.flags_asked.split() if f.startswith(("-O", "-flto")))
    apart = [*([] if m.placement == "flash" else [f"in {m.placement}"]), *([own_flags] if own_flags else [])]
    return " ".join([m.cipher, m.implementation, *apart])


def failed_view(measurements: Sequence[Measurement]) -> list[TextBlock]:
    """What did not run and why, if there is any: one row for all cells of one reason."""
    failed = [m for m in measurements if m.status != "ok"]
    said = f"{len(failed)} cells did not run"
    table = TextTable("Did not run", FAILED_COLUMNS, _failed_rows(failed), said, FAILED_LEAST)
    return [table] if failed else []


def compared_view(measurements: Sequence[Measurement]) -> list[TextBlock]:
    """One table with the toolchains of each cell below each other, each next to the first in per cent."""
    cells: dict[object, list[Measurement]] = {}
    for m in measurements:
        cells.setdefault(m.identity, []).append(m)
    rows = [row for same in cells.values() for row in _compared_rows(same)]
    who = dict.fromkeys(f"{m.toolchain}: {m.compiler}" for m in measurements)
    text = "; ".join((_COMPARED_LEGEND, *who))
    return [TextTable("Toolchains compared", COMPARED_COLUMNS, rows, text, COMPARED_LEAST)]


def board_view(
    port: str, pairs: Sequence[tuple[Measurement, Measurement | None, float | None]]
) -> list[TextBlock]:
    """What a real board at a port counted, each next to the simulated figure and the difference, if there is
    one."""
    rows = [
        [
            *(m.cipher, m.implementation, m.key_bits, m.operation, m.message_bytes, m.placement),
            *(_number(m.cycles_median), _number(simulated.cycles_median if simulated else None)),
            "" if difference is None else f"{100 * difference:+.2f} %",
            m.reason,
        ]
        for m, simulated, difference in pairs
    ]
    text = (
        "median over the inputs, the call itself subtracted; the board counts with its own timer; stored as "
        f"{pairs[0][0].device if pairs else 'no device'}; simulated: figures that 'motecrypt measure' stored"
    )
    return [TextTable(f"Measured on the board at {port}", BOARD_COLUMNS, rows, text)]


def sweep_summary(figures: Sequence[Measurement], wrong: Sequence[Measurement]) -> str:
    """How many have which status, and the first of those that failed for another reason than their size."""
    counts = Counter(m.status for m in figures)
    lines = [f"{len(figures):,} cells: " + ", ".join(f"{n:,} {status}" for status, n in counts.most_common())]
    for m in wrong[:WRONG_SHOWN]:
        lines.append(f"  {m.status}: {m.device} {m.cipher} {m.implementation}: {m.reason}")
    more = len(wrong) - WRONG_SHOWN
    return "\n".join([*lines, *([f"  and {more:,} more"] if more > 0 else [])])


def _compared_rows(same: Sequence[Measurement]) -> list[list[object]]:
    first = same[0]
    rows: list[list[object]] = []
    for m in same:
        flags = " ".join(f for f in m.flags.split() if f.startswith(("-O", "-flto")))
        place = m.placement if m.cache == "none" else f"{m.placement}, {m.cache}"
        rows.append(
            [
                *(m.device, m.cipher, m.implementation, m.key_bits, m.operation, m.message_bytes, place),
                *(m.toolchain, _number(m.cycles_median), _percent(first.cycles_median, m.cycles_median)),
                *(_number(m.flash_bytes), _percent(first.flash_bytes, m.flash_bytes)),
                *(_number(m.ram_bytes), _number(m.stack_bytes), m.reason or flags),
            ]
        )
    return rows


def _percent(before: int | None, after: int | None) -> str:
    """How much more or less it is; empty where nothing can be said."""
    return f"{100 * (after / before - 1):+.1f}" if before and after is not None else ""


def varies(m: Measurement) -> str:
    """Whether timing varies: the trace of branches and addresses over the inputs, and the cycles."""
    if m.timing_varies is None:
        return "?" if m.status == "ok" else ""
    if not m.timing_varies:
        return f"none seen in {m.inputs}"
    if m.cycles_min == m.cycles_max:
        return "addresses"
    return f"cycles {m.cycles_min:,}-{m.cycles_max:,}"


def _row(m: Measurement, catalog: Catalog) -> list[object]:
    known = catalog.ciphers.get(m.cipher) or catalog.public_keys.get(m.cipher)
    security = known.security if known is not None else ""
    place = m.placement if m.cache == "none" else f"{m.placement}, {m.cache}"
    own_flags = " ".join(f for f in m.flags.split() if f.startswith(("-O", "-flto")))
    return [
        *(m.device, m.cipher, security, m.implementation, m.key_bits, m.operation, m.message_bytes),
        *(place, _number(m.cycles_median), bound_of(m.device), _time(m.time_us), varies(m)),
        *(_number(m.flash_bytes), _number(m.ram_bytes), _number(m.stack_bytes), own_flags),
    ]


def bound_of(device: str) -> str:
    """The difference of a device's cycles below the sign of its column; empty where there is none."""
    from motecrypt.adviser.hardware.bounds import bound_text  # its data is not read for --help

    return bound_text(device).removeprefix(f"{BOUND} ")


def _legend(measurements: Sequence[Measurement]) -> str:
    """What the columns mean, and how far the cycles of these devices are from those of real chips."""
    return _LEGEND + bounds_told(
        (m.device for m in measurements), f"; {BOUND} of cycles against real chips: "
    )


def bounds_told(devices: Iterable[str], head: str = "; ") -> str:
    """How far the cycles of these devices are from those of real chips, of how many rows, and what that
    covers; empty where nothing is known."""
    from motecrypt.adviser.hardware.bounds import COVERS, bound_told  # its data is not read for --help

    known = [f"{name} {bound}" for name in dict.fromkeys(devices) if (bound := bound_told(name))]
    return f"{head}{'; '.join(known)}; {COVERS}" if known else ""


def _failed_rows(measurements: Sequence[Measurement]) -> list[list[object]]:
    groups: dict[tuple[object, ...], list[Measurement]] = {}
    for m in measurements:
        what = (m.device, m.cipher, m.implementation, m.key_bits, m.placement, m.flags, m.reason)
        groups.setdefault(what, []).append(m)
    rows = []
    for (device, cipher, name, key_bits, placement, _, reason), cells in groups.items():
        operations = ", ".join(dict.fromkeys(m.operation for m in cells))
        lengths = ", ".join(dict.fromkeys(str(m.message_bytes) for m in cells))
        some = cells[0]
        sizes = (_number(some.flash_bytes), _number(some.ram_bytes))
        rows.append([device, cipher, name, key_bits, operations, lengths, placement, *sizes, reason])
    return rows


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _time(time_us: float | None) -> str:
    return "" if time_us is None else f"{time_us:,.1f}"


_COMPARED_LEGEND = "cycles: median over the inputs; %: against the first toolchain that was named"
_RANK_LEGEND = (
    "rank: by cycles, among the same device, key length, cache, operation and lengths, authenticated or not; "
    "best: the first whose cipher is not broken"
)
_LEGEND = (
    "cycles: median over the inputs, the call itself subtracted; flash, RAM: increase over the same "
    "firmware with a no-op cipher; varies: branches and memory addresses over the inputs"
)
