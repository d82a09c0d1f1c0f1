"""Tool sets: what set-up installs, and what a missing one means."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from motecrypt.base import process
from motecrypt.base.errors import InputError
from motecrypt.build.setup import first, runs
from motecrypt.build.setup.tool_sets import ToolSet

#: The module; `motecrypt.build.setup.tool_sets` names its function.
tool_sets_module = sys.modules[ToolSet.__module__]

NOWHERE = ToolSet(
    name="nowhere",
    title="A thing that no package brings",
    debian=("nothing",),
    commands=(),
    files=("/nonexistent/thing",),
    python=(),
    download_mb=1,
    optional=False,
    note="nothing is lost",
)


@pytest.mark.parametrize("optional", [False, True])
def test_what_an_installation_did_not_bring_ends_only_what_cannot_go_on_without_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], optional: bool
) -> None:
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(
        tool_sets_module, "tool_sets", lambda: {"nowhere": replace(NOWHERE, optional=optional)}
    )
    monkeypatch.setattr(tool_sets_module, "_install_debian", lambda tool_set: None)
    monkeypatch.setattr(tool_sets_module, "left_out", lambda what, why: told.append((what, why)))
    if optional:
        tool_sets_module.need("nowhere")
        assert told[0][0] == NOWHERE.title and "/nonexistent/thing missing" in told[0][1]
        assert "nothing is lost" in capsys.readouterr().err
    else:
        with pytest.raises(InputError, match="/nonexistent/thing missing"):
            tool_sets_module.need("nowhere")
        assert not told


@dataclass
class Machine:
    """What is installed on a made-up machine, and the commands that were run there."""

    place: Path
    offers: set[str]
    ran: list[list[str]] = field(default_factory=list)

    def trouble(self, command: list[str], environment: dict[str, str], timeout_s: float) -> str:
        self.ran.append(command)
        if "update" in command or "pip" in command or "dpkg" in command:
            return ""
        packages = command[command.index("--no-install-recommends") + 1 :]
        lacks = sorted(set(packages) - self.offers)
        if lacks:
            return f"Unable to locate package {lacks[0]}"
        for name in packages:
            (self.place / name).touch()
        return ""

    @property
    def installed(self) -> list[list[str]]:
        """The packages of each `apt-get install`."""
        at = "--no-install-recommends"
        return [command[command.index(at) + 1 :] for command in self.ran if at in command]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    made = Machine(tmp_path, {"one", "two", "both"})
    several = {
        name: replace(NOWHERE, name=name, title=name, debian=(name, "both"), files=(str(tmp_path / name),))
        for name in ("one", "two", "none")
    }
    several["none"] = replace(several["none"], optional=True)
    several["snake"] = replace(NOWHERE, name="snake", debian=(), files=(), python=("no_such_module",))
    monkeypatch.setattr(tool_sets_module, "tool_sets", lambda: several)
    monkeypatch.setattr(tool_sets_module, "_trouble", made.trouble)
    monkeypatch.setattr(tool_sets_module, "_done", set())
    monkeypatch.setattr(tool_sets_module, "_failed", {})
    monkeypatch.setattr(tool_sets_module, "_unreached", [])
    monkeypatch.setattr(tool_sets_module, "LISTS", tmp_path / "lists")
    monkeypatch.setattr(tool_sets_module, "JOURNAL", tmp_path / "updates")
    return made


@pytest.mark.parametrize(("names", "finishes"), [((), False), (("tmp.i",), False), (("tmp.i", "0001"), True)])
def test_what_dpkg_was_stopped_at_is_finished_first(
    machine: Machine, names: tuple[str, ...], finishes: bool
) -> None:
    tool_sets_module.JOURNAL.mkdir()
    for name in names:
        (tool_sets_module.JOURNAL / name).touch()
    tool_sets_module.need("one")
    first = machine.ran[0]
    assert (first[-3:] == ["dpkg", "--configure", "-a"]) is finishes and machine.installed == [
        ["one", "both"]
    ]


OFFLINE = "Temporary failure resolving 'deb.example'"


FAILED = f"Failed to fetch http://deb.example/x  {OFFLINE}"


@pytest.mark.parametrize(
    ("update", "install"),
    [
        (f'echo "W: {FAILED}"', "echo E: Unable to locate package"),
        ("true", f'echo "E: {FAILED}"; echo E: Unable to fetch some'),
    ],
)
def test_where_there_is_no_network_it_is_named(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, update: str, install: str
) -> None:
    """apt-get update does not fail without a network, and what install says last does not name it."""
    monkeypatch.undo()
    monkeypatch.setattr(tool_sets_module, "tool_sets", lambda: {"nowhere": NOWHERE})
    for name in ("_unreached", "_done", "_failed"):
        monkeypatch.setattr(tool_sets_module, name, type(getattr(tool_sets_module, name))())
    monkeypatch.setattr(tool_sets_module, "LISTS", machine.place / "lists")
    monkeypatch.setattr(tool_sets_module, "JOURNAL", machine.place / "updates")
    program = machine.place / "apt-get"
    program.write_text(f'#!/bin/sh\ncase "$*" in\n*update*) {update} ;;\n*) {install}; exit 100 ;;\nesac\n')
    program.chmod(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", f"{machine.place}:{os.environ['PATH']}")
    for _ in range(2):  # the second time from what is known
        with pytest.raises(InputError) as raised:
            tool_sets_module.need("nowhere")
        assert str(raised.value) == (
            "A thing that no package brings: could not be installed: the network cannot be reached "
            f"({OFFLINE}); connect this computer to it and run this again"
        )


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (f"W: Failed to fetch http://deb.example/x  {OFFLINE}", OFFLINE),
        ("Could not connect to mirror.example:80 (192.0.2.1). - connect (111: Connection refused)", "Could"),
        ("WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('<x>: Failed to "
         "establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/click/",
         "Temporary failure in name resolution"),
        ("fatal: Could not resolve host: git.example", "Could not resolve host: git.example"),
        ("[Errno 101] Network is unreachable", "Network is unreachable"),
        ("E: Unable to locate package nothing", ""),
        ("x.c:1: error: connection.h: No such file or directory", ""),
    ],
)  # fmt: skip
def test_a_program_that_reaches_no_network_says_so_in_many_ways(said: str, words: str) -> None:
    found = process.unreachable(["first", said, "last: error"])
    assert (words in found) if words else found == ""
    outcome = process.Outcome(1, "", f"first\n{said}\nlast: error: x")
    assert outcome.first_error.startswith("the network cannot be reached (") == bool(words)


def test_pip_names_the_network_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "echo '[Errno 101] Network is unreachable'; echo 'ERROR: No matching distribution'; exit 1"
    monkeypatch.setattr(first, "pip_command", lambda *_: ["/bin/sh", "-c", script])
    assert first.main(["base.txt"]) == 1
    assert capsys.readouterr().err == (
        "motecrypt: Python's packages cannot be installed: the network cannot be reached (Network is "
        "unreachable); connect this computer to it and run this again\n"
    )


@pytest.mark.parametrize(
    ("age_s", "updates"), [(0, False), (3590, False), (3610, True), (-60, True), (None, True)]
)
def test_lists_that_have_just_been_fetched_are_not_fetched_again(
    machine: Machine, age_s: int | None, updates: bool
) -> None:
    if age_s is not None:
        tool_sets_module.LISTS.mkdir()
        when = time.time() - age_s
        os.utime(tool_sets_module.LISTS, (when, when))
    tool_sets_module.need("one")
    assert [command[-1] == "update" for command in machine.ran] == ([True, False] if updates else [False])
    assert machine.installed == [["one", "both"]]


def test_where_such_lists_do_not_do_they_are_fetched_once(machine: Machine) -> None:
    tool_sets_module.LISTS.mkdir()
    for _ in range(2):
        tool_sets_module.need("none")
        assert machine.installed == [["none", "both"]] * 2
    assert [command[-1] == "update" for command in machine.ran] == [False, True, False]


def test_several_tool_sets_come_by_one_call(machine: Machine) -> None:
    tool_sets_module.need_each([("one", True), ("two", True), ("one", True)])
    assert machine.installed == [["one", "both", "two"]]
    assert sum("update" in command for command in machine.ran) == 1
    tool_sets_module.need("one", "two")
    assert len(machine.ran) == 2


def test_one_tool_set_that_cannot_be_had_keeps_no_other_away(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    tool_sets_module.need("none", "one", "two")
    assert machine.installed == [
        ["none", "both", "one", "two"],
        ["none", "both"],
        ["one", "both"],
        ["two", "both"],
    ]
    assert sum("update" in command for command in machine.ran) == 1
    said = "continuing without an optional tool set: none: could not be installed"
    told = capsys.readouterr().err
    assert said in told and "(Unable to locate package none)" in told
    tool_sets_module.need("none")  # for the same reason; apt-get is not asked again
    assert len(machine.installed) == 4 and said in capsys.readouterr().err


def test_pythons_packages_come_meanwhile_and_are_tried_once(machine: Machine) -> None:
    with pytest.raises(InputError, match="no_such_module missing"):
        tool_sets_module.need("one", "snake")
    assert machine.installed == [["one", "both"]]
    pip = [command for command in machine.ran if "pip" in command]
    assert len(pip) == 1 and pip[0][-1].endswith("snake.txt") and "--require-hashes" in pip[0]


def test_pythons_packages_of_several_tool_sets_come_by_one_call(machine: Machine) -> None:
    tool_sets_module.tool_sets()["newt"] = replace(
        tool_sets_module.tool_sets()["snake"], name="newt", python=("no_other",)
    )
    with pytest.raises(InputError, match="no_such_module missing"):
        tool_sets_module.need("snake", "newt")
    locks = [[word for word in command if word.endswith(".txt")] for command in machine.ran]
    snake, newt = (str(tool_sets_module.tool_sets()[name].lock) for name in ("snake", "newt"))
    assert locks == [[snake, newt], [snake]]


APT = """\
dlstatus:1:0.0000:Retrieving file 1 of 3
dlstatus:1:30.5:Retrieving file 2 of 3
dlstatus:2:49.9:Retrieving file 2 of 3
dlstatus:3:100:Retrieving file 3 of 3
pmstatus:dpkg-exec:0.0000:Running dpkg
pmstatus:gcc-avr:62.5:Installing gcc-avr
pmstatus:gcc-avr:100:Installed gcc-avr
"""


def test_an_installation_tells_each_quarter_once() -> None:
    told: list[str] = []
    shown = runs.Shown(told.append)
    assert all(shown.take(line) for line in APT.splitlines())
    assert not shown.take("E: Unable to locate package x") and not shown.take("")
    kinds = ("downloading", "unpacking and installing")
    assert told == [*(f"{kinds[0]}: {n} %" for n in (25, 100)), *(f"{kinds[1]}: {n} %" for n in (50, 100))]


PIP = """\
Looking in indexes: https://example.org/simple
Ignoring numpy: markers 'python_full_version >= "3.12"' don't match your environment
Collecting small==1 (from -r a.txt (line 1))
  Downloading small-1-py3-none-any.whl (90 kB)
Requirement already satisfied: there==1 in /x
Collecting numpy==2
  Downloading numpy-2-cp311-cp311-linux.whl.metadata (62 kB)
  Downloading numpy-2-cp311-cp311-linux.whl (8.0 MB)
  Using cached https://example.org/third-1-py3-none-any.whl (100 bytes)
  Using cached fourth-1-py3-none-any.whl (1.9 MB)
Installing collected packages: small, numpy
Successfully installed small-1
"""


def test_pip_has_a_line_for_each_large_file_and_each_quarter(tmp_path: Path) -> None:
    told: list[str] = []
    shown = runs.PipShown(told.append, 8, tmp_path)
    place = tmp_path / "pip-unpack-x"
    place.mkdir()
    for line in PIP.splitlines():
        assert shown.take(line), line
        if "8.0 MB" in line:
            for arrived in (1_999_999, 2_000_000, 3_999_999, 6_500_000, 8_000_000):
                (place / "numpy-2-cp311-cp311-linux.whl").write_bytes(bytes(arrived))
                shown.poll()
        shown.poll()
    assert told == [
        "package 2 of 8: numpy, 8.0 MB",
        *(f"downloading numpy: {n} %" for n in (25, 75)),
        "package 4 of 8: fourth, 1.9 MB",
        "unpacking and installing",
    ]
    assert not shown.take("ERROR: No matching distribution found for small==1")


def test_pip_is_watched_while_it_downloads(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lock = tmp_path / "lock.txt"
    lock.write_text("numpy==2 \\\n    --hash=sha256:00\nother==1\n")
    script = (
        "echo '  Downloading numpy-2.whl (8.0 MB)'; mkdir $TMPDIR/pip-unpack-1; "
        "head -c 4500000 /dev/zero >$TMPDIR/pip-unpack-1/numpy-2.whl; sleep 2; echo ERROR: broken; exit 1"
    )
    told: list[str] = []
    why = runs.trouble(["/bin/sh", "-c", script, "pip", "-r", str(lock)], dict(os.environ), 60.0, told.append)
    assert (why, told) == ("ERROR: broken", ["package 1 of 2: numpy, 8.0 MB", "downloading numpy: 50 %"])


def test_a_command_that_fails_says_its_last_line_and_none_of_its_progress(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def trouble(script: str, timeout_s: float = 60.0) -> str:
        return tool_sets_module._trouble(["/bin/sh", "-c", script], dict(os.environ), timeout_s)

    assert trouble("echo dlstatus:1:50.0:x; exit 0") == ""
    assert "downloading: 50 %" in capsys.readouterr().err
    assert trouble("echo first; echo E: last >&2; echo pmstatus:a:1:x; exit 100") == "E: last"
    assert trouble("exit 3") == "it printed nothing"
    assert trouble("exec sleep 60", 0.2) == "stopped after 0.2 s"
    assert "No such file" in tool_sets_module._trouble(["/no/such/program"], {}, 60.0)


def test_a_command_that_ran_too_long_says_so_however_late_its_end_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kill = subprocess.Popen.kill

    def kill_and_wait(program: subprocess.Popen[bytes]) -> None:
        kill(program)
        time.sleep(0.2)  # as on a busy machine: the program has ended, and its timer has not

    monkeypatch.setattr(subprocess.Popen, "kill", kill_and_wait)
    said = tool_sets_module._trouble(["/bin/sh", "-c", "exec sleep 60"], dict(os.environ), 0.1)
    assert said == "stopped after 0.1 s"


def test_what_comes_first_and_how_long_it_takes_is_said_before(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    tool_sets_module.need_each([("one", True), ("two", True)])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("motecrypt: this run first installs, once: one; two (about ")
    tool_sets_module.need("one", "two")
    assert capsys.readouterr().err == "", "nothing is missing any more"
    sizes = {0: "about 0 MB, a minute at most", 70: "about 70 MB, a minute at most"}
    assert tool_sets_module._size(0) == sizes[0] and tool_sets_module._size(70) == sizes[70]
    assert tool_sets_module._size(300) == "about 300 MB, 1 to 5 minutes"
    assert tool_sets_module._size(1500) == "about 1500 MB, 2 to 25 minutes"


def test_what_is_under_way_ends_though_nobody_hears_of_its_progress(tmp_path: Path) -> None:
    def closed(text: str) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    script = f"echo dlstatus:1:30:x; sleep 0.3; echo done >{tmp_path}/done"
    assert "Broken pipe" in runs.trouble(["/bin/sh", "-c", script], dict(os.environ), 60.0, closed)
    assert (tmp_path / "done").exists()
