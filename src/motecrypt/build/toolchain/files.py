"""The file firmware: ours, from firmware/files, with littlefs and Mbed TLS; cached by content."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from motecrypt.base.model import Device
from motecrypt.base.paths import cache_dir, make_dir
from motecrypt.build.toolchain import toolchain
from motecrypt.build.toolchain.pinned import with_toolchain
from motecrypt.build.toolchain.sizes import Sizes, elf_sizes
from motecrypt.build.toolchain.sources import source_root, sources_of
from motecrypt.catalog import FIRMWARE, Catalog

FOLDER = FIRMWARE / "files"
_JOBS = "main.c"
_OWN = {
    _JOBS: ("frame.c", "store.c", "published.c", "modern.c"),
    "littlefs_aes.c": ("store.c", "published.c"),
    "second_core.c": ("store.c", "published.c"),
}
_STORAGE = {"flash": "nor.c", "sd": "sd.c"}
_MBEDTLS = (
    *("aes", "cipher", "cipher_wrap", "md", "sha512", "sha256", "hkdf", "gcm", "chacha20", "poly1305"),
    *("chachapoly", "platform_util", "constant_time"),
)
_LITTLEFS = ("lfs", "lfs_util")
_LIBRARY_DEFINES = (
    'MBEDTLS_CONFIG_FILE="mbedtls_files.h"',
    *(f"LFS_NO_{what}" for what in ("DEBUG", "WARN", "ERROR", "ASSERT")),
)
_STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
_lock = threading.Lock()  # firmwares that are built side by side wait for the one that compiles the libraries


@dataclass(frozen=True)
class FileFirmware:
    """What to build.

    Attributes
    ----------
    storage : where the file system is.
    spi_hz : the clock of an SD card; 0 for the flash.
    c_library : "bytes" for memset and memcpy as the published program had them, "words" for Debian's.
    toolchain : who compiles and links it; empty for the system's own.
    program : main.c, which jobs are asked of, a demo, or an experiment.
    """

    storage: Literal["flash", "sd"] = "flash"
    c_library: Literal["bytes", "words"] = "bytes"
    spi_hz: int = 0
    toolchain: str = ""
    program: str = _JOBS


@dataclass(frozen=True)
class BuiltFiles:
    """The ELF, its content hash and what it takes."""

    elf: Path
    sha256: str
    sizes: Sizes
    compiler: str


def own_sources(firmware: FileFirmware) -> list[Path]:
    """Our own sources of a firmware."""
    names = [firmware.program, *_OWN[firmware.program], _STORAGE[firmware.storage]]
    if firmware.c_library == "bytes":
        names.append("bytewise.c")
    return [FOLDER / name for name in names]


def _device(toolchain_name: str) -> Device:
    catalog = Catalog.load()
    return with_toolchain(catalog.device("pico"), toolchain_name, catalog.toolchains)


def firmware_key(firmware: FileFirmware) -> str:
    """A hash of all that the build sees. Builds nothing, and fetches nothing but a toolchain."""
    device = _device(firmware.toolchain)
    return _hash(
        *(_content(path) for path in (*own_sources(firmware), FOLDER / "files.ld")),
        _libraries_key(device),
        json.dumps({k: v for k, v in asdict(replace(firmware, toolchain="")).items() if k != "program"}),
        json.dumps(_defines(firmware)),
    )


def _libraries_key(device: Device) -> str:
    """A hash of all compiler inputs for the libraries and the board's own code."""
    files = [*sorted(FOLDER.glob("*.h")), *sorted((FIRMWARE / "include").iterdir())]
    return _hash(
        *(_content(path) for path in (*files, *(device.folder / name for name in device.hal))),
        json.dumps([asdict(s) for folder in _libraries() for s in sources_of(folder)]),
        toolchain.identity(device.compiler.command),
        json.dumps([device.compiler.machine_flags, device.compiler.flags, _LIBRARY_DEFINES]),
    )


def _content(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def build_files(firmware: FileFirmware) -> BuiltFiles:
    """Build, or take from the cache.

    Raises
    ------
    BuildError
        A source is not available, or the compiler's first error.
    """
    folder = cache_dir() / "firmware" / "files" / firmware_key(firmware)
    if not folder.is_dir():
        with _place_for(folder) as work:
            _build_into(firmware, work)
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
    own = ["STORAGE_SD", f"SD_HZ={firmware.spi_hz}u"] if firmware.storage == "sd" else []
    return [*_LIBRARY_DEFINES, *own]


def _flags(device: Device, defines: Iterable[str], work: Path) -> list[str]:
    compiler = device.compiler
    littlefs, mbedtls = (source_root(folder) for folder in _libraries())
    flags = [*compiler.machine_flags, *compiler.flags, "-ffunction-sections", "-fdata-sections", "-gdwarf-4"]
    flags += ["-gno-record-gcc-switches", *(f"-D{d}" for d in defines)]
    flags += [f"-fdebug-prefix-map={compiler.root}="] if compiler.root else []
    flags += [f"-fdebug-prefix-map={p}=." for p in (FIRMWARE, cache_dir() / "sources", work)]
    flags += ["-I", str(FOLDER), "-I", str(FIRMWARE / "include")]
    for outside in (littlefs, mbedtls / "include", mbedtls / "library"):
        flags += ["-isystem", str(outside)]
    return flags


def _compile(device: Device, sources: Iterable[Path], flags: Sequence[str], work: Path) -> list[Path]:
    objects = []
    for source in sources:
        target = work / f"{source.stem}.o"
        command, own_flags = device.compiler.compiling(source)
        toolchain.compile_object(command, (*own_flags, *flags), source, target, work)
        objects.append(target)
    return objects


def _library_objects(device: Device, key: str) -> list[Path]:
    """The libraries and the board's own code, compiled one time for each device."""
    folder = cache_dir() / "firmware" / "files" / f"libraries-{key}"
    littlefs, mbedtls = (source_root(each) for each in _libraries())
    sources = [device.folder / name for name in device.hal]
    sources += [p for name in _MBEDTLS if (p := mbedtls / "library" / f"{name}.c").exists()]
    sources += [littlefs / f"{name}.c" for name in _LITTLEFS]
    with _lock:
        if not folder.is_dir():
            with _place_for(folder) as work:
                _compile(device, sources, [*_flags(device, _LIBRARY_DEFINES, work), "-w"], work)
    return [folder / f"{source.stem}.o" for source in sources]


@contextmanager
def _place_for(folder: Path) -> Iterator[Path]:
    """A folder to build in, which gets its name once it is whole."""
    make_dir(folder.parent)
    work = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".building."))
    try:
        yield work
        work.chmod(0o755)
        try:
            work.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another builder was faster
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _build_into(firmware: FileFirmware, work: Path, script: Path = FOLDER / "files.ld") -> None:
    device = _device(firmware.toolchain)
    compiler = device.compiler
    # A loop that sets bytes must not become a call of memset: bytewise.c is memset.
    strict = [*_STRICT, "-fno-tree-loop-distribute-patterns"]
    own = _compile(device, own_sources(firmware), [*_flags(device, _defines(firmware), work), *strict], work)
    shared = _library_objects(device, _libraries_key(device))
    objects = [*own, *(Path(shutil.copy(each, work)) for each in shared)]
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
