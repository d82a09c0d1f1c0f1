"""What an exported link takes of a simulated chip, each step next to the same core on this computer.

The node's packets must be those that the host's core sends from the same storage; else there is no figure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from motecrypt.base.errors import InputError
from motecrypt.base.frames import ProtocolError
from motecrypt.base.model import Device, ExperimentResult, Implementation
from motecrypt.build.toolchain import BuildError, BuildRequest
from motecrypt.catalog import Catalog
from motecrypt.exports.link_cost import BuiltProgram, LinkProgram, built
from motecrypt.exports.link_node import FixedRadio, suite_of
from motecrypt.link.native import (
    CONFIRMED,
    GATEWAY,
    LISTENS,
    LONG,
    STREAM,
    Event,
    KeyBlock,
    NativeLink,
    link_library,
    open_library,
)
from motecrypt.results import Results
from motecrypt.results.experiments.link_cost import KIND, VERSION, LinkCostQuestion
from motecrypt.simulate.runners import Options, Region, Session, counts_while_tracing, runner_of

READING_BYTES = 6
"""Length of the messages if a short packet need not be full."""

ANSWER_S = 60.0
_SHORT_OVERHEAD = 6
_LINK_HEAD, _TAG_AND_MARK = 22, 17
_END = b"\x7e"
_NODE, _KEY = 5, bytes(range(16))


class LinkCost(LinkCostQuestion):
    """An exported link, built and run on its simulated device."""

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """Return the stored result, or build and run the link and store what it takes."""
        program = self._program()
        inputs = {**self.asked(), "build": program.key, "runner": self._runner(), "code": _code_hash()}
        stored = self.kept(results, inputs)
        if stored is not None:
            return stored
        if progress is not None:
            progress(f"{self.device} link with {self.cipher} {self.variant}")
        try:
            with built(program) as made:
                outcome = self._costs(program, made)
        except (BuildError, ProtocolError) as error:
            outcome = {"failed": str(error)}
            if error.transient:
                return ExperimentResult(KIND, VERSION, inputs, outcome)
        return results.store_experiment(KIND, VERSION, inputs, outcome, self.asked())

    def _subject(self) -> tuple[Device, Implementation]:
        catalog = Catalog.load()
        for body in catalog.implementations_of(self.cipher, self.device, ("motecrypt",)):
            if body.variant == self.variant:
                return catalog.device(self.device), body
        raise InputError(f"{self.cipher}: no variant '{self.variant}' runs on {self.device}")

    def _runner(self) -> str:
        device, _ = self._subject()
        return str(runner_of(device.runner).identity(device))

    def _program(self) -> LinkProgram:
        device, body = self._subject()
        return LinkProgram(
            BuildRequest(device, body, self.placement),
            suite_of(Catalog.load().cipher(self.cipher)),
            FixedRadio(self.options, self.packet_bytes),
            self.fixed,
            self.storage,
            self.flags,
            self._reading_bytes,
        )

    @property
    def _reading_bytes(self) -> int:
        """On a serial line a short packet is a full one."""
        return self.packet_bytes - _SHORT_OVERHEAD if self.options & STREAM else READING_BYTES

    def _costs(self, program: LinkProgram, made: BuiltProgram) -> Mapping[str, Any]:
        device = program.request.device
        steps = self._steps(program, made, Options(trace=True, cache="warm"))
        stack = max(region.stack_bytes or 0 for _, region in steps)
        if not counts_while_tracing(device):
            steps = self._steps(program, made, Options(cache="warm"))
        cycles = {name: region.cycles for name, region in steps}  # of two with one name the later
        buffers = 2 * (_LINK_HEAD + self._reading_bytes + _TAG_AND_MARK + self.packet_bytes)
        stands_for_flash = 8192 if self.storage == "flash.h" else 188 * (device.runner != "simavr")
        takes = {
            "compiler": made.compiler,
            "flash_bytes": made.with_link.flash - made.without.flash,
            "ram_bytes": made.with_link.ram - made.without.ram - buffers - stands_for_flash,
            "buffer_bytes": buffers,
            "stack_bytes": stack,
            "reading_bytes": self._reading_bytes,
            "start_cycles": cycles["start"],
            "send_cycles": cycles["send"],
            "derive_cycles": cycles["send after another key"] - cycles["send"],
        }
        if self.options & LISTENS:
            takes |= {"receive_cycles": cycles["receive"], "refuse_cycles": cycles["refuse"]}
        return takes

    def _steps(self, program: LinkProgram, made: BuiltProgram, options: Options) -> list[tuple[str, Region]]:
        device = program.request.device
        runner = runner_of(device.runner)
        with runner.open_session(device, made.elf, made.data_end, options) as session:
            played = _Play(session, program, self.options, self.packet_bytes)
            return played.steps(self._reading_bytes)


class _Play:
    """The node on the chip, the same node here, and their gateway."""

    def __init__(self, session: Session, program: LinkProgram, options: int, packet_bytes: int) -> None:
        library = open_library(link_library(program.suite))
        self._session = session
        self._listens = bool(options & LISTENS)
        self._mirror, self._gateway = NativeLink(library), NativeLink(library)
        for end, more in ((self._mirror, 0), (self._gateway, GATEWAY)):
            end.provision(KeyBlock(_NODE, options | more, packet_bytes, 1, _KEY))
        self._storage = self._mirror.storage
        for end in (self._mirror, self._gateway):
            end.begin()
        self._regions: list[tuple[str, Region]] = []

    def steps(self, length: int) -> list[tuple[str, Region]]:
        """All that is counted, in order; `length` of the messages."""
        reading = bytes(range(length))
        self._hear()
        self._tell("storage", "P", 0, self._storage)
        self._regions.clear()
        event, _ = self._tell("start", "B", 0, b"")
        _same(event, Event.NOTHING)
        self._up("first", reading)
        self._up("second", reading)
        if self._listens:
            self._down("long", reading, CONFIRMED | LONG)
            self._down("first receive", reading)
            self._down("receive", reading)
            self._gateway.send(reading)
            (packet,) = self._gateway.packets()
            for _ in range(3):  # the first counts failures in storage, the second derives the key again
                self._receive("refuse", packet[:-1] + bytes([packet[-1] ^ 1]))
        else:
            self._long_again(reading)
        self._up("send after another key", reading)
        self._up("send", reading)
        return self._regions

    def _long_again(self, reading: bytes) -> None:
        """Another key is used last where a long message goes between two short ones."""
        self._up("long", reading, LONG)

    def _up(self, name: str, message: bytes, how: int = 0) -> None:
        told = self._tell(name, "S", how, message)
        event = self._mirror.send(message, how)
        packets = self._mirror.packets()
        _same(told, (event, b"".join(packets)))
        for packet in packets:
            if self._gateway.receive(packet) is Event.MESSAGE:
                self._gateway.answer(True)
        if self._listens:
            for answer in self._gateway.packets():
                self._receive("answer", answer)

    def _down(self, name: str, message: bytes, how: int = 0) -> None:
        self._gateway.send(message, how)
        for packet in self._gateway.packets():
            self._receive(name, packet)

    def _receive(self, name: str, packet: bytes) -> None:
        told = self._tell(name, "R", 0, packet)
        event = self._mirror.receive(packet)
        if event is Event.MESSAGE:
            self._mirror.answer(True)
        answers = self._mirror.packets()
        _same(told, (event, b"".join(answers)))
        for answer in answers:
            self._gateway.receive(answer)

    def _tell(self, name: str, what: str, how: int, data: bytes) -> tuple[int, bytes]:
        """Ask the chip: its event and its packets."""
        self._session.write(_letters(bytes([ord(what), how, len(data)]) + data) + _END)
        said = self._hear()
        (region,) = self._session.regions()
        self._regions.append((name, region))
        return said[0], said[3:]

    def _hear(self) -> bytes:
        """What the chip says next."""
        said, end = b"", self._session.clock.now() + ANSWER_S
        while not said.endswith(_END):
            came = self._session.read(end)
            if not came:
                raise ProtocolError("the link on the chip does not answer")
            said += came
        return bytes.fromhex("".join(f"{letter - ord('A'):x}" for letter in said[:-1]))


def _letters(data: bytes) -> bytes:
    """Two letters a byte, so that none is what ends a frame."""
    return bytes(ord("A") + int(digit, 16) for digit in data.hex())


def _same(told: object, expected: object) -> None:
    if told != expected:
        raise ProtocolError("the link on the chip differs from the link on this computer")


@lru_cache(maxsize=1)
def _code_hash() -> str:
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
