"""Small functions with few answers: every one of them is given here."""

from __future__ import annotations

import json
import math
import os
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.adviser.publickey.rows import PublicKeyRow
from motecrypt.app import advise, doctor
from motecrypt.base.errors import FailureKind, InputError, MotecryptError
from motecrypt.base.model import Shortfall
from motecrypt.catalog import Catalog
from motecrypt.gate.figures import benchmarks_of
from motecrypt.measuring.bench.plan import MESSAGE_BYTES, public_key_device
from motecrypt.measuring.bench.record import MOST_CHARACTERS, Trouble
from motecrypt.measuring.experiments import serial_write
from motecrypt.measuring.experiments.serial_write import SerialWrites
from motecrypt.present.report.public_keys import KeyCost
from motecrypt.present.runs import leak
from motecrypt.results.experiments import recorded
from motecrypt.studies.highlights import _number

CATALOG = Catalog.load()


@pytest.mark.parametrize(
    ("complete", "optional", "said"),
    [
        (True, False, "ready"),
        (True, True, "ready"),
        (False, True, "optional, missing"),
        (False, False, "missing"),
    ],
)
def test_the_state_of_a_tool_set(complete: bool, optional: bool, said: str) -> None:
    assert doctor.ToolSetReport("n", complete, optional, "t", (), "").state == said


@pytest.mark.parametrize(
    ("complete", "debian", "python", "note", "said"),
    [
        (True, ("a",), ("b",), "why", ""),
        (False, ("a",), (), "", "install a"),
        (False, (), ("b",), "", "pip install --require-hashes -r lock"),
        (False, ("a",), ("b",), "why", "install a; pip install --require-hashes -r lock (why)"),
    ],
)
def test_how_a_tool_set_is_installed(
    complete: bool,
    debian: tuple[str, ...],
    python: tuple[str, ...],
    note: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "by_hand", lambda packages: f"install {' '.join(packages)}")
    tools = SimpleNamespace(lock="lock", note=note)
    state: Any = SimpleNamespace(complete=complete, by_hand=debian, missing_python=python, tool_set=tools)
    assert doctor._how(state) == said


def entry(rank: int, implementation: str, cycles: float) -> Any:
    candidate = SimpleNamespace(implementation=implementation, name=f"x/{implementation}")
    return SimpleNamespace(rank=rank, candidate=candidate, costs=SimpleNamespace(cycles=cycles))


@pytest.mark.parametrize(
    ("first", "why"),
    [
        ("motecrypt/opt", "the export for UNO is plain C, without assembly for its core"),
        ("theirs", "theirs is not ours to export"),
    ],
)
def test_what_is_exported_instead(first: str, why: str) -> None:
    device: Any = SimpleNamespace(title="UNO")
    best, second = entry(1, first, 1000.4), entry(2, "motecrypt/c", 2500)
    assert advise.instead(device, best, best) == ""
    assert advise.instead(device, best, second) == (
        f"This exports rank 2, x/motecrypt/c: {why}. Encrypting a message takes 2,500 cycles, "
        "1,000 with rank 1."
    )


# --- figures of public keys ------------------------------------------------------------------------------


def public_key(**changed: Any) -> PublicKeyRow:
    values: dict[str, Any] = dict.fromkeys((each.name for each in fields(PublicKeyRow)), "")
    return PublicKeyRow(**values | {"device": "uno", "time_us": 1500.0, "timing_varies": False} | changed)


@pytest.mark.parametrize(
    ("varies", "least", "most", "said"),
    [(None, 1, 1, "?"), (False, 1, 2, "none seen"), (True, 2, 2, "addresses"), (True, 1, 2, "yes")],
)
def test_how_the_time_of_an_operation_varies(varies: bool | None, least: int, most: int, said: str) -> None:
    row = public_key(timing_varies=varies, cycles_min=least, cycles_max=most)
    assert KeyCost(row, None, False).varies == said


def test_the_energy_of_an_operation_is_known_with_a_devices_current() -> None:
    uno, host = CATALOG.device("uno"), CATALOG.device("host")
    active = uno.current("active")
    assert active is not None
    cost = KeyCost(public_key(), uno, False)
    assert cost.time_ms == 1.5
    assert cost.energy_mj == pytest.approx(uno.volts * active.milliamperes * 1.5 / 1000)
    idle = KeyCost(public_key(time_us=None), uno, False)
    assert idle.time_ms is None and idle.energy_mj is None
    assert KeyCost(public_key(), None, False).energy_mj is None
    assert KeyCost(public_key(), host, False).energy_mj is None


@pytest.mark.parametrize(("runner", "stack"), [("arm", 0), ("arm", 9000), ("simavr", 9000)])
@pytest.mark.parametrize("operation", ["sign", "agree"])
def test_a_firmware_has_room_for_one_operation(runner: str, stack: int, operation: str) -> None:
    device = next(d for d in CATALOG.devices.values() if d.runner == runner)
    algorithm: Any = SimpleNamespace(
        input_bytes=lambda name: 40, output_bytes=lambda name: 30, stack_bytes=stack
    )
    body: Any = SimpleNamespace(operations=(operation,))
    made = public_key_device(device, algorithm, body)
    more = made.compiler.link_flags[len(device.compiler.link_flags) :]
    assert more == (("-Wl,--defsym=__stack_bytes=9000",) if runner == "arm" and stack else ())
    signed = MESSAGE_BYTES if operation == "sign" else 1
    assert made.bench == {**device.bench, "key": 16, "nonce": 1, "ad": signed, "message": 70}
    algorithm.output_bytes = algorithm.input_bytes = lambda name: 7
    assert public_key_device(device, algorithm, body).bench["message"] == 16


# --- failures --------------------------------------------------------------------------------------------


def test_a_stored_failure_has_what_is_known_of_it() -> None:
    plain = Trouble("failed", "why", FailureKind.MISSING)
    kind = {"failure": str(FailureKind.MISSING)}
    assert plain.stored() == kind
    assert replace(plain, transient=True).stored() == kind | {"transient": True}
    assert replace(plain, cause="x" * 600).stored() == kind | {"cause": "x" * MOST_CHARACTERS}
    short = Shortfall("ram", 20, 12)
    assert short.missing == 8
    assert replace(plain, shortfall=short).stored()["shortfall"] == {
        "memory": "ram",
        "needed": 20,
        "available": 12,
    }


def test_a_benchmark_of_what_failed_has_its_reason() -> None:
    names = {
        "device": "uno",
        "implementation": "m/o",
        "cipher": "rc4",
        "placement": "ram",
        "flags_asked": "-O2 -g",
    }
    cell = {"key_bits": 128, "cache": "cold", "operation": "encrypt", "message_bytes": 16, "ad_bytes": 4}
    told = {"status": "failed", "reason": "why", "compiler": "gcc"}
    figures = dict.fromkeys(("flash_bytes", "ram_bytes", "cycles_median", "stack_bytes", "timing_varies"))
    failed: Any = SimpleNamespace(**names, **cell, **told, **figures)
    (one,) = benchmarks_of([failed], "gcc-8")
    build = "uno/m/o/rc4/ram/-O2-g/gcc-8"
    assert (one.name, one.build) == (f"{build}/128/cold/encrypt/16+4", build)
    assert (one.figures, one.status, one.reason, one.compiler) == ({}, "failed", "why", "gcc")
    failed.status, failed.timing_varies, failed.cycles_median = "ok", True, 9
    sizes, cycles = benchmarks_of([failed], "gcc-8")
    assert (sizes.name, sizes.figures, cycles.figures) == (build, {}, {"cycles": 9, "timing_varies": 1})


@pytest.mark.parametrize(
    ("line", "said"),
    [("{", "line 2: no recorded answer"), ("[]", "line 2: no recorded answer"), ('{"asked": {}}', "made_at")],
)
def test_a_recorded_answer_that_is_none_is_refused(line: str, said: str, tmp_path: Path) -> None:
    good = {
        "kind": "k",
        "version": 1,
        "asked": {"a": 1},
        "outcome": {"b": 2},
        "made_at": "2026",
        "motecrypt_version": "1",
    }
    file = tmp_path / "answers.jsonl"
    assert recorded.read(file) == []
    file.write_text(json.dumps(good) + "\n")
    (answer,) = recorded.read(file)
    assert (answer.asked, answer.experiment.outcome) == ({"a": 1}, {"b": 2})
    file.write_text(json.dumps(good) + f"\n{line}\n")
    with pytest.raises(InputError, match=said):
        recorded.read(file)


def test_a_word_is_no_number() -> None:
    assert math.isnan(_number("x")) and math.isnan(_number(None))
    assert (_number(3), _number(2.5)) == (3.0, 2.5)


@pytest.mark.parametrize("order", [1, 2])
def test_a_control_is_told_with_the_test_of_its_order(order: int) -> None:
    from motecrypt.attack.leakage.controls import Control

    values: dict[str, Any] = dict.fromkeys((each.name for each in fields(Control)), "x")
    control = Control(**values | {"order": order, "leaks": True})
    orders = [SimpleNamespace(tests=n, threshold=n + 0.5, largest=n + 0.25) for n in (10, 20)]
    outcome: Any = SimpleNamespace(
        control=control, assessment=SimpleNamespace(orders=orders), found=True, passed=False, place=None
    )
    told = leak.control_document(outcome)
    assert (told["tests"], told["threshold"], told["largest"]) == (
        10 * order,
        10 * order + 0.5,
        10 * order + 0.25,
    )
    assert leak._control_row(outcome) == ["x", "x", order, "yes", "yes", "", "FAILED"]
    outcome.found, outcome.passed, outcome.place = False, True, SimpleNamespace(where="a.c:7")
    assert leak._control_row(outcome) == ["x", "x", order, "no", "yes", "a.c:7", "ok"]


# --- a serial port ---------------------------------------------------------------------------------------


def test_writes_to_a_serial_port_are_timed_and_have_to_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    writes = SerialWrites(sizes=(1, 300), rounds=3)
    clock = iter(range(0, 1 << 30, 1500))
    monkeypatch.setattr(serial_write.time, "perf_counter_ns", lambda: next(clock))
    assert writes._measure() == {"median_us": {"1": 1.5, "300": 1.5}}
    monkeypatch.setattr(serial_write, "write", lambda port, message: os.write(port, message[:-1]))
    with pytest.raises(MotecryptError, match=r"^a pseudo-terminal took 0 of 1 bytes, or lost some$"):
        writes._measure()
    monkeypatch.setattr(serial_write, "ARRIVES_S", 0.0)
    monkeypatch.setattr(serial_write, "write", lambda port, message: len(message))
    with pytest.raises(MotecryptError, match=r"took 1 of 1 bytes, or lost some$"):
        writes._measure()
