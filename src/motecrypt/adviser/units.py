"""Amounts with units as people write them, read strictly: an unknown unit is refused, never guessed."""

from __future__ import annotations

import re

from motecrypt.base.errors import InputError

SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
BYTES = {
    "": 1,
    "B": 1,
    "k": 1024,
    "K": 1024,
    "kB": 1024,
    "KB": 1024,
    "KiB": 1024,
    "M": 1048576,
    "MiB": 1048576,
}

LOSS_PERCENT_MAX = 30
"""The largest loss of packets that the adviser models."""

BYTES_MAX = 65535
"""The longest message or answer that can be asked for."""

_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?) *([A-Za-z]*)")
_WHOLE = re.compile("[0-9]{1,9}")
_SHARE = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def _amount(text: str, option: str, units: dict[str, float], example: str) -> float:
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{option} '{text}': not an amount; write {example}")
    value, unit = float(match[1]), match[2]
    if unit not in units:
        known = ", ".join(u for u in units if u)
        said = f"unknown unit '{unit}'" if unit else "no unit"
        raise InputError(f"{option} '{text}': {said}; use {known}, as in {example}")
    return value * units[unit]


def seconds(text: str, option: str, example: str = "10s") -> float:
    """Seconds in "50ms", "10s", "5min", "1h", "1d"; a bare number is refused.

    Raises
    ------
    InputError
        No amount, an unknown or missing unit, or nothing above zero.
    """
    value = _amount(text, option, SECONDS, example)
    if not value:
        raise InputError(f"{option} '{text}': must be above zero, as in {example}")
    return value


def whole_bytes(text: str, option: str, example: str = "4k") -> int:
    """Bytes in "4096", "4k" (k, kB and KiB are 1,024 bytes, as flash is sold), "1M".

    Raises
    ------
    InputError
        No amount, an unknown unit, or no whole number of bytes.
    """
    value = _amount(text, option, {unit: float(factor) for unit, factor in BYTES.items()}, example)
    if value != int(value):
        raise InputError(f"{option} '{text}': not a whole number of bytes; write {example}")
    return int(value)


def whole(text: str, option: str, least: int, most: int) -> int:
    """A whole number of that range; InputError for another text."""
    digits = text.strip()
    if not _WHOLE.fullmatch(digits) or not least <= int(digits) <= most:
        raise InputError(f"{option} '{digits}': a whole number from {least:d} to {most:d}")
    return int(digits)


def loss_share(text: str, option: str) -> float:
    """The share in "10" or "2.5" per cent; InputError for what is none, or above `LOSS_PERCENT_MAX`."""
    share = text.strip()
    if not _SHARE.fullmatch(share) or float(share) > LOSS_PERCENT_MAX:
        raise InputError(
            f"{option} '{text}': not a share of packets; write per cent, from 0 to {LOSS_PERCENT_MAX:d}"
        )
    return float(share) / 100
