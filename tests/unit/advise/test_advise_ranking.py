"""What the adviser ranks and excludes of made-up candidates, and that it is monotone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from advise_parts import ASKED, NANO, NONE, PLAIN_802, SRF, SWITCH, THREE_AA, ask, made
from hypothesis import given, settings
from hypothesis import strategies as st

from motecrypt.adviser import api as advise
from motecrypt.adviser.rank import MEMORY_WEIGHT, TIMING_WEIGHT
from motecrypt.air.radios import load_radio

# --- ranking and exclusions -------------------------------------------------------------------------


def test_security_goes_before_energy_and_energy_before_the_rest() -> None:
    cheap = made(security="acceptable", security_reason="short tag", flash_bytes=1)
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
    assert entry.reason.endswith("; its time depends on the data")
    assert "recommended, its time depends on the data, " in ask(near, slow).entries[1].reason
    needs = (*advise.USUAL_NEEDS, "constant-time")
    answer = ask(far, slow, question=replace(ASKED, needs=needs))
    assert [e.candidate.implementation for e in answer.entries] == ["ours/steady"]
    assert answer.exclusions[0].reason == "its time depends on the data"
    assert not answer.exclusions[0].budgets


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"security": "broken", "security_reason": "leaks"}, "broken: leaks"),
        ({"tag_bytes": 0}, "no integrity"),
        (
            {"cipher": "aes128-ccm16"},
            "not in the secure link, which refuses replays; the link has aes128-ccm8, asc",
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
    counter = made(cipher="x-ctr", security="legacy", security_reason="no integrity", tag_bytes=0)
    broken = made(cipher="rc0", security="broken", tag_bytes=0)
    question = replace(ASKED, needs=("confidentiality",))
    answer = ask(counter, broken, made(), question=question)
    assert [e.candidate.cipher for e in answer.entries] == ["aes128-ccm8", "x-ctr"]
    assert [e.candidate.cipher for e in answer.exclusions] == ["rc0"]


def test_without_the_link_blocks_are_padded_and_the_whole_nonce_travels() -> None:
    block = made(cipher="b-cbc", security="legacy", tag_bytes=0, nonce="random", nonce_bytes=16)
    block = replace(block, message_bytes_multiple=16, points=(advise.Point(32, 1, 2, 3),))
    costs_ = ask(block, question=replace(ASKED, needs=())).entries[0].costs
    assert (costs_.form, costs_.sealed_bytes, costs_.air_bytes, costs_.cycles) == ("alone", 48, 48, 2)
    alone = ask(made(), question=replace(ASKED, needs=("integrity",))).entries[0].costs
    assert alone.tag_bytes == 8 and ask(made(tag_bytes=16)).entries[0].costs.tag_bytes == 8
    assert (alone.sealed_bytes, alone.overhead_bytes, alone.air_bytes) == (13 + 20 + 8, 21, 48)
    assert alone.energy.store_uj == 0 and alone.cycles == 20_000


def test_contradictory_budgets_are_counted_and_the_nearest_named() -> None:
    big = made(implementation="ours/big", flash_bytes=5000)
    question = replace(ASKED, budgets=advise.Budgets(flash_max=1500, ram_max=150, overhead_max=23))
    answer = ask(made(), big, made(security="broken"), question=question)
    assert not answer.entries
    assert answer.notes[0].startswith("Nothing fits. Of 3 implementations 1 are out for other reasons; ")
    assert (
        "--flash excludes 2 (0 for this reason alone), --ram excludes 2 (0 for this reason alone)"
        in answer.notes[0]
    )
    assert "--overhead excludes 2" in answer.notes[0]
    assert "The nearest is aes128-ccm8 ours/small: takes 2,000 bytes of flash, 500" in answer.notes[0]
    assert answer.exclusions[0].budgets == ("flash", "ram", "overhead")


def test_an_interval_shorter_than_the_work_is_a_budget_too() -> None:
    answer = ask(made(), question=replace(ASKED, interval_s=0.005), radio=replace(SRF, duty_percent=100))
    assert answer.exclusions[0].budgets == ("interval",)
    assert "--every excludes 1" in answer.notes[0]


# --- properties ------------------------------------------------------------------------------------

candidates = st.builds(
    made,
    cipher=st.sampled_from(["aes128-ccm8", "ascon-aead128", "c-8", "d-8"]),
    implementation=st.sampled_from(["ours/one", "ours/two", "lib/three"]),
    security=st.sampled_from(["recommended", "acceptable", "legacy", "broken", "unrated"]),
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
    tight = replace(ASKED, budgets=advise.Budgets(*limits))
    larger = [a + b for a, b in zip(limits, more, strict=True)]
    wide = replace(ASKED, budgets=advise.Budgets(*larger))  # type: ignore[arg-type]
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
        usable = replace(candidate, security="recommended")
        answer = ask(usable, question=question, radio=radio, battery=THREE_AA, regulator=regulator)
        return answer.entries[0].costs.energy.total_uj

    assert total(length + longer) >= total(length) * (1 - 1e-12)
