"""Fixed against random over made-up traces: what leaks is found where it is, and nothing else is claimed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from motecrypt.attack.leakage import assessment
from motecrypt.attack.leakage.assessment import PILOT, Assessment, LeakQuestion, Variable, assess, drawn
from motecrypt.attack.leakage.models import MODELS
from motecrypt.attack.leakage.recording import CHANNELS, Batch, Head, Poke, Window
from motecrypt.base.errors import InputError

#: Instructions of the made-up window.
COUNT = 8
MEETING = np.dtype([("source", "<i4"), ("place", "<u4"), ("before", "<u4"), ("after", "<u4")])


class Made:
    """A recorder whose samples are a function of the inputs."""

    pokes = (Poke("a", 0, 2), Poke("m", 4, 1))
    window = Window("made", 0, 0)
    input_bytes = 3

    def __init__(self, shows: Callable[[Any], Any], path: Callable[[Any], Any] | None = None) -> None:
        self._shows = shows
        self.seen: list[Any] = []
        self._path = path or (lambda rows: np.zeros(len(rows), np.uint64))

    def details(self, rows: Any) -> list[tuple[Head, Any]]:
        detail = np.zeros(COUNT, np.dtype([("pc", "<u4"), ("meetings", MEETING, (len(CHANNELS),))]))
        found = []
        for path in self._path(rows):
            detail["pc"] = 2 * np.arange(COUNT) + 100 * int(path) * (np.arange(COUNT) > 4)
            found.append((Head(COUNT, int(path), False), detail.copy()))
        return found

    def record(self, rows: Any, count: int, channels: Any = CHANNELS, processes: int = 1) -> Iterator[Batch]:
        self.seen.append(rows)
        for first in range(0, len(rows), 700):
            part = rows[first : first + 700]
            samples = np.full((len(part), len(CHANNELS), count), 3, np.uint8)
            samples[:, :, :COUNT] = self._shows(part)
            own = [number for number, name in enumerate(CHANNELS) if name in channels]
            lengths = np.full(len(part), COUNT, np.uint32)
            yield Batch(first, samples[:, own], self._path(part), lengths)


def _weight(values: Any) -> Any:
    return np.bitwise_count(values).astype(np.uint8)


def _shows(where: dict[tuple[str, int], Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def shows(rows: Any) -> Any:
        samples = np.full((len(rows), len(CHANNELS), COUNT), 3, np.uint8)
        for (channel, number), of in where.items():
            samples[:, CHANNELS.index(channel), number] = of(rows)
        return samples

    return shows


VARIABLES = (Variable("a", "vary"), Variable("m", "random"))
QUESTION = LeakQuestion(traces=8000, snr=1.0, seed=3)
PLAIN = {("register", 2): lambda rows: _weight(rows[:, 0]), ("result", 5): lambda rows: _weight(rows[:, 2])}
MASKED = {
    ("result", 1): lambda rows: _weight(rows[:, 1] ^ rows[:, 2]),
    ("data", 6): lambda rows: _weight(rows[:, 2]),
}


def _asked(
    where: Any, question: LeakQuestion = QUESTION, variables: Any = VARIABLES, path: Any = None
) -> Assessment:
    made: Any = Made(_shows(where), path)
    return assess(made, variables, question)


def test_what_depends_on_the_input_is_found_and_what_is_random_alike_is_not() -> None:
    found = _asked(PLAIN)
    assert found.verdict == "leaks"
    assert [(leak.instruction, leak.channel) for leak in found.orders[0].leaks] == [(2, "register")]
    assert (found.orders[0].tests, found.rare, found.traces) == (2, 0, 8000)
    assert found.curve[2][CHANNELS.index("register")] == found.orders[0].leaks[0].strength
    assert found.curve[0][0] == 0
    assert found.snr == 1.0
    assert found.noise_sd == pytest.approx(2**0.5)  # the weight of a random byte has the variance 2
    assert found.snr_most == pytest.approx(1, abs=0.25)  # half of the bytes are fixed at one sample


def test_a_masked_value_passes_order_1_and_fails_order_2_where_its_shares_are() -> None:
    question = replace(QUESTION, seed=7)  # the fixed byte has 7 ones: the shares' weights go together
    found = _asked(MASKED, replace(question, pairs=(0, COUNT)))
    first, second = found.orders
    assert (first.leaks, second.tests) == ((), 3)
    assert [(x.instruction, x.channel, x.other) for x in second.leaks] == [(1, "result", (6, "data"))]
    assert found.verdict == "leaks"
    apart = _asked(MASKED, replace(question, pairs=(0, 6)))
    assert apart.verdict == "no leak found"
    assert _asked(MASKED, replace(question, pairs=(1, 7))).verdict == "leaks"
    assert _asked(MASKED, replace(question, pairs=(2, 7))).verdict == "no leak found"


def test_noise_is_as_large_as_the_ratio_says_and_hides_leaks() -> None:
    clear, faint = (_asked(PLAIN, replace(QUESTION, snr=snr)) for snr in (1.0, 0.0004))
    assert faint.noise_sd == pytest.approx(50 * clear.noise_sd)
    assert (clear.verdict, faint.verdict) == ("leaks", "no leak found")


def test_the_sets_have_inputs_of_their_own() -> None:
    made: Any = Made(_shows(PLAIN))
    assess(made, VARIABLES, QUESTION)
    _, first, second = made.seen
    assert [len(rows) for rows in made.seen] == [PILOT, 4000, 4000]
    random = [{tuple(row) for row in rows.tolist()} for rows in (first, second)]
    assert len(random[0] & random[1]) < 400


def test_a_model_sees_its_channels_only() -> None:
    assert _asked(PLAIN, replace(QUESTION, model=MODELS["weight"])).verdict == "no leak found"
    assert _asked(PLAIN, replace(QUESTION, model=MODELS["distance"])).verdict == "leaks"


def test_shares_are_drawn_anew_in_each_run() -> None:
    shared = (Variable("a", "vary", 2), Variable("m", "fixed"))
    rows, labels = drawn(shared, (2, 1), 4000, (7, 1))
    plain = rows[:, 0] ^ rows[:, 1]
    assert len(set(plain[labels == 0])) == 1
    assert len(set(plain[labels == 1])) > 200
    assert len(set(rows[labels == 0, 0])) > 200
    assert len(set(rows[:, 2])) == 1
    again, others = drawn(shared, (2, 1), 4000, (7, 2))
    assert set((again[:, 0] ^ again[:, 1])[others == 0]) == set(plain[labels == 0])
    assert not np.array_equal(labels, others)
    assert 1800 < labels.sum() < 2200
    with pytest.raises(InputError, match="3 bytes are not 2 shares"):
        drawn(shared, (3, 1), 4, (7, 1))


def test_one_set_alone_claims_nothing() -> None:
    turns = {"made": 0}

    def once(rows: Any) -> Any:
        if len(rows) == PILOT:
            return _weight(rows[:, 0])
        turns["made"] += len(rows)
        return _weight(rows[:, 0] if turns["made"] <= QUESTION.traces // 2 else rows[:, 2])

    assert _asked({("data", 3): once}).verdict == "no leak found"


def test_a_path_that_varies_is_the_experiment_and_can_be_aligned() -> None:
    def path(rows: Any) -> Any:
        return (rows[:, 1] % 4 == 0).astype(np.uint64)

    found = _asked(PLAIN, path=path)
    assert (found.verdict, found.paths, found.orders) == ("path varies", 2, ())
    assert found.parts_at == 2 * 4
    kept = _asked(PLAIN, replace(QUESTION, align=True), path=path)
    assert kept.verdict == "leaks"
    assert kept.traces < 8000


def test_few_traces_claim_nothing_and_fewer_are_refused() -> None:
    assert _asked({}, replace(QUESTION, traces=1000)).verdict == "no claim"
    assert _asked(PLAIN, replace(QUESTION, traces=1000)).verdict == "leaks"
    with pytest.raises(InputError, match="at least 400"):
        _asked({}, replace(QUESTION, traces=399))


def test_samples_that_vary_only_after_the_pilot_are_counted() -> None:
    rarely = {("cell", 0): lambda rows: np.where(len(rows) == PILOT, 3, 3 + (rows[:, 0] == 5))}
    assert (_asked(rarely).rare, _asked({}).rare) == (1, 0)


@pytest.mark.parametrize("snr", [0.0, -1.0, float("inf"), float("nan")])
def test_there_is_noise(snr: float) -> None:
    with pytest.raises(InputError, match="above zero"):
        _asked({}, replace(QUESTION, snr=snr))


@pytest.mark.parametrize("pairs", [(3, 3), (-1, 4), (0, COUNT + 1)])
def test_pairs_are_within_the_window(pairs: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="instructions 0 to 8"):
        _asked(MASKED, replace(QUESTION, pairs=pairs))


def test_noise_is_drawn_by_the_seed_and_anew_in_each_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same samples and classes in every set and for every seed: only the noise is left to differ."""
    given = np.random.default_rng(1)
    rows, labels = given.integers(0, 256, (4000, 3), np.uint8), given.integers(0, 2, 4000, np.uint8)
    monkeypatch.setattr(assessment, "drawn", lambda *_: (rows, labels))
    one, again, other = (
        _asked(PLAIN, replace(QUESTION, snr=0.01, seed=seed)).orders[0].largest for seed in (1, 1, 2)
    )
    assert one == again != other
    rows[:, 0] = labels
    leaking = {("data", 0): lambda rows: np.where(rows[:, 0], 9, 3).astype(np.uint8)}
    (leak,) = _asked(leaking, replace(QUESTION, snr=0.05)).orders[0].leaks
    assert leak.t[0] != leak.t[1]
