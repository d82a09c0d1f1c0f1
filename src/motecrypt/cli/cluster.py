"""motecrypt cluster: set up several computers for a sweep."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from motecrypt.cli._interrupt import patient
from motecrypt.cli._request import FOLDER
from motecrypt.measuring.cluster.places import PORT

tls_option = click.option(
    "--tls",
    type=FOLDER,
    metavar="DIR",
    help="This computer's certificate: a folder that 'motecrypt cluster keys' made.",
)
LOOK_S = 1.0


@click.group(epilog="Example: motecrypt cluster keys keys server laptop")
def command() -> None:
    """Set up several computers for 'motecrypt sweep --cluster'.

    Workers run what they are sent, so every computer needs a certificate, and anyone who has one can
    run programs on all of them.
    """


@command.command(epilog="Example: motecrypt cluster keys keys server laptop")
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option(
    "--days",
    type=click.IntRange(2, 3650),
    default=365,
    show_default=True,
    help="How long certificates are valid.",
)
def keys(folder: Path, names: Sequence[str], days: int) -> None:
    """Make an authority and a certificate for each computer.

    Copy the folder DIR/NAME to its computer, and nothing else. DIR/ca-key.pem stays where it is: with it the
    command makes certificates for more computers later.
    """
    from motecrypt.measuring.cluster.keys import make_keys

    for made in make_keys(folder, names, days):
        print(made)


@command.command(epilog=f"Example: motecrypt cluster scheduler --listen 10.0.0.1:{PORT} --tls keys/server")
@click.option(
    "--listen", default=f"127.0.0.1:{PORT}", show_default=True, metavar="HOST:PORT", help="Its own address."
)
@tls_option
def scheduler(listen: str, tls: Path | None) -> None:
    """Run the scheduler, which workers and sweeps connect to, until Ctrl-C."""
    from motecrypt.app import cluster as app

    with app.scheduler(listen, tls) as (address, look):
        print(address, flush=True)
        _until_ctrl_c(look)


@command.command(epilog=f"Example: motecrypt cluster worker tls://10.0.0.1:{PORT} --tls keys/laptop")
@click.argument("address", metavar="ADDRESS")
@tls_option
@click.option(
    "--workers",
    "count",
    type=click.IntRange(1, 256),
    help="How many batches at the same time; default: one for each processor.",
)
@click.option(
    "--patience",
    type=click.IntRange(1, 86_400),
    default=300,
    show_default=True,
    help="Seconds to look for the scheduler.",
)
def worker(address: str, tls: Path | None, count: int | None, patience: int) -> None:
    """Measure for a scheduler, until Ctrl-C.

    Compilers and simulators must be installed: see 'motecrypt doctor'. A worker that dies is started again.
    One that has another compiler than the sweep's computer is refused there.
    """
    from motecrypt.app import cluster as app

    with app.workers(address, tls, count, patience, say) as (told, keep):
        print(told, file=sys.stderr, flush=True)
        _until_ctrl_c(keep)


def say(line: str) -> None:
    """Print a line about the sweep or its workers."""
    print(f"motecrypt: {line}", file=sys.stderr, flush=True)


def _until_ctrl_c(look: Callable[[], None]) -> None:
    with patient():
        try:
            while True:
                time.sleep(LOOK_S)
                look()
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
