"""The far end of a free-running firmware's UART: output and input, ports, pseudo-terminals, the pace."""

from __future__ import annotations

import errno
import os
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from natively import compiled, limited

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")

SEEN, FLOODED, JOINED, OPENED, VANISHED, READS = (1 << n for n in range(6))
DEADLINE_S = 20.0
MOST = 2**64 - 1


class Line:
    """The program, asked operation by operation; it holds its own end of the line's descriptors."""

    def __init__(self, program: Path, folder: Path, path: str = "", until: str = "") -> None:
        self.names = folder / "names"
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        self.process = subprocess.Popen(
            [program, str(to_read), str(from_write), path, until, self.names],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            pass_fds=(to_read, from_write),
            start_new_session=True,
            preexec_fn=limited,
        )
        os.close(to_read)
        os.close(from_write)
        self._to, self._from, self._rest = to_write, from_read, b""

    def __call__(self, *line: object) -> int:
        os.write(self._to, (" ".join(map(str, line)) + "\n").encode())
        while b"\n" not in self._rest:
            assert select.select([self._from], [], [], DEADLINE_S)[0], f"{line}: no answer"
            got = os.read(self._from, 1000)
            assert got, f"{line}: it has ended"
            self._rest += got
        answer, _, self._rest = self._rest.partition(b"\n")
        return int(answer)

    def out(self, count: int) -> bytes:
        """What results, as many bytes."""
        got = b""
        assert self.process.stdout is not None
        while len(got) < count and select.select([self.process.stdout], [], [], DEADLINE_S)[0]:
            more = os.read(self.process.stdout.fileno(), count - len(got))
            if not more:
                break
            got += more
        return got

    def quiet(self) -> bool:
        """Whether nothing is there to come out."""
        assert self.process.stdout is not None
        return not select.select([self.process.stdout], [], [], 0)[0]

    def give(self, data: bytes) -> None:
        assert self.process.stdin is not None
        os.write(self.process.stdin.fileno(), data)

    def end(self, code: int = 0) -> int:
        os.write(self._to, f"end {code}\n".encode())
        return self.process.wait(DEADLINE_S)

    def close(self) -> None:
        self.process.kill()
        self.process.wait(DEADLINE_S)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        os.close(self._to)
        os.close(self._from)


Start = Callable[..., Line]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("line_harness.c", tmp_path_factory.mktemp("line"), "-lutil")


@pytest.fixture
def start(program: Path, tmp_path: Path) -> Iterator[Start]:
    started: list[Line] = []

    def make(*, path: str = "", until: str = "") -> Line:
        started.append(Line(program, tmp_path, path, until))
        return started[-1]

    yield make
    for line in started:
        line.close()


def sent(line: Line, data: bytes, us: int = 0) -> list[int]:
    return [line("send", byte, us) for byte in data]


def read(descriptor: int, count: int) -> bytes:
    """As many bytes; each may come by itself."""
    got = b""
    while len(got) < count and select.select([descriptor], [], [], DEADLINE_S)[0]:
        got += os.read(descriptor, count - len(got))
    return got


def eventually(what: Callable[[], bool]) -> bool:
    ends = time.monotonic() + DEADLINE_S
    while not what() and time.monotonic() < ends:
        time.sleep(0.005)
    return what()


# --- standard output and input -------------------------------------------------------------------------


def test_output_is_passed_on_when_it_is_looked_at_and_when_it_is_much(start: Start) -> None:
    line = start()
    assert line("open_none") == 0
    line("set", MOST, 0, 0, 0)
    assert sent(line, b"hello") == [0] * 5 and line.quiet()
    line("look", 0)
    assert line.out(5) == b"hello"
    assert line("send_many", 4096) == 4096 and line.quiet()
    assert line("send", 1, 0) == 0
    assert line.out(4096) == bytes(n * 7 & 255 for n in range(1, 4097)) and line.quiet()
    assert line("flush") == 0 and line.out(1) == b"\1"


def test_output_goes_on_where_it_was_interrupted(start: Start) -> None:
    line = start()
    line("open_none")
    line("set", MOST, 0, 0, 0)
    line("disturb", 2, 1)
    sent(line, b"0123456789")
    assert line("flush") == 0 and line.out(10) == b"0123456789" and line.quiet()


def test_stamps_are_at_the_beginning_of_lines(start: Start) -> None:
    line = start()
    line("open_none")
    line("set", MOST, 1, 0, 0)
    sent(line, b"a\n", 1_500_000)
    sent(line, b"\nbc", 12_345_678_901_234)
    line("flush")
    expected = b"     1.500000  a\n12345678.901234  \n12345678.901234  bc"
    assert line.out(len(expected)) == expected and line.quiet()


def test_more_than_is_allowed_is_a_flood(start: Start) -> None:
    line = start()
    line("open_none")
    line("set", 3, 0, 0, 0)
    assert sent(line, b"abcd") == [0, 0, 0, 1] and line("state") == FLOODED


@pytest.mark.parametrize(
    ("until", "text", "at"),
    [
        ("ab", "xaab", 4),
        ("aab", "aaab", 4),
        ("aabaaa", "aabaabaaa", 9),
        ("ababc", "abababc", 7),
        ("abcabd", "abcabcabd", 9),
        ("aaa", "aabaaa", 6),
        ("abab", "abaabab", 7),
        ("abacab", "abacababacab", 6),
        ("abacabad", "abacabacabad", 12),
        ("x", "x", 1),
        ("xy", "xxzxyx", 5),
        ("ab", "ba", 0),
    ],
)
def test_the_text_that_is_waited_for_is_found(start: Start, until: str, text: str, at: int) -> None:
    line = start(until=until)
    line("open_none")
    line("set", MOST, 0, 0, 1)
    answers = sent(line, text.encode())
    assert answers == [int(bool(at) and n >= at) for n in range(1, len(text) + 1)]
    assert line("state") == (SEEN if at else 0)
    line("flush")
    shown = text[:at] if at else text
    assert line.out(len(shown)) == shown.encode() and line.quiet(), "nothing after it"


def test_piped_input_waits_for_the_receiver(start: Start) -> None:
    line = start()
    line("open_none")
    line("set", MOST, 0, 1, 0)
    assert line("look", 1) == 0
    line.give(b"ab")
    assert line("look", 0) == 0 and line("look", 1) == 2
    assert line("take") == ord("a")
    line.give(b"cd")
    assert line("look", 1) == 1, "what is there comes first"
    assert line("take") == ord("b") and line("take") == 999
    assert line("look", 1) == 2 and [line("take"), line("take")] == [ord("c"), ord("d")]
    assert line("state") == READS
    assert line.process.stdin is not None
    line.give(b"e")
    line.process.stdin.close()
    assert line("look", 1) == 1 and line("take") == ord("e")
    assert line("state") == READS and line("look", 1) == 0 and line("state") == 0, "it has ended"
    line.process.stdin = None


def test_without_input_nothing_is_read(start: Start) -> None:
    line = start()
    line("open_none")
    line("set", MOST, 0, 0, 0)
    line.give(b"ab")
    assert line("look", 1) == 0


def test_when_nobody_listens_any_more_it_ends(start: Start) -> None:
    line = start()
    line("open_none")
    line("set", MOST, 0, 0, 0)
    assert line.process.stdout is not None
    line.process.stdout.close()
    sent(line, b"x")
    os.write(line._to, b"flush\n")
    assert line.process.wait(DEADLINE_S) in (0, -signal.SIGPIPE)
    line.process.stdout = None


# --- a serial port -------------------------------------------------------------------------------------


def test_a_serial_port_carries_both_ways(start: Start) -> None:
    master, slave = os.openpty()
    line = start(path=os.ttyname(slave))
    assert line("open_port") == 0
    modes = termios.tcgetattr(slave)
    assert modes[4:6] == [termios.B115200] * 2
    assert not modes[3] & (termios.ICANON | termios.ECHO) and not modes[1] & termios.OPOST
    line("set", MOST, 0, 1, 0)
    sent(line, b"out\n")
    assert read(master, 4) == b"out\n"
    os.write(master, b"in")
    assert eventually(lambda: line("look", 1) == 2)
    assert [line("take"), line("take")] == [ord("i"), ord("n")]
    line.give(b"piped")
    assert line("look", 1) == 5, "and what is piped in, too"
    assert line("state") == READS
    os.close(slave)
    os.close(master)
    for _ in range(5):
        line("take")
    line("look", 0)
    assert line("state") & VANISHED
    assert line.out(4) == b"out\n"


def test_a_byte_to_a_port_that_has_gone(start: Start) -> None:
    master, slave = os.openpty()
    line = start(path=os.ttyname(slave))
    line("open_port")
    line("set", MOST, 0, 0, 0)
    os.close(slave)
    os.close(master)
    assert line("send", 1, 0) == 0 and line("state") == VANISHED


def test_a_port_that_nobody_reads_loses_bytes_and_stops_nothing(start: Start) -> None:
    master, slave = os.openpty()
    line = start(path=os.ttyname(slave))
    line("open_port")
    line("set", MOST, 0, 0, 0)
    for _ in range(200):
        line("send_many", 1000)
        if not select.select([], [slave], [], 0)[1]:
            break
    assert line("send", 1, 0) == 0 and line("state") == 0
    os.close(slave)
    os.close(master)


def test_a_path_that_is_no_port(start: Start, tmp_path: Path) -> None:
    assert start(path=str(tmp_path / "none"))("open_port") == errno.ENOENT
    (tmp_path / "file").touch()
    assert start(path=str(tmp_path / "file"))("open_port") == errno.ENOTTY


# --- a pseudo-terminal ---------------------------------------------------------------------------------


def test_a_pseudo_terminal_is_joined_and_left(start: Start) -> None:
    line = start(path="pty")
    assert line("open_pty") == 0
    line("set", MOST, 0, 0, 0)
    line("look", 0)
    assert line("state") == 0
    assert sent(line, b"lost") == [0] * 4
    terminal = os.open(line.names.read_text(), os.O_RDWR | os.O_NOCTTY)
    modes = termios.tcgetattr(terminal)
    assert not modes[3] & (termios.ICANON | termios.ECHO) and not modes[1] & termios.OPOST
    assert line("look", 0) == 0 and line("state") == JOINED | OPENED
    os.write(terminal, b"in")
    assert eventually(lambda: line("look", 0) == 2) and line("state") == JOINED
    assert [line("take"), line("take")] == [ord("i"), ord("n")]
    sent(line, b"out\n")
    assert read(terminal, 4) == b"out\n"
    os.write(terminal, b"late")
    os.close(terminal)
    assert eventually(lambda: line("look", 0) == 0 and line("state") == 0)
    terminal = os.open(line.names.read_text(), os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    assert line("look", 0) == 0 and line("state") == JOINED | OPENED
    assert line("look", 0) == 0, "what was on its way is gone"
    os.write(terminal, b"x")
    assert eventually(lambda: line("look", 0) == 1)
    os.close(terminal)


def test_what_was_opened_is_told_before_its_input_is_read(start: Start) -> None:
    line = start(path="pty")
    line("open_pty")
    line("set", MOST, 0, 0, 0)
    line("look", 0)
    terminal = os.open(line.names.read_text(), os.O_RDWR | os.O_NOCTTY)
    os.write(terminal, b"early")
    time.sleep(0.05)
    assert line("look", 0) == 0 and line("state") == JOINED | OPENED
    assert line("look", 0) == 5 and line("state") == JOINED
    os.close(terminal)


def helper_of(line: Line) -> int:
    children = Path(f"/proc/{line.process.pid}/task/{line.process.pid}/children")
    (only,) = children.read_text().split()
    return int(only)


def test_the_link_goes_when_it_ends(start: Start, tmp_path: Path) -> None:
    link = tmp_path / "port"
    line = start(path=str(link))
    assert line("open_pty") == 0
    assert str(link.readlink()) == line.names.read_text()
    helper = helper_of(line)
    open_files = Path(f"/proc/{helper}/fd")
    assert eventually(lambda: len(list(open_files.iterdir())) == 2), "it holds nothing but its pipes"
    assert all(str(f.readlink()).startswith("pipe:") for f in open_files.iterdir())
    for number in (signal.SIGTERM, signal.SIGINT):
        os.kill(helper, number)
    time.sleep(0.02)
    assert link.is_symlink()
    assert line.end(5) == 5
    assert not link.is_symlink(), "before it has ended"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_link_goes_when_its_whole_group_is_killed(start: Start, tmp_path: Path, number: int) -> None:
    link = tmp_path / "port"
    line = start(path=str(link))
    assert line("open_pty") == 0
    helper = Path(f"/proc/{helper_of(line)}/fd")
    assert eventually(lambda: len(list(helper.iterdir())) == 2)
    os.killpg(line.process.pid, number)
    assert eventually(lambda: not link.is_symlink())


def test_a_link_that_leads_elsewhere_by_now_stays(start: Start, tmp_path: Path) -> None:
    for target in ("/dev/null", "/dev/pts/", "longer"):
        link = tmp_path / "port"
        line = start(path=str(link))
        assert line("open_pty") == 0
        link.unlink()
        link.symlink_to(line.names.read_text() + "0" if target == "longer" else target)
        line.end()
        assert link.is_symlink()
        link.unlink()


def test_a_link_that_cannot_be_made(start: Start, tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    assert start(path=str(tmp_path / "taken"))("open_pty") == errno.EEXIST
    assert (tmp_path / "taken").read_bytes() == b""


# --- the wall clock ------------------------------------------------------------------------------------


def test_it_is_never_ahead_of_the_wall_clock(start: Start) -> None:
    line = start()
    line("clock_is", 7_000_000)
    line("pace_from", 500, 1000)
    assert line("pace_to", 500) == 0
    assert line("pace_to", 501) == 1000
    line("clock_is", 7_000_400)
    assert line("pace_to", 502) == 2000 - 400
    assert line("pace_to", 502 + 3500) == 3_500_000, "more than a second"
    line("clock_is", 12_000_000)
    assert line("pace_to", 4902 + 500) == 0, "98 ms behind: to be caught up"
    assert line("pace_to", 5503) == 3000
    line("clock_is", 12_103_000)
    assert line("pace_to", 5503) == 0 and line("pace_to", 5504) == 0, "100 ms behind, not more"
    line("clock_is", 13_000_000)
    assert line("pace_to", 5600) == 0 and line("pace_to", 5601) == 1000, "too far: time is lost"
