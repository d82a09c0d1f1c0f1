"""The report as PDF: refused in one line where it cannot be printed, its pages counted, written whole."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from motecrypt.base import process
from motecrypt.base.errors import InputError
from motecrypt.base.process import Outcome
from motecrypt.cli.report import command
from motecrypt.present.report import printing

PDF = b"%PDF-1.4\n<</Type /Pages /Kids []>>\n<</Type /Page\n/Parent 1>>\n<</Type/Page>>\n"


class FakeError(Exception):
    pass


def playwright(pdf: bytes | Exception) -> Any:
    """As much of playwright as printing uses; the page gives this PDF, or fails."""

    def made(*, prefer_css_page_size: bool, print_background: bool) -> bytes:
        assert prefer_css_page_size and print_background, "the style of the page for paper"
        if isinstance(pdf, Exception):
            raise pdf
        return pdf

    page = SimpleNamespace(
        set_default_timeout=lambda ms: None,
        emulate_media=lambda **_: None,
        goto=lambda url: None,
        evaluate=lambda script: None,
        wait_for_function=lambda script: None,
        pdf=made,
    )

    def new_page(viewport: dict[str, int]) -> Any:
        assert viewport == {"width": 703, "height": 1000}
        return page

    browser = SimpleNamespace(new_page=new_page, close=lambda: None)
    driver = SimpleNamespace(chromium=SimpleNamespace(launch=lambda executable_path, args: browser))

    class Context:
        def __enter__(self) -> Any:
            return driver

        def __exit__(self, *_: object) -> None:
            return None

    return SimpleNamespace(sync_playwright=Context, Error=FakeError)


def test_pages_are_counted_and_the_tree_of_pages_is_not_one() -> None:
    assert printing.page_count(PDF) == 2
    assert printing.page_count(b"") == 0


def with_chromium(monkeypatch: pytest.MonkeyPatch, done: Outcome, pdf: bytes = b"") -> list[list[str]]:
    """Chromium and playwright are there, and the process that prints ends like this; its words."""
    asked: list[list[str]] = []

    def run(command: list[str | Path], *, timeout_s: float) -> Outcome:
        asked.append([*map(str, command), f"{timeout_s:g}"])
        if pdf:
            Path(command[6]).write_bytes(pdf)
        return done

    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(process, "run", run)
    return asked


def test_a_pdf_is_written_with_its_pages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = with_chromium(monkeypatch, Outcome(0, "", ""), PDF)
    target = tmp_path / "r.pdf"
    assert printing.print_pdf("<html>", target, 7) == printing.PrintedReport(target, len(PDF), 2)
    assert target.read_bytes() == PDF
    assert asked[0][4] == "/usr/bin/chromium" and asked[0][-2:] == ["7", "7"], "it is ended at the deadline"


def test_the_process_prints_or_says_why_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["/usr/bin/chromium", str(tmp_path / "p.html"), str(tmp_path / "p.pdf"), "7"]
    monkeypatch.setattr(importlib, "import_module", lambda name: playwright(PDF))
    assert printing.main(words) == 0 and (tmp_path / "p.pdf").read_bytes() == PDF
    monkeypatch.setattr(importlib, "import_module", lambda name: playwright(FakeError("Timeout.\nLog")))
    assert printing.main(words) == 1 and capsys.readouterr().err == "Timeout.\nLog\n"


def test_what_hinders_printing_is_one_line_and_leaves_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    target = tmp_path / "r.pdf"
    with_chromium(monkeypatch, Outcome(1, "", "Timeout 120000ms exceeded.\nCall log: much more"))
    with pytest.raises(InputError, match=r"could not print the report: Timeout 120000ms exceeded\.$"):
        printing.print_pdf("<html>", target)
    with_chromium(monkeypatch, Outcome(-9, "", "python: killed after 120 s"))
    with pytest.raises(InputError, match=r"could not print the report: python: killed after 120 s$"):
        printing.print_pdf("<html>", target)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="--pdf needs the Python package playwright"):
        printing.print_pdf("<html>", target)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(InputError, match="--pdf needs Chromium: apt-get install"):
        printing.print_pdf("<html>", target)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-o", "x.html", "--pdf", "x.html"], "this is the HTML file; name another"),
        (["--serve", "--pdf", "x.pdf"], "--serve writes no file"),
    ],
)
def test_options_that_exclude_each_other(words: list[str], told: str) -> None:
    with CliRunner().isolated_filesystem():
        ran = CliRunner().invoke(command, words)
    assert isinstance(ran.exception, InputError) and told in str(ran.exception)
