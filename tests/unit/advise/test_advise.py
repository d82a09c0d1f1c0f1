"""The adviser over made-up data: what it ranks, excludes, says and refuses, and that it is monotone."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motecrypt import advise, bench
from motecrypt.advise.costs import at_length, burst, patience_us, usable_fraction
from motecrypt.advise.exchange import message_bytes_max, plain_form
from motecrypt.advise.rank import MEMORY_WEIGHT, TIMING_WEIGHT
from motecrypt.catalog import Catalog
from motecrypt.energy import energy_uj, time_us
from motecrypt.errors import InputError
from motecrypt.model import Measurement
from motecrypt.radios import costs, load_radio, radio_names
from motecrypt.results import Results

CATALOG = Catalog.load()
# As in its folder, but frozen here: what these tests say must not move with its figures.
UNO = replace(
    advise.device_part(CATALOG.device("uno"), "chip", sleeps=True),
    volts_min=3.78,
    active_ma=9.2,
    idle_ma=2.5,
    sleep_ma=0.0042,
)
BOARD = replace(UNO, of="board", active_ma=46.5, idle_ma=46.5, sleep_ma=32.2)
PICO = advise.device_part(CATALOG.device("pico"), sleeps=True)
LINK = advise.link_facts()
SRF = advise.radio_part(load_radio("srf"))
PLAIN_802 = advise.radio_part(load_radio("802.15.4"))
NONE = advise.regulator_part("none")
SWITCH = advise.regulator_part("switch")
NANO = advise.regulator_part("nano")
THREE_AA = advise.battery_part("3xAA")
FOUR_NIMH = advise.battery_part("4xAA-NiMH")


def made(**changes: object) -> advise.Candidate:
    """A candidate that is fine unless the test says otherwise."""
    points = tuple(advise.Point(n, 1000, 10_000 + 500 * n, 11_000 + 500 * n) for n in (1, 16, 64, 256))
    candidate = advise.Candidate(
        cipher="aes128-ccm8",
        implementation="ours/small",
        key_bits=128,
        placement="flash",
        cache="none",
        standing="recommended",
        standing_reason="authenticated",
        nonce="counter",
        nonce_bytes=13,
        tag_bytes=8,
        message_bytes_min=0,
        message_bytes_multiple=1,
        flash_bytes=2000,
        ram_bytes=100,
        stack_bytes=100,
        timing_varies=False,
        points=points,
        status="ok",
        reason="",
    )
    return replace(candidate, **changes)  # type: ignore[arg-type]


ASKED = advise.Question(message_bytes=20, interval_s=10.0)


def ask(
    *candidates: advise.Candidate,
    question: advise.Question = ASKED,
    battery: advise.BatteryPart = FOUR_NIMH,
    regulator: advise.RegulatorPart = NONE,
    radio: advise.RadioPart = SRF,
    device: advise.DeviceFacts = UNO,
    chip: advise.DeviceFacts | None = None,
) -> advise.Advice:
    return advise.advise(question, candidates, device, radio, LINK, battery, regulator, chip=chip)


# --- ranking and exclusions ------------------------------------------------------------------------


def test_standing_goes_before_energy_and_energy_before_the_rest() -> None:
    cheap = made(standing="acceptable", standing_reason="short tag", flash_bytes=1)
    slow = made(
        implementation="ours/slow", points=tuple(replace(p, encrypt_cycles=90_000) for p in cheap.points)
    )
    answer = ask(cheap, slow, made())
    assert [e.candidate.implementation for e in answer.entries] == ["ours/small", "ours/slow", "ours/small"]
    assert [e.rank for e in answer.entries] == [1, 2, 3]
    assert answer.entries[0].reason == (
        "recommended, and first in energy, memory and timing together: long, 4 packets"
    )
    assert "times the cycles" in answer.entries[1].reason and "more energy" in answer.entries[1].reason
    assert answer.entries[2].reason.startswith("only acceptable (short tag)")


def test_little_energy_does_not_buy_much_memory() -> None:
    points = tuple(replace(p, encrypt_cycles=p.encrypt_cycles - 100) for p in made().points)
    hungry = made(implementation="ours/hungry", ram_bytes=1500, points=points)
    answer = ask(hungry, made())
    assert [e.candidate.implementation for e in answer.entries] == ["ours/small", "ours/hungry"]
    assert answer.entries[1].costs.energy.total_uj < answer.entries[0].costs.energy.total_uj
    share = 2000 / 32768 + 200 / 2048
    first = answer.entries[0]
    assert first.weight == pytest.approx(first.costs.energy.total_uj * (1 + MEMORY_WEIGHT * share))


def test_a_time_that_varies_loses_among_near_equals_and_can_be_refused() -> None:
    """10 % of the energy is what a varying time counts as: here a candidate saves 8 %, and then 12 %."""
    steady = made(implementation="ours/steady")

    def varying(saves: float) -> advise.Candidate:
        low, high = 0, 400_000  # the cycles that save so much, by bisection
        while high - low > 1:
            less = (low + high) // 2
            points = tuple(
                replace(p, encrypt_cycles=400_000 + p.encrypt_cycles - less) for p in made().points
            )
            energy = ask(made(points=points)).entries[0].costs.energy.total_uj
            low, high = (less, high) if energy > base * (1 - saves) else (low, less)
        return made(implementation="ours/varying", timing_varies=True, points=points)

    slow = replace(
        steady, points=tuple(replace(p, encrypt_cycles=400_000 + p.encrypt_cycles) for p in made().points)
    )
    base = ask(slow).entries[0].costs.energy.total_uj
    near, far = varying(0.08), varying(0.12)
    assert [e.candidate.implementation for e in ask(near, slow).entries] == ["ours/steady", "ours/varying"]
    assert [e.candidate.implementation for e in ask(far, slow).entries] == ["ours/varying", "ours/steady"]
    entry = ask(near).entries[0]
    share = 2000 / 32768 + 200 / 2048
    timed = entry.costs.energy.total_uj * (1 + MEMORY_WEIGHT * share) * (1 + TIMING_WEIGHT)
    assert entry.weight == pytest.approx(timed)
    assert entry.reason.endswith("; its time varies with the data")
    assert "recommended, its time varies with the data, " in ask(near, slow).entries[1].reason
    needs = (*advise.USUAL_NEEDS, "constant-time")
    answer = ask(far, slow, question=replace(ASKED, needs=needs))
    assert [e.candidate.implementation for e in answer.entries] == ["ours/steady"]
    assert answer.exclusions[0].reason == "its time varies with the data"
    assert not answer.exclusions[0].budgets


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"standing": "broken", "standing_reason": "leaks"}, "broken: leaks"),
        ({"tag_bytes": 0}, "no integrity"),
        (
            {"cipher": "aes128-ccm16"},
            "not in the secure link, which refuses replays: it has aes128-ccm8, asc",
        ),
        ({"status": "does-not-fit", "reason": "does not fit: needs 9 of 8 bytes of RAM"}, "needs 9 of 8"),
        ({"status": "not measured", "reason": "not measured", "points": ()}, "not measured"),
        ({"points": made().points[2:]}, "not measured at 20 bytes"),
    ],
)
def test_an_exclusion_says_why(changes: dict[str, object], said: str) -> None:
    answer = ask(made(**changes), made())
    assert len(answer.entries) == 1 and len(answer.exclusions) == 1
    assert said in answer.exclusions[0].reason
    assert not answer.exclusions[0].budgets


def test_without_the_need_for_integrity_others_come_in_behind() -> None:
    counter = made(cipher="x-ctr", standing="legacy", standing_reason="no integrity", tag_bytes=0)
    broken = made(cipher="rc0", standing="broken", tag_bytes=0)
    question = replace(ASKED, needs=("confidentiality",))
    answer = ask(counter, broken, made(), question=question)
    assert [e.candidate.cipher for e in answer.entries] == ["aes128-ccm8", "x-ctr"]
    assert [e.candidate.cipher for e in answer.exclusions] == ["rc0"]


def test_without_the_link_blocks_are_padded_and_the_whole_nonce_travels() -> None:
    block = made(cipher="b-cbc", standing="legacy", tag_bytes=0, nonce="random", nonce_bytes=16)
    block = replace(block, message_bytes_multiple=16, points=(advise.Point(32, 1, 2, 3),))
    costs_ = ask(block, question=replace(ASKED, needs=())).entries[0].costs
    assert (costs_.form, costs_.sealed_bytes, costs_.air_bytes, costs_.cycles) == ("alone", 48, 48, 2)
    alone = ask(made(), question=replace(ASKED, needs=("integrity",))).entries[0].costs
    assert alone.tag_bytes == 8 and ask(made(tag_bytes=16)).entries[0].costs.tag_bytes == 8
    assert (alone.sealed_bytes, alone.overhead_bytes, alone.air_bytes) == (13 + 20 + 8, 21, 48)
    assert alone.energy.store_uj == 0 and alone.cycles == 20_000


def test_contradictory_budgets_are_counted_and_the_nearest_named() -> None:
    big = made(implementation="ours/big", flash_bytes=5000)
    question = replace(ASKED, flash_max=1500, ram_max=150, overhead_max=23)
    answer = ask(made(), big, made(standing="broken"), question=question)
    assert not answer.entries
    assert answer.notes[0].startswith("Nothing fits. Of 3 implementations 1 are out for other reasons; ")
    assert "--flash excludes 2 (0 by itself), --ram excludes 2 (0 by itself)" in answer.notes[0]
    assert "--overhead excludes 2" in answer.notes[0]
    assert "The nearest is aes128-ccm8 ours/small: takes 2,000 bytes of flash, 500" in answer.notes[0]
    assert answer.exclusions[0].budgets == ("flash", "ram", "overhead")


def test_an_interval_shorter_than_the_work_is_a_budget_too() -> None:
    answer = ask(made(), question=replace(ASKED, interval_s=0.005), radio=replace(SRF, duty_percent=100))
    assert answer.exclusions[0].budgets == ("interval",)
    assert "--every excludes 1" in answer.notes[0]


# --- what a person would miss ----------------------------------------------------------------------


def notes_of(answer: advise.Advice, word: str) -> str:
    return " ".join(note for note in answer.notes if word in note)


def test_a_length_that_takes_one_packet_is_named() -> None:
    """20 bytes and the link's 12 in pieces of 9 bytes: 36, of which 4 are filling; 6 bytes fit one packet."""
    answer = ask(made())
    costs_ = answer.entries[0].costs
    assert (costs_.packet_sizes, costs_.sealed_bytes, costs_.overhead_bytes) == ((12,) * 4, 44, 24)
    assert "Each message goes long: 4 packets of 12 bytes; 24 bytes are the link's." in answer.notes
    assert "4 bytes more of message cost nothing on the air" in notes_of(answer, "filled up")
    six = ask(made(), question=replace(ASKED, message_bytes=6)).entries[0].costs
    assert six.packet_sizes == (12,) and six.tag_bytes == 4
    saved = (1 - six.energy.total_uj / costs_.energy.total_uj) * 100
    assert (
        f"A message of exactly 6 bytes would be one short packet: {saved:.0f} % less energy." in answer.notes
    )
    only = made(points=(replace(made().points[1], message_bytes=20),))  # its cycles stand for a length of 6
    assert notes_of(ask(only), "6 bytes would be one short packet: ")
    short = ask(made(), question=replace(ASKED, message_bytes=6))
    assert "Each message goes short: 1 packet of 12 bytes; 6 bytes are the link's." in short.notes
    assert not notes_of(short, "filled up") and not notes_of(short, "would be one")
    wide = ask(made(), radio=PLAIN_802, question=replace(ASKED, message_bytes=111))
    assert "2 packets of up to 116 bytes" in notes_of(wide, "goes long")
    assert "A message of up to 110 bytes" in notes_of(wide, "would be one")


@pytest.mark.parametrize(
    ("delivery", "said"),
    [
        ("unconfirmed", "a start and one in 128 go long and confirmed, in 2 packets, so that both ends stay"),
        ("confirmed", "The first message after a start goes long, in 2 packets."),
        ("one-way", "a start and one in 32 go long, in 2 packets, so that the gateway can follow."),
    ],
)
def test_the_long_messages_between_short_ones_are_told(delivery: str, said: str) -> None:
    question = replace(ASKED, message_bytes=6, delivery=delivery)
    assert said in notes_of(ask(made(), question=question), "The first message")
    assert not notes_of(ask(made(), question=replace(ASKED, delivery=delivery)), "The first message")


def test_losses_are_told() -> None:
    question = replace(ASKED, message_bytes=6, loss=0.1)
    answer = ask(made(), question=question)
    assert answer.entries[0].costs.lost == pytest.approx(0.1 * 127 / 128)
    assert "With 10 % of the packets lost, 9.9 % of the messages are lost" in notes_of(answer, "are lost")
    answer = ask(made(), question=replace(question, delivery="confirmed"))
    assert "a message takes 1.23 packets on average, and 0.00 % of the messages are given up after 10" in (
        notes_of(answer, "on average")
    )
    assert not notes_of(ask(made()), "packets lost")


def test_the_duty_cycle_of_the_band_is_told_and_kept() -> None:
    """Four packets of 0.8 ms each time; 1 % of the time may be used at 868 MHz."""
    answer = ask(made())
    assert answer.entries[0].costs.air_time_us == pytest.approx(4 * 800)
    assert "The node is on the air 0.03 % of the time; its band allows 1 %." in answer.notes
    kept = ask(made(), question=replace(ASKED, interval_s=0.33))
    assert len(kept.entries) == 1
    broken = ask(made(), question=replace(ASKED, interval_s=0.31))
    assert broken.exclusions[0].budgets == ("duty",)
    assert broken.exclusions[0].reason == (
        "is on the air 1.0 % of the time, 0.03 % more than its band allows"
    )
    assert "--every excludes 1" in broken.notes[0]
    assert not notes_of(ask(made(), radio=PLAIN_802), "on the air 0")


def test_a_slow_radio_waits_longer_for_its_answers() -> None:
    """A packet of 222 bytes at SF9 takes 1,107 ms; exports wait for four of them."""
    lora = advise.radio_part(load_radio("lora"))
    assert patience_us(LINK, lora) == 4_500_000 and patience_us(LINK, SRF) == 250_000
    question = replace(ASKED, delivery="confirmed", interval_s=3600)
    said = notes_of(ask(made(), radio=lora, question=question), "a node waits")
    assert "Over lora a node waits 4,500 ms for an answer, not 250 ms" in said
    one_way = replace(question, delivery="one-way")
    assert not notes_of(ask(made(), radio=lora, question=one_way), "a node waits")
    assert not notes_of(ask(made(), question=question), "a node waits")


@pytest.mark.parametrize(
    ("question", "radio", "said"),
    [
        (
            replace(ASKED, message_bytes=124),
            SRF,
            "--bytes 124: the link takes messages of up to 123 bytes in",
        ),
        (replace(ASKED, answer_bytes=124), SRF, "--answer 124: the link takes messages of up to 123 bytes"),
        (replace(ASKED, message_bytes=123), SRF, ""),
        (ASKED, replace(SRF, packet_bytes=11), "srf has packets of 11 bytes; the link takes 12 to 255"),
        (replace(ASKED, answer_bytes=1, delivery="one-way"), SRF, "a one-way node hears none"),
        (replace(ASKED, message_bytes=200, needs=("integrity",)), SRF, ""),
    ],
)
def test_what_the_link_does_not_take_is_refused(
    question: advise.Question, radio: advise.RadioPart, said: str
) -> None:
    refusal = advise.link_refusal(LINK, radio, question)
    assert said in refusal and bool(said) == bool(refusal)
    answer = ask(made(), question=question, radio=radio)
    assert answer.refusal == refusal and bool(answer.entries) != bool(said)
    assert message_bytes_max(LINK, SRF) == 123


def test_the_shares_of_the_energy_are_told() -> None:
    answer = ask(made())
    energy = answer.entries[0].costs.energy
    share = f"{energy.cpu_uj / energy.total_uj * 100:.1f} %"
    assert f"Encryption is {share} of the energy" in notes_of(answer, "Encryption")


def test_misfits_vary_and_supplies_are_told() -> None:
    misfit = made(implementation="lib/rom", status="does-not-fit", reason="does not fit: needs 3 of 2 bytes")
    other = replace(misfit, cipher="ascon-aead128")
    wrong = made(implementation="lib/wrong", status="wrong-output", reason="computes wrong outputs here: x")
    answer = ask(made(timing_varies=True), misfit, other, wrong, battery=THREE_AA)
    assert notes_of(answer, "lib/wrong computes wrong outputs here: x.")
    assert "lib/rom does not fit: needs 3 of 2 bytes for aes128-ccm8 (and 1 more)." in answer.notes
    assert notes_of(answer, "differ with the data")
    assert "only 29 % of its charge" in notes_of(answer, "3xAA stays above")
    coin = ask(made(), battery=advise.battery_part("2xCR2032"), regulator=NONE, device=PICO)
    assert coin.refusal.startswith("2xCR2032 gives up to 6.4 V")
    coin = ask(made(), battery=advise.battery_part("CR2032"), device=PICO)
    assert "gives pulses of 15 mA" in notes_of(coin, "pulses")


# --- supply ----------------------------------------------------------------------------------------


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


# --- boards, sleep, shelves --------------------------------------------------------------------------


def test_the_board_as_it_is_sold_lives_about_a_day_and_its_chip_for_years() -> None:
    answer = ask(made(), battery=THREE_AA, device=BOARD, chip=UNO)
    days = answer.entries[0].costs.life_days
    # 29 % of 2,850 mAh at 32.2 mA, and 2 per mille for the rest
    assert days == pytest.approx(0.29 * 2850 / 32.2 / 24, rel=0.01)
    alone = ask(made(), battery=THREE_AA, device=UNO).entries[0].costs.life_days
    assert alone > 700
    assert (
        "Arduino UNO R3 as it is sold takes 32.2 mA between messages. Its chip alone would last "
        f"{alone / 365.25:.1f} years instead of 1.1 days (--bare-chip)." in answer.notes
    )
    assert not notes_of(ask(made(), battery=THREE_AA, device=UNO, chip=UNO), "as it is sold")
    assert not notes_of(ask(made(), battery=THREE_AA, device=BOARD), "as it is sold")


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
    with pytest.raises(InputError, match="pico: its folder has no currents of the chip alone; ask without"):
        advise.device_part(CATALOG.device("pico"), "chip")
    uno = CATALOG.device("uno")
    chip = replace(uno, currents=tuple(c for c in uno.currents if c.of == "chip"))
    with pytest.raises(
        InputError, match="no currents of the board as it is sold; ask for the chip alone with"
    ):
        advise.device_part(chip)
    either = replace(uno, currents=tuple(replace(c, of="") for c in chip.currents))
    assert advise.device_part(either).sleep_ma == advise.device_part(either, "chip").sleep_ma == 0.0042
    assert advise.weighable(either, "chip") and not advise.weighable(CATALOG.device("pico"), "chip")


def test_a_radio_sleeps_where_its_example_does() -> None:
    assert advise.sleeps_with(SRF, ["serial"]) and advise.sleeps_with(PLAIN_802, ["802.15.4"])
    assert not advise.sleeps_with(PLAIN_802, ["serial"]) and not advise.sleeps_with(SRF, [])


# --- energy ----------------------------------------------------------------------------------------


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


# --- properties ------------------------------------------------------------------------------------

BUDGETS = ("flash_max", "ram_max", "latency_us_max", "overhead_max")

candidates = st.builds(
    made,
    cipher=st.sampled_from(["aes128-ccm8", "ascon-aead128", "c-8", "d-8"]),
    implementation=st.sampled_from(["ours/one", "ours/two", "lib/three"]),
    standing=st.sampled_from(["recommended", "acceptable", "legacy", "broken", "unrated"]),
    tag_bytes=st.sampled_from([0, 4, 8, 16]),
    nonce=st.sampled_from(["counter", "random", "none"]),
    message_bytes_multiple=st.sampled_from([1, 8, 16]),
    flash_bytes=st.integers(0, 40_000),
    ram_bytes=st.integers(0, 4000),
    stack_bytes=st.integers(0, 500),
    timing_varies=st.booleans(),
    points=st.integers(1, 500_000).map(
        lambda c: tuple(advise.Point(n, 1, c + 10 * n, c + 10 * n) for n in (0, 16, 128, 256))
    ),
)


def _key(candidate: advise.Candidate) -> str:
    return repr(candidate)


@settings(max_examples=60)
@given(
    some=st.lists(candidates, max_size=8, unique_by=_key),
    limits=st.tuples(st.integers(0, 40_000), st.integers(0, 4000), st.floats(100, 1e6), st.integers(0, 60)),
    more=st.tuples(st.integers(0, 9000), st.integers(0, 900), st.floats(0, 1e6), st.integers(0, 30)),
)
def test_more_budget_never_excludes_more(
    some: list[advise.Candidate],
    limits: tuple[int, int, float, int],
    more: tuple[int, int, float, int],
) -> None:
    tight = replace(ASKED, **dict(zip(BUDGETS, limits, strict=True)))  # type: ignore[arg-type]
    larger = [a + b for a, b in zip(limits, more, strict=True)]
    wide = replace(ASKED, **dict(zip(BUDGETS, larger, strict=True)))  # type: ignore[arg-type]
    before = {_key(e.candidate) for e in ask(*some, question=tight).entries}
    after = {_key(e.candidate) for e in ask(*some, question=wide).entries}
    assert before <= after
    assert len(after) + len(ask(*some, question=wide).exclusions) == len(some)


@settings(max_examples=60)
@given(some=st.lists(candidates, min_size=2, max_size=8, unique_by=lambda c: c.name), seed=st.randoms())
def test_ranks_do_not_depend_on_the_order_or_on_the_others(
    some: list[advise.Candidate], seed: object
) -> None:
    question = replace(ASKED, needs=())
    ranked = [_key(e.candidate) for e in ask(*some, question=question).entries]
    shuffled = list(some)
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    assert [_key(e.candidate) for e in ask(*shuffled, question=question).entries] == ranked
    fewer = shuffled[1:]
    assert [_key(e.candidate) for e in ask(*fewer, question=question).entries] == [
        key for key in ranked if key != _key(shuffled[0])
    ]


@settings(max_examples=80)
@given(
    candidate=candidates,
    length=st.integers(1, 200),
    longer=st.integers(0, 50),
    radio=st.sampled_from([SRF, PLAIN_802, advise.radio_part(load_radio("lora"))]),
    regulator=st.sampled_from([NONE, SWITCH, NANO]),
)
def test_energy_never_falls_with_the_length(
    candidate: advise.Candidate,
    length: int,
    longer: int,
    radio: advise.RadioPart,
    regulator: advise.RegulatorPart,
) -> None:
    def total(n: int) -> float:
        question = replace(ASKED, message_bytes=n, needs=(), interval_s=3600)
        usable = replace(candidate, standing="recommended")
        answer = ask(usable, question=question, radio=radio, battery=THREE_AA, regulator=regulator)
        return answer.entries[0].costs.energy.total_uj

    assert total(length + longer) >= total(length) * (1 - 1e-12)


# --- units, batteries, export ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [("10s", 10), ("5min", 300), ("50ms", 0.05), ("250 us", 2.5e-4), ("1.5h", 5400), ("1d", 86400)],
)
def test_times(text: str, value: float) -> None:
    assert advise.seconds(text, "--every") == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "value"), [("4k", 4096), ("512", 512), ("1.5k", 1536), ("2 KiB", 2048), ("0", 0)]
)
def test_bytes(text: str, value: int) -> None:
    assert advise.whole_bytes(text, "--flash") == value


@pytest.mark.parametrize("text", ["10", "10m", "10 sec", "-3s", "s", "", "0s", "1e3s", "10S"])
def test_unknown_times_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError, match="--every"):
        advise.seconds(text, "--every")


@pytest.mark.parametrize("text", ["4x", "-1", "k", "0.3", "4 kb/s", ""])
def test_unknown_sizes_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError, match="--flash"):
        advise.whole_bytes(text, "--flash")


@pytest.mark.parametrize("text", ["AB", "0xAA", "25xAA", "3x", "x", "1200mAh", "1200mAh,-3V"])
def test_unknown_batteries_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        advise.battery_part(text)


def test_batteries_in_series_and_of_ones_own() -> None:
    three = advise.battery_part("3xaa-nimh")
    assert (three.name, three.cells) == ("3xAA-NiMH", 3)
    assert (three.volts, three.capacity_mah) == (pytest.approx(3.6), 1900)
    own = advise.battery_part("1200mAh,3.7V")
    assert usable_fraction(own, 3.0) == 1.0 and own.volts == 3.7
    for name in advise.cell_names():
        assert advise.battery_part(name).curve[-1][1] == 1


def test_the_export_is_json_and_answers_the_same() -> None:
    data = json.loads(json.dumps(advise.export(CATALOG, []), allow_nan=False))
    assert data["devices"] == {} and set(data["radios"]) == set(radio_names())
    assert link_from(data["link"]) == LINK
    again = advise.RadioPart(**{**data["radios"]["srf"], "air_us": tuple(data["radios"]["srf"]["air_us"])})
    assert again == SRF
    data["candidates"] = {"uno": json.loads(json.dumps([asdict(made()), asdict(made(tag_bytes=16))]))}
    back = advise.candidates_of(data, "uno")
    assert ask(*back, radio=again) == ask(made(), made(tag_bytes=16))


def test_a_device_without_currents_is_refused() -> None:
    with pytest.raises(InputError, match="no 'active' and 'sleep' current"):
        advise.device_part(CATALOG.device("host"))


def test_between_the_grids_lengths_cycles_are_those_of_the_line(results: Results) -> None:
    body = next(
        b for b in CATALOG.implementations_of("aes128-ccm8", "uno", ["motecrypt"]) if b.variant == "fast"
    )
    lengths = [n for n in advise.GRID if n <= 49]
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


def link_from(kept: dict[str, Any]) -> advise.LinkFacts:
    """The link's facts back from JSON."""
    suites = {name: advise.SuiteWork(**work) for name, work in kept["suites"].items()}
    return advise.LinkFacts(**{**kept, "suites": suites})


def from_json(inputs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of `advise` back from JSON, in order."""
    question = {**inputs["question"], "needs": tuple(inputs["question"]["needs"])}
    radio = {**inputs["radio"], "air_us": tuple(inputs["radio"]["air_us"])}
    battery = {**inputs["battery"], "curve": tuple((v, used) for v, used in inputs["battery"]["curve"])}
    return (
        advise.Question(**question),
        advise.candidates_of({"candidates": {"uno": inputs["candidates"]}}, "uno"),
        advise.DeviceFacts(**inputs["device"]),
        advise.RadioPart(**radio),
        link_from(inputs["link"]),
        advise.BatteryPart(**battery),
        advise.RegulatorPart(**inputs["regulator"]),
        [advise.RegulatorPart(**other) for other in inputs["other_regulators"]],
        advise.DeviceFacts(**inputs["chip"]),
    )


def test_the_golden_answer_stands() -> None:
    """tests/data/advise.json: inputs and answer in full, for advisers in other languages, too."""
    kept = json.loads((Path(__file__).resolve().parents[2] / "data" / "advise.json").read_text())
    answer = advise.advise(*from_json(kept["inputs"]))

    def same(a: object, b: object, where: str) -> None:
        if isinstance(a, dict) and isinstance(b, dict):
            assert a.keys() == b.keys(), where
            for key in a:
                same(a[key], b[key], f"{where}.{key}")
        elif isinstance(a, list) and isinstance(b, list):
            assert len(a) == len(b), where
            for number, (one, other) in enumerate(zip(a, b, strict=True)):
                same(one, other, f"{where}[{number}]")
        else:
            assert a == (pytest.approx(b, rel=1e-12) if isinstance(b, float) else b), where

    same(json.loads(json.dumps(asdict(answer))), kept["answer"], "")
