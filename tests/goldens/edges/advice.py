"""What the adviser answers of made-up parts: supplies at the end of their range, messages at the end of a
packet, budgets that are just kept or just broken."""

from __future__ import annotations

from dataclasses import asdict, replace
from random import Random
from typing import Any

from goldens.text import digest, plain
from motecrypt.adviser import api as advise
from motecrypt.adviser.costs import Setting, duty_percent

LINK = advise.link_facts()
DRAWS = 150


def _device(random: Random) -> advise.DeviceFacts:
    active = random.choice((2.0, 8.0))
    return advise.DeviceFacts(
        name="node",
        title="A node",
        of=random.choice(("board", "chip")),
        clock_hz=random.choice((1_000_000, 16_000_000)),
        flash_bytes=32768,
        ram_bytes=2048,
        volts=random.choice((3.0, 5.0)),
        volts_min=random.choice((1.5, 3.0, 3.5)),
        volts_max=random.choice((4.0, 5.5)),
        active_ma=active,
        idle_ma=random.choice((1.0, active)),
        sleep_ma=random.choice((0.0, 0.25)),
        sleeps=random.random() < 0.6,
        wake_us=random.choice((0.0, 512.0)),
        store_byte_us=random.choice((0.0, 3400.0)),
        message_bytes_max=256,
    )


def _radio(random: Random) -> advise.RadioPart:
    packet = random.choice((11, 12, 12, 13, 20, 20, 64, 255, 256))
    head, byte = random.choice(((0.0, 64.0), (256.0, 32.0), (4096.0, 4096.0)))
    return advise.RadioPart(
        name="radio",
        title="A radio",
        packet_bytes=packet,
        timeout_us=random.choice((0.0, 16_000.0)),
        serial_byte_us=random.choice((0.0, 0.0, 64.0, 86.0)),
        gap_us=random.choice((0.0, 128.0)),
        turn_round_us=random.choice((0.0, 192.0)),
        supply_v=random.choice((2.0, 3.25)),
        tx_ma=random.choice((14.0, 30.0)),
        rx_ma=random.choice((14.0, 16.0)),
        sleep_ma=random.choice((0.0, 0.5)),
        wake_us=random.choice((0.0, 1024.0)),
        duty_percent=random.choice((100.0, 100.0, 10.0, 1.0)),
        air_us=(0.0, *(head + byte * n for n in range(1, packet + 1))),
    )


def _battery(random: Random) -> advise.BatteryPart:
    volts, full, empty = random.choice(
        ((3.0, 3.25, 2.0), (3.5, 4.0, 3.0), (4.5, 5.5, 3.0), (5.25, 5.5, 4.0), (1.5, 1.625, 1.0))
    )
    steps = random.choice(
        (
            ((full, 0.0), (empty, 1.0)),
            ((full, 0.0), (3.5, 0.25), (3.5, 0.5), (3.0, 0.8), (empty, 1.0)),
            ((full, 0.125), (volts, 0.25), (empty + 0.125, 0.75), (empty, 1.0)),
        )
    )
    return advise.BatteryPart(
        name="cells",
        title="Cells",
        cells=1,
        capacity_mah=random.choice((200.0, 2000.0)),
        volts=volts,
        volts_full=full,
        volts_empty=empty,
        self_discharge_percent_per_year=random.choice((0.0, 12.0)),
        shelf_years=random.choice((0.0, 0.25, 10.0)),
        pulse_ma=random.choice((15.0, 31.0, 32.0, float("inf"))),
        curve=tuple(sorted(set(steps), key=lambda step: (-step[0], step[1]))),
    )


REGULATORS = (
    advise.RegulatorPart("none", "none", "no regulator", 1.0, 0.0, 0.0, 0.0, 99.0),
    advise.RegulatorPart("linear", "linear", "a linear one", 1.0, 0.0625, 0.25, 2.0, 5.5),
    advise.RegulatorPart("switch", "switch", "a switching one", 0.75, 0.125, 0.0, 1.5, 5.5),
    advise.RegulatorPart("better", "switch", "a better one", 0.9375, 0.0, 0.0, 1.75, 4.0),
)


def _candidate(random: Random, number: int) -> advise.Candidate:
    cycles = random.choice((1_000, 20_000, 2_000_000))
    slope = random.choice((0, 100))
    lengths = random.choice(((1, 16, 64, 128), (1, 6, 20, 256), (16, 20), (0, 1, 6, 7)))
    setup = random.choice((0, 4_000))
    cipher = random.choice(("aes128-ccm8", "aes128-ccm8", "ascon-aead128", "x-ctr"))
    status = random.choice(("ok", "ok", "ok", "ok", "does-not-fit", "wrong-output", "not measured"))
    return advise.Candidate(
        cipher=cipher,
        implementation=f"ours/{random.choice(('small', 'fast'))}-{number % 3}",
        key_bits=random.choice((128, 256)),
        placement=random.choice(("flash", "flash", "ram")),
        cache="none",
        security=random.choice(("recommended", "recommended", "acceptable", "legacy", "broken", "unrated")),
        security_reason="as it is",
        nonce="counter",
        nonce_bytes=random.choice((0, 13)),
        tag_bytes=random.choice((0, 8, 8)),
        message_bytes_min=random.choice((0, 0, 16)),
        message_bytes_multiple=random.choice((1, 1, 1, 4, 16)),
        flash_bytes=random.choice((None, 0, 2000, 2001, 3000)),
        ram_bytes=random.choice((None, 0, 100, 101)),
        stack_bytes=random.choice((None, 0, 99, 100)),
        timing_varies=random.random() < 0.3,
        points=tuple(
            advise.Point(n, setup + 2 * n, cycles + slope * n, cycles + 2 * slope * n) for n in lengths
        ),
        status=status,
        reason="" if status == "ok" else f"{status}: needs 9 of 8",
    )


def _question(random: Random) -> advise.Question:
    loss = random.choice((0.0, 0.0, 0.0, 0.125, 0.25))
    lengths = (1, 5, 6, 7, 8, 16, 20) if loss else (1, 6, 7, 14, 20, 64, 123, 124)
    return advise.Question(
        message_bytes=random.choice(lengths),
        interval_s=random.choice((0.015625, 0.25, 1.0, 64.0, 4096.0)),
        answer_bytes=random.choice((0, 0, 0, 1, 6, 20, 124)),
        delivery=random.choice(advise.DELIVERIES),
        loss=loss,
        needs=random.choice(
            ((), ("integrity",), advise.USUAL_NEEDS, advise.USUAL_NEEDS, ("replay",), advise.NEEDS)
        ),
    )


def _just(random: Random, asked: advise.Question, entry: advise.Entry) -> advise.Question:
    """Budgets that this entry just keeps, or by one does not."""
    costs, chosen = entry.costs, entry.candidate
    limits = {
        "flash_max": chosen.flash_taken - random.choice((0, 0, 1)),
        "ram_max": chosen.ram_taken - random.choice((0, 0, 1)),
        "overhead_max": costs.overhead_bytes - random.choice((0, 0, 1)),
        "latency_us_max": costs.latency_us - random.choice((0.0, 0.0, 1.0)),
    }
    kept = {name: value for name, value in limits.items() if random.random() < 0.5}
    return replace(asked, budgets=advise.Budgets(**kept))


def _told(answer: advise.Advice) -> list[Any]:
    """The refusal, how many have a place and how many none; a digest of the figures and one of the words."""
    figures = [[e.rank, e.weight, e.more_energy_percent, asdict(e.costs)] for e in answer.entries]
    supply = [answer.usable, answer.supply_volts_min, asdict(answer.plaintext) if answer.plaintext else None]
    words = [[e.candidate.name, e.reason] for e in answer.entries]
    out = [[e.candidate.name, e.budgets, e.reason, e.excess, e.failed] for e in answer.exclusions]
    counts = [len(answer.entries), len(answer.exclusions), len(answer.notes)]
    return [
        answer.refusal,
        counts,
        digest(plain([supply, figures])),
        digest([words, plain(out), answer.notes]),
    ]


def advice_edges() -> dict[str, Any]:
    """What the adviser answers, first without budgets, then with such as one of the entries just keeps."""
    told: list[list[Any]] = []
    for number in range(DRAWS):
        random = Random(f"advice {number}")
        for _ in range(3):  # most of them such as can be answered
            asked, radio = _question(random), _radio(random)
            if not advise.link_refusal(LINK, radio, asked):
                break
        for _ in range(3):
            device, battery, regulator = _device(random), _battery(random), random.choice(REGULATORS)
            if not advise.supply_refusal(device, battery, regulator):
                break
        given = [_candidate(random, n) for n in range(random.choice((1, 3, 9)))]
        others = random.sample(REGULATORS, random.choice((0, 2, 4)))
        chip = replace(device, of="chip", active_ma=1.0, sleep_ma=0.0) if random.random() < 0.6 else None

        def answer(question: advise.Question, over: advise.RadioPart) -> advise.Advice:
            return advise.advise(
                *(question, given, device, over, LINK, battery, regulator, others, chip)  # noqa: B023
            )

        free = answer(asked, radio)
        told.append(_told(free))
        if free.entries:
            entry = random.choice(free.entries)
            told.append(_told(answer(_just(random, asked, entry), radio)))
            setting = Setting(asked, device, radio, LINK, battery, regulator)
            duty = duty_percent(setting, entry.costs)
            told.append(_told(answer(asked, replace(radio, duty_percent=duty))))
            if not asked.loss:
                busy = replace(asked, interval_s=entry.costs.busy_us / 1e6)
                told.append(_told(answer(busy, radio)))
    return {"advice of made-up parts": told}
