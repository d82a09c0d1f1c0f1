"""The adviser's export gives the same answers, and its golden answer is unchanged."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from advise_parts import CATALOG, LINK, SRF, ask, made

from made_rows import candidates_of
from motecrypt.adviser import api as advise
from motecrypt.adviser import exported
from motecrypt.air.radios import radio_names
from motecrypt.app.advise import instead


def test_the_export_is_json_and_answers_the_same() -> None:
    data = json.loads(json.dumps(exported.export(CATALOG, []), allow_nan=False))
    assert data["devices"] == {} and set(data["radios"]) == set(radio_names())
    assert link_from(data["link"]) == LINK
    srf = data["radios"]["srf"]
    again = advise.RadioPart(**{**srf, "air_us": tuple(srf["air_us"]), "unknown": tuple(srf["unknown"])})
    assert again == SRF
    data["candidates"] = {"uno": json.loads(json.dumps([asdict(made()), asdict(made(tag_bytes=16))]))}
    back = candidates_of(data, "uno")
    assert ask(*back, radio=again) == ask(made(), made(tag_bytes=16))


def link_from(kept: dict[str, Any]) -> advise.LinkFacts:
    """The link's facts back from JSON."""
    suites = {name: advise.SuiteWork(**work) for name, work in kept["suites"].items()}
    return advise.LinkFacts(**{**kept, "suites": suites})


def from_json(inputs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of `advise` back from JSON, in order."""
    question = {**inputs["question"], "needs": tuple(inputs["question"]["needs"])}
    limits = {name: question.pop(name) for name in list(question) if name.endswith("_max")}
    radio = {**inputs["radio"], "air_us": tuple(inputs["radio"]["air_us"])}
    battery = {**inputs["battery"], "curve": tuple((v, used) for v, used in inputs["battery"]["curve"])}
    return (
        advise.Question(**question, budgets=advise.Budgets(**limits)),
        candidates_of({"candidates": {"uno": inputs["candidates"]}}, "uno"),
        advise.DeviceFacts(**inputs["device"]),
        advise.RadioPart(**radio),
        link_from(inputs["link"]),
        advise.BatteryPart(**battery),
        advise.RegulatorPart(**inputs["regulator"]),
        [advise.RegulatorPart(**other) for other in inputs["other_regulators"]],
        advise.DeviceFacts(**inputs["chip"]),
    )


def test_the_golden_answer_stands() -> None:
    """tests/data/advise.json: inputs and answer in full, for advisers in other languages, too."""
    kept = json.loads((Path(__file__).resolve().parents[2] / "data" / "advise.json").read_text())
    answer = advise.advise(*from_json(kept["inputs"]))

    def same(a: object, b: object, where: str) -> None:
        if isinstance(a, dict) and isinstance(b, dict):
            assert a.keys() == b.keys(), where
            for key in a:
                same(a[key], b[key], f"{where}.{key}")
        elif isinstance(a, list) and isinstance(b, list):
            assert len(a) == len(b), where
            for number, (one, other) in enumerate(zip(a, b, strict=True)):
                same(one, other, f"{where}[{number}]")
        else:
            assert a == (pytest.approx(b, rel=1e-12) if isinstance(b, float) else b), where

    same(json.loads(json.dumps(asdict(answer))), kept["answer"], "")


def test_what_the_next_step_exports_in_place_of_the_first_rank_is_told() -> None:
    device = CATALOG.device("uno")
    taken, first = ask(made(), made(implementation="ours/other")).entries
    assert instead(device, taken, taken) == ""
    why = f"the export for {device.title} is plain C, without assembly for its core"
    for implementation, reason in (("motecrypt/x", why), ("bearssl", "bearssl is not ours to export")):
        other = replace(first, candidate=replace(first.candidate, implementation=implementation))
        assert instead(device, other, taken) == (
            f"This exports rank {taken.rank}, {taken.candidate.name}: {reason}. Encrypting a message takes "
            f"{taken.costs.cycles:,.0f} cycles, {first.costs.cycles:,.0f} with rank 1."
        )
