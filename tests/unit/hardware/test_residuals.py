"""Residuals and error bounds, computed by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from motecrypt.adviser.hardware.bounds import recorded_bounds
from motecrypt.adviser.hardware.residuals import Residual, covering, fidelity, percentile, residual, residuals
from motecrypt.adviser.hardware.rows import Chip, HardwareRow, rows, settings, shortest
from motecrypt.catalog import Catalog
from motecrypt.results.experiments.hardware import HardwareFigures, TimedRun

FREE = replace(settings(), differences=(), training=())  # rules without differences of lengths
OPEN = replace(settings(), compilers_known=())  # and these without known compilers
ROW = HardwareRow(
    *("x1", "CHIP", 16.0, "", "someone/code src", "C", "-O2", "AES", "encrypt", "16", "0"),
    *(100.0, "us", 4.0, "", "somewhere", ""),
)
CHIP = Chip("CHIP", "uno", "zero wait states")


def made(*cycles: float, row: HardwareRow = ROW) -> Residual:
    runs = tuple(TimedRun(f"gcc-{n}", "gcc", "00", each) for n, each in enumerate(cycles))
    return residual(row, CHIP, HardwareFigures(runs, "", "", ""), settings(), None)


def test_cycles_are_given_in_the_unit_of_the_row() -> None:
    own = made(1680.0)
    assert (own.ours, own.spread, own.scoring) == (105.0, 0.0, "scored")
    assert own.share == pytest.approx(0.05)
    assert (own.published, own.resolution, own.less) == (100.0, 4.0, None)
    cycles = made(105.0, row=replace(ROW, unit="cycles"))
    assert cycles.ours == 105.0 and cycles.share == pytest.approx(0.05)


def test_several_toolchains_give_the_middle_and_their_difference() -> None:
    own = made(1600.0, 1632.0, 1616.0)
    assert own.cycles == 1616.0 and own.spread == pytest.approx(0.02)
    assert own.share == pytest.approx(0.01) and own.scored


def test_a_variant_is_in_the_difference_and_not_in_the_middle() -> None:
    runs = [TimedRun("gcc-12", "gcc", "00", 1600.0), TimedRun("gcc-14", "gcc", "00", 1632.0)]
    runs.append(TimedRun("gcc-12", "gcc", "00", 1640.0, "-fno-split-wide-types"))
    own = residual(ROW, CHIP, HardwareFigures(tuple(runs), "", "", ""), settings(), None)
    assert own.cycles == 1616.0 and own.spread == pytest.approx(0.025) and own.scored
    runs[2] = replace(runs[2], cycles=1650.0)
    assert not residual(ROW, CHIP, HardwareFigures(tuple(runs), "", "", ""), settings(), None).scored


@pytest.mark.parametrize(
    ("row", "cycles", "scoring"),
    [
        (ROW, (1600.0, 1647.0), "scored"),
        (ROW, (1600.0, 1649.0), "our toolchains differ"),
        (replace(ROW, mark="simulated"), (1600.0,), "simulated"),
        (replace(ROW, mark="inconsistent"), (1600.0, 1900.0), "inconsistent"),
    ],
)
def test_what_is_not_scored_names_its_reason(
    row: HardwareRow, cycles: tuple[float, ...], scoring: str
) -> None:
    assert made(*cycles, row=row).scoring == scoring


def test_code_that_was_seen_is_not_scored() -> None:
    row = replace(ROW, code="Ko-/aes-armcortexm aes128/aes.s")
    seen = residual(row, replace(CHIP, device="stm32f4"), made(1600.0).figures, settings(), None)
    assert seen.scoring == "seen by the model's makers"
    assert made(1600.0, row=row).scored  # on a device whose makers had not seen it


def test_a_percentile_is_the_nearest_rank() -> None:
    values = [float(n) for n in range(20, 0, -1)]
    assert [percentile(values, share) for share in (0.05, 0.5, 0.95, 0.96, 1.0)] == [1, 10, 19, 20, 20]
    assert percentile([7.0], 0.95) == 7.0


def test_a_bound_is_of_scored_rows_and_has_the_toolchains_in_it() -> None:
    near, far, differ = made(1616.0), made(1536.0, 1568.0), made(1600.0, 3200.0)
    known = fidelity("uno", "zero wait states", [near, far, differ])
    assert known is not None
    assert known.rows == 2 and known.median == pytest.approx((0.01 + 0.03) / 2)
    assert known.percentile_95 == known.worst == pytest.approx(0.03)
    assert known.difference == pytest.approx(0.03 + 1 / 48)
    assert known.text == "± 5.1 %"
    assert fidelity("uno", "zero wait states", [differ]) is None


def test_fewer_rows_than_59_give_a_range_and_no_bound() -> None:
    """The largest of n residuals covers 0.05^(1/n) of all such rows with 95 % confidence."""
    for count in (1, 7, 20, 58):
        rank, coverage = covering(count)
        assert rank == count and coverage == pytest.approx(0.05 ** (1 / count)) and coverage < 0.95
    assert [covering(count) for count in (59, 92, 93, 181)] == [
        (59, 0.95),
        (92, 0.95),
        (92, 0.95),
        (177, 0.95),
    ]
    few = [made(1600.0 + n) for n in range(20)]
    known = fidelity("uno", "zero wait states", few)
    assert known is not None and (known.kind, known.rows, known.covers) == ("range seen", 20, "86 %")
    assert known.difference == max(abs(each.share) + each.spread for each in few)
    assert known.told == "± 1.2 %, range seen of 20 rows, covers 86 % (C built by gcc-0)"
    one = fidelity("uno", "zero wait states", few[:1])
    assert one is not None and "range seen of 1 row, covers 5 %" in one.told
    many = fidelity("uno", "zero wait states", [made(1600.0 + n) for n in range(93)])
    assert many is not None and (many.kind, many.covers) == ("error bound", "95 %")
    assert many.difference == made(1691.0).share, "the 92nd of 93"


def test_the_order_statistic_is_the_least_that_covers_enough() -> None:
    """By its definition: at most so many of n rows are outside with a chance of 5 % each."""
    for count in (59, 100, 181, 400):
        rank, _ = covering(count)

        def confidence(below: int, count: int = count) -> float:
            return sum(math.comb(count, k) * 0.95**k * 0.05 ** (count - k) for k in range(below))

        assert confidence(rank) >= 0.95 > confidence(rank - 1)


def test_a_bound_names_the_code_that_it_is_of() -> None:
    conditions = {name: known.condition for name, known in recorded_bounds().items()}
    assert conditions["pico2"] == "assembly alone"
    assert conditions["nrf52840"] == "C built by gcc-8 as the rows were"
    agreed = "C on which gcc-8, gcc-12 and gcc-14 differ by at most 3 %"
    assert conditions["due"] == conditions["mkrzero"] == agreed
    assert conditions["uno"] == "assembly; C on which gcc-5.4 and gcc-14 differ by at most 3 %"


def test_a_bound_is_rounded_up() -> None:
    known = fidelity("uno", "zero wait states", [made(1600.0 * 1.0201)])
    assert known is not None and known.text == "± 2.1 %"
    exact = fidelity("uno", "zero wait states", [made(1632.0)])
    assert exact is not None and exact.text == "± 2 %"


def test_excluded_code_has_residuals_but_no_score() -> None:
    row = replace(ROW, code="ctz/cifra src/sha512.c")
    own = made(1200.0, row=row)
    assert own.scoring == "excluded" and own.share == pytest.approx(-0.25)
    assert fidelity("uno", "zero wait states", [own]) is None
    left_out = fidelity("uno", "zero wait states", [own], "excluded")
    assert left_out is not None and left_out.worst == pytest.approx(0.25)


NIST = "usnistgov/Lightweight-Cryptography-Benchmarking implementations/"


def of(_name: str, *cycles: float) -> HardwareFigures:
    runs = tuple(TimedRun(f"gcc-{n}", "gcc", "00", each) for n, each in enumerate(cycles))
    return HardwareFigures(runs, "", "", "")


def test_a_series_is_compared_by_what_a_row_takes_more_than_its_shortest() -> None:
    first, second = rows()["h0566"], rows()["h0571"]  # 0 and 512 bytes: 13,991 and 101,977 cycles
    assert first.code.startswith(NIST) and shortest(second) == first
    found = residuals({"h0566": of("h0566", 4518, 4613), "h0571": of("h0571", 89762, 89525)}, OPEN)
    own = found["h0571"]
    assert (own.published, own.less) == (101977 - 13991, first)
    assert own.cycles == ((89762 - 4518) + (89525 - 4613)) / 2
    assert own.spread == pytest.approx((89762 - 4518) / (89525 - 4613) - 1)
    assert own.share == pytest.approx(own.cycles / 87986 - 1)
    assert own.title.endswith("512 bytes, less those of 0 bytes")
    assert found["h0566"].scoring == "shortest of its series" and found["h0566"].published == 13991


def test_a_row_whose_shortest_was_not_run_is_not_scored() -> None:
    found = residuals({"h0571": of("h0571", 89762)}, OPEN)
    assert found["h0571"].scoring == "its shortest message was not run"
    assert found["h0571"].published == 101977


def test_two_readings_of_a_clock_are_off_by_two_steps() -> None:
    long = rows()["h0752"]  # on the Due, in steps of 1 us
    found = residuals({"h0748": of("h0748", 4788), "h0752": of("h0752", 39519)}, settings())
    assert shortest(long).id == "h0748" and found["h0752"].resolution == 2 * long.resolution == 2
    assert found["h0752"].ours == pytest.approx((39519 - 4788) / 84)


def test_a_toolchain_that_did_not_build_the_shortest_has_no_difference() -> None:
    short, long = of("h0566", 4000), of("h0571", 90000, 99999)
    assert residuals({"h0566": short, "h0571": long}, OPEN)["h0571"].cycles == 86000


def test_where_the_compiler_is_known_its_runs_alone_count() -> None:
    row = rows()["h0586"]  # NIST's, on the nRF52840
    chip = Chip("nRF52840", "nrf52840", "cached")
    runs = [TimedRun("gcc-8", "gcc", "00", 9000.0), TimedRun("gcc-12", "gcc", "00", 5000.0)]
    own = residual(row, chip, HardwareFigures(tuple(runs), "", "", ""), settings(), None)
    assert (own.cycles, own.spread) == (9000.0, 0.0)
    other = residual(row, chip, HardwareFigures(tuple(runs[1:]), "", "", ""), settings(), None)
    assert (other.cycles, other.scoring) == (5000.0, "not built by its compiler")
    alone = residual(
        replace(row, code=row.code + "x"), chip, HardwareFigures(tuple(runs[1:]), "", "", ""), FREE, None
    )
    assert alone.scoring == "not built by its compiler"
    assembly = replace(row, language="asm")
    assert residual(assembly, chip, HardwareFigures(tuple(runs[1:]), "", "", ""), FREE, None).scored


def test_known_compilers_are_toolchains_that_compile_for_their_devices() -> None:
    catalog = Catalog.load()
    assert settings().compilers_known
    for each in settings().compilers_known:
        command = catalog.device(each.device).compiler.command
        assert catalog.toolchain(each.toolchain).target_for(command) is not None


def test_rows_of_one_length_and_of_other_sources_count_as_a_whole() -> None:
    assert shortest(rows()["h0002"]) == rows()["h0002"]
    own = residuals({"h0004": of("h0004", 634.7)}, settings())["h0004"]
    assert own.less is None and own.share == pytest.approx(0)
