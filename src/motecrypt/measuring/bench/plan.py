"""What to measure: the jobs (one firmware each) that make cells."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from motecrypt.base.model import Cell, Cipher, Device, Implementation, Operation
from motecrypt.build.toolchain import BuildRequest
from motecrypt.build.toolchain.pinned import with_toolchain
from motecrypt.catalog import Catalog, empty_implementation
from motecrypt.catalog.publickey import ON_A_MESSAGE, PublicKeyAlgorithm

Group = tuple[str, Implementation, str, tuple[str, ...], str]
Run = tuple[str, int, int, int]
"""Cache, key bits, message bytes, associated-data bytes."""


@dataclass(frozen=True)
class Job:
    """One built firmware and the lengths it is run at: what one worker does.

    `device` has the compiler that is used; `toolchain` is what the cells asked for.
    """

    device: Device
    cipher: Cipher | PublicKeyAlgorithm
    implementation: Implementation
    placement: str
    flags: tuple[str, ...]
    runs: tuple[Run, ...]
    stop: threading.Event = field(compare=False)  # set when nobody wants the outcome any more
    build_key: str = ""
    toolchain: str = ""

    @property
    def title(self) -> str:
        """For progress: which device, cipher and implementation."""
        return f"{self.device.name} {self.cipher.name} {self.implementation.name}"

    @property
    def group(self) -> Group:
        """What its cells have in common."""
        return (self.device.name, self.implementation, self.placement, self.flags, self.toolchain)

    def cells(self, run: Run) -> list[Cell]:
        """The cells of all operations in one run."""
        return [self.cell(operation, run) for operation in self.implementation.operations]

    def cell(self, operation: Operation, run: Run) -> Cell:
        """The cell of one operation in one run."""
        cache, key_bits, message_bytes, ad_bytes = run
        return Cell(
            device=self.device.name,
            implementation=self.implementation,
            operation=operation,
            key_bits=key_bits,
            message_bytes=message_bytes,
            ad_bytes=ad_bytes,
            placement=self.placement,
            cache=cache,
            flags=self.flags,
            toolchain=self.toolchain,
        )


def empty_request(device: Device, placement: str, tag_bytes: int) -> BuildRequest:
    return BuildRequest(device, empty_implementation(tag_bytes), placement)


def group_of(cell: Cell) -> Group:
    """What the cells of one firmware have in common: device, body, placement, flags, toolchain."""
    return (cell.device, cell.implementation, cell.placement, cell.flags, cell.toolchain)


def group(catalog: Catalog, cells: Sequence[Cell], stop: threading.Event) -> list[Job]:
    runs: dict[Group, dict[Run, None]] = {}
    for cell in cells:
        group = runs.setdefault(group_of(cell), {})
        group[(cell.cache, cell.key_bits, cell.message_bytes, cell.ad_bytes)] = None
    devices = Devices(catalog)
    return [
        Job(
            device=devices.get(device, toolchain, body),
            cipher=catalog.measured(body.cipher),
            implementation=body,
            placement=placement,
            flags=flags,
            runs=tuple(run),
            stop=stop,
            toolchain=toolchain,
        )
        for (device, body, placement, flags, toolchain), run in runs.items()
    ]


class Devices:
    """A catalog's devices with the compilers of its toolchains: each is looked up once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._found: dict[tuple[str, str], Device] = {}

    def get(self, name: str, toolchain: str, body: Implementation) -> Device:
        """The device; its compiler is the toolchain's, or the system's own where that is empty. The benchmark
        firmware holds what a public-key operation takes and gives, and the operation may take long.

        Raises
        ------
        InputError
            There is no such device or toolchain, or the toolchain is not available.
        """
        key = (name, toolchain)
        if key not in self._found:
            device = self._catalog.device(name)
            if toolchain:
                self._catalog.toolchain(toolchain)
            self._found[key] = with_toolchain(device, toolchain, self._catalog.toolchains)
        algorithm = self._catalog.public_keys.get(body.cipher)
        return self._found[key] if algorithm is None else public_key_device(self._found[key], algorithm, body)


MESSAGE_BYTES = 64  # of a message that is signed
PUBLIC_KEY_CYCLES_MAX = 40_000_000_000  # a request that takes longer counts as endless


def public_key_device(device: Device, algorithm: PublicKeyAlgorithm, body: Implementation) -> Device:
    """The device with room in the benchmark firmware for one operation, and with the time that it takes."""
    (operation,) = body.operations
    room = algorithm.input_bytes(operation) + algorithm.output_bytes(operation)
    signed = MESSAGE_BYTES if operation in ON_A_MESSAGE else 1
    more = (f"-Wl,--defsym=__stack_bytes={algorithm.stack_bytes}",)
    compiler = device.compiler
    if algorithm.stack_bytes and device.runner == "arm":
        compiler = replace(compiler, link_flags=(*compiler.link_flags, *more))
    return replace(
        device,
        compiler=compiler,
        bench={**device.bench, "key": 16, "nonce": 1, "ad": signed, "message": max(16, room)},
        simulator={**device.simulator, "max_cycles": PUBLIC_KEY_CYCLES_MAX}
        if device.simulated
        else device.simulator,
    )
