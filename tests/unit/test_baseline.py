"""What a plain `reproduce` measures for the adviser: enough for an answer, with nothing to install for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from made_rows import candidates_of
from motecrypt.adviser import api as advise
from motecrypt.app import reproduce as app
from motecrypt.app import several
from motecrypt.app.baseline import DEVICES, LENGTHS, _caches, baseline
from motecrypt.app.report import write_report
from motecrypt.catalog import Catalog
from motecrypt.cli import reproduce
from motecrypt.measuring import bench
from motecrypt.results import Results
from motecrypt.studies import Needs
from tool_sets import needs_tool_set

QUESTION = 20  # bytes: the adviser's form asks for this when it is opened


def test_each_device_gets_recommended_ciphers_of_ours_alone() -> None:
    catalog = Catalog.load()
    needs = baseline(catalog, {"uno": "gcc-5.4", "pico": "gcc-12", "stm32f4": "gcc-12"})
    assert {cell.device for cell in needs.cells} == set(DEVICES) == set(needs.toolchains)
    for cell in needs.cells:
        body = cell.implementation
        assert catalog.cipher(body.cipher).security == "recommended"
        assert body.library == "motecrypt" and not {"*", "[!a]*"} & set(body.cores)
        assert cell.toolchain == needs.toolchains[cell.device]
        assert cell.cache == ("cold" if cell.device == "pico" else "none")
    for device in DEVICES:
        ciphers = {cell.implementation.cipher for cell in needs.cells if cell.device == device}
        assert {"aes128-ccm8", "aes256-ccm16", "ascon-aead128", "chacha20-poly1305"} <= ciphers
    assert QUESTION in LENGTHS
    assert len(needs.cells) <= 320  # seconds, not minutes


@pytest.mark.parametrize(
    ("caches", "taken"),
    [(("none",), ("none",)), (("warm", "cold"), ("cold",)), (("warm", "hot"), ("warm",)), ((), ())],
)
def test_one_state_of_the_cache_is_measured(caches: tuple[str, ...], taken: tuple[str, ...]) -> None:
    device: Any = SimpleNamespace(placements={"flash": SimpleNamespace(caches=caches)})
    assert _caches(device) == taken


def test_nothing_is_installed_for_it() -> None:
    assert baseline(Catalog.load(), {}) == Needs(toolchains={}, cells=[])
    assert not baseline(Catalog.load(), {"uno": "gcc-5.4"}).tool_sets


@pytest.mark.parametrize(("words", "measured"), [([], True), (["rf", "rc4d"], False), (["--stored"], False)])
def test_a_plain_reproduce_measures_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], measured: bool
) -> None:
    together: list[int] = []
    alone: list[str] = []

    def work(every: Sequence[Needs], *rest: Any) -> None:
        together.extend(len(needs.cells) for needs in every)

    monkeypatch.setattr(several, "install", lambda every, also=(): None)
    monkeypatch.setattr(several, "work", work)
    monkeypatch.setattr(app, "ensure", lambda name, *rest: alone.append(name) or "")
    monkeypatch.setattr("motecrypt.app.report.write_report", lambda *rest: None)
    database = tmp_path / "results.db"
    with Results(database):
        pass
    ran = CliRunner().invoke(reproduce.command, [*words, "--db", str(database)], catch_exceptions=False)
    assert ran.exit_code == 0
    wanted = len(baseline(Catalog.load(), {"uno": "gcc-5.4", "pico": "gcc-12"}).cells)
    assert (wanted in together) is measured
    assert ("the adviser's ciphers" in alone) is measured


@needs_tool_set("avr")
def test_the_adviser_answers_from_it_alone(tmp_path: Path) -> None:
    """The report's question on the UNO, with a part of the baseline and the system's own compiler."""
    cells = [
        cell
        for cell in baseline(Catalog.load(), {"uno": ""}).cells
        if cell.implementation.cipher in ("ascon-aead128", "aes128-ccm8")
        and cell.implementation.variant == "avr"
    ]
    database = tmp_path / "results.db"
    with Results(database) as results:
        bench.ensure(cells, results, Catalog.load())
    data = write_report(tmp_path / "report.html", database).adviser
    answer = advise.advise(
        advise.Question(message_bytes=QUESTION, interval_s=10.0),
        candidates_of(data, "uno"),
        advise.DeviceFacts(**data["devices"]["uno"]),
        advise.RadioPart(**{**data["radios"]["srf"], "air_us": tuple(data["radios"]["srf"]["air_us"])}),
        advise.link_facts(),
        advise.battery_part("3xAA"),
        advise.regulator_part("none"),
    )
    assert {entry.candidate.cipher for entry in answer.entries} == {"aes128-ccm8", "ascon-aead128"}
    assert answer.entries[0].costs.life_days > 0.1
