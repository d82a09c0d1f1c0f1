"""Programs and libraries in C that tests compile for this computer."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

TIMEOUT_S = 600


def compiled(target: Path, command: Sequence[str]) -> Path:
    """Compile into `target`, whose folder is the current one; RuntimeError with what the compiler says."""
    done = subprocess.run(
        [*command, "-o", str(target)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        cwd=target.parent,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return target
