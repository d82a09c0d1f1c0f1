"""What the tests need of the tool kits: without one its tests are skipped, everywhere for the same reason."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from motecrypt.base.model import Device
from motecrypt.base.paths import cache_dir
from motecrypt.build.setup import have, state

#: Packages of npm, pinned and hashed in tests/npm; ./test installs them.
NPM = Path(os.environ.get("MOTECRYPT_NPM", cache_dir() / "npm")) / "node_modules"


def needs_kit(*kits: str) -> pytest.MarkDecorator:
    """The mark of tests that these kits must be installed for."""
    missing = _missing(kits)
    return pytest.mark.skipif(bool(missing), reason=_reason(missing or kits))


def on_devices(*devices: Device) -> list[ParameterSet]:
    """The names of devices as parameters: each is skipped where its kit is not installed, so that a test has
    the same cases on every machine."""
    return [pytest.param(one.name, id=one.name, marks=needs_kit(one.kit)) for one in devices]


def needs_npm(file: Path) -> pytest.MarkDecorator:
    """The mark of tests that need this file of a package of npm, and Node to install it."""
    package = file.relative_to(NPM).parts[0]
    reason = f"{package} is not installed: ./test installs it with npm, which comes with the kit 'node'"
    there = have("node") and file.exists()
    return pytest.mark.skipif(not there, reason=reason)


def skip_without(*kits: str, compiler: bool = True) -> None:
    """The same inside a test, for one that cannot name its kits before.

    Parameters
    ----------
    compiler
        False: the kits' own compilers may be missing, a pinned toolchain takes their place.
    """
    if missing := _missing(kits, compiler):
        pytest.skip(_reason(missing))


def _missing(kits: Sequence[str], compiler: bool = True) -> list[str]:
    return [kit for kit in kits if not state(kit, compiler=compiler).complete]


def _reason(kits: Sequence[str]) -> str:
    """./test counts the skipped tests by these words."""
    named = " and ".join(f"'{kit}'" for kit in kits)
    one = len(kits) == 1
    return f"the kit{'' if one else 's'} {named} {'is' if one else 'are'} not installed (motecrypt doctor)"
