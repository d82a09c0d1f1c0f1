"""The Wi-Fi study's paper, its conditions, and the questions whose answers it reads. Pure."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files

from motecrypt.air.wlan import filecost
from motecrypt.air.wlan.filecost import FileCost
from motecrypt.air.wlan.samples import encoded_bytes
from motecrypt.base.model import Cell, Measurement
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.results.experiments import recorded
from motecrypt.results.experiments.data_types import DataTypesQuestion, DataTypeTimes
from motecrypt.results.experiments.file_sizes import EncodingQuestion, EncodingTimes, SizeQuestion, SizeTimes
from motecrypt.results.experiments.host_speed import (
    SpeedMachine,
    SpeedQuestion,
    SpeedRow,
    Speeds,
    best_of_ours,
    standard_points,
)
from motecrypt.results.experiments.wlan_transfer import Spread, WlanQuestion, WlanTransfer
from motecrypt.studies.facts import Tolerance
from motecrypt.studies.words import words

SOURCE = words("wlan").source

# One file of each type, within the source's sizes. Text and audio are well inside their ranges: the
# ratios below do not depend on the size, and a second simulation of 5 MB would show nothing new.
DATA: dict[str, int] = {"text": 2_000_000, "audio": 2_000_000, "video": 4_006_000, "image": 131_000}
TABLES = {"text": "table 1", "audio": "table 2", "video": "table 3"}

# The source names ciphers, key lengths (RC2 64, DES 64, 3DES 3 x 64, AES 128, Blowfish 128, RC6 128), and
# no mode: cipher block chaining is what its tools of 2008 did by default.
CIPHERS: dict[str, tuple[str, int]] = {
    "AES": ("aes128-cbc", 128),
    "DES": ("des-cbc", 64),
    "RC2": ("rc2-cbc", 64),
    "3DES": ("3des-cbc", 192),
    "Blowfish": ("blowfish-cbc", 128),
    "RC6": ("rc6-cbc", 128),
}

LONGER_KEYS: dict[str, tuple[tuple[str, int], ...]] = {
    "AES": (("aes128-cbc", 128), ("aes192-cbc", 192), ("aes256-cbc", 256)),
    "RC6": (("rc6-cbc", 128), ("rc6-cbc", 192), ("rc6-cbc", 256)),
    "RC2": (("rc2-cbc", 64), ("rc2-cbc", 128)),
    "Blowfish": (("blowfish-cbc", 128), ("blowfish-cbc", 448)),
}

# Columns of tables 1 to 3: mode, security, signal. The source ran the poor signal under WEP.
COLUMNS: dict[str, tuple[str, str, str]] = {
    "adhoc_open": ("adhoc", "open", "good"),
    "adhoc_wep": ("adhoc", "wep", "good"),
    "adhoc_poor": ("adhoc", "wep", "poor"),
    "bss_wpa_tkip": ("infrastructure", "tkip", "good"),
    "bss_open": ("infrastructure", "open", "good"),
}
COLUMN_TITLES = {
    "adhoc_open": "ad hoc, open",
    "adhoc_wep": "ad hoc, WEP",
    "adhoc_poor": "ad hoc, WEP, poor signal",
    "bss_wpa_tkip": "access point, WPA/TKIP",
    "bss_open": "access point, open",
}

SIZES = (64, 1504, 16_384, 321_008, 7_139_008)
"""A short message, a full frame, a page, and the source's smallest and largest text file; in whole blocks."""

SEEDS = 3
CAREFUL_SEEDS = 8  # where an effect is as small as the spread of single runs, or the spread is wide
SECURITY_SIZE = 2_000_000
WALLS = (0.0, 3.4, 6.8)
DEVICES = ("uno", "pico")
TOOLCHAINS = {"uno": "gcc-5.4", "pico": "gcc-12"}
"""The source had no nodes: those of the studies that had."""
NODE_LENGTHS = (32, 64)
NOISE = {"good": 0.06, "poor": 0.55}
"""How far one transfer is from another of the same kind, as a share: the widest of our simulated runs (5.3
and 52 %), rounded up. A print is not impossible by less."""
TOLERANCE = Tolerance(0.10, 0.0, "model: cards, drivers and walls that the source does not describe")
NOT_MEASURED = "not measured"
PROCESSOR = "sample-700mhz"
BATTERY = "4400mAh,14.8V"  # a usual pack of eight cells; the source names none


@cache
def published(name: str) -> list[dict[str, str]]:
    """Rows of a published file, comments left out."""
    text = files("motecrypt").joinpath("data", "published", f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def durations() -> dict[tuple[str, str, str], float]:
    """Tables 1 to 3: seconds by data, cipher and column."""
    return {
        (row["data"], row["cipher"], column): float(row[column])
        for row in published("wlan_durations")
        for column in COLUMNS
    }


# --- questions -------------------------------------------------------------------------------------


def sent_bytes(data: str, cipher: str, encoding: str = "none") -> int:
    """Bytes on the way: padding and IV included where a cipher is named."""
    size = DATA[data]
    if cipher != "none":
        size = filecost.ciphertext_bytes(Catalog.load().cipher(CIPHERS[cipher][0]), size)
    return encoded_bytes(size, encoding)


def transfer(data: str, cipher: str, column: str, encoding: str = "none") -> WlanQuestion:
    """The transfer behind one cell of tables 1 to 3."""
    mode, security, signal = COLUMNS[column]
    return WlanQuestion(sent_bytes(data, cipher, encoding), mode, security, signal, seeds=SEEDS)


def security_cost(mode: str, security: str) -> WlanQuestion:
    """What a security protocol costs, with more seeds: the effect is below one per cent."""
    return WlanQuestion(SECURITY_SIZE, mode, security, seeds=CAREFUL_SEEDS)


def walls(mode: str, decibel: float, phy: str = "b") -> WlanQuestion:
    """Poor signal through more or fewer walls."""
    return WlanQuestion(SECURITY_SIZE, mode, "wep", "poor", phy, seeds=CAREFUL_SEEDS, walls_db=decibel)


def good(mode: str, phy: str = "b") -> WlanQuestion:
    """The same transfer with a good signal."""
    return WlanQuestion(SECURITY_SIZE, mode, "wep", "good", phy, seeds=SEEDS)


SECURITY_RUNS = (
    ("adhoc", "open"),
    ("adhoc", "wep"),
    ("infrastructure", "open"),
    ("infrastructure", "wep"),
    ("infrastructure", "tkip"),
    ("infrastructure", "ccmp"),
)


def transfers() -> list[WlanQuestion]:
    """Every transfer that the study reads, each once."""
    ciphers = ("none", *CIPHERS)
    wanted = [transfer(data, cipher, column) for data in DATA for cipher in ciphers for column in COLUMNS]
    wanted += [transfer("text", "AES", "adhoc_open", encoding) for encoding in ("base64", "hex")]
    wanted += [security_cost(mode, security) for mode, security in SECURITY_RUNS]
    wanted += [walls("adhoc", decibel) for decibel in WALLS]
    wanted += [good(mode, phy) for mode in ("adhoc", "infrastructure") for phy in ("b", "g")]
    wanted += [walls("adhoc", WALLS[-1], "g")]
    return list(dict.fromkeys(wanted))


def host_ciphers() -> list[DataTypesQuestion]:
    """The host's timings of each cipher over all kinds of data."""
    return [DataTypesQuestion(cipher, bits) for cipher, bits in CIPHERS.values()]


def host_speed() -> SpeedQuestion:
    """The host's timings of longer keys, more rounds, decryption, and OpenSSL next to ours."""
    return SpeedQuestion(
        points=standard_points(("cbc",)), rounds=21, libraries=("openssl",), operations=("encrypt", "decrypt")
    )


def sizes(name: str) -> SizeQuestion:
    """The host's timings of one of the source's ciphers over messages of all sizes."""
    cipher, bits = CIPHERS[name]
    return SizeQuestion(cipher, bits, SIZES)


def node_cells(catalog: Catalog) -> dict[tuple[str, str, int], list[Cell]]:
    """Cells by device, cipher and key bits."""
    wanted = [*CIPHERS.values(), *(row for rows in LONGER_KEYS.values() for row in rows)]
    return {
        (device, cipher, bits): [
            replace(cell, toolchain=TOOLCHAINS[device])
            for cell in filecost.cells(catalog, device, cipher, bits, message_bytes=NODE_LENGTHS)
        ]
        for device in DEVICES
        if device in catalog.devices
        for cipher, bits in dict.fromkeys(wanted)
    }


# --- what is stored --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stored:
    """What the results hold of the above; None where something is missing. Each question is asked once: the
    tables read some figures a hundred times."""

    results: Results
    catalog: Catalog
    _transfers: dict[WlanQuestion, WlanTransfer | None] = field(default_factory=dict)
    _timings: dict[DataTypesQuestion, DataTypeTimes | None] = field(default_factory=dict)
    _sizes: dict[str, SizeTimes | None] = field(default_factory=dict)

    def _moved(self, request: WlanQuestion) -> WlanTransfer | None:
        if request not in self._transfers:
            self._transfers[request] = request.answer(self.results)
        return self._transfers[request]

    def seconds(self, request: WlanQuestion) -> Spread | None:
        """Mean, spread and interval of a transfer's duration."""
        moved = self._moved(request)
        return None if moved is None else moved.seconds

    def joule(self, request: WlanQuestion) -> Spread | None:
        """The sender's radio energy."""
        moved = self._moved(request)
        return None if moved is None else moved.sender_joule

    def engines(self, requests: Iterable[WlanQuestion]) -> set[str]:
        """Which engines the stored transfers come from."""
        found = (self._moved(request) for request in requests)
        return {moved.engine for moved in found if moved is not None}

    def recorded(self, requests: Iterable[WlanQuestion]) -> list[str]:
        """The days of those transfers that came with the program."""
        found = (request.find(self.results) for request in requests)
        return recorded.days(experiment for experiment in found if experiment is not None)

    def host(self, request: DataTypesQuestion) -> DataTypeTimes | None:
        """One timing on the host."""
        if request not in self._timings:
            self._timings[request] = request.answer(self.results)
        return self._timings[request]

    def ns_per_byte(self, cipher: str, data: str = "text") -> float | None:
        """The host's nanoseconds for each byte of one of the source's ciphers, on that kind of data."""
        name, bits = CIPHERS[cipher]
        times = self.host(DataTypesQuestion(name, bits))
        return None if times is None else times.ns_per_byte.get(data)

    def sizes(self, name: str) -> SizeTimes | None:
        """The host's timings of one of the source's ciphers over messages of all sizes."""
        if name not in self._sizes:
            self._sizes[name] = sizes(name).answer(self.results)
        return self._sizes[name]

    @cached_property
    def encodings(self) -> EncodingTimes | None:
        """What Base64 and hexadecimal take on the host."""
        return EncodingQuestion().answer(self.results)

    @cached_property
    def machine(self) -> SpeedMachine | None:
        """The host as its timings found it; None where nothing was timed."""
        return self._speed.machine if self._speed else None

    @cached_property
    def _speed(self) -> Speeds | None:
        return host_speed().answer(self.results)

    def speed(
        self, cipher: str, bits: int, operation: str = "encrypt", library: str = "motecrypt", rounds: int = 0
    ) -> SpeedRow | None:
        """The host's row of a cipher: our fastest variant, or a library's."""
        if self._speed is None:
            return None
        wanted = (cipher, bits, operation, rounds)
        rows = [
            row for row in self._speed.rows if (row.cipher, row.key_bits, row.operation, row.rounds) == wanted
        ]
        if library == "motecrypt":
            return best_of_ours(rows)
        return next((row for row in rows if row.library == library), None)

    def cycles_per_byte(
        self, cipher: str, bits: int, operation: str = "encrypt", library: str = "motecrypt", rounds: int = 0
    ) -> float | None:
        """Cycles of the host's counter for each byte, or None."""
        row = self.speed(cipher, bits, operation, library, rounds)
        return None if row is None else row.cycles_per_byte

    def node(self, device: str, cipher: str, bits: int) -> FileCost | None:
        """A node's fastest implementation, or None where nothing runs or nothing is stored."""
        known = self._node(device, cipher, bits)
        return filecost.best(self.catalog.device(device), known.values()) if known else None

    def node_spread(self, device: str, cipher: str, bits: int) -> tuple[int, int, int] | None:
        """Least and most cycles of encrypting the longer message, and over how many random inputs."""
        cost = self.node(device, cipher, bits)
        for cell, m in self._node(device, cipher, bits).items():
            found = (cost is not None and cell.implementation.name == cost.implementation, cell.operation)
            if (*found, cell.message_bytes) != (True, "encrypt", max(NODE_LENGTHS)):
                continue
            if m.cycles_min is not None and m.cycles_max is not None:
                return m.cycles_min, m.cycles_max, m.inputs
        return None

    def node_reason(self, device: str, cipher: str, bits: int) -> str | None:
        """Why a cipher does not run on a node; None where that was not tried."""
        reasons = [m.reason for m in self._node(device, cipher, bits).values() if m.status != "ok"]
        return reasons[0] if reasons else None

    @cached_property
    def cells(self) -> Mapping[tuple[str, str, int], Sequence[Cell]]:
        """Cells on nodes by device, cipher and key bits."""
        return node_cells(self.catalog)

    @cached_property
    def _measured(self) -> Mapping[Cell, Measurement]:
        return self.results.newest(cell for group in self.cells.values() for cell in group)

    def _node(self, device: str, cipher: str, bits: int) -> dict[Cell, Measurement]:
        cells = self.cells.get((device, cipher, bits), ())
        return {cell: self._measured[cell] for cell in cells if cell in self._measured}
