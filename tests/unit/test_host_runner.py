"""The host runner: named counters, sampled figures with their interval, a stack that can be measured."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path

import pytest

from motecrypt.build.toolchain import BuildRequest, build, native
from motecrypt.catalog import Catalog
from motecrypt.measuring.bench import cells_for, ensure
from motecrypt.results import Results
from motecrypt.simulate.runners import Fault, Options, host
from motecrypt.simulate.runners.protocol import Client
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")


@pytest.mark.parametrize(
    ("wish", "name", "core"),
    [("tsc", "time stamp counter ticks", False), ("ns", "nanoseconds", False)],
)
def test_a_lesser_counter_is_named_as_what_it_is(
    monkeypatch: pytest.MonkeyPatch, wish: str, name: str, core: bool
) -> None:
    monkeypatch.setenv("MOTECRYPT_HOST_COUNTER", wish)
    here = host.machine()
    assert here.core_cycles is core
    assert here.counter in (name, "nanoseconds")  # not every processor has a time stamp counter
    assert here.counter in host.identity(Catalog.load().device("host"))


def test_the_best_counter_runs() -> None:
    here = host.machine()
    assert here.counter
    assert here.processor
    if not here.core_cycles:
        print(f"no hardware cycle counter granted here, counting {here.counter}")


def test_sampled_figures_carry_their_interval(tmp_path: Path) -> None:
    catalog = Catalog.load()
    body = next(i for i in catalog.implementations_of("des-cbc", "host") if i.variant == "fast")
    cells = cells_for(
        catalog,
        catalog.device("host"),
        body,
        message_bytes=[64, 1024],
        placements=["flash"],
        operations=["encrypt"],
    )
    results = Results(tmp_path / "results.db")
    short, long = sorted(ensure(cells, results, catalog, jobs=1).values(), key=lambda m: m.message_bytes)
    for measured in (short, long):
        assert measured.status == "ok"
        assert not measured.cycles_exact
        assert measured.extra["cycles_low"] <= measured.extra["cycles_high"]
        assert measured.extra["samples"] >= 15
        assert measured.time_us is not None
        assert measured.cycles_median is not None
        expected_us = measured.cycles_median / measured.extra["ticks_per_ns"] / 1000
        assert measured.time_us == pytest.approx(expected_us, rel=0.05)
        assert measured.stack_bytes is not None
        assert 32 <= measured.stack_bytes < 2000
    assert 8 < long.cycles_median / short.cycles_median < 32  # type: ignore[operator]


def test_counters_agree_on_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The counters differ in what they count, not in how long it took; wide bounds for a busy machine."""
    catalog = Catalog.load()
    body = next(i for i in catalog.implementations_of("des-cbc", "host") if i.variant == "fast")
    cells = cells_for(catalog, catalog.device("host"), body, message_bytes=[4096], operations=["encrypt"])
    times = []
    for wish in ("", "read", "tsc", "ns"):
        monkeypatch.setenv("MOTECRYPT_HOST_COUNTER", wish)
        measured = ensure(cells, Results(tmp_path / f"{wish}.db"), catalog, jobs=1)
        times += [m.time_us for m in measured.values() if m.time_us]
    assert len(times) == 4
    assert max(times) < 1.5 * min(times)


def test_a_repeated_operation_leaves_what_one_would() -> None:
    """The runner repeats an encryption in place; the firmware must still hold what one leaves."""
    catalog = Catalog.load()
    device = catalog.device("host")
    body = next(i for i in catalog.implementations_of("des-ecb", "host") if i.variant == "small")
    firmware = build(BuildRequest(device, body, "flash"))
    for trace in (False, True):
        with host.open_session(device, firmware.elf, 0, Options(trace=trace)) as session:
            client = Client(session, 20)
            client.wait_ready()
            client.set_key(bytes.fromhex("10316e028c8f3b4a"))
            client.set_message(bytes(8))
            assert client.run("setup", 1, 0).status == "ok"
            assert client.run("encrypt", 1, 0).output.hex() == "82dcbafbdeab6602"
            assert client.run("decrypt", 1, 0).output == bytes(8)
            assert len(session.regions()) == 3


def test_a_file_that_is_no_firmware_says_so(tmp_path: Path) -> None:
    scrap = tmp_path / "scrap.so"
    scrap.write_bytes(b"not a library")
    with (
        host.open_session(Catalog.load().device("host"), scrap, 0, Options()) as session,
        pytest.raises(Fault, match=r"scrap\.so"),
    ):
        session.read(time.monotonic() + 20)


def test_the_firmwares_own_clock_counts_nanoseconds() -> None:
    hal = native.open_cipher("rc4")._library
    hal.hal_timer_cycles.restype = ctypes.c_uint32
    begun = time.monotonic_ns()
    hal.hal_timer_start()
    first, second = hal.hal_timer_cycles(), hal.hal_timer_cycles()
    assert 0 <= first <= second <= time.monotonic_ns() - begun
