"""Small things that users ran into, each held by a test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from motecrypt.app.receive import Received
from motecrypt.base.process import Outcome
from motecrypt.build.setup import ToolSetState, tool_sets
from motecrypt.cli import doctor
from motecrypt.cli import run as run_command
from motecrypt.cli.receive import show
from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve()


def started(line: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """A line of the shell in which `motecrypt` is ours."""
    program = folder / "motecrypt"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m motecrypt "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PATH": f"{folder}:{os.environ['PATH']}"}
    environment["TMPDIR"] = str(folder)
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder,
        env=environment,
        capture_output=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("kind", ["modern", "crypt-and-hash"])
def test_files_go_through_pipes(tmp_path: Path, kind: str) -> None:
    plain = bytes(range(256)) * 1000
    (tmp_path / "plain").write_bytes(plain)
    (tmp_path / "k").write_bytes(b"a key that is long enough")
    key = "--key-file m.key" if kind == "modern" else "--key-file k --format crypt-and-hash"
    encrypt = f"motecrypt file encrypt {key} - -"
    decrypt = f"motecrypt file decrypt {key} - -"
    made = "motecrypt key m.key >/dev/null"
    done = started(f"{made} && cat plain | {encrypt} | tee sealed | {decrypt}", tmp_path)
    assert done.returncode == 0 and done.stdout == plain, done.stderr
    assert (tmp_path / "sealed").read_bytes() != plain and b"motecrypt: 256000 bytes" in done.stderr
    mixed = started(
        f"motecrypt file decrypt {key} sealed - | cmp - plain && {decrypt[:-3]}- back <sealed", tmp_path
    )
    assert mixed.returncode == 0 and (tmp_path / "back").read_bytes() == plain, mixed.stderr
    kept = {"motecrypt", "plain", "k", "m.key", "sealed", "back"}
    assert {path.name for path in tmp_path.iterdir()} == kept, "nothing is left in the temporary folder"


def test_what_is_not_genuine_never_reaches_a_pipe(tmp_path: Path) -> None:
    line = "head -c 200000 /dev/zero | motecrypt file encrypt --key-file m.key - sealed"
    line = f"motecrypt key m.key >/dev/null; {line}"
    assert started(line, tmp_path).returncode == 0
    sealed = bytearray((tmp_path / "sealed").read_bytes())
    sealed[-1] ^= 1
    (tmp_path / "sealed").write_bytes(sealed)
    done = started("motecrypt file decrypt --key-file m.key - - <sealed", tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"motecrypt: standard input: chunk 3 is not genuine")


def test_sealed_bytes_are_not_sent_to_a_terminal(tmp_path: Path) -> None:
    line = "script -qec 'motecrypt file encrypt --key-file m.key m.key -' /dev/null"
    done = started(f"motecrypt key m.key >/dev/null; {line}", tmp_path)
    assert b"standard output is a terminal" in done.stdout and len(done.stdout.splitlines()) == 1


def test_a_file_that_is_missing_is_told_before_anything_else(tmp_path: Path) -> None:
    done = started("motecrypt file decrypt nothing there", tmp_path)
    assert (
        done.returncode == 2
        and len(done.stderr.splitlines()) == 1
        and b"nothing: cannot be read" in done.stderr
    )


def test_what_a_port_takes_is_not_shown_on_a_terminal_too() -> None:
    assert [run_command._shows(uart, raw, terminal) for uart, raw, terminal in SHOWN] == [
        *(True, True, False, True, True),
    ]


SHOWN = (
    (None, False, True),
    (None, False, False),
    ("p", False, True),
    ("p", True, True),
    ("p", False, False),
)


@pytest.mark.parametrize(
    ("as_hex", "lines"),
    [(False, ["node 7: deg", "node 8: 00ff", "deg"]), (True, ["node 7: 646567", "node 8: 00ff", "646567"])],
)
def test_a_receiver_shows_who_sent_a_message(
    as_hex: bool, lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for arrival in (Received(b"deg", 0.0, 7), Received(b"\x00\xff", 0.0, 8), Received(b"deg", 0.0)):
        show(arrival, as_json=False, as_hex=as_hex)
    assert capsys.readouterr().out.splitlines() == lines


BUILT = "/build/avr-libc-x/crt1/gcrt1.S:57: undefined reference to `main'"
MINE = f"{HERE}:3:5: error: 'x' was not declared"


@pytest.mark.parametrize(
    ("errors", "told"),
    [
        (BUILT, "undefined reference to `main'"),
        (MINE, MINE),
        (f"note\n{MINE}\n{MINE}\n{BUILT}", f"{MINE} (and 2 more)"),
        ("/no/such/x.o:(.text.main+0x4): undefined reference to `f'", "undefined reference to `f'"),
        ("plain", "plain"),
        (f"{BUILT}\ncollect2: error: ld returned 1 exit status", "undefined reference to `main'"),
    ],
)
def test_a_compiler_is_quoted_without_the_places_of_another_machine(errors: str, told: str) -> None:
    assert Outcome(code=1, output="", errors=errors).told_errors == told


@needs_tool_set("avr", "arduino")
def test_a_folder_of_libraries_may_be_relative(tmp_path: Path) -> None:
    library = tmp_path / "libraries" / "mine"
    library.mkdir(parents=True)
    (library / "mine.h").write_text("int mine(void);\n")
    (library / "mine.cpp").write_text("#include <mine.h>\nint mine(void) { return 42; }\n")
    sketch = (
        "#include <mine.h>\nvoid setup() { Serial.begin(9600); Serial.println(mine()); }\nvoid loop() {}\n"
    )
    (tmp_path / "one.ino").write_text(sketch)
    done = started("motecrypt run one.ino --libraries libraries --until 42", tmp_path)
    assert done.returncode == 0 and b"42" in done.stdout, done.stderr


@pytest.mark.parametrize("width", ["60", "80", "120"])
def test_doctor_shows_the_state_of_each_tool_set_at_every_width(
    width: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = [
        ToolSetState(tool_sets()["avr"], ("avr-gcc",), ()),
        ToolSetState(tool_sets()["host"], (), ()),
    ]
    monkeypatch.setattr("motecrypt.app.doctor.tool_sets", lambda: ["avr", "host"])
    monkeypatch.setattr(
        "motecrypt.app.doctor.state", lambda name: next(s for s in states if s.tool_set.name == name)
    )
    out = CliRunner().invoke(doctor.command, [], env={"COLUMNS": width}).stdout
    rows = dict(line.split()[:2] for line in out.splitlines() if line.startswith(("avr ", "host ")))
    assert rows == {"avr": "missing", "host": "ready"}
    assert "To get avr: apt-get install --no-install-recommends " in " ".join(out.split())
