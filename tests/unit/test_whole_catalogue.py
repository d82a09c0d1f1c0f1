"""Each view over all that motecrypt ships names all of it; the goldens are over a small catalogue
(goldens/frozen.py), and nothing that is added changes that."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from command_line import run
from goldens import frozen
from motecrypt.air.radios import radio_names
from motecrypt.catalog import Catalog
from motecrypt.present.report.content import gather
from motecrypt.results import Results
from motecrypt.studies import names, study

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


@pytest.mark.parametrize("kind", ["ciphers", "devices", "libraries", "radios", "toolchains"])
def test_a_list_has_every_name(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    every = radio_names() if kind == "radios" else list(getattr(Catalog.load(), kind))
    code, out, _ = run(capsys, "list", kind, "--json")
    assert code == 0 and sorted(next(iter(row.values())) for row in json.loads(out)) == sorted(every)


def test_the_report_has_every_name(tmp_path: Path) -> None:
    catalog = Catalog.load()
    content = gather(Results(tmp_path / "none.db"), catalog)
    assert {part.cipher.name for part in content.ciphers} == set(catalog.ciphers)
    assert [part.name for part in content.sources] == names()
    assert set(content.adviser["radios"]) == set(radio_names())


def test_every_study_runs_without_a_figure(tmp_path: Path) -> None:
    results = Results(tmp_path / "none.db")
    for name in names():
        ids = [row.id for row in study(name).comparisons(results)]
        assert len(ids) == len(set(ids)), name
        assert study(name).sections(results), name


def test_an_addition_is_not_in_the_small_catalogue() -> None:
    more = Catalog.load(
        ciphers=[EXAMPLES / "xtea"],
        libraries=[EXAMPLES / "mylibrary"],
        devices=[EXAMPLES / "mega"],
        public_keys=[EXAMPLES / "toydh"],
    )
    assert "xtea-cbc" in more.ciphers and "mega" in more.devices
    assert frozen.restricted(more) == frozen.restricted(Catalog.load())


def test_within_it_there_is_nothing_else() -> None:
    with frozen.catalogue():
        inside = {"radios": radio_names(), "studies": names(), "devices": list(Catalog.load().devices)}
    read = tomllib.loads((ROOT / "tests" / "goldens" / "frozen.toml").read_text())
    assert {kind: sorted(of) for kind, of in inside.items()} == {kind: sorted(read[kind]) for kind in inside}
    assert not frozen.inside()
