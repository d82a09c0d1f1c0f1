"""Known attacks, run live. Each module here without a leading underscore is one attack.

A module declares ``NAME``, ``TITLE``, ``SOURCE``, ``NEEDS``, ``applies(cipher) -> bool`` and
``run(access, cipher, seed, quick) -> Part``. Nothing lists them: which attacks apply to which cipher
is found by asking each module. Inside a module the attacker is a function of its own that is handed only
what an attacker would see; the rest plays the victim and checks the attacker's claims.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Protocol, cast

from motecrypt.attack.audits.oracle import Access, Part
from motecrypt.base.model import Cipher


class Attack(Protocol):
    """What a module of this package offers."""

    NAME: str
    TITLE: str
    SOURCE: str
    NEEDS: str

    def applies(self, cipher: Cipher) -> bool:
        """Whether the attack is one on this cipher."""

    def run(self, access: Access, cipher: Cipher, seed: int, quick: bool) -> Part:
        """Play victim and attacker; `quick` asks for fewer keys."""


def all_attacks() -> tuple[Attack, ...]:
    """Return every attack, by module name."""
    names = sorted(
        module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")
    )
    return tuple(cast(Attack, importlib.import_module(f"{__name__}.{name}")) for name in names)


def attacks_on(cipher: Cipher) -> tuple[Attack, ...]:
    """Return the attacks that say they apply to this cipher."""
    return tuple(attack for attack in all_attacks() if attack.applies(cipher))
