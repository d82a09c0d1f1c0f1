"""Parts of the drivers that need no simulator, as programs that a test controls (harness.h)."""

from __future__ import annotations

import resource
import subprocess
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from motecrypt.build.toolchain.drivers import DRIVERS
from motecrypt.catalog import FIRMWARE

HERE = Path(__file__).parent
CPU_S = 10
DEADLINE_S = 40.0


def compiled(source: str, folder: Path, *flags: str) -> Path:
    """A harness next to this file, compiled into `folder`."""
    target = folder / Path(source).stem
    command = ["gcc", "-O1", f"-I{DRIVERS}", f"-I{FIRMWARE / 'include'}", str(HERE / source), *flags]
    done = subprocess.run(
        [*command, "-o", str(target)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return target


def limited() -> None:
    """In the new process: no more processor time than a loop without end needs to be noticed."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))


@contextmanager
def ended_in_time(running: subprocess.Popen[bytes]) -> Iterator[None]:
    """Whatever happens, a process is removed after the deadline, so that no read from it waits forever."""
    timer = threading.Timer(DEADLINE_S, running.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        running.kill()
        running.wait()


def told(program: Path, *lines: str) -> tuple[list[int], list[str]]:
    """What each operation returned, and what it did."""
    done = subprocess.run(
        [program],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=True,
        preexec_fn=limited,
    )
    return [int(line) for line in done.stdout.splitlines()], done.stderr.splitlines()


def ask(program: Path, *arguments: str | Path, lines: Iterable[tuple[object, ...]]) -> list[int]:
    """What each operation returned."""
    asked = [" ".join(map(str, line)) for line in lines]
    done = subprocess.run(
        [program, *arguments],
        input="".join(f"{line}\n" for line in asked),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
        preexec_fn=limited,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    answers = [int(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(asked)
    return answers
