"""What a firmware used that is not modelled, for people."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from motecrypt.simulate.emulate.run import Ended


def show_unmodelled(ended: Ended) -> None:
    """One line for each block, to standard error; nothing where there is none."""
    if ended.unmodelled:
        print("motecrypt: not modelled, but used by the firmware:", file=sys.stderr)
    for block in ended.unmodelled:
        print(f"  {block}", file=sys.stderr)


def show_used(ended: Ended) -> None:
    """The notes of a run that is over, and the same lines."""
    for note in ended.notes:
        print(f"motecrypt: {note}", file=sys.stderr)
    show_unmodelled(ended)
