"""The folder of an export: whole or not at all, and never over somebody's work."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.exports.folder import MANIFEST, write_folder

FILES = {"README.md": b"one\n", "src/a.c": b"int a;\n"}


def _everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_folder_holds_the_files_and_their_list(tmp_path: Path) -> None:
    write_folder(tmp_path / "new" / "lib", FILES, {"cipher": "x"})
    made = _everything(tmp_path / "new" / "lib")
    assert made[MANIFEST].startswith(b'{\n "format": 1,\n "cipher": "x",\n "files": {\n')
    manifest = json.loads(made.pop(MANIFEST))
    assert made == FILES
    assert manifest["cipher"] == "x" and set(manifest["files"]) == set(FILES)
    assert _names(tmp_path / "new") == ["lib"]


def test_permissions_are_those_that_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_folder(tmp_path / "lib", FILES, {})
    finally:
        os.umask(before)
    modes = {p.stat().st_mode & 0o777 for p in (tmp_path / "lib").rglob("*") if p.is_file()}
    assert modes == {0o644} and (tmp_path / "lib").stat().st_mode & 0o777 == 0o755


def test_an_empty_folder_and_an_earlier_export_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    write_folder(tmp_path / "lib", FILES, {})
    write_folder(tmp_path / "lib", {"other.txt": b"2"}, {})
    assert set(_everything(tmp_path / "lib")) == {"other.txt", MANIFEST}
    assert _names(tmp_path) == ["lib"]


def _strange_file(folder: Path) -> str:
    for name in ("zz.txt", "mine.txt"):
        (folder / name).write_text("work")
    return r"'mine\.txt' is not as it was exported"


def _changed_file(folder: Path) -> str:
    (folder / "src" / "a.c").write_text("int b;\n")
    return r"'src/a\.c' is not as it was exported"


def _link(folder: Path) -> str:
    (folder / "README.md").unlink()
    (folder / "README.md").symlink_to(folder / "src" / "a.c")
    return r"'README\.md' is not as it was exported"


def _no_manifest(folder: Path) -> str:
    (folder / MANIFEST).unlink()
    return "is not empty and not an earlier export"


def _other_manifest(folder: Path) -> str:
    (folder / MANIFEST).write_text('{"format": 99, "files": {}}')
    return "is not one of this motecrypt"


def _no_json(folder: Path) -> str:
    (folder / MANIFEST).write_text("[")
    return "is not one of this motecrypt"


def _older_manifest(folder: Path) -> str:
    (folder / MANIFEST).write_text('{"format": 0, "files": {}}')
    return "is not one of this motecrypt"


def _manifest_of_nothing(folder: Path) -> str:
    (folder / MANIFEST).write_text('{"format": 1, "files": []}')
    return "is not one of this motecrypt"


def _manifest_without_files(folder: Path) -> str:
    (folder / MANIFEST).write_text('{"format": 1}')
    return "is not one of this motecrypt"


def _deep_manifest(folder: Path) -> str:
    (folder / MANIFEST).write_text("[" * 100_000)
    return "is not one of this motecrypt"


@pytest.mark.parametrize(
    "change", [_older_manifest, _manifest_of_nothing, _manifest_without_files, _deep_manifest]
)
def test_a_manifest_of_another_kind_is_none(tmp_path: Path, change: Callable[[Path], str]) -> None:
    test_somebodys_work_stays(tmp_path, change)


def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path, pattern: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    (tmp_path / "lib").mkdir()
    monkeypatch.setattr(Path, "rglob", refuse)
    with pytest.raises(InputError, match=r"lib: cannot be read: Permission denied$"):
        write_folder(tmp_path / "lib", FILES, {})


def test_a_name_as_long_as_a_folders_may_be(tmp_path: Path) -> None:
    write_folder(tmp_path / ("x" * 255), FILES, {})
    write_folder(tmp_path / ("x" * 255), FILES, {})
    assert _names(tmp_path) == ["x" * 255]


@pytest.mark.parametrize(
    "change", [_strange_file, _changed_file, _link, _no_manifest, _other_manifest, _no_json]
)
def test_somebodys_work_stays(tmp_path: Path, change: Callable[[Path], str]) -> None:
    folder = tmp_path / "lib"
    write_folder(folder, FILES, {})
    message = change(folder)
    before = _everything(folder)
    with pytest.raises(InputError, match=message) as refused:
        write_folder(folder, {"other.txt": b"2"}, {})
    assert "\n" not in str(refused.value)
    assert _everything(folder) == before and _names(tmp_path) == ["lib"]


def test_a_folder_that_holds_only_folders_is_not_empty(tmp_path: Path) -> None:
    (tmp_path / "lib" / "inner").mkdir(parents=True)
    with pytest.raises(InputError, match="is not empty and not an earlier export"):
        write_folder(tmp_path / "lib", FILES, {})


def test_a_file_and_the_current_folder_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is not a folder"):
        write_folder(tmp_path / "file", FILES, {})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="is the current folder"):
        write_folder(Path(), FILES, {})
    with pytest.raises(InputError, match="no place for a folder"):
        write_folder(Path("a\0b"), FILES, {})


def test_a_full_disk_leaves_nothing_new_and_all_that_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path / "lib", FILES, {})
    before = _everything(tmp_path / "lib")
    calls: list[int] = []

    def full(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for name in ("lib", "other"):
        calls.clear()
        with pytest.raises(InputError, match="No space left on device; free some space"):
            write_folder(tmp_path / name, {"a": b"1", "b": b"2"}, {})
    assert _everything(tmp_path / "lib") == before and _names(tmp_path) == ["lib"]


def test_an_export_that_cannot_be_renamed_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path / "lib", FILES, {})
    before = _everything(tmp_path / "lib")
    rename = Path.rename

    def refused(self: Path, target: Path) -> Path:
        if target == tmp_path / "lib" and not self.name.endswith(".old"):
            raise OSError(errno.EBUSY, "Device or resource busy")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(InputError, match="Device or resource busy"):
        write_folder(tmp_path / "lib", {"a": b"1"}, {})
    assert _everything(tmp_path / "lib") == before and _names(tmp_path) == ["lib"]


def test_what_the_check_refuses_is_not_written(tmp_path: Path) -> None:
    def refuse(folder: Path) -> None:
        assert _everything(folder).keys() > FILES.keys()
        raise InputError("no")

    with pytest.raises(InputError, match=r"^no$"):
        write_folder(tmp_path / "lib", FILES, {}, refuse)
    assert _names(tmp_path) == []
