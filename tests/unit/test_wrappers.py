"""./motecrypt on its first use: links to it, a first run that was stopped, two at once. Installs nothing: the
lock is empty."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the wrappers and a motecrypt that only says that it ran."""
    root = tmp_path / "a checkout"
    (root / "src" / "motecrypt" / "data" / "locks").mkdir(parents=True)
    (root / "src" / "motecrypt" / "data" / "locks" / "base.txt").write_text("# nothing\n")
    (root / "src" / "motecrypt" / "__init__.py").write_text("")
    (root / "src" / "motecrypt" / "__main__.py").write_text("import sys; print('ran', *sys.argv[1:])\n")
    for name in ("setup.sh", "motecrypt"):
        shutil.copy(ROOT / name, root / name)
    return root


def start(command: Path) -> subprocess.Popen[str]:
    left_out = ("MOTECRYPT_VENV", "PYTHONPATH")
    environment = {k: v for k, v in os.environ.items() if k not in left_out}
    return subprocess.Popen(
        [str(command), "list"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, "MOTECRYPT_PYTHON": sys.executable, "CDPATH": "/"},
        cwd="/",
    )


def said(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return output


def test_it_runs_through_a_link_and_makes_its_environment_once(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(checkout / "motecrypt")
    assert said(start(tmp_path / "link")) == "ran list\n"
    made = (checkout / ".venv" / "pyvenv.cfg").stat().st_mtime_ns
    (checkout / ".venv" / ".made").unlink()  # as of an older motecrypt: taken as it is
    assert said(start(checkout / "motecrypt")) == "ran list\n"
    assert (checkout / ".venv" / "pyvenv.cfg").stat().st_mtime_ns == made


def test_a_first_run_that_was_stopped_is_made_good(checkout: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", checkout / ".venv"], check=True, timeout=60
    )
    assert said(start(checkout / "motecrypt")) == "ran list\n"


def test_an_environment_of_another_python_is_made_anew(checkout: Path) -> None:
    assert said(start(checkout / "motecrypt")) == "ran list\n"
    (checkout / ".venv" / ".made").write_text("/usr/bin/python2\n")
    (checkout / ".venv" / "left").write_text("")
    assert said(start(checkout / "motecrypt")) == "ran list\n"
    assert not (checkout / ".venv" / "left").exists()


def test_two_first_runs_at_once_both_run(checkout: Path) -> None:
    both = [start(checkout / "motecrypt"), start(checkout / "motecrypt")]
    assert [said(one) for one in both] == ["ran list\n"] * 2
