"""A results file of made-up figures. Measures nothing.

Every figure is drawn from a hash of what it is the figure of: no two are equal, so that swapped columns
show, and none depends on the order in which they are stored.
"""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from goldens import frozen
from motecrypt.adviser import api as advise
from motecrypt.base.model import Cell, Measurement
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.results.experiments.audit import AuditQuestion
from motecrypt.results.experiments.file_sizes import ENCODINGS, OPERATIONS, EncodingQuestion
from motecrypt.results.experiments.host_speed import NO_AES
from motecrypt.results.experiments.pico_file import PARTS
from motecrypt.results.experiments.radio_transfer import MODES
from motecrypt.results.experiments.wlan_transfer import CLOSED_FORM, NS3
from motecrypt.studies.pico import figures as pico
from motecrypt.studies.pico import files as pico_files
from motecrypt.studies.pico import remains as pico_remains
from motecrypt.studies.pico import second_core as pico_cores
from motecrypt.studies.rc4d import figures as rc4d
from motecrypt.studies.rc4d import study as rc4d_study
from motecrypt.studies.rf import crowd as rf_crowd
from motecrypt.studies.rf import explanations as rf_explanations
from motecrypt.studies.rf import rows as rf_rows
from motecrypt.studies.wlan import plan

#: The states of a results file: figures near the paper's; others far from them, with many failures; none; and
#: figures that are all equal, to show the tie-breakers.
STATES = ("near", "far", "empty", "even")
#: The input of the report and the adviser in addition to the studies' own cells.
CHOSEN = (
    *("aes128-ccm8", "aes128-siv", "aes128-cbc", "aes128-ecb", "ascon-aead128", "chacha20-poly1305"),
    *("rc4", "rc4d", "des-cbc", "aes128-hctr2"),
)
LENGTHS = (16, 32, 48, 64)
WHEN = "2026-01-01T00:00:00+00:00"


def share(*of: object) -> float:
    """A number from 0 to 1 that depends on these words alone; a half in the state where all are equal."""
    if "even" in of:
        return 0.5
    digest = hashlib.sha256(repr(of).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def whole(low: int, high: int, *of: object) -> int:
    """A whole number from low to below high."""
    return low + int(share(*of) * (high - low))


def measured(cell: Cell, state: str) -> Measurement:
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
    """The chosen ciphers at some lengths, as the adviser considers them, and some with associated data."""
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


def _remains(state: str) -> dict[str, Any]:
    steps = list(pico_remains.STEPS)[: None if state == "near" else 3]
    rows = [{"step": step, "found": whole(0, 40, "remains", step, state), "pieces": 40} for step in steps]
    return {"rows": rows, "image_bytes": 1 << 20}


def _cores(state: str) -> dict[str, Any]:
    rows = [
        {
            "work": work,
            "way": way,
            "time_us": whole(80_000, 3_000_000, "cores", work, way, state),
            "samples": 90 if way != "alone" else 0,
            "missed": whole(0, 40, "missed", work, way, state) if way != "alone" else 0,
            "least_late": 0,
            "most_late": whole(60, 9_000_000, "late", work, way, state) if way != "alone" else 0,
            "mean_late": 30.5 if way != "alone" else 0.0,
        }
        for work in pico_cores.WORKS
        for way in list(pico_cores.WAYS)[: None if state == "near" else 3]
    ]
    return {"rows": rows, "clock_hz": 125_000_000}


def _sizes(question: Any, state: str) -> dict[str, Any]:
    rows = [
        {
            "operation": operation,
            "bytes": size,
            "ns": size * (3 + 30 * share(state, question.cipher, operation)),
        }
        for size in question.sizes[: None if state == "near" else -1]
        for operation in OPERATIONS
    ]
    setup = whole(100, 30_000, "set-up", state, question.cipher)
    return {"implementation": "made up", "processor": "made-up <one>", "setup_ns": setup, "rows": rows}


def _encodings(state: str) -> dict[str, Any]:
    def times(way: str) -> dict[str, float]:
        return {name: 0.3 + share(way, name, state) for name in ENCODINGS}

    return {"encode_ns_per_byte": times("encode"), "decode_ns_per_byte": times("decode")}


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
    taken = {"16": "multiples of 16"}.get(printed[0], printed[0]), {"any": "5 to 256"}.get(printed[1])
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


def _crowd(question: Any, state: str) -> dict[str, Any]:
    rows = []
    for nodes, interval_s in question.networks:
        of = (state, question.radio, question.confirmed, question.spread_ms, nodes, interval_s)
        late = whole(2, 900, "late", *of) + share("later", *of)
        row = {
            "nodes": nodes,
            "interval_s": interval_s,
            "share": 1 - nodes / interval_s * share("lost", *of) / (900 if state == "near" else 90),
            "air_share": share("air", *of) / 5,
            "goodput_bps": 48 * nodes * share("goodput", *of),
            "fairness": 1 - share("unfair", *of) / 9,
            **{f"latency_{name}_ms": late * (1 + i) for i, name in enumerate(("p50", "p90", "p99", "max"))},
        }
        counts = ("readings", "skipped", "packets", "packets_again", "answers", "collided", "deaf")
        rows.append(row | {name: whole(10 * nodes, 90 * nodes, name, *of) for name in counts})
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
    """Fill a results file: all cells and results that the studies ask for, and the chosen ciphers."""
    if state == "empty":
        return
    catalog = Catalog.load()
    cells = [*rc4d.cells(), *pico.cells(), *_more_cells()]
    cells += [cell for group in plan.node_cells(catalog).values() for cell in group]
    # One row a cell: one that names a toolchain is found by the readers that name none, too.
    named = {cell.identity: cell for cell in cells if cell.toolchain}
    cells = list(dict.fromkeys(named.get(cell.identity, cell) for cell in cells))
    kept = [c for c in cells if share("kept", state, *c.identity) < (1 if state == "near" else 0.97)]
    results.store({repr(cell.identity): measured(cell, state) for cell in kept})

    def put(question: Any, outcome: dict[str, Any], asked: dict[str, Any] | None = None) -> None:
        results.store_experiment(question.KIND, question.VERSION, asked or question.asked(), outcome)

    for call in pico.sequences():
        put(call, _call(call, state))
    for job in pico_files.questions():
        put(job, _file(job, state))
    put(pico_remains.QUESTION, _remains(state))
    put(pico_cores.QUESTION, _cores(state))
    put(pico_files.PASSWORDS, {"hashes_ms": 4.25, "argon2id_ms": 131.5 if state == "near" else 2.5})
    for moved in plan.transfers():
        if share("stored", state, *moved.asked().items()) < (1 if state == "near" else 0.93):
            engine = NS3 if state == "near" or share("e", *moved.asked().items()) < 0.9 else CLOSED_FORM
            put(moved, _wlan(moved, state), moved.asked_of(engine))
    for timed in plan.host_ciphers():
        put(timed, _data_types(timed, state))
    put(plan.host_speed(), _speeds(plan.host_speed(), state))
    for name in plan.CIPHERS:
        put(plan.sizes(name), _sizes(plan.sizes(name), state))
    put(EncodingQuestion(), _encodings(state))
    for name, probe in rc4d_study.PROBES.items():
        put(probe, _features(name, state))
    put(rf_rows.transfer(), _radio(rf_rows.transfer(), state))
    median = {str(size): 11.5 + size / 64 for size in rf_explanations.writes().sizes}
    put(rf_explanations.writes(), {"median_us": median})
    for crowd in rf_crowd.questions():
        put(crowd, _crowd(crowd, state))
    put(rc4d_study.ATTACK, _attack(state))
    put(AuditQuestion("rc4d", "diffusion"), _diffusion())
    put(AuditQuestion("rc4d", "diffusion", quick=True), {**_diffusion(), "verdict": "of a quick one"})
    put(AuditQuestion("rc4", "attack:known-ciphertext"), {**_attack("near"), "verdict": "broken too"})
    put(AuditQuestion("aes128-ccm8", "integrity"), {**_diffusion(), "weight": "good", "data": {}})
    with sqlite3.connect(results.path) as connection:
        connection.execute("UPDATE experiment SET made_at = ?", (WHEN,))
    connection.close()


def filled(state: str) -> Results:
    """An open results file in that state, made once in a process; it goes with the process."""
    return _filled(state, frozen.inside())


@lru_cache(maxsize=2 * len(STATES))
def _filled(state: str, frozen: bool) -> Results:
    folder = tempfile.TemporaryDirectory()
    results = Results(Path(folder.name) / "made-up.db")
    results.folder = folder  # type: ignore[attr-defined]
    store(results, state)
    return results
