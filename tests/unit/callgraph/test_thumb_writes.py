"""Which low registers each Thumb instruction of 16 bits changes, compared with the text of GNU objdump."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from motecrypt.simulate.callgraph.code import MachineCode, State
from motecrypt.simulate.callgraph.thumb import _computed, _written
from tool_sets import needs_tool_set

#: What is not decided before: the others change the stack pointer or the flow, or load a constant.
WORDS = [
    word
    for first, last in (
        (0x0000, 0x2000),
        (0x2800, 0x3000),
        (0x4000, 0x4400),
        (0x5000, 0xA800),
        (0xB200, 0xB300),
        (0xBA00, 0xBB00),
        (0xC000, 0xD000),
    )
    for word in range(first, last)
]
CHANGES_NONE = re.compile(r"cmp|cmn|tst|str")
LINE = re.compile(r"^ *[0-9a-f]+:\t([0-9a-f]{4}) +\t(\w+)\t(.*)$", re.MULTILINE)


def changed(name: str, operands: str) -> set[int]:
    """Of the text of an instruction."""
    if name in ("stmia", "ldmia"):
        base, _, listed = operands.partition(", ")
        loaded = listed if name == "ldmia" else ""
        changed = {int(number) for number in re.findall(r"r(\d)", loaded)}
        return changed | ({int(base[1])} if "!" in base or int(base[1]) in changed else set())
    return set() if CHANGES_NONE.match(name) else {int(operands.partition(",")[0].strip()[1])}


@needs_tool_set("pico")
def test_each_changes_what_its_text_says(tmp_path: Path) -> None:
    (tmp_path / "words").write_bytes(b"".join(word.to_bytes(2, "little") for word in WORDS))
    command = ["arm-none-eabi-objdump", "-D", "-z", "-b", "binary", "-m", "arm", "-M", "force-thumb", "words"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120)
    read = {
        int(word, 16): (name, operands)
        for word, name, operands in LINE.findall(done.stdout)
        if operands.startswith("r")
    }
    assert len(read) > 0.98 * len(WORDS), "the others are undefined"
    wrong = [f"{word:04x} {text}" for word, text in read.items() if set(_written(word)) != changed(*text)]
    assert not wrong


#: By ARMv6-M's encodings (ARM DDI 0419, A6.7), of a destination d and a source s that has 9.
COMPUTED = {
    "movs rd, #200": (lambda d, s: 0x2000 | d << 8 | 200, 200),
    "lsls rd, rs, #5": (lambda d, s: 5 << 6 | s << 3 | d, 9 << 5),
    "lsls rd, rs, #31": (lambda d, s: 31 << 6 | s << 3 | d, -(1 << 31)),
    "movs rd, rs": (lambda d, s: s << 3 | d, 9),
    "rsbs rd, rs, #0": (lambda d, s: 0x4240 | s << 3 | d, -9),
    "adds rs, #200": (lambda d, s: 0x3000 | s << 8 | 200, 209),
    "subs rs, #200": (lambda d, s: 0x3800 | s << 8 | 200, -191),
}


@pytest.mark.parametrize("text", COMPUTED)
def test_a_number_is_computed_in_the_register_of_the_text(text: str) -> None:
    word, number = COMPUTED[text]
    for d in range(8):
        for s in set(range(8)) - {d}:
            state = State(8, {s: ("number", 9)})
            found = _computed(MachineCode((), (), {}, ()), 0, state, word(d, s))
            changed = s if " rs, #" in text and "rd" not in text else d
            assert found == State(8, {**state.known, changed: ("number", number)})


@pytest.mark.parametrize(
    ("name", "operands", "numbers"), [("ldmia", "r1!, {r2, r3}", {1, 2, 3}), ("tst", "r1, r2", set())]
)
def test_the_text_is_read(name: str, operands: str, numbers: set[int]) -> None:
    assert changed(name, operands) == numbers
