"""`./test campaign --taint`: the secrets of each exported authenticated cipher under valgrind's memcheck.

The C files are those that exports write, compiled by each compiler that is here with each of a few flags.
Key and message are marked as undefined through set-up, encryption, decryption and a refusal
(drivers/taint.c). A variant whose folder calls it constant must have no branch and no address that depends on
them, and one with tables must be seen.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from exported_native import ExportedCipher, exported_ciphers
from motecrypt.attack.audits import taint
from motecrypt.attack.audits.oracle import nearest_length
from motecrypt.measuring.audits.taint import sightings

HERE = Path(__file__).parent
COMPILERS = ("gcc", "clang")
FLAGS = ("-O0", "-Os", "-O2", "-O3")
MESSAGE_BYTES = 33
EXPECTED = {
    "constant": "no secret dependence",
    "rotations": "no secret dependence",
    "state": "secrets choose addresses",
    "tables": "secrets choose addresses",
}
TIMEOUT_S = 300


def authenticated() -> list[ExportedCipher]:
    """All that a computer runs, of ciphers with a tag."""
    return [library for library in exported_ciphers() if library.cipher.kind == "aead"]


def built(library: ExportedCipher, compiler: str, flag: str, folder: Path) -> Path:
    """The export as a shared library under the names of cipher.h."""
    sources, made = library.write(folder), folder / "export.so"
    names = [f'-DEXPORT_HEADER="{library.prefix.rstrip("_")}.h"', f"-DEXPORT_PREFIX={library.prefix}"]
    flags = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-gdwarf-4", "-shared", "-fPIC", "-I", str(folder)]
    done = subprocess.run(
        [compiler, flag, *flags, *names, *map(str, sources), str(HERE / "taint_glue.c"), "-o", str(made)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{library.name}, {compiler} {flag}: {done.stderr}")
    return made


def verdict(library: ExportedCipher, compiler: str, flag: str) -> tuple[str, str]:
    """What memcheck sees of it, and the first place, if any."""
    with tempfile.TemporaryDirectory(prefix="motecrypt-taint.") as scratch:
        made = built(library, compiler, flag, Path(scratch))
        seen = sightings(made, library.cipher, nearest_length(library.cipher, MESSAGE_BYTES))
    told, found, _ = taint.judge(seen, bool(library.cipher.tag_bytes))
    return told, f"{found[0].kind} at {found[0].line}" if found else ""


def runs(only: Sequence[str]) -> Iterator[tuple[ExportedCipher, str, str]]:
    """Each library under each compiler and flag; `only`: those whose names have one of the words."""
    for library in authenticated():
        for compiler in filter(shutil.which, COMPILERS):
            for flag in FLAGS:
                if not only or set(only) & {*library.name.split(), compiler, flag}:
                    yield library, compiler, flag


def campaign(only: Sequence[str]) -> int:
    """All runs; 0 when each is what its folder says."""
    counted, wrong, started = Counter[str](), 0, time.monotonic()
    for library, compiler, flag in runs(only):
        told, place = verdict(library, compiler, flag)
        counted[told] += 1
        if told != EXPECTED[library.body.timing]:
            wrong += 1
            print(f"{library.name}, {compiler} {flag}: {told} {place}", flush=True)
        if counted.total() % 24 == 0:
            print(f"taint: {counted.total()} runs, {wrong} wrong", file=sys.stderr, flush=True)
    for told, count in sorted(counted.items()):
        print(f"{told}: {count}")
    print(f"{counted.total()} runs, {wrong} not as their folder says ({time.monotonic() - started:.0f} s)")
    return 1 if wrong or not counted else 0
