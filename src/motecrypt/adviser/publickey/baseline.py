"""What encryption alone costs on a device, which public-key operations are compared with: recorded cycles of
AES-128-CCM with a tag of 8 bytes, the cipher of the protocols whose handshakes are compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

from motecrypt.adviser.publickey.rows import COMMAND
from motecrypt.base.energy import cycles_per_byte
from motecrypt.base.errors import InputError
from motecrypt.catalog.places import DATA
from motecrypt.catalog.recorded_rows import recorded_rows

RECORDED_AES = DATA / "public_key" / "aes.jsonl"
CIPHER = "aes128-ccm8"
BLOCK_BYTES = 16
#: Calls of AES for each further block: one for the keystream, one for the tag (RFC 3610, section 2).
CALLS_A_BLOCK = 2
LENGTHS = (16, 64, 256, 1024)


@dataclass(frozen=True)
class AesRow:
    """Cycles to encrypt a message of `message_bytes` with a key that is set up."""

    device: str
    cipher: str
    implementation: str
    message_bytes: int
    cycles: int
    compiler: str
    measured_on: str


@dataclass(frozen=True)
class AesCost:
    """What encryption costs on one device; `points` are (bytes of the message, cycles), ascending."""

    device: str
    cipher: str
    implementation: str
    points: tuple[tuple[int, int], ...]
    measured_on: str

    def cycles(self, message_bytes: int) -> float:
        """Cycles for one message: measured, or on the straight line through the two nearest lengths."""
        pairs = list(pairwise(self.points))
        lower, upper = next((p for p in pairs if message_bytes <= p[1][0]), pairs[-1])
        return lower[1] + cycles_per_byte(lower, upper) * (message_bytes - lower[0])

    @property
    def block_cycles(self) -> float:
        """Cycles of one call of AES, from what each further block costs."""
        (short, few), (long, many) = self.points[0], self.points[-1]
        return (many - few) / ((long - short) / BLOCK_BYTES) / CALLS_A_BLOCK


def aes_text(rows: Iterable[AesRow]) -> str:
    """Rows as `aes_costs` reads them, one a line."""
    lines = [json.dumps(asdict(row), sort_keys=True, separators=(",", ":")) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def aes_rows(path: Path = RECORDED_AES) -> list[AesRow]:
    """The recorded rows; InputError where a line is not one."""
    return recorded_rows(path, AesRow, "not a recorded figure", COMMAND)


def aes_costs(path: Path = RECORDED_AES) -> dict[str, AesCost]:
    """What encryption costs, by device.

    Raises
    ------
    InputError
        The file is wrong, or has fewer than two lengths of a device.
    """
    groups: dict[str, list[AesRow]] = {}
    for row in aes_rows(path):
        groups.setdefault(row.device, []).append(row)
    return {name: _cost(path, name, rows) for name, rows in groups.items()}


def _cost(path: Path, name: str, rows: Sequence[AesRow]) -> AesCost:
    points = tuple(sorted((row.message_bytes, row.cycles) for row in rows))
    if len({length for length, _ in points}) < 2 or len(points) != len({length for length, _ in points}):
        raise InputError(f"{path}: expected two or more lengths of {name}, each once")
    first = rows[0]
    return AesCost(name, first.cipher, first.implementation, points, max(row.measured_on for row in rows))
