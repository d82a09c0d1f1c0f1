"""The libraries of the file firmware: compiled once for a device, in one place, with its own flags."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from motecrypt.build.toolchain import files
from motecrypt.catalog import Catalog

PICO = Catalog.load().device("pico")


def test_libraries_are_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mbedtls = tmp_path / "mbedtls"
    (mbedtls / "library").mkdir(parents=True)
    (mbedtls / "library" / "gcm.c").touch()
    asked: list[tuple[Any, ...]] = []

    def compiled(device: Any, sources: list[Path], flags: list[str], target: Path) -> None:
        asked.append((device, sources, flags, target.parent))
        (target / "gcm.o").write_text("an object")

    monkeypatch.setattr(files, "cache_dir", lambda: tmp_path / "cache")
    monkeypatch.setattr(files, "source_root", lambda library: mbedtls if library == "m" else tmp_path / "fs")
    monkeypatch.setattr(files, "_libraries", lambda: ("fs", "m"))
    monkeypatch.setattr(files, "_compile", compiled)
    monkeypatch.setattr(files, "_flags", lambda device, defines, work: [*defines, str(work.parent)])
    objects = files._library_objects(PICO, "key")
    folder = tmp_path / "cache" / "firmware" / "files" / "libraries-key"
    own = [PICO.folder / name for name in PICO.hal]
    sources = [*own, mbedtls / "library" / "gcm.c", tmp_path / "fs" / "lfs.c", tmp_path / "fs" / "lfs_util.c"]
    flags = [*files._LIBRARY_DEFINES, str(folder.parent), "-w"]
    assert asked == [(PICO, sources, flags, folder.parent)]
    assert objects == [folder / f"{source.stem}.o" for source in sources]
    assert (folder / "gcm.o").read_text() == "an object"
    assert files._library_objects(PICO, "key") == objects and len(asked) == 1
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_another_builders_folder_is_as_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(work: Path, folder: Path) -> None:
        raise OSError("not empty")

    monkeypatch.setattr(Path, "rename", refused)
    there = tmp_path / "there"
    there.mkdir()
    with files._place_for(there) as work:
        assert work.parent == tmp_path and work.is_dir()
    with pytest.raises(OSError, match="not empty"), files._place_for(tmp_path / "missing"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["there"], "what was built is gone"
