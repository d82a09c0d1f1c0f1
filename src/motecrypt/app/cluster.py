"""Who measures a sweep: the workers of a scheduler, or worker processes of this computer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from motecrypt.app.selection import Selection
from motecrypt.base.errors import InputError
from motecrypt.build.setup import need
from motecrypt.measuring.bench import CrewOf

LOCAL_MAX = 256
LOOK_S = 1.0


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
