"""`measure` ranks what can be compared, names the best first, and ends with the command that comes next."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from motecrypt.adviser.hardware.bounds import bound_text, bound_told
from motecrypt.adviser.publickey.rows import PublishedOperation, kept_records
from motecrypt.base.model import Measurement
from motecrypt.catalog import Catalog
from motecrypt.cli import application
from motecrypt.cli._output import show
from motecrypt.present.terminal.by_device import by_device_documents, by_device_view
from motecrypt.present.terminal.measurements import best_of, measurements_view, ranked_documents, ranked_view
from motecrypt.present.terminal.ranking import RankedMeasurement, ranked, smallest

BASE: dict[str, Any] = {
    "device": "uno",
    "library": "motecrypt",
    "configuration": "default",
    "cipher": "aes128-ccm8",
    "variant": "fast",
    "key_bits": 128,
    "operation": "encrypt",
    "message_bytes": 16,
    "ad_bytes": 0,
    "tag_bytes": 8,
    "placement": "flash",
    "cache": "none",
    "cycles_min": 1,
    "cycles_median": 1000,
    "cycles_max": 1,
    "inputs": 8,
    "timing_varies": False,
    "time_us": 1.0,
    "flash_bytes": 500,
    "flash_symbol_bytes": 1,
    "ram_bytes": 10,
    "eeprom_bytes": 0,
    "stack_bytes": 20,
    "status": "ok",
    "reason": "",
    "compiler": "c",
    "flags": "-Os",
    "runner": "r",
    "cycles_exact": True,
    "elf_sha256": "",
    "measured_at": "",
    "motecrypt_version": "",
}


def made(cycles: int | None = 1000, **changes: Any) -> Measurement:
    return Measurement(**{**BASE, "cycles_median": cycles, **changes})


def short(places: list[RankedMeasurement]) -> list[tuple[str, int | None, int, int, bool]]:
    return [(p.measurement.variant, p.measurement.cycles_median, p.rank, p.of, p.best) for p in places]


def test_the_fastest_comes_first_and_equals_share_a_rank() -> None:
    places = ranked(
        [made(30, variant="a"), made(10, variant="b"), made(30, variant="c"), made(40, variant="d")]
    )
    assert short(places) == [
        ("b", 10, 1, 4, True),
        ("a", 30, 2, 4, False),
        ("c", 30, 2, 4, False),
        ("d", 40, 4, 4, False),
    ]
    assert [p.best for p in ranked([made(10), made(10), made(11)])] == [True, True, False]


@pytest.mark.parametrize(
    "change",
    [
        {"device": "pico"},
        {"key_bits": 256},
        {"tag_bytes": 0},
        {"cache": "cold"},
        {"operation": "decrypt"},
        {"message_bytes": 32},
        {"ad_bytes": 4},
    ],
)
def test_what_differs_so_is_not_compared(change: dict[str, Any]) -> None:
    assert [(p.rank, p.of, p.best) for p in ranked([made(20), made(10, **change)])] == [(1, 1, False)] * 2


def test_what_differs_otherwise_is() -> None:
    for change in (
        {"placement": "ram"},
        {"tag_bytes": 16},
        {"cipher": "x"},
        {"flags": "-O3"},
        {"library": "y"},
    ):
        assert [p.rank for p in ranked([made(20), made(10, **change)])] == [1, 2], change


def test_what_did_not_run_has_no_place() -> None:
    assert ranked([made(None, status="does-not-fit"), made(10, status="wrong-output")]) == []


def test_a_broken_cipher_is_ranked_and_never_the_best() -> None:
    every = [made(10, cipher="rc4d", flash_bytes=1), made(20), made(20, variant="z"), made(30)]
    places = ranked(every, {"rc4d"})
    assert [(p.rank, p.best) for p in places] == [(1, False), (2, True), (2, True), (4, False)]
    assert not any(p.best for p in ranked(every, {"rc4d", "aes128-ccm8"}))
    assert smallest(places, places[0].group, {"rc4d"}) == every[1]
    assert smallest(places, places[0].group) == every[0]
    assert smallest(places, places[0].group, {"rc4d", "aes128-ccm8"}) is None


def test_of_the_same_flash_the_one_with_less_ram_is_smaller() -> None:
    places = ranked([made(10), made(20, ram_bytes=9), made(30, ram_bytes=9), made(40, flash_bytes=None)])
    assert smallest(places, places[0].group) == places[1].measurement


def printed(capsys: pytest.CaptureFixture[str], *measurements: Measurement) -> tuple[str, Measurement | None]:
    catalog = Catalog.load()
    show(*ranked_view(measurements, catalog))
    best = best_of(measurements, catalog)
    return " ".join(capsys.readouterr().out.split()), best


def test_the_best_is_named_first_with_the_smallest(capsys: pytest.CaptureFixture[str]) -> None:
    small = made(2000, variant="tiny", flash_bytes=400, placement="ram")
    out, best = printed(capsys, made(3000, variant="slow"), small, made(1000), made(5, operation="setup"))
    assert out.startswith(
        "Best: encrypt 16 bytes on uno (128-bit key, authenticated): aes128-ccm8 motecrypt/fast, 1,000 "
        "cycles; smallest: aes128-ccm8 motecrypt/tiny in ram, 400 bytes of flash Measurements"
    )
    assert best is not None and best.cycles_median == 1000
    assert "1 best uno" in out and "2 uno" in out and "3 uno" in out
    broken, best = printed(capsys, made(1, cipher="rc4d", tag_bytes=0), made(2, cipher="rc4d", tag_bytes=0))
    assert "(128-bit key, not authenticated): none, all of these ciphers are broken" in broken
    assert best is None and "best" not in broken.split("Measurements")[1].split("rank:")[0]
    several, _ = printed(capsys, *(made(m, message_bytes=n) for n in range(1, 8) for m in (5, 6)))
    assert several.count("Best: ") == 4 and "More: 3 groups: see 'best' in the table" in several
    cold, _ = printed(capsys, made(5, cache="cold"), made(6, cache="cold", flags_asked="-O3 -flto -g"))
    assert "authenticated, cold cache): aes128-ccm8 motecrypt/fast, 5 cycles" in cold


def test_one_alone_has_no_rank_and_is_still_the_next_step(capsys: pytest.CaptureFixture[str]) -> None:
    out, best = printed(capsys, made(7))
    assert "rank" not in out and "Best" not in out and best is not None
    assert printed(capsys, made(7, cipher="rc4d"))[1] is None
    out, best = printed(capsys, made(None, status="crashed", reason="it fell"))
    assert best is None and "Did not run" in out and "it fell" in out and "Measurements" not in out


def run(*arguments: str) -> Result:
    return CliRunner().invoke(application, ["measure", *arguments])


def test_the_command_says_what_json_says_and_what_comes_next(tmp_path: Any) -> None:
    asked = ["--cipher", "rc4d", "--variant", "k-opt", "--variant", "k-plain", "--bytes", "32"]
    asked += ["--db", str(tmp_path / "r.db")]
    rows = json.loads(run(*asked, "--json").stdout)
    assert {row["rank_of"] for row in rows} == {2} and not any(row["best"] for row in rows)
    assert sorted(row["rank"] for row in rows if row["operation"] == "encrypt") == [1, 2]
    assert "Next:" not in run(*asked).stdout, "of broken ciphers none is recommended"
    sound = ["--cipher", "aes128-ccm8", "--variant", "tiny", "--variant", "small", "--placement", "flash"]
    out = run(*sound, "--db", str(tmp_path / "r.db")).stdout
    rows = json.loads(run(*sound, "--db", str(tmp_path / "r.db"), "--json").stdout)
    bounds = {row["device"]: row["range_seen"] for row in rows}
    assert bounds["uno"] == bound_text("uno") != ""
    assert f"real chips: uno {bound_told('uno')}; covers: at least" in " ".join(out.split())
    (best,) = [row for row in rows if row["best"] and row["operation"] == "encrypt"]
    assert f"aes128-ccm8 motecrypt/{best['variant']}, {best['cycles_median']:,} cycles" in " ".join(
        out.split()
    )
    last = out.rstrip().splitlines()[-1]
    assert last == f"Next: motecrypt export arduino DIR --cipher aes128-ccm8 --variant {best['variant']}"


AGREES: dict[str, Any] = {
    "device": "pico",
    "library": "bearssl",
    "cipher": "x25519",
    "variant": "m15",
    "operation": "agree",
    "message_bytes": 0,
}


def _agreement(cycles: int, **changes: Any) -> Measurement:
    return made(cycles, **{**AGREES, "cache": "warm", **changes})


def _public_code() -> PublishedOperation:
    found = [
        r for r in kept_records() if (r.algorithm, r.operation) == ("x25519", "agree") and "pico" in r.devices
    ]
    return min(found, key=lambda record: record.cycles)


def test_public_key_operations_say_how_far_they_are_behind_public_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = _public_code()
    slow, slower, level = (
        _agreement(round(code.cycles * times), variant=name)
        for name, times in (("m15", 2.5), ("m31", 4.0), ("level", 1.0))
    )
    show(*ranked_view([slow, slower], Catalog.load()))
    shown = " ".join(capsys.readouterr().out.split())
    assert f"{slow.cycles_median:,} cycles, 2.5 times public code ({code.code})" in shown
    assert f"{slower.cycles_median:,} 4.0 times" in shown and "of public code" in shown
    assert f"x25519 agree takes 4.0 times the cycles of public code ({code.code})" in shown
    show(*measurements_view([slow], Catalog.load()))
    assert "2.5 times" in capsys.readouterr().out
    for none in ([level], [_agreement(4 * code.cycles, cache="cold")], [made(1000)]):
        show(*ranked_view(none, Catalog.load()))
        assert "public code" not in capsys.readouterr().out


def test_public_code_is_in_the_json_of_public_key_operations_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = _public_code()
    several = [_agreement(3 * code.cycles), _agreement(code.cycles), made(1000)]
    behind, level, cipher = ranked_documents(several, Catalog.load())
    names = ("public_code", "public_code_cycles", "times_public_code")
    assert [behind[name] for name in names] == [code.code, code.cycles, 3.0]
    assert [level[name] for name in names] == [None, None, None] and not set(names) & set(cipher)
    (told,) = by_device_documents([_agreement(3 * code.cycles)])
    assert told["times_public_code"] == 3.0
    show(*by_device_view([_agreement(3 * code.cycles)], Catalog.load()))
    assert "(3.0 times public code)" in capsys.readouterr().out
