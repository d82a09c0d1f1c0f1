"""`reproduce --bundle` and `--verify`: what is packed, which changes are found, and what is refused."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sqlite3
import stat
import struct
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from command_line import ran
from motecrypt.app import bundle as app
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell, Implementation, Measurement
from motecrypt.present.bundle import (
    Bundle,
    BundleCheck,
    archive,
    checks,
    compare_measured,
    contents,
    pack,
    verify,
)
from motecrypt.present.bundle.archive import write
from motecrypt.results import Results
from motecrypt.results.findings import recorded
from motecrypt.studies import Needs
from report_data import fill

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ("rc4d", "rf")


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of made-up results."""
    folder = tmp_path_factory.mktemp("bundle")
    with Results(folder / "r.db") as results:
        fill(results, family="rc4d")
        pack(folder / "b.zip", results, STUDIES, "<html>report</html>")
    return folder / "b.zip"


def _checked(path: Path) -> dict[str, BundleCheck]:
    with Bundle(path) as bundle:
        return {check.what: check for check in verify(bundle)}


def _files(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def _zip(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return path


def _with(path: Path, packed: Path, changes: Mapping[str, bytes | None], listed: bool = True) -> Path:
    """The bundle with other files (None: without), in the manifest too where `listed`."""
    changed = {**_files(packed), **changes}
    files = {name: data for name, data in changed.items() if data is not None}
    if listed:
        manifest = json.loads(files["manifest.json"])
        manifest["files"] = {
            name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
            for name, data in files.items()
            if name != "manifest.json"
        }
        files["manifest.json"] = json.dumps(manifest).encode()
    return _zip(path, files)


def test_a_bundle_has_everything_and_verifies(packed: Path) -> None:
    assert {what: check.holds for what, check in _checked(packed).items()} == {
        **dict.fromkeys(("hashes", "inputs", *contents.DERIVED), True),
        "program": None,
    }
    files = _files(packed)
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
    first, second = _files(packed), _files(tmp_path / "again.zip")
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
    path = _with(tmp_path / "b.zip", packed, {name: b"changed"}, listed=False)
    with Bundle(path) as bundle:
        (hashes, *_) = verify(bundle)
    assert hashes.holds is False and hashes.told.endswith("has another hash")


@pytest.mark.parametrize("own", contents.DERIVED)
def test_a_changed_table_is_not_what_the_results_give_whatever_the_manifest_says(
    packed: Path, tmp_path: Path, own: str
) -> None:
    before = _files(packed)[own]
    data = before.replace(*((b",", b";") if own == contents.ELF else (b"1", b"2")), 1)
    found = _checked(_with(tmp_path / "b.zip", packed, {own: data}))
    assert [what for what, check in found.items() if check.holds is False] == [own]
    assert found[own].told.startswith("1 of ")
    if own == contents.ROWS:
        pairs = zip(json.loads(data), json.loads(before), strict=True)
        assert found[own].told.endswith(f"first {next(new['id'] for new, old in pairs if new != old)}")


def test_changed_results_give_other_tables(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "r.db").write_bytes(_files(packed)["results.db"])
    connection = sqlite3.connect(tmp_path / "r.db")
    connection.execute("UPDATE measurement SET cycles_median = cycles_median - 1 WHERE status = 'ok'")
    connection.commit()
    connection.close()
    path = _with(tmp_path / "b.zip", packed, {"results.db": (tmp_path / "r.db").read_bytes()})
    found = _checked(path)
    assert found["hashes"].holds is True and found["measurements.csv"].holds is False
    assert found["report-tables.html"].holds is False and found["elf.csv"].holds is True


def test_results_that_no_table_can_be_made_from_are_told(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as results:
        answers = recorded.read(recorded.file_of("pico"))
        results.store_recorded((answer.finding, answer.asked) for answer in answers)
        pack(tmp_path / "b.zip", results, ["pico"], "<html>report</html>")
    (tmp_path / "r.db").write_bytes(_files(tmp_path / "b.zip")["results.db"])
    connection = sqlite3.connect(tmp_path / "r.db")
    connection.execute(
        "UPDATE finding SET outcome = json_set(outcome, '$.clock_hz', 0) WHERE kind = 'pico-file'"
    )
    connection.commit()
    connection.close()
    path = _with(tmp_path / "c.zip", tmp_path / "b.zip", {"results.db": (tmp_path / "r.db").read_bytes()})
    *_, last = _checked(path).values()
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
    manifest = {**json.loads(_files(packed)["manifest.json"]), **change}
    path = _with(tmp_path / "b.zip", packed, {"manifest.json": json.dumps(manifest).encode()}, listed=False)
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
    found = _checked(_with(tmp_path / "less.zip", packed, less, listed=False))
    assert found["hashes"].told == "report.html is missing; rows.csv is missing"
    assert (found["rows.csv"].holds, found["rows.csv"].told) == (False, "is not in the bundle")
    unlisted = _with(tmp_path / "unlisted.zip", packed, {"report.html": None})
    more = _with(tmp_path / "more.zip", packed, {"inputs/more": b"x"}, listed=False)
    for path, told in ((unlisted, "report.html is not listed"), (more, "inputs/more is not listed")):
        with Bundle(path) as bundle:
            hashes = next(verify(bundle))
        assert (hashes.holds, hashes.told) == (False, told)


def test_other_inputs_are_a_fault_where_the_program_is_the_same(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"inputs/published/rc4d_uno.csv": b"row\n", "inputs/mine.toml": b""}
    path = _with(tmp_path / "b.zip", packed, changes)
    found = _checked(path)
    assert found["inputs"] == BundleCheck(
        "inputs",
        False,
        "inputs/mine.toml: this program has none; inputs/published/rc4d_uno.csv: differs from this program's",
    )
    assert "these very files" in found["program"].told
    monkeypatch.setattr(contents, "program_sha256", lambda: "another")
    found = _checked(path)
    assert found["inputs"].holds is None and "with other files than this" in found["program"].told


# --- what is refused ---------------------------------------------------------------------------------


def _entry(path: Path, name: str, mode: int = stat.S_IFREG | 0o644, data: bytes = b"x") -> Path:
    info = zipfile.ZipInfo("x" * len(name))
    info.external_attr = mode << 16
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(info, data)
    path.write_bytes(path.read_bytes().replace(b"x" * len(name), name.encode()))
    return path


def _changed(path: Path, at: bytes, offset: int, value: bytes) -> Path:
    """A zip file of one small file, with other bytes somewhere after each signature `at`."""
    data = bytearray(_zip(path, {"a": b"some text" * 10}).read_bytes())
    start = data.find(at) + offset
    data[start : start + len(value)] = value
    path.write_bytes(data)
    return path


LOCAL, CENTRAL = b"PK\3\4", b"PK\1\2"


def _twice(path: Path) -> Path:
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "w") as made:
        made.writestr("a", b"1")
        made.writestr("a", b"2")
    return path


def _wide(path: Path) -> Path:
    _zip(path, {"a": b"x"})
    data = path.read_bytes()
    path.write_bytes(data[:-22] + struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1) + data[-22:])
    return path


def _commented(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("a", b"x")
        made.comment = b"hello"
    return path


def _lying(path: Path) -> Path:
    """A file of a megabyte that both headers announce as ten bytes."""
    data = bytearray(_zip(path, {"a": b"text" * 250_000}).read_bytes())
    for signature, at in ((LOCAL, 22), (CENTRAL, 24)):
        start = data.find(signature) + at
        data[start : start + 4] = struct.pack("<L", 10)
    path.write_bytes(data)
    return path


HOSTILE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "parent": (lambda p: _entry(p, "../../evil"), "a file has the name '../../evil'"),
    "inner parent": (lambda p: _entry(p, "inputs/../x"), "has the name"),
    "root": (lambda p: _entry(p, "/etc/passwd"), "has the name '/etc/passwd'"),
    "drive": (lambda p: _entry(p, "C:evil"), "has the name"),
    "backslash": (lambda p: _entry(p, "..\\evil"), "has the name"),
    "hidden": (lambda p: _entry(p, ".bashrc"), "has the name"),
    "zero byte": (lambda p: _entry(p, "a\0b"), "has the name"),
    "newline": (lambda p: _entry(p, "a\nb"), "has the name"),
    "long": (lambda p: _entry(p, "a" * 101), "has the name"),
    "deep": (lambda p: _entry(p, "a/b/c/d"), "has the name"),
    "folder": (lambda p: _entry(p, "inputs/"), "has the name"),
    "link": (lambda p: _entry(p, "a", stat.S_IFLNK | 0o777, b"/etc/passwd"), "not a regular file"),
    "device": (lambda p: _entry(p, "a", stat.S_IFCHR | 0o666), "not a regular file"),
    "twice": (_twice, "'a' is there twice"),
    "encrypted": (lambda p: _changed(p, CENTRAL, 8, b"\1\0"), "is encrypted, or packed"),
    "method": (lambda p: _changed(p, CENTRAL, 10, b"\x0c\0"), "another method"),
    "bomb": (lambda p: _zip(p, {"a": bytes(50 << 20)}), "expands to more than 200 times"),
    "lying": (_lying, "a is damaged"),
    "damaged": (lambda p: _changed(p, LOCAL, 34, b"\xff\xff\xff"), "a is damaged"),
    "other name": (lambda p: _changed(p, LOCAL, 30, b"b"), "a is damaged"),
    "many": (lambda p: _zip(p, {f"f{n}": b"" for n in range(201)}), "more than 200 files"),
    "64-bit": (_wide, "a 64-bit directory"),
    "comment": (_commented, "without a comment"),
    "text": (lambda p: (p.write_text("hello") and p) or p, "does not end as a zip file"),
    "empty": (lambda p: (p.write_bytes(b"") and p) or p, "does not end as a zip file"),
    "directory": (lambda p: _changed(p, b"PK\5\6", 16, b"\xff\xff\0\0"), "not a bundle"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_archive_is_one_line(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make, complaint = HOSTILE[kind]
    path = make(tmp_path / "b.zip")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refused, Bundle(path) as bundle:
        for name in bundle.names:
            bundle.read(name, 1 << 30)
    assert complaint in str(refused.value) and "\n" not in str(refused.value)
    assert str(path) in str(refused.value)
    assert os.listdir(tmp_path) == ["b.zip"]  # noqa: PTH208


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_bundle_is_read_or_refused(packed: Path, tmp_path: Path, seed: int) -> None:
    """Bytes of its directory and of its files changed or cut: nothing but the complaint of a bundle."""
    whole, draw = packed.read_bytes(), random.Random(seed)
    directory = struct.unpack("<L", whole[-6:-2])[0]
    refused = 0
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(draw.choice((1, 1, 2, 5))):
            at = draw.randrange(directory if draw.random() < 0.7 else 0, len(data))
            if draw.random() < 0.2:
                del data[at : at + draw.randrange(1, 40)]
            else:
                data[at : at + 4] = draw.choice((bytes(4), b"\xff" * 4, draw.randbytes(1), draw.randbytes(4)))
        (tmp_path / "b.zip").write_bytes(data)
        try:
            with warnings.catch_warnings(action="ignore"), Bundle(tmp_path / "b.zip") as bundle:
                for name in bundle.names:
                    bundle.hash(name)
        except InputError:
            refused += 1
    assert refused > 20


def test_all_files_together_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "BYTES_MAX", 100)
    assert Bundle(_zip(tmp_path / "a.zip", {"a": bytes(50), "b": bytes(50)})).size("a") == 50
    with pytest.raises(InputError, match="expands to 101 bytes; 100 are the most"):
        Bundle(_zip(tmp_path / "b.zip", {"a": bytes(50), "b": bytes(51)}))


def test_a_file_is_read_up_to_a_limit(tmp_path: Path) -> None:
    with Bundle(_zip(tmp_path / "a.zip", {"a": bytes(50)})) as bundle:
        assert bundle.read("a", 50) == bytes(50)
        with pytest.raises(InputError, match="a has more than 49 bytes"):
            bundle.read("a", 49)
        with pytest.raises(InputError, match="b is missing"):
            bundle.read("b", 49)


MANIFESTS: dict[str, Any] = {
    "no JSON": b"{",
    "a list": b"[]",
    "no bytes of text": b"\xff",
    "deep": b"[" * 200_000,
    "long": b" " * ((1 << 20) + 1),
    "newer": {"format": 2},
    "no format": {"format": "1"},
    "another study": {"studies": ["mine"]},
    "a path": {"studies": ["/tmp/evil"]},
    "a study twice": {"studies": ["rc4d", "rc4d"]},
    "no hash": {"files": {"a": {"sha256": "x"}}},
    "files of text": {"files": "all"},
    "no versions": {"versions": None},
}


@pytest.mark.parametrize("kind", MANIFESTS)
def test_a_manifest_of_any_shape_is_one_line(packed: Path, tmp_path: Path, kind: str) -> None:
    change = MANIFESTS[kind]
    if not isinstance(change, bytes):
        change = json.dumps(json.loads(_files(packed)["manifest.json"]) | change).encode()
    path = _with(tmp_path / "b.zip", packed, {"manifest.json": change}, listed=False)
    with pytest.raises(InputError) as refused, Bundle(path) as bundle:
        checks.read_manifest(bundle)
    expected = {"newer": "newer motecrypt", "long": "manifest.json"}.get(kind, "not as motecrypt writes it")
    assert expected in str(refused.value) or kind == "long"


def test_results_that_are_none_are_one_line(packed: Path, tmp_path: Path) -> None:
    path = _with(tmp_path / "b.zip", packed, {"results.db": b"not a database" * 100})
    with pytest.raises(InputError, match=r"results\.db"):
        _checked(path)


def test_nothing_is_packed_of_nothing_or_of_a_users_own_study(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as results:
        with pytest.raises(InputError, match="nothing is stored"):
            pack(tmp_path / "b.zip", results, STUDIES, "")
        with pytest.raises(InputError, match=r"'\./mine' is not among them"):
            pack(tmp_path / "b.zip", results, ["./mine"], "")
    assert not (tmp_path / "b.zip").exists()


def test_what_would_be_refused_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "zeros").write_bytes(bytes(50 << 20))
    with pytest.raises(InputError, match="expands to more than"):
        write(tmp_path / "b.zip", {"a": tmp_path / "zeros"})
    with pytest.raises(InputError, match="has the name"):
        write(tmp_path / "b.zip", {"../a": tmp_path / "zeros"})
    assert [path.name for path in tmp_path.iterdir()] == ["zeros"]


def test_no_cell_of_the_hashes_begins_like_a_formula(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as results:
        results.store({"0": _measured(_cell(16), compiler="=HYPERLINK(1)", flags="-Os")})
        contents.derive(results, ["rf"], tmp_path)
    assert "'-Os,,'=HYPERLINK(1),ab" in (tmp_path / contents.ELF).read_text().splitlines()[1]


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
    done = ran("reproduce", "--verify", _with(tmp_path / "b.zip", packed, {"rows.csv": b"x"}))
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
    files = _files(tmp_path / "b.zip")
    assert json.loads(files["rows.json"]) == json.loads(done.stdout)
    assert hashlib.sha256((tmp_path / "b.zip").read_bytes()).hexdigest() in done.stderr
    assert b"<html" in files["report.html"][:200].lower()
    assert all(check.holds is not False for check in _checked(tmp_path / "b.zip").values())


def test_an_expansion_of_200_times_is_the_most(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("a")
    info.compress_size = archive._SMALL
    reader = SimpleNamespace(entries={}, refused=InputError)
    for more in (0, 1):
        info.file_size = archive.EXPANSION_MAX * info.compress_size + more
        with pytest.raises(InputError, match="expands") if more else nullcontext():
            archive._Reader._check(cast(Any, reader), info)


def test_64_mib_are_the_most_that_is_compared_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "ours").write_bytes(b"a\nb")
    for size, told in ((64 << 20, "1 of 2 lines differ"), ((64 << 20) + 1, "differs from what")):
        bundle: Any = SimpleNamespace(size=lambda name, size=size: size, read=lambda name, most: b"a\nc")
        assert checks._difference(bundle, "table.csv", tmp_path / "ours").startswith(told)
