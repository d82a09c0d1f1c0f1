"""Stack bounds: against the compiler's own account, against what a simulator saw, and what has no bound."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.cli import application
from motecrypt.simulate.callgraph import avr, thumb
from motecrypt.simulate.callgraph.bounds import StackBound, dot, stack_bounds
from motecrypt.simulate.callgraph.code import Call, MachineCode, State, StepOutcome, forget, walk
from motecrypt.simulate.callgraph.thumb import thumb_step
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.profiling import profile
from motecrypt.simulate.emulate.run import FreeRun
from motecrypt.simulate.emulate.symbols import DEMANGLERS, Function, read_symbols
from tool_sets import needs_tool_set

CATALOG = Catalog.load()
SOURCE = """
typedef unsigned char byte;
volatile byte out;
typedef void (*function)(byte);

__attribute__((noinline)) void leaf(byte n) {
    volatile byte room[40];
    for (byte i = 0; i < 40; i++) room[i] = n;
    out = room[n];
}
__attribute__((noinline)) void large(byte n) {
    volatile byte room[700];
    for (int i = 0; i < 700; i++) room[i] = n;
    out = room[n];
    leaf(out);
}
__attribute__((noinline)) byte cases(byte n) {
    switch (n) {
    case 0: leaf(1); return 7;
    case 1: out = 3; return 9;
    case 2: out = 5; return 12;
    case 3: large(2); return 2;
    case 4: out = 7; return 44;
    case 5: out = 1; return 1;
    case 6: leaf(9); return 3;
    default: return 0;
    }
}
__attribute__((noinline)) byte again(byte n) {
    volatile byte room[9];
    room[n & 7] = n;
    return n ? (byte)(again((byte)(n - 1)) + room[n & 7]) : out;
}
__attribute__((noinline)) byte ping(byte n);
__attribute__((noinline)) byte pong(byte n) {
    return n ? (byte)(ping((byte)(n - 1)) + out) : 0;
}
__attribute__((noinline)) byte ping(byte n) {
    return (byte)(pong(n) + out);
}
function handler;
__attribute__((noinline)) void pointed(byte n) {
    handler(n);
    out = n;
}
__attribute__((noinline)) void last(byte n) {
    handler(n);
}
__attribute__((noinline)) void both(byte n) {
    leaf(n);
    handler(n);
    out = n;
}
__attribute__((noinline)) void varies(byte n) {
    volatile byte room[n];
    for (byte i = 0; i < n; i++) room[i] = i;
    out = room[0];
}
__attribute__((noinline)) void tail(byte n) {
    out = n;
    large(n);
}
int main(void) {
    handler = leaf;
    for (byte n = 0; n < 8; n++) out = cases(n);
    out = again(3); out = ping(2); pointed(4); last(5); both(1); varies(6); tail(7);
    for (;;) { }
}
"""
AVR = ("avr-gcc", "-mmcu=atmega328p")
M0 = ("arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb", "-nostartfiles", "--specs=nosys.specs")
M4 = ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-nostartfiles", "--specs=nosys.specs")
WAYS = [
    pytest.param(device, command, flag, marks=needs_tool_set(tool_set), id=f"{device}{flag}")
    for device, command, tool_set in (("uno", AVR, "avr"), ("pico", M0, "pico"), ("stm32f4", M4, "pico"))
    for flag in ("-Os", "-O0", "-O2")
]


def compiled(tmp_path: Path, command: tuple[str, ...], flag: str, source: str = SOURCE) -> Path:
    (tmp_path / "p.c").write_text(source)
    entry = [] if "avr" in command[0] else ["-Wl,-e,main", "-Wl,-Ttext=0x8000000", "-Wl,-Tdata=0x20000000"]
    words = [*command, flag, "-g", "-fstack-usage", "-c", "p.c", "-o", "p.o"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    words = [*command, "p.o", "-o", "p.elf", *entry]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    return tmp_path / "p.elf"


def bounds_of(elf: Path, device: str, **pointed: list[str]) -> dict[str, StackBound]:
    board = CATALOG.device(device)
    found = stack_bounds(elf, board, read_symbols(elf, DEMANGLERS[board.runner]), pointed)
    return {bound.name: bound for bound in found}


def usage(folder: Path) -> dict[str, tuple[int, str]]:
    """What -fstack-usage says of each function: bytes, and static or dynamic."""
    rows = [line.split("\t") for line in (folder / "p.su").read_text().splitlines()]
    return {place.rpartition(":")[2]: (int(count), kind) for place, count, kind in rows}


@pytest.mark.parametrize(("device", "command", "flag"), WAYS)
def test_frames_are_those_of_the_compiler(
    device: str, command: tuple[str, ...], flag: str, tmp_path: Path
) -> None:
    """avr-gcc counts the return address, ARM's does not; a bound counts it where the call pushes it."""
    bounds = bounds_of(compiled(tmp_path, command, flag), device)
    told = usage(tmp_path)
    assert {"leaf", "large", "cases", "again", "pointed", "varies", "main"} <= set(told)
    compared = 0
    for name, (count, kind) in told.items():
        if name == "varies":
            assert "dynamic" in kind and bounds[name].dynamic == ("varies",), bounds[name]
        elif name != "main":  # main never returns, so that compilers leave parts of its frame out
            assert not bounds[name].dynamic, name
            assert bounds[name].own in (count, count + (2 if device == "uno" else 0)), (
                name,
                count,
                bounds[name],
            )
            compared += 1
    assert compared >= 9


@pytest.mark.parametrize(("device", "command", "flag"), WAYS)
def test_what_has_no_bound_is_named(device: str, command: tuple[str, ...], flag: str, tmp_path: Path) -> None:
    elf = compiled(tmp_path, command, flag)
    bounds = bounds_of(elf, device)
    assert bounds["leaf"].bounded and bounds["large"].bounded and bounds["cases"].bounded
    alone, below = bounds["large"].own, bounds["leaf"].worst
    if flag == "-O0":
        assert bounds["large"].worst == alone + below
    else:  # a last call may be a jump, which takes the caller's place
        assert bounds["large"].worst in (alone + below, max(alone, below))
    assert bounds["large"].path[:1] == ("large",) and bounds["large"].calls == ("leaf",)
    assert set(bounds["cases"].calls) >= {"leaf", "large"} and bounds["cases"].path[:2] == ("cases", "large")
    assert bounds["tail"].bounded and bounds["tail"].worst >= bounds["large"].worst
    if flag != "-O2":  # which turns recursion into loops
        assert bounds["again"].recursion == (("again", "again"),)
        assert {name for cycle in bounds["ping"].recursion for name in cycle} == {"ping", "pong"}
    assert bounds["pointed"].pointers == ("pointed",) and bounds["last"].pointers == ("last",)
    assert bounds["both"].pointers == ("both",) and "leaf" in bounds["both"].calls
    assert not bounds["main"].bounded and set(bounds["main"].pointers) == {"pointed", "last", "both"}
    said = bounds_of(elf, device, pointed=["leaf", "large"], last=["leaf"], both=["large"])
    assert said["both"].bounded and said["both"].worst > said["large"].worst
    assert said["pointed"].bounded and said["pointed"].path[:2] == ("pointed", "large")
    assert said["last"].bounded and said["last"].worst >= said["leaf"].worst
    with pytest.raises(InputError, match="has no function 'nobody'"):
        bounds_of(elf, device, pointed=["nobody"])


@needs_tool_set("avr")
@pytest.mark.parametrize("flag", ["-Os", "-O0", "-O2"])
def test_no_run_is_deeper_than_its_bound(flag: str, tmp_path: Path) -> None:
    elf, device = compiled(tmp_path, AVR, flag), CATALOG.device("uno")
    bounds = bounds_of(elf, "uno", pointed=["leaf"], last=["leaf"])
    found = profile(read_image(elf, device), device, FreeRun(max_seconds=0.05), lambda data: None)
    seen = {
        cost.name: cost.stack_bytes for cost in found.functions if cost.calls and cost.stack_bytes is not None
    }
    assert set(seen) >= {"leaf", "large", "cases", "pointed"}
    for name, stack in seen.items():
        if name in bounds and bounds[name].bounded:
            assert stack <= bounds[name].worst, name
    assert [seen[n] for n in ("leaf", "large")] == [bounds[n].worst for n in ("leaf", "large")]


@pytest.mark.parametrize(
    ("device", "cipher", "variant", "tool_set"),
    [
        ("uno", "ascon-aead128", "avr", "avr"),
        ("uno", "aes128-ccm8", "avr", "avr"),
        ("pico", "ascon-aead128", "armv6m", "pico"),
        ("stm32f4", "aes128-ccm8", "armv7m", "pico"),
        ("stm32f4", "aes128-ccm8", "armv7m-fixsliced", "pico"),
    ],
)
@pytest.mark.long
def test_the_bound_of_our_assembly_is_the_stack_that_is_measured(
    device: str, cipher: str, variant: str, tool_set: str, tmp_path: Path
) -> None:
    from motecrypt.app.gate import built
    from motecrypt.build.toolchain.sizes import symbols
    from motecrypt.measuring import bench
    from motecrypt.results import Results
    from tool_sets import skip_without

    skip_without(tool_set)
    body = next(b for b in CATALOG.implementations_of(cipher, device, ["motecrypt"]) if b.variant == variant)
    cells = bench.cells_for(CATALOG, CATALOG.device(device), body, message_bytes=[64], placements=["flash"])
    with Results(tmp_path / "r.db") as results:
        measured = bench.ensure(cells, results, CATALOG)
    board, elf = built(cells[0], CATALOG)
    bounds = {b.address: b for b in stack_bounds(elf, board, read_symbols(elf, DEMANGLERS[board.runner]))}
    table, pushed = symbols(elf), 2 if device == "uno" else 0
    for cell, m in measured.items():
        bound = bounds[table[f"cipher_{cell.operation}"] & ~(device != "uno")]
        assert bound.bounded and m.stack_bytes is not None
        assert bound.worst - pushed == m.stack_bytes, (cell.operation, bound)


def test_a_core_without_rules_and_a_file_without_symbols_are_refused(tmp_path: Path) -> None:
    riscv = next(device for device in CATALOG.devices.values() if device.runner == "riscv")
    with pytest.raises(InputError, match="stack bounds are for AVR and Cortex-M"):
        stack_bounds(tmp_path / "x", riscv, read_symbols.__globals__["Symbols"]((), {}, (), ()))
    with pytest.raises(InputError, match="has no symbols"):
        stack_bounds(
            tmp_path / "x", CATALOG.device("uno"), read_symbols.__globals__["Symbols"]((), {}, (), ())
        )


@needs_tool_set("avr")
def test_the_command_prints_bounds_next_to_what_was_seen(tmp_path: Path) -> None:
    elf = compiled(tmp_path, AVR, "-Os")

    def said(*words: str) -> str:
        done = CliRunner().invoke(application, ["stack", str(elf), *words], env={"COLUMNS": "200"})
        assert done.exit_code == 0, done.output
        return done.stdout

    plain = said("--graph", str(tmp_path / "calls.dot"))
    assert "Worst:    at least " in plain and "not known to fit" in plain
    assert "recursion again > again" in plain and "last calls by a pointer" in plain
    assert "varies has a stack of variable size" in plain
    graph = (tmp_path / "calls.dot").read_text()
    assert '"large" -> "leaf";' in graph and graph.startswith("digraph calls {")
    document = json.loads(said("--json", "--function", "l*"))
    rows = {row["name"]: row for row in document["functions"]}
    assert set(rows) == {"leaf", "large", "last"} and rows["leaf"]["seen"] == rows["leaf"]["worst"]
    assert rows["large"]["bounded"] and not rows["last"]["bounded"]
    pointers = ["--pointer", "pointed=leaf", "--pointer", "last=leaf"]
    bounded = json.loads(said("--json", "--no-run", *pointers, "--function", "last"))["functions"][0]
    assert bounded["bounded"] and bounded["seen"] is None
    for words, why in (
        (["--pointer", "x"], "write CALLER=TARGET"),
        (["--pointer", "last=nobody"], "has no function 'nobody'"),
        (["--function", "lef"], "did you mean leaf"),
        (["--device", "hifive1"], "built for AVR"),
    ):
        done = CliRunner().invoke(application, ["stack", str(elf), "--no-run", *words])
        assert done.exception is not None and why in str(done.exception), (words, done)


INTERRUPTS = """
typedef unsigned char byte;
volatile byte out;
void (*handler)(void);
__attribute__((signal, used)) void __vector_1(void) { handler(); }
__attribute__((signal, used)) void __vector_2(void) {
    volatile byte room[200];
    for (byte i = 0; i < 200; i++) room[i] = out;
    out = room[out];
}
int main(void) { for (;;) { } }
"""


@needs_tool_set("avr")
def test_a_program_whose_shallow_interrupt_has_no_bound_has_none(tmp_path: Path) -> None:
    elf = compiled(tmp_path, AVR, "-Os", INTERRUPTS)
    done = CliRunner().invoke(application, ["stack", str(elf), "--no-run", "--json"])
    whole = json.loads(done.stdout)["program"]
    assert whole["interrupt"] == "__vector_2" and whole["interrupt_bytes"] > 200
    assert not whole["bounded"] and whole["reason"] == "__vector_1 calls by a pointer"


class Counted(MachineCode):
    """Code that counts how often it is asked for data, and that is asked for nothing behind its end."""

    asked = 0

    def is_data(self, address: int) -> bool:
        Counted.asked += 1
        return super().is_data(address)


def test_a_function_that_claims_to_be_huge_ends_with_its_code() -> None:
    def step(code: MachineCode, address: int, state: State) -> StepOutcome:
        assert 0x100 <= address < 0x140, "no code is there"
        return thumb_step(code, address, state)

    huge = (Function("huge", 0x100, 0x100 + (1 << 60)),)
    pushes = MachineCode(((0x100, b"\x10\xb5" + b"\xc0\x46" * 31),), huge, {}, ())  # PUSH, then MOV r8, r8
    assert walk(pushes, 0x100, step).frame == 8
    nowhere = MachineCode(((0x400, b"\x70\x47"),), huge, {}, ())
    assert walk(nowhere, 0x100, step).frame == 0


def test_a_function_that_runs_into_the_next_needs_its_stack_too() -> None:
    """Unless it ends with a call, which does not return there."""
    nop, call = b"\xc0\x46", b"\x00\xf0\x00\xf8"  # MOV r8, r8; BL to what follows it
    for content, kind in ((b"\x10\xb5" + nop, "jump"), (b"\x10\xb5" + call, "call")):
        end = len(content)
        functions = (Function("f", 0, end), Function("g", end, end + 2))
        flow = walk(MachineCode(((0, content + b"\x70\x47"),), functions, {}, ()), 0, thumb_step)
        at = end if kind == "jump" else 2
        assert flow.calls == (Call(at, end, 8, kind),)  # type: ignore[arg-type]


def test_a_register_that_a_call_changes_is_not_known_any_more() -> None:
    known = {1: ("number", 5), 4: ("number", 6)}
    assert forget(State(8, known), (0, 1, 2, 3)) == State(8, {4: ("number", 6)})
    assert forget(State(8, known), (0, 2)) == State(8, known)


def test_the_cases_of_a_table_are_looked_for_once() -> None:
    """A jump by a register, data, then cases that return immediately."""
    count = 500
    content = b"\x9f\x46" + bytes(2 * count) + b"\x70\x47" * count
    end, data = 2 + 4 * count, ((2, 2 + 2 * count),)
    Counted.asked = 0
    flow = walk(Counted(((0, content),), (Function("f", 0, end),), {}, data), 0, thumb_step)
    assert not flow.calls and Counted.asked < 10 * count


def test_names_of_a_graph_are_quoted() -> None:
    bound = StackBound('a"b', 0, 1, 2, ('a"b',), ("c\\d",), pointers=("a",))
    assert '"a\\"b" [label="a\\"b\\n1 / 2 or more bytes"];' in dot([bound])
    assert '"a\\"b" -> "c\\\\d";' in dot([bound])


def test_a_constant_of_thumb_is_spread_in_four_ways_or_turned() -> None:
    """ThumbExpandImm (ARM DDI 0403, A5.3.2): i, imm3 and imm8 are parts of the two halfwords."""

    def expanded(number: int) -> int:
        return thumb._immediate((number & 0x800) >> 1, (number & 0x700) << 4 | number & 0xFF)

    spread = [expanded(way << 8 | 0xA7) for way in range(4)]
    assert spread == [0xA7, 0x00A700A7, 0xA700A700, 0xA7A7A7A7]
    assert [expanded(turn << 7 | 0x27) for turn in (8, 9, 31)] == [0xA7000000, 0x53800000, 0xA7 << 1]


# Encodings from the AVR instruction set manual, with the registers that each changes.
CHANGED = {
    0x0000: (),  # nop
    0x0232: (0, 1),  # muls r19, r18
    0x0332: (0, 1),  # mulsu r19, r18
    0x0562: (),  # cpc r22, r2
    0x0962: (22,),  # sbc r22, r2
    0x0D62: (22,),  # add r22, r2
    0x1162: (),  # cpse r22, r2
    0x1562: (),  # cp r22, r2
    0x1962: (22,),  # sub r22, r2
    0x1D62: (22,),  # adc r22, r2
    0x2162: (22,),  # and r22, r2
    0x3562: (),  # cpi r22, 82
    0x7562: (22,),  # andi r22, 82
    0xE562: (22,),  # ldi r22, 82
    0x8168: (22,),  # ld r22, Y
    0x8368: (),  # st Y, r22
    0x9169: (22, 28, 29),  # ld r22, Y+
    0x916C: (22,),  # ld r22, X
    0x916E: (22, 26, 27),  # ld r22, -X
    0x936D: (26, 27),  # st X+, r22
    0x9165: (22, 30, 31),  # lpm r22, Z+
    0x9164: (22,),  # lpm r22, Z
    0x9160: (22,),  # lds r22, ...
    0x9360: (),  # sts ..., r22
    0x9365: (22,),  # las Z, r22
    0x9560: (22,),  # com r22
    0x956A: (22,),  # dec r22
    0x9598: (),  # break
    0x95C8: (0,),  # lpm
    0x9D62: (0, 1),  # mul r22, r2
    0xF962: (22,),  # bld r22, 2
    0xFB62: (),  # bst r22, 2
    0xFD62: (),  # sbrc r22, 2
}


@pytest.mark.parametrize("word", CHANGED, ids=hex)
def test_registers_that_an_instruction_of_an_avr_changes(word: int) -> None:
    assert avr._written(word) == CHANGED[word]
