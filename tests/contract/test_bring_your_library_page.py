"""docs/bring-your-library.md shows the example as it is, and its commands run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from motecrypt.cli.measure import command as measure
from motecrypt.cli.results import command as results_command
from motecrypt.studies.pico.figures import CASES

ROOT = Path(__file__).parent.parent.parent
MYLIBRARY = ROOT / "examples" / "mylibrary"
PAGE = (ROOT / "docs" / "bring-your-library.md").read_text()


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def _bare(text: str) -> str:
    """Without comments at line ends, blank lines and indentation."""
    lines = (re.sub(r"\s+#.*|/\*.*?\*/|//.*", "", line).strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


@pytest.mark.parametrize("language", ["c", "cpp", "toml"])
def test_every_listing_is_in_the_example(language: str) -> None:
    files = {path: _bare(path.read_text()) for path in MYLIBRARY.rglob("*") if path.is_file()}
    listings = _blocks(language)
    assert listings
    for listing in listings:
        wanted = [line for line in _bare(listing).splitlines() if line != "..."]
        assert any(_in_order(wanted, content.splitlines()) for content in files.values()), (
            f"no file of the example has:\n{listing}"
        )


def _in_order(wanted: list[str], lines: list[str]) -> bool:
    rest = iter(lines)
    return all(line in rest for line in wanted)


@pytest.mark.long
def test_its_first_command_measures_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = next(line for line in _blocks("")[0].splitlines() if line.startswith("./motecrypt measure"))
    _, _, *arguments = shlex.split(command)
    monkeypatch.chdir(MYLIBRARY.parent)
    db = ["--db", str(tmp_path / "results.db")]
    ran = CliRunner().invoke(measure, [*arguments, *db], env={"COLUMNS": "200"})
    assert ran.exit_code == 0 and "did not run" not in ran.output, ran.output
    for name in ("uno", "pico", "mylibrary", "aes256-cbc", "rc4"):
        assert name in ran.output
    shown = CliRunner().invoke(results_command, ["--library", "mylibrary", *db], env={"COLUMNS": "200"})
    assert shown.exit_code == 0 and "mylibrary" in shown.output


def test_it_names_the_libraries_that_the_study_looks_for() -> None:
    for case in CASES:
        if case.configuration is None:
            assert re.search(rf"`{case.library}` \| {case.processed_bytes} \|", PAGE)
