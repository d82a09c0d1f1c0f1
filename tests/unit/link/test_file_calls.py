"""Files over the link: what the system is asked for, and files whose labels, lengths or digests are
similar."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from motecrypt.base.errors import MotecryptError
from motecrypt.link import file_parts as files
from motecrypt.link.file_parts import FileCollector, FileReceived
from open_handles import handles

CONTENT = b"content"
OWN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def parts(label: bytes = b"mmmm", content: bytes = CONTENT, name: bytes = b"name") -> list[bytes]:
    """The parts of a file with that label."""
    announcement = b"\1" + label + len(content).to_bytes(4, "little") + hashlib.sha256(content).digest()
    return [announcement + name, b"\2" + label + bytes(4) + content, b"\3" + label]


def take(collector: FileCollector, *given: bytes) -> list[FileReceived | None]:
    """What a collector reports each part."""
    return [collector.take(5, part) for part in given]


def test_what_the_system_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, ...]] = []
    opened, linked = os.open, os.link

    def open_(path: Path, flags: int, mode: int = 0o777) -> int:
        calls.append((path.name.rpartition(".")[2], flags, mode))
        return opened(path, flags, mode)

    def link(source: Path, target: Path, *, follow_symlinks: bool) -> None:
        calls.append(("link", source.name, target.name, follow_symlinks))
        linked(source, target, follow_symlinks=follow_symlinks)

    before = handles()
    monkeypatch.setattr(os, "open", open_)
    monkeypatch.setattr(os, "link", link)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "name").touch()
    calls.clear()
    collector, (first, piece, last) = FileCollector(folder), parts()
    asked = ("announced", os.O_RDONLY | OWN, 0o777)
    assert collector.take(5, first) is None
    assert calls == [asked, ("part", NEW, 0o600), ("announced", NEW, 0o600)]
    calls.clear()
    assert collector.take(5, piece) is None
    assert calls == [asked, ("part", os.O_WRONLY | OWN, 0o777)]
    calls.clear()
    assert collector.take(5, last) == FileReceived(folder / "name-2", 7)
    assert calls == [
        asked,
        ("part", os.O_RDONLY | OWN, 0o777),
        asked,
        ("folder", os.O_RDONLY | os.O_CLOEXEC, 0o777),
        ("link", ".motecrypt-node5.part", "name", False),
        ("link", ".motecrypt-node5.part", "name-2", False),
        ("folder", os.O_RDONLY | os.O_CLOEXEC, 0o777),
    ]
    assert handles() <= before


def test_no_refusal_leaves_a_file_open(tmp_path: Path) -> None:
    collector, (first, piece, last) = FileCollector(tmp_path), parts()
    before = handles()
    take(collector, first)
    for part, why in (
        (piece[:5] + b"\1\0\0\0x", "an earlier piece is missing"),
        (piece + b"!", "a piece beyond its end"),
        (last, "0 of its 7 bytes arrived"),
    ):
        with pytest.raises(MotecryptError, match=why):
            collector.take(5, part)
    arrived = tmp_path / ".motecrypt-node5.part"
    arrived.unlink()
    os.mkfifo(arrived)
    assert stat.S_ISFIFO(arrived.stat().st_mode)
    with pytest.raises(MotecryptError, match="not a regular file"):
        collector.take(5, last)
    assert handles() <= before


@pytest.mark.parametrize("other", [b"aaaa", b"mmml", b"mmmn", b"zzzz"])
def test_another_label_is_another_file(other: bytes, tmp_path: Path) -> None:
    collector = FileCollector(tmp_path)
    take(collector, parts()[0])
    for part in parts(other)[1:]:
        with pytest.raises(MotecryptError, match=r"^node 5: a part of a file that was not announced$"):
            collector.take(5, part)
    received = FileReceived(tmp_path / "name", 7)
    assert take(collector, *parts(other)) == [None, None, received], "the new one takes its place"
    with pytest.raises(MotecryptError, match="discarded"):
        collector.take(5, parts()[0])


@pytest.mark.parametrize("digest", [bytes(32), b"\xff" * 32])
def test_another_digest_is_a_wrong_one(digest: bytes, tmp_path: Path) -> None:
    collector, (first, piece, last) = FileCollector(tmp_path), parts()
    take(collector, first[:9] + digest + first[41:], piece)
    with pytest.raises(MotecryptError, match=r"^file name: arrived with a wrong digest$"):
        collector.take(5, last)
    assert list(tmp_path.iterdir()) == []


def test_what_is_gone_already_is_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collector, given = FileCollector(tmp_path), parts()
    take(collector, *given[:2])

    def wrong(file: object, name: str) -> Any:
        for path in tmp_path.iterdir():
            path.unlink()
        return hashlib.sha256(name.encode())

    monkeypatch.setattr(files.hashlib, "file_digest", wrong)
    with pytest.raises(MotecryptError, match=r"^file name: arrived with a wrong digest$"):
        collector.take(5, given[2])


def test_more_than_was_announced_is_not_whole(tmp_path: Path) -> None:
    collector, given = FileCollector(tmp_path), parts()
    take(collector, *given[:2])
    arrived = tmp_path / ".motecrypt-node5.part"
    with arrived.open("ab") as file:
        file.write(b"!")
    with pytest.raises(MotecryptError, match=r"^file name: 8 of its 7 bytes arrived$"):
        collector.take(5, given[2])
    arrived.write_bytes(CONTENT[:6])
    with pytest.raises(MotecryptError, match=r"^file name: 6 of its 7 bytes arrived$"):
        collector.take(5, given[2])
    arrived.write_bytes(CONTENT)
    assert take(collector, given[2]) == [FileReceived(tmp_path / "name", 7)]


def test_pieces_may_lie_over_each_other_but_leave_no_hole(tmp_path: Path) -> None:
    collector, (first, piece, last) = FileCollector(tmp_path), parts()
    head = piece[:5]
    take(collector, first, head + bytes(4) + b"con?", head + b"\3\0\0\0" + b"ten")
    with pytest.raises(MotecryptError, match="is missing"):
        collector.take(5, head + b"\7\0\0\0")
    assert take(collector, head + b"\6\0\0\0" + b"t", last) == [None, FileReceived(tmp_path / "name", 7)]
    assert (tmp_path / "name").read_bytes() == CONTENT


def test_the_numbers_of_files() -> None:
    assert (files.ANNOUNCEMENT, files.PIECE, files.END) == (1, 2, 3)
    assert (files.NAME_MAX, files.NAMES_MAX, files.REMEMBERED) == (100, 1000, 16)
    assert files.LENGTH_MAX == 0xFFFFFFFF


def test_as_many_names_as_there_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "NAMES_MAX", 3)
    collector = FileCollector(tmp_path)
    names = [begin + end for begin in ("a.tar", "a.tar-node5") for end in ("", "-2", "-3")]
    for number, name in enumerate(names):
        *_, received = take(collector, *parts(b"lab%d" % number, name=b"a.tar.gz"))
        assert received == FileReceived(tmp_path / f"{name}.gz", 7)
    given = parts(b"last", name=b"a.tar.gz")
    take(collector, *given[:2])
    with pytest.raises(MotecryptError) as caught:
        collector.take(5, given[2])
    assert str(caught.value) == f"{tmp_path}: 3 files of node 5 have the name a.tar.gz"
