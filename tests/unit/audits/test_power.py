"""The power part: its words from the kept figures, and one short run of it on the UNO."""

import json
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from command_line import run as command
from motecrypt.app import audit
from motecrypt.attack.audits import power
from motecrypt.attack.leakage import campaign
from motecrypt.measuring.audits import AuditRun
from motecrypt.measuring.audits import power as runs
from motecrypt.results import Results
from tool_sets import needs_tool_set


def curve(needed, snr=0.125, model="weight", attacker="correlation", most=905):
    points = [{"traces": most, "experiments": 10}]
    return {
        "model": model,
        "attacker": attacker,
        "snr": snr,
        "traces_to_key": needed,
        "points": points,
    }


def row(*curves, variant="fast", verdict="leaks", more=()):
    attacks = [{"title": "first", "curves": list(curves)}, *more] if curves else []
    found = {"verdict": verdict, "varied": "message", "snr": 0.125, "traces": 4000}
    if verdict != "path varies":
        found |= {"tests": 700, "leaking_samples": 3, "largest_t": 9.5, "threshold": 5.7, "lines": ["a.c:7"]}
    return {"variant": variant, "attacks": attacks, "t_test": found}


@pytest.mark.parametrize(("name", "folders"), [("rc4", ()), ("own", ("/own",))])
def test_the_timing_of_a_users_own_cipher_is_looked_for_with_its_folder(name, folders, monkeypatch):
    asked, stored = [], [SimpleNamespace(verdict="varies")]

    class Question:
        def __init__(self, *given):
            asked.append(given)

        def answer(self, results):
            return stored.pop() if stored else None

    @dataclass(frozen=True)
    class Asked:
        cipher: object
        implementation: object
        seed: int = 3
        quick: bool = True
        device: str = ""

    measured = []

    def run(subject, part, results):
        measured.append((subject.device, part))
        return SimpleNamespace(verdict="constant")

    monkeypatch.setattr(runs, "AuditQuestion", Question)
    monkeypatch.setattr(runs.timing, "run", run)
    subject = Asked(SimpleNamespace(name=name, folder="/own"), SimpleNamespace(variant="small"))
    uno = SimpleNamespace(name="uno")
    assert runs._timing(subject, uno, None) == "varies" and not measured
    assert runs._timing(subject, uno, None) == "constant" and measured == [("uno", "timing:uno")]
    assert asked == [(name, "timing:uno", 3, True, "small", folders)] * 2


def test_the_verdict_is_the_key_under_the_most_noise():
    found = row(curve(20, None), curve(453), curve(320, model="distance"), curve(None, 0.03))
    assert power.judge(found) == ("key in 320 traces at SNR 0.125", "bad")
    assert power.judge(row(curve(40, None), curve(None))) == ("key in 40 traces at no noise", "bad")


@pytest.mark.parametrize(
    ("verdict", "judged"),
    [
        ("leaks", ("leaks, no attack succeeded", "note")),
        ("no leak found", ("no leak found in this model", "good")),
        ("no claim", ("no claim", "note")),
        ("path varies", ("path varies", "note")),
    ],
)
def test_without_a_key_the_t_test_decides(verdict, judged):
    assert power.judge(row(curve(None), verdict=verdict)) == judged
    assert power.judge(row(verdict=verdict)) == judged


def test_sentences_join_time_and_power():
    more = [{"title": "the last round", "curves": [curve(None, most=1280)]}]
    levels = [curve(20, None), curve(80, 0.5), curve(453), curve(None, 0.031, most=3620)]
    both = curve(226, model="distance", attacker="distance"), curve(160, attacker="template")
    full = row(*levels, *both, more=more)
    told = power.sentences([full, row(curve(226), variant="small")], "constant", "uno")
    assert told[0] == (
        "With the device in hand: the time gives nothing; its power gives the key of fast from 453 traces at "
        "SNR 0.125."
    )
    assert told[1] == (
        "fast, weight model, traces to the key: 20 at no noise; 80 at SNR 0.5; 453 at SNR 0.125; more than "
        "3,620 at SNR 0.031 (the least that found it in 80 % of 10 attacks)."
    )
    assert told.pop(2) == "fast, distance model, with distances predicted: 226 at SNR 0.125."
    assert told[2] == "fast: with templates of a like device, 160 traces at SNR 0.125 instead of 453."
    assert told[3] == "Traces to the key at SNR 0.125, weight model: fast 453, small 226."
    assert told[4] == "Other attacks on fast: the last round, more than 1,280 at SNR 0.125."
    assert told[5] == (
        "Fixed against random message at SNR 0.125: 3 of 700 samples differ (largest |t| 9.5, threshold 5.7, "
        "4,000 traces); first at a.c:7."
    )
    assert "simulated traces of uno" in told[6] and len(told) == 7


def test_sentences_without_an_attack():
    told = power.sentences([row(verdict="path varies")], "cycles vary", "pico")
    assert told[0] == (
        "With the device in hand: the time depends on the key or the message; no attack here found the key "
        "from its power."
    )
    assert told[1] == "Fixed against random inputs: path varies; nothing was compared."


@needs_tool_set("avr", "host")
def test_a_short_run(tmp_path, monkeypatch, capsys):
    """A few traces of two variants: the result is kept, and its figures repeat by the seed."""
    monkeypatch.setattr(campaign, "LEVELS_FEW", (campaign.Level(float("inf"), 40),))
    monkeypatch.setattr(runs, "EXPERIMENTS_QUICK", 2)
    monkeypatch.setattr(runs, "T_TEST_TRACES_QUICK", 2_400)
    bodies = runs.bodies_on
    monkeypatch.setattr(runs, "bodies_on", lambda *given: bodies(*given)[:2])
    arguments = ["audit", "aes128-ecb", "--part", "power", "--device", "uno", "--quick"]
    code, out, err = command(capsys, *arguments, "--db", str(tmp_path / "a.db"), "--json")
    lines = [line for line in err.splitlines() if "auditing aes128-ecb" in line]
    # Two windows with two curves, one with one, and the t-test.
    assert "0 of 9 done" in lines[0] and "(uno: tables, S-box output of the first round)" in lines[0]
    assert any("(uno: avr, weight, no noise)" in line for line in lines) and "9 of 9 done" in lines[-1]
    told = json.loads(out)
    (part,) = told["parts"]
    assert code == 0 and (part["part"], part["weight"]) == ("power:uno", "bad")
    assert told["verdict"]["bad"] == ["power:uno"] and part["verdict"].endswith("traces at no noise")
    rows = part["data"]["rows"]
    assert [row["variant"] for row in rows] == ["tables", "avr"]
    assert part["data"]["timing"] == "addresses only, no cache"
    assert [len(row["attacks"]) for row in rows] == [2, 1] and "t_test" not in rows[1]
    assert rows[0]["t_test"]["leaking_samples"] > 3 and rows[0]["t_test"]["lines"]
    with Results(tmp_path / "b.db") as results:
        again = AuditRun("aes128-ecb", "power:uno", quick=True).ensure(results)
        assert again.outcome["data"]["rows"] == rows
        assert AuditRun("aes128-ecb", "power:uno", quick=True).ensure(results).made_at == again.made_at


def test_the_steps_of_all_parts_are_counted_together():
    told = []
    parts = [AuditRun("aes128-ecb", name) for name in ("power:uno", "diffusion")]
    steps = audit._Steps(parts, lambda *report: told.append(report))
    steps.of(parts[0])(0, 5, "begins")
    steps.end(parts[1])
    steps.of(parts[0])(3, 5, "three")
    steps.end(parts[0])
    assert told == [(0, 6, "begins"), (1, 6, "diffusion"), (4, 6, "three"), (6, 6, "power:uno")]


def test_power_is_run_only_when_named(capsys):
    def planned(*parts):
        return [each.part for each in audit.plan(audit.AuditRequest("aes128-ecb", ["uno"], parts))]

    assert "power:uno" not in planned() and "timing:uno" in planned()
    assert planned("power") == ["power:uno"]
    assert planned("timing", "diffusion") == ["diffusion", "timing:uno"]
    code, out, _ = command(capsys, "audit", "aes128-ecb", "--part", "list", "--device", "uno")
    assert code == 0 and "power:uno" in out.split()
