"""Defects of version 1 of the link on the computer's side, each built in once: the test that owns it fails.

The core has its faults in C (test_link_states.py). Here a module is compiled from its source with one line
changed, and a test of the module runs on that.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest
import test_files
import test_gateway

import gateway_bed
from motecrypt.base.errors import MotecryptError
from motecrypt.link import gateway_end
from motecrypt.link.file_parts import FileCollector, file_parts
from motecrypt.link.native import CONFIRMED, FILE, Event
from motecrypt.link.told import NodeMessage


def an_old_keys_record(module: ModuleType, folder: Path) -> None:
    """Also: a record whose digest is right and whose figures are not."""
    test_gateway.test_records_that_are_not_ours_are_refused()


def interrupted(module: ModuleType, folder: Path) -> None:
    """A piece is missing, or the announcement."""
    test_files.test_an_interrupted_file_is_never_told_as_whole(folder)


def a_receiver_that_starts_again(module: ModuleType, folder: Path) -> None:
    """What was announced before is known."""
    test_files.test_a_receiver_that_starts_again_goes_on(folder)


def a_late_announcement(module: ModuleType, folder: Path) -> None:
    """It begins nothing again."""
    test_files.test_an_announcement_of_a_file_that_was_given_up_is_ignored(folder)


def planted_links(module: ModuleType, folder: Path) -> None:
    """Nothing behind them is written."""
    test_files.test_planted_links_are_neither_followed_nor_replaced(folder)


def private(module: ModuleType, folder: Path) -> None:
    """Its owner alone can read it."""
    test_files.test_a_file_arrives_whole_and_private(folder, 200)


def names(module: ModuleType, folder: Path) -> None:
    """No escape of a terminal is in them."""
    test_files.test_a_file_keeps_to_its_folder(folder)


def a_part_that_is_not_kept(module: ModuleType, folder: Path) -> None:
    """`receive` lets it be answered "refused"."""
    inbox = SimpleNamespace(clock=lambda: 0.0, fault=lambda what: None, item=lambda *_, **__: None)
    heard = module._Heard(FileCollector(folder), inbox, SimpleNamespace(closing=False))
    first, piece, *_, end = file_parts("log.txt", bytes(200), 100)

    def taken(part: bytes) -> bool:
        message = SimpleNamespace(node=5, content=part, event=Event.FILE_PART)
        return cast(bool, heard._take(cast(NodeMessage, message)))

    assert [taken(part) for part in (piece, end, first, end)] == [False, False, True, False]


def a_part_that_a_gateway_does_not_keep(module: ModuleType, folder: Path) -> None:
    """`gateway` answers it "refused"."""
    field = gateway_bed.Field(folder, 5, files=True)
    _, piece, *_ = file_parts("log.txt", bytes(200), 100)
    assert field.up(5, piece, CONFIRMED | FILE) == [Event.REFUSED]
    field.crash()


def a_full_disk(module: ModuleType, folder: Path) -> None:
    """It is reported as such, and no port is said to be back."""
    said: list[str] = []
    port = SimpleNamespace(path="p", close=lambda: None)

    def full(*_: object) -> None:
        raise MotecryptError("state file key: cannot be written: No space left on device")

    vars(module).update(SerialPort=lambda path, baud: port, _serve=full)
    stop: Any = SimpleNamespace(asked=False)
    with pytest.raises(MotecryptError, match="No space left"):
        module.listen("p", 9600, lambda data, at_us: b"", stop, lambda: len(said) > 1, said.append)
    assert said == []


class Fault(NamedTuple):
    """Places of a module with what version 1 had there, and what breaks then."""

    module: str
    places: dict[str, str]
    breaks: Callable[[ModuleType, Path], None]


FILES, GATEWAY = "motecrypt.link.file_parts", "motecrypt.link.gateway_end"
RECORD = "motecrypt.link.record"
FAULTS = {
    "FOREIGN_RECORD": Fault(
        GATEWAY,
        {"kept.master != self._name()": "False", "image[_KEY_AT] != self._key(node, generation)": "False"},
        an_old_keys_record,
    ),
    "MALFORMED_RECORD": Fault(RECORD, {"not 0 <= value <= highest": "False"}, an_old_keys_record),
    "HALF_A_FILE": Fault(
        FILES,
        {
            "length != arriving.length:": "False:",
            "!= arriving.digest:\n                self._drop": "== b'':\n                self._drop",
        },
        interrupted,
    ),
    "FORGETFUL": Fault(
        FILES,
        {"keeping, stored\n": "keeping, stored; [p.unlink() for p in folder.glob('.motecrypt-*')]\n"},
        a_receiver_that_starts_again,
    ),
    "LATE_ANNOUNCEMENT": Fault(
        FILES,
        {"self._over(node, label) or (known is not None and known.label == label)": "False"},
        a_late_announcement,
    ),
    "FOLLOWED_LINKS": Fault(FILES, {"flags | os.O_NOFOLLOW | ": "flags | "}, planted_links),
    "READABLE_BY_ALL": Fault(FILES, {"os.O_CLOEXEC, 0o600)": "os.O_CLOEXEC, 0o644)"}, private),
    "ESCAPES_IN_NAMES": Fault(FILES, {"letter if letter.isprintable()": "letter if True"}, names),
    "PART_NOT_KEPT": Fault(
        "motecrypt.app.receive",
        {"fault(str(error))\n                return False": "fault(str(error))\n                return True"},
        a_part_that_is_not_kept,
    ),
    "PART_NOT_KEPT_BY_GATEWAY": Fault(
        "motecrypt.link.gateway.service",
        {"str(error))\n                return False,": "str(error))\n                return True,"},
        a_part_that_a_gateway_does_not_keep,
    ),
    "DISK_AS_PORT": Fault(
        "motecrypt.link.ports.session", {"except PortError as": "except Exception as"}, a_full_disk
    ),
}


def built(name: str, places: dict[str, str]) -> ModuleType:
    """A module again, with other text in those places."""
    source = Path(cast(str, importlib.import_module(name).__file__))
    text = source.read_text()
    for right, wrong in places.items():
        assert text.count(right) == 1, f"not there once: {right}"
        text = text.replace(right, wrong)
    made = ModuleType(name)
    made.__file__ = str(source)
    exec(compile(text, source, "exec"), vars(made))
    return made


def bring_in(made: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tests have of that module is of this one from here on."""
    for place in (test_files, test_gateway, gateway_bed, gateway_end):
        for name, value in list(vars(place).items()):
            if value is importlib.import_module(made.__name__):
                monkeypatch.setattr(place, name, made)
            elif getattr(value, "__module__", None) == made.__name__ and hasattr(made, name):
                monkeypatch.setattr(place, name, getattr(made, name))


@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_version_1_breaks_it(
    name: str, broken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = FAULTS[name]
    module = built(fault.module, fault.places if broken else {})
    bring_in(module, monkeypatch)
    if not broken:
        fault.breaks(module, tmp_path)
        return
    with pytest.raises((AssertionError, MotecryptError, pytest.fail.Exception)):
        fault.breaks(module, tmp_path)
