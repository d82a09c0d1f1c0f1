"""Which codes each AVR has as instructions, compared with Debian's disassembler and assembler, all 65,536 of
them."""

from __future__ import annotations

import re
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

import pytest
from avr_snippets import avr_run, simavr
from natively import ask, compiled

from motecrypt.build.toolchain import libraries
from motecrypt.catalog import Catalog
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")

CODES = range(1 << 16)
ERASED = 0xFFFF
CHIPS = sorted(
    {device.simulator["mcu"] for device in Catalog.load().devices.values() if device.runner == "simavr"}
)
#: What only some chips have: the assembler knows which, except SPM Z+, which it takes for all. By the manual
#: (DS40002198, 6.110) only an ATxmega and later chips have it.
SOME = """jmp 0
call 0
mul r0, r1
muls r16, r17
mulsu r16, r17
fmul r16, r17
fmuls r16, r17
fmulsu r16, r17
elpm
eijmp
eicall
des 1
xch Z, r0
las Z, r0
lac Z, r0
lat Z, r0
movw r0, r2
lpm
spm"""
SKIPS = ("cpse", "sbrc", "sbrs", "sbic", "sbis")
TWO_WORDS = ("lds", "sts", "jmp", "call")
IN_ONE_CYCLE = ("in", "out", "sbic", "sbis")
IN_TWO = ("lds", "sts", "ld", "ldd", "st", "std", "sbi", "cbi")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    flags = libraries.flags("simavr", "gcc")
    return compiled("simavr_harness.c", tmp_path_factory.mktemp("codes"), *flags)


@lru_cache(maxsize=1)
def disassembled() -> dict[int, str]:
    """The instruction of each code, of the AVR that has most of them."""
    with tempfile.NamedTemporaryFile() as image:
        image.write(b"".join(code.to_bytes(2, "little") + b"\0\0" for code in CODES))
        image.flush()
        command = ["avr-objdump", "-D", "-z", "-b", "binary", "-m", "avr:107", image.name]
        text = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout.decode()
    found = re.findall(r"^ *([0-9a-f]+):\t[0-9a-f ]+\t(\S+)(?:\t([^\t\n]*))?", text, re.MULTILINE)
    return {
        int(at, 16) // 4: f"{name} {operands}".strip() for at, name, operands in found if int(at, 16) % 4 == 0
    }


def refused(mcu: str) -> set[str]:
    """What the assembler refuses for the chip. One at a time: a second error can crash it."""
    lacks = set()
    for line in SOME.splitlines():
        command = ["avr-as", f"-mmcu={mcu}", "-o", "/dev/null", "-"]
        done = subprocess.run(
            command, input=f"{line}\n", capture_output=True, text=True, check=False, timeout=60
        )
        if done.returncode != 0:
            lacks.add(line.split(",")[0])
    return lacks


@pytest.mark.parametrize("mcu", CHIPS)
def test_a_chip_has_the_instructions_that_its_assembler_knows(mcu: str, program: Path) -> None:
    lacks = refused(mcu)
    names = {line.split()[0] for line in lacks}
    opened, *found = ask(program, mcu, lines=[("codes",), *(("lacks", code) for code in CODES)])
    wrong = []
    for code, text in disassembled().items():
        name = text.split()[0]
        expected = name == ".word" or name in names or text == "spm Z+"
        if code != ERASED and bool(found[code]) != expected:
            wrong.append((hex(code), text, expected))
    assert opened and len(disassembled()) == len(found) == len(CODES)
    assert wrong == []


def test_skips_words_and_cycles_follow_from_the_code(program: Path) -> None:
    found = ask(program, lines=[("kind", code) for code in CODES])
    wrong = []
    for code, text in disassembled().items():
        name = text.split()[0]
        kind, cycles = found[code] & 3, found[code] >> 2
        if name != ".word" and kind != (name in SKIPS) + 2 * (name in TWO_WORDS):
            wrong.append((hex(code), text, kind))
        if (name in IN_ONE_CYCLE and cycles != 1) or (name in IN_TWO and cycles != 2):
            wrong.append((hex(code), text, cycles))
    assert wrong == []


@pytest.mark.parametrize("code", [0x0001, 0xFF0F, 0x940B, 0x95D8, 0x9519, 0x9419, 0x9006, 0x9204, 0x95F8])
def test_a_code_that_the_chip_lacks_ends_the_run(code: int, tmp_path: Path) -> None:
    text = f"    nop\n    .word {code}\n    nop\n"
    why = f"the firmware crashed at 0x2: this chip has no instruction 0x{code:04x}"
    assert simavr(text, tmp_path).end["detail"] == why
    assert avr_run(text, tmp_path).end["detail"] == why
    assert avr_run(text, tmp_path, "--bare").end["detail"] == why
