"""How compilers are called and what they answer, and what an ELF takes of each memory; nothing is built."""

from __future__ import annotations

import stat
import struct
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import FailureKind, InputError
from motecrypt.base.model import Memory
from motecrypt.base.process import Outcome
from motecrypt.build.toolchain import (
    BuildError,
    debian,
    files,
    firmware,
    includes,
    native,
    sizes,
    sources,
    toolchain,
)
from motecrypt.build.toolchain.sizes import Sizes

Ran = Callable[..., Outcome]


class Programs:
    """What programs are asked, and their answers in turn; the last is given again."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: Outcome) -> None:
        self.asked: list[list[str]] = []
        self.folders: list[Path | None] = []
        self.answers = list(answers)
        self.makes: Path | None = None
        monkeypatch.setattr(toolchain.process, "run", self._run)

    def _run(self, command: list[Any], *, cwd: Path | None = None, work_s: float = 1) -> Outcome:
        self.asked.append([str(part) for part in command])
        self.folders.append(cwd)
        if self.makes is not None:
            self.makes.write_text("made")
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


OK, BAD = Outcome(0, "", ""), Outcome(1, "", "a.c:3: error: no")


def test_what_fails_is_tried_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    for answers, code, times in (
        ([OK, BAD], 0, 1),
        ([BAD, OK], 0, 2),
        ([BAD, BAD, OK], 1, 2),
        ([Outcome(None, "", ""), OK], None, 1),
        ([Outcome(-9, "", ""), OK], -9, 1),
        ([Outcome(-1, "", ""), OK], -1, 1),
    ):
        ran = Programs(monkeypatch, *answers)
        assert toolchain.run_compiler(["gcc"], cwd=Path("/x")).code == code
        assert len(ran.asked) == times and set(ran.folders) == {Path("/x")}


def test_whose_fault_a_failure_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    free = [toolchain.ROOM_BYTES]
    monkeypatch.setattr(toolchain.shutil, "disk_usage", lambda folder: SimpleNamespace(free=free[0]))
    assert toolchain.ROOM_BYTES == 1 << 20

    def told(outcome: Outcome) -> tuple[str, FailureKind, bool, str]:
        error = toolchain.failure(outcome, tmp_path, "lib: ")
        return str(error), error.kind, error.transient, error.cause

    assert told(BAD) == ("lib: a.c:3: error: no", FailureKind.REFUSED, False, "no")
    assert told(Outcome(-9, "", "killed")) == ("lib: killed", FailureKind.INTERRUPTED, True, "killed")
    assert told(Outcome(None, "", "gcc: not found"))[:3] == ("lib: gcc: not found", FailureKind.MISSING, True)
    free[0] -= 1
    full = f"no space left in {tmp_path}"
    assert told(BAD) == (f"lib: {full}", FailureKind.INTERRUPTED, True, full)
    assert str(toolchain.failure(OK, tmp_path)) == full


def test_a_compilers_name_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    named = toolchain.identity.__wrapped__
    ran = Programs(monkeypatch, Outcome(0, " gcc 1 \nmore", ""))
    assert named("gcc") == "gcc 1" and ran.asked == [["gcc", "--version"]]
    for answer in (Outcome(1, "gcc", ""), Outcome(0, "", ""), Outcome(None, "", "")):
        Programs(monkeypatch, answer)
        with pytest.raises(InputError, match=r"^the compiler 'gcc' is missing; 'motecrypt doctor' shows how"):
            named("gcc")


def test_where_a_compiler_has_its_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "libx.a").write_text("x")
    find = toolchain.installed_file.__wrapped__
    for answer, found in (
        (Outcome(0, f"{tmp_path}/libx.a\n", ""), tmp_path / "libx.a"),
        (Outcome(1, f"{tmp_path}/libx.a\n", ""), None),
        (Outcome(0, "libx.a\n", ""), None),  # GCC says the bare name of what it has not
        (Outcome(0, f"{tmp_path}/none.a\n", ""), None),
        (Outcome(0, f"{tmp_path}\n", ""), None),
    ):
        ran = Programs(monkeypatch, answer)
        assert find("gcc", ("-m32",), "libx.a") == (found.resolve() if found else None)
        assert ran.asked == [["gcc", "-m32", "-print-file-name=libx.a"]]


def test_what_is_linked_in_besides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    asked: list[str] = []
    monkeypatch.setattr(
        toolchain,
        "installed_file",
        lambda command, flags, name: asked.append(name) or (tmp_path / "file" if "crt" in name else None),
    )
    monkeypatch.setattr(toolchain, "_part_version", lambda command, name: f"{command} {name}")
    linked = toolchain.runtime.__wrapped__("avr-gcc", ("-Os", "-mmcu=atmega328p"))
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"  # SHA-256 of "x"
    assert ("crtatmega328p.o", digest) in linked and {value for _, value in linked[:-2]} == {digest}
    assert linked[-2:] == (("as", "avr-gcc as"), ("ld", "avr-gcc ld")) and "libc.a" in asked
    monkeypatch.undo()
    ran = Programs(monkeypatch, Outcome(0, "/bin/as\n", ""), Outcome(0, " GNU as 1 \nmore", ""))
    assert toolchain._part_version("gcc", "as") == "GNU as 1"
    assert ran.asked == [["gcc", "-print-prog-name=as"], ["/bin/as", "--version"]]
    ran = Programs(monkeypatch, Outcome(0, "\n", ""))
    assert toolchain._part_version("gcc", "as") == "" and len(ran.asked) == 1


@pytest.mark.parametrize(
    ("name", "driver", "first"),
    [("a.c", "x-gcc", "-std=gnu99"), ("a.cpp", "x-g++", "-std=gnu++11"), ("a.cc", "x-g++", "-std=gnu++11")],
)
def test_a_source_is_compiled_in_its_language(
    name: str, driver: str, first: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    target = tmp_path / "a.o"
    ran = Programs(monkeypatch, OK)
    ran.makes = target
    toolchain.compile_object("x-gcc", ("-Os",), Path(name), target, tmp_path)
    toolchain.compile_object("x-gcc", ("-Os",), Path(name), target, tmp_path, plain=True)
    languages = [command[1 : command.index("-Os")] for command in ran.asked]
    assert languages[0][0] == first and languages[1] == []
    assert [command[0] for command in ran.asked] == [driver] * 2 and set(ran.folders) == {tmp_path}
    assert ran.asked[1][1:] == ["-Os", "-c", name, "-o", str(target)]
    ran = Programs(monkeypatch, OK)
    ran.makes = tmp_path / "a.preprocessed"
    assert toolchain.preprocessed("x-gcc", ("-Os",), Path(name), tmp_path) == b"made"
    assert ran.asked[0][:-4] == [driver, *languages[0], "-Os"] and not ran.makes.exists()
    ran = Programs(monkeypatch, OK)
    ran.makes = target
    toolchain.compile_object("clang", (), Path("a.S"), target, tmp_path)
    toolchain.compile_object("clang", (), Path("a.cpp"), target, tmp_path)
    assert ran.asked[0] == ["clang", "-c", "a.S", "-o", str(target)] and ran.asked[1][0] == "clang"


def test_a_compiler_that_makes_nothing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def compiled() -> None:
        toolchain.compile_object("gcc", (), Path("d/a.c"), tmp_path / "a.o", tmp_path)

    def linked() -> None:
        toolchain.link(
            "gcc", ("-Os",), [Path("d/a.o"), Path("b.o")], tmp_path / "f.elf", tmp_path, libraries=("-lm",)
        )

    Programs(monkeypatch, Outcome(None, "", "gcc: not found"))
    with pytest.raises(BuildError, match=r"^a\.c needs the compiler gcc, which is not installed$") as missing:
        compiled()
    assert missing.value.transient and missing.value.kind is FailureKind.MISSING
    for call, name in ((compiled, "a.o"), (linked, "f.elf")):
        Programs(monkeypatch, BAD)
        with pytest.raises(BuildError, match=r"^a\.c:3: error: no$"):
            call()
        ran = Programs(monkeypatch, OK)
        with pytest.raises(BuildError, match=rf"^gcc reported success but made no {name}$"):
            call()
        ran.makes = tmp_path / name
        call()
    assert ran.asked[-1] == ["gcc", "-Os", "a.o", "b.o", "-lm", "-o", "f.elf", "-Wl,-Map=map"]
    assert ran.folders[-1] == tmp_path


# --- includes ----------------------------------------------------------------------------------------------


def test_includes_are_followed_through_the_folders(tmp_path: Path) -> None:
    files = {
        "a/a.c": '#include "a.h"\n # import <b.h>\n#include <stdio.h>\n// no\n.include "none.inc"\n',
        "a/a.h": '#include "c.h"\n',
        "a/c.h": "",
        "b/b.h": '#include "c.h"\n#include "a.h"\n',
        "b/c.h": '.incbin "d.bin"\n',
        "b/d.bin": "",
        "b/named.h": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    folders = [tmp_path / "b", tmp_path / "a"]
    found = includes.reached([tmp_path / "a/a.c"], folders, ["named.h", "absent.h"])
    assert [str(path.relative_to(tmp_path)) for path in found] == [
        *("a/a.c", "a/a.h", "b/b.h", "a/c.h", "b/c.h", "b/d.bin", "b/named.h"),
    ]
    (tmp_path / "a/b.h.gch").write_text("")
    for call in (
        lambda: includes.find("b.h", [str(tmp_path / "a")]),
        lambda: includes.refuse_precompiled([tmp_path / "b", tmp_path]),
    ):
        with pytest.raises(BuildError, match=r"a/b\.h\.gch: a precompiled header, which GCC would load"):
            call()
    includes.refuse_precompiled([tmp_path / "b"])
    (tmp_path / "b/inner/x.gch").mkdir(parents=True)
    with pytest.raises(BuildError, match=r"inner/x\.gch: a precompiled header"):
        includes.refuse_precompiled([tmp_path / "b"])


def test_what_is_no_source_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "source").write_bytes(b"1234")
    monkeypatch.setattr(includes, "FILE_BYTES_MAX", 4)
    assert len(includes.file_hash(tmp_path / "source")) == 64
    (tmp_path / "source").write_bytes(b"12345")
    with pytest.raises(BuildError, match=r"source: longer than 4 bytes: not a source$"):
        includes.file_hash(tmp_path / "source")
    with pytest.raises(BuildError, match=r": not a regular file$"):
        includes.file_hash(tmp_path)
    with pytest.raises(BuildError, match=r"none: No such file or directory$"):
        includes.file_hash(tmp_path / "none")


# --- what an ELF takes -------------------------------------------------------------------------------------

MEMORY = {
    "flash": Memory(1000, 0, 1000),
    "ram": Memory(100, 0x2000, 0x100),
    "eeprom": Memory(10, 0x8000, 0x100),
}
ALLOC, PROGBITS, NOBITS = 2, 1, 8


def elf(path: Path, *sections: tuple[str, int, int, int, int]) -> Path:
    """A 32-bit ELF with these sections (name, type, flags, address, size) and a symbol `start` at 8."""
    names = b"\0" + b"\0".join(name.encode() for name, *_ in sections) + b"\0.shstrtab\0.symtab\0.strtab\0"
    symbols = bytes(16) + struct.pack("<IIIBBH", 1, 8, 0, 0x12, 0, 1)
    strings = b"\0start\0"
    data = names + symbols + strings
    at = 52
    headers = [bytes(40)]
    for name, kind, flags, address, size in sections:
        place = names.index(b"\0" + name.encode() + b"\0") + 1
        headers.append(struct.pack("<10I", place, kind, flags, address, at, size, 0, 0, 1, 0))
    for name, kind, offset, size, link, entry in (
        (".shstrtab", 3, at, len(names), 0, 0),
        (".symtab", 2, at + len(names), len(symbols), len(sections) + 3, 16),
        (".strtab", 3, at + len(names) + len(symbols), len(strings), 0, 0),
    ):
        place = names.index(b"\0" + name.encode() + b"\0") + 1
        headers.append(struct.pack("<10I", place, kind, 0, 0, offset, size, link, 0, 1, entry))
    ident = b"\x7fELF\x01\x01\x01" + bytes(9)
    head = struct.pack(
        "<HHIIIIIHHHHHH", 2, 40, 1, 0, 0, at + len(data), 0, 52, 32, 0, 40, len(headers), len(sections) + 1
    )
    path.write_bytes(ident + head + data + b"".join(headers))
    return path


def test_sections_count_where_their_addresses_lie(tmp_path: Path) -> None:
    made = elf(
        tmp_path / "f.elf",
        (".text", PROGBITS, ALLOC | 4, 0, 100),
        (".data", PROGBITS, ALLOC | 1, 0x2000, 20),
        (".bss", NOBITS, ALLOC | 1, 0x2014, 7),
        (".eeprom", PROGBITS, ALLOC, 0x8000, 3),
        (".comment", PROGBITS, 1, 0, 5000),
        (".more", PROGBITS, ALLOC, 0x500, 11),
    )
    assert sizes.elf_sizes(made, MEMORY) == Sizes(flash=131, ram=27, eeprom=3)
    assert sizes.elf_sizes(made, {"flash": MEMORY["flash"]}) == Sizes(flash=141, ram=0, eeprom=0)
    assert sizes.symbols(made) == {"start": 8}


@pytest.mark.parametrize(("order", "mark"), [("<", 1), (">", 2)])
def test_an_elf_of_64_bits_and_of_either_byte_order(tmp_path: Path, order: str, mark: int) -> None:
    strings = b"\0start\0end\0"
    table = struct.pack(f"{order}24xIBBHQQIBBHQQ", 1, 0x12, 0, 1, 0x1_0000_0008, 0, 7, 0, 0, 1, 9, 0)
    sections = [
        (3, 0, 0, len(strings), 0),
        (2, 0, len(strings), len(table), 1),
        (NOBITS, ALLOC, 0x2000, 7, 0),
    ]
    rows = [struct.pack(f"{order}IIQQQQIIQQ", *[0] * 10)]
    for kind, flags, place, size, link in sections:
        address, offset = (place, 0) if flags else (0, 64 + place)
        rows.append(struct.pack(f"{order}IIQQQQIIQQ", 0, kind, flags, address, offset, size, link, 0, 1, 0))
    at = 64 + len(strings) + len(table)
    head = struct.pack(f"{order}HHIQQQIHHHHHH", 2, 0, 1, 0, 0, at, 0, 64, 56, 0, 64, len(rows), 0)
    made = tmp_path / "f.elf"
    ident = bytes([0x7F, *b"ELF", 2, mark, 1]) + bytes(9)
    made.write_bytes(ident + head + strings + table + b"".join(rows))
    assert sizes.symbols(made) == {"start": 0x1_0000_0008, "end": 9}
    assert sizes.elf_sizes(made, MEMORY) == Sizes(flash=0, ram=7, eeprom=0)


def test_an_elf_without_symbols(tmp_path: Path) -> None:
    made = elf(tmp_path / "f.elf", (".text", PROGBITS, ALLOC | 4, 0, 100))
    content = bytearray(made.read_bytes())
    (table,) = struct.unpack_from("<I", content, 32)
    struct.pack_into("<I", content, table + 3 * 40 + 4, PROGBITS)
    made.write_bytes(content)
    assert sizes.symbols(made) == {} and sizes.elf_sizes(made, MEMORY).flash == 100


# --- the host's own


def test_a_cipher_without_a_body_for_the_host_is_told() -> None:
    for variant, told in ((None, ""), ("none", " 'none'")):
        name = "rc4" if variant else "no-such"
        if variant is None:
            with pytest.raises(InputError, match="unknown cipher 'no-such'"):
                native.open_cipher(name, variant)
            continue
        with pytest.raises(InputError, match=rf"^{name}: no implementation{told} runs on the host$"):
            native.open_cipher(name, variant)


# --- archives of sources -----------------------------------------------------------------------------------


def test_a_hash_and_a_release_are_words_of_a_certain_form() -> None:
    def hashes(*given: str) -> tuple[str, ...]:
        return sources._hashes(Table.parse(f"sha256 = {list(given)!r}", "x.toml"))

    def releases(*given: str) -> tuple[str, ...]:
        return sources._releases(Table.parse(f"release = {list(given)!r}", "x.toml"))

    assert hashes("0123456789abcdef" * 4, "f" * 64) == ("0123456789abcdef" * 4, "f" * 64)
    for wrong in ("a" * 63, "b" * 65, "g" * 64, "A" * 64, ""):
        with pytest.raises(
            InputError, match=rf"^x\.toml: sha256 '{wrong[:20]}' is not 64 hexadecimal digits$"
        ):
            hashes("0" * 64, wrong)
    assert releases("bookworm", "sid-x2") == ("bookworm", "sid-x2")
    for wrong in ("Bookworm", "2x", "-x", "x_y", "X" * 30):
        with pytest.raises(
            InputError, match=rf"^x\.toml: release '{wrong[:20]}' is not the name of a Debian"
        ):
            releases("bookworm", wrong)


# --- the cache of firmware ---------------------------------------------------------------------------------


def test_a_firmware_appears_whole_in_the_cache_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = ["key"]
    request: Any = SimpleNamespace()
    folder = tmp_path / "ke" / "key"

    def compile_all(given: object, work: Path) -> None:
        assert given is request and work.parent == folder.parent
        (work / "sizes.json").write_text("{}")

    monkeypatch.setattr(firmware, "_compile_all", compile_all)
    monkeypatch.setattr(firmware, "key_of", lambda given: keys[0])
    keys[0] = "other"
    with pytest.raises(BuildError, match=r"^a source changed while it was compiled: build again$") as changed:
        firmware._build_into(request, folder, "key")
    assert changed.value.transient and changed.value.kind is FailureKind.INTERRUPTED
    assert list(folder.parent.iterdir()) == []
    keys[0] = "key"
    firmware._build_into(request, folder, "key")
    assert folder.stat().st_mode & 0o777 == 0o755  # as others may read it
    (folder / "sizes.json").write_text('{"first": 1}')
    firmware._build_into(request, folder, "key")  # another was faster: its files stay
    assert (folder / "sizes.json").read_text() == '{"first": 1}'
    (folder / "sizes.json").rename(folder / "damaged.json")
    with pytest.raises(InputError, match=r"/ke/key: cannot be written: Directory not empty$"):
        firmware._build_into(request, folder, "key")
    assert [path.name for path in folder.parent.iterdir()] == ["key"]


# --- archives ----------------------------------------------------------------------------------------------


def test_lists_that_another_process_uses_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    now, slept, asked = [0.0], [0], [0]
    free_after = [3]

    def flock(file: object, how: int) -> None:
        assert how == debian.LOCK_EX | debian.LOCK_NB
        asked[0] += 1
        assert asked[0] < 20_000, "waits for ever"
        if asked[0] <= free_after[0]:
            raise OSError

    def sleep(seconds: float) -> None:
        assert seconds == 0.1
        slept[0] += 1
        now[0] += seconds

    monkeypatch.setattr(debian, "flock", flock)
    monkeypatch.setattr(debian, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    file: Any = SimpleNamespace(name="lock")
    debian.alone(file)
    assert (asked[0], slept[0]) == (4, 3)
    free_after[0] = 1_000_000
    now[0] = 0.0
    with pytest.raises(BuildError, match=r"^lock: held by another process$") as held:
        debian.alone(file)
    assert held.value.transient and 900.0 < now[0] < 900.5  # as long as fetching may take


@pytest.mark.parametrize(
    "text", ["http://[x", "no address", "http://a b", "ftp2://a/b", "x" * 70, "http://\u00e4"]
)
def test_what_is_no_archives_address_is_shown_shortly(text: str) -> None:
    shown = text.encode("unicode_escape").decode()[:60]
    with pytest.raises(InputError) as told:
        debian.checked_mirror(text, "--mirror")
    assert str(told.value).startswith(
        f"--mirror '{shown}' is not the address of a Debian archive; write http"
    )
    assert debian.checked_mirror("http://a.example/debian/", "x") == "http://a.example/debian"


def test_packages_come_by_apt_from_the_first_archive_that_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []
    answers = {"update": OK, "download": OK}

    def run(command: list[str], timeout_s: float, cwd: Path) -> Outcome:
        assert timeout_s == 300 and cwd == tmp_path
        words = command[command.index("APT::Get::AllowUnauthenticated=false") + 1 :]
        asked.append(" ".join(words))
        return answers[words[0]]

    monkeypatch.setattr(debian.process, "run", run)
    monkeypatch.setattr(debian, "cache_dir", lambda: tmp_path / "cache")
    monkeypatch.setattr(debian, "KEYRING", tmp_path)
    monkeypatch.setattr(debian, "listed", list)
    monkeypatch.setattr(debian, "main_sites", lambda found: ["http://one", "http://two"])
    monkeypatch.delenv(debian.MIRROR_VARIABLE, raising=False)
    (tmp_path / "a_1.deb").write_text("")
    assert debian.packages("r", ["a"], tmp_path) == {"a": tmp_path / "a_1.deb"}
    assert asked == ["update", "download a"]
    (place,) = (tmp_path / "cache/debian").iterdir()
    name, _, digest = place.name.partition("-")
    assert name == "r" and len(digest) == 12
    lines = [
        f"deb [signed-by={tmp_path} target=Packages] {site} r main\n" for site in ("http://one", "http://two")
    ]
    assert (place / "sources.list").read_text() == "".join(lines)
    with pytest.raises(BuildError, match=r"^http://one r: did not bring b, c$"):
        debian.packages("r", ["a", "b", "c"], tmp_path)
    asked.clear()
    (place / "lists/x_Packages").write_text("")
    debian.packages("r", ["a"], tmp_path)
    assert asked == ["download a"]
    answers["download"] = BAD
    with pytest.raises(BuildError, match=r"^http://one r: a\.c:3: error: no$") as failed:
        debian.packages("r", ["a"], tmp_path)
    assert asked[1:] == ["download a", "update", "download a"] and failed.value.kind is FailureKind.MISSING
    answers["update"] = Outcome(1, "", "no net")
    asked.clear()
    with pytest.raises(BuildError, match=r"^http://one r: no net$"):
        debian.packages("r", ["a"], tmp_path)
    assert asked == ["download a", "update"]


@pytest.mark.parametrize(("keys", "signed"), [(True, "[signed-by={}] "), (False, "")])
@pytest.mark.parametrize(
    ("updated", "found", "said"), [(OK, BAD, r"a\.c:3: error: no"), (BAD, OK, r"a\.c:3: error: no")]
)
def test_an_upstream_archive_comes_from_signed_places(
    keys: bool,
    signed: str,
    updated: Outcome,
    found: Outcome,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    ring, lines, asked = tmp_path / "ring", [], []
    if keys:
        ring.write_text("")
    monkeypatch.setattr(debian, "KEYRING", ring)
    monkeypatch.setattr(debian, "apt_options", lambda scratch, places: lines.append(places) or ["-o", "x"])
    outcomes = [updated, found, OK, OK]

    def run(command: list[str], timeout_s: float, cwd: Path) -> Outcome:
        assert (timeout_s, cwd) == (sources.process.LONG_S, tmp_path)
        asked.append(command)
        return outcomes.pop(0)

    monkeypatch.setattr(sources.process, "run", run)
    source = replace(_source(), package="x", version="1.2", file="x_1.2.tar.xz")
    with pytest.raises(BuildError, match=said):
        sources._from_archives(source, tmp_path, ["http://a r", "http://b r"])
    wanted = signed.format(ring)
    assert lines == [[f"deb-src {wanted}http://a r main", f"deb-src {wanted}http://b r main"]]
    start = ["apt-get", "-qq", "-o", "x"]
    assert asked == [[*start, "update"], [*start, "source", "--download-only", "x"]]
    (tmp_path / source.file).write_text("")
    assert sources._from_archives(source, tmp_path, []) == tmp_path / source.file


def test_a_crate_comes_by_cargo_with_the_users_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own, scratch = tmp_path / "own", tmp_path / "scratch"
    own.mkdir()
    scratch.mkdir()
    (own / "config.toml").write_text("c")
    (own / "credentials.toml").write_text("d")
    monkeypatch.setenv("CARGO_HOME", str(own))
    monkeypatch.setattr(sources.shutil, "which", lambda name: name)

    def run(command: list[str], timeout_s: float, cwd: Path, environment: dict[str, str]) -> Outcome:
        assert (command, timeout_s, cwd) == (["cargo", "fetch"], 300, scratch)
        home = Path(environment["CARGO_HOME"])
        assert home == scratch / "cargo" and "PATH" in environment
        assert {path.name: path.read_text() for path in home.iterdir()} == {
            "config.toml": "c",
            "credentials.toml": "d",
        }
        (home / "registry").mkdir()
        (home / "registry/x-1.2.crate").write_text("archive")
        return OK

    monkeypatch.setattr(sources.process, "run", run)
    source: Any = replace(_source(), package="x", version="1.2")
    assert sources._from_crate(source, scratch) == scratch / "cargo/registry/x-1.2.crate"
    assert 'x = "=1.2"' in (scratch / "Cargo.toml").read_text()
    found = sources._found(scratch, replace(source, version="1"), OK)  # no file is named: any of the version
    assert found == scratch / "cargo/registry/x-1.2.crate"
    for version, outcome, told in (("2", OK, "did not bring "), ("2", BAD, "a.c:3: error: no")):
        with pytest.raises(BuildError, match=f"^{told}$"):
            sources._found(scratch, replace(source, version=version), outcome)
    monkeypatch.setattr(sources.shutil, "which", lambda name: None)
    with pytest.raises(BuildError, match=r"^cargo is not installed$"):
        sources._from_crate(source, scratch)


def _source() -> sources.Source:
    values: dict[str, Any] = dict.fromkeys((field.name for field in fields(sources.Source)), "")
    return sources.Source(**values)


@pytest.mark.parametrize(("file", "archive"), [("", "x-1.2.tar.gz"), ("other.zip", "other.zip")])
def test_a_source_distribution_comes_by_pip(
    file: str, archive: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answer = [OK]
    brings = [True]

    def run(command: list[Any], timeout_s: float, cwd: Path, environment: dict[str, str]) -> Outcome:
        assert command[4] == archive and command[-1] == "x==1.2" and "PYTHONPATH" not in environment
        if brings[0]:
            (tmp_path / archive).write_text("")
        return answer[0]

    monkeypatch.setattr(sources.process, "run", run)
    source = replace(_source(), package="x", version="1.2", file=file)
    assert sources._from_pypi(source, tmp_path) == tmp_path / archive
    (tmp_path / archive).unlink()
    brings[0] = False
    with pytest.raises(BuildError, match=rf"^did not bring {archive}$"):
        sources._from_pypi(source, tmp_path)
    answer[0] = BAD
    with pytest.raises(BuildError, match=r"^a\.c:3: error: no$"):
        sources._from_pypi(source, tmp_path)


def test_a_folder_gets_its_name_once_it_is_whole_and_all_may_read_it(tmp_path: Path) -> None:
    made = tmp_path / "objects" / "key"
    with files._place_for(made) as work:
        (work / "a.o").write_text("x")
        assert not made.exists() and work.parent == made.parent
    assert [path.name for path in made.parent.iterdir()] == ["key"]
    assert stat.S_IMODE(made.stat().st_mode) == 0o755 and (made / "a.o").read_text() == "x"
    with files._place_for(made) as work:  # another builder was faster
        (work / "a.o").write_text("y")
    assert (made / "a.o").read_text() == "x"
    with pytest.raises(ZeroDivisionError), files._place_for(tmp_path / "objects" / "none"):
        raise ZeroDivisionError
    assert [path.name for path in made.parent.iterdir()] == ["key"]
