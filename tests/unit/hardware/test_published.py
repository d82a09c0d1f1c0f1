"""The published rows and what was laid down before they were scored."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from motecrypt.adviser.hardware import rows as module
from motecrypt.adviser.hardware.bounds import (
    bound_fields,
    bound_named,
    bound_text,
    bound_told,
    recorded_bounds,
)
from motecrypt.adviser.hardware.rows import read_rows, read_settings, rows, settings
from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.results.experiments.recorded import file_of, read

HEAD = (
    "id,chip,clock_mhz,wait_states,code,language,compiler,flags,cipher,operation,message_bytes,ad_bytes,value,"
    "unit,resolution,mark,source,note\n"
)


def test_every_row_names_its_source_and_marks_are_known() -> None:
    assert all(row.source and row.code and row.value > 0 for row in rows().values())
    marks = Counter(row.mark for row in rows().values())
    assert set(marks) == {"", "simulated", "inconsistent", "origin unknown"} and marks["simulated"] > 20


def test_the_devices_that_model_chips_exist() -> None:
    devices = Catalog.load().devices
    assert {chip.device for chip in settings().chips} <= set(devices)
    chips = {row.chip for row in rows().values()}
    assert {chip.name for chip in settings().chips} <= chips
    for seen in settings().training:
        assert all(any(row.code.startswith(code) for row in rows().values()) for code in seen.codes)


def test_a_device_models_a_chip_with_its_wait_states_only() -> None:
    of = {row.wait_states: settings().chip_of(row) for row in rows().values() if row.chip == "STM32F4xx"}
    assert of["0ws"] is not None and of[""] is not None
    slow = [chip for waits, chip in of.items() if waits.startswith("5ws")]
    assert slow and all(chip is None or chip.memory == "cached" for chip in slow)


def test_every_recorded_answer_is_of_a_row_and_its_firmware_is_named() -> None:
    answers = read(file_of("hardware"))
    assert len(answers) > 50
    for answer in answers:
        row, outcome = rows()[answer.asked["row"]], answer.experiment.outcome
        chip = settings().chip_of(row)
        assert chip is not None and chip.device == answer.asked["device"] and not row.mark
        assert outcome["code"].startswith("https://") and outcome["commit"] and outcome["runner"]
        assert len(outcome["runs"]) == 1 or not row.assembly
        for run in outcome["runs"]:
            assert len(run["firmware_sha256"]) == 64 and run["cycles"] > 0 and run["compiler"]


def test_devices_have_the_bounds_of_the_recorded_rows() -> None:
    uno = recorded_bounds()["uno"]
    assert uno.rows >= 40 and uno.median < 0.02 and uno.percentile_95 < 0.05
    assert bound_text("uno") == uno.text and bound_text("no such device") == ""
    assert bound_named("uno") == f"{uno.text}, range seen of {uno.rows} rows, covers {uno.covers}"
    assert bound_named("no such device") == ""
    assert bound_told("uno") == uno.told and bound_told("no such device") == ""
    assert ", error bound of " in bound_named("nrf52840")
    ours = {name: bound_fields(name) for name in ("uno", "nrf52840", "no such device")}
    assert (ours["uno"]["error_bound"], ours["uno"]["range_seen"]) == ("", uno.text)
    assert ours["uno"]["hardware_coverage"] == int(100 * 0.05 ** (1 / uno.rows)) / 100
    assert f"{ours['uno']['hardware_coverage']:.0%}".replace("%", " %") == uno.covers
    assert ours["uno"]["hardware_confidence"] == 0.95
    assert ours["no such device"].pop("hardware_confidence") is None
    assert ours["uno"]["hardware_condition"] == uno.condition and ours["uno"]["hardware_rows"] == uno.rows
    assert ours["nrf52840"]["error_bound"].startswith("± ") and ours["nrf52840"]["range_seen"] == ""
    assert {**ours["no such device"], "hardware_rows": None, "hardware_coverage": ""} == {
        **dict.fromkeys(("error_bound", "range_seen", "hardware_condition", "hardware_coverage"), ""),
        "hardware_rows": None,
    }


def test_no_range_is_called_a_bound() -> None:
    for name, known in recorded_bounds().items():
        assert (known.kind == "error bound") == (known.rows >= 59), name
        said = bound_told(name)
        assert f"{known.rows} row" in said and f"covers {known.covers}" in said


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("x1,CHIP,,,code,C,,,AES,block,16,,many,cycles,,,src,", "row x1 is not complete"),
        ("x1,CHIP,,,code,C,,,AES,block,16,,7,us,,,src,", "row x1 has no unit"),
        ("x1,CHIP,,,code,C,,,AES,block,16,,7,parsecs,,,src,", "row x1 has no unit"),
        ("x1,CHIP", "row x1 is not complete"),
        (
            "x1,CHIP,,,code,C,,,AES,block,16,,7,cycles,,,src,\nx2,CHIP,,,code,C,,,AES,block,16,,7,cycles,,,src,",
            "rows x1 and x2 are of the same message",
        ),
    ],
)
def test_a_wrong_row_ends_in_one_line(line: str, wrong: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("# comment\n" + HEAD + line + "\n")
    with pytest.raises(InputError, match=wrong):
        read_rows(file)


def test_wrong_settings_end_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "hardware.toml"
    text = module.SETTINGS_FILE.read_text()
    file.write_text(
        text.replace('memory = "cached"', 'memory = "slow"').replace("median = 0.02", "median = 0")
    )
    with pytest.raises(InputError, match="median"):
        read_settings(file)
