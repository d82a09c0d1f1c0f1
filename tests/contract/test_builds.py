"""Builds: the same inputs give the same ELF; a missing compiler or a full disk is one line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.build.toolchain import BuildRequest, build, firmware, key_of, toolchain
from motecrypt.catalog import Catalog, empty_implementation

CATALOG = Catalog.load()


def test_two_builds_from_clean_are_the_same_elf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = CATALOG.implementations_of("rc4d", "uno")[0]
    request = BuildRequest(CATALOG.device("uno"), body, "flash")
    hashes = []
    for name in ("first", "second"):
        monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path / name))
        hashes.append(build(request).sha256)
    assert hashes[0] == hashes[1]


def test_the_key_changes_with_what_the_linker_sees() -> None:
    uno = CATALOG.device("uno")
    body = CATALOG.implementations_of("aes128-cbc", "uno")[0]
    keys = {
        key_of(BuildRequest(uno, body, "flash")),
        key_of(BuildRequest(uno, body, "ram")),
        key_of(BuildRequest(uno, body, "flash", ("-O3",))),
        key_of(BuildRequest(uno, empty_implementation(), "flash")),
    }
    assert len(keys) == 4


def test_a_missing_compiler_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain.identity.cache_clear()
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(InputError, match="compiler 'avr-gcc' is missing"):
        key_of(BuildRequest(CATALOG.device("uno"), empty_implementation(), "flash"))
    toolchain.identity.cache_clear()


def test_a_full_disk_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(request: BuildRequest, work: Path) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path))
    monkeypatch.setattr(firmware, "_compile_all", full)
    with pytest.raises(InputError, match="No space left"):
        build(BuildRequest(CATALOG.device("uno"), empty_implementation(), "flash"))
    assert not list(tmp_path.rglob("sizes.json"))
