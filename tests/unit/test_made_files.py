"""The modules that make files of the repository do nothing when they are only asked what they do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path.stem for path in (ROOT / "tests" / "made").glob("[!_]*.py"))


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize(("word", "code"), [("--help", 0), ("--halp", 2)])
def test_help_and_unknown_words_make_nothing(name: str, word: str, code: int) -> None:
    command = [sys.executable, "-P", "-m", f"made.{name}", word]
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("src", "tests"))
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == code and "Traceback" not in done.stderr
    assert len((done.stdout + done.stderr).splitlines()) >= 1
    assert code == 0 or word in done.stdout + done.stderr
