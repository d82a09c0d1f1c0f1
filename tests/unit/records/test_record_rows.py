"""Which implementation is on the front, and where ours leads; the stored rows and what differs from them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from motecrypt.adviser.records import stored
from motecrypt.adviser.records.page import page
from motecrypt.adviser.records.plan import LENGTHS, PublicCode, PublishedCycles, cache_of, read_plan
from motecrypt.adviser.records.rows import RecordRow, front, leads, rows_of, together
from motecrypt.base.errors import InputError
from motecrypt.base.model import Measurement
from motecrypt.catalog import Catalog

OURS = RecordRow(
    device="uno",
    cipher="aes128-ecb",
    library="motecrypt",
    implementation="motecrypt/avr",
    setup_cycles=100,
    encrypt_cycles=(980, 3920, 15680),
    decrypt_cycles=(1100, 4400, 17600),
    flash_bytes=2000,
    own_bytes=1900,
    ram_bytes=176,
    stack_bytes=20,
    timing="addresses",
)
THEIRS = replace(
    OURS, library="theirs", implementation="theirs", encrypt_cycles=(1000, 4000, 16000), flash_bytes=2000
)


def of(row: RecordRow, cycles: tuple[int | None, ...], flash: int, name: str = "") -> RecordRow:
    return replace(row, encrypt_cycles=cycles, flash_bytes=flash, implementation=name or row.implementation)


@pytest.mark.parametrize(
    ("cycles", "flash", "expected"),
    [
        ((980, 3920, 15680), 2000, True),  # exactly two per cent, at the same flash
        ((981, 3920, 15680), 2000, False),
        ((980, 3921, 15680), 2000, False),
        ((980, 3920, 15681), 2000, False),
        ((980, 3920, 15680), 2001, False),
        ((1, 1, 1), 2001, False),
        ((980, 3920, 15680), 1, True),
    ],
)
def test_ours_leads_by_two_per_cent_at_every_length_and_no_more_flash(
    cycles: tuple[int, ...], flash: int, expected: bool
) -> None:
    (lead,) = leads([of(OURS, cycles, flash), THEIRS])
    assert lead.leads is expected


def test_of_ours_the_one_that_leads_most_is_named_else_the_closest() -> None:
    fast, small = of(OURS, (500, 2000, 8000), 1900, "fast"), of(OURS, (900, 3600, 14400), 900, "small")
    (lead,) = leads([small, fast, THEIRS])
    assert (lead.ours.implementation, lead.leads) == ("fast", True)
    assert lead.cycles_percent == pytest.approx(-50) and lead.flash_bytes == -100
    near, far = of(OURS, (990, 3960, 15840), 2000, "near"), of(OURS, (100, 400, 1600), 4000, "far")
    (lead,) = leads([far, near, THEIRS])
    assert (lead.ours.implementation, lead.leads) == ("near", False)
    assert lead.cycles_percent == pytest.approx(-1) and lead.flash_bytes == 0


def test_the_difference_is_that_of_the_length_where_ours_is_worst() -> None:
    (lead,) = leads([of(OURS, (500, 2000, 15200), 2000), THEIRS])
    assert lead.cycles_percent == pytest.approx(-5)


def test_what_did_not_run_is_neither_led_nor_leads() -> None:
    failed = of(THEIRS, (None, None, None), 2000)
    assert leads([OURS, failed]) == []
    assert leads([of(OURS, (1, None, 1), 1), THEIRS]) == []


def test_the_front_has_what_no_other_beats() -> None:
    fast, small = of(OURS, (1, 2, 3), 30, "fast"), of(OURS, (10, 20, 30), 3, "small")
    beaten = of(OURS, (10, 20, 30), 4, "beaten")
    long = of(OURS, (20, 20, 20), 30, "long")
    failed = of(OURS, (None, 1, 1), 1, "failed")
    rows = [fast, small, beaten, of(long, (20, 20, 2), 30, "long"), failed]
    assert [row.implementation for row in front(rows)] == ["fast", "small", "long"]
    same = of(fast, fast.encrypt_cycles, 30, "same")
    assert front([fast, same]) == [fast, same], "equals do not beat each other"


def test_rows_are_together_by_device_and_cipher_the_fastest_first() -> None:
    slow, fast = of(OURS, (9, 9, 9), 1, "slow"), of(OURS, (1, 1, 1), 1, "fast")
    failed = of(OURS, (None, None, None), 1, "failed")
    other = replace(OURS, device="pico")
    groups = together([failed, slow, other, fast])
    assert list(groups) == [("uno", "aes128-ecb"), ("pico", "aes128-ecb")]
    assert [row.implementation for row in groups["uno", "aes128-ecb"]] == ["fast", "slow", "failed"]


def test_energy_is_of_the_cycles_at_the_length() -> None:
    uno = Catalog.load().device("uno")
    active = uno.current("active")
    assert active is not None
    microseconds = 3920 / uno.clock_hz * 1e6
    expected = uno.volts * active.milliamperes * microseconds / 1000
    assert OURS.energy_uj(uno) == OURS.energy_uj(uno, 64) == pytest.approx(expected)
    assert replace(OURS, encrypt_cycles=(None, None, None)).energy_uj(uno) is None


def measured(operation: str, length: int, cycles: int, **changed: object) -> Measurement:
    values: dict[str, object] = {
        **dict.fromkeys(("device", "library", "configuration", "cipher", "variant"), ""),
        **dict.fromkeys(("reason", "compiler", "flags", "runner", "elf_sha256", "measured_at"), ""),
        **dict.fromkeys(("key_bits", "ad_bytes", "tag_bytes", "inputs"), 0),
        "placement": "flash",
        "cache": "none",
        "status": "ok",
        "motecrypt_version": "",
        "cycles_min": cycles,
        "cycles_median": cycles,
        "cycles_max": cycles,
        "cycles_exact": True,
        "flash_bytes": 5,
        "ram_bytes": 6,
        "stack_bytes": length,
        "timing_varies": False,
        "time_us": 1.0,
        "flash_symbol_bytes": 1,
        "eeprom_bytes": 0,
        "library": "motecrypt",
        "operation": operation,
        "message_bytes": length,
    }
    return Measurement(**{**values, **changed})  # type: ignore[arg-type]


def test_a_row_has_the_figures_of_all_measurements_of_an_implementation() -> None:
    cells = [measured("setup", n, 7) for n in LENGTHS]
    cells += [measured("encrypt", n, 10 * n) for n in LENGTHS]
    cells += [measured("decrypt", n, 20 * n, stack_bytes=3) for n in LENGTHS]
    (row,) = rows_of(cells, "2026-11-23")
    assert row.encrypt_cycles == (160, 640, 2560) and row.decrypt_cycles == (320, 1280, 5120)
    assert (row.setup_cycles, row.flash_bytes, row.own_bytes) == (7, 5, 1)
    assert (row.ram_bytes, row.stack_bytes) == (6, 256)
    assert (row.timing, row.recorded, row.ran, row.ours) == ("none seen", "2026-11-23", True, True)
    (row,) = rows_of([*cells, measured("encrypt", 16, 160, timing_varies=True)])
    assert row.timing == "addresses"
    (row,) = rows_of([*cells, measured("encrypt", 16, 160, cycles_max=161)])
    assert row.timing == "cycles"
    (row,) = rows_of([measured("encrypt", 16, 1, status="fault", reason="it crashed")])
    assert not row.ran and (row.status, row.reason, row.timing) == ("fault", "it crashed", "")


def test_what_differs_from_the_stored_rows_is_named() -> None:
    assert stored.changes([OURS, THEIRS], [THEIRS, OURS]) == []
    slower = of(OURS, (981, 3920, 15680), 2000)
    (change,) = stored.changes([OURS], [slower])
    assert (change.figure, change.stored, change.found) == (
        "encrypt_cycles",
        "980 / 3,920 / 15,680",
        "981 / 3,920 / 15,680",
    )
    (gone,) = stored.changes([OURS], [])
    assert (gone.implementation, gone.stored, gone.found) == ("motecrypt/avr", "a row", "nothing")
    (new,) = stored.changes([], [OURS])
    assert (new.stored, new.found) == ("nothing", "a row")


def test_recorded_rows_stay_unless_they_were_measured_now() -> None:
    recorded = replace(THEIRS, recorded="2026-01-01")
    again = replace(recorded, recorded="2026-02-02")
    assert stored.merged([recorded, OURS], [OURS]) == [OURS, recorded]
    assert stored.merged([recorded], [OURS, again]) == [OURS, again]
    assert stored.merged([OURS], []) == [], "a row that is not recorded is measured or gone"


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "figures.jsonl"
    rows = [OURS, replace(THEIRS, encrypt_cycles=(None, None, None), status="fault", reason="it crashed")]
    path.write_text(stored.text(rows))
    assert stored.read_rows(path) == rows


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("{", "line 1: no row of records"),
        ("[]", "line 1: no row of records"),
        ("{}", "line 1: no row of records"),
        (stored.text([OURS]).replace('"device"', '"devise"'), "line 1: no row of records"),
        (stored.text([OURS]).replace("[980,3920,15680]", "[980,3920]"), "expected cycles at 3 lengths"),
        (stored.text([OURS]).replace("980,", '"980",'), "'encrypt_cycles' is '980'; expected a whole"),
        (
            stored.text([OURS]).replace('"flash_bytes":2000', '"flash_bytes":true'),
            "'flash_bytes' is True; expected a whole",
        ),
        (
            stored.text([OURS]).replace('"flash_bytes":2000', '"flash_bytes":-2'),
            "expected a number of at least 0",
        ),
        (
            stored.text([OURS]).replace('"timing":"', '"timing":3,"status":"'),
            "'timing' is 3; expected a string",
        ),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, broken: str, said: str) -> None:
    path = tmp_path / "figures.jsonl"
    path.write_text(broken)
    with pytest.raises(InputError, match=r"figures\.jsonl, line 1") as error:
        stored.read_rows(path)
    assert said in str(error.value)


def test_a_missing_file_of_rows_names_what_makes_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.jsonl: cannot be read; 'python -m made.records'"):
        stored.read_rows(tmp_path / "none.jsonl")


def test_the_plan_names_a_toolchain_for_each_compiler_and_what_exists() -> None:
    plan, catalog = read_plan(), Catalog.load()
    assert set(plan.ciphers) <= set(catalog.ciphers)
    devices = plan.devices(catalog)
    assert {"uno", "pico"} <= {device.name for device in devices}
    assert all(device.simulated for device in devices), "a figure that nobody can repeat"
    for device in devices:
        toolchain = catalog.toolchain(plan.toolchain_of(device))
        assert toolchain.target_for(device.compiler.command) is not None
    assert cache_of(catalog.device("uno")) == "none" and cache_of(catalog.device("pico")) == "warm"


def test_a_mistake_in_the_plan_is_named(tmp_path: Path) -> None:
    path = tmp_path / "records.toml"
    path.write_text('devices = []\nciphers = ["rc4"]\nother = 1\n[toolchain]\n[[public]]\nlibrary = "a"\n')
    with pytest.raises(InputError, match=r"records\.toml.*title"):
        read_plan(path)


def test_what_authors_published_is_compared_by_the_cycles_of_a_further_byte() -> None:
    assert OURS.cycles_per_byte == pytest.approx((15680 - 3920) / 192)
    assert replace(OURS, encrypt_cycles=(1, None, 2)).cycles_per_byte is None
    steady = replace(OURS, implementation="motecrypt/steady", encrypt_cycles=(980, 3920, 23120))
    code = PublicCode("theirs", "Theirs", "a/b", "0123456789abcdef", "")
    figure = PublishedCycles("theirs", "a block", "aes128-ecb", "uno", 1001.0, 16, "on a desk", "README.md")
    close = replace(figure, what="close", cycles=61.3, message_bytes=1)
    slow = replace(figure, what="slow", cycles=101.0, message_bytes=1, ours="motecrypt/steady")
    elsewhere = replace(figure, what="elsewhere", device="pico")
    text = page([OURS, steady, THEIRS], {}, [code], "gcc", [figure, close, slow, elsewhere])
    rows = text.partition("## What authors")[2].splitlines()
    source = "README.md at 0123456789ab"
    assert f"| theirs | a block | uno | 62.6 | 61.2 (motecrypt/avr) | yes | on a desk | {source} |" in rows
    assert f"| theirs | close | uno | 61.3 | 61.2 (motecrypt/avr) | no | on a desk | {source} |" in rows
    assert f"| theirs | slow | uno | 101.0 | 100.0 (motecrypt/steady) | no | on a desk | {source} |" in rows
    assert f"| theirs | elsewhere | pico | 62.6 |  | no | on a desk | {source} |" in rows
    assert "## What authors" not in page([OURS], {}, [], "gcc")


def test_what_is_published_names_public_code_devices_and_ciphers_of_the_plan() -> None:
    plan = read_plan()
    assert plan.published
    for figure in plan.published:
        assert figure.library in {code.library for code in plan.public}
        assert figure.device in plan.device_names and figure.cipher in plan.ciphers
        assert figure.ours in {"", *(row.implementation for row in stored.read_rows() if row.ours)}
