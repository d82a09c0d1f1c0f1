"""Random calls of every exported cipher and packets for the exported link, with checkers of compilers on.

Each library is built three times: by GCC with AddressSanitizer and UBSan, by clang with the same, and by
clang with MemorySanitizer. What was executed is counted in a file, from which a later run continues: the
library with the fewest executions is next.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from exported_native import ExportedCipher, ExportedLink, exported_ciphers, exported_links
from host_programs import compiled as host_program
from motecrypt.base.paths import cache_dir, make_dir
from motecrypt.build.toolchain.includes import file_hash
from motecrypt.catalog import FIRMWARE

HERE = Path(__file__).parent
COUNTS = "exports.json"
RUNS_AT_ONCE = 120_000
"""Compiling a library takes as long as some of them."""
TIMEOUT_S = 900
_BOTH = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
CHECKERS: Mapping[str, tuple[str, ...]] = {
    "gcc, address and undefined": ("gcc", *_BOTH),
    "clang, address and undefined": ("clang", *_BOTH),
    "clang, memory": ("clang", "-fsanitize=memory", "-fno-sanitize-recover=all"),
}
FLAGS = ("-std=gnu99", "-O2", "-g", "-Wall", "-Wextra", "-Werror")
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}


def compiled(library: ExportedCipher | ExportedLink, checker: str, folder: Path) -> Path:
    """The harness with a library, compiled at first use."""
    command = CHECKERS[checker]
    source = HERE / ("export_fuzz.c" if isinstance(library, ExportedCipher) else "link_fuzz.c")
    harness = file_hash(source) + " ".join([*FLAGS, *command, *library.defines()])
    key = hashlib.sha256(f"{library.key} {harness}".encode()).hexdigest()[:16]
    program = make_dir(folder) / f"{key}-{library.cipher.name}"
    if not program.exists():
        sources = library.write(folder / f"{program.name}.src")
        scratch = program.with_name(f".{program.name}.{os.getpid()}")
        own = [*command, *FLAGS, "-I", str(folder / f"{program.name}.src"), *map(str, sources)]
        try:
            host_program(scratch, [*own, *library.defines(), str(source)])
        except RuntimeError as error:
            raise RuntimeError(f"{library.name}, {checker}: {error}") from None
        scratch.replace(program)
    return program


def run(program: Path, runs: int, seed: int) -> str | None:
    """Run so many messages from a seed; what went wrong, or None."""
    done = subprocess.run(
        [str(program), str(runs), str(seed)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        env={**os.environ, **ENVIRONMENT},
    )
    return None if done.returncode == 0 else f"exit code {done.returncode}\n{done.stderr}"


def checkers() -> list[str]:
    """Those whose compiler is here."""
    return [name for name, (compiler, *_) in CHECKERS.items() if shutil.which(compiler)]


def sources_key() -> str:
    """Of all that exports are made of, however it is laid out; counts of other sources do not count."""
    folders = (FIRMWARE / name for name in ("ciphers", "modes", "include"))
    files = sorted(path for folder in folders for path in folder.rglob("*.[ch]"))
    text = "".join(
        re.sub(r"/\*.*?\*/|//[^\n]*|[\s\\]", "", path.read_text(), flags=re.DOTALL) for path in files
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Counts:
    """How often each library was executed under each checker, in a file that outlives a run."""

    def __init__(self, path: Path, key: str) -> None:
        self._path, self._key = path, key
        kept = json.loads(path.read_text()) if path.exists() else {}
        self.of: dict[str, int] = kept["executions"] if kept.get("sources") == key else {}

    def add(self, name: str, count: int) -> None:
        """Count, and write the file whole."""
        self.of[name] = self.of.get(name, 0) + count
        scratch = self._path.with_suffix(".new")
        kept = {"sources": self._key, "executions": dict(sorted(self.of.items()))}
        scratch.write_text(json.dumps(kept, indent=0) + "\n")
        scratch.replace(self._path)

    @property
    def total(self) -> int:
        """Of all."""
        return sum(self.of.values())


def fuzz_exports(seconds: float, seed: int, keep: Path, executions: int) -> int:
    """Fuzz for a time, or until there are so many executions in all; 0 when nothing was found."""
    counts = Counts(make_dir(keep) / COUNTS, sources_key())
    libraries = [*exported_links(), *exported_ciphers()]
    waiting = {
        f"{library.name}, {checker}": (library, checker) for checker in checkers() for library in libraries
    }
    folder, found, ends = cache_dir() / "fuzz" / "exports", 0, time.monotonic() + seconds
    began = counts.total
    while time.monotonic() < ends and not 0 < executions <= counts.total:
        name = min(waiting, key=lambda one: counts.of.get(one, 0))
        library, checker = waiting[name]
        first = seed + counts.of.get(name, 0)
        told = run(compiled(library, checker, folder), RUNS_AT_ONCE, first)
        counts.add(name, RUNS_AT_ONCE)
        if told:
            found += 1
            (keep / f"{name.replace(' ', '-').replace(',', '')}-{first}.txt").write_text(told)
            print(f"fuzz: {name}: --seed {first}: {told.splitlines()[0]}", flush=True)
    print(
        f"exports: {counts.total - began:,} executions, {counts.total:,} with those before, "
        f"of {len(libraries)} libraries, each under {len(checkers())} checkers; {found} wrong"
    )
    return 1 if found else 0
