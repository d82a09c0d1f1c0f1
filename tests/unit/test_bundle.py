"""`reproduce --bundle` and `--verify`: what is packed, and which changes are found."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bundles import STUDIES, checked, files_of, made_bundle, with_files
from command_line import ran
from motecrypt.app import bundle as app
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell, Implementation, Measurement
from motecrypt.present.bundle import (
    Bundle,
    BundleCheck,
    checks,
    compare_measured,
    contents,
    pack,
    verify,
)
from motecrypt.results import Results
from motecrypt.results.experiments import recorded
from motecrypt.studies import Needs
from report_data import fill

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_bundle(tmp_path_factory.mktemp("bundle"))


def test_a_bundle_has_everything_and_verifies(packed: Path) -> None:
    assert {what: check.holds for what, check in checked(packed).items()} == {
        **dict.fromkeys(("hashes", "inputs", *contents.DERIVED), True),
        "program": None,
    }
    files = files_of(packed)
    assert {"inputs/published/rc4d_uno.csv", "inputs/recorded/rf.jsonl", "report.html"} <= set(files)
    assert {row["id"].split("-")[0] for row in json.loads(files["rows.json"])} == set(STUDIES)
    told = json.loads(files["manifest.json"])
    assert told["studies"] == list(STUDIES) and told["versions"]["packages"]["click"]
    assert told["versions"]["compilers"]
    for name, own in told["files"].items():
        assert own == {"sha256": hashlib.sha256(files[name]).hexdigest(), "bytes": len(files[name])}
    hashes = files["elf.csv"].decode().splitlines()
    assert hashes[0].endswith("elf_sha256") and len(hashes) == len(set(hashes)) > 1


def test_the_same_results_give_the_same_files(packed: Path, tmp_path: Path) -> None:
    with Results(packed.parent / "r.db") as results:
        pack(tmp_path / "again.zip", results, STUDIES, "<html>report</html>")
    first, second = files_of(packed), files_of(tmp_path / "again.zip")
    assert {name for name in first if first[name] != second[name]} <= {"manifest.json"}
    assert list(first) == list(second)


def test_claims_stay_at_home(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as results:
        fill(results, family="rc4d")
        with results.transaction() as connection:
            connection.execute("INSERT INTO claim VALUES ('cell', 'this machine', 9e9)")
        results.copy_to(tmp_path / "copy.db")
        with results.transaction() as connection:
            assert connection.execute("SELECT count(*) FROM claim").fetchone() == (1,)
    with sqlite3.connect(tmp_path / "copy.db") as copied:
        assert copied.execute("SELECT count(*) FROM claim").fetchone() == (0,)
        assert copied.execute("SELECT count(*) FROM measurement").fetchone()[0] > 10


@pytest.mark.parametrize("name", ["report.html", "rows.json", "inputs/published/rc4d_uno.csv"])
def test_a_changed_file_has_another_hash(packed: Path, tmp_path: Path, name: str) -> None:
    path = with_files(tmp_path / "b.zip", packed, {name: b"changed"}, listed=False)
    with Bundle(path) as bundle:
        hashes = next(verify(bundle))
    assert hashes.holds is False and hashes.told.endswith("has another hash")


@pytest.mark.parametrize("own", contents.DERIVED)
def test_a_changed_table_is_not_what_the_results_give_whatever_the_manifest_says(
    packed: Path, tmp_path: Path, own: str
) -> None:
    before = files_of(packed)[own]
    data = before.replace(*((b",", b";") if own == contents.ELF else (b"1", b"2")), 1)
    found = checked(with_files(tmp_path / "b.zip", packed, {own: data}))
    assert [what for what, check in found.items() if check.holds is False] == [own]
    assert found[own].told.startswith("1 of ")
    if own == contents.ROWS:
        pairs = zip(json.loads(data), json.loads(before), strict=True)
        assert found[own].told.endswith(f"first {next(new['id'] for new, old in pairs if new != old)}")


def test_changed_results_give_other_tables(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "r.db").write_bytes(files_of(packed)["results.db"])
    connection = sqlite3.connect(tmp_path / "r.db")
    connection.execute("UPDATE measurement SET cycles_median = cycles_median - 1 WHERE status = 'ok'")
    connection.commit()
    connection.close()
    path = with_files(tmp_path / "b.zip", packed, {"results.db": (tmp_path / "r.db").read_bytes()})
    found = checked(path)
    assert found["hashes"].holds is True and found["measurements.csv"].holds is False
    assert found["report-tables.html"].holds is False and found["elf.csv"].holds is True


def test_results_that_no_table_can_be_made_from_are_told(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as results:
        answers = recorded.read(recorded.file_of("pico"))
        results.store_recorded((answer.experiment, answer.asked) for answer in answers)
        pack(tmp_path / "b.zip", results, ["pico"], "<html>report</html>")
    (tmp_path / "r.db").write_bytes(files_of(tmp_path / "b.zip")["results.db"])
    connection = sqlite3.connect(tmp_path / "r.db")
    connection.execute(
        "UPDATE experiment SET outcome = json_set(outcome, '$.clock_hz', 0) WHERE kind = 'pico-file'"
    )
    connection.commit()
    connection.close()
    path = with_files(
        tmp_path / "c.zip", tmp_path / "b.zip", {"results.db": (tmp_path / "r.db").read_bytes()}
    )
    *_, last = checked(path).values()
    assert last.what == "results.db" and last.holds is False
    assert last.told.startswith("no tables can be made from it: ZeroDivisionError: ")


@pytest.mark.parametrize(
    "change",
    [
        {"made_at": "2026\nrows.json  ok"},
        {"versions": {"motecrypt": "1.0\r\nrows.json  ok", "program_sha256": "0"}},
        {"files": {"x is missing\nrows.json  ok": {"sha256": "0" * 64}}},
    ],
)
def test_a_manifest_makes_no_lines_of_its_own(change: dict[str, Any], packed: Path, tmp_path: Path) -> None:
    manifest = {**json.loads(files_of(packed)["manifest.json"]), **change}
    path = with_files(
        tmp_path / "b.zip", packed, {"manifest.json": json.dumps(manifest).encode()}, listed=False
    )
    with Bundle(path) as bundle, pytest.raises(InputError, match="not as motecrypt writes it"):
        checks.read_manifest(bundle)


def test_a_full_disk_is_told_when_a_bundle_is_verified(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").symlink_to("/dev/full")
    said = f"{tmp_path.parent}: cannot be written: No space left on device; free some space, or set TMPDIR"
    with Bundle(packed) as bundle, pytest.raises(InputError, match=said):
        bundle.copy("results.db", tmp_path / "copy")
    (tmp_path / contents.ROWS).symlink_to("/dev/full")
    with Results(packed.parent / "r.db") as results, pytest.raises(InputError, match=said):
        contents.derive(results, ["rf"], tmp_path)


def test_files_that_are_missing_or_not_listed_are_told(packed: Path, tmp_path: Path) -> None:
    less = {"rows.csv": None, "report.html": None}
    found = checked(with_files(tmp_path / "less.zip", packed, less, listed=False))
    assert found["hashes"].told == "report.html is missing; rows.csv is missing"
    assert (found["rows.csv"].holds, found["rows.csv"].told) == (False, "is not in the bundle")
    unlisted = with_files(tmp_path / "unlisted.zip", packed, {"report.html": None})
    more = with_files(tmp_path / "more.zip", packed, {"inputs/more": b"x"}, listed=False)
    for path, told in ((unlisted, "report.html is not listed"), (more, "inputs/more is not listed")):
        with Bundle(path) as bundle:
            hashes = next(verify(bundle))
        assert (hashes.holds, hashes.told) == (False, told)


def test_other_inputs_are_a_fault_where_the_program_is_the_same(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"inputs/published/rc4d_uno.csv": b"row\n", "inputs/mine.toml": b""}
    path = with_files(tmp_path / "b.zip", packed, changes)
    found = checked(path)
    assert found["inputs"] == BundleCheck(
        "inputs",
        False,
        "inputs/mine.toml: this program has none; inputs/published/rc4d_uno.csv: differs from this program's",
    )
    assert "these very files" in found["program"].told
    monkeypatch.setattr(contents, "program_sha256", lambda: "another")
    found = checked(path)
    assert found["inputs"].holds is None and "with other files than this" in found["program"].told


# --- measured again ------------------------------------------------------------------------------------


def _cell(length: int) -> Cell:
    body = Implementation("rc4d", "motecrypt", "default", "opt", (128,), "", (), (), (), Path())
    return Cell("uno", body, "encrypt", 128, length)


def _measured(cell: Cell, **changes: object) -> Measurement:
    from motecrypt.results.rows import COLUMNS

    plain: dict[str, Any] = {
        **dict.fromkeys(COLUMNS, ""),
        **cell.identity._asdict(),
        **dict.fromkeys(("cycles_min", "cycles_median", "cycles_max", "flash_bytes", "ram_bytes"), 7),
        "tag_bytes": 0,
        "inputs": 8,
        "timing_varies": False,
        "time_us": 1.0,
        "flash_symbol_bytes": 7,
        "eeprom_bytes": 0,
        "stack_bytes": 7,
        "status": "ok",
        "cycles_exact": True,
        "extra": {},
        "elf_sha256": "ab",
        "compiler": "gcc 1",
        "system_toolchain": True,
        "measured_at": "2026-01-01",
    }
    return Measurement(**(plain | changes))


def test_no_cell_of_the_hashes_begins_like_a_formula(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as results:
        results.store({"0": _measured(_cell(16), compiler="=HYPERLINK(1)", flags="-Os")})
        contents.derive(results, ["rf"], tmp_path)
    assert "'-Os,,'=HYPERLINK(1),ab" in (tmp_path / contents.ELF).read_text().splitlines()[1]


@pytest.mark.parametrize(
    "column",
    [
        *("cycles_min", "cycles_median", "cycles_max", "flash_bytes", "ram_bytes", "stack_bytes"),
        *("timing_varies", "elf_sha256", "status", "time_us", "inputs", "flash_symbol_bytes", "eeprom_bytes"),
    ],
)
def test_every_figure_that_differs_is_told(tmp_path: Path, column: str) -> None:
    cells = [_cell(16), _cell(32), _cell(64)]
    other: dict[str, object] = {"timing_varies": True, "elf_sha256": "cd", "status": "fault", "inputs": 9}
    with Results(tmp_path / "a.db") as before, Results(tmp_path / "b.db") as after:
        before.store({str(n): _measured(cell) for n, cell in enumerate(cells)})
        after.store({"0": _measured(cells[0]), "1": _measured(cells[1], **{column: other.get(column, 8)})})
        count, apart = compare_measured(before, after, cells)
        assert count == 2
        assert apart == [f"uno rc4d {_measured(cells[1]).implementation} encrypt 32 bytes: {column}"]
        assert compare_measured(before, before, [*cells, *cells]) == (3, [])


def test_what_is_timed_is_compared_by_its_sizes_and_another_compiler_is_named(tmp_path: Path) -> None:
    cell = _cell(16)
    timed = _measured(cell, cycles_exact=False)
    with Results(tmp_path / "a.db") as before, Results(tmp_path / "b.db") as after:
        before.store({"0": timed})
        after.store({"0": replace(timed, cycles_median=9, elf_sha256="cd")})
        assert compare_measured(before, after, [cell]) == (1, [])
        after.store({"0": replace(timed, flash_bytes=9, compiler="gcc 2")})
        (told,) = compare_measured(before, after, [cell])[1]
    assert told.endswith("flash_bytes (gcc 2 instead of gcc 1)")


def test_figures_that_a_bundle_calls_timed_are_compared_where_they_are_counted_here(tmp_path: Path) -> None:
    cell = _cell(16)
    with Results(tmp_path / "a.db") as before, Results(tmp_path / "b.db") as after:
        before.store({"0": _measured(cell, cycles_exact=False, cycles_median=9, elf_sha256="cd")})
        after.store({"0": _measured(cell)})
        (told,) = compare_measured(before, after, [cell])[1]
        assert told.endswith("bytes: cycles_exact, cycles_median, elf_sha256")
        after.store({"0": _measured(cell, status="fault", cycles_exact=False)})
        before.store({"0": _measured(cell, status="fault", cycles_exact=False, cycles_median=9)})
        assert compare_measured(before, after, [cell])[1][0].endswith("bytes: cycles_median")


@pytest.mark.parametrize(
    ("packed_cells", "told"),
    [
        (0, "the bundle has none of the 3 cells of these studies"),
        (2, "2 cells: the same figures and firmware; 1 without figures in the bundle or here"),
    ],
)
def test_how_many_cells_could_be_compared(
    packed_cells: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [_cell(16), _cell(32), _cell(64)]

    @contextmanager
    def opened(_: object) -> Iterator[Results]:
        with Results(tmp_path / "a.db") as results:
            results.store({str(n): _measured(cell) for n, cell in enumerate(cells[:packed_cells])})
            yield results

    def ensured(name: str, own: Needs, results: Results, *_: object) -> str:
        results.store({str(n): _measured(cell) for n, cell in enumerate(own.cells)})
        return ""

    monkeypatch.setattr(app, "packed_results", opened)
    monkeypatch.setattr(app, "ensure", ensured)
    monkeypatch.setattr(app, "needs", lambda _: Needs(cells=cells))
    check = app._measured_again(cast("Bundle", None), ("rc4d",), None, None, [])
    assert check == BundleCheck("measured again", True if packed_cells else None, told)


# --- the command ------------------------------------------------------------------------------------------


def _run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, since its environment has no compiler."""
    command = [sys.executable, "-P", "-m", "motecrypt", "reproduce", *map(str, arguments)]
    places = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment}
    return subprocess.run(command, env=places, capture_output=True, text=True, timeout=300, check=False)


def test_a_bundle_is_verified_where_there_is_nothing_else(packed: Path, tmp_path: Path) -> None:
    """No compiler, no cache, no results file, another folder: as on a machine that has only motecrypt."""
    for name in ("nowhere", "home", "work"):
        (tmp_path / name).mkdir()
    shutil.copy(packed, tmp_path / "work" / "b.zip")
    places = {
        "PATH": str(tmp_path / "nowhere"),
        "HOME": str(tmp_path / "home"),
        "MOTECRYPT_CACHE": str(tmp_path / "cache"),
        "MOTECRYPT_DB": str(tmp_path / "home" / "r.db"),
    }
    done = _run("--verify", tmp_path / "work" / "b.zip", "--json", **places)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["verified"] and told["studies"] == list(STUDIES)
    assert told["sha256"] == hashlib.sha256(packed.read_bytes()).hexdigest()
    assert [check["what"] for check in told["checks"]][:3] == ["hashes", "program", "inputs"]
    assert not (tmp_path / "home" / "r.db").exists() and os.listdir(tmp_path / "work") == ["b.zip"]  # noqa: PTH208


def test_a_failed_check_is_exit_code_1(packed: Path, tmp_path: Path) -> None:
    done = ran("reproduce", "--verify", with_files(tmp_path / "b.zip", packed, {"rows.csv": b"x"}))
    assert done.returncode == 1 and "1 of 8 checks failed: rows.csv" in done.stderr.splitlines()[-1]
    assert "FAILED" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--verify", "none.zip"], "none.zip: cannot be read"),
        (["--verify", "b.zip", "rc4d", "--stored"], "by itself; omit a study, --stored"),
        (["--verify", "b.zip", "--bundle", "c.zip"], "omit --bundle"),
        (["--remeasure"], "belongs to --verify FILE"),
        (["rc4d", "--bundle", "b.zip", "--compiler", "5.4.0"], "omit --compiler"),
        (["./mine", "--bundle", "b.zip"], "mine: no study.py there"),
        (["rc4d", "--stored", "--bundle", "b.zip"], "nothing is stored"),
    ],
)
def test_what_cannot_be_is_one_line(arguments: list[str], complaint: str, tmp_path: Path) -> None:
    done = ran("reproduce", *arguments, MOTECRYPT_DB=str(tmp_path / "none.db"))
    assert done.returncode == 2 and complaint in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("option", ["--bundle", "--csv"])
def test_the_results_file_is_not_written_over(option: str, packed: Path, tmp_path: Path) -> None:
    shutil.copy(packed.parent / "r.db", tmp_path / "r.db")
    done = ran("reproduce", "rf", "--stored", "--db", tmp_path / "r.db", option, tmp_path / "r.db")
    assert done.returncode == 2 and done.stdout == ""
    assert (
        done.stderr
        == f"motecrypt: {tmp_path}/r.db: is a database, such as a results file; give another name\n"
    )
    assert (tmp_path / "r.db").read_bytes() == (packed.parent / "r.db").read_bytes()


def test_the_command_packs_what_it_shows(packed: Path, tmp_path: Path) -> None:
    done = ran(
        "reproduce",
        "rf",
        "--stored",
        "--db",
        packed.parent / "r.db",
        "--bundle",
        tmp_path / "b.zip",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    files = files_of(tmp_path / "b.zip")
    assert json.loads(files["rows.json"]) == json.loads(done.stdout)
    assert hashlib.sha256((tmp_path / "b.zip").read_bytes()).hexdigest() in done.stderr
    assert b"<html" in files["report.html"][:200].lower()
    assert all(check.holds is not False for check in checked(tmp_path / "b.zip").values())


def test_64_mib_are_the_most_that_is_compared_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "ours").write_bytes(b"a\nb")
    for size, told in ((64 << 20, "1 of 2 lines differ"), ((64 << 20) + 1, "differs from what")):
        bundle: Any = SimpleNamespace(size=lambda name, size=size: size, read=lambda name, most: b"a\nc")
        assert checks._difference(bundle, "table.csv", tmp_path / "ours").startswith(told)
