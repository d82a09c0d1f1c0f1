"""Power lost at every write and erase of a save: the old content is there, or the new one, never a part."""

from __future__ import annotations

import ctypes
import itertools
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from motecrypt.build.setup import need
from motecrypt.build.toolchain.files import FOLDER
from motecrypt.build.toolchain.sources import source_root
from motecrypt.measuring.experiments.files import plaintext

pytestmark = pytest.mark.long

NO_SUCH_FILE = -2
CUT = 1


class Harness:
    """The firmware's own store.c, and the littlefs it links, on a storage that forgets nothing but power."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        library.power_flash.restype = ctypes.POINTER(ctypes.c_uint8)
        self._size = library.power_flash_bytes()

    def format(self) -> None:
        assert self._library.power_format() == 0

    def image(self) -> bytes:
        return ctypes.string_at(self._library.power_flash(), self._size)

    def restore(self, image: bytes) -> None:
        ctypes.memmove(self._library.power_flash(), image, self._size)

    def save(self, name: bytes, content: bytes, until: int = -1, front: int = 0) -> tuple[int, int]:
        """Status and number of operations."""
        operations = ctypes.c_long()
        status = self._library.power_save(
            name, content, len(content), ctypes.c_long(until), front, ctypes.byref(operations)
        )
        return status, operations.value

    def load(self, name: bytes) -> bytes | None:
        """The content after a reset; None when there is no such file."""
        buffer = ctypes.create_string_buffer(65536)
        got = self._library.power_load(name, buffer, len(buffer))
        if got == NO_SUCH_FILE:
            return None
        assert got >= 0, f"littlefs's error {got}"
        return buffer.raw[:got]


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Harness:
    need("host")
    littlefs = source_root(FOLDER / "littlefs")
    target = tmp_path_factory.mktemp("power") / "power.so"
    sources = [Path(__file__).with_name("power_harness.c"), FOLDER / "store.c"]
    sources += [littlefs / "lfs.c", littlefs / "lfs_util.c"]
    command: list[str | Path] = ["gcc", "-O2", "-shared", "-fPIC", "-I", FOLDER, "-I", littlefs]
    command += [f"-DLFS_NO_{what}" for what in ("DEBUG", "WARN", "ERROR")]
    subprocess.run([str(c) for c in [*command, *sources, "-o", target]], check=True, timeout=120)
    return Harness(ctypes.CDLL(str(target)))


OLD = plaintext(5000)
CASES: dict[str, Callable[[Harness], bytes | None]] = {
    "a new file": lambda harness: None,
    "an old file": lambda harness: (harness.save(b"f", OLD), OLD)[1],
    "a small old file": lambda harness: (harness.save(b"f", b"old"), b"old")[1],
    "many saves before": lambda harness: ([harness.save(b"f", OLD) for _ in range(60)], OLD)[1],
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("size", [3, 300, 9000])
def test_the_old_content_or_the_new(harness: Harness, case: str, size: int) -> None:
    harness.format()
    harness.save(b"other", plaintext(1000))
    old, new = CASES[case](harness), plaintext(size)[::-1]
    before = harness.image()
    status, operations = harness.save(b"f", new)
    assert status == 0
    assert operations > 0
    seen = set()
    for until, front in itertools.product(range(operations), (0, 20, 128, 250)):
        harness.restore(before)
        status, _ = harness.save(b"f", new, until, front)
        assert status == CUT
        content = harness.load(b"f")
        # A new file may be there empty: its name is written when it is opened, its content when closed.
        allowed = (old, new) if old is not None else (None, b"", new)
        assert content in allowed, f"power cut at operation {until} of {operations}"
        seen.add(content == new)
        assert harness.load(b"other") == plaintext(1000)
        assert harness.save(b"f", new)[0] == 0
        assert harness.load(b"f") == new
    assert False in seen


def test_power_lost_again_while_recovering(harness: Harness) -> None:
    """A cut, then cuts at every operation of the save after it."""
    harness.format()
    harness.save(b"f", OLD)
    new = plaintext(9000)[::-1]
    _, operations = harness.save(b"f", new)
    harness.format()
    harness.save(b"f", OLD)
    clean = harness.image()
    for first in range(0, operations, 5):
        harness.restore(clean)
        harness.save(b"f", new, first)
        once = harness.image()
        for second in range(0, operations, 3):
            harness.restore(once)
            harness.save(b"f", new, second, 128)
            assert harness.load(b"f") in (OLD, new)
