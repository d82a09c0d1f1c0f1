"""The comparison of two results files: every kind of change, the threshold, the exit code, the recipe in
docs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command_line import ran
from made_rows import made_measurement as cell
from motecrypt.base.model import Measurement
from motecrypt.present.compare import compare
from motecrypt.results import Results
from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[2]


FAILED = {"status": "does-not-fit", "reason": "does not fit: needs 9 of 8", "cycles_median": None}


@pytest.mark.parametrize(
    ("before", "after", "kind", "figure", "fails"),
    [
        ({}, {"cycles_median": 1021}, "worse", "cycles_median", True),
        ({}, {"cycles_median": 979}, "better", "cycles_median", False),
        ({}, {"stack_bytes": 60}, "worse", "stack_bytes", True),
        ({}, {"flash_bytes": 2100}, "worse", "flash_bytes", True),
        ({"ram_bytes": 0}, {"ram_bytes": 1}, "worse", "ram_bytes", True),
        ({}, FAILED, "broke", "status", True),
        (FAILED, {}, "fixed", "status", False),
        (FAILED, {**FAILED, "reason": "other"}, "fails otherwise", "status", False),
    ],
)
def test_every_kind_of_change(
    before: dict[str, object], after: dict[str, object], kind: str, figure: str, fails: bool
) -> None:
    difference = compare([cell(**before)], [cell(**after, compiler="gcc 2", elf_sha256="11")])
    assert [(c.kind, c.figure) for c in difference.changes] == [(kind, figure)]
    assert difference.worse is fails
    assert (difference.cells, difference.equal) == (1, 0)


def test_within_the_threshold_nothing_fails_but_it_is_told() -> None:
    difference = compare([cell()], [cell(cycles_median=1020)])
    assert [c.beyond for c in difference.changes] == [False] and not difference.worse
    assert compare([cell()], [cell(cycles_median=1001)], threshold_percent=0).worse


def test_new_vanished_and_flags() -> None:
    other = cell(flags="-O3", flags_asked="-O3", cycles_median=500)
    difference = compare([cell()], [other])
    assert [c.kind for c in difference.changes] == ["vanished", "new"]
    assert not difference.worse and difference.cells == 0
    assert [c.kind for c in compare([cell()], [other], across_flags=True).changes] == ["better"]
    # A device that changed its own flags meanwhile was asked the same.
    assert [c.kind for c in compare([cell()], [cell(flags="-O1", cycles_median=500)]).changes] == ["better"]


def test_a_size_is_told_once_for_all_cells_of_a_build() -> None:
    before = [cell(operation=o, message_bytes=n) for o in ("setup", "encrypt") for n in (16, 64)]
    after = [replace(m, flash_bytes=3000) for m in before]
    difference = compare(before, after)
    assert [(c.figure, c.operation) for c in difference.changes] == [("flash_bytes", "")]


def test_what_counts_comes_first_and_the_largest_of_each_kind_before_the_others() -> None:
    def variant(name: str, **changes: object) -> Measurement:
        return cell(variant=name, **changes)

    before = [
        *(variant(name) for name in ("gone", "little", "more", "most", "less", "least", "slight", "breaks")),
        variant("mends", **FAILED),
        variant("fails", **FAILED),
    ]
    after = [
        variant("little", cycles_median=1030),
        variant("most", cycles_median=3000),
        variant("more", cycles_median=2000),
        variant("less", cycles_median=900),
        variant("least", cycles_median=100),
        variant("slight", cycles_median=1010),
        variant("breaks", **FAILED),
        variant("mends"),
        variant("fails", **{**FAILED, "reason": "other"}),
        variant("comes"),
    ]
    told = [(c.kind, c.implementation.partition("/")[2]) for c in compare(before, after).changes]
    assert told == [
        ("broke", "breaks"),
        ("worse", "most"),
        ("worse", "more"),
        ("worse", "little"),
        ("fixed", "mends"),
        ("better", "least"),
        ("better", "less"),
        ("worse", "slight"),
        ("fails otherwise", "fails"),
        ("vanished", "gone"),
        ("new", "comes"),
    ]
    assert told == [
        (c.kind, c.implementation.partition("/")[2]) for c in compare(before[::-1], after[::-1]).changes
    ]


def test_the_newest_of_equal_cells_counts() -> None:
    assert not compare([cell(), cell(cycles_median=1)], [cell()]).changes
    longer = [cell(message_bytes=32, cycles_median=n) for n in (1000, 2000)]
    after = [cell(), cell(cycles_median=1), longer[1], cell(variant="x"), cell(variant="x", cycles_median=1)]
    found = compare([cell(), longer[0]], after)
    assert [(c.kind, c.message_bytes, c.percent) for c in found.changes] == [
        ("worse", 32, 100),
        ("new", 16, None),
    ]
    assert (found.cells, found.equal) == (2, 1)


def test_growth_is_told_in_per_cent_of_what_was() -> None:
    """From nothing there is none: it comes behind the others."""
    before = [cell(stack_bytes=1), cell(variant="x", ram_bytes=0), cell(variant="y"), cell(variant="z")]
    after = [
        *(cell(stack_bytes=3), cell(variant="x", ram_bytes=7)),
        *(cell(variant="y", cycles_median=1005), cell(variant="z", cycles_median=995)),
    ]
    found = compare(before, after, threshold_percent=0)
    assert [(c.kind, c.figure, c.percent, c.beyond) for c in found.changes] == [
        ("worse", "stack_bytes", 200.0, True),
        ("worse", "cycles_median", 0.5, True),
        ("worse", "ram_bytes", None, True),
        ("better", "cycles_median", -0.5, True),
    ]
    assert [c.beyond for c in compare(before, after, threshold_percent=0.5).changes] == [
        True,
        True,
        False,
        False,
    ]
    assert (
        compare([cell(ram_bytes=None)], [cell()]).changes
        == ()
        == compare([cell()], [cell(ram_bytes=None)]).changes
    )


def test_a_size_is_that_of_the_first_cell_before() -> None:
    before = [cell(message_bytes=n, flash_bytes=size) for n, size in ((16, 1000), (32, 2000), (64, 500))]
    after = [cell(message_bytes=n, flash_bytes=3000) for n in (64, 32, 16)]
    (change,) = compare(before, after).changes
    assert (change.figure, change.before, change.after, change.percent) == ("flash_bytes", 1000, 3000, 200)
    assert (change.operation, change.message_bytes, change.ad_bytes, change.cache) == ("", None, None, "")
    ran = [cell(message_bytes=16, **FAILED), *before[1:]]
    assert compare(ran, [after[0], after[1]]).changes[0].before == 2000


cells = st.lists(
    st.builds(
        cell,
        operation=st.sampled_from(["setup", "encrypt"]),
        message_bytes=st.sampled_from([16, 32]),
        cycles_median=st.integers(1, 10**6),
        flash_bytes=st.integers(0, 10**5),
        status=st.sampled_from(["ok", "ok", "fault"]),
    ),
    max_size=6,
)


@settings(max_examples=60)
@given(cells, cells, st.floats(0, 50), st.floats(0, 50))
def test_equal_sets_are_equal_and_a_wider_threshold_never_fails_more(
    before: list[Measurement], after: list[Measurement], tight: float, more: float
) -> None:
    same = compare(before, before, 0)
    assert not same.changes and same.equal == same.cells
    if compare(before, after, tight + more).worse:
        assert compare(before, after, tight).worse


# --- the command -----------------------------------------------------------------------------------


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return ran("compare", *arguments)


def stored(path: Path, *measurements: Measurement) -> Path:
    with Results(path) as results:
        results.store({str(number): m for number, m in enumerate(measurements)})
    return path


def test_the_command_prints_what_changed_and_fails_past_the_threshold(tmp_path: Path) -> None:
    a = stored(tmp_path / "a.db", cell())
    b = stored(tmp_path / "b.db", cell(cycles_median=1100, compiler="gcc 2"))
    done = run(a, b)
    assert done.returncode == 1
    words = " ".join(done.stdout.split())
    assert "worse uno aes128-cbc mine/fast encrypt 16 cycles 1,000 1,100 +10.0 %" in words
    assert "gcc 1" in words and "gcc 2" in words
    assert "1 cells in both, 0 of them equal; 1 worse" in words
    assert run(a, b, "--threshold", "10.5%").returncode == 0
    assert run(b, a).returncode == 0
    said = json.loads(run(a, b, "--json").stdout)
    assert said["worse"] is True and said["changes"][0]["percent"] == pytest.approx(10)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.db", "nowhere.db"], "no such file"),
        (["a.db", "empty.db"], "contains no measurements"),
        (["a.db", "other.db"], "no cell in common"),
        (["a.db", "a.db", "--threshold", "2"], "write per cent, as in 2%"),
        (["a.db", "a.db", "--threshold", "-1%"], "write per cent"),
        (["a.db", "text.db"], "damaged or not a results file"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments: list[str], said: str, tmp_path: Path) -> None:
    stored(tmp_path / "a.db", cell())
    stored(tmp_path / "empty.db")
    stored(tmp_path / "other.db", cell(device="pico"))
    (tmp_path / "text.db").write_text("no database at all, but long enough to be looked at twice\n" * 40)
    done = run(*[tmp_path / x if x.endswith(".db") else x for x in arguments])
    assert done.returncode == 2, done
    assert said in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "nowhere.db").exists()


# --- the recipe in docs/ci-bench.md ----------------------------------------------------------------


@pytest.mark.long
@needs_tool_set("git")
def test_the_recipe_fails_a_commit_that_makes_the_library_slower(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "ci-bench.md").read_text()
    script = re.search(r"```sh\n(#!/bin/sh\n.*?)```", page, re.DOTALL)
    assert script is not None
    tree = tmp_path / "your-library"
    shutil.copytree(ROOT / "examples" / "mylibrary", tree / "bench")
    (tree / "bench" / "run.sh").write_text(script[1])
    source = tree / "bench" / "src" / "arcfour.c"
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "MOTECRYPT": f"{sys.executable} -m motecrypt",
        "BENCH_CACHE": str(tmp_path / "kept"),
        "BENCH_BYTES": "16",
        **{
            f"GIT_{who}_{what}": "bench@example.org"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }

    def shell(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )

    assert shell("git init -q . && git add -A && git commit -qm first").returncode == 0
    wrong = shell("BENCH_BYTES=x sh bench/run.sh HEAD")
    assert wrong.returncode == 2 and "is not a length" in wrong.stderr, "a wrong set-up is no regression"
    assert shell("git worktree list").stdout.count("\n") == 1, "and leaves no tree behind"
    same = shell("sh bench/run.sh HEAD")
    assert same.returncode == 0, same.stderr
    assert re.search(r"^(\d+) cells in both, \1 of them equal$", same.stdout, re.MULTILINE)
    line = "rc4->i++;"
    slow = source.read_text().replace(line, f"for (volatile unsigned char w = 0; w < 9; w++) {{}}\n{line}")
    source.write_text(slow)
    worse = shell("sh bench/run.sh HEAD")
    assert worse.returncode == 1, worse.stderr
    assert re.search(r"worse\s+uno\s+rc4", worse.stdout) and re.search(r"worse\s+pico\s+rc4", worse.stdout)
    source.write_text(slow.replace("data[n] ^=", "data[n] +="))
    broken = shell("sh bench/run.sh HEAD")
    assert broken.returncode == 1 and re.search(r"broke\s+uno\s+rc4", broken.stdout)
