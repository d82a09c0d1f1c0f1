"""Files that others may have made: for any content, a reader ends, with one line that names the file.

What is written into the files is drawn by Hypothesis from a fixed seed; pipes and devices are given where
files are expected.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_text import measurement

from motecrypt.air.radios.catalog import read_radio
from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.frames import ProtocolError
from motecrypt.catalog import DATA, FIRMWARE, Catalog
from motecrypt.catalog.ciphers import read_cipher_folder
from motecrypt.catalog.devices import read_device
from motecrypt.catalog.libraries import read_library_folder
from motecrypt.catalog.oracles import vectors
from motecrypt.catalog.processors import processors
from motecrypt.link import read_hex_key, read_key_file
from motecrypt.link.files import container, crypt_and_hash
from motecrypt.link.files.secrets import compatible_key_file
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.keys import link_end, read_master_file
from motecrypt.link.node import HostNode
from motecrypt.link.state import FileStore, MemoryStore, pack, unpack
from motecrypt.results import Results, store
from motecrypt.results.rows import COLUMNS
from motecrypt.simulate import file_node as node
from motecrypt.simulate.emulate.images import ARM, AVR, Segment, elf_of, intel_hex, read_image, uf2
from motecrypt.simulate.emulate.symbols import read_symbols
from motecrypt.simulate.file_node import FileNode

ROOT = Path(__file__).resolve().parents[2]
fuzzed = settings(derandomize=True, max_examples=120, deadline=None, database=None)


@pytest.fixture(autouse=True)
def no_wait() -> Iterator[None]:
    """A reader that waits for a pipe or reads a device without end is stopped, and has failed."""

    def stop(number: int, frame: object) -> None:
        raise AssertionError("a reader waits, or reads without end")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(240)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def _vectors(path: Path) -> object:
    cipher = Catalog.load().cipher("rc4d")
    folder = path.with_name("cipher")
    (folder / "vectors").mkdir(parents=True, exist_ok=True)
    there = folder / "vectors" / "v.json"
    there.unlink(missing_ok=True)
    there.symlink_to(path)
    return list(vectors(type(cipher)(**{**vars(cipher), "folder": folder})))


def _state(path: Path) -> object:
    kept = FileStore(path)
    try:
        return HostNode(kept)
    finally:
        kept.close()


def _image(path: Path) -> object:
    return [read_image(path, Catalog.load().device(name)) for name in ("uno", "pico")]


def _modern(path: Path) -> object:
    secret = container.Secret(key=bytes(32))
    return container.decrypt_file(path, path.with_name("plain"), secret, force=True)


def _published(path: Path) -> object:
    return crypt_and_hash.decrypt_file(path, path.with_name("plain"), b"k", force=True)


def _results(path: Path) -> object:
    with Results(path) as results:
        return results.measurements(), results.newest_measurements(), results.experiment_counts()


READERS: dict[str, Callable[[Path], object]] = {
    "descriptor": Table.read,
    "radio": read_radio,
    "processors": processors,
    "vectors": _vectors,
    "state": _state,
    "firmware": _image,
    "symbols": lambda path: read_symbols(path, "c++filt"),
    "key": read_key_file,
    "hex key": read_hex_key,
    "link key": link_end,
    "master key": read_master_file,
    "published key": compatible_key_file,
    "container": _modern,
    "published container": _published,
    "results": _results,
}


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


NO_FILES: dict[str, Callable[[Path], Path]] = {
    "a pipe": _pipe,
    "an endless device": lambda folder: Path("/dev/zero"),
    "a folder": lambda folder: folder,
}


@pytest.mark.parametrize("what", NO_FILES)
@pytest.mark.parametrize("reader", [name for name in READERS if name not in ("state",)])
def test_what_is_no_file_is_not_waited_for(reader: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(MotecryptError):
        READERS[reader](NO_FILES[what](tmp_path) if reader != "vectors" else _pipe(tmp_path))


def test_a_state_file_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a regular file"):
        _state(_pipe(tmp_path))


def ends_well(reader: Callable[[Path], object], path: Path) -> str:
    """What the reader says, "" if it takes the file; anything but an error of ours is a failure."""
    try:
        reader(path)
    except MotecryptError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("reader", READERS)
def test_any_bytes_end_in_one_line(reader: str, tmp_path: Path) -> None:
    starts = st.sampled_from(
        [b"", b"\x7fELF\x01\x01\x01", b":", b"UF2\n", b"motefile\x01", b"SQLite format 3\0", b"{", b"[" * 40]
    )

    @fuzzed
    @given(starts, st.binary(max_size=600))
    def attempt(start: bytes, rest: bytes) -> None:
        path = tmp_path / "file"
        path.write_bytes(start + rest)
        path.chmod(0o600)
        ends_well(READERS[reader], path)

    attempt()


# --- TOML ----------------------------------------------------------------------------------------------

HOSTILE_VALUES = (
    *("9" * 5000, "0x" + "f" * 5000, "inf", "-inf", "nan", "1e999", "-1", "0", "true", '""', '"\\u001b[2J"'),
    *("[" * 3000 + "]" * 3000, "{a = " * 900 + "1" + "}" * 900, "[]", "{}", "[1, 'a']", "1979-05-27", "0.5"),
    *(
        "'../../etc/passwd'",
        "'/dev/zero'",
        "[[]]",
        "[{}]",
        "'%n%s'",
        "[inf]",
        "{x = nan}",
        "['']",
        "9007199254740993",
    ),
)


@pytest.mark.parametrize(
    "value", [v for v in HOSTILE_VALUES if len(v) > 1000 or "inf" in v or "nan" in v or "e9" in v]
)
def test_numbers_that_are_none_and_deep_nesting_are_refused_by_every_toml_reader(
    value: str, tmp_path: Path
) -> None:
    path = tmp_path / "file.toml"
    path.write_text(f"key = {value}\n")
    for reader in (Table.read, read_radio, processors):
        with pytest.raises(InputError, match=r"file\.toml"):
            reader(path)


def _descriptors() -> dict[str, tuple[Path, Callable[[Path], object]]]:
    ciphers = Catalog.load().ciphers
    cores = {device.core for device in Catalog.load().devices.values()}
    return {
        "cipher": (
            FIRMWARE / "ciphers" / "rc4" / "cipher.toml",
            lambda p: read_cipher_folder(p.parent, cores),
        ),
        "device": (FIRMWARE / "devices" / "uno" / "device.toml", lambda p: read_device(p.parent)),
        "library": (
            next(iter(sorted((FIRMWARE / "libraries").glob("*/library.toml")))),
            lambda p: read_library_folder(p.parent, ciphers, cores),
        ),
        "radio": (next(iter(sorted((DATA / "radios").glob("*.toml")))), read_radio),
        "processors": (DATA / "processors.toml", processors),
    }


@pytest.mark.parametrize("kind", ["cipher", "device", "library", "radio", "processors"])
def test_a_descriptor_with_one_wrong_value_ends_in_one_line(kind: str, tmp_path: Path) -> None:
    source, reader = _descriptors()[kind]
    lines = source.read_text().splitlines()
    places = [i for i, line in enumerate(lines) if " = " in line and not line.startswith("#")]

    @settings(fuzzed, max_examples=250)
    @given(st.sampled_from(places), st.sampled_from(HOSTILE_VALUES))
    def attempt(place: int, value: str) -> None:
        changed = [*lines]
        changed[place] = f"{changed[place].partition(' = ')[0]} = {value}"
        path = tmp_path / source.name
        path.write_text("\n".join(changed))
        said = ends_well(reader, path)
        assert "\n" not in said

    attempt()


# --- vectors -------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=8), part, max_size=3),
    max_leaves=8,
)


@fuzzed
@given(JSON, st.sampled_from(["cipher", "vectors", "key", "message", "nonce", "valid"]))
def test_vectors_of_any_shape_end_in_one_line(value: Any, name: str) -> None:
    entry = {"key": "00" * 16, "message": "00", "ciphertext": "00", name: value}
    group = {"cipher": "rc4d", "vectors": [entry], **({name: value} if name in ("cipher", "vectors") else {})}
    for document in (value, [value], group, [group]):
        path = Path(os.environ["PYTEST_CURRENT_FOLDER"]) / "v.json"
        path.write_text(json.dumps(document))
        ends_well(_vectors, path)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_CURRENT_FOLDER", str(tmp_path))


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 5000, '{"cipher": ' * 50_000])
def test_json_without_end_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "v.json").write_text(text)
    with pytest.raises(InputError, match="not valid JSON"):
        _vectors(tmp_path / "v.json")


# --- firmware ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("firmware")
    (folder / "a.c").write_text(
        "static inline int f(int x) { return x * 3; } int g(int x) { return f(x) + 1; }\n"
    )
    subprocess.run(["cc", "-g", "-O1", "-c", "a.c", "-o", "a.o"], cwd=folder, check=True, timeout=120)
    parts = [Segment(0, bytes(range(200))), Segment(0x100, b"x" * 40)]
    return {
        "avr": elf_of(parts, AVR, 0),
        "arm": elf_of([Segment(0x10000000, bytes(300))], ARM, 0x10000100),
        "uf2": uf2([Segment(0x10000000, bytes(300))]),
        "hex": intel_hex(parts).encode(),
        "object": (folder / "a.o").read_bytes(),
    }


@pytest.mark.parametrize("kind", ["avr", "arm", "uf2", "hex", "object"])
def test_damaged_firmware_ends_in_one_line(kind: str, firmware: dict[str, bytes], tmp_path: Path) -> None:
    whole = firmware[kind]
    change = st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255))

    @fuzzed
    @given(st.lists(change, min_size=1, max_size=8), st.integers(0, len(whole)))
    def attempt(changes: list[tuple[int, int]], cut: int) -> None:
        data = bytearray(whole)
        for place, value in changes:
            data[place] = value
        path = tmp_path / "firmware"
        path.write_bytes(data if cut % 2 else data[:cut])
        ends_well(_image, path)
        ends_well(READERS["symbols"], path)

    attempt()


# --- records of the link -------------------------------------------------------------------------------


@fuzzed
@given(st.sampled_from(["suite", "storage", "nodes", "master", "motecrypt", "version"]), JSON)
def test_a_record_of_any_content_ends_in_one_line(name: str, value: Any) -> None:
    content = {"suite": "aes128-ccm", "storage": "00" * 188, "nodes": {}, "master": "", name: value}
    for kind, reader in (("node", HostNode), ("gateway", lambda kept: Gateway(kept, bytes(16)))):
        with pytest.raises(InputError) as caught:
            reader(MemoryStore(pack(kind, content)))
        assert "\n" not in str(caught.value)


@fuzzed
@given(st.integers(0, 62), st.lists(JSON, max_size=4))
def test_a_gateways_record_of_any_node_ends_in_one_line(node: int, figures: list[Any]) -> None:
    store = MemoryStore()
    Gateway(store, bytes(16)).provision(5)
    content = unpack("gateway", store.record or b"")
    content["nodes"][str(node)] = figures
    try:
        Gateway(MemoryStore(pack("gateway", content)), bytes(16))
    except InputError as error:
        assert "\n" not in str(error)


# --- a board's answers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [b"", b"\x00", b"\x00\x00\x00"])
def test_a_board_that_answers_too_little_is_told_so(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FileNode, "_ask", lambda self, kind, payload, expected: answer)
    board = FileNode.__new__(FileNode)
    for ask in (board.mount, lambda: board.read("a"), lambda: board.job("published", "a", "b", b"k")):
        with pytest.raises(ProtocolError, match=rf"an answer of {len(answer)} bytes"):
            ask()


def test_a_board_that_never_ends_a_file_is_not_listened_to_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FileNode, "_ask", lambda self, kind, payload, expected: bytes(4 + node.PIECE_BYTES))
    monkeypatch.setattr(node, "FILE_BYTES_MAX", 10 * node.PIECE_BYTES)
    with pytest.raises(ProtocolError, match="continues after"):
        FileNode.__new__(FileNode).read("a")


# --- results -------------------------------------------------------------------------------------------


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "results.db"
    with Results(path) as results:
        results.store({"a": measurement(cycles_median=5, time_us=1.5)})
        results.store_experiment("kind", 1, {"a": 1}, {"b": 2})
    return path


def changed(path: Path, *statements: str, values: tuple[object, ...] = ()) -> None:
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement, values)
    connection.close()


NUMBERS = [
    c for c in COLUMNS if c.endswith(("_bytes", "_min", "_median", "_max", "_bits", "_us")) or c == "inputs"
]


@pytest.mark.parametrize("value", ["abc", b"\x00\xff", 9e999])
@pytest.mark.parametrize("column", [*NUMBERS, "timing_varies", "cycles_exact"])
def test_no_number_in_a_column_of_numbers_is_refused(column: str, value: object, db: Path) -> None:
    changed(db, f"UPDATE measurement SET {column} = ?", values=(value,))
    with pytest.raises(InputError, match=rf"damaged: {column} of a measurement is .*expected"):
        _results(db)


@pytest.mark.parametrize("column", ["device", "reason", "measured_at", "flags"])
def test_bytes_in_a_column_of_text_are_refused(column: str, db: Path) -> None:
    changed(db, f"UPDATE measurement SET {column} = ?", values=(b"\xff\x00",))
    with pytest.raises(InputError, match=f"{column} of a measurement is"):
        _results(db)


NO_OBJECTS = [
    "",
    "{",
    "[]",
    "1",
    "null",
    '{"a": NaN}',
    '{"a": Infinity}',
    '{"a": ' * 100_000,
    '{"a": ' + "9" * 5000 + "}",
    '{"a": ' + "9" * 400 + "}",
    '{"a": -1e999}',
    r'{"a": "\ud800"}',
]


@pytest.mark.parametrize("text", NO_OBJECTS, ids=lambda text: text[:12])
def test_what_is_no_json_object_is_refused(text: str, db: Path) -> None:
    changed(db, "UPDATE experiment SET outcome = ?", values=(text,))
    with Results(db) as results:
        for read in (lambda: results.experiments("kind"), lambda: results.experiment("kind", 1, {"a": 1})):
            with pytest.raises(InputError, match=r"outcome of an experiment is .*expected a JSON object"):
                read()
    changed(db, "UPDATE measurement SET extra = ?", values=(text,))
    with pytest.raises(InputError, match="extra of a measurement is"):
        _results(db)


ENDLESS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT"


def test_views_triggers_and_other_tables_are_refused(db: Path, tmp_path: Path) -> None:
    columns = ", ".join(f"x AS {c}" for c in ("key", *COLUMNS))
    cases = {
        "view": [
            "ALTER TABLE measurement RENAME TO old",
            f"CREATE VIEW measurement AS {ENDLESS} {columns} FROM r",
        ],
        "trigger": ["CREATE TRIGGER t AFTER INSERT ON measurement BEGIN DELETE FROM experiment; END"],
        "not as motecrypt makes it": ["DROP TABLE experiment", "CREATE TABLE experiment (kind TEXT)"],
    }
    for number, (said, statements) in enumerate(cases.items()):
        path = tmp_path / f"{number}.db"
        path.write_bytes(db.read_bytes())
        changed(path, *statements)
        with pytest.raises(InputError, match=said):
            _results(path)


def test_a_statement_without_end_is_ended(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Results(db) as results:
        monkeypatch.setattr(store, "_STATEMENT_S", 0.05)
        with pytest.raises(InputError, match="took too long"):
            results._read(f"{ENDLESS} count(*) FROM r")
        assert results.measurement("a") is not None, "the next statement has its own time"
