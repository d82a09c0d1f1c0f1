"""What the adviser says of cryptographic hardware, which it does not rank."""

from __future__ import annotations

import json

import pytest
from advise_parts import ASKED, LINK, NONE, SRF, THREE_AA, UNO, made

from motecrypt.adviser import api as advise
from motecrypt.adviser.hardware_notes import hardware_document, hardware_note, note_form
from motecrypt.adviser.shown import percent
from motecrypt.catalog.accelerators import Accelerator, accelerator_of


def known(chip: str) -> Accelerator:
    found = accelerator_of(chip)
    assert found is not None, chip
    return found


def test_the_adviser_says_what_hardware_can_save_at_most() -> None:
    answer = advise.advise(ASKED, [made()], UNO, SRF, LINK, THREE_AA, NONE, [])
    first = answer.entries[0]
    energy = first.costs.energy
    share = 100 * energy.cpu_uj / energy.total_uj
    said = hardware_note(note_form("A board", known("nRF52840")), first)
    assert "A board has cryptographic hardware: ECB, CCM, CryptoCell 310. It is not ranked" in said
    assert "published, not measured, and there are published attacks" in said
    assert f"takes {percent(share)} of the energy here: hardware can save no more than that." in said
    assert "attacks" not in hardware_note(note_form("A board", known("SAML21")), first)
    for chip in ("RP2040", "RP2350"):
        assert hardware_note(note_form("A board", known(chip)), first) == ""
    assert hardware_note(note_form("A board", None), first) == ""
    document = hardware_document(known("nRF52840"), first)
    assert document is not None and json.loads(json.dumps(document)) is not None
    assert document["saves_at_most_percent"] == pytest.approx(share)
    assert document["provenance"] == "published, not measured"
    assert [block["name"] for block in document["blocks"]] == ["ECB", "CCM", "CryptoCell 310"]
    for chip, entry in (("RP2350", first), ("nRF52840", None)):
        document = hardware_document(known(chip), entry)
        assert document is not None and document["saves_at_most_percent"] is None
    assert hardware_document(None, first) is None
