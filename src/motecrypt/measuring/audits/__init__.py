"""Audits as experiment results: each part of an audit of one cipher is looked up, or run and stored.

The mathematics is in motecrypt.attack.audits; here it meets our compiled C code, the simulators and tools of
others. A part that could not run, because a tool is missing or the cipher lacks what it needs, is
returned with its reason and not stored, so that it runs once the tool is there.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, cast

from motecrypt.attack import audits
from motecrypt.attack.audits.oracle import Part, skipped
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cipher, ExperimentResult, Implementation
from motecrypt.build.toolchain import BuildError
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.results.experiments.audit import KIND, VERSION, AuditQuestion, implementation

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress

TOLD = ("measured", "timing", "taint", "wep", "power")
"""The modules that offer parts, in the order in which they are shown."""
ON_DEVICES = ("timing", "power")
"""The kinds of parts that there are for each device: the name is kind:device."""


@dataclass(frozen=True)
class Subject:
    """What a part is run on."""

    catalog: Catalog
    cipher: Cipher
    implementation: Implementation
    seed: int
    quick: bool
    device: str | None = None
    told: Progress = lambda done, total, what: None
    """Called with the steps done, all of them, and what was done, by parts that take long."""


class PartModule(Protocol):
    """A module of this package that offers parts."""

    def names(self, cipher: Cipher, devices: Sequence[str]) -> list[str]:
        """The parts it offers for this cipher, on these devices."""

    def others(self, cipher: Cipher) -> dict[str, str]:
        """The parts it offers for other ciphers only, with what they need."""

    def identity(self, subject: Subject, part: str) -> dict[str, Any]:
        """What the outcome depends on beyond cipher, part and seed; raises Unavailable."""

    def run(self, subject: Subject, part: str, results: Results) -> Part:
        """The part, run now; raises Unavailable."""


class Unavailable(Exception):
    """A part cannot be run here; the message is the reason, in one line."""


class AuditRun(AuditQuestion):
    """One part of the audit of one cipher, run on our compiled code."""

    def _request(self, told: Progress) -> tuple[PartModule, Subject, dict[str, Any]]:
        catalog = Catalog.load(ciphers=self.folders, devices=self.devices)
        cipher = catalog.cipher(self.cipher)
        body = implementation(catalog, cipher, self.variant)
        kind, _, device = self.part.partition(":")
        subject = Subject(
            catalog, cipher, body, self.seed, self.quick, device if kind in ON_DEVICES else None, told
        )
        module = _module_of(self.part, cipher)
        inputs = {**self._asked_of(body.name), "code": _code(), **module.identity(subject, self.part)}
        return module, subject, inputs

    def ensure(
        self,
        results: Results,
        progress: Callable[[str], None] | None = None,
        told: Progress = lambda done, total, what: None,
    ) -> ExperimentResult:
        """Return the stored result, or run the part and store it.

        `told`: called with the steps done, all of them, and what was done, by a part that takes long.
        """
        if progress is not None:
            progress(f"{self.cipher}: {self.part}")
        inputs = self._asked_of(self.variant or "")
        begin = perf_counter()
        try:
            module, subject, inputs = self._request(told)
            stored = self.kept(results, inputs)
            if stored is not None:
                return stored
            part = module.run(subject, self.part, results)
        except (Unavailable, BuildError) as reason:
            part = skipped(self.part, self.part, str(reason))
        if part.weight == "skipped":
            return ExperimentResult(KIND, VERSION, inputs, part.as_json())
        outcome = {**part.as_json(), "elapsed_s": round(perf_counter() - begin, 3)}
        asked = self._asked_of(subject.implementation.name)
        return results.store_experiment(KIND, VERSION, inputs, outcome, asked)


@lru_cache(maxsize=1)
def _code() -> str:
    """A hash of the audits' own sources: anyone who changes an experiment gets it run again."""
    folders = (Path(audits.__file__).parent, Path(__file__).parent)
    sources = sorted(path for folder in folders for path in folder.rglob("*.py"))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:16]


def part_names(cipher: Cipher, devices: Sequence[str] | None = None) -> list[str]:
    """Return the parts that an audit of this cipher has, in the order they are reported.

    `devices`: those whose timing is looked at; None: all that a simulator runs.
    """
    if devices is None:
        devices = [device.name for device in Catalog.load().devices.values() if device.simulated]
    return [name for module in _modules() for name in module.names(cipher, devices)]


def not_applicable(cipher: Cipher) -> dict[str, str]:
    """Return the parts that are for other ciphers, each with what it needs."""
    found: dict[str, str] = {}
    for module in _modules():
        found |= module.others(cipher)
    return found


def _modules() -> list[PartModule]:
    return [cast(PartModule, importlib.import_module(f"{__name__}.{name}")) for name in TOLD]


def _module_of(part: str, cipher: Cipher) -> PartModule:
    kind, _, device = part.partition(":")
    devices = (device,) if kind in ON_DEVICES else ()
    known: list[str] = []
    for module in _modules():
        names = module.names(cipher, devices)
        if part in names:
            return module
        needs = module.others(cipher).get(part)
        if needs is not None:
            raise Unavailable(f"does not apply to {cipher.name}: it needs {needs}")
        known += names
    raise InputError(f"the audit of {cipher.name} has no part '{part}'; it has: {', '.join(known)}")


__all__ = ["AuditRun", "Part", "Subject", "Unavailable", "not_applicable", "part_names"]
