"""The wrappers on their first use: links to them, a first run that was stopped, two in parallel, and modules
that somebody left in the current folder. Installs nothing: the locks are empty."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import motecrypt.build.setup
from motecrypt.build.setup import first
from motecrypt.build.setup.lock import WITHOUT_WHEEL

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the wrappers and a motecrypt that only says that it ran."""
    root = tmp_path / "a checkout"
    (root / "src" / "motecrypt" / "data" / "locks").mkdir(parents=True)
    (root / "src" / "motecrypt" / "data" / "ahead.txt").write_text("")
    for lock in ("base", "dev"):
        (root / "src" / "motecrypt" / "data" / "locks" / f"{lock}.txt").write_text("# nothing\n")
    setup = root / "src" / "motecrypt" / "build" / "setup"
    base = root / "src" / "motecrypt" / "base"
    for package in (base.parent, base, setup.parent, setup):
        package.mkdir(exist_ok=True)
        (package / "__init__.py").write_text("")
    for module in (
        "build/setup/first.py",
        "build/setup/runs.py",
        "build/setup/behind.py",
        "base/process.py",
    ):  # they run pip
        shutil.copy(ROOT / "src" / "motecrypt" / module, base.parent / module)
    for program in ("src/motecrypt/__main__.py", "tests/run.py", "benchmarks/run.py"):
        (root / program).parent.mkdir(exist_ok=True)
        (root / program).write_text(PROGRAM)
    for name in ("setup.sh", *WRAPPERS):
        shutil.copy(ROOT / name, root / name)
    return root


WRAPPERS = ("motecrypt", "test", "bench")

# What the wrappers start: it takes a module of Python's, as does a Python that it starts itself.
PROGRAM = """
import secrets, subprocess, sys
subprocess.run([sys.executable, "-c", "import secrets"], check=True)
print('ran', *sys.argv[1:])
"""

# Modules that Python, venv, pip or motecrypt import: each would leave a mark.
PLANTED = ("secrets", "click", "json", "venv", "ensurepip", "pip", "runpy", "motecrypt", "sitecustomize")


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A folder with modules that leave a file `run-NAME` next to them when they are imported."""
    folder = tmp_path / "planted"
    folder.mkdir()
    for name in PLANTED:
        mark = folder / f"run-{name}"
        (folder / f"{name}.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    return folder


def marks(planted: Path) -> list[str]:
    """Which of the planted modules were run."""
    return sorted(mark.name for mark in planted.glob("run-*"))


def start(command: Path, folder: str | Path = "/", **variables: str) -> subprocess.Popen[str]:
    left_out = ("MOTECRYPT_VENV", "PYTHONPATH", "PYTHONSAFEPATH")
    environment = {k: v for k, v in os.environ.items() if k not in left_out}
    return subprocess.Popen(
        [str(command), "list"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, "MOTECRYPT_PYTHON": sys.executable, "CDPATH": "/", **variables},
        cwd=folder,
    )


def said(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return output


@pytest.mark.long
def test_it_runs_through_a_link_and_makes_its_environment_once(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(checkout / "motecrypt")
    assert said(start(tmp_path / "link")) == "ran list\n"
    made = (checkout / ".venv" / "pyvenv.cfg").stat().st_mtime_ns
    (checkout / ".venv" / ".made").unlink()  # as of an older motecrypt: taken as it is
    assert said(start(checkout / "motecrypt")) == "ran list\n"
    assert (checkout / ".venv" / "pyvenv.cfg").stat().st_mtime_ns == made


@pytest.mark.long
def test_a_first_run_that_was_stopped_is_made_good(checkout: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", checkout / ".venv"], check=True, timeout=60
    )
    assert said(start(checkout / "motecrypt")) == "ran list\n"


@pytest.mark.long
def test_an_environment_of_another_python_is_made_anew(checkout: Path) -> None:
    assert said(start(checkout / "motecrypt")) == "ran list\n"
    (checkout / ".venv" / ".made").write_text("/usr/bin/python2\n")
    (checkout / ".venv" / "left").write_text("")
    assert said(start(checkout / "motecrypt")) == "ran list\n"
    assert not (checkout / ".venv" / "left").exists()


@pytest.mark.long
def test_two_first_runs_at_once_both_run(checkout: Path) -> None:
    both = [start(checkout / "motecrypt"), start(checkout / "motecrypt")]
    assert [said(one) for one in both] == ["ran list\n"] * 2


def test_no_module_of_the_current_folder_is_run(checkout: Path, planted: Path) -> None:
    """On the first use, which makes the environment and runs pip, and later, whatever PYTHONPATH is there."""
    unsafe = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    subprocess.run([sys.executable, "-c", "import secrets"], cwd=planted, env=unsafe, check=True, timeout=60)
    assert marks(planted) == ["run-secrets"], "a plain Python takes it: without that this test shows nothing"
    (planted / "run-secrets").unlink()
    for path in (":", "", str(planted)):
        for wrapper in WRAPPERS:
            assert said(start(checkout / wrapper, planted, PYTHONPATH=path)) == "ran list\n"
            assert marks(planted) == [], (wrapper, path)


def test_a_plain_python_takes_motecrypts_modules_from_elsewhere(planted: Path) -> None:
    (planted / "motecrypt.py").unlink()  # which Python itself would take for what -m names
    (planted / "sitecustomize.py").unlink()
    left_out = ("PYTHONPATH", "PYTHONSAFEPATH")
    environment = {k: v for k, v in os.environ.items() if k not in left_out}
    done = subprocess.run(
        [sys.executable, "-m", "motecrypt", "list", "ciphers"],
        cwd=planted,
        env={**environment, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, marks(planted)) == (0, []), done.stderr


def test_pip_runs_no_module_of_the_current_folder(
    planted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "nothing.txt"
    lock.write_text("# nothing\n")
    tool_sets = sys.modules[
        motecrypt.build.setup.ToolSet.__module__
    ]  # the package has a function of that name
    monkeypatch.setattr(tool_sets.ToolSet, "lock", lock)
    monkeypatch.chdir(planted)
    monkeypatch.setenv("PYTHONPATH", ":")
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    tool_sets._install_python(tool_sets.tool_sets()["link"])
    assert marks(planted) == []


def test_every_python_that_is_started_leaves_the_current_folder_out() -> None:
    programs = [*(ROOT / "src").rglob("*.py"), ROOT / "tests" / "run.py", *(ROOT / "benchmarks").glob("*.py")]
    started = [
        (path.name, match.group(1))
        for path in programs
        for match in re.finditer(r"sys\.executable,\s*([^,\s\]]+)", path.read_text(encoding="utf-8"))
    ]
    assert len(started) >= 5
    assert [each for each in started if each[1] not in ('"-P"', '"-I"')] == []


def test_a_first_run_fetches_toolchains_while_it_makes_its_environment(checkout: Path) -> None:
    data = checkout / "src" / "motecrypt" / "data"
    (data / "ahead.txt").write_text(
        "# rows\nreproduce any gcc\nlist elsewhere x\nlist unpacked gcc-5.4:uno\n"
    )
    (checkout / "src" / "motecrypt" / "build" / "toolchain").mkdir()
    (checkout / "src" / "motecrypt" / "build" / "toolchain" / "ahead.py").write_text(
        f"import sys\nopen({str(checkout / 'told')!r}, 'a').write(' '.join(sys.argv[1:]) + '.')\n"
        "print('motecrypt: fetching', file=sys.stderr)\nprint('else')\n"
    )
    for _ in range(2):  # the second finds all made
        ran = start(checkout / "motecrypt")
        out, errors = ran.communicate(timeout=120)
        assert ran.returncode == 0 and "else" not in out + errors, errors
        assert (checkout / "told").read_text() == "list."
    shutil.rmtree(checkout / ".venv")
    (data / "ahead.txt").write_text("list any gcc\nreproduce unpacked gcc-5.4:uno\n")
    assert start(checkout / "motecrypt").communicate(timeout=120)[0]
    assert (checkout / "told").read_text() == "list."


def test_locks_install_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set-up takes wheels only, and nothing beyond the lock, so each package of it must have a wheel."""
    assert '"$python" -m motecrypt.build.setup.first "$lock"' in (ROOT / "setup.sh").read_text()
    ran: list[list[str]] = []
    monkeypatch.setattr(first, "trouble", lambda command, *_: ran.append(command) or "")
    assert first.main(["a.txt"]) == 0
    assert {"--no-deps", "--require-hashes", "--only-binary"} < set(ran[0]) and ran[0][-2:] == ["-r", "a.txt"]
    assert ran[0][ran[0].index("--only-binary") + 1] == ":all:"
    for lock in sorted((ROOT / "src" / "motecrypt" / "data" / "locks").glob("*.txt")):
        named = set(re.findall(r"^([\w.-]+)==", lock.read_text(), flags=re.MULTILINE))
        assert named, lock
        assert not named & set(WITHOUT_WHEEL), lock


@pytest.mark.parametrize(
    ("given", "packages"),
    [
        (["reproduce"], ["gcc", "libc6-dev", "own"]),
        (["other"], ["more"]),
        (["reproduce", "--help"], []),
        (["reproduce", "rf"], []),
        (["nothing"], []),
        ([], []),
    ],
)
def test_what_is_installed_ahead_is_what_the_command_by_itself_needs(
    checkout: Path, given: list[str], packages: list[str]
) -> None:
    """By the command and the release; an inherited variable of that name is not it."""
    told = re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), flags=re.MULTILINE)
    if told is None:
        pytest.skip("this system's release has no name")
    (checkout / "src" / "motecrypt" / "data" / "ahead.txt").write_text(
        "# command, release, packages\n"
        "reproduce any gcc libc6-dev\n"
        f"reproduce {told[1]} own\n"
        "reproduce elsewhere none\n"
        "other any more\n"
    )
    script = checkout / "ahead"
    script.write_text('set -eu\n. "$(dirname -- "$0")/setup.sh"\nneeded_later\n')
    ran = subprocess.run(
        ["sh", script, *given],
        env={**os.environ, "command": "reproduce"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stdout.split() == packages
