"""What a build's key covers, and that neither key nor ELF depends on the paths of files."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from motecrypt.base.errors import FailureKind
from motecrypt.base.model import Implementation
from motecrypt.base.process import Outcome
from motecrypt.build.toolchain import BuildError, BuildRequest, build, drivers, key_of, libraries, toolchain
from motecrypt.build.toolchain.includes import FILE_BYTES_MAX, reached
from motecrypt.catalog import Catalog

FAULTY = Path(__file__).resolve().parents[1] / "data" / "faulty"


def own_cipher(folder: Path) -> Catalog:
    """A cipher in a folder of the user's, whose source reads headers that no listed directory shows."""
    (folder / "inner" / "deep").mkdir(parents=True)
    for name in ("cipher.toml", "oracle.py"):
        shutil.copy(FAULTY / name, folder / name)
    for path in FAULTY.iterdir():
        if path.suffix in (".c", ".h"):
            shutil.copy(path, folder / path.name)
    sources = list(folder.glob("*.c"))
    for source in sources:
        source.write_text('#include "inner/deep/table.inc"\n' + source.read_text())
    (folder / "inner" / "deep" / "table.inc").write_text('#include "../one.h"\n')
    (folder / "inner" / "one.h").write_text("#define ONE 1\n")
    return Catalog.load(ciphers=[folder])


def request(catalog: Catalog, device: str = "uno", flags: tuple[str, ...] = ()) -> BuildRequest:
    body = catalog.implementations_of("faulty-not", device)[0]
    return BuildRequest(catalog.device(device), body, "flash", flags)


def test_a_header_of_a_header_in_another_folder_counts(tmp_path: Path) -> None:
    wanted = request(own_cipher(tmp_path / "own"))
    first = key_of(wanted)
    (tmp_path / "own" / "inner" / "one.h").write_text("#define ONE 2\n")
    assert key_of(wanted) != first


def test_a_header_beside_a_library_source_counts(tmp_path: Path) -> None:
    wanted = request(own_cipher(tmp_path / "own"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "more.c").write_text('#include "beside.h"\nint more(void) { return BESIDE; }\n')
    (elsewhere / "beside.h").write_text("#define BESIDE 1\n")
    body = wanted.implementation
    library: Implementation = replace(body, sources=(*body.sources, str(elsewhere / "more.c")))
    wanted = replace(wanted, implementation=library)
    first = key_of(wanted)
    (elsewhere / "beside.h").write_text("#define BESIDE 2\n")
    assert key_of(wanted) != first


def test_the_order_of_sources_counts(tmp_path: Path) -> None:
    wanted = request(own_cipher(tmp_path / "own"))
    (tmp_path / "own" / "more.c").write_text("int more(void);\nint more(void) { return 1; }\n")
    body = wanted.implementation
    orders = [(*body.sources, "more.c"), ("more.c", *body.sources)]
    keys = {key_of(replace(wanted, implementation=replace(body, sources=order))) for order in orders}
    assert len(keys) == 2


def test_the_c_library_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wanted = request(own_cipher(tmp_path / "own"))
    first = key_of(wanted)
    names = {name for name, _ in toolchain.runtime("avr-gcc", ("-mmcu=atmega328p",))}
    assert {"libc.a", "libgcc.a"} <= names
    monkeypatch.setattr(toolchain, "runtime", lambda command, flags: (("libc.a", "another"),))
    assert key_of(wanted) != first


def test_circular_and_missing_includes_end(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#include "b.h"\n#include <stdint.h>\n')
    (tmp_path / "b.h").write_text('#include "a.h"\n')
    (tmp_path / "a.c").write_text('#include "a.h"\n')
    assert [p.name for p in reached([tmp_path / "a.c"], [])] == ["a.c", "a.h", "b.h"]


@pytest.mark.parametrize("where", ["one.h.gch", "inner/one.h.gch", "inner/any.gch/c", "../near/x.h.gch"])
def test_a_precompiled_header_is_refused(where: str, tmp_path: Path) -> None:
    wanted = request(own_cipher(tmp_path / "own"))
    (tmp_path / "near").mkdir()
    source = tmp_path / "own" / wanted.implementation.sources[0]
    source.write_text('#include "../near/x.h"\n' + source.read_text())
    (tmp_path / "own" / where).parent.mkdir(exist_ok=True)
    (tmp_path / "own" / where).touch()
    with pytest.raises(BuildError, match=r"\.gch: a precompiled header, which GCC would load"):
        key_of(wanted)


@pytest.mark.parametrize("what", ["pipe", "device", "endless"])
def test_a_header_that_is_no_source_is_refused_and_not_waited_for(what: str, tmp_path: Path) -> None:
    wanted = request(own_cipher(tmp_path / "own"))
    header = tmp_path / "own" / "more.h"
    if what == "pipe":
        os.mkfifo(header)
    elif what == "device":
        header.symlink_to("/dev/zero")
    else:
        header.touch()
        os.truncate(header, FILE_BYTES_MAX + 1)
    told = "longer than 67,108,864 bytes" if what == "endless" else "not a regular file"
    with pytest.raises(BuildError, match=rf"more\.h: {told}"):
        key_of(wanted)


@pytest.mark.parametrize("device", ["uno", "pico", "host"])
@pytest.mark.parametrize("flags", [(), ("-O2", "-flto")])
def test_an_elf_does_not_tell_where_it_was_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, flags: tuple[str, ...]
) -> None:
    """Two checkouts of a user's cipher, two caches, one of them behind a symbolic link."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    built = []
    for place in ("here", "there and further"):
        monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path / ("link" if place == "here" else place)))
        wanted = request(own_cipher(tmp_path / place / "own"), device, flags)
        firmware = build(wanted)
        assert str(tmp_path).encode() not in firmware.elf.read_bytes()
        built.append((firmware.key, firmware.sha256))
    assert built[0] == built[1]


def test_a_cache_may_be_named_from_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOTECRYPT_CACHE", "cache")
    assert build(request(own_cipher(tmp_path / "own"))).elf.is_relative_to(tmp_path.resolve() / "cache")


def test_variables_that_add_headers_are_not_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CPATH would let a header in that no key has seen."""
    (tmp_path / "astray").mkdir()
    (tmp_path / "astray" / "inner").mkdir()
    wanted = request(own_cipher(tmp_path / "own"))
    shutil.move(tmp_path / "own" / "inner" / "deep", tmp_path / "astray" / "inner" / "deep")
    monkeypatch.setenv("CPATH", str(tmp_path / "astray"))
    monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path / "cache"))
    with pytest.raises(BuildError, match=r"table\.inc"):
        build(wanted)


@pytest.mark.parametrize(
    ("outcome", "free", "kind", "transient"),
    [
        (Outcome(None, "", "avr-g++: not found"), 1 << 30, FailureKind.MISSING, True),
        (Outcome(-9, "", "avr-gcc: killed after 120 s"), 1 << 30, FailureKind.INTERRUPTED, True),
        (Outcome(1, "", "x.s: Fatal error: can't write"), 0, FailureKind.INTERRUPTED, True),
        (Outcome(1, "", "x.c:1: error: expected ';'"), 1 << 30, FailureKind.REFUSED, False),
        (Outcome(1, "", "x.c:1: error: No space left on device"), 1 << 30, FailureKind.REFUSED, False),
        (Outcome(1, "", "gcc: fatal error: Killed signal"), 1 << 30, FailureKind.REFUSED, False),
    ],
)
def test_only_what_the_source_is_to_blame_for_lasts(
    outcome: Outcome,
    free: int,
    kind: FailureKind,
    transient: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage if folder == tmp_path else None)
    error = toolchain.failure(outcome, tmp_path)
    assert (error.kind, error.transient) == (kind, transient)


@pytest.mark.parametrize(("fails", "runs", "ok"), [(0, 1, True), (1, 2, True), (9, 2, False)])
def test_a_failed_compiler_is_run_once_more(fails: int, runs: int, ok: bool, tmp_path: Path) -> None:
    script = tmp_path / "cc"
    script.write_text(f'#!/bin/sh\necho run >>"$1"\ntest "$(wc -l <"$1")" -gt {fails}\n')
    script.chmod(0o755)
    assert toolchain.run_compiler([script, tmp_path / "log"]).ok is ok
    assert len((tmp_path / "log").read_text().split()) == runs


def test_a_killed_compiler_is_not_run_again(tmp_path: Path) -> None:
    script = tmp_path / "cc"
    script.write_text('#!/bin/sh\necho run >>"$1"\nkill -9 $$\n')
    script.chmod(0o755)
    assert toolchain.run_compiler([script, tmp_path / "log"]).code == -9
    assert len((tmp_path / "log").read_text().split()) == 1


def test_a_drivers_identity_holds_its_headers_and_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "src" / "simulate" / "drivers"
    shutil.copytree(drivers.DRIVERS, copy)
    shutil.copytree(
        drivers.DRIVERS.parents[1] / "firmware" / "include", tmp_path / "src" / "firmware" / "include"
    )
    identity = drivers.driver_identity.__wrapped__
    before = {name: identity(name) for name in ("simavr", "adapter_openssl")}
    monkeypatch.setattr(drivers, "DRIVERS", copy)
    assert {name: identity(name) for name in before} == before
    (copy / "adapter.h").write_text((copy / "adapter.h").read_text() + "\n")
    assert identity("adapter_openssl") != before["adapter_openssl"]
    (tmp_path / "libsimavr.so").write_bytes(b"another one")
    monkeypatch.setattr(libraries, "flags", lambda name, compiler: (str(tmp_path / "libsimavr.so"),))
    assert identity("simavr") != before["simavr"]
