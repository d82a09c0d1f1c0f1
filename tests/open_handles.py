"""What this process has open, so that a test can say that a call left nothing open."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def handles() -> set[tuple[str, str]]:
    """Each open handle's number and file. Ask for `handles() <= before`: a count depends on other tests.

    The garbage collector may close what earlier tests left, at any time.
    """
    found = set()
    for handle in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the one that listed them
            found.add((handle.name, str(handle.readlink())))
    return found
