"""Programs that users bring for rows of hardware: built, checked and counted on simulated chips."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from motecrypt.adviser.hardware.rows import KnownCompiler, rows, settings
from motecrypt.base.errors import InputError
from motecrypt.build.toolchain.toolchain import BuildError
from motecrypt.catalog import Catalog
from motecrypt.cli.reproduce import command
from motecrypt.measuring.experiments.hardware import read_programs
from motecrypt.results import Results
from motecrypt.results.experiments.hardware import HardwareQuestion
from tool_sets import skip_without

#: Rows of assembly, so that one compiler will do.
ROWS = {"uno": "h1311", "stm32f4": "h0004", "stm32l1": "h0003"}
PROGRAM = """
#include "timed.h"
static const uint8_t sent[2] = {0x0f, 0xa5};
void timed(void) {
    timed_begin();
    timed_end();
    timed_begin();
    __asm__ volatile(".rept 30\\n nop\\n .endr");
#ifdef MORE
    __asm__ volatile("nop");
#endif
    timed_end();
    timed_output(sent, sizeof sent);
}
"""


def folder(path: Path, device: str, **more: object) -> Path:
    given = {"rows": ["", ROWS[device]], "sources": ["program.c"], "expected": "0FA5", **more}
    lines = [f"{key} = {json.dumps(value)}" for key, value in given.items()]
    (path / "hardware.toml").write_text(
        'code = "https://example.org/code"\ncommit = "1"\n[[program]]\n' + "\n".join(lines) + "\n"
    )
    (path / "program.c").write_text(PROGRAM)
    return path


@pytest.mark.parametrize("device", ROWS)
def test_a_region_takes_what_its_instructions_take(device: str, tmp_path: Path, results: Results) -> None:
    skip_without(Catalog.load().device(device).tool_set)
    (program,) = read_programs(folder(tmp_path, device))
    assert program.device == device and program.find(results) is None
    program.ensure(results)
    figures = HardwareQuestion(ROWS[device], device).answer(results)
    assert figures is not None and figures.code == "https://example.org/code"
    assert [run.cycles for run in figures.runs] == [30.0]


def test_cycles_are_divided_and_each_toolchain_of_c_code_is_run(tmp_path: Path, results: Results) -> None:
    skip_without("avr")
    (program,) = read_programs(folder(tmp_path, "uno", rows=["", "h0262"], per=[1, 60]))
    assert program.toolchains == ("gcc-5.4", "gcc-14")
    (assembly,) = read_programs(folder(tmp_path, "uno", per=[1, 60]))
    assembly.ensure(results)
    figures = HardwareQuestion(ROWS["uno"], "uno").answer(results)
    assert figures is not None and [run.cycles for run in figures.runs] == [0.5]


def test_a_variant_is_another_run_with_flags_of_its_own(tmp_path: Path, results: Results) -> None:
    skip_without("avr")
    (program,) = read_programs(folder(tmp_path, "uno"))
    replace(program, variants=(("", ("-DMORE",)),)).ensure(results)
    figures = HardwareQuestion(ROWS["uno"], "uno").answer(results)
    assert figures is not None
    assert [(run.variant, run.cycles) for run in figures.runs] == [("", 30.0), ("-DMORE", 31.0)]
    assert figures.runs[1].name == f"{figures.runs[1].toolchain} -DMORE"


@pytest.mark.parametrize(
    ("row", "variants"),
    [("h0748", (("gcc-12", ("-fno-split-wide-types",)),)), ("h0262", ()), ("h0004", ()), ("h0586", ())],
)
def test_compiled_code_for_arm_has_a_variant(row: str, variants: tuple[object, ...], tmp_path: Path) -> None:
    (program,) = read_programs(folder(tmp_path, "uno", rows=["", row]))
    assert program.variants == variants


def test_code_whose_compiler_is_known_is_built_by_that_one_alone(tmp_path: Path) -> None:
    (program,) = read_programs(folder(tmp_path, "uno", rows=["", "h0586"]))  # NIST's, on the nRF52840
    assert program.device == "nrf52840" and program.toolchains == ("gcc-8",)
    (other,) = read_programs(folder(tmp_path, "uno", rows=["", "h0748"]))  # the same source on the Due
    assert other.toolchains == ("gcc-8", "gcc-12", "gcc-14")


def test_rows_of_two_compilers_are_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = "h0262", "h1186"  # NIST's and arduinolibs' on the UNO
    known = (
        KnownCompiler("uno", (rows()[first].code,), "gcc-5.4", "a test"),
        KnownCompiler("due", (rows()["h0748"].code,), "gcc-12", "a test"),  # which has a variant
    )
    monkeypatch.setattr(
        "motecrypt.measuring.experiments.hardware.settings",
        lambda: replace(settings(), compilers_known=known),
    )
    for row, toolchain in ((first, "gcc-5.4"), ("h0748", "gcc-12")):
        (program,) = read_programs(folder(tmp_path, "uno", rows=["", row]))
        assert program.toolchains == (toolchain,) and program.variants == ()
    with pytest.raises(InputError, match="rows of one compiler"):
        read_programs(folder(tmp_path, "uno", rows=[first, second]))


def test_a_program_that_cannot_be_built_is_named(tmp_path: Path, results: Results) -> None:
    skip_without("avr")
    (program,) = read_programs(folder(tmp_path, "uno"))
    (tmp_path / "program.c").write_text("void timed(void) { absent(); }\n")
    with pytest.raises(BuildError, match=rf"^{re.escape(str(tmp_path / 'program.c'))}, by \S+: .*absent"):
        program.ensure(results)


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        ({"expected": "0fa6"}, "it sent 0fa5, expected 0fa6"),
        ({"rows": [ROWS["uno"]]}, "it marked 2 regions for 1 rows"),
    ],
)
def test_nothing_is_stored_of_a_wrong_program(
    more: dict[str, object], wrong: str, tmp_path: Path, results: Results
) -> None:
    skip_without("avr")
    (program,) = read_programs(folder(tmp_path, "uno", **more))
    with pytest.raises(InputError, match=wrong):
        program.ensure(results)
    assert HardwareQuestion(ROWS["uno"], "uno").answer(results) is None


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        ({"rows": ["h9999"]}, "no row 'h9999'"),
        ({"rows": [""]}, "at least one row's id"),
        ({"rows": [ROWS["uno"], ROWS["stm32f4"]]}, "rows of one chip"),
        ({"rows": [ROWS["uno"]], "per": [0]}, "a positive number for each row"),
        ({"per": [1]}, "a positive number for each row"),
        ({"flags": ["-fplugin=x.so"]}, "fplugin"),
        ({"cache": "hot"}, "cache"),
        ({"speed": 1}, "speed"),
    ],
)
def test_a_wrong_folder_ends_in_one_line(more: dict[str, object], wrong: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=wrong):
        read_programs(folder(tmp_path, "uno", **more))


def test_the_other_programs_are_run_where_one_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    skip_without("avr")
    made, db = folder(tmp_path, "uno") / "hardware.toml", tmp_path / "r.db"
    for name in ("broken.c", "deep.c"):
        failing = f"[[program]]\nrows = ['', '{ROWS['uno']}']\nsources = ['{name}']\n"
        made.write_text(made.read_text().replace("[[program]]\n", f"{failing}\n[[program]]\n", 1))
    (tmp_path / "broken.c").write_text("none\n")
    (tmp_path / "deep.c").write_text(PROGRAM.replace("timed_begin();", "timed_begin(); timed();", 1))
    words = ["hardware", "--library", str(tmp_path), "--db", str(db)]
    assert command.main(words, standalone_mode=False) == 1
    said = capsys.readouterr().err
    assert f"motecrypt: {tmp_path / 'broken.c'}, by " in said
    assert f"motecrypt: {tmp_path / 'deep.c'}: the stack ran into the data" in said
    with Results(db) as results:
        assert HardwareQuestion(ROWS["uno"], "uno").answer(results) is not None


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (("rf", "--library"), "name that study"),
        (("hardware", "--stored", "--library"), "without --stored"),
    ],
)
def test_a_folder_is_for_this_study_and_is_run(
    arguments: tuple[str, ...], wrong: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=wrong):
        command.main([*arguments, str(tmp_path), "--db", str(tmp_path / "r.db")], standalone_mode=False)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"hardware\.toml: cannot be read"):
        read_programs(tmp_path)
