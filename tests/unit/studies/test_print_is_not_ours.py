"""What a study shows as ours does not follow from what its source prints: other papers, the same figures."""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from goldens.views.made_up import filled
from motecrypt.studies.facts import Comparison
from motecrypt.studies.hardware import study as hardware
from motecrypt.studies.pico import figures as pico_figures
from motecrypt.studies.pico import files as pico_files
from motecrypt.studies.pico import study as pico
from motecrypt.studies.rc4d import figures as rc4d_figures
from motecrypt.studies.rc4d import study as rc4d
from motecrypt.studies.rf import printed as rf_printed
from motecrypt.studies.rf import study as rf
from motecrypt.studies.wlan import plan
from motecrypt.studies.wlan import study as wlan

STUDIES = (hardware, pico, rc4d, rf, wlan)
#: What counts matches is ours, and changes with the paper.
COUNTS_MATCHES = {"pico-claim-same-key"}


def _ciphertexts() -> dict[tuple[int, int], str]:
    """The printed ciphertexts with other bits in their first and third block."""
    found = dict(pico_figures.printed_ciphertexts())
    for place, text in found.items():
        if place[0] == 2:
            raw = bytearray(base64.b64decode(bytes.fromhex(text)))
            raw[0] ^= 1
            raw[40] ^= 1
            found[place] = base64.b64encode(bytes(raw)).hex().upper()
        else:
            found[place] = text[1:] + text[0]
    return found


def _others() -> dict[Callable[..., Any], Any]:
    """Each function that reads what a source printed, and what it gives for another paper."""
    times = {
        place: replace(
            row,
            encrypt_us=1.1 * row.encrypt_us,
            decrypt_us=1.2 * row.decrypt_us,
            ram_bytes=row.ram_bytes + 96,
            flash_bytes=row.flash_bytes + 96,
        )
        for place, row in pico_figures.printed().items()
    }
    payloads = tuple(
        replace(
            row,
            time_ms=1.1 * row.time_ms,
            throughput_kb_s=1.2 * row.throughput_kb_s,
            difference_ms=row.difference_ms and 1.3 * row.difference_ms,
            expansion=row.expansion and 1.1 * row.expansion,
        )
        for row in rf_printed.rows()
    )
    table = tuple(
        replace(row, time_ms=1.1 * row.time_ms, flash_bytes=row.flash_bytes + 96, ram_bytes=row.ram_bytes + 8)
        for row in rc4d_figures.printed()
    )
    return {
        pico_figures.printed_ciphertexts: _ciphertexts(),
        pico_figures.printed: times,
        pico_files.printed: {place: 1.1 * value for place, value in pico_files.printed().items()},
        rf_printed.rows: payloads,
        rc4d_figures.printed: table,
        plan.durations: {
            place: value * (1.1 + 0.01 * number)
            for number, (place, value) in enumerate(plan.durations().items())
        },
    }


def _rows() -> Iterator[tuple[str, Comparison]]:
    results = filled("near")
    for study in STUDIES:
        for row in study.comparisons(results):
            yield row.id, row


def test_another_print_does_not_change_what_is_shown_as_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    before, others = dict(_rows()), _others()
    for name, module in list(sys.modules.items()):
        if name.startswith("motecrypt.studies"):
            for attribute, value in list(vars(module).items()):
                if callable(value) and value in others:
                    monkeypatch.setattr(module, attribute, lambda given=others[value]: given)
    after = dict(_rows())
    printed = [name for name, row in before.items() if after[name].published != row.published]
    assert len(printed) > 200, "the papers differ"
    changed = {name for name, row in before.items() if after[name].measured != row.measured}
    ours = {name for name in changed if not before[name].recomputed}
    assert ours <= COUNTS_MATCHES, "these follow from the paper: mark them 'the paper itself', or show ours"
    assert ours >= COUNTS_MATCHES, "no longer needed here"


def test_a_current_that_follows_from_the_print_gives_no_energy_of_ours() -> None:
    row = next(row for row in wlan.comparisons(filled("near")) if row.id == "wlan-claim-energy-20000")
    assert row.recomputed and "not a figure of ours" in row.note
