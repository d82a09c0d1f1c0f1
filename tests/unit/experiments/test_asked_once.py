"""What every experiment does with an answer that is stored, and with one that has to be made."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base.errors import FailureKind
from motecrypt.build.toolchain.toolchain import BuildError
from motecrypt.measuring.experiments import (
    call_sequence,
    data_types,
    features,
    file_sizes,
    files,
    passwords,
    remains,
    second_core,
    serial_write,
)

#: Experiments: of each some fields, what makes the answer, and what is said meanwhile.
EXPERIMENTS: list[tuple[type[Any], dict[str, Any], str, str]] = [
    (
        call_sequence.CallSequence,
        {"library": "l", "cipher": "c", "operation": "o"},
        "_run",
        "l c o after its set-up",
    ),
    (data_types.DataTypes, {"cipher": "c", "kinds": ("a", "b")}, "_measure", "c over a, b"),
    (features.FeatureProbe, {"cipher": "c", "variant": "v"}, "_try", "c v: lengths and diffusion"),
    (file_sizes.SizeSweep, {"cipher": "c"}, "_measure", "c for messages of all sizes"),
    (file_sizes.EncodingTiming, {}, "_measure", "Base64 and hexadecimal"),
    (files.FileJob, {"form": "f", "size": 7, "storage": "s"}, "run", "f, 7 bytes on s"),
    (passwords.PasswordDerivation, {}, "_measure", "passwords to keys"),
    (remains.PlaintextRemains, {"size": 7}, "run", "plaintext that remains of 7 bytes"),
    (second_core.SecondCoreRun, {}, "run", "the Pico's second core"),
    (serial_write.SerialWrites, {}, "_measure", "writes to a serial port"),
]


class Stored:
    """Results that keep what is stored into them."""

    def __init__(self) -> None:
        self.made: list[tuple[Any, ...]] = []

    def store_experiment(self, *given: Any) -> str:
        self.made.append(given)
        return "made"


@pytest.mark.parametrize(
    ("kind", "values", "maker", "said"), EXPERIMENTS, ids=lambda v: getattr(v, "__name__", "")
)
def test_an_answer_is_made_where_none_is_stored(
    kind: type[Any], values: dict[str, Any], maker: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = object.__new__(kind)
    for name, value in values.items():
        object.__setattr__(experiment, name, value)
    kept: list[str | None] = ["stored"]
    runs: list[str] = []
    for name, answer in (
        ("inputs", {"i": 1}),
        ("_inputs", {"i": 1}),
        ("asked", {"a": 2}),
        ("_subject", ("x", "y")),
    ):
        if hasattr(kind, name):
            monkeypatch.setattr(kind, name, lambda self, *given, answer=answer: answer)
    monkeypatch.setattr(file_sizes, "machine", lambda: SimpleNamespace(processor="p"))
    monkeypatch.setattr(kind, "kept", lambda self, results, inputs: kept[0])
    monkeypatch.setattr(kind, maker, lambda self, *given: runs.append("run") or {"o": 3})
    results: Any = Stored()
    told: list[str] = []
    assert experiment.ensure(results, told.append) == "stored" and not runs + told + results.made
    kept[0] = None
    assert experiment.ensure(results, told.append) == "made" and told == [said] and runs == ["run"]
    assert experiment.ensure(results) == "made" and told == [said] and runs == ["run"] * 2
    for number, version, inputs, outcome, asked in results.made:
        assert (number, version, outcome, asked) == (kind.KIND, kind.VERSION, {"o": 3}, {"a": 2})
        assert inputs == {"i": 1} if kind is not file_sizes.EncodingTiming else inputs["a"] == 2


@pytest.mark.parametrize("transient", [True, False])
def test_a_sequence_that_failed_for_the_moment_is_not_stored(
    transient: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = call_sequence.CallSequence
    experiment = object.__new__(kind)
    for name in ("library", "cipher", "operation"):
        object.__setattr__(experiment, name, name)

    def fails(self: Any) -> None:
        raise BuildError("no disk", kind=FailureKind.MISSING, transient=transient)

    monkeypatch.setattr(kind, "_inputs", lambda self: {"i": 1})
    monkeypatch.setattr(kind, "asked", lambda self: {"a": 2})
    monkeypatch.setattr(kind, "kept", lambda self, results, inputs: None)
    monkeypatch.setattr(kind, "_run", fails)
    results: Any = Stored()
    found: Any = experiment.ensure(results)
    if transient:
        assert not results.made and found.outcome == {"failed": "no disk"} and found.inputs == {"i": 1}
    else:
        assert results.made == [(kind.KIND, kind.VERSION, {"i": 1}, {"failed": "no disk"}, {"a": 2})]
