"""Strings and a file encrypted on one core of a simulated Pico or on the other, while its pins are sampled.

The firmware (firmware/files/second_core.c) runs both cores with the flash cache as on a board, and the
times of data/storage.toml for the flash. A hash of every ciphertext is compared with one that the host makes
with other libraries, in each way.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from motecrypt.base.errors import MotecryptError
from motecrypt.base.model import ExperimentResult
from motecrypt.build.toolchain.files import FileFirmware, build_files, firmware_key
from motecrypt.catalog import Catalog
from motecrypt.measuring.experiments.files import LINE_BYTES, PLAIN, flash_times, plaintext, published
from motecrypt.results import Results
from motecrypt.results.experiments.pico_file import storage_times
from motecrypt.results.experiments.second_core import WAYS, SecondCoreQuestion, Way, Work
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import ChipSettings, FreeRun, Uart, run_freely
from motecrypt.simulate.runners import arm

KEY = bytes(range(1, 33))
TEXT = b"AES_Test_3 - Hello! Testing AES Encryption here\0"
MAX_SECONDS = 120.0
WORKS: dict[int, Work] = {ord("s"): "strings", ord("f"): "file"}
END = "end\r\n"
NUMBERS = 9  # of a line


class SecondCoreRun(SecondCoreQuestion):
    """All ways, one after the other, in one run."""

    @property
    def _firmware(self) -> FileFirmware:
        return FileFirmware(toolchain=self.toolchain, program="second_core.c")

    def inputs(self) -> dict[str, Any]:
        """What the outcome depends on."""
        return {
            **self.asked(),
            "firmware": firmware_key(self._firmware),
            "runner": arm.identity(Catalog.load().device("pico")),
            "times": dict(storage_times()["flash"]),
        }

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """The result, run now if it is not stored."""
        found = self.kept(results, self.inputs())
        if found is not None:
            return found
        if progress is not None:
            progress("the Pico's second core")
        return results.store_experiment(self.KIND, self.VERSION, self.inputs(), self.run(), self.asked())

    def run(self) -> dict[str, Any]:
        """Build, run, check; MotecryptError where a way failed or its ciphertext is not the host's."""
        device = Catalog.load().device("pico")
        image = read_image(build_files(self._firmware).elf, device)
        text = bytearray()
        reader, writer = os.pipe()
        try:
            with os.fdopen(writer, "wb") as stream:
                stream.write(f"{self.strings} {self.rounds} {self.lines}\n".encode())
            how = FreeRun(
                until=END,
                max_seconds=MAX_SECONDS,
                uart=Uart(input=reader),
                chip=ChipSettings(cache="kept"),
                flash_times=flash_times(device),
            )
            ended = run_freely(image, device, how, text.extend)
        finally:
            os.close(reader)
        if ended.reason != "until":
            raise MotecryptError(f"the Pico's second core: {ended.detail}")
        return {"rows": self.rows(text.decode().splitlines()[:-1]), "clock_hz": device.clock_hz}

    def rows(self, lines: Iterable[str]) -> list[dict[str, Any]]:
        """The firmware's lines as rows of the answer."""
        expected: dict[Work, int] = {"strings": self._strings_hash(), "file": self._file_hash()}
        found = []
        for line in lines:
            numbers = [int(word) for word in line.split() if word.isdecimal()]
            if len(numbers) != NUMBERS:
                raise MotecryptError(f"the Pico's second core: the firmware reported {line!r}")
            number, kind, time_us, own, samples, missed, least, most, total = numbers
            work, way = WORKS[kind], WAYS[number]
            if own != expected[work]:
                raise MotecryptError(
                    f"the Pico's second core: {work}, {way}: the ciphertext is not the host's"
                )
            late = (least, most, total / samples) if samples else (0, 0, 0.0)
            found.append(_row(work, way, (time_us, samples, missed), late))
        return found

    def _strings_hash(self) -> int:
        sealed = bytearray()
        for number in range(self.strings):
            iv = number.to_bytes(2, "little").ljust(16, b"\0")
            engine = Cipher(algorithms.AES(KEY[:16]), modes.CBC(iv)).encryptor()
            sealed += engine.update(TEXT) + engine.finalize()
        return fnv1a(sealed)

    def _file_hash(self) -> int:
        return fnv1a(published(plaintext(self.lines * LINE_BYTES), PLAIN, KEY, self.rounds))


def _row(work: Work, way: Way, counts: tuple[int, int, int], late: tuple[int, int, float]) -> dict[str, Any]:
    time_us, samples, missed = counts
    least, most, mean = late
    return {
        "work": work,
        "way": way,
        "time_us": time_us,
        "samples": samples,
        "missed": missed,
        "least_late": least,
        "most_late": most,
        "mean_late": mean,
    }


def fnv1a(data: bytes | bytearray) -> int:
    """FNV-1a of 32 bits (draft-eastlake-fnv)."""
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value
