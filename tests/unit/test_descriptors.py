"""Every TOML of the package goes through one validator: a misspelled key, a wrong type and a wild number are
each refused in one line."""

from __future__ import annotations

import json
import math
import shutil
import tomllib
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import pytest

from costs import ALL
from motecrypt.adviser.gather import read_supplies
from motecrypt.adviser.hardware.rows import read_settings
from motecrypt.adviser.link_data import read_link
from motecrypt.adviser.protection import read_resistances
from motecrypt.adviser.publickey.entropy import entropies
from motecrypt.adviser.publickey.handshakes import handshakes
from motecrypt.adviser.publickey.rows import published
from motecrypt.adviser.publickey.secrets import causes
from motecrypt.adviser.records.plan import read_plan
from motecrypt.air.radios.catalog import read_radio
from motecrypt.air.wlan.parameters import read_document
from motecrypt.base import descriptor
from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.build.setup.systems import read_systems
from motecrypt.build.setup.tool_sets import read_tool_sets
from motecrypt.build.toolchain.sources import sources_of
from motecrypt.catalog import Catalog
from motecrypt.catalog.accelerators import read_accelerators
from motecrypt.catalog.chips import read_chip
from motecrypt.catalog.ciphers import read_cipher_folder
from motecrypt.catalog.devices import read_device
from motecrypt.catalog.libraries import read_library_folder
from motecrypt.catalog.processors import processors
from motecrypt.catalog.publickey import read_public_key_folder
from motecrypt.catalog.toolchains import read_library, read_toolchain
from motecrypt.exports.bridge import read_bridge
from motecrypt.exports.examples import read_example
from motecrypt.exports.targets import read_target
from motecrypt.results.columns import read_columns
from motecrypt.results.experiments.pico_file import read_storage
from motecrypt.simulate.emulate.conformance import read_features
from motecrypt.studies.rc4d.sketches import read_sketches
from motecrypt.studies.rf import alternatives
from motecrypt.studies.words import read_words

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "motecrypt"
CHIPS = ("ATmega328P", "nRF51822", "FE310-G002")
"""Of the chips, whose long files all have the same keys, those that are tried here."""
FILES = sorted(path for path in PACKAGE.rglob("*.toml") if path.parent.name != "chips" or path.stem in CHIPS)
NAMED_FREELY = (
    "placement",
    "configuration",
    "cell",
    "regulator",
    "card",
    "signal",
    "suite",
    "alternative",
    "toolchain",
    "prints",
    "sketch",
    "memory",
    "tolerance",
    "claim",
    "row",
    "section",
    "texts",
)
"""Tables of tables whose names a descriptor chooses."""
DEBIANS = ("packages", "files")
"""Tables whose keys are Debian's; test_systems.py compares them with those of the tool sets."""
FIGURES_APART = ("radios", "toolchains", "libraries", "accelerators", "studies")
"""Folders whose files have no figure at a key of POSITIVE."""
LONG_LIST = 8
"""Of a longer list of tables, only the first with the same keys is changed."""
Where = tuple[str | int, ...]
"""The path of a key in a document."""
FREE_FILES = ("setup.toml", "systems.toml", "processors.toml", "storage.toml", "columns.toml")
"""Files whose tables are named freely."""


@lru_cache(maxsize=1)
def _catalog() -> Catalog:
    return Catalog.load()


def _library(path: Path) -> None:
    sources_of(path.parent)
    read_library_folder(path.parent, _catalog().ciphers, CORES)


CORES = tuple(sorted({device.core for device in _catalog().devices.values()}))
READERS: dict[str, Callable[[Path], object]] = {
    "algorithm.toml": lambda path: read_public_key_folder(path.parent, CORES),
    "protection.toml": read_resistances,
    "published.toml": published,
    "handshakes.toml": handshakes,
    "entropy.toml": entropies,
    "causes.toml": causes,
    "cipher.toml": lambda path: read_cipher_folder(path.parent, CORES),
    "library.toml": _library,
    "device.toml": lambda path: read_device(path.parent),
    "processors.toml": processors,
    "alternatives.toml": alternatives.read,
    "batteries.toml": read_supplies,
    "link.toml": read_link,
    "setup.toml": read_tool_sets,
    "systems.toml": read_systems,
    "storage.toml": read_storage,
    "wlan.toml": read_document,
    "conformance.toml": read_features,
    "columns.toml": read_columns,
    "rc4d_sketches.toml": read_sketches,
    "records.toml": read_plan,
    "hardware.toml": read_settings,
    "target.toml": lambda path: read_target(path.parent, _catalog()),
    "example.toml": lambda path: read_example(path.parent),
    "bridge.toml": read_bridge,
}


def _library(path: Path) -> object:
    return read_library(str(path.with_suffix("")))


def read(path: Path) -> object:
    """Read as the project does."""
    reader = None if path.parent.name == "studies" else READERS.get(path.name)
    if reader is None:
        reader = {
            "radios": read_radio,
            "toolchains": read_toolchain,
            "libraries": _library,
            "accelerators": read_accelerators,
            "studies": read_words,
            "chips": read_chip,
        }.get(path.parent.name)
        assert reader is not None, f"{path}: who reads this?"
    return reader(path)


def placed(path: Path, folder: Path, text: str) -> Path:
    """A copy with another text, where its reader looks for it."""
    target = folder / path.parents[1].name / path.parent.name
    if path.name in ("algorithm.toml", "cipher.toml", "library.toml", "device.toml", "example.toml"):
        shutil.copytree(path.parent, target)
    else:
        target.mkdir(parents=True)
    (target / path.name).write_text(text)
    return target / path.name


def keys(document: dict[str, Any], free: bool = False, where: Where = ()) -> Iterator[Where]:
    """Paths of all keys that a reader has to know."""
    for key, value in document.items():
        if not free:
            yield (*where, key)
        if isinstance(value, dict):
            chosen = (not where and key in NAMED_FREELY) or key in DEBIANS
            yield from keys(value, chosen, (*where, key))
        seen: list[set[str]] = []
        for number, each in enumerate(value if isinstance(value, list) else ()):
            if isinstance(each, dict) and not (len(value) > LONG_LIST and set(each) in seen):
                seen.append(set(each))
                yield from keys(each, False, (*where, key, number))


def shape(where: Where) -> Where:
    """The same for all keys that a reader treats in the same way: without numbers and chosen names."""
    return tuple(
        "*" if isinstance(step, int) or (at == 1 and where[0] in NAMED_FREELY) else step
        for at, step in enumerate(where)
    )


@cache
def documents() -> dict[Path, dict[str, Any]]:
    """All files, parsed once."""
    return {path: tomllib.loads(path.read_text()) for path in FILES}


def value_at(path: Path, where: Where) -> Any:
    """What a file has there."""
    found: Any = documents()[path]
    for step in where:
        found = found[step]
    return found


@cache
def chosen() -> dict[Path, list[Where]]:
    """The keys that are tried in each file: all with `./test --all`, and else one of each kind of file,
    shape and type."""
    found: dict[Path, list[Where]] = {}
    seen: set[object] = set()
    for path, document in documents().items():
        found[path] = []
        of_folder = path.parent.name == "studies" or path.name not in READERS
        kind = (path.parent.name if of_folder else path.name, str(document.get("runner")))
        for where in keys(document, path.name in FREE_FILES):
            once = (kind, shape(where), type(value_at(path, where)))
            if ALL or path.name in FREE_FILES or once not in seen:
                found[path].append(where)
            seen.add(once)
    return found


def written(value: Any) -> str:
    """Any value as TOML, tables in line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def document_text(document: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(key)} = {written(value)}\n" for key, value in document.items())


class Changed:
    """A file with one change after another. Its text is a number, which is parsed as the changed document: to
    write and parse TOML thousands of times would take a minute."""

    def __init__(self, path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.document = documents()[path]
        self.place = placed(path, folder, document_text(self.document))
        self.now: dict[str, Any] = {}
        self.changes = 0
        parsed = descriptor._parsed

        def parse(text: str, where: str) -> dict[str, Any]:
            if text != self.text:
                return parsed(text, where)
            descriptor._check_values(self.now, where)
            return self.now

        monkeypatch.setattr(descriptor, "_parsed", parse)

    @property
    def text(self) -> str:
        return f"# {self.changes}"

    def read(self, where: Where, change: Callable[[dict[str, Any], Any], None]) -> None:
        """Read it with a change made in the table that holds a key."""
        self.now = json.loads(json.dumps(self.document))
        self.changes += 1
        self.place.write_text(self.text)
        table: Any = self.now
        for step in where[:-1]:
            table = table[step]
        change(table, where[-1])
        read(self.place)


def misspelled(key: str) -> str:
    """Two letters exchanged; one more where there are hardly any."""
    if len(key) < 3:
        return key + "x"
    for at in range(len(key) - 1):
        if key[at] != key[at + 1]:
            return key[:at] + key[at + 1] + key[at] + key[at + 2 :]
    return key + key[-1]


def test_written_toml_is_read_as_the_file(tmp_path: Path) -> None:
    for document in documents().values():
        assert tomllib.loads(document_text(document)) == document
    assert sum(map(len, chosen().values())) > 1000


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_a_misspelled_key_is_named_with_the_nearest(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(list(keys(documents()[path], path.name in FREE_FILES))) >= 4
    if not chosen()[path]:
        return
    file = Changed(path, tmp_path, monkeypatch)
    read(file.place)
    for where in chosen()[path]:

        def misspell(table: dict[str, Any], key: str) -> None:
            items = [(misspelled(name) if name == key else name, value) for name, value in table.items()]
            table.clear()
            table.update(items)

        with pytest.raises(InputError) as told:
            file.read(where, misspell)
        said = str(told.value)
        assert "\n" not in said and str(path.name) in said
        assert misspelled(where[-1]) in said and "did you mean" in said, (where, said)
        assert f"'{where[-1]}'" in said or f"{where[-1]}'?" in said, (where, said)


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_a_value_of_another_type_is_refused(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not chosen()[path]:
        return
    file = Changed(path, tmp_path, monkeypatch)
    for where in chosen()[path]:

        def falsify(table: dict[str, Any], key: str) -> None:
            table[key] = 7 if isinstance(table[key], bool | str | list | dict) else "seven"

        with pytest.raises(InputError) as told:
            file.read(where, falsify)
        assert "\n" not in str(told.value) and where[-1] in str(told.value), (where, str(told.value))


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_an_empty_source_is_refused(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A figure of others without a source is none."""
    tried = [where for where in chosen()[path] if where[-1] == "source" and value_at(path, where)]
    tried = [where for where in tried if isinstance(value_at(path, where), str)]
    file = Changed(path, tmp_path, monkeypatch) if tried else None
    for where in tried:
        assert file is not None
        with pytest.raises(InputError, match="source"):
            file.read(where, lambda table, key: table.update({key: ""}))


POSITIVE = (
    "key_bits",
    "aes_blocks",
    "secret",
    "clock_hz",
    "bytes",
    "volts",
    "milliamperes",
    "capacity_mah",
    "flash_bytes",
    "supply_v",
    "current_ma",
    "tx_ma",
)
POSITIVE += (
    "efficiency",
    "spi_hz",
    "program_page_us",
    "distance_m",
    "max_cycles",
    "message",
    "ways",
    "divider",
    "answer_bytes",
    "head_bytes",
    "block_bytes",
    "compilers",
    "median",
    "percentile_95",
    "cycles",
    "snr",
    "experiments",
    "most",
    "traces",
    "channel",
    "queue",
)


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_a_number_out_of_its_range_is_refused(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def positive(where: Where) -> bool:
        return where[-1] in POSITIVE and isinstance(value_at(path, where), int | float)

    some = any(map(positive, keys(documents()[path], path.name in FREE_FILES)))
    tried = list(filter(positive, chosen()[path]))
    file = Changed(path, tmp_path, monkeypatch) if tried else None
    for where in tried:
        assert file is not None
        with pytest.raises(InputError, match=str(where[-1])):
            file.read(where, lambda table, key: table.update({key: -1}))
    without = ("cipher.toml", "library.toml", "setup.toml", "conformance.toml", "target.toml", "example.toml")
    without += ("columns.toml", "records.toml", "entropy.toml", "causes.toml", "systems.toml")
    assert some or path.name in without or path.parent.name in FIGURES_APART


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = " + "9" * 5000, "not valid TOML"),
        ("x = 99999999999999999999", "x: a whole number beyond 64 bits"),
        ("x = -99999999999999999999", "beyond 64 bits"),
        ("x = inf", "x: is inf; expected a finite number"),
        ("x = [1, [nan]]", r"x\[1\]\[0\]: is nan"),
        ("[a.b]\nc = -inf", "a: b: c: is -inf"),
        ("x = " + "[" * 100_000, "nested too deeply"),
        ("x = " + "{a = " * 100_000, "nested too deeply"),
        ("x = " + "[" * 40 + "]" * 40, "nested too deeply"),
        ("[" + ".".join("a" * 40) + "]", "nested too deeply"),
        ("x = ", "not valid TOML"),
        ("x = 1\nx = 2", "not valid TOML"),
        ("# " + "x" * (1 << 20), "longer than"),
    ],
)
def test_wild_toml_ends_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "wild.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=told) as error:
        Table.read(path)
    assert "\n" not in str(error.value) and len(str(error.value)) < 400


def test_what_is_no_file_of_text_is_refused(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for name in ("fifo", "bytes", "absent", "."):
        with pytest.raises(InputError):
            Table.read(tmp_path / name)


def test_a_long_value_is_not_repeated_whole() -> None:
    table = Table.parse("x = '" + "y" * 10_000 + "'", "here")
    with pytest.raises(InputError) as told:
        table.integer("x")
    assert len(str(told.value)) < 200


def test_bounds_are_held() -> None:
    table = Table.parse("a = 0\nb = 1.5\nc = 'x'\nd = ' '\ne = 1\nf = true\ng = ['x', 'u']", "here")
    with pytest.raises(InputError, match="'a' is 0; expected a number above 0"):
        table.number("a", above=0)
    with pytest.raises(InputError, match=r"'b' is 1\.5; expected a number from 0 to 1"):
        table.number("b", low=0, high=1)
    with pytest.raises(InputError, match=r"'c' is 'x'; expected one of xy, uv \(did you mean 'xy'\?\)"):
        table.text("c", choices=("xy", "uv"))
    with pytest.raises(InputError, match="expected some text"):
        table.text("d", filled=True)
    with pytest.raises(InputError, match="expected a whole number from 2 on"):
        table.integer("e", low=2)
    with pytest.raises(InputError, match="'f' is True; expected a number"):
        table.number("f")
    with pytest.raises(InputError, match="'g' is"):
        table.texts("g", choices=("x",))
    table = Table.parse("a = 1\nb = 1", "here")
    assert table.integer("a", low=1, high=1) == 1 and math.isclose(table.number("b", low=1, high=1), 1)
    table.done()


def test_nobody_reads_toml_beside_the_validator() -> None:
    reads = [p.name for p in PACKAGE.rglob("*.py") if "tomllib" in p.read_text()]
    assert reads == ["descriptor.py"]
