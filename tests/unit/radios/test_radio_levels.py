"""Files of levels and places, and what is wrong with them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from motecrypt.air.radios import RadioNetwork, load_radio
from motecrypt.air.radios.levels import LEVEL_DBM, Levels, PathLoss, levels_of_places, read_levels
from motecrypt.base.errors import InputError


def read(folder: Path, text: str, nodes: int = 3) -> Levels:
    (folder / "levels.toml").write_text(text)
    return read_levels(folder / "levels.toml", nodes)


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "") == Levels({}, LEVEL_DBM, {}) == Levels()
    assert Levels().level(0, 1) == -50.0


def test_pairs_count_both_ways_unless_they_say_otherwise(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """
        level_dbm = -60
        [[pair]]
        from = 0
        to = 1
        level_dbm = -70.5
        [[pair]]
        from = 1
        to = 2
        level_dbm = -80
        loss = 0.25
        both_ways = false
        [[pair]]
        from = 2
        to = 1
        loss = 1
        both_ways = false
        """,
    )
    assert found == Levels({(0, 1): -70.5, (1, 0): -70.5, (1, 2): -80.0}, -60.0, {(1, 2): 0.25, (2, 1): 1.0})
    assert [found.level(1, 0), found.level(2, 1)] == [-70.5, -60.0]


def test_places_make_levels_and_pairs_go_before_them(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """
        port = [
            { port = 1, x_m = 3, y_m = 4 }, { port = 0, x_m = 0, y_m = 0 }, { port = 2, x_m = 0, y_m = 10 },
        ]
        path = { tx_dbm = 10, exponent = 2, reference_db = 40 }
        pair = [{ from = 0, to = 2, level_dbm = -99 }]
        """,
    )
    far = 10 - 40 - 20 * math.log10(math.sqrt(45))
    assert found.dbm == pytest.approx(
        {
            (0, 1): 10 - 40 - 20 * math.log10(5),
            (1, 0): 10 - 40 - 20 * math.log10(5),
            (1, 2): far,
            (2, 1): far,
            (0, 2): -99,
            (2, 0): -99,
        }
    )


def test_a_path_falls_by_its_exponent() -> None:
    path = PathLoss()
    assert path.level(1.0) == pytest.approx(-31.2) and path.level(10.0) == pytest.approx(-31.2 - 30)
    assert path.level(0.0) == path.level(0.1) == pytest.approx(-31.2 + 30)
    assert levels_of_places([(0, 0), (1, 0)], PathLoss(5, 2, 40)).dbm == {(0, 1): -35.0, (1, 0): -35.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pairs = 1", "did you mean 'pair'"),
        ("pair = 1", "expected an array of tables"),
        ("[[pair]]\nfrom = 0", "'to' is missing"),
        ("[[pair]]\nfrom = 0\nto = 3", "'to' is 3; expected a whole number from 0 to 2"),
        ("[[pair]]\nfrom = -1\nto = 1", "'from' is -1"),
        ("[[pair]]\nfrom = 0.5\nto = 1", "'from' is 0.5"),
        ("[[pair]]\nfrom = 1\nto = 1", "from port 1 to itself; name two ports"),
        ("[[pair]]\nfrom = 0\nto = 1\nloss = 1.1", "'loss' is 1.1"),
        ("[[pair]]\nfrom = 0\nto = 1\nloss = -0.1", "'loss' is -0.1"),
        ("[[pair]]\nfrom = 0\nto = 1\nlevel_dbm = nan", "expected a finite number"),
        ("[[pair]]\nfrom = 0\nto = 1\nlevel_dbm = -301", "'level_dbm' is -301"),
        ("[[pair]]\nfrom = 0\nto = 1\nlevel = 1", "did you mean 'level_dbm'"),
        ("[[pair]]\nfrom = 0\nto = 1\n[[pair]]\nfrom = 1\nto = 0", "from port 1 to 0 appears twice"),
        ("level_dbm = 101", "'level_dbm' is 101"),
        ("[[port]]\nport = 0\nx_m = 0\ny_m = 0", "port 1 has no position; give all 3 one, or none"),
        (
            "[[port]]\nport = 0\nx_m = 0\ny_m = 0\n[[port]]\nport = 0\nx_m = 1\ny_m = 0",
            "already has a position",
        ),
        ("[[port]]\nport = 0\nx_m = 0", "'y_m' is missing"),
        ("port = [{port = 0, x_m = 0, y_m = 0}]\npath = {exponent = 0}", "'exponent' is 0"),
        ("port = [{port = 0, x_m = 0, y_m = 0}]\npath = {exponents = 2}", "did you mean 'exponent'"),
        ("[path]\nexponent = 2", "unknown 'path'"),
        ("[[pair]", "not valid TOML"),
    ],
)
def test_faulty_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        read(tmp_path, text)
    assert message in str(refused.value) and "\n" not in str(refused.value)


def test_a_level_for_all_counts_too() -> None:
    network = RadioNetwork(load_radio("nrf24"), 2, levels=Levels(other_dbm=-120.0))
    network.write(0, b"x", 0.0)
    network.advance(1e6)
    assert network.tally(1).faint == 1
