"""The adviser's energy, air time and cycles follow from what was measured."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest
from advise_parts import ASKED, CATALOG, FOUR_NIMH, NANO, SRF, SWITCH, THREE_AA, UNO, ask, made

from motecrypt.adviser import api as advise
from motecrypt.adviser import exported
from motecrypt.adviser.costs import at_length, burst, usable_fraction
from motecrypt.adviser.exchange import plain_form
from motecrypt.air.radios import costs, load_radio, radio_names
from motecrypt.base.energy import energy_uj, time_us
from motecrypt.base.model import Measurement
from motecrypt.measuring import bench
from motecrypt.results import Results


def test_the_energy_is_v_times_i_times_t_and_adds_up() -> None:
    question = replace(ASKED, needs=("integrity",))
    answer = ask(made(), battery=FOUR_NIMH, question=question)
    costs_ = answer.entries[0].costs
    energy = costs_.energy
    assert costs_.cycles == 20_000
    took_us = time_us(20_000, UNO.clock_hz)
    assert energy.cpu_uj == pytest.approx(energy_uj(4.8, UNO.active_ma, took_us))
    parts = asdict(energy)
    total = parts.pop("total_uj")
    assert sum(parts.values()) == pytest.approx(total)
    lasts_s = 1.9 * 3600 * 4.8 * usable_fraction(FOUR_NIMH, 3.78) / (total * 1e-6) * 10
    assert costs_.life_days == pytest.approx(lasts_s / 86400)
    assert answer.plaintext is not None and answer.plaintext.life_days > costs_.life_days


def test_sending_follows_the_pipeline_of_line_and_air() -> None:
    """Three packets of 12 bytes on 3xAA: 3 x 1,042 us of line, and the last one's 800 us of air behind them;
    the radio sends for 2,400 us of that and receives for the rest, and the chip idles."""
    sent = burst(SRF, (12, 12, 12))
    line_us = 12 * 10 / 115200 * 1e6
    assert (sent.on_us, sent.air_us) == (pytest.approx(3 * line_us + 800), 2400)
    alone = made(nonce_bytes=4, tag_bytes=12)  # with a message of 20 bytes: 36
    costs_ = ask(alone, battery=THREE_AA, question=replace(ASKED, needs=("integrity",))).entries[0].costs
    radio_uj = 3.3 * (16.2 * (sent.on_us - 2400) + 15.2 * 2400) / 1000
    assert costs_.energy.send_uj == pytest.approx(radio_uj + 4.5 * 2.5 * sent.on_us / 1000)
    assert round(costs_.energy.send_uj) == 246


def test_a_better_regulator_and_an_answer_change_what_they_should() -> None:
    plain = ask(made(), battery=THREE_AA, regulator=SWITCH).entries[0].costs
    better = ask(made(), battery=THREE_AA, regulator=NANO).entries[0].costs
    assert better.energy.regulator_uj < plain.energy.regulator_uj / 4
    question = replace(ASKED, answer_bytes=4)
    answered = ask(made(), question=question, battery=THREE_AA, regulator=SWITCH).entries[0].costs
    assert answered.energy.receive_uj > 0 == plain.energy.receive_uj
    alone = replace(question, needs=("integrity",))
    assert ask(made(), question=alone).entries[0].costs.cycles == 20_000 + 11_000 + 500 * 4


@pytest.mark.parametrize("name", radio_names())
def test_air_time_and_delivery_are_those_of_the_radios(name: str) -> None:
    radio = load_radio(name)
    part = advise.radio_part(radio)
    for n in [*range(1, 60), 100, 240, 255, 600]:
        form = plain_form(part, n)
        model = costs(radio, sum(form.sizes))
        sent = burst(part, form.sizes)
        assert (len(form.sizes), sent.air_us) == (model.packets, pytest.approx(float(model.air_time_us)))
        assert sent.delivered_us == pytest.approx(float(model.delivery_time_us))
        assert sum(form.sizes) - form.filling_bytes == n


def test_cycles_between_measured_lengths_lie_on_the_line() -> None:
    points = (advise.Point(10, 1, 100, 200), advise.Point(20, 1, 200, 400))
    assert at_length(points, 10) == points[0]
    assert at_length(points, 15) == advise.Point(15, 1, 150, 300)
    assert at_length(points, 9) is None and at_length(points, 21) is None


def test_between_the_grids_lengths_cycles_are_those_of_the_line(results: Results) -> None:
    body = next(
        b for b in CATALOG.implementations_of("aes128-ccm8", "uno", ["motecrypt"]) if b.variant == "fast"
    )
    lengths = [n for n in exported.GRID if n <= 49]
    cells = bench.cells_for(
        CATALOG, CATALOG.device("uno"), body, message_bytes=[*lengths, 8, 20, 40], placements=["flash"]
    )
    bench.ensure(cells, results, CATALOG)
    stored = results.measurements()
    of_grid = [m for m in stored if m.message_bytes in lengths]

    def points(measurements: list[Measurement]) -> tuple[advise.Point, ...]:
        found = advise.candidates_from(CATALOG, CATALOG.device("uno"), measurements)
        return next(c.points for c in found if c.points)

    for point in points(stored):
        assert at_length(points(of_grid), point.message_bytes) == point
