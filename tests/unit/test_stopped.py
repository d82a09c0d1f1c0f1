"""Ctrl-C on a first run, while packages are installed and while threads work: one line, exit code 130.

The programs that are stopped here ignore the signal and would sleep for an hour.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from motecrypt.base import process

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 20.0
STOPPED = "motecrypt: stopped\n"
TOOLS = (
    "sh",
    "env",
    "sed",
    "awk",
    "tail",
    "head",
    "mktemp",
    "rm",
    "grep",
    "readlink",
    "dirname",
    "cat",
    "cmp",
)
TOOLS += ("tr", "sleep", "nice", "mkdir", "flock", "cp", "mv", "uname", "kill")
SLEEPS = """#!/bin/sh
trap '' INT TERM
sleep 3600 &
echo $$ $! >{place}/started
wait
"""


class Place:
    """A folder with programs that sleep, and what was started with them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.sleeps = self.program("sleeps", SLEEPS.format(place=folder))
        self._begun: list[subprocess.Popen[str]] = []

    def program(self, name: str, text: str) -> Path:
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o700)
        return path

    def start(
        self, words: list[str | Path], environment: Mapping[str, str] | None = None, ignored: bool = False
    ) -> subprocess.Popen[str]:
        """Start a program in a process group of its own, as a terminal does."""
        number = signal.SIG_IGN if ignored else signal.SIG_DFL
        begun = subprocess.Popen(
            [str(word) for word in words],
            env=dict(os.environ if environment is None else environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, number) and None,
        )
        self._begun.append(begun)
        return begun

    def asleep(self) -> list[int]:
        """The numbers of the program that sleeps and of its child, once they do.

        The shell writes the line by itself: a program that moved a whole file there would still be
        its child when the file is seen.
        """
        started = self.folder / "started"
        wait_for(lambda: started.exists() and started.read_text().endswith("\n"))
        return [int(word) for word in started.read_text().split()]

    def stop(self, begun: subprocess.Popen[str], group: bool = True) -> tuple[int, str]:
        """Ctrl-C while the program sleeps; how it ended, and what it said on standard error."""
        sleeping = self.asleep()
        os.killpg(begun.pid, signal.SIGINT) if group else begun.send_signal(signal.SIGINT)
        _, errors = begun.communicate(timeout=DEADLINE_S)
        wait_for(lambda: not any(map(is_alive, sleeping)))
        (self.folder / "started").unlink()
        return begun.returncode, errors

    def end(self) -> None:
        """Leave nothing behind, even if a test has failed."""
        started = self.folder / "started"
        pids = [int(word) for word in started.read_text().split()] if started.exists() else []
        process.end([*pids, *(begun.pid for begun in self._begun if begun.poll() is None)])
        for begun in self._begun:
            begun.wait()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.end()


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether it runs: one that has ended and that nobody has asked for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# --- the wrappers


@pytest.fixture
def checkout(place: Place) -> Path:
    """A checkout with a first run to make, and a PATH with this system's tools but no Python."""
    root = place.folder / "checkout"
    package = root / "src" / "motecrypt"
    for folder in ("data/locks", "build/setup", "base"):
        (package / folder).mkdir(parents=True)
    shutil.copy(ROOT / "src" / "motecrypt" / "data" / "systems.toml", package / "data")
    (package / "data" / "ahead.txt").write_text("list any much\n")
    (package / "data" / "locks" / "base.txt").write_text("# nothing\n")
    for module in ("build/setup/runs.py", "build/setup/behind.py", "base/process.py"):
        shutil.copy(ROOT / "src" / "motecrypt" / module, package / module)
    for name in ("__init__.py", "base/__init__.py", "build/__init__.py", "build/setup/__init__.py"):
        (package / name).write_text("")
    (package / "__main__.py").write_text("print('ran')\n")
    for name in ("setup.sh", "motecrypt"):
        shutil.copy(ROOT / name, root / name)
    for tool in TOOLS:
        found = shutil.which(tool)
        if found is not None:
            (place.bin / tool).symlink_to(found)
    place.program("id", "#!/bin/sh\necho 0\n")
    return root


def first_run(place: Place, checkout: Path) -> subprocess.Popen[str]:
    environment = {"PATH": str(place.bin), "HOME": str(place.folder), "TMPDIR": str(place.folder)}
    return place.start([checkout / "motecrypt", "list"], environment)


def python_that(place: Place, case: str, sleeps: bool) -> str:
    """A Python with which one step of set-up sleeps, or takes no time."""
    begin = f"exec {place.sleeps}" if sleeps else ":"
    text = f"""#!/bin/sh
case "$*" in
*"{case}"*) {begin} ;;
esac
case "$*" in
*"-m venv"*) for last in "$@"; do :; done; mkdir -p "$last/bin"; cp "$0" "$last/bin/python" ;;
*"-m pip"* | *setup.first*) ;;
*) exec {sys.executable} "$@" ;;
esac
"""
    return str(place.program("python3", text))


def test_ctrl_c_while_apt_get_brings_python(place: Place, checkout: Path) -> None:
    place.program("apt-get", f"#!/bin/sh\nexec {place.sleeps}\n")
    code, errors = place.stop(first_run(place, checkout))
    assert code == 130 and errors.endswith(STOPPED) and errors.count("\n") == 2
    assert "installing python3" in errors.splitlines()[0]


@pytest.mark.parametrize("case", ["-m venv", "setup.first"])
def test_ctrl_c_while_the_environment_is_made(case: str, place: Place, checkout: Path) -> None:
    """Nothing but the steps and one line is said, and the next run makes what is missing."""
    python_that(place, case, sleeps=True)
    code, errors = place.stop(first_run(place, checkout))
    assert code == 130 and errors.endswith(STOPPED)
    assert all(line.startswith("motecrypt: ") for line in errors.splitlines())
    if (venv := checkout / ".venv" / "bin" / "python").exists():
        python_that(place, case, sleeps=False)
        shutil.copy(place.bin / "python3", venv)
    python_that(place, case, sleeps=False)
    output, errors = first_run(place, checkout).communicate(timeout=DEADLINE_S)
    assert output == "ran\n", errors


def test_what_apt_get_does_behind_set_up_ends_with_it(place: Place, checkout: Path) -> None:
    """What a command needs of Debian comes while Python's packages do: a job that would ignore Ctrl-C."""
    python_that(place, "setup.first", sleeps=False)
    (place.bin / "python3").rename(place.folder / "python3")
    place.program(
        "apt-get",
        f"""#!/bin/sh
case "$*" in
*much*) exec {place.sleeps} ;;
*python3*) cp {place.folder}/python3 {place.bin}/python3 ;;
esac
""",
    )
    (checkout / "src" / "motecrypt" / "__main__.py").write_text("import time\ntime.sleep(3600)\n")
    begun = first_run(place, checkout)
    wait_for((checkout / ".venv" / ".installed-base").exists)
    code, errors = place.stop(begun)
    assert code != 0 and "meanwhile, what 'list' needs: much" in errors


def test_set_up_names_the_network_where_there_is_none(place: Place, checkout: Path) -> None:
    place.program(
        "apt-get",
        """#!/bin/sh
case "$*" in
*update*) echo "W: Failed to fetch http://deb.example/x  Temporary failure resolving 'deb.example'" ;;
*) echo "E: Unable to locate package python3-venv"; exit 100 ;;
esac
""",
    )
    begun = first_run(place, checkout)
    _, errors = begun.communicate(timeout=DEADLINE_S)
    assert begun.returncode == 2 and errors.splitlines()[1:] == [
        "motecrypt: Python cannot be installed: the network cannot be reached (Temporary failure resolving "
        "'deb.example'); connect this computer to it and run this again"
    ]


# --- Python's side of set-up


def python(place: Place, text: str, ignored: bool = False) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONSAFEPATH": "1"}
    return place.start([sys.executable, "-c", text], environment, ignored)


SLOWLY = """
import time
from {module} import {name}
begin = {name}.{method}
{name}.{method} = lambda *given, **named: (begin(*given, **named), time.sleep(3))[1]
"""
BEGINS = {
    "at work": "",
    "starting": SLOWLY.format(module="subprocess", name="Popen", method="__init__"),
    "just started": SLOWLY.format(module="threading", name="Timer", method="start"),
}


@pytest.mark.parametrize("begins", BEGINS)
@pytest.mark.parametrize("module", ["first", "behind"])
def test_ctrl_c_ends_what_pip_and_apt_get_have_started(module: str, begins: str, place: Place) -> None:
    text = f"""
import sys
from motecrypt.build.setup import behind, first
{BEGINS[begins]}
first.pip_command = lambda *_: [{str(place.sleeps)!r}]
sys.exit({module}.main([{str(place.sleeps)!r}]))
"""
    assert place.stop(python(place, text, ignored=module == "behind")) == (130, "")


def test_ctrl_c_ends_what_is_fetched_ahead(place: Place) -> None:
    text = f"""
import signal
from motecrypt.base import process
from motecrypt.build.toolchain import ahead
signal.signal(signal.SIGINT, ahead._stop)
process.run([{str(place.sleeps)!r}])
"""
    assert place.stop(python(place, text, ignored=True)) == (130, "")


# --- commands

WORKS = """
import threading
import time
from concurrent.futures import ThreadPoolExecutor
import click
from motecrypt import cli
from motecrypt.base import process
from motecrypt.cli import _interrupt

def compute():
    while True:
        sum(range(1000))

@click.command()
def command():
    with ThreadPoolExecutor(2) as pool:
        pool.submit(compute)
        pool.submit(process.run, [{sleeps!r}]).result()

@click.command()
def patient():
    with _interrupt.patient():
        try:
            process.run([{sleeps!r}])
        except KeyboardInterrupt:
            time.sleep(3 * _interrupt.END_S)
            print("ended in order")

cli.application = {command}
_interrupt.PROGRAMS_S, _interrupt.END_S = 0.05, 0.1
cli.main([])
"""


@pytest.mark.parametrize("group", [True, False])
def test_ctrl_c_ends_threads_and_programs(group: bool, place: Place) -> None:
    begun = python(place, WORKS.format(sleeps=str(place.sleeps), command="command"))
    assert place.stop(begun, group) == (130, STOPPED)


def test_a_command_that_ends_in_order_has_its_time(place: Place) -> None:
    begun = python(place, WORKS.format(sleeps=str(place.sleeps), command="patient"))
    place.asleep()
    begun.send_signal(signal.SIGINT)
    output, errors = begun.communicate(timeout=DEADLINE_S)
    assert (begun.returncode, output, errors) == (0, "ended in order\n", "")


def test_ctrl_c_while_modules_are_imported(place: Place) -> None:
    mark = place.folder / "imported"
    (place.folder / "click.py").write_text(f"import time\nopen({str(mark)!r}, 'w')\ntime.sleep(3600)\n")
    begun = place.start(
        [sys.executable, "-m", "motecrypt", "list"],
        {**os.environ, "PYTHONPATH": f"{place.folder}:{ROOT / 'src'}", "PYTHONSAFEPATH": "1"},
    )
    wait_for(mark.exists)
    begun.send_signal(signal.SIGINT)
    assert begun.communicate(timeout=DEADLINE_S)[1] == STOPPED and begun.returncode == 130


# --- what it is made of


def test_the_descendants_of_a_process_are_found_and_killed(place: Place) -> None:
    begun = place.start(["/bin/sh", "-c", f"{place.sleeps}; exit 3"])
    sleeping = place.asleep()
    assert process.descendants(begun.pid) == sleeping
    assert process.descendants(sleeping[1]) == [] == process.descendants(2**22 + 1)
    process.end([sleeping[1], 2**22 + 1, sleeping[0]])
    assert begun.wait(DEADLINE_S) == 3
    wait_for(lambda: not any(map(is_alive, sleeping)))


def test_what_root_has_started_is_ended_through_sudo(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.program("sudo", f'#!/bin/sh\nprintf "%s " "$@" >>{place.folder}/said\n')
    monkeypatch.setenv("PATH", f"{place.bin}:{os.environ['PATH']}")

    def refuse(pid: int, number: int) -> None:
        raise PermissionError if pid > 7 else ProcessLookupError

    monkeypatch.setattr(os, "kill", refuse)
    process.end([7, 8, 9])
    assert (place.folder / "said").read_text() == "-n kill -KILL 8 9 "
    process.end([7])
    assert (place.folder / "said").read_text() == "-n kill -KILL 8 9 "
