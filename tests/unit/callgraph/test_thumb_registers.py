"""What each Thumb instruction does to the contents of registers, compared with the text of GNU objdump."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from motecrypt.simulate.callgraph.code import MachineCode, State, StepOutcome
from motecrypt.simulate.callgraph.thumb import _immediate, _in_it_block, thumb_step
from tool_sets import needs_tool_set

AT = 0x100
NAMES = {"sl": 10, "fp": 11, "ip": 12, "sp": 13, "lr": 14, "pc": 15} | {f"r{n}": n for n in range(16)}
LINE = re.compile(r"^ *[0-9a-f]+:\t([0-9a-f]{4}(?: [0-9a-f]{4})?) +\t([\w.]+)(?:\t([^;@\n]*))?", re.MULTILINE)
BEFORE = {register: ("number", 1000 + register) for register in range(13)}


def texts(folder: Path, words: Sequence[tuple[int, ...]]) -> list[tuple[bytes, str, list[str]]]:
    """Bytes, name and operands of each that is an instruction."""
    contents = [b"".join(half.to_bytes(2, "little") for half in word) for word in words]
    (folder / "words").write_bytes(b"".join(contents))
    command = ["arm-none-eabi-objdump", "-D", "-z", "-b", "binary", "-m", "arm", "-M", "force-thumb", "words"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=120)
    read = {
        halves: (name.partition(".")[0], re.findall(r"\{[^}]*\}!?|\[[^]]*\]!?|[^,\s]+", operands))
        for halves, name, operands in LINE.findall(done.stdout)
        if operands.strip() and "unpredictable" not in operands.lower() and not name.startswith("v")
    }
    found = []
    for word, content in zip(words, contents, strict=True):
        halves = " ".join(f"{half:04x}" for half in word)
        if halves in read:
            found.append((content, *read[halves]))
    return found


def stepped(content: bytes, state: State) -> StepOutcome:
    return thumb_step(MachineCode(((AT, content),), (), {}, ()), AT, state)


def listed(braces: str) -> set[int]:
    """Registers between braces."""
    found: set[int] = set()
    for part in re.findall(r"[a-z]\w+(?:-\w+)?", braces):
        first, _, last = part.partition("-")
        found |= set(range(NAMES[first], NAMES[last or first] + 1))
    return found


def changed(name: str, operands: Sequence[str]) -> set[int]:
    """The registers that an instruction changes, by its text."""
    place = next((n for n, each in enumerate(operands) if each.startswith("[")), None)
    found: set[int] = set()
    if place is not None and (operands[place].endswith("!") or len(operands) > place + 1):
        found |= {NAMES[re.findall(r"\w+", operands[place])[0]]}
    if name.startswith(("stm", "ldm")):
        found |= {NAMES[operands[0].removesuffix("!")]} if operands[0].endswith("!") else set()
        return found | (listed(operands[1]) if name.startswith("ldm") else set())
    if name in ("push", "pop"):
        return listed(operands[0]) if name == "pop" else set()
    if name in ("cmp", "cmn", "tst", "teq", "msr", "pld", "pli", "dmb", "dsb", "isb", "nop", "clrex"):
        return found
    if name.startswith("str") and not name.startswith("strex"):
        return found
    pairs = ("ldrd", "ldrexd", "smull", "umull", "umaal", "smlal", "umlal", "smlsld")
    taken = operands[: 2 if name.startswith(pairs) else 1]
    return found | {NAMES[each] for each in taken if each in NAMES}


def wide_words() -> list[tuple[int, int]]:
    """Some of each form of 32 bits that is no branch and asks no coprocessor."""
    draw = random.Random(5)
    forms = [*range(0xE80, 0xEC0), *range(0xF00, 0xF80), *range(0xF80, 0xFC0)]
    return [
        (form << 4 | draw.randrange(13), draw.randrange(0x10000) & (0x7FFF if form >> 7 == 0x1E else 0xFFFF))
        for form in forms
        for _ in range(14)
    ] + [(0xE840 | n, n + 1 << 12 | n + 2 << 8 | 4) for n in range(3)]


@needs_tool_set("pico")
def test_what_an_instruction_of_32_bits_changes_is_forgotten(tmp_path: Path) -> None:
    words = wide_words()
    rows = texts(tmp_path, words)
    assert len(rows) > 0.35 * len(words)
    wrong = []
    for content, name, operands in rows:
        if operands[0] == "pc":
            continue  # it goes elsewhere
        first, second = (int.from_bytes(content[at : at + 2], "little") for at in (0, 2))
        after = stepped(content, State(64, BEFORE)).state.known
        different = {register for register, value in BEFORE.items() if after.get(register) != value}
        told = changed(name, operands) & set(BEFORE)
        may = told | {second >> 8 & 15, second >> 12}
        loads = name.startswith(("str", "ldr", "stm", "ldm", "push", "pop"))
        if name.startswith(("strex", "ldrex")):
            loads, may = False, may | {second & 15}
        if different != told if loads else not told <= different <= may:
            wrong.append(f"{first:04x} {second:04x} {name} {operands}: {different}, {told}")
    assert not wrong, "\n".join(wrong)


HIGH = [(word,) for word in (*range(0x4400, 0x4700), *range(0xA800, 0xB000))]


@needs_tool_set("pico")
@pytest.mark.parametrize(
    "known", [{}, BEFORE, BEFORE | {3: ("stack", 24), 9: ("stack", 32), 5: ("return", 0)}]
)
def test_high_registers_and_places_in_the_stack_are_followed(
    known: dict[int, tuple[str, int]], tmp_path: Path
) -> None:
    rows = texts(tmp_path, HIGH)
    assert len(rows) > 0.97 * len(HIGH)
    held = known | {13: ("stack", 64), 14: ("return", 0)}
    for content, name, operands in rows:
        to, number = NAMES[operands[0]], operands[-1].removeprefix("#")
        found = stepped(content, State(64, known))
        expected, moved = dict(known), False
        value: tuple[str, int] | None = None
        if name == "mov":
            value = held.get(NAMES[operands[1]])
        elif operands[-1].startswith("#"):
            value = ("stack", 64 - int(number))
        elif name == "add":
            source, other = NAMES[operands[1]], NAMES[operands[-1]]
            other = source if other == 13 and to != 13 else other  # of a sum with the pointer the other one
            added = held.get(to if other == 13 else other)
            with_pointer = 13 in (to, NAMES[operands[-1]])
            if with_pointer and added and added[0] == "number":
                value = ("stack", 64 - added[1])
        if name != "cmp":
            expected.pop(to, None)
            expected |= {to: value} if value is not None and to not in (13, 15) else {}
            moved = to == 13
        depth = value[1] if moved and value and value[0] == "stack" else 64
        dynamic = moved and not (value and value[0] == "stack")
        leaves = to == 15 and name != "cmp"
        if leaves:
            expected = dict(known)
        returns = leaves and name == "mov" and value is not None and value[0] == "return"
        outcome = StepOutcome(
            2, State(depth, found.state.known), not leaves, table=leaves and not returns, dynamic=dynamic
        )
        assert (found, dict(found.state.known) if to != 15 else expected) == (outcome, expected), (
            name,
            operands,
        )


@pytest.mark.parametrize("mask", range(1, 16))
def test_an_it_block_covers_as_many_instructions_as_its_mask_says(mask: int) -> None:
    covered = 4 - (mask & -mask).bit_length() + 1
    for wide in range(16):  # which of the four that follow have 32 bits
        halves, starts, inside = [0xBF00 | mask], [], []
        for number in range(6):
            starts.append(2 * len(halves))
            halves += [0xF240, 0x0300] if wide >> number & 1 else [0xB081]  # MOVW r3, SUB sp
            inside += [number < covered]
        code = MachineCode(((AT, b"".join(half.to_bytes(2, "little") for half in halves)),), (), {}, ())
        assert [_in_it_block(code, AT + start) for start in starts] == inside
        assert [_in_it_block(code, AT + start) for start in (-2, 0)] == [False, False]


@pytest.mark.parametrize(
    ("half", "alone", "left_out"),
    [
        (0xB081, (68, True), (68, True)),  # SUB sp: the deeper one counts
        (0xB001, (60, True), (64, True)),  # ADD sp
        (0xBD00, (60, False), (64, True)),  # POP {pc}
        (0x4770, (64, False), (64, True)),  # BX lr
        (0x2005, (64, True), (64, True)),
    ],
)
def test_what_an_it_may_leave_out_may_go_on(
    half: int, alone: tuple[int, bool], left_out: tuple[int, bool]
) -> None:
    for before, expected in ((0xBF00, alone), (0xBF08, left_out), (0xBE08, alone), (0xBF80, alone)):
        halves = (before, 0x4611) if before == 0xBF80 else (before,)  # that one ends before
        halves = (*halves, half)
        code = MachineCode(((AT, b"".join(each.to_bytes(2, "little") for each in halves)),), (), {}, ())
        found = thumb_step(code, AT + 2 * len(halves) - 2, State(64))
        wanted = left_out if before == 0xBF08 else expected
        assert (found.state.depth, found.follows) == wanted


def test_a_constant_is_expanded_as_the_manual_says() -> None:
    for number in range(4096):  # A5.3.2 of DDI 0403
        first, second = number >> 11 << 10, number >> 8 << 12 & 0x7000 | number & 0xFF
        byte, kind = number & 0xFF, number >> 8
        turned = int(f"{(0x80 | number & 0x7F):032b}" * 2, 2) >> (number >> 7) & 0xFFFFFFFF
        plain = [byte, byte | byte << 16, byte << 8 | byte << 24, int(f"{byte:02x}" * 4, 16)]
        assert _immediate(first, second) == (plain[kind] if kind < 4 else turned)
        assert _immediate(first | 0x0200, second) == number


@pytest.mark.parametrize("content", ["00f000f8", "9047"])  # BL, BLX r2
def test_a_call_keeps_what_the_procedure_call_standard_says(content: str) -> None:
    """AAPCS32, 6.1.1: r4 to r11 are the caller's again."""
    assert stepped(bytes.fromhex(content), State(64, BEFORE)).state.known == {
        register: BEFORE[register] for register in range(4, 12)
    }


def test_the_last_of_all_that_was_pushed_is_where_to_return_to() -> None:
    found = stepped(bytes.fromhex("0fbc"), State(16, BEFORE)).state  # POP {r0-r3}
    assert found == State(0, {3: ("return", 0)} | {register: BEFORE[register] for register in range(4, 13)})
    assert 3 not in stepped(bytes.fromhex("0fbc"), State(20, BEFORE)).state.known
