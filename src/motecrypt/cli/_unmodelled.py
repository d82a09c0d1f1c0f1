"""What a firmware used that is not modelled, for people and as JSON."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

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


def unmodelled_json(ended: Ended) -> list[dict[str, Any]]:
    """The same for programs."""
    return [asdict(block) for block in ended.unmodelled]
