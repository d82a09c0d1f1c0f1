"""What an export's README says of the memory of the device it is for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from motecrypt.catalog import Catalog
from motecrypt.exports.library import choose, plan
from motecrypt.exports.link import plan_link
from motecrypt.exports.targets import for_device, target
from motecrypt.results import Results

CATALOG = Catalog.load()
CACHE = "may take a time that depends on the data"
UNALIGNED = "`CCR.UNALIGN_TRP`"
FIXSLICED = "for ECB, CBC, CTS, CTR and CCM `--variant armv7m-fixsliced`"
RAM = "with `--placement ram` they do not"


@pytest.fixture
def results(tmp_path: Path) -> Iterator[Results]:
    with Results(tmp_path / "results.db") as store:
        yield store


def said(
    results: Results, form: str, device: str, cipher: str, variant: str, placement: str = "flash"
) -> str:
    meant = target(form, CATALOG)
    if device:
        meant = for_device(meant, CATALOG.devices[device])
    wanted = CATALOG.cipher(cipher)
    body = choose(CATALOG, wanted, meant, variant)
    text = plan(CATALOG, meant, wanted, body, results, placement=placement).files["README.md"].decode()
    assert "\n\n\n" not in text
    return text


@pytest.mark.parametrize("device", ["nrf52840", "stm32f4-168"])
@pytest.mark.parametrize(("cipher", "variant"), [("aes128-ctr", "armv7m"), ("aes128-ccm8", "tables")])
def test_tables_behind_a_cache_are_told_with_what_has_none(
    results: Results, device: str, cipher: str, variant: str
) -> None:
    lines = said(results, "c", device, cipher, variant).splitlines()
    (line,) = [line for line in lines if CACHE in line]
    assert FIXSLICED in line and CATALOG.devices[device].title in line and RAM not in line


def test_tables_of_a_pico_can_be_in_ram(results: Results) -> None:
    for form in ("pico-sdk", "zephyr"):
        (line,) = [x for x in said(results, form, "", "aes128-ccm8", "armv6m").splitlines() if CACHE in x]
        assert RAM in line and FIXSLICED not in line
    assert CACHE not in said(results, "pico-sdk", "", "aes128-ccm8", "armv6m", "ram")


@pytest.mark.parametrize(
    ("form", "device", "cipher", "variant"),
    [
        ("c", "stm32f4", "aes128-ctr", "armv7m"),  # no wait states, no cache
        ("c", "nrf52840", "aes128-ctr", "armv7m-fixsliced"),
        ("c", "nrf52840", "ascon-aead128", "armv7m"),
        ("arduino", "", "aes128-ccm8", "avr"),
        ("pico-sdk", "", "ascon-aead128", "armv6m"),
        ("c", "", "ascon-aead128", "words"),
    ],
)
def test_nothing_is_said_where_time_is_the_same(
    results: Results, form: str, device: str, cipher: str, variant: str
) -> None:
    text = said(results, form, device, cipher, variant)
    assert CACHE not in text
    assert (UNALIGNED in text) == variant.startswith("armv7m")


@pytest.mark.parametrize("form", ["c", "esp-idf"])
def test_where_the_processor_is_not_known_tables_are_told(results: Results, form: str) -> None:
    for variant in ("tables", "small"):
        (line,) = [x for x in said(results, form, "", "aes128-ccm8", variant).splitlines() if CACHE in x]
        assert "data cache" in line and "`ascon-aead128`" in line and "Pico" not in line


def test_c_is_compiled_as_the_program_wants(results: Results) -> None:
    assert UNALIGNED not in said(results, "c", "stm32f4", "chacha20-poly1305", "words13")


def test_the_link_tells_the_same() -> None:
    cipher = CATALOG.cipher("aes128-ccm8")
    meant = target("pico-sdk", CATALOG)
    for placement, told in (("flash", True), ("ram", False)):
        made = plan_link(
            CATALOG, meant, cipher, choose(CATALOG, cipher, meant, None, placement), placement=placement
        )
        assert (CACHE in made.files["README.md"].decode()) == told
    meant = target("esp-idf", CATALOG)
    made = plan_link(CATALOG, meant, cipher, choose(CATALOG, cipher, meant, None))
    assert CACHE in made.files["README.md"].decode()
