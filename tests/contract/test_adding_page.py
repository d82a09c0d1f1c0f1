"""What docs/adding.md says is what a newcomer finds who follows it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import additions
from motecrypt.air.radios.catalog import FOLDER as RADIOS
from motecrypt.air.radios.catalog import read_radio
from motecrypt.base.descriptor import Table
from motecrypt.catalog import Catalog
from motecrypt.catalog.accelerators import FOLDER as ACCELERATORS
from motecrypt.catalog.accelerators import read_accelerators
from motecrypt.catalog.chips import CHIPS, read_chip
from motecrypt.catalog.ciphers import read_cipher_folder
from motecrypt.catalog.devices import ARM_CHIPS, read_device
from motecrypt.catalog.libraries import read_library_folder
from motecrypt.catalog.places import FIRMWARE
from motecrypt.catalog.publickey import read_public_key_folder
from motecrypt.cli import application

ROOT = Path(__file__).resolve().parents[2]
DOCS, EXAMPLES, PACKAGE = ROOT / "docs", ROOT / "examples", ROOT / "src" / "motecrypt"
PAGE = (DOCS / "adding.md").read_text(encoding="utf-8")
CATALOG = Catalog.load()


def section(title: str, page: str = PAGE) -> str:
    """The text below a title, up to the next one of any level."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#+ |\Z)", page, re.DOTALL | re.MULTILINE)
    assert found is not None, title
    return found[1]


def table(text: str, first: str) -> list[list[str]]:
    """The rows, as cells, of the table whose head begins with these words."""
    rows = text.partition(f"| {first} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def quoted(text: str) -> list[str]:
    """What is between backticks."""
    return re.findall(r"`([^`]+)`", text)


# --- a path in place of a name ---------------------------------------------------------------------------


KINDS = ("--cipher", "--public-key", "--library", "--device", "--radio", "--toolchain")


def options() -> Iterator[tuple[str, str, str]]:
    """Each option of each command that takes something of a kind, as command, option and help."""
    context = click.Context(application)
    for name in application.list_commands(context):
        command = application.get_command(context, name)
        assert command is not None
        for param in command.params:
            if isinstance(param, click.Option) and param.opts[0] in KINDS:
                yield name, param.opts[0], param.help or ""


def test_a_path_works_where_the_page_says_and_nowhere_else() -> None:
    said = set()
    for _, where, _ in table(PAGE, "what | where a path works | copy"):
        commands, _, option = where.partition(" with ")
        if option:
            said |= {(command, quoted(option)[0]) for command in quoted(commands)}
    takes = re.compile(r"\b(your own|own) (folders?|file)\b|descriptor file|, or a file")
    offered = {(command, option) for command, option, told in options() if takes.search(told)}
    radios = {(command, option) for command, option, _ in options() if option == "--radio"}
    assert said == offered | radios


# --- what a descriptor may have --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def asked() -> dict[str, set[str]]:
    """By kind, the keys that the readers ask for in the descriptors that ship; those of cycles left out."""
    found: dict[str, set[str]] = {}
    take = Table._take
    kind = ""

    def noted(self: Table, key: str, *rest: Any) -> Any:
        if not self.where.endswith("cycles"):
            found.setdefault(kind, set()).add(key)
        return take(self, key, *rest)

    cores = {device.core for device in CATALOG.devices.values()}
    readers: dict[str, tuple[Any, Any]] = {
        "A cipher": (lambda at: read_cipher_folder(at, cores), FIRMWARE / "ciphers"),
        "A library": (
            lambda at: read_library_folder(at, CATALOG.ciphers, cores, CATALOG.public_keys),
            FIRMWARE / "libraries",
        ),
        "A public-key algorithm": (lambda at: read_public_key_folder(at, cores), FIRMWARE / "publickey"),
        "A device": (read_device, FIRMWARE / "devices"),
        "A chip": (read_chip, CHIPS),
        "A radio": (read_radio, RADIOS),
        "Cryptographic hardware of a chip": (read_accelerators, ACCELERATORS),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Table, "_take", noted)
        for kind, (read, folder) in readers.items():  # noqa: B007 - noted reads it
            for path in folder.iterdir():
                if path.suffix == ".toml" or any(path.glob("*.toml")):
                    read(path)
    return found


#: Where the page refers to for further keys: sections, and descriptors that explain their lines.
FURTHER = {
    "A library": [
        section("library.toml", (DOCS / "bring-your-library.md").read_text()),
        section("A public-key algorithm"),
    ],
    "A public-key algorithm": [section("A cipher")],
    "A device": [
        section("Flash with wait states", (DOCS / "fidelity.md").read_text()),
        *((FIRMWARE / f"devices/{name}/device.toml").read_text() for name in ("pico", "bluepill", "hifive1")),
        (EXAMPLES / "mega" / "device.toml").read_text(),
    ],
}


def test_every_key_of_a_descriptor_is_explained(asked: dict[str, set[str]]) -> None:
    for kind, keys in asked.items():
        code = " ".join(re.findall(r"```.*?```|`[^`]*`", section(kind), re.DOTALL))
        explained = set(re.findall(r"\w+", f"{code} {' '.join(FURTHER.get(kind, []))}"))
        assert sorted(keys - explained) == [], kind


def test_the_cores_and_tool_sets_are_those_of_the_devices() -> None:
    rows = {row[0]: row[1] for row in table(section("A device"), "key | meaning")}
    simulated = [device for device in CATALOG.devices.values() if device.simulated]
    cores = rows["`title`, `chip`, `core`, `clock_hz`, `source`"].partition("names it:")[2]
    assert set(quoted(cores)) == {device.core for device in simulated}
    assert set(quoted(rows["`tool_set`"])) - {"motecrypt doctor"} == {d.tool_set for d in simulated}
    assert set(quoted(rows["`runner`"])) == {device.runner for device in simulated}


def test_what_another_chip_must_be_in_is_there() -> None:
    """Each place of the list names each ARM chip, or each of its devices."""
    listed = re.findall(r"^\d+\. (.*)$", section("A device"), re.MULTILINE)
    numbers = {9: "nine", 10: "ten", 11: "eleven"}
    assert f"known in {numbers[len(listed)]} places" in section("A device")
    places = {
        "drivers/chip_known.h": PACKAGE / "simulate/drivers/chip_known.h",
        "drivers/arm_chip.h": PACKAGE / "simulate/drivers/arm_chip.h",
        "`LACKS` of `test_unmodelled.py`": ROOT / "tests/contract/test_unmodelled.py",
        "`CHECKED` of `test_chip_files.py`": ROOT / "tests/unit/test_chip_files.py",
    }
    for told, file in places.items():
        assert any(told in line for line in listed)
        assert all(f'"{chip}"' in file.read_text() for chip in ARM_CHIPS), told
    assert any("`ARM_CHIPS` in `catalog/devices.py`" in line for line in listed)
    for chip in ARM_CHIPS:
        assert (CHIPS / f"{chip}.toml").exists()


def test_every_file_that_it_names_is_there() -> None:
    found = re.findall(r"`((?:[\w.-]+/)+[\w.-]+\.(?:c|h|py|toml|txt))`", PAGE)
    assert len(found) > 8
    lost = [name for name in found if "NAME" not in name and not [*PACKAGE.rglob(name), *ROOT.glob(name)]]
    assert lost == []


# --- in motecrypt itself ---------------------------------------------------------------------------------

ROWS = table(section("In motecrypt itself"), "what | folder in `src/motecrypt`")
#: Prints the pages that are not what their generators make, and which names of additions are in none of them.
CHANGED = """
import json, sys
from pathlib import Path
from made import data, public_key, reference
from motecrypt.adviser.publickey.rows import recorded
from motecrypt.catalog import Catalog
from motecrypt.studies import names, needs, study
catalog = Catalog.load()
pages = {"reference": reference.page(), "data": data.page(), "public_key": public_key.whole_page(catalog)}
files = {"public_key": "public-key"}
changed = {n for n, page in pages.items() if Path(f"docs/{files.get(n, n)}.md").read_text() != page}
if {row.algorithm for row in recorded()} != set(catalog.public_keys):
    changed.add("public_key")
for name in names():
    assert study(name).TITLE and needs(name)
there = " ".join([pages["reference"], *catalog.public_keys])
print(json.dumps([sorted(changed), [name for name in sys.argv[1:] if name not in there]]))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree."""
    return additions.copy(tmp_path_factory.mktemp("additions") / "tree")


@pytest.mark.parametrize("again", sorted({row[2] for row in ROWS}))
def test_additions_are_found_and_change_the_pages_that_are_named(tree: Path, again: str) -> None:
    folders = [quoted(row[1])[0] for row in ROWS if row[2] == again]
    targets = [each for each in additions.ADDED if each.rpartition("/")[0] in folders]
    assert {each.rpartition("/")[0] for each in targets} == set(folders)
    for target in targets:
        additions.add(tree, target)
    try:
        ran = subprocess.run(
            [sys.executable, "-P", "-c", CHANGED, *(Path(target).stem for target in targets)],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(str(tree / each) for each in ("src", "tests"))},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        for target in targets:
            added = tree / additions.PACKAGE / target
            shutil.rmtree(added) if added.is_dir() else added.unlink()
    assert ran.returncode == 0, ran.stderr
    changed, lost = json.loads(ran.stdout)
    assert (lost, changed) == ([], sorted(set(quoted(again)) - {"--page"}))


def test_what_it_runs_is_there() -> None:
    for words in (line.split() for row in ROWS for line in quoted(row[3])):
        assert words[0] == "./test"
        for word in words[1:]:
            assert word in ("vectors", "-k", "NAME") or (ROOT / word).exists(), word
    for module in {name for row in ROWS for name in quoted(row[2])} - {"--page"}:
        assert f"-m made.{module}" in section("In motecrypt itself")
        assert (ROOT / "tests" / "made" / f"{module}.py").exists()
