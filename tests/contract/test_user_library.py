"""A user's own library: plain C and Arduino-style C++ from a folder anywhere, and what a broken one says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from motecrypt.base import process
from motecrypt.base.errors import InputError
from motecrypt.base.model import Measurement
from motecrypt.catalog import Catalog
from motecrypt.cli.measure import command as measure
from motecrypt.measuring import bench
from motecrypt.results import Results

MYLIBRARY = Path(__file__).parents[2] / "examples" / "mylibrary"


def _copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MYLIBRARY, tmp_path / "theirs"))


def _measure(folder: Path, device: str, cipher: str, results: Results) -> list[Measurement]:
    if device == "host" and cipher.startswith("aes") and shutil.which("g++") is None:
        pytest.skip("g++ is not installed: C++ for the host cannot be compiled")
    catalog = Catalog.load(libraries=[folder])
    cells = [
        cell
        for body in catalog.implementations_of(cipher, device, [folder.name])
        for cell in bench.cells_for(catalog, catalog.device(device), body, message_bytes=[48])
    ]
    found = bench.ensure(cells, results, catalog)
    assert len(found) == len(cells) > 0
    return list(found.values())


@pytest.mark.parametrize("cipher", ["rc4", "aes128-cbc", "aes256-cbc"])
@pytest.mark.parametrize("device", ["uno", "pico", "host"])
def test_it_is_measured_like_any_other(device: str, cipher: str, results: Results) -> None:
    for found in _measure(MYLIBRARY, device, cipher, results):
        assert found.status == "ok", found.reason
        assert found.library == "mylibrary"
        assert found.cycles_median and found.flash_bytes
        if device != "host":
            assert found.ram_bytes and found.stack_bytes


def test_the_command_takes_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(MYLIBRARY.parent)
    arguments = ["--device", "uno", "--library", "./mylibrary", "--cipher", "rc4", "--bytes", "47"]
    ran = CliRunner().invoke(measure, [*arguments, "--json", "--db", str(tmp_path / "r.db")])
    assert ran.exit_code == 0, ran.output
    rows = json.loads(ran.stdout)
    assert {(m["library"], m["operation"], m["status"]) for m in rows} == {
        ("mylibrary", o, "ok") for o in ("setup", "encrypt", "decrypt")
    }


def test_a_folder_without_descriptor_is_named(tmp_path: Path) -> None:
    ran = CliRunner().invoke(measure, ["--library", str(tmp_path), "--db", str(tmp_path / "r.db")])
    assert isinstance(ran.exception, InputError)
    assert f"{tmp_path}: no library.toml there" in str(ran.exception)


@pytest.mark.parametrize("device", ["uno", "pico"])
def test_a_missing_file_is_a_failed_cell(device: str, tmp_path: Path, results: Results) -> None:
    folder = _copy(tmp_path)
    (folder / "src" / "arcfour.c").unlink()
    for found in _measure(folder, device, "rc4", results):
        assert found.status == "build-failed"
        assert "arcfour.c: No such file or directory" in found.reason
    assert {m.status for m in _measure(folder, device, "aes128-cbc", results)} == {"ok"}


@pytest.mark.parametrize("device", ["uno", "pico", "host"])
@pytest.mark.parametrize(
    ("name", "cipher", "line"),
    [
        ("src/arcfour.c", "rc4", "int twice(void) { return missing; }"),
        ("aes_cbc.cpp", "aes128-cbc", "class X {"),
    ],
    ids=["c", "c++"],
)
def test_the_compilers_first_error_is_the_cells_reason(
    name: str, cipher: str, line: str, device: str, tmp_path: Path, results: Results
) -> None:
    folder = _copy(tmp_path)
    with (folder / name).open("a") as file:
        file.write(f"\n{line}\n")
    for found in _measure(folder, device, cipher, results):
        assert found.status == "build-failed" and found.cycles_median is None
        assert "error:" in found.reason and Path(name).name in found.reason
        assert "\n" not in found.reason
        assert (found.device, found.library, found.cipher) == (device, "theirs", cipher)
    assert len(results.measurements(library="theirs", status="build-failed")) >= 3


def test_an_adapter_without_one_of_the_functions_does_not_link(tmp_path: Path, results: Results) -> None:
    folder = _copy(tmp_path)
    adapter = folder / "rc4.c"
    adapter.write_text(adapter.read_text().replace("cipher_decrypt(", "cipher_decript("))
    for found in _measure(folder, "uno", "rc4", results):
        assert found.status == "build-failed" and "cipher_decrypt" in found.reason


def test_a_wrong_output_is_no_figure(tmp_path: Path, results: Results) -> None:
    folder = _copy(tmp_path)
    library = folder / "src" / "arcfour.c"
    library.write_text(library.read_text().replace("rc4->i++;", "rc4->i += 2;"))
    for found in _measure(folder, "pico", "rc4", results):
        assert found.status == "wrong-output" and found.cycles_median is None
        assert "the oracle gives" in found.reason


@pytest.mark.parametrize(
    ("device", "body", "told"),
    [
        ("uno", "for (;;) {}", "cycles"),
        ("pico", "*(volatile int *)0xf0000000 = 1;", "wrote to"),
        ("uno", "volatile unsigned char big[1500]; for (unsigned k = 0; k < 1500; k++) big[k] = 1;", "stack"),
    ],
    ids=["uno never ends", "pico faults", "uno overflows its stack"],
)
def test_firmware_that_fails_is_a_stored_cell(
    device: str, body: str, told: str, tmp_path: Path, results: Results
) -> None:
    folder = _copy(tmp_path)
    library = folder / "src" / "arcfour.c"
    head = "void arcfour_crypt(arcfour_t *rc4, unsigned char *data, size_t length) {"
    library.write_text(library.read_text().replace(head, f"{head}\n    {body}"))
    for found in _measure(folder, device, "rc4", results):
        assert found.status == "fault" and found.cycles_median is None
        assert told in found.reason


def test_a_missing_cpp_compiler_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, results: Results
) -> None:
    run = process.run

    def without(command: Sequence[str | Path], **options: Any) -> process.Outcome:
        missing = str(command[0]) == "avr-g++"
        return process.Outcome(None, "", "not found") if missing else run(command, **options)

    monkeypatch.setattr(process, "run", without)
    monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path / "cache"))
    for found in _measure(MYLIBRARY, "uno", "aes128-cbc", results):
        assert found.status == "build-failed"
        assert found.reason == "aes_cbc.cpp needs the compiler avr-g++, which is not installed"


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(MYLIBRARY, tmp_path / "mbedtls"))
    with pytest.raises(InputError, match="'mbedtls' is also in"):
        Catalog.load(libraries=[folder])
