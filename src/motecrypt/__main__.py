"""``python -m motecrypt``."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:  # -m has put the current folder first: no module is taken from there
        del sys.path[0]

    from motecrypt.cli import main

    main()
