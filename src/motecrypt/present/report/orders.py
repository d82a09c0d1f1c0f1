"""What the served report asks to have measured: a document of the page, checked. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from motecrypt.adviser.api import DELIVERIES, NEEDS, USUAL, whole_needs
from motecrypt.base.errors import InputError

#: A name of the catalog. A path, which would be somebody's own code, has a slash or is dots.
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
DEVICES_MAX = 8
CIPHERS_MAX = 64
LENGTHS_MAX = 16
BYTES_MAX = 65_535
_MEASURE = {"kind", "devices", "ciphers", "bytes"}
_ADVISE = {"kind", "devices", "bytes", "answer", "delivery", "needs"}


@dataclass(frozen=True)
class PageOrder:
    """What a page asks for.

    Attributes
    ----------
    kind
        "measure": these ciphers on these devices at these lengths; "advise": what the adviser needs for a
        question about one device and one length.
    devices, ciphers
        Names of the catalog; an order of the adviser names no ciphers.
    message_bytes
        Lengths of messages.
    answer_bytes, delivery, needs
        Of the adviser's question (`advise.Question`).
    """

    kind: str
    devices: tuple[str, ...]
    ciphers: tuple[str, ...]
    message_bytes: tuple[int, ...]
    answer_bytes: int = USUAL["answer"]
    delivery: str = USUAL["delivery"]
    needs: tuple[str, ...] = USUAL["need"]


def parse_order(document: object) -> PageOrder:
    """The order that a page sent as JSON; InputError says in the words of the form what is wrong."""
    if not isinstance(document, Mapping):
        raise InputError("the order is not an object")
    kind = document.get("kind")
    if kind not in ("measure", "advise"):
        raise InputError("kind: 'measure' or 'advise'")
    unknown = sorted(str(key) for key in set(document) - (_MEASURE if kind == "measure" else _ADVISE))
    if unknown:
        raise InputError(f"the order has an unknown field {unknown[0][:40]!r}")
    devices = _names(document, "devices", 1 if kind == "advise" else DEVICES_MAX)
    lengths = _items(document, "bytes", 1 if kind == "advise" else LENGTHS_MAX)
    message_bytes = tuple(dict.fromkeys(_length(one, "bytes") for one in lengths))
    if kind == "measure":
        return PageOrder("measure", devices, _names(document, "ciphers", CIPHERS_MAX), message_bytes)
    delivery = document.get("delivery", USUAL["delivery"])
    if delivery not in DELIVERIES:
        raise InputError(f"delivery: one of {', '.join(DELIVERIES)}")
    needs = document.get("needs", list(USUAL["need"]))
    if not isinstance(needs, list) or not all(need in NEEDS for need in needs):
        raise InputError(f"needs: of {', '.join(NEEDS)}")
    answer_bytes = _length(document.get("answer", USUAL["answer"]), "answer", least=0)
    return PageOrder("advise", devices, (), message_bytes, answer_bytes, delivery, whole_needs(needs))


def _items(document: Mapping[str, object], field: str, most: int) -> Sequence[object]:
    found = document.get(field)
    if not isinstance(found, list) or not found:
        raise InputError(f"{field}: choose at least one")
    if len(found) > most:
        raise InputError(f"{field}: at most {most}, not {len(found)}")
    return found


def _names(document: Mapping[str, object], field: str, most: int) -> tuple[str, ...]:
    for name in (found := _items(document, field, most)):
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InputError(f"{field}: a name of the catalog, not {str(name)[:40]!r}")
    return tuple(dict.fromkeys(str(name) for name in found))


def _length(value: object, field: str, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= BYTES_MAX:
        raise InputError(f"{field}: a whole number from {least} to {BYTES_MAX:,}, not {str(value)[:40]!r}")
    return value
