"""The notes about records that a node encrypts and stores, a sentence each. Pure arithmetic over records."""

from __future__ import annotations

from motecrypt.adviser.costs import Setting
from motecrypt.adviser.model import DeviceFacts, Entry, MessageCosts
from motecrypt.adviser.shown import days, number, percent
from motecrypt.adviser.storage import StoragePart

DAY_S = 86400.0
KEY = {
    "eeprom": "Set the chip's lock bits, or anyone with a programmer reads the key and the records.",
    "flash": "The flash chip has no read protection: anyone who reads it has the records and a key in it.",
    "card": "Keep the key in the device, not on the card: the card alone then reveals nothing.",
}


def key_notes(storage: StoragePart) -> list[str]:
    """Where the key must not be."""
    return [KEY[storage.kind]]


def rest_notes(device: DeviceFacts) -> list[str]:
    """What is counted between two records, if the device does not sleep."""
    if device.sleeps:
        return []
    return ["No sleep is counted between records. If your program sleeps, use --sleeps."]


def current_notes(storage: StoragePart) -> list[str]:
    """That the storage's own current is missing, if it is."""
    if storage.write_ma is None:
        return [f"The current of {storage.title} is not known and not counted: give it with --storage-ma."]
    if storage.idle_ma is None:
        return [
            f"The current of {storage.title} between two records is not known and not counted: give it with "
            f"--storage-ma {storage.write_ma:g},MA."
        ]
    return []


def space_notes(setting: Setting, storage: StoragePart, first: Entry) -> list[str]:
    """How much a day's records take, and when the storage is full."""
    stored_bytes = first.costs.air_bytes
    each_day = stored_bytes * DAY_S / setting.question.interval_s
    said = f"The records of a day take {number(each_day)} bytes"
    if storage.capacity_bytes is None:
        return [f"{said}."]
    lasts = storage.capacity_bytes / each_day
    when = days(lasts) if lasts >= 1 else f"{lasts * 24:.1f} hours"
    most = "at most " if storage.kind == "flash" else ""
    count = number(storage.capacity_bytes // stored_bytes)
    return [
        f"{said}. {number(storage.capacity_bytes)} bytes, all of {storage.title}, hold {most}{count} "
        f"records: {when}."
    ]


def share_notes(setting: Setting, first: Entry, plaintext: MessageCosts) -> list[str]:
    """What encrypting and writing take of the energy, and of the time."""
    costs = first.costs
    total = costs.energy.total_uj
    encrypting, writing = (percent(uj / total * 100) for uj in (costs.energy.cpu_uj, costs.energy.send_uj))
    more = (costs.air_time_us - plaintext.air_time_us) / 1000
    return [
        f"Writing takes {costs.air_time_us / 1000:.2f} ms and {writing} of the energy, of which "
        f"{more:.2f} ms are for its {costs.overhead_bytes:d} additional bytes; encrypting takes {encrypting} "
        "of the energy."
    ]


def nonce_notes(first: Entry) -> list[str]:
    """That nonces must differ, if the cipher has one."""
    if not first.candidate.nonce_bytes:
        return []
    return [
        "Each record needs a nonce of its own, such as its number. A number that repeats under the same key "
        "reveals data."
    ]


def time_notes(storage: StoragePart) -> list[str]:
    """What the time to write includes."""
    if storage.kind == "eeprom":
        return []
    return [
        f"The time to write is that of a log that appends to {storage.title}, with typical times. A file "
        "system writes more (docs/files.md)."
    ]
