"""Runs apt-get and pip, and passes on how far they are. It needs nothing but Python's own library."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Protocol

from motecrypt.base import process

CONNECT = "connect this computer to it and run this again"
QUARTER = 25
POLL_S = 0.5


def pip_command(locks: Sequence[str | Path], *more: str) -> list[str]:
    """The command that installs what locks pin."""
    command = [sys.executable, "-I", "-m", "pip", "install", "--progress-bar", "off", *more]
    # No bytecode for whole packages: Python compiles what is imported.
    command += ["--disable-pip-version-check", "--no-compile", "--require-hashes", "--only-binary", ":all:"]
    return command + [word for lock in locks for word in ("-r", str(lock))]


class Unreached(str):
    """Why a command failed: it did not reach the network. No other command would, either."""

    __slots__ = ()


def trouble(
    command: Sequence[str],
    environment: Mapping[str, str],
    timeout_s: float,
    say: Callable[[str], None],
    unreached: Callable[[Unreached], None] = lambda why: None,
) -> str:
    """Why the command failed, `Unreached` for lack of a network; empty when it did not fail.

    Its progress is passed to `say` meanwhile. `unreached` learns that it did not reach a network even if it
    did not fail: apt-get then continues with the lists that it has. On Ctrl-C all that it started is killed.
    """
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as folder:
        shown: _Progress = Shown(say)
        if "pip" in command:
            shown = PipShown(say, _packages(command), Path(folder))
            environment = {**environment, "TMPDIR": folder}
        why, said = _run(command, {**environment, "LC_ALL": "C.UTF-8"}, timeout_s, shown)
        offline = process.unreachable(said)
        if offline:
            unreached(Unreached(offline))
        return Unreached(offline) if why and offline else why


class _Progress(Protocol):
    def take(self, line: str) -> bool:
        """Whether the line is about progress."""

    def poll(self) -> None:
        """Called again and again while the command runs."""


def _run(
    command: Sequence[str], environment: Mapping[str, str], timeout_s: float, shown: _Progress
) -> tuple[str, list[str]]:
    """Why it failed, empty when it did not; and what else it said, without its progress."""
    said: list[str] = []
    started: subprocess.Popen[bytes] | None = None
    late = threading.Event()

    def stop() -> None:
        late.set()
        if started is not None:
            started.kill()

    try:
        started = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        end = threading.Timer(timeout_s, stop)
        end.daemon = True
        end.start()
        assert started.stdout is not None
        with _polled(shown), started.stdout as lines:
            for raw in lines:
                line = raw.decode(errors="replace").rstrip()
                if not shown.take(line):
                    said.append(line)
        started.wait()
        end.cancel()
    except OSError as error:
        if started is not None:  # nobody sees its progress any more; it is not left half done
            started.wait()
        return str(error), said
    except KeyboardInterrupt:  # it may come before `started` has a value
        process.end(process.descendants(os.getpid()))
        raise
    if started.returncode == 0:
        return "", said
    if late.is_set():
        return f"stopped after {timeout_s:g} s", said
    told = [line for line in said if line]
    return told[-1] if told else "it printed nothing", said


@contextmanager
def _polled(shown: _Progress) -> Any:
    over = threading.Event()

    def again() -> None:
        while not over.wait(POLL_S):
            shown.poll()

    thread = threading.Thread(target=again, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _packages(command: Sequence[str]) -> int:
    """How many packages the locks of a pip command pin."""
    locks = [Path(path) for word, path in pairwise(command) if word == "-r"]
    pinned = "".join(lock.read_text() for lock in locks if lock.is_file())
    return len(re.findall(r"^[A-Za-z0-9]", pinned, re.MULTILINE))


class Shown:
    """What apt-get says of its progress, as a line for each quarter of a download or an installation.

    With APT::Status-Fd it writes lines such as `dlstatus:3:40.1:...` and `pmstatus:gcc-avr:62.5:...`.
    """

    STATUS = re.compile(r"(dlstatus|pmstatus):[^:]*:([0-9.]+):")
    WORDS: ClassVar[dict[str, str]] = {"dlstatus": "downloading", "pmstatus": "unpacking and installing"}
    QUARTER = 25

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._told: tuple[str, int] = ("", 0)

    def take(self, line: str) -> bool:
        """Whether the line is about progress; it is passed on where another quarter is done."""
        found = self.STATUS.match(line)
        if found is None:
            return False
        kind, percent = found[1], int(float(found[2]))
        quarter = percent // self.QUARTER * self.QUARTER
        if kind != self._told[0]:
            self._told = (kind, 0)
        if quarter > self._told[1]:
            self._told = (kind, quarter)
            self._say(f"{self.WORDS[kind]}: {quarter} %")
        return True

    def poll(self) -> None:
        """Its lines are all that it reports."""


class PipShown:
    """What pip says of its progress: a line for each large file and each quarter of the packages.

    A large file has a line for each quarter, too: the part that has arrived is in `folder`."""

    FILE = re.compile(r"\s*(?:Downloading|Using cached) (\S+\.whl) \(([0-9.]+) (bytes|kB|MB)\)")
    OTHERS = re.compile(
        r"\s*(Looking in|Ignoring|Collecting|Downloading|Using cached|Obtaining|Processing|Installing coll"
        r"|Attempting|Found existing|Uninstalling|Successfully|Requirement already|$)"
    )
    BYTES: ClassVar[dict[str, float]] = {"bytes": 1.0, "kB": 1e3, "MB": 1e6}
    LARGE_BYTES = 2e6

    def __init__(self, say: Callable[[str], None], packages: int, folder: Path) -> None:
        self._say, self._packages, self._folder = say, packages, folder
        self._count = self._quarter = self._told = 0
        self._name, self._bytes = "", 0.0

    def take(self, line: str) -> bool:
        """Whether the line is about progress; it is passed on where much is done or begins."""
        found = self.FILE.match(line)
        if found is not None:
            self._count += 1
            self._name, self._told = found[1].rpartition("/")[2], 0
            self._bytes = float(found[2]) * self.BYTES[found[3]]
            quarter = 100 * self._count // max(1, self._packages) // QUARTER
            if quarter > self._quarter or self._large:
                self._say(f"package {self._count} of {self._most}: {self._called}, {found[2]} {found[3]}")
            self._quarter = max(quarter, self._quarter)
        elif line.startswith("Installing collected packages"):
            self._name = ""
            self._say("unpacking and installing")
        return self.OTHERS.match(line) is not None

    def poll(self) -> None:
        """Look how much of the file has arrived."""
        name, whole = self._name, self._bytes
        if not name or not self._large:
            return
        try:
            arrived = sum(path.stat().st_size for path in self._folder.glob(f"pip-unpack-*/{name}"))
        except OSError:  # it has been moved
            return
        quarter = int(100 * arrived / whole) // QUARTER * QUARTER
        if self._told < quarter < 100 and name == self._name:
            self._told = quarter
            self._say(f"downloading {self._called}: {quarter} %")

    @property
    def _called(self) -> str:
        return self._name.partition("-")[0]

    @property
    def _large(self) -> bool:
        return self._bytes >= self.LARGE_BYTES

    @property
    def _most(self) -> int:
        """A lock also pins what only other systems take."""
        return max(self._count, self._packages)
