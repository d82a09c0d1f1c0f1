"""Files over the link: only a complete one is reported, even if packets are lost, late or forged, or the
transfer is interrupted."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from motecrypt.base.errors import MotecryptError
from motecrypt.link import file_parts as files
from motecrypt.link.file_parts import REMEMBERED, FileCollector, FileReceived, file_parts, safe_name

LONGEST = 60
CONTENT = bytes(index * 7 % 256 for index in range(200))


def told(collector: FileCollector, parts: list[bytes], node: int = 5) -> list[FileReceived]:
    """What a collector reports parts that it takes."""
    return [file for file in (collector.take(node, part) for part in parts) if file is not None]


def refused(collector: FileCollector, part: bytes, why: str, node: int = 5) -> None:
    """The collector does not take the part."""
    with pytest.raises(MotecryptError, match=why):
        collector.take(node, part)


@pytest.mark.parametrize("length", [0, 1, 51, 52, 1000])
def test_a_file_arrives_whole_and_private(tmp_path: Path, length: int) -> None:
    content = bytes(index * 7 % 256 for index in range(length))
    before = os.umask(0)
    try:
        received = told(FileCollector(tmp_path), list(file_parts("data.bin", content, LONGEST)))
    finally:
        os.umask(before)
    assert received == [FileReceived(tmp_path / "data.bin", length)]
    assert (tmp_path / "data.bin").read_bytes() == content
    assert (tmp_path / "data.bin").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["data.bin"]


@pytest.mark.parametrize("longest", [42, 60, 141, 142, 200, 2000])
def test_no_part_is_longer_than_asked(longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    content = bytes(index % 251 for index in range(5000))
    first, *pieces, last = file_parts("up/" + "x" * 300, content, longest)
    label, digest = first[1:5], hashlib.sha256(content).digest()
    assert first == b"\1" + label + (5000).to_bytes(4, "little") + digest + b"x" * min(100, longest - 41)
    assert last == b"\3" + label
    assert all(len(piece) == longest for piece in pieces[:-1]) and 9 < len(pieces[-1]) <= longest
    for number, piece in enumerate(pieces):
        place = number * (longest - 9)
        assert piece[:9] == b"\2" + label + place.to_bytes(4, "little")
        assert piece[9:] == content[place : place + longest - 9]
    assert b"".join(piece[9:] for piece in pieces) == content
    assert next(file_parts("x", b"", 60))[1:5] != next(file_parts("x", b"", 60))[1:5], "labels are random"
    assert next(file_parts("\udcff", b"", 60))[41:] == b"?"
    drawn: list[int] = []
    monkeypatch.setattr(files.secrets, "token_bytes", lambda count: drawn.append(count) or b"mark")
    assert next(file_parts("x", b"", 60))[1:5] == b"mark" and drawn == [4]


def test_an_interrupted_file_is_never_told_as_whole(tmp_path: Path) -> None:
    parts = list(file_parts("data.bin", CONTENT, LONGEST))
    for missing in range(len(parts) - 1):
        collector = FileCollector(tmp_path)
        for number, part in enumerate(parts):
            if number == missing:
                continue
            if missing == 0 or number > missing:
                refused(collector, part, "not announced|is missing|of its 200 bytes arrived")
            else:
                assert collector.take(5, part) is None
        assert not (tmp_path / "data.bin").exists()
        parts = list(file_parts("data.bin", CONTENT, LONGEST))
    assert collector.take(5, parts[0]) is None
    refused(collector, parts[-1], r"^file data\.bin: 0 of its 200 bytes arrived$")


def test_a_receiver_that_starts_again_goes_on(tmp_path: Path) -> None:
    parts = list(file_parts("data.bin", CONTENT, LONGEST))
    for part in parts[:-1]:
        assert FileCollector(tmp_path).take(5, part) is None
    assert FileCollector(tmp_path).take(5, parts[-1]) == FileReceived(tmp_path / "data.bin", 200)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


def test_parts_that_come_twice_or_late_change_nothing(tmp_path: Path) -> None:
    collector, parts = FileCollector(tmp_path), list(file_parts("data.bin", CONTENT, LONGEST))
    for number in range(len(parts) - 1):
        for part in parts[: number + 1]:  # the announcement, too: what has come stays
            assert collector.take(5, part) is None
    assert collector.take(5, parts[-1]) == FileReceived(tmp_path / "data.bin", 200)
    for part in parts:
        assert collector.take(5, part) is None
    assert [path.name for path in tmp_path.iterdir()] == ["data.bin"], "nothing begins anew"


def test_an_announcement_of_a_file_that_was_given_up_is_ignored(tmp_path: Path) -> None:
    collector = FileCollector(tmp_path)
    old = list(file_parts("old", CONTENT, LONGEST))
    new = list(file_parts("new", CONTENT, LONGEST))
    assert told(collector, [*old[:2], *new[:2]]) == []
    for part in old:
        refused(collector, part, r"^node 5: a late part of a discarded file$")
    assert told(collector, new[2:]) == [FileReceived(tmp_path / "new", 200)]
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_so_many_files_are_remembered(tmp_path: Path) -> None:
    collector = FileCollector(tmp_path)
    ended = [list(file_parts(f"file{number}", b"x", LONGEST)) for number in range(REMEMBERED + 1)]
    for parts in ended:
        assert len(told(collector, parts)) == 1
    for parts in ended[1:]:
        assert collector.take(5, parts[-1]) is None
    refused(collector, ended[0][-1], "not announced")
    assert (REMEMBERED, files.NAME_MAX, files.NAMES_MAX) == (16, 100, 1000)
    assert files.LENGTH_MAX == 4_294_967_295, "what four bytes tell"


def test_nodes_do_not_disturb_each_other(tmp_path: Path) -> None:
    collector = FileCollector(tmp_path)
    ours, theirs = (list(file_parts(name, CONTENT, LONGEST)) for name in ("ours", "theirs"))
    for one, other in zip(ours[:-1], theirs[:-1], strict=True):
        assert collector.take(5, one) is None and collector.take(6, other) is None
    refused(collector, ours[-1], r"^node 6: a part of a file that was not announced$", node=6)
    assert collector.take(6, theirs[-1]) == FileReceived(tmp_path / "theirs", 200)
    refused(collector, theirs[-1], "not announced")
    assert collector.take(5, ours[-1]) == FileReceived(tmp_path / "ours", 200)


def test_a_wrong_piece_never_becomes_a_file(tmp_path: Path) -> None:
    collector = FileCollector(tmp_path)
    first, piece, last = file_parts("x", b"content", LONGEST)
    assert told(collector, [first, piece[:-1] + b"!"]) == []
    refused(collector, last, r"^file x: arrived with a wrong digest$")
    assert not list(tmp_path.iterdir())
    refused(collector, first, "discarded")
    first, piece, last = file_parts("x", b"content", LONGEST)
    collector.take(5, first)
    refused(collector, piece + b"m", r"^file x: a piece beyond its end$")
    refused(collector, piece[:5] + b"\1\0\0\0" + b"x", r"^file x: an earlier piece is missing$")
    assert told(collector, [piece, last]) == [FileReceived(tmp_path / "x", 7)]


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        (b"", "empty"),
        (b"\0what", "00"),
        (b"\4what", "04"),
        (b"\1" + bytes(39), "01"),
        (b"\2" + bytes(7), "02"),
        (b"\3" + bytes(3), "03"),
        (b"\3" + bytes(5), "03"),
        *((bytes([kind]) + bytes(60), f"{kind:02x}") for kind in (0, 3, 4, 255)),
        *((bytes([kind]) + bytes(4), f"{kind:02x}") for kind in (0, 1, 2, 4)),
    ],
)
def test_what_is_no_part_is_refused(tmp_path: Path, part: bytes, shown: str) -> None:
    refused(FileCollector(tmp_path), part, rf"^node 5: a part of a file of an unknown kind \({shown}\)$")
    assert not list(tmp_path.iterdir())


def test_the_shortest_parts_are_taken(tmp_path: Path) -> None:
    announcement = b"\1abcd" + (0).to_bytes(4, "little") + hashlib.sha256(b"").digest()
    received = told(FileCollector(tmp_path), [announcement, b"\2abcd" + bytes(4), b"\3abcd"])
    assert received == [FileReceived(tmp_path / "unnamed", 0)]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    for _ in range(3):
        told(FileCollector(tmp_path), list(file_parts("log.txt", b"line", LONGEST)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log-2.txt", "log-3.txt", "log.txt"]


def test_a_name_is_numbered_a_thousand_times_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "NAMES_MAX", 2)
    collector = FileCollector(tmp_path)
    for _ in range(4):  # two of all nodes, and two of this one
        told(collector, list(file_parts("a", b"line", LONGEST)))
    *most, last = file_parts("a", b"line", LONGEST)
    told(collector, most)
    refused(collector, last, rf"^{tmp_path}: 2 files of node 5 have the name a$")
    (tmp_path / "a").unlink()
    assert told(collector, [last]) == [FileReceived(tmp_path / "a", 4)], "and it can be tried again"


def test_planted_links_are_neither_followed_nor_replaced(tmp_path: Path) -> None:
    folder, outside = tmp_path / "in", tmp_path / "outside"
    folder.mkdir()
    outside.write_text("mine")
    for name in ("data.bin", ".motecrypt-node5.part", ".motecrypt-node5.announced"):
        (folder / name).symlink_to(outside)
    (folder / "data-2.bin").symlink_to(tmp_path / "nowhere")
    parts = list(file_parts("data.bin", CONTENT, LONGEST))
    collector = FileCollector(folder)
    refused(collector, parts[0], r"in: .*; the file was not accepted$")
    (folder / ".motecrypt-node5.announced").unlink()
    assert told(collector, parts) == [FileReceived(folder / "data-3.bin", 200)]
    assert outside.read_text() == "mine" and not (tmp_path / "nowhere").exists()
    assert (folder / "data.bin").is_symlink() and (folder / "data-2.bin").is_symlink()
    # While it is on its way, what has come becomes a link elsewhere.
    parts = list(file_parts("other", CONTENT, LONGEST))
    told(collector, parts[:-1])
    (folder / ".motecrypt-node5.part").unlink()
    (folder / ".motecrypt-node5.part").symlink_to(outside)
    for part in parts[1:]:
        refused(collector, part, "the file was not accepted")
    assert outside.read_text() == "mine"


def test_what_is_no_regular_file_is_not_written(tmp_path: Path) -> None:
    collector, parts = FileCollector(tmp_path), list(file_parts("x", CONTENT, LONGEST))
    told(collector, parts[:1])
    arrived = tmp_path / ".motecrypt-node5.part"
    arrived.unlink()
    os.mkfifo(arrived)
    reader = os.open(arrived, os.O_RDONLY | os.O_NONBLOCK)
    refused(collector, parts[1], r"node5\.part: not a regular file; remove it$")
    assert not os.read(reader, 100)
    os.close(reader)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        (b"data.bin", "data.bin"),
        (b"../../etc/passwd", "passwd"),
        (b"/etc/passwd", "passwd"),
        (b"a\\b", "b"),
        (b"..", "_."),
        (b".", "_"),
        (b".bashrc", "_bashrc"),
        (b"-rf", "_rf"),
        (b"~root", "_root"),
        (b"a-b.c~", "a-b.c~"),
        (b"", "unnamed"),
        (b"a/", "unnamed"),
        (b"  ", "unnamed"),
        (b" a b ", "a b"),
        (b"a\0b", "a_b"),
        (b"\x1b[2Jx\n", "_[2Jx_"),
        ("ü\u202ecod.exe".encode(), "ü_cod.exe"),
        (b"\xff.txt", "\ufffd.txt"),
    ],
)
def test_names_from_the_air_play_no_tricks(name: bytes, safe: str) -> None:
    assert safe_name(name) == safe


def test_a_file_keeps_to_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    first, *rest = file_parts("x", b"content", LONGEST)
    (file,) = told(FileCollector(folder), [first[:-1] + b"../../x\x1b", *rest])
    assert file.path == folder / "x_" and [path.name for path in tmp_path.iterdir()] == ["in"]
    first, *rest = file_parts("", b"content", 400)
    (file,) = told(FileCollector(folder), [first + b"n" * 300, *rest])
    assert file.path == folder / ("n" * 100), "a hundred bytes of a name at most"


def test_a_full_disk_refuses_the_part_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collector, parts = FileCollector(tmp_path), list(file_parts("x", CONTENT, LONGEST))
    told(collector, parts[:1])
    write = os.pwrite

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    refused(collector, parts[1], rf"^{tmp_path}: No space left on device; the file was not accepted$")
    # A disk that takes a byte at a time is not an error.
    monkeypatch.setattr(os, "pwrite", lambda handle, data, at: write(handle, data[:1], at))
    assert told(collector, parts[1:]) == [FileReceived(tmp_path / "x", 200)]
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_a_file_is_on_the_disk_before_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collector, parts = FileCollector(tmp_path), list(file_parts("x", CONTENT, LONGEST))
    told(collector, parts[:-1])
    synced: list[str] = []
    monkeypatch.setattr(
        os, "fsync", lambda handle: synced.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
    )
    told(collector, parts[-1:])
    hidden = [str(tmp_path / f".motecrypt-node5.{suffix}") for suffix in ("part", "announced")]
    assert synced == [*hidden, str(tmp_path), str(tmp_path)], (
        "what an end that comes again needs, then the name"
    )


@pytest.mark.parametrize("at", range(3))
def test_parts_that_a_sync_may_have_lost_are_sent_again(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector, parts = FileCollector(tmp_path), list(file_parts("x", CONTENT, LONGEST))
    told(collector, parts[:-1])
    calls: list[int] = []

    def sync(handle: int) -> None:
        calls.append(handle)
        if len(calls) == at + 1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", sync)
    refused(collector, parts[-1], "Input/output error; the file was not accepted")
    refused(collector, parts[-1], "a late part of a discarded file")
    assert list(tmp_path.iterdir()) == []
    assert told(collector, list(file_parts("x", CONTENT, LONGEST))) == [FileReceived(tmp_path / "x", 200)]


def test_a_file_whose_name_may_be_lost_is_not_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector, parts = FileCollector(tmp_path, keeping=True), list(file_parts("x", CONTENT, LONGEST))
    told(collector, parts[:-1])
    synced, calls = os.fsync, []

    def sync(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 4:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        synced(handle)

    monkeypatch.setattr(os, "fsync", sync)
    refused(collector, parts[-1], "Input/output error; the file was not accepted")
    assert not (tmp_path / "x").exists()
    collector.settled()
    assert told(collector, parts[-1:]) == [FileReceived(tmp_path / "x", 200)] and len(calls) == 8


def test_a_file_that_has_its_name_is_not_written_to_by_the_next_one(tmp_path: Path) -> None:
    """A power cut may bring back the hidden name of a file that is delivered, next to a new announcement."""
    collector = FileCollector(tmp_path)
    told(collector, list(file_parts("first", CONTENT, LONGEST)))
    parts = list(file_parts("second", bytes(200), LONGEST))
    told(collector, parts[:1])
    arrived = tmp_path / ".motecrypt-node5.part"
    arrived.unlink()
    arrived.hardlink_to(tmp_path / "first")
    again = FileCollector(tmp_path)
    for part in parts[1:-1]:
        refused(again, part, "^file second: its received parts were lost$")
    assert (tmp_path / "first").read_bytes() == CONTENT
    assert told(again, list(file_parts("second", bytes(200), LONGEST))) == [
        FileReceived(tmp_path / "second", 200)
    ]
    assert (tmp_path / "first").read_bytes() == CONTENT


def test_half_an_announcement_is_none(tmp_path: Path) -> None:
    collector, parts = FileCollector(tmp_path), list(file_parts("x", CONTENT, LONGEST))
    told(collector, parts[:1])
    announced = tmp_path / ".motecrypt-node5.announced"
    announced.write_bytes(announced.read_bytes()[:40])
    refused(collector, parts[1], "not announced")
    assert told(collector, parts) == [FileReceived(tmp_path / "x", 200)]


@pytest.fixture
def without_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system such as FAT."""

    def link(source: Path, target: Path, *, follow_symlinks: bool) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", link)


@pytest.mark.usefixtures("without_links")
def test_without_hard_links_a_file_gets_its_name_and_replaces_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "data.bin").symlink_to(tmp_path / "mine")
    collector = FileCollector(tmp_path)
    for name in ("data-2.bin", "data-3.bin"):
        parts = list(file_parts("data.bin", CONTENT, LONGEST))
        assert told(collector, parts) == [FileReceived(tmp_path / name, 200)]
        assert told(collector, parts[-1:]) == [], "a late end gives nothing again"
    assert (tmp_path / "mine").read_text() == "mine" and (tmp_path / "data-3.bin").read_bytes() == CONTENT
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.usefixtures("without_links")
def test_without_hard_links_a_relative_folder_is_found_from_where_the_program_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    inbox = Path("inbox")
    inbox.mkdir()
    parts = list(file_parts("data.bin", CONTENT, LONGEST))
    assert told(FileCollector(inbox), parts) == [FileReceived(inbox / "data.bin", 200)]
    assert (tmp_path / "inbox/data.bin").read_bytes() == CONTENT


@pytest.mark.usefixtures("without_links")
def test_without_hard_links_an_end_that_comes_again_gives_the_same_file(tmp_path: Path) -> None:
    """The receiver ended between the name and the note; data.bin is another file."""
    (tmp_path / "data.bin").write_bytes(CONTENT[::-1])
    (tmp_path / "data-2.bin").symlink_to(tmp_path / "data.bin")
    parts = list(file_parts("data.bin", CONTENT, LONGEST))
    assert told(FileCollector(tmp_path, keeping=True), parts) == [FileReceived(tmp_path / "data-3.bin", 200)]
    again = FileCollector(tmp_path)
    assert told(again, parts[-1:]) == [FileReceived(tmp_path / "data-3.bin", 200)]
    assert told(again, parts) == [] and len(list(tmp_path.iterdir())) == 3
    lost = list(file_parts("lost", CONTENT, LONGEST))
    told(again, lost[:-1])
    (tmp_path / ".motecrypt-node5.part").unlink()
    refused(again, lost[-1], r"^file lost: its received parts were lost$")


@pytest.mark.usefixtures("without_links")
@pytest.mark.parametrize("known", [False, True])
def test_a_file_system_that_can_neither_says_so(
    known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def renameat2(*arguments: object) -> int:
        ctypes.set_errno(errno.EINVAL)
        return -1

    library = SimpleNamespace(**({"renameat2": renameat2} if known else {}))
    monkeypatch.setattr(files.ctypes, "CDLL", lambda name, use_errno: library)
    collector, parts = FileCollector(tmp_path), list(file_parts("data.bin", CONTENT, LONGEST))
    told(collector, parts[:-1])
    refused(
        collector,
        parts[-1],
        r"supports neither hard links nor renaming without replacing; choose "
        r"another",
    )
    assert not (tmp_path / "data.bin").exists()


def test_another_error_of_a_link_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(source: Path, target: Path, *, follow_symlinks: bool) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "link", link)
    collector, parts = FileCollector(tmp_path), list(file_parts("data.bin", CONTENT, LONGEST))
    told(collector, parts[:-1])
    refused(collector, parts[-1], "No space left on device; the file was not accepted")
