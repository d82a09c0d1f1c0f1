"""What docs/hardware.md states of the rows is what the recorded runs and the study's rules give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from documented import missing
from motecrypt.adviser.hardware.recorded import recorded_residuals
from motecrypt.adviser.hardware.residuals import (
    EXCLUDED,
    SCORED,
    SEEN,
    SHORTEST,
    Fidelity,
    Residual,
    fidelity,
    residuals,
)
from motecrypt.adviser.hardware.rows import settings

PAGE = "hardware.md"


def _of(device: str, scoring: str = "") -> list[Residual]:
    found = [each for each in recorded_residuals() if each.chip.device == device]
    return [each for each in found if scoring in ("", each.scoring)]


@cache
def _built(*, variant: bool) -> dict[str, Residual]:
    """The residuals of the Due by its toolchains alone, or by their variants alone."""
    kept = {
        each.row.id: replace(
            each.figures, runs=tuple(run for run in each.figures.runs if bool(run.variant) == variant)
        )
        for each in _of("due")
    }
    return residuals({name: figures for name, figures in kept.items() if figures.runs}, settings())


def _shares(code: str, flags: str = "", *, variant: bool) -> list[float]:
    """How far the Due's rows of code with such an end or part are from the publication, in per cent."""
    found = [
        each
        for name, each in _built(variant=variant).items()
        if code in each.row.code + "\n" and flags in each.row.flags and (each.less or "Crypto " in code)
        if name in _built(variant=True)
    ]
    assert found, code
    return [100 * each.share for each in found]


def _range(values: Iterable[float], form: str = ".0f") -> str:
    known = sorted(abs(value) for value in values)
    low, high = f"{known[0]:{form}}", f"{known[-1]:{form}}"
    return low if low == high else f"{low} to {high}"


def _score(device: str, scoring: str = SCORED) -> Fidelity:
    found = fidelity(device, "", _of(device), scoring)
    assert found is not None
    return found


def test_the_limits_of_scored_and_matching_rows_are_those_of_the_study() -> None:
    rules = settings()
    plain, cached = (100 * rules.goals[name].percentile_95 for name in ("zero wait states", "cached"))
    told = f"differ by at most {100 * rules.compilers:g} %"
    goals = f"({plain:g} % without wait states, {cached:g} % with a cache)"
    assert missing(PAGE, told, goals) == []


def test_what_does_not_depend_on_the_length() -> None:
    def more(device: str) -> list[float]:
        """What the shortest messages of Mbed TLS's GCM take more in the publication than here, in cycles."""
        rows = [row for row in _of(device, SHORTEST) if "aes-gcm/mbedtls" in row.row.code]
        clock_mhz = {row.row.unit: 1.0 if row.row.unit == "cycles" else row.row.clock_mhz for row in rows}
        return [clock_mhz[row.row.unit] * (row.published - row.ours) for row in rows]

    told = {
        name: _range((round(v, -2) for v in more(name)), ",.0f") for name in ("nrf52840", "mkrzero", "due")
    }
    assert (
        missing(
            PAGE,
            f"{told['nrf52840']} cycles more than here for Mbed TLS's GCM on the nRF52840, "
            f"{told['mkrzero']} on the SAMD21, and {told['due']} on the Due",
        )
        == []
    )


def test_what_the_variant_of_64_bit_values_changes() -> None:
    families = ("/ref\n", "/opt64_lowsize\n", "aes-gcm/mbedtls", "Crypto SHA3_256\n")
    below = [share for code in families for share in _shares(code, variant=False)]
    gcm = {way: _shares("aes-gcm/mbedtls", variant=way) for way in (True, False)}
    ref = {way: _shares("ascon128v12/ref\n", "-Os", variant=way) for way in (True, False)}
    without = fidelity("due", "", _built(variant=False).values())
    assert without is not None and max(below) < 0 and max(gcm[True]) < 0 < min(ref[True])
    assert (
        missing(
            PAGE,
            f"Mbed TLS's GCM and SHA-3 are {_range(below)} % below the published cycles without it",
            f"Mbed TLS's GCM is {_range(gcm[True])} % too low instead of {_range(gcm[False])} %, and "
            f"`ref` with -Os {_range(ref[True])} % too high instead of {_range(ref[False])} % too low",
            f"Without the variant {without.rows} of the Due's rows would be scored, and their 95th "
            f"percentile "
            f"would be {100 * without.percentile_95:.0f} %",
        )
        == []
    )


def test_how_many_rows_are_scored() -> None:
    due, samd, nrf = (_score(name).rows for name in ("due", "mkrzero", "nrf52840"))
    assert (
        missing(
            PAGE,
            f"and {due} with `gcc-8` too; of the SAMD21's 15 rows {samd}.",
            f"{nrf} are scored instead of 91",
        )
        == []
    )


def test_what_the_rules_of_the_nrf52840_give_and_what_is_left() -> None:
    scored, seen = _score("nrf52840"), _score("nrf52840", SEEN)

    far = [row for row in _of("nrf52840", SCORED) if abs(row.share) > 0.06]

    def xoodyak(flags: str) -> str:
        rows = [row for row in far if "XKCP-ARMv6M" in row.row.code and row.row.flags == flags]
        return _range(100 * row.share for row in rows).replace(" to ", " and ")

    sha = [100 * row.share for row in _of("nrf52840", SCORED) if "otte_armcryptolib" in row.row.code]
    ascon = [100 * row.share for row in far if "/armv6m" in row.row.code and row.row.message_bytes == "16"]
    assert max(sha) < 0 and max(ascon) < 0 and len(far) == 3 + len(sha) + len(ascon)
    three = [f"{100 * value:.1f} %" for value in (scored.median, scored.percentile_95, scored.worst)]
    assert (
        missing(
            PAGE,
            f"| and code taken word by word | {scored.rows} | {' | '.join(three)} |",
            f"median of 1.2 % to {100 * seen.median:.1f} % with it, and their 95th percentile from 6.0 to "
            f"{100 * seen.percentile_95:.1f} %",
            f"({xoodyak('-Os')} % too high with -Os, {xoodyak('-O2')} % with -O2)",
            f"`otte_armcryptolib` is {_range(sha)} % too low",
            f"are {_range(ascon)} % too low, for a reason that is not known",
        )
        == []
    )


def test_what_the_rows_of_an_old_compiler_come_to() -> None:
    rows = [*_of("stm32f4", EXCLUDED), *_of("stm32l1", EXCLUDED)]
    agreed = [row for row in rows if row.spread < 0.03]
    far = [100 * row.share for row in agreed if row.share < -0.15]
    sound = [row for row in rows if row.row.cipher in ("SHA-256", "AES-128-GCM", "HMAC-SHA256")]
    assert len(sound) == 6 and max(abs(row.share) for row in sound) < 0.02
    counted = [_bounded(device) for device in ("stm32f4", "stm32l1")]
    assert (
        missing(
            PAGE,
            f"differ by less than 3 % on {len(agreed)} of these {len(rows)} rows, but are {_range(far)} % "
            "below the published cycles of some",
            f"the ± of `stm32f4` and `stm32l1` {_range(counted)} %",
            "SHA-256, GCM and HMAC, on which compilers have less to gain, are within 2 %.",
        )
        == []
    )


def _bounded(device: str) -> float:
    """The difference of a device in per cent if the excluded rows counted as the others do."""
    rows: Sequence[Residual] = [
        replace(row, scoring=SCORED)
        if row.scoring == EXCLUDED and row.spread <= settings().compilers
        else row
        for row in _of(device)
    ]
    found = fidelity(device, "", rows)
    assert found is not None
    return 100 * found.difference
