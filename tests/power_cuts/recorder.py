"""The recorder below a program (recorder.c): compiled, preloaded into a new process, and used from within."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from enum import IntFlag
from functools import lru_cache
from pathlib import Path

from link_builds import compiled

SOURCE = Path(__file__).with_name("recorder.c")
_COMMAND = (
    "gcc",
    "-std=gnu11",
    "-O1",
    "-U_FORTIFY_SOURCE",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-shared",
    "-fPIC",
    SOURCE,
    "-ldl",
)


class Calls(IntFlag):
    """What may fail."""

    WRITES = 1
    NAMES = 2
    SYNCS = 4


def library() -> Path:
    """The compiled recorder."""
    return compiled([*_COMMAND], prefix="recorder-")


def preloaded(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The command and the environment of a Python module's run above the recorder."""
    tests = Path(__file__).resolve().parent.parent
    paths = os.pathsep.join([str(tests), str(tests.parent / "src")])
    environment = {**os.environ, "LD_PRELOAD": str(library()), "PYTHONPATH": paths}
    return [sys.executable, "-P", "-m", *words], environment


class Recorder:
    """Records what this process does in a folder, if it runs above the recorder."""

    def __init__(self) -> None:
        self._library = _opened(os.environ["LD_PRELOAD"])

    def begin(self, folder: Path) -> None:
        """From now on; what was recorded before goes."""
        self._library.recorder_begin(os.fsencode(folder.resolve()))

    def end(self) -> bytes:
        """No longer; what was recorded."""
        data = self.record()
        self._library.recorder_end()
        return data

    def record(self) -> bytes:
        """What was recorded so far."""
        return ctypes.string_at(self._library.recorder_data(), self._library.recorder_bytes())

    @property
    def steps(self) -> int:
        """How many steps were recorded."""
        return int(self._library.recorder_records())

    def fail(self, calls: Calls, error: int, after: int = 0) -> None:
        """Have such calls fail; `after` of them still work."""
        self._library.recorder_fail(int(calls), error, after)

    @property
    def failed(self) -> int:
        """How many calls have failed since then."""
        return int(self._library.recorder_failed())


@lru_cache(maxsize=1)
def _opened(path: str) -> ctypes.CDLL:
    found = ctypes.CDLL(path)
    found.recorder_begin.argtypes = [ctypes.c_char_p]
    found.recorder_fail.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long]
    found.recorder_data.restype = ctypes.c_void_p
    found.recorder_records.restype = found.recorder_bytes.restype = ctypes.c_uint64
    found.recorder_failed.restype = ctypes.c_long
    found.recorder_begin.restype = found.recorder_end.restype = found.recorder_fail.restype = None
    return found
