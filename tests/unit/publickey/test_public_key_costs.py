"""What public-key operations and handshakes cost next to AES: the arithmetic, the data and the claims."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from made_rows import made_public_key
from motecrypt.adviser.publickey.baseline import AesCost, AesRow, aes_costs, aes_text
from motecrypt.adviser.publickey.handshakes import HANDSHAKES, Handshake, compute, handshakes, on_air, year
from motecrypt.adviser.publickey.page_costs import times
from motecrypt.adviser.publickey.rows import recorded
from motecrypt.adviser.publickey.slower import slower
from motecrypt.air.radios import load_radio, radio_names
from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.studies.rf import asymmetric as rf
from motecrypt.studies.wlan import asymmetric as wlan
from motecrypt.studies.wlan.plan import SOURCE

AES = AesCost("uno", "aes128-ccm8", "ours", ((16, 1000), (64, 1600), (256, 4000)), "2026-01-02")
SHAKE = Handshake("toy", "a toy", (24, 12, 24), (("x25519", "agree"), ("x25519", "agree")), 0, "", "")
CATALOG = Catalog.load()
ROW = made_public_key(cycles_min=16_000_000, cycles_max=16_000_000, timing_varies=False)


def test_cycles_are_on_the_line_between_lengths() -> None:
    assert [AES.cycles(n) for n in (16, 40, 64, 160, 256, 1024)] == [1000, 1300, 1600, 2800, 4000, 13600]
    assert AES.block_cycles == 3000 / 15 / 2


def test_aes_rows_are_read_by_device(tmp_path: Path) -> None:
    file = tmp_path / "aes.jsonl"
    rows = [AesRow("uno", "aes128-ccm8", "ours", n, 10 * n, "gcc", "2026-01-02") for n in (64, 16)]
    file.write_text(aes_text(rows))
    assert aes_costs(file)["uno"].points == ((16, 160), (64, 640))
    file.write_text(aes_text(rows[:1]))
    with pytest.raises(InputError, match="two or more lengths of uno"):
        aes_costs(file)
    file.write_text(aes_text([*rows, rows[0]]))
    with pytest.raises(InputError, match="two or more lengths of uno"):
        aes_costs(file)
    assert set(aes_costs()) == {"uno", "pico", "stm32f4", "nrf52840"}


def test_an_operation_is_divided_by_one_message_a_kilobyte_and_a_year() -> None:
    slow = replace(ROW, cycles=99_000_000, implementation="slow")
    (one,) = slower([slow, ROW], {"uno": AES}, {"x25519": ["agree"], "ed25519": ["sign"]})
    assert (one.implementation, one.cycles, one.message) == ("code", 16_000_000, 16_000)
    assert one.kilobyte == pytest.approx(16_000_000 / 13_600)
    assert one.year == pytest.approx(16_000 / (365.25 * 144))
    assert [times(r) for r in (123456.7, 12.34, 1.234, 0.01234)] == ["123,457", "12.3", "1.23", "0.0123"]


def test_a_handshake_computes_what_the_node_does() -> None:
    device = CATALOG.device("uno")
    one = compute(SHAKE, device, [ROW], None)
    assert (one.cycles, one.time_us, one.missing) == (32_000_000, 2e6, "")
    assert one.energy_uj == pytest.approx(5.0 * 9.2 * 2e6 * 1e-3), "the chip's current"
    assert (one.flash_bytes, one.ram_bytes) == (1234, 683)
    join = replace(SHAKE, operations=(), aes_blocks=8)
    assert compute(join, device, [], AES).cycles == 800 and not join.operations and SHAKE.operations
    assert compute(join, device, [], None).missing == "AES is not measured"


def test_a_handshake_that_does_not_run_says_why() -> None:
    device = CATALOG.device("uno")
    assert compute(SHAKE, device, [], AES).missing == (
        "x25519 agree is not measured: motecrypt measure --public-key x25519 --device uno"
    )
    far = replace(ROW, cycles=None, status="does-not-fit", memory="flash", needed=40_000, available=32_768)
    near = replace(far, needed=33_000)
    told = compute(SHAKE, device, [far, near], AES)
    assert told.missing == "x25519 agree needs 33,000 of 32,768 bytes of flash" and told.cycles == 0
    crashed = replace(ROW, cycles=None, status="fault", reason="it crashed")
    assert compute(SHAKE, device, [crashed], AES).missing == "x25519 agree it crashed"


def test_a_handshake_is_packets_sent_and_received() -> None:
    radio = load_radio("srf")
    one = on_air(SHAKE, radio)
    packet_us = (12 + 4 + 4 + 1 + 2 + 2) * 8 / 0.25
    assert (one.packets, one.air_us, one.sent_air_us) == (5, 5 * packet_us, 4 * packet_us)
    assert one.energy_uj == pytest.approx(3.3 * (15.2 * 4 + 16.2) * packet_us * 1e-3)


def test_a_year_is_messages_every_ten_minutes() -> None:
    one = year(CATALOG.device("uno"), load_radio("srf"), AES)
    assert one.messages == 365.25 * 144 and one.cycles == 1000 * one.messages
    assert one.cpu_uj == pytest.approx(5.0 * 9.2 * one.cycles / 16 * 1e-3)
    assert one.radio_uj == pytest.approx(one.messages * 3.3 * 15.2 * 2 * 800 * 1e-3)


def test_the_handshakes_are_those_of_the_standards() -> None:
    found = handshakes()
    assert {name: one.total_bytes for name, one in found.items()} == {
        "edhoc": 101,
        "edhoc-signed": 216,
        "tls": 615,
        "tls-psk": 370,
        "lorawan-join": 40,
    }
    assert all(one.source and (bool(one.operations) != bool(one.aes_blocks)) for one in found.values())
    for one in found.values():
        for algorithm, operation in one.operations:
            assert operation in CATALOG.public_key(algorithm).operations


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("flights = [37, 45, 19]", "flights = [37, 0, 19]", "'flights' needs bytes"),
        ("flights = [37, 45, 19]", "flights = []", "'flights' needs bytes"),
        ("aes_blocks = 8", "aes_blocks = -8", "aes_blocks"),
        ('name = "edhoc"', 'name = ""', "name"),
        ("aes_blocks = 8", "aes_block = 8", "aes_blocks"),
    ],
)
def test_a_wrong_handshake_is_named(tmp_path: Path, before: str, after: str, told: str) -> None:
    file = tmp_path / "handshakes.toml"
    assert before in HANDSHAKES.read_text()
    file.write_text(HANDSHAKES.read_text().replace(before, after))
    with pytest.raises(InputError) as refused:
        handshakes(file)
    assert told in str(refused.value) and "handshakes.toml" in str(refused.value)


def test_almost_1000_times_is_judged_for_each_operation_both_ways() -> None:
    rows = wlan.asymmetric(CATALOG)
    by_id = {row.id: row for row in rows}
    assert len(by_id) == len(rows) and {row.source for row in rows} == {SOURCE}
    whole = by_id["wlan-claim-asymmetric"]
    assert whole.kind == "claim" and whole.verdict == "differs" and whole.cause_known == "shown by experiment"
    single = [r for r in rows if "/ one message, " in r.column]
    ran = {(r.device, r.algorithm, r.operation) for r in recorded() if r.ran}
    assert len(single) == len(ran), "every operation that ran is judged"
    for row in single:
        assert isinstance(row.measured, float)
        assert (row.verdict == "matches") == (316 < row.measured < 3163), row
    assert {row.verdict for row in single} == {"matches", "differs"}
    agree = by_id["wlan-claim-asymmetric-pico-x25519-agree"]
    costs = aes_costs()["pico"]
    cycles = next(
        row.cycles
        for row in sorted(recorded(), key=lambda r: r.cycles or 0)
        if row.cycles and (row.device, row.algorithm, row.operation) == ("pico", "x25519", "agree")
    )
    assert agree.measured == cycles / costs.cycles(16)
    assert by_id["wlan-claim-asymmetric-pico-year"].measured == pytest.approx(
        cycles / (costs.cycles(16) * 365.25 * 144)
    )
    daily = by_id["wlan-claim-asymmetric-efficient-day-pico"]
    yearly = by_id["wlan-claim-asymmetric-efficient-year-pico"]
    assert (daily.verdict, yearly.verdict) == ("matches", "differs")
    assert isinstance(daily.measured, float) and isinstance(yearly.measured, float)
    assert daily.measured / yearly.measured == pytest.approx(365.25)
    (section,) = wlan.sections(CATALOG)
    assert len(section.rows) == len(single)


def test_full_time_is_judged_for_each_scheme_on_each_device() -> None:
    rows = {row.id: row for row in rf.asymmetric("a source", CATALOG)}
    whole = rows["rf-claim-asymmetric"]
    assert whole.kind == "claim" and isinstance(whole.measured, str) and "rsa, nrf52840" in whole.measured
    found = {(one.device, one.scheme.name): one for one in rf.full_time(CATALOG)}
    one = found["pico", "rsa"]
    uj = 3.0 * 29.5 * one.busy_us * 1e-3 + 3.3 * 15.2 * (22 * (12 + 13) - 8) * 32 * 1e-3
    assert one.message_uj == pytest.approx(uj)
    assert one.battery_percent == pytest.approx(100 * uj * 365.25 * 8640 / (2.85 * 4.5 * 3600 * 1e6))
    assert one.shortest_s == pytest.approx(10 * one.battery_percent / 100)
    assert ("uno", "rsa") not in found, "it does not run there"
    for key, one in found.items():
        row = rows[f"rf-claim-asymmetric-{one.device}-{one.scheme.name}"]
        judged = row.verdict == ("matches" if one.battery_percent > 100 else "differs")
        assert judged or (key[1] == "aes" and row.verdict == "not printed")
    once, daily = found["uno", "edhoc-once"], found["uno", "edhoc-day"]
    assert daily.battery_percent > once.battery_percent > found["uno", "aes"].battery_percent
    assert rows["rf-claim-asymmetric-overhead"].measured == 16.0


def test_every_handshake_is_on_every_radio() -> None:
    records = rf.table(CATALOG)
    assert len(records) == len(radio_names()) * len(handshakes()) >= 7 * 5
    shown = {(r["radio"], r["handshake"]): r for r in records}
    assert shown["srf", "edhoc"]["packets"] == 10 and shown["802.15.4", "edhoc"]["packets"] == 3
    assert shown["srf", "tls"]["compute_uj"]["uno"] is None, "Ed25519 does not fit"
    assert [len(section.rows) for section in rf.sections(CATALOG)] == [
        len(rf.full_time(CATALOG)),
        len(records),
    ]
