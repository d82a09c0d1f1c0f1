"""What the Wi-Fi study asks, and how it finds the host's figures among those that are stored."""

from __future__ import annotations

from typing import Any

import pytest

from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.studies.wlan import plan

CATALOG = Catalog.load()


def test_every_cipher_that_the_source_names_is_there_in_its_lengths() -> None:
    named = [*plan.CIPHERS.values(), *(row for rows in plan.LONGER_KEYS.values() for row in rows)]
    for name, bits in named:
        assert bits in CATALOG.cipher(name).key_bits, (name, bits)
    # The source: RC2 64, DES 64, 3DES 3 x 64, AES 128, Blowfish 128, RC6 128.
    assert {title: bits for title, (_, bits) in plan.CIPHERS.items()} == {
        "AES": 128,
        "DES": 64,
        "RC2": 64,
        "3DES": 192,
        "Blowfish": 128,
        "RC6": 128,
    }
    for title, rows in plan.LONGER_KEYS.items():
        assert rows[0] == plan.CIPHERS[title]
        assert [bits for _, bits in rows] == sorted({bits for _, bits in rows})


def test_what_is_asked_of_the_host_and_of_the_nodes() -> None:
    asked = plan.host_speed()
    assert (asked.rounds, asked.libraries, asked.operations) == (21, ("openssl",), ("encrypt", "decrypt"))
    assert {point.cipher.rpartition("-")[2] for point in asked.points} == {"cbc"}
    asked.check()
    for (device, cipher, bits), cells in plan.node_cells(CATALOG).items():
        assert {(c.device, c.implementation.cipher, c.key_bits) for c in cells} <= {(device, cipher, bits)}
        assert {c.message_bytes for c in cells} <= {0, 32, 64}
        assert {c.toolchain for c in cells} <= {plan.TOOLCHAINS[device]}
    assert {key for key in plan.node_cells(CATALOG) if key[0] == "uno" and key[1].startswith("rc2")} == {
        ("uno", "rc2-cbc", 64),
        ("uno", "rc2-cbc", 128),
    }


def _row(library: str, cycles: float, **changes: Any) -> dict[str, Any]:
    row = {"cipher": "rc6-cbc", "key_bits": 128, "rounds": 0, "operation": "encrypt", "library": library}
    return {**row, "bytes": 10, "cycles": cycles, "wall_ns": 1.0, **changes}


@pytest.fixture
def stored(results: Results) -> plan.Stored:
    question = plan.host_speed()
    machine = {"processor": "p", "counter": "c", "aes_instructions": None, "rapl": []}
    rows = [
        _row("motecrypt/b", 40.0),
        _row("cryptopp", 50.0),
        _row("motecrypt/a", 30.0),
        _row("openssl", 20.0),
        _row("openssl", 1.0, operation="decrypt"),
        _row("openssl", 2.0, rounds=8),
        _row("openssl", 3.0, key_bits=192),
        _row("openssl", 4.0, cipher="rc2-cbc"),
    ]
    outcome = {"machine": machine, "missing": [], "rows": rows}
    results.store_experiment(question.KIND, question.VERSION, {"x": 1}, outcome, question.asked())
    return plan.Stored(results, CATALOG)


def test_the_hosts_figure_is_that_of_the_cipher_and_of_the_library(stored: plan.Stored) -> None:
    assert stored.cycles_per_byte("rc6-cbc", 128) == 3.0  # our fastest
    assert stored.cycles_per_byte("rc6-cbc", 128, library="openssl") == 2.0
    assert stored.cycles_per_byte("rc6-cbc", 128, library="cryptopp") == 5.0
    assert stored.cycles_per_byte("rc6-cbc", 128, library="nacl") is None
    assert stored.cycles_per_byte("rc6-cbc", 128, "decrypt", "openssl") == 0.1
    assert stored.cycles_per_byte("rc6-cbc", 128, library="openssl", rounds=8) == 0.2
    assert stored.cycles_per_byte("rc6-cbc", 192, library="openssl") == 0.3
    assert stored.cycles_per_byte("rc2-cbc", 128, library="openssl") == 0.4
    assert stored.cycles_per_byte("rc2-cbc", 128) is None
    assert stored.machine is not None and stored.machine.processor == "p"


def test_without_figures_there_are_none(results: Results) -> None:
    nothing = plan.Stored(results, CATALOG)
    assert nothing.speed("rc6-cbc", 128) is None and nothing.machine is None
    assert nothing.cycles_per_byte("rc6-cbc", 128) is None
    assert nothing.ns_per_byte("RC6") is None and nothing.seconds(plan.good("adhoc")) is None
    assert nothing.node("uno", "rc6-cbc", 128) is None and nothing.node_reason("uno", "rc6-cbc", 128) is None
    assert nothing.node_spread("uno", "rc6-cbc", 128) is None
