"""What is stored reads the same on every machine: with no compiler in PATH, and with another one.

tests/data/results-format-1.sql.gz is a results file that `motecrypt reproduce` made, as SQL; its
application_id and its user_version, 1, are set here.
"""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import motecrypt
from motecrypt.base.model import Measurement
from motecrypt.results import Results, schema
from motecrypt.studies import names, needs, study
from report_data import fill
from tool_sets import needs_tool_set

STORED = Path(__file__).resolve().parents[1] / "data" / "results-format-1.sql.gz"
COMPILERS = ("avr-gcc", "arm-none-eabi-gcc", "gcc", "g++", "cc")
PLACES = {**os.environ, "PYTHONPATH": str(Path(motecrypt.__file__).resolve().parents[1])}


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A file of the first format with all studies in it."""
    path = tmp_path / "stored.db"
    connection = sqlite3.connect(path)
    connection.executescript(gzip.decompress(STORED.read_bytes()).decode())
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    return path


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    """A PATH without any program."""
    (tmp_path / "nowhere").mkdir()
    return tmp_path / "nowhere"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A PATH with other compilers, which compile nothing."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in COMPILERS:
        script = folder / name
        script.write_text(
            "#!/bin/sh\n"
            f'case "$*" in *--version*) echo "{name} (GCC) 99.1.0"; exit 0;; esac\n'
            'echo "error: not today" >&2\nexit 1\n'
        )
        script.chmod(0o755)
    return folder


def run(path: Path | None, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A command with this PATH, or the usual one."""
    environment = PLACES | ({} if path is None else {"PATH": str(path)})
    command = [sys.executable, "-P", "-m", "motecrypt", *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done


def test_studies_read_the_same_with_another_compiler_and_with_none(
    stored: Path, nowhere: Path, elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PLACES, "MOTECRYPT_CACHE", str(tmp_path / "cache"))  # no toolchain is unpacked there
    run(None, "reproduce", "rf", "--db", stored)  # its transfers are of the link as it now is
    run(nowhere, "reproduce", "--db", stored)  # recorded answers that the file is too old for enter it
    here = run(None, "reproduce", "--stored", "--json", "--db", stored)
    verdicts = Counter(row["verdict"] for row in json.loads(here.stdout))
    assert verdicts["matches"] > 150 and verdicts["not measured"] < 25
    whole = json.loads(run(None, "reproduce", "--stored", "--json", "--rows", "--db", stored).stdout)
    assert [row for each in whole.values() for row in each["comparisons"]] == json.loads(here.stdout)
    assert {name for name, each in whole.items() if each["tables"]} == {"hardware", "pico", "rf", "wlan"}
    for path in (nowhere, elsewhere):
        there = run(path, "reproduce", "--json", "--db", stored)
        assert there.stdout == here.stdout
        told = [line for line in there.stderr.splitlines() if "showing stored results" in line]
        assert {line.split(":")[1].strip() for line in told} == {"rc4d", "pico", "wlan"}
        # The file is older than ciphers in assembly, which the studies ask for, than these experiments, and
        # than the slopes from a warm cache of the study of Wi-Fi.
        assembly = {"avr", "avr-small", "armv6m", "armv6m-small"}
        later = ("SizeSweep", "EncodingTiming")
        newer = {
            name: sum(
                bool((assembly | ({"warm"} if name == "wlan" else set())) & set(map(str, cell.identity)))
                for cell in set(needs(name).cells)
            )
            + sum(type(experiment).__name__ in later for experiment in needs(name).experiments)
            for name in names()
        }
        lacking = {line.split(":")[1].strip(): line for line in told if "are not stored" in line}
        assert lacking.keys() == {name for name, count in newer.items() if count}
        assert all(f"; {newer[name]} of " in line for name, line in lacking.items()), (newer, lacking)
    # The studies name their toolchains: what another compiler would make is not even tried.
    with Results(stored) as results:
        assert not [m for m in results.measurements() if "99.1.0" in m.compiler]


@needs_tool_set("plots")
def test_the_report_and_the_list_are_the_same(
    stored: Path, nowhere: Path, elsewhere: Path, tmp_path: Path
) -> None:
    pages, lists = set(), set()
    for number, path in enumerate((None, nowhere, elsewhere)):
        run(path, "report", "-o", tmp_path / f"{number}.html", "--db", stored)
        pages.add((tmp_path / f"{number}.html").read_bytes())
        lists.add(run(path, "results", "--json", "--db", stored).stdout)
    assert len(pages) == len(lists) == 1
    assert len(json.loads(lists.pop())) == 489


def test_advice_and_comparison_are_the_same(nowhere: Path, elsewhere: Path, tmp_path: Path) -> None:
    for seed, name in enumerate(("a.db", "b.db")):
        with Results(tmp_path / name) as results:
            fill(results, seed, "ascon")
    question = ("--device", "uno", "--radio", "srf", "--bytes", "16", "--every", "10s", "--battery", "3xAA")
    answers, differences = [], set()
    for path in (nowhere, elsewhere, nowhere):
        done = run(path, "advise", *question, "--cipher", "ascon", "--json", "--db", tmp_path / "a.db")
        assert "advise: showing stored results" in done.stderr
        answers.append(done.stdout)
        differences.add(
            run(
                path, "compare", tmp_path / "a.db", tmp_path / "b.db", "--json", "--threshold", "10000%"
            ).stdout
        )
    assert json.loads(answers[0])["ranked"]
    assert answers[0] == answers[2] == answers[1] and len(differences) == 1


def test_without_anything_stored_a_missing_compiler_ends_it(nowhere: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "motecrypt", "reproduce", "rc4d", "--db", tmp_path / "new.db"]
    done = subprocess.run(
        command,
        env=PLACES | {"PATH": str(nowhere)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2 and "AVR compiler" in done.stderr and not done.stdout


def _again(m: Measurement, **changes: object) -> Measurement:
    values = {name: getattr(m, name) for name in Measurement.__dataclass_fields__}
    later = {"measured_at": "2027-01-01T00:00:00+00:00", "cycles_median": None, "flash_bytes": None}
    return Measurement(**{**values, **later, "status": "build-failed", **changes})


@pytest.mark.parametrize("name", ["rc4d", "pico", "wlan"])
def test_a_newer_failure_hides_a_figure_only_with_its_reason(stored: Path, name: str) -> None:
    view = study(name)
    with Results(stored) as results:
        before = view.comparisons(results), view.sections(results)
        known = results.newest(needs(name).cells)
        killed = {"reason": "killed", "extra": {"transient": True}}
        results.store({f"t{n}": _again(m, **killed) for n, m in enumerate(known.values())})
        assert (view.comparisons(results), view.sections(results)) == before
        results.store({f"f{n}": _again(m, reason="no longer builds") for n, m in enumerate(known.values())})
        after = view.comparisons(results)
        lost = [
            (was, now)
            for was, now in zip(before[0], after, strict=True)
            if was.measured is not None and now.measured is None
        ]
        assert lost
        assert [now for _, now in lost if "no longer builds" not in now.note] == []
        chosen = results.by_compilers(["gcc"])
        assert len(chosen.newest(needs(name).cells)) == len(known)


def test_a_chosen_compiler_gives_its_figures(stored: Path) -> None:
    """All cells measured again by a compiler that makes them twice as slow: both are there to be shown."""
    view = study("rc4d")
    with Results(stored) as results:
        before = view.comparisons(results)
        known = results.newest(needs("rc4d").cells)
        anew = {
            f"n{n}": _again(
                m,
                status=m.status,
                compiler="avr-gcc (GCC) 7.3.0",
                cycles_median=m.cycles_median and 2 * m.cycles_median,
                flash_bytes=m.flash_bytes,
            )
            for n, m in enumerate(known.values())
        }
        results.store(anew)
        after = view.comparisons(results)
        times = [
            (a.measured, b.measured) for a, b in zip(before, after, strict=True) if a.column == "time, ours"
        ]
        assert times and all(b == pytest.approx(2 * a, rel=1e-3) for a, b in times)  # type: ignore[operator]
        assert view.comparisons(results.by_compilers(["5.4.0"])) == before
        assert view.comparisons(results.by_compilers(["7.3.0"])) == after


def test_every_study_has_views_and_needs() -> None:
    for name in names():
        assert needs(name).cells or needs(name).experiments or needs(name).long
