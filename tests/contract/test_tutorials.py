"""The commands of the tutorials run, one after another, in one folder with the examples."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from test_readme_link import commands as readme_commands

from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
#: As the README lists them.
IN_ORDER = re.findall(r"docs/tutorials/(\w+)\.md", (ROOT / "README.md").read_text())
DEADLINE_S = 240


def commands(page: Path) -> list[list[str]]:
    """The commands of its listings, as words without ./motecrypt."""
    listings = re.findall(r"^ *```sh\n(.*?)^ *```", page.read_text(), re.DOTALL | re.MULTILINE)
    lines = [line.strip() for listing in listings for line in listing.splitlines()]
    assert lines and all(line.startswith("./motecrypt ") for line in lines)
    return [shlex.split(line)[1:] for line in lines]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for everything that a newcomer tries, first the README's way to a node."""
    made = tmp_path_factory.mktemp("newcomer")
    shutil.copytree(ROOT / "examples", made / "examples")
    for words in readme_commands()[:-2]:  # the last two run at the same time, in test_readme_link.py
        run(words, made)
    return made


def run(words: list[str], folder: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "motecrypt", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "MOTECRYPT_DB": str(folder / "r.db")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert ran.returncode == 0, (words, ran.stderr.decode(errors="replace"))
    assert ran.stdout


@pytest.mark.long
@needs_tool_set("avr", "arduino")
@pytest.mark.parametrize("name", IN_ORDER)
def test_its_commands_run_as_written_where_the_ones_before_it_ran(folder: Path, name: str) -> None:
    for words in commands(ROOT / "docs" / "tutorials" / f"{name}.md"):
        run(words, folder)


def test_there_is_one_for_each_task() -> None:
    assert [page.stem for page in TUTORIALS] == ["audit", "bench", "choose", "cipher", "deploy", "reproduce"]
    assert sorted(IN_ORDER) == [page.stem for page in TUTORIALS]
