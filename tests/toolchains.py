"""Which compiler a figure in a test is for: budgets and sizes are a compiler's as much as the code's.

Figures are kept for the compilers of two Debian releases. A test of such figures runs with the system's own
compiler and with each other one that figures are kept for, unpacked in the cache: figures that are out of
date fail on every system, not only on the one whose compiler they are for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from typing import TypeVar

import pytest

from motecrypt.base.errors import InputError
from motecrypt.build.toolchain import pinned
from motecrypt.catalog import Catalog

T = TypeVar("T")

KEPT = {"avr-gcc": ("gcc-5.4", "gcc-14"), "arm-none-eabi-gcc": ("gcc-12", "gcc-14")}
"""The toolchains that figures are kept for, by the compiler that they replace."""
OWN = ""
"""The system's own compiler, among toolchains."""


def for_compiler(compiler: str, figures: Mapping[str, T]) -> T:
    """The figures measured with the compiler that a measurement names, by "major.minor" of its version.

    The test is skipped for a compiler without figures.
    """
    found = re.search(r"\b(\d+\.\d+)\.\d+\b", compiler)
    assert found, compiler
    if found[1] not in figures:
        pytest.skip(f"no figures for {compiler}: there are for {', '.join(figures)}")
    return figures[found[1]]


@cache
def kept_toolchains(command: str) -> list[str]:
    """The system's own compiler and the toolchains that figures are kept for, without the one that it is."""
    known = Catalog.load().toolchains
    targets = {name: known[name].target_for(command) for name in KEPT[command]}
    return [OWN, *(name for name, target in targets.items() if target and not pinned.is_system(target))]


@cache
def root_of(toolchain: str, command: str) -> str:
    """The folder that a toolchain is in; fetched if need be. If it is not available, the test is skipped."""
    found = Catalog.load().toolchains[toolchain]
    target = found.target_for(command)
    assert target is not None, (toolchain, command)
    try:
        return pinned.place(found, target).root
    except InputError as error:
        pytest.skip(str(error))


def environment_with(toolchain: str, command: str) -> dict[str, str]:
    """This process's environment, in which a command's name leads to the compiler of a toolchain."""
    if toolchain == OWN:
        return dict(os.environ)
    return {**os.environ, "PATH": f"{root_of(toolchain, command)}/usr/bin{os.pathsep}{os.environ['PATH']}"}
