"""What is said where a figure is missing (a current, a time): its name and how to give it; no stand-in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import run
from motecrypt.adviser import api as advise
from motecrypt.adviser.publickey import page_costs
from motecrypt.adviser.publickey.baseline import aes_costs
from motecrypt.adviser.publickey.handshakes import compute, handshakes, year
from motecrypt.adviser.publickey.rows import recorded
from motecrypt.adviser.stored import current_notes
from motecrypt.adviser.unknown import device_notes, radio_notes
from motecrypt.air.radios import load_radio
from motecrypt.air.wlan import account, filecost
from motecrypt.app import wlan
from motecrypt.base.energy import Battery, energy_uj
from motecrypt.base.model import Device, Measurement
from motecrypt.catalog import Catalog
from motecrypt.catalog.processors import processor
from motecrypt.results.experiments.pico_file import storage_times
from motecrypt.studies.rf import asymmetric

CATALOG = Catalog.load()
LAPTOP = processor("sample-700mhz")
BATTERY = Battery(1000, 3.7)


def without(device: Device, *states: str) -> Device:
    return replace(device, currents=tuple(c for c in device.currents if c.state not in states))


def share(device: Device, active_ma: float | None = None) -> account.Share:
    cost = filecost.FileCost(device.name, "i", 128, 0.0, 0.0, 10.0, float(device.clock_hz))
    return account.share(cost, 1000, device, LAPTOP, 1.0, 2.0, BATTERY, active_ma)


def test_a_transfer_counts_no_current_but_the_devices_own() -> None:
    for device in CATALOG.devices.values():
        found, active = share(device), device.current("active")
        if device.runner == "host":
            assert found.energy_model == f"this host's cycles on: {LAPTOP.title}"
        elif active is None:
            assert found.cipher_joule is found.energy_share is found.battery_percent is None, device.name
            assert found.energy_model == f"no active current known: --active-ma {device.name}=MA"
        else:
            own = energy_uj(device.volts, active.milliamperes, found.cipher_seconds * 1e6) / 1e6
            assert found.cipher_joule == own and f"{active.milliamperes:g} mA" in found.energy_model
            assert not active.of or f"mA ({active.of}) x t" in found.energy_model
    large = CATALOG.device("atmega1284p")
    assert large.current("active") is None, "take another device for this test"
    given = share(large, 17.5)
    seconds = 10_000 / 16e6
    assert given.cipher_joule == pytest.approx(5.0 * 0.0175 * seconds)
    assert given.energy_model == "5 V x 17.5 mA (given) x t"
    assert given.energy_share is not None and given.battery_percent is not None


def test_the_table_of_a_transfer_says_which_current_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def cost(device: Device, _: object) -> filecost.FileCost:
        return filecost.FileCost(device.name, "ours/x", 128, 0.0, 0.0, 10.0, float(device.clock_hz))

    monkeypatch.setenv("MOTECRYPT_DB", str(tmp_path / "results.db"))
    monkeypatch.setattr(wlan, "need", lambda _: None)
    monkeypatch.setattr(wlan.bench, "ensure", lambda *_: {})
    monkeypatch.setattr(wlan.filecost, "best", cost)
    file = tmp_path / "data"
    file.write_bytes(bytes(1000))
    asked = ["wlan", str(file), "--cipher", "aes128-ctr", "--closed-form", "--device", "atmega1284p"]
    code, out, err = run(capsys, *asked)
    assert code == 0, err
    (row,) = (line for line in out.splitlines() if line.startswith("atmega1284p"))
    assert row.count("not known") == 3 and row.rstrip().endswith("--active-ma atmega1284p=MA")
    code, out, err = run(capsys, *asked, "--active-ma", "atmega1284p=17.5")
    assert code == 0, err
    assert "5 V x 17.5 mA (given) x t" in out and "not known" not in out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("17.5", "write DEVICE=MA, as in uno=9.2"),
        ("atmega1284p=0", "above 0, up to 10000"),
        ("atmega1284p=nan", "above 0"),
        ("atmega1284p=10001", "above 0"),
        ("pico=9", "add --device pico"),
        ("host=9", "with --processor"),
    ],
)
def test_a_current_that_is_none_or_of_no_use_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: str, said: str
) -> None:
    monkeypatch.setattr(wlan, "need", lambda _: None)
    file = tmp_path / "data"
    file.write_bytes(bytes(1000))
    asked = ["wlan", str(file), "--cipher", "aes128-ctr", "--closed-form", "--device", "atmega1284p"]
    code, out, err = run(capsys, *asked, "--active-ma", given)
    assert (code, out) == (2, "") and said in err and len(err.splitlines()) == 1


def _measured(**changes: object) -> Measurement:
    usual = {"device": "uno", "library": "l", "configuration": "", "variant": "", "key_bits": 128}
    nothing = dict.fromkeys(Measurement.__dataclass_fields__)
    return Measurement(**{**nothing, **usual, "status": "ok", **changes})  # type: ignore[arg-type]


def test_a_set_up_that_failed_is_not_free() -> None:
    uno = CATALOG.device("uno")
    ran = [_measured(operation="encrypt", message_bytes=n, cycles_median=10 * n) for n in (16, 64)]
    free = filecost.best(uno, ran)
    assert free is not None and free.setup_cycles == 0, "no such step"
    failed = _measured(operation="setup", message_bytes=16, cycles_median=None, status="fault")
    assert filecost.best(uno, [*ran, failed]) is None
    paid = filecost.best(uno, [*ran, failed, replace(failed, status="ok", cycles_median=70)])
    assert paid is not None and paid.setup_cycles == 70


def test_a_handshake_on_a_device_without_a_current_has_no_energy() -> None:
    uno, radio, aes = CATALOG.device("uno"), load_radio("srf"), aes_costs()["uno"]
    bare, shake = without(uno, "active"), handshakes()["edhoc"]
    known, missing = (compute(shake, device, recorded(), aes) for device in (uno, bare))
    assert known.energy_uj is not None and known.energy_uj > 0
    assert missing.energy_uj is None and missing.cycles == known.cycles
    assert year(bare, radio, aes).cpu_uj is None
    (line,) = list(page_costs._year([bare], [radio], shake, recorded(), {"uno": aes}))[2:]
    assert line.count(page_costs.NO_CURRENT) == 2
    *_, row = page_costs._computed([shake], [bare], recorded(), {"uno": aes})
    assert page_costs.NO_CURRENT in row
    scheme = next(one for one in asymmetric.SCHEMES if one.handshakes_a_year)
    assert asymmetric._full_time(uno, scheme, recorded(), aes, shake) is not None
    assert asymmetric._full_time(bare, scheme, recorded(), aes, shake) is None


def _told(device: Device, of: str, sleeps: bool = True) -> Sequence[str]:
    return device_notes(advise.device_part(device, of, sleeps), radio=True, counters=True)


def test_the_adviser_says_what_it_does_not_know_of_a_device() -> None:
    uno = CATALOG.device("uno")
    assert _told(uno, "chip") == []
    title = uno.title
    idle = f"The current of {title} while it waits for the radio is not known: its active current is counted."
    wakes = f"How long {title} takes to wake up is not known and not counted: add wake_us to its device.toml."
    stores = (
        f"How long {title} takes to store the link's counters is not known and not counted: add "
        "store_byte_us to its device.toml."
    )
    bare = replace(without(uno, "idle"), extra={})
    assert _told(bare, "chip") == [idle, wakes, stores]
    assert _told(bare, "chip", sleeps=False) == [idle, stores]
    facts = advise.device_part(bare, "chip", sleeps=True)
    assert device_notes(facts, radio=False, counters=False) == [wakes]
    assert _told(replace(uno, extra={**uno.extra, "wake_us": 0.0}), "chip") == [], "0 is a figure"
    for device in CATALOG.devices.values():
        for of in ("board", "chip"):
            if advise.weighable(device, of):
                told = " ".join(_told(device, of))
                assert ("active current is counted" in told) == (device.current("idle", of) is None)
                assert ("wake_us" in told) == ("wake_us" not in device.extra)
                assert ("store_byte_us" in told) == ("store_byte_us" not in device.extra)


def test_a_radio_without_its_current_asleep_is_refused_to_a_node_that_sleeps() -> None:
    srf = load_radio("srf")
    few = replace(srf, figures={n: f for n, f in srf.figures.items() if n not in ("sleep_ma", "wake_us")})
    part = advise.radio_part(few)
    assert part.unknown == ("sleep_ma", "wake_us") and advise.radio_part(srf).unknown == ()
    assert "its file has no 'sleep_ma'" in advise.radio_refusal(part, True)
    assert advise.radio_refusal(part, False) == advise.radio_refusal(advise.radio_part(srf), True) == ""
    assert radio_notes(part, False) == radio_notes(advise.radio_part(srf), True) == []
    assert radio_notes(part, True) == [
        "How long srf takes to wake up is not known and not counted: add wake_us to the radio's file."
    ]


def test_a_radio_file_without_it_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = (Path(advise.__file__).parents[1] / "data" / "radios" / "802.15.4.toml").read_text()
    file = tmp_path / "mine.toml"
    file.write_text("".join(line for line in text.splitlines(True) if not line.startswith("sleep_ma")))
    node = ["--device", "uno", "--radio", str(file), "--battery", "3xAA", "--sleeps"]
    asked = ["advise", *node, "--bytes", "16", "--every", "10min"]
    code, out, err = run(capsys, *asked)
    assert (code, out) == (2, "") and "has no 'sleep_ma'" in err and len(err.splitlines()) == 1


def test_a_storage_whose_rest_is_not_given_says_so() -> None:
    def told(text: str) -> list[str]:
        currents = advise.currents_ma(text)
        return current_notes(advise.storage_part(CATALOG.device("uno"), "sd", storage_times(), currents))

    assert told("30,0.2") == told("30,0") == []
    (note,) = told("30")
    assert note.endswith("between two records is not known and not counted: give it with --storage-ma 30,MA.")
