"""The demos for the Pico: programs of ours that do what its source's tests do, built when they are named."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from motecrypt.base.errors import InputError
from motecrypt.base.model import Implementation
from motecrypt.base.paths import cache_dir, make_dir
from motecrypt.build.toolchain import toolchain
from motecrypt.build.toolchain.files import FileFirmware, build_files
from motecrypt.build.toolchain.firmware import BuildRequest, cipher_inputs
from motecrypt.build.toolchain.includes import file_hash, reached
from motecrypt.catalog import FIRMWARE, Catalog

DEVICE = "pico"
_PROGRAM = FIRMWARE / "demos" / "aes_test.c"
_STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Werror")


@dataclass(frozen=True)
class Demo:
    """One demo.

    Attributes
    ----------
    library
        Whose AES it tests; empty for the demo of the file system.
    variant
        Which of ours.
    digit
        The source's number of the test, in the string that is encrypted.
    cache
        How the simulator has the flash's cache: "kept" as on a board, "none" where that would take a minute.
    """

    library: str = ""
    variant: str = ""
    key_bits: int = 128
    digit: int = 0
    cache: str = "kept"


def _named() -> Mapping[str, Demo]:
    tests = (
        ("aesTest", "motecrypt", "fast", 0),
        ("aesTest3", "mbedtls", "", 3),
        ("aesTest4", "tiny-aes-c", "", 4),
    )
    found = {}
    for name, library, variant, digit in tests:
        for bits, suffix in ((128, ""), (256, "-256")):
            found[f"{name}{suffix}"] = Demo(library, variant, bits, digit)
    return found | {"littleFsAes": Demo(cache="none")}


DEMOS = _named()
#: The source's other two tests need libraries that no package client has.
BROUGHT = ("aesTest1", "aesTest2")


def demo(name: str) -> Demo | None:
    """The demo of that name, or None.

    Raises
    ------
    InputError
        For a test of the source whose library its user has to bring.
    """
    if name.partition("-")[0] in BROUGHT:
        raise InputError(
            f"{name}: its library is on no package registry; bring it and give 'motecrypt measure --device "
            f"{DEVICE} --library FOLDER' (docs/bring-your-library.md), or run one of {', '.join(DEMOS)}"
        )
    return DEMOS.get(name)


def build_demo(chosen: Demo) -> Path:
    """The ELF of a demo, built or taken from the cache.

    Raises
    ------
    BuildError
        A source is not available, or the compiler's first error.
    """
    return (
        build_files(FileFirmware(program="littlefs_aes.c")).elf if not chosen.library else _build_test(chosen)
    )


def _implementation(chosen: Demo) -> Implementation:
    bodies = Catalog.load().implementations_of(f"aes{chosen.key_bits}-cbc", DEVICE, (chosen.library,))
    return next(body for body in bodies if chosen.variant in ("", body.variant))


def _build_test(chosen: Demo) -> Path:
    device = Catalog.load().device(DEVICE)
    compiler = device.compiler
    request = BuildRequest(device, _implementation(chosen), "flash")
    given = cipher_inputs(request)
    board = [device.folder / name for name in device.hal]
    defines = (*given.defines, f'DEMO_NUMBER="{chosen.digit}"', f"DEMO_KEY_BYTES={chosen.key_bits // 8}")
    include = [f"-I{place}" for place in (*given.directories, _PROGRAM.parent)]
    flags = (*compiler.machine_flags, "-ffunction-sections", "-fdata-sections", "-fno-common", *include)
    flags = (*flags, *(f"-D{define}" for define in defines))
    linking = [*compiler.link_flags, *device.placements["flash"].link_flags]
    read = reached(
        [_PROGRAM, *given.sources, *board], [*given.directories, _PROGRAM.parent], given.headers_named
    )
    parts = [
        toolchain.identity(compiler.command),
        *toolchain.runtime(compiler.link_command, compiler.machine_flags),
        defines,
        request.cipher_flags,
        sorted((path.name, file_hash(path)) for path in (*read, *device.folder.glob("*.ld"))),
    ]
    key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    kept = cache_dir() / "firmware" / "demos" / f"{key}.elf"
    if kept.exists():
        return kept
    make_dir(kept.parent)
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".building.") as scratch:
        work, objects = Path(scratch), []
        for number, source in enumerate((_PROGRAM, *board, *given.sources)):
            own = source not in given.sources or chosen.library == "motecrypt"
            command, own_flags = compiler.compiling(source)
            level = request.cipher_flags if source in given.sources else compiler.flags
            target = work / f"{number}_{source.stem}.o"
            strict = _STRICT if own else ("-w",)
            toolchain.compile_object(command, (*own_flags, *flags, *level, *strict), source, target, work)
            objects.append(target)
        link_flags = (
            *compiler.machine_flags,
            *compiler.flags,
            "-Wl,--gc-sections",
            *(flag.replace("{device}", str(device.folder)) for flag in linking),
        )
        toolchain.link(compiler.link_command, link_flags, objects, work / "demo.elf", work)
        shutil.move(work / "demo.elf", kept)
    return kept
