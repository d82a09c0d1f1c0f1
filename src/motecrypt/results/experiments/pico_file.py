"""The question what it takes to encrypt and decrypt a file on a Pico."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal

from motecrypt.base.descriptor import Table
from motecrypt.catalog import DATA
from motecrypt.link.files.crypt_and_hash import ROUNDS
from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

KIND = "pico-file"
VERSION = 1
PARTS = ("other", "files", "key", "cipher", "mac", "setup")
"""Parts of the time, in the order of the firmware's labels (firmware/files/job.h)."""

Form = Literal["published", "aes256-gcm", "chacha20-poly1305"]


@lru_cache(maxsize=1)
def storage_times() -> Mapping[str, Mapping[str, Any]]:
    """data/storage.toml: what erasing and programming take."""
    return read_storage(DATA / "storage.toml")


def read_storage(path: Path) -> dict[str, dict[str, Any]]:
    """The flash chip and the cards of a file, by name; InputError for what is not as it should be."""
    found = {}
    for name, entry in Table.read(path).every_table().items():
        found[name] = entry.plain()
        entry.text("title", filled=True)
        entry.text("source")
        if name == "flash":
            entry.number("program_page_us", above=0)
            for erased in ("erase_4k_ms", "erase_32k_ms", "erase_64k_ms"):
                entry.number(erased, above=0)
        else:
            entry.integer("spi_hz", low=1)
            entry.integer("blocks", low=1)
            entry.number("read_us", low=0)
            entry.number("write_us", low=0)
        entry.done()
    return found


@dataclass(frozen=True)
class PartCounts:
    """A count for each of PARTS."""

    other: int
    files: int
    key: int
    cipher: int
    mac: int
    setup: int


@dataclass(frozen=True)
class FileRun:
    """One direction of a job.

    Attributes
    ----------
    time_us
        By the board's timer.
    cycles, misses
        Clock cycles, and lines that the flash cache missed, by part.
    programs, erases, reads
        Pages or blocks written, sectors erased, blocks read.
    storage_busy
        Cycles for which the storage was busy.
    """

    time_us: float
    cycles: PartCounts
    misses: PartCounts
    programs: int
    erases: int
    reads: int
    storage_busy: int
    stack_bytes: int
    heap_bytes: int


@dataclass(frozen=True)
class FileCosts(Answer):
    """What encrypting and decrypting took, the sizes of the file and of the firmware, and who compiled it."""

    encrypt: FileRun
    decrypt: FileRun
    sealed_bytes: int
    clock_hz: int
    flash_bytes: int
    ram_bytes: int
    compiler: str = ""

    def run(self, direction: str) -> FileRun:
        """The run of "encrypt" or "decrypt"."""
        return {"encrypt": self.encrypt, "decrypt": self.decrypt}[direction]


@dataclass(frozen=True)
class FileQuestion(ExperimentQuestion):
    """One file, encrypted and decrypted in a fresh file system.

    Attributes
    ----------
    size : bytes of plaintext.
    storage : a table of data/storage.toml.
    rounds : hashes of the published key derivation; fewer than 8192 to save the simulator's time.
    c_library : see toolchain.files.FileFirmware.
    cache : "kept", the flash cache as it is on a board, or "none", every access hits.
    toolchain : who compiles the firmware; empty for the system's own.
    """

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION
    ANSWER: ClassVar[type[Answer]] = FileCosts

    size: int
    form: Form = "published"
    storage: Literal["flash", "sd", "sd-slow"] = "flash"
    rounds: int = ROUNDS
    c_library: Literal["bytes", "words"] = "bytes"
    cache: Literal["kept", "none"] = "kept"
    toolchain: str = ""

    def answer(self, results: Results) -> FileCosts | None:
        """The newest stored answer, or None where there is none of its shape."""
        found = self.find(results)
        return None if found is None else FileCosts.from_json(found.outcome)

    def asked(self) -> dict[str, Any]:
        """Every field but the toolchain, which says how an answer is made."""
        asked = dict(vars(self))
        del asked["toolchain"]
        return asked
