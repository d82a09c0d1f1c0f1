"""Correlation attacks: against NumPy's correlation, against theory, and over repeated experiments."""

from pathlib import Path

import numpy as np
import pytest
from power_toys import FIRST, sbox_traces

from motecrypt.attack.leakage import cpa, noise
from motecrypt.attack.leakage.targets import WEIGHT_OF_BYTE, aes_sbox, target_named
from motecrypt.base.errors import InputError

TARGET = target_named("aes-encrypt-first")


def inputs_of(traces):
    return traces.inputs


def test_correlations_are_numpys():
    traces = sbox_traces(200, 2.0, 1)
    traces.samples[:, 0] = 7  # a sample that never changes has no correlation
    sums = cpa.ClassSums.empty(256, 40)
    centred = cpa.centre(traces.samples)
    for rows in (slice(0, 70), slice(70, 200)):
        sums.add(centred[rows], TARGET.classes_of(traces.inputs[rows], 3))
    variations = centred.var(axis=0, dtype=np.float64) * 200
    found = cpa.correlations(sums, variations, TARGET.weights(3))
    for guess in (0, 77, 255):
        weights = WEIGHT_OF_BYTE[aes_sbox()[traces.inputs[:, 3] ^ guess]]
        expected = [np.corrcoef(weights, traces.samples[:, i])[0, 1] for i in range(1, 40)]
        assert found[guess, 1:] == pytest.approx(expected, abs=1e-5)
        assert found[guess, 0] == 0


def test_scores_of_growing_numbers_are_those_of_each_number():
    traces = sbox_traces(120, 2.0, 2)
    grown = cpa.scores_of(traces.samples, traces.inputs, TARGET, [30, 80, 120])
    for row, count in enumerate((30, 80, 120)):
        alone = cpa.scores_of(traces.samples[:count], traces.inputs[:count], TARGET, [count])
        assert grown[row] == pytest.approx(alone[0], abs=1e-5)


def test_the_sign_of_the_probe_does_not_matter():
    traces = sbox_traces(100, 1.0, 3)
    right = cpa.scores_of(traces.samples, traces.inputs, TARGET, [100])
    turned = cpa.scores_of(-traces.samples, traces.inputs, TARGET, [100])
    assert turned == pytest.approx(right, abs=1e-5)
    assert TARGET.rebuild(turned[0]) == traces.keys.tobytes()


def test_ranks_count_from_one_and_ties_count_against_the_key():
    scores = np.zeros((16, 256), np.float32)
    key = bytes(range(16))
    scores[np.arange(16), list(key)] = 0.5
    scores[1, 200:203] = 0.6
    scores[2, 7] = 0.5
    assert list(cpa.ranks_of(scores, TARGET, key)) == [1, 4, 2] + [1] * 13


@pytest.mark.parametrize(
    ("successes", "experiments", "low", "high"),
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilsons_intervals(successes, experiments, low, high):
    assert cpa.wilson(successes, experiments) == pytest.approx((low, high), abs=5e-5)


def test_noise_and_snr_belong_together():
    assert noise.noise_sd_of(0.125) == 4.0 and noise.snr_of(4.0) == 0.125
    assert noise.snr_of(0) == np.inf and noise.noise_sd_of(np.inf) == 0
    assert noise.noise_sd_of(0.125, 0.5) == 2.0 and noise.snr_of(2.0, 8.0) == 2.0
    weights = WEIGHT_OF_BYTE.astype(float)
    assert weights.var() == noise.BYTE_WEIGHT_VARIANCE
    with pytest.raises(InputError, match="SNR -1"):
        noise.noise_sd_of(-1)


def expected_success(noise_sd, n, draws=20_000):
    """The chance that the right guess correlates best at one sample: the scores are nearly normal.

    Means and covariances of the products of one trace's sample and each guess's prediction, over all inputs.
    """
    weights = WEIGHT_OF_BYTE[aes_sbox()[np.arange(256)[:, None] ^ np.arange(256)[None, :]]] - 4.0
    right = weights[0]
    means = weights @ right / 256
    square = (weights * (right**2 + noise_sd**2)) @ weights.T / 256
    covariance = (square - np.outer(means, means)) / n
    root = np.linalg.cholesky(covariance + 1e-9 * np.eye(256))
    drawn = np.abs(means + np.random.default_rng(1).standard_normal((draws, 256)) @ root.T)
    return float((drawn.argmax(axis=1) == 0).mean())


@pytest.mark.parametrize(("noise_sd", "n"), [(4.0, 90), (8.0, 400)])
def test_the_success_rate_is_that_of_theory(noise_sd, n):
    experiments = 500
    first = 0
    for seed in range(experiments):
        traces = sbox_traces(n, noise_sd, 1000 + seed, samples=20)
        only = traces.samples[:, FIRST : FIRST + 1]
        _, scores = next(cpa.attack(only, traces.inputs, TARGET, [n]))
        first += int(scores[0].argmax()) == traces.keys[0]
    low, high = cpa.wilson(first, experiments, z=3.5)
    assert low > 0.3 and high < 0.9
    assert low < expected_success(noise_sd, n) < high


def test_a_curve_over_experiments():
    def draw(experiment):
        return sbox_traces(160, 2.0, experiment)

    points = cpa.success_curve(draw, inputs_of, TARGET, [10, 80, 113, 160], 10)
    assert [point.traces for point in points] == [10, 80, 113, 160]
    assert points[0].successes == 0 and points[0].guessing_entropy_bits > 80
    assert points[-1].successes >= 9 and points[-1].guessing_entropy_bits < 0.5
    assert points[-1].parts_right > 0.98
    assert (points[0].low, points[0].high) == cpa.wilson(0, 10)
    assert cpa.traces_to_key(points) in (80, 113, 160)
    again = cpa.success_curve(draw, inputs_of, TARGET, [10, 80, 113, 160], 10)
    assert again == points


def test_traces_to_key_holds_from_there_on():
    def points(*rates):
        return [
            cpa.CurvePoint(10 * (i + 1), 10, round(10 * rate), 0, 1, 1, 0) for i, rate in enumerate(rates)
        ]

    assert cpa.traces_to_key(points(0.1, 0.8, 1.0)) == 20
    assert cpa.traces_to_key(points(0.9, 0.7, 0.8)) == 30
    assert cpa.traces_to_key(points(0.9, 0.7)) is None
    assert cpa.counts_up_to(80) == [10, 14, 20, 28, 40, 57, 80]
    assert cpa.counts_up_to(100, least=50) == [50, 71, 100]


def test_ascons_key_falls_to_the_weights_of_its_words():
    from test_targets import first_round

    random = np.random.default_rng(5)
    key, nonces = random.bytes(16), random.integers(0, 256, (1500, 16), dtype=np.uint8)
    state = first_round(key, nonces)
    samples = state.reshape(1500, 5, 8, 8).sum(axis=3).reshape(1500, 40).astype(np.float32)
    samples += random.normal(0, 1, samples.shape).astype(np.float32)
    target = target_named("ascon-initialisation")
    scores = cpa.scores_of(samples, nonces, target, [100, 1500])
    assert target.rebuild(scores[1]) == key
    assert target.rebuild(scores[0]) != key
    assert (cpa.ranks_of(scores[1], target, key) == 1).mean() > 0.98


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([3, 10], "at least 4 traces, not 3"),
        ([10, 60], "on 60 traces needs as many, these are 50"),
        ([20, 10], "must ascend"),
        ([], "must ascend"),
    ],
)
def test_numbers_of_traces_that_say_nothing_are_refused(counts, said):
    traces = sbox_traces(50, 1.0, 6)
    with pytest.raises(InputError, match=said):
        cpa.scores_of(traces.samples, traces.inputs, TARGET, counts)


def test_correlations_of_predictions_are_those_of_numpy():
    random = np.random.default_rng(8)
    predicted, samples = random.normal(0, 1, (200, 3)), random.normal(5, 2, (200, 6))
    samples[:, 1] += 2 * predicted[:, 2]
    samples[:, 4] = 7  # constant
    found = cpa.correlations_of(cpa.centre(predicted), cpa.centre(samples))
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = np.corrcoef(predicted.T, samples.T)[:3, 3:]
    assert np.allclose(found, np.nan_to_num(expected), atol=1e-5) and (found[:, 4] == 0).all()


@pytest.mark.parametrize(("snr", "traces"), [(0.5, 67), (0.125, 233), (0.03125, 897)])
def test_the_number_of_traces_in_theory_is_that_of_the_page(snr, traces):
    """Mangard, Oswald and Popp's formula, and its promise: there the right guess is ahead of a wrong one."""
    rho = np.sqrt(snr / (1 + snr))
    assert round(3 + 8 * (3.719 / np.log((1 + rho) / (1 - rho))) ** 2) == traces
    page = (Path(__file__).parents[3] / "docs/leakage.md").read_text()
    assert f"| {round(snr, 3):g} | {traces} |" in page
    drawn = sbox_traces(traces, noise.noise_sd_of(snr), 11)
    scores = cpa.scores_of(drawn.samples, drawn.inputs, TARGET, [traces])[0]
    right = [TARGET.truth(drawn.keys.tobytes(), part) for part in range(16)]
    ahead = scores[range(16), right][:, None] > scores
    assert ahead.sum() / (16 * 255) > 0.98


def test_threads_change_nothing(monkeypatch):
    def curve():
        draw = lambda number: sbox_traces(60, 1.0, 50 + number)  # noqa: E731
        return cpa.success_curve(draw, lambda traces: traces.inputs, TARGET, [10, 60], 4)

    found = curve()
    monkeypatch.setattr(cpa, "THREADS", 1)
    assert curve() == found
