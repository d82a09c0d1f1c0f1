"""The base of a gate, entry by entry: what is new, what is broken there, and what the history has of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from motecrypt.app import gate_base
from motecrypt.app.gate import HinderedError, Taken
from motecrypt.app.gate_base import take_base
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.gate.figures import Benchmark
from motecrypt.gate.plan import GatePlan, read_gate_plan
from motecrypt.results import Results

OLD = """
devices = ["uno", "pico"]
[[library]]
folder = "old"
[[firmware]]
name = "node"
file = "node.elf"
device = "uno"
"""
NEW = f"""{OLD}
[[library]]
folder = "new"
"""


def benchmark(name: str, figure: float = 1) -> Benchmark:
    return Benchmark(name, name, {"flash": figure})


class Sides:
    """A head with a new library, the folder of its base, and what fails when the base is measured."""

    def __init__(self, place: Path) -> None:
        (place / "base").mkdir()
        (place / "base" / "motecrypt.toml").write_text(OLD)
        (place / "motecrypt.toml").write_text(NEW)
        self.tree = place / "base"
        self.plan = read_gate_plan(place / "motecrypt.toml")
        self.failing: dict[str, MotecryptError] = {
            "uno/new": InputError("no new"),
            "pico/new": InputError("none"),
        }
        self.results = Results(place / "results.db")
        self.programs: list[Path] = []

    def measured(self, plan: GatePlan) -> Taken:
        taken = Taken()
        wanted = [
            (entry, [f"{device}/{entry.folder}" for device in entry.devices]) for entry in plan.measured
        ] + [(entry, [f"{entry.device}/{entry.name}"]) for entry in plan.firmware]
        for entry, names in wanted:
            taken.entries[entry] = names
            for name in names:
                if name in self.failing:
                    raise self.failing[name]
                taken.benchmarks.append(benchmark(name))
        return taken

    def head(self) -> Taken:
        failing, self.failing = self.failing, {}
        taken = self.measured(self.plan)
        self.failing = failing
        return taken

    def base(self, *history: Benchmark) -> tuple[dict[str, float], list[str]]:
        taken, notes = take_base(
            self.plan, self.tree, self.head(), history, self.results, None, lambda *said: None
        )
        return {b.name: b.figures["flash"] for b in taken.benchmarks}, notes


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sides:
    made = Sides(tmp_path)

    def own(plan: GatePlan, tree: Path, db: Path) -> Taken:
        made.programs.append(db)
        return made.measured(plan)

    monkeypatch.setattr(gate_base, "take", lambda plan, *others: made.measured(plan))
    monkeypatch.setattr(gate_base, "take_with_own_program", own)
    return made


def test_a_new_entry_leaves_the_others_compared(sides: Sides) -> None:
    found, notes = sides.base()
    assert found == {"uno/old": 1, "pico/old": 1, "uno/node": 1}
    assert notes == [
        "new on uno: new or changed in motecrypt.toml, and not compared: the base says: no new",
        "new on pico: new or changed in motecrypt.toml, and not compared: the base says: none",
    ]


@pytest.mark.parametrize("name", ["uno/old", "pico/old", "uno/node"])
def test_the_history_stands_in_for_the_entry_that_fails_alone(name: str, sides: Sides) -> None:
    sides.failing[name] = MotecryptError("does not build")
    history = [benchmark(other, 7) for other in ("uno/old", "pico/old", "uno/node", "uno/gone")]
    found, notes = sides.base(*history)
    assert found == {**dict.fromkeys(("uno/old", "pico/old", "uno/node"), 1), name: 7}
    assert sum("the history is its base" in note and "does not build" in note for note in notes) == 1


@pytest.mark.parametrize(("name", "said"), [("pico/old", "old on pico"), ("uno/node", "firmware node")])
def test_an_entry_of_the_base_without_any_figures_is_refused(name: str, said: str, sides: Sides) -> None:
    sides.failing[name] = MotecryptError("does not build")
    with pytest.raises(InputError, match=f"^{said}: could not be measured at the base, .*: does not build; "):
        sides.base(benchmark("uno/other"))


def test_an_entry_that_the_machine_hindered_is_not_new(sides: Sides) -> None:
    sides.failing["uno/new"] = HinderedError("the disk is full")
    with pytest.raises(InputError, match="the disk is full"):
        sides.base()


def test_a_base_without_a_file_has_only_new_entries(sides: Sides) -> None:
    (sides.tree / "motecrypt.toml").unlink()
    sides.failing["uno/old"] = MotecryptError("does not build")
    found, notes = sides.base()
    assert found == {"pico/old": 1, "uno/node": 1} and len(notes) == 3


def test_the_program_of_the_base_has_results_of_its_own(sides: Sides, tmp_path: Path) -> None:
    """Its format may be older than that of the user's results."""
    (tmp_path / "motecrypt.toml").write_text(f"own_program = true{NEW}")
    sides.plan = read_gate_plan(tmp_path / "motecrypt.toml")
    found, _ = sides.base()
    assert found == {"uno/old": 1, "pico/old": 1, "uno/node": 1}
    assert sides.programs and tmp_path / "results.db" not in sides.programs
    assert not any(db.parent.exists() for db in sides.programs), "nothing is left"
