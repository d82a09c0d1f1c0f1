"""The question how fast ciphers run on a computer, and how its answer's rows are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from motecrypt.base.errors import InputError
from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

KIND = "host-speed"
VERSION = 1
LIBRARIES = ("libtomcrypt", "openssl", "cryptopp")
OPERATIONS = ("setup", "encrypt", "decrypt")
NO_AES = "openssl without AES instructions"


@dataclass(frozen=True)
class SpeedPoint:
    """One cipher at one key length; `rounds` 0 is the cipher's own number (others: RC6 only)."""

    cipher: str
    key_bits: int
    rounds: int = 0


def standard_points(modes: Sequence[str] = ("ecb", "cbc", "ctr")) -> tuple[SpeedPoint, ...]:
    """The source's six ciphers in every mode and key length, and RC6 with fewer and more rounds."""
    points = [SpeedPoint(f"aes{bits}-{mode}", bits) for mode in modes for bits in (128, 192, 256)]
    for family, lengths in (("des", (64,)), ("3des", (192,)), ("rc2", (64, 128)), ("blowfish", (128, 448))):
        points += [SpeedPoint(f"{family}-{mode}", bits) for mode in modes for bits in lengths]
    points += [SpeedPoint(f"rc6-{mode}", bits) for mode in modes for bits in (128, 192, 256)]
    points += [SpeedPoint(f"rc6-{modes[-1]}", 128, rounds) for rounds in (8, 12, 16, 24)]
    return tuple(points)


@dataclass(frozen=True)
class SpeedMachine:
    """The computer that was timed; `rapl` are its energy counters that could be read."""

    processor: str
    counter: str
    aes_instructions: bool | None
    rapl: tuple[str, ...]


@dataclass(frozen=True)
class SpeedRow(Answer):
    """One variant of ours or one library, at one operation.

    Attributes
    ----------
    rounds
        0: the cipher's own number.
    library
        "motecrypt/VARIANT", a library's name, or NO_AES.
    bytes
        How many in one run; 0 for a set-up.
    cycles, wall_ns
        Median of one run: in units of the computer's counter, and nanoseconds of wall time.
    """

    cipher: str
    key_bits: int
    rounds: int
    operation: str
    library: str
    bytes: int
    cycles: float
    wall_ns: float

    @property
    def cycles_per_byte(self) -> float | None:
        """Cycles (units of the counter) for each byte; None for a set-up."""
        return self.cycles / self.bytes if self.bytes else None

    @property
    def ours(self) -> bool:
        """Whether it is one of our variants."""
        return self.library.partition("/")[0] == "motecrypt"


@dataclass(frozen=True)
class Speeds(Answer):
    """Every row, the computer, and the libraries that were not installed."""

    machine: SpeedMachine
    missing: tuple[str, ...]
    rows: tuple[SpeedRow, ...]


@dataclass(frozen=True)
class SpeedQuestion(ExperimentQuestion):
    """What is to be timed on this computer.

    Parameters
    ----------
    points
        Ciphers and key lengths.
    message_bytes
        Bytes encrypted in one go, a multiple of 16, at most 16 MiB.
    rounds
        How often each is timed, in turns with the others; 5 to 4096.
    libraries
        Which of LIBRARIES to time next to ours; those that are not installed are named in the outcome.
    """

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION
    ANSWER: ClassVar[type[Answer]] = Speeds

    points: tuple[SpeedPoint, ...] = standard_points()
    message_bytes: int = 32768
    rounds: int = 31
    libraries: tuple[str, ...] = LIBRARIES
    operations: tuple[str, ...] = OPERATIONS

    def check(self) -> None:
        """Raise InputError for what cannot be timed."""
        if self.message_bytes % 16 or not 16 <= self.message_bytes <= 1 << 24:
            raise InputError(f"{self.message_bytes} bytes: a multiple of 16 from 16 to 16,777,216 is timed")
        if not 5 <= self.rounds <= 4096:
            raise InputError(f"{self.rounds} rounds: 5 to 4096 make a figure")
        for name in self.libraries:
            if name not in LIBRARIES:
                raise InputError(f"library {name!r}: unknown here; choose from {', '.join(LIBRARIES)}")

    def answer(self, results: Results) -> Speeds | None:
        """The newest stored answer, or None where there is none of its shape."""
        found = self.find(results)
        return None if found is None else Speeds.from_json(found.outcome)

    def asked(self) -> dict[str, Any]:
        """The request: which ciphers and libraries, how long and how often."""
        return {
            "points": [asdict(point) for point in self.points],
            "message_bytes": self.message_bytes,
            "rounds": self.rounds,
            "operations": list(self.operations),
            "libraries": sorted(self.libraries),
        }


# --- views: pure, over an answer's rows ------------------------------------------------------------------


def best_of_ours(rows: Sequence[SpeedRow]) -> SpeedRow | None:
    """The fastest of our variants among the rows of one cipher, key length and operation."""
    return min((row for row in rows if row.ours), key=lambda row: row.cycles, default=None)


def ratio_to(rows: Sequence[SpeedRow], library: str) -> float | None:
    """Our best cycles over a library's: above 1 we are slower. None where one is missing."""
    ours = best_of_ours(rows)
    theirs = next((row for row in rows if row.library == library), None)
    return ours.cycles / theirs.cycles if ours and theirs and theirs.cycles else None


def grouped(rows: Sequence[SpeedRow]) -> dict[tuple[str, int, int, str], list[SpeedRow]]:
    """Rows by cipher, key bits, rounds and operation: what may be compared."""
    groups: dict[tuple[str, int, int, str], list[SpeedRow]] = {}
    for row in rows:
        groups.setdefault((row.cipher, row.key_bits, row.rounds, row.operation), []).append(row)
    return groups
