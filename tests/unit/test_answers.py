"""Stored answers are read as dataclasses; what is not of their shape is not there."""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from motecrypt.measuring.audits import AuditRun
from motecrypt.measuring.experiments.passwords import PasswordDerivation
from motecrypt.results import Results
from motecrypt.results.experiments.audit import AuditAnswer, DiffusionData, KeyRecovery
from motecrypt.results.experiments.call_sequence import CallAnswer, CallCosts, CallFailure
from motecrypt.results.experiments.data_types import DataTypeTimes
from motecrypt.results.experiments.features import Features
from motecrypt.results.experiments.host_speed import Speeds
from motecrypt.results.experiments.passwords import PasswordQuestion, PasswordTimes
from motecrypt.results.experiments.pico_file import FileCosts
from motecrypt.results.experiments.radio_transfer import RadioTransfers
from motecrypt.results.experiments.wlan_transfer import Spread, WlanTransfer

Stored = dict[str, Any]

AUDIT: Stored = {
    "title": "t",
    "verdict": "v",
    "weight": "good",
    "sentences": ["s"],
    "data": {"x": 1},
    "more": 2,
}
ROW: Stored = {"mode": "T", "message_bytes": 5, "sent_bytes": 5, "packets": 1, "air_us": 3, "write_us": 1.5}
ROW |= {"encryption_us": 0.0, "delivery_us": {"16": 5}}
FEATURES: Stored = {"messages": "any", "keys": "16", "diffusion": "full", "diffusion_lengths": [16, 32]}
FEATURES |= {
    "block_bytes": 0,
    "identity_bytes": [],
    "decrypt_reach_bytes": 2,
    "last_byte_passes_through": False,
}


SPREAD: Stored = {"mean": 2, "low": 1, "high": 3, "half_width": 0.5}
WLAN: Stored = dict.fromkeys(
    ("seconds", "sender_joule", "receiver_joule", "data_frames", "data_frame_bytes"), SPREAD
)
WLAN |= {"complete": True, "delivered_bytes": 9}
PARTS: Stored = dict.fromkeys(("other", "files", "key", "cipher", "mac", "setup"), 1)
RUN: Stored = {"time_us": 5, "cycles": PARTS, "misses": PARTS}
RUN |= dict.fromkeys(("programs", "erases", "reads", "storage_busy", "stack_bytes", "heap_bytes"), 2)
FILE: Stored = {"encrypt": RUN, "decrypt": {**RUN, "time_us": 7}, "sealed_bytes": 720, "clock_hz": 125}
FILE |= {"flash_bytes": 4, "ram_bytes": 5}
SPEED_ROW: Stored = {
    "cipher": "rc4",
    "key_bits": 128,
    "rounds": 0,
    "operation": "encrypt",
    "library": "motecrypt/a",
}
SPEED_ROW |= {"bytes": 100, "cycles": 250, "wall_ns": 50.0}
MACHINE: Stored = {"processor": "p", "counter": "tsc", "aes_instructions": None, "rapl": []}
SPEEDS: Stored = {"machine": MACHINE, "missing": ["openssl"], "rows": [SPEED_ROW]}
TYPES: Stored = {"ns_per_byte": {"text": 2}, "ratio_to_text": {"text": {"median": 1, "low": 1, "high": 1}}}
TYPES |= {"outliers": 0, "timings": 41}
CALL: Stored = dict.fromkeys((f.name for f in fields(CallCosts)), 4)
CALL |= {"functions": [["main", 0.5]], "misses_after": [[0, 4]]}


def test_the_other_kinds_are_read() -> None:
    moved = WlanTransfer.from_json(WLAN)
    assert moved is not None and moved.seconds == Spread(mean=2, low=1, high=3, half_width=0.5)
    assert moved.scaled(2).seconds == Spread(mean=4, low=2, high=6, half_width=1)
    assert moved.scaled(2).delivered_bytes == 18
    costs = FileCosts.from_json(FILE)
    assert costs is not None and (costs.run("encrypt").time_us, costs.run("decrypt").time_us) == (5, 7)
    speeds = Speeds.from_json(SPEEDS)
    assert speeds is not None and speeds.rows[0].ours and speeds.machine.aes_instructions is None
    assert speeds.rows[0].cycles_per_byte == 2.5
    types = DataTypeTimes.from_json(TYPES)
    assert types is not None and types.ratio_to_text["text"].median == 1
    assert CallAnswer.from_json({"failed": "no"}) == CallFailure(failed="no")
    call = CallAnswer.from_json(CALL)
    assert isinstance(call, CallCosts) and call.functions == (("main", 0.5),)
    assert call.misses_after == ((0, 4),)
    before = CallAnswer.from_json({key: value for key, value in CALL.items() if key != "misses_after"})
    assert isinstance(before, CallCosts) and before.misses_after == (), "of a version before the sweep"
    assert CallAnswer.from_json({}) is None
    assert KeyRecovery.from_json({"keys": 2, "recovered": 1, "queries_mean": 9, "more": 0}) is not None


def test_what_is_stored_is_read() -> None:
    assert AuditAnswer.from_json(AUDIT) == AuditAnswer(
        title="t", verdict="v", weight="good", sentences=("s",), data={"x": 1}
    )
    found = RadioTransfers.from_json({"rows": [ROW]})
    assert (
        found is not None and found.rows[0].delivery_us == {"16": 5.0} and found.rows[0].confirmed_us is None
    )
    features = Features.from_json(FEATURES)
    assert features is not None and features.diffusion_lengths == (16, 32)


@pytest.mark.parametrize("stored", [None, 3, [], "text", {}, {"hashes_ms": 1}])
def test_what_is_something_else_is_not_there(stored: Any) -> None:
    kinds = (AuditAnswer, Features, PasswordTimes, RadioTransfers, KeyRecovery, DiffusionData)
    for kind in (*kinds, WlanTransfer, FileCosts, Speeds, DataTypeTimes, CallAnswer, CallCosts):
        assert kind.from_json(stored) is None


@pytest.mark.parametrize(
    ("kind", "good", "change"),
    [
        (AuditAnswer, AUDIT, {"sentences": "s"}),
        (AuditAnswer, AUDIT, {"sentences": [1]}),
        (AuditAnswer, AUDIT, {"title": None}),
        (Features, FEATURES, {"diffusion_lengths": [16, True]}),
        (Features, FEATURES, {"last_byte_passes_through": 1}),
        (Features, FEATURES, {"block_bytes": 1.5}),
        (RadioTransfers, {"rows": [ROW]}, {"rows": [{**ROW, "delivery_us": {"16": "5"}}]}),
        (RadioTransfers, {"rows": [ROW]}, {"rows": [{**ROW, "air_us": float("inf")}]}),
        (RadioTransfers, {"rows": [ROW]}, {"rows": {"0": ROW}}),
        (WlanTransfer, WLAN, {"seconds": 3.0}),
        (WlanTransfer, WLAN, {"data_frames": {**SPREAD, "mean": "2"}}),
        (FileCosts, FILE, {"decrypt": {**RUN, "cycles": {"key": 1}}}),
        (FileCosts, FILE, {"clock_hz": None}),
        (Speeds, SPEEDS, {"rows": [{**SPEED_ROW, "cycles": None}]}),
        (Speeds, SPEEDS, {"machine": {}}),
        (DataTypeTimes, TYPES, {"ratio_to_text": {"text": 1.0}}),
        (CallAnswer, CALL, {"functions": [["main"]]}),
        (CallAnswer, CALL, {"functions": [["main", 0.5, 1]]}),
        (CallAnswer, CALL, {"call_core_cycles": "4"}),
        (CallAnswer, CALL, {"misses_after": [[0]]}),
    ],
)
def test_a_value_of_another_type_makes_it_unread(
    kind: Any, good: dict[str, Any], change: dict[str, Any]
) -> None:
    assert kind.from_json(good) is not None
    assert kind.from_json({**good, **change}) is None


@pytest.mark.parametrize("outcome", [{}, {"hashes_ms": "3", "argon2id_ms": 4}])
def test_a_malformed_experiment_of_equal_inputs_is_made_anew(
    results: Results, outcome: dict[str, Any]
) -> None:
    request = PasswordDerivation(1)
    results.store_experiment(request.KIND, request.VERSION, request.inputs(), outcome, request.asked())
    assert request.stored(results) is None
    made = request.ensure(results)
    assert PasswordTimes.from_json(made.outcome) is not None
    assert request.ensure(results) == request.stored(results) == made, "and kept then"


def test_a_malformed_audit_is_run_anew(results: Results) -> None:
    request = AuditRun("rc4d", "determinism", quick=True)
    made = request.ensure(results)
    asked = request.asked()
    results.store_experiment(request.KIND, request.VERSION, made.inputs, {"title": 3}, asked)
    assert request.answer(results) is None
    again = request.ensure(results)
    assert AuditAnswer.from_json(again.outcome) is not None


def test_no_experiment_takes_a_stored_experiment_unread() -> None:
    package = Path(__file__).resolve().parents[2] / "src" / "motecrypt"
    modules = [p for name in ("experiments", "audits") for p in sorted((package / name).rglob("*.py"))]
    reads = [
        f"{path.name}:{node.lineno}"
        for path in modules
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr in ("experiment", "newest_experiment", "experiments")
        and isinstance(node.value, ast.Name)
        and node.value.id == "results"
    ]
    assert reads == [], "ask `kept` or `find`, which look at the shape"


def test_a_malformed_experiment_is_asked_for_anew(results: Results) -> None:
    question = PasswordQuestion()
    results.store_experiment(question.KIND, question.VERSION, {"a": 1}, {"hashes_ms": "3"}, question.asked())
    assert question.find(results) is None and question.answer(results) is None
    outcome = {"hashes_ms": 3, "argon2id_ms": 4.5}
    results.store_experiment(question.KIND, question.VERSION, {"a": 1}, outcome, question.asked())
    assert question.answer(results) == PasswordTimes(hashes_ms=3.0, argon2id_ms=4.5)
    results.store_experiment(question.KIND, question.VERSION + 1, {"a": 1}, {}, question.asked())
    assert question.answer(results) == PasswordTimes(hashes_ms=3.0, argon2id_ms=4.5)


def test_an_audit_of_a_weight_that_there_is_not_is_not_there() -> None:
    told = {"title": "t", "verdict": "v", "weight": "bad", "sentences": []}
    assert AuditAnswer.from_json(told) is not None
    assert AuditAnswer.from_json({**told, "weight": "heavy"}) is None
