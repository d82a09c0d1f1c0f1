"""The spool: one transaction for a message and its claim, faults of the disk, other programs, other files."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway_bed import commits_are_noted, item
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.gateway import spool as module
from motecrypt.link.gateway.spool import Spool, SpoolReader, is_spool
from motecrypt.link.state import FileStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A record of before there was a spool."""
    path = tmp_path / "key.gateway"
    path.write_bytes(b"record 0")
    return path


@pytest.fixture
def spool(path: Path) -> Iterator[Spool]:
    with Spool(FileStore(path)) as opened:
        yield opened


def names(path: Path, after: int = 0, most: int = 1000) -> list[str]:
    """The items that wait."""
    reader = SpoolReader(path)
    try:
        return [each.name for each in reader.after(after, most)]
    finally:
        reader.close()


def test_a_record_becomes_a_spool_and_stays_what_it_was(path: Path) -> None:
    assert not is_spool(path)
    for _ in range(2):
        with Spool(FileStore(path)) as spool:
            assert spool.read() == b"record 0" and spool.path == path
    assert is_spool(path) and path.stat().st_mode & 0o777 == 0o600
    assert sorted(each.name for each in path.parent.iterdir()) == ["key.gateway", "key.gateway.lock"]


def test_where_there_is_no_record_the_spool_has_none(tmp_path: Path) -> None:
    assert not is_spool(tmp_path / "new")
    with Spool(FileStore(tmp_path / "new")) as spool:
        assert spool.read() is None
        spool.write(b"first")
        assert spool.read() == b"first"


def test_what_is_written_has_reached_the_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    levels = commits_are_noted(monkeypatch)
    Spool(FileStore(path)).close()
    assert levels == [("delete", 2), ("wal", 2)], "the new file, and the spool: each COMMIT syncs"


def test_items_and_record_are_kept_together_or_not_at_all(path: Path, spool: Spool) -> None:
    spool.register(["a"])
    spool.put([item(1), item(2)])
    assert names(path) == [] and spool.room == module.WAITING_MAX - 2 and spool.waiting == 0
    assert spool.waiting_of == {5: 2}
    spool.undo()
    assert spool.room == module.WAITING_MAX and spool.waiting_of == {}
    spool.write(b"record 1")
    assert names(path) == [] and spool.read() == b"record 1"
    spool.put([item(1)])
    spool.put([item(2)])
    spool.write(b"record 2")
    assert names(path) == ["5.1.0.1", "5.1.0.2"] and spool.waiting == 2
    spool.put([item(3)])
    spool.close()
    with Spool(FileStore(path), waiting_max=7) as again:
        assert again.read() == b"record 2" and names(path) == ["5.1.0.1", "5.1.0.2"]
        assert (again.waiting, again.room) == (2, 5)


def test_an_item_comes_out_as_it_went_in(path: Path, spool: Spool) -> None:
    spool.put([item(2**32 - 1, bytes(range(256)), node=62, generation=65535, epoch=2**32 - 1)])
    spool.write(b"r")
    reader = SpoolReader(path)
    (found,) = reader.after(0, 9)
    reader.close()
    assert found.name == "62.65535.4294967295.4294967295" and found.content == bytes(range(256))
    assert (found.kind, found.received_ms, found.length, found.seq) == ("message", 1_700_000_000_123, 256, 1)


def test_what_every_sink_has_is_forgotten_and_places_are_never_given_twice(path: Path, spool: Spool) -> None:
    assert spool.register(["a", "b"]) == {"a": 0, "b": 0}
    spool.put(item(number) for number in range(4))
    spool.write(b"r")
    assert spool.last() == 4 and names(path, 1, 2) == ["5.1.0.1", "5.1.0.2"]
    spool.mark("a", 3)
    spool.mark("b", 2)
    assert spool.waiting == 4
    spool.tidy()
    assert spool.waiting == 2 and names(path) == ["5.1.0.2", "5.1.0.3"]
    spool.mark("b", 4)
    spool.mark("a", 1)  # never back
    spool.write(b"r")  # which keeps marks, too
    assert spool.waiting == 1 and names(path) == ["5.1.0.3"]
    spool.mark("a", 4)
    spool.tidy()
    assert spool.waiting == 0 and spool.last() == 0
    spool.put([item(9)])
    spool.write(b"r")
    assert spool.last() == 5
    spool.close()
    with Spool(FileStore(path)) as again:
        assert again.register(["a", "c"]) == {"a": 4, "c": 0}
        again.mark("a", 5)
        again.tidy()
        assert again.waiting == 1, "one more sink has not had it"
        assert again.register(["a"]) == {"a": 5} and again.waiting == 0, "a sink that is gone holds nothing"


def test_what_waits_is_counted_of_each_node(path: Path, spool: Spool) -> None:
    spool.register(["a"])
    spool.put([item(1), item(2), item(1, node=7)])
    spool.write(b"r")
    spool.put([item(3)])
    assert spool.waiting_of == {5: 3, 7: 1}, "with those that are to be written"
    spool.mark("a", 1)
    spool.write(b"r")
    assert spool.waiting_of == {5: 2, 7: 1} and spool.waiting == 3
    spool.close()
    with Spool(FileStore(path)) as again:
        assert again.waiting_of == {5: 2, 7: 1}
        again.register(["a"])
        again.mark("a", 4)
        again.tidy()
        assert again.waiting_of == {} and again.waiting == 0


def test_nothing_is_written_where_nothing_is_marked(path: Path, spool: Spool) -> None:
    spool.register(["a"])
    with sqlite3.connect(path) as other:
        before = other.execute("PRAGMA data_version").fetchone()
        spool.tidy()
        assert other.execute("PRAGMA data_version").fetchone() == before
    other.close()


def test_a_full_disk_keeps_neither_message_nor_claim_and_later_both(path: Path, spool: Spool) -> None:
    spool.register(["a"])
    spool.write(b"before")
    (pages,) = spool._base.execute("PRAGMA page_count").fetchone()
    spool._base.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(MotecryptError, match=r"key\.gateway: cannot be written: database or disk is full"):
        spool.put([item(1, bytes(3000)), item(2, bytes(3000))])
        spool.write(b"after")
    assert spool.room == module.WAITING_MAX and spool.read() == b"before" and names(path) == []
    with pytest.raises(MotecryptError, match="full"):
        spool.write(bytes(100_000))
    assert spool.read() == b"before"
    spool._base.execute("PRAGMA max_page_count=1000")
    spool.put([item(1, bytes(3000))])
    spool.write(b"after")
    assert spool.read() == b"after" and names(path) == ["5.1.0.1"]


def test_another_program_that_holds_the_file_is_waited_for_shortly(
    path: Path, spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool.register(["a"])
    spool._base.execute("PRAGMA busy_timeout=20")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for act in (
        lambda: spool.put([item(1)]),
        lambda: spool.write(b"x"),
        lambda: spool.register(["b"]),
    ):
        with pytest.raises(MotecryptError, match="database is locked"):
            act()
    spool._done["a"] = 0
    spool.mark("a", 1)
    with pytest.raises(MotecryptError, match="database is locked"):
        spool.tidy()
    other.execute("ROLLBACK")
    other.execute("BEGIN")
    other.execute("SELECT * FROM items").fetchall()  # one that reads stops nobody
    spool.put([item(1)])
    spool.write(b"y")
    assert spool.read() == b"y" and spool.room == module.WAITING_MAX - 1
    other.close()


def test_a_torn_write_is_no_write(path: Path, spool: Spool, tmp_path: Path) -> None:
    """The end of the log, cut at any place, is what was written whole before."""
    spool.register(["a"])
    log = path.with_name("key.gateway-wal")
    spool.write(b"record 1")
    before = log.stat().st_size
    spool.put([item(7)])
    spool.write(b"record 2")
    whole = log.read_bytes()
    base = path.read_bytes()
    assert before < len(whole)
    for cut in [*range(before, len(whole), 1009), len(whole) - 1, len(whole)]:
        folder = tmp_path / f"cut{cut}"
        folder.mkdir()
        (folder / "key.gateway").write_bytes(base)
        (folder / "key.gateway-wal").write_bytes(whole[:cut])
        with Spool(FileStore(folder / "key.gateway")) as again:
            found = (again.read(), names(folder / "key.gateway"))
        assert found == ((b"record 2", ["5.1.0.7"]) if cut == len(whole) else (b"record 1", []))
        shutil.rmtree(folder)


@pytest.mark.parametrize("spoil", ["header", "middle", "short"])
def test_a_damaged_spool_is_one_line(path: Path, spoil: str) -> None:
    with Spool(FileStore(path)) as spool:
        spool.write(bytes(5000))
    content = bytearray(path.read_bytes())
    if spoil == "header":
        content[20:60] = bytes(40)
    elif spoil == "middle":
        content[100:4000] = b"\xaa" * 3900
    else:
        del content[600:]
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"key\.gateway: cannot be used: .*; restore a backup$"):
        Spool(FileStore(path))


@pytest.mark.parametrize(
    "change",
    [
        "PRAGMA application_id=7",
        "PRAGMA user_version=2",
        "CREATE TABLE other (x)",
        "CREATE TRIGGER t AFTER INSERT ON items BEGIN DELETE FROM items; END",
        "CREATE VIEW v AS SELECT * FROM items",
        "DROP TABLE sinks",
    ],
)
def test_what_is_not_our_spool_is_refused(path: Path, change: str) -> None:
    Spool(FileStore(path)).close()
    base = sqlite3.connect(path)
    base.execute(change)
    base.commit()
    base.close()
    with pytest.raises(InputError, match="not this version's spool of a gateway"):
        Spool(FileStore(path))


def test_a_second_gateway_on_one_spool_is_refused_in_one_line(path: Path, spool: Spool) -> None:
    with pytest.raises(InputError, match=r"another program is using it; stop that one first$"):
        Spool(FileStore(path))


def test_a_record_that_cannot_become_a_spool_stays_as_it_is(path: Path) -> None:
    (path.parent / "key.gateway.new").mkdir()
    (path.parent / "key.gateway.new" / "x").touch()
    with pytest.raises(InputError, match=r"key\.gateway: cannot be converted to a spool: "):
        Spool(FileStore(path))
    assert path.read_bytes() == b"record 0"


def test_half_a_conversion_is_begun_anew(path: Path) -> None:
    (path.parent / "key.gateway.new").write_bytes(b"SQLite format 3\0 and then the power went")
    with Spool(FileStore(path)) as spool:
        assert spool.read() == b"record 0"


def test_a_reader_writes_nothing(path: Path, spool: Spool) -> None:
    reader = SpoolReader(path)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader._base.execute("DELETE FROM items")
    reader.close()
