"""Assumptions about the Wi-Fi study: what a cell would be, how many cells come out, and what is a cause."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.air.wlan import dcf
from motecrypt.studies.wlan import causes, plan
from motecrypt.studies.wlan.hypotheses import (
    FOUR,
    HEX_OF_FOUR,
    NAMED,
    Assumptions,
    cell_sets,
    hypotheses,
    section,
    table,
)

PLAIN = Assumptions()
TEXT = 7_139_000
Cell = tuple[str, str, str]


def _counts(assumed: Assumptions) -> tuple[int, ...]:
    return tuple(len(cells.explained(assumed)) for cells in cell_sets().values())


def test_a_cell_is_the_transfer_of_what_is_sent() -> None:
    sent = TEXT + 16 - TEXT % 16 + 16  # whole blocks, and the IV
    for assumed, size in ((PLAIN, sent), (replace(PLAIN, encoding="hex", encoded=("AES",)), 2 * sent)):
        of = dcf.transfer(size, mode="adhoc", security_bytes=8).seconds
        assert assumed.seconds(("text", "AES", "adhoc_wep")) == of
    only_des = replace(PLAIN, encoding="hex", encoded=("DES",))
    assert only_des.seconds(("text", "AES", "adhoc_wep")) == PLAIN.seconds(("text", "AES", "adhoc_wep"))
    through = dcf.transfer(TEXT, mode="infrastructure", phy_name="g", security_bytes=20).seconds
    assert replace(PLAIN, phy="g").seconds(("text", "none", "bss_wpa_tkip")) == through
    assert replace(PLAIN, largest=False).file_bytes("audio") == 33_000
    # The sizes as printed give the printed times without encryption: 10.57 and 8.27 s.
    assert PLAIN.seconds(("text", "none", "adhoc_open")) == pytest.approx(10.70, abs=0.01)
    assert PLAIN.seconds(("video", "none", "adhoc_open")) == pytest.approx(7.60, abs=0.01)


def test_a_slow_sender_hides_a_faster_radio_and_encryption_comes_before() -> None:
    cell = ("text", "none", "adhoc_open")
    assert replace(PLAIN, sender_kb_s=500).seconds(cell) == TEXT / 500_000
    assert replace(PLAIN, sender_kb_s=5000).seconds(cell) == PLAIN.seconds(cell)
    slow = replace(PLAIN, aes_kb_s=1000)
    assert slow.seconds(cell) == PLAIN.seconds(cell)
    for cipher, share in (("AES", 1.0), ("3DES", 1.0), ("RC6", 0.58), ("Blowfish", 0.16)):
        cell = ("text", cipher, "adhoc_open")
        assert slow.seconds(cell) - PLAIN.seconds(cell) == pytest.approx(share * TEXT / 1e6)


def test_more_walls_are_slower_only_where_the_signal_is_poor() -> None:
    fewer = replace(PLAIN, walls_db=0.0)
    assert fewer.seconds(("text", "none", "adhoc_poor")) < PLAIN.seconds(("text", "none", "adhoc_poor"))
    assert fewer.seconds(("text", "none", "adhoc_wep")) == PLAIN.seconds(("text", "none", "adhoc_wep"))


def test_how_many_printed_cells_each_explains() -> None:
    assert [len(cells.cells) for cells in cell_sets().values()] == [90, 12, 105]
    assert _counts(PLAIN) == (21, 3, 16)
    assert _counts(HEX_OF_FOUR) == (53, 3, 22)
    assert _counts(NAMED) == (53, 9, 8)
    assert _counts(replace(HEX_OF_FOUR, sender_kb_s=500)) == (53, 7, 8)
    best = max(sum(_counts(assumed)[:2]) for assumed in hypotheses())
    assert sum(_counts(NAMED)[:2]) == best


@pytest.mark.parametrize("assumed", [PLAIN, replace(NAMED, sender_kb_s=500, aes_kb_s=2000)])
def test_a_paper_made_so_comes_out_whole_and_one_made_otherwise_does_not(
    assumed: Assumptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {cell: assumed.seconds(cell) for cell in cell_sets()["seconds"].cells}
    monkeypatch.setattr(plan, "durations", lambda: made)
    assert _counts(assumed) == (90, 12, 105)
    for factor, seconds in ((1.099, 105), (1.12, 104), (0.88, 104)):
        monkeypatch.setattr(
            plan,
            "durations",
            lambda f=factor: {**made, ("text", "AES", "bss_open"): f * made["text", "AES", "bss_open"]},
        )
        assert _counts(assumed) == (seconds - 15, 12, seconds)


def test_the_table_names_each_set_once_with_its_counts() -> None:
    records = table()
    assert len({record["assumed"] for record in records}) == len(records) == len(hypotheses())
    row = next(r for r in records if r["assumed"] == "hex of AES, DES, RC2, 3DES; 802.11g")
    assert (row["encrypted_explained"], row["plain_explained"], row["seconds_explained"]) == (53, 9, 8)
    shown = section()
    assert shown.rows[0] == ["no encoding; 802.11b", "21", "3", "16"]
    assert shown.columns[1] == "encrypted, to plaintext (of 90)"
    assert FOUR == ("AES", "DES", "RC2", "3DES")


# --- causes ----------------------------------------------------------------------------------------


def _stored(*ratios: float) -> Any:
    """Transfers by walls, to a good one of 1 s."""
    means = dict(zip(plan.WALLS, ratios, strict=False))

    def seconds(request: Any) -> Any:
        mean = means.get(request.walls_db) if request.signal == "poor" else 1.0
        return None if mean is None else SimpleNamespace(mean=mean)

    return SimpleNamespace(seconds=seconds)


def _cause(cell: Cell, *walls: float) -> str:
    return causes.duration_cause(_stored(*walls), cell)


def test_one_set_of_assumptions_is_the_cause_where_it_explains_a_cell() -> None:
    for cell in (
        ("audio", "AES", "adhoc_open"),
        ("text", "none", "bss_open"),
        ("text", "none", "bss_wpa_tkip"),
    ):
        assert _cause(cell).startswith(
            "hex of AES, DES, RC2, 3DES; 802.11g: one set of assumptions for all cells"
        )


def test_what_nothing_explains_has_no_cause() -> None:
    for cell in (("text", "AES", "adhoc_open"), ("text", "DES", "bss_open"), ("text", "RC2", "adhoc_poor")):
        assert _cause(cell, 1.0, 1.5, 2.5) == ""
    assert _cause(("text", "none", "adhoc_open"), 1.0, 1.5, 2.5) == ""


def test_a_poor_signal_has_its_spread_and_its_walls() -> None:
    told = _cause(("video", "AES", "adhoc_poor"))
    assert told == (
        "within the spread of single transfers with a poor signal (55 %) from: hex of AES, DES, RC2, "
        "3DES; 802.11g"
    )
    assert _cause(("text", "none", "adhoc_poor"), 1.3, 1.5, 2.3) == (
        "the walls, which are not described: 0 to 6.8 dB give 1.30 to 2.30"
    )
    assert _cause(("text", "none", "adhoc_poor"), 1.7, 1.8, 2.3) == ""
    assert _cause(("text", "none", "adhoc_poor"), 1.3, 1.5) == ""
