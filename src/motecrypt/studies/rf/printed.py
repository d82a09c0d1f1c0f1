"""The paper of the RF study, and what its own arithmetic and the line's physics say of it. Pure."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from motecrypt.air.radios import load_radio
from motecrypt.link.metrics import expansion, throughput_kb_s, time_difference_ms
from motecrypt.link.modes import encoded_bytes

PAYLOADS = {"T": "plaintext", "C": "ciphertext", "P": "ciphertext with padding"}
PRINTED_TOTAL_KB = {"T": 0.688, "C": 1.504, "P": 1.588}
PRINTED_AVERAGE_KB_S = {"T": 11.868, "C": 12.024, "P": 13.3545}
TIMEOUTS_MS = (100.0, 16.0)
CLOCK_TOLERANCE = 0.02
"""A UART still works with a clock this far off: a row no further below the line's bound proves nothing."""

STUDENT_T = 2.306
"""Student's t for 95 %, two-sided, with the 8 degrees of freedom of a line through ten points."""

HALF_A_DIGIT = 0.0005
"""The paper has three decimals: what is recomputed from them may differ by rounding, not more."""


@dataclass(frozen=True)
class Row:
    """One payload as printed. None where the tables have no such cell."""

    number: int
    payload: str
    size_bytes: int
    time_ms: float
    difference_ms: float | None
    throughput_kb_s: float
    expansion: float | None

    @property
    def name(self) -> str:
        """As the paper calls it, such as C9."""
        return f"{self.payload}{self.number}"


def _number(text: str) -> float | None:
    return float(text) if text else None


@cache
def rows() -> tuple[Row, ...]:
    """All thirty payloads, T1, C1, P1, T2 ..."""
    text = (files("motecrypt") / "data" / "published" / "rf_aes256.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return tuple(
        Row(
            int(line["n"]),
            line["payload"],
            round(1000 * float(line["size_kb"])),
            float(line["time_ms"]),
            _number(line["time_difference_ms"]),
            float(line["throughput_kb_s"]),
            _number(line["expansion_factor"]),
        )
        for line in csv.DictReader(lines)
    )


def row(name: str) -> Row:
    """The payload of that name."""
    return next(entry for entry in rows() if entry.name == name)


def of(payload: str) -> list[Row]:
    """The ten payloads of one kind."""
    return [entry for entry in rows() if entry.payload == payload]


def plain_row(entry: Row) -> Row:
    """The plaintext that belongs to a payload."""
    return row(f"T{entry.number}")


def rule_bytes(entry: Row) -> int:
    """How long the payload must be: hex of PKCS#7-padded CBC blocks, for P filled to packets of 12."""
    return encoded_bytes(entry.payload, plain_row(entry).size_bytes)


def zero_padding_bytes(entry: Row) -> int:
    """The same with zero padding, which adds nothing to whole blocks."""
    blocks = 2 * (-(-plain_row(entry).size_bytes // 16) * 16)
    return blocks if entry.payload == "C" else -(-blocks // 12) * 12


def line_bound_ms(size_bytes: int) -> float:
    """Milliseconds of the serial line for a number of bytes: 86.8 us each at 115200 8N1."""
    return size_bytes * load_radio("srf").serial_byte_us / 1000


def too_fast(entry: Row) -> float:
    """By what part the printed time is below what the line needs; 0 when it is not."""
    bound = line_bound_ms(entry.size_bytes)
    return max(1 - entry.time_ms / bound, 0.0)


def difference_ms(entry: Row) -> float:
    """The paper's (2) from the printed times."""
    return time_difference_ms(entry.time_ms, plain_row(entry).time_ms)


def throughput(entry: Row) -> float:
    """The paper's (1) from printed size and time."""
    return throughput_kb_s(entry.size_bytes, entry.time_ms)


def throughput_slack(entry: Row) -> float:
    """How far the throughput may be off because size and time are printed with three decimals."""
    return throughput(entry) * HALF_A_DIGIT / entry.time_ms + HALF_A_DIGIT


def factor(entry: Row) -> float:
    """The paper's (3) and (4) from the printed sizes."""
    return expansion(entry.size_bytes, plain_row(entry).size_bytes)


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean, the same with every version of Python, whose own sums of fractions differ."""
    return math.fsum(values) / len(values)


def mean_time_ms(payload: str) -> float:
    """Mean of the ten printed times of a kind."""
    return mean([entry.time_ms for entry in of(payload)])


def slope_us(payload: str) -> float:
    """Least-squares slope of printed time over printed size, in us a byte."""
    sizes = [float(entry.size_bytes) for entry in of(payload)]
    times = [1000 * entry.time_ms for entry in of(payload)]
    size, time = mean(sizes), mean(times)
    above = math.fsum((s - size) * (t - time) for s, t in zip(sizes, times, strict=True))
    return above / math.fsum((s - size) ** 2 for s in sizes)


def fixed_us(payload: str) -> float:
    """What the same line leaves for each message, however long it is, in us."""
    sizes = [float(entry.size_bytes) for entry in of(payload)]
    return 1000 * mean_time_ms(payload) - slope_us(payload) * mean(sizes)


def slope_error_us(payload: str) -> float:
    """The half width of the slope's 95 % interval, in us a byte."""
    slope, fixed, rows = slope_us(payload), fixed_us(payload), of(payload)
    middle = mean([float(entry.size_bytes) for entry in rows])
    left = math.fsum((1000 * entry.time_ms - fixed - slope * entry.size_bytes) ** 2 for entry in rows)
    spread = math.fsum((entry.size_bytes - middle) ** 2 for entry in rows)
    return STUDENT_T * math.sqrt(left / (len(rows) - 2) / spread)
