"""The driver of native runs, with a clock that the test rules: what it counts, how long, how it reports
it."""

from __future__ import annotations

import json
import math
import os
import platform
import select
import subprocess
from pathlib import Path
from typing import Any

import pytest
from natively import DEADLINE_S, HERE, compiled, ended_in_time, limited

from motecrypt.catalog import FIRMWARE
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")
USAGE = "usage: host --describe | [--events DESCRIPTOR] [--trace] LIBRARY | --compare ..."
LIMITS = "--compare: 1 to 4096 rounds, at least one byte and one library"
NONE = "cannot open shared object file: No such file or directory"
X86 = platform.machine() == "x86_64"


class Host:
    """The driver, and what it loads."""

    def __init__(self, folder: Path) -> None:
        self.program = compiled("host_harness.c", folder, "-rdynamic", "-ldl", "-lm")
        self.library = folder / "library.so"
        self.half = folder / "half.so"
        include = f"-I{FIRMWARE / 'include'}"
        command = ["gcc", "-O1", "-shared", "-fPIC", include]
        subprocess.run([*command, HERE / "host_library.c", "-o", self.library], check=True, timeout=60)
        empty = "int main(void) { return 0; }"
        subprocess.run(
            [*command, "-x", "c", "-", "-o", self.half], input=empty.encode(), check=True, timeout=60
        )

    def __call__(self, *arguments: object, **settings: object) -> subprocess.CompletedProcess[str]:
        told = {name.upper(): str(value) for name, value in settings.items() if name != "wish"}
        told["MOTECRYPT_HOST_COUNTER"] = str(settings.get("wish", "ns"))
        return subprocess.run(
            [self.program, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
            preexec_fn=limited,
            env={"PATH": os.environ["PATH"], **told},
        )

    def events(self, *arguments: object, **settings: object) -> list[dict[str, Any]]:
        done = self(*arguments, **settings)
        assert done.returncode in (0, 6), done
        return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    return Host(tmp_path_factory.mktemp("host"))


# --- the counter ---------------------------------------------------------------------------------------


def test_what_counting_costs_is_taken_off(host: Host) -> None:
    """A sample looks at the clock four times: between the inner two is what is counted."""
    (told,) = host.events("--describe", step=10, looks=404, later=50)
    assert (told["counter"], told["core_cycles"]) == ("nanoseconds", False)
    assert (told["cycles_overhead"], told["ns_overhead"]) == (10, 30)
    assert told["ticks_per_ns"] == round((50 - 10) / (150 - 30), 4)
    assert told["aes_instructions"] in ((0, 1) if X86 else (-1,))
    if X86:
        flags = Path("/proc/cpuinfo").read_text()
        assert told["aes_instructions"] == int(" aes " in flags)
    (even,) = host.events("--describe")
    assert even["ticks_per_ns"] == 1, "no time at all"


@pytest.mark.parametrize(
    ("counter", "wish", "name", "rate"),
    [
        ("perf", "", "core cycles (perf_event, read)", 3),
        ("unmapped", "", "core cycles (perf_event, read)", 3),
        *(
            [
                ("rdpmc", "", "core cycles (perf_event, rdpmc)", 2),
                ("live", "", "core cycles (perf_event, rdpmc)", 2),
                ("rdpmc", "read", "core cycles (perf_event, read)", 3),
                ("unused", "", "core cycles (perf_event, read)", 3),
                ("denied", "", "core cycles (perf_event, read)", 3),
                ("rdpmc", "tsc", "time stamp counter ticks", None),
                ("broken", "", "time stamp counter ticks", None),
            ]
            if X86
            else []
        ),
        ("rdpmc", "ns", "nanoseconds", 1),
    ],
)
def test_the_best_counter_that_is_granted(
    host: Host, counter: str, wish: str, name: str, rate: int | None
) -> None:
    done = host("--describe", counter=counter, wish=wish, looks=202 if rate in (2, 3) else 404, later=50)
    told = json.loads(done.stdout)
    assert (told["counter"], told["core_cycles"]) == (name, "core" in name)
    assert done.stderr == ("closed 77\n" if counter == "broken" else "")
    if rate in (2, 3):  # only the outer two looks are at the clock
        assert (told["cycles_overhead"], told["ns_overhead"]) == (rate * 0, 10)
        assert told["ticks_per_ns"] == 0
    elif rate == 1:
        assert told["cycles_overhead"] == 10


def test_a_counter_that_stops_answering_is_no_counter(host: Host) -> None:
    done = host("--describe", counter="stops", wish="")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "the kernel's cycle counter: Input/output error\n"


def test_nothing_is_granted(host: Host) -> None:
    (told,) = host.events("--describe", wish="")
    assert told["counter"] == ("time stamp counter ticks" if X86 else "nanoseconds")


@pytest.mark.skipif(not X86, reason="only there is the counter read without the kernel")
def test_a_jump_of_the_counter_by_a_whole_turn_counts_nothing(host: Host) -> None:
    for turn in (0, 2 * 101 + 14 + 9):
        (region,) = host.events(host.library, counter="rdpmc", wish="", turn=turn, base=1000)
        assert region["cycles"] == 2000
    (region,) = host.events(host.library, counter="perf", wish="", base=1000)
    assert region["cycles"] == 3000


@pytest.mark.skipif(not X86, reason="only there is the counter read without the kernel")
@pytest.mark.parametrize("torn", [0, 2, 3])
def test_a_counter_that_the_program_reads_itself(host: Host, torn: int) -> None:
    """It has 48 bits with a sign; a value that the kernel changed meanwhile is read again."""
    (region,) = host.events(host.library, counter="live", wish="", torn=torn, base=1000, looks=900)
    assert (region["cycles"], region["cycles_low"], region["samples"]) == (2000, 2000, 15)


@pytest.mark.skipif(not X86, reason="only there is a time stamp counter")
def test_time_stamps(host: Host) -> None:
    (region,) = host.events(host.library, counter="rdpmc", wish="tsc", base=1000)
    assert (region["cycles"], region["wall_ns"]) == (4000, 1000)


def test_seconds_begin_anew(host: Host) -> None:
    for now in (0, 999_995_000, 4_999_999_000):
        (region,) = host.events(host.library, base=1000, now=now)
        assert (region["cycles"], region["wall_ns"], region["cycles_high"]) == (1000, 1000, 1000)


# --- serving a firmware --------------------------------------------------------------------------------


def test_an_operation_is_repeated_until_its_median_is_known(host: Host) -> None:
    done = host(host.library, base=10_000)
    (region,) = (json.loads(line) for line in done.stdout.splitlines())
    assert done.returncode == 6, "the firmware's own"
    # Warming up: 300,000 ns in steps of 10,000 + 7 + a look of 10; then 15 samples.
    warm = 1 + math.ceil((300_000 - 10_010) / 10_017)
    assert done.stderr == f"{warm + 15} operations, {warm - 1 + 15} restores, status 5\n"
    assert region == {
        "event": "region",
        "cycles": 10_000,
        "stack": None,
        "trace": None,
        "wall_ns": 10_000,
        "cycles_low": 10_000,
        "cycles_high": 10_000,
        "samples": 15,
        "outliers": 0,
        "cpu_load": region["cpu_load"],
        "ticks_per_ns": 1.0,
    }
    assert region["cpu_load"] == pytest.approx(0.5, abs=0.001)


def test_a_short_operation_is_warmed_up_fifty_times(host: Host) -> None:
    done = host(host.library, base=100)
    assert done.stderr == f"{50 + 15} operations, {49 + 15} restores, status 5\n"


@pytest.mark.parametrize(("base", "warm"), [(299_989, 2), (299_990, 1), (299_991, 1)])
def test_it_is_warmed_up_for_300_microseconds(host: Host, base: int, warm: int) -> None:
    """After the first operation and a look at the clock, 10 ns, they are over or not."""
    done = host(host.library, base=base)
    assert done.stderr == f"{warm + 15} operations, {warm - 1 + 15} restores, status 5\n"


@pytest.mark.parametrize(
    ("step", "spread", "samples"), [(10, 399_903, 25), (10, 399_904, 20), (7, 399_928, 20)]
)
def test_it_is_repeated_for_20_milliseconds(host: Host, step: int, spread: int, samples: int) -> None:
    """20 samples, two looks at the clock and one of the processor's: 20,000,000 ns, 10 more, and 1 more."""
    (region,) = host.events(host.library, base=800_000, spread=spread, period=2, step=step)
    assert region["samples"] == samples


def test_what_costs_less_than_counting_costs_nothing(host: Host) -> None:
    (region,) = host.events(host.library, step=10, looks=404, later=0, base=0)
    assert (region["cycles"], region["wall_ns"], region["cycles_low"]) == (0, 0, -10)


@pytest.mark.parametrize(("base", "samples"), [(1000, 400), (1_000_000, 20)])
def test_an_operation_that_varies_is_repeated_until_a_limit(host: Host, base: int, samples: int) -> None:
    """Every second sample takes 1.3 times as long: at most 400, or as many as take 20 ms."""
    (region,) = host.events(host.library, base=base, spread=base * 3 // 10, period=2)
    assert region["samples"] == samples
    assert (region["cycles"], region["wall_ns"]) == (base * 1.15, base * 1.15)
    assert (region["cycles_low"], region["cycles_high"]) == (base, base * 1.3)


@pytest.mark.parametrize(
    ("base", "spread", "samples"), [(0, 0, 400), (1, 0, 15), (1000, 20, 15), (1000, 21, 400)]
)
def test_a_median_is_known_within_a_hundredth(host: Host, base: int, spread: int, samples: int) -> None:
    """Eight of the first 15 samples take `base`, the others more; what takes no time is never known."""
    (region,) = host.events(host.library, base=base, spread=spread, period=2)
    assert region["samples"] == samples


def test_the_interval_is_that_of_order_statistics(host: Host) -> None:
    (region,) = host.events(host.library, base=1000, spread=15)
    count = region["samples"]
    reach = 1.96 * math.sqrt(count) / 2
    assert count % 5 == 0 and reach > 0
    sorted_ = sorted(1000 + 15 * ((n + 50) % 3) for n in range(count))
    low, high = math.floor(count / 2 - reach) - 1, math.ceil(count / 2 + reach)
    assert region["cycles_low"] in {1000, 1015, 1030} and region["cycles_high"] in {1000, 1015, 1030}
    assert (region["cycles_high"] - region["cycles_low"]) / 2 / region["cycles"] <= 0.01
    assert (
        region["cycles_low"] <= sorted_[max(low, 0)] + 15
        and region["cycles_high"] >= sorted_[min(high, count - 1)] - 15
    )


def test_the_stack_is_measured_on_a_painted_one(host: Host) -> None:
    (region,) = host.events("--trace", host.library)
    assert region == {"event": "region", "cycles": 0, "stack": region["stack"], "trace": None}
    assert 5000 < region["stack"] < 5500
    done = host("--trace", host.library)
    assert done.stderr == "1 operations, 0 restores, status 5\n"
    (region,) = host.events("--trace", host.library, bare=1)
    assert region["stack"] <= 16, "what the measuring itself takes is taken off"
    (region,) = host.events("--trace", host.library, deep=900_000)
    assert 900_000 < region["stack"] < 900_500
    done = host("--trace", host.library, nostack=1)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "no memory for a stack\n")


# --- comparing libraries -------------------------------------------------------------------------------


def fnv(data: bytes) -> str:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def text(count: int) -> bytes:
    return bytes((i * 167 + (i >> 8) * 13) & 255 for i in range(count))


def test_libraries_are_timed_in_turns(host: Host) -> None:
    both = (host.library, f"{host.library}=known:3")
    first, second = host.events("--compare", "encrypt", "0120", "05", 700, 9, *both, base=1000)
    expected = {
        "event": "compared",
        "library": 0,
        "cycles": 1000,
        "cycles_low": 1000,
        "cycles_high": 1000,
        "cycles_least": 1000,
        "wall_ns": 1000,
        "samples": 9,
        "outliers": 0,
    }
    timed = ("cpu_load", "output", "processor_ns")
    assert {k: v for k, v in first.items() if k not in timed} == expected
    assert {k: v for k, v in second.items() if k not in timed} == {**expected, "library": 1}
    assert first["processor_ns"] > 0 and second["processor_ns"] > 0
    assert first["cpu_load"] == pytest.approx(0.5, abs=0.02)
    # It is one library for both: the adapter's choice comes last before the set-up of the second.
    assert first["output"] == fnv(bytes((b + 0x21 + 5) & 255 for b in text(700)))
    assert second["output"] == fnv(bytes((b + 0x21 + 103 + 5) & 255 for b in text(700)))


@pytest.mark.parametrize("bytes_", [1, 64, 65, 1000])
def test_decryption_starts_from_what_the_first_encrypted(host: Host, bytes_: int) -> None:
    (told,) = host.events("--compare", "decrypt", "07", "-", bytes_, 1, host.library)
    assert told["output"] == fnv(text(bytes_)) and told["samples"] == 1
    (told,) = host.events("--compare", "encrypt", "07", "-", bytes_, 1, f"{host.library}=known")
    assert told["output"] == fnv(bytes((b + 14 + 100) & 255 for b in text(bytes_)))


def test_the_set_up_may_be_what_is_timed(host: Host) -> None:
    (told,) = host.events("--compare", "setup", "07", "-", 16, 4096, host.library, spread=500)
    assert (told["cycles"], told["cycles_least"], told["samples"]) == (1500, 1000, 4096)
    assert told["output"] == fnv(bytes(16)) or told["output"]


def test_figures_of_few_samples(host: Host) -> None:
    """The n-th of them takes 3 n longer: set-up is 0, two rounds to warm up 1 and 2."""
    for rounds in (*range(1, 9), 15, 16, 30, 45, 61, 100, 201, 1000):
        command = ("--compare", "encrypt", "07", "-", 16, rounds, host.library)
        (told,) = host.events(*command, spread=3, period=997)
        times = sorted(1000 + (n % 997) * 3 for n in range(3, 3 + rounds))
        middle = rounds // 2
        median = times[middle] if rounds % 2 else (times[middle - 1] + times[middle]) / 2
        reach = 1.96 * math.sqrt(rounds) / 2
        low, high = math.floor(rounds / 2 - reach) - 1, math.ceil(rounds / 2 + reach)
        shown = float(f"{median:.0f}")
        assert (told["cycles"], told["wall_ns"], told["cycles_least"]) == (shown, shown, times[0])
        assert (
            told["cycles_low"] == times[max(low, 0)] and told["cycles_high"] == times[min(high, rounds - 1)]
        )


def test_an_outlier_is_far_above_the_median(host: Host) -> None:
    """Of 30 samples 10 each are at 1000, 1000 + s and 1000 + 2 s; three are later."""
    for spread, spike, outliers in (
        *((0, 0, 0), (1, 0, 0), (600, 0, 0)),
        *((0, 5, 0), (0, 6, 3), (0, 500, 3)),
        *((2, 12 - 4, 0), (2, 13 - 4, 3), (600, 3000 - 600, 0), (600, 3001 - 600, 3)),
    ):
        command = ("--compare", "encrypt", "07", "-", 16, 30, host.library)
        (told,) = host.events(*command, spread=spread, every=9, spike=spike)
        assert told["outliers"] == outliers, (spread, spike)


def test_no_time_at_all_has_no_load(host: Host) -> None:
    (told,) = host.events("--compare", "encrypt", "07", "-", 16, 3, host.library, step=0, base=0)
    assert (told["cpu_load"], told["cycles"]) == (1, 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), USAGE),
        (("--nonesuch",), USAGE),
        (("--events",), USAGE),
        (("--events", "88", "x.so"), "--events: Bad file descriptor"),
        (("none.so",), f"none.so: {NONE}"),
        (("{half}",), "{half}: has no hal_host_run"),
        (
            ("--compare", "encrypt", "07", "-", "16", "1"),
            f"encrypt: {NONE}",
        ),
        (("--compare", "encrypt", "07", "-", "16", "0", "{library}"), LIMITS),
        (("--compare", "encrypt", "07", "-", "16", "4097", "{library}"), LIMITS),
        (("--compare", "encrypt", "07", "-", "0", "1", "{library}"), LIMITS),
        (("--compare", "encrypt", "07", "-", "16", "1", "{half}"), "{half}: has no cipher_context_bytes"),
        (
            ("--compare", "encrypt", "07", "-", "16", "1", "{half}=known"),
            "{half}=known: has no adapter_select",
        ),
        (
            ("--compare", "encrypt", "07", "-", "16", "1", "{library}=other"),
            "{library}=other: has no such cipher: adapter_select answered 0",
        ),
        (("--compare", "encrypt", "0708", "-", "16", "1", "{library}"), "{library}: cipher_setup answered 1"),
        (("--compare", "encrypt", "07", "010203", "16", "1", "{library}"), "{library}: encrypt answered 2"),
        (
            ("--compare", "decrypt", "07", "010203", "16", "1", "{library}"),
            "{library}: cipher_encrypt answered 2",
        ),
    ],
)
def test_what_cannot_be_done_is_said(host: Host, arguments: tuple[str, ...], said: str) -> None:
    def filled(text: str) -> str:
        return text.format(half=host.half, library=host.library)

    done = host(*map(filled, arguments), badkey=2, badnonce=3)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", filled(said) + "\n")


def test_hexadecimal_ends_where_it_ends(host: Host) -> None:
    def output(key: str, nonce: str) -> str:
        (told,) = host.events("--compare", "encrypt", key, nonce, 20, 1, host.library)
        return str(told["output"])

    def expected(added: int) -> str:
        return fnv(bytes((b + added) & 255 for b in text(20)))

    assert output("0aFf", "10") == expected(0x0A + 0xFF + 0x10)
    assert output("0a5", "1") == expected(0x0A * 2)
    assert output("0azz10", "-") == expected(0x0A * 2)
    assert output("01" + "00" * 253 + "02" + "70", "-") == expected(3), "255 bytes at most"


def test_a_nonce_has_64_bytes_at_most(host: Host) -> None:
    for given, counted in ((63, 63), (64, 64), (65, 64), (70, 64)):
        command = ("--compare", "encrypt", "07", "05" * given, 16, 1, host.library)
        assert host(*command, badnonce=counted).stderr.endswith("encrypt answered 2\n")
        (told,) = host.events(*command, badnonce=counted + 1)
        assert told["samples"] == 1


def test_events_go_where_they_are_told(host: Host) -> None:
    reader, writer = os.pipe()
    done = subprocess.run(
        [host.program, "--events", str(writer), host.library],
        env={"MOTECRYPT_HOST_COUNTER": "ns"},
        capture_output=True,
        timeout=DEADLINE_S,
        check=False,
        pass_fds=[writer],
    )
    os.close(writer)
    assert done.stdout == b"" and json.loads(os.read(reader, 10_000))["event"] == "region"
    os.close(reader)


@pytest.mark.parametrize("how", [(), ("--trace",)])
def test_a_region_is_told_while_the_firmware_goes_on(host: Host, how: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    running = subprocess.Popen(
        [host.program, "--events", str(writer), *how, host.library],
        env={"MOTECRYPT_HOST_COUNTER": "ns", "WAITS": "1"},
        stdin=subprocess.PIPE,
        pass_fds=[writer],
    )
    os.close(writer)
    with ended_in_time(running):
        assert select.select([reader], [], [], DEADLINE_S / 2)[0]
        assert json.loads(os.read(reader, 10_000))["event"] == "region"
        running.communicate(timeout=DEADLINE_S / 2)
        assert running.returncode == 6
    os.close(reader)
