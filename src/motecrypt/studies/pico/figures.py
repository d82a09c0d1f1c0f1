"""The strings of the Pico study: what the source printed, and ours for the same bytes. Pure.

The source's page names neither key nor IV; its author's sketch of case 3 (aesTest3, main.cpp, public) does:
a key of '0' characters and an IV of 01 01 01 01 02 02 ..., and it sets up the key before it starts its
clock. The ciphertexts printed for cases 1 (256 bits), 3 and 4 come out with them, byte for byte.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from motecrypt.base.model import Cell, Measurement, Operation
from motecrypt.catalog import DATA, Catalog
from motecrypt.catalog.cells import cells_for
from motecrypt.results import Results
from motecrypt.results.experiments.call_sequence import CallCosts, CallFailure, CallQuestion
from motecrypt.studies.words import words

SOURCE = words("pico").source
DEVICE = "pico"
TOOLCHAIN = "gcc-12"
"""The source names none; of those that Debian has, the oldest is nearest to its time and its core's."""
IV = bytes((1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4))
KEY_BITS = (128, 192, 256)
OPERATIONS: tuple[Operation, ...] = ("encrypt", "decrypt")
COMPILER_FLAGS = (("-O1",), ("-O2",))
#: Cycles a missed line costs: 35 would fit most of the source's rows and is only shown; the
#: others are the descriptor's quad reads.
FITTED_MISS_CYCLES = 35
MBED = "the source's whole program with Mbed OS and USB: build its sketches with the Arduino core for Mbed OS"
SIZES = ("ram-tables", "rom-tables", "rom-fewer-tables")


@dataclass(frozen=True)
class Case:
    """One of the source's four libraries. `configuration` None: it enters as a user's own folder.

    `key_in_call`: the timed call takes the key, so the set-up is in the printed time.
    """

    number: int
    library: str
    title: str
    configuration: str | None
    processed_bytes: int
    key_in_call: bool = False

    @property
    def text(self) -> bytes:
        """The source's input string, 47 characters."""
        return f"AES_Test_{self.number} - Hello! Testing AES Encryption here".encode()

    @property
    def message(self) -> bytes:
        """What cases 1, 3 and 4 process: the string with its closing zero, 48 bytes."""
        return self.text + b"\0"


CASES = (
    Case(1, "neilt6-mbed-aes", "Mbed AES (Thiessen)", None, 48),
    Case(2, "thinx-aes-lib", "AESLib (Sychra)", None, 80, key_in_call=True),
    Case(3, "mbedtls", "Mbed TLS", "rom-tables", 48),
    Case(4, "tiny-aes-c", "tiny-AES-c", "default", 48),
)


@dataclass(frozen=True)
class PrintedTimes:
    """One row of the source: times in microseconds, sizes in bytes of the whole program."""

    case: int
    key_bits: int
    encrypt_us: float
    decrypt_us: float
    ram_bytes: int
    flash_bytes: int

    def time_us(self, operation: str) -> float:
        """The time printed for an operation."""
        return self.encrypt_us if operation == "encrypt" else self.decrypt_us


def _rows(name: str) -> Iterator[dict[str, str]]:
    lines = (DATA / "published" / name).read_text().splitlines()
    yield from csv.DictReader(line for line in lines if not line.startswith("#"))


@cache
def printed() -> dict[tuple[int, int], PrintedTimes]:
    """The source's figures by case and key length."""
    return {
        (int(row["case"]), int(row["key_bits"])): PrintedTimes(
            int(row["case"]),
            int(row["key_bits"]),
            float(row["encrypt_us"]),
            float(row["decrypt_us"]),
            int(row["ram_bytes"]),
            int(row["flash_bytes"]),
        )
        for row in _rows("pico_strings.csv")
    }


@cache
def printed_ciphertexts() -> dict[tuple[int, int], str]:
    """The ciphertexts as printed, by case and key length."""
    return {(int(r["case"]), int(r["key_bits"])): r["printed"] for r in _rows("pico_ciphertexts.csv")}


def key_of_bits(key_bits: int) -> bytes:
    """The source's key of a length."""
    return b"0" * (key_bits // 8)


# --- what is measured ------------------------------------------------------------------------------


def sequence(case: Case, key_bits: int, operation: Operation) -> CallQuestion | None:
    """Set-up and call on the source's bytes; None for a library that no registry carries."""
    if case.configuration is None:
        return None
    return CallQuestion(
        DEVICE,
        case.library,
        case.configuration,
        f"aes{key_bits}-cbc",
        key_of_bits(key_bits).hex(),
        IV.hex(),
        case.message.hex(),
        operation,
        toolchain=TOOLCHAIN,
    )


def sequences() -> list[CallQuestion]:
    """All sequences that can be run."""
    every = (sequence(c, bits, o) for c in CASES for bits in KEY_BITS for o in OPERATIONS)
    return [s for s in every if s is not None]


def cells() -> list[Cell]:
    """Sizes in each configuration, and other optimisation levels of the configurations that count."""
    catalog = Catalog.load()
    device = catalog.device(DEVICE)
    wanted: list[Cell] = []
    for case in CASES:
        if case.configuration is None:
            continue
        for bits in KEY_BITS:
            for body in catalog.implementations_of(f"aes{bits}-cbc", DEVICE, (case.library,)):
                chosen = body.configuration == case.configuration
                if not chosen and bits != KEY_BITS[0]:
                    continue
                flag_sets: Sequence[tuple[str, ...]] = ((), *(COMPILER_FLAGS if chosen else ()))
                for flags in flag_sets:
                    wanted += cells_for(
                        catalog,
                        device,
                        body,
                        message_bytes=(48,),
                        placements=("flash",),
                        flags=flags,
                        toolchain=TOOLCHAIN,
                    )
    return wanted


# --- what was measured -----------------------------------------------------------------------------


@dataclass(frozen=True)
class CallTiming:
    """One call of one library: core cycles and the lines it missed, and where they are."""

    clock_hz: int
    core_cycles: int
    misses: int
    misses_cold: int
    setup_core_cycles: int
    setup_misses: int
    costs: CallCosts | None = None

    def time_us(self, miss_cycles: int, misses: int | None = None) -> float:
        """Microseconds when a missed line costs `miss_cycles`."""
        lines = self.misses if misses is None else misses
        return (self.core_cycles + lines * miss_cycles) * 1e6 / self.clock_hz

    def setup_us(self, miss_cycles: int) -> float:
        """Microseconds of the key's set-up, on an empty cache."""
        return (self.setup_core_cycles + self.setup_misses * miss_cycles) * 1e6 / self.clock_hz

    def lines_for(self, time_us: float, miss_cycles: int) -> float:
        """How many missed lines a time would take."""
        return (time_us * self.clock_hz / 1e6 - self.core_cycles) / miss_cycles


def miss_cycles() -> tuple[int, int, int]:
    """Cycles a missed line costs: fitted by others, by the source's boot2, with the SDK's default divider."""
    quad, slower, *_ = Catalog.load().device(DEVICE).simulator["flash_read"]
    costs = [int(read["clocks"]) * int(read["divider"]) for read in (quad, slower)]
    return FITTED_MISS_CYCLES, costs[0], costs[1]


Timings = Mapping[tuple[int, int, Operation], CallTiming | str]


def timings(results: Results) -> Timings:
    """Every call of the source and of ours, by case number, key length and operation."""
    return {
        (case.number, bits, operation): _timing(results, case, bits, operation)
        for case in CASES
        for bits in KEY_BITS
        for operation in OPERATIONS
    }


def _timing(results: Results, case: Case, key_bits: int, operation: Operation) -> CallTiming | str:
    """Ours, or in a line why there is none."""
    request = sequence(case, key_bits, operation)
    if request is None:
        return brought(results, case, key_bits, operation)
    costs = request.answer(results)
    if isinstance(costs, CallFailure):
        return costs.failed
    if not isinstance(costs, CallCosts):
        return "not measured"
    return CallTiming(
        clock_hz=Catalog.load().device(DEVICE).clock_hz,
        core_cycles=costs.call_core_cycles,
        misses=costs.call_misses_kept,
        misses_cold=costs.call_misses_cold,
        setup_core_cycles=costs.setup_core_cycles,
        setup_misses=costs.setup_misses_cold,
        costs=costs,
    )


BRING = "add the library: no package registry carries it (docs/bring-your-library.md)"


def brought(results: Results, case: Case, key_bits: int, operation: Operation) -> CallTiming | str:
    """The newest cells that a user's own folder of this library's name has given, or what to do for one."""
    core = misses = 0
    for step in ("setup", operation) if case.key_in_call else (operation,):
        found = results.newest_measurements(
            device=DEVICE,
            library=case.library,
            cipher=f"aes{key_bits}-cbc",
            operation=step,
            message_bytes=case.processed_bytes,
            cache="cold",
        )
        if not found:
            return BRING
        if found[0].status != "ok":
            return found[0].reason
        core += int(found[0].extra["core_cycles"])
        misses += int(found[0].extra["cache_misses"])
    return CallTiming(Catalog.load().device(DEVICE).clock_hz, core, misses, misses, 0, 0)


def brought_sizes(results: Results) -> dict[tuple[str, str], Sized]:
    """Sizes at 128 bits of the libraries that a user's own folders have given, by library, as in `sizes`."""
    found: dict[tuple[str, str], Sized] = {}
    for case in CASES:
        if case.configuration is not None:
            continue
        built = results.newest_measurements(
            device=DEVICE, library=case.library, cipher=f"aes{KEY_BITS[0]}-cbc"
        )
        for m in built:
            if m.flash_bytes is not None:
                found[case.library, ""] = Sized(m.flash_bytes, m.flash_symbol_bytes or 0, m.ram_bytes or 0)
                break
    return found


@dataclass(frozen=True)
class Sized:
    """What a library takes, by difference to a no-op cipher, and its own symbols; in bytes."""

    flash_bytes: int
    symbol_bytes: int
    ram_bytes: int


def measured(results: Results) -> list[tuple[Cell, Measurement]]:
    """What is stored of `cells()`."""
    return list(results.newest(cells()).items())


def sizes(found: Sequence[tuple[Cell, Measurement]]) -> dict[tuple[str, str], Sized]:
    """Sizes at 128 bits by library and configuration, those that could be built."""
    return {
        (m.library, m.configuration): Sized(m.flash_bytes, m.flash_symbol_bytes or 0, m.ram_bytes or 0)
        for cell, m in found
        if not cell.flags and m.key_bits == KEY_BITS[0] and m.flash_bytes is not None
    }


def unsized(found: Sequence[tuple[Cell, Measurement]], library: str, configuration: str | None) -> str:
    """Why a library has no sizes, where that is known."""
    known = (
        m.reason
        for cell, m in found
        if not cell.flags
        and (m.library, m.configuration, m.key_bits) == (library, configuration, KEY_BITS[0])
        and m.flash_bytes is None
    )
    return next(known, "")


def by_flags(
    found: Sequence[tuple[Cell, Measurement]], case: Case, key_bits: int, operation: str
) -> dict[tuple[str, str], float]:
    """Microseconds by optimisation level and cache, on the measurements' random inputs."""
    wanted = (case.library, case.configuration, key_bits, operation)
    return {
        (" ".join(cell.flags) or "-Os", m.cache): m.time_us
        for cell, m in found
        if (m.library, m.configuration, m.key_bits, m.operation) == wanted and m.time_us is not None
    }


def why_unsized(found: Sequence[tuple[Cell, Measurement]], *cases: Case) -> str:
    """Why a library has no sizes; what to do for one that no registry carries."""
    reasons = (unsized(found, case.library, case.configuration) for case in cases)
    unknown = BRING if any(case.configuration is None for case in cases) else "not measured"
    return next((reason for reason in reasons if reason), unknown)
