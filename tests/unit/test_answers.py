"""Stored answers are read as dataclasses; what is not of their shape is not there."""

from __future__ import annotations

from typing import Any

import pytest

from motecrypt.findings.audit import AuditAnswer
from motecrypt.findings.features import Features
from motecrypt.findings.passwords import PasswordQuestion, PasswordTimes
from motecrypt.findings.radio_transfer import RadioTransfers
from motecrypt.results import Results

AUDIT = {"title": "t", "verdict": "v", "weight": "good", "sentences": ["s"], "data": {"x": 1}, "more": 2}
ROW = {"mode": "T", "message_bytes": 5, "sent_bytes": 5, "packets": 1, "air_us": 3, "write_us": 1.5}
ROW |= {"encryption_us": 0.0, "delivery_us": {"16": 5}}
FEATURES = {"messages": "any", "keys": "16", "diffusion": "full", "diffusion_lengths": [16, 32]}
FEATURES |= {
    "block_bytes": 0,
    "identity_bytes": [],
    "decrypt_reach_bytes": 2,
    "last_byte_passes_through": False,
}


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
    for kind in (AuditAnswer, Features, PasswordTimes, RadioTransfers):
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
    ],
)
def test_a_value_of_another_type_makes_it_unread(
    kind: Any, good: dict[str, Any], change: dict[str, Any]
) -> None:
    assert kind.from_json(good) is not None
    assert kind.from_json({**good, **change}) is None


def test_a_malformed_finding_is_asked_for_anew(results: Results) -> None:
    question = PasswordQuestion()
    results.store_finding(question.KIND, question.VERSION, {"a": 1}, {"hashes_ms": "3"}, question.asked())
    assert question.find(results) is None and question.answer(results) is None
    outcome = {"hashes_ms": 3, "argon2id_ms": 4.5}
    results.store_finding(question.KIND, question.VERSION, {"a": 1}, outcome, question.asked())
    assert question.answer(results) == PasswordTimes(hashes_ms=3.0, argon2id_ms=4.5)
    results.store_finding(question.KIND, question.VERSION + 1, {"a": 1}, {}, question.asked())
    assert question.answer(results) == PasswordTimes(hashes_ms=3.0, argon2id_ms=4.5)
