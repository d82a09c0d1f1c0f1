"""The README's examples are run, and where it shows an output, that is what results."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from toolchains import OWN, environment_with, for_compiler, kept_toolchains

ROOT = Path(__file__).resolve().parents[2]
# What a page shows is avr-gcc 5.4's. With another compiler the same lines come out with its own figures,
# here by the cipher and operation that they are of: cycles, microseconds, flash and stack.
SHOWN_FOR = "5.4"
FIGURES: dict[str, dict[tuple[str, str], dict[str, str]]] = {
    SHOWN_FOR: {},
    "14.2": {
        ("aes128-ccm8", "setup"): {"1,812": "2,077", "113.2": "129.8", "2,748": "2,846"},
        ("aes128-ccm8", "encrypt"): {"13,535": "14,945", "845.9": "934.1", "2,748": "2,846", "92": "88"},
        ("aes128-ccm8", "decrypt"): {"13,601": "14,990", "850.1": "936.9", "2,748": "2,846", "92": "88"},
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
    """The examples; one that measures everything an adviser considers is a long test.

    What shows a compiler's figures runs with every compiler that figures are kept for.
    """
    return [
        pytest.param(*example, toolchain, marks=[pytest.mark.long] if " advise " in example[1] else [])
        for example in _examples()
        for toolchain in (kept_toolchains("avr-gcc") if _is_by_compiler(*example) else [OWN])
    ]


def _is_by_compiler(page: str, command: str, shown: str) -> bool:
    """Whether it shows figures that the system's own compiler for the UNO makes."""
    return "--device uno" in command and bool(shown)


def _compiler(environment: dict[str, str]) -> str:
    command = ["avr-gcc", "--version"]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    return told.stdout.splitlines()[0]


@pytest.mark.parametrize(
    ("page", "command", "shown", "toolchain"), _parameters(), ids=lambda x: str(x)[:60] or "own"
)
def test_an_example_runs_and_shows_what_the_page_shows(
    page: str, command: str, shown: str, toolchain: str, tmp_path: Path
) -> None:
    environment = environment_with(toolchain, "avr-gcc")
    line = command.replace("./motecrypt", f"{sys.executable} -m motecrypt", 1)
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=ROOT,
        env={**environment, "PYTHONPATH": str(ROOT / "src"), "MOTECRYPT_DB": str(tmp_path / "r.db")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    by_compiler = _is_by_compiler(page, command, shown)
    figures = for_compiler(_compiler(environment), FIGURES) if by_compiler else {}
    for expected in shown.splitlines():
        words = expected.split()
        own = next((own for (cipher, name), own in figures.items() if {cipher, name} <= set(words)), {})
        words = [own.get(word, word) for word in words]
        assert any(line.split() == words for line in done.stdout.splitlines()), f"{page}: {expected}"


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_row_of_a_table_is_one_line(page: Path) -> None:
    fenced = before = ""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fenced = ("" if fenced else "`") if line.lstrip().startswith("```") else fenced
        if not fenced and (line.startswith("|") or (before.startswith("|") and line)):
            assert line.startswith("|") and line.endswith("|"), f"{page.name}:{number}: {line}"
        before = "" if fenced else line
