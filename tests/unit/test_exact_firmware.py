"""A firmware's build, call by call: what the compiler and the linker are given, and what its key covers."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from motecrypt.base.errors import InputError
from motecrypt.base.model import Memory, Placement
from motecrypt.build.toolchain import BuildError, BuildRequest, firmware
from motecrypt.build.toolchain.firmware import Firmware
from motecrypt.build.toolchain.sizes import Sizes
from motecrypt.catalog import FIRMWARE, Catalog

CATALOG = Catalog.load()
OURS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
COMMON = ("-gdwarf-4", "-gno-record-gcc-switches", "-ffunction-sections", "-fdata-sections", "-fno-common")
SIZES = Sizes(1, 2, 3), Sizes(4, 5, 6)


@pytest.fixture
def request_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BuildRequest:
    """A cipher of two sources in a folder of its own, for a device in another."""
    monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path / "cache"))
    cipher, device = tmp_path / "cipher", tmp_path / "device"
    files = {
        "cipher/a.c": '#include "b.h"', "cipher/sub/b.S": "", "cipher/b.h": "// b", "cipher/unused.h": "// u",
        "device/hal.c": "// hal", "device/d.S": "", "device/l.ld": "", "device/i.h": "", "device/s.py": "",
        "device/notes.md": "", "cipher/inc/own.h": "// own", "device/device.toml": "",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    body = replace(
        CATALOG.implementations_of("aes128-cbc", "uno", ["motecrypt"])[0],
        folder=cipher,
        sources=("a.c", "sub/b.S"),
        include=("inc",),
        defines=("BLOCK_HEADER=<own.h>", "X=1"),
        header="b.h",
        c_flags=("-O2",),
        fetched=False,
        key_bytes_measured=16,
        key_bytes_allowed=32,
    )
    uno = CATALOG.device("uno")
    compiler = replace(
        uno.compiler,
        command="gcc",
        machine_flags=("-m",),
        flags=("-Os",),
        link_flags=("-T{device}/l.ld",),
        defines=("D=1",),
    )
    place = Placement("flash", defines=("P=1",), link_flags=("-L{device}",))
    made = replace(
        uno,
        folder=device,
        hal=("hal.c",),
        compiler=compiler,
        bench={"key": 8, "ad": 9},
        placements={"flash": place},
    )
    return BuildRequest(made, body, "flash")


def test_flags_are_the_users_or_the_devices_and_the_variants(request_: BuildRequest) -> None:
    assert request_.cipher_flags == ("-Os", "-O2") and request_.flags_given == "-m -Os -O2"
    users = replace(request_, flags=("-O3", "-flto"))
    assert users.cipher_flags == ("-O3", "-flto") and users.flags_given == "-m -O3 -flto"


DEFINES = ("P=1", "BLOCK_HEADER=<own.h>", "X=1", "CIPHER_KEY_BYTES_MAX=16", 'CIPHER_HEADER="b.h"')
ALL_DEFINES = ("D=1", *DEFINES, "BENCH_AD_BYTES=9", "BENCH_KEY_BYTES=8")


def test_what_a_cipher_gives_the_compiler(request_: BuildRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    cipher, device = request_.implementation.folder, request_.device.folder
    given = firmware.cipher_inputs(request_)
    assert given.sources == (cipher / "a.c", cipher / "sub/b.S")
    assert given.directories == (
        *(cipher, FIRMWARE / "include", FIRMWARE / "modes", device, cipher / "inc", cipher, cipher / "sub"),
    )
    assert given.defines == DEFINES and given.headers_named == ["own.h", "b.h"]
    shared = replace(
        request_, device=replace(request_.device, compiler=replace(request_.device.compiler, shared=True))
    )
    assert "CIPHER_KEY_BYTES_MAX=32" in firmware.cipher_inputs(shared).defines
    assert firmware._headers_named(("A", "B=", 'C="x"', "D=<y>", "E=z", 'F=""', "G=<>", "H=1<2", 'I="')) == [
        *("x", "y"),
    ]
    body = request_.implementation
    elsewhere = replace(request_, implementation=replace(body, sources=("/else/c.c", "@/d.c"), fetched=True))
    monkeypatch.setattr(firmware, "source_root", lambda folder: Path("/fetched") / folder.name)
    assert firmware.cipher_inputs(elsewhere).sources == (Path("/else/c.c"), Path("/fetched/cipher/d.c"))
    lacking = replace(request_, implementation=replace(body, sources=("@/d.c",)))
    with pytest.raises(
        BuildError, match=r"^'@/d\.c' needs a fetched source, and library\.toml names no \[\[source\]\]$"
    ):
        firmware.cipher_inputs(lacking)


def test_a_key_covers_all_that_a_build_reads(request_: BuildRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    covered: list[Any] = []
    dumps = json.dumps

    def noted(parts: Any, **settings: Any) -> str:
        covered.append(parts)
        return dumps(parts, **settings)

    asked: list[Any] = []
    monkeypatch.setattr(firmware.json, "dumps", noted)
    monkeypatch.setattr(firmware.toolchain, "identity", lambda command: f"{command} 1")
    monkeypatch.setattr(
        firmware.toolchain, "runtime", lambda *given: asked.append(given) or (("libc.a", "hash"),)
    )
    key = firmware.key_of(request_)
    (parts,) = covered
    assert key == hashlib.sha256(dumps(parts, sort_keys=True).encode()).hexdigest()
    files = parts.pop("files")
    ours = {"hal.c", "d.S", "l.ld", "i.h", "s.py", "a.c", "b.S", "b.h", "unused.h", "own.h", "bench.c"}
    assert {name for name, _ in files} >= ours and not {"notes.md", "device.toml"} & {n for n, _ in files}
    assert ("b.h", hashlib.sha256(b"// b").hexdigest()) in files and files == sorted(files)
    assert parts == {
        "version": (3, COMMON, OURS),
        "compiler": "gcc 1",
        "runtime": (("libc.a", "hash"),),
        "machine": ("-m",),
        "base": ("-Os",),
        "flags": ("-Os", "-O2"),
        "link": ("-T{device}/l.ld", "-L{device}"),
        "defines": ALL_DEFINES,
        "memory": {name: asdict(memory) for name, memory in request_.device.memory.items()},
        "order": ["a.c", "b.S", "hal.c"],
        "warnings": OURS,
    }
    assert asked == [("gcc", ("-m",))]
    with pytest.raises(InputError, match=r"^device uno has no placement 'ram'$"):
        firmware.key_of(replace(request_, placement="ram"))


def test_who_compiles_links_and_warns(request_: BuildRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(firmware.toolchain, "identity", lambda command: f"{command} 1")
    monkeypatch.setattr(firmware.toolchain, "runtime", lambda *given: given)
    device, body = request_.device, request_.implementation

    def with_compiler(**changes: Any) -> Any:
        return replace(device, compiler=replace(device.compiler, **changes))

    clang = with_compiler(command="clang", linker="gcc", root="/r", compile_flags=("-I/r/x", "-y"))
    assert firmware._compilers(device) == "gcc 1"
    assert firmware._compilers(clang) == ("clang 1", "gcc 1", "-I/x", "-y")
    plain = replace(clang, compiler=replace(clang.compiler, root=""))
    assert firmware._compilers(plain) == ("clang 1", "gcc 1", "-I/r/x", "-y")
    assert firmware._runtime(clang) == ("gcc", ("-m",))
    assert firmware._runtime(with_compiler(shared=True)) == ()
    assert firmware._strictness(body, device.compiler) == OURS
    for library in ("a", "zlib"):
        assert firmware._strictness(replace(body, library=library), device.compiler) == ("-w",)
    assert firmware._strictness(body, clang.compiler) == ("-w",)


class Tools:
    """Writes down what is compiled and linked, and makes the files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.compiled: list[Any] = []
        self.linked: list[Any] = []
        self.table: dict[str, int] = {}
        self.measured: list[Any] = []
        monkeypatch.setattr(firmware.toolchain, "compile_object", self._compile)
        monkeypatch.setattr(firmware.toolchain, "link", self._link)
        monkeypatch.setattr(firmware.toolchain, "identity", lambda command: f"{command} 1")
        monkeypatch.setattr(firmware, "symbols", lambda elf: self.table)
        monkeypatch.setattr(firmware, "elf_sizes", lambda *given: self.measured.append(given) or SIZES[0])
        monkeypatch.setattr(firmware, "object_sizes", lambda *given: self.measured.append(given) or SIZES[1])

    def _compile(self, command: str, flags: Any, source: Path, target: Path, work: Path) -> None:
        self.compiled.append((command, flags, source, target.name))
        assert target.parent == work
        target.write_text("o")

    def _link(self, command: str, flags: Any, objects: Any, elf: Path, work: Path) -> None:
        self.linked.append((command, flags, [o.name for o in objects], elf.name))
        (work / "map").write_bytes(b"map \xff")
        elf.write_bytes(b"elf")


def test_what_is_compiled_and_linked(
    request_: BuildRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, work = Tools(monkeypatch), tmp_path / "work"
    work.mkdir()
    cipher, device = request_.implementation.folder, request_.device.folder
    maps = tuple(
        f"-fdebug-prefix-map={place}={name}"
        for place, name in (
            *((cipher, "cipher"), (FIRMWARE, "firmware")),
            *((tmp_path / "cache" / "sources", "sources"), (work, ".")),
        )
    )
    folders = (
        cipher,
        FIRMWARE / "include",
        FIRMWARE / "modes",
        device,
        cipher / "inc",
        cipher,
        cipher / "sub",
    )
    tail = (*maps, *(f"-D{d}" for d in ALL_DEFINES), *(f"-I{folder}" for folder in folders))
    firmware._compile_all(request_, work)
    bench = ("-m", *COMMON, *tail, "-Os", *OURS, "-fno-lto")
    mine = ("-m", *COMMON, *tail, *OURS, "-Os", "-O2")
    sources = [FIRMWARE / "bench" / "bench.c", device / "hal.c", cipher / "a.c", cipher / "sub" / "b.S"]
    names = ["bench_bench.o", "bench_hal.o", "cipher0_a.o", "cipher1_b.o"]
    given = [bench, bench, mine, mine]
    assert tools.compiled == [("gcc", *one) for one in zip(given, sources, names, strict=True)]
    link = ("-m", "-Os", "-O2", *maps, "-Wl,--gc-sections", f"-T{device}/l.ld", f"-L{device}")
    assert tools.linked == [("gcc", link, names, "firmware.elf")]
    assert tools.measured == [
        (work / "firmware.elf", request_.device.memory),
        ("map \ufffd", {"cipher0_a.o", "cipher1_b.o"}, request_.device.memory),
    ]
    assert sorted(path.name for path in work.iterdir()) == ["firmware.elf", "sizes.json"]
    # a Clang from elsewhere, for code that is loaded into this process
    compiler = replace(
        request_.device.compiler,
        command="clang",
        linker="gcc",
        compile_flags=("-c",),
        root="/root",
        shared=True,
    )
    shared = replace(request_, device=replace(request_.device, compiler=compiler))
    tools.compiled.clear()
    firmware._compile_all(shared, work)
    first, *_, last = tools.compiled
    own = (*tail[: len(maps)], *(f"-D{d}" for d in ALL_DEFINES), *tail[len(maps) + len(ALL_DEFINES) :])
    own = tuple(flag.replace("BYTES_MAX=16", "BYTES_MAX=32") for flag in own)
    base = ("-m", "-fPIC", *COMMON, "-fdebug-prefix-map=/root=", *own)
    assert first[:2] == ("clang", ("-c", *base, "-Os", "-w", "-fno-lto"))
    assert last[:2] == ("gcc", (*base, "-w", "-Os", "-O2")) and tools.linked[-1][0] == "gcc"


@pytest.mark.parametrize(
    ("table", "end"),
    [
        ({"_end": 12, "__bss_end__": 13, "end": 14}, 12),
        ({"__bss_end__": 13, "end": 14}, 13),
        ({"end": 14}, 14),
        ({}, 0),
        ({"_end": 30}, 0),
        ({"_end": 9}, 0),
    ],
)
def test_what_is_kept_of_a_build(
    table: dict[str, int], end: int, request_: BuildRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = Tools(monkeypatch)
    tools.table = table
    (tmp_path / "map").write_text("")
    (tmp_path / "f.elf").write_bytes(b"elf")
    device = replace(request_.device, memory={"ram": Memory(20, 10, 20)})
    firmware._finish(device, tmp_path / "f.elf", set(), tmp_path)
    stored = json.loads((tmp_path / "sizes.json").read_text())
    digest = hashlib.sha256(b"elf").hexdigest()
    total, cipher = (asdict(sizes) for sizes in SIZES)
    assert stored == {"sha256": digest, "total": total, "cipher": cipher, "data_end": end}
    assert firmware._load(request_, tmp_path, "key") == Firmware(
        tmp_path / "firmware.elf", "key", digest, "gcc 1", "-m -Os -O2", *SIZES, end
    )
    firmware._finish(replace(device, memory={}), tmp_path / "f.elf", set(), tmp_path)
    assert json.loads((tmp_path / "sizes.json").read_text())["data_end"] == 0


def test_a_build_is_taken_from_the_cache(
    request_: BuildRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Any] = []
    monkeypatch.setattr(firmware, "key_of", lambda request: "abcdef")
    monkeypatch.setattr(firmware, "_load", lambda request, folder, key: (folder, key))

    def build_into(request: BuildRequest, folder: Path, key: str) -> None:
        built.append((folder, key))
        folder.mkdir(parents=True)
        (folder / "sizes.json").write_text("")

    monkeypatch.setattr(firmware, "_build_into", build_into)
    place = tmp_path / "cache" / "firmware" / "ab" / "abcdef"
    other = tmp_path / "cache" / "firmware" / "gh" / "ghi"
    for _ in range(2):
        assert firmware.build(request_) == (place, "abcdef")
        assert firmware.build(request_, "ghi") == (other, "ghi")
    assert built == [(place, "abcdef"), (other, "ghi")]


def test_what_debug_information_calls_a_file() -> None:
    names = {"/r": "", "/r/x": "cipher", "/w": "."}
    for file, told in (("/r/x/a.c", "cipher/a.c"), ("/r/a.c", "/a.c"), ("/w/a.o", "./a.o"), ("/z/a", "/z/a")):
        assert firmware._named(Path(file), names) == told
