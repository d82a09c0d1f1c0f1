"""What the views say of made-up results, as text that is kept in tests/golden/views. Measures nothing.

Every figure is drawn from a hash of what it is the figure of: no two are equal, so that swapped columns
show, and none depends on the order in which they are stored. After a change of what a view says, look at
the difference that this makes:

    PYTHONPATH=src:tests .venv/bin/python tests/golden_views.py && git diff --stat tests/golden/views
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from motecrypt import advise
from motecrypt.catalog import Catalog
from motecrypt.compare import compare
from motecrypt.findings.audit import AuditQuestion
from motecrypt.findings.host_speed import NO_AES
from motecrypt.findings.pico_file import PARTS
from motecrypt.findings.radio_transfer import MODES
from motecrypt.findings.wlan_transfer import CLOSED_FORM, NS3
from motecrypt.model import OPERATIONS, Cell, Comparison, Measurement
from motecrypt.radios import load_radio
from motecrypt.report.content import Content, gather
from motecrypt.results import Results
from motecrypt.studies import highlights, names, study
from motecrypt.studies.pico import figures as pico
from motecrypt.studies.pico import files as pico_files
from motecrypt.studies.rc4d import figures as rc4d
from motecrypt.studies.rc4d import study as rc4d_study
from motecrypt.studies.rf import study as rf
from motecrypt.studies.wlan import plan

PLACE = Path(__file__).parent / "golden" / "views"
COMMAND = "PYTHONPATH=src:tests .venv/bin/python tests/golden_views.py"
#: The states of a results file: figures near the print; others far from it, with many failures; none; and
#: figures that are all alike, so that what only breaks a tie shows.
STATES = ("near", "far", "empty", "even")
#: What the report and the adviser see beside the studies' own cells.
CHOSEN = (
    *("aes128-ccm8", "aes128-siv", "aes128-cbc", "aes128-ecb", "ascon-aead128", "chacha20-poly1305"),
    *("rc4", "rc4d", "des-cbc", "aes128-hctr2"),
)
LENGTHS = (16, 32, 48, 64)
WHEN = "2026-01-01T00:00:00+00:00"


def share(*of: object) -> float:
    """A number from 0 to 1 that belongs to these words alone; a half in the state where all are alike."""
    if "even" in of:
        return 0.5
    digest = hashlib.sha256(repr(of).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def whole(low: int, high: int, *of: object) -> int:
    """A whole number from low to below high."""
    return low + int(share(*of) * (high - low))


# --- the results file --------------------------------------------------------------------------------


def _measured(cell: Cell, state: str) -> Measurement:
    """Made-up figures of a cell; some fail, and the time of some varies."""
    catalog, identity = Catalog.load(), tuple(cell.identity)
    body, device = cell.implementation, Catalog.load().devices[cell.device]
    build = (state, cell.device, body.cipher, body.name, cell.key_bits, cell.flags, cell.placement)
    fate = share("fate", *build)
    bad = 0.06 if state == "near" else 0.3
    status, reason = "ok", ""
    extra: dict[str, Any] = {}
    if fate < bad / 3:
        needed, there = 2049 + whole(0, 900, *build), 2048
        status, reason = "does-not-fit", f"does not fit: needs {needed:,} of {there:,} bytes of RAM"
        extra = {"shortfall": {"memory": "ram", "needed": needed, "available": there}}
    elif fate < 2 * bad / 3:
        status, reason = "wrong-output", f"encrypt: byte {whole(0, 16, *build)} differs"
    elif fate < bad:
        status, reason, extra = "build-failed", "exit code 1", {"cause": "no such register"}
    ok, built = status == "ok", status != "build-failed"
    per_byte = (40, 400) if cell.device == "uno" else (12, 90)
    speed = per_byte[0] + share("speed", *build) * (per_byte[1] - per_byte[0])
    speed *= 1 if state == "near" else 3
    size = cell.message_bytes if cell.operation != "setup" else 21
    cycles = round(speed * size + 300 * share("call", state, *identity)) + 1
    varies = share("varies", *build) < 0.3
    return Measurement(
        **cell.identity._asdict(),
        tag_bytes=catalog.ciphers[body.cipher].tag_bytes,
        cycles_min=cycles - 2 * varies if ok else None,
        cycles_median=cycles if ok else None,
        cycles_max=cycles + 5 * varies if ok else None,
        inputs=whole(4, 64, *build) if ok else 0,
        timing_varies=varies or share("table", *build) < 0.2 if ok else None,
        time_us=cycles / device.clock_hz * 1e6 if ok else None,
        flash_bytes=whole(150, 9000, "flash", *build) if built else None,
        flash_symbol_bytes=whole(120, 8000, "symbols", *build) if built else None,
        ram_bytes=whole(16, 700, "ram", *build) if built else None,
        eeprom_bytes=16 * ("kipe" in body.variant) if built else None,
        stack_bytes=whole(20, 300, "stack", *build, cell.operation) if ok else None,
        status=status,
        reason=reason,
        compiler=f"gcc (made up) {cell.device}",
        flags=" ".join((*device.compiler.flags, *cell.flags)),
        runner=f"{device.runner} made-up",
        cycles_exact=share("exact", *build) < 0.9,
        elf_sha256="00",
        measured_at=WHEN,
        motecrypt_version="0",
        extra=extra,
        toolchain=cell.toolchain,
    )


def _more_cells() -> list[Cell]:
    """The chosen ciphers at some lengths, as the adviser weighs them, and some with associated data."""
    catalog = Catalog.load()
    found = []
    for name in ("uno", "pico"):
        for body, bits, placement, cache in advise.placed(catalog, catalog.devices[name]):
            if body.cipher not in CHOSEN or body.library != "motecrypt":
                continue
            for length in LENGTHS:
                found += [Cell(name, body, o, bits, length, 0, placement, cache) for o in body.operations]
            if catalog.ciphers[body.cipher].associated_data:
                found += [Cell(name, body, o, bits, 16, 8, placement, cache) for o in body.operations]
    return [c for c in found if catalog.ciphers[c.implementation.cipher].message.allows(c.message_bytes)]


def _call(question: Any, state: str) -> dict[str, Any]:
    of = (state, question.library, question.cipher, question.operation)
    if share("fails", *of) < (0.07 if state == "near" else 0.4):
        return {"failed": f"no call of {question.library}"}
    near = 1 if state == "near" else 4
    return {
        "setup_core_cycles": whole(900, 9000, "a", *of) * near,
        "setup_misses_cold": whole(20, 90, "b", *of),
        "call_core_cycles": whole(2000, 14000, "c", *of) * near,
        "call_misses_kept": whole(30, 120, "d", *of),
        "call_misses_cold": whole(120, 260, "e", *of),
        "code_lines_new": whole(10, 60, "f", *of),
        "table_lines_new": whole(61, 110, "g", *of),
        "functions": [[f"mix_{question.cipher}", 0.61], ["expand", 0.23], ["copy", 0.04]],
    }


def _file(question: Any, state: str) -> dict[str, Any]:
    of = (state, *question.asked().items())
    hashes = question.rounds if question.form == "published" else 3
    per_hash = (33_000 if question.c_library == "bytes" else 11_000) * (1 if state == "near" else 2)

    def run(direction: str) -> dict[str, Any]:
        own = (direction, *of)
        cycles = {part: whole(40_000, 900_000, part, *own) for part in PARTS}
        cycles["key"] = hashes * per_hash + whole(0, 5000, "key", *own)
        cycles["cipher"] += 400 * question.size
        return {
            "time_us": sum(cycles.values()) / 125 + 9000 * share("busy", *own),
            "cycles": cycles,
            "misses": {part: whole(100, 9000, "miss", part, *own) for part in PARTS},
            "programs": whole(2, 40, "programs", *own),
            "erases": whole(1, 9, "erases", *own),
            "reads": whole(41, 90, "reads", *own),
            "storage_busy": whole(2_000_000, 9_000_000, "storage", *own),
            "stack_bytes": whole(900, 2000, "stack", *own),
            "heap_bytes": whole(300, 900, "heap", *own),
        }

    return {
        "encrypt": run("encrypt"),
        "decrypt": run("decrypt"),
        "sealed_bytes": question.size + whole(20, 90, "sealed", *of),
        "clock_hz": 125_000_000,
        "flash_bytes": whole(40_000, 60_000, "flash", *of),
        "ram_bytes": whole(30_000, 60_000, "ram", *of),
    }


def _spread(mean: float, *of: object) -> dict[str, float]:
    low, high = mean * (0.97 - 0.02 * share("low", *of)), mean * (1.03 + 0.02 * share("high", *of))
    return {"mean": mean, "low": low, "high": high, "half_width": mean * (0.01 + 0.01 * share("hw", *of))}


def _wlan(question: Any, state: str) -> dict[str, Any]:
    of = (state, *question.asked().items())
    slow = {"good": 1.0, "poor": 1.3}[question.signal] * (1.9 if question.mode != "adhoc" else 1)
    slow *= 1 + question.walls / (9 if state == "near" else 2)
    slow *= {"open": 1.0, "wep": 1.006, "tkip": 1.014, "ccmp": 1.011}[question.security]
    seconds = question.size / (520_000 if question.phy == "b" else 1_900_000) * slow
    seconds *= 1 + (0.004 if state == "near" else 0.3) * share("s", *of)
    return {
        "seconds": _spread(seconds, "seconds", *of),
        "sender_joule": _spread(seconds * (1.1 + 0.1 * share("tx", *of)), "tx", *of),
        "receiver_joule": _spread(seconds * (0.8 + 0.1 * share("rx", *of)), "rx", *of),
        "data_frames": _spread(question.size / 1400, "frames", *of),
        "data_frame_bytes": _spread(question.size * 1.07, "bytes", *of),
        "complete": state == "near" or share("complete", *of) < 0.8,
        "delivered_bytes": question.size,
        "note": "made up",
    }


def _data_types(question: Any, state: str) -> dict[str, Any]:
    of = (state, question.cipher)
    usual = {"3des-cbc": 55.0, "rc6-cbc": 4.0, "aes128-cbc": 7.0, "blowfish-cbc": 9.0}
    base = usual.get(question.cipher, 21.0) * (1 if state == "near" else 3)
    wide = 0.004 if state == "near" else 0.09

    def ratio(kind: str) -> dict[str, float]:
        median = 1 + wide * (share("ratio", kind, *of) - 0.5)
        return {"median": median, "low": median - 0.7 * wide, "high": median + 0.6 * wide}

    return {
        "ns_per_byte": {kind: base * (1 + wide * share("ns", kind, *of)) for kind in question.kinds},
        "ratio_to_text": {kind: ratio(kind) for kind in question.kinds},
        "outliers": whole(0, 9, "outliers", *of),
        "timings": whole(100, 200, "timings", *of),
    }


def _speeds(question: Any, state: str) -> dict[str, Any]:
    rows = []
    libraries = ("motecrypt/plain", "motecrypt/fast", "openssl", *((NO_AES,) if state == "near" else ()))
    for point in question.points:
        for operation in question.operations:
            for library in libraries:
                of = (state, point.cipher, point.key_bits, point.rounds, operation, library)
                cycles = 32768 * (5 + 20 * share("cycles", *of)) * (point.rounds or 20) / 20
                cycles *= 0.2 if library == "openssl" else 1
                rows.append(
                    {
                        "cipher": point.cipher,
                        "key_bits": point.key_bits,
                        "rounds": point.rounds,
                        "operation": operation,
                        "library": library,
                        "bytes": 32768,
                        "cycles": cycles,
                        "wall_ns": cycles * (0.3 + 0.1 * share("wall", *of)),
                    }
                )
    aes = {"near": True, "far": None, "even": False}[state]
    machine: dict[str, Any] = {
        "processor": "made-up <one>",
        "counter": "cycles",
        "aes_instructions": aes,
        "rapl": [],
    }
    return {"machine": machine, "missing": ["cryptopp"], "rows": rows}


def _features(name: str, state: str) -> dict[str, Any]:
    printed = rc4d_study.PRINTED_FEATURES.get(name, ("any", "32", "full"))
    taken = {"16": "multiples of 16"}.get(printed[0], printed[0]), {"any": "5 to 255"}.get(printed[1])
    near = state == "near"
    return {
        "messages": taken[0] if near else f"7 of {name}",
        "keys": taken[1] or printed[1],
        "diffusion": printed[2] if near else "block",
        "diffusion_lengths": [17, 33],
        "block_bytes": whole(11, 19, name, state),
        "identity_bytes": [1] if share(name, state) < 0.5 else [],
        "decrypt_reach_bytes": whole(1, 30, "reach", name, state),
        "last_byte_passes_through": near,
    }


def _radio(question: Any, state: str) -> dict[str, Any]:
    rows = []
    for mode in MODES:
        for size in question.message_bytes:
            of = (state, mode, size)
            air = size * (100 + 90 * share("air", *of))
            delivery = {
                f"{t:g}": air + size * 200 + 1000 * t * (state == "far" or size % 12 > 0)
                for t in question.timeouts_ms
            }
            rows.append(
                {
                    "mode": mode,
                    "message_bytes": size,
                    "sent_bytes": size + whole(2, 30, "sent", *of),
                    "packets": size // 12 + 1,
                    "air_us": air,
                    "write_us": size * (87 + share("write", *of)),
                    "encryption_us": 900 * share("encryption", *of),
                    "delivery_us": delivery,
                    "confirmed_us": None if mode == "T" else 2 * air,
                }
            )
    return {"rows": rows}


def _attack(state: str) -> dict[str, Any]:
    recovered = 9 if state == "near" else 0
    return {
        "title": "Chosen plaintext",
        "verdict": "broken" if recovered else "not broken",
        "weight": "bad" if recovered else "good",
        "sentences": [f"{recovered} of 9 keys recovered, with 12.5 messages each, " + "and more, " * 30],
        "data": {"keys": 9, "recovered": recovered, "queries_mean": 12.5},
    }


def _diffusion() -> dict[str, Any]:
    matrix = [[whole(0, 101, "diffusion", bit, byte) for byte in range(4)] for bit in range(32)]
    shown = {"input": "plaintext", "input_bytes": 4, "output_bytes": 4}
    data = {"matrix": {**shown, "percent_changed_by_input_bit_and_output_byte": matrix}}
    return {
        "title": "Diffusion",
        "verdict": "full",
        "weight": "note",
        "sentences": ["Some."],
        "data": {"encrypt": data, "key": data},
    }


def store(results: Results, state: str) -> None:
    """Fill a results file: all cells and findings that the studies ask for, and the chosen ciphers."""
    if state == "empty":
        return
    catalog = Catalog.load()
    cells = [*rc4d.cells(), *pico.cells(), *_more_cells()]
    cells += [cell for group in plan.mote_cells(catalog).values() for cell in group]
    # One row a cell: one that names a toolchain is found by the readers that name none, too.
    named = {cell.identity: cell for cell in cells if cell.toolchain}
    cells = list(dict.fromkeys(named.get(cell.identity, cell) for cell in cells))
    kept = [c for c in cells if share("kept", state, *c.identity) < (1 if state == "near" else 0.97)]
    results.store({repr(cell.identity): _measured(cell, state) for cell in kept})

    def put(question: Any, outcome: dict[str, Any], asked: dict[str, Any] | None = None) -> None:
        results.store_finding(question.KIND, question.VERSION, asked or question.asked(), outcome)

    for call in pico.sequences():
        put(call, _call(call, state))
    for job in pico_files.questions():
        put(job, _file(job, state))
    put(pico_files.PASSWORDS, {"hashes_ms": 4.25, "argon2id_ms": 131.5 if state == "near" else 2.5})
    for moved in plan.transfers():
        if share("stored", state, *moved.asked().items()) < (1 if state == "near" else 0.93):
            engine = NS3 if state == "near" or share("e", *moved.asked().items()) < 0.9 else CLOSED_FORM
            put(moved, _wlan(moved, state), moved.asked_of(engine))
    for timed in plan.host_ciphers():
        put(timed, _data_types(timed, state))
    put(plan.host_speed(), _speeds(plan.host_speed(), state))
    for name, probe in rc4d_study.PROBES.items():
        put(probe, _features(name, state))
    put(rf.transfer(), _radio(rf.transfer(), state))
    put(rc4d_study.ATTACK, _attack(state))
    put(AuditQuestion("rc4d", "diffusion"), _diffusion())
    put(AuditQuestion("rc4d", "diffusion", quick=True), {**_diffusion(), "verdict": "of a quick one"})
    put(AuditQuestion("rc4", "attack:known-ciphertext"), {**_attack("near"), "verdict": "broken too"})
    put(AuditQuestion("aes128-ccm8", "integrity"), {**_diffusion(), "weight": "good", "data": {}})
    with sqlite3.connect(results.path) as connection:
        connection.execute("UPDATE finding SET made_at = ?", (WHEN,))
    connection.close()


@lru_cache(maxsize=4)
def filled(state: str) -> Results:
    """An open results file in that state, made once in a process; it goes with the process."""
    folder = tempfile.TemporaryDirectory()
    results = Results(Path(folder.name) / "made-up.db")
    results.folder = folder  # type: ignore[attr-defined]
    store(results, state)
    return results


# --- what the views say ------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """JSON data of anything that a view returns: numbers to nine digits, no catalog and no folder in it.

    What Pythons differ by goes: Python 3.12 sums floats more exactly, so a difference may be 0 or 7e-12.
    """
    if isinstance(value, float):
        return float(f"{round(value, 9):.9g}")
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    return [plain(entry) for entry in (sorted(value) if isinstance(value, set | frozenset) else value)]


def _rows(rows: Sequence[Comparison]) -> list[Any]:
    return [sorted({row.source for row in rows}), *map(_row, rows)]


def _row(row: Comparison) -> dict[str, Any]:
    """What a row says, without what is empty and without the source, which all share."""
    return {k: v for k, v in plain(row).items() if k != "source" and v not in ("", {}, [])}


def _short_rows(rows: Sequence[Comparison]) -> list[Any]:
    """A line for each table and verdict: how many, a digest of all that they say, and one note."""
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for row in rows:
        groups.setdefault((row.table, row.verdict), []).append(row)
    return [
        [*group, len(own), _digest([*map(_row, own)]), own[0].row, own[-1].note]
        for group, own in groups.items()
    ]


def _sections(results: Results, name: str, full: bool) -> list[Any]:
    told: list[Any] = []
    for section in study(name).sections(results):
        told.append([section.title, section.text, len(section.rows), _digest(plain(section.rows))])
        told += [list(section.columns), *plain(section.rows)] if full else []
    return told


def _charts(results: Results, name: str) -> dict[str, Any]:
    module = study(name)
    return plain(module.charts(results)) if hasattr(module, "charts") else {}


@lru_cache(maxsize=16)
def _compared(state: str, name: str) -> list[Comparison]:
    rows: list[Comparison] = study(name).comparisons(filled(state))
    return rows


def source(state: str, name: str) -> dict[str, Any]:
    """Comparisons, sections and charts of a study.

    Of the first state in full; of the others verdicts and what differs from row to row, and digests.
    """
    results, full, rows = filled(state), state == STATES[0], _compared(state, name)
    charts = _charts(results, name)
    return {
        "comparisons": _rows(rows) if full else _short_rows(rows),
        "sections": _sections(results, name, full),
        "charts": [
            [key, _outline(chart), _digest(chart), *(_values(chart) if full else ())]
            for key, chart in sorted(charts.items())
        ],
    }


def over_all() -> dict[str, Any]:
    """The findings over all studies, and how many rows came to what."""
    found: dict[str, Any] = {}
    for state in STATES:
        rows = {name: _compared(state, name) for name in names()}
        found[f"{state} highlights"] = plain(highlights.findings(rows))
        found[f"{state} tally"] = [plain(highlights.tally(own)) for own in rows.values()]
    return found


def _cost(cost: Any, catalog: Catalog) -> list[Any]:
    device = catalog.devices.get(cost.device)
    sizes = (cost.flash_bytes, cost.ram_bytes, cost.stack_bytes)
    times = [[plain(cost.time_us(o)), plain(cost.energy_uj(o, device))] for o in OPERATIONS]
    place = (cost.device, cost.implementation, cost.key_bits, cost.placement, cost.flags)
    return [*place, cost.message_bytes, cost.ad_bytes, *sizes, times, cost.varies, cost.ran, cost.reason]


def _figure(figure: Any) -> list[Any]:
    said = [figure.name, figure.title, figure.caption, figure.command, figure.panels]
    return [*said, _outline(figure.specification), _digest(plain(figure.specification)), *_csv(figure)]


def _csv(figure: Any) -> list[str]:
    lines = figure.as_csv().splitlines()
    return [*lines[:3], f"{len(lines)} lines {_digest(lines)}"]


def _outline(specification: Any) -> Any:
    """A specification without its data: their number instead."""
    if isinstance(specification, Mapping):
        return {k: len(v) if k == "values" else _outline(v) for k, v in specification.items()}
    return [_outline(e) for e in specification] if isinstance(specification, list | tuple) else specification


def _values(specification: Any) -> list[Any]:
    """Every inline value of a specification."""
    if isinstance(specification, Mapping):
        parts = [v if k == "values" else _values(v) for k, v in specification.items()]
        return [value for part in parts for value in part]
    parts = [_values(e) for e in specification] if isinstance(specification, list) else []
    return [value for part in parts for value in part]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def report(state: str) -> dict[str, Any]:
    """All that the report tells. What is long and told elsewhere stands as a digest."""
    catalog = Catalog.load()
    content: Content = gather(filled(state), catalog)
    found: dict[str, Any] = {
        "front": [content.measurements, content.failed, content.first, content.last, content.empty],
        "findings": plain(content.findings),
        "devices": [[d.device.name, d.cells, d.failed, d.runners, d.compilers] for d in content.devices],
        "libraries": [name for name, *_ in content.libraries],
        "headlines": plain(content.headlines),
        "order of all figures": [figure.name for figure in content.all_figures()],
        "figures": [_figure(figure) for figure in content.figures],
    }
    for part in content.sources:
        found[f"source {part.name}"] = [
            [part.title, part.command, part.words, plain(part.counts), part.measured],
            *([row.table, row.row, row.column] for row in part.contradicted),
            *(_figure(figure) for figure in part.figures),
        ]
    for cipher in content.ciphers:
        if not cipher.measured and not cipher.audit:
            continue
        best = {device: cost.implementation for device, cost in cipher.best.items()}
        found[f"cipher {cipher.cipher.name}"] = [
            [cipher.message_bytes, best, list(cipher.lengths), plain(cipher.audit)],
            *(_cost(cost, catalog) for cost in cipher.costs),
            *(_figure(figure) for figure in cipher.figures),
        ]
    found["order of the ciphers"] = [part.cipher.name for part in content.ciphers]
    table = plain(content.explorer)
    found["explorer"] = [table["columns"], table["worded"], table["words"], *table["rows"][::7]]
    found["explorer, all rows"] = [len(table["rows"]), _digest(table["rows"])]
    data = plain(content.adviser)
    found["adviser"] = [
        {
            k: data[k]
            for k in ("version", "order", "memory_weight", "timing_weight", "notes", "link", "sleepers")
        }
    ]
    for kind in ("devices", "chips", "radios", "cells", "regulators"):
        found[f"adviser {kind}"] = [[name, entry] for name, entry in sorted(data[kind].items())]
    found["adviser candidates"] = [
        [device, len(all_of), *(c for c in all_of if c["cipher"] in CHOSEN[:3])]
        for device, all_of in sorted(data["candidates"].items())
    ]
    found["adviser, all candidates"] = [_digest(data["candidates"])]
    return found


@lru_cache(maxsize=4)
def _candidates(state: str, device: str) -> tuple[advise.Candidate, ...]:
    catalog = Catalog.load()
    stored = filled(state).newest_measurements(device=device)
    every = advise.candidates_from(catalog, catalog.devices[device], stored)
    return tuple(c for c in every if c.cipher in CHOSEN and c.implementation.startswith("motecrypt"))


#: Device, radio, battery, regulator, and the question.
ASKED: tuple[tuple[str, str, str, str, advise.Question], ...] = (
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10)),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, answer_bytes=16)),
    (
        "uno",
        "srf",
        "1200mAh,5.5V",
        "linear",
        advise.Question(16, 3600, answer_bytes=32, delivery="confirmed"),
    ),
    ("uno", "srf", "3xAA", "switch", advise.Question(17, 0.5, loss=0.2)),
    ("uno", "srf", "3xAA", "nano", advise.Question(48, 60, answer_bytes=16, loss=0.1, delivery="confirmed")),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, needs=())),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, needs=("integrity",))),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, needs=("replay", "constant-time"))),
    ("uno", "srf", "3xAA", "none", advise.Question(30, 10, needs=("confidentiality",))),
    ("uno", "srf", "3xAA", "none", advise.Question(64, 10)),
    ("uno", "srf", "3xAA", "none", advise.Question(65, 10, needs=())),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, answer_bytes=200)),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, flash_max=3000)),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, flash_max=10, ram_max=20)),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, ram_max=300, needs=())),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, latency_us_max=5_300)),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, overhead_max=9)),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 0.0068)),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 0.05, overhead_max=0, latency_us_max=1.0)),
    ("uno", "srf", "2xAA", "none", advise.Question(16, 10)),
    ("uno", "srf", "9xAA", "none", advise.Question(16, 10)),
    ("uno", "srf", "2xAA", "linear", advise.Question(16, 10)),
    ("uno", "srf", "24xAA", "linear", advise.Question(16, 10)),
    ("uno", "srf", "24xAA", "switch", advise.Question(16, 10)),
    ("uno", "srf", "4xAA-NiMH", "none", advise.Question(16, 600)),
    ("uno", "srf", "CR2032", "switch", advise.Question(16, 600)),
    ("uno", "srf", "1200mAh,5V", "none", advise.Question(16, 600)),
    ("uno", "nrf24", "3xAA", "switch", advise.Question(33, 86400, answer_bytes=16)),
    ("pico", "srf", "2xAA", "none", advise.Question(16, 10)),
    ("pico", "srf", "3xAA", "none", advise.Question(31, 30, answer_bytes=17, needs=())),
    ("pico", "srf", "3xAA-NiMH", "none", advise.Question(31, 30, answer_bytes=17)),
    ("pico", "srf", "LiPo", "none", advise.Question(47, 300, needs=("confidentiality",))),
    ("pico", "srf", "LiPo", "linear", advise.Question(20, 1.5, ram_max=400, flash_max=5000)),
    ("pico", "srf", "CR2032", "none", advise.Question(16, 60)),
    ("uno", "srf", "3xAA", "nano", advise.Question(6, 10)),
    ("uno", "srf", "3xAA", "none", advise.Question(6, 10, delivery="confirmed", loss=0.1)),
    ("uno", "srf", "3xAA", "nano", advise.Question(6, 10, delivery="one-way", loss=0.1)),
    ("uno", "lora", "3xAA", "nano", advise.Question(16, 60, delivery="confirmed")),
    ("uno", "lora", "3xAA", "none", advise.Question(16, 5)),
    ("uno", "nrf24", "3xAA", "nano", advise.Question(16, 3600, delivery="confirmed")),
    ("uno", "srf", "3xAA", "none", advise.Question(124, 10)),
    ("pico", "802.15.4", "2xAA", "none", advise.Question(16, 10, needs=advise.NEEDS)),
)


def _answer(state: str, number: int) -> list[Any]:
    """The first three in full; of all, the order with the reasons, what is left out, and the notes."""
    device_name, radio_name, battery, regulator, question = ASKED[number]
    found = Catalog.load().devices[device_name]
    # Of an UNO every third is the board as it is sold, and every second one's program sleeps.
    bare, sleeps = device_name == "uno" and number % 3 > 0, number % 2 > 0
    device = advise.device_part(found, "chip" if bare else "board", sleeps)
    chip = advise.device_part(found, "chip", sleeps) if device_name == "uno" and not bare else None
    radio = advise.radio_part(load_radio(radio_name))
    others = [advise.regulator_part(name) for name in advise.regulator_names()]
    answer = advise.advise(
        question,
        _candidates(state, device_name),
        device,
        radio,
        advise.link_facts(),
        advise.battery_part(battery),
        advise.regulator_part(regulator),
        others,
        chip,
    )
    said = plain([device_name, radio_name, battery, regulator, asdict(question)])
    numbers = [answer.usable, answer.supply_volts_min, asdict(answer.plaintext) if answer.plaintext else None]
    places = [
        [e.rank, e.candidate.name, e.weight, e.costs.life_days, e.more_energy_percent, e.reason]
        for e in answer.entries
    ]
    rest = [[e.candidate.name, e.budgets, e.reason, e.excess, e.failed] for e in answer.exclusions]
    full = [asdict(e.costs) for e in answer.entries[:2]]
    once = {json.dumps(plain(entry[2])): plain(entry) for entry in rest}
    every = [_digest(plain(places)), len(rest), _digest(plain(rest))]
    return [
        said,
        answer.refusal,
        *plain([numbers, full, places[:6], answer.notes]),
        list(once.values())[:12],
        every,
    ]


def advice(state: str) -> dict[str, Any]:
    """Answers to the questions."""
    return {f"question {number:02}": _answer(state, number) for number in range(len(ASKED))}


def _changed(m: Measurement, number: int) -> Measurement:
    """Slower, faster, larger, failing or mended, by turns; most stay as they are."""
    turn = number % 29
    ran = m.status == "ok" and m.cycles_median is not None
    if not ran:
        if turn % 3 == 0:
            return replace(m, status="ok", reason="", cycles_median=7 * number, extra={})
        return replace(m, reason="another reason") if turn % 3 == 1 else m
    assert m.cycles_median is not None and m.stack_bytes is not None
    if turn == 1:
        return replace(m, cycles_median=round(m.cycles_median * (1 + 0.001 * number)))
    if turn == 2:
        return replace(m, cycles_median=m.cycles_median - 1 - number % 40, stack_bytes=m.stack_bytes + 3)
    if turn == 3:
        return replace(m, status="wrong-output", reason="byte 3", cycles_median=None)
    if turn == 4:
        return replace(m, flash_bytes=(m.flash_bytes or 0) + number % 50, ram_bytes=(m.ram_bytes or 0) - 2)
    return replace(m, stack_bytes=0) if turn == 5 else m


def differences() -> dict[str, Any]:
    """Two sets of measurements: what became better, worse, new, gone, failed."""
    before = filled("near").newest_measurements(cipher=("aes128-ccm8", "rc4d", "aes128-cbc"))
    before = sorted(before, key=lambda m: tuple(map(str, m.identity)))
    after = [_changed(m, number) for number, m in enumerate(before) if number % 31]
    grown = [replace(before[0], message_bytes=9999), replace(before[5], stack_bytes=0)]
    found: dict[str, Any] = {}
    for name, threshold, across in (("usual", 2.0, False), ("any", 0.0, False), ("flags", 20.0, True)):
        difference = compare([*before[3:], *grown[1:]], [*after, grown[0]], threshold, across)
        head = [difference.cells, difference.equal, difference.threshold_percent, difference.worse]
        changes = [list(plain(change).values()) for change in difference.changes]
        found[name] = [head, *(changes if name == "usual" else [_digest(changes), *changes[:8]])]
    same = compare(before, before)
    better = compare(before, [replace(m, stack_bytes=0) for m in before])
    found["equal"] = [[d.cells, d.equal, d.worse, len(d.changes)] for d in (same, better)]
    return found


GOLDEN: Mapping[str, Callable[[], dict[str, Any]]] = {
    "compare": differences,
    "advice": partial(advice, "near"),
    **{f"{name}-{state}": partial(source, state, name) for name in names() for state in STATES},
    "highlights": over_all,
    **{f"report-{state}": partial(report, state) for state in ("empty", "near")},
}


def written(found: Mapping[str, Any]) -> str:
    """JSON, sorted, with a line for each entry of each list: differences show line by line."""
    parts = []
    for key, value in sorted(found.items()):
        entries = [json.dumps(plain(e), sort_keys=True, ensure_ascii=False) for e in value]
        if isinstance(value, Mapping):
            entries = [json.dumps([k, plain(v)], ensure_ascii=False) for k, v in sorted(value.items())]
        parts.append(f"{json.dumps(key)}: [\n" + ",\n".join(entries) + "\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    """Write every golden file anew."""
    PLACE.mkdir(exist_ok=True)
    for name, made in GOLDEN.items():
        (PLACE / f"{name}.json").write_text(written(made()))


if __name__ == "__main__":
    main()
