"""How fast ciphers run on this computer: ours, LibTomCrypt, Crypto++ and OpenSSL, in turns in one process.

Stored is what was timed: cycles, time, intervals, the counter's name, the processor, the libraries'
versions. Energy is not stored: it is computed later from the time (energy.py), except for the reading of the
processor's own energy counter (RAPL), where there is one. Every output was compared with the
cipher's oracle before its figure was kept.
"""

from __future__ import annotations

import ctypes
import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from motecrypt.base import process
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import ExperimentResult, Implementation
from motecrypt.build.toolchain import BuildError, BuildRequest, build, key_of
from motecrypt.build.toolchain.drivers import driver, driver_identity
from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import oracle
from motecrypt.results import Results
from motecrypt.results.experiments.host_speed import KIND, NO_AES, VERSION, SpeedPoint, SpeedQuestion
from motecrypt.simulate.runners import host

# Clears the processor bits for AES and carry-less multiplication; see OPENSSL_ia32cap(3).
NO_AES_ENVIRONMENT = {"OPENSSL_ia32cap": "~0x200000200000000"}
RAPL_LEAST_S = 0.3
_one_makes = threading.Lock()


class HostSpeed(SpeedQuestion):
    """Ciphers timed on this computer, in turns."""

    alone = True

    def inputs(self, catalog: Catalog) -> dict[str, Any]:
        """What the figures depend on: the request, the computer, its libraries and our code."""
        here = host.machine()
        device = catalog.device("host")
        ours = {
            f"{point.cipher}/{point.rounds} {body.variant}": key_of(BuildRequest(device, body, "flash"))[:16]
            for point in self.points
            for body in _ours(catalog, point)
        }
        return {
            **self.asked(),
            "libraries": {name: library_version(name) for name in self.libraries},
            "ours": ours,
            "driver": driver_identity("host")[:16],
            "processor": here.processor,
            "counter": here.counter,
        }

    def prepare(self, results: Results) -> None:
        """Build what is timed, on all processors, and make what it is compared with, if it is going to be."""
        self.check()
        catalog = Catalog.load()
        if self.kept(results, self.inputs(catalog)) is None:
            self._make(catalog)

    def _make(self, catalog: Catalog) -> None:
        bodies = [body for point in self.points for body in _ours(catalog, point)]
        requests = [BuildRequest(catalog.device("host"), body, "flash") for body in bodies]
        with ThreadPoolExecutor(process.processors()) as pool:
            list(pool.map(build, requests))
        for operation in set(self.operations) - {"setup"}:
            for point in self.points:
                expected_digest(point, operation, self.message_bytes)

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """The stored figures, timed now if they are missing."""
        self.check()
        catalog = Catalog.load()
        inputs = self.inputs(catalog)
        found = self.kept(results, inputs)
        if found is not None:
            return found
        self._make(catalog)
        rows: list[dict[str, Any]] = []
        for point in self.points:
            if progress is not None:
                rounds = f", {point.rounds} rounds" if point.rounds else ""
                progress(f"{point.cipher}, {point.key_bits}-bit key{rounds}")
            rows += self.time_point(catalog, point)
        here = host.machine()
        machine = {
            "processor": here.processor,
            "counter": here.counter,
            "core_cycles": here.core_cycles,
            "aes_instructions": here.aes_instructions,
            "governor": here.governor,
            "stated_mhz": list(here.frequency_mhz),
            "rapl": [str(path) for path in here.rapl],
        }
        missing = [name for name in self.libraries if library_version(name) is None]
        outcome = {"machine": machine, "missing": missing, "rows": rows}
        return results.store_experiment(KIND, VERSION, inputs, outcome, self.asked())

    def time_point(self, catalog: Catalog, point: SpeedPoint) -> list[dict[str, Any]]:
        """The rows of one cipher: every variant of ours and every library, every operation."""
        bodies = _ours(catalog, point)
        device = catalog.device("host")
        contestants = {
            f"motecrypt/{body.variant}" if body.variant else "motecrypt": str(
                build(BuildRequest(device, body, "flash")).elf
            )
            for body in bodies
        }
        suffix = f":{point.rounds}" if point.rounds else ""
        for name in self.libraries:
            if library_version(name) is not None and _has(name, point):
                contestants[name] = f"{driver(f'adapter_{name}')}={point.cipher}{suffix}"
        rows = []
        for operation in self.operations:
            rows += self._time(catalog, point, operation, contestants, {})
            if "openssl" in contestants and point.cipher.startswith("aes"):
                rows += self._time(
                    catalog, point, operation, {NO_AES: contestants["openssl"]}, NO_AES_ENVIRONMENT
                )
        return rows

    def _time(
        self,
        catalog: Catalog,
        point: SpeedPoint,
        operation: str,
        contestants: Mapping[str, str],
        environment: Mapping[str, str],
    ) -> list[dict[str, Any]]:
        cipher = catalog.cipher(point.cipher)
        key, nonce = speed_key(point.key_bits), speed_key(8 * cipher.nonce_bytes)
        told = run_driver(
            operation, key, nonce, self.message_bytes, self.rounds, list(contestants.values()), environment
        )
        if operation != "setup":
            expected = expected_digest(point, operation, self.message_bytes)
            for name, line in zip(contestants, told, strict=True):
                if line["output"] != expected:
                    raise MotecryptError(
                        f"{point.cipher}: {name}'s {operation}ed bytes differ from the oracle's"
                    )
        rows = []
        for (name, library), line in zip(contestants.items(), told, strict=True):
            row = {
                "cipher": point.cipher,
                "key_bits": point.key_bits,
                "rounds": point.rounds,
                "operation": operation,
                "library": name,
                "bytes": self.message_bytes if operation != "setup" else 0,
                **{k: v for k, v in line.items() if k not in ("event", "library", "output")},
            }
            if operation != "setup":
                row["rapl_uj_per_byte"] = self._rapl(
                    operation, key, nonce, library, environment, line["wall_ns"]
                )
            rows.append(row)
        return rows

    def _rapl(
        self,
        operation: str,
        key: bytes,
        nonce: bytes,
        library: str,
        environment: Mapping[str, str],
        wall_ns: float,
    ) -> float | None:
        """Microjoule a byte by the package's energy counter, all that the package did included; or None."""
        counters = host.rapl_counters()
        if not counters:
            return None
        rounds = min(4096, max(5, round(RAPL_LEAST_S * 1e9 / max(1.0, wall_ns))))
        before = [_energy(path) for path in counters]
        run_driver(operation, key, nonce, self.message_bytes, rounds, [library], environment)
        spent = sum(
            rapl_difference(first, _energy(path), _energy(path.with_name("max_energy_range_uj")))
            for first, path in zip(before, counters, strict=True)
        )
        return spent / (self.message_bytes * (rounds + 2))


def rapl_difference(before: int, after: int, greatest: int) -> int:
    """What an energy counter (microjoules) counted between two readings; it starts again above `greatest`."""
    return after - before if after >= before else after + greatest + 1 - before


def _energy(path: Path) -> int:
    return int(path.read_text())


def _ours(catalog: Catalog, point: SpeedPoint) -> list[Implementation]:
    bodies = [b for b in catalog.implementations_of(point.cipher, "host") if b.library == "motecrypt"]
    if point.rounds:
        if not point.cipher.startswith("rc6-"):
            raise InputError(f"{point.cipher}: its number of rounds is fixed; only RC6's may be chosen")
        bodies = [replace(b, defines=(*b.defines, f"RC6_ROUNDS={point.rounds}")) for b in bodies]
    return bodies


def _has(library: str, point: SpeedPoint) -> bool:
    """Whether a library has this cipher (asked of its adapter, in this process)."""
    name = point.cipher.encode()
    return bool(_adapter(library).adapter_select(name, point.rounds))


@lru_cache(maxsize=8)
def _adapter(library: str) -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(driver(f"adapter_{library}")))
    loaded.adapter_version.restype = ctypes.c_char_p
    loaded.adapter_select.argtypes = [ctypes.c_char_p, ctypes.c_int]
    return loaded


@lru_cache(maxsize=8)
def library_version(library: str) -> str | None:
    """The version of an installed library, or None where it (or a compiler for its adapter) is missing."""
    try:
        version: bytes = _adapter(library).adapter_version()
    except (BuildError, InputError):
        return None
    return version.decode()


def speed_key(bits: int) -> bytes:
    """The key, or the nonce, that ciphers are timed with."""
    return bytes((29 * i + 7) & 0xFF for i in range(bits // 8))


def run_driver(
    operation: str,
    key: bytes,
    nonce: bytes,
    message_bytes: int,
    rounds: int,
    libraries: Sequence[str],
    environment: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Time builds and adapters in turns, two rounds to warm up first; what the driver reports of each."""
    command: list[str | Path] = [driver("host"), "--compare", operation, key.hex(), nonce.hex() or "-"]
    command += [str(message_bytes), str(rounds), *libraries]
    outcome = process.run(command, work_s=process.LONG_S, environment={**os.environ, **environment})
    if not outcome.ok:
        raise MotecryptError(f"host speed: {outcome.first_error}")
    return [json.loads(line) for line in outcome.output.splitlines()]


@lru_cache(maxsize=256)
def expected_digest(point: SpeedPoint, operation: str, message_bytes: int) -> str:
    """The digest that drivers/host.c must print: of the oracle's ciphertext, or of its own test pattern."""
    cipher = Catalog.load().cipher(point.cipher)
    message = _pattern(message_bytes)
    if operation == "decrypt":
        return pattern_digest(message_bytes)
    key, nonce = speed_key(point.key_bits), speed_key(8 * cipher.nonce_bytes)
    if point.rounds:
        return _digest(_rc6_with_rounds(cipher.folder / cipher.oracle, point, key, nonce, message))
    return _digest(oracle(cipher)(key, nonce, b"", message)[0])


def _pattern(message_bytes: int) -> bytes:
    return bytes((i * 167 + (i >> 8) * 13) & 0xFF for i in range(message_bytes))


def pattern_digest(message_bytes: int) -> str:
    """The digest of the bytes that drivers/host.c encrypts, made once: millions of them take seconds."""
    with _one_makes:
        return _pattern_digest(message_bytes)


@lru_cache(maxsize=64)
def _pattern_digest(message_bytes: int) -> str:
    return _digest(_pattern(message_bytes))


def _rc6_with_rounds(path: Path, point: SpeedPoint, key: bytes, nonce: bytes, message: bytes) -> bytes:
    import runpy

    module = runpy.run_path(str(path))
    ciphertext: bytes = module["encrypt"](point.cipher, key, nonce, b"", message, rounds=point.rounds)[0]
    return ciphertext


def _digest(data: bytes) -> str:
    value = 0xCBF29CE484222325  # FNV-1a, as in the driver
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"
