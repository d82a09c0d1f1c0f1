"""The recorded figures of public-key operations, and their page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from made import public_key as made_page
from made._public_key_page import page
from made_rows import made_public_key
from motecrypt.adviser.publickey.baseline import aes_costs
from motecrypt.adviser.publickey.handshakes import compute, handshakes
from motecrypt.adviser.publickey.rows import (
    PublishedOperation,
    behind,
    fastest,
    published,
    recorded,
    row_of,
    text,
)
from motecrypt.base.errors import InputError
from motecrypt.base.model import PUBLIC_KEY_OPERATIONS, Measurement, Shortfall
from motecrypt.catalog import Catalog
from motecrypt.present.report.public_keys import public_key_part
from motecrypt.studies.rf import asymmetric as rf
from motecrypt.studies.wlan import asymmetric as wlan

ROW = made_public_key()
RECORD = PublishedOperation(
    "x25519", "agree", "AVR", "a code", ("uno", "pico"), 8_000_000, "assembly", "a paper"
)


def test_the_page_is_up_to_date() -> None:
    assert made_page.whole_page(Catalog.load()) == made_page.PAGE.read_text(encoding="utf-8"), (
        "run python -m made.public_key --page"
    )


def test_what_is_recorded_is_of_what_there_is() -> None:
    catalog, rows = Catalog.load(), recorded()
    names = {(i.cipher, i.name, i.operations[0]) for i in catalog.public_key_implementations}
    assert {(row.algorithm, row.implementation, row.operation) for row in rows} <= names
    assert {row.device for row in rows} == set(made_page.DEVICES)
    assert {row.algorithm for row in rows} == set(catalog.public_keys)
    assert all(row.operation in PUBLIC_KEY_OPERATIONS for row in rows)
    known = {(row.device, row.algorithm, row.implementation, row.operation) for row in rows}
    assert len(known) == len(rows), "a figure is recorded twice"
    for row in rows:
        assert row.ran == (row.cycles is not None) == (row.time_us is not None), row
        assert row.status in ("ok", "does-not-fit", "fault", "build-failed"), row
        clock = catalog.device(row.device).clock_hz
        assert row.cycles is None or row.time_us == pytest.approx(row.cycles * 1e6 / clock, abs=0.01)


def test_rows_are_read_as_they_are_written(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    rows = [ROW, replace(ROW, status="fault", reason="a stack", cycles=None, time_us=None)]
    file.write_text(text(rows))
    assert recorded(file) == rows and [row.ran for row in rows] == [True, False]
    file.write_text(text(rows) + '{"device": "uno"}\n')
    with pytest.raises(InputError, match="line 3: not a recorded figure"):
        recorded(file)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('"cycles":16000000', '"cycles":-1', "'cycles' is -1; expected a number of at least 0"),
        ('"cycles":16000000', '"cycles":1.5', "'cycles' is 1.5; expected a whole number or nothing"),
        ('"cycles":16000000', '"cycles":"many"', "'cycles' is 'many'; expected a whole number"),
        ('"stack_bytes":678', '"stack_bytes":true', "'stack_bytes' is True; expected a whole number"),
        ('"time_us":1000000.0', '"time_us":NaN', "'time_us' is nan; expected a number of at least 0"),
        ('"timing_varies":true', '"timing_varies":1', "'timing_varies' is 1; expected true or false"),
        ('"status":"ok"', '"status":null', "'status' is None; expected a string"),
        ('"status":"ok"', '"status":"ok","more":1', "unknown 'more'"),
    ],
)
def test_a_figure_of_another_type_or_below_zero_is_refused(
    tmp_path: Path, before: str, after: str, told: str
) -> None:
    file = tmp_path / "rows.jsonl"
    assert before in text([ROW])
    file.write_text(text([ROW]).replace(before, after))
    with pytest.raises(InputError, match="line 1") as refused:
        recorded(file)
    assert told in str(refused.value)


def test_a_row_has_what_was_measured(stored_measurement: Measurement) -> None:
    row = row_of(stored_measurement)
    assert (row.device, row.algorithm, row.operation) == ("uno", "x25519", "agree")
    assert (row.memory, row.needed, row.available) == ("flash", 40_000, 32_768)
    assert row.reason == "does not fit"
    unbuilt = replace(stored_measurement, reason="/a/place/x.c:1: no", extra={"cause": "no"})
    assert row_of(unbuilt).reason == "does not build: no"
    assert (row.measured_on, row.cycles, row.status) == ("2026-01-02", None, "does-not-fit")


@pytest.fixture
def stored_measurement() -> Measurement:
    known: dict[str, Any] = {
        "device": "uno",
        "cipher": "x25519",
        "operation": "agree",
        "library": "code",
        "configuration": "default",
        "variant": "",
        "status": "does-not-fit",
        "reason": "does not fit",
        "measured_at": "2026-01-02T03:04:05+00:00",
        "extra": {"shortfall": vars(Shortfall("flash", 40_000, 32_768))},
    }
    return Measurement(**{**dict.fromkeys(Measurement.__dataclass_fields__), **known})


def test_the_fastest_is_of_one_operation_on_one_device() -> None:
    slow, failed = replace(ROW, cycles=17_000_000, implementation="slow"), replace(ROW, cycles=None)
    rows = [
        failed,
        slow,
        ROW,
        replace(ROW, operation="keygen", cycles=1),
        replace(ROW, device="pico", cycles=2),
    ]
    assert fastest(rows, "uno", "x25519", "agree") is ROW
    assert fastest(rows[:1], "uno", "x25519", "agree") is None


def test_the_page_shows_figures_shortfalls_and_ratios() -> None:
    over = replace(
        ROW,
        operation="sign",
        status="does-not-fit",
        reason="does not fit: needs 9 of 7 bytes of flash",
        cycles=None,
        memory="flash",
        needed=9,
        available=7,
    )
    rows = [ROW, replace(ROW, operation="keygen", cycles_min=16_000_010, time_us=1500.0), over]
    rows.append(replace(ROW, operation="verify", timing_varies=False))
    shown = page(rows, Catalog.load().devices, [RECORD])
    assert (
        "| x25519 | agree | code | 16,000,000 | 2.0 times a code | 1.00 s | by 20 cycles | 1,234 | 5 | 678 |"
        in shown
    )
    assert "| x25519 | keygen | code | 16,000,000 |  | 1.5 ms | addresses | 1,234 | 5 | 678 |" in shown
    assert "| x25519 | verify | code | 16,000,000 |  | 1.00 s | no |" in shown
    assert "| x25519 | sign | code | needs 9 of 7 bytes of flash | 2 |" in shown
    assert "| x25519 | agree | AVR | a code | 8,000,000 | uno | code, 16,000,000 cycles | 2.0 |" in shown
    assert "| x25519 | agree | AVR | a code | 8,000,000 | pico | none runs |  |" in shown
    assert "- a code, AVR, x25519 agree: a paper; assembly." in shown
    assert "Device `uno`, gcc 1, measured on 2026-01-02." in shown


def test_published_figures_have_a_source_and_a_device() -> None:
    catalog = Catalog.load()
    assert published()
    for record in published():
        assert record.source and record.code and record.cycles > 0
        assert record.operation in catalog.public_key(record.algorithm).operations
        assert all(catalog.device(name) for name in record.devices)


def test_what_is_slower_than_public_code_says_so() -> None:
    assert (found := behind(ROW, [RECORD])) is not None
    assert found.short == "2.0 times public code"
    assert found.text == "x25519 agree takes 2.0 times the cycles of public code (a code)"
    fast = replace(RECORD, cycles=4_000_000, code="faster")
    assert (best := behind(ROW, [RECORD, fast])) is not None and best.ratio == 4.0, "the fastest counts"
    assert behind(replace(ROW, cycles=8_000_000), [RECORD]) is None, "as fast"
    assert behind(replace(ROW, cycles=None), [RECORD]) is None
    for other in (
        replace(ROW, device="due"),
        replace(ROW, operation="keygen"),
        replace(ROW, algorithm="p256-ecdh"),
    ):
        assert behind(other, [RECORD]) is None


def test_each_handshake_names_the_operations_with_faster_public_code() -> None:
    """In the computation, the page, and the report's table: every row that rests on a slower library."""
    catalog, rows, aes = Catalog.load(), recorded(), aes_costs()
    shown = made_page.whole_page(catalog)
    for device in aes:
        for shake in handshakes().values():
            computed = compute(shake, catalog.device(device), rows, aes[device])
            slow = {
                found.text
                for algorithm, operation in shake.operations
                if (best := fastest(rows, device, algorithm, operation))
                and (found := behind(best, published()))
            }
            if not computed.missing:
                assert set(computed.behind) == slow and all(text in shown for text in slow)
                assert bool(slow) == any(name == "x25519" for name, _ in shake.operations), (
                    device,
                    shake.name,
                )
    costs = [cost for own in public_key_part(catalog, []).by_device.values() for cost in own]
    assert all(
        cost.behind == ("" if not (one := behind(cost.row, published())) else one.short) for cost in costs
    )
    assert {cost.row.algorithm for cost in costs if cost.behind} >= {"x25519", "p256-ecdh", "ml-kem-512"}


def test_handshakes_of_the_studies_say_how_far_they_are_behind_public_code() -> None:
    """Next to the cost on each device: the rows, the tables, and the records for programs."""
    catalog, edhoc, aes = Catalog.load(), handshakes()["edhoc"], aes_costs()
    costs = {name: compute(edhoc, catalog.device(name), recorded(), cost) for name, cost in aes.items()}
    slow = {name: cost.behind for name, cost in costs.items() if cost.behind and not cost.missing}
    assert len(slow) > 1
    rows = [row for row in wlan.asymmetric(catalog) if "EDHOC" in row.column]
    daily = [row for row in rf.asymmetric("rf", catalog) if "EDHOC" in row.column]
    single = wlan.sections(catalog)[0]
    energy, radios = rf.sections(catalog)
    packets = rf.table(catalog)
    for device, told in slow.items():
        own = [row for row in rows if row.column.endswith(f", {device}")]
        assert len(own) == 2 and all(text in row.note for row in own for text in told)
        for row in (row for row in daily if row.column.endswith(f", {device}")):
            assert all(text in row.note for text in told)
        assert all(text in radios.text for text in told)
        assert all(each["behind"][device] for each in packets if each["handshake"] == "edhoc")
        assert any("times public code" in str(line[3]) for line in single.rows if line[0] == device)
    assert daily and "times the cycles of public code" in energy.text
