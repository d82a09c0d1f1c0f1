"""Timing on a simulated device: cycles and traces over random secrets, with the source line where they part.

The cycles are the bench's own stored measurements. The traces are taken here, with key and message (and
wrong tags) changing and all that is public held still.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from motecrypt import bench, process
from motecrypt.audits import timing
from motecrypt.audits.oracle import Part, key_bytes, lengths_allowed, randomness
from motecrypt.build import BuildRequest, Firmware, build, key_of
from motecrypt.errors import MotecryptError
from motecrypt.experiments.audit import Subject, Unavailable
from motecrypt.model import Cell, Cipher, Device, Implementation, Measurement, Operation
from motecrypt.protocol import Client
from motecrypt.results import Results
from motecrypt.runners import Options, runner_of
from motecrypt.setup import have

ORDER = 20
#: Random keys and messages whose traces are compared, and wrong tags tried for each cipher with a tag.
TRACES = 6
ANSWER_TIMEOUT_S = 120.0
#: Decryption under a tag that is wrong at its first, last or another byte.
WRONG_TAG = "wrong tag"
AVR_PROGRAM_SPACE = 0x10000  # where drivers/simavr.c puts addresses read by lpm


def names(cipher: Cipher, devices: Sequence[str]) -> list[str]:
    """One part for each device."""
    return [f"timing:{device}" for device in devices]


def _bodies(subject: Subject, device: Device) -> list[Implementation]:
    bodies = subject.catalog.implementations_of(subject.cipher.name, device.name, ("motecrypt",))
    first = [body for body in bodies if body == subject.implementation]
    if not bodies:
        raise Unavailable(f"{subject.cipher.name}: none of our variants runs on {device.name}")
    return first + [body for body in bodies if body != subject.implementation]


def _device(subject: Subject) -> Device:
    device = subject.catalog.device(subject.device or "")
    if not have(device.kit):
        raise Unavailable(
            f"the tools for {device.name} are missing; 'motecrypt audit --device {device.name}' gets them"
        )
    return device


def _placements(body: Implementation, device: Device) -> list[str]:
    wanted = body.placements or ("flash",)
    return [name for name in device.placements if name in wanted] or list(device.placements)[:1]


def identity(subject: Subject, part: str) -> dict[str, Any]:
    """The builds of all variants for the device, and the simulator."""
    device = _device(subject)
    builds = [
        key_of(BuildRequest(device, body, placement))
        for body in _bodies(subject, device)
        for placement in _placements(body, device)
    ]
    return {"device": device.name, "builds": builds, "runner": runner_of(device.runner).identity(device)}


def run(subject: Subject, part: str, results: Results) -> Part:
    """Measure and trace every variant of ours on the device."""
    device = _device(subject)
    n = lengths_allowed(subject.cipher, (16, 32))[0]
    rows: list[dict[str, Any]] = []
    reasons: dict[str, None] = {}
    for body in _bodies(subject, device):
        for placement in _placements(body, device):
            try:
                rows += _rows(subject, device, body, placement, n, results)
            except Unavailable as reason:
                reasons[f"{body.variant} ({placement}) did not run: {reason}"] = None
    title = f"Timing on {device.name}"
    if not rows:
        raise Unavailable(f"no variant runs on {device.name}: {'; '.join(reasons)}")
    worst = max(rows[:1] + [r for r in rows if r["variant"] == rows[0]["variant"]], key=_badness)
    weight = timing.MEANING[worst["verdict"]][0]
    return Part(
        part, title, worst["verdict"], weight, tuple(_sentences(rows)), {"message_bytes": n, "rows": rows}
    )


def _badness(row: dict[str, Any]) -> int:
    return list(timing.MEANING).index(row["verdict"])


def _rows(
    subject: Subject, device: Device, body: Implementation, placement: str, n: int, results: Results
) -> list[dict[str, Any]]:
    bits = 8 * key_bytes(subject.cipher)
    if bits not in body.key_bits:
        raise Unavailable(f"it takes no key of {bits} bits")
    cache = device.placements[placement].caches[-1]  # the coldest that the device has
    cells = [
        Cell(device.name, body, operation, bits, n, 0, placement, cache) for operation in body.operations
    ]
    stored = {cell.operation: m for cell, m in bench.ensure(cells, results, subject.catalog).items()}
    failed = [m.reason for m in stored.values() if m.status != "ok"]
    if failed:
        raise Unavailable(failed[0])
    firmware = build(BuildRequest(device, body, placement))
    traced = _trace(subject, device, firmware, cache, n, body.operations)
    cached = cache in ("cold", "warm", "kept")
    rows = []
    for operation, (cycles, traces) in traced.items():
        found = timing.splits(traces, _memory_of(device))
        measured = stored.get(cast(Operation, operation))
        rows.append(
            {
                "variant": body.variant,
                "placement": placement,
                "cache": cache,
                "operation": operation,
                "verdict": timing.verdict(cycles, found, cached),
                "cycles_min": min(cycles),
                "cycles_max": max(cycles),
                "inputs": len(cycles),
                "splits": _located(device, firmware, found),
                **_bench_figures(measured),
            }
        )
    return rows


def _bench_figures(measured: Measurement | None) -> dict[str, Any]:
    if measured is None:
        return {}
    return {
        "bench_cycles_min": measured.cycles_min,
        "bench_cycles_max": measured.cycles_max,
        "bench_inputs": measured.inputs,
        "bench_timing_varies": measured.timing_varies,
    }


def _trace(
    subject: Subject, device: Device, firmware: Firmware, cache: str, n: int, operations: Sequence[Operation]
) -> dict[str, tuple[list[int], list[timing.Trace]]]:
    """Run all operations over random keys and messages, all that is public held still."""
    cipher = subject.cipher
    random = randomness(subject.seed, "timing", device.name, cipher.name)
    nonce = random.randbytes(cipher.nonce_bytes)
    order: list[str] = []
    cycles: list[int] = []
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as folder:
        dump = Path(folder) / "dump"
        options = Options(trace=True, cache=cache, dump=dump)
        opened = runner_of(device.runner).open_session(device, firmware.elf, firmware.data_end, options)
        with opened as session:
            client = Client(session, ANSWER_TIMEOUT_S)
            client.wait_ready()
            if nonce:
                client.set_nonce(nonce)
            for number in range(TRACES):
                client.set_key(random.randbytes(key_bytes(cipher)))
                client.set_message(random.randbytes(n))
                for operation in operations:
                    client.run(operation, 1, cipher.tag_bytes)
                    order.append(str(operation))
                if cipher.tag_bytes and "decrypt" in operations:
                    _wrong_tag(client, cipher.tag_bytes, number)
                    order += ["encrypt", WRONG_TAG]
                cycles += [region.cycles for region in session.regions()]
        with dump.open(encoding="ascii") as lines:
            traces = list(timing.read_dump(lines))
    told: dict[str, tuple[list[int], list[timing.Trace]]] = {}
    for name, count, trace in zip(order, cycles, traces, strict=True):
        told.setdefault(name, ([], []))
        told[name][0].append(count)
        told[name][1].append(trace)
    return told


def _wrong_tag(client: Client, tag_bytes: int, number: int) -> None:
    """Encrypt again and decrypt with one byte of the tag changed: the first, the last, then others."""
    ran = client.run("encrypt", 1, tag_bytes)
    position = (0, tag_bytes - 1, *range(1, tag_bytes - 1))[number % tag_bytes]
    wrong = bytearray(ran.tag)
    wrong[position] ^= 0xFF
    client.set_tag(bytes(wrong))
    refused = client.run("decrypt", 1, tag_bytes)
    if refused.status != "bad tag":
        raise MotecryptError(f"a wrong tag was answered with '{refused.status}'")


def _memory_of(device: Device) -> Callable[[int], str]:
    """Which memory an address of a dump lies in."""
    flash = device.memory["flash"]
    if device.core.startswith("avr"):
        return lambda address: "flash" if address >= AVR_PROGRAM_SPACE else "ram"
    return lambda address: "flash" if flash.holds(address) else "ram"


def _located(device: Device, firmware: Firmware, found: Sequence[timing.Split]) -> list[dict[str, Any]]:
    """The splits with function and source line, one for each line."""
    places = _lines(device, firmware, sorted({split.pc for split in found}))
    told: dict[tuple[str, ...], dict[str, Any]] = {}
    for split in found:
        function, line = places[split.pc]
        row: dict[str, str] = {"kind": split.kind, "memory": split.memory, "function": function, "line": line}
        told.setdefault((split.kind, split.memory, function, line), {**row, "pcs": []})["pcs"].append(
            split.pc
        )
    return list(told.values())


def _lines(device: Device, firmware: Firmware, pcs: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Function and source line of each program counter, as the ELF's debug information has them."""
    if not pcs:
        return {}
    tool = device.compiler.command.removesuffix("gcc") + "addr2line"
    outcome = process.run([tool, "-f", "-e", firmware.elf, *map(hex, pcs)])
    lines = outcome.output.splitlines()
    if not outcome.ok or len(lines) != 2 * len(pcs):
        return {pc: ("", hex(pc)) for pc in pcs}
    return {
        pc: (
            function,
            line.split(" (")[0].removeprefix("./")
            if not line.startswith("??")
            else f"library code at {pc:#x}",
        )
        for pc, function, line in zip(pcs, lines[::2], lines[1::2], strict=True)
    }


def _tidy(line: str) -> str:
    """A line as addr2line says it, without what is only noise; "" when it knows none."""
    return "" if line.startswith("??") else line.split(" (")[0].removeprefix("./")


def _sentences(rows: Sequence[dict[str, Any]]) -> list[str]:
    """One sentence for each verdict that some variant got, with who got it and where the traces part."""
    told = []
    for verdict, (_, meaning) in timing.MEANING.items():
        concerned = [row for row in rows if row["verdict"] == verdict]
        if not concerned:
            continue
        who = dict.fromkeys(f"{row['variant']} {row['operation']} ({_where(row)})" for row in concerned)
        lines = dict.fromkeys(
            f"{split['line']} ({split['kind']})" for row in concerned for split in row["splits"]
        )
        spans = [
            f"{row['cycles_min']:,} to {row['cycles_max']:,} cycles"
            for row in concerned
            if row["cycles_min"] != row["cycles_max"]
        ]
        text = f"{meaning.capitalize()}: {_few(list(who))}"
        if spans and verdict == "cycles vary":
            text += f"; {_few(spans, 2)}"
        told.append(text + (f". Traces part at {_few(list(lines))}." if lines else "."))
    return told


def _where(row: dict[str, Any]) -> str:
    return row["placement"] if row["cache"] == "none" else f"{row['placement']}, {row['cache']}"


def _few(names: Sequence[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
