"""motecrypt records and docs/records.md: what is shown, checked and refused. Nothing is measured here."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from goldens.views.made_up import measured
from made import records as made_records
from motecrypt.adviser.records.plan import LENGTHS, read_plan
from motecrypt.adviser.records.rows import RecordRow, front, together
from motecrypt.adviser.records.stored import read_rows
from motecrypt.app import records as app
from motecrypt.app import toolchains as _toolchains
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell
from motecrypt.catalog import Catalog
from motecrypt.cli import application
from motecrypt.measuring import bench

PLAN, CATALOG, STORED = read_plan(), Catalog.load(), read_rows()
AGAIN = "run 'python -m made.records'"


def runs(*arguments: str) -> Result:
    return CliRunner().invoke(application, ["records", *arguments], env={"COLUMNS": "160"})


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[RecordRow]:
    """What the next command measures: the stored figures, until a test changes them."""
    rows = [row for row in STORED if not row.recorded]

    def measure(made: app.RecordsPlan, *_: object) -> object:
        return [row for row in rows if row.device in made.devices and row.cipher in made.ciphers]

    monkeypatch.setattr(app, "measure_rows", measure)
    return rows


def test_the_page_is_that_of_the_stored_figures() -> None:
    page = made_records.PAGE.read_text(encoding="utf-8")
    assert page == made_records.whole_page(STORED, PLAN, CATALOG), AGAIN


def test_every_implementation_of_ours_has_stored_figures() -> None:
    kept = {(row.device, row.cipher, row.implementation) for row in STORED}
    missing = [
        (device.name, cipher, body.name)
        for device in PLAN.devices(CATALOG)
        for cipher in PLAN.ciphers
        for body in CATALOG.implementations_of(cipher, device.name, ["motecrypt"])
        if (not body.placements or "flash" in body.placements)
        and (device.name, cipher, body.name) not in kept
    ]
    assert not missing, AGAIN


def test_public_code_is_recorded_with_its_day_and_everything_else_is_not() -> None:
    names = {code.library for code in PLAN.public}
    assert names == {row.library for row in STORED if row.recorded}
    assert all(bool(row.recorded) == (row.library in names) for row in STORED)
    assert all(row.ran and row.setup_cycles for row in STORED if row.recorded)
    for code in PLAN.public:
        assert (made_records.ROOT / code.folder / "library.toml").is_file()
        assert len(code.commit) == 40 and code.repository.count("/") == 1
        described = (made_records.ROOT / code.folder / "library.toml").read_text(encoding="utf-8")
        assert f'version = "{code.commit[:7]}"' in described


def test_the_check_passes_where_every_figure_is_true(found: list[RecordRow]) -> None:
    done = runs("--check")
    assert done.exit_code == 0
    assert f"{len(found)} implementations measured: every stored figure is true" in done.output
    told = json.loads(runs("--check", "--json").stdout)
    assert told == {"rows": len(found), "changes": []}


def test_the_check_fails_where_a_figure_changed(found: list[RecordRow]) -> None:
    row = next(row for row in found if row.ours)
    found[found.index(row)] = replace(row, flash_bytes=(row.flash_bytes or 0) + 1)
    done = runs("--check")
    assert done.exit_code == 1
    assert row.implementation in done.output and f"{(row.flash_bytes or 0) + 1:,}" in done.output
    assert "Next: PYTHONPATH=src:tests python -m made.records" in done.output
    (change,) = json.loads(runs("--check", "--json").stdout)["changes"]
    assert change["figure"] == "flash_bytes"
    other = next(d.name for d in PLAN.devices(CATALOG) if d.name != row.device)
    assert runs("--check", "--device", other).exit_code == 0


def test_the_check_fails_where_a_row_is_missing_or_new(found: list[RecordRow]) -> None:
    row = found.pop()
    assert runs("--check").exit_code == 1
    found.append(row)
    found.append(replace(row, implementation="motecrypt/newer"))
    assert runs("--check").exit_code == 1


def test_all_implementations_are_shown_with_the_front_and_what_ours_does_not_lead(
    found: list[RecordRow],
) -> None:
    done = runs("--device", "uno", "--cipher", "aes128-ecb")
    assert done.exit_code == 0
    members = together(STORED)["uno", "aes128-ecb"]
    for row in members:
        (line,) = [line for line in done.output.splitlines() if line.startswith(f"{row.implementation} ")][
            :1
        ] or [""]
        assert not row.ran or all(f"{cycles:,}" in done.output for cycles in row.encrypt_cycles)
        assert not row.ran or (" front " in line) == (row in front(members)), line
    assert "avr-aes-faster/flash, recorded" in done.output
    assert "Ours leads:" in done.output and "Behind:" in done.output and "Did not run:" in done.output
    assert done.output.splitlines()[-1].startswith("Next: motecrypt records")


def test_json_has_every_row_and_its_lead(found: list[RecordRow]) -> None:
    told = json.loads(runs("--cipher", "ascon", "--json").stdout)
    assert {row["cipher"] for row in told} == {"ascon-aead128"}
    kept = {(r.device, r.implementation): r for r in STORED if r.cipher == "ascon-aead128"}
    assert {(row["device"], row["implementation"]) for row in told} == set(kept)
    for row in told:
        assert row["encrypt_cycles"] == list(kept[row["device"], row["implementation"]].encrypt_cycles)
        assert (row["led_by_ours"] is None) == row["ours"]
        assert row["energy_uj"] > 0 and len(row["encrypt_cycles"]) == len(LENGTHS)


def test_stored_figures_are_shown_without_measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "measure_rows", lambda *_: pytest.fail("it measured"))
    done = runs("--stored", "--device", "pico", "--cipher", "ascon-aead128")
    assert done.exit_code == 0 and "motecrypt/armv6m" in done.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--device", "host"), "unknown device 'host'"),
        (("--device", "pic"), "unknown device 'pic'"),
        (("--cipher", "rc4"), "the records have none of these; they have aes128-ecb"),
        (("--cipher", "nonsense"), "unknown cipher 'nonsense'"),
        (("--stored", "--check"), "--check measures; give one of the two"),
    ],
)
def test_bad_input_is_refused_in_a_line(arguments: tuple[str, ...], said: str) -> None:
    done = runs(*arguments)
    assert isinstance(done.exception, InputError) and said in str(done.exception)
    assert done.exception.exit_code == 2


def test_a_figure_that_could_not_be_made_now_is_not_compared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def failed(cells: Sequence[Cell], *_: object) -> object:
        why: dict[str, Any] = {"status": "build-failed", "reason": "no network", "extra": {"transient": True}}
        return {cell: replace(measured(cell, "near"), cycles_median=None, **why) for cell in cells}

    monkeypatch.setattr(bench, "ensure", failed)
    monkeypatch.setattr(_toolchains, "need_toolchain", lambda *_: None)
    done = runs("--check", "--device", "uno", "--cipher", "ascon", "--db", str(tmp_path / "r.db"))
    assert isinstance(done.exception, InputError) and "no network" in str(done.exception)
