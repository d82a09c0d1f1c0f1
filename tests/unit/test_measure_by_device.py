"""`measure --by-device`: one table, a row for each device, the fastest implementation of each cipher."""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner
from test_measure_ranks import made

from motecrypt.adviser.hardware.bounds import bound_text
from motecrypt.app import measure as measuring
from motecrypt.base.errors import InputError
from motecrypt.base.model import Measurement
from motecrypt.catalog import Catalog
from motecrypt.cli import application
from motecrypt.cli._output import show
from motecrypt.present.terminal.by_device import by_device_documents, by_device_view


def table(capsys: pytest.CaptureFixture[str], *measurements: Measurement) -> list[list[str]]:
    show(*by_device_view(measurements, Catalog.load()))
    lines = capsys.readouterr().out.splitlines()
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines]


def test_the_fastest_encryption_of_each_device_and_cipher(capsys: pytest.CaptureFixture[str]) -> None:
    ccm, pico = made(2000), made(900, device="pico", cache="cold")
    rows = table(
        capsys,
        ccm,
        replace(ccm, variant="faster", cycles_median=1234),
        replace(ccm, operation="decrypt", cycles_median=7),
        replace(ccm, cipher="ascon-aead128", cycles_median=None, status="does-not-fit"),
        pico,
        replace(pico, cache="warm", cycles_median=500),
        replace(pico, cache="none", placement="ram", cycles_median=400),
    )
    bound = bound_text("uno").removeprefix("± ")
    assert ["device", "core", "MHz", "±", "aes128-ccm8", "ascon-aead128"] in rows
    assert ["uno", "avr5", "16", bound, "1,234", "does not fit"] in rows
    assert ["pico, cold", "cortex-m0plus", "125", "900"] in rows
    assert ["pico, no cache", "cortex-m0plus", "125", "400"] in rows
    assert ["pico, warm", "cortex-m0plus", "125", "500"] in rows


def test_headings_name_lengths_where_there_are_several(capsys: pytest.CaptureFixture[str]) -> None:
    rows = table(capsys, made(1), made(2, message_bytes=64), made(3, message_bytes=64, key_bits=256))
    text = " ".join(" ".join(row) for row in rows)
    assert "128 bits 16 bytes" in text
    assert "256 bits 64 bytes" in text


def test_what_fails_is_told_below(capsys: pytest.CaptureFixture[str]) -> None:
    rows = table(capsys, made(1), made(None, device="nano", status="fault", reason="it jumped to 0"))
    assert any("it jumped to 0" in row for row in rows)


def test_a_stack_that_overflows_is_no_misfit(capsys: pytest.CaptureFixture[str]) -> None:
    misfit = made(None, device="attiny85", status="does-not-fit", reason="does not fit: needs 549")
    deep = replace(misfit, variant="deep", status="fault", reason="65 bytes too deep")
    deep = replace(deep, extra={"failure": "stack"})
    other = replace(misfit, cipher="ascon-aead128")
    wrong = replace(other, cipher="rc4", status="wrong-output")
    rows = table(capsys, deep, misfit, other, wrong)
    row = next(row for row in rows if row[0] == "attiny85")
    assert row[-3:] == ["stack overflow", "does not fit", "wrong output"]
    assert any("65 bytes too deep" in row for row in rows)


def test_json_has_the_fastest_with_their_bounds() -> None:
    told = by_device_documents([made(9), made(5), made(3, operation="decrypt")])
    assert [(each["cycles_median"], each["range_seen"]) for each in told] == [(5, bound_text("uno"))]
    assert told[0]["hardware_rows"] == 45 and told[0]["error_bound"] == ""


def test_all_and_recommended_mean_names() -> None:
    devices, ciphers = measuring._spelled_out(["all"], ["rc4", "recommended"])
    assert {"uno", "nrf52840", "ch32v003", "pico2"} <= set(devices)
    assert "host" not in devices
    assert {"rc4", "ascon-aead128", "aes128-ccm8", "chacha20-poly1305"} <= set(ciphers)
    assert "aes128-ecb" not in ciphers
    assert measuring._spelled_out(["uno"], ["rc4"]) == (["uno"], ["rc4"])


@pytest.mark.parametrize(
    "more", [["--board", "/dev/ttyACM0"], ["--flags", "-O2", "--flags", "-O3"]], ids=["board", "flags"]
)
def test_options_that_compare_something_else_are_refused(more: list[str]) -> None:
    done = CliRunner().invoke(application, ["measure", "--cipher", "rc4", "--by-device", *more])
    assert isinstance(done.exception, InputError)
    assert "--by-device compares devices" in str(done.exception)
