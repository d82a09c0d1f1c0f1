"""Template attacks: stronger than correlation on the same traces, and only with enough to profile."""

import numpy as np
import pytest
from power_toys import FIRST, sbox_traces

from motecrypt.attack.leakage import cpa, template
from motecrypt.attack.leakage.targets import WEIGHT_OF_BYTE, target_named
from motecrypt.base.errors import InputError

TARGET = target_named("aes-encrypt-first")


def with_loads(traces):
    """The same with a second signal: the weight of what enters each S-box, 18 samples later."""
    traces.samples[:, FIRST + 18 : FIRST + 34] += WEIGHT_OF_BYTE[traces.inputs ^ traces.keys]
    return traces


@pytest.fixture(scope="module")
def templates():
    own = with_loads(sbox_traces(2_000, 4.0, 1, many_keys=True))
    return template.profile(own.samples, own.inputs, own.keys, TARGET, points=6)


def test_the_points_are_where_the_part_leaks(templates):
    for part, made in enumerate(templates.parts):
        assert {FIRST + part, FIRST + 18 + part} <= set(made.points)
        at = list(made.points).index(FIRST + part)
        expected = WEIGHT_OF_BYTE[TARGET.values(part)]
        assert np.abs(made.means[:, :, at] - expected).max() < 1.5
        assert 1 / made.inverse[at, at] == pytest.approx(16, rel=0.2)


def test_templates_need_fewer_traces_than_correlation(templates):
    def draw(experiment):
        return with_loads(sbox_traces(200, 4.0, 100 + experiment))

    def entropies(attacker):
        points = cpa.success_curve(draw, lambda traces: traces.inputs, TARGET, [80, 200], 6, attacker)
        return [point.guessing_entropy_bits for point in points]

    strong, plain = entropies(templates.scores), entropies(cpa.scores_of)
    assert strong[1] < 1 and strong[1] < plain[1] / 10
    assert strong[0] < plain[0] / 2


def test_a_likelihood_counts_every_trace_once(templates):
    traces = with_loads(sbox_traces(60, 4.0, 3))
    grown = templates.scores(traces.samples, traces.inputs, TARGET, [20, 60])
    alone = templates.scores(traces.samples, traces.inputs, TARGET, [60])
    assert grown[1] == pytest.approx(alone[0], abs=1e-2)
    made = templates.parts[3]
    guess = 77
    expected = []
    for other in (guess, 0):
        rest = traces.samples[:20, made.points] - made.means[other, traces.inputs[:20, 3]]
        expected.append(-0.5 * np.einsum("np,pq,nq->", rest, made.inverse, rest))
    assert grown[0, 3, guess] - grown[0, 3, 0] == pytest.approx(expected[0] - expected[1], abs=1e-2)


def test_noise_free_profiles_work():
    own = sbox_traces(500, 0.0, 4, many_keys=True)
    made = template.profile(own.samples, own.inputs, own.keys, TARGET, points=4)
    traces = sbox_traces(20, 0.0, 5)
    assert (
        TARGET.rebuild(made.scores(traces.samples, traces.inputs, TARGET, [20])[0]) == traces.keys.tobytes()
    )


def test_what_cannot_be_profiled_is_refused():
    own = sbox_traces(200, 1.0, 6, many_keys=True)
    with pytest.raises(InputError, match="200 traces are too few for templates: record 410 or more"):
        template.profile(own.samples, own.inputs, own.keys, TARGET)
    with pytest.raises(InputError, match="not for 'ascon-initialisation'"):
        template.profile(own.samples, own.inputs, own.keys, target_named("ascon-initialisation"))
