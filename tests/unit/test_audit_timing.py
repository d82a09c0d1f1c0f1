"""The control: a comparison that ends at the first wrong byte must be caught, and its fixed twin must not."""

from pathlib import Path

import pytest

from motecrypt.measuring.audits import AuditRun
from motecrypt.results import Results
from tool_sets import needs_tool_set

CONTROL = Path(__file__).parents[1] / "controls" / "early-exit"


def rows_of(tmp_path, cipher, part, folders=()):
    with Results(tmp_path / "results.db") as results:
        found = AuditRun(cipher, part, folders=folders).ensure(results)
    assert found.outcome["weight"] != "skipped", found.outcome["sentences"]
    return found.outcome


@pytest.mark.parametrize(
    "device",
    [pytest.param("uno", marks=needs_tool_set("avr")), pytest.param("pico", marks=needs_tool_set("pico"))],
)
def test_early_exit_is_caught_in_the_simulator(tmp_path, device):
    outcome = rows_of(tmp_path, "early-exit", f"timing:{device}", (CONTROL,))
    assert outcome["verdict"] == "cycles vary" and outcome["weight"] == "bad"
    verdicts = {(row["variant"], row["operation"]): row["verdict"] for row in outcome["data"]["rows"]}
    assert verdicts.pop(("toy", "wrong tag")) == "cycles vary"
    assert set(verdicts.values()) == {"constant"} and len(verdicts) == 7
    caught = next(row for row in outcome["data"]["rows"] if row["verdict"] == "cycles vary")
    line = (
        CONTROL.joinpath("early_exit.c")
        .read_text()
        .splitlines()
        .index("        if (a[i] != b[i]) { /* the fault */")
    )
    assert [split["line"].split("/")[-1] for split in caught["splits"]] == [f"early_exit.c:{line + 1}"]


def test_a_device_whose_tools_are_missing_is_skipped_with_a_reason(tmp_path, monkeypatch):
    monkeypatch.setattr("motecrypt.measuring.audits.timing.have", lambda tool_set: False)
    with Results(tmp_path / "results.db") as results:
        part = AuditRun("rc6-cbc", "timing:uno")
        found = part.ensure(results)
        assert found.outcome["weight"] == "skipped" and "--device uno" in found.outcome["sentences"][0]
        assert part.find(results) is None  # nothing is stored: it runs once the tools are there
        assert results.experiments("audit") == []


@pytest.mark.crosscheck
@needs_tool_set("taint")
def test_early_exit_is_caught_by_taint(tmp_path):
    outcome = rows_of(tmp_path, "early-exit", "taint", (CONTROL,))
    verdicts = {row["variant"]: row["verdict"] for row in outcome["data"]["rows"]}
    assert verdicts == {"toy": "secrets choose branches", "even": "no secret dependence"}


@needs_tool_set("avr")
@pytest.mark.crosscheck
@needs_tool_set("taint")
def test_rc6s_rotations_vary_on_the_uno_though_the_host_calls_them_constant(tmp_path):
    uno = rows_of(tmp_path, "rc6-cbc", "timing:uno")
    assert any(row["verdict"] == "cycles vary" and row["variant"] == "plain" for row in uno["data"]["rows"])
    assert rows_of(tmp_path, "rc6-cbc", "taint")["verdict"] == "no secret dependence"


@needs_tool_set("avr")
def test_tables_are_harmless_on_the_uno(tmp_path):
    outcome = rows_of(tmp_path, "aes128-ecb", "timing:uno")
    assert outcome["weight"] == "good" and outcome["verdict"] == "addresses only, no cache"
