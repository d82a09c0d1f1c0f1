"""What experiments store, figure by figure: small runs whose outcome is known, and made-up programs."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from motecrypt.errors import FailureKind, InputError, MotecryptError
from motecrypt.experiments import call_sequence, data_types, features, files, host_speed, passwords
from motecrypt.experiments import transfer as radio
from motecrypt.experiments import transfer_wlan as wifi
from motecrypt.experiments.transfer import Transfer
from motecrypt.experiments.transfer_wlan import TransferWlan
from motecrypt.findings import pico_file, wlan_transfer
from motecrypt.findings.host_speed import SpeedPoint
from motecrypt.findings.wlan_transfer import CLOSED_FORM, NS3, Spread, WlanTransfer
from motecrypt.process import Outcome
from motecrypt.radios import load_radio
from motecrypt.results import Results
from motecrypt.runners import Fault, Region
from motecrypt.runners.protocol import ProtocolError
from motecrypt.toolchain import BuildError

# --- messages over a serial radio --------------------------------------------------------------------------

TRANSFERS = {
    # mode, bytes: bytes written, packets, then us in the air, to write, until delivered
    ("T", 0): (0, 0, 0.0, 0.0, 0.0),
    ("T", 1): (1, 1, 448.0, 86.806, 100621.611),
    ("C", 1): (32, 3, 2272.0, 2777.778, 104144.222),
    ("P", 1): (36, 3, 2400.0, 3125.0, 4966.667),
    ("B", 1): (32, 3, 2272.0, 2777.778, 104144.222),
    ("T", 70): (70, 6, 4736.0, 6076.389, 107680.444),
    ("C", 70): (160, 14, 10944.0, 13888.889, 114780.111),
    ("P", 70): (168, 14, 11200.0, 14583.333, 16425.0),
    ("B", 70): (96, 8, 6400.0, 8333.333, 10175.0),
}
FIGURES = ("sent_bytes", "packets", "air_us", "write_us", "delivery_us")


def letters(size: int) -> bytes:
    return (b"abcdefghijklmnopqrstuvwxyz" * 3)[:size]


@pytest.mark.parametrize(("mode", "size"), TRANSFERS)
def test_a_message_in_a_paper_mode(mode: str, size: int) -> None:
    made = radio._paper(load_radio("srf"), mode, letters(size))
    assert made == dict(zip(FIGURES, TRANSFERS[mode, size], strict=True))


def test_a_message_over_the_safe_link() -> None:
    for size, figures, confirmed in (
        (0, (36, 3, 2400.0, 3125.0, 4966.667), 8766.667),
        (70, (132, 11, 8800.0, 11458.333, 13300.0), 17100.0),
    ):
        made = radio._safe(load_radio("srf"), letters(size))
        assert made == dict(zip(FIGURES, figures, strict=True)) | {"confirmed_us": confirmed}


def test_times_are_kept_to_a_nanosecond() -> None:
    odd = load_radio("srf").with_figures(air_rate_baud=71300, serial_baud=97000)
    for made in (radio._paper(odd, "T", letters(7)), radio._safe(odd, letters(7))):
        times = [value for name, value in made.items() if name.endswith("_us")]
        assert times == [round(value, 3) for value in times]
        assert all(value != round(value, 2) for value in times), times


def test_every_message_in_every_mode_with_every_timeout(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed: list[tuple[str, bytes]] = []
    monkeypatch.setattr(
        radio, "_encryption_us", lambda mode, message: timed.append((mode, message)) or 1.2345
    )
    said: list[str] = []
    wanted = Transfer("srf", (1, 70), (100.0, 12.5))
    rows = wanted.ensure(results, said.append).outcome["rows"]
    assert said == [f"mode {mode}" for mode in ("T", "C", "P", "B", "safe")]
    assert [(row["mode"], row["message_bytes"]) for row in rows] == [
        (mode, size) for mode in ("T", "C", "P", "B", "safe") for size in (1, 70)
    ]
    assert timed == [(mode, letters(size)) for mode in ("T", "C", "P", "B", "safe") for size in (1, 70)]
    for row in rows:
        assert row["encryption_us"] == 1.23 and list(row["delivery_us"]) == ["100", "12.5"]
        if row["mode"] != "safe":
            expected = TRANSFERS[row["mode"], row["message_bytes"]]
            assert [row[name] for name in FIGURES[:4]] == list(expected[:4])
            assert row["delivery_us"]["100"] == expected[4]
    # A packet that is not full waits for the timeout; one that is does not.
    assert rows[0]["delivery_us"]["12.5"] == 13121.611  # 87.5 ms less
    assert rows[5]["delivery_us"]["12.5"] == TRANSFERS["P", 70][4]
    assert rows[9]["confirmed_us"] == 17100.0
    monkeypatch.setattr(Transfer, "_row", lambda *_: pytest.fail("run again"))
    assert wanted.ensure(results).outcome == {"rows": rows}
    assert wanted.asked() | {"figures": 0} == {
        "radio": "srf",
        "figures": 0,
        "message_bytes": [1, 70],
        "timeouts_ms": [100.0, 12.5],
        "modes": ["T", "C", "P", "B", "safe"],
    }
    assert wanted.asked()["figures"]["serial_baud"] == 115200.0


def test_what_arrives_as_something_else_is_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(radio, "decode", lambda mode, key, data: b"other")
    with pytest.raises(MotecryptError, match=r"^transfer of 3 bytes in mode C: arrived as something else$"):
        radio._paper(load_radio("srf"), "C", b"abc")
    made = itertools.count()
    monkeypatch.setattr(radio, "plain", lambda message: bytes([next(made)]))
    with pytest.raises(MotecryptError, match=r"^transfer of 3 bytes in the safe mode: not accepted$"):
        radio._safe(load_radio("srf"), b"abc")


def test_the_median_of_fifty_encryptions(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(float(n * n) for n in range(1000))  # the n-th of them takes 4n + 1 s
    monkeypatch.setattr(radio, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    sealed: list[tuple[Any, ...]] = []
    monkeypatch.setattr(
        radio, "Sealer", lambda key: SimpleNamespace(seal=lambda *a: sealed.append((len(key), *a)))
    )
    assert radio._encryption_us("T", b"abc") == 0.0
    assert radio._encryption_us("safe", b"abc") == 1e6 * statistics.median(4 * n + 1 for n in range(50))
    assert sealed == [(32, 1, number, radio.plain(b"abc")) for number in range(50)]
    made: list[tuple[Any, ...]] = []
    monkeypatch.setattr(radio, "encode", lambda *a: made.append(a))
    clock = iter(float(n) for n in range(1000))
    assert radio._encryption_us("P", b"abc") == 1e6 and made == [("P", radio.KEY, b"abc")] * 50
    assert bytes(range(32)) == radio.KEY


# --- a file over Wi-Fi -------------------------------------------------------------------------------------

HOME = TransferWlan(60_000_000, mode="infrastructure")
FAR = TransferWlan(
    1_000_001,
    mode="infrastructure",
    security="ccmp",
    signal="poor",
    phy="g",
    protocol="udp",
    card="esp8266",
    seeds=2,
    walls_db=3.0,
)


def test_what_ns3_is_given() -> None:
    assert TransferWlan(100_000)._arguments(7) == [
        *("--mode=adhoc", "--phy=b", "--protocol=tcp", "--bytes=100000", "--frame-bytes=0", "--seed=7"),
        *("--distance-m=4.0", "--walls-db=0.0", "--fading=0", "--exponent=3.0", "--tx-dbm=15.0"),
        *("--volts=4.74", "--tx-ma=284.0", "--rx-ma=190.0", "--idle-ma=156.0", "--limit-seconds=600"),
    ]
    assert FAR._arguments(2) == [
        *("--mode=infrastructure", "--phy=g", "--protocol=udp", "--bytes=1000001", "--frame-bytes=16"),
        *("--seed=2", "--distance-m=51.0", "--walls-db=1.5", "--fading=1", "--exponent=3.0"),
        *("--tx-dbm=17.0", "--volts=3.3", "--tx-ma=170.0", "--rx-ma=50.0", "--idle-ma=50.0"),
        "--limit-seconds=600",
    ]
    assert HOME._arguments(1)[-1] == "--limit-seconds=6000"
    assert replace(FAR, mode="adhoc")._arguments(1)[7] == "--walls-db=3.0"


def test_a_transfer_by_the_closed_form() -> None:
    assert FAR.closed_form() == {
        "seconds": pytest.approx(0.6320795443549505, rel=1e-12),
        "sender_joule": pytest.approx(0.1853511236813563, rel=1e-12),
        "receiver_joule": pytest.approx(0.1134486448185668, rel=1e-12),
        "data_frames": pytest.approx(1586.7590412416703, rel=1e-12),
        "air_bytes": pytest.approx(2461063.2729658308, rel=1e-12),
        "applies": False,
        "note": "estimate from the link budget; ns-3 models the rate control and TCP's losses",
    }
    form = wifi.closed_outcome(HOME)
    for name, value in {
        "seconds": 176.70996839206987,
        "sender_joule": 179.9465102640794,
        "receiver_joule": 160.00683895609396,
        "data_frames": 124312.0,
        "data_frame_bytes": 130941008.0,
    }.items():
        assert form.pop(name) == pytest.approx(
            {"mean": value, "low": value, "high": value, "half_width": 0.0}
        )
    assert form == {"complete": True, "delivered_bytes": 60_000_000, "runs": [], "note": ""}
    # Walls cost signal, and a poorer signal time.
    assert replace(FAR, walls_db=20.0).closed_form()["seconds"] > 1.1 * FAR.closed_form()["seconds"]
    assert wifi.SIMULATED_BYTES == 20_000_000


def test_the_question_of_each_engine() -> None:
    common = {
        "bytes": 1000001,
        "mode": "infrastructure",
        "frame_bytes": 16,
        "phy": "g",
        "protocol": "udp",
        "distance_m": 51.0,
        "walls_db": 3.0,
        "fading": True,
        "exponent": 3.0,
        "volts": 3.3,
        "milliampere": [170.0, 50.0, 50.0],
        "transmit_dbm": 17.0,
    }
    assert FAR.asked() == {"engine": "ns-3", **common, "seeds": 2}
    form = FAR.asked_of(CLOSED_FORM)
    levels = form.pop("sensitivity_dbm")
    assert form == {"engine": "closed form", **common}
    assert levels[:2] == [[1.0, -98.0], [2.0, -95.0]] and levels == sorted(levels) and len(levels) == 12
    assert (HOME.walls, FAR.walls) == (0.0, 3.0)
    assert FAR.inputs(CLOSED_FORM) == FAR.asked_of(CLOSED_FORM)
    ours = FAR.inputs(NS3)
    assert len(ours.pop("program")) == 16 and ours == FAR.asked()
    for least, refused in (
        (TransferWlan(1, seeds=1), None),
        (TransferWlan(0), "empty"),
        (TransferWlan(1, seeds=0), "0 seeds"),
    ):
        if refused is None:
            least.check()
        else:
            with pytest.raises(InputError, match=refused):
                least.check()


def told(seed: int, seconds: float, **changes: Any) -> dict[str, Any]:
    run = {
        "seed": seed,
        "seconds": seconds,
        "sender_joule": 2 * seconds,
        "receiver_joule": 3 * seconds,
        "data_frames": 10 + seed,
        "data_frame_bytes": 1000 + seed,
        "complete": True,
        "delivered_bytes": 900 + seed,
    }
    return {**run, **changes}


def test_runs_become_means_with_their_interval() -> None:
    assert wifi.summary([1.0, 2.0, 6.0]) == {
        "mean": 3.0,
        "low": 1.0,
        "high": 6.0,
        "half_width": pytest.approx(4.30 * 7**0.5 / 3**0.5),  # the variance is 7
    }
    assert wifi.summary([5.0]) == {"mean": 5.0, "low": 5.0, "high": 5.0, "half_width": 0.0}
    assert wifi.summary([1.0, 3.0])["half_width"] == pytest.approx(12.71)
    # Student's t, two-sided, 95 %.
    points = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26]
    assert [wifi.student(n) for n in range(2, 11)] == points
    assert [wifi.student(n) for n in (11, 30, 31, 1000)] == [2.2, 2.2, 1.96, 1.96]
    outcome = wifi._outcome([told(3, 6.0), told(1, 1.0), told(2, 2.0, complete=False, delivered_bytes=5)])
    assert [run["seed"] for run in outcome["runs"]] == [1, 2, 3]
    assert (outcome["complete"], outcome["delivered_bytes"]) == (False, 5)
    assert outcome["seconds"]["mean"] == 3.0 and outcome["sender_joule"]["high"] == 12.0
    assert outcome["receiver_joule"]["low"] == 3.0 and outcome["data_frames"]["mean"] == 12.0
    assert outcome["data_frame_bytes"]["high"] == 1003.0
    assert wifi._outcome([told(1, 1.0)])["complete"] is True


def test_what_the_program_says_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def run(answer: Outcome) -> dict[str, Any]:
        monkeypatch.setattr(wifi.process, "run", lambda command: asked.append(command) or answer)
        return wifi._run(Path("program"), FAR, 4)

    assert run(Outcome(0, '{"seed": 4}', "")) == {"seed": 4}
    assert asked == [[Path("program"), *FAR._arguments(4)]]
    with pytest.raises(MotecryptError, match=r"^ns-3, seed 4: error: no memory$"):
        run(Outcome(1, "{}", "a\nerror: no memory\nb"))
    with pytest.raises(MotecryptError, match=rf"^ns-3, seed 4: printed no figures: '{'x' * 80}'$"):
        run(Outcome(0, "x" * 90, ""))


def test_transfers_are_simulated_once_for_each_seed(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[int, int]] = []

    def run(compiled: Path, request: TransferWlan, seed: int) -> dict[str, Any]:
        assert compiled == Path("program")
        ran.append((request.size, seed))
        return told(seed, float(request.size))

    monkeypatch.setattr(wifi, "program", lambda: Path("program"))
    monkeypatch.setattr(wifi, "_run", run)
    one, two = TransferWlan(5, seeds=2), TransferWlan(7, mode="infrastructure", security="wep", seeds=1)
    said: list[str] = []
    found = wifi.ensure_all([two, one, two], results, said.append)
    assert sorted(ran) == [(5, 1), (5, 2), (7, 1)]
    assert said == ["Wi-Fi transfer 1 of 2: infrastructure wep", "Wi-Fi transfer 2 of 2: adhoc open"]
    assert [finding.outcome["seconds"]["mean"] for finding in found] == [7.0, 5.0, 7.0]
    assert [len(finding.outcome["runs"]) for finding in found] == [1, 2, 1]
    assert found[0].inputs == two.inputs(NS3)
    answer = one.answer(results)
    assert answer is not None and (answer.engine, answer.seconds.mean) == (NS3, 5.0)
    monkeypatch.setattr(wifi, "_run", lambda *_: pytest.fail("simulated again"))
    assert one.ensure(results).outcome == found[1].outcome and one.find(results) == one.stored(results)


def test_what_no_engine_could_run_is_refused_before_any_is_run(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wifi, "program", lambda: pytest.fail("asked for"))
    for wrong in (TransferWlan(0), TransferWlan(5, security="none"), TransferWlan(5, phy="z")):
        with pytest.raises(InputError):
            wifi.ensure_all([TransferWlan(5), wrong], results)


@pytest.mark.parametrize("error", [BuildError, InputError])
def test_a_program_that_cannot_be_had_is_told_at_the_end(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str) -> None:
        raise error(f"no {name}")

    told: list[Any] = []
    monkeypatch.setattr(wifi, "driver", refuse)
    monkeypatch.setattr(wifi, "left_out", lambda *a: told.append(a))
    assert wifi.program.__wrapped__() is None and told == [("ns-3", "no wlan")]
    monkeypatch.setattr(wifi, "driver", Path)
    assert wifi.program.__wrapped__() == Path("wlan") and len(told) == 1


def test_a_run_that_fails_ends_the_others(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wifi, "program", lambda: Path("program"))

    def run(*_: object) -> dict[str, Any]:
        raise MotecryptError("no")

    monkeypatch.setattr(wifi, "_run", run)
    with pytest.raises(MotecryptError, match=r"^no$"):
        wifi.ensure_all([TransferWlan(5)], results)
    assert results.findings("wlan-transfer") == []


def test_the_closed_form_serves_until_ns3_is_there(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wifi, "program", lambda: None)
    said: list[str] = []
    first = TransferWlan(500).ensure(results, said.append)
    assert said == [wlan_transfer.missing_note()]
    again = TransferWlan(500).ensure(results, said.append)
    assert (again.made_at, again.outcome) == (first.made_at, first.outcome) and len(said) == 1
    answer = TransferWlan(500).answer(results)
    assert answer is not None and answer.engine == CLOSED_FORM and answer.note == ""
    assert answer.seconds.mean == pytest.approx(TransferWlan(500).closed_form()["seconds"])
    monkeypatch.setattr(wifi, "program", lambda: Path("program"))
    monkeypatch.setattr(wifi, "_run", lambda compiled, request, seed: told(seed, 1.0))
    TransferWlan(500).ensure(results)
    answer = TransferWlan(500).answer(results)
    assert answer is not None and (answer.engine, answer.seconds.mean) == (NS3, 1.0)
    stored = TransferWlan(500).stored(results)
    assert stored is not None and stored.inputs["engine"] == NS3
    assert wlan_transfer.answer_of(None) is None
    assert wlan_transfer.answer_of(replace(stored, outcome={"seconds": 1})) is None


def test_a_file_many_times_larger() -> None:
    spreads = [Spread(n, n + 1, n + 2, n + 3) for n in (1.0, 2.0, 3.0, 4.0, 5.0)]
    answer = WlanTransfer(*spreads, complete=True, delivered_bytes=7, note="n", engine="e")
    larger = [Spread(2.5 * n, 2.5 * (n + 1), 2.5 * (n + 2), 2.5 * (n + 3)) for n in (1, 2, 3, 4, 5)]
    assert answer.scaled(2.5) == WlanTransfer(
        *larger, complete=True, delivered_bytes=18, note="n", engine="e"
    )


# --- set-up and call ---------------------------------------------------------------------------------------


def test_a_trace_is_read_by_regions() -> None:
    dump = "100 ffffffff\n102 20\n102 24\n102 28\n100 ffffffff\n100 ffffffff\nend\n"
    dump += "104 30\n102 34\n102 38\nend\n106 1\n"
    assert call_sequence._regions_of(dump) == [
        call_sequence._Traced({0x100, 0x102}, {0x20, 0x24, 0x28}, {0x100: 3, 0x102: 1}),  # type: ignore[arg-type]
        call_sequence._Traced({0x104, 0x102}, {0x30, 0x34, 0x38}, {0x104: 1, 0x102: 1}),  # type: ignore[arg-type]
    ]


CALL = call_sequence.CallSequence(
    *("pico", "motecrypt", "default", "aes128-cbc", bytes(range(16)).hex(), bytes(16).hex(), bytes(48).hex()),
    operation="encrypt",
)


def test_costs_are_less_those_of_measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    firmware = {"empty": SimpleNamespace(name="empty"), "real": SimpleNamespace(name="real")}
    firmware["real"].total = SimpleNamespace(flash=4321)
    monkeypatch.setattr(
        call_sequence,
        "build",
        lambda request: firmware["empty" if request.implementation.cipher == "empty" else "real"],
    )
    misses = {"kept": 10, "cold": 20, "warm": 40}
    opened: list[tuple[str, str, bool]] = []

    def sequence(
        self: object, device: object, made: Any, options: Any, *, checked: bool = True
    ) -> tuple[Region, Region]:
        opened.append((made.name, options.cache, checked))
        extra = misses[options.cache]
        if made.name == "empty":
            return Region(7, extra={"cache_misses": 1}), Region(9, extra={"cache_misses": extra - 4})
        return Region(100, extra={"cache_misses": extra}), Region(300, extra={"cache_misses": extra + 1})

    monkeypatch.setattr(call_sequence.CallSequence, "_sequence", sequence)
    monkeypatch.setattr(call_sequence.CallSequence, "_profile", lambda *_: {"functions": []})
    assert CALL._run() == {
        "flash_bytes_of_firmware": 4321,
        "setup_misses_kept": 9,
        "call_misses_kept": 5,
        "setup_misses_cold": 19,
        "call_misses_cold": 5,
        "setup_core_cycles": 93,
        "call_core_cycles": 291,
        "functions": [],
    }
    assert opened == [
        (name, cache, name == "real") for cache in ("kept", "cold", "warm") for name in ("real", "empty")
    ]
    misses["kept"] = -50

    def fewer(self: object, device: object, made: Any, options: Any, **_: Any) -> tuple[Region, Region]:
        count = 5 if made.name == "empty" else 4
        return Region(1, extra={"cache_misses": count}), Region(1, extra={"cache_misses": count + 1})

    monkeypatch.setattr(call_sequence.CallSequence, "_sequence", fewer)
    assert CALL._run()["call_misses_kept"] == 0


def test_where_instructions_and_lines_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    device, _ = CALL._subject()
    base = device.memory["flash"].address if hasattr(device.memory["flash"], "address") else 0x10000000
    line = int(device.simulator["flash_cache"]["line_bytes"])
    functions = {"low": base + 1, "high": base + 10 * line + 1, "sram": 0x20000001}
    monkeypatch.setattr(call_sequence, "symbols", lambda elf: functions)

    def sequence(self: object, device: object, made: Any, options: Any) -> tuple[Region, Region]:
        assert options.trace and options.cache == "none"
        setup = [(base, None), (base + 2, base + 20 * line), (base + 20 * line, 0x20000000)]
        call = [(base, None)] * 3 + [
            (base + 11 * line, base + 20 * line + 4),
            (base + 10 * line, base + 30 * line),
        ]
        call += [(base + 11 * line + 2, base + 11 * line), (0x20000000, base + 31 * line)]
        text = ""
        for region in (setup, call):
            text += (
                "".join(f"{pc:x} {'ffffffff' if a is None else format(a, 'x')}\n" for pc, a in region)
                + "end\n"
            )
        options.dump.write_text(text)
        return Region(0), Region(0)

    monkeypatch.setattr(call_sequence.CallSequence, "_sequence", sequence)
    found = CALL._profile(device, SimpleNamespace(elf=None))  # type: ignore[arg-type]
    assert found == {
        "code_lines": 3,  # base, 10 and 11: what lies in SRAM has no line
        "code_lines_new": 2,
        "table_lines": 3,  # 20, 30 and 31; the read of line 11 is of code
        "table_lines_new": 2,
        "functions": [["high", 0.571], ["low", 0.429]],
    }


class FakeClient:
    """The firmware's other end: keeps what it is asked, and answers with an output."""

    asked: ClassVar[list[Any]] = []
    output = b""

    def __init__(self, session: Any, timeout_s: float) -> None:
        self.asked[:] = [(session, timeout_s)]

    def run(self, *arguments: Any) -> SimpleNamespace:
        self.asked.append(("run", *arguments))
        return SimpleNamespace(output=self.output)

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self.asked.append((name, *arguments))


def test_what_the_firmware_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []

    class Session:
        def __enter__(self) -> str:
            return self  # type: ignore[return-value]

        def __exit__(self, *_: object) -> None:
            opened.append("closed")

        def regions(self) -> list[Region]:
            return [Region(1), Region(2)]

    session = Session()
    runner = SimpleNamespace(open_session=lambda *a: opened.append(a) or session)
    monkeypatch.setattr(call_sequence, "runner_of", lambda name: runner)
    monkeypatch.setattr(call_sequence, "Client", FakeClient)
    device, _ = CALL._subject()
    firmware: Any = SimpleNamespace(elf="elf", data_end=77)
    from Crypto.Cipher import AES

    sealed = AES.new(bytes(range(16)), AES.MODE_CBC, bytes(16)).encrypt(bytes(48))
    decrypts = replace(CALL, operation="decrypt")
    for request, given, wanted in ((CALL, bytes(48), sealed), (decrypts, sealed, bytes(48))):
        for output, checked, right in (
            (wanted, True, True),
            (b"\0", True, False),
            (b"\xff" * 48, True, False),
            (b"", False, True),
        ):
            FakeClient.output = output
            options = call_sequence.Options(cache="cold")
            if right:
                made = request._sequence(device, firmware, options, checked=checked)
                assert made == (Region(1), Region(2))
            else:
                with pytest.raises(
                    ProtocolError, match=f"^{request.operation}: the output is not what the or"
                ):
                    request._sequence(device, firmware, options)
            assert FakeClient.asked == [
                (session, 60.0),
                ("wait_ready",),
                ("set_key", bytes(range(16))),
                ("set_nonce", bytes(16)),
                ("set_message", given),
                ("run", "setup", 1, 0),
                ("run", request.operation, 1, 0),
            ]
            assert opened == [(device, "elf", 77, options), "closed"]
            opened.clear()


@pytest.mark.parametrize("error", [BuildError, ProtocolError, Fault])
@pytest.mark.parametrize("transient", [False, True])
def test_a_failed_sequence_is_kept_unless_it_is_the_machines(
    error: Any, transient: bool, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object) -> None:
        raise error("no", transient=transient)

    monkeypatch.setattr(call_sequence, "key_of", lambda request: "a build")
    monkeypatch.setattr(call_sequence, "runner_of", lambda name: SimpleNamespace(identity=lambda device: "r"))
    monkeypatch.setattr(call_sequence.CallSequence, "_run", fail)
    assert CALL.ensure(results).outcome == {"failed": "no"}
    assert (CALL.find(results) is None) == transient


def test_where_nothing_at_all_builds_that_says_nothing_of_the_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(request: object) -> None:
        raise BuildError("no", kind=FailureKind.SILENT)

    monkeypatch.setattr(call_sequence, "build", refuse)
    with pytest.raises(BuildError, match=r"^no$") as refused:
        CALL._run()
    assert refused.value.transient and refused.value.kind is FailureKind.SILENT
    with pytest.raises(InputError, match=r"^none/default has no aes128-cbc for pico$"):
        replace(CALL, library="none")._subject()
    with pytest.raises(InputError, match=r"^motecrypt/other has no aes128-cbc for pico$"):
        replace(CALL, configuration="other")._subject()


def test_the_four_functions_with_the_most_instructions_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    device, _ = CALL._subject()
    base = 0x10000000
    monkeypatch.setattr(call_sequence, "symbols", lambda elf: {f"f{n}": base + 64 * n + 1 for n in range(6)})

    def sequence(self: object, device: object, made: Any, options: Any) -> tuple[Region, Region]:
        lines = [f"{base + 64 * n + 2 * k:x} ffffffff\n" for n in range(6) for k in range(n + 1)]
        options.dump.write_text("end\n" + "".join(lines) + f"{0x20000000:x} ffffffff\n" * 3 + "end\n")
        return Region(0), Region(0)

    monkeypatch.setattr(call_sequence.CallSequence, "_sequence", sequence)
    found = CALL._profile(device, SimpleNamespace(elf=None))  # type: ignore[arg-type]
    assert found["functions"] == [["f5", 0.375], ["f4", 0.208], ["f3", 0.167], ["f2", 0.125]]
    monkeypatch.setattr(call_sequence, "symbols", lambda elf: {"late": base + 64 * 5 + 1})
    assert CALL._profile(device, SimpleNamespace(elf=None))["functions"][0] == ["?", 0.625]  # type: ignore[arg-type]


def test_a_progress_line_and_what_is_stored(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_sequence, "key_of", lambda request: "a build")
    monkeypatch.setattr(call_sequence, "runner_of", lambda name: SimpleNamespace(identity=lambda device: "r"))
    monkeypatch.setattr(call_sequence.CallSequence, "_run", lambda self: {"failed": "x"})
    said: list[str] = []
    found = CALL.ensure(results, said.append)
    assert said == ["motecrypt aes128-cbc encrypt after its set-up"]
    assert found.inputs == {
        **CALL.asked(),
        "build": "a build",
        "runner": "r",
        "code": call_sequence._code_hash(),
    }
    assert len(call_sequence._code_hash()) == 16

    def refuse(request: object) -> str:
        raise BuildError("no compiler")

    monkeypatch.setattr(call_sequence, "key_of", refuse)
    assert CALL._inputs()["build"] == "unbuildable: no compiler"


# --- kinds of data, passwords, features --------------------------------------------------------------------


def test_the_median_and_its_interval_by_ranks() -> None:
    values = list(range(100, 141))  # 41 rounds: ranks 14 and 26, counted from 0
    random.Random(1).shuffle(values)
    assert data_types.interval(values) == {"median": 120, "low": 114, "high": 126}
    assert data_types.interval([3.0, 1.0, 2.0]) == {"median": 2.0, "low": 1.0, "high": 3.0}
    assert data_types.interval(range(10)) == {"median": 4.5, "low": 1, "high": 8}
    # Quartiles of 0..10 are 2 and 8: whiskers end at -7 and 17.
    plain = list(range(11))
    assert data_types.outliers(plain) == 0
    assert statistics.quantiles(plain, n=4) == [2, 5, 8]
    assert data_types.outliers([*plain[:-1], 17]) == 0 and data_types.outliers([*plain[:-1], 18]) == 1
    assert data_types.outliers([-7, *plain[1:]]) == 0 and data_types.outliers([-8, *plain[1:-1], 18]) == 2


def test_kinds_of_data_are_timed_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    done: list[bytes] = []

    def encrypt(piece: bytes) -> None:
        done.append(piece)
        now[0] += len(piece)

    pieces = {"text": b"t" * 2, "image": b"i" * 3, "audio": b"a" * 4, "video": b"v" * 6}
    monkeypatch.setattr(data_types, "time", SimpleNamespace(thread_time=lambda: now[0]))
    monkeypatch.setattr(data_types, "_piece", lambda kind: pieces[kind])
    monkeypatch.setattr(data_types.DataTypes, "_encryptor", lambda self: ("body", encrypt))
    monkeypatch.setattr(data_types, "machine", lambda: SimpleNamespace(processor="p", aes_instructions=True))
    found = data_types.DataTypes("aes128-cbc", 128, rounds=5)._measure()
    assert done[:4] == list(pieces.values())  # each once, to warm up
    rounds = [done[n : n + 4] for n in range(4, len(done), 4)]
    assert len(rounds) == 5 and all(sorted(r) == sorted(pieces.values()) for r in rounds)
    assert len({tuple(r) for r in rounds}) > 1
    per_byte = found.pop("ns_per_byte")
    assert per_byte == {kind: len(p) * 1e9 / data_types.PIECE_BYTES for kind, p in pieces.items()}
    assert {kind: entry["median"] for kind, entry in found.pop("ratio_to_text").items()} == {
        "text": 1.0,
        "image": 1.5,
        "audio": 2.0,
        "video": 3.0,
    }
    assert found == {
        "implementation": "body",
        "entropy_bits_per_byte": dict.fromkeys(pieces, 0.0),
        "processor": "p",
        "aes_instructions": True,
        "outliers": 0,
        "timings": 20,
    }


def test_pieces_are_of_one_length(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"abc")
    assert data_types.PIECE_BYTES == 65536
    asked: list[tuple[str, int]] = []
    monkeypatch.setattr(
        data_types.samples, "sample", lambda kind, size: asked.append((kind, size)) or tmp_path / "small"
    )
    piece = data_types._piece("image")
    assert asked == [("image", data_types.samples.KINDS["image"].smallest)]
    assert len(piece) == data_types.PIECE_BYTES and piece[:7] == b"abcabca"


def test_which_variant_is_timed_and_what_it_depends_on() -> None:
    timed = {c: data_types.DataTypes(c, 128).implementation().variant for c in ("aes128-cbc", "rc6-cbc")}
    assert timed["aes128-cbc"] in ("tables", "fast")
    ours = data_types.Catalog.load().implementations_of("rc4d", "host", ["motecrypt"])
    assert len(ours) > 2 and not {body.variant for body in ours} & {"tables", "fast"}
    assert data_types.DataTypes("rc4d", 128).implementation() == ours[0]
    here = data_types.DataTypes("aes128-cbc", 128)
    inputs = here.inputs()
    assert len(inputs.pop("sources")) == 16 and inputs == here.asked()
    assert here.asked() == {
        "cipher": "aes128-cbc",
        "key_bits": 128,
        "rounds": 41,
        "kinds": ["text", "image", "audio", "video"],
        "piece_bytes": data_types.PIECE_BYTES,
        "samples": data_types.samples.VERSION,
    }
    other = data_types.DataTypes("aes128-ctr", 128)._source_hash()
    assert other != here._source_hash() == here._source_hash()


@pytest.mark.parametrize(("cipher", "bits", "nonce"), [("rc4d", 128, 0), ("aes256-cbc", 256, 16)])
def test_what_is_timed_has_its_key_and_its_nonce(
    cipher: str, bits: int, nonce: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    opened = SimpleNamespace(setup=told.append, encrypt=lambda piece, nonce: (piece, nonce))
    monkeypatch.setattr(data_types.native, "open_implementation", lambda cipher, body: opened)
    wanted = data_types.DataTypes(cipher, bits)
    name, encrypt = wanted._encryptor()
    assert name == wanted.implementation().name and [len(key) for key in told] == [bits // 8]
    assert encrypt(b"abc") == (b"abc", bytes(nonce))


def test_a_timing_is_kept(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = {
        "ns_per_byte": {"text": 1.0},
        "ratio_to_text": {"text": {"median": 1.0, "low": 1.0, "high": 1.0}},
        "outliers": 0,
        "timings": 1,
    }
    monkeypatch.setattr(data_types.DataTypes, "_measure", lambda self: outcome)
    wanted = data_types.DataTypes("aes128-cbc", 128)
    said: list[str] = []
    assert wanted.stored(results) is None
    first = wanted.ensure(results, said.append)
    assert said == ["aes128-cbc over text, image, audio, video"] and first.outcome == outcome
    assert wanted.ensure(results, said.append).outcome == outcome and len(said) == 1
    answer = wanted.answer(results)
    assert answer is not None and answer.ratio_to_text["text"].median == 1.0
    assert data_types.DataTypes("rc6-cbc", 128).answer(results) is None


def test_the_time_to_a_key_is_a_median_of_processor_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clock = iter([0.0, 0.001, 1.0, 1.009, 2.0, 2.002])
    monkeypatch.setattr(passwords, "time", SimpleNamespace(process_time=lambda: next(clock)))
    assert passwords.PasswordDerivation(rounds=3)._median_ms(lambda: None) == pytest.approx(2.0)
    derived: list[Any] = []
    monkeypatch.setattr(passwords.crypt_and_hash, "derive", lambda *a: derived.append(a))
    monkeypatch.setattr(passwords.container, "keys_of", lambda *a: derived.append(a))
    monkeypatch.setattr(passwords.PasswordDerivation, "_median_ms", lambda self, way: way() or 4.0)
    assert passwords.PasswordDerivation()._measure() == {"hashes_ms": 4.0, "argon2id_ms": 4.0}
    assert derived[0] == ("sha512", bytes(16), passwords.PASSWORD)
    header, secret = derived[1]
    assert secret.password == passwords.PASSWORD and header.from_password
    box = passwords.container
    monkeypatch.undo()
    (tmp_path / "plain").write_bytes(b"")
    box.encrypt_file(tmp_path / "plain", tmp_path / "sealed", secret)
    written = box.parse_header((tmp_path / "sealed").read_bytes(), "sealed")
    assert header == replace(written, salt=bytes(32))  # that of every file with a password


def test_the_time_to_a_key_is_kept(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = {"hashes_ms": 1.0, "argon2id_ms": 2.0}
    monkeypatch.setattr(passwords.PasswordDerivation, "_measure", lambda self: outcome)
    monkeypatch.setattr(passwords, "machine", lambda: SimpleNamespace(processor="p"))
    wanted = passwords.PasswordDerivation()
    said: list[str] = []
    assert wanted.stored(results) is None and wanted.answer(results) is None
    assert wanted.ensure(results, said.append).inputs == {**wanted.asked(), "processor": "p"}
    assert wanted.ensure(results, said.append).outcome == outcome and said == ["passwords to keys"]
    answer = wanted.answer(results)
    assert answer is not None and (answer.hashes_ms, answer.argon2id_ms) == (1.0, 2.0)


class FakeNative:
    """A cipher whose features are known; counts what it decrypts."""

    decrypted = 0

    def __init__(self, keys: Sequence[int], most: int, change: Callable[[bytes], bytes]) -> None:
        self.keys, self.most, self.change = keys, most, change

    def setup(self, key: bytes) -> None:
        if len(key) not in self.keys:
            raise InputError("a key")

    def encrypt(self, message: bytes, nonce: bytes) -> tuple[bytes, bytes]:
        assert len(nonce) == 16
        if len(message) > self.most:
            raise InputError("a message")
        return self.change(message), b"tag"

    def decrypt(self, ciphertext: bytes, nonce: bytes) -> bytes:
        self.decrypted += 1
        return bytes(sum(ciphertext) & 0xFF for _ in ciphertext)


def _features(native: FakeNative, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(features, "open_implementation", lambda cipher, body: native)
    monkeypatch.setattr(features, "TRIALS", 4)
    cipher, body = features.FeatureProbe("aes128-cbc", "small")._subject()
    return dict(features.FeatureProbe("aes128-cbc", "small")._try(cipher, body))


def test_the_features_of_a_cipher_that_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    native = FakeNative(range(256), 4096, bytes)
    tried = [*range(67), 127, 128, 129, 254, 255, 256, 257, 511, 512, 513, 1000, 4096]
    assert _features(native, monkeypatch) == {
        "message_bytes": tried,
        "message_bytes_tried": tried,
        "messages": "any",
        "key_bytes": list(range(256)),
        "keys": "any",
        "diffusion": "none",
        "diffusion_lengths": [2, 3, 16, 32, 33, 48],
        "diffusion_changed": [0.5, 0.3333, 0.0625, 0.0312, 0.0303, 0.0208],
        "diffusion_flips": [0.0625, 0.0417, 0.0078, 0.0039, 0.0038, 0.0026],
        "block_bytes": 0,
        "identity_bytes": list(range(1, 33)),
        "decrypt_reach_bytes": 32,
        "last_byte_passes_through": False,
    }
    assert native.decrypted == 16 * (1 + 8 * 32)  # each sample, and with each bit changed


def test_the_features_of_a_cipher_that_takes_little(monkeypatch: pytest.MonkeyPatch) -> None:
    for clear in (None, 0, 7):  # a bit of the last byte that does not pass through

        def turned(message: bytes, clear: int | None = clear) -> bytes:
            first = message[-1] & ~(1 << clear) if clear is not None else message[-1]
            return bytes([first]) + message[:-1]

        found = _features(FakeNative((16, 255), 32, lambda m: turned(m) if m else m), monkeypatch)
        assert found["last_byte_passes_through"] == (clear is None)
        assert (found["messages"], found["keys"]) == (", ".join(map(str, range(33))), "16, 255")
        assert found["identity_bytes"] == ([1] if clear is None else [])
        assert found["diffusion_lengths"] == [2, 3, 16, 32]


def test_how_lengths_are_said() -> None:
    for taken, tried, said in (
        ([7], range(9), "7"),
        ([0], range(9), "0"),
        ([1, 2, 3], range(1, 4), "any"),
        ([0, 2, 4], range(6), "multiples of 2"),
        ([2, 4], range(6), "2, 4"),
        ([0, 3], range(6), "multiples of 3"),
        ([4, 5], range(6), "4 to 5"),
        ([0, 1, 3], range(5), "0, 1, 3"),
        ([], range(5), "none"),
    ):
        assert features.spell(taken, tried) == said
    assert len(features._code_hash()) == 16


def test_reach_and_the_byte_that_passes_through() -> None:
    assert features._reach(lambda data: data, [b"\x00\x01"]) == 1
    assert features._reach(lambda data: bytes([sum(data) & 0xFF] * 3), [bytes(2), bytes(2)]) == 3
    assert features._reach(lambda data: b"", []) == 0
    assert features._last_byte_passes_through(lambda m: bytes([m[-1] ^ 0x55]), b"ab", 7)
    assert not features._last_byte_passes_through(lambda m: bytes([m[0]]), b"ab", 7)
    assert not features._last_byte_passes_through(lambda m: bytes([m[-1] & 0xF0]), b"ab", 7)


# --- files on a Pico ---------------------------------------------------------------------------------------


def test_regions_are_summed_by_part() -> None:
    regions = [
        Region(10, extra={"label": 2, "cache_misses": 1, "programs": 3, "storage_busy": 5}),
        Region(20, extra={"label": 2, "cache_misses": 2, "erases": 1, "reads": 4}),
        Region(40, extra={}),
        Region(80, extra={"label": 5, "programs": 1, "storage_busy": 6}),
    ]
    none = dict.fromkeys(("other", "files", "key", "cipher", "mac", "setup"), 0)
    assert files.divide(regions) == {
        "cycles": {**none, "key": 30, "other": 40, "setup": 80},
        "misses": {**none, "key": 3},
        "programs": 4,
        "erases": 1,
        "reads": 4,
        "storage_busy": 11,
    }


def test_the_sources_text_and_the_boards_options(monkeypatch: pytest.MonkeyPatch) -> None:
    text = files.plaintext(200)
    assert len(text) == 200 and text[:63] == text[63:126] and text[61:63] == b"\r\n"
    assert text.startswith(b"A fixed string") and files.plaintext(0) == b"" and len(files.plaintext(63)) == 63
    times = {
        "flash": {"program_page_us": 2.0, "erase_4k_ms": 3.0, "erase_32k_ms": 4.0, "erase_64k_ms": 5.0},
        "sd": {"blocks": 9, "read_us": 6.0, "write_us": 7.0, "spi_hz": 11},
    }
    monkeypatch.setattr(files, "storage_times", lambda: times)
    monkeypatch.setattr(files, "DriverSession", lambda command: command)
    asked: list[Any] = []
    monkeypatch.setattr(
        files.arm,
        "command",
        lambda device, elf, options: asked.append(options) or ["arm", "events", str(elf)],
    )
    device, built = SimpleNamespace(clock_hz=125_000_000), SimpleNamespace(elf="elf")
    opened: Any = files.open_board(device, built, "flash", "kept")  # type: ignore[arg-type]
    assert opened == ["arm", "events", "--nor", "250:375000:500000:625000", "elf"]
    opened = files.open_board(device, built, "sd", "none")  # type: ignore[arg-type]
    assert opened == ["arm", "events", "--nor", "250:375000:500000:625000", "--sd", "9:750:875", "elf"]
    assert [(o.cache, o.max_cycles) for o in asked] == [("kept", 60_000_000_000), ("none", 60_000_000_000)]
    job = files.FileJob(630, storage="sd")
    assert job.title == "published, 630 bytes on sd"
    assert job.firmware == files.FileFirmware("sd", "bytes", 11)
    assert files.FileJob(630, c_library="words").firmware == files.FileFirmware("flash", "words")


def test_the_published_file_is_that_of_the_other_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = bytes(range(1, 33))
    monkeypatch.setattr(files.crypt_and_hash, "derive", lambda digest, iv, key, rounds=8192: key[:32])
    for size in (0, 1, 15, 16, 17, 100):
        plain = files.plaintext(size)
        (tmp_path / "plain").write_bytes(plain)
        sealed = tmp_path / "sealed"
        files.crypt_and_hash.encrypt_file(tmp_path / "plain", sealed, key, path_in_iv="input.txt", force=True)
        right = sealed.read_bytes()
        assert files._published(plain, "input.txt", key, 5) == right
        job = files.FileJob(size, rounds=5)
        assert job._genuine(right, plain, key)
        for wrong in (right + b"x", right[:-1], b"\xff" * len(right), bytes(len(right))):
            assert not job._genuine(wrong, plain, key)


def test_a_file_of_the_modern_format_is_read_by_the_host(tmp_path: Path) -> None:
    key, plain, sealed = bytes(range(1, 33)), tmp_path / "plain", tmp_path / "sealed"
    plain.write_bytes(b"mm")
    files.container.encrypt_file(plain, sealed, files.container.Secret(key=key), chunk_bytes=4096)
    job = files.FileJob(2, form="aes256-gcm")
    assert job._genuine(sealed.read_bytes(), b"mm", key)
    for other in (b"ma", b"mz", b"m", b"mmm"):
        assert not job._genuine(sealed.read_bytes(), other, key)


class FakeMote:
    """A board that keeps files, and "encrypts" by putting a byte before them."""

    def __init__(self, session: Any, timeout_s: float) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[Any] = session.asked
        self.back: bytes | None = session.back
        self.asked.append(timeout_s)

    def wait_greeting(self) -> None:
        self.asked.append("greeting")

    def format(self) -> None:
        self.asked.append("format")

    def write(self, name: str, content: bytes) -> None:
        self.files[name] = content
        self.asked.append((name, content))

    def job(self, form: str, source: str, target: str, key: bytes, **how: Any) -> SimpleNamespace:
        self.asked.append((form, source, target, key, how))
        data = self.files[source]
        self.files[target] = data[1:] if how["decrypts"] else b"!" + data
        count = len(self.asked)
        return SimpleNamespace(time_us=count, stack_bytes=10 + count, heap_bytes=20 + count)

    def read(self, name: str) -> bytes:
        return self.back if name == "output.txt" and self.back is not None else self.files[name]


def test_a_job_encrypts_and_decrypts_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    regions = iter([[Region(1)], [Region(5, extra={"label": 2})], [Region(7, extra={"label": 3})]] * 4)
    session = SimpleNamespace(asked=asked, back=None, regions=lambda: next(regions))

    @contextlib.contextmanager
    def opened(device: Any, built: Any, storage: str, cache: str) -> Iterator[SimpleNamespace]:
        asked.append((device.name, built.elf, storage, cache))
        yield session

    built = SimpleNamespace(elf="elf", sha256="s", compiler="gcc 1", sizes=SimpleNamespace(flash=8, ram=9))
    monkeypatch.setattr(files, "build_files", lambda firmware: built)
    monkeypatch.setattr(files, "open_board", opened)
    monkeypatch.setattr(files, "FileMote", FakeMote)
    genuine = [True]
    monkeypatch.setattr(files.FileJob, "_genuine", lambda *a: asked.append(a[1:]) or genuine[0])
    job = files.FileJob(70, form="aes256-gcm", storage="sd", rounds=3, cache="none")
    plain, key = files.plaintext(70), bytes(range(1, 33))
    salt = hashlib.sha256(b"salt").digest()
    none = dict.fromkeys(files.PARTS, 0)
    run = {"misses": none, "programs": 0, "erases": 0, "reads": 0, "storage_busy": 0}
    assert job.run() == {
        "encrypt": {
            **run,
            "cycles": {**none, "key": 5},
            "time_us": 8,
            "stack_bytes": 18,
            "heap_bytes": 28,
        },
        "decrypt": {
            **run,
            "cycles": {**none, "cipher": 7},
            "time_us": 9,
            "stack_bytes": 19,
            "heap_bytes": 29,
        },
        "sealed_bytes": 71,
        "clock_hz": 125_000_000,
        "elf_sha256": "s",
        "compiler": "gcc 1",
        "flash_bytes": 8,
        "ram_bytes": 9,
    }
    names = ("input.txt", "cipherFile.aes", "output.txt")
    assert asked == [
        ("pico", "elf", "sd", "none"),
        600.0,
        "greeting",
        "format",
        (names[0], plain),
        (names[1], b""),
        (names[2], b""),
        ("aes256-gcm", names[0], names[1], key, {"decrypts": False, "rounds": 3, "salt": salt}),
        ("aes256-gcm", names[1], names[2], key, {"decrypts": True, "rounds": 3, "salt": b""}),
        (b"!" + plain, plain, key),
    ]
    genuine[0] = False
    with pytest.raises(
        MotecryptError, match=r"^aes256-gcm, 70 bytes on sd: the ciphertext is not the host's$"
    ):
        job.run()
    genuine[0] = True
    for wrong in (b"a", b"z" * 70, plain[:-1], plain + b"x"):
        session.back = wrong
        regions = iter([[]] * 3)
        with pytest.raises(MotecryptError, match=r"sd: what was decrypted is not what was encrypted$"):
            job.run()


@pytest.mark.parametrize(("error", "told"), [(BuildError, None), (MotecryptError, "no")])
def test_a_job_that_fails_calls_off_those_that_wait(
    error: type[Exception], told: str | None, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[int] = []

    def run(self: files.FileJob) -> dict[str, Any]:
        ran.append(self.size)
        if self.size == 200:
            raise error("no")
        time.sleep(0.02)
        return job_outcome(1)

    monkeypatch.setattr(files.FileJob, "inputs", lambda self: {**self.asked(), "firmware": "f"})
    monkeypatch.setattr(files.FileJob, "run", run)
    monkeypatch.setattr(files, "processors", lambda: 1)
    jobs = files.FileJobs(tuple(files.FileJob(size) for size in range(1, 201)))
    if told is None:
        assert jobs.ensure(results).outcome == {"reason": "no"}
    else:
        with pytest.raises(error, match=f"^{told}$"):
            jobs.ensure(results)
    assert len(ran) < 100


def job_outcome(size: int) -> dict[str, Any]:
    none = dict.fromkeys(files.PARTS, 0)
    run = {"time_us": 1.0, "cycles": none, "misses": none, "programs": 0, "erases": 0, "reads": 0}
    run |= {"storage_busy": 0, "stack_bytes": 0, "heap_bytes": 0}
    sizes = {"sealed_bytes": size, "clock_hz": 1, "flash_bytes": 1, "ram_bytes": 1}
    return {"encrypt": run, "decrypt": run, **sizes}


def test_many_jobs_are_run_longest_first_and_kept(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = files.FileJobs(
        tuple(files.FileJob(size, rounds=rounds) for size, rounds in ((5, 8), (9, 8), (1, 9)))
    )
    monkeypatch.setattr(files.FileJob, "inputs", lambda self: {**self.asked(), "firmware": "f"})
    monkeypatch.setattr(files.FileJob, "run", lambda self: job_outcome(self.size))
    said: list[str] = []
    assert jobs.find(results) is None
    assert jobs.ensure(results, said.append).outcome == job_outcome(1)
    assert said == [
        "published, 1 bytes on flash",
        "published, 9 bytes on flash",
        "published, 5 bytes on flash",
    ]
    found = jobs.find(results)
    assert found is not None and found.outcome["sealed_bytes"] == 1
    monkeypatch.setattr(files.FileJob, "run", lambda self: pytest.fail("run again"))
    assert jobs.ensure(results, said.append).outcome == job_outcome(1) and len(said) == 3
    assert jobs.jobs[1].ensure(results, said.append).outcome == job_outcome(9) and len(said) == 3
    answer = jobs.jobs[1].answer(results)
    assert answer is not None and answer.sealed_bytes == 9 and answer.run("decrypt") == answer.decrypt
    more = files.FileJobs((*jobs.jobs, files.FileJob(77)))
    assert more.find(results) is None

    def refuse(self: files.FileJob) -> dict[str, Any]:
        raise BuildError("no source")

    monkeypatch.setattr(files.FileJob, "run", refuse)
    assert more.ensure(results, said.append).outcome == {"reason": "no source"}
    assert said[3:] == ["published, 77 bytes on flash", "files not measured: no source"]
    assert more.find(results) is None
    with pytest.raises(BuildError):
        more.jobs[-1].ensure(results, said.append)
    assert said[-1] == "published, 77 bytes on flash"


def test_a_hash_counts_as_much_as_a_thousand_bytes(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.FileJob, "inputs", lambda self: {**self.asked(), "firmware": "f"})
    monkeypatch.setattr(files.FileJob, "run", lambda self: job_outcome(self.size))
    for forms in ((1, 1005, 2, 5), (4, 6, 3, 1006)):  # as long as each other: in the order asked
        jobs = files.FileJobs(tuple(files.FileJob(size, rounds=r) for r, size in (forms[:2], forms[2:])))
        said: list[str] = []
        jobs.ensure(results, said.append)
        assert said == [f"published, {size} bytes on flash" for size in (forms[1], forms[3])]


FLASH = {"program_page_us": 1, "erase_4k_ms": 1, "erase_32k_ms": 1, "erase_64k_ms": 1}
CARD = {"spi_hz": 1, "blocks": 1, "read_us": 0, "write_us": 0}


def test_the_table_of_storage_is_checked(tmp_path: Path) -> None:
    def read(name: str, figures: dict[str, Any], **texts: str) -> dict[str, Any]:
        file = tmp_path / "storage.toml"
        entry = {"title": "t", "source": "s", **texts, **figures}
        file.write_text(f"[{name}]\n" + "".join(f"{key} = {value!r}\n" for key, value in entry.items()))
        return pico_file.read_storage(file)

    for name, figures in (("flash", FLASH), ("sd", CARD)):
        assert read(name, figures) == {name: {"title": "t", "source": "s", **figures}}
        for field in figures:
            with pytest.raises(InputError, match=field):
                read(name, {key: value for key, value in figures.items() if key != field})
            with pytest.raises(InputError, match=field):
                read(name, {**figures, field: figures[field] - 1})
        for text in ("title", "source"):
            with pytest.raises(InputError, match=text):
                read(name, figures, **{text: ""})
        with pytest.raises(InputError, match="more"):
            read(name, {**figures, "more": 1})
    assert set(pico_file.storage_times()) == {"flash", "sd", "sd-slow"}


# --- speeds of this computer -------------------------------------------------------------------------------

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
        output = host_speed._expected(SPEED.points[0], operation, 32) if operation != "setup" else ""
        return [
            {"event": "e", "library": lib, "output": output, "cycles": 5.0, "wall_ns": 8.0}
            for lib in libraries
        ]

    monkeypatch.setattr(host_speed, "_run_driver", run_driver)
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
        host_speed, "_run_driver", lambda *a: [{"output": "other", "wall_ns": 1.0} for _ in a[5]]
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

    monkeypatch.setattr(host_speed, "_run_driver", run_driver)
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
        lambda command, timeout_s, environment: asked.append((command, timeout_s, environment)) or answer[0],
    )
    told = host_speed._run_driver("encrypt", b"\x01\x02", b"", 48, 9, ["x", "y"], {"MINE": "1"})
    assert told == [{"a": 1}, {"a": 2}]
    command, limit, environment = asked[0]
    assert command == [Path("host"), "--compare", "encrypt", "0102", "-", "48", "9", "x", "y"]
    assert limit == 300.0 and environment["MINE"] == "1" and "PATH" in environment
    host_speed._run_driver("encrypt", b"", b"\x0a", 48, 9, [], {})
    assert asked[1][0][4] == "0a"
    answer[0] = Outcome(1, "", "error: no")
    with pytest.raises(MotecryptError, match=r"^host speed: error: no$"):
        host_speed._run_driver("encrypt", b"", b"", 48, 9, [], {})


def test_what_the_driver_must_print_and_is_given() -> None:
    assert host_speed._digest(b"") == "cbf29ce484222325"
    assert host_speed._digest(b"a") == "af63dc4c8601ec8c"  # FNV-1a's published values
    assert host_speed._digest(b"foobar") == "85944171f73967e8"
    assert host_speed._key(32) == bytes([7, 36, 65, 94])
    assert host_speed._key(128)[-1] == (29 * 15 + 7) & 0xFF
    pattern = bytes((i * 167 + (i >> 8) * 13) & 0xFF for i in range(512))
    point = SpeedPoint("aes128-ecb", 128)
    assert host_speed._expected(point, "decrypt", 512) == host_speed._digest(pattern)
    from Crypto.Cipher import AES

    sealed = AES.new(host_speed._key(128), AES.MODE_ECB).encrypt(pattern)
    assert host_speed._expected(point, "encrypt", 512) == host_speed._digest(sealed)
    twenty = host_speed._expected(SpeedPoint("rc6-ctr", 128, 20), "encrypt", 64)
    assert twenty == host_speed._expected(SpeedPoint("rc6-ctr", 128), "encrypt", 64)
    assert twenty != host_speed._expected(SpeedPoint("rc6-ctr", 128, 12), "encrypt", 64)


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

    monkeypatch.setattr(host_speed, "_run_driver", fake_run)
    for wall_ns, rounds in ((0.0, 4096), (0.1, 4096), (1e12, 5), (3e7, 10), (2.8e7, 11)):
        counter.write_text("5")
        used = SPEED._rapl("encrypt", b"k", b"n", "library", {}, wall_ns)
        assert used == pytest.approx(1 / (rounds + 2))
        assert ran[-1] == ("encrypt", b"k", b"n", 32, rounds, ["library"], {})
    assert host_speed.rapl_difference(5, 5, 99) == 0


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
