"""What is stored of a cell, field by field, from figures made up here; nothing is built or run."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from dataclasses import MISSING, asdict, fields, replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt import __version__
from motecrypt.base.errors import FailureKind
from motecrypt.base.model import (
    Cell,
    Compiler,
    Current,
    Implementation,
    Measurement,
    Memory,
    MessageLengths,
    Placement,
    Shortfall,
    Toolchain,
    ToolchainTarget,
    implementation_name,
)
from motecrypt.build.toolchain import BuildError, Firmware
from motecrypt.build.toolchain.sizes import Sizes, object_sizes
from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import oracle
from motecrypt.measuring.bench import inputs, passes, record
from motecrypt.measuring.bench.keys import BENCH_VERSION, CellKeys, cell_keys
from motecrypt.measuring.bench.passes import CellFigures, WrongOutput, run_passes, starts_of
from motecrypt.measuring.bench.plan import Job, group
from motecrypt.measuring.bench.record import Trouble, measurement
from motecrypt.measuring.bench.task import _misfit, _too_long
from motecrypt.results import Results, store
from motecrypt.simulate.runners import Options, Region
from motecrypt.simulate.runners.fake import FakeSession

CATALOG = Catalog.load()
UNO = replace(CATALOG.device("uno"), clock_hz=8_000_000)
CIPHER = CATALOG.cipher("aes128-cbc")
BODY = next(b for b in CATALOG.implementations_of("aes128-cbc", "uno") if b.library == "motecrypt")
RUN = ("none", 128, 32, 0)


def test_a_results_file_is_waited_for_and_read_within_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "time", SimpleNamespace(monotonic=lambda: 5.0, thread_time=lambda: 1000.0))
    opened: dict[object, Any] = {}
    connect = sqlite3.connect

    def connected(path: Path | str, **settings: Any) -> sqlite3.Connection:
        opened[path] = settings.get("timeout")
        return connect(path, **settings)

    monkeypatch.setattr(store.sqlite3, "connect", connected)
    with Results(tmp_path / "results.db") as results:
        assert results._deadline == 1060.0 and opened[results.path] == 30.0
    assert store._HINTS[sqlite3.SQLITE_BUSY] == "another process has held it for 30 s; try again"


# --- the records of all directories ----------------------------------------------------------------------


def defaults(record: Any) -> dict[str, Any]:
    return {f.name: f.default for f in fields(record) if f.default is not MISSING}


def test_what_records_hold_where_nothing_is_told() -> None:
    assert defaults(Measurement) == {"flags_asked": "", "toolchain": "", "system_toolchain": True}
    assert defaults(Compiler) == {
        **dict.fromkeys(("linker", "root", "toolchain"), ""),
        "shared": False,
        "compile_flags": (),
    }
    assert defaults(Cell) == {
        "ad_bytes": 0,
        "placement": "flash",
        "cache": "none",
        "flags": (),
        "toolchain": "",
    }
    assert defaults(Implementation) == {
        **dict.fromkeys(("placements", "c_flags", "best_on"), ()),
        **dict.fromkeys(("key_bytes_measured", "key_bytes_allowed"), 16),
        "cores": ("*",),
        "operations": ("setup", "encrypt", "decrypt"),
        "fetched": False,
        "note": "",
        "protection": None,
        "timing": "",
        "multiplies": False,
    }
    assert defaults(Placement) == {"caches": ("none",), "defines": (), "link_flags": (), "tables": ""}
    made = Measurement(**{**recorded(), "extra": {"transient": 1, "shortfall": None}})
    assert made.transient is True and made.shortfall is None and replace(made, extra={}).transient is False


def test_which_lengths_and_addresses_there_are() -> None:
    lengths = MessageLengths(8, 24, 8)
    assert [n for n in range(40) if lengths.allows(n)] == [8, 16, 24]
    assert MessageLengths() == MessageLengths(0, 65535, 1)
    memory = Memory(bytes=4, address=10, span=6)
    assert [n for n in range(30) if memory.holds(n)] == [10, 11, 12, 13, 14, 15]


def test_an_implementation_is_for_cores_and_best_on_some() -> None:
    body = replace(BODY, cores=("avr*", "cortex-m0"), best_on=("avr5", "x?"))
    cores = ("avr5", "avr51", "cortex-m0", "cortex-m0plus", "AVR5", "x1", "x12")
    assert [core for core in cores if body.runs_on(core)] == ["avr5", "avr51", "cortex-m0"]
    assert [core for core in cores if body.best_on_core(core)] == ["avr5", "x1"]
    assert implementation_name("ours", "default", "fast") == "ours/fast"
    assert implementation_name("ours", "a", "") == "ours/a"
    assert implementation_name("ours", "e", "fast") == "ours/e/fast"


def test_what_compiles_assembles_and_links() -> None:
    gcc = Compiler("/x/gcc", ("-m",), ("-O",), ("-l",), ("-D",))
    clang = replace(gcc, command="clang-15", linker="gcc", compile_flags=("-c",))
    assert (gcc.link_command, clang.link_command) == ("/x/gcc", "gcc")
    for name, ours, theirs in (
        ("f.c", ("/x/gcc", ()), ("clang-15", ("-c",))),
        ("f.S", ("/x/gcc", ()), ("gcc", ())),
        ("f.Z", ("/x/gcc", ()), ("clang-15", ("-c",))),
        ("f.A", ("/x/gcc", ()), ("clang-15", ("-c",))),
    ):
        assert (gcc.compiling(Path(name)), clang.compiling(Path(name))) == (ours, theirs)
    for command, is_clang in (("clang", True), ("/x/clang-15", True), ("/clang/gcc", False), ("gcc", False)):
        assert replace(gcc, command=command).is_clang is is_clang
    names = ("b-gcc", "a-gcc", "c-gcc")
    targets = tuple(ToolchainTarget(name, name, "", "", (), (), (), ()) for name in names)
    toolchain = Toolchain("t", "T", "r", "s", Path(), targets)
    for name in names:
        found = toolchain.target_for(name)
        assert found is not None and found.replaces == name
    assert [toolchain.target_for(name) for name in ("", "a", "z")] == [None] * 3


def test_what_a_device_is_and_draws() -> None:
    for runner in ("host", "board", "arm", "fake", "simavr", "a", "c", "z"):
        assert replace(UNO, runner=runner).simulated is (runner not in ("host", "board"))
    states = ("idle", "active", "sleep")
    device = replace(UNO, currents=tuple(Current(state, 1.0, "", "") for state in states))
    for state in states:
        found = device.current(state)
        assert found is not None and found.state == state
    assert [device.current(state) for state in ("", "b", "z")] == [None] * 3


def test_a_shortfall_is_told_and_kept() -> None:
    shortfall = Shortfall("flash", 1_000_000, 32_768)
    assert (shortfall.missing, shortfall.text) == (967_232, "needs 1,000,000 of 32,768 bytes of flash")
    assert Shortfall("ram", 2, 0).text == "needs 2 of 0 bytes of RAM"
    assert Shortfall.from_json({"memory": "ram", "needed": 1, "available": 0}) == Shortfall("ram", 1, 0)
    assert Shortfall.from_json({"memory": "ram", "needed": 0, "available": 1}) == Shortfall("ram", 0, 1)
    for wrong in ({"needed": -1}, {"available": -1}, {"needed": True}, {"available": False}, {"memory": 1}):
        assert Shortfall.from_json({"memory": "ram", "needed": 1, "available": 1, **wrong}) is None
    assert Shortfall.from_json(5) is None


def job(**changes: Any) -> Job:
    made = Job(UNO, CIPHER, BODY, "flash", (), (RUN,), threading.Event(), "key")
    return replace(made, **changes)


def firmware(name: str, flash: int, ram: int, eeprom: int, own: int = 0) -> Firmware:
    return Firmware(
        Path(name), name, f"hash of {name}", "cc", "", Sizes(flash, ram, eeprom), Sizes(own, 0, 0), 7
    )


@pytest.fixture(autouse=True)
def no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    class Runner:
        @staticmethod
        def identity(device: object) -> str:
            return "a runner"

    monkeypatch.setattr(record, "runner_of", lambda name: Runner)
    monkeypatch.setattr(record, "identity", lambda command: f"version of {command}")


FIGURES = CellFigures(
    cycles=(500, 100, 300, 200),
    stack_bytes=40,
    painted_stack_bytes=44,
    timing_varies=True,
    exact=True,
    extra={"instructions": 90},
)


def recorded(figures: CellFigures | None = FIGURES, trouble: Trouble | None = None) -> dict[str, Any]:
    one = job()
    cell = one.cell("encrypt", RUN)
    made = measurement(
        one, cell, firmware("f", 1000, 90, 8, own=700), firmware("e", 400, 30, 3), figures, trouble
    )
    assert made.identity == cell.identity and made.implementation == BODY.name
    return asdict(made)


def test_every_field_of_a_measurement() -> None:
    made = recorded()
    told = datetime.fromisoformat(made.pop("measured_at"))
    assert told.utcoffset() is not None and told.microsecond == 0
    assert made == {
        "device": "uno",
        "library": BODY.library,
        "configuration": BODY.configuration,
        "cipher": "aes128-cbc",
        "variant": BODY.variant,
        "key_bits": 128,
        "operation": "encrypt",
        "message_bytes": 32,
        "ad_bytes": 0,
        "tag_bytes": 0,
        "placement": "flash",
        "cache": "none",
        "cycles_min": 100,
        "cycles_median": 200,  # the lower of the two in the middle: a figure that was seen
        "cycles_max": 500,
        "inputs": 4,
        "timing_varies": True,
        "time_us": 25.0,  # 200 cycles at 8 MHz
        "flash_bytes": 600,
        "flash_symbol_bytes": 700,
        "ram_bytes": 60,
        "eeprom_bytes": 5,
        "stack_bytes": 40,
        "status": "ok",
        "reason": "",
        "compiler": f"version of {UNO.compiler.command}",
        "flags": " ".join((*UNO.compiler.machine_flags, *UNO.compiler.flags, *BODY.c_flags)),
        "runner": "a runner",
        "cycles_exact": True,
        "elf_sha256": "hash of f",
        "motecrypt_version": __version__,
        "extra": {"instructions": 90, "painted_stack_bytes": 44},
        "flags_asked": "",
        "toolchain": "",
        "system_toolchain": True,
    }


def test_a_cell_without_figures_keeps_its_sizes_and_its_reason() -> None:
    shortfall = Shortfall("ram", 3000, 2048)
    trouble = Trouble(
        "fault", "r" * 600, FailureKind.STACK, transient=True, shortfall=shortfall, cause="c" * 600
    )
    made = recorded(None, trouble)
    none = ("cycles_min", "cycles_median", "cycles_max", "timing_varies", "time_us", "stack_bytes")
    assert [made[name] for name in none] == [None] * len(none)
    assert (made["inputs"], made["cycles_exact"]) == (0, False)
    assert (made["flash_bytes"], made["ram_bytes"], made["eeprom_bytes"]) == (600, 60, 5)
    assert (made["status"], made["reason"]) == ("fault", "r" * 500)
    assert made["extra"] == {
        "failure": "stack",
        "transient": True,
        "cause": "c" * 500,
        "shortfall": {"memory": "ram", "needed": 3000, "available": 2048},
    }


def test_without_a_firmware_there_are_no_sizes() -> None:
    one = job(flags=("-O3",))
    cell = one.cell("setup", RUN)
    for built, base in ((None, firmware("e", 4, 3, 2)), (firmware("f", 9, 9, 9, 5), None), (None, None)):
        made = measurement(one, cell, built, base, None, Trouble("build-failed", "why", FailureKind.REFUSED))
        sizes = ("flash_bytes", "flash_symbol_bytes", "ram_bytes", "eeprom_bytes")
        assert [getattr(made, name) for name in sizes] == [None] * 4
        assert made.elf_sha256 == ("hash of f" if built else "")
        assert (
            made.flags_asked == "-O3" and made.flags.endswith("-O3") and made.extra == {"failure": "refused"}
        )


def test_time_goes_by_the_counters_own_rate_where_a_runner_says_it() -> None:
    for rate, expected in ((2.5, 0.08), (0, 25.0), ("x", 25.0), (None, 25.0)):
        made = recorded(replace(FIGURES, extra={"ticks_per_ns": rate}))  # type: ignore[dict-item]
        assert made["time_us"] == expected
    assert recorded(replace(FIGURES, cycles=(1, 3)))["time_us"] == 0.125
    assert recorded(replace(FIGURES, cycles=()))["time_us"] is None


def test_trouble_is_of_what_was_raised() -> None:
    error = BuildError("why", kind=FailureKind.INTERRUPTED, transient=True, cause="line 3")
    assert Trouble.of("build-failed", error) == Trouble(
        "build-failed", "why", FailureKind.INTERRUPTED, transient=True, cause="line 3"
    )
    wrong = WrongOutput("what")
    assert Trouble.of("w", wrong) == Trouble("w", "what", FailureKind.WRONG_BYTES)
    assert Trouble.of("w", wrong, transient=True).transient
    assert Trouble.of("w", wrong).stored() == {"failure": "wrong-bytes"}


# --- running -----------------------------------------------------------------------------------------------


class Told(FakeSession):
    """Answers as the oracle does, and uses the given times of regions."""

    def __init__(self, **settings: Any) -> None:
        encrypt = oracle(CIPHER)
        known = {}

        def forwards(key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
            made = encrypt(key, nonce, ad, message)
            known[made[0]] = message
            return made

        super().__init__(forwards, lambda key, nonce, ad, message: (known[message], b""), **settings)

    def regions(self) -> list[Region]:
        extra = {"instructions": 1, "misses": 4}
        return [replace(r, stack_bytes=r.cycles % 7, extra=extra) for r in super().regions()]


def ran(monkeypatch: pytest.MonkeyPatch, opened: list[Options], **settings: Any) -> dict[Any, CellFigures]:
    class Runner:
        COUNTS_WHILE_TRACING = True

        @staticmethod
        def open_session(device: object, elf: Path, data_end: int, options: Options) -> FakeSession:
            opened.append(options)
            return Told(**settings)

    overhead = {"setup": 10, "encrypt": 20, "decrypt": 30}
    monkeypatch.setattr(passes, "runner_of", lambda name: Runner)
    monkeypatch.setattr(
        passes,
        "overhead_of",
        lambda *_: {o: Region(c, extra={"instructions": 1}) for o, c in overhead.items()},
    )
    return dict(run_passes(job(), starts_of(UNO, firmware("f", 0, 0, 0)), "none", 128, 32, 0))


def test_figures_are_the_regions_less_the_cost_of_measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Options] = []
    # Runs 1, 2, 3 are setup, encrypt and decrypt of the first input, and so on.
    found = ran(monkeypatch, opened, cycles=lambda run: 1000 + run)
    assert opened == [Options(trace=True, cache="none", max_cycles=20_000_000)]
    assert list(found) == ["setup", "encrypt", "decrypt"]
    for number, (operation, cost) in enumerate((("setup", 10), ("encrypt", 20), ("decrypt", 30)), start=1):
        counted = [1000 + 3 * index + number for index in range(32)]
        assert found[operation] == CellFigures(
            cycles=tuple(c - cost for c in counted),
            stack_bytes=6,
            painted_stack_bytes=0,
            timing_varies=True,
            exact=True,
            extra={"instructions": 0, "misses": 4},
        )


def test_constant_cycles_do_not_vary(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ran(monkeypatch, [], cycles=lambda run: 100)
    assert {figures.timing_varies for figures in found.values()} == {False}
    assert found["decrypt"].cycles == (70,) * 32


def test_a_wrong_byte_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WrongOutput, match=r"^byte 0 is 0x..?, the oracle gives 0x.."):
        ran(monkeypatch, [], fault="flips")


def test_the_first_difference_is_told() -> None:
    assert passes.difference(b"\x01\x02\x03", b"\x01\x0a\x0b") == "byte 1 is 0x0a, the oracle gives 0x02"
    assert passes.difference(b"abc", b"ab") == "2 bytes, the oracle gives 3"


def test_medians_of_what_else_runners_say() -> None:
    regions = [
        Region(30, extra={"instructions": 7, "a": 5, "text": "x"}),
        Region(10, extra={"instructions": 9, "a": 1}),
        Region(20, extra={"instructions": 8, "a": 2, "b": 3}),
        Region(40, extra={"instructions": 6}),
    ]
    assert passes._median_extra(regions) == {"a": 2, "b": 3, "instructions": 7}
    assert passes._median_counts(regions, Region(0, extra={"instructions": 2})) == {"instructions": 6}


def test_inputs_follow_from_the_name_and_the_lengths() -> None:
    made = inputs.draw("x", 3, 128, 12, 5, 9)
    assert [len(part) for part in (made.key, made.nonce, made.ad, made.message)] == [16, 12, 5, 9]
    seen = {
        inputs.draw(*case).key
        for case in (
            *(("x", 3, 128, 12, 5, 9), ("y", 3, 128, 12, 5, 9), ("x", 4, 128, 12, 5, 9)),
            *(("x", 3, 192, 12, 5, 9), ("x", 3, 128, 13, 5, 9), ("x", 3, 128, 12, 6, 9)),
            ("x", 3, 128, 12, 5, 10),
        )
    }
    assert len(seen) == 7
    # SHAKE-256 of "motecrypt inputs 1|x|3|128|12|5|9", worked out with another library.
    from Crypto.Hash import SHAKE256

    stream = SHAKE256.new(b"motecrypt inputs 1|x|3|128|12|5|9").read(42)
    assert made.key + made.nonce + made.ad + made.message == stream and inputs.COUNT == 32


# --- keys and jobs -----------------------------------------------------------------------------------------


def cells() -> list[Cell]:
    plain = Cell("uno", BODY, "encrypt", 128, 32)
    changes: tuple[dict[str, Any], ...] = (
        *({"device": "pico"}, {"operation": "decrypt"}, {"key_bits": 192}, {"message_bytes": 48}),
        *({"ad_bytes": 1}, {"placement": "ram"}, {"cache": "cold"}, {"flags": ("-O3",)}),
        {"implementation": replace(BODY, defines=("X=1",))},
        {"implementation": replace(BODY, variant=BODY.variant + "x")},
        {"implementation": replace(BODY, configuration="other")},
    )
    return [plain, *(replace(plain, **change) for change in changes)]


def test_a_key_changes_with_all_that_a_cell_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from motecrypt.measuring.bench import keys

    monkeypatch.setattr(keys, "key_of", lambda request, _: f"{request!r}")
    found = cell_keys(CATALOG, cells())
    assert list(found) == cells() and len(set(found.values())) == len(found)
    assert all(found[cell] == CellKeys(CATALOG)(cell) for cell in cells())
    other = replace(CATALOG, devices={**CATALOG.devices, "uno": replace(CATALOG.device("uno"), clock_hz=1)})
    assert CellKeys(other)(cells()[0]) != found[cells()[0]] and BENCH_VERSION == 2
    uno = CATALOG.device("uno")
    turned = replace(uno, simulator=dict(reversed([*uno.simulator.items()])))
    assert [*turned.simulator] != [*uno.simulator]
    other = replace(CATALOG, devices={**CATALOG.devices, "uno": turned})
    with monkeypatch.context() as patch:
        patch.setattr(keys, "key_of", lambda *_: "built")
        assert CellKeys(other)(cells()[0]) == CellKeys(CATALOG)(cells()[0])

    def fail(*_: object) -> str:
        raise BuildError("no compiler")

    monkeypatch.setattr(keys, "key_of", fail)
    assert CellKeys(CATALOG)(cells()[0]) != found[cells()[0]]


def test_an_oracle_counts_by_what_is_in_its_file() -> None:
    from motecrypt.measuring.bench import keys

    text = (CIPHER.folder / CIPHER.oracle).read_bytes()
    assert keys._oracle_hash(CIPHER) == hashlib.sha256(text).hexdigest()
    assert keys._oracle_hash(replace(CIPHER, oracle="none.py")) == "missing"


def test_cells_of_one_firmware_are_one_job() -> None:
    plain = Cell("uno", BODY, "encrypt", 128, 32)
    wanted = [
        plain,
        replace(plain, operation="decrypt"),
        replace(plain, message_bytes=48, ad_bytes=3, cache="cold"),
        replace(plain, flags=("-O3",)),
        replace(plain, device="pico", placement="ram"),
    ]
    stop = threading.Event()
    made = group(CATALOG, wanted, stop)
    assert [(j.device.name, j.placement, j.flags, j.runs) for j in made] == [
        ("uno", "flash", (), (("none", 128, 32, 0), ("cold", 128, 48, 3))),
        ("uno", "flash", ("-O3",), (("none", 128, 32, 0),)),
        ("pico", "ram", (), (("none", 128, 32, 0),)),
    ]
    assert job() == job(), "whoever waits for it"
    assert all(j.cipher is CIPHER and j.implementation == BODY and j.stop is stop for j in made)
    assert made[0].title == f"uno aes128-cbc {BODY.name}"
    assert made[0].cell("encrypt", made[0].runs[0]) == plain
    assert made[0].cell("encrypt", made[0].runs[1]) == wanted[2] and made[2].cell("encrypt", RUN) == wanted[4]


# --- what does not fit -------------------------------------------------------------------------------------


def test_a_firmware_larger_than_a_memory() -> None:
    device = replace(UNO, memory={"flash": Memory(100, 0, 200), "ram": Memory(50, 300, 100)})
    assert _misfit(device, firmware("f", 100, 50, 999)) is None
    for flash, ram, kept, told in (
        (101, 50, Shortfall("flash", 101, 100), "does not fit: needs 101 of 100 bytes of flash"),
        (100, 1051, Shortfall("ram", 1051, 50), "does not fit: needs 1,051 of 50 bytes of RAM"),
    ):
        assert _misfit(device, firmware("f", flash, ram, 0)) == Trouble(
            "does-not-fit", told, FailureKind.DOES_NOT_FIT, shortfall=kept
        )
    assert Shortfall("ram", 60, 50).missing == 10
    bare = replace(UNO, memory={"flash": Memory(100, 0, 200)})
    assert _misfit(bare, firmware("f", 100, 10**9, 0)) is None


def test_inputs_longer_than_the_firmware_holds() -> None:
    one = job(device=replace(UNO, bench={"message": 64, "ad": 16, "key": 32}))
    stores = (("message", "a message"), ("ad", "associated data"), ("key", "a key"))

    def asked(*needed: int) -> list[tuple[str, str, int]]:
        return [(*store, bytes_) for store, bytes_ in zip(stores, needed, strict=True)]

    assert _too_long(one, asked(64, 16, 32)) is None
    for lengths, name, needed, held, what in (
        ((65, 0, 16), "message", 65, 64, "a message of 65 bytes"),
        ((64, 17, 16), "ad", 17, 16, "associated data of 17 bytes"),
        ((64, 16, 33), "key", 33, 32, "a key of 33 bytes"),
    ):
        told = f"{what}: the firmware on uno holds {held}"
        assert _too_long(one, asked(*lengths)) == Trouble(
            "does-not-fit", told, FailureKind.DOES_NOT_FIT, shortfall=Shortfall(name, needed, held)
        )


MAP = """
 .text          0x00000000       0x99 too/early.o
Linker script and memory map
 .text          0x00000100       0x10 a/mine.o
 .text          0x00000000       0x11 a/dropped_mine.o
 .text.long_name_of_a_function
                0x00000110       0x20 a/mine.o
 .rodata        0x00000130        0x4 a/theirs.o
 .rodata        0x00000134        0x8 x.ltrans0.ltrans.o
 .data          0x00800100        0x2 a/mine.o
 .bss           0x00800102        0x6 a/mine.o
 COMMON         0x00800108        0x1 a/mine.o
 .noinit        0x00800109        0x3 a/mine.o
 .eeprom        0x00810000        0x5 a/mine.o
 .debug_info    0x00000200      0x100 a/mine.o
 .text          0x00000000       0x40 a/mine.o
"""


def test_sizes_of_objects_from_a_map() -> None:
    memory = {"ram": Memory(2048, 0x800100, 0x1000), "eeprom": Memory(1024, 0x810000, 0x1000)}
    assert object_sizes(MAP, {"mine.o"}, memory) == Sizes(
        flash=0x10 + 0x20 + 0x8 + 0x2, ram=0x2 + 0x6 + 0x1 + 0x3, eeprom=0x5
    )
    assert object_sizes(MAP, {"theirs.o"}, memory) == Sizes(flash=0x4 + 0x8, ram=0, eeprom=0)
    assert object_sizes(MAP, {"mine.o"}, {}).ram == 0


# --- the results file --------------------------------------------------------------------------------------


def stored(number: int, **changes: Any) -> Measurement:
    made = recorded()
    return Measurement(**{**made, "measured_at": f"2026-01-0{number}T00:00:00+00:00", **changes})


def test_stored_measurements_come_back_whole_newest_first(tmp_path: Path) -> None:
    made = {
        "a": stored(1, flags_asked="-O3", extra={"z": [1, {"y": None}], "a": 1.5}),
        "b": stored(3, cycles_exact=False, timing_varies=None, time_us=None, cycles_min=None),
        "c": stored(2, device="pico", timing_varies=False),
        "d": stored(2, cipher="aes128-cbb"),
    }
    with Results(tmp_path / "r.db") as results:
        results.store(made)
        assert {key: results.measurement(key) for key in made} == made
        assert results.measurements() == [made[key] for key in "bdca"]
        assert results.measurements(device="pico", cipher=None, library=[]) == [made["c"]]
        assert results.measurements(key_bits=128, device=["pico", "uno"], flags_asked="-O3") == [made["a"]]
        assert results.distinct("device") == {"uno", "pico"}
        results.store({"a": made["b"], "b": stored(9, extra={"transient": True})})
        assert results.measurement("a") == made["b"] == results.measurement("b")
