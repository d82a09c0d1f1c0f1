"""The models of RISC-V chips by themselves, compiled for this computer: clocks and baud rates by the formulas
of the manuals, what is read of registers in each state, and what is said of addresses where nothing is."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from motecrypt.build.toolchain.drivers import DRIVERS
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")
PROGRAM = r"""
#include <stdio.h>
#include "riscv_ch32v003.h"
#include "riscv_esp32c3.h"
#include "riscv_fe310.h"

static struct riscv_chip chip;
static uint64_t now;
static uint32_t waiting, input, sent;

static uint64_t cycles(void *context) { (void)context; return now; }
static uint32_t sender(void *context) { (void)context; return waiting; }
static int has_input(void *context) { (void)context; return input != 0; }
static uint8_t take(void *context) { (void)context; return (uint8_t)input; }
static void give(void *context, uint8_t byte) { (void)context; sent = byte; }

int main(void) {
    static const struct riscv_chip_model *const models[] = {&ch32v003_model, &esp32c3_model, &fe310_model};
    char order[16];
    unsigned long a, b;
    chip.outside.cycles = cycles;
    chip.outside.uart_sender_flags = sender;
    chip.outside.uart_has_input = has_input;
    chip.outside.uart_read = take;
    chip.outside.uart_write = give;
    while (scanf("%15s %lx %lx", order, &a, &b) == 3) {
        switch (order[0]) {
        case 'm':
            chip.model = models[a];
            for (unsigned i = 0; i < chip.model->window_count; i++) {
                free(chip.registers[i]);
                chip.registers[i] = calloc(1, chip.model->windows[i].bytes);
            }
            now = waiting = input = sent = 0;
            chip.counter_zero = chip.seconds_at_cycle = 0;
            chip.seconds = 0;
            if (b) chip.model->reset(&chip);
            break;
        case 's':
            *riscv_register(&chip, (uint32_t)a) = (uint32_t)b;
            break;
        case 'w':
            *riscv_register(&chip, (uint32_t)a) = (uint32_t)b;
            chip.model->write(&chip, (uint32_t)a, (uint32_t)b);
            break;
        case 'r':
            printf("%x\n", chip.model->read(&chip, (uint32_t)a, riscv_kept(&chip, (uint32_t)a)));
            break;
        case 'h':
            printf("%.6f\n", chip.model->hz(&chip));
            break;
        case 'b':
            printf("%.6f\n", chip.model->baud(&chip));
            break;
        case 'a':
            printf("%s\n", chip.model->absent((uint32_t)a));
            break;
        case 'o':
            if (a == 0) waiting = (uint32_t)b; else if (a == 1) input = (uint32_t)b; else now = b;
            break;
        default:
            printf("%x\n", sent);
        }
    }
    return 0;
}
"""
CH32V003, ESP32C3, FE310 = range(3)
RCC, USART1, SYSTICK = 0x40021000, 0x40013800, 0xE000F000
CLOCK, CPU, UART0 = 0x600C0058, 0x600C0008, 0x60000000
PRCI, UART, MTIME = 0x10008000, 0x10013000, 0x0200BFF8


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    (folder / "models.c").write_text(PROGRAM)
    command = ["gcc", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", f"-I{DRIVERS}", "models.c"]
    subprocess.run([*command, "-o", "models"], cwd=folder, check=True, timeout=120)
    return folder / "models"


def asked(program: Path, orders: Iterable[tuple[str, int, int]]) -> list[str]:
    """What the orders print, a line each."""
    text = "".join(f"{order} {a:x} {b:x}\n" for order, a, b in orders)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.splitlines()


def numbers(program: Path, orders: Iterable[tuple[str, int, int]]) -> list[float]:
    return [float(line) for line in asked(program, orders)]


def test_clock_and_baud_of_the_ch32v003(program: Path) -> None:
    """Reference manual, 3.4.2 and 12: HCLK is SYSCLK / HPRE, the baud rate HCLK / BRR."""
    orders, expected = [], []
    draw = random.Random(1)
    for source in range(4):
        for hpre in range(16):
            for crystal in (0, 1):
                for on, brr in (
                    (0x200C, draw.randrange(1, 1 << 16)),
                    (0x200C, 0),
                    (0x2004, 9),
                    (0x2008, 9),
                    (0xC, 9),
                ):
                    orders += [("m", CH32V003, 0), ("s", RCC + 4, source | hpre << 4 | crystal << 16)]
                    orders += [
                        ("s", USART1 + 8, brr | 0x70000),
                        ("s", USART1 + 12, on),
                        ("h", 0, 0),
                        ("b", 0, 0),
                    ]
                    hz = 24e6 * (2 if source == 2 else 1)
                    hz /= hpre + 1 if hpre < 8 else 2 ** (hpre - 7)
                    expected += [hz, hz / brr if brr and on == 0x200C else 0.0]
    assert numbers(program, orders) == pytest.approx(expected)
    assert numbers(program, [("m", CH32V003, 1), ("h", 0, 0)]) == [8e6]


def test_clock_and_baud_of_the_esp32c3(program: Path) -> None:
    """Technical reference manual, 6.2.4 and 26.3.3.1."""
    orders, expected = [], []
    draw = random.Random(2)
    for select in range(4):
        for _ in range(12):
            divider, fast = draw.randrange(1 << 10), draw.randrange(2)
            source, before, whole, part = (draw.randrange(n) for n in (4, 1 << 8, 1 << 12, 1 << 4))
            for on in (0, 1):
                orders += [("m", ESP32C3, 0), ("s", CLOCK, divider | select << 10), ("s", CPU, fast | 0xC)]
                orders += [("s", UART0 + 0x14, whole | part << 20)]
                orders += [
                    ("s", UART0 + 0x78, before << 12 | source << 20 | on << 22),
                    ("h", 0, 0),
                    ("b", 0, 0),
                ]
                pll = 160e6 if fast else 80e6
                hz = {1: pll, 2: 17.5e6 / (divider + 1)}.get(select, 40e6 / (divider + 1))
                by = whole + part / 16
                uart = {1: 80e6, 3: 40e6}.get(source, 17.5e6)
                expected += [hz, uart / (before + 1) / by if on and by else 0.0]
    assert numbers(program, orders) == pytest.approx(expected)
    orders = [("m", ESP32C3, 1), ("h", 0, 0), ("b", 0, 0), ("s", UART0 + 0x14, 0), ("b", 0, 0)]
    assert numbers(program, orders) == pytest.approx([20e6, 40e6 / 694, 0], rel=1e-3)


def test_clock_and_baud_of_the_fe310(program: Path) -> None:
    """Manual, 6.5 and 18: PLL x 2F / R / 2^Q, its divider, and div + 1."""
    orders, expected = [], []
    draw = random.Random(3)
    for crystal in (0, 1):
        for bypass in (0, 1):
            for used in (0, 1):
                for by_one in (0, 1):
                    for on in range(4):
                        r, f, q, d, div = (draw.randrange(n) for n in (8, 64, 4, 64, 1 << 16))
                        settings = r | f << 4 | q << 10 | used << 16 | crystal << 17 | bypass << 18
                        orders += [
                            ("m", FE310, 0),
                            ("s", PRCI + 8, settings),
                            ("s", PRCI + 12, d | by_one << 8),
                        ]
                        orders += [
                            ("s", UART + 8, on & 1),
                            ("s", UART + 12, on >> 1),
                            ("s", UART + 24, div | 0x50000),
                        ]
                        orders += [("h", 0, 0), ("b", 0, 0)]
                        hz = 16e6 if crystal else 13.8e6
                        hz = hz if bypass else hz / (r + 1) * 2 * (f + 1) / 2**q
                        hz = (hz if by_one else hz / (2 * (d + 1))) if used else 13.8e6
                        expected += [hz, hz / (div + 1) if on == 3 else 0.0]
    assert numbers(program, orders) == pytest.approx(expected)
    assert numbers(program, [("m", FE310, 1), ("h", 0, 0)]) == [13.8e6]


def states(
    model: int, address: int, waiting: Iterable[int], inputs: Iterable[int]
) -> list[tuple[str, int, int]]:
    return [
        order
        for wait in waiting
        for got in inputs
        for order in (("o", 0, wait), ("o", 1, got), ("r", address, 0))
    ]


def test_the_uarts_report_what_waits_and_what_came(program: Path) -> None:
    waits, inputs = (0, 1, 2, 7, 8, 9), (0, 0x41)
    found = asked(program, [("m", CH32V003, 1), *states(CH32V003, USART1, waits, inputs)])
    assert found == [
        f"{(0x80 * (w <= 1)) | (0x40 * (w == 0)) | (0x20 * bool(i)):x}" for w in waits for i in inputs
    ]
    found = asked(program, [("m", ESP32C3, 1), *states(ESP32C3, UART0 + 0x1C, waits, inputs)])
    assert found == [f"{w << 16 | bool(i):x}" for w in waits for i in inputs]
    found = asked(program, [("m", FE310, 1), *states(FE310, UART, waits, inputs)])
    assert found == ["80000000" if w > 8 else "0" for w in waits for _ in inputs]
    for txcnt in (0, 1, 7):
        orders = [("m", FE310, 1), ("s", UART + 8, txcnt << 16), *states(FE310, UART + 20, waits, inputs)]
        assert asked(program, orders) == [f"{(w < txcnt) | 2 * bool(i):x}" for w in waits for i in inputs]
    orders = [
        ("m", FE310, 1),
        ("r", UART + 4, 0),
        ("o", 1, 0x42),
        ("r", UART + 4, 0),
        ("w", UART, 0x141),
        ("x", 0, 0),
    ]
    assert asked(program, orders) == ["80000000", "42", "41"]
    orders = [
        ("m", ESP32C3, 1),
        ("o", 1, 0x43),
        ("r", UART0, 0),
        ("w", UART0, 0x7A),
        ("x", 0, 0),
        ("w", UART0 + 4, 1),
        ("x", 0, 0),
    ]
    assert asked(program, orders) == ["43", "7a", "7a"]
    orders = [
        ("m", CH32V003, 1),
        ("o", 1, 0x44),
        ("r", USART1 + 4, 0),
        ("w", USART1 + 4, 0x7B),
        ("x", 0, 0),
        ("w", USART1, 1),
        ("x", 0, 0),
    ]
    assert asked(program, orders) == ["44", "7b", "7b"]


def test_oscillators_are_ready_when_they_are_on(program: Path) -> None:
    orders, expected = [("m", CH32V003, 0)], []
    for kept in (0, 1, 0x10000, 0x1000000, 0x02020002, 0x03030083, 0xFFFFFFFF):
        orders += [("s", RCC, kept), ("r", RCC, 0), ("s", RCC + 4, kept), ("r", RCC + 4, 0)]
        ready = kept & ~0x02020002 | (kept & 0x01010001) << 1
        expected += [f"{ready:x}", f"{kept & ~0xC | (kept & 3) << 2:x}"]
    orders += [("m", FE310, 0)]
    for kept in (0, 1 << 30, 1 << 31, 0xFFFFFFFF, 5):
        orders += [
            ("s", PRCI, kept),
            ("r", PRCI, 0),
            ("s", PRCI + 4, kept),
            ("r", PRCI + 4, 0),
            ("s", PRCI + 8, kept),
            ("r", PRCI + 8, 0),
        ]
        ready = kept & 0x7FFFFFFF | (kept & 1 << 30) << 1
        expected += [f"{ready:x}", f"{ready:x}", f"{kept | 1 << 31:x}"]
    orders += [
        ("m", ESP32C3, 0),
        ("s", UART0 + 0x80, 0x80000005),
        ("r", UART0 + 0x80, 0),
        ("s", CPU, 0x77),
        ("r", CPU, 0),
    ]
    assert asked(program, orders) == [*expected, "5", "77"]


def test_counters_count_from_where_they_were_set(program: Path) -> None:
    orders = [("m", CH32V003, 1), ("o", 2, 1000), ("w", SYSTICK, 1), ("o", 2, 1800), ("r", SYSTICK + 8, 0)]
    orders += [("w", SYSTICK + 8, 5), ("o", 2, 2600), ("r", SYSTICK + 8, 0)]
    orders += [
        ("w", SYSTICK, 5),
        ("s", SYSTICK + 8, 0),
        ("w", SYSTICK + 8, 0),
        ("o", 2, 2700),
        ("r", SYSTICK + 8, 0),
    ]
    orders += [("w", SYSTICK, 4), ("s", SYSTICK + 8, 0x99), ("r", SYSTICK + 8, 0)]
    assert asked(program, orders) == [f"{100:x}", f"{105:x}", f"{100:x}", "99"]
    second = 13_800_000
    orders = [("m", FE310, 1), ("o", 2, 3 * second), ("r", MTIME, 0), ("r", MTIME + 4, 0)]
    orders += [("o", 2, second * 400_000), ("r", MTIME, 0), ("r", MTIME + 4, 0)]
    ticks = 32768 * 400_000
    assert asked(program, orders) == [f"{3 * 32768:x}", "0", f"{ticks & 0xFFFFFFFF:x}", f"{ticks >> 32:x}"]


ABSENT = {
    CH32V003: [
        (0x08000000, 0x08FFFFFF, "the flash is modelled at address 0 only"),
        (0x1FFFF000, 0x1FFFFFFF, "the boot loader and the option bytes are not modelled"),
        (0x00000000, 0x000FFFFF, "beyond the flash"),
        (0x20000000, 0x20FFFFFF, "beyond the RAM"),
    ],
    ESP32C3: [
        (0x40000000, 0x4005FFFF, "the boot ROM is not modelled"),
        (0x3FF00000, 0x3FF1FFFF, "the boot ROM is not modelled"),
        (0x42000000, 0x427FFFFF, "beyond the flash"),
        (0x3C000000, 0x3C7FFFFF, "beyond the flash"),
        (0x4037C000, 0x4037FFFF, "the cache's memory is not modelled as RAM"),
        (0x50000000, 0x50001FFF, "the RTC memory is not modelled"),
        (0x3FCDE000, 0x3FCFFFFF, "beyond the RAM; its end belongs to the boot ROM"),
        (0x40380000, 0x403FFFFF, "beyond the RAM"),
    ],
    FE310: [
        (0x20000000, 0x3FFFFFFF, "beyond the flash"),
        (0x80000000, 0xFFFFFFFF, "beyond the RAM"),
        (0x08000000, 0x08001FFF, "the ITIM is not modelled"),
        (0x00001000, 0x00001FFF, "the boot ROM is not modelled"),
        (0x00010000, 0x00011FFF, "the boot ROM is not modelled"),
        (0x00020000, 0x00021FFF, "the OTP memory is not modelled"),
    ],
}


@pytest.mark.parametrize("model", ABSENT)
def test_what_is_said_of_each_range_holds_for_all_of_it_and_no_more(program: Path, model: int) -> None:
    ranges = ABSENT[model]

    def said(address: int) -> str:
        return next((f" ({words})" for first, last, words in ranges if first <= address <= last), "")

    ends = {end + by for first, last, _ in ranges for end in (first, last) for by in (-1, 0, 1)}
    places = sorted(place for place in ends if 0 <= place < 1 << 32)
    found = asked(program, [("m", model, 0), *(("a", place, 0) for place in places)])
    assert found == [said(place) for place in places]
