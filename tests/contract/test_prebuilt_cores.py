"""The link's cores of a wheel: made the same anywhere, taken where they fit, right on each machine."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import link_model as model
from motecrypt.base.errors import MotecryptError
from motecrypt.catalog import FIRMWARE
from motecrypt.link import native, prebuilt, recipe
from motecrypt.link.native import COMMAND, CONFIRMED, FILE, LONG, Event, Suite, link_library
from motecrypt.link.prebuilt import COMPILERS, LIST, core_needs, machine, make_cores, prebuilt_core
from motecrypt.link.recipe import SUITES
from tool_sets import skip_without
from unit.link.test_link_core import ERASED, STORED, link_of

DRIVER = Path(__file__).with_name("core_driver.c")
SOURCES = ("link", "include", "modes", "ciphers")
TOOL_SETS = {"x86_64": "host", "aarch64": "arm64", "armhf": "armhf"}
EMULATORS = {
    "x86_64": (),
    "aarch64": ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"),
    "armhf": ("qemu-arm", "-L", "/usr/arm-linux-gnueabihf"),
}
TIMEOUT_S = 120


@pytest.fixture(scope="module")
def cores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Those of each compiler that is here."""
    skip_without("host")
    folder = tmp_path_factory.mktemp("cores")
    make_cores(folder)
    return folder


@pytest.fixture
def installed(cores: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """As a wheel installs them."""
    monkeypatch.setattr(prebuilt, "CORES", shutil.copytree(cores, tmp_path / "cores"))
    prebuilt_core.cache_clear()
    link_library.cache_clear()
    yield tmp_path / "cores"
    prebuilt_core.cache_clear()
    link_library.cache_clear()


def test_equal_sources_make_equal_bytes_anywhere(
    cores: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "another" / "place"
    for name in SOURCES:
        shutil.copytree(FIRMWARE / name, elsewhere / name)
    monkeypatch.setattr(recipe, "FIRMWARE", elsewhere)
    monkeypatch.setattr(recipe, "FOLDER", elsewhere / "link")
    again, suite = tmp_path / "again", SUITES["ascon-aead128"]
    monkeypatch.setattr(prebuilt, "SUITES", {"ascon-aead128": suite})
    kind = next(kind for kind, (compiler, *_) in COMPILERS.items() if shutil.which(compiler))
    assert list(make_cores(again, [kind])) == [kind]
    made, listed = sorted(again.glob("*.so")), json.loads((cores / LIST).read_text())
    assert [path.name for path in made] == [f"ascon-aead128-{kind}.so"]
    for path in made:
        assert path.read_bytes() == (cores / path.name).read_bytes(), path.name
    assert json.loads((again / LIST).read_text()) == {path.name: listed[path.name] for path in made}
    changed = elsewhere / "link" / "link.c"
    changed.write_text(changed.read_text() + "/* changed */\n")
    assert prebuilt.sources_key("ascon-aead128") != listed[made[0].name]["sources"]


def test_the_core_for_armhf_runs_on_the_first_raspberry_pi(cores: Path) -> None:
    """An ARMv6; Debian's own C library for armhf needs an ARMv7, so that no emulated one can show it."""
    skip_without("armhf")
    for core in cores.glob("*-armhf.so"):
        told = subprocess.run(
            ["arm-linux-gnueabihf-readelf", "-A", "-d", str(core)],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=True,
        ).stdout
        assert re.search(r"Tag_CPU_arch: v6$", told, re.MULTILINE) and "(NEEDED)" not in told


def test_a_core_that_fits_is_taken_without_a_compiler(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not any(installed.glob(f"*-{machine()}.so")):
        pytest.skip("no core for this computer")

    def compiled(*_: Any) -> Any:
        raise AssertionError("the compiler was asked")

    monkeypatch.setattr(native, "run_compiler", compiled)
    monkeypatch.setattr(native, "identity", compiled)
    for suite in SUITES:
        assert link_library(suite) == installed / f"{suite}-{machine()}.so"
    assert core_needs() == ()


FAULTS = (
    "other sources",
    "other bytes",
    "not listed",
    "not there",
    "no list",
    "no hash",
    "no entry",
    "not ours",
)


@pytest.mark.parametrize("fault", FAULTS)
def test_another_is_left_and_the_core_is_compiled(installed: Path, fault: str) -> None:
    name = f"ascon-aead128-{machine()}.so"
    if not (installed / name).exists():
        pytest.skip("no core for this computer")
    listed = json.loads((installed / LIST).read_text())
    if fault == "other sources":
        listed[name]["sources"] = "0" * 64
    elif fault == "other bytes":
        (installed / name).write_bytes((installed / name).read_bytes() + b"\0")
    elif fault == "not ours":  # of another system: it cannot be loaded
        (installed / name).write_bytes(b"\x7fELF")
        listed[name]["sha256"] = hashlib.sha256(b"\x7fELF").hexdigest()
    elif fault == "no hash":
        del listed[name]["sha256"]
    elif fault == "no entry":
        listed[name] = "x"
    elif fault == "not there":
        (installed / name).unlink()
    else:
        del listed[name]
    (installed / LIST).write_text("[]" if fault == "no list" else json.dumps(listed))
    assert prebuilt_core("ascon-aead128") is None and core_needs() == ("host",)
    assert link_library("ascon-aead128").parent != installed


@pytest.mark.parametrize(
    ("kernel", "bits", "abi", "meant"),
    [
        ("x86_64", 64, "x86_64-pc-linux-gnu", "x86_64"),
        ("x86_64", 32, "i686-pc-linux-gnu", ""),
        ("aarch64", 64, "aarch64-unknown-linux-gnu", "aarch64"),
        ("aarch64", 32, "armv7l-unknown-linux-gnueabihf", "armhf"),
        ("armv7l", 32, "arm-unknown-linux-gnueabihf", "armhf"),
        ("armv6l", 32, "arm-unknown-linux-gnueabihf", "armhf"),
        ("armv5tel", 32, "arm-unknown-linux-gnueabi", ""),
        ("riscv64", 64, "riscv64-unknown-linux-gnu", ""),
    ],
)
def test_the_process_counts_and_not_the_kernel(
    kernel: str, bits: int, abi: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prebuilt.sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: kernel)
    monkeypatch.setattr(struct, "calcsize", lambda form: bits // 8)
    monkeypatch.setattr(prebuilt.sysconfig, "get_config_var", lambda name: abi)
    assert machine() == meant
    monkeypatch.setattr(prebuilt.sys, "platform", "darwin")
    assert machine() == ""


def test_what_does_not_compile_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without("host")
    monkeypatch.setattr(prebuilt, "FLAGS", ("--no-such-flag",))
    with pytest.raises(MotecryptError, match=r"^link core: .*gcc: .*no-such-flag[^\n]*$"):
        make_cores(tmp_path)


class Core:
    """A core in a process of its kind of machine."""

    def __init__(self, kind: str, suite: Suite, cores: Path, folder: Path) -> None:
        compiler = COMPILERS[kind][0]
        program = folder / "driver"
        places = [f"-I{FIRMWARE / name}" for name in ("link", "include")]
        flags = ["-std=gnu99", "-O1", "-Wall", "-Wextra", "-Werror", f"-DLINK_SUITE={SUITES[suite].suite}"]
        folders = [f"-I{FIRMWARE / name}" for name in ("modes", *SUITES[suite].folders)]
        defines = [*recipe.DEFINES, *SUITES[suite].defines]
        command = [compiler, *flags, *places, *folders, *defines, str(DRIVER), "-ldl", "-o", str(program)]
        subprocess.run(command, check=True, timeout=TIMEOUT_S)
        self.command = [*EMULATORS[kind], str(program), str(cores / f"{suite}-{kind}.so")]
        self.calls: list[tuple[str, Event | None, list[str], str]] = []

    def call(self, what: str, data: bytes, event: Event | None, sent: list[str], message: str = "") -> None:
        """A call, and what must come back."""
        self.calls.append((f"{what}{data.hex()}", event, sent, message))

    def check(self) -> int:
        """Make them all; returns how many."""
        given = "".join(f"{call}\n" for call, *_ in self.calls)
        done = subprocess.run(
            self.command, input=given, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        for line, (call, event, sent, message) in zip(lines, self.calls, strict=True):
            packets = "".join(f"{len(packet) // 2:02x}{packet}" for packet in sent)
            number, told, received = line.split(" ")
            assert (told, received) == (packets, message), call
            assert event is None or int(number) == event, call
        return len(lines)


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("kind", COMPILERS)
def test_a_core_answers_the_vectors_of_the_link(kind: str, suite: Suite, cores: Path, tmp_path: Path) -> None:
    """Keys, every long message as it is sent, every message as it is received and answered."""
    skip_without(TOOL_SETS[kind])
    if not (cores / f"{suite}-{kind}.so").exists():
        pytest.skip(f"{COMPILERS[kind][0]} is not here")
    core = Core(kind, suite, cores, tmp_path)
    for vector in (vector for vector in STORED if vector["suite"] == suite):
        link = link_of(vector)
        for use, expected in vector["keys"].items():
            salt, epoch = (
                (vector["salt"], vector["epoch"]) if int(use) < 4 * 32 else (vector["generation"], 0)
            )
            head = (
                bytes([int(use), vector["node"]]) + salt.to_bytes(2, "little") + epoch.to_bytes(4, "little")
            )
            core.call("k", bytes.fromhex(vector["node_key"]) + head, None, [], expected)
        for told in vector["messages"]:
            if told["flags"] & FILE == COMMAND:
                continue
            down, counter, plain = told["down"], told["counter"], bytes.fromhex(told["message"])
            confirmed = told["flags"] & CONFIRMED
            if told["form"] == "long":
                slot = link.slot(counter, 0)
                core.call("m", link.key_block(bool(down)) + 2 * slot + 6 * ERASED, Event.NOTHING, [])
                sent = Event.WAITING if confirmed else Event.SENT
                core.call("s", bytes([told["flags"] | LONG]) + plain, sent, told["packets"])
            slot = link.slot(0, counter)
            core.call("m", link.key_block(not down) + 2 * slot + 6 * ERASED, Event.NOTHING, [])
            *first, last = [bytes.fromhex(packet) for packet in told["packets"]]
            for packet in first:
                core.call("r", packet, Event.NOTHING, [])
            taken = Event.FILE_PART if told["flags"] & FILE == FILE else Event.MESSAGE
            core.call("r", last, taken, [], told["message"])
            core.call("a", b"\1", None, [told["answers"]["accepted"]] if confirmed else [])
    assert core.check() > 100
    assert model.SUITES[suite] == SUITES[suite].suite
