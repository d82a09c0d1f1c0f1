"""What one call costs as a program makes it: the key set up, then the call, with a flash cache in between.

A cell's cold figure empties the cache at the call itself. A program sets up its key first, and what that
leaves in the cache the call finds there. This runs set-up and call on given bytes, three times: with the
cache kept from the start of the firmware, emptied before each, and warm; and once traced, to show where the
instructions and the missed lines are. The cost of measuring is subtracted, as it is for cells.
"""

from __future__ import annotations

import hashlib
import tempfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from motecrypt.base.errors import InputError
from motecrypt.base.frames import ProtocolError
from motecrypt.base.model import Device, ExperimentResult, Implementation
from motecrypt.build.toolchain import BuildError, BuildRequest, Firmware, build, key_of
from motecrypt.build.toolchain.pinned import with_toolchain
from motecrypt.build.toolchain.sizes import symbols
from motecrypt.catalog import Catalog, empty_implementation
from motecrypt.catalog.oracles import oracle
from motecrypt.measuring.experiments.evictions import CacheShape, misses_after, without_repeats
from motecrypt.results import Results
from motecrypt.results.experiments.call_sequence import KIND, VERSION, CallQuestion
from motecrypt.simulate.runners import Options, Region, runner_of
from motecrypt.simulate.runners.protocol import Client

ANSWER_S = 60.0
PLACEMENT = "flash"
NO_ADDRESS = 0xFFFFFFFF
FUNCTIONS_KEPT = 4
#: Lines of other code that are tried, in steps of 1 KB of 8-byte lines, up to the whole of a cache of 16 KB.
OTHER_LINES = range(0, 2049, 128)


class CallSequence(CallQuestion):
    """Set-up and one call of a library on a device with a flash cache, run on the simulated device."""

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """Return the stored result, or run the sequence and store it; a failure is stored as such."""
        inputs = self._inputs()
        stored = self.kept(results, inputs)
        if stored is not None:
            return stored
        if progress is not None:
            progress(f"{self.library} {self.cipher} {self.operation} after its set-up")
        try:
            outcome = self._run()
        except (BuildError, ProtocolError) as error:
            outcome = {"failed": str(error)}
            if error.transient:
                # Not the library's failure: not stored.
                return ExperimentResult(KIND, VERSION, inputs, outcome)
        return results.store_experiment(KIND, VERSION, inputs, outcome, self.asked())

    def _subject(self) -> tuple[Device, Implementation]:
        catalog = Catalog.load()
        for body in catalog.implementations_of(self.cipher, self.device, (self.library,)):
            if body.configuration == self.configuration:
                device = catalog.device(self.device)
                return with_toolchain(device, self.toolchain, catalog.toolchains), body
        raise InputError(f"{self.library}/{self.configuration} has no {self.cipher} for {self.device}")

    def _inputs(self) -> dict[str, Any]:
        device, body = self._subject()
        try:
            built = key_of(BuildRequest(device, body, PLACEMENT))
        except BuildError as error:
            built = f"unbuildable: {error}"
        return {
            **self.asked(),
            "build": built,
            "runner": runner_of(device.runner).identity(device),
            "code": _code_hash(),
        }

    def _run(self) -> Mapping[str, Any]:
        device, body = self._subject()
        try:
            empty = build(BuildRequest(device, empty_implementation(), PLACEMENT))
        except BuildError as error:  # if nothing builds, it is not the library's failure
            raise BuildError(str(error), kind=error.kind, transient=True) from error
        firmware = build(BuildRequest(device, body, PLACEMENT))
        figures: dict[str, Any] = {"flash_bytes_of_firmware": firmware.total.flash}
        for cache in ("kept", "cold", "warm"):
            ran = self._sequence(device, firmware, Options(cache=cache))
            cost = self._sequence(device, empty, Options(cache=cache), checked=False)
            for step, region, base in zip(("setup", "call"), ran, cost, strict=True):
                if cache == "warm":
                    figures[f"{step}_core_cycles"] = region.cycles - base.cycles
                else:
                    misses = region.extra["cache_misses"] - base.extra["cache_misses"]
                    figures[f"{step}_misses_{cache}"] = max(0, misses)
        return figures | self._profile(device, firmware)

    def _expected(self) -> tuple[bytes, bytes]:
        """What goes into the call and what has to come out."""
        message = bytes.fromhex(self.message)
        encrypt = oracle(Catalog.load().cipher(self.cipher))
        ciphertext, _ = encrypt(bytes.fromhex(self.key), bytes.fromhex(self.nonce), b"", message)
        return (message, ciphertext) if self.operation == "encrypt" else (ciphertext, message)

    def _sequence(
        self, device: Device, firmware: Firmware, options: Options, *, checked: bool = True
    ) -> tuple[Region, Region]:
        given, wanted = self._expected()
        runner = runner_of(device.runner)
        with runner.open_session(device, firmware.elf, firmware.data_end, options) as session:
            client = Client(session, ANSWER_S)
            client.wait_ready()
            client.set_key(bytes.fromhex(self.key))
            client.set_nonce(bytes.fromhex(self.nonce))
            client.set_message(given)
            client.run("setup", 1, 0)
            ran = client.run(self.operation, 1, 0)
            if checked and ran.output != wanted:
                raise ProtocolError(f"{self.operation}: the output is not what the oracle gives")
            setup, call = session.regions()
        return setup, call

    def _profile(self, device: Device, firmware: Firmware) -> dict[str, Any]:
        """Instructions by function, and the flash lines that the call touches first, by what they hold."""
        with tempfile.TemporaryDirectory(prefix="motecrypt.") as scratch:
            dump = Path(scratch) / "trace"
            self._sequence(device, firmware, Options(trace=True, cache="none", dump=dump))
            setup, call = _regions_of(dump.read_text())
        flash = device.memory["flash"]
        line_bytes = int(device.simulator["flash_cache"]["line_bytes"])

        def lines(addresses: set[int]) -> set[int]:
            return {a // line_bytes for a in addresses if flash.holds(a)}

        before = lines(setup.fetched) | lines(setup.read)
        code = lines(call.fetched)
        tables = lines(call.read) - code
        named = sorted((a & ~1, name) for name, a in symbols(firmware.elf).items() if flash.holds(a))
        starts = [address for address, _ in named]
        functions: Counter[str] = Counter()
        for pc, count in call.executed.items():
            at = bisect_right(starts, pc) - 1
            functions[named[at][1] if at >= 0 else "?"] += count
        total = sum(functions.values()) or 1
        return {
            "code_lines": len(code),
            "code_lines_new": len(code - before),
            "table_lines": len(tables),
            "table_lines_new": len(tables - before),
            "misses_after": _misses_after(device, setup, call),
            "functions": [
                [name, round(count / total, 3)] for name, count in functions.most_common(FUNCTIONS_KEPT)
            ],
        }


def _misses_after(device: Device, setup: _Traced, call: _Traced) -> list[list[int]]:
    """The call's misses by the lines of other code between the passes of a loop."""
    flash, cache = device.memory["flash"], device.simulator["flash_cache"]
    line_bytes, ways = int(cache["line_bytes"]), int(cache["ways"])
    shape = CacheShape(int(cache["bytes"]) // line_bytes // ways, ways)

    def played(region: _Traced) -> list[int]:
        return list(without_repeats(a // line_bytes for a in region.accessed if flash.holds(a)))

    before, after = played(setup), played(call)
    return [[lines, misses_after(shape, before, after, lines)] for lines in OTHER_LINES]


@dataclass(frozen=True)
class _Traced:
    """One region of a trace: addresses fetched from and read, how often each instruction ran, and all
    addresses in the order of the accesses."""

    fetched: set[int]
    read: set[int]
    executed: Counter[int]
    accessed: list[int] = field(default_factory=list)


def _regions_of(trace: str) -> list[_Traced]:
    """Read the ARM driver's dump: "PC ADDRESS" a line, ffffffff where nothing is accessed, "end" behind each
    region. An instruction that accesses several words has a line for each."""
    regions: list[_Traced] = []
    current = _Traced(set(), set(), Counter())
    last: int | None = None
    for line in trace.splitlines():
        if line.startswith("end"):
            regions.append(current)
            current, last = _Traced(set(), set(), Counter()), None
            continue
        pc_text, address_text = line.split()
        pc, address = int(pc_text, 16), int(address_text, 16)
        current.fetched.add(pc)
        current.accessed.append(pc)
        if address != NO_ADDRESS:
            current.read.add(address)
            current.accessed.append(address)
        if pc != last or address == NO_ADDRESS:
            current.executed[pc] += 1
        last = pc
    return regions


@lru_cache(maxsize=1)
def _code_hash() -> str:
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
