"""The site is built strictly, loads nothing from a network, and its checks find what is broken."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from motecrypt import __version__
from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[2]
WEBSITE = ROOT / "website"
DEADLINE_S = 240
sys.path.append(str(WEBSITE))


def built(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    report = out.parent / "sample.html"
    report.write_text("<!doctype html><title>a report</title>")
    return subprocess.run(
        [
            sys.executable,
            "-P",
            str(WEBSITE / "build.py"),
            "--out",
            str(out),
            "--report",
            str(report),
            *options,
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


@needs_tool_set("site")
def test_the_pages_have_no_fault_and_an_older_version_stays(tmp_path: Path) -> None:
    out = tmp_path / "site"
    (out / "0.0.1").mkdir(parents=True)
    (out / "versions.json").write_text('[{"version": "0.0.1", "title": "0.0.1", "aliases": []}]')
    ran = built(out, "--strict")
    assert ran.returncode == 0 and not ran.stderr, ran.stderr
    assert [each["version"] for each in json.loads((out / "versions.json").read_text())] == [
        __version__,
        "0.0.1",
    ]
    assert f"url={__version__}/index.html" in (out / "index.html").read_text()
    pages = {path.relative_to(out / __version__).as_posix() for path in (out / __version__).rglob("*.html")}
    names = (
        "index.html",
        "records.html",
        "reference.html",
        "sample-report-page.html",
        "files/examples/xtea.html",
    )
    assert {
        *names,
        *(f"tutorials/{page.stem}.html" for page in (ROOT / "docs/tutorials").glob("*.md")),
    } <= pages
    assert "MeasureRequest" in (out / __version__ / "python.html").read_text()
    python = (out / __version__ / "python-functions.html").read_text()
    assert "candidates_from" in python and "Results.experiments" in python
    assert "https://unpkg.com" not in python


def test_a_link_to_a_file_that_does_not_exist_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = importlib.import_module("pages")
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("[here](docs/one.md)")
    (tmp_path / "docs" / "one.md").write_text("[code](../code.c) and [none](none.md)")
    (tmp_path / "code.c").write_text("int one;\n")
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "DOCS", tmp_path / "docs")
    with pytest.raises(FileNotFoundError, match=r"docs/one\.md: there is no none\.md"):
        pages.lay_out(tmp_path / "laid")
    (tmp_path / "docs" / "one.md").write_text(
        "[code](../code.c) [top](../README.md#x)\n```\n[as](it-is.md)\n```\n"
    )
    pages.lay_out(tmp_path / "laid")
    assert (tmp_path / "laid/index.md").read_text() == "[here](one.md)"
    one = (tmp_path / "laid/one.md").read_text()
    assert one == "[code](files/code.c.md) [top](index.md#x)\n```\n[as](it-is.md)\n```\n"
    assert "int one;" in (tmp_path / "laid/files/code.c.md").read_text()


def test_what_is_broken_in_built_pages_is_found(tmp_path: Path) -> None:
    links = importlib.import_module("links")
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1>')
    fine = '<a href="b.html#here">b</a><a href="https://example.org/">out</a><a href="#own" id="own">own</a>'
    (tmp_path / "a.html").write_text(fine)
    assert list(links.faults(tmp_path)) == []
    links._page.cache_clear()
    (tmp_path / "a.html").write_text(
        '<a href="c.html">c</a><a href="b.html#gone">b</a><a href="../up.html">up</a><img src="https://example.org/i.png">'
    )
    assert sorted(links.faults(tmp_path)) == [
        "a.html: ../up.html: outside the site",
        "a.html: b.html#gone: there is no such heading",
        "a.html: c.html: there is no such file",
        "a.html: https://example.org/i.png is loaded from a network",
    ]


@needs_tool_set("site")
def test_bad_arguments_are_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "versions.json").write_text('{"version": [1]}')
    for options in (
        ["--report", str(tmp_path / "none.html")],
        ["--out", str(WEBSITE / "build.py")],
        ["--out", str(tmp_path / "foreign")],
    ):
        ran = subprocess.run(
            [sys.executable, "-P", str(WEBSITE / "build.py"), *options],
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        assert ran.returncode == 2 and ran.stderr.startswith("website: ") and ran.stderr.count("\n") == 1
