"""Parts of the link compiled for tests, once for each content of their sources and each set of options."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from motecrypt.base.paths import cache_dir, make_dir
from motecrypt.build.toolchain.includes import file_hash, reached


def compiled(command: Sequence[str | Path], places: Sequence[Path] = (), prefix: str = "") -> Path:
    """The library that a command makes.

    Parameters
    ----------
    command
        Without its output. Its paths are sources (.c) and folders of headers.
    places
        Further folders of headers, which the command names in words; they are searched first.
    prefix
        What the library's name begins with.
    """
    paths = [part for part in command if isinstance(part, Path)]
    sources = [path for path in paths if path.suffix == ".c"]
    headers = [*places, *(path for path in paths if path.suffix != ".c")]
    hashes = [file_hash(path) for path in reached(sources, headers)]
    words = [part for part in command if isinstance(part, str)]
    key = hashlib.sha256("\0".join((*hashes, *words)).encode()).hexdigest()[:20]
    target = make_dir(cache_dir() / "link-tests") / f"{prefix}{key}.so"
    if not target.exists():
        scratch = target.with_name(f".{target.name}.{os.getpid()}")
        done = subprocess.run(
            [*map(str, command), "-o", str(scratch)], capture_output=True, text=True, timeout=120, check=False
        )
        if done.returncode != 0:  # no AssertionError: a test that awaits one would take it for its own
            raise RuntimeError(done.stderr)
        scratch.replace(target)
    return target
