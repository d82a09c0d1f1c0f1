"""motecrypt doctor: what is installed, what is missing, how to get it."""

from __future__ import annotations

import platform
import sys
from dataclasses import asdict

import click

from motecrypt import __version__
from motecrypt.app.doctor import doctor
from motecrypt.base.paths import cache_dir, default_results
from motecrypt.cli._output import print_json, print_table, table_options


@click.command(epilog="Example: motecrypt doctor")
@table_options
def command(as_json: bool) -> None:
    """Show what is installed, what is missing and how to get it. Installs nothing."""
    found = doctor()
    if as_json:
        print_json([asdict(each) for each in found])
        return
    rows = [[each.tool_set, each.state, each.title, ", ".join(each.missing)] for each in found]
    text = (
        f"motecrypt {__version__}, Python {platform.python_version()} ({sys.executable})\n"
        f"results: {default_results()}\ncache:   {cache_dir()}\n"
        "Each command installs the tool sets that it needs and reports this first."
    )
    ways = "".join(f"To get {each.tool_set}: {each.how}\n" for each in found if not each.complete)
    print_table("Tool sets", ["tool set", "state", "what", "missing"], rows, ways + text, ["missing", "what"])
