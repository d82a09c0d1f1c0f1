"""Arduino sketches: from an .ino to an ELF with Debian's Arduino core, with the flags that the IDE uses.

A sketch is its folder: all .ino files in it (the one named like the folder first), and .c, .cpp and .S
next to them. Libraries are found by the headers that are included: next to the sketch's own folder, in
`libraries` folders named by the caller, and in Debian's.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from motecrypt.base import process
from motecrypt.base.errors import InputError
from motecrypt.base.paths import cache_dir, make_dir, read_regular
from motecrypt.base.process import processors
from motecrypt.build.toolchain import toolchain
from motecrypt.build.toolchain.includes import refuse_precompiled
from motecrypt.build.toolchain.toolchain import BuildError

CORE = Path("/usr/share/arduino/hardware/arduino/avr")
LIBRARIES = (CORE / "libraries", Path("/usr/share/arduino/libraries"))
_SOURCES = (".c", ".cpp", ".cc", ".S")

# As in the core's platform.txt and boards.txt (uno), with debugging information in DWARF, where -g is stabs:
# that changes no code.
_MACHINE = (
    "-mmcu=atmega328p",
    "-DF_CPU=16000000L",
    "-DARDUINO=10819",
    "-DARDUINO_AVR_UNO",
    "-DARDUINO_ARCH_AVR",
)
_COMMON = ("-gdwarf-2", "-Os", "-w", "-ffunction-sections", "-fdata-sections", "-flto")
_FLAGS = {
    ".c": ("-std=gnu11", "-fno-fat-lto-objects"),
    ".cpp": (
        *("-std=gnu++11", "-fpermissive", "-fno-exceptions", "-fno-threadsafe-statics"),
        "-Wno-error=narrowing",
        # The core's WString.cpp needs it, and gcc-avr 5.4 has it in C alone (ArduinoCore-avr, issue 633).
        "-DDECIMAL_DIG=__DECIMAL_DIG__",
    ),
    ".S": ("-x", "assembler-with-cpp"),
}
_FLAGS[".cc"] = _FLAGS[".cpp"]
_LINK = ("-w", "-Os", "-gdwarf-2", "-flto", "-fuse-linker-plugin", "-Wl,--gc-sections", "-mmcu=atmega328p")
_CORE_INCLUDE = (CORE / "cores" / "arduino", CORE / "variants" / "standard")
_VERSION = "1"

_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def build_sketch(sketch: Path, libraries: Sequence[Path] = (), defines: Sequence[str] = ()) -> Path:
    """Compile a sketch for the UNO and return its ELF, from the cache if nothing has changed.

    Parameters
    ----------
    libraries
        Folders with libraries, before the sketch's own neighbours and Debian's.
    defines
        Macros for the compiler, NAME=VALUE.

    Raises
    ------
    InputError
        When there is no such sketch or no Arduino core.
    BuildError
        With the compiler's first error.
    """
    if not sketch.is_file():
        raise InputError(f"{sketch}: no such sketch")
    if not CORE.is_dir():
        raise InputError(f"{CORE}: Debian's Arduino core is missing; 'motecrypt doctor' shows how to get it")
    folder = sketch.resolve().parent
    parts = _sketch_parts(sketch.resolve())
    own = [p for p in sorted(folder.glob("*")) if p.suffix in _SOURCES]
    places = (*(place.resolve() for place in libraries), folder.parent, *LIBRARIES)
    used = _libraries_of([*parts, *own, *folder.glob("*.h")], places, folder)
    sources = [*own, *(s for lib in used for s in _library_sources(lib))]
    include = [*_CORE_INCLUDE, folder, *(p for lib in used for p in _include_folders(lib))]
    refuse_precompiled((folder, *used))
    key = _key(parts, sources, include, defines)
    target = cache_dir() / "sketches" / key / f"{sketch.stem}.elf"
    if not target.exists():
        make_dir(target.parent)
        with tempfile.TemporaryDirectory(prefix=".building.", dir=target.parent) as work:
            elf = _compile(parts, sources, include, defines, Path(work))
            shutil.move(elf, target)
    return target


def build_bootloader() -> Path:
    """The UNO's bootloader from its own source in Debian's core: 115,200 baud, boot section of 512 bytes.

    Debian's binary of it has 532 bytes and runs over the end of the flash, as the source does with gcc 5.4:
    here the lamp's flashes at start are left out, which makes it fit.
    """
    source = CORE / "bootloaders" / "optiboot" / "optiboot.c"
    if not source.is_file():
        raise InputError(
            f"{source}: Debian's Arduino core is missing; 'motecrypt doctor' shows how to get it"
        )
    target = cache_dir() / "sketches" / _key([], [source], [source.parent]) / "optiboot.elf"
    if not target.exists():
        make_dir(target.parent)
        flags = ["-mmcu=atmega328p", "-Os", "-w", "-fno-inline-small-functions", "-fno-split-wide-types"]
        flags += ["-DF_CPU=16000000L", "-DLED_START_FLASHES=0", "-DBAUD_RATE=115200", f"-I{source.parent}"]
        flags += ["-nostartfiles", "-nostdlib", "-Wl,--relax", "-Wl,--gc-sections"]
        flags += ["-Wl,--section-start=.text=0x7e00", "-Wl,--section-start=.version=0x7ffe"]
        with tempfile.TemporaryDirectory(prefix=".building.", dir=target.parent) as work:
            elf = Path(work) / "optiboot.elf"
            made = process.run(["avr-gcc", *flags, source, "-o", elf])
            if not made.ok:
                raise BuildError(made.told_errors)
            shutil.move(elf, target)
    return target


def _sketch_parts(sketch: Path) -> list[Path]:
    """The .ino files of a sketch, the main one first. A lone file among other sketches is a sketch."""
    main = sketch.parent / f"{sketch.parent.name}.ino"
    if main != sketch:
        return [sketch]
    return [sketch, *(p for p in sorted(sketch.parent.glob("*.ino")) if p != sketch)]


def _libraries_of(files: Iterable[Path], places: Sequence[Path], own: Path) -> list[Path]:
    """Folders of the libraries that the files include, and those that these include."""
    found: dict[Path, None] = {}
    waiting = list(files)
    seen: set[str] = set()
    while waiting:
        file = waiting.pop()
        for name in _INCLUDE.findall(_text_of(file)):
            if name in seen or (file.parent / name).is_file():
                continue  # a header next to the file does not belong to another library
            if (own / name).is_file() or (CORE / "cores" / "arduino" / name).is_file():
                continue
            seen.add(name)
            library = _library_with(name, places, own)
            if library is not None and library not in found:
                found[library] = None
                waiting += [p for folder in _include_folders(library) for p in sorted(folder.glob("*.h"))]
                waiting += _library_sources(library)
    return list(found)


def _text_of(path: Path) -> str:
    return read_regular(path).decode(errors="replace")


def _library_with(header: str, places: Sequence[Path], own: Path) -> Path | None:
    stem = Path(header).stem
    for place in places:
        candidates = [
            place / stem,
            *(sorted(p for p in place.iterdir() if p.is_dir()) if place.is_dir() else []),
        ]
        for library in candidates:
            if (
                library != own
                and not _is_sketch(library)
                and any((library / sub / header).is_file() for sub in ("src", "."))
            ):
                return library
    return None


def _is_sketch(folder: Path) -> bool:
    """Whether a folder is a sketch: the files next to one belong to it alone."""
    return (folder / f"{folder.name}.ino").is_file()


def _include_folders(library: Path) -> list[Path]:
    return [library / "src"] if (library / "src").is_dir() else [library, *_existing(library / "utility")]


def _existing(*folders: Path) -> list[Path]:
    return [f for f in folders if f.is_dir()]


def _library_sources(library: Path) -> list[Path]:
    if (library / "src").is_dir():
        return [p for p in sorted((library / "src").rglob("*")) if p.suffix in _SOURCES]
    places = [library, *_existing(library / "utility")]
    return [p for place in places for p in sorted(place.iterdir()) if p.suffix in _SOURCES]


def _key(
    parts: Sequence[Path], sources: Sequence[Path], include: Sequence[Path], defines: Sequence[str] = ()
) -> str:
    digest = hashlib.sha256()
    said = (_VERSION, toolchain.identity("avr-gcc"), _MACHINE, _COMMON, _FLAGS, _LINK, *defines)
    digest.update(repr(said).encode())
    headers = [p for folder in include for p in sorted(folder.glob("*.h"))]
    for path in (*parts, *sources, *headers):
        digest.update(f"{path}\0".encode() + read_regular(path))
    return digest.hexdigest()[:32]


def _core() -> Path:
    """The core as an archive, so that of it only what a sketch uses is linked, interrupts included."""
    sources = [p for p in sorted((CORE / "cores" / "arduino").iterdir()) if p.suffix in _SOURCES]
    target = cache_dir() / "sketches" / _key([], sources, _CORE_INCLUDE) / "core.a"
    if not target.exists():
        make_dir(target.parent)
        with tempfile.TemporaryDirectory(prefix=".building.", dir=target.parent) as work:
            objects = _objects(sources, _CORE_INCLUDE, Path(work))
            made = process.run(["avr-gcc-ar", "rcs", "core.a", *[o.name for o in objects]], cwd=Path(work))
            if not made.ok:
                raise BuildError(made.told_errors)
            shutil.move(Path(work) / "core.a", target)
    return target


def _objects(
    sources: Sequence[Path], include: Sequence[Path], work: Path, defines: Sequence[str] = ()
) -> list[Path]:
    flags = (*_MACHINE, *_COMMON, *(f"-D{define}" for define in defines), *(f"-I{i}" for i in include))

    def compile_one(numbered: tuple[int, Path]) -> Path:
        number, source = numbered
        target = work / f"{number}_{source.name}.o"
        command = "avr-gcc" if source.suffix in (".c", ".S") else "avr-g++"
        toolchain.compile_object(command, (*flags, *_FLAGS[source.suffix]), source, target, work, plain=True)
        return target

    with ThreadPoolExecutor(max_workers=processors()) as pool:
        return list(pool.map(compile_one, enumerate(sources)))


def _compile(
    parts: Sequence[Path],
    sources: Sequence[Path],
    include: Sequence[Path],
    defines: Sequence[str],
    work: Path,
) -> Path:
    main = work / "sketch.cpp"
    main.write_text(sketch_source([(p, _text_of(p)) for p in parts]), encoding="utf-8")
    objects = _objects([main, *sources], include, work, defines)
    elf = work / "sketch.elf"
    toolchain.link("avr-gcc", _LINK, objects, elf, work, libraries=(str(_core()), "-lm"))
    return elf


# --- what the IDE does to a sketch before it is C++ --------------------------------------------------


def sketch_source(parts: Sequence[tuple[Path, str]]) -> str:
    """C++ of a sketch: Arduino.h first, the files one after the other, and prototypes of their functions
    before the first of them. Line numbers stay those of the sketch."""
    text = "".join(f'#line 1 "{path}"\n{body}\n' for path, body in parts)
    plain = _without_comments(text)
    found = list(_functions(plain))
    lines: list[str] = ["#include <Arduino.h>\n"]
    if not found:
        return lines[0] + text
    first = found[0][0]
    declared = "".join(f"{prototype};\n" for _, prototype in found)
    path, line = _place(text, first)
    return f'{lines[0]}{text[:first]}\n{declared}#line {line} "{path}"\n{text[first:]}'


def _place(text: str, offset: int) -> tuple[str, int]:
    before = text[:offset]
    at = before.rindex("#line 1 ")
    path = before[at:].split('"')[1]
    return path, before[at:].count("\n")


def _without_comments(text: str) -> str:
    """The same length and lines, with comments, strings and preprocessor lines blanked."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*'
    return re.sub(pattern, blank, text, flags=re.DOTALL | re.MULTILINE)


_HEAD = re.compile(
    r"^(?P<type>[A-Za-z_][\w\s:<>,*&]*?[\s*&])(?P<name>[A-Za-z_]\w*)\s*\((?P<arguments>[^()]*)\)\s*$"
)
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\([^()]*(?:\([^()]*\))?[^()]*\)\)")
_NO_TYPE = re.compile(r"\b(class|struct|union|enum|namespace|template|typedef|using|operator|else|return)\b")


def _functions(plain: str) -> Iterable[tuple[int, str]]:
    """Offsets and prototypes of the functions defined at the outermost level."""
    depth, start = 0, 0
    for at, character in enumerate(plain):
        if character == "{":
            if depth == 0:
                head = plain[start:at]
                told = " ".join(_ATTRIBUTE.sub(" ", head).split())
                match = _HEAD.match(told)
                if match and not _NO_TYPE.search(match["type"]) and "=" not in match["arguments"]:
                    yield start + len(head) - len(head.lstrip()), told
            depth += 1
        elif character == "}":
            depth = max(0, depth - 1)
            start = at + 1
        elif character == ";" and depth == 0:
            start = at + 1


__all__ = ["BuildError", "build_bootloader", "build_sketch", "sketch_source"]
