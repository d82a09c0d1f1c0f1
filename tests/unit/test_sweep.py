"""Sweeps: plans, exclusions, shards, and results files that are joined."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import run
from motecrypt.app.sweep_plan import read_plan
from motecrypt.measuring.bench.plan import group_of
from motecrypt.measuring.bench.shards import shard
from motecrypt.results import Results
from motecrypt.results.merge import merge
from tool_sets import needs_tool_set
from unit.test_results import measurement as measured

FIRST_OF_SEVEN = 4
PLAN = """
title = "a plan"
[[sweep]]
ciphers = ["ascon-aead128"]
libraries = ["motecrypt"]
variants = ["avr", "bytes"]
placements = ["flash"]
bytes = "16,17"
flags = ["", "-O3"]
[[exclude]]
variant = "avr"
flags = "-O3"
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


def test_a_plan_is_every_combination_without_the_excluded(plan: Path) -> None:
    read = read_plan(plan)
    found = {(c.implementation.variant, c.flags, c.message_bytes) for c in read.cells}
    assert found == {
        *(("avr", (), n) for n in (16, 17)),
        *(("bytes", flags, n) for flags in ((), ("-O3",)) for n in (16, 17)),
    }
    assert len(read.cells) == len(set(read.cells)) == 3 * 2 * 3  # bodies and flags, lengths, operations
    assert read.left_out == 2 * 3
    twice = plan.with_name("twice.toml")
    twice.write_text(PLAN + PLAN.split("title")[1].split("\n", 1)[1].split("[[exclude]]")[0])
    assert read_plan(twice).cells == read.cells


def test_each_firmware_is_in_one_shard_wherever_it_stands(plan: Path) -> None:
    cells = list(read_plan(plan).cells)
    parts = [shard(cells, number, 3) for number in (1, 2, 3)]
    assert sorted(map(repr, sum(parts, []))) == sorted(map(repr, cells))  # noqa: RUF017
    groups = [{group_of(cell) for cell in part} for part in parts]
    assert sum(map(len, groups)) == len(set().union(*groups)) == 3
    backwards = [shard(cells[::-1], number, 3) for number in (1, 2, 3)]
    assert [set(part) for part in parts] == [set(part) for part in backwards]
    first = [number for number in range(1, 8) if shard(cells[:1], number, 7)]
    assert first == [FIRST_OF_SEVEN]  # machines with another version of this program must agree


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title = 'x'", "'sweep' is missing"),
        ("sweep = []", "no [[sweep]]"),
        ("[[sweep]]\ndevices = ['uno']", "no 'ciphers', 'public_keys' or 'libraries'"),
        ("[[sweep]]\nciphers = ['asconn-aead128']", "did you mean ascon-aead128"),
        ("[[sweep]]\nciphers = ['rc4']\nlength = '16'", "unknown 'length'"),
        ("[[sweep]]\ncipers = ['rc4']", "sweep[0]: unknown 'cipers' (did you mean 'ciphers'?)"),
        ("[[sweep]]\nciphers = ['rc4']\ndevices = ['nope']", "sweep[0]: unknown device 'nope'"),
        ("[[sweep]]\nciphers = ['rc4']\ntoolchains = ['nope']", "sweep[0]: unknown toolchain 'nope'"),
        ("[[sweep]]\nciphers = ['rc4']\nflags = ['-O2', '-nope']", "sweep[0]: flags: the compiler flag"),
        ("[[sweep]]\nciphers = ['rc4']\nbytes = '16-'", "is not a length"),
        ("[[sweep]]\nciphers = ['rc4']\nplacements = ['rom']", "no placement 'rom'"),
        ("[[sweep]]\nciphers = ['rc4']\npublic_keys = ['x25519']", "cannot be combined"),
        (PLAN + "[[exclude]]\n", "names nothing"),
        (PLAN + "[[exclude]]\ndevice = 'pico'\n", "leaves nothing out"),
        (PLAN + "[[exclude]]\nbytes = [16, 17]\n", "nothing to measure"),
    ],
)
def test_what_is_wrong_in_a_plan_is_one_line(
    plan: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plan.write_text(text)
    code, _, error = run(capsys, "sweep", str(plan))
    assert code == 2 and said in error and error.count("\n") == 1
    assert error.startswith(f"motecrypt: {plan}: ")


@pytest.mark.parametrize("part", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3"])
def test_a_shard_that_is_none_is_refused(plan: Path, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = run(capsys, "sweep", str(plan), "--shard", part)
    assert code == 2 and "--shard" in error and error.count("\n") == 1


def rows(path: Path) -> list[tuple[object, ...]]:
    """All rows of measurements, without the time and the path of their making."""
    with closing(sqlite3.connect(path)) as connection:
        names = [name for _, name, *_ in connection.execute("PRAGMA table_info(measurement)")]
        kept = ", ".join(name for name in names if name != "measured_at")
        return connection.execute(f"SELECT {kept} FROM measurement ORDER BY key").fetchall()


@needs_tool_set("avr")
def test_three_shards_joined_are_one_run(
    plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, joined = tmp_path / "whole.db", tmp_path / "joined.db"
    parts = [tmp_path / f"{number}.db" for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        code, _, error = run(capsys, "sweep", str(plan), "--shard", f"{number}/3", "--db", str(part))
        assert code == 0, error
    code, out, error = run(capsys, "sweep", str(plan), "--db", str(whole), "--json")
    assert code == 0 and len(json.loads(out)) == 18, error
    for again in (False, True):
        existing = [str(part) for part in parts if part.exists()]
        code, out, error = run(capsys, "results", "merge", *existing, "--db", str(joined), "--json")
        assert code == 0, error
        told = json.loads(out)
        assert sum(each["new"] for each in told) == (0 if again else 18)
        assert sum(each["same"] for each in told) == (18 if again else 0)
        assert rows(joined) == rows(whole)
    code, out, _ = run(capsys, "sweep", str(plan), "--estimate", "--db", str(joined))
    assert code == 0 and "nothing left to measure" in out


@needs_tool_set("avr")
def test_figures_that_disagree_are_told_and_ours_stay(
    plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = tmp_path / "ours.db", tmp_path / "theirs.db"
    assert run(capsys, "sweep", str(plan), "--db", str(ours))[0] == 0
    before = rows(ours)
    with Results(ours) as results:
        results.copy_to(theirs)
    with closing(sqlite3.connect(theirs)) as connection:
        where = "variant = 'avr' AND operation = 'encrypt' AND message_bytes = 16"
        connection.execute(f"UPDATE measurement SET cycles_median = cycles_median + 1 WHERE {where}")
        connection.commit()
    code, out, _ = run(capsys, "results", "merge", str(theirs), "--db", str(ours))
    assert code == 1 and "1 conflicts" in out
    assert "uno ascon-aead128 motecrypt/avr encrypt 16 bytes: cycles_median is" in out
    assert rows(ours) == before


def test_the_newest_of_figures_that_vary_stays(tmp_path: Path) -> None:
    """And what failed only for the moment yields to any figure, in whichever file it is."""
    old, new = "2026-01-01T00:00:00+00:00", "2026-02-02T00:00:00+00:00"
    varying = replace(measured(cycles_median=7), cycles_exact=False, measured_at=old)
    failed = replace(measured(), extra={"transient": True}, cycles_median=None, measured_at=new)
    with Results(tmp_path / "a.db") as ours, Results(tmp_path / "b.db") as theirs:
        ours.store({"a": varying, "b": failed, "c": measured(cycles_median=1)})
        newer = replace(varying, cycles_median=9, measured_at=new)
        theirs.store({"a": newer, "b": measured(cycles_median=5), "c": failed})
        ours.store_experiment("kind", 1, {"of": 1}, {"was": "here"})
        theirs.store_experiment("kind", 1, {"of": 1}, {"was": "there"})
        theirs.store_experiment("kind", 1, {"of": 2}, {"was": "there"})
        with theirs.transaction() as connection:
            connection.execute("UPDATE experiment SET made_at = ? WHERE inputs LIKE '%1%'", (old,))
        merged = merge(ours, theirs.path)
        assert (merged.new, merged.same, merged.newer, merged.experiments) == (1, 1, 1, 1)
        assert not merged.conflicts
        found = {key: ours.measurement(key) for key in "abc"}
        assert [m and m.cycles_median for m in found.values()] == [9, 5, 1]
        assert {f.outcome["was"] for f in ours.experiments("kind")} == {"here", "there"}
        back = merge(theirs, ours.path)
        assert (back.new, back.same, back.newer) == (1, 2, 0)


def test_files_that_are_none_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db, other = tmp_path / "db.db", tmp_path / "other.db"
    other.write_text("no database")
    with Results(db):
        pass
    for words, said in (
        ([str(tmp_path / "none.db")], "there is no such results file"),
        ([str(other)], "not a results file"),
        ([str(db)], "is the file that the others are joined into"),
    ):
        code, _, error = run(capsys, "results", "merge", *words, "--db", str(db))
        assert code == 2 and said in error and error.count("\n") == 1
