"""A scheduler or worker as a process: `python -m motecrypt.measuring.cluster.host scheduler|worker ...`.

It prints its address when others can reach it, and ends when its standard input does, so that it never
outlives the process that started it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from motecrypt.measuring.cluster.places import ClusterAddress, place_of

GONE_S = 30.0  # after which a silent worker counts as gone
CONNECT_S = 10.0
ROUTE_S = 1.0  # between two looks for a way to the scheduler
NO_SCHEDULER = 3
"""The exit code of a worker that found no scheduler."""
SETTINGS = {
    "distributed.comm.timeouts.connect": f"{CONNECT_S:g}s",
    "distributed.comm.timeouts.tcp": f"{GONE_S:g}s",
    "distributed.scheduler.http.routes": [],  # nothing of it is served without TLS
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.admin.system-monitor.interval": "10s",  # these three cost a waiting scheduler the most
    "distributed.admin.tick.interval": "1s",
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.admin.tick.limit": "1h",
}


def settle() -> None:
    """Dask's settings for all that we start, and its log silenced: what matters is said by us."""
    import dask
    import distributed  # noqa: F401 - sets up its own log

    dask.config.set(SETTINGS)
    own = [name for name in logging.root.manager.loggerDict if name.startswith("distributed.")]
    for name in ("distributed", "tornado", "asyncio", *own):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def main(arguments: Sequence[str]) -> int:
    """Run as the words say: scheduler HOST:PORT TLS | worker ADDRESS TLS NAME SECONDS."""
    role, address, tls, *more = arguments
    place = place_of(address, Path(tls), role)
    settle()
    if role == "scheduler":
        return asyncio.run(_scheduler(place))
    name, seconds = more
    return asyncio.run(_worker(place, name, float(seconds)))


async def _scheduler(place: ClusterAddress) -> int:
    from distributed import Scheduler

    async with Scheduler(
        host=place.host,
        port=place.port,
        protocol=place.address.partition("://")[0],
        security=place.security(),
        dashboard=False,
        dashboard_address="127.0.0.1:0",
        worker_ttl=GONE_S,
    ) as scheduler:
        print(scheduler.address, flush=True)
        await _until_closed(scheduler)
    return 0


async def _worker(place: ClusterAddress, name: str, seconds: float) -> int:
    from distributed import Worker

    from motecrypt.measuring.cluster import worker as _  # noqa: F401 - its code is loaded now, like its hash
    from motecrypt.measuring.cluster.copies import mark

    own = mark()
    until = time.monotonic() + seconds
    while (host := own_host(place)) is None:
        if time.monotonic() > until:
            return NO_SCHEDULER
        await asyncio.sleep(ROUTE_S)
    with tempfile.TemporaryDirectory(prefix="motecrypt-worker.", ignore_cleanup_errors=True) as scratch:
        try:
            worker = await Worker(
                place.address,
                nthreads=1,
                name=name,
                resources={own: 1},
                host=host,
                security=place.security(),
                local_directory=scratch,
                memory_limit=0,
                dashboard=False,
                dashboard_address="127.0.0.1:0",
                death_timeout=max(ROUTE_S, until - time.monotonic()),
            )
        except (OSError, TimeoutError) as error:
            print(f"no scheduler: {error}", file=sys.stderr, flush=True)
            return NO_SCHEDULER
        print(worker.address, flush=True)
        await _until_closed(worker)
    # What it measures may take long: nobody waits for it any more.
    os._exit(0)


def own_host(place: ClusterAddress) -> str | None:
    """This computer's address on the way to a scheduler; None while there is no way, as Dask would then take
    the loopback address, where nobody else reaches the worker."""
    try:
        ((family, _, _, _, address), *_) = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_DGRAM)
        with socket.socket(family, socket.SOCK_DGRAM) as way:
            way.connect(address)  # sends nothing
            return str(way.getsockname()[0])
    except OSError:
        return None


async def _until_closed(server: Any) -> None:
    """Wait until the server has ended, or standard input has."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()

    def read() -> None:
        while os.read(0, 1024):
            pass
        loop.call_soon_threadsafe(over.set)

    threading.Thread(target=read, daemon=True).start()
    waits = [asyncio.create_task(over.wait()), asyncio.create_task(server.finished())]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
