"""Advice for a node that stores its records: what writing takes, what is said, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from advise_parts import BOARD, CATALOG, FOUR_NIMH, LINK, NONE, PICO, UNO, made, notes_of
from click.testing import CliRunner

from goldens.views.made_up import filled
from motecrypt.adviser import api as advise
from motecrypt.adviser.hardware.bounds import bound_named
from motecrypt.base.energy import energy_uj
from motecrypt.base.errors import InputError
from motecrypt.cli import application
from motecrypt.results.experiments.pico_file import storage_times

ASKED = advise.Question(message_bytes=16, interval_s=600.0, needs=("confidentiality", "integrity"))


def part(device: str, name: str, currents: tuple[float, float] | None = None) -> advise.StoragePart:
    return advise.storage_part(CATALOG.device(device), name, storage_times(), currents)


def ask(storage: advise.StoragePart, device: advise.DeviceFacts = UNO, **changes: Any) -> advise.Advice:
    question = replace(ASKED, **changes)
    radio = storage.as_radio(question.message_bytes + 64)
    facts = (advise.stored_device(device), radio, LINK, FOUR_NIMH, NONE)
    return advise.advise(question, [made()], *facts, storage=storage)


def pages_touched(record_bytes: int, page_bytes: int) -> float:
    """The mean number of pages that a record is in, over all places where it can begin."""
    ends = [(start + record_bytes - 1) // page_bytes + 1 for start in range(page_bytes)]
    return sum(ends) / page_bytes


@pytest.mark.parametrize("record_bytes", [1, 37, 256, 257, 700, 5000])
def test_a_record_takes_its_pages_and_its_share_of_an_erased_sector(record_bytes: int) -> None:
    flash, card, slow = part("pico", "flash"), part("uno", "sd"), part("uno", "sd-slow")
    eeprom = part("uno", "eeprom")
    expected = pages_touched(record_bytes, 256) * 700 + record_bytes / 4096 * 45_000
    assert flash.write_us(record_bytes) == pytest.approx(expected)
    block_us = 850 + 512 * 8 / 12.5
    assert card.write_us(record_bytes) == pytest.approx(pages_touched(record_bytes, 512) * block_us)
    assert slow.write_us(record_bytes) == pytest.approx(pages_touched(record_bytes, 512) * (850 + 4096))
    assert eeprom.write_us(record_bytes) == pytest.approx(3400 * record_bytes)


def test_the_record_is_stored_with_nonce_and_tag_and_paid_for_while_the_device_waits() -> None:
    card = part("uno", "sd", (30.0, 0.2))
    costs = ask(card, replace(UNO, sleeps=True)).entries[0].costs
    assert (costs.form, costs.air_bytes, costs.overhead_bytes) == ("stored", 16 + 13 + 8, 21)
    written_us = card.write_us(37)
    assert costs.air_time_us == pytest.approx(written_us)
    waits = energy_uj(FOUR_NIMH.volts, UNO.active_ma, written_us)
    assert costs.energy.send_uj == pytest.approx(waits + energy_uj(3.3, 30.0, written_us))
    assert costs.latency_us == pytest.approx(costs.cpu_us + written_us)
    silent = ask(part("uno", "sd"), replace(UNO, sleeps=True)).entries[0].costs
    assert silent.energy.send_uj == pytest.approx(waits)
    rest_us = 600e6 - costs.busy_us
    more = energy_uj(3.3, 0.2, rest_us)
    assert costs.energy.between_uj - silent.energy.between_uj == pytest.approx(more)
    assert silent.life_days > costs.life_days


def test_the_notes_say_where_the_key_is_what_is_not_counted_and_when_it_is_full() -> None:
    eeprom = ask(part("uno", "eeprom"), replace(BOARD, sleeps=False))
    assert "lock bits" in eeprom.notes[0] and eeprom.warnings[0] == eeprom.notes[0]
    full = "1,024 bytes, all of the EEPROM of Arduino UNO R3, hold 27 records: 4.6 hours."
    assert f"records of a day take 5,328 bytes. {full}" in notes_of(eeprom, "records of a day")
    assert not notes_of(eeprom, "--storage-ma") and "use --sleeps" in notes_of(eeprom, "No sleep")
    flash = ask(part("pico", "flash"), PICO)
    assert "no read protection" in flash.warnings[0]
    assert "hold at most 56,679 records: 394 days." in notes_of(flash, "records of a day")
    assert "the Pico's own flash (W25Q16JV) is not known and not counted" in notes_of(flash, "--storage-ma")
    assert not notes_of(flash, "No sleep"), "it sleeps"
    card = ask(part("uno", "sd", (30.0, 0.2)))
    assert "not on the card" in card.notes[0] and not notes_of(card, "not counted")
    assert notes_of(card, "records of a day") == "The records of a day take 5,328 bytes."
    for answer in (eeprom, flash, card):
        assert not any(word in " ".join(answer.notes) for word in ("packet", "radio", "gateway", "message"))
        assert "nonce of its own" in notes_of(answer, "nonce")


def test_a_budget_speaks_of_storing() -> None:
    eeprom = part("uno", "eeprom")
    late = ask(eeprom, budgets=advise.Budgets(latency_us_max=50_000.0))
    assert not late.entries and "takes 126.9 ms until stored" in late.exclusions[0].reason
    often = ask(eeprom, interval_s=0.05)
    assert often.exclusions[0].budgets == ("interval",), "a storage has no duty cycle"


@pytest.mark.parametrize(
    ("device", "names"), [("uno", ["eeprom", "sd", "sd-slow"]), ("pico", ["flash", "sd", "sd-slow"])]
)
def test_a_device_has_the_storage_that_it_has(device: str, names: list[str]) -> None:
    assert advise.storage_names(CATALOG.device(device), storage_times()) == names
    with pytest.raises(InputError, match=f"{device} has none; choose one of {', '.join(names)}"):
        part(device, "flash" if device == "uno" else "eeprom")


@pytest.mark.parametrize("text", ["", "x", "25,", "-1", "1,2,3", "nan", "2000", "inf"])
def test_currents_are_one_or_two_numbers(text: str) -> None:
    with pytest.raises(InputError, match="--storage-ma"):
        advise.currents_ma(text)
    assert advise.currents_ma("25") == (25.0, None)
    assert advise.currents_ma("25, 0.2") == (25.0, 0.2)


# --- the command -------------------------------------------------------------------------------------

COMMAND = "advise --device uno --bytes 16 --every 10min --battery 4xAA-NiMH --library motecrypt"


def said(words: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    monkeypatch.setattr("motecrypt.app.advise.ensure", lambda *_: None)
    environment = {"COLUMNS": "200", "MOTECRYPT_DB": str(filled("near").path)}
    done = CliRunner().invoke(application, words.split(), env=environment)
    return done.exit_code, done.stdout, str(done.exception or "")


def test_the_answer_has_its_five_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = said(f"{COMMAND} --storage eeprom", monkeypatch)
    document = json.loads(said(f"{COMMAND} --storage eeprom --json", monkeypatch)[1])
    first = document["ranked"][0]
    lines = dict(line.split(":", 1) for line in out.splitlines()[1:6])
    assert code == 0 and list(lines) == ["Use", "Costs", "Battery", "Watch out", "Next"]
    per_kb = f"{first['cpu_us_per_kb'] / 1000:.2f} ms and {first['cpu_uj_per_kb']:,.0f} µJ per KB"
    assert first["cpu_us_per_kb"] == pytest.approx(64 * first["cpu_us"])
    time = f"{first['cpu_us'] / 1000:.2f} ms ({bound_named('uno')})"
    each = f"{time} and {first['overhead_bytes']} more bytes a record"
    assert lines["Costs"].strip().startswith(f"{each}; {per_kb}; {first['flash_bytes']:,} bytes of flash")
    assert lines["Next"].strip() == document["next"] and "--link" not in document["next"]
    assert document["storage"]["name"] == "eeprom" and "radio" not in document
    assert document["question"]["needs"] == ["confidentiality", "integrity"]
    assert "write ms" in out and "packets" not in out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("", "give the node's --radio, or --storage"),
        ("--storage tape", "--storage 'tape': uno has none; choose one of eeprom, sd, sd-slow"),
        ("--storage flash", "--storage 'flash': uno has none"),
        ("--storage sd --radio srf", "--radio: a node with --storage has no radio"),
        ("--storage sd --delivery confirmed", "--delivery: a node with --storage has no radio"),
        ("--storage sd --loss 5", "--loss: a node"),
        ("--storage sd --answer 4", "--answer: a node"),
        ("--storage sd --packet-bytes 30", "--packet-bytes: a node"),
        ("--storage sd --need replay", "--need replay: a storage cannot detect"),
        ("--storage sd --storage-ma much", "--storage-ma 'much': give mA"),
        ("--storage eeprom --storage-ma 5", "--storage-ma: the EEPROM is part of the chip"),
        ("--radio srf --storage-ma 5", "--storage-ma: needs --storage"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(
    options: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, error = said(f"{COMMAND} {options}", monkeypatch)
    assert code != 0 and out == "" and error.startswith(told) and "\n" not in error
