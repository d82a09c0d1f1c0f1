"""The page of an audit: every part with its verdict, its pictures, and the tables behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from motecrypt.base.model import Cipher
from motecrypt.present.pages.charts import Axis, Series, Tick, axis, bar_chart, line_chart, log_axis, logs
from motecrypt.present.pages.pictures import map_chart
from motecrypt.present.pages.shell import count, render
from motecrypt.results.experiments.audit import AuditAnswer, DiffusionMatrix
from motecrypt.results.experiments.power import PowerAttack, PowerCurve, PowerData, PowerRow
from motecrypt.results.experiments.timing import TimingData, TimingParting, TimingRow

SIGNS = {"good": "✓ good", "note": "! note", "bad": "✗ weak", "skipped": "– skipped"}
ORDER = ("bad", "note", "good", "skipped")
DIRECTIONS = {"encrypt": "encryption", "decrypt": "decryption", "key": "the key"}
BARS = 40
"""At most so many bars of a histogram."""
DRAWN_ROWS = 12
"""Operations of a device that have charts; the table has all."""
CURVES = 6
CURVE_ROWS = 64

Tables = list[dict[str, Any]]


def audit_page(
    cipher: Cipher, implementation: str, parts: Sequence[tuple[str, AuditAnswer]], command: str
) -> str:
    """The page as HTML.

    Parameters
    ----------
    implementation
        The variant that was audited.
    parts
        Name and answer of each part, in the order in which they are shown.
    command
        What the user typed.
    """
    counts = [(weight, sum(answer.weight == weight for _, answer in parts)) for weight in ORDER]
    shown = [
        {
            "name": name,
            "anchor": f"part-{number}",
            "sign": SIGNS[answer.weight],
            "answer": answer,
            "blocks": _blocks(name, answer),
        }
        for number, (name, answer) in enumerate(parts)
    ]
    return render(
        "audit.html",
        ("pages.js",),
        {},
        title=f"Audit of {cipher.name}",
        command=command,
        cipher=cipher,
        implementation=implementation,
        counts=[(SIGNS[weight], number) for weight, number in counts if number],
        parts=shown,
    )


def _blocks(name: str, answer: AuditAnswer) -> Tables:
    """Charts and tables of one part. Of a part without pictures of its own, every figure in a table."""
    kind = name.partition(":")[0]
    made = DRAWN[kind](answer.data) if kind in DRAWN and answer.weight != "skipped" else []
    return made or _plain(answer.data)


def _block(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], chart: Any = None, text: str = ""
) -> dict[str, Any]:
    """A chart with the table behind it; a table alone is open. Numbers stay numbers until they are shown."""
    return {
        "title": title,
        "columns": columns,
        "rows": [[_cell(value) for value in row] for row in rows],
        "chart": chart,
        "text": text,
    }


def _cell(value: Any) -> dict[str, Any]:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return {"text": count(value) if number else "" if value is None else str(value), "number": number}


def _plain(data: Mapping[str, Any]) -> Tables:
    """Values by name; records and lists of values in tables of their own."""
    single = [(_words(k), v) for k, v in data.items() if isinstance(v, str | int | float | bool)]
    blocks = [_block("Figures", ("figure", "value"), single)] if single else []
    for key, value in data.items():
        rows = value if isinstance(value, list) else []
        if isinstance(value, Mapping):
            nested = [{"": name, **one} for name, one in value.items() if isinstance(one, Mapping)]
            flat = [{"": name, "value": one} for name, one in value.items() if not isinstance(one, Mapping)]
            rows = nested or flat
        records = [row for row in rows if isinstance(row, Mapping)]
        columns = list(dict.fromkeys(column for row in records for column in row))
        if columns:
            told = [[_text_of(row.get(column)) for column in columns] for row in records]
            blocks.append(_block(_words(key), [_words(column) for column in columns], told))
    return blocks


def _words(key: str) -> str:
    return key.replace("_", " ")


def _text_of(value: Any) -> Any:
    if isinstance(value, list | Mapping):
        return f"{len(value)} values" if value else "none"
    return value


# --- diffusion, integrity, statistics ------------------------------------------------------------------


def _diffusion(data: Mapping[str, Any]) -> Tables:
    blocks = []
    for key, title in DIRECTIONS.items():
        found = data.get(key)
        matrix = DiffusionMatrix.from_json(found.get("matrix")) if isinstance(found, Mapping) else None
        if matrix is not None and matrix.percent_changed_by_input_bit_and_output_byte:
            blocks.append(_map(title, matrix))
    return blocks


def _map(title: str, matrix: DiffusionMatrix) -> dict[str, Any]:
    bits = matrix.percent_changed_by_input_bit_and_output_byte
    label = (
        f"Diffusion of {title}: how often each bit of the {matrix.input} changes each byte of the output. "
        "The table has the means of each input byte."
    )
    rows = []
    for byte in range(0, len(bits), 8):
        group = bits[byte : byte + 8]
        rows.append([byte // 8, *(round(sum(column) / len(group)) for column in zip(*group, strict=True))])
    (outputs,) = {len(row) for row in bits}
    x = axis(f"byte of the output, of {outputs}", 0, outputs, ends=True)
    y = _downwards(f"bit of the {matrix.input}, of {len(bits)}", len(bits))
    columns = [f"byte of the {matrix.input}", *map(str, range(outputs))]
    return _block(
        f"Diffusion of {title}", columns, rows, map_chart(label, x, y, bits), "Cells: per cent of trials."
    )


def _downwards(title: str, high: int) -> Axis:
    """An axis that begins at the top."""
    made = axis(title, 0, high, 4, ends=True)
    return Axis(title, 0, high, tuple(Tick(1 - tick.at, tick.label) for tick in made.ticks))


def _integrity(data: Mapping[str, Any]) -> Tables:
    changes = data.get("changes")
    rows = [
        (name, one.get("tried"), one.get("unnoticed"))
        for name, one in (changes.items() if isinstance(changes, Mapping) else ())
        if isinstance(one, Mapping)
    ]
    if not rows:
        return []
    return [_block("Changes that were not noticed", ("change", "tried", "not noticed"), rows), *_plain(data)]


def _statistics(data: Mapping[str, Any]) -> Tables:
    points = [
        (row["position"], float(row["times_chance"]))
        for row in data.get("positions", ())
        if isinstance(row, Mapping) and {"position", "times_chance"} <= row.keys()
    ]
    if not points:
        return []
    x = axis("byte of the message", 0, max(at for at, _ in points) + 1, ends=True)
    y = axis("times as often as by chance", 0, max(value for _, value in points))
    label = "How often the most frequent value of each ciphertext byte occurs, compared with chance."
    chart = bar_chart(label, x, y, [(at + 0.5, value) for at, value in points], 0.8)
    rows = [
        (row["position"], row.get("most_frequent"), row["times_chance"], row.get("p"))
        for row in data["positions"]
    ]
    columns = ("byte", "most frequent value", "times chance", "p")
    others = {key: value for key, value in data.items() if key != "positions"}
    return [_block("The most frequent value of each byte", columns, rows, chart), *_plain(others)]


# --- timing --------------------------------------------------------------------------------------------


def _timing(data: Mapping[str, Any]) -> Tables:
    read = TimingData.from_json(data)
    if read is None:
        return []
    columns = ("variant", "placement", "cache", "operation", "verdict", "least", "most", "difference")
    rows = [(*(r.variant, r.placement, r.cache, r.operation, r.verdict), *_cycles(r)) for r in read.rows]
    text = (
        f"Cycles of a message of {read.message_bytes} bytes, over {max(r.inputs for r in read.rows)} inputs."
    )
    blocks = [_block("All operations", columns, rows, None, text)]
    drawn = [row for row in read.rows if row.spread or row.partings]
    drawn.sort(key=lambda row: row.cycles_min - row.cycles_max)
    for row in drawn[:DRAWN_ROWS]:
        blocks += [_spread(row)] if row.spread else []
        blocks += [_parting(row, parting) for parting in row.partings if any(parting.sequences)]
    splits = [
        (r.variant, r.placement, r.operation, split.kind, split.memory, split.function, split.line)
        for r in read.rows
        for split in r.splits
    ]
    if splits:
        names = ("variant", "placement", "operation", "kind", "memory", "function", "line")
        blocks.append(_block("Source lines at which traces part", names, splits))
    return blocks


def _cycles(row: TimingRow) -> tuple[int, int, int]:
    return row.cycles_min, row.cycles_max, row.cycles_max - row.cycles_min


def _where(row: TimingRow) -> str:
    cached = "" if row.cache == "none" else f" with a {row.cache} cache"
    return f"{row.variant}, {row.operation}, in {row.placement}{cached}"


def _spread(row: TimingRow) -> dict[str, Any]:
    low, high = row.spread[0][0], row.spread[-1][0]
    width = max(1, -(-(high - low + 1) // BARS))
    bars: dict[int, int] = {}
    for cycles, inputs in row.spread:
        at = low + (cycles - low) // width * width
        bars[at] = bars.get(at, 0) + inputs
    total = sum(inputs for _, inputs in row.spread)
    x = axis("cycles", low, max(bars) + width, ends=False)
    y = axis("inputs", 0, max(bars.values()))
    label = f"Cycles of {_where(row)}: {low:,} to {high:,} over {total} random keys and messages."
    chart = bar_chart(label, x, y, [(at + width / 2, n) for at, n in bars.items()], 0.9 * width)
    columns = ("cycles", "inputs")
    return _block(f"Cycles of {_where(row)}", columns, row.spread, chart, label)


def _parting(row: TimingRow, parting: TimingParting) -> dict[str, Any]:
    last = parting.first + max((len(one) for one in parting.sequences), default=0)
    seen = sorted({value for one in parting.sequences for value in one})
    place = {value: at for at, value in enumerate(seen)}
    what = "next instruction" if parting.kind == "branch" else "address"
    ticks = tuple(
        Tick(at / max(1, len(seen) - 1), f"{seen[at]:#x}")
        for at in sorted({round(n * (len(seen) - 1) / 4) for n in range(5)})
    )
    x = axis("execution of the instruction", parting.first, last, ends=True)
    y = Axis(f"{what}, those that occurred in order", 0, max(1, len(seen) - 1), ticks)
    lines = [
        Series(
            f"key and message {number}",
            [(parting.first + at + 0.5, place[value]) for at, value in enumerate(one)],
            marks=True,
        )
        for number, one in enumerate(parting.sequences, start=1)
    ]
    label = (
        f"{_where(row)} at {parting.line}: {what} of {len(lines)} traces, from execution "
        f"{parting.first} on. Where the lines differ, the traces part."
    )
    columns = ("execution", *(line.name for line in lines))
    rows = [
        (
            at,
            *(
                f"{one[at - parting.first]:#x}" if at - parting.first < len(one) else ""
                for one in parting.sequences
            ),
        )
        for at in range(parting.first, last)
    ]
    return _block(
        f"{_where(row)}: {parting.kind} at {parting.line}", columns, rows, line_chart(label, x, y, lines)
    )


def _taint(data: Mapping[str, Any]) -> Tables:
    rows = [
        (row.get("variant"), s.get("kind"), s.get("function"), s.get("line"), s.get("times"))
        for row in data.get("rows", ())
        if isinstance(row, Mapping)
        for s in row.get("sightings", ())
        if isinstance(s, Mapping)
    ]
    verdicts = [(r.get("variant"), r.get("verdict")) for r in data.get("rows", ()) if isinstance(r, Mapping)]
    blocks = [_block("Variants", ("variant", "verdict"), verdicts)] if verdicts else []
    columns = ("variant", "kind", "function", "line", "times")
    return blocks + ([_block("Where secrets choose", columns, rows)] if rows else [])


# --- power ---------------------------------------------------------------------------------------------


def _power(data: Mapping[str, Any]) -> Tables:
    read = PowerData.from_json(data)
    if read is None:
        return []
    blocks: Tables = []
    for row in read.rows:
        for attack in row.attacks:
            blocks += _attack(row, attack)
        blocks += _t_test(row)
    return blocks


def _curve_name(curve: PowerCurve) -> str:
    noise = "no noise" if curve.snr is None else f"SNR {curve.snr:g}"
    return f"{curve.model}, {curve.attacker}, {noise}"


def _attack(row: PowerRow, attack: PowerAttack) -> Tables:
    curves = [curve for curve in attack.curves if curve.points]
    blocks = []
    if curves:
        traces = [point.traces for curve in curves for point in curve.points]
        bits = [point.guessing_entropy_bits for curve in curves for point in curve.points]
        x = log_axis("traces", max(1, min(traces)), max(2, *traces))
        y = axis("bits of the key left to search", 0, max(1.0, *bits))
        lines = [
            Series(_curve_name(c), logs([(max(1, p.traces), p.guessing_entropy_bits) for p in c.points]))
            for c in curves[:CURVES]
        ]
        label = (
            f"{row.variant}: bits of the key left by the attack on the {attack.title}, by number of traces."
        )
        columns = ("model and noise", "traces", "bits left", "attacks", "found the key")
        rows = [
            (_curve_name(c), p.traces, p.guessing_entropy_bits, p.experiments, p.successes)
            for c in curves
            for p in c.points
        ]
        title = f"{row.variant}: attack on the {attack.title}"
        blocks.append(_block(title, columns, rows, line_chart(label, x, y, lines)))
    if attack.correlation is not None and attack.correlation.right:
        found = attack.correlation
        lines = [
            Series("right guess", _numbered(found.first_instruction, found.right)),
            Series("wrong guesses", _numbered(found.first_instruction, found.wrong)),
        ]
        title = f"{row.variant}: correlation with {found.traces:,} traces"
        blocks.append(_over_time(title, "correlation", lines, found.places))
    return blocks


def _t_test(row: PowerRow) -> Tables:
    test = row.t_test
    if test is None or not test.curve:
        return []
    lines = [Series("largest |t|", _numbered(test.first_instruction, test.curve))]
    if test.threshold is not None:
        ends = (test.first_instruction, test.first_instruction + len(test.curve) - 1)
        lines.append(Series(f"threshold {test.threshold:g}", [(at, test.threshold) for at in ends]))
    return [_over_time(f"{row.variant}: fixed against random inputs (t-test)", "|t|", lines, test.places)]


def _numbered(first: int, values: Sequence[float]) -> list[tuple[float, float]]:
    return [(first + at, value) for at, value in enumerate(values)]


def _over_time(title: str, unit: str, lines: Sequence[Series], places: Sequence[str]) -> dict[str, Any]:
    """A chart over the instructions; its table has the highest point of each group of them, with its line."""
    points = [point for point in lines[0].points if point is not None]
    values = [point[1] for line in lines for point in line.points if point is not None]
    first = round(points[0][0])
    x = axis("instruction", first, first + len(points), ends=True)
    y = axis(unit, min(0.0, *values), max(values))
    each = -(-len(points) // CURVE_ROWS)
    rows = []
    for at in range(0, len(points), each):
        top = max(range(at, min(at + each, len(points))), key=lambda n: abs(points[n][1]))
        rows.append((round(points[top][0]), points[top][1], places[top] if top < len(places) else ""))
    label = f"{title}, by instruction. The table has the highest point of each {each} instructions."
    return _block(title, ("instruction", unit, "source line"), rows, line_chart(label, x, y, lines))


DRAWN: Mapping[str, Callable[[Mapping[str, Any]], Tables]] = {
    "diffusion": _diffusion,
    "integrity": _integrity,
    "statistics": _statistics,
    "timing": _timing,
    "taint": _taint,
    "power": _power,
}
