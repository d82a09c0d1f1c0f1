"""The parts that need only our compiled code: the mathematics of motecrypt.attack.audits, run on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from motecrypt.attack.audits import avalanche, determinism, integrity, statistics
from motecrypt.attack.audits.attacks import all_attacks, attacks_on
from motecrypt.attack.audits.oracle import Access, Part
from motecrypt.base.model import Cipher
from motecrypt.build.toolchain import BuildRequest, key_of
from motecrypt.build.toolchain.native import open_implementation
from motecrypt.measuring.audits import Subject
from motecrypt.measuring.audits._native import NativeAccess
from motecrypt.results import Results

_PARTS: dict[str, Callable[[Access, Subject], Part]] = {
    avalanche.NAME: lambda access, s: avalanche.audit(access, s.cipher, s.seed, s.quick),
    determinism.NAME: lambda access, s: determinism.audit(access, s.cipher, s.seed),
    integrity.NAME: lambda access, s: integrity.audit(access, s.cipher, s.seed),
    statistics.NAME: lambda access, s: statistics.audit(access, s.cipher, s.seed, s.quick),
}


def names(cipher: Cipher, devices: Sequence[str]) -> list[str]:
    """The four general parts, and every attack that says it applies."""
    return [*_PARTS, *(f"attack:{attack.NAME}" for attack in attacks_on(cipher))]


def others(cipher: Cipher) -> dict[str, str]:
    """The attacks that are for other ciphers, with what they need."""
    return {f"attack:{a.NAME}": a.NEEDS for a in all_attacks() if not a.applies(cipher)}


def identity(subject: Subject, part: str) -> dict[str, Any]:
    """The build of the cipher for the host."""
    host = subject.catalog.device("host")
    request = BuildRequest(host, subject.implementation, next(iter(host.placements)))
    return {"build": key_of(request)}


def run(subject: Subject, part: str, results: Results) -> Part:
    """Run the part on the compiled cipher."""
    access = NativeAccess(open_implementation(subject.cipher, subject.implementation))
    if part in _PARTS:
        return _PARTS[part](access, subject)
    attack = next(a for a in attacks_on(subject.cipher) if part == f"attack:{a.NAME}")
    return attack.run(access, subject.cipher, subject.seed, subject.quick)
