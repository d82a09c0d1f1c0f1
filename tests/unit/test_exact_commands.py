"""The command lines of compilers and simulators, and what a sketch becomes before it is C++. Runs none."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.process import Outcome, processors
from motecrypt.build.toolchain import BuildError, arduino
from motecrypt.catalog import Catalog
from motecrypt.measuring.experiments import transfer_wlan
from motecrypt.results import Results
from motecrypt.simulate import paper_node as node
from motecrypt.simulate.paper_node import PaperNode
from motecrypt.simulate.runners import Options, arm, counts_while_tracing, host, riscv, runner_of, simavr

CATALOG = Catalog.load()
UNO, PICO = CATALOG.device("uno"), CATALOG.device("pico")


def test_one_program_for_each_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    for allowed, expected in ((set(), 1), ({0}, 1), ({3, 5, 7}, 3)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda process, allowed=allowed: allowed)
        assert processors() == expected
    monkeypatch.delattr(os, "sched_getaffinity")  # as where there is none
    for count, expected in ((None, 1), (1, 1), (6, 6)):
        monkeypatch.setattr(os, "cpu_count", lambda count=count: count)
        assert processors() == expected


# --- simulators --------------------------------------------------------------------------------------------


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The commands of sessions that would be opened."""
    opened: list[Any] = []
    for module in (arm, simavr, host):
        monkeypatch.setattr(module, "driver", lambda name: f"<{name}>")
        monkeypatch.setattr(module, "driver_identity", lambda name: f"{name}-0123456789abcdef")
        monkeypatch.setattr(
            module, "DriverSession", lambda command, **settings: opened.append((command, settings))
        )
    return opened


def test_simavrs_command(commands: list[Any]) -> None:
    settings = {"mcu": "m", "mark_address": 0x3E, "simulated_address": 0x3D, "max_cycles": 77}
    device = replace(UNO, simulator=settings, clock_hz=8_000_000)
    base = ["<simavr>", "--mcu", "m", "--clock", "8000000", "--mark", "0x3e", "--simulated", "0x3d"]
    simavr.open_session(device, Path("f.elf"), 0x80_01FF, Options())
    assert commands[-1] == (
        [*base, "--max-cycles", "77", "--data-end", "0x1ff", "--events", "{events}", Path("f.elf")],
        {"restarts": True},
    )
    simavr.open_session(device, Path("f.elf"), 5, Options(trace=True, dump=Path("d"), max_cycles=9))
    assert commands[-1][0] == [
        *(*base, "--max-cycles", "9", "--data-end", "0x5", "--events", "{events}", "--trace"),
        *("--dump", "d", Path("f.elf")),
    ]
    assert simavr.identity(device) == "simavr simavr-01234"


def test_the_arm_drivers_command(commands: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {
        "cycles": {"load": 2, "branch": 3},
        "bus_read_extra": 4,
        "bus_write_extra": 5,
        "io_port_saves": 6,
        "vectors": 0x100,
        "mark_address": 0x200,
        "simulated_address": 0x300,
        "stack_limit": 0x400,
        "max_cycles": 55,
        "flash_cache": {"bytes": 16384, "ways": 2, "line_bytes": 8},
        "flash_read": [
            {"name": "quad", "clocks": 26, "divider": 2, "source": "s"},
            {"name": "slow", "clocks": 80, "divider": 4, "source": "s"},
        ],
    }
    device = replace(PICO, simulator=settings, core="c")
    flash, ram = device.memory["flash"], device.memory["ram"]
    base = [
        *("<arm>", "--core", "c", "--chip", device.chip, "--cycles", "load=2,branch=3"),
        *("--flash", f"{flash.address:#x}:{flash.bytes:#x}", "--ram", f"{ram.address:#x}:{ram.bytes:#x}"),
        *("--vectors", "0x100", "--mark", "0x200", "--simulated", "0x300", "--stack-limit", "0x400"),
        *("--bus", "4:5:6", "--max-cycles"),
    ]
    events, cache = ["--events", "{events}"], ["--cache", "16384:2:8", "--miss-cycles", "52"]
    elf = Path("f.elf")
    for options, rest in (
        (Options(), ["55", *events, elf]),
        (Options(cache="warm"), ["55", *events, elf]),
        (Options(cache="kept", max_cycles=7), ["7", *events, *cache, elf]),
        (
            Options(cache="cold", trace=True, dump=Path("d")),
            ["55", *events, *cache, "--cold", "--trace", "--dump", "d", elf],
        ),
    ):
        assert arm.command(device, elf, options) == [*base, *rest]
    arm.open_session(device, elf, 0, Options())
    assert commands == [([*base, "55", *events, elf], {"restarts": True})]
    assert [read.miss_cycles for read in arm.flash_reads(device)] == [52, 320]
    bare = replace(device, simulator={**settings, "flash_read": ()})
    assert arm.command(bare, elf, Options())[-1] == elf
    with pytest.raises(InputError, match=r"device\.toml: a flash cache needs at least one flash_read$"):
        arm.command(bare, elf, Options(cache="cold"))
    with pytest.raises(InputError, match=r"device\.toml: simulator lacks 'vectors'$"):
        arm.command(
            replace(device, simulator={k: v for k, v in settings.items() if k != "vectors"}), elf, Options()
        )
    with pytest.raises(InputError, match=r"simulator\.flash_read: needs name, clocks, divider and source \("):
        arm.flash_reads(replace(device, simulator={"flash_read": [{"name": "x"}]}))
    known = arm.identity(device)
    assert known.startswith("unicorn ") and len(known) == len("unicorn ") + 12
    assert arm.identity(bare) != known == arm.identity(replace(device, title="another"))
    turned = dict(reversed([*settings.items()]))
    assert arm.identity(replace(device, simulator=turned)) == known and [*turned] != [*settings]
    monkeypatch.setattr(arm, "version", lambda name: {"unicorn": "9.1"}[name])
    assert arm.engine_version() == "9.1"

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(arm, "version", missing)
    assert arm.engine_version() == "missing"


def test_the_riscv_drivers_command(commands: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(riscv, "driver", lambda name: f"<{name}>")
    settings = {
        "cycles": {"load": 2, "branch": 3},
        "mark_address": 0x200,
        "simulated_address": 0x300,
        "stack_limit": 0x400,
        "max_cycles": 55,
        "predictor": {"btb": 1, "bht": 2, "ras": 3},
        "flash_cache": {"bytes": 16384, "ways": 2, "line_bytes": 8},
        "flash_read": [{"name": "quad", "clocks": 26, "divider": 2, "source": "s"}],
    }
    device, elf = replace(CATALOG.device("hifive1"), simulator=settings, core="c"), Path("f.elf")
    flash, ram = device.memory["flash"], device.memory["ram"]
    base = [
        *("<riscv>", "--core", "c", "--chip", device.chip, "--cycles", "load=2,branch=3"),
        *("--ram", f"{ram.address:#x}:{ram.bytes:#x}", "--flash", f"{flash.address:#x}:{flash.bytes:#x}"),
        *("--mark", "0x200", "--simulated", "0x300", "--stack-limit"),
    ]
    events, cache = ["--events", "{events}"], ["--cache", "16384:2:8", "--miss-cycles", "52"]
    predictor = ["--predictor", "1:2:3"]
    for options, rest in (
        (Options(), ["0x400", "--max-cycles", "55", *events, *predictor, elf]),
        (
            Options(cache="warm", trace=True),
            ["0x400", "--max-cycles", "55", *events, *predictor, "--trace", elf],
        ),
        (
            Options(cache="kept", max_cycles=7),
            ["0x400", "--max-cycles", "7", *events, *predictor, *cache, elf],
        ),
        (
            Options(cache="cold", trace=True, dump=Path("d")),
            [
                *("0x400", "--max-cycles", "55", *events, *predictor, *cache),
                *("--cold", "--trace", "--dump", "d", elf),
            ],
        ),
    ):
        assert riscv.command(device, elf, options, 9) == [*base, *rest]
    bare = replace(
        device, simulator={**{k: v for k, v in settings.items() if k != "predictor"}, "stack_limit": 0}
    )
    assert riscv.command(bare, elf, Options(), 0x1234) == [
        *base,
        "0x1234",
        "--max-cycles",
        "55",
        *events,
        elf,
    ]
    without = replace(device, simulator={k: v for k, v in settings.items() if k != "flash_cache"})
    assert riscv.command(without, elf, Options())[-1] == elf
    with pytest.raises(InputError, match=r"device\.toml: simulator lacks 'flash_cache'$"):
        riscv.command(without, elf, Options(cache="kept"))


def test_the_hosts_command_and_what_it_is(commands: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    host.open_session(CATALOG.device("host"), Path("f.so"), 0, Options())
    host.open_session(CATALOG.device("host"), Path("f.so"), 0, Options(trace=True))
    base = ["<host>", "--events", "{events}"]
    assert commands == [
        ([*base, Path("f.so")], {"cycles_exact": False}),
        ([*base, "--trace", Path("f.so")], {"cycles_exact": False}),
    ]
    monkeypatch.setattr(host, "_processor", lambda: "p")
    for flag, aes, words in ((1, True, "with"), (0, False, "without"), (-1, None, "unknown")):
        told = {"counter": "ticks", "core_cycles": False, "aes_instructions": flag}
        monkeypatch.setattr(host, "_described", lambda wish, told=told: told)
        here = host.machine()
        assert (here.processor, here.counter, here.core_cycles, here.aes_instructions) == (
            "p",
            "ticks",
            False,
            aes,
        )
        assert (
            host.identity(CATALOG.device("host")) == f"host host-0123456, ticks, p ({words} AES instructions)"
        )
    assert here.governor


def test_what_the_host_says_of_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answers = [Outcome(0, '{"counter": "c"}', ""), Outcome(1, "", "error: no")]
    monkeypatch.setattr(host, "driver", lambda name: name)
    asked: list[Any] = []

    def run(command: list[Any], work_s: float) -> Outcome:
        asked.append((command, work_s))
        return answers.pop(0)

    monkeypatch.setattr(host.process, "run", run)
    assert host._described.__wrapped__("") == {"counter": "c"} and asked == [(["host", "--describe"], 20)]
    with pytest.raises(MotecryptError, match=r"^host: error: no$"):
        host._described.__wrapped__("")
    (tmp_path / "line").write_text(" ondemand \nmore\n")
    assert (host._first_line(tmp_path / "line"), host._first_line(tmp_path / "none")) == ("ondemand", "")
    for text, named, rates in (
        (
            "cpu MHz\t: 900.5\nmodel name\t: A: chip \ncpu MHz\t: 800\nmodel name: B\n",
            "A: chip",
            (800.0, 900.5),
        ),
        ("nothing\n", None, (0.0, 0.0)),
        ("cpu MHz : fast\n", None, (0.0, 0.0)),
    ):

        def pretend(path: str, text: str = text) -> Any:
            return SimpleNamespace(read_text=lambda: text)

        monkeypatch.setattr(host, "Path", pretend)
        monkeypatch.setattr(host, "platform", SimpleNamespace(processor=lambda: "", machine=lambda: "m"))
        assert host._processor.__wrapped__() == (named or "m") and host._frequencies() == rates

    def unreadable(path: str) -> Any:
        return tmp_path / "none"

    monkeypatch.setattr(host, "Path", unreadable)
    assert host._processor.__wrapped__() == "m" and host._frequencies() == (0.0, 0.0)
    monkeypatch.setattr(host, "platform", SimpleNamespace(processor=lambda: "p", machine=lambda: "m"))
    assert host._processor.__wrapped__() == "p"


def test_energy_counters_of_packages_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("intel-rapl:1", "intel-rapl:0", "intel-rapl:0:0", "intel-rapl:2", "other:3"):
        (tmp_path / name).mkdir()
        if name != "intel-rapl:2":
            (tmp_path / name / "energy_uj").write_text("1")
    monkeypatch.setattr(host, "Path", lambda place: tmp_path)
    assert host.rapl_counters() == (tmp_path / "intel-rapl:0/energy_uj", tmp_path / "intel-rapl:1/energy_uj")


def test_a_runner_is_found_by_its_name() -> None:
    assert runner_of("simavr") is simavr
    with pytest.raises(
        InputError, match=r"^unknown runner 'x'; available: arm, board, fake, host, riscv, simavr$"
    ):
        runner_of("x")
    assert counts_while_tracing(UNO) and counts_while_tracing(PICO)
    assert not counts_while_tracing(CATALOG.device("host"))


# --- the sensor node ---------------------------------------------------------------------------------------


def test_a_nodes_settings_are_checked() -> None:
    for size in (16, 24, 32):
        PaperNode(bytes(size))
    for size in (0, 15, 17, 33):
        with pytest.raises(InputError, match=rf"^a key of {size} bytes; AES takes 16, 24 or 32$"):
            PaperNode(bytes(size))
    for interval in (1, 65535):
        PaperNode(bytes(16), interval)
    for interval in (0, 65536):
        for wrong in (
            lambda ms=interval: PaperNode(bytes(16), ms),
            lambda ms=interval: node.check_interval(ms),
        ):
            with pytest.raises(InputError, match=rf"^an interval of {interval} ms; give 1 to 65535$"):
                wrong()
    assert PaperNode(bytes(16)).interval_ms == 1000


def test_the_papers_node_is_built_without_its_key_in_sight(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[list[str]] = []

    def run(command: list[Any]) -> Outcome:
        asked.append([str(part) for part in command])
        settings = Path(asked[-1][asked[-1].index("-include") + 1])
        key = f"#define NODE_KEY {', '.join(map(str, range(16)))}\n"
        assert settings.read_text() == f"#define NODE_INTERVAL_MS 9u\n{key}"
        Path(asked[-1][-1]).write_bytes(b"elf")
        return outcome

    wanted = PaperNode(bytes(range(16)), 9)
    outcome = Outcome(0, "", "")
    monkeypatch.setattr(node.process, "run", run)
    target = tmp_path / "node.elf"
    target.write_text("older, and longer")
    target.chmod(0o644)
    node.build_paper(wanted, target)
    assert target.read_bytes() == b"elf" and stat.S_IMODE(target.stat().st_mode) == 0o600
    modes: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(Path, "chmod", lambda path, mode: modes.append(mode))
        node.build_paper(wanted, tmp_path / "new.elf")
    assert modes == [0o600] and stat.S_IMODE((tmp_path / "new.elf").stat().st_mode) == 0o600
    command = asked[0]
    sources = [Path(part).name for part in command if part.endswith(".c")]
    assert sources == ["uno.c", "hal.c", "paper.c", "cbc.c", "aes_fast.c"]
    assert "-DCIPHER_KEY_BYTES_MAX=32" in command
    assert '-DCIPHER_HEADER="cbc.h"' in command and '-DBLOCK_HEADER="aes_fast.h"' in command
    folders = [Path(command[at + 1]).name for at, part in enumerate(command) if part == "-I"]
    assert command[0] == "avr-gcc" and folders == ["include", "modes", "aes"]
    with pytest.raises(
        InputError, match=r"/no: No such file or directory; choose another file$|Is a directory"
    ):
        node.build_paper(wanted, tmp_path / "no/no")
    outcome = Outcome(1, "", "x.c:1: error: bad")
    with pytest.raises(BuildError, match=r"^the paper's node: x\.c:1: error: bad$"):
        node.build_paper(wanted, target)


def test_an_exported_example_is_built_from_the_exports_own_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[tuple[Path, list[Path], list[str]]] = []

    def build(sketch: Path, libraries: list[Path], defines: list[str]) -> Path:
        asked.append((sketch, libraries, defines))
        elf = tmp_path / "built"
        elf.write_bytes(b"elf")
        return elf

    monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(node, "build_sketch", build)
    files = {"src/X.h": b"// x", "examples/A/A.ino": b"// a"}
    for _ in range(2):
        node.build_example(files, "examples/A/A.ino", tmp_path / "node.elf", None)
    node.build_example(files, "examples/A/A.ino", tmp_path / "node.elf", 65535)
    node.build_example({**files, "src/X.h": b"// y"}, "examples/A/A.ino", tmp_path / "other.elf", None)
    (first, again, slow, other) = asked
    assert first == again and (first[2], slow[2]) == ([], ["INTERVAL_MS=65535u"]) and slow[:2] == first[:2]
    library = first[0].parents[2]
    assert {str(p.relative_to(library)): p.read_bytes() for p in library.rglob("*") if p.is_file()} == files
    assert first[1] == [library.parent] and other[0].parents[2] != library
    (library / "src/X.h").write_bytes(b"broken")
    node.build_example(files, "examples/A/A.ino", tmp_path / "node.elf", None)
    assert (library / "src/X.h").read_bytes() == b"// x", "what is in the cache is the export's"
    assert (tmp_path / "node.elf").read_bytes() == b"elf"
    assert stat.S_IMODE((tmp_path / "node.elf").stat().st_mode) == 0o600
    for interval in (0, 65536):
        with pytest.raises(InputError, match=rf"^an interval of {interval} ms; give 1 to 65535$"):
            node.build_example(files, "examples/A/A.ino", tmp_path / "node.elf", interval)


# --- sketches ----------------------------------------------------------------------------------------------


def test_prototypes_stand_before_the_first_function() -> None:
    first = """// int no(void) { }
#include <X.h>
const char *s = "void no() {";
struct P { int x; };
enum E { A };
int table[] = { 1, 2 };

void setup() {
  if (1) { }
}
"""
    second = """/* c */ unsigned long f(int a, char *b)
{ return 1; }
void g(int a = 3) { }
static inline int h(void) __attribute__((noinline)) { return ';'; }
struct P make(int n) { }
struct Q { void a() { { } } void b() { } };
int k (int a) ;
int k (int a) { }
"""
    made = arduino.sketch_source([(Path("a/a.ino"), first), (Path("a/b.ino"), second)])
    assert made == (
        '#include <Arduino.h>\n#line 1 "a/a.ino"\n'
        + first[: first.index("void setup")]
        + "\nvoid setup();\nunsigned long f(int a, char *b);\nstatic inline int h(void);\nint k (int a);\n"
        + '#line 8 "a/a.ino"\n'
        + first[first.index("void setup") :]
        + '\n#line 1 "a/b.ino"\n'
        + second
        + "\n"
    )
    plain = arduino.sketch_source([(Path("a.ino"), "int x = 1;")])
    assert plain == '#include <Arduino.h>\n#line 1 "a.ino"\nint x = 1;\n'
    late = arduino.sketch_source([(Path("a.ino"), "int x;"), (Path("b.ino"), "\n\nvoid f() {}")])
    assert late.endswith('\n\n\nvoid f();\n#line 3 "b.ino"\nvoid f() {}\n')


def test_what_is_no_code_is_blanked() -> None:
    text = 'a // b {\nc /* d\n{ */ e "f { \\" {" g \'{\' \n  # define X {\\\n { \nh'
    made = arduino._without_comments(text)
    assert len(made) == len(text) and made.count("\n") == text.count("\n")
    assert "".join(made.split()) == "acegh" and "{" not in made


@pytest.fixture
def sketch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a sketch, and next to it libraries of both kinds, one of which needs another."""
    files = {
        "blink/blink.ino": ' # include "own.h"\n#include <Arduino.h>\n#include <None.h>\n#include <Wire.h>\n'
        "void f() {}\n",
        "blink/a.ino": "",
        "blink/z.ino": "",
        "blink/own.h": "#include <Deep.h>",
        "blink/own.cpp": "",
        "blink/notes.txt": "",
        "libs/Wire/Wire.h": "#include <utility/two.h>",
        "libs/Wire/Wire.cpp": "",
        "libs/Wire/utility/two.h": "",
        "libs/Wire/utility/two.c": "#include <Other.h>",
        "libs/Bag/src/Deep.h": "",
        "libs/Bag/src/deep/deep.S": "",
        "libs/Bag/test.cpp": "",
        "libs/Other/Other.h": "",
        "core/cores/arduino/Arduino.h": "",
        "core/cores/arduino/main.cpp": "",
        "core/cores/arduino/pins.txt": "",
        "core/variants/standard/pins.h": "",
        "core/bootloaders/optiboot/optiboot.c": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    core = tmp_path / "core"
    monkeypatch.setattr(arduino, "CORE", core)
    monkeypatch.setattr(arduino, "LIBRARIES", (core / "libraries",))
    monkeypatch.setattr(arduino, "_CORE_INCLUDE", (core / "cores/arduino", core / "variants/standard"))
    monkeypatch.setattr(arduino, "cache_dir", lambda: tmp_path / "cache")
    monkeypatch.setattr(arduino.toolchain, "identity", lambda command: "avr-gcc 5")
    return tmp_path / "blink/blink.ino"


class Compiler:
    """Writes down what it is asked, and makes the files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.compiled: list[Any] = []
        self.linked: list[Any] = []
        self.ran: list[list[str]] = []
        self.outcome = Outcome(0, "", "")
        monkeypatch.setattr(arduino.toolchain, "compile_object", self._compile)
        monkeypatch.setattr(arduino.toolchain, "link", self._link)
        monkeypatch.setattr(arduino.process, "run", self._run)

    def _compile(
        self, command: str, flags: Any, source: Path, target: Path, work: Path, plain: bool = False
    ) -> None:
        assert plain
        self.compiled.append((command, list(flags), source.name, target.name))
        target.write_text("o")

    def _link(self, command: str, flags: Any, objects: Any, elf: Path, work: Path, libraries: Any) -> None:
        self.linked.append(
            (command, flags, [o.name for o in objects], [Path(part).name for part in libraries])
        )
        elf.write_text("elf")

    def _run(self, command: list[Any], cwd: Path | None = None) -> Outcome:
        self.ran.append([str(part) for part in command])
        if "core.a" in self.ran[-1]:
            assert cwd is not None
            (cwd / "core.a").write_text("archive")
        else:
            Path(self.ran[-1][-1]).write_text("boot")
        return self.outcome


def test_a_sketch_is_compiled_with_the_libraries_that_it_includes(
    sketch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = Compiler(monkeypatch)
    libs = sketch.parents[1] / "libs"
    elf = arduino.build_sketch(sketch, (libs,))
    assert elf.read_text() == "elf" and elf.name == "blink.elf" and len(elf.parent.name) == 32
    names = [(command, source) for command, _, source, _ in compiler.compiled]
    assert sorted(names) == [
        *(
            ("avr-g++", "Wire.cpp"),
            ("avr-g++", "main.cpp"),
            ("avr-g++", "own.cpp"),
            ("avr-g++", "sketch.cpp"),
        ),
        *(("avr-gcc", "deep.S"), ("avr-gcc", "two.c")),
    ]
    ((command, _, objects, libraries),) = compiler.linked
    assert command == "avr-gcc" and libraries == ["core.a", "-lm"]
    assert objects[:2] == ["0_sketch.cpp.o", "1_own.cpp.o"]
    assert sorted(name.split("_", 1)[1] for name in objects[2:]) == ["Wire.cpp.o", "deep.S.o", "two.c.o"]
    flags = {source: flags for _, flags, source, _ in compiler.compiled}
    include = [flag.removeprefix("-I") for flag in flags["own.cpp"] if flag.startswith("-I")]
    core = sketch.parents[1] / "core"
    assert include[:3] == [str(core / "cores/arduino"), str(core / "variants/standard"), str(sketch.parent)]
    assert {*include[3:]} == {str(libs / part) for part in ("Wire", "Wire/utility", "Bag/src", "Other")}
    assert "-mmcu=atmega328p" in flags["own.cpp"] and "-fno-exceptions" in flags["own.cpp"]
    assert "-std=gnu11" in flags["two.c"] and flags["deep.S"][-2:] == ["-x", "assembler-with-cpp"]
    assert compiler.ran == [["avr-gcc-ar", "rcs", "core.a", "0_main.cpp.o"]]
    count = len(compiler.compiled)
    assert arduino.build_sketch(sketch, (libs,)) == elf and len(compiler.compiled) == count
    (sketch.parent / "own.h").write_text("// changed")
    assert arduino.build_sketch(sketch, (libs,)) != elf and len(compiler.ran) == 1


def test_a_lone_sketch_among_others_is_one_file(sketch: Path) -> None:
    first, last = sketch.parent / "a.ino", sketch.parent / "z.ino"
    assert arduino._sketch_parts(sketch) == [sketch, first, last]
    assert [arduino._sketch_parts(lone) for lone in (first, last)] == [[first], [last]]
    with pytest.raises(InputError, match=r"none\.ino: no such sketch$"):
        arduino.build_sketch(sketch.parent / "none.ino")


def test_a_core_or_bootloader_that_does_not_build_is_told(
    sketch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = Compiler(monkeypatch)
    made = arduino.build_bootloader()
    assert made.name == "optiboot.elf" and made.read_text() == "boot"
    command = compiler.ran[0]
    assert command[0] == "avr-gcc" and command[-2] == "-o" and Path(command[-3]).name == "optiboot.c"
    for flag in ("-DBAUD_RATE=115200", "-DLED_START_FLASHES=0", "-Wl,--section-start=.text=0x7e00"):
        assert flag in command
    assert arduino.build_bootloader() == made and len(compiler.ran) == 1
    made.unlink()
    compiler.outcome = Outcome(1, "", "optiboot.c:1: error: bad")
    with pytest.raises(BuildError, match=r"^optiboot\.c:1: error: bad$"):
        arduino.build_bootloader()
    assert not made.exists()
    with pytest.raises(BuildError, match=r"^optiboot\.c:1: error: bad$"):
        arduino._core()
    monkeypatch.setattr(arduino, "CORE", sketch.parent / "nowhere")
    for call in (arduino.build_bootloader, lambda: arduino.build_sketch(sketch)):
        with pytest.raises(
            InputError, match="Debian's Arduino core is missing; 'motecrypt doctor' shows how"
        ):
            call()


# --- runs side by side -------------------------------------------------------------------------------------


def test_a_failed_run_calls_off_those_that_wait(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    ran: list[int] = []

    def run(compiled: Path, request: object, seed: int) -> dict[str, Any]:
        ran.append(seed)
        if seed == 1:
            raise MotecryptError("no")
        time.sleep(0.02)
        return {}

    monkeypatch.setattr(transfer_wlan, "program", lambda: Path("program"))
    monkeypatch.setattr(transfer_wlan, "processors", lambda: 1)
    monkeypatch.setattr(transfer_wlan, "_run", run)
    with pytest.raises(MotecryptError, match=r"^no$"):
        transfer_wlan.TransferWlan(5, seeds=200).ensure(results)
    assert len(ran) < 100
