"""What the gate writes for others: Markdown, JUnit XML, Bencher Metric Format, asv's folder, the history."""

from __future__ import annotations

import itertools
import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from motecrypt.base.errors import InputError
from motecrypt.gate import forms
from motecrypt.gate.asv import asv_name, write_asv
from motecrypt.gate.figures import Benchmark
from motecrypt.gate.history import (
    HistoryPoint,
    figures_at,
    merge_histories,
    points_of,
    read_history,
    write_history,
)
from motecrypt.gate.judge import Delta, GateCheck, Judgement
from tool_sets import needs_tool_set

FAILED = GateCheck(
    benchmark="uno/lib/rc4|x",
    build="uno/lib/rc4",
    measure="flash",
    rule="growth",
    demand="at most 0% above the base",
    value=504,
    base=422,
    limit=422,
    passed=False,
    causes=("f_<b> +82 bytes (114 to 196)", *(f"g{n} +1 bytes (new)" for n in range(5))),
)
PASSED = GateCheck("uno/a", "uno/a", "cycles", "budget", "at most 9 cycles", 9, None, 9, True)
BROKEN = GateCheck(
    "uno/b", "uno/b", "status", "runs", "runs", None, None, None, False, "fault: [x](http://y) \x1b[2J"
)
JUDGEMENT = Judgement(
    (FAILED, PASSED, BROKEN),
    (Delta("uno/lib/rc4|x", "flash", 422, 504), Delta("n", "ram", None, 1)),
    9,
    7,
    ("a note",),
    ("n",),
)
GOOD = Judgement((PASSED,), (), 1, 1)


def test_markdown_has_the_outcome_the_causes_and_every_change() -> None:
    text = forms.markdown(JUDGEMENT, "main (abc)", ["motecrypt 1"])
    lines = text.splitlines()
    assert lines[0] == "### ❌ motecrypt ci: 2 of 3 checks failed against main (abc)"
    row = next(line for line in lines if line.startswith("| `uno/lib"))
    assert row == (
        "| `uno/lib/rc4/x` | flash | 422 | 504 | +82 (+19.4 %) | at most 0% above the base | "
        "f\\_&lt;b&gt; +82 bytes (114 to 196)<br>"
        + "<br>".join(f"g{n} +1 bytes (new)" for n in range(4))
        + "<br>and 1 more |"
    )
    assert "| `uno/b` |  |  |  |  | runs | fault: \\[x\\](http://y) \\\\x1b\\[2J |" in lines
    assert "| `uno/lib/rc4/x` | flash | 422 | 504 | +82 (+19.4 %) |" in lines
    assert "7 of 9 figures are equal to the base; 1 benchmarks are new." in lines
    assert lines[-2:] == ["- a note", "- motecrypt 1"]
    tables = [line for line in lines if line.startswith("|")]
    assert {line.count("|") for line in tables} == {8, 6}


def test_markdown_of_a_good_outcome_is_short() -> None:
    assert forms.markdown(GOOD, "", []) == "### ✅ motecrypt ci: passed: 1 checks\n"


def test_markdown_stays_within_its_rows() -> None:
    many = Judgement(tuple([FAILED] * 60), (), 60, 0)
    assert "| and 10 more |" in forms.markdown(many, "", [])


@pytest.mark.parametrize(
    ("delta", "said"),
    [
        (Delta("a", "ram", 0, 4), "+4"),
        (Delta("a", "ram", 8, 4), "-4 (-50.0 %)"),
        (Delta("a", "battery_days", 10.0, 9.5), "-0.5 (-5.0 %)"),
        (Delta("a", "ram", None, 4), "new"),
        (Delta("a", "ram", 4, None), "gone"),
    ],
)
def test_changes_in_words(delta: Delta, said: str) -> None:
    assert forms.change(delta) == said


def test_junit_has_a_case_for_each_check() -> None:
    root = ET.fromstring(forms.junit(JUDGEMENT))
    assert root.tag == "testsuites" and (root.get("tests"), root.get("failures")) == ("3", "2")
    suite = root[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "2", "0")
    cases = [(case.get("classname"), case.get("name"), len(case)) for case in suite]
    assert cases == [
        ("uno/lib/rc4|x", "flash: at most 0% above the base", 1),
        ("uno/a", "cycles: at most 9 cycles", 0),
        ("uno/b", "status: runs", 1),
    ]
    failure = suite[0][0]
    assert (
        failure.get("message") == "flash 504 (base: 422, +82 (+19.4 %)); demanded: at most 0% above the base"
    )
    assert (failure.text or "").splitlines()[1] == "f_<b> +82 bytes (114 to 196)"


def test_junit_of_a_name_with_control_characters_is_xml() -> None:
    odd = GateCheck("uno/n\x01\x1b", "b", "ram", "budget", "at most 9 bytes", 9, None, 9, True)
    case = ET.fromstring(forms.junit(Judgement((odd,), (), 1, 1)))[0][0]
    assert case.get("classname") == "uno/n\\x01\\x1b"


BENCHMARKS = [
    Benchmark("uno/a-b/rc4", "uno/a-b/rc4", {"flash": 10, "battery_days": 3.5}, compiler="gcc 1"),
    Benchmark("uno/c", "uno/c", {}, "fault", "why"),
]


def test_bencher_metric_format() -> None:
    assert json.loads(forms.bencher(BENCHMARKS)) == {
        "uno/a-b/rc4": {"flash": {"value": 10}, "battery-days": {"value": 3.5}}
    }


def test_asv_keeps_one_file_for_each_commit(tmp_path: Path) -> None:
    first, second = "a" * 40, "b" * 40
    write_asv(tmp_path, BENCHMARKS, first, 1000)
    other = [Benchmark("pico/x", "pico/x", {"cycles": 7})]
    write_asv(tmp_path, other, second, 2000)
    listed = json.loads((tmp_path / "benchmarks.json").read_text())
    name = asv_name("uno/a-b/rc4", "flash")
    assert name == "uno.a-b.rc4.track_flash" and asv_name("u/a b", "ram") == "u.a_b.track_ram"
    assert set(listed) == {name, "uno.a-b.rc4.track_battery_days", "pico.x.track_cycles", "version"}
    assert (listed[name]["type"], listed[name]["unit"], listed["version"]) == ("track", "bytes", 2)
    found = json.loads((tmp_path / "motecrypt" / "aaaaaaaa-simulated.json").read_text())
    assert (found["commit_hash"], found["date"], found["version"]) == (first, 1000, 2)
    values = dict(zip(found["result_columns"], found["results"][name], strict=True))
    assert values["result"] == [10] and values["version"] == listed[name]["version"]
    assert (tmp_path / "motecrypt" / "bbbbbbbb-simulated.json").exists()
    assert json.loads((tmp_path / "motecrypt" / "machine.json").read_text())["machine"] == "motecrypt"


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_folder_that_is_not_asvs_is_left_alone(text: str, tmp_path: Path) -> None:
    (tmp_path / "benchmarks.json").write_text(text)
    with pytest.raises(InputError, match="name asv's own results folder"):
        write_asv(tmp_path, BENCHMARKS, "a" * 40, 1)
    assert (tmp_path / "benchmarks.json").read_text() == text


# --- the history -------------------------------------------------------------------------------------

A = HistoryPoint("2026-01-01T00:00:00Z", "a" * 40, "uno/x", "gcc 1", (("flash", 10),), "uno/x")
B = HistoryPoint("2026-01-02T00:00:00Z", "b" * 40, "uno/x", "gcc 1", (("flash", 12),), "uno/x")
OTHER = HistoryPoint("2026-01-02T00:00:00Z", "b" * 40, "uno/x", "gcc 2", (("flash", 13),), "uno/x")


def test_a_history_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    write_history(path, [B, A, B])
    assert path.read_text().splitlines() == [A.line, B.line], "sorted, each once"
    assert read_history(path) == [A, B]
    path.write_text(f"\n{B.line}\n\n{A.line}\n{B.line}")
    assert read_history(path) == [B, A, B]
    assert points_of(BENCHMARKS, "c" * 40, "t")[0].as_benchmark == BENCHMARKS[0]
    assert len(points_of(BENCHMARKS, "c" * 40, "t")) == 1, "what did not run has no point"


def test_the_union_is_the_same_in_any_order_and_again() -> None:
    merged = [
        tuple(merge_histories(*sides)[0]) for sides in itertools.permutations([[A], [B, OTHER], [A, B]])
    ]
    assert set(merged) == {(A, B, OTHER)}
    assert merge_histories(merged[0], merged[0]) == ([A, B, OTHER], [])


def test_two_figures_of_one_commit_are_a_conflict() -> None:
    larger = HistoryPoint(B.at, B.commit, B.benchmark, B.compiler, (("flash", 99),), B.build)
    for sides in ([[B], [larger]], [[larger], [B]]):
        kept, conflicts = merge_histories(*sides)
        assert kept == [larger] and conflicts == ["uno/x at bbbbbbbbbbbb has two figures (gcc 1)"]


def test_the_base_is_looked_up_by_commit_and_compiler() -> None:
    assert figures_at([A, B, OTHER], B.commit, ["gcc 1"]) == [B.as_benchmark]
    assert figures_at([A, B, OTHER], A.commit, ["gcc 2"]) == []


@pytest.mark.parametrize(
    "line",
    [
        "x",
        "{}",
        "[1]",
        A.line.replace('"v":1', '"v":2'),
        A.line.replace('"uno/x"', "7"),
        A.line.replace("10", '"10"'),
        A.line.replace("10", "true"),
        A.line.replace("flash", "flsh"),
        A.line.replace("10", "NaN"),
        A.line.replace("10", "Infinity"),
        A.line.replace("10", "-1"),
        A.line.replace("10", "1" + "0" * 400),
        A.line.replace("10", f"{1 << 63}"),
        A.line.replace("10", "[" * 100_000 + "]" * 100_000),
    ],
)
def test_a_line_that_is_no_point_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    path.write_text(f"{A.line}\n{line}\n")
    with pytest.raises(InputError, match=r"h\.jsonl:2: not a point of a history$"):
        read_history(path)
    path.write_text(f"<<<<<<< HEAD\n{A.line}\n")
    with pytest.raises(InputError, match="keep the lines of both sides"):
        read_history(path)


@needs_tool_set("git")
def test_git_merges_two_branches_that_each_added_points(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"

    def git(*words: str) -> None:
        named = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *named, *words], cwd=tmp_path, check=True, capture_output=True, timeout=60)

    git("init", "-q", "-b", "main", ".")
    (tmp_path / ".gitattributes").write_text("h.jsonl merge=union\n")
    write_history(path, [A])
    git("add", "-A")
    git("commit", "-qm", "first")
    git("checkout", "-qb", "side")
    write_history(path, [A, OTHER])
    git("commit", "-qam", "side")
    git("checkout", "-q", "main")
    write_history(path, [A, B])
    git("commit", "-qam", "main")
    git("merge", "-q", "side", "-m", "both")
    assert sorted(read_history(path)) == [A, B, OTHER]
