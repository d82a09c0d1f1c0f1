"""``python -m motecrypt``."""

import os
import signal
import sys


def _stopped(*_: object) -> None:
    """Ctrl-C while modules are imported: there is nothing to end yet, and no trace to show."""
    os.write(2, b"motecrypt: stopped\n")
    os._exit(130)


if __name__ == "__main__":
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stopped)
    if not sys.flags.safe_path:  # -m has put the current folder first: no module is taken from there
        del sys.path[0]

    from motecrypt.cli import main

    main()
