"""The SiFive E31's cycles on snippets counted by hand: FE310-G002 Manual v19p05, 3.2 and 3.3.

Before a snippet a0 is 0, a1 2, a2 an address in RAM, a3 4.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from riscv_snippets import costs, device, firmware, run

from motecrypt.simulate.runners import Options, riscv
from motecrypt.simulate.runners.session import DriverSession
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("riscv")

AROUND = 1  # the store that ends the region

SNIPPETS = [
    pytest.param("", 0, id="nothing"),
    pytest.param(
        "add a0, a1, a3; xor a4, a0, a1; sltu a5, a4, a0; lui a4, 5; srai a5, a1, 1", 5, id="one cycle"
    ),
    pytest.param("addi a0, a0, 1; and a1, a1, a3; mv a4, a1; c.nop", 4, id="compressed"),
    pytest.param("sw a0, 0(a2); sb a1, 4(a2); sh a3, 8(a2)", 3, id="stores"),
    # A word can be used two cycles after its load issued, a byte or halfword three.
    pytest.param("lw a0, 0(a2); lw a1, 4(a2); lbu a3, 8(a2)", 3, id="loads of which nothing is used"),
    pytest.param("lw a0, 0(a2); addi a0, a0, 1", 1 + 1 + 1, id="word used at once"),
    pytest.param("lw a0, 0(a2); nop; addi a0, a0, 1", 1 + 1 + 1, id="word used after one more"),
    pytest.param("lbu a0, 0(a2); addi a0, a0, 1", 1 + 2 + 1, id="byte used at once"),
    pytest.param("lh a0, 0(a2); nop; add a1, a1, a0", 1 + 1 + 1 + 1, id="halfword used after one more"),
    pytest.param("lb a0, 0(a2); nop; nop; add a1, a1, a0", 1 + 2 + 1, id="byte used after two more"),
    pytest.param("lw a0, 0(a2); sw a0, 4(a2)", 1 + 1 + 1, id="word stored at once"),
    pytest.param(
        "sw a2, 0(a2); lw a4, 0(a2); lw a5, 0(a4); lw a5, 0(a5)", 1 + (1 + 1) * 2 + 1, id="a chain of loads"
    ),
    # Interlocks on write after write, too.
    pytest.param("lbu a0, 0(a2); li a0, 1", 1 + 2 + 1, id="overwritten before it came"),
    # Multiplication: five cycles to the result, one operation at a time.
    pytest.param("mul a0, a1, a3; nop; nop; nop; nop; mv a4, a0", 6, id="product used after four more"),
    pytest.param("mul a0, a1, a3; mv a4, a0", 1 + 4 + 1, id="product used at once"),
    pytest.param("mul a0, a1, a3; mulhu a4, a1, a3", 1 + 4 + 1, id="products one after the other"),
    pytest.param("mul a0, a1, a3; xor a4, a1, a3; sw a4, 0(a2)", 3, id="other work beside a product"),
    # Division: 2 cycles and one for each bit of the quotient; unused, it takes one.
    pytest.param("divu a0, a1, a3", 1, id="2 / 4, not used"),
    pytest.param("divu a0, a1, a3; mv a4, a0", 2 + 1, id="2 / 4: a quotient of 0"),
    pytest.param("divu a0, a3, a1; mv a4, a0", 2 + 2 + 1, id="4 / 2: two bits"),
    pytest.param("li a5, -8; div a0, a5, a1; mv a4, a0", 1 + 2 + 3 + 1, id="-8 / 2: three bits"),
    pytest.param("li a4, -1; li a5, 1; remu a0, a4, a5; mv a4, a0", 2 + 33 + 1, id="32 bits at most"),
    pytest.param("div a0, a1, zero; mv a4, a0", 33 + 1, id="by zero"),
    # Branches and jumps: nothing more when predicted, three when not. At first, backwards is taken.
    pytest.param("bnez a0, 1f; nop; 1: nop", 3, id="forwards, not taken"),
    pytest.param("beqz a0, 1f; nop; 1: nop", 1 + 3 + 1, id="forwards, taken"),
    pytest.param(
        "li a4, 10; 1: addi a4, a4, -1; bnez a4, 1b", 1 + 20 + 3, id="a loop: its end is not predicted"
    ),
    pytest.param("j 1f; nop; 1: nop", 2, id="jump"),
    pytest.param("jal t0, 1f; j 2f; 1: jr t0; 2: nop", 4, id="call, return"),
    pytest.param("la a4, 1f; nop; jr a4; nop; 1: nop", 2 + 1 + 1 + 1, id="jump to a register"),
    # The third of three nested returns is beyond the two entries of the stack of returns.
    pytest.param(
        "call 1f; j 4f; 1: mv a4, ra; call 2f; mv ra, a4; ret;"
        "2: mv a5, ra; call 3f; mv ra, a5; ret; 3: ret; 4: nop",
        # calls: auipc and jalr; moves 4; returns 3, of which the last is not predicted; the jump and the end
        3 * 2 + 4 + 3 + 3 + 2,
        id="three calls deep",
    ),
    pytest.param("csrr a0, mcycle", 1, id="csr"),
    pytest.param("csrr a0, mcycle; mv a1, a0", 1 + 2 + 1, id="csr used at once"),
    pytest.param("amoadd.w a0, a1, (a2); mv a1, a0", 1 + 2 + 1, id="atomic used at once"),
    pytest.param("fence; fence.i", 2, id="fences"),
]


@pytest.mark.parametrize("trace", [False, True], ids=["fast", "traced"])
@pytest.mark.parametrize(("text", "cycles"), SNIPPETS)
def test_a_snippet_takes_what_the_manual_says(tmp_path: Path, text: str, cycles: int, trace: bool) -> None:
    assert run(tmp_path, text, device("hifive1"), Options(trace=trace)).cycles == AROUND + cycles


FUNCTIONS = [
    # The loads of the second pair hide behind the first product.
    pytest.param(
        "lw a4, 0(a2); lw a5, 4(a2); mul a0, a4, a5;"
        "lw a4, 8(a2); lw a5, 12(a2); mul a1, a4, a5; add a0, a0, a1",
        # Loads at 0 and 1; the product waits for a5 until 3; loads at 4 and 5; the second product waits for
        # the multiplier until 8, and its result is there at 13; then the addition.
        13 + 1,
        id="two products",
    ),
    # A round: lbu, addi, sb after a wait of one, addi, bnez; the end of the loop is not predicted.
    pytest.param(
        "li a0, 5; mv a1, a2; 1: lbu a4, 0(a1); addi a1, a1, 1; sb a4, 32(a1); addi a0, a0, -1; bnez a0, 1b",
        2 + 5 * 6 + 3,
        id="copy of bytes",
    ),
    # A look-up in a table: shift, add, load, a wait of one, its use.
    pytest.param("slli a4, a1, 2; add a4, a4, a2; lw a4, 0(a4); xor a0, a0, a4", 3 + 1 + 1, id="look-up"),
    # The greatest common divisor of 2 and 4: one subtraction, then they are equal. Both branches are expected
    # not to be taken: the last one is, for three cycles more.
    pytest.param(
        "1: beq a1, a3, 3f; bgeu a1, a3, 2f; sub a3, a3, a1; j 1b; 2: sub a1, a1, a3; j 1b; 3: nop",
        4 + 1 + 3 + 1,
        id="greatest common divisor",
    ),
    # A rotation by 5.
    pytest.param(
        "slli a4, a3, 5; srli a5, a3, 27; or a4, a4, a5; zext.b a5, a4; sw a5, 0(a2)", 5, id="rotation"
    ),
]


@pytest.mark.parametrize(("text", "cycles"), FUNCTIONS)
def test_a_function_takes_what_was_counted_by_hand(tmp_path: Path, text: str, cycles: int) -> None:
    assert run(tmp_path, text, device("hifive1")).cycles == AROUND + cycles


@pytest.mark.parametrize(
    ("name", "text", "more"),
    [
        ("alu", "add a0, a1, a3", 1),
        ("load", "lw a0, 0(a2)", 1),
        ("load_word_result", "lw a0, 0(a2); mv a1, a0", 1),
        ("load_narrow_result", "lb a0, 0(a2); mv a1, a0", 1),
        ("store", "", 1),
        ("multiply", "mul a0, a1, a3", 1),
        ("multiply_result", "mul a0, a1, a3; mv a4, a0", 1),
        ("divide", "div a0, a1, a3", 1),
        ("divide_least_result", "div a0, a1, a3; mv a4, a0", 1),
        ("divide_most_result", "div a0, a1, zero; mv a4, a0", 1),
        ("csr", "csrr a0, mcycle", 1),
        ("csr_result", "csrr a0, mcycle; mv a1, a0", 1),
        ("atomic", "lr.w a0, (a2)", 1),
        ("atomic_result", "lr.w a0, (a2); mv a1, a0", 1),
        ("fence", "fence", 1),
        ("branch", "bnez a0, 1f; 1: nop", 1),
        ("jump", "j 1f; 1: nop", 1),
        ("jump_register", "jal t0, 1f; j 2f; 1: jr t0; 2: nop", 1),
        ("mispredicted", "beqz a0, 1f; 1: nop", 1),
    ],
)
def test_each_cost_is_the_descriptors(tmp_path: Path, name: str, text: str, more: int) -> None:
    usual = device("hifive1")
    raised = device("hifive1", cycles=costs(usual, **{name: usual.simulator["cycles"][name] + more}))
    assert run(tmp_path, text, raised).cycles - run(tmp_path, text, usual).cycles == more


def test_a_branch_that_is_taken_every_second_time_is_learned(tmp_path: Path) -> None:
    """Its direction follows from the last ones: a further round takes its 5 or 4 instructions."""

    def cycles(rounds: int) -> int:
        text = f"li a4, {rounds}; 1: andi a5, a4, 1; beqz a5, 2f; nop; 2: addi a4, a4, -1; bnez a4, 1b"
        return run(tmp_path, text, device("hifive1")).cycles

    assert cycles(84) - cycles(80) == 2 * 5 + 2 * 4


def test_a_region_takes_the_same_each_time(tmp_path: Path) -> None:
    """The predictor begins each region in the same state, whatever ran before."""
    loop = "li a4, 9; 1: addi a4, a4, -1; bnez a4, 1b"
    again = f"li a5, 3; 9: sw zero, 0(s0); sw s1, 0(s0); {loop}; addi a5, a5, -1; bnez a5, 9b"
    target = device("hifive1")
    with DriverSession(riscv.command(target, firmware(tmp_path, again, target), Options())) as session:
        said = b""
        while not said.endswith(b"\x7e"):
            said += session.read(time.monotonic() + 20)
        first, *others = session.regions()
    assert first.cycles == AROUND + 1
    assert [region.cycles for region in others[:2]] == [AROUND + 1 + 2 * 9 + 3 + 2] * 2
