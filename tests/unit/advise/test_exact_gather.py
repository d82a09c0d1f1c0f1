"""How the adviser's records are gathered from measurements, the catalog and the file of supplies, exactly."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from advise_parts import CATALOG, SRF

from made_rows import candidates_of
from motecrypt.adviser import api as advise
from motecrypt.adviser import exported, gather
from motecrypt.air.radios import load_radio, radio_names
from motecrypt.base.errors import InputError
from motecrypt.base.model import Measurement
from motecrypt.catalog import DATA

UNO, PICO = CATALOG.device("uno"), CATALOG.device("pico")
CCM = CATALOG.ciphers["aes128-ccm8"]
FAST = next(b for b in CATALOG.implementations_of("aes128-ccm8", "uno", ["motecrypt"]) if b.variant == "fast")


def measured(**changes: Any) -> Measurement:
    """A measurement of the fast AES-CCM on an UNO."""
    usual: dict[str, Any] = {
        "device": "uno",
        "cipher": "aes128-ccm8",
        "library": FAST.library,
        "configuration": FAST.configuration,
        "variant": FAST.variant,
        "key_bits": 128,
        "placement": "flash",
        "cache": "none",
        "operation": "encrypt",
        "message_bytes": 16,
        "ad_bytes": 0,
        "cycles_min": 5,
        "cycles_median": 5,
        "cycles_max": 5,
        "timing_varies": False,
        "flash_bytes": 30,
        "ram_bytes": 20,
        "stack_bytes": 10,
        "status": "ok",
        "reason": "",
        "flags_asked": "",
        "extra": {},
    }
    fields = dict.fromkeys(Measurement.__dataclass_fields__)
    return Measurement(**{**fields, **usual, **changes})  # type: ignore[arg-type]


def whole(message_bytes: int = 16, **changes: Any) -> list[Measurement]:
    """Set-up, encryption and decryption of one length."""
    cycles = {"setup": 7, "encrypt": 100, "decrypt": 200}
    return [
        measured(
            **{
                "operation": name,
                "message_bytes": message_bytes,
                "cycles_median": value + message_bytes,
                **changes,
            }
        )
        for name, value in cycles.items()
    ]


def candidate(*given: Measurement, cache: str = "none") -> advise.Candidate:
    return gather.candidate(CCM, FAST, 128, "flash", cache, given)


FAILED = {"status": "does-not-fit", "reason": "no room", "flash_bytes": 9, "ram_bytes": None}


def test_a_candidate_has_the_points_that_are_whole() -> None:
    made = candidate(*whole(32), *whole(16)[:2], *whole(1, stack_bytes=12), measured(**FAILED))
    assert made.points == (advise.Point(1, 8, 101, 201), advise.Point(32, 39, 132, 232))
    assert (made.flash_bytes, made.ram_bytes, made.stack_bytes) == (30, 20, 12)
    assert (made.status, made.reason, made.timing_varies) == ("ok", "", False)
    assert (made.name, made.nonce, made.nonce_bytes, made.tag_bytes) == (
        *("aes128-ccm8 motecrypt/fast", "counter", CCM.nonce_bytes),
        8,
    )
    assert candidate(*whole(16, cycles_median=None)).points == (advise.Point(16, 0, 0, 0),)
    assert candidate(*whole(16, stack_bytes=None)).stack_bytes is None


def test_a_candidate_without_a_whole_length_says_why() -> None:
    none = candidate(*whole(16)[:2])
    assert (none.status, none.reason, none.flash_bytes, none.ram_bytes) == (
        "not measured",
        "not measured",
        None,
        None,
    )
    failed = candidate(*whole(16)[:2], measured(**FAILED), measured(status="fault", reason="other"))
    assert (failed.status, failed.reason, failed.flash_bytes, failed.ram_bytes) == (
        "does-not-fit",
        "no room",
        9,
        None,
    )
    short = {"memory": "ram", "needed": 3048, "available": 2048}
    by = candidate(measured(**{**FAILED, "extra": {"shortfall": short}}))
    assert by.reason == "no room, 1,000 too many"
    wrong = candidate(measured(status="wrong-output", reason="byte 3 differs"))
    assert wrong.reason == "gives wrong outputs here: byte 3 differs"
    built = {"status": "build-failed", "reason": "exit code 1"}
    assert candidate(measured(**built)).reason == "does not build: exit code 1"
    assert (
        candidate(measured(**built, extra={"cause": "no register"})).reason == "does not build: no register"
    )


def test_when_the_time_of_a_candidate_varies() -> None:
    assert candidate(*whole(16, cycles_max=6)).timing_varies
    addresses = whole(16, timing_varies=True)
    assert not candidate(*addresses).timing_varies  # no cache, no difference
    assert candidate(*addresses, cache="cold").timing_varies
    assert not candidate(*whole(16, timing_varies=None), cache="cold").timing_varies
    assert not candidate(*whole(16), *whole(8, cycles_max=6)[:2]).timing_varies


@pytest.mark.parametrize(
    ("name", "kind"),
    [("aes128-cbc", "random"), ("aes128-cts", "random"), ("aes128-ctr", "counter"), ("aes128-ecb", "none")],
)
def test_how_nonces_are_made(name: str, kind: str) -> None:
    assert gather.nonce_kind(CATALOG.ciphers[name]) == kind


def test_measurements_go_to_their_candidates() -> None:
    given = [
        *(measured(flags_asked="-O3", cycles_median=1), measured(ad_bytes=8, cycles_median=2)),
        *(measured(device="pico", cycles_median=3), measured(cycles_median=4), measured(cycles_median=5)),
        *(measured(key_bits=256), measured(placement="ram"), measured(cache="cold"), measured(variant="x")),
        *(measured(operation="setup"), measured(message_bytes=8)),
    ]
    found = gather.by_candidate(UNO, given)
    key = gather.candidate_key(FAST, 128, "flash", "none")
    assert [m.cycles_median for m in found[key]] == [4, 5, 5] and len(found) == 5
    made = advise.candidates_from(CATALOG, UNO, [*whole(4), *whole(4, flags_asked="-O3")])
    assert [c.points for c in made if c.points] == [(advise.Point(4, 11, 104, 204),)]
    assert len(made) == len(advise.placed(CATALOG, UNO))


def test_what_is_weighed_is_where_it_can_lie() -> None:
    def body(*placements: str, bits: tuple[int, ...] = (128,), runs: bool = True) -> Any:
        return SimpleNamespace(runs_on=lambda core: runs, placements=placements, key_bits=bits)

    def device(**caches: tuple[str, ...]) -> Any:
        places = {name: SimpleNamespace(caches=own) for name, own in caches.items()}
        return SimpleNamespace(core="x", placements=places)

    def weighed(one: Any, at: Any) -> list[tuple[Any, ...]]:
        return [row[1:] for row in advise.placed(SimpleNamespace(implementations=[one]), at)]  # type: ignore[arg-type]

    both = device(flash=("warm", "cold"), ram=("none",))
    assert weighed(body(bits=(128, 256)), both) == [(128, "flash", "cold"), (256, "flash", "cold")]
    assert weighed(body("ram", "flash"), both) == [(128, "flash", "cold"), (128, "ram", "none")]
    assert weighed(body("ram"), device(flash=("warm", "none"), eeprom=("none",))) == [(128, "flash", "warm")]
    assert weighed(body("ram"), both) == [(128, "ram", "none")] and weighed(body(runs=False), both) == []


# --- devices and radios ------------------------------------------------------------------------------


def test_a_device_is_read_from_its_folder() -> None:
    currents = {(c.state, c.of): c.milliamperes for c in UNO.currents}
    part = advise.device_part(UNO)
    assert (part.name, part.title, part.of, part.sleeps) == ("uno", "Arduino UNO R3", "board", False)
    assert (part.clock_hz, part.flash_bytes, part.ram_bytes) == (
        *(UNO.clock_hz, UNO.memory["flash"].bytes),
        UNO.memory["ram"].bytes,
    )
    assert (part.volts, part.volts_min, part.volts_max) == (UNO.volts, UNO.volts_min, UNO.volts_max)
    assert (part.active_ma, part.sleep_ma) == (currents["active", "board"], currents["sleep", "board"])
    assert (part.wake_us, part.store_byte_us) == (UNO.extra["wake_us"], UNO.extra["store_byte_us"])
    assert part.message_bytes_max == UNO.bench["message"]
    bare = replace(UNO, extra={}, currents=tuple(c for c in UNO.currents if c.state != "idle"))
    made = advise.device_part(bare, "chip", sleeps=True)
    assert (made.wake_us, made.store_byte_us, made.sleeps) == (0.0, 0.0, True)
    assert made.idle_ma == made.active_ma == currents["active", "chip"]


def test_a_device_that_cannot_be_weighed_is_refused() -> None:
    def refused(device: Any, of: str = "board") -> str:
        with pytest.raises(InputError) as told:
            advise.device_part(device, of)
        return str(told.value)

    def without(state: str, of: str = "") -> Any:
        kept = (c for c in UNO.currents if c.state != state or (of and c.of != of))
        return replace(UNO, currents=tuple(kept))

    rest = "current, so its battery life cannot be computed; choose another device ('motecrypt list devices')"
    none = f"its folder has no 'active' {rest}"
    assert refused(CATALOG.device("host")) == f"host: {none}"
    assert refused(without("active")) == f"uno: {none}"
    with pytest.raises(InputError) as told:
        advise.device_part(without("sleep"), sleeps=True)
    assert str(told.value) == f"uno: its folder has no 'active' and 'sleep' {rest}"
    awake = without("sleep", "board")
    with pytest.raises(InputError) as told:
        advise.device_part(awake, sleeps=True)
    asleep = "uno: its folder has no current asleep of the stock board; use --bare-chip for the chip alone"
    assert str(told.value) == asleep
    assert advise.device_part(awake).sleep_ma == 46.5, "a program that never sleeps needs no such figure"
    assert advise.weighable(awake, "board", False) and not advise.weighable(awake, "board")
    assert not advise.weighable(without("active"), "board", False)
    flash = {"flash": UNO.memory["flash"]}
    assert refused(replace(UNO, memory=flash)).endswith(none)
    assert not advise.weighable(replace(UNO, memory=flash), "board") and advise.weighable(UNO, "board")
    board = replace(UNO, currents=tuple(c for c in UNO.currents if c.of == "board"))
    assert refused(board, "chip") == ("uno: its folder has no currents of the chip alone; omit --bare-chip")
    assert [advise.device_part(PICO, of).sleep_ma for of in ("board", "chip")] == [2.6, 1.5]
    chip = replace(UNO, currents=tuple(c for c in UNO.currents if c.of == "chip"))
    assert refused(chip) == (
        "uno: its folder has no currents of the stock board; use --bare-chip for the chip alone"
    )


def test_a_radio_has_a_time_for_each_length() -> None:
    assert len(SRF.air_us) == SRF.packet_bytes + 1 and SRF.air_us[0] == 0.0 < SRF.air_us[1]
    some = next(r for r in map(load_radio, radio_names()) if "sleep_ma" in r.figures)
    few = replace(some, figures={n: f for n, f in some.figures.items() if n not in gather.OPTIONAL})
    part = advise.radio_part(few)
    assert (part.sleep_ma, part.wake_us, part.duty_percent) == (0.0, 0.0, 100.0)
    assert advise.radio_part(some).sleep_ma == some.value("sleep_ma") > 0


def test_which_radios_sleep() -> None:
    other = replace(SRF, name="other", serial_byte_us=0.0)
    assert not advise.sleeps_with(other, ["serial"]) and advise.sleeps_with(other, ["other"])
    assert advise.sleeps_with(replace(other, serial_byte_us=0.5), ["serial"])
    assert not advise.sleeps_with(SRF, ["other"])


# --- supplies ----------------------------------------------------------------------------------------

CELL = """[cell.mine]
title = "Mine"
capacity_mah = 100
volts = 1.5
volts_full = 1.6
volts_empty = 0.9
self_discharge_percent_per_year = 2
pulse_ma = 30
curve = [[1.6, 0.0], [1.2, 0.0], [0.9, 1.0]]
source = "s"
curve_source = "c"
"""
REGULATOR = """[regulator.own]
kind = "switch"
title = "Own"
efficiency = 0.5
quiescent_ma = 0.25
dropout_v = 0.125
volts_in_min = 1.5
volts_in_max = 6
source = "s"
"""


def supplies(folder: Path, text: str) -> Any:
    (folder / "own.toml").write_text(text)
    return gather.read_supplies(folder / "own.toml")


def test_cells_and_regulators_are_read(tmp_path: Path) -> None:
    cells, regulators = supplies(tmp_path, CELL + REGULATOR)
    curve = ((1.6, 0.0), (1.2, 0.0), (0.9, 1.0))
    assert cells == {"mine": advise.BatteryPart("mine", "Mine", 1, 100, 1.5, 1.6, 0.9, 2, 0.0, 30, curve)}
    assert regulators == {"own": advise.RegulatorPart("own", "switch", "Own", 0.5, 0.25, 0.125, 1.5, 6)}
    assert list(gather.read_supplies(DATA / "batteries.toml")[0]) == advise.cell_names()
    assert list(gather.read_supplies(DATA / "batteries.toml")[1]) == advise.regulator_names()
    for old, new in (("volts = 1.5", "volts = 1.6"), ("volts = 1.5", "volts = 0.91")):
        supplies(tmp_path, CELL.replace(old, new) + REGULATOR)
    aged = supplies(tmp_path, f'{CELL}shelf_years = 3\nshelf_source = "s"\n{REGULATOR}')[0]
    assert aged["mine"].shelf_years == 3.0


ORDER = "needs volts_empty < volts <= volts_full"
CURVE = "'curve' needs falling volts and the charge used, from 0 to 1"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        *(("volts = 1.5", "volts = 0.9", ORDER), ("volts = 1.5", "volts = 1.61", ORDER)),
        (
            'curve_source = "c"',
            'curve_source = "c"\nshelf_years = 1',
            "'shelf_years' needs its 'shelf_source'",
        ),
        (
            'curve_source = "c"',
            'curve_source = "c"\nshelf_years = 1\nshelf_source = " "',
            "'shelf_years' needs its 'shelf_source'",
        ),
        ("[[1.6, 0.0], [1.2, 0.0], [0.9, 1.0]]", "[]", CURVE),
        ("[[1.6, 0.0], [1.2, 0.0], [0.9, 1.0]]", "[[1.6, 0.0]]", CURVE),
        ("[1.2, 0.0]", "[1.6, 0.0]", CURVE),
        ("[1.2, 0.0]", "[1.2, 0.5], [1.1, 0.4]", CURVE),
        ("[1.6, 0.0]", "[1.6, 0.1]", CURVE),
        ("[0.9, 1.0]", "[0.9, 0.9]", CURVE),
        ("[0.9, 1.0]", "[0.9, 1.1]", CURVE),
        ('title = "Mine"', 'title = " "', "title"),
        ('source = "s"\ncurve', "curve", "source"),
        ('curve_source = "c"', 'curve_source = ""', "curve_source"),
        ("pulse_ma = 30", "pulse_ma = 30\nmore = 1", "more"),
        ('title = "Own"', 'title = ""', "title"),
        ('kind = "switch"', 'kind = "other"', "kind"),
        ("dropout_v = 0.125", "dropout_v = 0.125\nmore = 1", "more"),
        ("volts_in_max = 6\nsource", "volts_in_max = 6\nno_source", "source"),
        ('volts_in_max = 6\nsource = "s"', 'volts_in_max = 6\nsource = " "', "source"),
        ("[regulator.own]", "[other.own]\n[regulator.own]", "other"),
    ],
)
def test_a_supply_that_is_not_as_it_should_be_is_told(old: str, new: str, said: str, tmp_path: Path) -> None:
    text = CELL + REGULATOR
    assert old in text
    with pytest.raises(InputError, match=re.escape(said)):
        supplies(tmp_path, text.replace(old, new))


def test_unknown_supplies_are_told_with_those_there_are() -> None:
    names, cells = ", ".join(advise.regulator_names()), ", ".join(advise.cell_names())
    with pytest.raises(InputError) as told:
        advise.regulator_part("x")
    assert str(told.value) == f"--regulator 'x': unknown; choose one of {names}"
    for text in ("3x", "x", "AB", "3xAA!", "100xAA", "3 AA"):
        with pytest.raises(InputError) as told:
            advise.battery_part(text)
        assert str(told.value) == (
            f"--battery '{text}': unknown; write 3xAA or 1200mAh,3.7V; available: {cells}"
        )
    for count in (0, 25):
        with pytest.raises(InputError) as told:
            advise.battery_part(f"{count}xAA")
        assert str(told.value) == f"--battery: {count} cells of AA; take 1 to 24"


def test_cells_in_series_add_their_volts() -> None:
    one, four = advise.battery_part("aa"), advise.battery_part(" 4 x AA ")
    assert advise.battery_part("1xAA") == one and (one.name, one.cells) == ("AA", 1)
    assert advise.battery_part("24xAA").cells == 24
    times = {name: 4 * getattr(one, name) for name in ("volts", "volts_full", "volts_empty")}
    curve = tuple((4 * volts, used) for volts, used in one.curve)
    assert asdict(four) == asdict(replace(one, name="4xAA", cells=4, curve=curve, **times))


def test_a_battery_of_ones_own_keeps_its_volts() -> None:
    assert advise.battery_part("1200mAh,4V") == advise.BatteryPart(
        name="1200mAh,4V",
        title="as given; its voltage is assumed constant",
        cells=1,
        capacity_mah=1200,
        volts=4,
        volts_full=4,
        volts_empty=4,
        self_discharge_percent_per_year=0,
        shelf_years=0,
        pulse_ma=float("inf"),
        curve=((4, 0), (4 * 0.999, 1)),
    )


# --- everything as JSON ------------------------------------------------------------------------------


def test_the_export_has_what_was_measured() -> None:
    radio, other = load_radio("srf"), {"cipher": "aes128-cbc", "status": "fault", "reason": "x"}
    sleepers = {"uno": ["serial"], "pico": ["srf"]}
    made = exported.export(
        CATALOG, [*whole(4), *whole(4, cycles_median=1), measured(**other)], [radio], sleepers
    )
    assert list(made["devices"]) == list(made["chips"]) == list(made["candidates"]) == ["uno"]
    assert made["devices"]["uno"] == asdict(advise.device_part(UNO))
    assert made["chips"]["uno"] == asdict(advise.device_part(UNO, "chip"))
    assert made["sleepers"] == {"uno": ["serial"]}
    assert made["radios"] == {"srf": asdict(SRF)}
    assert made["version"] == 5 and made["link"] == asdict(advise.link_facts())
    assert made["cells"] == [asdict(advise.battery_part(name)) for name in advise.cell_names()]
    assert made["regulators"] == {n: asdict(advise.regulator_part(n)) for n in advise.regulator_names()}
    assert made["notes"] == (
        "cycles between two measured lengths are interpolated linearly; outside them: not measured"
    )
    expected = advise.candidates_from(CATALOG, UNO, [*whole(4), measured(**other)])
    assert made["candidates"]["uno"] == [asdict(c) for c in expected]
    assert candidates_of(made, "uno") == expected
    assert sum(bool(c.points) for c in expected) == 1


def test_the_export_leaves_out_what_was_not_measured() -> None:
    exporter = exported.Exporter(CATALOG)
    exporter.add("aes128-ccm8", whole(4, device="pico", status="fault", reason="x"))
    made = exporter.whole()
    assert made["devices"] == made["chips"] == made["candidates"] == made["sleepers"] == {}
    assert list(made["radios"]) == list(radio_names())
    pico = next(one for one in advise.placed(CATALOG, PICO) if one[0].cipher == "aes128-ccm8")
    of = {"library": pico[0].library, "configuration": pico[0].configuration, "variant": pico[0].variant}
    exporter.add("aes128-ccm8", whole(4, device="pico", **of, placement=pico[2], cache=pico[3]))
    made = exporter.whole()
    assert list(made["devices"]) == list(made["chips"]) == ["pico"]


def test_which_boards_can_do_without_bare_chip() -> None:
    """docs/advise.md lists them."""
    devices = CATALOG.devices.values()
    awake = {d.name for d in devices if advise.weighable(d, "board", sleeps=False)}
    asleep = {d.name for d in devices if advise.weighable(d, "board")}
    alone = {"atmega8", "attiny84", "attiny85"}  # chips that are no board
    assert asleep - alone == {"uno", "mega2560", "pico", "pico2"}
    assert awake - asleep == {"nano", "microbit", "due"}
    none = {d.name for d in devices if not advise.weighable(d, "", sleeps=False)}
    assert none >= {"ch32v003", "ch32v003-24mhz", "hifive1", "host"}
