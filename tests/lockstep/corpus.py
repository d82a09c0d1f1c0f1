"""Firmware of the benchmark instead of random programs: the same requests in our driver and in a model of
others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lockstep.avr import Avr8js
from lockstep.engine import EngineFault, flat
from motecrypt.base.errors import MotecryptError
from motecrypt.base.frames import Frames, decode, encode
from motecrypt.base.model import Device, Implementation
from motecrypt.build.toolchain import BuildRequest, Firmware, build
from motecrypt.catalog import Catalog
from motecrypt.simulate.runners import Fault, Options, simavr

WORK_S = 120.0
"""Processor time of the simulator."""
KEY, NONCE, MESSAGE = bytes(range(32)), bytes(range(16, 32)), bytes(range(48))
BENCH = (("R", b"\0\1\0"), ("R", b"\1\1\0"), ("R", b"\2\1\0"))
SAME, FAULT = "same", "fault"
TICKS = slice(1, 5)
"""Of an answer "r": what the board's own timer counted, which is off in a simulator."""


@dataclass(frozen=True)
class Said:
    """What came back for the requests: answers without the timer's count, and cycles of regions."""

    answers: list[tuple[int, str, bytes]]
    cycles: list[int]


def implementations(device: Device) -> Iterator[tuple[Implementation, str]]:
    """Each implementation that the device can run, in each placement."""
    catalog = Catalog.load()
    for cipher in catalog.ciphers:
        for body in catalog.implementations_of(cipher, device.name):
            for placement in device.placements:
                yield body, placement


def built(device: Device, body: Implementation, placement: str) -> Firmware | None:
    """The firmware; None where it cannot be built or does not fit, which `measure` reports."""
    try:
        return build(BuildRequest(device, body, placement))
    except MotecryptError:
        return None


def frames(key_bytes: int, nonce_bytes: int) -> list[bytes]:
    """Key, nonce and message, then set-up, encryption and decryption."""
    wanted = [("K", KEY[:key_bytes]), ("N", NONCE[:nonce_bytes]), ("M", MESSAGE), *BENCH]
    return [encode(n, kind, data) for n, (kind, data) in enumerate((w for w in wanted if w[1]), start=1)]


def ending(device: Device, engine: Avr8js, firmware: Firmware, body: Implementation, folder: Path) -> str:
    """Whether both say and take the same for the requests: SAME, or how not; FAULT where ours ends in one,
    such as a stack that runs into data, which `measure` reports.
    """
    cipher = Catalog.load().cipher(body.cipher)
    sent = frames(max(cipher.key_bits) // 8, cipher.nonce_bytes)
    try:
        one = ours(device, firmware, sent)
    except Fault:
        return FAULT
    try:
        other = theirs(device, engine, firmware, sent, folder)
    except EngineFault as error:
        return f"{one} / {error}"
    return SAME if one == other else f"{one} / {other}"


def ours(device: Device, firmware: Firmware, sent: list[bytes]) -> Said:
    """By our driver."""
    came, answers = Frames(), list[bytes]()
    with simavr.open_session(device, firmware.elf, firmware.data_end, Options()) as session:
        for number, frame in enumerate([b"", *sent], start=1):  # the first answer is the greeting
            if frame:
                session.write(frame)
            while len(answers) < number and (said := session.read(WORK_S)):
                answers += came.feed(said)
        return Said(_compared(answers), [region.cycles for region in session.regions()])


def theirs(device: Device, engine: Avr8js, firmware: Firmware, sent: list[bytes], folder: Path) -> Said:
    """By avr8js."""
    more = {
        "input": b"".join(sent).hex(),
        "simulated": device.simulator["simulated_address"],
        "delimiters": 2 * (len(sent) + 1),
    }
    copy = folder / "corpus.elf"
    copy.write_bytes(firmware.elf.read_bytes())
    flat(copy, "avr-objcopy")
    output, cycles = engine.run(copy, folder, **more)
    return Said(_compared(Frames().feed(output)), cycles or [])


def _compared(answers: list[bytes]) -> list[tuple[int, str, bytes]]:
    found = []
    for number, kind, data in map(decode, answers):
        found.append((number, kind, data[: TICKS.start] + data[TICKS.stop :] if kind == "r" else data))
    return found
