"""The floating-point functions of RP2040's boot ROM by its data sheet, 2.8.3.2, next to Python's numbers."""

from __future__ import annotations

import math
import struct
from itertools import product
from pathlib import Path

import pytest
from natively import ask, compiled

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")
#: In the order of the table that the ROM's entries SF and SD point to; two have the same comparison.
NAMES = "add sub mul div compare compare_flags sqrt to_int to_fix to_uint to_ufix int fix uint ufix cos sin"
NAMES += " tan sincos exp ln compare_basic atan2 int64 fix64 uint64 ufix64 to_int64 to_fix64 to_uint64"
NAMES += " to_ufix64 convert"
NUMBER = {name: number for number, name in enumerate(NAMES.split())}
SINGLE, DOUBLE = 0, 1
KEPT = 0x5A5A5A5A
#: What the registers have that a function does not write.


def words(value: float, double: int) -> int:
    """A number as it is in registers; one that is not normal is 0."""
    try:
        bits = struct.unpack("<Q" if double else "<I", struct.pack("<d" if double else "<f", value))[0]
    except OverflowError:
        bits = struct.unpack("<I", struct.pack("<f", math.copysign(math.inf, value)))[0]
    exponent = 0x7FF << 52 if double else 0xFF << 23
    return bits if bits & exponent else bits & (1 << (63 if double else 31))


def close(value: int, expected: float, double: int) -> bool:
    """Whether bits are a number, up to its last bits."""
    raw = struct.pack("<Q", value) if double else struct.pack("<I", value & 0xFFFFFFFF)
    got = struct.unpack("<d" if double else "<f", raw)[0]
    return got == expected or abs(got - expected) <= abs(expected) * (1e-15 if double else 1e-7)


class Calls:
    """Calls, and what must come of them."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._lines: list[tuple[object, ...]] = []
        self._expected: list[int | None] = []

    def call(
        self, name: str, double: int, low: int, expected: int | None, high: int = KEPT << 32 | KEPT
    ) -> None:
        """A function with `low` in r0 and r1, `high` in r2 and r3; `expected`: of r0 and r1."""
        r = [(low | high << 64) >> 32 * i & 0xFFFFFFFF for i in range(4)]
        self._lines.append(("run", NUMBER[name], double, *r))
        self._expected.append(expected)

    def then(self, what: str, expected: int) -> None:
        """What else it has left."""
        self._lines.append((what,))
        self._expected.append(expected)

    def done(self) -> list[int]:
        """All answers; they are as expected."""
        answers = ask(self._program, lines=self._lines)
        wrong = [
            (line, hex(got), hex(want))
            for line, got, want in zip(self._lines, answers, self._expected, strict=True)
            if want is not None and got != want
        ]
        assert not wrong, wrong[:5]
        return answers


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("rom_float_harness.c", tmp_path_factory.mktemp("rom"), "-lm")


def pair(a: float, b: float, double: int) -> tuple[int, int]:
    """Two arguments: what is in r0 and r1, and in r2 and r3."""
    if double:
        return words(a, 1), words(b, 1)
    return words(a, 0) | words(b, 0) << 32, KEPT << 32 | KEPT


def single(value: float, arguments: int) -> int:
    """A single result in r0; r1 is as it was."""
    return words(value, 0) | arguments >> 32 << 32


def one(value: float, double: int) -> int:
    """One argument: what is in r0 and r1."""
    return words(value, double) | (0 if double else KEPT << 32)


VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.75, 3.0, 1e10, -1e10, 1e30, 1e-30, math.inf, -math.inf]


@pytest.mark.parametrize("double", [SINGLE, DOUBLE])
def test_arithmetic_and_comparisons(program: Path, double: int) -> None:
    calls = Calls(program)
    for a, b in product(VALUES, VALUES):
        low, high = pair(a, b, double)
        a, b = (struct.unpack("<f", struct.pack("<f", n))[0] if not double else n for n in (a, b))
        results = {"add": a + b, "sub": a - b, "mul": a * b}
        if b != 0:
            results["div"] = a / b
        for name, value in results.items():
            if not math.isnan(value):
                calls.call(name, double, low, words(value, 1) if double else single(value, low), high)
        order = (a > b) - (a < b)
        for name in ("compare", "compare_basic"):
            calls.call(name, double, low, low >> 32 << 32 | order & 0xFFFFFFFF, high)
            calls.call("compare_flags", double, low, low, high)
            calls.then("flags", (16 | {-1: 8, 0: 6, 1: 2}[order]) << 28)
        calls.call("add", double, low, None, high)
        calls.then("flags", 0)
    calls.done()


@pytest.mark.parametrize("double", [SINGLE, DOUBLE])
def test_numbers_that_are_not_normal_count_as_0(program: Path, double: int) -> None:
    calls = Calls(program)
    least = 2.0**-1022 if double else 2.0**-126
    place = 52 if double else 23
    for sign in (0, 1 << (63 if double else 31)):
        for bits in (1, (1 << place) - 1):
            for name in ("add", "sub"):
                low, high = (sign | bits, 0) if double else (sign | bits, KEPT)
                calls.call(name, double, low, sign if name == "sub" else 0, high)
    low, high = pair(least, least, double)
    calls.call("add", double, low, words(2 * least, 1) if double else single(2 * least, low), high)
    low, high = pair(least, 0.5, double)
    calls.call("mul", double, low, 0 if double else single(0.0, low), high)
    low, high = pair(-least, 0.5, double)
    calls.call("mul", double, low, words(-0.0, double) if double else single(-0.0, low), high)
    low, high = pair(least, 1.0, double)
    calls.call("mul", double, low, words(least, double) if double else single(least, low), high)
    calls.done()


@pytest.mark.parametrize("double", [SINGLE, DOUBLE])
def test_functions_of_one_number(program: Path, double: int) -> None:
    names = {
        "sqrt": math.sqrt,
        "cos": math.cos,
        "sin": math.sin,
        "tan": math.tan,
        "exp": math.exp,
        "ln": math.log,
    }
    calls, expected = Calls(program), []
    for name, function in names.items():
        for value in (0.5, 1.0, 1.25, 2.0, 3.0):
            calls.call(name, double, one(value, double), None)
            expected.append(function(value))
    for value in (0.5, -3.0):
        calls.call("sincos", double, one(value, double), None)
        expected.append(math.sin(value))
    for x, y in ((1.0, 2.0), (-1.0, 0.5), (0.0, -1.0)):
        low, high = pair(x, y, double)
        calls.call("atan2", double, low, None, high)
        expected.append(math.atan2(x, y))
    for got, value in zip(calls.done(), expected, strict=True):
        assert close(got, value, double), (hex(got), value)
    calls = Calls(program)
    for name, value, result in (
        ("sqrt", 0.0, 0.0),
        ("sqrt", -0.0, -0.0),
        ("sqrt", -1.0, -math.inf),
        ("sqrt", -0.25, -math.inf),
        ("ln", 0.0, -math.inf),
        ("ln", -1.0, -math.inf),
        ("ln", -0.0, -math.inf),
        ("ln", 1.0, 0.0),
    ):
        calls.call(
            name, double, one(value, double), words(result, 1) if double else single(result, KEPT << 32)
        )
    calls.call("sincos", double, one(0.0, double), 0 if double else words(1.0, 0) << 32)
    calls.then("rest", words(1.0, 1) if double else KEPT << 32 | KEPT)
    calls.done()


def limited(value: float, signed: bool, bits: int) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    whole = high if value == math.inf else low if value == -math.inf else math.floor(value)
    return min(max(whole, low), high) & ((1 << bits) - 1)


@pytest.mark.parametrize("double", [SINGLE, DOUBLE])
def test_conversions_to_integers_round_down_and_end_at_the_limits(program: Path, double: int) -> None:
    calls = Calls(program)
    values = [
        0.0,
        0.75,
        1.0,
        -0.25,
        -1.0,
        -1.5,
        2.0**31,
        2.0**31 - 128,
        -(2.0**31),
        -(2.0**31) - 512,
        2.0**32,
    ]
    values += [
        2.0**32 - 256,
        2.0**40 + 2**20,
        -(2.0**40),
        2.0**63,
        -(2.0**63),
        2.0**64,
        1e30,
        -1e30,
        math.inf,
        -math.inf,
    ]
    for value, (signed, bits) in product(values, product((True, False), (32, 64))):
        name = f"to_{'' if signed else 'u'}int{'64' if bits == 64 else ''}"
        result = limited(value, signed, bits)
        above = (words(value, 1) if double else KEPT << 32) >> 32 << 32 if bits == 32 else 0
        calls.call(name, double, one(value, double), result | above)
        for point in (0, 3, 32):
            scaled = limited(value * 2**point, signed, bits)
            low = words(value, double) | (0 if double else point << 32)
            kept = low >> 32 << 32 if bits == 32 else 0
            calls.call(name.replace("int", "fix"), double, low, scaled | kept, KEPT << 32 | point)
    calls.done()


@pytest.mark.parametrize("double", [SINGLE, DOUBLE])
def test_conversions_from_integers(program: Path, double: int) -> None:
    calls = Calls(program)
    for bits, (signed, wide) in product(
        (0, 1, 5, 1 << 31, (1 << 32) - 1, (1 << 32) - 8, 3 << 40, 1 << 63, (1 << 64) - 2**41),
        product((True, False), (False, True)),
    ):
        size = 64 if wide else 32
        raw = bits & ((1 << size) - 1)
        value = raw - (1 << size) * (signed and raw >> size - 1)
        name = f"{'' if signed else 'u'}int{'64' if wide else ''}"
        above = raw >> 32 if wide else KEPT
        calls.call(
            name, double, raw | above << 32, words(value, 1) if double else words(value, 0) | above << 32, 0
        )
        for point in (1, 8):
            above = raw >> 32 if wide else point
            result = words(value / 2**point, double)
            kept = 0 if double else above << 32
            calls.call(
                name.replace("int", "fix"), double, raw & 0xFFFFFFFF | above << 32, result | kept, point
            )
    calls.done()


def test_conversions_between_both(program: Path) -> None:
    calls = Calls(program)
    for value in (0.0, -0.0, 1.0, -1.5, 0.1, 1e30, -1e-30, math.inf):
        wide = words(struct.unpack("<f", struct.pack("<f", value))[0], 1)
        calls.call("convert", SINGLE, words(value, 0) | KEPT << 32, wide)
        calls.call("convert", DOUBLE, words(value, 1), words(value, 0) | words(value, 1) >> 32 << 32)
    calls.call("convert", DOUBLE, words(1e300, 1), words(math.inf, 0) | words(1e300, 1) >> 32 << 32)
    calls.call("convert", DOUBLE, words(-1e-300, 1), words(-0.0, 0) | words(-1e-300, 1) >> 32 << 32)
    calls.done()


#: No manual gives these exactly: they have the size that the SDK's guide prints.
CYCLES = """
add 70 95  sub 80 100  mul 60 140  div 75 185  compare 40 45  compare_flags 40 45
sqrt 65 170  to_int 35 50  to_fix 40 60  to_uint 35 50  to_ufix 40 60  int 40 55
fix 45 60  uint 40 55  ufix 45 60  cos 600 1700  sin 600 1700  tan 700 1900
sincos 650 1800  exp 500 1400  ln 600 1600  compare_basic 40 45 atan2 550 1900  int64 65 75
fix64 65 75  uint64 60 70  ufix64 60 70  to_int64 60 75  to_fix64 60 75  to_uint64 50 65
to_ufix64 50 65  convert 35 40
"""


def test_the_cycles_of_each_function(program: Path) -> None:
    told = CYCLES.split()
    expected = {name: [int(one), int(two)] for name, one, two in zip(*[iter(told)] * 3, strict=True)}
    lines = [("cycles", number, double) for number in NUMBER.values() for double in (SINGLE, DOUBLE)]
    found = ask(program, lines=lines)
    assert {name: found[2 * number : 2 * number + 2] for name, number in NUMBER.items()} == expected
