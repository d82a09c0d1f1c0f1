"""Colours and shapes of devices: all different, all from one palette, the same in each chart."""

from __future__ import annotations

import math

from motecrypt.catalog import Catalog
from motecrypt.present.report import charts
from motecrypt.present.report.looks import GREY, PALETTE, SHAPES, as_data, look_of, scales


def test_no_two_devices_of_the_catalog_look_the_same() -> None:
    looks = as_data(Catalog.load().devices)
    assert len({(look["colour"], look["shape"]) for look in looks.values()}) == len(looks)
    assert {look["colour"] for look in looks.values()} <= set(PALETTE)
    assert {look["shape"] for look in looks.values()} <= set(SHAPES)


def test_devices_most_often_compared_differ_in_colour_and_in_shape() -> None:
    looks = [look_of(name) for name in ("uno", "pico", "stm32f4", "hifive1", "host")]
    assert len({look.colour for look in looks}) == len({look.shape for look in looks}) == 5
    assert look_of("host").colour == GREY


def test_a_device_of_ones_own_always_gets_the_same_look() -> None:
    assert look_of("myboard") == look_of("myboard")
    assert look_of("myboard") != look_of("yourboard")
    assert look_of("myboard").colour in PALETTE


def test_a_device_looks_the_same_alone_and_among_others() -> None:
    alone, among = scales(["pico"]), scales(["uno", "pico", "uno"])
    for one, more in zip(alone, among, strict=True):
        assert more["domain"] == ["uno", "pico"]
        assert one["range"][0] == more["range"][1]


def test_charts_by_cipher_and_by_length_draw_devices_in_their_looks() -> None:
    values = [
        {"cipher": "aes128-ccm8", "device": name, "implementation": "motecrypt/x", "value": 2.0}
        for name in ("pico", "uno")
    ]
    encoding = charts.by_cipher(values, "encrypt, µs/byte")["encoding"]
    assert encoding["color"]["scale"]["range"] == [look_of("pico").colour, look_of("uno").colour]
    assert encoding["shape"]["scale"]["range"] == [look_of("pico").shape, look_of("uno").shape]


def test_lines_of_one_device_share_its_colour_and_differ_in_dash() -> None:
    values = [
        {"series": series, "device": series.split()[0], "message_bytes": length, "value": float(length)}
        for series in ("uno a", "uno b", "pico a")
        for length in (16, 32, 64)
    ]
    line, point = (layer["encoding"] for layer in charts.by_length(values, "µs")["layer"])
    assert line["color"]["scale"]["range"] == [look_of(name).colour for name in ("uno", "uno", "pico")]
    dashes = [tuple(dash) for dash in line["strokeDash"]["scale"]["range"]]
    assert dashes[0] == dashes[2] != dashes[1]
    assert point["shape"]["scale"]["range"] == [look_of(name).shape for name in ("uno", "uno", "pico")]


def test_every_colour_can_be_seen_on_white_and_on_black() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else math.pow((p + 0.055) / 1.055, 2.4) for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colour in PALETTE:
        assert 1.05 / (luminance(colour) + 0.05) > 2, colour
        assert (luminance(colour) + 0.05) / 0.05 > 3, colour
