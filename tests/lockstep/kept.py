"""What a campaign has compared so far, kept in the cache, so that the same command continues a stopped one.

It holds for the same engines and programs only: any change of a driver, of a device's figures or of the
harness begins again.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lockstep.pairs import Pair, device_of
from motecrypt.base.paths import cache_dir, write_atomically
from motecrypt.build.toolchain.drivers import driver_identity
from motecrypt.catalog import Catalog

HERE = Path(__file__).parent


@dataclass
class Kept:
    """How many programs from the seed on were compared, and what differed; or by its name the hash of each
    firmware that was compared, and how it ended."""

    place: Path
    identity: str
    programs: int = 0
    firmware: dict[str, list[str]] = field(default_factory=dict)
    differ: list[str] = field(default_factory=list)

    def save(self) -> None:
        """For the next call of the command."""
        told: dict[str, Any] = asdict(self)
        del told["place"]
        write_atomically(self.place, json.dumps(told).encode())


def kept(name: str, what: str, pair: Pair) -> Kept:
    """Of a pair's campaign from a seed on, or with "firmware"; empty where these engines have none."""
    place = cache_dir() / "lockstep" / f"{name}-{what}.json".replace(" ", "-")
    fresh = Kept(place, identity(device_of(name), pair))
    try:
        told = json.loads(place.read_bytes())
        found = Kept(place, **told)
    except (OSError, ValueError, TypeError):
        return fresh
    return found if found.identity == fresh.identity else fresh


def identity(device: str, pair: Pair) -> str:
    """A hash of the drivers, the device's figures, the programs' makers and the other engine's adapter."""
    files = [
        HERE / "engine.py",
        *sorted(HERE.glob(f"{Path(inspect.getfile(type(pair.core))).stem}*.py")),
        *sorted(HERE.glob(f"{pair.other.name}.mjs")),
    ]
    parts = [repr(pair), json.dumps(dict(Catalog.load().device(device).simulator), sort_keys=True)]
    parts += [driver_identity(name) for name in pair.core.drivers]
    parts += [path.read_text() for path in files]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
