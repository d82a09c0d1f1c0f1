"""Random calls of exported ciphers: a sample, faults that it finds, and counts that a later run continues."""

from __future__ import annotations

from pathlib import Path

import pytest

from exported_native import ExportedCipher, c_files, exported_ciphers, exported_links
from fuzz import exports
from fuzz.exports import CHECKERS, Counts, compiled, fuzz_exports, run
from motecrypt.base.model import Cipher
from motecrypt.catalog import Catalog
from tool_sets import needs_tool_set

GCC = next(iter(CHECKERS))
QUICKLY = ("-std=gnu99", "-O0", "-g", "-w")
LIBRARIES = {library.name: library for library in exported_ciphers()}
SAMPLE = LIBRARIES["ascon-aead128 words"]


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling takes longer than running."""
    monkeypatch.setattr(exports, "FLAGS", QUICKLY)


@needs_tool_set("host")
def test_a_sample_holds_what_it_must(tmp_path: Path) -> None:
    assert run(compiled(SAMPLE, GCC, tmp_path), 1000, 1) is None


@needs_tool_set("host")
@pytest.mark.parametrize(
    ("file", "was", "becomes", "told"),
    [
        ("verify.h", "if (difference == 0)", "if (difference < 2)", "a changed bit was accepted"),
        ("verify.h", "i < io->bytes", "i <= io->bytes", "AddressSanitizer"),
    ],
)
def test_a_fault_is_found(
    file: str, was: str, becomes: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (inside,) = [path for path in SAMPLE.files if path.endswith(file)]
    text = SAMPLE.files[inside].decode()
    assert text.count(was) == 1
    faulty = {**SAMPLE.files, inside: text.replace(was, becomes).encode()}
    monkeypatch.setattr(ExportedCipher, "files", faulty)
    found = run(compiled(SAMPLE, GCC, tmp_path), 2000, 1)
    assert found is not None and told in found


def test_targets_write_the_same_files() -> None:
    for name in ("aes128-ccm8 small", "chacha20-poly1305 words13", "rc4 plain"):
        library = LIBRARIES[name]
        assert len(library.targets) > 3
        first, *others = (c_files(library, one) for one in library.targets)
        assert all(other == first for other in others)


@needs_tool_set("host")
def test_the_exported_link_takes_packets(tmp_path: Path) -> None:
    """With the code of the fuzzer of the link's core."""
    ascon = exported_links()[1]
    assert ascon.cipher.name == "ascon-aead128"
    assert run(compiled(ascon, GCC, tmp_path), 500, 1) is None


def test_every_cipher_is_fuzzed() -> None:
    ciphers: dict[str, Cipher] = Catalog.load().ciphers
    assert {library.cipher.name for library in LIBRARIES.values()} == set(ciphers)


def test_a_later_run_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, int]] = []
    monkeypatch.setattr(exports, "exported_ciphers", lambda: list(LIBRARIES.values())[:2])
    monkeypatch.setattr(exports, "exported_links", list)
    monkeypatch.setattr(exports, "checkers", lambda: [GCC])
    monkeypatch.setattr(exports, "compiled", lambda library, checker, folder: Path(library.name))
    monkeypatch.setattr(exports, "run", lambda program, runs, seed: asked.append((str(program), seed)))
    first, second = list(LIBRARIES)[:2]
    once = exports.RUNS_AT_ONCE
    for target, after in ((1, [(first, 5)]), (3 * once, [(first, 5), (second, 5), (first, 5 + once)])):
        assert fuzz_exports(60, 5, tmp_path, target) == 0
        assert asked == after
    assert f"{2 * once:,} executions, {3 * once:,} with those before" in capsys.readouterr().out
    kept = tmp_path / exports.COUNTS
    assert Counts(kept, exports.sources_key()).total == 3 * once
    assert Counts(kept, "of other sources").total == 0
    monkeypatch.setattr(exports, "run", lambda program, runs, seed: "exit code -6\nwrong")
    assert fuzz_exports(60, 5, tmp_path, 4 * once) == 1
    (told,) = tmp_path.glob("*.txt")
    assert told.read_text() == "exit code -6\nwrong"
