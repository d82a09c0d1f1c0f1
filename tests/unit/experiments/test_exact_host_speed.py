"""Speeds of this computer: what is stored of each contestant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.process import Outcome
from motecrypt.build.toolchain import BuildError
from motecrypt.measuring.experiments import host_speed
from motecrypt.results import Results
from motecrypt.results.experiments.host_speed import SpeedPoint

SPEED = host_speed.HostSpeed(
    (SpeedPoint("aes128-cbc", 128),), message_bytes=32, rounds=7, libraries=("openssl",)
)


def test_a_row_for_every_contestant_and_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = host_speed.Catalog.load()
    monkeypatch.setattr(
        host_speed, "build", lambda r: SimpleNamespace(elf=f"elf of {r.implementation.variant}")
    )
    monkeypatch.setattr(host_speed, "driver", lambda name: f"<{name}>")
    monkeypatch.setattr(host_speed, "library_version", lambda name: "3")
    monkeypatch.setattr(host_speed, "_has", lambda library, point: True)
    monkeypatch.setattr(host_speed.HostSpeed, "_rapl", lambda self, *a: a[-1] / 2)
    ran: list[Any] = []

    def run_driver(
        operation: str,
        key: bytes,
        nonce: bytes,
        size: int,
        rounds: int,
        libraries: Sequence[str],
        environment: Any,
    ) -> list[dict[str, Any]]:
        ran.append((operation, len(key), len(nonce), size, rounds, len(libraries), bool(environment)))
        output = host_speed.expected_digest(SPEED.points[0], operation, 32) if operation != "setup" else ""
        return [
            {"event": "e", "library": lib, "output": output, "cycles": 5.0, "wall_ns": 8.0}
            for lib in libraries
        ]

    monkeypatch.setattr(host_speed, "run_driver", run_driver)
    rows = SPEED.time_point(catalog, SPEED.points[0])
    ours = [f"motecrypt/{b.variant}" for b in host_speed._ours(catalog, SPEED.points[0])]
    count = len(ours)
    assert ran == [
        call
        for operation in ("setup", "encrypt", "decrypt")
        for call in ((operation, 16, 16, 32, 7, count + 1, False), (operation, 16, 16, 32, 7, 1, True))
    ]
    names = [*ours, "openssl", host_speed.NO_AES]
    assert [(row["operation"], row["library"]) for row in rows] == [
        (operation, name) for operation in ("setup", "encrypt", "decrypt") for name in names
    ]
    assert rows[0] == {
        "cipher": "aes128-cbc",
        "key_bits": 128,
        "rounds": 0,
        "operation": "setup",
        "library": ours[0],
        "bytes": 0,
        "cycles": 5.0,
        "wall_ns": 8.0,
    }
    assert rows[-1]["bytes"] == 32 and rows[-1]["rapl_uj_per_byte"] == 4.0
    monkeypatch.setattr(
        host_speed, "run_driver", lambda *a: [{"output": "other", "wall_ns": 1.0} for _ in a[5]]
    )
    with pytest.raises(MotecryptError, match=f"^aes128-cbc: {ours[0]}'s encrypted bytes differ from"):
        SPEED.time_point(catalog, SPEED.points[0])


@pytest.mark.parametrize(
    ("cipher", "bits", "there", "without"),
    [("aes128-cbc", 128, True, 1), ("aes128-cbc", 128, False, 0), ("rc4", 128, True, 0)],
)
def test_openssl_is_timed_without_aes_instructions_where_it_has_some(
    cipher: str, bits: int, there: bool, without: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = SpeedPoint(cipher, bits)
    speed = replace(SPEED, points=(point,), operations=("setup",))
    monkeypatch.setattr(host_speed, "build", lambda r: SimpleNamespace(elf="elf"))
    monkeypatch.setattr(host_speed, "driver", lambda name: f"<{name}>")
    monkeypatch.setattr(host_speed, "library_version", lambda name: "3" if there else None)
    monkeypatch.setattr(host_speed, "_has", lambda library, point: True)
    given: list[Any] = []

    def run_driver(*arguments: Any) -> list[dict[str, Any]]:
        given.append(arguments[5:])
        return [{"cycles": 1.0, "wall_ns": 1.0} for _ in arguments[5]]

    monkeypatch.setattr(host_speed, "run_driver", run_driver)
    rows = speed.time_point(host_speed.Catalog.load(), point)
    named = [row["library"] for row in rows]
    assert named.count(host_speed.NO_AES) == without and named.count("openssl") == there
    assert (
        given[1:] == [([f"<adapter_openssl>={cipher}"], {"OPENSSL_ia32cap": "~0x200000200000000"})] * without
    )
    assert given[0][1] == {} and all("rapl_uj_per_byte" not in row for row in rows)


@pytest.mark.parametrize("error", [BuildError, InputError])
def test_a_library_that_cannot_be_had_has_no_version(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str) -> None:
        raise error("no")

    monkeypatch.setattr(host_speed, "_adapter", refuse)
    assert host_speed.library_version.__wrapped__("openssl") is None
    made = SimpleNamespace(adapter_version=lambda: b"3.0", adapter_select=lambda name, rounds: rounds)
    monkeypatch.setattr(host_speed, "_adapter", lambda name: made)
    assert host_speed.library_version.__wrapped__("openssl") == "3.0"
    assert host_speed._has("openssl", SpeedPoint("rc6-ctr", 128, 12))
    assert not host_speed._has("openssl", SpeedPoint("rc6-ctr", 128))


def test_the_drivers_command_and_what_it_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    answer = [Outcome(0, '{"a": 1}\n{"a": 2}\n', "")]
    monkeypatch.setattr(host_speed, "driver", lambda name: Path(name))
    monkeypatch.setattr(
        host_speed.process,
        "run",
        lambda command, work_s, environment: asked.append((command, work_s, environment)) or answer[0],
    )
    told = host_speed.run_driver("encrypt", b"\x01\x02", b"", 48, 9, ["x", "y"], {"MINE": "1"})
    assert told == [{"a": 1}, {"a": 2}]
    command, limit, environment = asked[0]
    assert command == [Path("host"), "--compare", "encrypt", "0102", "-", "48", "9", "x", "y"]
    assert limit == 300.0 and environment["MINE"] == "1" and "PATH" in environment
    host_speed.run_driver("encrypt", b"", b"\x0a", 48, 9, [], {})
    assert asked[1][0][4] == "0a"
    answer[0] = Outcome(1, "", "error: no")
    with pytest.raises(MotecryptError, match=r"^host speed: error: no$"):
        host_speed.run_driver("encrypt", b"", b"", 48, 9, [], {})


def test_what_the_driver_must_print_and_is_given() -> None:
    assert host_speed._digest(b"") == "cbf29ce484222325"
    assert host_speed._digest(b"a") == "af63dc4c8601ec8c"  # FNV-1a's published values
    assert host_speed._digest(b"foobar") == "85944171f73967e8"
    assert host_speed.speed_key(32) == bytes([7, 36, 65, 94])
    assert host_speed.speed_key(128)[-1] == (29 * 15 + 7) & 0xFF
    pattern = bytes((i * 167 + (i >> 8) * 13) & 0xFF for i in range(512))
    point = SpeedPoint("aes128-ecb", 128)
    assert host_speed.expected_digest(point, "decrypt", 512) == host_speed._digest(pattern)
    from Crypto.Cipher import AES

    sealed = AES.new(host_speed.speed_key(128), AES.MODE_ECB).encrypt(pattern)
    assert host_speed.expected_digest(point, "encrypt", 512) == host_speed._digest(sealed)
    twenty = host_speed.expected_digest(SpeedPoint("rc6-ctr", 128, 20), "encrypt", 64)
    assert twenty == host_speed.expected_digest(SpeedPoint("rc6-ctr", 128), "encrypt", 64)
    assert twenty != host_speed.expected_digest(SpeedPoint("rc6-ctr", 128, 12), "encrypt", 64)


def test_which_bodies_of_ours_and_of_what_rounds() -> None:
    catalog = host_speed.Catalog.load()
    plain = host_speed._ours(catalog, SpeedPoint("rc6-ctr", 128))
    assert plain and {b.library for b in plain} == {"motecrypt"}
    twelve = host_speed._ours(catalog, SpeedPoint("rc6-ctr", 128, 12))
    assert twelve == [replace(b, defines=(*b.defines, "RC6_ROUNDS=12")) for b in plain]


def test_energy_needs_a_counter_and_enough_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(host_speed.host, "rapl_counters", lambda: ())
    assert SPEED._rapl("encrypt", b"", b"", "library", {}, 1.0) is None
    counter = tmp_path / "energy_uj"
    counter.write_text("5\n")
    (tmp_path / "max_energy_range_uj").write_text("99\n")
    monkeypatch.setattr(host_speed.host, "rapl_counters", lambda: (counter,))
    ran: list[tuple[Any, ...]] = []

    def fake_run(*arguments: Any) -> list[dict[str, object]]:
        ran.append(arguments)
        counter.write_text(str(int(counter.read_text()) + 32))
        return []

    monkeypatch.setattr(host_speed, "run_driver", fake_run)
    for wall_ns, rounds in ((0.0, 4096), (0.1, 4096), (1e12, 5), (3e7, 10), (2.8e7, 11)):
        counter.write_text("5")
        used = SPEED._rapl("encrypt", b"k", b"n", "library", {}, wall_ns)
        assert used == pytest.approx(1 / (rounds + 2))
        assert ran[-1] == ("encrypt", b"k", b"n", 32, rounds, ["library"], {})
    assert host_speed.rapl_difference(5, 5, 99) == 0
    assert [host_speed.rapl_difference(*given) for given in ((5, 7, 99), (90, 10, 99))] == [2, 20]


def test_what_a_stored_speed_names(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    here = SimpleNamespace(processor="p", counter="c", core_cycles=True, aes_instructions=None, governor="g")
    here.frequency_mhz, here.rapl = (1.0, 2.0), (Path("/sys/e"),)
    monkeypatch.setattr(host_speed.host, "machine", lambda: here)
    monkeypatch.setattr(host_speed, "key_of", lambda request: "0123456789abcdef and more")
    monkeypatch.setattr(host_speed, "driver_identity", lambda name: f"driver of {name} and so on")
    monkeypatch.setattr(host_speed, "library_version", lambda name: None)
    row = {"cipher": "aes128-cbc", "key_bits": 128, "rounds": 0, "operation": "setup", "library": "x"}
    row |= {"bytes": 0, "cycles": 1.0, "wall_ns": 1.0}
    monkeypatch.setattr(host_speed.HostSpeed, "time_point", lambda *_: [row])
    found = SPEED.ensure(results)
    assert found.outcome == {
        "machine": {
            "processor": "p",
            "counter": "c",
            "core_cycles": True,
            "aes_instructions": None,
            "governor": "g",
            "stated_mhz": [1.0, 2.0],
            "rapl": ["/sys/e"],
        },
        "missing": ["openssl"],
        "rows": [row],
    }
    inputs = dict(found.inputs)
    ours = inputs.pop("ours")
    variants = host_speed._ours(host_speed.Catalog.load(), SPEED.points[0])
    assert ours == {f"aes128-cbc/0 {body.variant}": "0123456789abcdef" for body in variants}
    assert inputs == {
        **SPEED.asked(),
        "libraries": {"openssl": None},
        "driver": "driver of host a",
        "processor": "p",
        "counter": "c",
    }


def test_what_is_not_stored_is_built_and_its_outputs_known(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []
    expected: list[tuple[SpeedPoint, str, int]] = []
    monkeypatch.setattr(host_speed, "build", lambda request: built.append(request.implementation.variant))
    monkeypatch.setattr(host_speed, "expected_digest", lambda *given: expected.append(given))
    monkeypatch.setattr(host_speed.HostSpeed, "time_point", lambda self, catalog, point: [])
    SPEED.prepare(results)
    ours = sorted(body.variant for body in host_speed._ours(host_speed.Catalog.load(), SPEED.points[0]))
    assert sorted(built) == ours
    assert sorted(expected) == [(SPEED.points[0], operation, 32) for operation in ("decrypt", "encrypt")]
    SPEED.ensure(results)
    assert sorted(built) == sorted(2 * ours)
    SPEED.prepare(results)
    assert len(built) == 2 * len(ours) and len(expected) == 4
