"""Timing on a simulated device: cycles and traces over random secrets, with the source line where they part.

Cycles, and whether traces differ at all, are the bench's own stored measurements over 32 inputs. Where they
differ, traces are taken here to find the place, with key and message changing and all that is public held
still; and wrong tags are tried, which the bench does not.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from motecrypt.attack.audits import timing
from motecrypt.attack.audits.oracle import Part, key_bytes, nearest_length, randomness
from motecrypt.base import process
from motecrypt.base.errors import MotecryptError
from motecrypt.base.model import OPERATIONS, Cell, Cipher, Device, Implementation
from motecrypt.build.setup import have
from motecrypt.build.toolchain import BuildRequest, Firmware, build, key_of
from motecrypt.measuring import bench
from motecrypt.measuring.audits import Subject, Unavailable
from motecrypt.measuring.audits._places import sentence_case, tell_places
from motecrypt.results import Results
from motecrypt.simulate.runners import Options, Session, keeps_lines, runner_of
from motecrypt.simulate.runners.protocol import Client

#: Random keys and messages whose traces are compared, where the bench saw that they differ.
TRACES = 3
#: Random keys and messages whose cycles are counted, where the bench saw that they differ; quick audits.
SPREAD, SPREAD_QUICK = 256, 64
#: Source lines of an operation of which the traces are kept, for the page of an audit.
PARTINGS_MOST = 4
#: Decryption under a tag that is wrong at its first, last or another byte.
WRONG_TAG = "wrong tag"
AVR_PROGRAM_SPACE = 0x10000  # where drivers/simavr.c puts addresses read by lpm


def names(cipher: Cipher, devices: Sequence[str]) -> list[str]:
    """One part for each device."""
    return [f"timing:{device}" for device in devices]


def others(cipher: Cipher) -> dict[str, str]:
    """None: every cipher has this part."""
    return {}


def bodies_on(subject: Subject, device: Device) -> list[Implementation]:
    """Our variants that run on the device, the audited one first; raises Unavailable when there is none."""
    bodies = subject.catalog.implementations_of(subject.cipher.name, device.name, ("motecrypt",))
    first = [body for body in bodies if body == subject.implementation]
    if not bodies:
        raise Unavailable(f"{subject.cipher.name}: none of our variants runs on {device.name}")
    return first + [body for body in bodies if body != subject.implementation]


def simulated_device(subject: Subject) -> Device:
    """The device of a part, with its tools at hand; raises Unavailable when it has none."""
    device = subject.catalog.device(subject.device or "")
    if device.runner == "host":
        raise Unavailable("the host's cycles are not exact; the part 'taint' looks at the host")
    if not have(device.tool_set):
        raise Unavailable(
            f"the tools for {device.name} are missing; "
            f"'motecrypt audit {subject.cipher.name} --device {device.name}' gets them"
        )
    return device


def placements_of(body: Implementation, device: Device) -> list[str]:
    """Where a variant's code and tables are stored on the device."""
    wanted = body.placements or ("flash",)
    return [name for name in device.placements if name in wanted] or list(device.placements)[:1]


def identity(subject: Subject, part: str) -> dict[str, Any]:
    """The builds of all variants for the device, and the simulator."""
    device = simulated_device(subject)
    builds = [
        key_of(BuildRequest(device, body, placement))
        for body in bodies_on(subject, device)
        for placement in placements_of(body, device)
    ]
    return {"device": device.name, "builds": builds, "runner": runner_of(device.runner).identity(device)}


def run(subject: Subject, part: str, results: Results) -> Part:
    """Measure and trace every variant of ours on the device."""
    device = simulated_device(subject)
    n = nearest_length(subject.cipher, 16)
    rows: list[dict[str, Any]] = []
    reasons: dict[str, None] = {}
    for body in bodies_on(subject, device):
        for placement in placements_of(body, device):
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
        raise Unavailable(f"it does not take a key of {bits} bits")
    cache = device.placements[placement].caches[-1]  # the coldest that the device has
    cells = [
        Cell(device.name, body, operation, bits, n, 0, placement, cache) for operation in body.operations
    ]
    stored = bench.ensure(cells, results, subject.catalog)
    failed = [m.reason for m in stored.values() if m.status != "ok"]
    if failed:
        raise Unavailable(failed[0])
    bed = _Bed(subject, device, build(BuildRequest(device, body, placement)), cache, n)
    varying = [m.operation for m in stored.values() if m.timing_varies]
    traces = bed.traces(varying) if varying else {}
    spreads = bed.spreads([m.operation for m in stored.values() if m.cycles_min != m.cycles_max])
    rows = []
    for cell, measured in stored.items():
        cycles = [measured.cycles_min or 0, measured.cycles_max or 0]
        seen = traces.get(cell.operation, ())
        found = timing.splits(seen, bed.memory_of) if seen else ()
        row = bed.row(cell, cell.operation, cycles, measured.inputs, found)
        rows.append(row | _shown(seen, found, row["splits"], spreads.get(cell.operation, ())))
    if subject.cipher.tag_bytes and "decrypt" in body.operations:
        cycles, seen = bed.wrong_tags()
        found = timing.splits(seen, bed.memory_of) if seen else ()
        row = bed.row(cells[-1], WRONG_TAG, cycles, len(cycles), found)
        rows.append(row | _shown(seen, found, row["splits"], cycles))
    return rows


@dataclass(frozen=True)
class _Bed:
    """One firmware on one device, ready to be traced. What is public is held still: nonce and lengths."""

    subject: Subject
    device: Device
    firmware: Firmware
    cache: str
    message_bytes: int

    def row(
        self, cell: Cell, operation: str, cycles: Sequence[int], inputs: int, found: Sequence[timing.Split]
    ) -> dict[str, Any]:
        """What is kept of one operation."""
        return {
            "variant": cell.implementation.variant,
            "placement": cell.placement,
            "cache": self.cache,
            "operation": operation,
            "verdict": timing.verdict(cycles, found, flash_cached=self.cache != "none"),
            "cycles_min": min(cycles),
            "cycles_max": max(cycles),
            "inputs": inputs,
            "splits": _located(self.device, self.firmware, found),
        }

    def memory_of(self, address: int) -> str:
        """Which memory an address of a dump is in."""
        if self.device.core.startswith("avr"):
            return "flash" if address >= AVR_PROGRAM_SPACE else "ram"
        return "flash" if self.device.memory["flash"].holds(address) else "ram"

    @contextmanager
    def _client(self, dump: Path | None) -> Iterator[tuple[Client, Session]]:
        options = Options(trace=True, cache=self.cache, dump=dump)
        runner = runner_of(self.device.runner)
        with runner.open_session(self.device, self.firmware.elf, self.firmware.data_end, options) as session:
            client = Client(session, process.WORK_S)
            client.wait_ready()
            random = randomness(self.subject.seed, "timing nonce")
            if self.subject.cipher.nonce_bytes:
                client.set_nonce(random.randbytes(self.subject.cipher.nonce_bytes))
            yield client, session

    def traces(self, operations: Sequence[str]) -> dict[str, list[timing.Trace]]:
        """Trace these operations over random keys and messages."""
        cipher = self.subject.cipher
        random = randomness(self.subject.seed, "timing", self.device.name, cipher.name)
        order: list[str] = []
        with tempfile.TemporaryDirectory(prefix="motecrypt-") as folder:
            dump = Path(folder) / "dump"
            with self._client(dump) as (client, _):
                for _ in range(TRACES):
                    client.set_key(random.randbytes(key_bytes(cipher)))
                    client.set_message(random.randbytes(self.message_bytes))
                    for operation in OPERATIONS:
                        client.run(operation, 1, cipher.tag_bytes)
                        order.append(operation)
            text = dump.read_text(encoding="ascii")
        found = timing.read_dump(text, [name in operations for name in order])
        told: dict[str, list[timing.Trace]] = {}
        for name, trace in zip((n for n in order if n in operations), found, strict=True):
            told.setdefault(name, []).append(trace)
        return told

    def spreads(self, operations: Sequence[str]) -> dict[str, list[int]]:
        """Cycles of these operations over random keys and messages."""
        if not operations:
            return {}
        random = randomness(self.subject.seed, "timing spread", self.device.name, self.subject.cipher.name)
        order: list[str] = []
        with self._client(None) as (client, session):
            for _ in range(SPREAD_QUICK if self.subject.quick else SPREAD):
                client.set_key(random.randbytes(key_bytes(self.subject.cipher)))
                client.set_message(random.randbytes(self.message_bytes))
                for operation in OPERATIONS:
                    client.run(operation, 1, self.subject.cipher.tag_bytes)
                    order.append(operation)
            regions = session.regions()
        told: dict[str, list[int]] = {operation: [] for operation in operations}
        for name, region in zip(order, regions, strict=True):
            if name in told:
                told[name].append(region.cycles)
        return told

    def wrong_tags(self) -> tuple[list[int], list[timing.Trace]]:
        """Refuse one message under tags that are wrong at different bytes; all else is held still.

        Returns
        -------
        Cycles of each refusal, and their traces: none if all are equal.
        """
        with self._client(None) as (client, session):
            self._refuse(client)
            regions = session.regions()[2 + self._brings_lines_in :]
        cycles = [region.cycles for region in regions]
        if len(set(cycles)) == 1 and len({region.trace for region in regions}) == 1:
            return cycles, []
        with tempfile.TemporaryDirectory(prefix="motecrypt-") as folder:
            dump = Path(folder) / "dump"
            with self._client(dump) as (client, _):
                self._refuse(client)
            found = list(timing.read_dump(dump.read_text(encoding="ascii")))
        return cycles, found[2 + self._brings_lines_in :]

    @property
    def _brings_lines_in(self) -> int:
        """How many refusals come before those that are compared."""
        return int(keeps_lines(self.device))

    def _refuse(self, client: Client) -> None:
        """Set up, encrypt, then decrypt under tags with one wrong byte: the first, the last, between."""
        cipher = self.subject.cipher
        random = randomness(self.subject.seed, "wrong tag", cipher.name)
        client.set_key(random.randbytes(key_bytes(cipher)))
        client.set_message(random.randbytes(self.message_bytes))
        client.run("setup", 1, cipher.tag_bytes)
        sent = client.run("encrypt", 1, cipher.tag_bytes)
        last = cipher.tag_bytes - 1
        for position in [0] * self._brings_lines_in + [*dict.fromkeys((0, last, last // 2, 1))]:
            wrong = bytearray(sent.tag)
            wrong[position] ^= 0xFF
            client.set_message(sent.output)
            client.set_tag(bytes(wrong))
            refused = client.run("decrypt", 1, cipher.tag_bytes)
            if refused.status != "bad tag":
                raise MotecryptError(f"{cipher.name}: a wrong tag was answered with '{refused.status}'")


def _located(device: Device, firmware: Firmware, found: Sequence[timing.Split]) -> list[dict[str, Any]]:
    """The splits with function and source line, one for each line."""
    places = source_lines(device, firmware, sorted({split.pc for split in found}))
    told: dict[tuple[str, ...], dict[str, Any]] = {}
    for split in found:
        function, line = places[split.pc]
        row: dict[str, str] = {"kind": split.kind, "memory": split.memory, "function": function, "line": line}
        told.setdefault((split.kind, split.memory, function, line), {**row, "pcs": []})["pcs"].append(
            split.pc
        )
    return list(told.values())


def _shown(
    traces: Sequence[timing.Trace],
    found: Sequence[timing.Split],
    lines: Sequence[Mapping[str, Any]],
    cycles: Sequence[int],
) -> dict[str, Any]:
    """What the page of an audit draws: how often which cycles, and traces at the first lines where they part.

    Nothing of an operation whose cycles and traces are equal.
    """
    told: dict[str, Any] = {}
    if len(set(cycles)) > 1:
        told["spread"] = [[value, cycles.count(value)] for value in sorted(set(cycles))]
    by_place = {(split.kind, split.pc): split for split in found}
    drawn = []
    for line in lines[:PARTINGS_MOST]:
        parting = timing.parting(traces, by_place[line["kind"], line["pcs"][0]])
        drawn.append({"kind": line["kind"], "line": line["line"], **asdict(parting)})
    if drawn:
        told["partings"] = drawn
    return told


def source_lines(device: Device, firmware: Firmware, pcs: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Function and source line of each program counter, from the ELF's debug information."""
    if not pcs:
        return {}
    tool = device.compiler.command.removesuffix("gcc") + "addr2line"
    outcome = process.run([tool, "-f", "-e", firmware.elf, *map(hex, pcs)])
    lines = outcome.output.splitlines()
    if not outcome.ok or len(lines) != 2 * len(pcs):
        return {pc: ("", hex(pc)) for pc in pcs}
    return {
        pc: (function, _tidy(line) or f"{function} (library code)")
        for pc, function, line in zip(pcs, lines[::2], lines[1::2], strict=True)
    }


def _tidy(line: str) -> str:
    """A line as addr2line prints it, without noise; "" when it finds none."""
    return "" if line.startswith("??") else line.split(" (")[0].removeprefix("./")


def _sentences(rows: Sequence[dict[str, Any]]) -> list[str]:
    """One sentence for each verdict that some variant got, with who got it and where the traces part."""
    told = []
    for verdict, (_, meaning) in timing.MEANING.items():
        concerned = [row for row in rows if row["verdict"] == verdict]
        if not concerned:
            continue
        places = tell_places((split["kind"], split["line"]) for row in concerned for split in row["splits"])
        text = f"{sentence_case(meaning)}: {_who(rows, concerned)}"
        widest = max(concerned, key=lambda row: int(row["cycles_max"] - row["cycles_min"]))
        if verdict == "cycles vary":
            text += (
                f"; most in {widest['variant']} {widest['operation']}, "
                f"{widest['cycles_min']:,} to {widest['cycles_max']:,} cycles"
            )
        told.append(text + (f". Traces part: {places}." if places else "."))
    return told


def _who(rows: Sequence[dict[str, Any]], concerned: Sequence[dict[str, Any]]) -> str:
    """Name variants (and their operations, unless all are meant) by placement."""
    told = []
    for where in dict.fromkeys(map(_where, concerned)):
        names = []
        for variant in dict.fromkeys(row["variant"] for row in concerned if _where(row) == where):
            operations = [row["operation"] for row in concerned if _at(row) == (where, variant)]
            complete = len(operations) == sum(_at(row) == (where, variant) for row in rows)
            names.append(variant if complete else f"{variant} {' and '.join(operations)}")
        told.append(f"{', '.join(names)} in {where}")
    return "; ".join(told)


def _at(row: dict[str, Any]) -> tuple[str, str]:
    return _where(row), row["variant"]


def _where(row: dict[str, Any]) -> str:
    return row["placement"] if row["cache"] == "none" else f"{row['placement']} with a {row['cache']} cache"
