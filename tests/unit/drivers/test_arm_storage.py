"""The ARM driver by itself: the flash that is programmed, and a card on its bus."""

from __future__ import annotations

from pathlib import Path

from arm_assembly import BEGIN, CACHE, FINISH, TOLD, WAIT, bytes_of, run
from driver_runs import ended

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")


#: The flash's interface off and on again with a divider of 4, its chip select forced; then bytes one by one.
NOR = """
    .equ PROGRAM, 0x02
    ldr r3, =0x18000000
    str r5, [r3, #8]
    movs r0, #4
    str r0, [r3, #0x14]
    str r6, [r3, #8]
    ldr r1, =0x4001800C
    b nor_on
select:
    ldr r0, =0x200
    str r0, [r1]
    bx lr
leave:
    ldr r0, =0x300
    str r0, [r1]
    bx lr
give:
    str r0, [r3, #0x60]
poll:
    ldr r2, [r3, #0x28]
    lsrs r2, #4
    bcc poll
    ldr r0, [r3, #0x60]
    bx lr
nor_on:
"""


def nor(*values: int) -> str:
    return "    bl select\n" + "".join(f"    movs r0, #{v}\n    bl give\n" for v in values) + "    bl leave\n"


NOR_WAIT = (
    "{0}:\n    bl select\n    movs r0, #5\n    bl give\n    movs r0, #0\n    bl give\n"
    "    mov r8, r0\n    bl leave\n    mov r0, r8\n    lsrs r0, #1\n    bcs {0}\n"
)


def test_the_flash_is_erased_and_programmed(tmp_path: Path) -> None:
    code = (
        NOR
        + BEGIN
        + nor(6)
        + nor(0x20, 0, 0x20, 0)
        + NOR_WAIT.format("a")
        + nor(6)
        + nor(2, 0, 0x20, 1, 0x5A, 0xC3)
    )
    code += NOR_WAIT.format("b") + FINISH + BEGIN + nor(5, 0) + FINISH
    code += (
        "    ldr r3, =0x10002000\n    ldrb r0, [r3]\n"
        + TOLD
        + "    ldrb r0, [r3, #1]\n"
        + TOLD
        + "    ldrb r0, [r3, #2]\n"
        + TOLD
    )
    ran = run(code + WAIT, tmp_path, "--nor", "3000:50000:60000:70000")
    assert bytes_of(ran) == [0xFF, 0x5A, 0xC3]
    busy, quiet = ran.regions
    assert (busy["programs"], busy["erases"], busy["storage_busy"]) == (1, 1, 53000)
    assert 53000 < busy["cycles"] < 53000 + 3000 and "programs" not in quiet
    twice = NOR + BEGIN + nor(6) + nor(0x20, 0, 0x20, 0) + NOR_WAIT.format("a") + FINISH
    twice += BEGIN + nor(6) + nor(2, 0, 0x20, 1, 0x5A) + NOR_WAIT.format("b") + FINISH
    twice += BEGIN + nor(6) + nor(0x20, 0, 0x20, 0) + NOR_WAIT.format("c") + FINISH
    regions = run(twice + WAIT, tmp_path, "--nor", "3000:50000:60000:70000").regions
    counted = [(r["programs"], r["erases"], r["storage_busy"]) for r in regions]
    assert counted == [(0, 1, 50000), (1, 0, 3000), (0, 1, 50000)]
    for command, cycles in ((0x52, 60000), (0xD8, 70000)):
        erase = NOR + BEGIN + nor(6) + nor(command, 0, 0x20, 0) + NOR_WAIT.format("a") + FINISH + WAIT
        # The firmware's own code is there, too: it runs on from what was translated of it.
        (region,) = run(
            erase.replace("0, 0x20, 0", "0"), tmp_path, "--nor", "3000:50000:60000:70000"
        ).regions[:1] or [{}]
        assert region.get("storage_busy", cycles) == cycles
    (slow,) = run(NOR + BEGIN + nor(5, 0, 0, 0) + FINISH + WAIT, tmp_path, "--nor", "1:2:3:4").regions
    (fast,) = run(
        NOR.replace("movs r0, #4", "movs r0, #2") + BEGIN + nor(5, 0, 0, 0) + FINISH + WAIT,
        tmp_path,
        "--nor",
        "1:2:3:4",
    ).regions
    assert 40 < slow["cycles"] - fast["cycles"] < 90, "four bytes of 8 clocks, of 4 or 2 cycles each"


def test_the_flashs_interface_is_watched(tmp_path: Path) -> None:
    nor_times = ("--nor", "1:2:3:4")
    ran = run(NOR + "    str r5, [r3, #0x14]\n" + WAIT, tmp_path, *nor_times)
    ended(ran, 3, "fault", "the flash interface's register 0x14 is set while the interface is on")
    assert (
        run(NOR + "    str r5, [r3, #8]\n    str r5, [r3, #0x14]\n" + WAIT, tmp_path, *nor_times).end["event"]
        == "end"
    )
    assert run(NOR + "    str r5, [r3, #0x14]\n" + WAIT, tmp_path).end["event"] == "end", (
        "without a flash nobody looks"
    )
    ran = run(NOR + "    bl select\n    nop\n" + WAIT, tmp_path, *nor_times, *CACHE)
    assert ran.end["detail"].startswith("code runs from the flash at 0x100001") and ran.end[
        "detail"
    ].endswith(" while the flash takes a command")
    full = (
        NOR + "    bl select\n    movs r0, #0x9F\n    str r0, [r3, #0x60]\n    str r0, [r3, #0x60]\n"
        "    str r5, [r3, #8]\n    ldr r0, [r3, #0x28]\n"
    )
    assert bytes_of(run(full + TOLD + WAIT, tmp_path, *nor_times)) == [6], "switched off, its FIFOs are empty"
    plain = "    ldr r3, =0x18000000\n    ldr r0, [r3, #0x28]\n" + TOLD
    assert bytes_of(run(plain + WAIT, tmp_path)) == [0]
    assert bytes_of(run(plain + WAIT, tmp_path, *nor_times)) == [6]


SD = """
    ldr r3, =0x4003C000
    movs r0, #2
    str r0, [r3, #0x10]
    movs r0, #7
    str r0, [r3]
    ldr r1, =0xD0000010
    b sd_on
give:
    str r0, [r3, #8]
poll:
    ldr r2, [r3, #12]
    lsrs r2, #3
    bcc poll
    ldr r0, [r3, #8]
    str r0, [r4]
    bx lr
sd_on:
    ldr r0, =0x20000
"""


def sd(*values: int) -> str:
    return "".join(f"    movs r0, #{v}\n    bl give\n" for v in values)


def test_a_card_answers_on_its_bus(tmp_path: Path) -> None:
    hello = sd(0x40, 0, 0, 0, 0, 0x95, 255, 255)
    card = ("--sd", "8:5000:9000")
    silent = [255] * 8
    assert bytes_of(run(SD + hello + WAIT, tmp_path, *card)) == silent, "it is not selected"
    assert bytes_of(run(SD + "    str r0, [r1, #8]\n" + hello + WAIT, tmp_path, *card)) == [255] * 7 + [1]
    selected = SD + "    str r0, [r1, #8]\n"
    assert bytes_of(run(selected + "    str r0, [r1, #4]\n" + hello + WAIT, tmp_path, *card)) == silent
    assert bytes_of(run(SD + "    str r0, [r1, #12]\n" + hello + WAIT, tmp_path, *card)) == silent
    assert (
        bytes_of(run(SD + "    lsls r0, #1\n    str r0, [r1, #8]\n" + hello + WAIT, tmp_path, *card))
        == silent
    )
    ready = hello + sd(0x77, 0, 0, 0, 0, 0, 255, 255, 0x69, 0x40, 0, 0, 0, 0, 255, 255)
    find = "find{0}:\n    movs r0, #255\n    bl give\n    cmp r0, #0xFE\n    bne find{0}\n"
    read = BEGIN + sd(0x51, 0, 0, 0, 3, 0, 255, 255) + find.format(1) + FINISH + BEGIN + FINISH
    ran = run(selected + ready + read + WAIT, tmp_path, *card)
    first, second = ran.regions
    assert (first["reads"], first["programs"], first["storage_busy"]) == (
        1,
        0,
        5000,
    ) and "reads" not in second
    assert 5000 < first["cycles"] < 5000 + 1500
    rest = (
        "    ldr r0, =514\n    mov r8, r0\nfill:\n    movs r0, #7\n    bl give\n    mov r0, r8\n"
        "    subs r0, #1\n    mov r8, r0\n    bne fill\n"
    )
    busy = "busy:\n    movs r0, #255\n    bl give\n    cmp r0, #0\n    beq busy\n"
    write = BEGIN + sd(0x58, 0, 0, 0, 3, 0, 255, 255, 0xFE) + rest + sd(255, 255) + busy + FINISH
    (region,) = run(selected + ready + write + WAIT, tmp_path, *card).regions
    assert (region["reads"], region["programs"], region["storage_busy"]) == (0, 1, 9000) and region[
        "cycles"
    ] > 9000
    none = run(
        SD
        + "    str r0, [r1, #8]\n"
        + hello.replace("    bl give\n", "    str r0, [r3, #8]\n    ldr r0, [r3, #8]\n    str r0, [r4]\n")
        + WAIT,
        tmp_path,
    )
    assert bytes_of(none) == [0x40, 0, 0, 0, 0, 0x95, 255, 255], "without a card plain registers"
    assert bytes_of(run(selected + hello + WAIT, tmp_path, "--sd", "0:1:1")) == silent
