"""Exported libraries compile as what they say they are, run, and are the machine code that was measured."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from motecrypt.base import process
from motecrypt.base.model import Device, Implementation
from motecrypt.build.setup import have
from motecrypt.build.toolchain import BuildRequest
from motecrypt.build.toolchain.firmware import cipher_inputs
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.exports.library import Export, choose, known_answer, plan
from motecrypt.exports.sources import exported_sources
from motecrypt.exports.targets import for_device, target
from motecrypt.results import Results
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import FreeRun, run_freely
from object_code import code_of
from tool_sets import needs_tool_set

CATALOG = Catalog.load()
STRICT = ("-std=gnu99", "-Wall", "-Wextra", "-Wconversion", "-Werror")
SECTIONS = ("-ffunction-sections", "-fdata-sections", "-fno-common")
CIPHERS = ("aes128-ccm8", "ascon-aead128", "rc4d")


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no disk: what is durable is another test's matter."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


def _bodies() -> list[tuple[str, Implementation]]:
    """One of each folder's variants for the UNO; for the Pico the one that is taken there."""
    ours = [i for i in CATALOG.implementations if i.library == "motecrypt"]
    uno, pico = (CATALOG.devices[name].core for name in ("uno", "pico"))
    avr = {(i.folder, i.variant): i for i in reversed(ours) if i.runs_on(uno) and i.cipher != "rc4"}
    arm = {i.folder: i for i in reversed(ours) if i.best_on_core(pico)}
    arm |= {i.folder: i for i in reversed(ours) if i.runs_on(pico) and i.folder not in arm}
    return [*(("uno", i) for i in avr.values()), *(("pico", i) for i in arm.values())]


def _run(command: Sequence[str | Path], folder: Path) -> str:
    outcome = process.run([str(part) for part in command], cwd=folder, timeout_s=120)
    assert outcome.ok, f"{shlex.join(map(str, command))}: {outcome.output}{outcome.first_error}"
    return outcome.output


@pytest.mark.long
@needs_tool_set("avr", "pico")
@pytest.mark.parametrize(
    ("name", "body"),
    _bodies(),
    ids=lambda given: given if isinstance(given, str) else f"{given.cipher}-{given.variant}",
)
def test_an_export_compiles_to_the_machine_code_that_was_measured(
    name: str, body: Implementation, tmp_path: Path
) -> None:
    device = CATALOG.devices[name]
    request = BuildRequest(device, body, "flash")
    prefix = "mc_prefix_"
    made = exported_sources(request, prefix)
    for file, text in made.files.items():
        (tmp_path / file).write_text(text)
    given = cipher_inputs(request)
    compiler = [device.compiler.command, *device.compiler.machine_flags, *request.cipher_flags]
    defines = [f"-D{define}" for define in given.defines]
    include = [f"-I{folder}" for folder in given.directories]
    for source, copy in zip(given.sources, made.compiled, strict=True):
        _run([*compiler, *STRICT, *SECTIONS, "-c", copy, "-o", "new.o"], tmp_path)
        _run([*compiler, *SECTIONS, "-std=gnu99", *defines, *include, "-c", source, "-o", "old.o"], tmp_path)
        new, old = code_of(tmp_path / "new.o", prefix), code_of(tmp_path / "old.o", prefix)
        assert any(data for _, data, _ in old)
        assert new == old, f"{source.name} is not the same code"
        for line in _run(
            [device.compiler.command.replace("gcc", "nm"), "-g", "--defined-only", "new.o"], tmp_path
        ).splitlines():
            symbol = line.split()[-1]
            assert symbol.startswith((prefix, "__do_")), symbol


# --- what is written, compiled as its README says


def _planned(name: str, cipher: str, folder: Path) -> Export:
    meant = target(name, CATALOG)
    with Results(folder / "results.db") as results:
        planned = plan(
            CATALOG,
            meant,
            CATALOG.cipher(cipher),
            choose(CATALOG, CATALOG.cipher(cipher), meant, None),
            results,
        )
    planned.write(folder / "lib")
    return planned


def _told(cipher: str) -> str:
    """What an example prints when all is right."""
    answer = known_answer(CATALOG.cipher(cipher))
    tag = f"tag {answer.tag.hex()}\n" if answer.tag else ""
    return f"ciphertext {answer.ciphertext.hex()}\n{tag}known answer: right\n"


def _sources(planned: Export, folder: Path) -> list[Path]:
    return sorted((folder / "lib" / "src").rglob("*.[cS]"))


@needs_tool_set("host")
@pytest.mark.parametrize("cipher", CIPHERS)
def test_the_c_export_runs_by_the_line_in_its_readme(cipher: str, tmp_path: Path) -> None:
    planned = _planned("c", cipher, tmp_path)
    line = re.search(r"^gcc .*", planned.files["README.md"].decode(), re.MULTILINE)
    assert line and _run(["sh", "-c", line[0]], tmp_path / "lib") == _told(cipher)


@needs_tool_set("arm64")
@pytest.mark.crosscheck
@pytest.mark.parametrize("cipher", CIPHERS)
def test_the_c_export_runs_on_aarch64(cipher: str, tmp_path: Path) -> None:
    planned = _planned("c", cipher, tmp_path)
    main = tmp_path / "lib" / "examples" / "known_answer" / "main.c"
    command = [
        "aarch64-linux-gnu-gcc",
        *STRICT,
        "-O2",
        "-static",
        "-Ilib/src",
        *_sources(planned, tmp_path),
        main,
    ]
    _run([*command, "-o", "program"], tmp_path)
    assert _run(["qemu-aarch64", "./program"], tmp_path) == _told(cipher)


@needs_tool_set("cross")
@pytest.mark.crosscheck
def test_cmake_builds_and_tests_the_c_export(tmp_path: Path) -> None:
    _planned("c", "ascon-aead128", tmp_path)
    _run(["cmake", "-S", "lib", "-B", "build"], tmp_path)
    _run(["cmake", "--build", "build"], tmp_path)
    assert "100% tests passed" in _run(["ctest", "--test-dir", "build"], tmp_path)


@needs_tool_set("cross", "pico")
@pytest.mark.crosscheck
def test_cmake_builds_the_pico_sdks_library(tmp_path: Path) -> None:
    planned = _planned("pico-sdk", "ascon-aead128", tmp_path)
    library = planned.prefix.rstrip("_")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(user C)\nadd_subdirectory(lib)\n"
    )
    flags = "-DCMAKE_C_FLAGS=-mcpu=cortex-m0plus -mthumb"
    system = ["-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"]
    _run(["cmake", "-B", "build", "-DCMAKE_C_COMPILER=arm-none-eabi-gcc", flags, *system], tmp_path)
    said = _run(["cmake", "--build", "build", "--verbose"], tmp_path)
    assert "-Os" in said and (tmp_path / "build" / "lib" / f"lib{library}.a").is_file()


@needs_tool_set("cross", "pico")
@pytest.mark.crosscheck
def test_cmake_builds_the_c_export_for_a_device(tmp_path: Path) -> None:
    cipher, chip = CATALOG.cipher("aes128-ccm8"), CATALOG.devices["stm32f4"]
    meant = for_device(target("c", CATALOG), chip)
    with Results(tmp_path / "none.db") as results:
        plan(CATALOG, meant, cipher, choose(CATALOG, cipher, meant, None), results).write(tmp_path / "lib")
    system = ["-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"]
    tools = [f"-DCMAKE_{language}_COMPILER=arm-none-eabi-gcc" for language in ("C", "ASM")]
    _run(["cmake", "-S", "lib", "-B", "build", *tools, *system], tmp_path)
    said = _run(["cmake", "--build", "build", "--verbose"], tmp_path)
    assert (
        "-mcpu=cortex-m4" in said and (tmp_path / "build" / "libmc_aes128_ccm8_armv7m_fixsliced.a").is_file()
    )


PICO_MAIN = """
#include "hal.h"
#include <stdio.h>
#define printf say
static void say(const char *form, ...);
#include "main.c"
#include <stdarg.h>
static void text(const char *from) { while (*from) hal_write((uint8_t)*from++); }
/* What the example asks of printf: %02x, %s and plain text. */
static void say(const char *form, ...) {
    static const char digits[] = "0123456789abcdef";
    va_list given;
    va_start(given, form);
    for (; *form; form++) {
        if (form[0] != '%') { hal_write((uint8_t)*form); continue; }
        if (form[1] == 's') { text(va_arg(given, const char *)); form++; continue; }
        unsigned value = va_arg(given, unsigned);
        hal_write((uint8_t)digits[value >> 4]);
        hal_write((uint8_t)digits[value & 15]);
        form += 3;
    }
    va_end(given);
}
"""


@needs_tool_set("pico")
@pytest.mark.parametrize("cipher", CIPHERS)
def test_the_pico_export_runs_without_the_sdk(cipher: str, tmp_path: Path) -> None:
    device = CATALOG.devices["pico"]
    planned = _planned("pico-sdk", cipher, tmp_path)
    (tmp_path / "pico").mkdir()
    (tmp_path / "pico" / "stdlib.h").write_text("#define stdio_init_all hal_init\n")
    (tmp_path / "program.c").write_text(PICO_MAIN)
    include = ["-I.", "-Ilib/src", "-Ilib/examples/known_answer", f"-I{FIRMWARE / 'include'}"]
    flags = [*device.compiler.machine_flags, *device.compiler.flags, "-std=gnu99", "-w", *include]
    link = [flag.replace("{device}", str(device.folder)) for flag in _link_flags(device)]
    parts = [*_sources(planned, tmp_path), *(device.folder / name for name in device.hal)]
    _run([device.compiler.command, *flags, "program.c", *parts, *link, "-o", "program.elf"], tmp_path)
    printed = bytearray()
    how = FreeRun(until="right\n", max_seconds=2.0)
    run_freely(
        read_image(tmp_path / "program.elf", device), device, how, printed.extend, lambda kind, text: None
    )
    assert printed.decode() == _told(cipher)


def _link_flags(device: Device) -> tuple[str, ...]:
    return (*device.compiler.link_flags, *device.placements["flash"].link_flags, "-Wl,--gc-sections")


CORES = {
    "zephyr": [
        ("pico", ["arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb"]),
        ("pico", ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb"]),
    ],
    "pico-sdk": [("pico", ["arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb"])],
    "platformio": [("avr", ["avr-gcc", "-mmcu=atmega328p"])],
    "esp-idf": [
        (
            "cross",
            ["riscv64-unknown-elf-gcc", "-march=rv32imc", "-mabi=ilp32", "-isystem", "/usr/include/newlib"],
        )
    ],
}


@pytest.mark.parametrize("cipher", CIPHERS)
@pytest.mark.parametrize("name", CORES)
def test_the_sources_and_the_example_compile_for_the_targets_core(
    name: str, cipher: str, tmp_path: Path
) -> None:
    planned = _planned(name, cipher, tmp_path)
    files = [*_sources(planned, tmp_path), *(tmp_path / "lib").rglob("main.c")]
    flags = ["-Os"]
    if name == "platformio":
        flags = json.loads(planned.files["library.json"])["build"]["flags"]
    (tmp_path / "pico").mkdir()
    (tmp_path / "pico" / "stdlib.h").write_text("int stdio_init_all(void);\n")
    ran = 0
    for tool_set, compiler in CORES[name]:
        if have(tool_set):
            for number, file in enumerate(files):
                command = [*compiler, *flags, *STRICT, "-I.", "-Ilib/src", "-c", file, "-o", f"{number}.o"]
                _run(command, tmp_path)
            ran += 1
    if not ran:
        pytest.skip(f"no compiler for {name} is installed")


# --- several in one program

PROGRAM = """
#define mc_rc4d_kip_undo_BROKEN_IS_KNOWN
%(headers)s
#include <stdio.h>
%(contexts)s
int main(void) {
    const unsigned char key[32] = {0};
%(calls)s
    return 0;
}
"""


@needs_tool_set("host")
@pytest.mark.parametrize("language", ["c", "c++"])
def test_several_exports_live_in_one_program(language: str, tmp_path: Path) -> None:
    chosen = [
        ("aes128-ccm8", None),
        ("aes128-ccm8", "small"),
        ("aes256-ctr", None),
        ("rc4d", None),
        ("ascon-aead128", None),
    ]
    meant = target("c", CATALOG)
    made = []
    with Results(tmp_path / "results.db") as results:
        for name, variant in chosen:
            cipher = CATALOG.cipher(name)
            planned = plan(CATALOG, meant, cipher, choose(CATALOG, cipher, meant, variant), results)
            planned.write(tmp_path / planned.name)
            made.append(planned)
    names = [planned.prefix for planned in made]
    program = PROGRAM % {
        "headers": "\n".join(f'#include "{name.rstrip("_")}.h"' for name in names),
        "contexts": "\n".join(f"static struct {name}cipher_context {name}one;" for name in names),
        "calls": "\n".join(
            f'    printf("%d", {name}cipher_setup(&{name}one, key, {planned.prefix}KEY_BYTES));'
            for name, planned in zip(names, made, strict=True)
        ),
    }
    (tmp_path / f"main.{'c' if language == 'c' else 'cpp'}").write_text(program)
    include = [f"-I{planned.name}/src" for planned in made]
    objects = []
    for planned in made:
        for source in sorted((tmp_path / planned.name / "src").rglob("*.c")):
            objects.append(tmp_path / f"{planned.name}-{source.stem}.o")
            _run(["gcc", *STRICT, "-O1", "-c", source, "-o", objects[-1]], tmp_path)
    if language == "c":
        _run(["gcc", *STRICT, *include, "main.c", *objects, "-o", "program"], tmp_path)
    elif shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    else:
        warnings = ["-std=c++11", "-Wall", "-Wextra", "-Werror"]
        _run(["g++", *warnings, *include, "main.cpp", *objects, "-o", "program"], tmp_path)
    assert _run(["./program"], tmp_path) == "00000"


@needs_tool_set("host")
def test_the_header_of_a_broken_cipher_warns_until_it_is_told_not_to(tmp_path: Path) -> None:
    _planned("c", "rc4d", tmp_path)
    (tmp_path / "main.c").write_text('#include "mc_rc4d_kip_undo.h"\n')
    command = ["gcc", "-Ilib/src", "-fsyntax-only", "main.c"]
    loud = process.run(command, cwd=tmp_path, timeout_s=60)
    assert loud.ok and "rc4d is broken and protects nothing" in loud.errors
    quiet = process.run([*command, "-Dmc_rc4d_kip_undo_BROKEN_IS_KNOWN"], cwd=tmp_path, timeout_s=60)
    assert quiet.ok and not quiet.errors
