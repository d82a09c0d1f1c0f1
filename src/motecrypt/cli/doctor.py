"""motecrypt doctor: what is installed, what is missing, how to get it."""

from __future__ import annotations

import platform
import sys

import click

from motecrypt import __version__
from motecrypt.base.paths import cache_dir, default_results
from motecrypt.build.setup import KitState, by_hand, kits, state
from motecrypt.cli._output import print_json, print_table, table_options


@click.command(epilog="Example: motecrypt doctor")
@table_options
def command(as_json: bool) -> None:
    """Show what is installed, what is missing and how to get it. Installs nothing."""
    states = [state(name) for name in kits()]
    if as_json:
        print_json([_record(s) for s in states])
        return
    rows = [
        [
            s.kit.name,
            "ready" if s.complete else "optional, missing" if s.kit.optional else "missing",
            s.kit.title,
            ", ".join(s.missing),
        ]
        for s in states
    ]
    text = (
        f"motecrypt {__version__}, Python {platform.python_version()} ({sys.executable})\n"
        f"results: {default_results()}\ncache:   {cache_dir()}\n"
        "Each command installs the kits that it needs and reports this first."
    )
    ways = "".join(f"To get {s.kit.name}: {_how(s)}\n" for s in states if not s.complete)
    print_table("Kits", ["kit", "state", "what", "missing"], rows, ways + text, ["missing", "what"])


def _how(s: KitState) -> str:
    how = []
    if s.by_hand:
        how.append(by_hand(s.by_hand))
    if s.missing_python:
        how.append(f"pip install --require-hashes -r {s.kit.lock}")
    return "; ".join(how) + (f" ({s.kit.note})" if s.kit.note else "")


def _record(s: KitState) -> dict[str, object]:
    return {
        "kit": s.kit.name,
        "complete": s.complete,
        "optional": s.kit.optional,
        "title": s.kit.title,
        "missing": list(s.missing),
        "how": "" if s.complete else _how(s),
    }
