"""How a front end gets from what is typed to the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from advise_parts import CATALOG, LINK, SRF, made

from motecrypt.adviser import api as advise
from motecrypt.adviser.asked import Node, Supply, asked_in, check_measured, node_of, setting_of
from motecrypt.adviser.defaults import command_of
from motecrypt.base.errors import InputError

NODE = node_of(CATALOG.device("uno"), SRF, ())
ASKED, ON = advise.Question(20, 10.0), Supply("3xAA")
FIELDS = {"device": "uno", "radio": "srf", "bytes": "20", "every": "10s", "battery": "3xAA"}


def refusal(node: Node = NODE, **changes: Any) -> str:
    message_bytes = changes.pop("message_bytes", 20)
    with pytest.raises(InputError) as caught:
        setting_of(node, replace(ASKED, message_bytes=message_bytes), replace(ON, **changes))
    return str(caught.value)


def test_a_question_asked_with_every_option() -> None:
    typed = {
        "regulator": "switch",
        "flash": "4k",
        "ram": "512",
        "latency": "50ms",
        "overhead": "6",
        "delivery": "confirmed",
        "loss": "10",
        "answer": "4",
        "need": ["constant-time"],
        "bare-chip": "1",
        "sleeps": "1",
    }
    budgets = advise.Budgets(4096, 512, 50 * 1e-3 * 1e6, 6)
    question = advise.Question(20, 10.0, 4, "confirmed", 0.1, budgets, advise.NEEDS)
    assert asked_in({**FIELDS, **typed}) == (question, Supply("3xAA", "switch", True, True))
    assert asked_in(FIELDS) == (ASKED, ON)
    assert asked_in({**FIELDS, "need": []})[0].needs == ()
    for name, text, told in (
        ("bytes", "0", "--bytes '0': a whole number from 1 to 65535"),
        ("bytes", "65536", "--bytes '65536': a whole number from 1 to 65535"),
        ("answer", "-1", "--answer '-1': a whole number from 0 to 65535"),
        ("answer", "2.5", "--answer '2.5': a whole number from 0 to 65535"),
        ("every", "10", "--every '10': no unit; use us, ms, s, min, h, d, as in 10s"),
    ):
        with pytest.raises(InputError, match=f"^{told}$"):
            asked_in({**FIELDS, name: text})
    assert asked_in({**FIELDS, "bytes": "65535", "answer": "65535"})[0].answer_bytes == 65535


def test_the_command_of_what_is_asked() -> None:
    usual = {"regulator": "none", "delivery": "unconfirmed", "loss": "0", "answer": "0", "flash": ""}
    plain = "motecrypt advise --device uno --radio srf --bytes 20 --every 10s --battery 3xAA"
    assert command_of({**FIELDS, **usual, "need": ["confidentiality", "integrity", "replay"]}) == plain
    more = {"battery": "1 Ah, 3V", "every": "it's", "need": ["integrity"], "sleeps": "1", "loss": "5"}
    assert command_of({**FIELDS, **more}) == (
        "motecrypt advise --device uno --radio srf --bytes 20 --every 'it'\\''s' --battery '1 Ah, 3V' "
        "--loss 5 --need 'integrity' --sleeps"
    )
    assert command_of({**FIELDS, "need": [], "bare-chip": "1"}) == f"{plain} --need '' --bare-chip"


def test_the_setting_that_is_asked_about() -> None:
    setting = setting_of(NODE, ASKED, ON)
    assert (setting.link, setting.radio, setting.storage) == (LINK, SRF, None)
    assert (setting.device.of, setting.device.sleeps) == ("board", False)
    for node, supply in ((NODE, replace(ON, sleeps=True)), (replace(NODE, sleepers=("serial",)), ON)):
        assert setting_of(node, ASKED, replace(supply, bare_chip=True)).device.sleeps
    assert setting_of(NODE, ASKED, replace(ON, bare_chip=True)).device == advise.device_part(
        CATALOG.device("uno"), "chip"
    )
    mute = replace(NODE, radio=replace(SRF, unknown=("sleep_ma",)))
    assert "no 'sleep_ma'" in refusal(mute, sleeps=True, battery="3xPotato")
    assert setting_of(mute, ASKED, ON)
    nano = node_of(CATALOG.device("nano"), SRF, ())
    assert refusal(nano, sleeps=True).startswith("nano: its folder has no current asleep of the stock board")
    assert refusal(battery="3xPotato").startswith("--battery '3xPotato': unknown")
    assert refusal(regulator="x") == "--regulator 'x': unknown; choose one of none, linear, switch, nano"
    assert refusal(battery="1xAA").startswith("--battery: AA gives 1.5 V; Arduino UNO R3")
    assert refusal(message_bytes=124).startswith("--bytes 124: the link takes messages of up to 123 bytes")


def test_a_node_that_is_asked_to_store_its_data_never_sleeps_by_its_radio() -> None:
    part = advise.storage_part(CATALOG.device("uno"), "eeprom", {})
    node = node_of(CATALOG.device("uno"), part.as_radio(64), ("serial", part.name), part)
    setting = setting_of(node, replace(ASKED, needs=("integrity",)), ON)
    assert setting.storage == part and not setting.device.sleeps
    assert setting.device.idle_ma == setting.device.active_ma


def test_messages_asked_for_are_as_long_as_those_measured() -> None:
    device = setting_of(NODE, ASKED, ON).device
    most = device.message_bytes_max
    for sent, received in ((most, 0), (1, most)):
        asked = replace(ASKED, message_bytes=sent, answer_bytes=received, needs=())
        check_measured(setting_of(NODE, asked, ON))
    for name, option in (("message_bytes", "--bytes"), ("answer_bytes", "--answer")):
        setting = setting_of(NODE, replace(ASKED, needs=(), **{name: most + 1}), ON)
        with pytest.raises(InputError, match=f"^{option} {most + 1}: messages of up to {most} bytes were"):
            check_measured(setting)


def test_what_is_added_to_the_answer_that_is_asked_for() -> None:
    def told(node: Node, on: Supply, *candidates: advise.Candidate) -> advise.Advice:
        return advise.answered(node, setting_of(node, ASKED, on), candidates)

    answer = told(NODE, ON, made())
    bare = [note for note in answer.notes if note.endswith("(--bare-chip).")]
    assert len(bare) == 1
    assert not [note for note in told(NODE, replace(ON, bare_chip=True), made()).notes if note in bare]
    unknown = replace(NODE, refusals={**NODE.refusals, "chip": ["x", ""]})
    assert not [note for note in told(unknown, ON, made()).notes if note in bare]
    assert told(replace(NODE, hardware="it saves {saved}"), ON, made()).notes[0].startswith("it saves ")
    assert told(replace(NODE, hardware="it saves {saved}"), ON).notes[0].startswith("No candidate")
    most = NODE.board.message_bytes_max if NODE.board else 0
    point = made().points[-1]
    long = made(points=(*made().points, replace(point, message_bytes=most + 1)))
    asked = replace(ASKED, message_bytes=most + 1, needs=("integrity",))
    answer = advise.answered(NODE, setting_of(NODE, asked, ON), [long])
    assert answer.notes[0] == answer.warnings[-1]
    assert answer.notes[0].startswith(f"The cycles for {most + 1:,} bytes are not measured")
