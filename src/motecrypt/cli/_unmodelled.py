"""What a firmware used that is not modelled, for people and as JSON."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from motecrypt.simulate.emulate.run import Ended, Unmodelled


def show_unmodelled(ended: Ended) -> None:
    """One line for each block, to standard error; nothing where there is none."""
    if ended.unmodelled:
        print("motecrypt: not modelled, but used by the firmware:", file=sys.stderr)
    for block in ended.unmodelled:
        print(f"  {unmodelled_line(block)}", file=sys.stderr)


def show_used(ended: Ended) -> None:
    """The notes of a run that is over, and the same lines."""
    for note in ended.notes:
        print(f"motecrypt: {note}", file=sys.stderr)
    show_unmodelled(ended)


def unmodelled_line(block: Unmodelled) -> str:
    """Its address, name, accesses, and where the first was."""
    name = f" {block.name}" if block.name else ""
    times = "1 access" if block.accesses == 1 else f"{block.accesses:,} accesses"
    function = f" in {block.function}" if block.function else ""
    source = f" ({Path(block.file).name}:{block.line})" if block.file else ""
    return f"{block.address:#010x}{name}: {times}, the first at {block.pc:#010x}{function}{source}"


def unmodelled_json(ended: Ended) -> list[dict[str, Any]]:
    """The same for programs."""
    return [asdict(block) for block in ended.unmodelled]
