"""What code computes, what is proposed, and that the judge notices what is wrong."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from motecrypt.base.errors import InputError
from tool_sets import skip_without

FOLDER = Path(__file__).resolve().parent / "tune"
LOG = (FOLDER / "log.txt").read_text(encoding="utf-8")
sys.path.insert(0, str(FOLDER.parent))


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"tune.{name}")


arm, avr, climb, code, judge, layout, moves, values = map(
    _module, ("arm", "avr", "climb", "code", "judge", "layout", "moves", "values")
)
main = _module("main")
KERNELS = _module("kernels").kernels()
M4, M0 = arm.Reader(thumb2=True), arm.Reader(thumb2=False)


def lines(text: str, read: Any) -> list[Any]:
    return [line for row in text.strip().splitlines() for line in read(row.strip())]


def after(text: str, read: Any, algebra: Any) -> Any:
    return code.computed(lines(text, read), values.State(algebra))


def _same(one: str, other: str, read: Any, algebra: Any, names: str) -> bool:
    a, b = after(one, read, algebra), after(other, read, algebra)
    return [a.get(n) for n in names.split()] == [b.get(n) for n in names.split()] and a.memory == b.memory


@pytest.mark.parametrize(
    ("one", "other", "names", "same"),
    [
        ("eors r0, r1\neors r0, r2", "eors r2, r1\neors r2, r0\nmov r0, r2", "r0", True),
        ("eor.w r3, r1, r2, ror #8\neor.w r3, r3, r0", "eor.w r3, r0, r2, ror #8\neors r3, r1", "r3", True),
        (
            "eor.w r3, r1, r2\nmov.w r3, r3, ror #8",
            "mov.w r1, r1, ror #8\neor.w r3, r1, r2, ror #8",
            "r3",
            True,
        ),
        (
            "eor.w r3, r1, r2\nmov.w r3, r3, ror #8",
            "mov.w r1, r1, ror #8\neor.w r3, r1, r2, ror #9",
            "r3",
            False,
        ),
        ("orrs r0, r1", "bics r0, r1\neors r0, r1", "r0", True),
        ("orrs r0, r1", "ands r0, r1\neors r0, r1", "r0", False),
        ("lsls r0, r1, #3\nlsls r0, r0, #30", "movs r0, #0", "r0", True),
        ("adds r0, r0, r1\nadds r0, r0, r2", "adds r0, r2, r0\nadds r0, r0, r1", "r0", True),
        ("adds r0, r0, r1\nsubs r0, #1", "subs r0, #1\nadds r0, r0, r1", "r0", True),
        ("adds r0, r0, r1\neors r0, r2", "eors r0, r2\nadds r0, r0, r1", "r0", False),
        (
            "ldr r0, [r3, #4]\nldr r1, [r3, #8]",
            "adds r3, #4\nldmia r3, {r0, r1}\nsubs r3, #4",
            "r0 r1 r3",
            True,
        ),
        ("str r0, [r3]\nldr r1, [r3]", "mov r1, r0\nstr r1, [r3]", "r1", True),
        ("str r0, [r3]\nldr r1, [r3]", "ldr r1, [r3]\nstr r0, [r3]", "r1", False),
        ("str r0, [r3]\nldr r1, [r3, #4]", "ldr r1, [r3, #4]\nstr r0, [r3]", "r1", True),
        ("adds r0, r0, r1\nadcs r2, r2", "eors r4, r5\nadds r0, r0, r1\nadcs r2, r2", "r0 r2", True),
        ("adds r0, r0, r1\nadcs r2, r2", "adds r0, r0, r1\nlsls r4, r4, #1\nadcs r2, r2", "r0 r2", False),
    ],
)
def test_arm_code_is_compared_by_what_it_computes(one: str, other: str, names: str, same: bool) -> None:
    reader = M4 if ".w" in one else M0
    assert _same(one, other, reader.read, arm.algebra(), names) is same


@pytest.mark.parametrize(
    ("one", "other", "names", "same"),
    [
        ("eor r18, r19\neor r18, r20", "eor r20, r19\neor r18, r20", "r18", True),
        ("or r18, r19", "com r18\ncom r19\nand r18, r19\ncom r18", "r18", True),
        ("movw r18, r20", "mov r19, r21\nmov r18, r20", "r18 r19", True),
        ("movw r18, r20", "mov r19, r20\nmov r18, r21", "r18 r19", False),
        ("lsl r18\nrol r19", "add r18, r18\nadc r19, r19", "r18 r19", True),
        ("lsl r18\nrol r19", "lsl r18\nlsl r19", "r18 r19", False),
        ("lsl r18\neor r20, r21\nrol r19", "eor r20, r21\nlsl r18\nrol r19", "r18 r19", True),
        ("lsl r18\ncom r20\nrol r19", "com r20\nlsl r18\nrol r19", "r18 r19", False),
        ("lsl r18\nsbc r0, r0", "lsl r18\nmov r0, r1\nsbc r0, r0", "r0", True),
        ("mul r18, r19\neor r20, r0", "mul r19, r18\neor r20, r0", "r20", True),
        ("mul r18, r19\neor r20, r0", "mul r19, r18\neor r20, r1", "r20", False),
        ("ldd r18, Y+3", "ldd r18, Y+4", "r18", False),
        ("std Y+3, r18\nldd r19, Y+3", "std Y+3, r18\nmov r19, r18", "r19", True),
        ("bst r18, 0\nbld r19, 7", "bst r18, 1\nbld r19, 7", "r19", False),
        ("ldi r18, 3\nldi r19, 5\neor r18, r19", "ldi r18, 6", "r18", True),
        ("swap r18\nswap r18", "mov r18, r18", "r18", True),
    ],
)
def test_avr_code_is_compared_by_what_it_computes(one: str, other: str, names: str, same: bool) -> None:
    assert _same(one, other, avr.read, avr.algebra(), names) is same


@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        ("ldr r4, [r13]\nldr r5, [r13, #4]\neor.w r4, r4, r5", 4),
        ("ldr r4, [r13]\neor.w r6, r6, r7\nldr r5, [r13, #4]", 5),
        ("ldr r4, [r13]\nstr r5, [r13, #4]", 2),
        ("str r5, [r13, #4]\nldr r4, [r13]", 4),
        ("ldr r4, [r13]\nldr r5, [r4]", 4),
        ("uxtb.w r1, r4\nldr.w r1, [r12, r1, lsl #2]", 4),
        ("ldmia.w r0!, {r2, r3, r7, r8}", 5),
    ],
)
def test_the_estimate_has_the_overlaps_of_a_cortex_m4(text: str, cycles: int) -> None:
    assert arm.estimated_m4(lines(text, M4.read)) == cycles


def test_two_moves_are_one_where_both_pairs_are_even() -> None:
    assert avr.printed(lines("mov r19, r21\nmov r18, r20", avr.read)) == ["movw r18, r20"]
    assert avr.printed(lines("mov r20, r22\nmov r19, r21", avr.read)) == ["mov r20, r22", "mov r19, r21"]
    assert avr.estimated(lines("movw r18, r20\nlpm r0, Z\nmul r2, r3", avr.read)) == 6


@pytest.mark.parametrize(
    ("reader", "text"), [(avr, "rjmp .+4"), (avr, "adiw r28, 16"), (M4, "bl 0x20"), (M0, "bx r14")]
)
def test_an_unknown_instruction_is_named(reader: Any, text: str) -> None:
    with pytest.raises(InputError, match=re.escape(text)):
        reader.read(text)


@pytest.fixture(scope="module", params=list(KERNELS))
def begun(request: pytest.FixtureRequest) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    kernel = KERNELS[request.param]
    skip_without(kernel.device.tool_set)
    yield kernel, tuple(kernel.code())


def test_printed_code_is_the_kernels_own(begun: tuple[Any, tuple[Any, ...]], tmp_path: Path) -> None:
    """Assembled again, it is the same bytes."""
    kernel, own = begun
    made = []
    for name, text in (("own", kernel.original()), ("printed", "\n".join(kernel.core.printed(own)))):
        source = tmp_path / f"{name}.S"
        text = "\n".join(row for row in text.splitlines() if not re.search("tune|ndif|^    nop$", row))
        source.write_text(kernel.template().replace("MOTECRYPT_CANDIDATE", text))
        subprocess.run(
            [*kernel.command(), "-c", str(source), "-o", str(tmp_path / "o")], check=True, timeout=60
        )
        command = [f"{kernel.core.prefix}objdump", "-s", str(tmp_path / "o")]
        made.append(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)
    assert len(own) > 40 and made[0] == made[1]


def test_no_line_of_a_kernel_can_be_left_out_or_doubled(begun: tuple[Any, tuple[Any, ...]]) -> None:
    kernel, own = begun
    meaning = climb.Meaning(kernel, own)
    assert meaning.same(own)
    same = [i for i in range(len(own)) if meaning.same((*own[:i], *own[i + 1 :]))]
    assert same == []
    assert not meaning.same(tuple(reversed(own)))


def test_a_walk_keeps_what_the_kernel_computes_and_repeats(begun: tuple[Any, tuple[Any, ...]]) -> None:
    kernel, own = begun
    meaning = climb.Meaning(kernel, own)
    found = [climb.walk(own, kernel, meaning, Random(seed), 300) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
    assert found[0].right > 3 and all(map(meaning.same, found[0].found))


WASTEFUL = """
mov r20, r18
eor r20, r19
mov r21, r20
eor r21, r22
mov r23, r24
std Y+1, r21
std Y+2, r25
mov r26, r25
eor r26, r24
std Y+3, r26
"""


def test_what_is_wasted_is_found() -> None:
    """Four copies and their cycles, where r18 to r27 are free afterwards."""
    kernel = KERNELS["aes-avr-mix"]
    free = frozenset(f"r{i}" for i in range(18, 28))
    kernel = main.replace(kernel, dead=free)
    own = tuple(lines(WASTEFUL, avr.read))
    assert avr.estimated(own) == 13
    walk = climb.walk(own, kernel, climb.Meaning(kernel, own), Random(1), 4000)
    assert avr.estimated(walk.found[0]) == 9


def test_the_judge_notices_what_is_wrong(tmp_path: Path) -> None:
    kernel = KERNELS["chacha-armv7m"]
    skip_without(kernel.device.tool_set)
    own = tuple(kernel.code())
    there = judge.Judge(kernel, tmp_path)
    wrong = (*own[:-1], M4.read("eor.w r4, r9, r4, ror #21")[0])
    varying = there.source(own).replace("next_rounds:", "next_rounds:\n tst r0, #1\n it eq\n nopeq.w\n", 1)
    slow = there.source((*own, *M4.read("mov.w r0, r0")))
    first, bad, varied, slower = there.verdicts([there.source(own), there.source(wrong), varying, slow])
    assert first.right and first.spread == 0 and first.stack_bytes > 300
    assert not bad.right and slower.right and slower.cycles > first.cycles
    assert first.better(slower) and not slower.better(first) and not first.better(first)
    assert not bad.better(slower)
    assert varied.right
    assert not judge.Verdict(True, 1, 1, 0).better(first) and not judge.Verdict(True, 1, 0, 999).better(first)


def test_the_measurement_has_the_candidate_in_it(tmp_path: Path) -> None:
    from motecrypt.results import Results

    kernel = KERNELS["aes-armv7m"]
    skip_without(kernel.device.tool_set)
    own = kernel.core.printed(kernel.code())
    with Results(tmp_path / "results.db") as results:
        right, wrong = (
            {
                m.operation: m.status
                for m in judge.measured(kernel, "\n".join(f"    {row}" for row in rows), results, tmp_path)
            }
            for rows in (own, [*own, "add.w r4, r4, #1"])
        )
    assert right["encrypt"] == "ok" and wrong["encrypt"] == "wrong-output"


def test_a_site_of_the_layout_moves_by_multiples_of_its_alignment() -> None:
    source = ".text\n    .balign 4\nfirst:\n    .balign 256\ntable:\n    .balign 2\nlast:\n"
    one, two = layout.sites(source)
    assert (one.bytes, two.bytes) == (4, 2)
    assert list(layout.distances(one)) == list(range(0, 32, 4)) and len(layout.distances(two)) == 16
    assert "    .balign 32\n    .skip 12\nfirst:" in layout.placed(source, {one: 12})


def test_a_short_run_of_the_log_gives_the_same_again(capsys: pytest.CaptureFixture[str]) -> None:
    """Except the cycles, in which compiled C has a part, and the seconds."""
    skip_without("pico")
    begin = "ascon-armv7m on stm32f4: seed 1: 3,000 steps"
    (row,) = [row for row in LOG.splitlines() if row.startswith(begin)]
    assert main.main(["ascon-armv7m", "--steps", "3000"]) == 0
    told = capsys.readouterr().out
    changing = r"from [\d,]+ to [\d,]+ cycles|\d+ s$"
    assert re.sub(changing, "", told.strip()) == re.sub(changing, "", row)


@pytest.mark.parametrize(
    "words",
    [
        ["ascon-avr", "--steps", "0"],
        ["ascon-avr", "--seed", "-1"],
        ["nothing"],
    ],
)
def test_what_the_search_cannot_take_is_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main(words)
    assert ended.value.code == 2


@pytest.mark.parametrize(
    ("device", "message"),
    [("nrf9", "unknown device 'nrf9'"), ("pico", "'aes-armv7m' does not run on its cortex-m0")],
)
def test_a_device_that_cannot_judge_is_one_line(
    device: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["aes-armv7m", "--device", device]) == 2
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1


def test_every_kernel_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["--list"]) == 0
    out = capsys.readouterr().out
    assert all(f"{name} " in out for name in KERNELS)
