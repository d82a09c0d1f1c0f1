"""What each AVR instruction does to the contents of registers, and where it goes: compared with the text of
GNU objdump."""

from __future__ import annotations

import re
import subprocess

import pytest

from motecrypt.simulate.callgraph.avr import avr_step
from motecrypt.simulate.callgraph.code import Call, MachineCode, State, StepOutcome
from tool_sets import needs_tool_set

AT = 0x100
SECOND = 0x0042
"""The word that follows each one: the address of a CALL, a JMP, an LDS or an STS."""
LINE = re.compile(r"^ *([0-9a-f]+):\t[0-9a-f ]+\t([\w.]+)(?:\t([^;\n]*))?(?:; (0x[0-9a-f]+))?", re.MULTILINE)
NONE = """cp cpc cpi st std sts sbi cbi nop sleep wdr break bset bclr bst des spm sbrc sbrs sbic sbis cpse out
    push"""
BEFORE = {register: ("other", register) for register in range(32)}
RELATIVE = re.compile(r"\.([+-]\d+)")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[str, str]]:
    """Name and operands of each word."""
    folder = tmp_path_factory.mktemp("avr")
    words = (half for word in range(0x10000) for half in (word, SECOND))
    (folder / "words").write_bytes(b"".join(half.to_bytes(2, "little") for half in words))
    command = ["avr-objdump", "-D", "-z", "-b", "binary", "-m", "avr:6", "words"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=120)
    rows = [(int(at, 16), name, operands.strip()) for at, name, operands, _ in LINE.findall(done.stdout)]
    return {at // 4: (name, operands) for at, name, operands in rows if at % 4 == 0 and name[0] != "."}


def stepped(word: int) -> StepOutcome:
    content = b"".join(half.to_bytes(2, "little") for half in (word, SECOND))
    return avr_step(2)(MachineCode(((AT, content),), (), {}, ()), AT, State(64, BEFORE))


def changed(name: str, operands: str) -> set[int]:
    """The registers that an instruction changes, by its text."""
    first, _, second = (part.strip() for part in operands.partition(","))
    found: set[int] = set()
    for pointer, low in {"X": 26, "Y": 28, "Z": 30}.items():
        if re.search(rf"-{pointer}|{pointer}\+(?!\d)", operands):
            found |= {low, low + 1}
    if name.startswith(("mul", "fmul")):
        return {0, 1}
    if name in ("lpm", "elpm") and not operands:
        return {0}
    if name in NONE.split() or re.fullmatch(r"se\w|cl\w", name) or name.startswith("br"):
        return found
    register = {
        int(number)
        for number in re.findall(r"^r(\d+)", second if name in ("xch", "las", "lac", "lat") else first)
    }
    pair = {number + 1 for number in register} if name in ("movw", "adiw", "sbiw") else set()
    return found | register | pair


@needs_tool_set("avr")
def test_each_changes_the_registers_that_its_text_says(texts: dict[int, tuple[str, str]]) -> None:
    wrong = []
    assert len(texts) > 0.97 * 0x10000
    for word, (name, operands) in texts.items():
        if name in ("call", "rcall", "icall", "eicall"):
            continue
        after = stepped(word).state.known
        different = {register for register, value in BEFORE.items() if after.get(register) != value}
        told = changed(name, operands)
        if name in ("mov", "movw") and len(set(re.findall(r"\d+", operands))) == 1:
            told = set()  # to itself
        if different != told:
            wrong.append(f"{word:04x} {name} {operands}: {different}, {told}")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[::200])


@needs_tool_set("avr")
@pytest.mark.parametrize("return_bytes", [2, 3])
def test_each_goes_where_its_text_says(texts: dict[int, tuple[str, str]], return_bytes: int) -> None:
    step, wrong = avr_step(return_bytes), []
    for word, (name, operands) in texts.items():
        if return_bytes == 3 and name != "rcall":
            continue  # the only one that takes room for an address
        content = b"".join(half.to_bytes(2, "little") for half in (word, SECOND))
        state = State(64, {1: ("low", 40), 3: ("less", 50 << 8 | 0xFE)})
        found = step(MachineCode(((AT, content),), (), {}, ()), AT, state)
        size = 4 if name in ("call", "jmp", "lds", "sts") else 2
        relative = RELATIVE.search(operands)
        goes = AT + 2 + int(relative[1]) if relative else 0
        if name in ("call", "jmp"):
            goes = int(operands, 16)
        targets = (goes,) if name in ("rjmp", "jmp") or (name.startswith("br") and relative) else ()
        if name in ("cpse", "sbrc", "sbrs", "sbic", "sbis"):
            targets = (AT + 4,)
        calls: tuple[Call, ...] = ()
        called = name in ("call", "rcall") and goes != AT + 2
        if called or name in ("icall", "eicall"):
            calls = (Call(AT, goes if called else None, 64, "call" if called else "pointer"),)
        deeper = {"push": 1, "pop": -1}.get(name, 0) + (return_bytes if name == "rcall" and not called else 0)
        sets = name == "out" and operands.startswith("0x3d,")
        depth = {"r1": 40, "r3": 48}.get(operands[6:], 64) if sets else 64 + deeper
        outcome = StepOutcome(
            size,
            State(depth, found.state.known),
            name not in ("ret", "reti", "rjmp", "jmp", "ijmp", "eijmp"),
            targets,
            calls,
            name in ("ijmp", "eijmp"),
            sets and depth == 64,
        )
        if found != outcome:
            wrong.append(f"{word:04x} {name} {operands}: {found}, {outcome}")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:: 1 + len(wrong) // 20])
