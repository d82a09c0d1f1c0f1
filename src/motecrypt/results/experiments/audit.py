"""The question that one part of an audit asks of one cipher."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from motecrypt.base.errors import InputError
from motecrypt.base.model import Cipher, Implementation
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

KIND = "audit"
#: The shape of what is stored; a change of an experiment's code makes it run again by itself.
VERSION = 1
SEED = 1
WEIGHTS = ("good", "note", "bad", "skipped")


@dataclass(frozen=True)
class AuditAnswer(Answer):
    """What one part of an audit came to.

    Attributes
    ----------
    weight
        How to read it: one of WEIGHTS.
    sentences
        What was found, for people.
    data
        The same for programs; what it holds depends on the part.
    """

    title: str
    verdict: str
    weight: str
    sentences: tuple[str, ...]
    data: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, stored: object) -> Self | None:
        """As of every answer; None for an unknown weight."""
        answer = super().from_json(stored)
        return answer if answer is not None and answer.weight in WEIGHTS else None


@dataclass(frozen=True)
class DiffusionMatrix(Answer):
    """How often (per cent) each input bit, from 0 up, changed each output byte."""

    input: str
    input_bytes: int
    output_bytes: int
    percent_changed_by_input_bit_and_output_byte: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class DiffusionData(Answer):
    """The data of one direction of diffusion."""

    matrix: DiffusionMatrix


@dataclass(frozen=True)
class KeyRecovery(Answer):
    """The data of an attack that recovers keys by queries: how many of how many, with how many each."""

    keys: int
    recovered: int
    queries_mean: float


@dataclass(frozen=True)
class AuditQuestion(ExperimentQuestion):
    """One part of the audit of one cipher.

    Attributes
    ----------
    cipher
        Name of the cipher.
    part
        Name of the part: diffusion, determinism, integrity, statistics, taint, timing:DEVICE,
        power:DEVICE or attack:NAME. `part_names` lists those that apply.
    seed
        Everything random is drawn from it.
    quick
        Smaller samples and fewer keys.
    variant
        Which of our implementations; None: the first that runs on the host.
    folders
        Cipher folders of the user's own, next to ours.
    devices
        Folders of devices that the user named: ours, or of their own.
    """

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION
    ANSWER: ClassVar[type[Answer]] = AuditAnswer

    cipher: str
    part: str
    seed: int = SEED
    quick: bool = False
    variant: str | None = None
    folders: tuple[Path, ...] = ()
    devices: tuple[Path, ...] = ()

    def answer(self, results: Results) -> AuditAnswer | None:
        """The newest stored answer, or None where there is none of its shape."""
        found = self.find(results)
        return None if found is None else AuditAnswer.from_json(found.outcome)

    def asked(self) -> dict[str, Any]:
        """Cipher, implementation, part, seed and size."""
        catalog = Catalog.load(ciphers=self.folders, devices=self.devices)
        body = implementation(catalog, catalog.cipher(self.cipher), self.variant)
        return self._asked_of(body.name)

    def _asked_of(self, name: str) -> dict[str, Any]:
        return {
            "cipher": self.cipher,
            "implementation": name,
            "part": self.part,
            "seed": self.seed,
            "quick": self.quick,
        }


def implementation(catalog: Catalog, cipher: Cipher, variant: str | None) -> Implementation:
    """Which of our implementations is audited: the named one, or the first that runs on the host.

    Raises
    ------
    InputError
        When there is none; the message names those there are.
    """
    bodies = catalog.implementations_of(cipher.name, "host", ("motecrypt",))
    known = [body.variant for body in bodies]
    if variant is not None:
        bodies = [body for body in bodies if variant in (body.variant, body.name)]
    if not bodies:
        hint = f"available: {', '.join(known)}" if known else "no variant of ours runs on the host"
        raise InputError(f"{cipher.name}: no variant {variant!r} to audit; {hint}")
    return bodies[0]
