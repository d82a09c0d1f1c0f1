"""A session with a driver program, whose part small programs of a few lines play here."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base.errors import FailureKind
from motecrypt.simulate.runners import session as session_module
from motecrypt.simulate.runners.session import DriverSession, Fault, Options, Region, Starts
from open_handles import handles

SOON_S = 30.0
EVENTS = "import os, sys, time\ntell = lambda text: os.write(int(sys.argv[1]), text.encode())\n"
WAIT = "\nsys.stdin.read()\n"


def driver(program: str, **settings: Any) -> DriverSession:
    return DriverSession([sys.executable, "-S", "-c", EVENTS + program, "{events}"], **settings)


def died(session: DriverSession) -> tuple[str, FailureKind, bool]:
    with session, pytest.raises(Fault) as told:
        session.read(SOON_S)
    return str(told.value), told.value.kind, told.value.transient


def test_options_are_those_of_an_untraced_run() -> None:
    assert Options() == Options(trace=False, cache="none", dump=None, max_cycles=None)
    assert Region(5) == Region(cycles=5, stack_bytes=None, trace=None, extra={})


def test_a_driver_that_is_not_there_leaves_nothing_open(tmp_path: Path) -> None:
    before = handles()
    for _ in range(3):
        with pytest.raises(FileNotFoundError):
            DriverSession([tmp_path / "none"])
    assert handles() <= before


def test_a_session_leaves_nothing_open() -> None:
    before = handles()
    with driver(WAIT) as session:
        assert (session.cycles_exact, session.holds_input, session.restartable) == (True, True, False)
        assert not session.restart() and session.regions() == []
    assert session._process.returncode == 0
    with driver(WAIT, cycles_exact=False, restarts=True) as session:
        assert (session.cycles_exact, session.restartable) == (False, True)
    assert handles() <= before


def test_bytes_go_in_and_come_out() -> None:
    with driver("sys.stdout.write(sys.stdin.readline().upper())\nsys.stdout.flush()" + WAIT) as session:
        assert session.read(0.0) == b"" == session.read(-1.0)
        session.write(b"abc\n")
        assert session.read(SOON_S) == b"ABC\n"
        assert session.read(0.0) == b""


def test_output_comes_also_after_the_events_have_ended() -> None:
    program = "os.close(int(sys.argv[1])); time.sleep(0.1); sys.stdout.write('x'); sys.stdout.flush()"
    with driver(program + WAIT) as session:
        assert session.read(SOON_S) == b"x" and session.regions() == []


def test_regions_are_read_as_they_are_told() -> None:
    program = """
tell('{"event": "region", "cycles": 7}\\n')
tell('{"event": "region", "cycles": 9, "stack": 4, "trace": "ab", "n": 1}\\n')
tell('{"event": "other", "cycles": 1}\\n{"event": "a", "detail": "none"}\\n{"event": "reg')
sys.stdout.write("1"); sys.stdout.flush()
sys.stdin.readline()
tell('ion", "cycles": 11}\\n')
sys.stdout.write("2"); sys.stdout.flush()
"""
    with driver(program + WAIT) as session:
        assert session.read(SOON_S) == b"1"
        assert session.regions() == [Region(7), Region(9, 4, "ab", {"n": 1})]
        assert session.regions() == []
        session.write(b"\n")
        assert session.read(SOON_S) == b"2"
        assert session.regions() == [Region(11)] and session._fault is None


def test_a_driver_with_many_events_never_waits() -> None:
    """More than a pipe holds, while its output is waited for and while its events are."""
    line = '{"event": "region", "cycles": 7}\\n'
    program = f"for _ in range(3): tell('{line}' * 3000)\nsys.stdout.write('x'); sys.stdout.flush()"
    with driver(program + WAIT) as session:
        assert session.read(SOON_S) == b"x"
        assert session.regions() == [Region(7)] * 9000


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("sys.exit('one\\ntwo\\n')", ("two", FailureKind.CRASHED, False)),
        ("sys.exit(3)", ("the simulator ended with 3", FailureKind.CRASHED, False)),
        ("os.kill(os.getpid(), 11)", ("the simulator ended with -11", FailureKind.CRASHED, False)),
        *(
            (
                f"print('said', file=sys.stderr, flush=True); os.kill(os.getpid(), {number})",
                (f"the simulator ended with -{number}", FailureKind.ENDED, True),
            )
            for number in (1, 2, 9, 15)
        ),
        *(
            (
                f"""tell('{{"event": "fault", "kind": "{name}", "detail": "why"}}\\n'); sys.exit('other')""",
                ("why", kind, False),
            )
            for name, kind in (
                ("stack", FailureKind.STACK),
                ("silent", FailureKind.SILENT),
                ("flood", FailureKind.FLOOD),
                ("crashed", FailureKind.CRASHED),
                ("board", FailureKind.CRASHED),
            )
        ),
        ("""tell('{"event": "fault", "detail": "why"}\\n')""", ("why", FailureKind.CRASHED, False)),
    ],
)
def test_how_a_driver_ended_is_told(program: str, told: tuple[str, FailureKind, bool]) -> None:
    plain = "import signal\nfor number in (1, 2): signal.signal(number, signal.SIG_DFL)\n"  # under nohup, too
    assert died(driver(plain + program)) == told


def test_a_driver_that_is_gone_is_told_to_who_writes() -> None:
    with driver("sys.exit('why')") as session:
        session._process.wait(SOON_S)
        with pytest.raises(Fault, match=r"^why$"):
            session.write(b"x")


def test_a_driver_that_closes_its_output_and_stays_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module.process, "LOOK_S", 0.01)
    monkeypatch.setattr(session_module.process, "ASLEEP_LOOKS", 5)
    session = driver("os.close(1); time.sleep(600)")
    with pytest.raises(Fault, match="the simulator ended with -9"):
        session.read(SOON_S)
    session.close()
    assert session._process.returncode == -9


def test_a_start_again_is_asked_for_where_it_can_serve() -> None:
    program = """
restarts = int(sys.argv[sys.argv.index("--restarts") + 1])
sys.stdout.write(os.read(restarts, 9).decode()); sys.stdout.flush()
tell('{"event": "fault", "detail": "why"}\\n')
sys.stdin.readline()
"""
    with driver(program, restarts=True) as session:
        assert session.restart() and session.read(SOON_S) == b"r"
        deadline = time.monotonic() + SOON_S
        while session._fault is None and time.monotonic() < deadline:
            session.regions()
        assert not session.restart()  # after a fault another one is needed
        session.write(b"\n")
        session._process.wait(SOON_S)
        session._fault = None
        assert not session.restart()
    with driver(WAIT, restarts=True) as session:
        os.close(session._restarts)
        out, session._restarts = os.pipe()
        os.close(out)
        assert not session.restart()  # nobody reads what is asked


class Stub:
    def __init__(self, restartable: bool, restarts: bool) -> None:
        self.restartable, self._restarts, self.closed, self.restarted = restartable, restarts, 0, 0

    def restart(self) -> bool:
        self.restarted += 1
        return self._restarts

    def close(self) -> None:
        self.closed += 1


def test_a_driver_is_used_again_where_it_can_be() -> None:
    opened: list[tuple[Options, Stub]] = []
    kinds = [(True, True), (True, False), (False, True), (True, True), (True, True), (True, True)]

    def open_session(options: Options) -> Any:
        opened.append((options, Stub(*kinds[len(opened)])))
        return opened[-1][1]

    starts, plain, traced = Starts(open_session), Options(), Options(trace=True)

    def started(options: Options) -> int:
        with starts.start(options) as session:
            return [stub for _, stub in opened].index(session)  # type: ignore[arg-type]

    assert [started(o) for o in (plain, plain, traced, traced, plain, plain)] == [0, 0, 1, 2, 3, 3]
    assert [options for options, _ in opened] == [plain, traced, traced, plain]
    assert [(stub.restarted, stub.closed) for _, stub in opened] == [(1, 1), (1, 1), (0, 1), (1, 0)]
    with pytest.raises(ZeroDivisionError), starts.start(plain):
        raise ZeroDivisionError
    assert opened[3][1].closed == 1  # what ended badly is not kept
    assert started(plain) == 4
    starts.close()
    starts.close()
    assert (opened[4][1].closed, started(plain)) == (1, 5)


def test_what_has_come_is_taken_without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    with driver(
        "sys.stdin.read(1); os.close(int(sys.argv[1])); sys.stdout.write('x'); sys.stdout.flush()" + WAIT
    ) as session:
        assert session._drain_events() is True  # nothing has come
        session.write(b"x")
        assert session.read(SOON_S) == b"x" and session._drain_events() is False

        def read(descriptor: int, most: int) -> bytes:
            asked.append((descriptor, most))
            return b"y"

        assert session._process.stdout is not None
        output = session._process.stdout.fileno()
        with monkeypatch.context() as patch:
            patch.setattr(session_module.process, "readable", lambda *_: ([output], 0.0))
            patch.setattr(session_module, "os", SimpleNamespace(read=read))
            assert session.read(SOON_S) == b"y" and session._drain_events() is True
        assert asked == [(output, 65536), (session._events, 65536)] and session._event_text == b"y"


def test_a_driver_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """After two seconds of its own: where its output has ended, and where the session has."""
    given: list[float] = []

    def ends(started: Any, work_s: float) -> bool:
        given.append(work_s)
        session_module.process.kill(started)
        return False

    monkeypatch.setattr(session_module.process, "ends", ends)
    session = driver(WAIT)
    assert str(session._death()) == "the simulator ended with -9"
    session.close()
    assert given == [2.0, 2.0]
