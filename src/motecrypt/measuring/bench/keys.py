"""The content hash of a cell: all that its figures depend on. Builds and runs nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache

from motecrypt.base.model import Cell, Cipher, Device
from motecrypt.build.toolchain import BuildError, BuildRequest, key_of
from motecrypt.build.toolchain.includes import Looked
from motecrypt.catalog import Catalog
from motecrypt.catalog.publickey import PublicKeyAlgorithm
from motecrypt.measuring.bench import inputs
from motecrypt.measuring.bench.plan import Devices, Group, Job, empty_request, group_of
from motecrypt.simulate.runners import runner_of

BENCH_VERSION = 2


def cell_keys(catalog: Catalog, cells: Iterable[Cell]) -> dict[Cell, str]:
    """The keys of many cells: what those of one build share is worked out once."""
    keys = CellKeys(catalog)
    return {cell: keys(cell) for cell in cells}


class CellKeys:
    """CellKeys of many cells: each build's part is worked out once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._devices = Devices(catalog)
        self._shared: dict[Group, tuple[str, str, str]] = {}
        self._empty: dict[tuple[str, str, str, int, tuple[int, ...]], str] = {}
        self._looked = Looked()

    def __call__(self, cell: Cell) -> str:
        group = group_of(cell)
        if group not in self._shared:
            device = self._devices.get(cell.device, cell.toolchain, cell.implementation)
            cipher = self._catalog.measured(cell.implementation.cipher)
            built = _key_or_reason(
                BuildRequest(device, cell.implementation, cell.placement, cell.flags), self._looked
            )
            base = self._base(device, cell.placement, cipher.tag_bytes)
            runner = runner_of(device.runner).identity(device)
            settings = json.dumps([device.clock_hz, dict(device.simulator)], sort_keys=True)
            self._shared[group] = (built, f"{base} {runner} {settings}", _oracle_hash(cipher))
        return _hash_cell(*self._shared[group], _describe(cell))

    def _base(self, device: Device, placement: str, tag_bytes: int) -> str:
        key = (device.name, device.compiler.command, placement, tag_bytes, tuple(device.bench.values()))
        if key not in self._empty:
            self._empty[key] = _key_or_reason(empty_request(device, placement, tag_bytes), self._looked)
        return self._empty[key]

    def build_key(self, job: Job) -> str:
        """The key that the job's firmware had when its cells got theirs."""
        return self._shared[job.group][0]


def _key_or_reason(request: BuildRequest, looked: Looked) -> str:
    try:
        return key_of(request, looked)
    except BuildError as error:
        return f"unbuildable: {error}"


def _describe(cell: Cell) -> str:
    body = cell.implementation
    return json.dumps(
        [
            *(cell.device, cell.operation, cell.key_bits, cell.message_bytes, cell.ad_bytes),
            *(cell.placement, cell.cache, cell.flags),
            *(body.cipher, body.library, body.configuration, body.variant, inputs.VERSION, BENCH_VERSION),
        ]
    )


def _hash_cell(built: str, runner: str, oracle_hash: str, description: str) -> str:
    return hashlib.sha256("\0".join((built, runner, oracle_hash, description)).encode()).hexdigest()


@lru_cache(maxsize=256)
def _oracle_hash(cipher: Cipher | PublicKeyAlgorithm) -> str:
    path = cipher.folder / cipher.oracle
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "missing"
