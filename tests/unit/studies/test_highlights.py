"""The findings over all studies are distinguished from their rows, and only when the rows bear them out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from motecrypt.results import Results
from motecrypt.studies import study
from motecrypt.studies.claim_ids import ClaimId
from motecrypt.studies.counts import tally
from motecrypt.studies.facts import Comparison, Verdict
from motecrypt.studies.highlights import highlights


def row(
    text: str,
    published: float | str | None = 2.0,
    measured: float | str | None = 1.0,
    verdict: Verdict = "differs",
    column: str = "claim",
    note: str = "",
    unit: str = "",
    brief: str = "",
    warm_us: float | None = None,
    topic: str = "",
) -> Comparison:
    ratio = measured / published if isinstance(measured, float) and isinstance(published, float) else None
    figures = {} if warm_us is None else {"warm_us": warm_us}
    return Comparison(
        source="source",
        table="claims",
        row=text,
        column=column,
        unit=unit,
        published=published,
        measured=measured,
        ratio=ratio,
        verdict=verdict,
        note=note,
        brief=brief,
        figures=figures,
        topic=topic,
    )


BROKEN = row(
    "RC4D is much stronger than RC4",
    "stronger",
    "7 of 9 keys broken",
    note="any words",
    brief="12 messages do it",
    topic=ClaimId.RC4D_STRONGER_THAN_RC4,
)
DOUBLING = row(
    "encryption nearly doubles a transfer",
    "1.75 to 1.95",
    1.25,
    column="AES, bytes sent / file",
    topic=ClaimId.WLAN_ENCRYPTION_DOUBLES,
)
EARLY = row(
    "T1",
    1.0,
    1.5,
    "paper is inconsistent",
    column="time, line-rate bound",
    note="any words",
    topic=ClaimId.RF_LINE_BOUND,
)
ON_TIME = row("T2", 1.49, 1.5, "needs hardware", column="time, line-rate bound", topic=ClaimId.RF_LINE_BOUND)
WAITS = row(
    "padding spares the timeout",
    "now",
    "104 against 5",
    "matches",
    "32 bytes against 36",
    topic=ClaimId.RF_PADDING_SPARES_TIMEOUT,
)
COLD = row("Mbed TLS", 170.0, 250.0, "needs hardware", "encrypt", unit="µs", warm_us=60.2)


def test_figures_come_from_the_rows() -> None:
    told = highlights({"rc4d": [BROKEN], "wlan": [DOUBLING], "rf": [EARLY, ON_TIME, WAITS], "pico": [COLD]})
    texts = [h.text for h in told]
    assert "7 of 9 keys broken; 12 messages do it" in texts[0]
    assert "1.250000 times the bytes" in texts[1]
    assert "1 of 2 printed radio times" in texts[2] and "104 against 5 ms" in texts[2]
    assert "1 of 1 printed times" in texts[3] and "warm 60, paper 170, cold 250 µs" in texts[3]
    assert [h.study for h in told[:4]] == ["rc4d", "wlan", "rf", "pico"]
    changed = highlights({"wlan": [replace(DOUBLING, measured=1.5)]})
    assert "1.500000 times the bytes" in changed[0].text


def test_what_came_out_otherwise_is_not_told() -> None:
    held = replace(BROKEN, verdict="matches")
    missing = replace(DOUBLING, measured=None, ratio=None, verdict="not measured")
    assert highlights({"rc4d": [held], "wlan": [missing]}) == []
    assert highlights({}) == []


def test_the_largest_contradictions_fill_up_and_five_are_told() -> None:
    rows = [row(f"claim {n}", 1.0, float(n)) for n in range(2, 12)]
    told = highlights({"rf": rows, "rc4d": [BROKEN]})
    assert len(told) == 5
    assert told[0].study == "rc4d"
    assert [h.text.split(",")[0] for h in told[1:]] == ["claim 11", "claim 10", "claim 9", "claim 8"]


def test_rows_that_are_not_scored_do_not_hide_those_after_them() -> None:
    unscored = replace(row("shown alone", 1.0, 90.0), figures={"scored": 0})
    better = replace(row("only better", 1.0, 80.0), better=True)
    agrees = row("agrees", 1.0, 70.0, verdict="matches")
    told = highlights({"rf": [agrees, unscored, better, row("scored", 1.0, 2.0)]})
    assert [h.text.split(",")[0] for h in told] == ["scored"]


def test_the_verdicts_are_counted() -> None:
    assert tally([BROKEN, WAITS, EARLY]) == "matches 1, differs 1, paper is inconsistent 1"
    assert tally([]) == ""


def test_rows_are_found_by_topic_whatever_they_say() -> None:
    reworded = replace(BROKEN, row="another wording", column="elsewhere")
    assert "7 of 9 keys broken" in highlights({"rc4d": [reworded]})[0].text
    unnamed = highlights({"rc4d": [replace(BROKEN, topic="")]})
    assert not any("as its source says" in h.text for h in unnamed)


@pytest.mark.parametrize("name", list(ClaimId))
def test_every_topic_is_on_a_row_of_its_study(name: ClaimId, results: Results) -> None:
    rows = study(name.value.partition("-")[0]).comparisons(results)
    assert any(row.topic == name for row in rows)
