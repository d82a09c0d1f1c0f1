"""How many times the cycles of encryption a public-key operation takes, on each device. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from motecrypt.adviser.publickey.baseline import AesCost
from motecrypt.adviser.publickey.handshakes import EVERY_S, MESSAGE_BYTES, YEAR_S
from motecrypt.adviser.publickey.rows import PublicKeyRow, fastest
from motecrypt.base.model import Operation

KILOBYTE = 1024


@dataclass(frozen=True)
class Slower:
    """One operation, by its fastest implementation, next to AES-128-CCM on the same device.

    `message`, `kilobyte` and `year` are its cycles divided by those of encrypting 16 bytes, 1,024 bytes, and
    a message of 16 bytes every ten minutes for a year.
    """

    device: str
    algorithm: str
    operation: str
    implementation: str
    cycles: int
    message: float
    kilobyte: float
    year: float


def slower(
    rows: Sequence[PublicKeyRow],
    aes: Mapping[str, AesCost],
    operations: Mapping[str, Sequence[Operation]],
) -> list[Slower]:
    """Each operation that ran, in the order of the devices in `aes` and of the algorithms in `operations`."""
    found = []
    for device, cost in aes.items():
        message = cost.cycles(MESSAGE_BYTES)
        for algorithm, kinds in operations.items():
            for operation in kinds:
                best = fastest(rows, device, algorithm, operation)
                if best is None or best.cycles is None:
                    continue
                found.append(
                    Slower(
                        device=device,
                        algorithm=algorithm,
                        operation=operation,
                        implementation=best.implementation,
                        cycles=best.cycles,
                        message=best.cycles / message,
                        kilobyte=best.cycles / cost.cycles(KILOBYTE),
                        year=best.cycles / (message * YEAR_S / EVERY_S),
                    )
                )
    return found
