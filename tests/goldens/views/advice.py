"""What the adviser answers of made-up results."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from goldens.text import digest, plain
from goldens.views.made_up import CHOSEN, filled
from motecrypt.adviser import api as advise
from motecrypt.air.radios import load_radio
from motecrypt.catalog import Catalog


@lru_cache(maxsize=4)
def _candidates(state: str, device: str) -> tuple[advise.Candidate, ...]:
    catalog = Catalog.load()
    stored = filled(state).newest_measurements(device=device)
    every = advise.candidates_from(catalog, catalog.devices[device], stored)
    return tuple(c for c in every if c.cipher in CHOSEN and c.implementation.startswith("motecrypt"))


#: Device, radio, battery, regulator, and the question.
ASKED: tuple[tuple[str, str, str, str, advise.Question], ...] = (
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10)),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, answer_bytes=16)),
    (
        "uno",
        "srf",
        "1200mAh,5.5V",
        "linear",
        advise.Question(16, 3600, answer_bytes=32, delivery="confirmed"),
    ),
    ("uno", "srf", "3xAA", "switch", advise.Question(17, 0.5, loss=0.2)),
    ("uno", "srf", "3xAA", "nano", advise.Question(48, 60, answer_bytes=16, loss=0.1, delivery="confirmed")),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, needs=())),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, needs=("integrity",))),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, needs=("replay", "constant-time"))),
    ("uno", "srf", "3xAA", "none", advise.Question(30, 10, needs=("confidentiality",))),
    ("uno", "srf", "3xAA", "none", advise.Question(64, 10)),
    ("uno", "srf", "3xAA", "none", advise.Question(65, 10, needs=())),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, answer_bytes=200)),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, budgets=advise.Budgets(flash_max=3000))),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, budgets=advise.Budgets(flash_max=10, ram_max=20))),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, needs=(), budgets=advise.Budgets(ram_max=300))),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, budgets=advise.Budgets(latency_us_max=5_300))),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 10, budgets=advise.Budgets(overhead_max=9))),
    ("uno", "srf", "3xAA", "none", advise.Question(16, 0.0068)),
    (
        "uno",
        "srf",
        "3xAA",
        "none",
        advise.Question(16, 0.05, budgets=advise.Budgets(overhead_max=0, latency_us_max=1.0)),
    ),
    ("uno", "srf", "2xAA", "none", advise.Question(16, 10)),
    ("uno", "srf", "9xAA", "none", advise.Question(16, 10)),
    ("uno", "srf", "2xAA", "linear", advise.Question(16, 10)),
    ("uno", "srf", "24xAA", "linear", advise.Question(16, 10)),
    ("uno", "srf", "24xAA", "switch", advise.Question(16, 10)),
    ("uno", "srf", "4xAA-NiMH", "none", advise.Question(16, 600)),
    ("uno", "srf", "CR2032", "switch", advise.Question(16, 600)),
    ("uno", "srf", "1200mAh,5V", "none", advise.Question(16, 600)),
    ("uno", "nrf24", "3xAA", "switch", advise.Question(33, 86400, answer_bytes=16)),
    ("pico", "srf", "2xAA", "none", advise.Question(16, 10)),
    ("pico", "srf", "3xAA", "none", advise.Question(31, 30, answer_bytes=17, needs=())),
    ("pico", "srf", "3xAA-NiMH", "none", advise.Question(31, 30, answer_bytes=17)),
    ("pico", "srf", "LiPo", "none", advise.Question(47, 300, needs=("confidentiality",))),
    (
        "pico",
        "srf",
        "LiPo",
        "linear",
        advise.Question(20, 1.5, budgets=advise.Budgets(ram_max=400, flash_max=5000)),
    ),
    ("pico", "srf", "CR2032", "none", advise.Question(16, 60)),
    ("uno", "srf", "3xAA", "nano", advise.Question(6, 10)),
    ("uno", "srf", "3xAA", "none", advise.Question(6, 10, delivery="confirmed", loss=0.1)),
    ("uno", "srf", "3xAA", "nano", advise.Question(6, 10, delivery="one-way", loss=0.1)),
    ("uno", "lora", "3xAA", "nano", advise.Question(16, 60, delivery="confirmed")),
    ("uno", "lora", "3xAA", "none", advise.Question(16, 5)),
    ("uno", "nrf24", "3xAA", "nano", advise.Question(16, 3600, delivery="confirmed")),
    ("uno", "srf", "3xAA", "none", advise.Question(124, 10)),
    ("pico", "802.15.4", "2xAA", "none", advise.Question(16, 10, needs=advise.NEEDS)),
)


def _answer(state: str, number: int) -> list[Any]:
    """The first three in full; of all, the order with the reasons, what is left out, and the notes."""
    device_name, radio_name, battery, regulator, question = ASKED[number]
    found = Catalog.load().devices[device_name]
    # Of an UNO every third is the board as delivered, and every second one's program sleeps.
    bare, sleeps = device_name == "uno" and number % 3 > 0, number % 2 > 0
    device = advise.device_part(found, "chip" if bare else "board", sleeps)
    chip = advise.device_part(found, "chip", sleeps) if device_name == "uno" and not bare else None
    radio = advise.radio_part(load_radio(radio_name))
    others = [advise.regulator_part(name) for name in advise.regulator_names()]
    answer = advise.advise(
        question,
        _candidates(state, device_name),
        device,
        radio,
        advise.link_facts(),
        advise.battery_part(battery),
        advise.regulator_part(regulator),
        others,
        chip,
    )
    said = plain([device_name, radio_name, battery, regulator, question.document()])
    numbers = [answer.usable, answer.supply_volts_min, asdict(answer.plaintext) if answer.plaintext else None]
    places = [
        [e.rank, e.candidate.name, e.weight, e.costs.life_days, e.more_energy_percent, e.reason]
        for e in answer.entries
    ]
    rest = [[e.candidate.name, e.budgets, e.reason, e.excess, e.failed] for e in answer.exclusions]
    full = [asdict(e.costs) for e in answer.entries[:2]]
    once = {json.dumps(plain(entry[2])): plain(entry) for entry in rest}
    every = [digest(plain(places)), len(rest), digest(plain(rest))]
    return [
        said,
        answer.refusal,
        *plain([numbers, full, places[:6], answer.notes]),
        list(once.values())[:12],
        every,
    ]


def advice(state: str) -> dict[str, Any]:
    """Answers to the questions."""
    return {f"question {number:02}": _answer(state, number) for number in range(len(ASKED))}
