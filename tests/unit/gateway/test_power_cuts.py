"""Power cuts of the gateway: a sample of `./test power-cuts`, defects that it finds, its model of a disk."""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

import pytest

from power_cuts import main as module
from power_cuts.defects import DEFECTS
from power_cuts.disk import Disk, Image, Kind, Step, read_steps
from power_cuts.main import LARGE, QUICK, SMALL, main, planned, ran

FILE = 7
TRIES = 300


def step(
    kind: Kind, name: str = "", other: str = "", at: int = 0, data: bytes = b"", file: int = FILE
) -> Step:
    """One call."""
    return Step(kind, name, other, file, at, data)


def seen(disk: Disk) -> set[tuple[tuple[str, bytes], ...]]:
    """All that many power cuts leave: names with contents."""
    found = set()
    for seed in range(TRIES):
        image = disk.cut(random.Random(seed))
        found.add(tuple(sorted((name, bytes(image.contents[file])) for name, file in image.names.items())))
    return found


def following(*steps: Step, image: Image | None = None) -> Disk:
    disk = Disk(image or Image(), random.Random(1))
    for each in steps:
        disk.follow(each)
    return disk


# --- the disk


def test_a_file_is_there_once_it_and_its_name_are_synced() -> None:
    made = [step(Kind.CREATE, "a"), step(Kind.WRITE, data=b"1")]
    assert seen(following(*made)) == {(), (("a", b""),), (("a", b"\0"),), (("a", b"1"),)}
    assert seen(following(*made, step(Kind.SYNC))) == {(), (("a", b"1"),)}
    assert seen(following(*made, step(Kind.SYNC_FOLDER))) == {(("a", b""),), (("a", b"\0"),), (("a", b"1"),)}
    disk = following(*made, step(Kind.SYNC), step(Kind.SYNC_FOLDER))
    assert seen(disk) == {(("a", b"1"),)} and disk.unsynced == 0


def test_names_change_wholly_or_not_and_in_any_order() -> None:
    image = Image(names={"a": 1, "b": 2}, contents={1: b"1", 2: b"2"})
    a, b = ("a", b"1"), ("b", b"2")
    assert seen(following(step(Kind.MOVE, "a", "b", file=1), image=image)) == {(a, b), (("b", b"1"),)}
    assert seen(following(step(Kind.REMOVE, "a"), step(Kind.REMOVE, "b"), image=image)) == {
        (a, b),
        (a,),
        (b,),
        (),
    }
    linked = following(step(Kind.LINK, "c", file=1), step(Kind.SYNC_FOLDER), image=image)
    assert seen(linked) == {(a, b, ("c", b"1"))}
    other = following(step(Kind.LINK, "x/c", file=1), step(Kind.SYNC_FOLDER), image=image)
    assert len(seen(other)) == 2, "of another folder"


def test_a_write_is_torn_between_sectors_and_a_size_may_be_lost() -> None:
    image = Image(names={"a": FILE}, contents={FILE: b"-" * 1024})
    left = {
        contents
        for ((_, contents),) in seen(following(step(Kind.WRITE, at=256, data=b"+" * 768), image=image))
    }
    before, first, second = b"-" * 1024, b"-" * 256 + b"+" * 256, b"+" * 512
    assert left == {before, first + second, first + b"-" * 512, b"-" * 512 + second}
    assert seen(following(step(Kind.SIZE, at=3), image=image)) == {(("a", b"---"),), (("a", before),)}


def test_what_a_failed_sync_has_lost_no_later_one_brings_back() -> None:
    image = Image(names={"a": FILE}, contents={FILE: b""})
    writes = [step(Kind.WRITE, at=at, data=b"+") for at in range(40)]
    ((left,),) = seen(following(*writes, step(Kind.LOST), step(Kind.SYNC), image=image))
    assert 5 < left[1].count(b"+") < 35


def test_after_a_kill_what_was_not_synced_may_still_be_lost(tmp_path: Path) -> None:
    disk = following(step(Kind.CREATE, "a"), step(Kind.WRITE, data=b"1"), step(Kind.CREATE, "b", file=8))
    disk.put_cached(tmp_path / "disk")
    assert (tmp_path / "disk" / "a").read_bytes() == b"1"
    number = (tmp_path / "disk" / "a").stat().st_ino
    for kind in (Kind.SYNC, Kind.SYNC_FOLDER):
        assert len(seen(disk)) > 1
        disk.follow(step(kind, file=number))
    assert seen(disk) == {(("a", b"1"), ("b", b""))}


def test_a_record_is_read_as_it_is_written(tmp_path: Path) -> None:
    text = b"\2" + b"\1\0a" + b"\0\0" + (7).to_bytes(8, "little") + (5).to_bytes(8, "little") + b"\2\0\0\0xy"
    assert list(read_steps(text * 2)) == [Step(Kind.WRITE, "a", "", 7, 5, b"xy")] * 2


# --- the gateway


@pytest.mark.long
def test_no_power_cut_of_a_sample_loses_or_doubles_anything() -> None:
    for task, cuts in ((SMALL["plain"], "random cuts"), (SMALL["records"], "boundaries of records")):
        told = ran(task)
        assert told["wrong"] == {} and told["counts"][cuts] == task["cuts"], told
    told = ran(SMALL["faults"])
    assert told["wrong"] == {} and told["counts"]["calls that failed"] > 20, told
    assert all(told["counts"][f"disk {fault}"] for fault in ("full", "read-only", "no sync")), told


@pytest.mark.long
def test_defects_are_found() -> None:
    names = [name for name, defect in DEFECTS.items() if not defect.rare]
    found = ran({"kind": "defects", "names": names, "tasks": QUICK})["found"]
    assert set(found) == set(names), found


# --- the command


def test_it_continues_where_it_was_stopped_until_a_source_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []
    limit = [5]

    def done(task: dict[str, Any]) -> dict[str, Any]:
        if len(asked) == limit[0]:
            raise RuntimeError("stopped")
        asked.append(task["kind"])
        return {"wrong": {}, "cases": [], "counts": {"random cuts": task.get("cuts", 0)}, "cpu_s": 1.0}

    monkeypatch.setattr(module, "ran", done)
    words = ["--jobs", "1", "--results", str(tmp_path / "results")]
    with pytest.raises(RuntimeError, match="stopped"):
        main(words)
    limit[0] = 1000
    assert main(words) == 0
    tasks = len(asked)
    said = capsys.readouterr().out
    assert "25,040" in said, "of all slices"
    assert said.splitlines()[-1].startswith("0 lost, 0 doubled, 0 made up")
    assert main(words) == 0 and len(asked) == tasks
    monkeypatch.setattr(module, "_digest", lambda: "others")
    assert main(words) == 0 and len(asked) == 2 * tasks


def test_what_is_wrong_is_told_with_its_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {
        "wrong": {"lost": 1},
        "cases": ["seed 1, step 5, 0: lost: a message"],
        "counts": {},
        "cpu_s": 1.0,
    }
    monkeypatch.setattr(module, "ran", lambda task: wrong)
    assert main(["--results", str(tmp_path / "results")]) == 1
    said = capsys.readouterr().out
    assert "power cuts: seed 1, step 5, 0: lost: a message" in said and "0 lost" not in said


def test_a_run_has_all_boundaries_and_so_many_cuts() -> None:
    asked = argparse.Namespace(seed=3, messages=500, cuts=10_000, backlog=100_000, backlog_cuts=41)
    tasks = planned(asked)
    drawn = [task for task in tasks if task["kind"] == "random"]
    assert [task["share"] for task in tasks if task["kind"] == "boundaries"] == list(range(10))
    assert sum(task["cuts"] for task in drawn if "backlog" not in task) == 10_000
    assert sum(task["cuts"] for task in drawn if "backlog" in task) == 41
    assert {task.get("faults", False) for task in drawn} == {False, True}
    assert len({json.dumps(task) for task in tasks}) == len(tasks)
    assert not any(
        "backlog" in task for task in planned(argparse.Namespace(**vars(asked) | {"backlog_cuts": 0}))
    )


@pytest.mark.parametrize(("found", "code"), [({}, 1), (dict.fromkeys(DEFECTS, "lost, cut 1"), 0)])
def test_the_command_says_which_defects_it_finds(
    found: dict[str, str], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(module, "ran", lambda task: asked.append(task) or {"found": found})
    assert main(["--defects"]) == code
    assert asked == [{"kind": "defects", "names": list(DEFECTS), "tasks": LARGE}]
    assert capsys.readouterr().out.count("not found") == len(DEFECTS) - len(found)


@pytest.mark.parametrize("words", [["--messages", "0"], ["--jobs", "0"], ["--cuts", "-1"]])
def test_an_impossible_run_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2 and "take 1 or more" in capsys.readouterr().err
