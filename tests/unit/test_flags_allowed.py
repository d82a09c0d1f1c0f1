"""Compiler flags from descriptors and users: those that run, read or write something else are refused."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.catalog.ciphers import read_cipher_folder
from motecrypt.catalog.devices import read_device
from motecrypt.catalog.flags import checked_compiler, checked_flags, checked_link_flags
from motecrypt.catalog.places import FIRMWARE

ROOT = Path(__file__).resolve().parents[2]
MYLIBRARY = Path(__file__).parents[2] / "examples" / "mylibrary"

RUNS_READS_OR_WRITES = [
    *(
        "-wrapper",
        "-wrapper=/bin/sh,-c",
        "--wrapper",
        "-fplugin=evil",
        "-fplugin=./evil.so",
        "-fplugin-arg-x",
    ),
    *("-fno-plugin", "-B/tmp", "-B.", "-specs=x", "--specs=/tmp/x", "-specs", "@flags", "@/etc/passwd"),
    *("-Wl,-plugin,x.so", "-Wl,-o,x", "-Wa,-o,x", "-Wp,-MD,x", "-Xlinker", "-Xassembler", "-Xpreprocessor"),
    *("-include", "-include/etc/passwd", "-imacros", "-isystem/x", "-I/etc", "-idirafter", "--sysroot=/x"),
    *("-o", "-o/tmp/x", "-MD", "-MF/tmp/x", "-save-temps", "-dumpdir", "-aux-info", "-fdump-tree-all"),
    *("-fdump-tree-all=/tmp/x", "-fprofile-use=/x", "-fprofile-generate", "-fauto-profile=/x"),
    *("-fopt-info-all=/x", "-fcallgraph-info", "-fuse-ld=evil", "-foffload=x", "-fcompare-debug"),
    *("-fdebug-prefix-map=/=x", "-fvisibility=../x", "-fdiagnostics-format=sarif-file", "-fself-test=/x"),
    *(
        "-mmcu=../../x",
        "-mmcu=/x",
        "-x",
        "-E",
        "-S",
        "-###",
        "-v",
        "-T/x",
        "-L/x",
        "-l:x",
        "-print-prog-name=x",
    ),
    *(
        "-O2 -wrapper",
        "-O2\n-o",
        "",
        "-",
        "source.c",
        "/etc/passwd",
        "--param",
        "-D",
        "-DX;=1",
        "-no-such-flag",
    ),
    *("-fmodules-ts", "-fstack-usage", "-fworking-directory", "-flto=/x", "-fsanitize=address,/x"),
]
COMPILES_ONLY = [
    *("-O", "-O0", "-O3", "-Os", "-Og", "-Ofast", "-funroll-loops", "-fno-inline", "-flto", "-flto=auto"),
    *("-fno-lto", "-ffast-math", "-finline-limit=100", "-falign-functions=16:8", "-fvisibility=hidden"),
    *("-mcpu=cortex-m0plus", "-mthumb", "-mmcu=atmega328p", "-mcall-prologues", "-march=armv8.1-m.main"),
    *(
        "-mstrict-X",
        "-Wall",
        "-Wno-error=format",
        "-Wstack-usage=100",
        "-std=gnu++11",
        "-g",
        "-gdwarf-4",
        "-w",
    ),
    *("-DX", "-DX=1", "-DX=a,b c", "-UX", "--param=max-inline-insns-single=100", "-fstack-protector-strong"),
]


@pytest.mark.parametrize("flag", RUNS_READS_OR_WRITES)
def test_a_flag_that_does_more_than_compile_is_refused(flag: str) -> None:
    with pytest.raises(
        InputError, match=r"--flags: the compiler flag '.*' is not allowed; allowed: -O"
    ) as caught:
        checked_flags(["-O2", flag], "--flags")
    told = str(caught.value)
    assert flag.replace("\n", "\\n") in told and "\n" not in told


@pytest.mark.parametrize("flag", COMPILES_ONLY)
def test_a_flag_that_only_compiles_is_allowed(flag: str) -> None:
    assert checked_flags([flag], "--flags") == (flag,)


@pytest.mark.parametrize(
    "flag",
    [
        *(
            "-Wl,-plugin,x.so",
            "-Wl,--plugin=x",
            "-Wl,@x",
            "-Wl,-o,x",
            "-Wl,-Map=/x",
            "-Wl,-rpath,/x",
            "-Wl",
            "-Wl,",
        ),
        *("-Wl,--gc-sections,-o,x", "-Wl,-T,/x", "-T/x.ld", "-T{device}/../x.ld", "--specs=x.specs", "-L/x"),
        *("--specs=../nano.specs", "-B/x", "-wrapper", "@x", "-o", "x.o", "-fuse-ld=x", "-Wl,--wrap=a/b"),
    ],
)
def test_a_linker_flag_that_does_more_is_refused(flag: str) -> None:
    with pytest.raises(InputError, match=r"device\.toml: the linker flag '.*' is not allowed; allowed: "):
        checked_link_flags([flag], "device.toml")


@pytest.mark.parametrize(
    "command", ["sh", "/bin/gcc", "./gcc", "../gcc", "gcc -v", "avr-gcc;x", "", "-gcc", "evil"]
)
def test_another_program_is_no_compiler(command: str) -> None:
    with pytest.raises(InputError, match="expected the name of a GCC or Clang"):
        checked_compiler(command, "device.toml")


def test_compilers_have_prefixes_and_versions() -> None:
    for command in ("gcc", "avr-gcc", "arm-none-eabi-gcc", "gcc-12", "clang-14", "riscv64-unknown-elf-g++"):
        assert checked_compiler(command, "device.toml") == command


def _copy(folder: Path, to: Path, file: str, old: str, new: str) -> Path:
    shutil.copytree(folder, to)
    text = (to / file).read_text()
    assert old in text
    (to / file).write_text(text.replace(old, new, 1))
    return to


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('licence = "MIT"', 'licence = "MIT"\nc_flags = ["-wrapper", "evil"]'),
        ('note = "plain C"', 'c_flags = ["-wrapper", "evil"]'),
    ],
    ids=["library", "implementation"],
)
def test_a_librarys_flags_are_looked_at(old: str, new: str, tmp_path: Path) -> None:
    folder = _copy(MYLIBRARY, tmp_path / "library", "library.toml", old, new)
    with pytest.raises(InputError, match=r"library\.toml.*'-wrapper' is not allowed"):
        Catalog.load(libraries=[folder])


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('command = "avr-gcc"', 'command = "./avr-gcc"', "'command' is './avr-gcc'"),
        ('flags = ["-Os"]', 'flags = ["-B."]', "compiler flag '-B.'"),
        ("machine_flags = [", 'machine_flags = ["-specs=x", ', "compiler flag '-specs=x'"),
        ("link_flags = [", 'link_flags = ["-Wl,-plugin,x", ', "linker flag '-Wl,-plugin,x'"),
        ("[placement.flash]", '[placement.flash]\nlink_flags = ["-B."]', "linker flag '-B.'"),
    ],
)
def test_a_devices_compiler_and_flags_are_looked_at(old: str, new: str, told: str, tmp_path: Path) -> None:
    folder = _copy(FIRMWARE / "devices" / "uno", tmp_path / "uno", "device.toml", old, new)
    with pytest.raises(InputError) as caught:
        read_device(folder)
    assert told in str(caught.value) and "device.toml" in str(caught.value)


def test_a_ciphers_flags_are_looked_at(tmp_path: Path) -> None:
    told = "c_flags = ["
    ours = next(f for f in sorted((FIRMWARE / "ciphers").glob("*/cipher.toml")) if told in f.read_text())
    folder = _copy(ours.parent, tmp_path / ours.parent.name, "cipher.toml", told, 'c_flags = ["-fplugin=x", ')
    cores = {device.core for device in Catalog.load().devices.values()}
    with pytest.raises(InputError, match=r"cipher\.toml.*'-fplugin=x' is not allowed"):
        read_cipher_folder(folder, cores)


def test_a_librarys_wrapper_is_never_run(tmp_path: Path) -> None:
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\ntouch {tmp_path / "canary"}\nexec "$@"\n')
    wrapper.chmod(0o755)
    flags = f'c_flags = ["-wrapper", "{wrapper}"]'
    folder = _copy(MYLIBRARY, tmp_path / "library", "library.toml", 'note = "plain C"', flags)
    done = subprocess.run(
        [sys.executable, "-m", "motecrypt", "measure", "--device", "host", "--library", str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "MOTECRYPT_DB": str(tmp_path / "r.db")},
        check=False,
    )
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1), done.stderr
    assert not (tmp_path / "canary").exists()
