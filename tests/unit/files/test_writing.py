"""Files appear whole or not at all: targets that exist, are full or are the source; kills at any moment."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.link.files import container, crypt_and_hash, writing
from motecrypt.link.files.container import Secret
from open_handles import handles

SRC = str(Path(__file__).resolve().parents[3] / "src")
WAYS = {
    "modern": lambda s, t, **k: container.encrypt_file(s, t, Secret(key=bytes(32)), **k),
    "crypt-and-hash": lambda s, t, **k: crypt_and_hash.encrypt_file(s, t, b"key", **k),
}


@pytest.fixture(params=["unnamed", "named"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With and without a file system that has files without a name."""
    if request.param == "named":
        monkeypatch.setattr(writing, "_OPEN_FILES", "/nonexistent")
    return str(request.param)


def test_what_is_written_is_there(tmp_path: Path, kind: str) -> None:
    with writing.NewFile(tmp_path / "new") as new:
        new.write(b"one, ")
        new.write(memoryview(b"two"))
        new.keep()
    assert (tmp_path / "new").read_bytes() == b"one, two"


def test_a_source_is_opened_without_waiting_for_a_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, real = [], os.open

    def opened(path: object, flags: int, *rest: int) -> int:
        asked.append(flags)
        return real(path, flags, *rest)  # type: ignore[arg-type]

    (tmp_path / "source").touch()
    monkeypatch.setattr(writing.os, "open", opened)
    os.close(writing.open_source(tmp_path / "source")[0])
    assert asked == [os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC]


@pytest.mark.parametrize("way", WAYS)
def test_targets_that_are_refused(tmp_path: Path, kind: str, way: str) -> None:
    source, target, link = tmp_path / "source", tmp_path / "target", tmp_path / "link"
    source.write_bytes(b"plain")
    target.write_bytes(b"old")
    os.link(source, link)
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    encrypt = WAYS[way]
    for name, said in {
        "target": "exists already",
        "source": "is the source itself",
        "link": "is the source itself",
        "folder": "is a directory",
        "dangling": "exists already",
        "pipe": "is not a regular file",
        "missing/target": "directory does not exist",
    }.items():
        with pytest.raises(InputError, match=said):
            encrypt(source, tmp_path / name)
    with pytest.raises(InputError, match="is the source itself"):
        encrypt(source, link, force=True)
    for name in ("missing", "folder", "pipe"):
        with pytest.raises(InputError):
            encrypt(tmp_path / name, tmp_path / "new")
    assert target.read_bytes() == b"old"
    assert source.read_bytes() == b"plain"
    encrypt(source, target, force=True)
    assert target.read_bytes() != b"old"
    assert not [p for p in tmp_path.iterdir() if p.name.endswith(".part")]


def test_a_target_that_comes_meanwhile_is_kept(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target"
    with pytest.raises(InputError, match="exists already"), writing.NewFile(target) as new:
        new.write(b"new")
        target.write_bytes(b"of someone else")
        new.keep()
    assert [p.name for p in tmp_path.iterdir()] == ["target"]
    assert target.read_bytes() == b"of someone else"


@pytest.mark.parametrize("way", WAYS)
def test_a_full_disk_leaves_the_old_file(
    tmp_path: Path, kind: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(bytes(100_000))
    target.write_bytes(b"old")
    room, write = [50_000], os.write

    def until_full(handle: int, data: bytes) -> int:
        if room[0] <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        room[0] -= len(data)
        return write(handle, data[: max(1, len(data) // 2)])  # short writes are legal, too

    monkeypatch.setattr(writing.os, "write", until_full)
    with pytest.raises(InputError, match="No space left"):
        WAYS[way](source, target, force=True)
    assert target.read_bytes() == b"old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["source", "target"]


def test_permissions_are_the_sources(tmp_path: Path, kind: str) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"x")
    for mode, expected in ((0o600, 0o600), (0o755, 0o644), (0o640, 0o640)):
        source.chmod(mode)
        WAYS["modern"](source, target, force=True)
        assert target.stat().st_mode & 0o777 == expected & ~0o022


BACK = {
    "modern": lambda s, t, **k: container.decrypt_file(s, t, Secret(key=bytes(32)), **k),
    "crypt-and-hash": lambda s, t, **k: crypt_and_hash.decrypt_file(s, t, b"key", **k),
}


@pytest.mark.parametrize("way", BACK)
def test_a_decrypted_file_is_private_or_keeps_the_replaced_ones_permissions(
    tmp_path: Path, kind: str, way: str
) -> None:
    source, sealed, target = tmp_path / "source", tmp_path / "sealed", tmp_path / "target"
    source.write_bytes(b"x")
    source.chmod(0o644)
    WAYS[way](source, sealed)
    assert sealed.stat().st_mode & 0o777 == 0o644
    BACK[way](sealed, target)
    assert target.stat().st_mode & 0o777 == 0o600
    for mode in (0o640, 0o664, 0o400, 0o755, 0o2711):
        target.chmod(mode)
        BACK[way](sealed, target, force=True)
        assert target.stat().st_mode & 0o7777 == mode & 0o777


@pytest.mark.parametrize("way", ["crypt_and_hash", "container"])
def test_kill_at_random_points_leaves_the_old_or_the_new(tmp_path: Path, way: str) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    old = b"the old content"
    size = 24 << 20
    source.write_bytes(os.urandom(1 << 20) * (size >> 20))
    target.write_bytes(old)
    secret = "b'key'" if way == "crypt_and_hash" else "f.Secret(key=bytes(32))"
    code = (
        f"import sys; from pathlib import Path; from motecrypt.link.files import {way} as f; "
        f"print('go', flush=True); f.encrypt_file(Path(sys.argv[1]), Path(sys.argv[2]), {secret}, force=True)"
    )
    chance = random.Random(6)
    seen = set()
    longest = 0.3
    for _ in range(14):
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(source), str(target)],
            env={"PYTHONPATH": SRC},
            stdout=subprocess.PIPE,
        )
        assert child.stdout is not None
        child.stdout.readline()
        started = time.monotonic()
        try:
            child.wait(timeout=chance.uniform(0, longest))
            longest = max(0.05, time.monotonic() - started)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            longest *= 1.1
        child.wait(timeout=10)
        child.stdout.close()
        content = target.read_bytes()
        if content == old:
            seen.add("old")
            continue
        seen.add("new")
        secret_object = b"key" if way == "crypt_and_hash" else Secret(key=bytes(32))
        module = crypt_and_hash if way == "crypt_and_hash" else container
        module.decrypt_file(target, tmp_path / "back", secret_object, force=True)  # type: ignore[attr-defined]
        assert (tmp_path / "back").read_bytes() == source.read_bytes()
        target.write_bytes(old)
    assert "old" in seen, "no kill came in time"


def test_a_new_file_is_private_unless_told_and_never_runs(tmp_path: Path, kind: str) -> None:
    umask = os.umask(0o022)
    try:
        for mode, expected in ((None, 0o600), (0o777, 0o644), (0o400, 0o400), (0o4755, 0o644)):
            target = tmp_path / f"target{mode}"
            how = {} if mode is None else {"mode": mode}
            with writing.NewFile(target, **how) as new:
                new.write(b"content")
                new.keep()
            assert target.stat().st_mode & 0o7777 == expected and target.read_bytes() == b"content"
        os.umask(0o077)
        with writing.NewFile(tmp_path / "strict", mode=0o666) as new:
            new.keep()
        assert (tmp_path / "strict").stat().st_mode & 0o777 == 0o600 and os.umask(0o077) == 0o077
    finally:
        os.umask(umask)


def test_other_threads_files_are_private_while_the_umask_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, real = [], os.umask

    def umask(mask: int) -> int:
        asked.append(mask)
        return real(mask)

    before = real(0o027)
    try:
        monkeypatch.setattr(writing.os, "umask", umask)
        with writing.NewFile(tmp_path / "new", mode=0o666) as new:
            new.keep()
    finally:
        real(before)
    assert asked == [0o077, 0o027]
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


def test_a_hidden_file_that_someone_removed_is_no_second_error(tmp_path: Path, kind: str) -> None:
    with pytest.raises(KeyboardInterrupt), writing.NewFile(tmp_path / "target") as new:
        new.write(b"content")
        for part in tmp_path.iterdir():
            part.unlink()
        raise KeyboardInterrupt


def test_while_it_is_written_nothing_or_a_hidden_private_file_is_there(tmp_path: Path, kind: str) -> None:
    with writing.NewFile(tmp_path / ("n" * 250)) as new:
        new.write(b"secret")
        there = list(tmp_path.iterdir())
        if kind == "unnamed":
            assert not there
        else:
            (part,) = there
            assert part.name.startswith("." + "n" * 200 + ".") and part.name.endswith(".part")
            assert len(part.name) == 201 + 1 + 12 + 5 and part.stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.iterdir())


def test_without_keep_an_existing_file_stays(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"old")
    with writing.NewFile(target, force=True) as new:
        new.write(b"new")
    assert target.read_bytes() == b"old"
    with pytest.raises(KeyboardInterrupt), writing.NewFile(target, force=True) as new:
        new.write(b"new")
        raise KeyboardInterrupt
    assert target.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == ["target"]


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL])
def test_where_files_without_a_name_are_unknown_a_hidden_one_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    real = os.open

    def no_unnamed(path: object, flags: int, *rest: int, **more: object) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(number, os.strerror(number))
        return real(path, flags, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(writing.os, "open", no_unnamed)
    with writing.NewFile(tmp_path / "target") as new:
        assert [p.name.endswith(".part") for p in tmp_path.iterdir()] == [True]
        new.write(b"content")
        new.keep()
    assert [p.name for p in tmp_path.iterdir()] == ["target"]
    with pytest.raises(InputError, match=f"cannot be written: {os.strerror(number)};"):
        writing.NewFile(tmp_path / "none" / "target").__enter__()


def test_another_failure_to_open_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def full(path: Path, *_: object, **__: object) -> int:
        asked.append(path)
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(writing.os, "open", full)
    with pytest.raises(InputError, match="target: cannot be written: Read-only file system"):
        writing.NewFile(tmp_path / "target").__enter__()
    assert asked == [tmp_path], "and is not tried in another way"


def test_a_new_file_is_opened_new_and_private(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, real = [], os.open

    def opened(path: Path, flags: int, mode: int = 0o777) -> int:
        asked.append((path, flags, mode))
        return real(path, flags, mode)

    monkeypatch.setattr(writing.os, "open", opened)
    monkeypatch.setattr(writing.secrets, "token_hex", lambda count: "5a" * count)
    with writing.NewFile(tmp_path / "new"):
        pass
    if kind == "unnamed":
        assert asked == [(tmp_path, os.O_RDWR | os.O_TMPFILE, 0o600)]
    else:
        part = tmp_path / ".new.5a5a5a5a5a5a.part"
        assert asked == [(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)]


def test_a_source_is_a_regular_file_with_a_size_and_a_mode(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"12345")
    source.chmod(0o640)
    handle, size, mode = writing.open_source(source)
    try:
        assert (os.read(handle, 10), size, mode & 0o7777) == (b"12345", 5, 0o640)
        assert not os.get_inheritable(handle)
    finally:
        os.close(handle)
    os.mkfifo(tmp_path / "pipe")
    before = handles()
    irregular = "is not a regular file"
    for name, said in (("pipe", irregular), (".", irregular), ("none", "No such file")):
        with pytest.raises(InputError, match=said):
            writing.open_source(tmp_path / name)
    assert handles() <= before


def test_a_missing_target_is_allowed_and_a_dangling_link_only_with_force(tmp_path: Path) -> None:
    source, dangling = tmp_path / "source", tmp_path / "dangling"
    source.touch()
    dangling.symlink_to(tmp_path / "nowhere")
    writing.check_target(source, tmp_path / "new", False)
    writing.check_target(source, dangling, True)
    with pytest.raises(InputError, match="exists already"):
        writing.check_target(source, dangling, False)
