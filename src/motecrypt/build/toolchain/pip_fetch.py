"""pip, kept from running other programs: fetches a source distribution and nothing of it runs.

    python -P pip_fetch.py PLACE FILE ARGUMENT...

runs `pip ARGUMENT...` with its temporary files in PLACE. To list a source distribution's dependencies, pip
starts the archive's build backend, which is code of the archive's author. Here every start of a program is
refused by an audit hook (PEP 578), before it happens; by then pip has fetched the archive, and FILE has been
copied to PLACE. Index, certificates, proxies and links are pip's own, as the user has configured them.

A separate program, because an audit hook stays for the life of its process. It does not import motecrypt.
"""

from __future__ import annotations

import os
import runpy
import shutil
import sys
import tempfile
from pathlib import Path

STARTS_A_PROGRAM = frozenset(
    ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system")
)


def guard(place: Path, file: str) -> None:
    """From now on this process starts no program; where it tries to, `file` is kept in `place`."""
    temporary = place / "pip"
    temporary.mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = str(temporary)

    def on_event(event: str, arguments: tuple[object, ...]) -> None:
        if event in STARTS_A_PROGRAM:
            if not (place / file).exists():
                for fetched in temporary.rglob("*"):
                    if fetched.name == file:
                        shutil.copyfile(fetched, place / file)
            raise PermissionError(f"refused to start a program ({event})")

    sys.addaudithook(on_event)


if __name__ == "__main__":
    guard(Path(sys.argv[1]), sys.argv[2])
    sys.argv = ["pip", *sys.argv[3:]]
    runpy.run_module("pip", run_name="__main__", alter_sys=True)
