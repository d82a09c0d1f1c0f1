"""The figures that a device or a radio lacks, and what is counted in their place. Pure."""

from __future__ import annotations

from typing import Any

from motecrypt.adviser.model import DeviceFacts, RadioPart
from motecrypt.base.model import Device

RADIO_LACKS = ("sleep_ma", "wake_us")
"""What a radio's file may lack, and a node that sleeps needs."""

_DEVICE = {
    "idle_ma": "The current of {title} while it waits for the radio is not known: its active current is "
    "counted.",
    "wake_us": "How long {title} takes to wake up is not known and not counted: add wake_us to its "
    "device.toml.",
    "store_byte_us": "How long {title} takes to store the link's counters is not known and not counted: add "
    "store_byte_us to its device.toml.",
}
"""A sentence for each figure that a device's folder may lack."""


def device_lacks(device: Device, of: str) -> tuple[str, ...]:
    """Which of these figures the folder of a device lacks, for its "board" or its "chip"."""
    known: dict[str, Any] = {**device.extra, "idle_ma": device.current("idle", of)}
    return tuple(name for name in _DEVICE if known.get(name) is None)


def device_notes(device: DeviceFacts, *, radio: bool, counters: bool) -> list[str]:
    """A sentence for each figure that is missing and would count.

    Parameters
    ----------
    radio
        Whether the node waits for a radio.
    counters
        Whether it keeps the link's counters.
    """
    counts = {"idle_ma": radio, "wake_us": device.sleeps, "store_byte_us": counters}
    return [_DEVICE[name].replace("{title}", device.title) for name in device.unknown if counts[name]]


def radio_refusal(radio: RadioPart, sleeping: bool) -> str:
    """Why no life can be computed with this radio; empty where its current asleep is known or not needed."""
    if not sleeping or "sleep_ma" not in radio.unknown:
        return ""
    return (
        f"radio {radio.name}: its file has no 'sleep_ma', the current asleep, so the battery's life cannot "
        "be computed; add it, or leave the radio on (without --sleeps)"
    )


def radio_notes(radio: RadioPart, sleeping: bool) -> list[str]:
    """A sentence if the radio's time to wake up is missing and would count."""
    if not sleeping or "wake_us" not in radio.unknown:
        return []
    return [
        f"How long {radio.name} takes to wake up is not known and not counted: add wake_us to the radio's "
        "file."
    ]
