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
from motecrypt.advise.costs import at_length, delivery_us, on_air, usable_fraction
from motecrypt.advise.rank import MEMORY_WEIGHT
from motecrypt.catalog import Catalog
from motecrypt.energy import energy_uj, time_us
from motecrypt.errors import InputError
from motecrypt.model import Measurement
from motecrypt.radios import costs, load_radio, radio_names
from motecrypt.results import Results

CATALOG = Catalog.load()
# As in its folder, but frozen here: what these tests say must not move with its figures.
UNO = replace(advise.device_part(CATALOG.device("uno")), volts_min=3.78, sleep_ma=0.0042)
PICO = advise.device_part(CATALOG.device("pico"))
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
        cipher="good-8",
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
) -> advise.Advice:
    return advise.advise(question, candidates, device, radio, battery, regulator)


# --- ranking and exclusions ------------------------------------------------------------------------


def test_standing_goes_before_energy_and_energy_before_the_rest() -> None:
    cheap = made(cipher="cheap-4", standing="acceptable", standing_reason="short tag", tag_bytes=4)
    slow = made(
        implementation="ours/slow", points=tuple(replace(p, encrypt_cycles=90_000) for p in cheap.points)
    )
    answer = ask(cheap, slow, made())
    assert [e.candidate.implementation for e in answer.entries] == ["ours/small", "ours/slow", "ours/small"]
    assert [e.rank for e in answer.entries] == [1, 2, 3]
    assert answer.entries[0].reason.startswith("recommended, and least energy")
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


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"standing": "broken", "standing_reason": "leaks"}, "broken: leaks"),
        ({"tag_bytes": 0}, "no integrity"),
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
    assert [e.candidate.cipher for e in answer.entries] == ["good-8", "x-ctr"]
    assert [e.candidate.cipher for e in answer.exclusions] == ["rc0"]


def test_replay_needs_a_counter_on_the_air() -> None:
    answer = ask(made(), question=replace(ASKED, counter_bytes=0))
    assert "replay" in answer.exclusions[0].reason


def test_blocks_are_padded_and_a_random_iv_travels_whole() -> None:
    block = made(cipher="b-cbc", standing="legacy", tag_bytes=0, nonce="random", nonce_bytes=16)
    block = replace(block, message_bytes_multiple=16, points=(advise.Point(32, 1, 2, 3),))
    answer = ask(block, question=replace(ASKED, needs=()))
    assert answer.entries[0].costs.sealed_bytes == 48
    assert answer.entries[0].costs.cycles == 2


def test_contradictory_budgets_are_counted_and_the_nearest_named() -> None:
    big = made(implementation="ours/big", flash_bytes=5000)
    question = replace(ASKED, flash_max=1500, ram_max=150, overhead_max=9)
    answer = ask(made(), big, made(standing="broken"), question=question)
    assert not answer.entries
    assert answer.notes[0].startswith("Nothing fits. Of 3 implementations 1 are out for other reasons; ")
    assert "--flash excludes 2 (0 by itself), --ram excludes 2 (0 by itself)" in answer.notes[0]
    assert "--overhead excludes 2" in answer.notes[0]
    assert "The nearest is good-8 ours/small (128 bits): takes 2,000 bytes of flash, 500" in answer.notes[0]
    assert answer.exclusions[0].budgets == ("flash", "ram", "overhead")


def test_an_interval_shorter_than_the_work_is_a_budget_too() -> None:
    answer = ask(made(), question=replace(ASKED, interval_s=0.002))
    assert answer.exclusions[0].budgets == ("interval",)
    assert "--every excludes 1" in answer.notes[0]


# --- what a person would miss ----------------------------------------------------------------------


def notes_of(answer: advise.Advice, word: str) -> str:
    return " ".join(note for note in answer.notes if word in note)


def test_two_bytes_less_of_tag_save_a_whole_packet() -> None:
    # 2 + 20 + 16 = 38 bytes: 4 packets of 12, of which the last carries 2 bytes.
    answer = ask(made(cipher="long-16", tag_bytes=16))
    assert "long-16: 2 bytes less of tag and counter (it carries 18) save one of 4 packets" in notes_of(
        answer, "packets"
    )
    assert "10 bytes more of message or tag cost nothing" in notes_of(answer, "filled up")


def test_a_counter_wraps_sooner_than_people_think() -> None:
    answer = ask(made())
    assert "a 16-bit counter wraps in 7.6 days" in notes_of(answer, "counter wraps")
    assert not notes_of(ask(made(), question=replace(ASKED, counter_bytes=6)), "counter wraps")


def test_the_shares_of_the_energy_are_told() -> None:
    answer = ask(made())
    energy = answer.entries[0].costs.energy
    share = f"{energy.cpu_uj / energy.total_uj * 100:.1f} %"
    assert f"Encryption is {share} of the energy" in notes_of(answer, "Encryption")


def test_misfits_vary_and_supplies_are_told() -> None:
    misfit = made(implementation="lib/rom", status="does-not-fit", reason="does not fit: needs 3 of 2 bytes")
    other = replace(misfit, cipher="other-8")
    wrong = made(implementation="lib/wrong", status="wrong-output", reason="computes wrong outputs here: x")
    answer = ask(made(timing_varies=True), misfit, other, wrong, battery=THREE_AA)
    assert notes_of(answer, "lib/wrong (128 bits) computes wrong outputs here: x.")
    assert "lib/rom does not fit: needs 3 of 2 bytes for good-8 (and 1 more)." in answer.notes
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
    arguments = ([made()], UNO, SRF, THREE_AA, NONE)
    plain = advise.advise(ASKED, *arguments)
    assert not any("--regulator" in note for note in plain.notes)
    said = advise.advise(ASKED, *arguments, [NONE, SWITCH, NANO])
    longer = ask(made(), battery=THREE_AA, regulator=NANO).entries[0].costs.life_days
    assert any(
        f"With --regulator nano the same battery lasts {longer / 365.25:.1f} years" in n for n in said.notes
    )
    assert said.entries == plain.entries
    best = advise.advise(ASKED, *arguments[:4], NANO, [NONE, SWITCH, NANO])
    assert not any("--regulator" in note for note in best.notes)


# --- energy ----------------------------------------------------------------------------------------


def test_the_energy_is_v_times_i_times_t_and_adds_up() -> None:
    answer = ask(made(), battery=FOUR_NIMH)
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


def test_a_better_regulator_and_an_answer_change_what_they_should() -> None:
    plain = ask(made(), battery=THREE_AA, regulator=SWITCH).entries[0].costs
    better = ask(made(), battery=THREE_AA, regulator=NANO).entries[0].costs
    assert better.energy.regulator_uj < plain.energy.regulator_uj / 4
    question = replace(ASKED, answer_bytes=4)
    answered = ask(made(), question=question, battery=THREE_AA, regulator=SWITCH).entries[0].costs
    assert answered.energy.receive_uj > 0 == plain.energy.receive_uj
    assert answered.cycles == 20_000 + 11_000 + 500 * 4


@pytest.mark.parametrize("name", radio_names())
def test_air_time_and_delivery_are_those_of_the_radios(name: str) -> None:
    radio = load_radio(name)
    part = advise.radio_part(radio)
    for n in [*range(1, 60), 100, 240, 255, 600]:
        handed, packets, air_us = on_air(part, n)
        model = costs(radio, handed)
        assert (packets, air_us) == (model.packets, pytest.approx(float(model.air_time_us)))
        assert delivery_us(part, handed) == pytest.approx(float(model.delivery_time_us))
        assert delivery_us(part, n) == pytest.approx(float(costs(radio, n).delivery_time_us))


def test_cycles_between_measured_lengths_lie_on_the_line() -> None:
    points = (advise.Point(10, 1, 100, 200), advise.Point(20, 1, 200, 400))
    assert at_length(points, 10) == (1, 100, 200)
    assert at_length(points, 15) == (1, 150, 300)
    assert at_length(points, 9) is None and at_length(points, 21) is None


# --- properties ------------------------------------------------------------------------------------

BUDGETS = ("flash_max", "ram_max", "latency_us_max", "overhead_max")

candidates = st.builds(
    made,
    cipher=st.sampled_from(["a-8", "b-8", "c-8", "d-8"]),
    implementation=st.sampled_from(["ours/one", "ours/two", "lib/three"]),
    standing=st.sampled_from(["recommended", "acceptable", "legacy", "broken", "unrated"]),
    tag_bytes=st.sampled_from([0, 4, 8, 16]),
    nonce=st.sampled_from(["counter", "random", "none"]),
    message_bytes_multiple=st.sampled_from([1, 8, 16]),
    flash_bytes=st.integers(0, 40_000),
    ram_bytes=st.integers(0, 4000),
    stack_bytes=st.integers(0, 500),
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
        assert at_length(points(of_grid), point.message_bytes) == (
            *(point.setup_cycles, point.encrypt_cycles, point.decrypt_cycles),
        )


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
        advise.BatteryPart(**battery),
        advise.RegulatorPart(**inputs["regulator"]),
        [advise.RegulatorPart(**other) for other in inputs["other_regulators"]],
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
