"""Limits in processor time: a stopped program continues, one that computes or waits forever is ended.

Processes of a few lines play the programs, and a look is short, so that each case takes a moment.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base import process
from motecrypt.base.errors import FailureKind
from motecrypt.base.frames import ProtocolError, encode
from motecrypt.base.process import Hangs, Outcome, ProcessorTime
from motecrypt.simulate.runners.protocol import Client
from motecrypt.simulate.runners.session import DriverSession, Fault

FOREVER = "while True: pass"
ASLEEP = "import time\ntime.sleep(1000)"
LIMITS = (
    process.LOOK_S,
    process.ASLEEP_LOOKS,
    process.STOPPED_LOOKS,
    process.ASKED_S,
    process.WORK_S,
    process.LONG_S,
)
WAITS = "because it waits without end and uses no processor time"


@pytest.fixture(autouse=True)
def _looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LOOK_S", 0.02)
    monkeypatch.setattr(process, "ASLEEP_LOOKS", 10)


def python(program: str) -> list[str]:
    return [sys.executable, "-S", "-c", program]


def stops_itself(program: str, seconds: float = 0.4) -> str:
    """A program that is stopped, for longer than any limit here, before the rest of it, by its own child."""
    return f"""
import os, signal, time
parent = os.getpid()
if os.fork() == 0:
    os.close(0); os.close(1)
    while open(f"/proc/{{parent}}/stat").read().rpartition(")")[2].split()[0] != "T": time.sleep(0.01)
    time.sleep({seconds})
    os.kill(parent, signal.SIGCONT)
    os._exit(0)
os.kill(parent, signal.SIGSTOP)
{program}"""


@pytest.fixture
def _seen_from_its_stop_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it is stopped, a process counts as ready to run: on a busy machine its start may sleep long."""
    tree = process._tree

    def stopped_or_ready(pid: int) -> list[process._Process]:
        seen = tree(pid)
        if any(each.state == "T" for each in seen):
            return seen
        return [replace(each, state="R") for each in seen]

    monkeypatch.setattr(process, "_tree", stopped_or_ready)


# --- a driver ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_seen_from_its_stop_on")
def test_a_driver_that_was_stopped_gives_its_answer() -> None:
    answer = encode(1, "k")
    with DriverSession(python(stops_itself(f"os.write(1, {answer!r})"))) as session:
        Client(session, 0.1).set_key(b"")


def test_a_driver_that_computes_without_end_is_ended_by_its_processor_time() -> None:
    with DriverSession(python(FOREVER)) as session, pytest.raises(ProtocolError) as told:
        Client(session, 0.05).wait_ready()
    assert str(told.value) == "no answer within 0.05 s of processor time"
    assert (told.value.kind, told.value.transient) == (FailureKind.SILENT, True)
    assert session.clock.now() >= 0.05 and session._process.returncode == -signal.SIGKILL


def test_a_driver_that_sleeps_forever_is_ended() -> None:
    with DriverSession(python(ASLEEP)) as session:
        with pytest.raises(Fault) as told:
            Client(session, 1000).wait_ready()
        assert session._process.returncode == -signal.SIGKILL
    assert str(told.value) == f"no answer: the simulator was killed {WAITS}"
    assert (told.value.kind, told.value.transient) == (FailureKind.SILENT, True)


def test_an_answer_in_time_costs_a_limit_nothing() -> None:
    program = "import os\nwhile os.read(0, 1): os.write(1, b'x')"
    with DriverSession(python(program)) as session:
        for _ in range(20):
            session.write(b"y")
            assert session.read(1.0) == b"x"
        assert session.clock.now() < 1.0 and session.read(session.clock.now()) == b""


# --- a program to its end ------------------------------------------------------------------------------


@pytest.mark.usefixtures("_seen_from_its_stop_on")
def test_a_program_that_was_stopped_ends_well() -> None:
    assert process.run(python(stops_itself("print('done')")), work_s=5) == Outcome(0, "done\n", "")


@pytest.mark.parametrize(
    ("program", "asked", "why"),
    [
        (FOREVER, {"work_s": 0.05}, "after 0.05 s of processor time"),
        (ASLEEP, {}, WAITS),
        (ASLEEP, {"timeout_s": 0.02}, "after 0.02 s"),
    ],
)
def test_a_program_without_an_end_is_ended_with_its_children(
    program: str, asked: dict[str, Any], why: str, tmp_path: Path
) -> None:
    noted = tmp_path / "child"
    script = f"import os\nif os.fork() == 0:\n    open({str(noted)!r}, 'w').write(str(os.getpid()))\n"
    script += "    import time\n    time.sleep(1000)\n" if program == ASLEEP else f"    {FOREVER}\n"
    # the parent only waits: a compiler's work is its child's
    script += f"while not os.path.exists({str(noted)!r}): pass\nos.wait()"
    if "timeout_s" in asked:
        script = program
    words = python(script)
    assert process.run(words, **asked) == Outcome(-9, "", f"{words[0]}: killed {why}")
    if "timeout_s" not in asked:
        assert gone(int(noted.read_text()))


def gone(pid: int) -> bool:
    """Whether a killed process ends: that takes a moment on a busy machine; it may stay as a zombie."""
    for _ in range(500):
        seen = process._tree(pid)
        if not seen or seen[0].state in "ZX":
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(("program", "well"), [("", True), (FOREVER, False), (ASLEEP, False)])
def test_what_should_end_is_killed_where_it_does_not(program: str, well: bool) -> None:
    with subprocess.Popen(python(program)) as started:
        assert process.ends(started, 0.05) is well
        assert started.returncode == (0 if well else -signal.SIGKILL)
        process.kill(started)  # once more does no harm


def test_an_interrupt_ends_the_program_too(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    def look(watch: ProcessorTime) -> float:
        begun.append(watch._pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(ProcessorTime, "look", look)
    with pytest.raises(KeyboardInterrupt):
        process.run(python(ASLEEP))
    with pytest.raises(ChildProcessError):
        os.waitpid(begun[0], 0)


# --- looks ----------------------------------------------------------------------------------------------


def looks(monkeypatch: pytest.MonkeyPatch, seen: Sequence[Sequence[tuple[str, float]]], **asked: int) -> str:
    """What comes of looks at these states and processor times: of the program, and of a child."""
    made: Iterator[Sequence[tuple[str, float]]] = iter(seen)

    def tree(pid: int) -> list[process._Process]:
        return [process._Process(pid, 1, state, used_s) for state, used_s in next(made)]

    monkeypatch.setattr(process, "_tree", tree)
    watch = ProcessorTime(7, **asked)
    for number in range(len(seen)):
        try:
            used_s = watch.look()
        except Hangs:
            return f"hangs at {number}"
    return f"{used_s:g} s"


def test_what_counts_as_hanging(monkeypatch: pytest.MonkeyPatch) -> None:
    asleep, child_works = [("S", 1.0)], [[("S", 1.0), ("R", 2.0 + n)] for n in range(50)]
    assert looks(monkeypatch, [asleep] * 19) == "hangs at 10"
    assert looks(monkeypatch, [asleep] * 10) == "1 s"
    assert looks(monkeypatch, [asleep] * 9, asleep=7) == "hangs at 7"
    assert looks(monkeypatch, [[("S", 1.0), ("Z", 0.0)]] * 19) == "hangs at 10"
    assert looks(monkeypatch, [asleep] * 10 + [[("S", 1.5)]] + [asleep] * 10) == "1 s"  # it woke up once
    assert looks(monkeypatch, child_works) == "52 s"
    assert looks(monkeypatch, [[("R", 1.0)]] * 50) == "1 s"  # it waits for a processor
    assert looks(monkeypatch, [[("S", 1.0), ("R", 2.0)]] * 50) == "3 s"
    for state in "TtD":
        assert looks(monkeypatch, [[(state, 1.0)]] * 50) == "1 s"
    monkeypatch.setattr(process, "STOPPED_LOOKS", 20)
    assert looks(monkeypatch, [[("S", 1.0), ("T", 1.0)]] * 50) == "hangs at 20"
    assert looks(monkeypatch, [[("S", 1.0), ("R", 2.0)]] * 50) == "3 s"  # however long that takes
    assert looks(monkeypatch, [[]] * 19) == "hangs at 10"  # it has ended, and another keeps its pipes open


def test_the_limits_that_are_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LIMITS == (1.0, 60, 3600, 20.0, 120.0, 300.0)
    monkeypatch.setattr(process, "ASLEEP_LOOKS", 60)
    assert looks(monkeypatch, [[("S", 1.0)]] * 90) == "hangs at 60"


def test_a_wait_is_limited_from_its_first_look_on(monkeypatch: pytest.MonkeyPatch) -> None:
    used = iter([50.0, 50.5, 51.0, 51.5])
    waits: list[float] = []

    def select(descriptors: object, *rest: Any) -> Any:
        waits.append(rest[-1])
        return ([], [], [])

    monkeypatch.setattr(ProcessorTime, "look", lambda watch: next(used))
    monkeypatch.setattr(process, "select", SimpleNamespace(select=select))
    assert process.readable([5], 7, 1.0) == ([], 1.0)
    assert process.readable([5], 7, 0.0) == ([], 0.0) == process.readable([5], 7, -1.0)
    assert waits == [0.02] * 4 + [0, 0]


def test_the_time_of_children_that_have_ended_counts() -> None:
    program = (
        "import os, time\nif os.fork() == 0:\n    while time.process_time() < 0.05: pass\n    os._exit(0)\n"
    )
    program += "os.wait(); print(flush=True); import sys; sys.stdin.read()"
    with subprocess.Popen(python(program), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None and started.stdout.readline() == b"\n"
        (seen,) = process._tree(started.pid)
        assert seen.used_s >= 0.04 and seen.parent == os.getpid()
        own, *children = [each.pid for each in process._tree(os.getpid())]
        assert own == os.getpid() and started.pid in children
        started.communicate()
