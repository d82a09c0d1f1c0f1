"""Who measures a sweep: the workers of a scheduler, or worker processes of this computer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from motecrypt.app.selection import Selection
from motecrypt.base.errors import InputError
from motecrypt.base.process import processors
from motecrypt.build.setup import need
from motecrypt.measuring.bench import CrewOf

LOCAL_MAX = 256
LOOK_S = 1.0


@contextmanager
def scheduler(listen: str, tls: Path | None) -> Iterator[tuple[str, Callable[[], None]]]:
    """A scheduler that workers and sweeps connect to, while the block lasts.

    Yields its address, and what is called every second or so: InputError once the scheduler has ended.

    Parameters
    ----------
    listen
        Its own address, HOST:PORT.
    tls
        This computer's certificate: a folder.
    """
    from motecrypt.measuring.cluster.places import place_of

    place = place_of(listen, tls, "--listen")
    need("cluster")
    from motecrypt.measuring.cluster.start import scheduler as started

    with started(place) as (here, child):

        def look() -> None:
            if child.process.poll() is not None:
                raise InputError(f"{here.address}: the scheduler has ended; start it again")

        yield here.address, look


@contextmanager
def workers(
    address: str, tls: Path | None, count: int | None, patience_s: float, say: Callable[[str], None]
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Processes that measure for a scheduler, while the block lasts.

    Yields how many they are and for whom, and what is called every second or so: it starts those again that
    have died.

    Parameters
    ----------
    address, tls
        The scheduler's address, and this computer's certificate: a folder.
    count
        How many; None: one for each processor.
    patience_s
        How long each looks for the scheduler, in seconds.
    say
        Takes a line about a worker that is not started again.
    """
    from motecrypt.measuring.cluster.places import place_of

    place = place_of(address, tls, "ADDRESS")
    need("cluster")
    from motecrypt.measuring.cluster.start import Workers

    started = Workers(place, count or processors(), patience_s, say)
    try:
        yield f"{len(started.pids)} workers for {place.address}", started.keep
    finally:
        started.stop()


@contextmanager
def crew_of_cluster(
    text: str, tls: Path | None, chosen: Selection, say: Callable[[str], None]
) -> Iterator[CrewOf]:
    """Who measures, while the block lasts.

    Parameters
    ----------
    text
        The address of a scheduler, or local:N for N workers on this computer.
    say
        Takes a line about the workers.

    Raises
    ------
    InputError
        It is neither; or nobody answers there.
    """
    from motecrypt.measuring.cluster.places import place_of

    count = _local(text)
    if count and tls is not None:
        raise InputError("--tls: is not for --cluster local:N, which makes its own certificates")
    place = None if count else place_of(text, tls, "--cluster")
    need("cluster")
    from motecrypt.measuring.cluster.crew import ClusterCrew
    from motecrypt.measuring.cluster.start import connected, local

    def crews(client: object) -> CrewOf:
        return lambda stop, keys: ClusterCrew(client, stop, keys, chosen.own, say)

    if place is not None:
        with connected(place) as client:
            yield crews(client)
        return
    with local(count, say) as (here, workers, _), _kept(workers.keep, say), connected(here) as client:
        yield crews(client)


def _local(text: str) -> int:
    """N of local:N; 0 for an address."""
    if text != "local" and not text.startswith("local:"):
        return 0
    number = text.removeprefix("local:")
    if not (number.isascii() and number.isdigit() and 1 <= int(number) <= LOCAL_MAX):
        raise InputError(f"--cluster '{text}': write local:N with 1 to {LOCAL_MAX} workers, such as local:2")
    return int(number)


@contextmanager
def _kept(keep: Callable[[], None], say: Callable[[str], None]) -> Iterator[None]:
    """Start workers again that die, in the meantime."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(LOOK_S):
            try:
                keep()
            except InputError as error:
                say(str(error))
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
