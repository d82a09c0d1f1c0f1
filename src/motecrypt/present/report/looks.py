"""Colours, shapes and patterns of every chart: fixed, in the page and in exported figures. Pure.

The colours are those of Okabe and Ito (jfly.uni-koeln.de, 2008), which differ for people with any colour
vision. Colour means the kind of core, shape means the device; no two devices share both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from zlib import crc32

ORANGE, SKY, GREEN, BLUE, VERMILLION, PURPLE = (
    *("#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7"),
)
#: In place of Okabe and Ito's black, which cannot be seen on a dark page.
GREY = "#8C8C8C"
PALETTE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, GREY)
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "stroke")
#: Lines of one device differ in these: lengths of strokes and gaps, in pixels.
DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (12, 4), (2, 5))

#: What fills a bar of a colour on paper, so that it differs from others in a grey print. The last two are
#: those of our bars and the paper's in the Wi-Fi study.
PATTERNS: Mapping[str, str] = {
    BLUE: "solid",
    VERMILLION: "rising",
    GREEN: "level",
    PURPLE: "dots",
    ORANGE: "falling",
    SKY: "grid",
    GREY: "upright",
    "#1F5A8A": "solid",
    "#D9B36A": "rising",
}


def pattern_of(colour: str) -> str:
    """The name of the pattern of a colour, in any case; of a colour that has none, a cross."""
    return PATTERNS.get(colour.upper(), "cross")


@dataclass(frozen=True)
class Look:
    """How a device is drawn: a CSS colour and the name of a shape as Vega knows it."""

    colour: str
    shape: str


_BY_COLOUR: Mapping[str, tuple[str, ...]] = {
    BLUE: ("uno", "mega2560", "nano", "leonardo", "atmega1284p", "atmega644p", "atmega128rfa1"),
    SKY: ("atmega8", "attiny84", "attiny85"),
    VERMILLION: ("stm32f0", "pico", "mkrzero", "microbit"),
    GREEN: ("pico2", "bluepill", "stm32f4", "due", "stm32l1", "nrf52840", "stm32f4-168"),
    PURPLE: ("ch32v003", "esp32c3", "ch32v003-24mhz", "hifive1"),
    GREY: ("", "", "", "", "host"),
}
_DEVICES: Mapping[str, Look] = {
    device: Look(colour, shape)
    for colour, devices in _BY_COLOUR.items()
    for device, shape in zip(devices, SHAPES, strict=False)
    if device
}


def look_of(device: str) -> Look:
    """How a device is drawn. One that is not in the catalog always gets the same look, too, by its name."""
    known = _DEVICES.get(device)
    if known is not None:
        return known
    place = crc32(device.encode())
    return Look(ORANGE, SHAPES[place % len(SHAPES)])


def scales(devices: Iterable[str]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The scales of colour and of shape for these devices, for an encoding of Vega-Lite."""
    domain = list(dict.fromkeys(devices))
    looks = [look_of(device) for device in domain]
    return (
        {"domain": domain, "range": [look.colour for look in looks]},
        {"domain": domain, "range": [look.shape for look in looks]},
    )


def as_data(devices: Iterable[str]) -> dict[str, dict[str, str]]:
    """By device its colour and shape, for the page's scripts."""
    looks = {device: look_of(device) for device in devices}
    return {device: {"colour": look.colour, "shape": look.shape} for device, look in looks.items()}
