"""`advise --keys`: what each way to keys costs, when it does not run, and which is advised."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from advise_parts import ASKED, LINK, NONE, SRF, SWITCH, THREE_AA, UNO, made

from command_line import run
from motecrypt.adviser import api as advise
from motecrypt.adviser.keys import KEY_WAYS, KeyNode, KeyPlan, advised, key_plans, keys_document
from motecrypt.adviser.publickey.entropy import ENTROPY, Entropy, entropies, entropy_of
from motecrypt.adviser.publickey.handshakes import Compute, Handshake
from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.cli._output import show
from motecrypt.present.terminal.keys import keys_view

SHAKE = Handshake("toy", "a toy", (24, 12, 24), (("x25519", "agree"),), 0, "", "")
WORK = Compute(16_000_000, 1e6, 0.0, 9000, 700)
GENERATOR = Entropy(("*",), "a generator", "generator", "use it", "")
ROOT = Path(__file__).resolve().parents[3]


def node(**changes: object) -> KeyNode:
    known = KeyNode(ASKED, UNO, SRF, THREE_AA, NONE, 0.5)
    return replace(known, **changes)  # type: ignore[arg-type]


def entry() -> advise.Entry:
    return advise.advise(ASKED, [made()], UNO, SRF, LINK, THREE_AA, NONE).entries[0]


def plans(
    of: KeyNode | None = None, work: Compute = WORK, entropy: Entropy = GENERATOR
) -> dict[str, KeyPlan]:
    return {plan.way.name: plan for plan in key_plans(of or node(), entry(), SHAKE, work, entropy)}


def test_a_handshake_draws_computing_and_packets_from_the_battery() -> None:
    once, daily = (plans()[name] for name in ("handshake-once", "handshake-daily"))
    packet_us = 800.0
    assert (once.packets, once.air_bytes) == (5, 60)
    assert once.handshake_us == 1e6 + 5 * packet_us
    charge = 9.2 * 1e6 + 2.5 * 5 * packet_us + 15.2 * 4 * packet_us + 16.2 * packet_us
    assert once.handshake_uj == pytest.approx(4.5 * charge * 1e-3), "the battery's whole voltage"
    assert once.year_uj == once.handshake_uj and daily.year_uj == pytest.approx(365.25 * once.handshake_uj)
    base = entry().costs.energy.total_uj * 365.25 * 8640
    assert daily.energy_percent == pytest.approx(100 * daily.year_uj / base)
    assert (once.flash_bytes, once.ram_bytes) == (9000, 700)


def test_a_switching_regulator_draws_what_is_used() -> None:
    once = plans(node(regulator=SWITCH))["handshake-once"]
    used = 5.0 * (9.2 * 1e6 + 2.5 * 4000) + 3.3 * (15.2 * 3200 + 16.2 * 800)
    assert once.handshake_uj == pytest.approx(used * 1e-3 / SWITCH.efficiency)


def test_life_is_shorter_by_the_handshakes() -> None:
    found, costs = plans(), entry().costs
    uw, uj = costs.energy.total_uj / 10, found["handshake-once"].handshake_uj
    charge = 2850 * 4.5 * 3.6e6 * 0.5
    assert found["shared"].life_days == found["per-node"].life_days == costs.life_days
    assert found["handshake-once"].life_days == pytest.approx((charge - uj) / uw / 86400)
    assert found["handshake-daily"].life_days == pytest.approx(charge / (uw + uj / 86400) / 86400)


def test_what_prevents_a_handshake_is_named() -> None:
    def why(of: KeyNode | None = None, work: Compute = WORK, entropy: Entropy = GENERATOR) -> str:
        found = plans(of, work, entropy)
        assert found["shared"].runs and found["per-node"].runs
        assert advised(list(found.values())).way.name == (
            "handshake-daily" if found["handshake-once"].runs else "per-node"
        )
        return found["handshake-once"].why_not

    assert why() == ""
    assert "does not listen" in why(node(question=replace(ASKED, delivery="one-way")))
    assert why(work=replace(WORK, missing="x25519 agree needs more")) == "x25519 agree needs more"
    assert "no source of randomness" in why(entropy=replace(GENERATOR, quality="none"))
    assert why(node(question=replace(ASKED, budgets=advise.Budgets(flash_max=10_999)))) == (
        "11,000 bytes of flash with the cipher's: 10,999 may be taken"
    )
    assert why(node(question=replace(ASKED, budgets=advise.Budgets(flash_max=11_000)))) == ""
    assert why(node(question=replace(ASKED, budgets=advise.Budgets(ram_max=899)))) == (
        "900 bytes of RAM with the cipher's: 899 may be taken"
    )
    assert "of RAM" in why(work=replace(WORK, ram_bytes=2048))


def test_an_unassessed_source_is_a_warning() -> None:
    weak = plans(entropy=replace(GENERATOR, quality="unassessed"))["handshake-daily"]
    assert weak.runs and weak.warning == "randomness: a generator; use it"
    assert plans()["handshake-daily"].warning == ""


def test_the_advised_way_takes_little_energy() -> None:
    dear = plans(work=replace(WORK, cycles=16_000_000_000))
    assert dear["handshake-daily"].energy_percent > 5 > dear["handshake-once"].energy_percent
    assert advised(list(dear.values())).way.name == "handshake-once"


def test_each_way_says_what_it_protects() -> None:
    assert [way.name for way in KEY_WAYS] == ["shared", "per-node", "handshake-once", "handshake-daily"]
    assert "all nodes" in KEY_WAYS[0].captured and "its own" in KEY_WAYS[1].captured
    assert "forward secrecy" in KEY_WAYS[3].past
    told = keys_document(list(plans().values()))
    assert told["advised"] == "handshake-daily" and len(told["ways"]) == 4
    assert told["ways"][3]["runs"] is True and told["ways"][3]["handshake_every_s"] == 86400


def test_every_device_has_a_source_of_randomness_or_none() -> None:
    found = {device.name: entropy_of(device.chip).quality for device in Catalog.load().devices.values()}
    assert (found["uno"], found["pico"], found["nrf52840"]) == ("none", "unassessed", "generator")
    assert all(one.source and one.advice for one in entropies())
    assert entropies()[-1].chips == ("*",)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('quality = "unassessed"', 'quality = "good"', "quality"),
        ('["*"]', '["X*"]', "no entry matches FE310"),
    ],
)
def test_a_wrong_source_of_randomness_is_named(tmp_path: Path, before: str, after: str, told: str) -> None:
    file = tmp_path / "entropy.toml"
    assert before in ENTROPY.read_text()
    file.write_text(ENTROPY.read_text().replace(before, after))
    with pytest.raises(InputError, match=told):
        entropy_of("FE310-G002", file)


def entropy_table() -> str:
    """All of them as a table in Markdown."""
    lines = ["| chips | source | quality | how to use it | where this is from |", "|---|---|---|---|---|"]
    for one in entropies():
        chips = ", ".join("all others" if pattern == "*" else pattern for pattern in one.chips)
        lines.append(f"| {chips} | {one.title} | {one.quality} | {one.advice} | {one.source} |")
    return "\n".join(lines)


def test_the_page_has_the_table_of_sources() -> None:
    page = (ROOT / "docs" / "pairing.md").read_text()
    assert entropy_table() in page, "put entropy_table() there"


def test_a_node_that_stores_has_no_keys_to_agree_on(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--device", "uno", "--storage", "eeprom", "--bytes", "8", "--every", "1h", "--battery", "4xAA"]
    code, _, error = run(capsys, "advise", *asked, "--keys")
    assert code == 2 and "--keys: a node with --storage has no radio" in error


def test_a_handshake_by_slow_libraries_says_so_in_text_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    told = "x25519 agree takes 2.4 times the cycles of public code (a code)"
    ways = list(plans(work=replace(WORK, behind=(told,))).values())
    by_name = {way["name"]: way for way in keys_document(ways)["ways"]}
    assert by_name["handshake-daily"]["behind"] == (told,) and by_name["per-node"]["behind"] == ()
    show(*keys_view("asked", entry(), ways, Catalog.load().device("pico")))
    assert told in " ".join(capsys.readouterr().out.split())
