"""Captures: a file of traces gives its key, and chance alone gives none."""

import json
from dataclasses import replace
from math import sqrt, tanh
from statistics import NormalDist

import numpy as np
import pytest
from power_toys import FIRST, sbox_traces

from command_line import run
from motecrypt.attack.leakage.capture_attack import analyse
from motecrypt.attack.leakage.files import write_traces
from motecrypt.attack.leakage.targets import aes_round_keys, target_named
from motecrypt.base.errors import InputError

TARGET = target_named("aes-encrypt-first")


def test_the_key_of_a_capture_is_found_and_its_signal_measured():
    traces = sbox_traces(1500, 2.0, 1)
    found = analyse(traces, TARGET)
    assert found.key == found.known == traces.keys.tobytes()
    assert (found.above, found.parts, found.traces, found.samples) == (16, 16, 1500, 40)
    assert found.places == tuple(range(FIRST, FIRST + 16))
    assert found.snr == pytest.approx(0.5, rel=0.15)
    assert found.curve[-1] == (1500, 16, 0.0) and found.curve[0][2] > 40
    blind = analyse(replace(traces, keys=np.zeros(0, np.uint8)), TARGET)
    assert (blind.key, blind.known, blind.curve) == (found.key, None, ())


def test_noise_alone_stays_below_the_limit_of_chance():
    random = np.random.default_rng(2)
    for seed in range(5):
        traces = sbox_traces(400, 1.0, seed)
        noise = random.normal(0, 1, traces.samples.shape).astype(np.float32)
        found = analyse(replace(traces, samples=noise), TARGET)
        assert found.above == 0 and found.snr is None
        assert 0.2 < found.limit < 0.4


def test_the_last_round_is_attacked_from_the_outputs():
    traces = sbox_traces(200, 0.5, 3)
    target = target_named("aes-decrypt-last")
    turned = replace(traces, inputs=traces.inputs[:, ::-1].copy(), outputs=traces.inputs)
    assert analyse(turned, target).key == traces.keys.tobytes()
    with pytest.raises(InputError, match="needs outputs"):
        analyse(traces, target)
    assert aes_round_keys(traces.keys.tobytes())[0] == traces.keys.tobytes()


@pytest.mark.parametrize("with_classes", [True, False])
def test_only_random_inputs_are_attacked(with_classes):
    """Traces of the fixed input differ in every sample, which would be taken for a signal."""
    traces = sbox_traces(1200, 1.0, 4)
    labels = (np.arange(1200) % 2).astype(np.uint8)
    samples, inputs = traces.samples.copy(), traces.inputs.copy()
    samples[labels == 0] = np.random.default_rng(1).normal(3, 1, (600, 40))
    inputs[labels == 0] = 7
    mixed = replace(traces, samples=samples, inputs=inputs, labels=labels if with_classes else None)
    found = analyse(mixed, TARGET)
    assert found.traces == 600 and found.key == traces.keys.tobytes()
    assert found.places == tuple(range(FIRST, FIRST + 16))


def test_what_cannot_be_attacked_is_refused():
    with pytest.raises(InputError, match="several keys"):
        analyse(sbox_traces(50, 1.0, 5, many_keys=True), TARGET)
    with pytest.raises(InputError, match="3 traces of random inputs are too few"):
        analyse(sbox_traces(3, 1.0, 5), TARGET)


def test_a_probe_may_turn_the_sign():
    traces = sbox_traces(300, 1.0, 1)
    turned = analyse(replace(traces, samples=-traces.samples), TARGET)
    assert turned.key == traces.keys.tobytes() and turned.places == tuple(range(FIRST, FIRST + 16))


@pytest.mark.parametrize(
    ("count", "limit", "counts"),
    [
        (4, 1.0, [4]),
        (10, 0.99988, [10]),
        (12, 0.99962, [10, 12]),
        (19, 0.99675, [10, 14, 19]),
        (20, 0.99606, [10, 14, 20]),
        (21, 0.99416, [10, 14, 20, 21]),
        (400, 0.32526, [10, 14, 20, 28, 40, 57, 80, 113, 160, 226, 320, 400]),
        (768, 0.23541, [12, 17, 24, 34, 48, 68, 96, 136, 192, 272, 384, 543, 768]),
    ],
)
def test_the_limit_of_chance_and_the_growing_numbers(count, limit, counts):
    """For many traces the limit is Fisher's: a normal deviation, 1 / sqrt(n - 3), of atanh(r)."""
    found = analyse(sbox_traces(count, 2.0, 1), TARGET)
    assert found.limit == pytest.approx(limit, abs=6e-6) and [row[0] for row in found.curve] == counts
    if count > 200:
        z = NormalDist().inv_cdf(1 - 1e-5 / (40 * 256 * 16) / 2)
        assert found.limit == pytest.approx(tanh(z / sqrt(count - 3)), rel=0.05)


def test_a_signal_without_noise_has_a_finite_snr():
    assert analyse(sbox_traces(200, 0.0, 1), TARGET).snr == pytest.approx(1e6, rel=1e-3)


def test_the_snr_is_of_the_parts_above_the_limit():
    traces = sbox_traces(600, 1.0, 1)
    samples = traces.samples.copy()
    samples[:, FIRST + 4 :] = np.random.default_rng(1).normal(0, 1, samples[:, FIRST + 4 :].shape)
    found = analyse(replace(traces, samples=samples), TARGET)
    assert found.above == 4 and found.snr == pytest.approx(2, rel=0.2)
    assert found.places[:4] == tuple(range(FIRST, FIRST + 4)) and found.curve[-1][1] < 16
    assert found.curve[-1][2] == round(found.curve[-1][2], 2) > 10


@pytest.mark.parametrize(
    ("traces", "equal", "left"),
    [(60, 3, 60), (60, 4, 56), (20, 2, 20), (20, 3, 17), (200, 10, 200), (200, 11, 189)],
)
def test_without_classes_an_input_of_more_than_two_traces_and_a_twentieth_is_the_fixed_one(
    traces, equal, left
):
    made = sbox_traces(traces, 1.0, 8)
    inputs = made.inputs.copy()
    inputs[2 : 2 + equal] = 7
    assert analyse(replace(made, inputs=inputs), TARGET).traces == left


def test_of_several_classes_the_random_one_is_attacked():
    made = replace(sbox_traces(90, 1.0, 8), labels=(np.arange(90) % 3).astype(np.uint8))
    assert analyse(made, TARGET).traces == 30


@pytest.mark.parametrize(
    ("length", "given"), [(0, False), (15, False), (16, True), (17, False), (24, True), (32, True)]
)
def test_a_key_of_the_file_counts_where_it_is_one_of_aes(length, given):
    made = sbox_traces(40, 1.0, 8)
    key = bytes(range(length))
    found = analyse(replace(made, keys=np.frombuffer(key, np.uint8)), TARGET)
    assert found.known == (key[:16] if given else None) and bool(found.curve) == given


@pytest.mark.parametrize("name", ["t.trs", "t.npz", "capture"])
def test_the_command_on_each_form(tmp_path, capsys, name):
    traces = sbox_traces(400, 1.0, 6)
    write_traces(traces, tmp_path / name)
    code, out, _ = run(capsys, "leak", str(tmp_path / name), "--attack", "aes-encrypt-first")
    assert code == 0 and "Result:     the key is found\n" in out and traces.keys.tobytes().hex() in out
    code, out, _ = run(capsys, "leak", str(tmp_path / name), "--attack", TARGET.name, "--json")
    told = json.loads(out)
    assert (told["key"], told["known"], told["above"]) == (*[traces.keys.tobytes().hex()] * 2, 16)


def test_the_command_claims_nothing_without_a_signal(tmp_path, capsys):
    traces = replace(sbox_traces(60, 8.0, 7), keys=np.zeros(0, np.uint8))
    write_traces(traces, tmp_path / "t.trs")
    code, out, _ = run(capsys, "leak", str(tmp_path / "t.trs"), "--attack", TARGET.name)
    assert code == 0 and "no claim: 16 parts of the key have no guess above chance" in " ".join(out.split())
    code, _, err = run(capsys, "leak", str(tmp_path / "t.trs"), "--attack", "magic")
    assert code == 2 and err.count("\n") == 1 and "aes-encrypt-last" in err
    code, _, err = run(capsys, "leak", str(tmp_path / "none.trs"), "--attack", TARGET.name)
    assert code == 2 and err.count("\n") == 1 and "cannot be read" in err
    code, _, err = run(capsys, "leak", "firmware.elf", "--attack", TARGET.name)
    assert code == 2 and err.count("\n") == 1 and "needs traces in place of FIRMWARE" in err
