"""A device's own sources are compiled once; what comes out is what compiling them again would give."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from motecrypt.catalog import Catalog
from motecrypt.model import Device
from motecrypt.toolchain import BuildRequest, firmware, objects
from motecrypt.toolchain.objects import kept, seen


def test_only_definitions_that_stand_in_what_is_read_are_seen(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text('#include "b.h"\nint a = SIZE; // RATES are nothing\n')
    (tmp_path / "b.h").write_text("#ifdef LEVEL2\n#endif\n#include <nowhere.h>\n")
    found = seen(tmp_path / "a.c", [tmp_path], ["SIZE=3", "RATE=1", "LEVEL2", "LEVEL=2", "SIZ=1"])
    assert found == ([tmp_path / "a.c", tmp_path / "b.h"], ["SIZE=3", "LEVEL2"])


@pytest.mark.parametrize("line", ["#include HEADER", " # include  _HEADER", "#include h(1)"])
def test_what_a_definition_includes_cannot_be_known(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.c").write_text('#include "b.h"\n')
    (tmp_path / "b.h").write_text(f"int x;\n{line}\n")
    assert seen(tmp_path / "a.c", [tmp_path], ["HEADER=1"]) is None


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(objects, "cache_dir", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "objects"


def test_an_object_is_made_once_for_the_same_parts(cache: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "a.c", tmp_path / "a.o"
    made = []

    def make(parts: object, defines: list[str]) -> bytes:
        def compile_it() -> None:
            made.append(parts)
            target.write_bytes(f"{len(made)}".encode())

        target.unlink(missing_ok=True)
        kept(parts, [source], defines, target, compile_it)
        return target.read_bytes()

    source.write_text("int a;")
    assert [make(["gcc", "-O2"], ["A=1"]) for _ in range(3)] == [b"1"] * 3
    assert make(["gcc", "-O3"], ["A=1"]) == b"2"
    assert make(["gcc", "-O2"], ["A=2"]) == b"3"
    source.write_text("int b;")
    assert make(["gcc", "-O2"], ["A=1"]) == b"4"
    source.write_text("int a;")
    assert make(["gcc", "-O2"], ["A=1"]) == b"1"
    assert len(made) == 4 and sorted(file.suffix for file in cache.iterdir()) == [".o"] * 4


def test_what_does_not_compile_is_not_kept(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int a;")

    def fails() -> None:
        raise ValueError

    for _ in range(2):
        with pytest.raises(ValueError):
            kept([], [tmp_path / "a.c"], [], tmp_path / "a.o", fails)
    assert not cache.exists()


def _elf(request: BuildRequest, work: Path) -> bytes:
    work.mkdir()
    firmware._compile_all(request, work)
    return (work / "firmware.elf").read_bytes()


@pytest.mark.parametrize("name", ["uno", "pico"])
def test_the_firmware_is_the_same_whether_its_parts_were_kept_or_not(
    cache: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = Catalog.load()
    device = catalog.device(name)
    compiled: list[str] = []
    compile_object = firmware.toolchain.compile_object

    def counted(command: str, flags: tuple[str, ...], source: Path, target: Path, work: Path) -> None:
        compiled.append(source.name)
        compile_object(command, flags, source, target, work)

    monkeypatch.setattr(firmware.toolchain, "compile_object", counted)
    one, other = (
        BuildRequest(device, catalog.implementations_of(cipher, name, ["motecrypt"])[0], "flash")
        for cipher in ("rc4", "xtea-ecb" if "xtea-ecb" in catalog.ciphers else "aes128-ecb")
    )
    fresh = _elf(other, tmp_path / "fresh")
    shutil.rmtree(cache)
    _elf(one, tmp_path / "one")
    compiled.clear()
    assert _elf(other, tmp_path / "kept") == fresh
    assert "hal.c" not in compiled and "bench.c" in compiled
    # Another level of optimisation for the device is another object; a device elsewhere says where it lies.
    quick = replace(device, compiler=replace(device.compiler, flags=("-O1",)))
    compiled.clear()
    _elf(replace(other, device=quick), tmp_path / "quick")
    assert "hal.c" in compiled
    compiled.clear()
    _elf(replace(other, device=_elsewhere(device, tmp_path / "mine")), tmp_path / "moved")
    assert "hal.c" in compiled


def _elsewhere(device: Device, folder: Path) -> Device:
    shutil.copytree(device.folder, folder)
    return replace(device, folder=folder)
