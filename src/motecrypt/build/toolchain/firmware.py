"""One firmware: from implementation, device, placement and flags to an ELF in the cache.

The key of a build is a hash of all that the linker sees. The benchmark firmware and the device's hal
are always compiled with the device's own flags, so that a difference to the no-op cipher holds the
cipher alone, whatever flags it is compiled with.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from motecrypt.base.errors import FailureKind, InputError
from motecrypt.base.model import Compiler, Device, Implementation
from motecrypt.base.paths import cache_dir, make_dir
from motecrypt.build.toolchain import toolchain
from motecrypt.build.toolchain.includes import Looked, file_hash, reached, refuse_precompiled
from motecrypt.build.toolchain.objects import compiled, kept, seen
from motecrypt.build.toolchain.scripts import link_flags, shared_scripts
from motecrypt.build.toolchain.sizes import Sizes, elf_sizes, object_sizes, symbols
from motecrypt.build.toolchain.sources import source_root
from motecrypt.build.toolchain.toolchain import BuildError
from motecrypt.catalog import FIRMWARE

__all__ = ["BuildError", "BuildRequest", "CipherInputs", "Firmware", "build", "cipher_inputs", "key_of"]

BUILD_VERSION = 3
_COMMON = ("-gdwarf-4", "-gno-record-gcc-switches", "-ffunction-sections", "-fdata-sections", "-fno-common")
_DEVICE_FILES = (".c", ".h", ".S", ".ld", ".py")
_OURS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")


@dataclass(frozen=True)
class BuildRequest:
    """What to build. `flags` empty means the device's own, then the implementation's."""

    device: Device
    implementation: Implementation
    placement: str
    flags: tuple[str, ...] = ()

    @property
    def cipher_flags(self) -> tuple[str, ...]:
        """Optimisation flags of the cipher's sources: the user's, the variant's or the device's."""
        if self.flags:
            return self.flags
        return (*self.device.compiler.flags, *self.implementation.c_flags)

    @property
    def flags_given(self) -> str:
        """What the compiler is given for the cipher's sources, as one line."""
        return " ".join((*self.device.compiler.machine_flags, *self.cipher_flags))


@dataclass(frozen=True)
class Firmware:
    """A built ELF with its sizes and who built it."""

    elf: Path
    key: str
    sha256: str
    compiler: str
    flags: str
    total: Sizes
    cipher: Sizes
    data_end: int


@dataclass(frozen=True)
class CipherInputs:
    """What the compiler is given of a cipher: sources, where headers are looked for, and definitions."""

    sources: tuple[Path, ...]
    directories: tuple[Path, ...]
    defines: tuple[str, ...]

    @property
    def headers_named(self) -> list[str]:
        """Headers that definitions name, such as BLOCK_HEADER."""
        return _headers_named(self.defines)


def cipher_inputs(request: BuildRequest) -> CipherInputs:
    """What a build compiles of the cipher itself, without the benchmark firmware and the device's parts."""
    sources, include = _resolve(request)
    directories = _directories(request, sources, include)
    return CipherInputs(tuple(sources), tuple(directories), _cipher_defines(request))


def _resolve(request: BuildRequest) -> tuple[list[Path], list[Path]]:
    """Cipher sources and include directories, with library sources fetched if need be."""
    body = request.implementation
    root = source_root(body.folder) if body.fetched else None

    def place(name: str) -> Path:
        if name.startswith("@/"):
            if root is None:
                raise BuildError(f"'{name}' needs a fetched source, and library.toml names no [[source]]")
            return root / name[2:]
        return (body.folder / name).resolve() if not name.startswith("/") else Path(name)

    return [place(s) for s in body.sources], [place(i) for i in body.include]


def _cipher_defines(request: BuildRequest) -> tuple[str, ...]:
    device, body = request.device, request.implementation
    key_bytes = body.key_bytes_allowed if device.compiler.shared else body.key_bytes_measured
    return (
        *device.placements[request.placement].defines,
        *body.defines,
        f"CIPHER_KEY_BYTES_MAX={key_bytes}",
        f'CIPHER_HEADER="{body.header}"',
    )


def _defines(request: BuildRequest) -> tuple[str, ...]:
    device = request.device
    return (
        *device.compiler.defines,
        *_cipher_defines(request),
        *(f"BENCH_{name.upper()}_BYTES={value}" for name, value in sorted(device.bench.items())),
    )


def _directories(request: BuildRequest, sources: list[Path], include: list[Path]) -> list[Path]:
    """Where headers are looked for, in this order."""
    return [
        request.implementation.folder,
        FIRMWARE / "include",
        FIRMWARE / "modes",
        request.device.folder,
        *include,
        *sorted({s.parent for s in sources}),
    ]


def _headers_named(defines: tuple[str, ...]) -> list[str]:
    """Headers that definitions name, such as CIPHER_HEADER."""
    values = (define.partition("=")[2] for define in defines)
    return [value[1:-1] for value in values if len(value) > 2 and value[0] in '"<']


def _read_by_compiler(request: BuildRequest, looked: Looked) -> list[Path]:
    """Every file of ours or the user's that goes into a build, as far as can be known without building."""
    sources, include = _resolve(request)
    refuse_precompiled((request.implementation.folder, request.device.folder))
    directories = _directories(request, sources, include)
    near = [h for d in (request.implementation.folder, *include) for h in sorted(d.glob("*.h"))]
    device = [p for p in sorted(request.device.folder.iterdir()) if p.suffix in _DEVICE_FILES]
    device += shared_scripts(request.device, request.placement)
    bench = FIRMWARE / "bench" / "bench.c"
    named = _headers_named(_defines(request))
    return reached([*sources, *near, *device, bench], directories, named, looked=looked)


def key_of(request: BuildRequest, looked: Looked | None = None) -> str:
    """The content hash of a build: sources, headers, flags, compiler, device. Builds nothing.

    `looked` is what was looked up for other keys.
    """
    device, looked = request.device, looked or Looked()
    if request.placement not in device.placements:
        raise InputError(f"device {device.name} has no placement '{request.placement}'")
    parts = {
        "version": (BUILD_VERSION, _COMMON, _OURS),
        "compiler": _compilers(device),
        "runtime": _runtime(device),
        "machine": device.compiler.machine_flags,
        "base": device.compiler.flags,
        "flags": request.cipher_flags,
        "link": (*device.compiler.link_flags, *device.placements[request.placement].link_flags),
        "defines": _defines(request),
        "memory": {name: asdict(m) for name, m in device.memory.items()},
        "order": [Path(source).name for source in (*request.implementation.sources, *device.hal)],
        "warnings": _strictness(request.implementation, device.compiler),
        "files": sorted((f.name, file_hash(f, looked)) for f in _read_by_compiler(request, looked)),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _strictness(body: Implementation, compiler: Compiler) -> tuple[str, ...]:
    """Our own code is compiled with all warnings of GCC; others' code is measured as it is."""
    return _OURS if body.library == "motecrypt" and not compiler.is_clang else ("-w",)


def _compilers(device: Device) -> str | tuple[str, ...]:
    """Who compiles and, where that is another, who links; with what only compiling is reported."""
    compiler = device.compiler
    told = toolchain.identity(compiler.command)
    if not compiler.linker:
        return told
    flags = (flag.replace(compiler.root, "") if compiler.root else flag for flag in compiler.compile_flags)
    return (told, toolchain.identity(compiler.linker), *flags)


def _runtime(device: Device) -> tuple[tuple[str, str], ...]:
    """The libraries that are linked in; none for the host's shared library."""
    compiler = device.compiler
    return () if compiler.shared else toolchain.runtime(compiler.link_command, compiler.machine_flags)


def build(request: BuildRequest, key: str | None = None) -> Firmware:
    """Build, or take from the cache.

    Raises
    ------
    BuildError
        With the compiler's or linker's first error.
    """
    key = key or key_of(request)
    folder = cache_dir() / "firmware" / key[:2] / key
    if not (folder / "sizes.json").exists():
        _build_into(request, folder, key)
    return _load(request, folder, key)


def _load(request: BuildRequest, folder: Path, key: str) -> Firmware:
    stored = json.loads((folder / "sizes.json").read_text())
    return Firmware(
        elf=folder / "firmware.elf",
        key=key,
        sha256=stored["sha256"],
        compiler=toolchain.identity(request.device.compiler.command),
        flags=request.flags_given,
        total=Sizes(**stored["total"]),
        cipher=Sizes(**stored["cipher"]),
        data_end=stored["data_end"],
    )


def _build_into(request: BuildRequest, folder: Path, key: str) -> None:
    make_dir(folder.parent)
    work = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".building."))
    try:
        _compile_all(request, work)
        if key_of(request) != key:
            raise BuildError(
                "a source changed while it was compiled: build again",
                kind=FailureKind.INTERRUPTED,
                transient=True,
            )
        work.chmod(0o755)
        try:
            work.rename(folder)
        except OSError:
            if not (folder / "sizes.json").exists():  # another builder was faster, or a real fault
                raise
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _names(folder: Path, work: Path, root: str) -> dict[str, str]:
    """The names of folders in debug information, so that it does not depend on where they are."""
    unpacked = {root: ""} if root else {}
    ours = {folder: "cipher", FIRMWARE: "firmware", cache_dir() / "sources": "sources", work: "."}
    return {**unpacked, **{str(place): name for place, name in ours.items()}}


def _named(file: Path | str, names: dict[str, str]) -> str:
    """What debug information calls a file: of two folders that match, gcc takes the last."""
    for place, name in reversed(names.items()):
        if str(file).startswith(place):
            return name + str(file)[len(place) :]
    return str(file)


def _compile_all(request: BuildRequest, work: Path) -> None:
    device, body = request.device, request.implementation
    compiler = device.compiler
    sources, include = _resolve(request)
    directories = _directories(request, sources, include)
    defines = _defines(request)
    shared = ("-fPIC",) if compiler.shared else ()
    names = _names(body.folder, work, compiler.root)
    prefix = [f"-fdebug-prefix-map={place}={name}" for place, name in names.items()]
    given = (*prefix, *(f"-D{d}" for d in defines), *(f"-I{d}" for d in directories))
    made_by = (_compilers(device), _runtime(device), compiler.machine_flags, shared, _COMMON)

    def compile_one(source: Path, target: Path, flags: tuple[str, ...]) -> Path:
        """Compile a source, unless the same was compiled before."""
        command, own_flags = compiler.compiling(source)
        every = (*own_flags, *compiler.machine_flags, *shared, *_COMMON, *given, *flags)
        compile_it = partial(toolchain.compile_object, command, every, source, target, work)
        read = seen(source, directories, defines, flags)
        if read is not None:
            told = [(_named(file, names), file_hash(file)) for file in read.files]
            # A header that a definition names is called by the folder that it was found from.
            found_from = [_named(place, names) for place in directories] if read.names_headers else []
            kept((made_by, flags, told, read.defines, source.name, found_from), target, compile_it)
        elif whole := compiled(
            toolchain.preprocessed(command, every, source, work), every, lambda name: _named(name, names)
        ):
            kept((made_by, flags, source.name, whole), target, compile_it)
        else:
            compile_it()
        return target

    strict = ("-w",) if compiler.is_clang else _OURS
    objects = [
        compile_one(source, work / f"bench_{source.stem}.o", (*compiler.flags, *strict, "-fno-lto"))
        for source in [FIRMWARE / "bench" / "bench.c", *(device.folder / h for h in device.hal)]
    ]
    flags = (*_strictness(body, compiler), *request.cipher_flags)
    own = [
        compile_one(source, work / f"cipher{number}_{source.stem}.o", flags)
        for number, source in enumerate(sources)
    ]
    objects += own

    linking = (
        *compiler.machine_flags,
        *request.cipher_flags,
        *prefix,
        "-Wl,--gc-sections",
        *link_flags(device, request.placement),
    )
    elf = work / "firmware.elf"
    toolchain.link(compiler.link_command, linking, objects, elf, work)
    _finish(device, elf, {target.name for target in own}, work)
    for scrap in [*objects, work / "map"]:
        scrap.unlink(missing_ok=True)


def _finish(device: Device, elf: Path, own: set[str], work: Path) -> None:
    table = symbols(elf)
    end = table.get("_end", table.get("__bss_end__", table.get("end", 0)))
    ram = device.memory.get("ram")
    stored = {
        "sha256": hashlib.sha256(elf.read_bytes()).hexdigest(),
        "total": asdict(elf_sizes(elf, device.memory)),
        "cipher": asdict(object_sizes((work / "map").read_text(errors="replace"), own, device.memory)),
        "data_end": end if ram is not None and ram.holds(end) else 0,
    }
    (work / "sizes.json").write_text(json.dumps(stored))
