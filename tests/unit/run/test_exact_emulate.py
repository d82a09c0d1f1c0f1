"""The commands of free runs, how runs end, and how counts become profiles. Runs no simulator."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.catalog import Catalog
from motecrypt.cli._output import show
from motecrypt.present.runs.profile import profile_view
from motecrypt.simulate.emulate import profiling, run
from motecrypt.simulate.emulate.conformance import watch_list
from motecrypt.simulate.emulate.images import Image, Segment
from motecrypt.simulate.emulate.profiling import (
    START_UP,
    CallNode,
    FunctionCost,
    LineCost,
    Profile,
    StackOverTime,
)
from motecrypt.simulate.emulate.run import ChipSettings, Ended, FreeRun, Uart
from motecrypt.simulate.emulate.symbols import Function, Inlined, Symbols

CATALOG = Catalog.load()
UNO, PICO, HOST = (CATALOG.device(name) for name in ("uno", "pico", "host"))
ENDED = Ended("stop", "", 1, 1.0, 1, 0, 0, ())

# --- commands ----------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def no_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "driver", lambda name: f"<{name}>")
    monkeypatch.setattr(
        run,
        "arm_command",
        lambda device, elf, options: [
            "<arm>",
            "--max-cycles",
            "9",
            "--vectors",
            "0",
            "--events",
            "{events}",
            elf,
        ],
    )


def image(*segments: Segment, **changes: Any) -> Image:
    return replace(Image(Path("f"), segments, None, 0, None, 0, None), **changes)


CODE = Segment(0, b"code")
QUIET = FreeRun(max_seconds=None, max_output=None)


def command(made: Image, how: FreeRun, scratch: Path, device: Any = UNO) -> list[str]:
    return [str(part).replace(f"{scratch}/", "") for part in run.command(made, device, how, scratch)]


def test_the_unos_command(tmp_path: Path) -> None:
    device = replace(UNO, clock_hz=8_000_000)
    base = ["<avr_run>", "--mcu", UNO.simulator["mcu"], "--clock", "8000000", "--image", "flash", "--base"]
    events = ["--events", "{events}", "--start"]
    stores = ["--store", "0x3e", "--store", "0x4a", "--store", "0x4b"]  # the general-purpose registers
    notes = ["--notes", "notes"]
    assert command(image(CODE), QUIET, tmp_path, device) == [*base, "0x0", *events, "0x0", *stores, *notes]
    assert (tmp_path / "notes").read_text() == watch_list(UNO.chip)
    assert (tmp_path / "flash").read_bytes() == b"code"
    for at, start in ((0x7000, 0x7000), (0x7800, 0x7800), (0x7C00, 0x7C00), (0x7E00, 0x7E00), (0x7E02, 0)):
        made = image(Segment(at, b"boot"))
        assert command(made, QUIET, tmp_path, device) == [
            *base,
            hex(at),
            *events,
            hex(start),
            *stores,
            *notes,
        ]
    made = image(CODE, Segment(0x810000, b"kept"), data_end=0x800123)
    assert command(made, QUIET, tmp_path, device) == [
        *(*base, "0x0", *events, "0x0", *stores, "--data-end", "0x123", "--data", "eeprom", *notes),
    ]
    assert (tmp_path / "eeprom").read_bytes() == b"kept"
    others = [Segment(at, b"x") for at in (0x800000, 0x80FFFF, 0x820000)]  # variables and fuses
    command(image(CODE, Segment(0x81FFFF, b"last"), *others), QUIET, tmp_path)
    assert [(tmp_path / name).read_bytes() for name in ("flash", "eeprom")] == [b"code", b"last"]
    with pytest.raises(InputError, match=r"^f: has nothing for the flash$"):
        command(image(Segment(0x810000, b"kept")), QUIET, tmp_path)


def test_what_is_asked_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = command(image(CODE), QUIET, tmp_path)
    assert command(image(CODE), FreeRun(), tmp_path)[len(plain) :] == [
        *("--max-cycles", str(10 * UNO.clock_hz), "--max-output", "1048576"),
    ]
    every = FreeRun(
        until="ok",
        max_seconds=0.5,
        max_output=7,
        uart=Uart(port="pty", resets_on_open=True, real_time=True, stamps=True, input=0),
        chip=ChipSettings(eeprom=Path("e"), millivolts=0),
        bare=True,
        profile=(Path("p"), Path("q")),
    )  # type: ignore[arg-type]
    assert command(image(CODE), every, tmp_path)[len(plain) :] == [
        *(
            "--max-cycles",
            str(UNO.clock_hz // 2),
            "--until",
            "ok",
            "--max-output",
            "7",
            "--pty",
            "pty",
            "--board",
        ),
        *("--eeprom", "e", "--adc", "0", "--profile", "p", "--functions", "q"),
        *("--stamps", "--real", "--input", "--bare"),
    ]
    there = tmp_path / "port"
    assert run._uart_options(Uart(port=str(there))) == ["--pty", str(there)]
    there.symlink_to("nowhere")
    assert run._uart_options(Uart(port=str(there))) == ["--port", str(there)]
    monkeypatch.chdir(tmp_path)
    for name, option in (("pty", "--pty"), ("a", "--port"), ("zz", "--port")):
        (tmp_path / name).write_text("")
        assert run._uart_options(Uart(port=name)) == [option, name]
    with pytest.raises(InputError, match=r"port: exists; a board needs a new path, or 'pty'$"):
        run._uart_options(Uart(port=str(there), resets_on_open=True))


def test_the_picos_command(tmp_path: Path) -> None:
    elf = tmp_path / "f.elf"
    whole = image(elf=elf)
    assert command(whole, QUIET, tmp_path, PICO) == [
        "<arm>",
        "--vectors",
        hex(PICO.simulator["vectors"]),
        "--events",
        "{events}",
        "f.elf",
        "--free",
    ]
    assert command(whole, FreeRun(max_output=None, max_seconds=2.5), tmp_path, PICO)[-2:] == [
        "--max-seconds",
        "2.5",
    ]
    vectors = PICO.simulator["vectors"]
    for before in (0, 16):
        flat = image(Segment(vectors - before, bytes(before) + b"STCKrst!more"))
        assert command(flat, QUIET, tmp_path, PICO)[-3:] == ["--ram-code", "image.elf", "--free"]
        own = Segment(vectors, struct.pack("<II", 0, 0x10000301))
        for code, hidden in (
            ((), False),
            (((0x10000300, 0x10000400),), False),
            (((0x10000400, 0x10000500),), True),
        ):
            described = command(replace(image(own, elf=elf), code=code), QUIET, tmp_path, PICO)
            assert ("--ram-code" in described) == hidden
        assert int.from_bytes((tmp_path / "image.elf").read_bytes()[24:28], "little") == int.from_bytes(
            b"rst!", "little"
        )
    for short in (
        Segment(vectors, b"STCKrst"),
        Segment(vectors + 1, b"12345678"),
        Segment(vectors - 4, b"1234"),
    ):
        with pytest.raises(
            InputError, match=rf"^f: has no vectors at {vectors:#x}, after the 256 bytes of boot2$"
        ):
            command(image(short), QUIET, tmp_path, PICO)
    pico2 = Catalog.load().device("pico2")
    start = pico2.memory["flash"].address
    # An RP2350 has no boot2: its block of an image says where the vectors are, here behind the file's end.
    words = (0xFFFFDED3, 0x10210142, 0x00000203, start + 0x400, 0x000003FF, 0, 0xAB123579)
    with pytest.raises(InputError, match=rf"^f: has no vectors at {start + 0x400:#x}$"):
        command(image(Segment(start, struct.pack("<7I", *words))), QUIET, tmp_path, pico2)
    stm32f4 = Catalog.load().device("stm32f4")
    with pytest.raises(InputError, match=r"^f: has no vectors at 0x8000000$"):
        command(image(Segment(0x08000004, b"1234")), QUIET, tmp_path, stm32f4)
    for option, how in (
        ("--board", FreeRun(uart=Uart(resets_on_open=True))),
        ("--eeprom", FreeRun(chip=ChipSettings(eeprom=Path("e")))),
        ("--millivolts", FreeRun(chip=ChipSettings(millivolts=0))),
    ):
        with pytest.raises(InputError, match=rf"^{option}: pico does not have it; it is for the UNO$"):
            command(whole, how, tmp_path, PICO)
    with pytest.raises(InputError, match=r"^host: it has no simulator; choose another --device$"):
        command(whole, QUIET, tmp_path, HOST)


# --- how runs end ------------------------------------------------------------------------------------------


TELL = """
import json, os, signal, sys, time
def tell(**event): os.write(int(sys.argv[1]), (json.dumps(event) + "\\n").encode())
"""


def driven(text: str, out: Any = None, **settings: Any) -> tuple[Ended, list[Any]]:
    """A program in a simulator's place: its events go to the descriptor that it is given."""
    said: list[Any] = []
    arguments: list[str | Path] = [sys.executable, "-c", TELL + text, "{events}"]
    given = print if out is None else out
    return run._drive(arguments, UNO, FreeRun(**settings), given, lambda *told: said.append(told)), said


def test_output_and_events_come_as_they_are_told() -> None:
    out: list[bytes] = []
    ended, said = driven(
        "tell(event='note', detail='n'); tell(event='port', detail='/p'); tell(event='region')\n"
        "os.write(1, b'out')\n"
        "tell(event='stop', detail='d', cycle=32000000, pc=5, stack=6, interrupts=7, more=8)",
        out.append,
    )
    assert (b"".join(out), said) == (b"out", [("note", "n"), ("port", "/p")])
    assert ended == Ended("stop", "d", 32_000_000, 32_000_000 / UNO.clock_hz, 6, 7, 5, ("n",), {"more": 8})
    short, _ = driven("tell(event='x', detail='', cycle=3, seconds=9.5)")
    assert short == Ended("x", "", 3, 9.5, None, 0, 0, (), {"seconds": 9.5})


def test_events_may_come_in_pieces() -> None:
    told = run._Told(None)
    for piece in (b'{"event":"no', b'te","detail":"a"}\n{"event":"note","detail":"b"}', b'\n{"event":"x"}\n'):
        told.take(piece)
    assert (told.notes, told.end) == (["a", "b"], {"event": "x"})


def test_a_simulator_that_ends_without_a_word_is_told() -> None:
    with pytest.raises(InputError, match=r"^last$"):
        driven("print('first', file=sys.stderr); print('last', file=sys.stderr)")
    with pytest.raises(InputError, match=r"^three$"):
        driven("print('one\\ntwo\\nthree', file=sys.stderr)")
    with pytest.raises(InputError, match=r"^the simulator ended with 3$"):
        driven("sys.exit(3)")
    with pytest.raises(MotecryptError, match=r"^/no/such: No such file or directory$"):
        run._drive(["/no/such", "x"], UNO, FreeRun(), None, None)


def test_a_simulator_that_ends_itself_is_no_bad_input() -> None:
    """As libsimavr does by an assertion when a firmware uses its USB in a way that it does not know."""
    for program, why in (
        ("os.abort()", "SIGABRT"),
        ("print('a: no', file=sys.stderr); os.kill(os.getpid(), 9)", "a: no"),
    ):
        with pytest.raises(MotecryptError) as caught:
            driven(program.replace("; os.kill", "; sys.stderr.flush(); os.kill"))
        assert not isinstance(caught.value, InputError)
        assert str(caught.value) == f"the simulator of uno cannot continue this firmware: {why}"


def test_a_run_may_write_where_we_do(capfd: pytest.CaptureFixture[str]) -> None:
    text = "os.write(1, b'out'); tell(event='x', detail='', cycle=1)"
    command: list[str | Path] = [sys.executable, "-c", TELL + text, "{events}"]
    assert run._drive(command, UNO, FreeRun(), None, None).reason == "x"
    assert capfd.readouterr().out == "out"


def test_a_simulator_does_not_outlive_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[subprocess.Popen[bytes]] = []
    begin = subprocess.Popen

    def popen(*arguments: Any, **settings: Any) -> subprocess.Popen[bytes]:
        begun.append(begin(*arguments, **settings))
        return begun[-1]

    def fail(data: bytes) -> None:
        raise ValueError("no")

    monkeypatch.setattr(run.subprocess, "Popen", popen)
    with pytest.raises(ValueError, match="no"):
        driven("os.write(1, b'x'); time.sleep(5)", fail)
    assert [process.returncode for process in begun] == [-signal.SIGKILL]


def test_an_interrupted_simulator_ends_with_its_figures() -> None:
    def interrupt(data: bytes) -> None:
        raise KeyboardInterrupt

    text = (
        "signal.signal(signal.SIGTERM, lambda *_: (tell(event='stopped', detail='', cycle=1), os._exit(0)))\n"
    )
    assert driven(text + "os.write(1, b'x'); time.sleep(60)", interrupt)[0].reason == "stopped"
    numbers = (signal.SIGTERM, signal.SIGHUP)
    assert threading.current_thread() is threading.main_thread()
    before = [signal.getsignal(n) for n in numbers]  # `nohup` ignores one
    for number in numbers:
        with run._signals(), pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        assert [signal.getsignal(n) for n in numbers] == before


def test_a_simulator_reads_what_it_is_given() -> None:
    read, write = os.pipe()
    os.write(write, b"in")
    os.close(write)
    echo = "os.write(1, sys.stdin.buffer.read()); tell(event='x', detail='', cycle=1)"
    for settings, expected in (({"uart": Uart(input=read)}, b"in"), ({}, b"")):
        out: list[bytes] = []
        driven(echo, out.append, **settings)
        assert b"".join(out) == expected
    os.close(read)


# --- profiles ----------------------------------------------------------------------------------------------

SYMBOLS = Symbols(
    functions=(Function("main", 0x10, 0x20), Function("ns::f(int)", 0x20, 0x30)),
    labels={0x40: "label"},
    lines=((0x10, "m.c", 1), (0x14, "m.c", 2), (0x20, "f.c", 7), (0x28, "", 0)),
    inlined=(
        *(Inlined("in", "main", ((0x14, 0x16),)), Inlined("in", "", ((0x12, 0x13),)), Inlined("in", "f", ())),
        Inlined("none", "main", ((0x90, 0x99),)),
    ),
)
ROWS: list[dict[str, Any]] = [
    {"function": 0, "start": 0, "calls": 1, "inclusive": 100, "self": 4, "stack": 9},
    {
        "function": 1,
        "start": 0x10,
        "calls": 2,
        "inclusive": 90,
        "self": 40,
        "stack": 8,
        "inclusive_range": [40, 45, 50],
        "self_range": [1, 2, 3],
    },
    {"function": 2, "start": 0x20, "calls": 3, "inclusive": 30, "self": 30, "stack": 7},
    {"function": 3, "start": 0x40, "calls": 4, "inclusive": 20, "self": 20, "stack": 6},
    {"function": 4, "start": 0x50, "calls": 5, "inclusive": 20, "self": 20, "stack": 5},
    *({"pc": pc, "n": pc - 8, "c": pc} for pc in (0x10, 0x12, 0x14, 0x15, 0x16, 0x20, 0x28)),
    {"node": 1, "parent": 0, "of": 0, "calls": 1, "self": 4},
    {"node": 2, "parent": 1, "of": 1, "calls": 2, "self": 40},
    {"node": 3, "parent": 2, "of": 2, "calls": 3, "self": 0},
    {"node": 4, "parent": 3, "of": 9, "calls": 6, "self": 6},
]


def test_counts_become_functions_lines_and_stacks() -> None:
    found = profiling._put_together(ROWS, SYMBOLS, ENDED)
    inlined = FunctionCost(
        "in", 0x12, None, 0x12 + 0x14 + 0x15, 0x3B, None, None, None, "m.c", 1, ("f", "main")
    )
    assert found.functions == (
        inlined,
        FunctionCost("main", 0x10, 2, 90, 40, (40, 45, 50), (1, 2, 3), 8, "m.c", 1),
        FunctionCost("ns::f(int)", 0x20, 3, 30, 30, None, None, 7, "f.c", 7),
        FunctionCost("0x50", 0x50, 5, 20, 20, None, None, 5),
        FunctionCost("label", 0x40, 4, 20, 20, None, None, 6),
        FunctionCost(START_UP, 0, 1, 100, 4, None, None, None),
    )
    assert found.lines == (
        LineCost("m.c", 2, 0x14 - 8, 0x14 + 0x15 + 0x16),
        LineCost("m.c", 1, 0x10 - 8, 0x10 + 0x12),
        LineCost("f.c", 7, 0x20 - 8, 0x20),
    )
    assert found.stacks == (
        *(((START_UP,), 4), ((START_UP, "main"), 40)),
        ((START_UP, "main", "ns::f(int)", START_UP), 6),
    )
    assert found.tree == (
        CallNode(-1, START_UP, 1, 4),
        CallNode(0, "main", 2, 40),
        CallNode(1, "ns::f(int)", 3, 0),
        CallNode(2, START_UP, 6, 6),
    )
    assert found.symbols_found and found.ended is ENDED
    assert found.places == {"in": ("m.c", 1), "main": ("m.c", 1), "ns::f(int)": ("f.c", 7)}
    assert (found.calls_dropped, found.calls_shared) == (0, 0)
    dropped = profiling._put_together([*ROWS, {"dropped": 7, "shared": 8}], SYMBOLS, ENDED)
    assert replace(dropped, calls_dropped=0, calls_shared=0) == found
    assert (dropped.calls_dropped, dropped.calls_shared) == (7, 8)
    bare = profiling._put_together(ROWS, Symbols((), {}, (), ()), ENDED)
    assert not bare.symbols_found and {c.name for c in bare.functions} == {
        START_UP,
        "0x10",
        "0x20",
        "0x40",
        "0x50",
    }
    assert bare.lines == () and bare.places == {}


def test_the_stack_over_time_is_from_the_top() -> None:
    slots = [[2000, 1], [0, 0], [2047, 3], [1990, 9]]
    row = {"slots": slots, "stack_top": 2040, "slot_cycles": 16}
    found = profiling._put_together([*ROWS, row], SYMBOLS, ENDED).stack_over_time
    assert found == StackOverTime(16, ((47, "main"), None, (0, "label"), (57, START_UP)))
    row["stack_top"] = 2050
    found = profiling._put_together([*ROWS, row], SYMBOLS, ENDED).stack_over_time
    assert found is not None and found.slots[0] == (50, "main")
    assert profiling._put_together(ROWS, SYMBOLS, ENDED).stack_over_time is None


def test_functions_are_chosen_by_their_names() -> None:
    found = profiling._put_together(ROWS, SYMBOLS, ENDED)
    assert profiling.choose(found.functions, ()) == list(found.functions)

    def chosen(*wanted: str) -> list[str]:
        return [cost.name for cost in profiling.choose(found.functions, wanted, profiling.DID_NOT_RUN)]

    assert chosen("f") == chosen("ns::f") == chosen("ns::f(int)") == ["ns::f(int)"]
    assert chosen("l*", "m*", "main") == ["label", "main"] and chosen("in") == ["in"]
    with pytest.raises(InputError, match=r"^function mian did not run: .*main"):
        chosen("mian")


def test_what_a_profile_left_out_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    whole = profiling._put_together(ROWS, SYMBOLS, ENDED)
    assert (whole.calls_dropped, whole.calls_shared) == (0, 0)
    found = profiling._put_together([*ROWS, {"dropped": 1234, "shared": 5678}], SYMBOLS, ENDED)
    assert (found.calls_dropped, found.calls_shared) == (1234, 5678)
    assert found.functions == whole.functions and found.stacks == whole.stacks
    told = []
    for each in (whole, found):
        show(*profile_view(each, each.functions, len(each.functions), 0, "T"))
        told.append(" ".join(capsys.readouterr().out.split()))
    assert "too deep" not in told[0] and "tree of callers" not in told[0]
    assert (
        "; 1,234 calls were too deep to be separated: their cycles are counted in the deepest function; "
        "the tree of callers is full: in --speedscope the cycles of 5,678 calls are counted in their callers"
    ) in told[1]


def test_stacks_become_a_speedscope_file() -> None:
    stacks = ((("a",), 4), (("a", "b"), 6), (("b", "a"), 5))
    found = Profile(ENDED, (), (), stacks, True, {"b": ("b.c", 3)})
    assert (found.calls_dropped, found.calls_shared) == (0, 0)
    assert profiling.speedscope(found, "T") == {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": "T",
        "exporter": "motecrypt",
        "shared": {"frames": [{"name": "a"}, {"name": "b", "file": "b.c", "line": 3}]},
        "profiles": [
            {
                "type": "sampled",
                "name": "T, cycles",
                "unit": "none",
                "startValue": 0,
                "endValue": 15,
                "samples": [[0], [0, 1], [1, 0]],
                "weights": [4, 6, 5],
            }
        ],
    }


def test_a_profile_is_read_after_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    leaves = [True]

    def freely(made: Image, device: Any, how: FreeRun, output: Any) -> Ended:
        assert how.profile is not None
        asked.append((how.uart.stamps, how.profile[1].read_text()))
        if leaves[0]:
            how.profile[0].write_text('{"pc": 16, "n": 2, "c": 3}\n')
        return ENDED

    monkeypatch.setattr(profiling, "run_freely", freely)
    monkeypatch.setattr(profiling, "read_symbols", lambda elf, demangler: asked.append(demangler) or SYMBOLS)
    for device, demangler in ((UNO, "avr-c++filt"), (PICO, "arm-none-eabi-c++filt")):
        found = profiling.profile(image(elf=Path("f")), device, FreeRun(uart=Uart(stamps=True)), print)
        assert found.lines == (LineCost("m.c", 1, 2, 3),)
        assert asked == [demangler, (True, "10 20\n20 30\n")]
        asked.clear()
    assert profiling.profile(image(), UNO, FreeRun(), print).lines == () and asked == [(False, "")]
    leaves[0] = False
    with pytest.raises(InputError, match=r"^f: the simulator wrote no profile \(\)$"):
        profiling.profile(image(), UNO, FreeRun(), print)
