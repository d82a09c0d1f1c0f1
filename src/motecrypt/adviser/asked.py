"""A question as a person types it, and the node that it is asked of: how a front end gets to the answer.

The terminal and the report's page call these functions, the page in JavaScript (`present/report/translate`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from motecrypt.adviser.costs import Setting
from motecrypt.adviser.defaults import USUAL, whole_needs
from motecrypt.adviser.gather import (
    KINDS,
    battery_of,
    device_part,
    device_refusals,
    regulator_of,
    sleeps_with,
    supplies,
    weighable,
)
from motecrypt.adviser.hardware_notes import hardware_note, note_form
from motecrypt.adviser.link_data import link_facts
from motecrypt.adviser.model import (
    Advice,
    BatteryPart,
    Budgets,
    Candidate,
    DeviceFacts,
    LinkFacts,
    Question,
    RadioPart,
    RegulatorPart,
)
from motecrypt.adviser.notes import extension_note
from motecrypt.adviser.rank import advise, link_refusal, supply_refusal
from motecrypt.adviser.storage import StoragePart, stored_device
from motecrypt.adviser.units import BYTES_MAX, loss_share, seconds, whole, whole_bytes
from motecrypt.adviser.unknown import radio_refusal
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.catalog.accelerators import accelerator_of


@dataclass(frozen=True)
class Supply:
    """What a node runs on.

    Attributes
    ----------
    battery : cells, such as "3xAA", or charge and voltage, such as "1200mAh,3.7V".
    regulator : "none", "linear", "switch" or "nano".
    bare_chip : the chip alone, not the stock board.
    sleeps : the program sleeps between messages, even if the exported example does not.
    """

    battery: str
    regulator: str = USUAL["regulator"]
    bare_chip: bool = USUAL["bare-chip"]
    sleeps: bool = USUAL["sleeps"]


@dataclass(frozen=True)
class Node:
    """A device with its radio or storage, and what else an answer depends on.

    Attributes
    ----------
    board, chip : the stock board and the chip alone, awake; None where their currents are not known.
    refusals : by "board" and "chip", why it cannot be considered, first awake, then asleep; empty where it
        can.
    sleepers : the radios with which its exported example sleeps, as `sleeps_with` takes them.
    cells, regulators : by name.
    hardware : the form of the note on its cryptographic hardware; empty without one.
    storage : instead of a radio; `radio` is then its `as_radio`.
    """

    board: DeviceFacts | None
    chip: DeviceFacts | None
    refusals: Mapping[str, Sequence[str]]
    radio: RadioPart
    sleepers: Sequence[str]
    link: LinkFacts
    cells: Mapping[str, BatteryPart]
    regulators: Mapping[str, RegulatorPart]
    hardware: str
    storage: StoragePart | None = None


def node_of(
    device: Device, radio: RadioPart, sleepers: Sequence[str], storage: StoragePart | None = None
) -> Node:
    """A node with a device of the catalog."""
    cells, regulators = supplies()
    parts = {of: device_part(device, of) if weighable(device, of, sleeps=False) else None for of in KINDS}
    return Node(
        board=parts["board"],
        chip=parts["chip"],
        refusals=device_refusals(device),
        radio=radio,
        sleepers=sleepers,
        link=link_facts(),
        cells=cells,
        regulators=regulators,
        hardware=note_form(device.title, accelerator_of(device.chip)),
        storage=storage,
    )


def asked_in(fields: Mapping[str, Any]) -> tuple[Question, Supply]:
    """What the options of `motecrypt advise` or the fields of a form ask: texts, `need` a list of them; what
    is not there has its default. InputError for what cannot be read."""
    flash, ram, latency, overhead = (fields.get(name) for name in ("flash", "ram", "latency", "overhead"))
    question = Question(
        message_bytes=whole(_typed(fields, "bytes"), "--bytes", 1, BYTES_MAX),
        interval_s=seconds(_typed(fields, "every"), "--every"),
        answer_bytes=whole(_typed(fields, "answer"), "--answer", 0, BYTES_MAX),
        delivery=_typed(fields, "delivery"),
        loss=loss_share(_typed(fields, "loss"), "--loss"),
        budgets=Budgets(
            None if flash is None else whole_bytes(flash, "--flash"),
            None if ram is None else whole_bytes(ram, "--ram", "512"),
            None if latency is None else seconds(latency, "--latency", "50ms") * 1e6,
            None if overhead is None else whole_bytes(overhead, "--overhead", "6"),
        ),
        needs=whole_needs(fields.get("need", USUAL["need"])),
    )
    chip, sleeps = bool(fields.get("bare-chip")), bool(fields.get("sleeps"))
    return question, Supply(_typed(fields, "battery"), _typed(fields, "regulator"), chip, sleeps)


def _typed(fields: Mapping[str, Any], name: str) -> str:
    """What a field has, or else the default of its option."""
    return str(fields.get(name, USUAL.get(name, "")))


def setting_of(node: Node, question: Question, supply: Supply) -> Setting:
    """All that the costs of a message depend on but the cipher.

    Raises
    ------
    InputError
        What cannot work: a supply that does not run the device, messages that the link does not take.
    """
    stored = node.storage is not None
    sleeping = supply.sleeps or (not stored and sleeps_with(node.radio, node.sleepers))
    refusal = radio_refusal(node.radio, sleeping)
    if refusal:
        raise InputError(refusal)
    device = _part(node, "chip" if supply.bare_chip else "board", sleeping)
    battery = battery_of(supply.battery, node.cells)
    regulator = regulator_of(supply.regulator, node.regulators)
    refusal = supply_refusal(device, battery, regulator)
    if refusal:
        raise InputError(f"--battery: {refusal}")
    refusal = link_refusal(node.link, node.radio, question)
    if refusal:
        raise InputError(refusal)
    return Setting(question, device, node.radio, node.link, battery, regulator, node.storage)


def check_measured(setting: Setting) -> None:
    """InputError for messages longer than any that the device's firmware holds, where nothing can be
    measured."""
    device, question = setting.device, setting.question
    for option, length in (("--bytes", question.message_bytes), ("--answer", question.answer_bytes)):
        if length > device.message_bytes_max:
            raise InputError(
                f"{option} {length:d}: messages of up to {device.message_bytes_max:d} bytes were measured on "
                f"{device.name}"
            )


def answered(node: Node, setting: Setting, candidates: Sequence[Candidate]) -> Advice:
    """The answer, with the notes on other regulators, on the chip alone and on cryptographic hardware."""
    device = setting.device
    alone = (
        device.of == "board"
        and node.chip is not None
        and not node.refusals["chip"][1 if device.sleeps else 0]
    )
    answer = advise(
        setting.question,
        candidates,
        device,
        setting.radio,
        setting.link,
        setting.battery,
        setting.regulator,
        list(node.regulators.values()),
        _part(node, "chip", device.sleeps) if alone else None,
        setting.storage,
    )
    if not answer.entries:
        return answer
    extended = extension_note(device, (setting.question.message_bytes, setting.question.answer_bytes))
    first, *_ = answer.entries
    hardware = hardware_note(node.hardware, first)
    notes = [note for note in (hardware, extended) if note]
    return replace(
        answer,
        notes=(*notes, *answer.notes),
        warnings=(*answer.warnings, extended) if extended else answer.warnings,
    )


def _part(node: Node, of: str, sleeping: bool) -> DeviceFacts:
    """The board or the chip with a program that sleeps or does not."""
    refusal = node.refusals[of][1 if sleeping else 0]
    part = node.chip if of == "chip" else node.board
    if refusal or part is None:
        raise InputError(refusal)
    awake = replace(part, sleeps=sleeping)
    return awake if node.storage is None else stored_device(awake)
