"""What the files of each node have and may have in a folder: bytes, crashes, files that go, two protocols."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link import file_parts, stored_files
from motecrypt.link.file_parts import FileCollector, FileReceived
from motecrypt.link.file_parts import file_parts as parts_of
from motecrypt.link.gateway.protocols.tftp.node_files import FolderInlet
from motecrypt.link.stored_files import BLOCK, LIST, LOOK_S, NodeFiles, ShareUsed, part_name, tftp_name
from motecrypt.link.tftp.packets import TftpCode, TftpError

SHARE = 10 * BLOCK


class Clock:
    """Seconds that the test sets."""

    now_s = 5.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def stored(tmp_path: Path, clock: Clock) -> NodeFiles:
    return NodeFiles(tmp_path, lambda: SHARE, clock)


def send(collector: FileCollector, node: int, name: str, content: bytes) -> FileReceived:
    """A whole file of a node."""
    *parts, end = parts_of(name, content, 2000)
    for part in parts:
        assert collector.take(node, part) is None
    received = collector.take(node, end)
    assert received is not None
    return received


def shown(folder: Path) -> list[str]:
    """The files that are not hidden."""
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_a_node_has_its_share_of_bytes_and_another_one_its_own(tmp_path: Path, stored: NodeFiles) -> None:
    collector = FileCollector(tmp_path, stored=stored)
    for number in range(3):
        send(collector, 5, f"{number}.log", bytes(3 * BLOCK))
    assert stored.used(5) == 9 * BLOCK
    why = (
        rf"^node 5: has files of 36,864 bytes in {tmp_path}; 8,192 more would exceed its share of "
        r"--output-mb, 40,960 bytes; move files away or raise it$"
    )
    with pytest.raises(ShareUsed, match=why):
        send(collector, 5, "3.log", bytes(BLOCK + 1))
    assert not (tmp_path / part_name(5)).exists(), "refused before anything is kept"
    send(collector, 5, "4.log", bytes(BLOCK))
    with pytest.raises(ShareUsed):
        send(collector, 5, "none", b"")
    send(collector, 6, "0.log", bytes(SHARE))
    assert shown(tmp_path) == ["0-2.log", "0.log", "1.log", "2.log", "4.log"]
    assert (stored.used(5), stored.used(6), stored.used(7)) == (SHARE, SHARE, 0)


def test_empty_files_count_too(tmp_path: Path, stored: NodeFiles) -> None:
    """Else a node could take every name and every inode."""
    collector = FileCollector(tmp_path, stored=stored)
    for _ in range(10):
        send(collector, 5, "x", b"")
    with pytest.raises(ShareUsed):
        send(collector, 5, "x", b"")
    assert len(shown(tmp_path)) == 10


def test_a_long_announcement_takes_no_room_and_pieces_go_no_further_than_the_share(
    tmp_path: Path, stored: NodeFiles
) -> None:
    collector = FileCollector(tmp_path, stored=stored)
    announcement, *_ = parts_of("big", bytes(SHARE + 1), 2000)
    with pytest.raises(ShareUsed):
        collector.take(5, announcement)
    parts = list(parts_of("big", bytes(SHARE), 2000))
    for part in parts[:5]:
        collector.take(5, part)
    inlet = FolderInlet(tmp_path, 5, "other", lambda path, length: None, stored)
    inlet.write(0, bytes(SHARE - 2 * BLOCK), False)
    with pytest.raises(TftpError, match=r"^more than the share of this node$") as raised:
        inlet.write(SHARE - 2 * BLOCK, bytes(1), True)
    assert raised.value.code is TftpCode.DISK_FULL and isinstance(raised.value.__cause__, ShareUsed)
    taken = 5
    with pytest.raises(ShareUsed):
        while taken < len(parts):
            collector.take(5, parts[taken])
            taken += 1
    assert taken < 10, "both together have no more than the share"
    inlet.close(TftpError(0, "it is over"))
    for part in parts[taken:]:
        collector.take(5, part)
    assert shown(tmp_path) == ["big"] and stored.used(5) == SHARE


def test_what_a_node_puts_by_tftp_is_of_the_same_share(tmp_path: Path, stored: NodeFiles) -> None:
    def put(name: str, length: int) -> None:
        inlet = FolderInlet(tmp_path, 5, name, lambda path, length: None, stored)
        try:
            inlet.write(0, bytes(length), True)
        finally:
            inlet.close(None)

    put("a", SHARE - BLOCK)
    collector = FileCollector(tmp_path, stored=stored)
    with pytest.raises(ShareUsed):
        send(collector, 5, "b", bytes(BLOCK + 1))
    put("b", BLOCK)
    with pytest.raises(TftpError, match="share"):
        put("c", 1)
    assert shown(tmp_path) == ["a", "b"] and not (tmp_path / tftp_name(5)).exists()


def test_files_that_go_give_their_room_back(tmp_path: Path, stored: NodeFiles, clock: Clock) -> None:
    collector = FileCollector(tmp_path, stored=stored)
    for name in ("a", "b", "c", "d"):
        send(collector, 5, name, bytes(2 * BLOCK))
    with pytest.raises(ShareUsed):
        send(collector, 5, "e", bytes(3 * BLOCK))
    (tmp_path / "a").unlink()
    (tmp_path / "b").write_bytes(b"another file of that name")
    (tmp_path / "c").unlink()
    (tmp_path / "c").symlink_to(tmp_path / "d")
    clock.now_s += LOOK_S - 0.1
    with pytest.raises(ShareUsed):
        send(collector, 5, "e", bytes(3 * BLOCK))
    clock.now_s += 0.1
    send(collector, 5, "e", bytes(8 * BLOCK))
    assert stored.used(5) == SHARE


def test_a_share_that_shrinks_refuses_and_removes_nothing(tmp_path: Path) -> None:
    shares = [SHARE]
    stored = NodeFiles(tmp_path, lambda: shares[0])
    collector = FileCollector(tmp_path, stored=stored)
    send(collector, 5, "a", bytes(5 * BLOCK))
    shares[0] = 2 * BLOCK
    with pytest.raises(ShareUsed):
        send(collector, 5, "b", b"x")
    assert shown(tmp_path) == ["a"]


def test_a_start_knows_whose_each_file_is(tmp_path: Path, stored: NodeFiles) -> None:
    collector = FileCollector(tmp_path, stored=stored)
    for node, name in ((5, "a"), (5, "b"), (6, "c"), (5, "ä \u202e")):
        send(collector, node, name, bytes(2 * BLOCK))
    (tmp_path / "b").unlink()
    stored.close()
    assert (tmp_path / LIST).stat().st_mode & 0o777 == 0o600
    for _ in range(2):
        again = NodeFiles(tmp_path, lambda: SHARE)
        assert (again.used(5), again.used(6)) == (4 * BLOCK, 2 * BLOCK)
        again.close()
    assert len((tmp_path / LIST).read_bytes().splitlines()) == 3, "without what is gone"


def test_a_line_that_is_none_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(5))
    whole = json.dumps([5, "a", 5]).encode() + b"\n"
    odd = b'\n[5, "a"]\n{}\n7\n["5", "a", 5]\n[5, 5, 5]\n[5, "a", "5"]\n\xff\n[5, "no", 5]\n[5, "a'
    (tmp_path / LIST).write_bytes(whole + odd)
    stored = NodeFiles(tmp_path, lambda: SHARE)
    assert stored.used(5) == BLOCK and (tmp_path / LIST).read_bytes() == whole
    stored.close()


def test_a_line_that_a_full_disk_cuts_off_takes_no_other_one_with_it(
    tmp_path: Path, stored: NodeFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, left = os.write, [3, 0]

    def short(handle: int, data: bytes) -> int:
        if not left:
            return write(handle, data[:5])  # and no more than five bytes each time
        if (room := left.pop(0)) == 0:
            raise OSError(28, "No space left on device")
        return write(handle, data[:room])

    monkeypatch.setattr(stored_files.os, "write", short)
    with pytest.raises(OSError, match="No space"):
        stored.note(5, "a", 2)
    stored.note(5, "b", BLOCK)
    monkeypatch.undo()
    (tmp_path / "b").write_bytes(bytes(BLOCK))
    again = NodeFiles(tmp_path, lambda: SHARE)
    again.check(5, SHARE - BLOCK, "")
    with pytest.raises(ShareUsed):
        again.check(5, SHARE - BLOCK + 1, "")


def test_a_list_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / LIST).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"\.motecrypt-files: .*; it lists whose the files of nodes are$"):
        NodeFiles(tmp_path, lambda: SHARE)


@pytest.mark.parametrize("moment", ["before the line", "after the line", "after the name"])
def test_killed_at_any_moment_each_file_counts_for_its_node_once(
    tmp_path: Path, stored: NodeFiles, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    collector = FileCollector(tmp_path, keeping=True, stored=stored)
    *parts, end = parts_of("log", bytes(3 * BLOCK), 2000)
    for part in parts:
        collector.take(5, part)
    note: Callable[[int, str, int], None] = stored.note
    give = file_parts._give_name

    def noted(node: int, name: str, length: int) -> None:
        if moment == "before the line":
            raise Killed
        note(node, name, length)

    def given(source: Path, target: Path) -> None:
        if moment == "after the line":
            raise Killed
        give(source, target)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(stored, "note", noted)
        patch.setattr(file_parts, "_give_name", given)
        with pytest.raises(Killed):
            collector.take(5, end)
    again = NodeFiles(tmp_path, lambda: SHARE)
    assert again.used(5) == (3 * BLOCK if moment == "after the name" else 0)
    after = FileCollector(tmp_path, keeping=True, stored=again)
    assert after.take(5, end) == FileReceived(tmp_path / "log", 3 * BLOCK)
    after.settled()
    assert again.used(5) == 3 * BLOCK and shown(tmp_path) == ["log"]


def test_the_list_stays_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program takes each file away: the list does not grow forever."""
    monkeypatch.setattr(stored_files, "SPARE_LINES", 10)
    monkeypatch.setattr(os, "fdatasync", lambda handle: None)
    stored = NodeFiles(tmp_path, lambda: 10**9)
    lines = []
    for number in range(200):
        (tmp_path / f"{number}").write_bytes(b"x")
        stored.note(5, f"{number}", 1)
        (tmp_path / f"{number}").unlink()
        lines.append((tmp_path / LIST).read_bytes().count(b"\n"))
        if number % 20 == 19:
            stored._look(5)
    assert max(lines) < 60
    stored.close()


def test_a_note_is_on_the_disk_before_the_file_has_its_name(
    tmp_path: Path, stored: NodeFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[bytes, bool]] = []
    monkeypatch.setattr(
        os,
        "fdatasync",
        lambda handle: seen.append(((tmp_path / LIST).read_bytes(), (tmp_path / "x").exists())),
    )
    send(FileCollector(tmp_path, stored=stored), 5, "x", b"1234")
    assert seen == [(b'\n[5, "x", 4]\n', False)]


def test_no_name_is_taken_from_other_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One node has all common numbers of a name and all of its own; another one still gets one."""
    monkeypatch.setattr(file_parts, "NAMES_MAX", 3)
    collector = FileCollector(tmp_path)
    for _ in range(6):
        send(collector, 5, "log.txt", b"x")
    with pytest.raises(MotecryptError, match=r"3 files of node 5 have the name log\.txt"):
        send(collector, 5, "log.txt", b"x")
    assert send(collector, 6, "log.txt", b"y").path == tmp_path / "log-node6.txt"
    names = ["log-2.txt", "log-3.txt", "log-node5-2.txt", "log-node5-3.txt", "log-node5.txt", "log-node6.txt"]
    assert shown(tmp_path) == sorted([*names, "log.txt"])
    assert hashlib.sha256((tmp_path / "log-node6.txt").read_bytes()).digest() == hashlib.sha256(b"y").digest()
