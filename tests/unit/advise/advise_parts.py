"""A made-up candidate, the parts that it is considered with, and the question of the adviser's tests."""

from __future__ import annotations

from dataclasses import replace

from motecrypt.adviser import api as advise
from motecrypt.air.radios import load_radio
from motecrypt.catalog import Catalog

CATALOG = Catalog.load()
# As in its folder, but frozen here: what these tests say must not move with its figures.
UNO = replace(
    advise.device_part(CATALOG.device("uno"), "chip", sleeps=True),
    volts_min=3.78,
    active_ma=9.2,
    idle_ma=2.5,
    sleep_ma=0.0042,
)
BOARD = replace(UNO, of="board", active_ma=46.5, idle_ma=46.5, sleep_ma=32.2)
PICO = advise.device_part(CATALOG.device("pico"), sleeps=True)
LINK = advise.link_facts()
SRF = advise.radio_part(load_radio("srf"))
PLAIN_802 = advise.radio_part(load_radio("802.15.4"))
NONE = advise.regulator_part("none")
SWITCH = advise.regulator_part("switch")
NANO = advise.regulator_part("nano")
THREE_AA = advise.battery_part("3xAA")
FOUR_NIMH = advise.battery_part("4xAA-NiMH")


def made(**changes: object) -> advise.Candidate:
    """A candidate that is fine unless the test says otherwise."""
    points = tuple(advise.Point(n, 1000, 10_000 + 500 * n, 11_000 + 500 * n) for n in (1, 16, 64, 256))
    candidate = advise.Candidate(
        cipher="aes128-ccm8",
        implementation="ours/small",
        key_bits=128,
        placement="flash",
        cache="none",
        security="recommended",
        security_reason="authenticated",
        nonce="counter",
        nonce_bytes=13,
        tag_bytes=8,
        message_bytes_min=0,
        message_bytes_multiple=1,
        flash_bytes=2000,
        ram_bytes=100,
        stack_bytes=100,
        timing_varies=False,
        points=points,
        status="ok",
        reason="",
    )
    return replace(candidate, **changes)  # type: ignore[arg-type]


ASKED = advise.Question(message_bytes=20, interval_s=10.0)


def ask(
    *candidates: advise.Candidate,
    question: advise.Question = ASKED,
    battery: advise.BatteryPart = FOUR_NIMH,
    regulator: advise.RegulatorPart = NONE,
    radio: advise.RadioPart = SRF,
    device: advise.DeviceFacts = UNO,
    chip: advise.DeviceFacts | None = None,
) -> advise.Advice:
    return advise.advise(question, candidates, device, radio, LINK, battery, regulator, chip=chip)


def notes_of(answer: advise.Advice, word: str) -> str:
    return " ".join(note for note in answer.notes if word in note)
