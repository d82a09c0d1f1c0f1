"""What the adviser says of a chip's cryptographic hardware. It ranks measured code only, so this is a note
with the most that such hardware can save."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from motecrypt.adviser.model import Entry
from motecrypt.adviser.shown import percent
from motecrypt.catalog.accelerators import PUBLISHED, Accelerator

SAVED = "{saved}"
"""In a form: where the share of the energy that encryption in software takes is written."""


def note_form(device_title: str, hardware: Accelerator | None) -> str:
    """One sentence or two on hardware with a cipher, with `SAVED` for a figure; empty where the chip has
    none, or none is known."""
    if hardware is None or not hardware.encrypts:
        return ""
    attacked = any(fact.kind == "attack" for block in hardware.blocks for fact in block.published)
    return (
        f"{device_title} has cryptographic hardware: {hardware.text}. It is not ranked, because its figures "
        f"are {PUBLISHED}{', and there are published attacks' if attacked else ''} ('motecrypt list "
        f"accelerators'). Encryption in software takes {SAVED} of the energy here: "
        "hardware can save no more than that."
    )


def hardware_note(form: str, first: Entry) -> str:
    """A `note_form` for an answer's first entry."""
    return form.replace(SAVED, percent(first.costs.energy.cpu_percent))


def hardware_document(hardware: Accelerator | None, first: Entry | None) -> dict[str, Any] | None:
    """The same as data, with every published fact; None where no file covers the chip."""
    if hardware is None:
        return None
    return {
        "provenance": PUBLISHED,
        **asdict(hardware),
        "saves_at_most_percent": first.costs.energy.cpu_percent if first and hardware.encrypts else None,
    }
