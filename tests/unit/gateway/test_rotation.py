"""CSV files that take each other's place: nothing is lost, doubled or out of order wherever a kill falls."""

from __future__ import annotations

import csv
import os
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway_bed import item
from motecrypt.air.radios import load_radio
from motecrypt.app.gateway import GatewayNodes, GatewayRequest, GatewaySinks, _sinks, open_service
from motecrypt.app.link_ends import SerialRadio
from motecrypt.base.errors import InputError
from motecrypt.link.gateway.opening import open_gateway
from motecrypt.link.gateway.sinks import SinkError
from motecrypt.link.gateway.sinks import rotation as module
from motecrypt.link.gateway.sinks.csv_log import HEAD, CsvLog
from motecrypt.link.gateway.sinks.rotation import Rotation
from motecrypt.link.keys import create_master_file
from motecrypt.link.ports.signals import Stop

ROW = len(b"5.1.0.10,2023-11-14T22:13:20.123Z,5,message,21.4 C,32312e342043,6\r\n")
TWO = Rotation(len(HEAD) + 2 * ROW + 3, 3)
"""Two rows fit into a file, and three earlier files are kept."""


class Killed(BaseException):
    """The process is removed."""


def ids(path: Path) -> list[str]:
    with path.open(newline="") as file:
        return [row["id"].rpartition(".")[2] for row in csv.DictReader(file)]


def all_ids(folder: Path) -> list[str]:
    """Of all files, the oldest first."""
    paths = sorted(folder.glob("log.csv.*"), key=lambda path: -int(path.name.rpartition(".")[2]))
    return [each for path in (*paths, folder / "log.csv") if path.exists() for each in ids(path)]


def filled(folder: Path, *numbers: int, rotation: Rotation = TWO) -> None:
    """Each row in a delivery of its own."""
    log = CsvLog(folder / "log.csv", 0, rotation)
    for number in numbers:
        log.deliver([item(number)])
    log.finish()


def test_a_file_that_would_become_too_long_is_replaced_and_so_many_are_kept(tmp_path: Path) -> None:
    filled(tmp_path, *range(10, 19))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "log.csv",
        *(f"log.csv.{n}" for n in (1, 2, 3)),
    ]
    assert ids(tmp_path / "log.csv") == ["18"]
    assert [ids(tmp_path / f"log.csv.{number}") for number in (1, 2, 3)] == [
        ["16", "17"],
        ["14", "15"],
        ["12", "13"],
    ]
    assert all(path.stat().st_size <= TWO.file_bytes for path in tmp_path.iterdir())
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_a_delivery_is_in_one_file_and_a_long_one_has_a_file_of_its_own(tmp_path: Path) -> None:
    log = CsvLog(tmp_path / "log.csv", 0, TWO)
    log.deliver([item(number) for number in range(10, 15)])
    log.deliver([item(14)])
    log.deliver([])
    assert not (tmp_path / "log.csv.1").exists(), "nothing new, so nothing moves"
    log.deliver([item(15)])
    log.finish()
    assert (ids(tmp_path / "log.csv.1"), ids(tmp_path / "log.csv")) == (
        ["10", "11", "12", "13", "14"],
        ["15"],
    )


def test_one_that_was_to_be_read_by_a_group_stays_so(tmp_path: Path) -> None:
    filled(tmp_path, 10, 11)
    (tmp_path / "log.csv").chmod(0o640)
    filled(tmp_path, 12)
    assert [path.stat().st_mode & 0o777 for path in sorted(tmp_path.iterdir())] == [0o640, 0o640]


def test_without_it_a_file_grows(tmp_path: Path) -> None:
    log = CsvLog(tmp_path / "log.csv", 0)
    for number in range(10, 40):
        log.deliver([item(number)])
    log.finish()
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"] and len(ids(tmp_path / "log.csv")) == 30


@pytest.mark.parametrize("waiting", range(8))
def test_rows_of_earlier_files_are_known_after_a_crash(tmp_path: Path, waiting: int) -> None:
    filled(tmp_path, *range(10, 17))
    log = CsvLog(tmp_path / "log.csv", waiting, TWO)
    assert log._before == {f"5.1.0.{number}" for number in range(17 - waiting, 17)}
    for number in range(17 - waiting, 18):
        log.deliver([item(number)])
    log.finish()
    assert all_ids(tmp_path) == [str(number) for number in range(10, 18)]


STEPS = [(name, at) for name in ("rename", "fsync") for at in range(8)]


@pytest.mark.parametrize(("name", "at"), STEPS)
def test_killed_at_any_step_nothing_is_doubled_lost_or_out_of_order(
    tmp_path: Path, name: str, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before a step of the rotation that moves three files; all that waited comes again, twice."""
    many = Rotation(TWO.file_bytes, 8)
    filled(tmp_path, *range(10, 16), rotation=many)
    log, left = CsvLog(tmp_path / "log.csv", 0, many), at
    owner = Path if name == "rename" else os

    def step(*given: object) -> object:
        nonlocal left
        if left == 0:
            raise Killed
        left -= 1
        return whole(*given)

    whole = getattr(owner, name)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, step)
        try:
            for number in (16, 17):
                log.deliver([item(number)])
        except Killed:
            pass
    os.close(log._handle)
    for last in (18, 25):
        again = CsvLog(tmp_path / "log.csv", last - 10, many)
        for number in range(10, last):
            again.deliver([item(number)])
        again.finish()
        assert all_ids(tmp_path) == [str(number) for number in range(10, last)]
    numbers = sorted(int(path.name.rpartition(".")[2]) for path in tmp_path.glob("log.csv.*"))
    assert numbers == list(range(1, len(numbers) + 1)), "the gap is filled"


def test_a_rotation_that_fails_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path, 10, 11)
    log, rename = CsvLog(tmp_path / "log.csv", 0, TWO), Path.rename
    failing: list[str] = []

    def fails(path: Path, target: Path) -> Path:
        if failing == [path.name]:
            raise PermissionError(13, "Permission denied")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fails)
    for name in ("log.csv", ".log.csv.new"):
        failing[:] = [name]
        with pytest.raises(SinkError, match=r"log\.csv: Permission denied"):
            log.deliver([item(12)])
        assert all_ids(tmp_path) == ["10", "11"]
    failing.clear()
    for number in (12, 13, 14):
        log.deliver([item(number)])
    log.finish()
    assert all_ids(tmp_path) == ["10", "11", "12", "13", "14"]


def test_only_files_of_ours_are_moved(tmp_path: Path) -> None:
    (tmp_path / "log.csv.2").write_text("my own notes")
    with pytest.raises(InputError, match=r"log\.csv\.2 is not an earlier file of it; move that away$"):
        CsvLog(tmp_path / "log.csv", 0, TWO)
    (tmp_path / "log.csv.2").rename(tmp_path / "log.csv.4")
    filled(tmp_path, *range(10, 20))
    assert (tmp_path / "log.csv.4").read_text() == "my own notes"
    (tmp_path / "link.csv").symlink_to(tmp_path / "log.csv")
    with pytest.raises(
        InputError, match=r"link\.csv: cannot be renamed, which --csv-mb needs; name another file$"
    ):
        CsvLog(tmp_path / "link.csv", 0, TWO)
    (tmp_path / "log.csv.1").unlink()
    (tmp_path / "log.csv.1").symlink_to(tmp_path / "log.csv")
    with pytest.raises(InputError):
        CsvLog(tmp_path / "log.csv", 0, TWO)


@pytest.mark.parametrize("left", [b"", HEAD[:9], HEAD, bytes(len(HEAD)), HEAD[:4] + bytes(5)])
def test_a_new_file_that_a_power_cut_left_is_replaced(tmp_path: Path, left: bytes) -> None:
    (tmp_path / ".log.csv.new").write_bytes(left)
    filled(tmp_path, *range(10, 15))
    assert all_ids(tmp_path) == ["10", "11", "12", "13", "14"]
    assert not (tmp_path / ".log.csv.new").exists()


@pytest.mark.parametrize("left", [b"my own notes", HEAD + b"11,", bytes(len(HEAD) + 1)])
def test_a_file_of_somebody_else_under_its_name_is_not_removed(tmp_path: Path, left: bytes) -> None:
    (tmp_path / ".log.csv.new").write_bytes(left)
    with pytest.raises(InputError, match=r"\.log\.csv\.new is not a new file of it; move that away$"):
        CsvLog(tmp_path / "log.csv", 0, TWO)
    assert (tmp_path / ".log.csv.new").read_bytes() == left


def test_the_new_file_is_locked_too(tmp_path: Path) -> None:
    log = CsvLog(tmp_path / "log.csv", 0, TWO)
    for number in range(10, 13):
        log.deliver([item(number)])
    with pytest.raises(InputError, match="another program is using it"):
        CsvLog(tmp_path / "log.csv", 0)
    log.finish()


def test_each_name_is_on_the_disk_before_another_file_gets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path, *range(10, 14))
    log, seen = CsvLog(tmp_path / "log.csv", 0, TWO), list[dict[str, list[str]]]()

    def synced(folder: Path) -> None:
        assert folder == tmp_path
        seen.append({path.name: ids(path) for path in folder.glob("log.csv*")})

    monkeypatch.setattr(module, "sync_folder", synced)
    log.deliver([item(14)])
    log.finish()
    assert seen == [
        {"log.csv": ["12", "13"], "log.csv.2": ["10", "11"]},
        {"log.csv.1": ["12", "13"], "log.csv.2": ["10", "11"]},
        {"log.csv": [], "log.csv.1": ["12", "13"], "log.csv.2": ["10", "11"]},
    ]


def test_the_gateway_has_it_as_its_options_say(tmp_path: Path) -> None:
    cases: list[tuple[dict[str, Any], Rotation | None]] = [
        ({}, None),
        ({"csv_mb": 0.5}, Rotation(500_000, 9)),
        ({"csv_mb": 2, "csv_kept": 4}, Rotation(2_000_000, 4)),
    ]
    for given, rotation in cases:
        (log,) = _sinks(GatewaySinks(csv=[tmp_path / "log.csv"], **given), 0)
        assert isinstance(log, CsvLog) and log._rotation == rotation
        log.finish()


def test_fewer_that_are_kept_remove_older_ones_of_ours(tmp_path: Path) -> None:
    filled(tmp_path, *range(10, 19))
    (tmp_path / "log.csv.5").write_text("mine")
    filled(tmp_path, 19, 20, 21, rotation=Rotation(TWO.file_bytes, 1))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.csv", "log.csv.1", "log.csv.5"]
    assert (ids(tmp_path / "log.csv.1"), ids(tmp_path / "log.csv")) == (["18", "19"], ["20", "21"])
    (tmp_path / "log.csv.2").write_text("mine")
    filled(tmp_path, 22, rotation=Rotation(TWO.file_bytes, 1))
    assert (tmp_path / "log.csv.2").read_text() == "mine"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"No such file or directory; name a file that can be written$"):
        CsvLog(tmp_path / "no" / "log.csv", 0, TWO)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sinks": GatewaySinks(csv_mb=3)}, "--csv-mb: it needs --csv; give that, too"),
        (
            {"sinks": GatewaySinks(csv=[Path("a")], csv_kept=3)},
            "--csv-kept: it needs --csv-mb; give that, too",
        ),
        ({"nodes": GatewayNodes(output_mb=5)}, "--output-mb: it needs --output; give that, too"),
        (
            {"sinks": GatewaySinks(csv=[Path("a"), Path("a.2")], csv_mb=1)},
            r"--csv .*/a\.2: is an earlier file of --csv .*/a; name another file",
        ),
    ],
)
def test_sizes_that_belong_to_nothing_are_refused(
    changes: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    create_master_file(tmp_path / "key")
    with closing(open_gateway(tmp_path / "key", None, 12)) as gateway:
        gateway.provision(5)
    request = GatewayRequest(["p"], SerialRadio(load_radio("srf")), Path("key"))
    with pytest.raises(InputError, match=f"^{said}$"), ExitStack() as opened:
        open_service(replace(request, **changes), opened, Stop(), print)
