"""The README's examples are run, and where it shows an output, that is what comes out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from motecrypt.toolchain.toolchain import identity
from toolchains import for_compiler

ROOT = Path(__file__).resolve().parents[2]
# What a page shows is avr-gcc 5.4's. With another compiler the same lines come out with its own figures,
# here by the cipher and operation that they are of: cycles, microseconds, flash and stack.
SHOWN_FOR = "5.4"
FIGURES: dict[str, dict[tuple[str, str], dict[str, str]]] = {
    SHOWN_FOR: {},
    "14.2": {
        ("aes128-ccm8", "setup"): {"1,812": "2,077", "113.2": "129.8", "2,798": "2,952"},
        ("aes128-ccm8", "encrypt"): {"13,552": "15,254", "847.0": "953.4", "2,798": "2,952", "102": "104"},
        ("aes128-ccm8", "decrypt"): {"13,602": "15,299", "850.1": "956.2", "2,798": "2,952", "102": "104"},
    },
}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def _examples() -> list[tuple[str, str, str]]:
    """(page, command, shown output) of every console block that runs ./motecrypt."""
    found = []
    for page in PAGES:
        for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                if command.startswith("./motecrypt "):
                    found.append((page.name, command, shown.strip()))
    return found


def _parameters() -> list[object]:
    """The examples; one that measures everything an adviser weighs is a long test."""
    return [
        pytest.param(*example, marks=[pytest.mark.long] if " advise " in example[1] else [])
        for example in _examples()
    ]


@pytest.mark.parametrize(("page", "command", "shown"), _parameters(), ids=lambda x: str(x)[:60])
def test_an_example_runs_and_shows_what_the_page_shows(
    page: str, command: str, shown: str, tmp_path: Path
) -> None:
    line = command.replace("./motecrypt", f"{sys.executable} -m motecrypt", 1)
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "MOTECRYPT_DB": str(tmp_path / "r.db")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = for_compiler(identity("avr-gcc"), FIGURES) if "--device uno" in command and shown else {}
    for expected in shown.splitlines():
        words = expected.split()
        own = next((own for (cipher, name), own in figures.items() if {cipher, name} <= set(words)), {})
        words = [own.get(word, word) for word in words]
        assert any(line.split() == words for line in done.stdout.splitlines()), f"{page}: {expected}"


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
