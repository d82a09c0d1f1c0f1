"""What users would take instead: lengths by their formulas, and a source for everything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from motecrypt.adviser.api import link_facts
from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.studies.rf import alternatives, protocols

BY_NAME = {each.name: each for each in alternatives.alternatives()}
ON_UNO = Path(__file__).parents[1] / "link" / "test_link_on_uno.py"


def test_lengths_of_frames() -> None:
    found = {name: [each.frame_bytes(n) for n in (6, 15, 16, 24)] for name, each in BY_NAME.items()}
    assert found["radiohead"] == [16, 16, 32, 32], "the length, then whole blocks"
    assert found["lorawan-1-0"] == found["lorawan-1-1"] == [19, 28, 29, 37]
    assert found["libhydrogen"] == [42, 51, 52, 60]
    assert found["esp-now"] == [22, 31, 32, 40] and found["ieee802154"] == [19, 28, 29, 37]


def test_what_is_ours_is_what_our_code_does() -> None:
    assert BY_NAME["link"].head_bytes == link_facts().short_overhead_bytes
    assert BY_NAME["uoscore"].frame_bytes(24) == protocols.oscore_bytes(24)
    limits = re.search(r'"5.4": {"both ways": \((\S+), (\d+)\)', ON_UNO.read_text())
    assert limits is not None
    flash, ram = limits.groups()
    assert int(flash) < 5_000 and int(ram) < 100 and "less than 5 KB" in BY_NAME["link"].chip


def test_everything_has_a_source() -> None:
    assert len(BY_NAME) == 8
    for each in BY_NAME.values():
        assert set(each.properties) == set(alternatives.PROPERTIES)
        assert each.chip_source or each.chip.startswith("not measured: ")
    whole, sources = alternatives.sections()
    assert [len(row) for row in whole.rows] == [len(whole.columns)] * 8
    assert len(sources.rows) == 8 * 5 + 3 and all(row[-1] for row in sources.rows)
    assert alternatives.table()[0]["replay"] == {
        "holds": "a window of counters",
        "source": "docs/link.md, Receiving",
    }


def test_the_page_has_the_same_table() -> None:
    page = (Path(__file__).parents[3] / "docs" / "radio.md").read_text()
    for row in alternatives.sections()[0].rows:
        assert f"| {' | '.join(row[:-1])} |" in page, row[0]


def test_what_was_not_measured_names_the_command_or_why_there_is_none() -> None:
    ciphers = Catalog.load().ciphers
    for each in BY_NAME.values():
        if each.chip.startswith("not measured: "):
            named = re.search(r"measure --device uno --library FOLDER --cipher (\S+)$", each.chip)
            assert named[1] in ciphers if named else "cannot" in each.chip, each.name


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("head_bytes = 6", "head_bytes = 0", "head_bytes"),
        ("head_bytes = 6", "head_byte = 6", "head_byte"),
        ('replay = { is = "a window', 'replay = { has = "a window', "is"),
        (', source = "docs/link.md, Receiving" }', " }", "source"),
        ('\nsource = "', '\nsource = ""  # "', "source"),
    ],
)
def test_a_wrong_file_is_refused(old: str, new: str, said: str, tmp_path: Path) -> None:
    text = alternatives.FILE.read_text()
    assert old in text
    (tmp_path / "a.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=said):
        alternatives.read(tmp_path / "a.toml")
