"""Kits: what set-up installs, and what a missing one means."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from motecrypt.errors import InputError
from motecrypt.setup.kits import Kit

#: The module; `motecrypt.setup.kits` names its function.
kits_module = sys.modules[Kit.__module__]

NOWHERE = Kit(
    name="nowhere",
    title="A thing that no package brings",
    debian=("nothing",),
    commands=(),
    files=("/nonexistent/thing",),
    python=(),
    download_mb=1,
    optional=False,
    note="nothing is lost",
)


@pytest.mark.parametrize("optional", [False, True])
def test_what_an_installation_did_not_bring_ends_only_what_cannot_go_on_without_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], optional: bool
) -> None:
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(kits_module, "kits", lambda: {"nowhere": replace(NOWHERE, optional=optional)})
    monkeypatch.setattr(kits_module, "_install_debian", lambda kit: None)
    monkeypatch.setattr(kits_module, "left_out", lambda what, why: told.append((what, why)))
    if optional:
        kits_module.need("nowhere")
        assert told[0][0] == NOWHERE.title and "/nonexistent/thing missing" in told[0][1]
        assert "nothing is lost" in capsys.readouterr().err
    else:
        with pytest.raises(InputError, match="/nonexistent/thing missing"):
            kits_module.need("nowhere")
        assert not told


@dataclass
class Machine:
    """What is installed on a made-up machine, and the commands that were run there."""

    place: Path
    offers: set[str]
    ran: list[list[str]] = field(default_factory=list)

    def trouble(self, command: list[str], environment: dict[str, str], timeout_s: float) -> str:
        self.ran.append(command)
        if "update" in command or "pip" in command:
            return ""
        packages = command[command.index("--no-install-recommends") + 1 :]
        lacks = sorted(set(packages) - self.offers)
        if lacks:
            return f"Unable to locate package {lacks[0]}"
        for name in packages:
            (self.place / name).touch()
        return ""

    @property
    def installed(self) -> list[list[str]]:
        """The packages of each `apt-get install`."""
        at = "--no-install-recommends"
        return [command[command.index(at) + 1 :] for command in self.ran if at in command]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    made = Machine(tmp_path, {"one", "two", "both"})
    several = {
        name: replace(NOWHERE, name=name, title=name, debian=(name, "both"), files=(str(tmp_path / name),))
        for name in ("one", "two", "none")
    }
    several["none"] = replace(several["none"], optional=True)
    several["snake"] = replace(NOWHERE, name="snake", debian=(), files=(), python=("no_such_module",))
    monkeypatch.setattr(kits_module, "kits", lambda: several)
    monkeypatch.setattr(kits_module, "_trouble", made.trouble)
    monkeypatch.setattr(kits_module, "_done", set())
    monkeypatch.setattr(kits_module, "_failed", {})
    monkeypatch.setattr(kits_module, "LISTS", tmp_path / "lists")
    return made


@pytest.mark.parametrize(
    ("age_s", "updates"), [(0, False), (3590, False), (3610, True), (-60, True), (None, True)]
)
def test_lists_that_have_just_been_fetched_are_not_fetched_again(
    machine: Machine, age_s: int | None, updates: bool
) -> None:
    if age_s is not None:
        kits_module.LISTS.mkdir()
        when = time.time() - age_s
        os.utime(kits_module.LISTS, (when, when))
    kits_module.need("one")
    assert [command[-1] == "update" for command in machine.ran] == ([True, False] if updates else [False])
    assert machine.installed == [["one", "both"]]


def test_where_such_lists_do_not_do_they_are_fetched_once(machine: Machine) -> None:
    kits_module.LISTS.mkdir()
    for _ in range(2):
        kits_module.need("none")
        assert machine.installed == [["none", "both"]] * 2
    assert [command[-1] == "update" for command in machine.ran] == [False, True, False]


def test_several_kits_come_by_one_call(machine: Machine) -> None:
    kits_module.need_each([("one", True), ("two", True), ("one", True)])
    assert machine.installed == [["one", "both", "two"]]
    assert sum("update" in command for command in machine.ran) == 1
    kits_module.need("one", "two")
    assert len(machine.ran) == 2


def test_one_kit_that_cannot_be_had_keeps_no_other_away(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    kits_module.need("none", "one", "two")
    assert machine.installed == [
        ["none", "both", "one", "two"],
        ["none", "both"],
        ["one", "both"],
        ["two", "both"],
    ]
    assert sum("update" in command for command in machine.ran) == 1
    said = "going on without an optional kit: none: could not be installed"
    told = capsys.readouterr().err
    assert said in told and "(Unable to locate package none)" in told
    kits_module.need("none")  # for the same reason; apt-get is not asked again
    assert len(machine.installed) == 4 and said in capsys.readouterr().err


def test_pythons_packages_come_meanwhile_and_are_tried_once(machine: Machine) -> None:
    with pytest.raises(InputError, match="no_such_module missing"):
        kits_module.need("one", "snake")
    assert machine.installed == [["one", "both"]]
    pip = [command for command in machine.ran if "pip" in command]
    assert len(pip) == 1 and pip[0][-1].endswith("snake.txt") and "--require-hashes" in pip[0]


def test_pythons_packages_of_several_kits_come_by_one_call(machine: Machine) -> None:
    kits_module.kits()["newt"] = replace(kits_module.kits()["snake"], name="newt", python=("no_other",))
    with pytest.raises(InputError, match="no_such_module missing"):
        kits_module.need("snake", "newt")
    locks = [[word for word in command if word.endswith(".txt")] for command in machine.ran]
    snake, newt = (str(kits_module.kits()[name].lock) for name in ("snake", "newt"))
    assert locks == [[snake, newt], [snake]]
