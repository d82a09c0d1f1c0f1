"""Files encrypted and decrypted by the file firmware on a simulated Pico, and what the time goes to.

Every ciphertext is compared with one made on the host by other libraries, every plaintext with what went
in. The time is divided by marks in the firmware into derivation of keys, their set-up, cipher, HMAC and
file system; how long the flash was busy with erasing and programming is counted by its model
(drivers/arm_nor.h), whose times are data/storage.toml's.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motecrypt.base.errors import MotecryptError
from motecrypt.base.model import Device, ExperimentResult
from motecrypt.base.process import processors
from motecrypt.build.toolchain import BuildError
from motecrypt.build.toolchain.files import BuiltFiles, FileFirmware, build_files, firmware_key
from motecrypt.catalog import Catalog
from motecrypt.link.files import container, crypt_and_hash
from motecrypt.results import Results
from motecrypt.results.experiments.pico_file import KIND, PARTS, VERSION, FileQuestion, storage_times
from motecrypt.simulate.file_node import FileNode
from motecrypt.simulate.runners import arm
from motecrypt.simulate.runners.session import DriverSession, Options, Region

ANSWER_S = 600.0
MAX_CYCLES = 60_000_000_000
PLAIN, SEALED, BACK = "input.txt", "cipherFile.aes", "output.txt"
LINE_BYTES = 63
"""The source's files have 10 lines in 630 bytes and 100 in 6,300."""


def plaintext(size: int) -> bytes:
    """A number of bytes of one line of text, repeated, like the source's files."""
    line = b"A fixed string that is written again and again, as in a log.".ljust(LINE_BYTES - 2) + b"\r\n"
    return (line * (size // LINE_BYTES + 1))[:size]


class FileJob(FileQuestion):
    """One file, encrypted and decrypted in a fresh file system on the simulated Pico."""

    @property
    def firmware(self) -> FileFirmware:
        """The firmware that does it."""
        if self.storage == "flash":
            return FileFirmware("flash", self.c_library, toolchain=self.toolchain)
        spi_hz = storage_times()[self.storage]["spi_hz"]
        return FileFirmware("sd", self.c_library, spi_hz, toolchain=self.toolchain)

    def inputs(self) -> dict[str, Any]:
        """What the outcome depends on."""
        return {
            **self.asked(),
            "firmware": firmware_key(self.firmware),
            "runner": arm.identity(Catalog.load().device("pico")),
            "times": dict(storage_times()[self.storage]),
        }

    def stored(self, results: Results) -> ExperimentResult | None:
        """The result of exactly these builds if it is there; never runs anything."""
        return self.kept(results, self.inputs())

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """The result, run now if it is not stored."""
        found = self.stored(results)
        if found is not None:
            return found
        if progress is not None:
            progress(self.title)
        return results.store_experiment(KIND, VERSION, self.inputs(), self.run(), self.asked())

    @property
    def title(self) -> str:
        """For progress."""
        return f"{self.form}, {self.size} bytes on {self.storage}"

    def run(self) -> dict[str, Any]:
        """Build, run, check."""
        built = build_files(self.firmware)
        device = Catalog.load().device("pico")
        plain, key, salt = plaintext(self.size), bytes(range(1, 33)), hashlib.sha256(b"salt").digest()
        with open_board(device, built, self.storage, self.cache) as session:
            node = FileNode(session, ANSWER_S)
            node.wait_greeting()
            node.format()
            node.write(PLAIN, plain)
            for name in (SEALED, BACK):  # the source creates both, empty, beforehand
                node.write(name, b"")
            session.regions()
            outcome: dict[str, Any] = {}
            for direction, source, target in (("encrypt", PLAIN, SEALED), ("decrypt", SEALED, BACK)):
                ran = node.job(
                    self.form,
                    source,
                    target,
                    key,
                    decrypts=direction == "decrypt",
                    rounds=self.rounds,
                    salt=salt if direction == "encrypt" else b"",
                )
                figures = divide(session.regions())
                outcome[direction] = figures | {
                    "time_us": ran.time_us,
                    "stack_bytes": ran.stack_bytes,
                    "heap_bytes": ran.heap_bytes,
                }
            sealed, back = node.read(SEALED), node.read(BACK)
        if back != plain:
            raise MotecryptError(f"{self.title}: decryption did not restore the plaintext")
        if not self._genuine(sealed, plain, key):
            raise MotecryptError(f"{self.title}: the ciphertext is not the host's")
        return outcome | {
            "sealed_bytes": len(sealed),
            "clock_hz": device.clock_hz,
            "elf_sha256": built.sha256,
            "compiler": built.compiler,
            "flash_bytes": built.sizes.flash,
            "ram_bytes": built.sizes.ram,
        }

    def _genuine(self, sealed: bytes, plain: bytes, key: bytes) -> bool:
        """Whether the host, with other libraries, makes or reads the same file."""
        if self.form == "published":
            return sealed == published(plain, PLAIN, key, self.rounds)
        with tempfile.TemporaryDirectory(prefix="motecrypt-") as name:
            source, target = Path(name) / "sealed", Path(name) / "plain"
            source.write_bytes(sealed)
            container.decrypt_file(source, target, container.Secret(key=key))
            return target.read_bytes() == plain


def published(plain: bytes, name: str, key: bytes, rounds: int) -> bytes:
    """The host's ciphertext of a file of that name, in the source's format: AES-256-CBC, SHA-512."""
    import hmac

    body = crypt_and_hash.CIPHERS["aes256-cbc"]
    iv = crypt_and_hash.initial_vector("sha512", len(plain), name)
    keys = crypt_and_hash.derive("sha512", iv, key, rounds)
    count = 16 - len(plain) % 16
    engine = body.engine(keys, iv).encryptor()
    ciphertext = engine.update(plain + bytes([count]) * count) + engine.finalize()
    return iv + ciphertext + hmac.digest(keys[:32], ciphertext, "sha512")


def open_board(device: Device, built: BuiltFiles, storage: str, cache: str) -> DriverSession:
    """A simulated Pico with the file firmware; its flash and its card take storage.toml's times."""
    command = arm.command(device, built.elf, Options(cache=cache, max_cycles=MAX_CYCLES))
    options = ["--nor", flash_times(device)]
    if storage != "flash":
        card = storage_times()[storage]
        times = (_cycles(device, card[f"{what}_us"]) for what in ("read", "write"))
        options += ["--sd", ":".join([str(card["blocks"]), *times])]
    return DriverSession([*command[:-1], *options, command[-1]])


def flash_times(device: Device) -> str:
    """What the model of the flash chip takes, in core cycles: the value of the driver's option --nor."""
    flash = storage_times()["flash"]
    in_us = [flash["program_page_us"], *(1000 * flash[f"erase_{n}_ms"] for n in ("4k", "32k", "64k"))]
    return ":".join(_cycles(device, us) for us in in_us)


def _cycles(device: Device, us: float) -> str:
    return str(round(us * device.clock_hz / 1e6))


def divide(regions: list[Region]) -> dict[str, Any]:
    """Sums over the regions of a job: cycles and cache misses by part, and what the storage did."""
    cycles, misses = dict.fromkeys(PARTS, 0), dict.fromkeys(PARTS, 0)
    storage = dict.fromkeys(("programs", "erases", "reads", "storage_busy"), 0)
    for region in regions:
        part = PARTS[region.extra.get("label", 0)]
        cycles[part] += region.cycles
        misses[part] += region.extra.get("cache_misses", 0)
        for name in storage:
            storage[name] += region.extra.get(name, 0)
    return {"cycles": cycles, "misses": misses, **storage}


@dataclass(frozen=True)
class FileJobs:
    """Many jobs, run side by side."""

    jobs: tuple[FileJob, ...]

    def find(self, results: Results) -> ExperimentResult | None:
        """The last job's newest stored result; None where any job has none. Runs nothing."""
        found = [job.find(results) for job in self.jobs]
        return None if None in found else found[-1]

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """All results; those missing are run now. Returns the last.

        Where the firmware cannot be built (a library's source is not available), progress shows why, and
        nothing is stored: what else a study needs continues.
        """
        missing = [job for job in self.jobs if job.stored(results) is None]
        missing.sort(key=lambda job: job.rounds * 1000 + job.size, reverse=True)  # the longest first
        with ThreadPoolExecutor(processors()) as pool:
            running = [(job, pool.submit(job.run)) for job in missing]
            try:
                for job, outcome in running:
                    if progress is not None:
                        progress(job.title)
                    results.store_experiment(KIND, VERSION, job.inputs(), outcome.result(), job.asked())
            except BuildError as error:
                for _, outcome in running:
                    outcome.cancel()
                if progress is not None:
                    progress(f"files not measured: {error}")
                return ExperimentResult(KIND, VERSION, {}, {"reason": str(error)})
            except BaseException:
                for _, outcome in running:
                    outcome.cancel()
                raise
        found = self.jobs[-1].stored(results)
        assert found is not None
        return found
