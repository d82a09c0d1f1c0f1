"""What the tests need of the tool sets: without one its tests are skipped, everywhere for the same reason."""

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


def needs_tool_set(*tool_sets: str) -> pytest.MarkDecorator:
    """The mark of tests that these tool sets must be installed for."""
    missing = _missing(tool_sets)
    return pytest.mark.skipif(bool(missing), reason=_reason(missing or tool_sets))


def on_devices(*devices: Device) -> list[ParameterSet]:
    """The names of devices as parameters: each is skipped where its tool set is not installed, so that a
    test has the same cases on every machine."""
    return [pytest.param(one.name, id=one.name, marks=needs_tool_set(one.tool_set)) for one in devices]


def needs_npm(file: Path) -> pytest.MarkDecorator:
    """The mark of tests that need this file of a package of npm, and Node to install it."""
    package = file.relative_to(NPM).parts[0]
    reason = f"{package} is not installed: ./test installs it with npm, which comes with the tool set 'node'"
    there = have("node") and file.exists()
    return pytest.mark.skipif(not there, reason=reason)


def skip_without(*tool_sets: str, compiler: bool = True) -> None:
    """The same inside a test, for one that cannot name its tool sets before.

    Parameters
    ----------
    compiler
        False: the tool sets' own compilers may be missing, a pinned toolchain takes their place.
    """
    if missing := _missing(tool_sets, compiler):
        pytest.skip(_reason(missing))


def _missing(tool_sets: Sequence[str], compiler: bool = True) -> list[str]:
    return [tool_set for tool_set in tool_sets if not state(tool_set, compiler=compiler).complete]


def _reason(tool_sets: Sequence[str]) -> str:
    """./test counts the skipped tests by these words."""
    named = " and ".join(f"'{tool_set}'" for tool_set in tool_sets)
    one = len(tool_sets) == 1
    return (
        f"the tool set{'' if one else 's'} {named} {'is' if one else 'are'} not installed (motecrypt doctor)"
    )
