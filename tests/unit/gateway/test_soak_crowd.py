"""A small crowd: networks with equal numbers, strangers, a clock that jumps; each kind of defect is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from motecrypt.link.gateway.admission import Admission
from motecrypt.link.gateway.items import Item
from motecrypt.link.gateway.spool import Spool
from soak import crowd as module
from soak.crowd import Crowd
from soak.main import main

LEFT: list[bytes] = []


def crowded(folder: Path, messages: int = 1, strangers: int = 0, **given: int) -> Crowd:
    """A run."""
    made = Crowd(folder, **given)
    made.messages(messages)
    if strangers:
        made.strangers(strangers)
    made.settle()
    return made


def test_networks_strangers_and_clocks_disturb_nobody(tmp_path: Path) -> None:
    """Three networks of 63 nodes on one channel, then 20,000 packets of strangers."""
    crowd = crowded(tmp_path, strangers=20_000, networks=3, nodes=module.NODES)
    assert not crowd.wrong, crowd.cases
    counts = crowd.counts
    assert counts["packets of strangers"] == 20_000 and counts["jumps of the clock"] > 3
    assert counts["messages accepted"] == len(crowd.accepted) > 80 and not counts["messages unconfirmed"]
    assert counts["messages at sqlite"] == counts["messages at csv"] > 0.9 * 3 * module.NODES


def test_the_page_says_how_large_the_crowd_is() -> None:
    page = " ".join((Path(__file__).resolve().parents[3] / "docs" / "gateway.md").read_text().split())
    assert f"{module.NETWORKS} gateways whose {module.NODES} nodes each have the same numbers" in page
    assert f"{module.STRANGERS:,} packets of strangers at {module.PORTS} ports of one of them" in page


def test_equal_seeds_run_alike(tmp_path: Path) -> None:
    runs = []
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        (tmp_path / name).mkdir()
        runs.append(crowded(tmp_path / name, 2, networks=2, nodes=3, seed=seed).counts)
    assert runs[0] == runs[1] != runs[2]


def twice(self: Spool, items: Sequence[Item], put: Callable[..., None] = Spool.put) -> None:
    put(self, [*items, *items])


def lossy(self: Spool, items: Sequence[Item], put: Callable[..., None] = Spool.put) -> None:
    put(self, items[1:])


def elsewhere(self: Spool, items: Sequence[Item], put: Callable[..., None] = Spool.put) -> None:
    put(self, [Item(**{**vars(item), "node": item.node ^ 1}) for item in items])


def leaky(self: Admission, node: int, now_s: float, lets_in: Callable[..., bool] = Admission.lets_in) -> bool:
    LEFT.append(bytes([node]) * 50)
    return lets_in(self, node, now_s)


@pytest.mark.parametrize(
    ("owner", "name", "defect", "found"),
    [
        (Spool, "put", twice, "doubled"),
        (Spool, "put", lossy, "accepted and lost"),
        (Spool, "put", elsewhere, "made up"),
        (Admission, "lets_in", leaky, "grown"),
    ],
)
def test_defects_are_found(
    owner: type, name: str, defect: Any, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, defect)
    crowd = crowded(tmp_path, 4, 8000 if found == "grown" else 0, networks=2, nodes=4)
    LEFT.clear()
    assert crowd.wrong[found] > 0 and any(case.startswith(found) for case in crowd.cases)


def test_the_command_tells_its_counts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Crowd.__init__, "__defaults__", (2, 2, 0))
    assert main(["--crowd", "--networks", "2", "--messages", "1", "--strangers", "320"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == "0 doubled, 0 made up, 0 accepted and lost, 0 accepted by a stranger, 0 grown"
    assert any(line.split() == ["packets", "of", "strangers", "320"] for line in said)
    with pytest.raises(SystemExit) as ended:
        main(["--crowd", "--networks", "0"])
    assert ended.value.code == 2 and "--networks takes 1 to 64" in capsys.readouterr().err
