"""What is printed of recorded traces: the verdict, the samples that leak, and what an attack came to."""

import pytest

from motecrypt.attack.leakage.assessment import Leak, OrderTest
from motecrypt.attack.leakage.capture_attack import CaptureReport
from motecrypt.attack.leakage.captures import CaptureTest
from motecrypt.present.runs.capture import attack_view, capture_view
from motecrypt.present.terminal import TextAnswer, TextTable


def leak(number, strength, other=None):
    return Leak(number, "sample", (strength, -strength - 1), other)


def order(number, leaks=()):
    return OrderTest(number, 1000, 6.5, 12.34, tuple(leaks))


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("leaks", "it leaks"),
        ("no leak found", "no leak found"),
        ("no claim", "no leak found, and no claim: 1,200 traces of a class are too few"),
    ],
)
def test_the_verdict_and_what_was_tested(verdict, said):
    (answer,) = capture_view(
        "Traces of t.trs", CaptureTest(verdict, 1200, (order(1), order(2))), 4000, 25_000
    )
    assert answer == TextAnswer(
        "Traces of t.trs",
        [
            ("Result", said),
            ("Traces", "4,000 of 25,000 samples, every other one in set 2"),
            ("Order 1", "0 of 1,000 samples leak; |t| up to 12.3, limit 6.5"),
            ("Order 2", "0 of 1,000 pairs leak; |t| up to 12.3, limit 6.5"),
        ],
    )


def test_each_order_that_leaks_has_a_table_of_its_samples():
    first = order(1, [leak(1234, 9.87), leak(0, 7)])
    second = order(2, [leak(1, 8, (1005, "sample"))])
    _, one, two = capture_view("t", CaptureTest("leaks", 1200, (first, second)), 4000, 2000)
    assert one == TextTable(
        "Samples that leak at order 1, the strongest first",
        ("sample", "|t|"),
        [["1,234", "9.9"], ["0", "7.0"]],
        "",
    )
    assert two.title == "Samples that leak at order 2, the strongest first"
    assert two.rows == [["1 and 1,005", "8.0"]]


@pytest.mark.parametrize(
    ("count", "shown", "more"), [(20, 20, ""), (21, 20, "... and 1 more: --json has all")]
)
def test_a_table_has_the_twenty_strongest(count, shown, more):
    leaks = [leak(number, 50 - number) for number in range(count)]
    _, table = capture_view("t", CaptureTest("leaks", 1200, (order(1, leaks), order(2))), 4000, 2000)
    assert len(table.rows) == shown and table.rows[0] == ["0", "50.0"] and table.text == more


KEY = bytes(range(16))
CURVE = tuple((10 * number, number, 2.0 * number) for number in range(1, 7))


def told(**changes):
    fields = {"traces": 1500, "samples": 4000, "parts": 16, "key": KEY, "limit": 0.12345, "above": 16}
    fields |= {"snr": 0.5, "places": (0,) * 16, "known": KEY, "curve": CURVE}
    (answer,) = attack_view("Attack", CaptureReport(**(fields | changes)))
    assert answer.title == "Attack"
    return dict(answer.lines)


def test_an_attack_is_told_in_full():
    assert told() == {
        "Result": "the key is found",
        "Best guess": KEY.hex(),
        "Traces": "1,500 of random inputs, 4,000 samples each",
        "Signal": "16 of 16 parts correlate above 0.123, the limit of chance",
        "SNR": "0.5 at a part's best sample (median)",
        "By traces": "30: 3 parts, 6 bits left; 40: 4 parts, 8 bits left; 50: 5 parts, 10 bits left; "
        "60: 6 parts, 12 bits left",
    }


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"key": bytes(16)}, "6 of 16 parts are right"),
        ({"known": None}, "every part of the key has a guess above chance; check it with a known output"),
        (
            {"known": None, "above": 15},
            "no claim: 1 parts of the key have no guess above chance; record more traces",
        ),
        (
            {"known": None, "above": 0},
            "no claim: 16 parts of the key have no guess above chance; record more traces",
        ),
    ],
)
def test_what_is_known_of_the_key_decides_what_is_claimed(changes, said):
    assert told(**changes)["Result"] == said


@pytest.mark.parametrize(
    ("snr", "shown"), [(0.0123456, "0.0123"), (999.4, "999"), (1000.0, "above 1,000"), (1e6, "above 1,000")]
)
def test_a_signal_has_three_digits(snr, shown):
    assert told(snr=snr)["SNR"] == f"{shown} at a part's best sample (median)"


def test_without_a_signal_or_a_known_key_their_lines_are_left_out():
    lines = told(snr=None, curve=(), known=None)
    assert list(lines) == ["Result", "Best guess", "Traces", "Signal"]
