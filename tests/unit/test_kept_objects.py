"""A device's own sources are compiled once; what results is what compiling them again would give."""

from __future__ import annotations

import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from motecrypt.base.model import Device
from motecrypt.build.toolchain import BuildRequest, firmware, objects
from motecrypt.build.toolchain.objects import Read, compiled, kept, seen
from motecrypt.catalog import Catalog


def test_only_definitions_that_stand_in_what_is_read_are_seen(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text('#include "b.h"\nint a = SIZE; // RATES are nothing\n')
    (tmp_path / "b.h").write_text("#ifdef LEVEL2\n#endif\n#include <nowhere.h>\n")
    found = seen(tmp_path / "a.c", [tmp_path], ["SIZE=3", "RATE=1", "LEVEL2", "LEVEL=2", "SIZ=1"])
    assert found == Read((tmp_path / "a.c", tmp_path / "b.h"), ("SIZE=3", "LEVEL2"))


def test_a_definition_is_seen_through_another(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int a = SIZE(2);\n")
    defines = ["LAST=4", "FIRST=1", "SIZE(x)=(x * RATE)", "RATE=FIRST + 1", "OTHER=LAST"]
    found = seen(tmp_path / "a.c", [tmp_path], defines)
    assert found == Read((tmp_path / "a.c",), ("FIRST=1", "SIZE(x)=(x * RATE)", "RATE=FIRST + 1"))


def test_a_definition_may_be_pasted_together(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("#define JOINED(a, b) LEVEL_ ## a ## b\nint a = JOINED(TOP, 2);\n")
    defines = [
        "LEVEL_TOP2=1",
        "LEVEL_TOP=1",
        "LEVEL_TO=2",
        "LEVEL_TOP3=2",
        "EVEL_TOP=2",
        "2LEVEL_=1",
        "LEVEL=2",
    ]
    found = seen(tmp_path / "a.c", [tmp_path], defines)
    assert found is not None and found.defines == ("LEVEL_TOP2=1", "LEVEL_TOP=1", "2LEVEL_=1")
    (tmp_path / "a.c").write_text("#define JOINED(a, b) LEVEL_ # a # b\nint a = JOINED(TOP, 2);\n")
    assert seen(tmp_path / "a.c", [tmp_path], defines) == Read((tmp_path / "a.c",), ())


HEADERS = (
    "#include HEADER",
    " # include  _HEADER",
    "#include h(1)",
    "#include/**/HEADER",
    "#include \\",
    "#import X",
)


@pytest.mark.parametrize("line", [*HEADERS, "#include_next HEADER"])
def test_what_a_definition_includes_cannot_be_known(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.c").write_text('#include "b.h"\n')
    (tmp_path / "b.h").write_text(f"int x;\n{line}\n")
    assert seen(tmp_path / "a.c", [tmp_path], ["HEADER=1"]) is None


def test_a_definition_may_name_a_header(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text('#include "below/b.h"\n#include <nowhere.h>\n#include OTHER\n')
    below = tmp_path / "below"
    below.mkdir()
    (below / "b.h").write_text("#ifndef HEADER\n#define HEADER <d.h>\n#endif\n  #  include\tHEADER \n")
    (below / "c.h").write_text("int c = SIZE;\n")
    (tmp_path / "c.h").write_text("int c;\n")
    (tmp_path / "d.h").write_text("int d = RATE;\n")

    def found(*defines: str) -> Read | None:
        return seen(tmp_path / "a.c", [tmp_path], [*defines, "SIZE=3", "RATE=4"])

    files = (tmp_path / "a.c", below / "b.h", below / "c.h", tmp_path / "d.h")
    named = ('HEADER="c.h"', "OTHER=<d.h>")
    assert found(*named) == Read(files, (*named, "SIZE=3", "RATE=4"), names_headers=True)
    both = ('HEADER="d.h"', 'OTHER="d.h"')
    assert found(*both) == Read((*files[:2], files[3]), (*both, "RATE=4"), names_headers=True)
    for last in ("OTHER", "OTHER=d.h", 'OTHER="d.h', 'OTHER=""', "OTHERS=<d.h>"):
        assert found('HEADER="c.h"', last) is None, last
    for line in ("#define OTHER 1", " # undef  HEADER", '__asm__(".incbin \\"x\\"");', "#include h(1)"):
        (below / "c.h").write_text(line + "\n")
        assert found(*named) is None, line
        assert found(*both) is not None


def test_flags_that_define_are_more_than_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int a = SIZE;\n")
    given = (tmp_path / "a.c", [tmp_path], ["SIZE=3"])
    assert seen(*given, ["-O2", "-g"]) == seen(*given) == Read((tmp_path / "a.c",), ("SIZE=3",))
    for flag in ("-DRATE=SIZE", "-USIZE", "-g3"):
        assert seen(*given, ["-O2", flag]) is None, flag


@pytest.mark.parametrize(
    ("text", "is_seen"),
    [
        ("int a; /* SIZE\n SIZE */\n", False),
        ("/* a */ int a = SIZE; /* b */\n", True),
        ('char *a = "/*"; int b = SIZE; /* c */\n', True),
        ('int a = \'"\'; int b = SIZE; char *c = "*/";\n', True),
        ("int a; // from a/*.c \\\n and b/*.c\nint b = SIZE; /* c */\n", True),
        ("#ifndef SIZE\n#define SIZE 2\n#endif\n", False),
        (" # ifndef SIZE \n #\tdefine SIZE\n#endif\nint a = SIZES;\n", False),
        ("#ifndef SIZE\n#define SIZE 2\n#endif\nint a = SIZE;\n", True),
        ("#ifndef SIZE\n#define SIZE 2\n#endif\n#ifdef SIZE\n#endif\n", True),
        ("#ifndef SIZE\n#define SIZE(x) x\n#endif\n", True),
        ("#ifndef SIZE\n#define SIZES 2\n#endif\n", True),
        ("#ifndef SIZE\n#define SIZE\\\n 2\n#endif\n", True),
        ("#ifndef RATE\n#define RATE SIZE\n#endif\n", True),
        ("#ifndef SIZE\nint a;\n#define SIZE 2\n#endif\n", True),
    ],
)
def test_comments_and_defaults_that_nothing_uses_see_nothing(
    tmp_path: Path, text: str, is_seen: bool
) -> None:
    (tmp_path / "a.c").write_text(text)
    found = seen(tmp_path / "a.c", [tmp_path], ["SIZE=3"])
    assert found == Read((tmp_path / "a.c",), ("SIZE=3",) if is_seen else ())


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(objects, "cache_dir", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "objects"


def test_an_object_is_made_once_of_the_same(cache: Path, tmp_path: Path) -> None:
    target = tmp_path / "a.o"
    made = []

    def make(made_of: object) -> bytes:
        def compile_it() -> None:
            made.append(made_of)
            target.write_bytes(f"{len(made)}".encode())

        target.unlink(missing_ok=True)
        kept(made_of, target, compile_it)
        return target.read_bytes()

    assert [make(["gcc", ("-O2",)]) for _ in range(3)] == [b"1"] * 3
    assert make(["gcc", ("-O3",)]) == b"2" and make(["gcc", ("-O2", "")]) == b"3"
    assert make(["gcc", ("-O2",)]) == b"1"
    assert len(made) == 3 and sorted(file.suffix for file in cache.iterdir()) == [".o"] * 3


def test_threads_that_want_the_same_object_compile_it_once(cache: Path, tmp_path: Path) -> None:
    made: list[str] = []
    together = threading.Barrier(3)

    def want(name: str) -> bytes:
        target = tmp_path / name

        def compile_it() -> None:
            made.append(name)
            target.write_bytes(b"object")
            time.sleep(0.2)

        together.wait(20)
        kept("the same", target, compile_it)
        return target.read_bytes()

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(want, "abc")) == [b"object"] * 3
    assert len(made) == 1


def test_what_does_not_compile_is_not_kept(cache: Path, tmp_path: Path) -> None:
    def fails() -> None:
        raise ValueError

    for _ in range(2):
        with pytest.raises(ValueError):
            kept([], tmp_path / "a.o", fails)
    assert not cache.exists()


def test_debug_information_names_a_file_by_the_last_folder_that_matches() -> None:
    names = {"/unpacked": "", "/cache/sources/lib": "cipher", "/cache/sources": "sources"}
    told = [
        firmware._named(Path(file), names) for file in ("/unpacked/a.h", "/cache/sources/lib/b.c", "/c.h")
    ]
    assert told == ["/a.h", "sources/lib/b.c", "/c.h"]


def test_what_is_compiled_is_told_by_its_text_and_the_names_of_its_files() -> None:
    def told(text: bytes | None, *flags: str) -> str | None:
        return compiled(text, flags, lambda name: name.replace("/here", "cipher"))

    text = b'# 1 "/here/a.h" 1\nint a = "/here";\n# 2 "/there/a.h"\n'
    assert told(text) == told(text.replace(b'"/here/', b'"cipher/')) != told(text.replace(b'= "/h', b'= "h'))
    assert told(text) != told(text.replace(b"# 2", b"# 3")) and told(text) != told(text + b"\n")
    assert told(text, "-O2", "-gdwarf-4") == told(text)  # the flags are a separate part of the key
    assert told(text, "-O2", "-g3") is told(text, "-frecord-gcc-switches") is told(None) is None
    assert told(text + b'asm(".incbin \\"x\\"");') is told(text + b'.include "x"') is None


def test_a_source_whose_header_a_definition_names_is_compiled_once_of_the_same(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    compile_object = firmware.toolchain.compile_object

    def counted(command: str, flags: tuple[str, ...], source: Path, target: Path, work: Path) -> None:
        made.append(source.name)
        compile_object(command, flags, source, target, work)

    monkeypatch.setattr(firmware.toolchain, "compile_object", counted)
    catalog = Catalog.load()
    device = catalog.device("uno")
    body = catalog.implementations_of("aes128-cbc", "uno", ["motecrypt"])[0]
    assert "bench.c" not in device.hal and "BLOCK_HEADER" in "".join(body.defines)
    elves = []
    for name, extra in (("one", ()), ("same", ("NOT_READ=1",)), ("other", ("message_bytes=renamed",))):
        made.clear()
        changed = replace(body, defines=(*body.defines, *extra))
        elves.append(_elf(BuildRequest(device, changed, "flash"), tmp_path / name))
        assert ("bench.c" in made) == (name != "same") and ("cbc.c" in made) == (name == "one"), name
    assert elves[0] == elves[1] != elves[2]


def _elf(request: BuildRequest, work: Path) -> bytes:
    work.mkdir()
    firmware._compile_all(request, work)
    return (work / "firmware.elf").read_bytes()


@pytest.mark.parametrize(
    ("name", "first", "second", "shared"),
    [
        ("uno", "rc4", "aes128-ecb", {"hal.c"}),
        ("pico", "rc4", "aes128-ecb", {"hal.c"}),
        ("uno", "aes128-ccm8", "aes128-ccm16", {"hal.c", "aes_tables.c"}),  # a header that a definition names
    ],
)
def test_the_firmware_is_the_same_whether_its_parts_were_kept_or_not(
    cache: Path,
    tmp_path: Path,
    name: str,
    first: str,
    second: str,
    shared: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    catalog = Catalog.load()
    device = catalog.device(name)
    compiled: list[str] = []
    compile_object = firmware.toolchain.compile_object

    def counted(command: str, flags: tuple[str, ...], source: Path, target: Path, work: Path) -> None:
        compiled.append(source.name)
        compile_object(command, flags, source, target, work)

    monkeypatch.setattr(firmware.toolchain, "compile_object", counted)
    one, other = (
        BuildRequest(device, catalog.implementations_of(cipher, name, ["motecrypt"])[0], "flash")
        for cipher in (first, second)
    )
    fresh = _elf(other, tmp_path / "fresh")
    shutil.rmtree(cache)
    _elf(one, tmp_path / "one")
    compiled.clear()
    assert _elf(other, tmp_path / "kept") == fresh
    assert not shared & set(compiled) and "bench.c" in compiled
    # Another level of optimisation for the device is another object; a device elsewhere says where it is.
    quick = replace(device, compiler=replace(device.compiler, flags=("-O1",)))
    compiled.clear()
    _elf(replace(other, device=quick), tmp_path / "quick")
    assert "hal.c" in compiled
    compiled.clear()
    _elf(replace(other, device=_elsewhere(device, tmp_path / "mine")), tmp_path / "moved")
    assert "hal.c" in compiled


def _elsewhere(device: Device, folder: Path) -> Device:
    shutil.copytree(device.folder, folder)
    return replace(device, folder=folder)
