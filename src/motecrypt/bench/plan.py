"""What to measure: the jobs (one firmware each) that make cells."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from motecrypt.catalog import Catalog, empty_implementation
from motecrypt.model import Cell, Cipher, Device, Implementation, Operation
from motecrypt.toolchain import BuildRequest


@dataclass(frozen=True)
class Job:
    """One built firmware and the lengths it is run at: what one worker does."""

    device: Device
    cipher: Cipher
    implementation: Implementation
    placement: str
    flags: tuple[str, ...]
    runs: tuple[tuple[str, int, int, int], ...]  # cache, key bits, message bytes, associated-data bytes
    stop: threading.Event = field(compare=False)  # set when nobody wants the outcome any more
    build_key: str = ""

    @property
    def title(self) -> str:
        """For progress: which device, cipher and implementation."""
        return f"{self.device.name} {self.cipher.name} {self.implementation.name}"

    def cell(self, operation: Operation, run: tuple[str, int, int, int]) -> Cell:
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
        )


def empty_request(device: Device, placement: str, tag_bytes: int) -> BuildRequest:
    return BuildRequest(device, empty_implementation(tag_bytes), placement)


def group(catalog: Catalog, cells: Sequence[Cell], stop: threading.Event) -> list[Job]:
    runs: dict[tuple[str, Implementation, str, tuple[str, ...]], dict[tuple[str, int, int, int], None]] = {}
    for cell in cells:
        group = runs.setdefault((cell.device, cell.implementation, cell.placement, cell.flags), {})
        group[(cell.cache, cell.key_bits, cell.message_bytes, cell.ad_bytes)] = None
    return [
        Job(catalog.device(d), catalog.cipher(body.cipher), body, placement, flags, tuple(run), stop)
        for (d, body, placement, flags), run in runs.items()
    ]
