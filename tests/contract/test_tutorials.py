"""The commands of each tutorial run, in order, in one folder with the examples."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kits import needs_kit

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
DEADLINE_S = 240


def commands(page: Path) -> list[list[str]]:
    """The commands of its listings, as words without ./motecrypt."""
    listings = re.findall(r"^ *```sh\n(.*?)^ *```", page.read_text(), re.DOTALL | re.MULTILINE)
    lines = [line.strip() for listing in listings for line in listing.splitlines()]
    assert lines and all(line.startswith("./motecrypt ") for line in lines)
    return [shlex.split(line)[1:] for line in lines]


@pytest.mark.long
@needs_kit("avr", "arduino")
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_its_commands_run_as_written(tmp_path: Path, page: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MOTECRYPT_DB": str(tmp_path / "r.db")}
    for words in commands(page):
        ran = subprocess.run(
            [sys.executable, "-P", "-m", "motecrypt", *words],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=DEADLINE_S,
            check=False,
        )
        assert ran.returncode == 0, (words, ran.stderr.decode(errors="replace"))
        assert ran.stdout


def test_there_is_one_for_each_task() -> None:
    assert [page.stem for page in TUTORIALS] == ["audit", "bench", "choose", "cipher", "deploy", "reproduce"]
