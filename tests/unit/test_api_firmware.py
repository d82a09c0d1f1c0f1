"""What a program does with firmware and audits: a request in, a result out; nothing printed, no exit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt import (
    AuditRequest,
    LeakQuestion,
    LeakRequest,
    LeakWindow,
    PublicKeyAudit,
    RunRequest,
    StackRequest,
    Uart,
    assess_traces,
    attack_traces,
    audit,
    audit_public_key,
    leak,
    leak_controls,
    profile,
    read_traces,
    run,
    stack,
)
from motecrypt.adviser.publickey.secrets import TaintRow, TimingVerdict
from motecrypt.app.run import RunResult
from motecrypt.attack.audits.taint import MEANING
from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.run import Ended
from tool_sets import needs_tool_set

SKETCH = """void setup() { Serial.begin(9600); Serial.print("ready"); }
void loop() { if (Serial.available()) Serial.write(Serial.read()); }
"""


@pytest.fixture
def sketch(tmp_path: Path) -> Path:
    path = tmp_path / "Echo" / "Echo.ino"
    path.parent.mkdir()
    path.write_text(SKETCH)
    return path


@needs_tool_set("avr", "arduino")
def test_a_firmware_is_run(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = run(RunRequest(sketch, until="ready"))
    assert (found.uart, found.ended.reason, found.failure) == (b"ready", "until", "")
    assert found.device.name == "uno" and found.image.flash_bytes > 1000 and found.ended.cycles > 1000
    sent = bytearray()
    given = sketch.with_name("given")
    given.write_bytes(b"abc")
    with given.open("rb") as file:
        again = run(RunRequest(str(sketch), until="!", max_seconds=0.1, uart=Uart(input=file)), sent.extend)
    assert (again.uart, sent) == (b"", b"readyabc")
    assert again.failure.startswith("'!' did not come within 0.1 s of simulated time")
    assert capsys.readouterr() == ("", "")


@needs_tool_set("avr", "arduino")
def test_a_firmware_is_profiled(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = profile(RunRequest(sketch, until="ready", max_seconds=1))
    assert (found.uart, found.failure, found.ended.reason) == (b"ready", "", "until")
    names = {cost.name for cost in found.profile.functions}
    assert {"setup", "main"} <= names and found.profile.ended == found.ended
    page = found.page(command="from a program")
    assert "Serial.print" in page and "from a program" in page and "Echo.ino" in page
    assert profile(RunRequest(sketch, max_seconds=0.001, until="never")).failure.startswith("'never'")
    assert capsys.readouterr() == ("", "")


@needs_tool_set("avr", "arduino")
def test_the_stacks_of_a_firmware_are_bounded(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = RunRequest(sketch, until="ready", max_seconds=1)
    found, still = stack(StackRequest(asked)), stack(StackRequest(asked, no_run=True))
    assert still.ran is None and still.seen == {} and still.bounds == found.bounds
    assert found.ran is not None and found.ran.ended.reason == "until"
    main = next(bound for bound in found.bounds if bound.name == "main")
    assert main.worst == found.program.main and found.program.reason == main.reason != ""
    both = [(found.seen[b.address], b.worst) for b in found.bounds if b.bounded and b.address in found.seen]
    assert both and all(0 < seen <= worst for seen, worst in both)
    assert found.program.room and not found.program.several
    with pytest.raises(InputError, match="has no function 'nobody'"):
        stack(StackRequest(asked, {"main": ["nobody"]}, no_run=True))
    (sketch.parent / "hex.hex").write_text(":0400000001020304F2\n:00000001FF\n")
    with pytest.raises(InputError, match="has no symbols"):
        stack(StackRequest(RunRequest(sketch.parent / "hex.hex")))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("firmware", "device", "said"),
    [
        ("none.elf", "uno", "none.elf: no such file"),
        ("optiboot", "pico", "optiboot: no such file"),
        (".", "uno", "a folder; name the file in it"),
        ("aesTest", "uno", "aesTest: the demo is for the pico"),
        ("Echo/Echo.ino", "host", "host: it has no simulator"),
        ("Echo/Echo.ino", "pico", "sketches are built for the ATmega328P"),
        ("Echo/Echo.ino", "unoo", "did you mean"),
    ],
)
def test_what_cannot_be_run_is_an_input_error(
    firmware: str, device: str, said: str, sketch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sketch.parents[1])
    with pytest.raises(InputError, match=said):
        run(RunRequest(firmware, device))


@pytest.mark.parametrize(
    ("reason", "until", "max_seconds", "said"),
    [
        ("stop", None, None, ""),
        ("until", "x", 1.0, ""),
        ("stopped", "x", None, ""),
        ("stop", "x", None, "'x' did not come (detail)"),
        ("limit", "x", 2.5, "'x' did not come within 2.5 s of simulated time; --max-seconds allows more"),
        ("limit", None, 2.5, ""),
        ("fault", None, 1.0, "detail"),
        ("flood", "x", 1.0, "the firmware floods its UART: detail; --max-output allows more"),
        ("gone", None, None, "the port vanished; plug it in again and repeat the command"),
    ],
)
def test_why_a_run_is_a_failure(reason: str, until: str | None, max_seconds: float | None, said: str) -> None:
    ended = Ended(reason, "detail", 1, 1.0, 1, 0, 0, ())
    asked: Any = SimpleNamespace(until=until, max_seconds=max_seconds)
    nothing: Any = None
    assert RunResult(asked, nothing, nothing, ended, b"").failure == said


@needs_tool_set("host")
def test_an_audit_is_run_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = AuditRequest("rc4d", parts=["determinism", "integrity"], quick=True)
    told: list[tuple[int, int, str]] = []
    found = audit(asked, tmp_path / "r.db", lambda *each: told.append(each))
    assert [answer.weight for answer in found.answers] == ["bad", "bad"] and found.verdict == "bad"
    assert found.parts_of("bad") == ["determinism", "integrity"] and found.parts_of("good") == []
    assert found.cipher.name == "rc4d" and found.implementation.startswith("motecrypt/")
    assert told[-1][:2] == (2, 2) and {what for _, _, what in told} >= {"determinism", "integrity"}
    assert audit(asked, tmp_path / "r.db").experiments == found.experiments
    assert "Audit of rc4d" in found.page("from a program")
    assert {"diffusion", "power:uno"} <= set(asked.part_names)
    with pytest.raises(InputError, match="has no part 'astrology'; it has: "):
        audit(AuditRequest("rc4d", parts=["astrology"]))
    with pytest.raises(InputError, match="rc4x"):
        audit(AuditRequest("rc4x"))
    assert capsys.readouterr() == ("", "")


def audited(*rows: tuple[str, tuple[str, ...]], timing: str = "constant") -> PublicKeyAudit:
    found = [TaintRow("x25519", "agree", "ours", verdict, places, 0, "") for verdict, places in rows]
    time = TimingVerdict("uno", "x25519", "agree", "ours", timing, 9, "")
    return PublicKeyAudit(Catalog.load().public_key("x25519"), tuple(found), (), (time,))


def test_the_verdict_of_a_public_key_algorithm_is_of_all_operations() -> None:
    clean, address, branch = list(MEANING)
    both = audited((branch, ("branch in f (f.c:1)",)), (clean, ()), (address, ("address in g (g.c:2)",)))
    assert both.verdict == "1 of 3 operations have no branch and no address that depends on a secret"
    assert both.meaning == MEANING[branch][1]
    assert audited((address, ("x",)), (clean, ())).meaning == MEANING[address][1]
    machine = audited((clean, ()), timing="compiler")
    assert machine.meaning == MEANING[clean][1]
    assert machine.verdict.endswith("; but time depends on secrets by the compiler: ours on uno")
    with pytest.raises(InputError, match="x25520"):
        audit_public_key("x25520")


@needs_tool_set("avr")
def test_a_cipher_is_assessed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[int, int, str]] = []
    window, question = LeakWindow(instructions=120), LeakQuestion(traces=2_000)
    asked = LeakRequest(cipher="aes128-ecb", variant="tables", window=window, question=question)
    found = leak(asked, lambda *each: told.append(each))
    assert (found.found.verdict, found.found.instructions, found.parts_at) == ("leaks", (120, 120), None)
    assert found.places[0][0].strength == found.found.orders[0].largest and found.ended.cycles > 0
    assert told[-1][0] == told[-1][1] > 0 and told[-1][2] == "traces"
    found.save(tmp_path / "t.npz")
    traces = read_traces(tmp_path / "t.npz")
    assert len(traces) == 1_000 and traces.samples.shape[1] > 120
    assert assess_traces(traces).orders[0].leaks
    with pytest.raises(InputError, match="'aes-encrypt-first' needs 16 bytes of input"):
        attack_traces(traces, "aes-encrypt-first")
    assert found.plan.function == "cipher_encrypt"
    of_key = leak(replace(asked, window=replace(window, vary="key")))
    assert of_key.plan.function == "cipher_setup"
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (LeakRequest(), "nothing to assess"),
        (LeakRequest(window=LeakWindow("f")), "nothing to assess"),
        (LeakRequest("x.elf"), "name its --function to assess"),
        (LeakRequest("x.elf", "rc4", window=LeakWindow("f")), "x.elf and --cipher rc4: give one of them"),
        (LeakRequest("x.elf", window=LeakWindow("f")), "x.elf: no such file"),
        (LeakRequest(cipher="aes128-ecb", device="host"), "simulated devices only"),
        (LeakRequest(cipher="aes128-ecb", variant="tabels"), "did you mean tables"),
        (LeakRequest(cipher="aes128-ecb", device="unoo"), "did you mean uno"),
    ],
)
def test_what_cannot_be_assessed_is_an_input_error(asked: LeakRequest, said: str) -> None:
    with pytest.raises(InputError, match=said):
        leak(asked)
    with pytest.raises(InputError, match="traces are recorded on simulated devices only"):
        leak_controls("host")
