"""The adviser's words and limits, each at its edge."""

from __future__ import annotations

from dataclasses import replace
from math import nextafter
from typing import Any

import pytest
from advise_parts import (
    ASKED,
    BOARD,
    FOUR_NIMH,
    LINK,
    NONE,
    PLAIN_802,
    SRF,
    THREE_AA,
    UNO,
    ask,
    made,
    notes_of,
)

from motecrypt.adviser import api as advise
from motecrypt.adviser import exchange as repeats
from motecrypt.adviser import notes, rank
from motecrypt.adviser.costs import Setting, answer_us, at_length, traffic, usable_fraction
from motecrypt.adviser.units import BYTES, SECONDS
from motecrypt.base.errors import InputError

SETTING = Setting(ASKED, UNO, SRF, LINK, FOUR_NIMH, NONE)
FIRST = ask(made()).entries[0]


def entry(life_days: float = 10.0, energy: dict[str, float] | None = None, **changes: Any) -> advise.Entry:
    """An entry of that life."""
    shares = replace(FIRST.costs.energy, **(energy or {}))
    return replace(
        FIRST, candidate=made(**changes), costs=replace(FIRST.costs, life_days=life_days, energy=shares)
    )


def told(found: list[str]) -> bool:
    return bool(found)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        *((0.994, "0.99 %"), (0.9999, "1.00 %"), (1, "1.0 %"), (9.94, "9.9 %"), (9.99, "10.0 %")),
        *((10, "10 %"), (0, "0.00 %"), (100, "100 %")),
    ],
)
def test_per_cent_have_two_digits_one_or_none(value: float, said: str) -> None:
    assert notes.percent(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        *((9.94, "9.9 days"), (9.99, "10.0 days"), (10, "10 days"), (730.4, "730 days")),
        *((730.5, "2.0 years"), (3652.5, "10.0 years"), (0.04, "0.0 days")),
    ],
)
def test_days_become_years_from_two_on(value: float, said: str) -> None:
    assert notes.days(value) == said


def test_numbers_and_plurals() -> None:
    assert [notes.number(n) for n in (0, 999, 1000, 1234567.4)] == ["0", "999", "1,000", "1,234,567"]
    assert [notes.plural(n, "packet") for n in (0, 1, 2)] == ["0 packets", "1 packet", "2 packets"]


def test_notes_of_supplies_begin_where_they_say() -> None:
    few = notes._supply(SETTING, 0.79, 3.78)
    assert few == [
        "4xAA-NiMH stays above the 3.78 V that Arduino UNO R3 needs for only 79 % of its charge, and no more "
        "is counted."
    ]
    assert notes._supply(SETTING, 0.8, 3.78) == []
    # The chip idles at 2.5 mA while the radio sends at 15.2 mA or receives at 16.2 mA: 18.7 mA.
    for pulse_ma, much in ((18.7, False), (18.6, True)):
        weak = replace(SETTING, battery=replace(FOUR_NIMH, pulse_ma=pulse_ma))
        assert told(notes._supply(weak, 1.0, 3.78)) is much
    assert notes._supply(weak, 1.0, 3.78) == [
        "4xAA-NiMH gives pulses of 18.6 mA, and Arduino UNO R3 with srf takes 18.7 mA: it needs a "
        "parallel capacitor, or it fails well before the life given here."
    ]
    loud = replace(weak, radio=replace(SRF, tx_ma=17.0))
    assert "takes 19.5 mA" in notes._supply(loud, 1.0, 3.78)[0]
    busy = replace(weak, device=replace(UNO, active_ma=30.0))
    assert "takes 30 mA" in notes._supply(busy, 1.0, 3.78)[0]


def test_another_supply_is_told_from_a_fifth_longer_on() -> None:
    assert notes._other_supply(entry(), [("a", 12.0), ("b", 11.9)]) == [
        "With --regulator a the same battery lasts 12 days instead of 10 days."
    ]
    assert notes._other_supply(entry(), [("b", 11.9)]) == [] == notes._other_supply(entry(), [])
    bare = replace(FIRST.costs, life_days=12.0)
    board = replace(SETTING, device=BOARD)
    assert told(notes._board(board, entry(), bare))
    assert not notes._board(board, entry(), replace(bare, life_days=11.9))
    awake = replace(SETTING, device=replace(BOARD, sleeps=False))
    assert "draws 46.5 mA between messages" in notes._board(awake, entry(), bare)[0]


def test_the_shelf_ends_what_reaches_it() -> None:
    years = replace(SETTING, battery=replace(THREE_AA, shelf_years=2.0))
    assert notes._shelf(years, entry(730.5)) == ["The life of 3xAA ends with its shelf life of 2 years."]
    assert notes._shelf(years, entry(730.4)) == []


def test_shares_are_told_from_a_twentieth_of_a_per_cent_on() -> None:
    names = ("cpu", "store", "send", "receive", "between", "wake", "regulator", "self_discharge", "total")
    values = (400.0, 1.0, 300.0, 100.0, 600.0, 0.99, 398.01, 200.0, 2000.0)
    energy = {f"{name}_uj": value for name, value in zip(names, values, strict=True)}
    plain = replace(FIRST.costs, life_days=16.0)
    assert notes._shares(SETTING, entry(12.0, energy), plain) == [
        "Encryption is 20 % of the energy of the first, keeping counters 0.05 %, the radio 20 %, sleeping "
        "30 %, regulating 20 %, the battery's own discharge 10 %; it and the longer message shorten the "
        "battery's life by 25 %."
    ]
    (longer,) = notes._shares(SETTING, entry(17.0, energy), plain)
    assert longer.endswith("life by 0.00 %.")


def test_a_message_that_saves_nothing_says_no_saving() -> None:
    """A stream's packet takes 6 bytes; this cipher takes 4 or 8, and 8 were not measured."""
    points = tuple(advise.Point(n, 0, 1000, 1000) for n in (1, 6))
    one = made(points=points, message_bytes_multiple=4)
    answer = ask(one, question=replace(ASKED, message_bytes=1))
    assert "A message of exactly 6 bytes would be one short packet." in answer.notes


def test_a_third_less_of_flash_is_told() -> None:
    def smaller(*flash: int | None, life_days: float = 7.5, security: str = "recommended") -> list[str]:
        first = entry(flash_bytes=3000)
        rest = [entry(life_days, implementation=f"ours/{n}", flash_bytes=n, security=security) for n in flash]
        return notes._smaller([first, *rest])

    said = "If flash is short: aes128-ccm8 ours/2000 takes 2,000 bytes instead of 3,000, for 25 % of the"
    assert smaller(2000) == [f"{said} battery's life."] == smaller(None, 2001, 2000, 1000)
    assert smaller(2001) == [] == smaller(2000, security="legacy") == smaller(None) == smaller()
    assert "takes 0 bytes" in smaller(0)[0]


def test_waiting_longer_is_told_beyond_the_usual_time() -> None:
    """Of four packets at 62.5 ms: 250 ms, which is reported only when a tenth of a second more is needed."""
    confirmed = replace(SETTING, question=replace(ASKED, delivery="confirmed"))

    def said(packet_us: float, setting: Setting = confirmed) -> list[str]:
        air_us = (*PLAIN_802.air_us[:-1], packet_us)
        return notes._patience(replace(setting, radio=replace(PLAIN_802, air_us=air_us)))

    assert said(50_000) == []
    assert said(50_001) == [
        "Over 802.15.4 a node waits 300 ms for an answer, not 250 ms: an export for this radio is set to "
        "that."
    ]
    assert said(75_001)[0].startswith("Over 802.15.4 a node waits 400 ms")
    alone = replace(SETTING, question=replace(ASKED, needs=("integrity",)))
    assert said(90_000, alone) == []


def test_a_duty_cycle_is_told_below_all_of_the_time() -> None:
    assert notes._duty(SETTING, entry()) and notes._duty(replace(SETTING, radio=PLAIN_802), entry()) == []
    most = replace(SETTING, radio=replace(SRF, duty_percent=99.5))
    assert notes._duty(most, entry())[0].endswith("its band allows 99.5 %.")


def test_nothing_fits_is_told_with_the_nearest() -> None:
    def out(name: str, budgets: tuple[str, ...], excess: float = 2.0) -> advise.Exclusion:
        return advise.Exclusion(made(implementation=name), budgets, f"why {name}", excess)

    assert notes._nothing_fits([out("a", ())] * 3) == [
        "No candidate is left: none of the 3 meets the needs and fits the device."
    ]
    here, there = out("a", ()), replace(out("b", ()), unmeasured=True)
    assert notes._nothing_fits([here, there, there]) == [
        "No candidate is left: 2 of 3 are not measured at this length; the command measures them."
    ]
    given = [
        *(
            out("a", ("flash", "duty")),
            out("c", ("flash",)),
            out("b", ("flash",)),
            out("d", ("interval",), 2.5),
        ),
        *(out("e", ()), out("f", ("flash", "ram"), 1.0)),
    ]
    assert notes._nothing_fits(given) == [
        "Nothing fits. Of 6 implementations 1 are out for other reasons; "
        "--flash excludes 4 (2 for this reason alone), --every excludes 2 (1 for this reason alone), "
        "--ram excludes 1 (0 for this reason alone). The nearest is aes128-ccm8 b: why b."
    ]


def test_misfits_are_told_by_configuration_the_least_first() -> None:
    def out(name: str, **changes: Any) -> advise.Exclusion:
        of = made(**{"implementation": name, "status": "does-not-fit", **changes})
        why = f"needs {of.ram_bytes}/{of.flash_bytes}"
        return advise.Exclusion(of, (), why, failed=changes.get("nonce") != "none")

    given = [
        *(out("a", ram_bytes=9), out("a", ram_bytes=8, flash_bytes=7), out("a", ram_bytes=8, flash_bytes=6)),
        *(out("a", cipher="b-ctr", ram_bytes=None, flash_bytes=1), out("a", placement="ram", ram_bytes=3)),
        *(out("w", status="wrong-output"), out("n", nonce="none"), out("f", status="fault")),
    ]
    assert notes._misfits(given) == [
        "aes128-ccm8 w needs 100/2000.",
        "a needs None/1 for b-ctr (and 1 more).",
        "a with its tables in RAM needs 3/2000 for aes128-ccm8.",
    ]
    assert notes._misfits(given[:3]) == ["a needs 8/6 for aes128-ccm8."]


# --- ranking ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("battery", "regulator", "refused"),
    [
        ({"volts": 3.78}, {}, ""),
        ({"volts": 3.77}, {}, "cells gives 3.77 V; Arduino UNO R3 at 16 MHz needs 3.78 to 5.5 V: use more"),
        ({"volts_full": 5.5}, {}, ""),
        (
            {"volts_full": 5.51},
            {},
            "cells gives up to 5.51 V when it is full; Arduino UNO R3 at 16 MHz needs",
        ),
        ({"volts": 5.25}, {"kind": "linear", "dropout_v": 0.25}, ""),
        (
            {"volts": 5.24},
            {"kind": "linear", "dropout_v": 0.25},
            "cells gives 5.24 V; it needs 5.25 V for 5 V: take more cells, or --regulator switch",
        ),
        ({"volts": 2.0}, {"kind": "switch", "volts_in_min": 2.0}, ""),
        (
            {"volts": 1.9},
            {"kind": "switch", "volts_in_min": 2.0},
            "cells gives 1.9 V; it needs 2 V for 5 V: take more cells",
        ),
        ({"volts_full": 6.0}, {"kind": "switch", "volts_in_max": 6.0}, ""),
        (
            {"volts_full": 6.1},
            {"kind": "switch", "volts_in_max": 6.0},
            "cells gives up to 6.1 V when it is full; it takes 6 V: take fewer cells",
        ),
    ],
)
def test_supplies_are_refused_just_out_of_range(
    battery: dict[str, Any], regulator: dict[str, Any], refused: str
) -> None:
    cells = replace(FOUR_NIMH, name="cells", **{"volts": 4.8, "volts_full": 5.4, **battery})
    through = replace(NONE, title="it", **{"volts_in_min": 0.0, "volts_in_max": 99.0, **regulator})
    said = rank.supply_refusal(UNO, cells, through)
    assert said.startswith(refused) and bool(said) == bool(refused)
    assert not regulator or said == refused


@pytest.mark.parametrize(
    ("packet_bytes", "refused"),
    [
        (11, "srf has packets of 11 bytes; the link takes 12 to 255: set --packet-bytes"),
        *((12, ""), (255, "")),
        (256, "srf has packets of 256 bytes; the link takes 12 to 255: set --packet-bytes"),
    ],
)
def test_packets_out_of_the_links_range_are_refused(packet_bytes: int, refused: str) -> None:
    assert rank.link_refusal(LINK, replace(SRF, packet_bytes=packet_bytes), ASKED) == refused


def test_requests_that_the_link_cannot_meet_are_refused() -> None:
    def said(**changes: Any) -> str:
        return rank.link_refusal(LINK, SRF, replace(ASKED, **changes))

    assert said(answer_bytes=1, delivery="one-way") == (
        "--answer: a one-way node receives none; use --delivery unconfirmed or confirmed"
    )
    assert said(delivery="one-way") == "" == said(answer_bytes=123) == said(needs=("integrity",))
    assert said(needs=(), delivery="confirmed") == (
        "--delivery confirmed: only the secure link confirms; add replay to --need"
    )
    assert said(answer_bytes=124) == (
        "--answer 124: the link takes messages of up to 123 bytes in its 15 packets of 12 bytes; send it "
        "in parts"
    )


def test_budgets_are_kept_to_the_last_byte() -> None:
    costs = FIRST.costs
    exact = {"flash_max": 2000, "ram_max": 200, "overhead_max": costs.overhead_bytes}
    exact["latency_us_max"] = costs.latency_us
    for name, limit in exact.items():
        assert ask(made(), question=replace(ASKED, budgets=advise.Budgets(**{name: limit}))).entries
        (out,) = ask(made(), question=replace(ASKED, budgets=advise.Budgets(**{name: limit - 1}))).exclusions
        assert out.budgets == (name.removesuffix("_us_max").removesuffix("_max"),)
        assert out.excess == pytest.approx(limit / (limit - 1)) and not out.failed
    none = ask(made(), question=replace(ASKED, budgets=advise.Budgets(1, 0))).exclusions[0]
    assert none.excess == 2000 and none.reason == (
        "takes 2,000 bytes of flash, 1,999 too many; takes 200 bytes of RAM with its stack, 200 too many"
    )


def test_a_place_is_told_beside_the_first() -> None:
    first, costs = made(), replace(FIRST.costs, energy=replace(FIRST.costs.energy, total_uj=64.0))

    def said(
        total_uj: float = 64.0, sizes: tuple[int, ...] = (12,) * 4, cycles: float = 0.0, **changes: Any
    ) -> str:
        own = replace(costs, packet_sizes=sizes, energy=replace(costs.energy, total_uj=total_uj))
        own = replace(own, cycles=cycles or costs.cycles)
        return rank._reason(made(**changes), own, first, costs, 2)

    assert said() == "recommended, the same energy as the first"
    assert said(64.0031) == "recommended, the same energy as the first" == said(63.9969)
    assert said(64.0033) == "recommended, 0.01 % more energy than the first"
    assert said(63.9967) == "recommended, 0.01 % less energy than the first"
    assert said(96.0, (12,) * 5, costs.cycles * 1.5, flash_bytes=2001, ram_bytes=99) == (
        "recommended, 1 packet more, 1.50 times the cycles, 50 % more energy than the first, 1 bytes more "
        "flash, 1 bytes less RAM"
    )
    assert said(32.0, (12,) * 2, flash_bytes=0, ram_bytes=101, security="legacy", timing_varies=True) == (
        "only legacy (authenticated), its time depends on the data, 2 packets fewer, 50 % less energy than "
        "the first, 2,000 bytes less flash, 1 bytes more RAM"
    )
    assert rank._reason(first, costs, first, costs, 1) == (
        "recommended, and first in energy, memory and timing together: long, 4 packets"
    )
    alone = replace(costs, form="alone", packet_sizes=(20,))
    assert rank._reason(first, alone, first, alone, 1).endswith("together: 1 packet")


def test_a_difference_is_told_from_what_is_shown_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """That limit is a quarter of the first's energy here, and what the short message saves."""
    monkeypatch.setattr(rank, "SHOWN_PERCENT", 25.0)

    def told_of(total_uj: float) -> str:
        first, own = (
            replace(FIRST.costs, energy=replace(FIRST.costs.energy, total_uj=t)) for t in (64.0, total_uj)
        )
        return rank._reason(made(), own, made(), first, 2)

    assert told_of(80.0) == "recommended, 25 % more energy than the first"
    assert told_of(79.0) == told_of(49.0) == "recommended, the same energy as the first"
    assert told_of(48.0) == "recommended, 25 % less energy than the first"
    six = ask(made(), question=replace(ASKED, message_bytes=6)).entries[0].costs
    saved = (1 - six.energy.total_uj / FIRST.costs.energy.total_uj) * 100
    for limit, said in ((saved, True), (nextafter(saved, 100), False)):
        monkeypatch.setattr(notes, "SHOWN_PERCENT", limit)
        assert bool(notes_of(ask(made()), "less energy")) is said


def test_regulators_that_cannot_run_it_have_no_life() -> None:
    linear, high = (
        advise.regulator_part("linear"),
        replace(NONE, name="high", kind="switch", volts_in_min=9.0),
    )
    half = replace(NONE, name="half", kind="switch", efficiency=0.5, volts_in_min=1.0, volts_in_max=99.0)
    lives = rank._other_lives(SETTING, made(), [NONE, linear, high, half])
    own = ask(made(), regulator=half).entries[0].costs.life_days
    assert lives == [("half", own)]


# --- costs and repetitions --------------------------------------------------------------------------


def test_a_radio_of_short_packets_serves_without_the_link() -> None:
    """The link's answers would not fit, and without the link there are none."""
    small = replace(PLAIN_802, packet_bytes=8, air_us=PLAIN_802.air_us[:9])
    costs = ask(made(), radio=small, question=replace(ASKED, needs=("integrity",))).entries[0].costs
    assert costs.packet_sizes == (8, 8, 8, 8, 8, 1) and costs.energy.receive_uj == 0


def test_usable_charge_at_the_points_of_the_curve() -> None:
    steps = replace(
        FOUR_NIMH, volts_full=5.0, volts_empty=2.0, curve=((5, 0.25), (4, 0.5), (4, 0.75), (2, 1))
    )
    given = [
        (5.01, 0.0),
        (5, 0.25),
        (4.5, 0.375),
        (4, 0.5),
        (3.5, 0.8125),
        (2.01, 0.99875),
        (2, 1.0),
        (1, 1.0),
    ]
    for volts, share in given:
        assert usable_fraction(steps, volts) == pytest.approx(share, abs=1e-12), volts
    flat = replace(steps, curve=((4, 0.25), (4, 0.75), (2, 1)))
    assert usable_fraction(flat, 4) == 0.75
    early = replace(steps, curve=((5, 0), (4, 1)))  # all is used before the cells are empty
    assert usable_fraction(early, 3) == 1.0


def test_cycles_of_one_measured_length() -> None:
    (point,) = points = (advise.Point(16, 1, 2, 3),)
    assert at_length(points, 16) == point and at_length(points, 15) is None is at_length(points, 17)
    two = (point, advise.Point(20, 5, 10, 19))
    assert at_length(two, 17) == advise.Point(17, 2, 4, 7) and at_length(two, 20) == two[1]


def test_what_happens_as_often_as_the_least_chance_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the packets are lost: a try goes unanswered in 3 of 4 cases, a second in 9 of 16."""
    monkeypatch.setattr(repeats, "LEAST_CHANCE", 0.5625)
    done = repeats.exchange.__wrapped__(1, 0.5, 10)
    assert done == repeats.Exchange((1 + 0.75 + 0.5625,), 2.3125 / 4, 2.3125 * 0.75, 0.0)
    three = repeats.exchange.__wrapped__(1, 0.5, 2)
    assert three == repeats.Exchange((1.75,), 1.75 / 4, 1.75 * 0.75, 0.5625)


def test_short_messages_under_loss_follow_from_the_chance_of_an_answer() -> None:
    for loss in (0.0, 0.1, 0.25):
        answered = (1 - loss) ** 2
        sends = sum((1 - answered) ** n for n in range(3))
        done = repeats.exchange(1, loss, 3)
        assert done.bursts == (pytest.approx(sends),)
        assert done.answers == pytest.approx(sends * answered)
        assert done.silences == pytest.approx(sends * (1 - answered))
        assert done.lost == pytest.approx((1 - answered) ** 3)
    assert repeats.exchange(3, 0.0, 10) == repeats.Exchange((0.0, 0.0, 1.0), 1.0, 0.0, 0.0)
    assert repeats.sent_once(3, 0.5) == repeats.Exchange((0.0, 0.0, 1.0), 0.0, 0.0, 0.875)


def test_a_step_that_hardly_ever_arrives_is_counted_as_often_as_the_least_chance() -> None:
    """A long message comes after 127 others, three of them long, and is repeated until it is answered."""
    question = replace(ASKED, message_bytes=6, loss=1.0)
    (often, _), (unasked, long), (seldom, step) = repeats.forms(LINK, SRF, question)
    assert step.confirmed and not long.confirmed and unasked == pytest.approx(3 / (127 + 1e6))
    assert seldom == pytest.approx(1e6 / (127 + 1e6)) and often == pytest.approx(124 / (127 + 1e6))


def test_a_node_that_sends_longer_than_it_waits_does_not_wait_on() -> None:
    """Seven packets of 100 ms each; it has patience for 400 ms, and receives answers alone."""
    slow = replace(SRF, air_us=(0.0, *[100_000.0] * 12), gap_us=0.0)
    question = replace(ASKED, message_bytes=50, delivery="confirmed", loss=0.01)
    setting = replace(SETTING, radio=slow, question=question)
    sent = traffic(setting, repeats.forms(LINK, slow, question))
    done = repeats.exchange(7, 0.01, LINK.tries)
    assert done.silences > 0 and len(sent.usual.sizes) == 7
    assert sent.listen_us == pytest.approx(done.answers * answer_us(LINK, slow, 12), rel=1e-12)


def test_forms_at_the_end_of_a_packet() -> None:
    wide = replace(SRF, serial_byte_us=0.0)  # packets of any length
    assert repeats.streams(replace(SRF, serial_byte_us=0.5)) and not repeats.streams(wide)
    assert [repeats.is_short(LINK, SRF, n) for n in (5, 6, 7)] == [False, True, False]
    assert [repeats.is_short(LINK, wide, n) for n in (5, 6, 7)] == [True, True, False]
    assert repeats.short_form(LINK, 5) == repeats.Form("short", (11,), 0, False)
    assert repeats.long_form(LINK, wide, 7, True) == repeats.Form("long", (12, 12, 4), 0, True)
    assert repeats.long_form(LINK, SRF, 7) == repeats.Form("long", (12, 12, 12), 8, False)
    assert repeats.long_form(LINK, wide, 6) == repeats.Form("long", (12, 12), 0, False)
    assert repeats.plain_form(replace(wide, timeout_us=0.0), 25) == repeats.Form("alone", (12, 12, 1), 0)
    assert repeats.plain_form(replace(wide, timeout_us=1.0), 25) == repeats.Form("alone", (12, 12, 12), 11)
    assert repeats.plain_form(replace(wide, timeout_us=1.0), 24) == repeats.Form("alone", (12, 12), 0)


# --- amounts ----------------------------------------------------------------------------------------


def test_every_unit_is_as_long_as_it_is_called() -> None:
    long = {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}
    assert {unit: advise.seconds(f"1{unit}", "--every") for unit in SECONDS} == long
    kilo, mega = dict.fromkeys(("k", "K", "kB", "KB", "KiB"), 1024), dict.fromkeys(("M", "MiB"), 1048576)
    assert {unit: advise.whole_bytes(f"1{unit}", "--flash") for unit in BYTES} == {
        "": 1,
        "B": 1,
        **kilo,
        **mega,
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ten", "--every 'ten': not an amount; write 10s"),
        ("10", "--every '10': no unit; use us, ms, s, min, h, d, as in 10s"),
        ("10 m", "--every '10 m': unknown unit 'm'; use us, ms, s, min, h, d, as in 10s"),
        ("0.0s", "--every '0.0s': must be above zero, as in 10s"),
    ],
)
def test_times_are_refused_with_what_to_write(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        advise.seconds(text, "--every")
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0.3", "--flash '0.3': not a whole number of bytes; write 4k"),
        ("4x", "--flash '4x': unknown unit 'x'; use B, k, K, kB, KB, KiB, M, MiB, as in 4k"),
    ],
)
def test_sizes_are_refused_with_what_to_write(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        advise.whole_bytes(text, "--flash")
    assert str(refused.value) == said


@pytest.mark.parametrize("text", ["30.1", "31", "-1", "x", "", "1e1", "nan"])
def test_losses_are_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(InputError) as refused:
        advise.loss_share(text, "--loss")
    assert str(refused.value) == f"--loss '{text}': not a share of packets; write per cent, from 0 to 30"
