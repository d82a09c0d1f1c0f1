"""Progress says what is done, running and left, and how long the rest takes; each state once."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from motecrypt.catalog import Catalog
from motecrypt.cli import _output
from motecrypt.cli._bar import bar
from motecrypt.cli._screen import Screen
from motecrypt.measuring import bench
from motecrypt.present.terminal.progress import Lines, Stage, duration
from motecrypt.results import Results

ROOT = Path(__file__).resolve().parents[2]


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        *((0, "1 s"), (1.4, "1 s"), (59.4, "59 s"), (60, "1 min"), (89, "1 min"), (91, "2 min")),
        *((3569, "59 min"), (3600, "1 h 0 min"), (4830, "1 h 20 min")),
    ],
)
def test_a_time_is_said_as_exactly_as_it_can_be_known(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_a_stage_counts_what_is_done_running_and_left() -> None:
    clock = Clock()
    stage = Stage(clock)
    clock.now_s += 7
    assert stage.state() == "preparing, 7 s"
    assert stage.report(0, 19, "") and stage.state() == "0 of 19 done, 19 left" and stage.left_s is None
    stage.running = ("a", "b", "c", "d")
    assert (stage.state(), stage.names()) == ("0 of 19 done, 4 running, 15 left", "a, b, c and 1 more")
    clock.now_s += 10
    assert not stage.report(2, 19, "x")
    assert stage.state() == "2 of 19 done, 4 running, 13 left, about 1 min"  # 5 s each, 17 of them
    stage.running = ("a",)
    assert not stage.report(18, 19, "x") and stage.state() == "18 of 19 done, 1 running, about 1 s"
    stage.running = ()
    stage.report(19, 19, "last")
    assert (stage.state(), stage.names()) == ("19 of 19 done", "last")
    assert stage.report(0, 5, "") and stage.left_s is None
    clock.now_s += 4
    assert not stage.report(1, 5, "") and stage.left_s == 16, "counted from the stage's own beginning"
    assert stage.report(0, 5, ""), "with less done another stage begins"


def test_lines_are_few_and_none_is_printed_twice() -> None:
    clock, told = Clock(), list[str]()
    lines = Lines("measuring", clock, told.append)
    lines(0, 30, "")
    for done in range(1, 31):
        clock.now_s += 1
        lines.running([f"job {done + 1}"] if done < 30 else [])
        for _ in range(3):
            lines(done, 30, f"job {done}")
    assert told[0] == "measuring: 0 of 30 done, 30 left"
    assert told[1] == "measuring: 3 of 30 done, 1 running, 26 left, about 27 s (job 4)"
    assert told[-1] == "measuring: 30 of 30 done (job 30)"
    assert len(told) == len(set(told)) == 11
    lines(0, 2, "")
    assert told[-1] == "measuring: 0 of 2 done, 2 left"


def test_after_a_long_silence_a_line_comes_whatever_was_done() -> None:
    clock, told = Clock(), list[str]()
    lines = Lines("t", clock, told.append)
    lines(0, 100, "")
    clock.now_s += 59
    lines(0, 100, "first")
    assert len(told) == 1
    clock.now_s += 1
    lines(0, 100, "first")
    assert told[1:] == ["t: 0 of 100 done, 100 left (first)"]


def test_the_bar_shows_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")  # a dumb terminal gets no bar
    file = io.StringIO()
    screen = Screen(file=file, width=100, force_terminal=True, color_system=None)
    with bar("measuring", screen) as told:
        assert isinstance(told, bench.Watcher)
        told(0, 4, "")
        told.running(["uno aes", "uno \x1b[31mrc4"])
        told(1, 4, "uno x")
    shown = file.getvalue()
    assert "preparing" in shown and "1 of 4 done, 2 running, 1 left" in shown and "uno aes" in shown
    assert "\x1b[31m" not in shown
    assert isinstance(screen, Console)


def test_at_a_terminal_there_is_a_bar_from_the_first_moment_and_no_bar_in_a_pipe(tmp_path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, 'src')\n"
        "from motecrypt.cli._output import progress\n"
        "with progress('measuring') as told:\n"
        "    pass\n"
    )
    leader, follower = pty.openpty()
    try:
        command = [sys.executable, "-c", script]
        subprocess.run(
            command, cwd=ROOT, stderr=follower, timeout=60, check=True, env={**os.environ, "TERM": "xterm"}
        )
        shown = os.read(leader, 65536).decode()
    finally:
        os.close(leader)
        os.close(follower)
    assert "measuring" in shown and "preparing" in shown
    piped = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60, check=True)
    assert piped.stderr == b""


def test_a_measurement_tells_what_runs_from_the_first_firmware_on(
    results: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    catalog = Catalog.load()
    device = catalog.device("uno")
    cells = [
        cell
        for body in catalog.implementations_of("rc4d", "uno", ["motecrypt"])
        if body.variant in ("k-opt", "k-plain")
        for cell in bench.cells_for(catalog, device, body, message_bytes=[16])
    ]
    heard = list[tuple[int, int, tuple[str, ...]]]()

    class Heard:
        titles: tuple[str, ...] = ()

        def __call__(self, done: int, total: int, what: str) -> None:
            heard.append((done, total, self.titles))

        def running(self, titles: list[str]) -> None:
            self.titles = tuple(titles)

    bench.ensure(cells, results, catalog, 1, Heard())
    assert [(done, total) for done, total, _ in heard] == [(0, 2), (1, 2), (2, 2)]
    assert heard[1][2] == () or "rc4d" in heard[1][2][0]
    with _output.progress("again") as told:
        bench.ensure(cells, results, catalog, 1, told)
    assert capsys.readouterr().err == "", "where nothing is missing nothing is told"
