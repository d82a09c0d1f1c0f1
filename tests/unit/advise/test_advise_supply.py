"""The adviser's supplies: batteries, regulators, boards and chips, sleep and shelf life."""

from __future__ import annotations

from dataclasses import replace

import pytest
from advise_parts import (
    ASKED,
    BOARD,
    CATALOG,
    LINK,
    NANO,
    NONE,
    PLAIN_802,
    SRF,
    SWITCH,
    THREE_AA,
    UNO,
    ask,
    made,
    notes_of,
)

from motecrypt.adviser import api as advise
from motecrypt.adviser.costs import usable_fraction
from motecrypt.base.errors import InputError

# --- supply -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("battery", "regulator", "said"),
    [
        ("3xAA-NiMH", "none", "3xAA-NiMH gives 3.6 V; Arduino UNO R3 at 16 MHz needs 3.78 to 5.5 V"),
        ("4xAA", "none", "4xAA gives up to 6.4 V when it is full"),
        ("3xAA", "linear", "a linear regulator needs 5.18 V for 5 V"),
        ("4xAA", "switch", "takes 5.5 V: take fewer cells"),
        ("3xAA-NiMH", "switch", ""),
        ("4xAA-NiMH", "none", ""),
    ],
)
def test_a_supply_out_of_range_is_refused_with_the_reason(battery: str, regulator: str, said: str) -> None:
    refusal = advise.supply_refusal(UNO, advise.battery_part(battery), advise.regulator_part(regulator))
    assert refusal.startswith(said) or said in refusal
    assert bool(refusal) == bool(said)
    answer = ask(made(), battery=advise.battery_part(battery), regulator=advise.regulator_part(regulator))
    assert answer.refusal == refusal and bool(answer.entries) != bool(said)


def test_usable_charge_follows_the_curve() -> None:
    assert usable_fraction(THREE_AA, 0.5) == 1.0
    assert usable_fraction(THREE_AA, 9.0) == 0.0
    assert usable_fraction(THREE_AA, 3.6) == pytest.approx(0.5)
    assert usable_fraction(THREE_AA, 4.5) == pytest.approx(0.025)
    assert usable_fraction(THREE_AA, UNO.volts_min) == pytest.approx(0.29)


def test_a_regulator_that_makes_the_battery_last_is_named() -> None:
    arguments = ([made()], UNO, SRF, LINK, THREE_AA, NONE)
    plain = advise.advise(ASKED, *arguments)
    assert not any("--regulator" in note for note in plain.notes)
    said = advise.advise(ASKED, *arguments, [NONE, SWITCH, NANO])
    longer = ask(made(), battery=THREE_AA, regulator=NANO).entries[0].costs.life_days
    assert any(
        f"With --regulator nano the same battery lasts {longer / 365.25:.1f} years" in n for n in said.notes
    )
    assert said.entries == plain.entries
    best = advise.advise(ASKED, *arguments[:5], NANO, [NONE, SWITCH, NANO])
    assert not any("--regulator" in note for note in best.notes)


# --- boards, sleep, shelves -------------------------------------------------------------------------


def test_the_board_as_it_is_sold_lives_about_a_day_and_its_chip_for_years() -> None:
    answer = ask(made(), battery=THREE_AA, device=BOARD, chip=UNO)
    days = answer.entries[0].costs.life_days
    # 29 % of 2,850 mAh at 32.2 mA, and 2 per mille for the rest
    assert days == pytest.approx(0.29 * 2850 / 32.2 / 24, rel=0.01)
    alone = ask(made(), battery=THREE_AA, device=UNO).entries[0].costs.life_days
    assert alone > 700
    assert (
        "The stock board Arduino UNO R3 draws 32.2 mA between messages. Its chip alone would last "
        f"{alone / 365.25:.1f} years instead of 1.1 days (--bare-chip)." in answer.notes
    )
    assert not notes_of(ask(made(), battery=THREE_AA, device=UNO, chip=UNO), "The stock board")
    assert not notes_of(ask(made(), battery=THREE_AA, device=BOARD), "The stock board")


def test_sleep_counts_only_where_the_program_sleeps() -> None:
    awake = ask(made(), battery=THREE_AA, device=replace(BOARD, sleeps=False))
    costs_ = awake.entries[0].costs
    # the device computes nothing and waits, the radio listens: 46.5 mA and 16.2 mA
    assert costs_.life_days == pytest.approx(0.29 * 2850 / (46.5 + 16.2) / 24, rel=0.01)
    assert costs_.energy.wake_uj == 0
    assert notes_of(awake, "No sleep is counted") and notes_of(awake, "waiting for the next message 9")
    asleep = ask(made(), battery=THREE_AA, device=BOARD)
    assert not notes_of(asleep, "No sleep") and notes_of(asleep, "sleeping 100 %")


def test_no_battery_outlives_its_shelf_life() -> None:
    tiny = replace(UNO, active_ma=1e-9, idle_ma=1e-9, sleep_ma=1e-9)
    radio = replace(SRF, tx_ma=0, rx_ma=0, sleep_ma=0)
    battery = replace(THREE_AA, self_discharge_percent_per_year=0.0)
    answer = ask(made(), device=tiny, radio=radio, battery=battery)
    assert THREE_AA.shelf_years == 10 and answer.entries[0].costs.life_days == 3652.5
    assert "The life of 3xAA ends with its shelf life of 10 years." in answer.notes
    assert (
        ask(made(), device=tiny, radio=radio, battery=replace(battery, shelf_years=0.0))
        .entries[0]
        .costs.life_days
        > 1e6
    )
    assert not notes_of(ask(made(), battery=THREE_AA), "shelf life")


@pytest.mark.parametrize(("of", "active", "sleep"), [("board", 46.5, 32.2), ("chip", 9.2, 0.0042)])
def test_the_unos_currents_are_the_boards_or_the_chips(of: str, active: float, sleep: float) -> None:
    part = advise.device_part(CATALOG.device("uno"), of)
    assert (part.of, part.active_ma, part.sleep_ma) == (of, active, sleep)
    assert part.idle_ma == (2.5 if of == "chip" else 46.5)
    assert not part.sleeps and part.store_byte_us == 3400
    for current in CATALOG.device("uno").currents:
        assert current.of and current.source and current.condition
    assert CATALOG.device("uno").current("active") == CATALOG.device("uno").current("active", "chip")


def test_a_device_without_the_currents_asked_for_says_which_it_has() -> None:
    uno = CATALOG.device("uno")
    board = replace(uno, currents=tuple(c for c in uno.currents if c.of == "board"))
    with pytest.raises(InputError, match="uno: its folder has no currents of the chip alone; omit"):
        advise.device_part(board, "chip")
    chip = replace(uno, currents=tuple(c for c in uno.currents if c.of == "chip"))
    with pytest.raises(
        InputError, match="no currents of the stock board; use --bare-chip for the chip alone"
    ):
        advise.device_part(chip)
    either = replace(uno, currents=tuple(replace(c, of="") for c in chip.currents))
    assert advise.device_part(either).sleep_ma == advise.device_part(either, "chip").sleep_ma == 0.0042
    assert advise.weighable(either, "chip") and not advise.weighable(board, "chip")


def test_a_radio_sleeps_where_its_example_does() -> None:
    assert advise.sleeps_with(SRF, ["serial"]) and advise.sleeps_with(PLAIN_802, ["802.15.4"])
    assert not advise.sleeps_with(PLAIN_802, ["serial"]) and not advise.sleeps_with(SRF, [])
