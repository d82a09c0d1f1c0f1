"""What a gate measures of one tree and how it asks git."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import MISSING, fields, replace
from pathlib import Path

import pytest

from motecrypt.app import gate, gate_causes
from motecrypt.app.selection import Selection
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell, Measurement
from motecrypt.catalog import Catalog
from motecrypt.gate.figures import benchmarks_of
from motecrypt.gate.plan import GatePlan, MeasuredEntry, read_gate_plan
from motecrypt.gate.tree import commit_of, is_changed
from motecrypt.results import Results
from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[3]

CATALOG = Catalog.load()


def entry(tmp_path: Path, text: str) -> MeasuredEntry:
    return whole(tmp_path, text).measured[0]


def git(place: Path, *words: str) -> str:
    named = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *named, *words], cwd=place, check=True, capture_output=True, text=True, timeout=60
    )
    return done.stdout


def test_a_misspelled_placement_is_refused(tmp_path: Path) -> None:
    text = 'devices = ["pico"]\n[[cipher]]\nname = "rc4"\nplacements = ["%s"]\n'
    with pytest.raises(InputError, match="pico has no placement 'flsh'; it has "):
        gate._cells(entry(tmp_path, text % "flsh"), tmp_path)
    for place in CATALOG.device("pico").placements:
        _, cells = gate._cells(entry(tmp_path, text % place), tmp_path)
        assert {cell.placement for cell in cells} == {place}


def test_protected_code_is_measured_where_the_file_names_its_variant(tmp_path: Path) -> None:
    body = next(i for i in CATALOG.protected if i.runs_on(CATALOG.device("pico").core))
    text = f'devices = ["pico"]\n[[cipher]]\nname = "{body.cipher}"\n'
    _, cells = gate._cells(entry(tmp_path, f'{text}variants = ["{body.variant}"]\n'), tmp_path)
    assert {cell.implementation for cell in cells} == {body}
    _, others = gate._cells(entry(tmp_path, text), tmp_path)
    assert body not in {cell.implementation for cell in others}


def test_a_build_by_a_named_toolchain_has_its_name() -> None:
    names = [benchmark.name for benchmark in benchmarks_of([rc4()], "gcc-12")]
    assert names == ["uno/mine/rc4/gcc-12", "uno/mine/rc4/gcc-12/128/encrypt/16"]
    assert [benchmark.build for benchmark in benchmarks_of([rc4()])] == ["uno/mine/rc4"] * 2


def rc4() -> Measurement:
    """A measurement of a library, with figures that nothing here depends on."""
    values = {f.name: f.default for f in fields(Measurement)}
    values |= dict.fromkeys((f.name for f in fields(Measurement) if f.default is MISSING), 1)
    told = {"device": "uno", "library": "mine", "cipher": "rc4", "key_bits": 128, "operation": "encrypt"}
    plain = {"configuration": "default", "variant": "", "placement": "flash", "cache": "none"}
    sizes = {"message_bytes": 16, "ad_bytes": 0, "status": "ok", "extra": {}}
    return Measurement(**{**values, **told, **plain, **sizes})  # type: ignore[arg-type]


def whole(tmp_path: Path, text: str) -> GatePlan:
    (tmp_path / "motecrypt.toml").write_text(text)
    return read_gate_plan(tmp_path / "motecrypt.toml")


def test_two_folders_of_one_name_are_refused_and_two_lengths_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ensure(cells: Sequence[Cell], *others: object) -> dict[Cell, Measurement]:
        return {
            cell: replace(
                rc4(),
                library=cell.implementation.library,
                message_bytes=cell.message_bytes,
                operation=cell.operation,
            )
            for cell in cells
        }

    monkeypatch.setattr(gate.bench, "ensure", ensure)
    monkeypatch.setattr(gate, "prepare", lambda *others: None)
    monkeypatch.setattr(gate, "_with_worst", lambda found, taken: found)
    monkeypatch.setattr(Selection, "prove_own", lambda chosen: None)
    for place in ("a", "b"):
        shutil.copytree(ROOT / "examples" / "mylibrary", tmp_path / place / "bench")
    entry_of = '[[library]]\nfolder = "%s/bench"\nciphers = ["rc4"]\nbytes = [%d]\n'
    first = 'devices = ["uno"]\n' + entry_of % ("a", 16)

    def taken(text: str) -> list[str]:
        found = gate.take(
            whole(tmp_path, text), tmp_path, Results(tmp_path / "r.db"), None, lambda *said: None
        )
        return [benchmark.name for benchmark in found.benchmarks]

    once, both = taken(first), taken(first + entry_of % ("a", 32))
    assert len(both) == len(set(both)) == 2 * len(once) - 1, "one build, with its sizes once"
    with pytest.raises(InputError, match="two entries give the benchmark 'uno/bench/rc4'"):
        taken(first + entry_of % ("b", 16))


@needs_tool_set("host")
def test_functions_of_this_computer_are_named_for_the_causes(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(
        "int room[9];\nint box(int n) { return room[n]; }\nint main(void) { return 0; }\n"
    )
    subprocess.run(["gcc", "-c", "p.c", "-o", "p.o"], cwd=tmp_path, check=True, timeout=60)
    facts = gate_causes._facts(tmp_path / "p.o", CATALOG.device("host"))
    assert {"box", "main", "room"} <= {fact.name for fact in facts}


@needs_tool_set("git")
def test_git_is_asked_for_a_commit_without_its_signature(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", ".")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    git(tmp_path, "config", "log.showSignature", "true")
    git(tmp_path, "config", "gpg.program", str(tmp_path / "gpg"))
    (tmp_path / "gpg").write_text("#!/bin/sh\necho 'gpg: Signature made' >&2\nexit 1\n")
    (tmp_path / "gpg").chmod(0o755)
    tree = git(tmp_path, "rev-parse", "HEAD^{tree}").strip()
    signed = f"tree {tree}\nauthor a <a@b> 7 +0000\ncommitter a <a@b> 7 +0000\ngpgsig x\n\nsigned\n"
    (tmp_path / "signed").write_text(signed)
    made = git(tmp_path, "hash-object", "-t", "commit", "-w", "signed").strip()
    assert commit_of(tmp_path, made).time_s == 7


@needs_tool_set("git")
def test_a_tree_that_git_cannot_compare_is_not_unchanged(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a")
    git(tmp_path, "init", "-q", "-b", "main", ".")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-qm", "first")
    assert not is_changed(tmp_path)
    (tmp_path / "file").write_text("b")
    assert is_changed(tmp_path)
    (tmp_path / ".git" / "index").write_bytes(b"no index")
    with pytest.raises(InputError, match="git cannot compare the files with HEAD"):
        is_changed(tmp_path)
