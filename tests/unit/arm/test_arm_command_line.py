"""What the ARM driver says of a command line that it cannot follow: one line each, and no run."""

from __future__ import annotations

import pytest

from motecrypt.base import process
from motecrypt.build.toolchain.drivers import driver
from motecrypt.catalog import Catalog
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")

DEVICE = Catalog.load().device("pico")
CORE = ("--core", DEVICE.core)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "the command line needs --core, --cycles, an ELF file and open events"),
        (("x.elf",), "the command line needs --core, --cycles, an ELF file and open events"),
        (("x.elf", *CORE), "the command line needs --core, --cycles, an ELF file and open events"),
        (("--core",), "--core needs a value"),
        (("--core", "z80"), "z80 is not a core that this driver supports"),
        (("--ram", "0:4096"), "--ram must come after --core"),
        ((*CORE, "--nonesuch", "1"), "--nonesuch is not an option"),
        ((*CORE, "--cycles", "nonesuch=1"), "nonesuch=1 is not a class of instructions"),
        ((*CORE, "--cycles", "nonesuch"), "nonesuch is not a class of instructions"),
        ((*CORE, "--vectors", "x"), "--vectors has a wrong number"),
        ((*CORE, "--vectors", "1:2"), "--vectors has a wrong number"),
        ((*CORE, "--bus", "1:2"), "--bus has a wrong number"),
        ((*CORE, "--bus", "1:2:3:4"), "--bus has a wrong number"),
        ((*CORE, "--ram", "0x20000000"), "--ram has a wrong number"),
        ((*CORE, "--ram", "0x20000000:0"), "--ram must be BASE:BYTES, a multiple of 4096 bytes"),
        ((*CORE, "--ram", "0x20000000:4097"), "--ram must be BASE:BYTES, a multiple of 4096 bytes"),
        ((*CORE, "--cache", "16384:2:7"), "--cache must be BYTES:WAYS:LINE, powers of two"),
        ((*CORE, "--cache", "0:2:8"), "--cache must be BYTES:WAYS:LINE, powers of two"),
        ((*CORE, "--nor", "1:2:3:4"), "--nor must come after --flash, which must come before --ram"),
    ],
)
def test_a_command_line_that_is_none(arguments: tuple[str, ...], said: str) -> None:
    outcome = process.run([driver("arm"), *arguments], timeout_s=60)
    assert (outcome.output, outcome.errors) == ("", f"arm: {said}\n") and outcome.code == 2


def test_a_class_without_cycles_is_named() -> None:
    known = str(DEVICE.simulator.get("cycles", {}))
    outcome = process.run([driver("arm"), *CORE, "--cycles", ""], timeout_s=60)
    assert outcome.errors.startswith("arm: ") and outcome.errors.endswith(" has no cycles\n")
    assert outcome.errors.split()[1] in known
