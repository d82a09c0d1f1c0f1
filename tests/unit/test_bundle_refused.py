"""Archives and manifests that are no bundle of ours: each is refused in one line."""

from __future__ import annotations

import json
import os
import random
import stat
import struct
import warnings
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bundles import STUDIES, checked, files_of, made_bundle, with_files, zipped
from motecrypt.base.errors import InputError
from motecrypt.present.bundle import (
    Bundle,
    archive,
    checks,
    pack,
)
from motecrypt.present.bundle.archive import write
from motecrypt.results import Results


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_bundle(tmp_path_factory.mktemp("bundle"))


def _entry(path: Path, name: str, mode: int = stat.S_IFREG | 0o644, data: bytes = b"x") -> Path:
    info = zipfile.ZipInfo("x" * len(name))
    info.external_attr = mode << 16
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(info, data)
    path.write_bytes(path.read_bytes().replace(b"x" * len(name), name.encode()))
    return path


def _changed(path: Path, at: bytes, offset: int, value: bytes) -> Path:
    """A zip file of one small file, with other bytes somewhere after each signature `at`."""
    data = bytearray(zipped(path, {"a": b"some text" * 10}).read_bytes())
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
    zipped(path, {"a": b"x"})
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
    data = bytearray(zipped(path, {"a": b"text" * 250_000}).read_bytes())
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
    "bomb": (lambda p: zipped(p, {"a": bytes(50 << 20)}), "expands to more than 200 times"),
    "lying": (_lying, "a is damaged"),
    "damaged": (lambda p: _changed(p, LOCAL, 34, b"\xff\xff\xff"), "a is damaged"),
    "other name": (lambda p: _changed(p, LOCAL, 30, b"b"), "a is damaged"),
    "many": (lambda p: zipped(p, {f"f{n}": b"" for n in range(201)}), "more than 200 files"),
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
    assert Bundle(zipped(tmp_path / "a.zip", {"a": bytes(50), "b": bytes(50)})).size("a") == 50
    with pytest.raises(InputError, match="expands to 101 bytes; 100 are the most"):
        Bundle(zipped(tmp_path / "b.zip", {"a": bytes(50), "b": bytes(51)}))


def test_a_file_is_read_up_to_a_limit(tmp_path: Path) -> None:
    with Bundle(zipped(tmp_path / "a.zip", {"a": bytes(50)})) as bundle:
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
        change = json.dumps(json.loads(files_of(packed)["manifest.json"]) | change).encode()
    path = with_files(tmp_path / "b.zip", packed, {"manifest.json": change}, listed=False)
    with pytest.raises(InputError) as refused, Bundle(path) as bundle:
        checks.read_manifest(bundle)
    expected = {"newer": "newer motecrypt", "long": "manifest.json"}.get(kind, "not as motecrypt writes it")
    assert expected in str(refused.value) or kind == "long"


def test_results_that_are_none_are_one_line(packed: Path, tmp_path: Path) -> None:
    path = with_files(tmp_path / "b.zip", packed, {"results.db": b"not a database" * 100})
    with pytest.raises(InputError, match=r"results\.db"):
        checked(path)


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


def test_an_expansion_of_200_times_is_the_most(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("a")
    info.compress_size = archive._SMALL
    reader = SimpleNamespace(entries={}, refused=InputError)
    for more in (0, 1):
        info.file_size = archive.EXPANSION_MAX * info.compress_size + more
        with pytest.raises(InputError, match="expands") if more else nullcontext():
            archive._Reader._check(cast(Any, reader), info)
