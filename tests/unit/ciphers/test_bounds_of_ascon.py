"""The page of bounds on Ascon, and on ChaCha20 on a Cortex-M4: its arguments, and the code as assembled."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from itertools import combinations
from pathlib import Path

from motecrypt.catalog import FIRMWARE, Catalog
from tool_sets import skip_without
from unit.ciphers.test_bounds import PAGE, loop_of, page

ASCON, CHACHA = FIRMWARE / "ciphers/ascon", FIRMWARE / "ciphers/chacha20-poly1305"
ROUND = [
    "S-box, 64 columns",
    "shifts of the linear layer",
    "sums of the linear layer",
    "constant of the round",
]
ROUND += ["copies between registers", "counting rounds of Ascon"]
FOUR_ROUNDS = ["sums and exclusive ors", "words from the stack", "words to the stack", "counting four rounds"]
ROTATIONS = ((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))
"""SP 800-232, section 3.4."""
S_BOX = bytes.fromhex("040b1f141a1509021b0508121d03061c1e13070e000d1118100c0119160a0f17")
"""SP 800-232, section 3.3."""


def of_rounds(source: str, first: str, device: str, folder: Path) -> list[tuple[str, str]]:
    """The instructions from a label to the first that returns, with their operands."""
    compiler = Catalog.load().device(device).compiler
    skip_without(Catalog.load().device(device).tool_set)
    made = folder / "made.o"
    subprocess.run(
        [compiler.command, *compiler.machine_flags, "-c", source, "-o", made], check=True, timeout=60
    )
    dump = [compiler.command.replace("gcc", "objdump"), "-d", "--no-show-raw-insn", made]
    text = subprocess.run(dump, check=True, timeout=60, capture_output=True, text=True).stdout
    text = re.sub(r"\n\n[0-9a-f]+ <", "\n<", text.partition(f"<{first}>:")[2])
    rows = re.findall(r"^ +[0-9a-f]+:\t([a-z]+)[.nw]*\t?([^@;\n]*)", text, re.M)
    ends = next(at for at, row in enumerate(rows) if row[0] == "bx" or "pc" in row[1])
    return [(name, operands.strip()) for name, operands in rows[:ends]]


def printed(names: list[str], column: int) -> dict[str, int]:
    return {row[0]: int(row[column]) for row in page() if row and row[0] in names}


def test_no_sum_of_outputs_of_the_s_box_is_linear_and_each_is_balanced() -> None:
    assert sorted(S_BOX) == list(range(32))
    for mask in range(1, 32):
        bits = [(S_BOX[x] & mask).bit_count() & 1 for x in range(32)]
        assert sum(bits) == 16
        assert any(bits[0] ^ bits[a] ^ bits[b] ^ bits[a ^ b] for a in range(32) for b in range(32)), (
            f"{mask:05b} is linear"
        )


def test_the_fifteen_instructions_are_the_s_box() -> None:
    for value in range(32):
        x0, x1, x2, x3, x4 = (value >> (4 - i) & 1 for i in range(5))
        a0, a2, a4 = x0 ^ x4, x1 ^ x2, x3 ^ x4
        outputs = (a4 ^ ((a0 ^ a2) | x1), a0 ^ (a2 | (x1 ^ x3)), a2 ^ (x3 | 1 ^ x4))
        outputs += (a2 ^ (a4 | x0), a4 ^ (x1 & (1 ^ a0)))
        assert sum(bit << (4 - i) for i, bit in enumerate(outputs)) == S_BOX[value]


def halves(rotations: tuple[int, int]) -> list[set[tuple[int, int]]]:
    """The terms of the even and the odd bits of a word: which bits they take, and rotated by how many."""
    return [{((half + by) % 2, ((half + by) // 2) % 32) for by in (0, *rotations)} for half in (0, 1)]


def test_no_sum_of_the_linear_layer_serves_twice() -> None:
    for rotations in ROTATIONS:
        seen: Counter[tuple[int, int, int]] = Counter()
        for terms in halves(rotations):
            assert len(terms) == 3
            pairs = set()
            for (one, by), (other, more) in combinations(sorted(terms), 2):
                apart = (more - by) % 32
                pairs.add((one, other, min(apart, -apart % 32) if one == other else apart))
            seen.update(pairs)
        assert max(seen.values()) == 1, rotations


def test_a_round_on_cortex_m0_is_counted_as_it_is(tmp_path: Path) -> None:
    loop = loop_of(ASCON / "ascon_armv6m.S", ".text.ascon_permute", tmp_path)
    names = Counter(name for name, _ in loop)
    shifts = names["lsls"] + names["lsrs"]
    constant = sum(row == ("eors", "r2, r5") for row in loop[:1])
    logic = names["eors"] + names["orrs"] + names["bics"] + names["mvns"] - constant - shifts
    counting = 2 + sum(name in ("subs", "cmp", "beq") for name, _ in loop) + 2
    copies = names["mov"] + names["movs"] - 2
    assert loop[-1][0] == "b" and sum(names.values()) + 1 == constant + shifts * 2 + logic + counting + copies
    counted = [logic, shifts, shifts, constant, copies, counting]
    assert printed(ROUND, 2) == dict(zip(ROUND, counted, strict=True))
    assert printed(["a round of Ascon, together"], 2) == {"a round of Ascon, together": sum(counted)}


def test_a_round_on_cortex_m4_is_counted_as_it_is(tmp_path: Path) -> None:
    rounds = of_rounds(str(ASCON / "ascon_armv7m.S"), "twelve_rounds", "stm32f4", tmp_path)
    constants = sum("#" in operands and "ror" not in operands for _, operands in rounds)
    assert {name for name, _ in rounds} <= {"eor", "eors", "orr", "orrs", "orn", "bic", "bics"}
    exchanged = sum(name.startswith(("or", "bic")) for name, _ in rounds)
    assert (len(rounds), constants, exchanged) == (12 * 52, 12 * 2, 12 * 10)
    assert printed(ROUND, 4) == dict(zip(ROUND, [30, 0, 20, 2, 0, 0], strict=True))
    assert printed(["a round of Ascon, together"], 4) == {"a round of Ascon, together": 30 + 20 + 2}


def test_bounds_are_the_sums_of_their_parts() -> None:
    for names, whole, columns in (
        (ROUND, "a round of Ascon, together", (1, 2, 3, 4)),
        (FOUR_ROUNDS, "four rounds", (1, 2)),
    ):
        for column in columns:
            assert sum(printed(names, column).values()) == printed([whole], column)[whole]
    assert f"{8 * 52} cycles in `armv7m`, {52 / 42:.2f} times the bound" in PAGE.read_text()
    assert f"a round is {141 / 101:.2f} times the bound" in PAGE.read_text()


def test_four_rounds_of_chacha20_are_counted_as_they_are(tmp_path: Path) -> None:
    rows = of_rounds(str(CHACHA / "chacha_armv7m.S"), "next_rounds", "stm32f4", tmp_path)
    names = Counter(name for name, _ in rows)
    sums = sum(name in ("add", "eor") and "ror" in operands for name, operands in rows)
    counting = names["subs"] + names["bne"] + 2
    counted = [sums, names["ldr"] - 1, names["str"] - 1, counting]
    assert printed(FOUR_ROUNDS, 2) == dict(zip(FOUR_ROUNDS, counted, strict=True))
    assert len(rows) == sum(counted) == printed(["four rounds"], 2)["four rounds"]
