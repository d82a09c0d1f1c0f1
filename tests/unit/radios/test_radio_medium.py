"""The shared channel: who receives what, against a second reading of the rules; who sends when, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motecrypt.air.radios import load_radio
from motecrypt.air.radios.air import AIRS, air_time_us, lock_us
from motecrypt.air.radios.catalog import ChannelSharing, Radio, SourcedNumber
from motecrypt.air.radios.levels import Levels
from motecrypt.air.radios.medium import Frame, Medium, Verdict, jain
from motecrypt.air.radios.schedule import Schedule

NRF24 = load_radio("nrf24").with_figures(turn_round_us=0)
SRF = load_radio("srf")


def sharing(radio: Radio, access: str | None = None, **values: float | None) -> Radio:
    """The radio with other figures of sharing; None takes one away."""
    kept = {name: figure for name, figure in radio.sharing.figures.items() if name not in values}
    given = {name: SourcedNumber(v, "", "here") for name, v in values.items() if v is not None}
    return replace(radio, sharing=ChannelSharing(access or radio.sharing.access, kept | given))


class Play:
    """A medium, what ended on it, and the verdicts of all its stations."""

    def __init__(self, radio: Radio, stations: int, levels: Levels | None = None, **given: Any) -> None:
        self.schedule = Schedule()
        self.frames: list[Frame] = []
        self.dropped: list[tuple[int, float]] = []
        self.verdicts: list[list[Verdict | None]] = []
        self.medium = Medium(
            self.schedule,
            radio,
            stations,
            self.ended,
            levels,
            lambda frame: self.dropped.append((frame.sender, self.schedule.now_us)),
            **given,
        )
        self.stations = stations

    def ended(self, frame: Frame) -> None:
        self.frames.append(frame)
        self.verdicts.append(
            [
                None if station == frame.sender else self.medium.verdict(frame, station)
                for station in range(self.stations)
            ]
        )

    def offer(self, station: int, at_us: float, size: int = 12) -> None:
        self.schedule.at(at_us, lambda now_us: self.medium.offer(station, bytes(size), None, now_us))

    def run(self) -> list[tuple[int, float]]:
        """Who sent, and when."""
        while (due_us := self.schedule.next_us()) is not None:
            self.schedule.pass_until(due_us)
        return [(frame.sender, frame.start_us) for frame in self.frames]

    def at(self, receiver: int) -> list[Verdict | None]:
        """The outcome of each packet at that receiver."""
        return [verdicts[receiver] for verdicts in self.verdicts]


# --- reception ---------------------------------------------------------------------------------------------

AIR_US = float(air_time_us(NRF24, 12))
HEARD, CAPTURED, COLLIDED = Verdict.HEARD, Verdict.CAPTURED, Verdict.COLLIDED
DEAF, FAINT = Verdict.DEAF, Verdict.FAINT


@pytest.mark.parametrize(
    ("second_us", "expected"),
    [(0.0, COLLIDED), (1.0, COLLIDED), (AIR_US - 0.5, COLLIDED), (AIR_US, HEARD), (AIR_US + 1, HEARD)],
)
def test_packets_that_overlap_are_lost_at_everyone(second_us: float, expected: Verdict) -> None:
    play = Play(NRF24, 4)
    play.offer(0, 0.0)
    play.offer(1, second_us)
    assert play.run() == [(0, 0.0), (1, second_us)]
    assert play.at(2) == play.at(3) == [expected, expected]
    deaf = DEAF if expected is COLLIDED else HEARD
    assert play.at(0) == [None, deaf] and play.at(1) == [deaf, None]


def test_another_frequency_is_not_in_the_way() -> None:
    play = Play(NRF24, 3)
    play.medium.set_radio(1, NRF24, 7)
    play.offer(0, 0.0)
    play.offer(1, 10.0)
    play.run()
    assert play.at(2)[0] is HEARD


def level(**dbm: float) -> Levels:
    """Levels of way "a_b" at which b receives a."""
    ways = {(int(a), int(b)): value for (a, _, b), value in ((w[1:], v) for w, v in dbm.items())}
    return Levels(ways)


CAPTURE_DB = NRF24.sharing.value("capture_db")
LOCK_US = lock_us(NRF24)


@pytest.mark.parametrize(
    ("apart_db", "after_us", "expected"),
    [
        (CAPTURE_DB, 40.0, [CAPTURED, COLLIDED]),  # the weaker comes later
        (CAPTURE_DB - 0.1, 40.0, [COLLIDED, COLLIDED]),
        (-CAPTURE_DB, 40.0, [COLLIDED, CAPTURED]),  # the stronger comes before the receiver is bound
        (-CAPTURE_DB + 0.1, 40.0, [COLLIDED, COLLIDED]),
        (-CAPTURE_DB, LOCK_US - 0.1, [COLLIDED, CAPTURED]),
        (-CAPTURE_DB, LOCK_US, [COLLIDED, COLLIDED]),  # it is bound
        (-30.0, LOCK_US + 1, [COLLIDED, COLLIDED]),
        (40.0, LOCK_US + 1, [CAPTURED, COLLIDED]),
    ],
)
def test_the_stronger_packet_survives_as_far_as_the_receiver_is_free(
    apart_db: float, after_us: float, expected: list[Verdict]
) -> None:
    play = Play(NRF24, 3, level(w0_2=-40.0, w1_2=-40.0 - apart_db))
    play.offer(0, 0.0)
    play.offer(1, after_us)
    play.run()
    assert play.at(2) == expected


def test_a_radio_of_unknown_capture_captures_nothing() -> None:
    play = Play(sharing(NRF24, capture_db=None), 3, level(w0_2=-10.0, w1_2=-80.0))
    play.offer(0, 0.0)
    play.offer(1, 50.0)
    play.run()
    assert play.at(2) == [COLLIDED, COLLIDED]


def test_the_powers_of_the_others_add_up_while_they_last() -> None:
    # Two that are 13 dB below are 10 dB below together: too much for 12 dB, unless one is over.
    us = float(air_time_us(NRF24, 1))
    for third_us, expected in ((30.0, COLLIDED), (20 + us - 0.1, COLLIDED), (20 + us, CAPTURED)):
        play = Play(NRF24, 4, level(w0_3=-40.0, w1_3=-53.0, w2_3=-53.0))
        for station, at_us, size in ((0, 0.0, 32), (1, 20.0, 1), (2, third_us, 1)):
            play.offer(station, at_us, size)
        play.run()
        assert play.at(3)[[frame.sender for frame in play.frames].index(0)] is expected


def test_what_is_too_faint_is_not_received_and_binds_nobody() -> None:
    floor = NRF24.sharing.value("sensitivity_dbm")
    for dbm, expected in ((floor, [HEARD]), (floor - 0.1, [FAINT])):
        play = Play(NRF24, 2, level(w0_1=dbm))
        play.offer(0, 0.0)
        play.run()
        assert play.at(1) == expected
    play = Play(NRF24, 3, level(w0_2=floor - 1, w1_2=floor + 20))
    play.offer(0, 0.0)
    play.offer(1, LOCK_US + 1)
    play.run()
    assert play.at(2) == [FAINT, CAPTURED]


@pytest.mark.parametrize("size", [90, 70])  # over after the loud one, and before it
def test_a_radio_that_begins_to_send_lets_go_of_what_it_was_bound_to(size: int) -> None:
    # Station 2 is bound to 0's longest packet, sends a short one itself, and then receives the much louder 1.
    play = Play(NRF24, 3, level(w0_2=-70.0, w1_2=-40.0))
    play.offer(0, 0.0, size)
    for station, at_us in ((2, 160.0), (1, 340.0)):
        play.offer(station, at_us, 1)
    play.run()
    verdicts = {frame.sender: verdict for frame, verdict in zip(play.frames, play.at(2), strict=True)}
    assert 160 + air_time_us(NRF24, 1) < 340 < air_time_us(NRF24, size)
    assert verdicts == {0: DEAF, 1: CAPTURED, 2: None}


def reference(frames: Sequence[Frame], levels: Levels, radio: Radio, receiver: int) -> list[Verdict | None]:
    """The rules of reception once more, with all that was ever on the air at hand."""
    ratio, floor = 10 ** (radio.sharing.value("capture_db") / 10), radio.sharing.value("sensitivity_dbm")

    def mw(frame: Frame) -> float:
        return float(10 ** (levels.level(frame.sender, receiver) / 10))

    def wins(frame: Frame, until_us: float) -> bool:
        edges = {frame.start_us, *(other.start_us for other in frames)}
        return all(
            mw(frame)
            >= ratio
            * (1 - 1e-12)
            * sum(mw(o) for o in frames if o is not frame and o.start_us <= edge < o.end_us)
            for edge in edges
            if frame.start_us <= edge < until_us
        )

    def own(since_us: float, until_us: float) -> bool:
        return any(f.sender == receiver and f.start_us < until_us and f.end_us > since_us for f in frames)

    def bound(frame: Frame) -> bool:
        if levels.level(frame.sender, receiver) < floor or own(frame.start_us, frame.lock_us):
            return False
        for other in frames:
            if other is frame or other.sender == receiver:
                continue
            if (
                other.lock_us <= frame.start_us < other.end_us
                and bound(other)
                and not own(other.start_us, frame.start_us)
            ):
                return False
        return wins(frame, frame.lock_us)

    told: list[Verdict | None] = []
    for frame in frames:
        alone = not any(
            o is not frame and o.start_us < frame.end_us and o.end_us > frame.start_us for o in frames
        )
        if frame.sender == receiver:
            told.append(None)
        elif own(frame.start_us, frame.end_us):
            told.append(DEAF)
        elif levels.level(frame.sender, receiver) < floor:
            told.append(FAINT)
        elif alone:
            told.append(HEARD)
        else:
            told.append(CAPTURED if bound(frame) and wins(frame, frame.end_us) else COLLIDED)
    return told


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 2500), st.sampled_from([1, 12, 32])),
        min_size=2,
        max_size=14,
    ),
    st.lists(st.sampled_from([-90.0, -70.0, -57.0, -45.0, -30.0]), min_size=25, max_size=25),
)
def test_reception_is_what_the_rules_say(offers: list[tuple[int, int, int]], dbm: list[float]) -> None:
    levels = Levels({(a, b): dbm[5 * a + b] for a in range(5) for b in range(5)})
    play = Play(NRF24, 5, levels)
    for station, at_us, size in offers:
        play.offer(station, float(at_us), size)
    play.run()
    for receiver in range(5):
        assert play.at(receiver) == reference(play.frames, levels, NRF24, receiver), receiver


def test_a_busy_channel_keeps_no_packet_for_ever() -> None:
    play = Play(NRF24, 3)
    for number in range(200):  # each overlaps the next
        play.offer(number % 2, number * AIR_US * 0.75)
    play.run()
    kept = sum(len(frame.others) for frame in play.frames)
    assert kept == 0


@pytest.mark.parametrize(
    ("name", "expected_us"),
    [
        ("srf", (4 + 4) * 32),
        ("nrf24", 130 + 6 * 4),
        ("lora", 12.25 * 4096),
        ("802.15.4", 5 * 32),
        ("ble-1m", 40),
        ("esp-now", 192),
    ],
)
def test_a_receiver_is_bound_after_preamble_and_sync_word(name: str, expected_us: float) -> None:
    radio = load_radio(name)
    assert lock_us(radio) == pytest.approx(expected_us)
    assert lock_us(radio) < air_time_us(radio, 1)
    read: set[str] = set()
    AIRS[radio.air].lock_us(lambda figure: (read.add(figure), 8.0)[1])  # type: ignore[func-returns-value]
    assert read <= set(AIRS[radio.air].figures)


# --- access ------------------------------------------------------------------------------------------------

SRF_US, TURN_US, ROUND_US = float(air_time_us(SRF, 12)), 30.0, 3000.0


def test_a_radio_that_listens_waits_for_the_end_and_turns_round() -> None:
    play = Play(SRF, 3)
    play.offer(0, 0.0)
    play.offer(1, 100.0)
    assert play.run() == [(0, TURN_US), (1, TURN_US + SRF_US + ROUND_US + TURN_US)]
    assert play.at(2) == [HEARD, HEARD]
    assert [frame.waited for frame in play.frames] == [False, True]


def test_radios_that_wait_for_the_same_packet_begin_together() -> None:
    play = Play(SRF, 4)
    for station, at_us in ((0, 0.0), (1, 100.0), (2, 300.0)):
        play.offer(station, at_us)
    again_us = TURN_US + SRF_US + ROUND_US + TURN_US
    assert play.run() == [(0, TURN_US), (1, again_us), (2, again_us)]
    assert play.at(3) == [HEARD, COLLIDED, COLLIDED]


@pytest.mark.parametrize("apart_us", [1.0, TURN_US])
def test_radios_are_deaf_while_they_turn(apart_us: float) -> None:
    play = Play(SRF, 3)
    play.offer(0, 0.0)
    play.offer(1, apart_us)
    assert play.run() == [(0, TURN_US), (1, apart_us + TURN_US)]
    play = Play(SRF, 3)
    play.offer(0, 0.0)
    play.offer(1, TURN_US + 0.1)
    assert len({frame.waited for frame in (play.run(), play.frames)[1]}) == 2


def test_a_turn_round_counts_from_what_was_heard_whatever_ended_since() -> None:
    play = Play(SRF, 3)
    play.medium.set_radio(2, SRF, 9)
    for station, at_us in ((0, 0.0), (2, 1000.0), (1, 2500.0)):
        play.offer(station, at_us)
    assert play.run()[-1] == (1, TURN_US + SRF_US + ROUND_US + TURN_US)


def test_a_sender_follows_itself_after_the_gap_alone() -> None:
    play = Play(SRF.with_figures(gap_us=70), 2)
    play.offer(0, 0.0)
    play.offer(0, 1.0)
    assert play.run() == [(0, TURN_US), (0, TURN_US + SRF_US + 70 + TURN_US)]


def test_who_is_hidden_does_not_wait() -> None:
    floor = SRF.sharing.value("cca_dbm")
    for dbm, waits in ((floor, True), (floor - 1, False)):
        play = Play(SRF, 3, level(w0_1=dbm, w1_0=dbm, w0_2=-50.0, w1_2=-50.0))
        play.offer(0, 0.0)
        play.offer(1, 200.0)
        starts = dict(play.run())
        assert (starts[1] > SRF_US) is waits
        assert play.at(2) == ([HEARD, HEARD] if waits else [COLLIDED, COLLIDED])


def test_a_radio_without_assessment_sends_into_what_it_hears() -> None:
    play = Play(load_radio("nrf24"), 3)
    play.offer(0, 0.0)
    play.offer(1, 50.0)
    play.offer(2, AIR_US + 60)  # it received the other end 10 us ago, and turns round
    assert play.run() == [(0, 0.0), (1, 50.0), (2, 50 + AIR_US + 130)]


def test_slots_begin_packets_together() -> None:
    play = Play(NRF24, 4, slot_us=1000.0)
    for station, at_us in ((0, 1.0), (1, 999.0), (2, 1000.0), (0, 1001.0)):
        play.offer(station, at_us)
    assert sorted(play.run()) == [(0, 1000.0), (0, 2000.0), (1, 1000.0), (2, 1000.0)]


class Drawn:
    """A generator that returns the values given by a test, and records the requests."""

    def __init__(self, *values: int) -> None:
        self.values, self.ranges = list(values), list[int]()

    def randrange(self, high: int) -> int:
        self.ranges.append(high)
        return self.values.pop(0)


def draw(play: Play, station: int, *values: int) -> Drawn:
    drawn = Drawn(*values)
    play.medium.stations[station].random = drawn  # type: ignore[assignment]
    return drawn


ZIGBEE = load_radio("802.15.4")
SLOT_US, CCA_US, TURN_154_US = 320.0, 128.0, 192.0


def test_csma_backs_off_assesses_turns_and_sends() -> None:
    play = Play(ZIGBEE, 2)
    drawn = draw(play, 0, 5, 0)
    play.offer(0, 1000.0)
    play.offer(0, 1001.0)
    first_us = 1000 + 5 * SLOT_US + CCA_US + TURN_154_US
    again_us = first_us + float(air_time_us(ZIGBEE, 12)) + 640 + CCA_US + TURN_154_US
    assert play.run() == [(0, first_us), (0, again_us)]
    assert drawn.ranges == [8, 8]


def test_csma_tries_with_more_slots_and_gives_up_in_the_end() -> None:
    play = Play(ZIGBEE, 3)
    draw(play, 0, 0)
    drawn = draw(play, 1, 0, 0, 0, 0, 0, 7, 15)
    play.offer(0, 0.0, 116)  # on the air from 320 on, for 4256 us
    play.offer(1, 1000.0)
    play.offer(1, 1100.0)
    sent = play.run()
    # Five assessments, each 128 us after the one before; then the next packet, with 8 slots first again.
    assert play.dropped == [(1, 1000 + 5 * CCA_US)]
    assert drawn.ranges == [8, 16, 32, 32, 32, 8, 16]
    again_us = 1000 + 5 * CCA_US + 7 * SLOT_US + CCA_US
    assert 320 < again_us < 320 + 4256
    assert sent == [(0, 320.0), (1, again_us + 15 * SLOT_US + CCA_US + TURN_154_US)]


def test_an_assessment_looks_back_for_its_own_length() -> None:
    air_us = float(air_time_us(ZIGBEE, 12))
    end_us = CCA_US + TURN_154_US + air_us
    for late_us, waits in ((-1.0, True), (1.0, False)):
        play = Play(ZIGBEE, 3)
        draw(play, 0, 0)
        draw(play, 1, 0, 0)
        play.offer(0, 0.0)
        play.offer(1, end_us + late_us)
        (_, second) = play.run()
        assert play.frames[1].waited is waits
        assert second == (1, end_us + late_us + CCA_US * (1 + waits) + TURN_154_US)


ESP = load_radio("esp-now")
ESP_US = float(air_time_us(ESP, 12))
DIFS_US, SLOT_11_US = 50.0, 20.0


def test_dcf_sends_at_once_on_a_channel_long_quiet() -> None:
    play = Play(ESP, 2)
    drawn = draw(play, 0, 4, 0, 0)
    for at_us in (0.0, 1.0, 5000.0):
        play.offer(0, at_us)
    # After a packet of its own it backs off; by the third that is long over.
    second_us = ESP_US + DIFS_US + 4 * SLOT_11_US
    assert play.run() == [(0, 0.0), (0, second_us), (0, 5000.0)]
    assert drawn.ranges == [32, 32, 32]


def test_dcf_stands_still_while_others_send() -> None:
    play = Play(ESP, 4)
    draw(play, 0, 0)
    draw(play, 1, 3, 0)
    draw(play, 2, 10, 0)
    play.offer(0, 0.0)
    play.offer(1, 100.0)
    play.offer(2, 200.0)
    first_us = ESP_US + DIFS_US + 3 * SLOT_11_US
    # Three of ten slots are removed when station 1 begins.
    second_us = first_us + ESP_US + DIFS_US + 7 * SLOT_11_US
    assert play.run() == [(0, 0.0), (1, first_us), (2, pytest.approx(second_us))]
    assert play.at(3) == [HEARD] * 3
    assert [frame.waited for frame in play.frames] == [False, True, True]


def test_dcf_collides_in_the_same_slot() -> None:
    play = Play(ESP, 4)
    draw(play, 0, 0)
    draw(play, 1, 3, 0)
    draw(play, 2, 3, 0)
    for station, at_us in ((0, 0.0), (1, 100.0), (2, 200.0)):
        play.offer(station, at_us)
    play.run()
    assert play.at(3) == [HEARD, COLLIDED, COLLIDED]


def test_dcf_waits_for_difs_after_a_packet() -> None:
    play = Play(ESP, 3)
    draw(play, 0, 0)
    draw(play, 1, 2, 0)
    play.offer(0, 0.0)
    play.offer(1, ESP_US + DIFS_US - 1)
    assert play.run()[1] == (1, ESP_US + DIFS_US + 2 * SLOT_11_US)
    play = Play(ESP, 3)
    play.offer(0, 0.0)
    play.offer(1, ESP_US + DIFS_US + 1)
    assert play.run()[1] == (1, ESP_US + DIFS_US + 1)


def test_jain() -> None:
    assert jain([3, 3, 3, 3]) == pytest.approx(1)
    assert jain([4, 0, 0, 0]) == pytest.approx(1 / 4)
    assert jain([1, 2]) == pytest.approx(9 / 10)
    assert jain([0, 0]) == 1.0
    assert SimpleNamespace(share=jain([])).share == 1.0
