"""A short soak: everything fails often, and nothing is doubled or lost; defects of each kind are found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from motecrypt.link.gateway.items import Item
from motecrypt.link.gateway.sinks.csv_log import CsvLog
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.native import Event
from soak.ends import FragileDrain, NodeEnd
from soak.main import main, told
from soak.world import Soak, SoakPlan
from tool_sets import needs_tool_set

OFTEN = 10.0
MINUTE_H = 1 / 60


def soaked(folder: Path, **given: Any) -> Soak:
    """A run of 12 nodes for an hour."""
    usual: dict[str, Any] = {"nodes": 12, "firmware": 0, "hours": 1.0, "mishaps": OFTEN}
    made = Soak(SoakPlan(**usual | given), folder)
    made.run()
    return made


def never(soak: Soak) -> None:
    """Nothing that must not happen has."""
    assert not soak.wrong, soak.cases


def test_everything_fails_and_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    soak = soaked(tmp_path)
    never(soak)
    counts = soak.counts
    assert counts["readings due"] == pytest.approx(12 * 60, abs=12)
    assert counts["gateway crashes"] > 15 and counts["nodes' restarts"] > 5
    assert counts["messages at sqlite"] == counts["messages at csv"] >= len(soak.accepted) > 100
    assert counts["readings accepted"] == len(soak.accepted)
    outcomes = ("accepted", "unconfirmed", "refused")
    assert sum(counts[f"readings {name}"] for name in outcomes) <= counts["readings sent"]
    assert {kind for kind in counts if kind.startswith("mishap")} >= {"mishap: sink away"}


@needs_tool_set("avr", "arduino")
def test_simulated_unos_hand_their_nodes_over(tmp_path: Path) -> None:
    soak = soaked(
        tmp_path,
        nodes=4,
        firmware=2,
        hours=6 * MINUTE_H,
        firmware_hours=4 * MINUTE_H,
        interval_s=10.0,
        mishaps=2.0,
    )
    never(soak)
    sent = soak.counts["readings sent by firmware"]
    assert sent > 20 and 0.5 * sent < soak.counts["messages of firmware at sqlite"] <= sent
    assert set(soak.nodes) == {1, 2, 3, 4} and {soak.sent[content] for content in soak.accepted} == {
        1,
        2,
        3,
        4,
    }


def test_equal_seeds_fail_alike(tmp_path: Path) -> None:
    runs = []
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        (tmp_path / name).mkdir()
        runs.append(soaked(tmp_path / name, nodes=3, hours=0.1, seed=seed).counts)
    assert runs[0] == runs[1] != runs[2]


def test_it_can_be_stopped(tmp_path: Path) -> None:
    said: list[str] = []
    soak = Soak(SoakPlan(nodes=3, firmware=0, hours=40.0), tmp_path, said.append)

    def stop(text: str) -> None:
        said.append(text)
        soak.stop()

    soak.progress = stop
    soak.run()
    never(soak)
    assert soak.counts["simulated minutes"] == 60
    assert len(said) == 1 and soak.counts["readings due"] == pytest.approx(180, abs=6)
    assert soak.counts["messages at sqlite"] > 150


# --- defects are found


def forgetful(self: CsvLog, items: Sequence[Item], deliver: Callable[..., None] = CsvLog.deliver) -> None:
    self._before, self._last = set(), set()
    deliver(self, items)


def lossy(self: Spool, items: Sequence[Item], put: Callable[..., None] = Spool.put) -> None:
    put(self, items[1:])


def hasty(self: FragileDrain, last: int, take: Callable[..., None] = FragileDrain.take) -> None:
    take(self, last)
    self.done = max(self.done, last)


def faithless(self: NodeEnd) -> Event:
    return Event.NO_STATE


@pytest.mark.parametrize(
    ("owner", "name", "defect", "found"),
    [
        (CsvLog, "deliver", forgetful, "doubled"),
        (Spool, "put", lossy, "accepted and lost"),
        (FragileDrain, "take", hasty, "accepted and lost"),
        (NodeEnd, "restart", faithless, "silenced"),
    ],
)
def test_defects_are_found(
    owner: type, name: str, defect: object, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, defect)
    soak = soaked(tmp_path)
    assert soak.wrong[found] > 0 and any(case.startswith(found) for case in soak.cases)
    assert f"{soak.wrong[found]} {found}" in told(soak)


def test_the_command_tells_its_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--nodes", "2", "--hours", "0.1", "--firmware", "0", "--firmware-hours", "0.1"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == "0 doubled, 0 made up, 0 accepted and lost, 0 silenced, 0 not sent"
    assert any(line.split() == ["messages", "at", "csv", "12"] for line in said)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nodes", "63"], "--nodes takes 1 to 62"),
        (["--nodes", "2", "--firmware", "3"], "--firmware no more"),
        (["--hours", "0"], "--hours takes up to 8784"),
        (["--hours", "2", "--firmware-hours", "3"], "--firmware-hours no more"),
    ],
)
def test_impossible_soaks_are_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2 and message in capsys.readouterr().err
