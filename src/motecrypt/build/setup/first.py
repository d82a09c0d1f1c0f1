"""Installs what locks pin in this environment: `python -m motecrypt.build.setup.first LOCK...`.

For setup.sh; it needs nothing but Python's own library."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from motecrypt.build.setup.runs import CONNECT, Unreached, pip_command, trouble

TIMEOUT_S = 1800.0


def main(locks: Sequence[str]) -> int:
    """0; 1 with the reason where pip could not install them; 130 after Ctrl-C."""

    def say(text: str) -> None:
        print(f"motecrypt: {text}", file=sys.stderr, flush=True)

    try:
        why = trouble(pip_command(locks, "--no-deps"), dict(os.environ), TIMEOUT_S, say)
    except KeyboardInterrupt:
        return 130
    if isinstance(why, Unreached):
        say(f"Python's packages cannot be installed: {why}; {CONNECT}")
    elif why:
        say(f"pip could not install {', '.join(locks)} ({why})")
    return int(bool(why))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
