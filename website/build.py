"""Builds the site: `website/build.py --strict --out DIR` writes DIR/VERSION, the newest version.

The site is for a browser without a network: it loads nothing from elsewhere, and its search runs in the page.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT / "src")]

from links import faults  # noqa: E402
from pages import lay_out  # noqa: E402
from python_page import page as python_page  # noqa: E402

from motecrypt import __version__  # noqa: E402
from motecrypt.base.errors import InputError, MotecryptError  # noqa: E402
from motecrypt.build.setup import need  # noqa: E402

MKDOCS_TIMEOUT_S = 300
MEASURE_TIMEOUT_S = 1800
SAMPLE = """# Sample report

`motecrypt reproduce` and `motecrypt report` have written this report: [open it](sample-report-page.html).
"""
FETCHED = re.compile(r'<script src="https?://[^"]*iframe-worker[^"]*"></script>')
"""What the theme would fetch for pages that are opened as files; worker.js takes its place."""
NEWEST = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>motecrypt</title>
<meta http-equiv="refresh" content="0; url={version}/index.html"></head>
<body><a href="{version}/index.html">motecrypt {version}</a></body></html>
"""


def main(arguments: Sequence[str]) -> int:
    """Build one version of the site; 0 if nothing is wrong, 1 for a fault, 2 for a bad argument."""
    parser = argparse.ArgumentParser(prog="website/build.py", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=Path("site"), help="folder of all versions (default: site)"
    )
    parser.add_argument(
        "--strict", action="store_true", help="fail on a warning, a dead link, or a page outside the menu"
    )
    parser.add_argument("--report", type=Path, help="a report to show as the sample (default: measured now)")
    chosen = parser.parse_args(arguments)
    if chosen.report and not chosen.report.is_file():
        parser.exit(2, f"website: there is no report {chosen.report}; make one: motecrypt report -o FILE\n")
    if chosen.out.exists() and not chosen.out.is_dir():
        parser.exit(2, f"website: {chosen.out} is not a folder; name another: --out DIR\n")
    try:
        need("site")
        _versions(chosen.out)
    except MotecryptError as error:
        parser.exit(2, f"website: {error}\n")
    with tempfile.TemporaryDirectory(prefix="motecrypt-site.") as scratch:
        built = _built(Path(scratch), chosen.report, chosen.strict)
        if built is None:
            return 1
        found = list(faults(built))
        for fault in found:
            print(f"website: {fault}", file=sys.stderr)
        if found and chosen.strict:
            return 1
        _publish(built, chosen.out)
    print(f"{chosen.out / __version__}: {sum(1 for _ in (chosen.out / __version__).rglob('*.html'))} pages")
    return 0


def _built(scratch: Path, report: Path | None, strict: bool) -> Path | None:
    """The built version; None if mkdocs finds a fault, which it has printed."""
    pages = scratch / "pages"
    try:
        lay_out(pages)
    except FileNotFoundError as error:
        print(f"website: {error}", file=sys.stderr)
        return None
    (pages / "python-functions.md").write_text(python_page(), encoding="utf-8")
    (pages / "sample-report.md").write_text(SAMPLE, encoding="utf-8")
    sample = report or _measured(scratch)
    if sample is None:
        return None
    shutil.copyfile(sample, pages / "sample-report-page.html")
    shutil.copyfile(HERE / "mkdocs.yml", scratch / "mkdocs.yml")
    command = [sys.executable, "-m", "mkdocs", "build", *(["--strict"] if strict else [])]
    told = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=scratch,
            env=told,
            capture_output=True,
            text=True,
            timeout=MKDOCS_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        print(f"website: mkdocs took more than {MKDOCS_TIMEOUT_S} s and was stopped", file=sys.stderr)
        return None
    if done.returncode != 0:
        print(done.stderr, end="", file=sys.stderr)
        return None
    _made_offline(scratch / "built")
    return scratch / "built"


def _made_offline(built: Path) -> None:
    """Every page loads its own file where the theme's would ask a network."""
    shutil.copyfile(HERE / "worker.js", built / "assets" / "worker.js")
    (built / "404.html").unlink()
    for page in built.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        to_top = "../" * (len(page.relative_to(built).parts) - 1)
        made = FETCHED.sub(f'<script src="{to_top}assets/worker.js"></script>', text)
        if made != text:
            page.write_text(made, encoding="utf-8")


def _measured(scratch: Path) -> Path | None:
    """A report of the studies, measured now into a results file of its own; None if that failed, said."""
    report = scratch / "report.html"
    told = {**os.environ, "MOTECRYPT_DB": str(scratch / "results.db"), "PYTHONPATH": str(ROOT / "src")}
    for words in (["reproduce"], ["report", "-o", str(report)]):
        command = [sys.executable, "-P", "-m", "motecrypt", *words]
        try:
            done = subprocess.run(
                command,
                env=told,
                cwd=scratch,
                stdout=subprocess.DEVNULL,
                timeout=MEASURE_TIMEOUT_S,
                check=False,
            )
            ended = f"exit code {done.returncode}" if done.returncode else ""
        except subprocess.TimeoutExpired:
            ended = f"stopped after {MEASURE_TIMEOUT_S} s"
        if ended:
            print(
                f"website: motecrypt {' '.join(words)}: {ended}; or give a report: --report", file=sys.stderr
            )
            return None
    return report


def _versions(out: Path) -> list[str]:
    """The versions that the folder lists, the newest first.

    Raises
    ------
    InputError
        Its list is not one that this program writes.
    """
    listed = out / "versions.json"
    if not listed.is_file():
        return []
    try:
        return [str(each["version"]) for each in json.loads(listed.read_text(encoding="utf-8"))]
    except (ValueError, TypeError, KeyError):
        raise InputError(f"{listed}: not a list of versions; name another folder: --out DIR") from None


def _publish(built: Path, out: Path) -> None:
    """Replace this version in the folder of all versions, and make it the one that opens."""
    out.mkdir(parents=True, exist_ok=True)
    fresh = out / f".{__version__}.new"
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(built, fresh)
    shutil.rmtree(out / __version__, ignore_errors=True)
    fresh.rename(out / __version__)
    versions = [__version__, *(each for each in _versions(out) if each != __version__)]
    (out / "versions.json").write_text(
        json.dumps([{"version": each, "title": each, "aliases": []} for each in versions])
    )
    (out / "index.html").write_text(NEWEST.format(version=__version__), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
