"""Which compiler flags a descriptor or the command line may give.

GCC has flags that run a program (-wrapper, -fplugin, -B, -specs), read any file (@file, -include, -imacros)
or write one (-o, -fdump, -save-temps). A cipher's or library's folder from somebody else must not use
these, so the allowed flags are listed here, and all others are refused. What the flags do to code is not
modelled.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from motecrypt.base.errors import InputError

_WORD = r"[A-Za-z0-9]+(?:[-_+][A-Za-z0-9]+)*"
#: -f flags that name a file, read or write one next to the source, or load code.
_WITH_FILES = (
    r"(?:no-)?(?:plugin|dump|profile|auto-profile|test-coverage|branch-probabilities|save-optimization"
    r"|callgraph-info|stack-usage|opt-info|compare-debug|pch|working-directory|offload|self-test|modules)"
)
_VALUED = (
    "visibility|fp-contract|excess-precision|vect-cost-model|simd-cost-model|tls-model|lto|inline-limit"
    "|sanitize|stack-limit-register|abi-version|max-errors|tree-parallelize-loops|live-patching|pack-struct"
    "|align-functions|align-jumps|align-labels|align-loops|cf-protection|zero-call-used-regs"
)
_COMPILER = (
    re.compile(r"-O(?:[0-3sgz]|fast)?"),
    re.compile(rf"-f(?!{_WITH_FILES}(?:-|=|$)){_WORD}"),
    re.compile(rf"-f(?:{_VALUED})=[A-Za-z0-9:_-]+"),
    re.compile(rf"-m{_WORD}(?:=[A-Za-z0-9_.+-]+)?"),
    re.compile(rf"-W(?:{_WORD}(?:=[A-Za-z0-9+-]+)?)?"),
    re.compile(r"-std=[a-z0-9+:]+"),
    re.compile(r"-g(?:[0-3]|dwarf-[2-5])?"),
    re.compile(r"-D[A-Za-z_]\w*(?:=.*)?"),
    re.compile(r"-U[A-Za-z_]\w*"),
    re.compile(r"--param=[a-z0-9-]+=[0-9]+"),
    re.compile(r"-(?:w|ansi|pedantic|pedantic-errors)"),
    re.compile(r"--specs=picolibc\.specs"),  # a C library's own headers
)
_ALLOWED = (
    "-O..., -f... and -m... (without those that name a file, a plug-in or a dump), -W... (without -Wa, -Wl, "
    "-Wp), -std=..., -g, -DNAME=VALUE, -UNAME, --param=NAME=NUMBER, -w, -ansi, -pedantic, "
    "--specs=picolibc.specs"
)
_LINKER = (
    re.compile(r"-(?:nostartfiles|nostdlib|nodefaultlibs|static|shared)"),
    re.compile(r"--specs=(?:nano|nosys|rdimon|picolibc)\.specs"),
    re.compile(r"-T\{(?:device|shared)\}/[\w-]+\.ld"),
    re.compile(rf"-l{_WORD}"),
)
_TO_LINKER = re.compile(
    r"--(?:no-)?(?:gc-sections|relax|print-memory-usage|no-warn-rwx-segments|warn-common)"
    r"|--(?:defsym|section-start)=[\w.]+=(?:0x)?[0-9A-Fa-f]+"
    r"|--(?:wrap|undefined|entry)=\w+"
    r"|-Bsymbolic|-Bstatic|-T(?:text|data|bss)=(?:0x)?[0-9A-Fa-f]+"
)
_LINKER_ALLOWED = (
    "-nostartfiles, -nostdlib, -nodefaultlibs, -static, -shared, --specs= one of nano, nosys, rdimon and "
    "picolibc.specs, -T{device}/NAME.ld, -lNAME, -Wl, with --gc-sections, --relax, --defsym, "
    "--section-start, --wrap, --undefined, --entry, -Bsymbolic, -Ttext, -Tdata or -Tbss"
)
_COMMAND = re.compile(r"(?:[A-Za-z0-9_]+-)*(?:gcc|g\+\+|clang|clang\+\+|cc)(?:-[0-9.]+)?")


def checked_flags(flags: Sequence[str], where: str) -> tuple[str, ...]:
    """The flags for compiling, as they are.

    Raises
    ------
    InputError
        For the first flag that is not allowed; `where` says who gave it.
    """
    for flag in flags:
        if not any(pattern.fullmatch(flag) for pattern in _COMPILER):
            raise InputError(
                f"{where}: the compiler flag '{_shown(flag)}' is not allowed; allowed: {_ALLOWED}"
            )
    return tuple(flags)


def checked_link_flags(flags: Sequence[str], where: str) -> tuple[str, ...]:
    """The flags for linking, as they are; InputError as for `checked_flags`."""
    for flag in flags:
        parts = flag.split(",")
        to_linker = parts[0] == "-Wl" and all(_TO_LINKER.fullmatch(part) for part in parts[1:])
        if not (len(parts) > 1 and to_linker) and not any(p.fullmatch(flag) for p in _LINKER):
            raise InputError(
                f"{where}: the linker flag '{_shown(flag)}' is not allowed; allowed: {_LINKER_ALLOWED}"
            )
    return tuple(flags)


def checked_compiler(command: str, where: str) -> str:
    """A compiler's name as found in PATH: gcc or clang, with a target's prefix; InputError for another."""
    if not _COMMAND.fullmatch(command):
        raise InputError(
            f"{where}: 'command' is '{_shown(command)}'; expected the name of a GCC or Clang, such as avr-gcc"
        )
    return command


def _shown(flag: str) -> str:
    printable = flag.encode("unicode_escape").decode()
    return printable if len(printable) <= 60 else f"{printable[:57]}..."
