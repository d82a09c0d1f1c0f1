"""Constant time by default: what an export takes where a cache may be, and what its README says of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from goldens import frozen
from motecrypt.base.model import Cipher
from motecrypt.catalog import Catalog
from motecrypt.catalog.chips import chip_of
from motecrypt.exports.cautions import cautions
from motecrypt.exports.library import choose, plan
from motecrypt.exports.link import plan_link
from motecrypt.exports.targets import Target, for_device, target, target_names
from motecrypt.exports.timing import constant, place, reads_a_cache
from motecrypt.results import Results

CATALOG = Catalog.load()
TARGETS = {name: target(name, CATALOG) for name in target_names()}
NAMED = {
    f"c-{name}": for_device(TARGETS["c"], device)
    for name, device in CATALOG.devices.items()
    if device.simulated and device.name in frozen.names()["devices"]
}
CIPHERS = [CATALOG.cipher(name) for name in sorted(frozen.names()["ciphers"])]
AUTHENTICATED = {cipher.name for cipher in CIPHERS if cipher.kind == "aead"}
ONLY_TABLES = {"3des", "blowfish", "des", "rc2", "rc4", "rc4d"}
"""Families without any other variant."""


def _taken(form: Target, cipher: Cipher) -> tuple[str, str, bool]:
    body = choose(CATALOG, cipher, form, None)
    where = place(CATALOG, form, body, None, "")
    return body.variant, where, constant(CATALOG, form, body, where)


@pytest.mark.parametrize("form", [*TARGETS.values(), *NAMED.values()], ids=[*TARGETS, *NAMED])
def test_every_default_is_constant_if_a_variant_is(form: Target) -> None:
    seen = 0
    for cipher in CIPHERS:
        if not any(
            body.runs_on(form.core) for body in CATALOG.implementations_of(cipher.name, None, ["motecrypt"])
        ):
            continue
        variant, where, even = _taken(form, cipher)
        body = next(
            b for b in CATALOG.implementations_of(cipher.name, None, ["motecrypt"]) if b.variant == variant
        )
        lone = cipher.name.partition("-")[0] in ONLY_TABLES
        chip = chip_of(CATALOG.device(form.device))
        lone |= body.multiplies and chip is not None and not chip.multiplier
        assert even or lone, (cipher.name, variant, where)
        told = cautions(CATALOG, form, cipher, body, where, cipher.name)
        lines = [line for line in told if line.startswith("**Timing: ")]
        assert lines == [told[0]] and "\n" not in lines[0]
        assert ("**Timing: constant" in lines[0]) == even, (cipher.name, lines)
        seen += 1
    assert seen > 15


@pytest.mark.parametrize("name", ["c", "zephyr", "esp-idf", "c-esp32c3", "c-stm32f4-168", "c-pico2"])
def test_where_a_cache_may_be_no_authenticated_cipher_has_tables_by_default(name: str) -> None:
    form = TARGETS.get(name) or for_device(TARGETS["c"], CATALOG.device(name.removeprefix("c-")))
    assert len(AUTHENTICATED) >= 5
    for cipher in AUTHENTICATED:
        body = choose(CATALOG, CATALOG.cipher(cipher), form, None)
        assert body.timing == "constant", (cipher, body.variant)


@pytest.mark.parametrize(
    ("name", "cipher", "taken"),
    [
        ("arduino", "aes128-ccm8", ("avr", "flash")),
        ("c", "aes128-ccm8", ("sliced", "flash")),
        ("c", "aes128-siv", ("sliced", "flash")),
        ("c", "aes128-hctr2", ("sliced-words", "flash")),
        ("esp-idf", "aes128-ccm8", ("sliced", "flash")),
        ("pico-sdk", "aes128-ccm8", ("armv6m", "ram")),
        ("zephyr", "aes128-ccm8", ("sliced", "flash")),
        ("zephyr", "ascon-aead128", ("armv6m", "flash")),
    ],
)
def test_what_is_taken(name: str, cipher: str, taken: tuple[str, str]) -> None:
    assert _taken(TARGETS[name], CATALOG.cipher(cipher))[:2] == taken


def test_a_place_or_a_variant_that_is_named_counts() -> None:
    pico, cipher = TARGETS["pico-sdk"], CATALOG.cipher("aes128-ccm8")
    assert choose(CATALOG, cipher, pico, None, "flash").variant == "sliced", "this flash has a cache"
    assert choose(CATALOG, cipher, pico, None, "ram").variant == "armv6m"
    body = choose(CATALOG, cipher, pico, "armv6m")
    assert place(CATALOG, pico, body, "armv6m", "") == "flash" and not constant(CATALOG, pico, body, "flash")
    assert place(CATALOG, pico, body, None, "ram") == "ram"
    assert choose(CATALOG, cipher, TARGETS["c"], "tables").variant == "tables"


def test_caches_are_those_of_the_chips() -> None:
    cached = {name: reads_a_cache(device, "flash") for name, device in CATALOG.devices.items()}
    assert {name for name, is_cached in cached.items() if is_cached} >= {
        *("host", "pico", "pico2", "esp32c3", "stm32f4", "stm32f4-168", "nrf52840", "mkrzero", "due"),
    }
    assert not any(cached[name] for name in ("uno", "attiny85", "stm32f0", "bluepill", "ch32v003"))
    assert not reads_a_cache(CATALOG.device("pico"), "ram")
    for name, device in CATALOG.devices.items():
        simulated = device.simulator.get("memory", {})
        lines = "flash_cache" in device.simulator or simulated.get("data_lines") or simulated.get("shared")
        chip = chip_of(device)
        assert not lines or (chip and chip.memory["flash"].cached), f"{name}: the simulator has a cache"


@pytest.mark.parametrize(
    ("name", "cipher", "variant", "placement", "said"),
    [
        ("c", "aes128-ccm8", "sliced", "flash", ("Timing: constant.", "memcheck")),
        (
            "c",
            "aes128-ccm8",
            "tables",
            "flash",
            ("not constant behind a cache", "data cache", "--variant sliced`."),
        ),
        (
            "c",
            "des-cbc",
            "small",
            "flash",
            ("not constant behind a cache", "No variant of des-cbc is without"),
        ),
        (
            "pico-sdk",
            "aes128-ccm8",
            "armv6m",
            "flash",
            ("Timing: not constant.", "`--placement ram` or `--variant sliced`"),
        ),
        (
            "pico-sdk",
            "aes128-ccm8",
            "armv6m",
            "ram",
            ("constant on this device", "The RAM of Raspberry Pi Pico"),
        ),
        ("arduino", "aes128-ccm8", "avr", "flash", ("constant on this device", "The flash of Arduino UNO")),
        ("arduino", "ascon-aead128", "avr", "flash", ("Timing: constant.", "simulator")),
        (
            "arduino",
            "rc6-ctr",
            "plain",
            "flash",
            ("Timing: not constant.", "bit by bit", "--variant fixed-rotate`"),
        ),
        ("pico-sdk", "rc6-ctr", "plain", "flash", ("Timing: constant.", "memcheck")),
        ("pico-sdk", "rc4", "plain", "flash", ("constant on this device", "The RAM of Raspberry Pi Pico")),
        ("c-hifive1", "des-cbc", "small", "flash", ("constant on this device", "The RAM of SiFive HiFive1")),
    ],
)
def test_the_readme_says_which(
    name: str, cipher: str, variant: str, placement: str, said: tuple[str, ...], tmp_path: Path
) -> None:
    ours = {"c-hifive1": for_device(TARGETS["c"], CATALOG.device("hifive1"))}
    form, wanted = (TARGETS | ours)[name], CATALOG.cipher(cipher)
    body = choose(CATALOG, wanted, form, variant)
    with Results(tmp_path / "results.db") as results:
        readme = plan(CATALOG, form, wanted, body, results, placement=placement).files["README.md"].decode()
    (line,) = [line for line in readme.splitlines() if "Timing: " in line]
    for words in said:
        assert words in line, line


def test_the_link_says_it_too() -> None:
    wanted = CATALOG.cipher("aes128-ccm8")
    for name, words in (("c", "Timing: constant."), ("pico-sdk", "Timing: not constant.")):
        form = TARGETS[name]
        made = plan_link(CATALOG, form, wanted, choose(CATALOG, wanted, form, None))
        assert [
            words in line for line in made.files["README.md"].decode().splitlines() if "Timing: " in line
        ] == [True]


def test_what_nobody_has_looked_at_is_not_called_constant(tmp_path: Path) -> None:
    form, wanted = TARGETS["c"], CATALOG.cipher("aes128-ccm8")
    body = replace(choose(CATALOG, wanted, form, None), timing="")
    (line, *_) = cautions(CATALOG, form, wanted, body, "flash", "./own/aes128-ccm8")
    assert line.startswith("**Timing: not examined.**") and "audit ./own/aes128-ccm8 --part taint" in line
    assert not constant(CATALOG, form, body, "flash")


def test_the_page_has_the_cycles_on_record() -> None:
    """Each row of its table, for GCC 12.2: set-up, encryption and decryption of 61 bytes."""
    root = Path(__file__).resolve().parents[3]
    page = (root / "docs" / "export.md").read_text()
    section = page.partition("## Constant time by default")[2].partition("\n## ")[0]
    device, seen = "", []
    for line in section.splitlines():
        row = [cell.strip(" `") for cell in line.strip("| ").split(" | ")]
        found = re.search(r"^\| (.*?) ?\| `([a-z0-9-]+)` \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", line)
        if not found:
            assert len(row) < 4 or row[1] in ("variant", "---"), line
            continue
        device = {"R": "pico", "S": "stm32f4"}.get(found[1][:1], device)
        kept = json.loads((root / f"tests/golden/cycles/{device}-gcc-12.2.json").read_text())["aes128-ccm8"]
        for operation, told in zip(("setup", "encrypt", "decrypt"), found.groups()[2:], strict=True):
            assert told == f"{kept[f'motecrypt/{found[2]} {operation} 128 61']:,}", line
        seen.append((device, found[2]))
    assert seen == [
        *(("pico", name) for name in ("armv6m", "sliced")),
        *(("stm32f4", name) for name in ("armv7m", "armv7m-fixsliced", "sliced")),
    ]


@pytest.mark.parametrize("device", ["attiny85", "ch32v003"])
def test_without_a_multiplier_what_multiplies_is_not_constant(device: str) -> None:
    """By the compiler's library, which branches on the bits of its operands."""
    form = for_device(TARGETS["c"], CATALOG.device(device))
    for name, even in (
        ("chacha20-poly1305", False),
        ("rc6-ctr", False),
        ("aes128-hctr2", False),
        ("ascon-aead128", True),
        ("aes128-ccm8", True),
    ):
        cipher = CATALOG.cipher(name)
        body = choose(CATALOG, cipher, form, None)
        (line, *_) = cautions(CATALOG, form, cipher, body, "flash", name)
        assert ("**Timing: constant" in line) == even and ("no multiplier" in line) != even, (name, line)
