"""The file firmware: ours, from firmware/files, with littlefs and Mbed TLS; cached by content."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.model import Device
from motecrypt.paths import cache_dir, make_dir
from motecrypt.toolchain import toolchain
from motecrypt.toolchain.pinned import with_toolchain
from motecrypt.toolchain.sizes import Sizes, elf_sizes
from motecrypt.toolchain.sources import source_root, sources_of

FOLDER = FIRMWARE / "files"
_OWN = ("main.c", "frame.c", "store.c", "published.c", "modern.c")
_STORAGE = {"flash": "nor.c", "sd": "sd.c"}
_MBEDTLS = (
    *("aes", "cipher", "cipher_wrap", "md", "sha512", "sha256", "hkdf", "gcm", "chacha20", "poly1305"),
    *("chachapoly", "platform_util", "constant_time"),
)
_LITTLEFS = ("lfs", "lfs_util")
_STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Werror")


@dataclass(frozen=True)
class FileFirmware:
    """What to build.

    Attributes
    ----------
    storage : where the file system lies.
    spi_hz : the clock of an SD card; 0 for the flash.
    c_library : "bytes" for memset and memcpy as the published program had them, "words" for Debian's.
    toolchain : who compiles and links it; empty for the system's own.
    """

    storage: Literal["flash", "sd"] = "flash"
    c_library: Literal["bytes", "words"] = "bytes"
    spi_hz: int = 0
    toolchain: str = ""


@dataclass(frozen=True)
class BuiltFiles:
    """The ELF, its content hash and what it takes."""

    elf: Path
    sha256: str
    sizes: Sizes
    compiler: str


def own_sources(firmware: FileFirmware) -> list[Path]:
    """Our own sources of a firmware."""
    names = [*_OWN, _STORAGE[firmware.storage]]
    if firmware.c_library == "bytes":
        names.append("bytewise.c")
    return [FOLDER / name for name in names]


def _device(toolchain_name: str) -> Device:
    catalog = Catalog.load()
    return with_toolchain(catalog.device("pico"), toolchain_name, catalog.toolchains)


def firmware_key(firmware: FileFirmware) -> str:
    """A hash of all that the build sees. Builds nothing, and fetches nothing but a toolchain."""
    device = _device(firmware.toolchain)
    files = [*own_sources(firmware), *sorted(FOLDER.glob("*.h")), FOLDER / "files.ld"]
    files += [FIRMWARE / "include" / "hal.h", *(device.folder / name for name in device.hal)]
    parts = [
        *(hashlib.sha256(path.read_bytes()).hexdigest() for path in files),
        json.dumps([asdict(s) for folder in _libraries() for s in sources_of(folder)]),
        toolchain.identity(device.compiler.command),
        json.dumps(
            [asdict(replace(firmware, toolchain="")), device.compiler.machine_flags, device.compiler.flags]
        ),
        json.dumps(_defines(firmware)),
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def build_files(firmware: FileFirmware) -> BuiltFiles:
    """Build, or take from the cache.

    Raises
    ------
    BuildError
        A source cannot be had, or the compiler's first error.
    """
    folder = cache_dir() / "firmware" / "files" / firmware_key(firmware)
    if not (folder / "sizes.json").exists():
        make_dir(folder.parent)
        work = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".building."))
        try:
            _build_into(firmware, work)
            work.chmod(0o755)
            try:
                work.rename(folder)
            except OSError:
                if not (folder / "sizes.json").exists():  # another builder was faster, or a real fault
                    raise
        finally:
            shutil.rmtree(work, ignore_errors=True)
    stored = json.loads((folder / "sizes.json").read_text())
    device = _device(firmware.toolchain)
    return BuiltFiles(
        folder / "files.elf",
        stored["sha256"],
        Sizes(**stored["sizes"]),
        toolchain.identity(device.compiler.command),
    )


def _libraries() -> tuple[Path, Path]:
    return FOLDER / "littlefs", FIRMWARE / "libraries" / "mbedtls"


def _defines(firmware: FileFirmware) -> list[str]:
    quiet = [f"LFS_NO_{what}" for what in ("DEBUG", "WARN", "ERROR", "ASSERT")]
    own = ["STORAGE_SD", f"SD_HZ={firmware.spi_hz}u"] if firmware.storage == "sd" else []
    return ['MBEDTLS_CONFIG_FILE="mbedtls_files.h"', *quiet, *own]


def _build_into(firmware: FileFirmware, work: Path, script: Path = FOLDER / "files.ld") -> None:
    device = _device(firmware.toolchain)
    compiler = device.compiler
    littlefs, mbedtls = (source_root(folder) for folder in _libraries())
    flags = [*compiler.machine_flags, *compiler.flags, "-ffunction-sections", "-fdata-sections", "-gdwarf-4"]
    flags += ["-gno-record-gcc-switches", *(f"-D{d}" for d in _defines(firmware))]
    flags += [f"-fdebug-prefix-map={compiler.root}="] if compiler.root else []
    flags += [f"-fdebug-prefix-map={p}=." for p in (FIRMWARE, cache_dir() / "sources", work)]
    flags += ["-I", str(FOLDER), "-I", str(FIRMWARE / "include")]
    for outside in (littlefs, mbedtls / "include", mbedtls / "library"):
        flags += ["-isystem", str(outside)]
    objects: list[Path] = []

    def add(sources: Iterable[Path], extra: Iterable[str]) -> None:
        for source in sources:
            target = work / f"{len(objects):02}_{source.stem}.o"
            command, own_flags = compiler.compiling(source)
            toolchain.compile_object(command, (*own_flags, *flags, *extra), source, target, work)
            objects.append(target)

    # A loop that sets bytes must not become a call of memset: bytewise.c is memset.
    add(own_sources(firmware), (*_STRICT, "-fno-tree-loop-distribute-patterns"))
    add((device.folder / name for name in device.hal), ("-w",))
    add((p for name in _MBEDTLS if (p := mbedtls / "library" / f"{name}.c").exists()), ("-w",))
    add((littlefs / f"{name}.c" for name in _LITTLEFS), ("-w",))
    elf = work / "files.elf"
    link = (
        *compiler.machine_flags,
        *compiler.flags,
        "-Wl,--gc-sections",
        *compiler.link_flags,
        f"-T{script}",
    )
    toolchain.link(compiler.link_command, link, objects, elf, work)
    stored = {
        "sha256": hashlib.sha256(elf.read_bytes()).hexdigest(),
        "sizes": asdict(elf_sizes(elf, device.memory)),
    }
    (work / "sizes.json").write_text(json.dumps(stored))
    for scrap in [*objects, work / "map"]:
        scrap.unlink(missing_ok=True)
