"""The binding of the link's core to Python: its numbers, how it is compiled and kept, what it passes on."""

from __future__ import annotations

import ctypes
import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import link_model
from link_ends import begun
from motecrypt.base import process
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.paths import cache_dir
from motecrypt.build.toolchain.toolchain import BuildError, identity
from motecrypt.catalog import FIRMWARE
from motecrypt.link import native as link
from motecrypt.link import prebuilt
from motecrypt.link.native import (
    CONFIRMED,
    LISTENS,
    LONG,
    SHORT,
    STREAM,
    Event,
    KeyBlock,
    NativeLink,
    Suite,
    link_library,
    open_library,
)

KEY = bytes(range(16))
FLAGS = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared", "-fPIC"]
DEFINES = ["-DCIPHER_TAG_BYTES=16", "-DCIPHER_TAG_VARIES", "-DCIPHER_NO_AD", "-DCIPHER_KEY_BYTES_MAX=16"]


def test_the_numbers_of_the_link() -> None:
    assert (link.KEY_BYTES, link.STORAGE_BYTES, link.BROADCAST) == (16, 188, 63)
    assert link.NODE_BITS == 63 and link.BOTH_WAYS == link.SHORT | link.LISTENS
    assert (link.SHORT, link.LISTENS, link.STREAM, link.TAG_16, link.GATEWAY) == (1, 2, 4, 8, 128)
    assert (link.CONFIRMED, link.COMMAND, link.FILE, link.LONG) == (0x40, 0x10, 0x30, 1)
    assert (link.PIECES_MAX, link.MESSAGE_MAX) == (15, 3780)
    assert [event.value for event in Event] == list(range(18))


@pytest.mark.parametrize(
    ("options", "packet_bytes", "how", "longest"),
    [
        (0, 12, 0, 123),
        (link.TAG_16, 12, 0, 115),
        (SHORT | LISTENS | STREAM | link.GATEWAY, 12, CONFIRMED | LONG, 123),
        (255, 13, link.COMMAND, 126),
        (0, 13, link.COMMAND | CONFIRMED, 134),
        (0, 13, link.FILE, 138),
        (0, 13, link.FILE | CONFIRMED, 138),
        (0, 13, 0x20, 138),
        (0, 255, 0, 3768),
    ],
)
def test_the_longest_message(options: int, packet_bytes: int, how: int, longest: int) -> None:
    assert link.message_bytes_max(options, packet_bytes, how) == longest


@pytest.mark.parametrize(
    ("suite", "number", "defines", "folder", "sources"),
    [
        (
            "aes128-ccm",
            1,
            ['-DCIPHER_HEADER="ccm.h"', '-DBLOCK_HEADER="aes_sliced.h"'],
            "ciphers/aes",
            ["link/suite_ccm.c", "ciphers/aes/aes_sliced.c"],
        ),
        (
            "ascon-aead128",
            2,
            ['-DCIPHER_HEADER="ascon_words.h"'],
            "ciphers/ascon",
            ["link/suite_ascon.c", "ciphers/ascon/ascon_aead128.c", "ciphers/ascon/ascon_words.c"],
        ),
    ],
)
def test_how_the_core_is_compiled(
    suite: Suite, number: int, defines: list[str], folder: str, sources: list[str]
) -> None:
    head = [*DEFINES, f"-DLINK_SUITE={number}", *defines]
    for place in ("link", "include", "modes", folder):
        head += ["-I", FIRMWARE / place]  # type: ignore[list-item]
    core = [FIRMWARE / name for name in ("link/link.c", "link/keys.c", "link/store.c", *sources)]
    recipe = link.SUITES[suite]
    assert recipe.command() == ["gcc", *FLAGS, *head, *core, FIRMWARE / "link" / "native.c"]
    assert recipe.command([Path("port.c")], ("-O1",)) == ["gcc", "-O1", *head, *core, Path("port.c")]
    assert recipe.suite == number and list(link.SUITES) == ["aes128-ccm", "ascon-aead128"]


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str | Path]]:
    """A stand-in for the compiler, which writes down what it is given, and an empty cache."""
    given: list[list[str | Path]] = []

    def run(command: list[str | Path]) -> process.Outcome:
        given.append(command)
        scratch = Path(command[-1])
        assert scratch.parent == tmp_path / "cache" / "link" and scratch.name.startswith(".link.")
        scratch.write_bytes(b"library")
        if len(given) == 2:
            return process.Outcome(1, "", "link.c:1:1: error: no\n")
        return process.Outcome(0, "", "")

    monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(link, "run_compiler", run)
    return given


def test_a_core_is_compiled_once_for_what_it_is_made_of(
    compiler: list[list[str | Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = link.SUITES["aes128-ccm"].command()
    asked: list[Any] = []

    def reached(sources: list[Path], places: list[Path]) -> list[Path]:
        asked.append((sources, places))
        return [Path("one.c"), Path("two.h")]

    monkeypatch.setattr(prebuilt, "reached", reached)
    monkeypatch.setattr(prebuilt, "file_hash", lambda path: f"hash of {path}")
    made = link_library.__wrapped__("aes128-ccm")
    paths = [part for part in command if isinstance(part, Path)]
    assert asked == [([p for p in paths if p.suffix == ".c"], [p for p in paths if p.suffix != ".c"])]
    assert [len(part) for part in asked[0]] == [6, 4]
    words = [part for part in command if not isinstance(part, Path)]
    text = "\0".join(["hash of one.c", "hash of two.h", *words])
    sources = hashlib.sha256(text.encode()).hexdigest()
    key = hashlib.sha256(f"{sources}\0{identity('gcc')}".encode()).hexdigest()
    assert made == cache_dir() / "link" / f"aes128-ccm-{key[:16]}.so" and made.read_bytes() == b"library"
    assert [part[:-1] for part in compiler] == [[*command, "-o"]]
    assert [path.name for path in made.parent.iterdir()] == [made.name]
    assert link_library.__wrapped__("aes128-ccm") == made and len(compiler) == 1
    with pytest.raises(BuildError) as caught:
        link_library.__wrapped__("ascon-aead128")
    assert str(caught.value) == "link core: link.c:1:1: error: no"
    assert [path.name for path in made.parent.iterdir()] == [made.name]


def test_a_compiler_that_takes_its_output_away_is_told_as_well(
    compiler: list[list[str | Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str | Path]) -> process.Outcome:
        Path(command[-1]).unlink()
        return process.Outcome(1, "", "link.c:1:1: error: no\n")

    monkeypatch.setattr(link, "run_compiler", run)
    with pytest.raises(BuildError, match=r"^link core: link\.c:1:1: error: no$"):
        link_library.__wrapped__("aes128-ccm")


def test_the_types_of_the_cores_functions() -> None:
    library = open_library(link_library("aes128-ccm"))
    pointer, text, byte = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint8
    short, long = ctypes.c_uint16, ctypes.c_uint32
    expected: dict[str, tuple[Any, list[Any]]] = {
        "port_begin": (byte, [pointer, short]),
        "port_send": (byte, [pointer, text, short, byte]),
        "port_renew": (byte, [pointer, long, short]),
        "port_salt": (short, [pointer]),
        "port_prf": (None, [text, text, byte, pointer]),
        "port_derive": (None, [pointer, byte, byte, short, long]),
        "port_message": (long, [pointer, pointer]),
        "port_sent": (long, [pointer, pointer]),
        "port_place": (pointer, [pointer]),
        "port_state": (byte, [pointer]),
        "port_epoch": (long, [pointer]),
        "port_forget": (None, [pointer]),
        "port_claimed": (long, [pointer]),
        "port_join": (byte, [pointer, text, long]),
        "link_provision": (byte, [pointer, text]),
        "link_receive": (byte, [pointer, text, byte]),
        "link_answer": (None, [pointer, byte]),
        "link_poll": (byte, [pointer]),
    }
    for name, types in expected.items():
        function = getattr(library, name)
        assert (function.restype, function.argtypes) == types, name


def test_a_nodes_key_is_derived_for_that_use_alone() -> None:
    expected = link.derive("aes128-ccm", KEY, 0xC0, 5, 0xA1B2, 0)
    assert link.node_key("aes128-ccm", KEY, 5, 0xA1B2) == expected and len(expected) == 16
    others = [link.derive("aes128-ccm", KEY, *more) for more in ((0xC0, 5, 1), (0xA0, 5, 0xA1B2))]
    assert len({expected, *others}) == 3


@pytest.mark.parametrize(("suite", "number"), [("aes128-ccm", 1), ("ascon-aead128", 2)])
def test_after_a_restoration_a_nodes_key_comes_from_another_master(suite: link.Suite, number: int) -> None:
    random = bytes(range(40, 55))
    expected = link_model.node_key(number, KEY, 5, 66, random)
    assert link.node_key(suite, KEY, 5, 66, random) == expected
    other = link_model.derive(number, KEY, 0, 0, 0, 1_800_000_000)  # as version 2.0 made it
    expected = link_model.node_key(number, other, 5, 66)
    assert link.node_key(suite, KEY, 5, 66, 1_800_000_000) == expected


def test_a_key_block_is_24_bytes() -> None:
    block = KeyBlock(62, 0x83, 255, 0xA1B2, KEY)
    assert block.encode() == bytes([3, 62, 0x83, 255, 0xB2, 0xA1, 0, 0]) + KEY
    for node, packet_bytes, generation in ((0, 12, 0), (63, 12, 0xFFFF)):
        assert KeyBlock(node, 0, packet_bytes, generation, KEY).encode()[1] == node


@pytest.mark.parametrize(
    ("figures", "message"),
    [
        ((-1, 0, 12, 0, KEY), "node -1; a link has nodes 0 to 62, and 63 is its broadcast group"),
        ((64, 0, 12, 0, KEY), "node 64; a link has nodes 0 to 62, and 63 is its broadcast group"),
        ((0, 0, 11, 0, KEY), "packets of 11 bytes; the link takes 12 to 255"),
        ((0, 0, 256, 0, KEY), "packets of 256 bytes; the link takes 12 to 255"),
        ((0, 0, 12, -1, KEY), "generation -1; there are 0 to 65535: begin with a new master key"),
        ((0, 0, 12, 65536, KEY), "generation 65536; there are 0 to 65535: begin with a new master key"),
        ((0, 0, 12, 0, KEY[:15]), "a key of 15 bytes; the link takes 16"),
        ((0, 0, 12, 0, KEY + b"x"), "a key of 17 bytes; the link takes 16"),
    ],
)
def test_figures_that_no_key_block_has(figures: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        KeyBlock(*figures)
    assert str(caught.value) == message


def end(options: int = SHORT | LISTENS, packet_bytes: int = 32) -> NativeLink:
    """A node's end."""
    return begun(KeyBlock(5, options, packet_bytes, 1, KEY))


@pytest.mark.parametrize("more", [0, 16])
@pytest.mark.parametrize("offset", [0, 1, 15])
def test_a_port_lies_at_a_multiple_of_16(offset: int, more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    library = open_library(link_library("aes128-ccm"))
    real, size = ctypes.addressof, ctypes.c_size_t.in_dll(library, "port_bytes").value + more
    with monkeypatch.context() as moved:
        moved.setattr(ctypes, "addressof", lambda memory: (real(memory) + 15) // 16 * 16 + offset)
        told = SimpleNamespace(in_dll=lambda library, name: SimpleNamespace(value=size))
        moved.setattr(ctypes, "c_size_t", told)
        made = NativeLink(library)
    start = (real(made._memory) + 15) // 16 * 16
    assert made.address == start + (16 if offset else 0)
    assert len(made._memory) == size + 16


def test_storage_is_what_was_given_and_says_when_it_is_written() -> None:
    made = end()
    assert made.stored is True and len(made.storage) == 188
    made.stored = False
    assert made.stored is False
    image = made.storage
    assert made.begin(bytes(188)) is Event.NO_KEY and made.storage == bytes(188)
    assert made.begin(image) is Event.NOTHING and made.storage == image and made.stored is False
    for length in (187, 189):
        with pytest.raises(InputError) as caught:
            made.begin(bytes(length))
        assert str(caught.value) == f"a link's storage has 188 bytes, not {length}"
    assert made.storage == image
    made._library = SimpleNamespace(link_provision=lambda address, block: 0)  # type: ignore[assignment]
    with pytest.raises(MotecryptError, match=r"^node 7: storage does not keep written data$"):
        made.provision(KeyBlock(7, 0, 12, 1, KEY))


def test_a_message_is_passed_on_up_to_what_the_core_has_room_for() -> None:
    assert end().send(b"21.4 C") is Event.WAITING, "the first of short ones, which is answered"
    assert end().send(b"21.4 C", LONG) is Event.SENT
    made = end()
    assert made.send(b"21.4 C", CONFIRMED | LONG) is Event.WAITING
    assert made.send(bytes(3780)) is Event.BUSY, "says the core"
    assert made.send(bytes(3781)) is Event.TOO_LONG
    assert made.send(bytes(65536 + 5)) is Event.TOO_LONG


def test_the_state_of_a_link_has_two_bits() -> None:
    made = end()
    for state in range(8):
        made._library = SimpleNamespace(port_state=lambda address, state=state: state)  # type: ignore[assignment]
        assert (made.waiting, made.asked) == (state in (1, 3, 5, 7), state in (2, 3, 6, 7))


def test_the_clock_has_16_bits_and_an_answer_a_quarter_of_a_second() -> None:
    made = end()
    for now_ms, clock in ((65_535, 65_535), (65_536, 0), (131_072 + 7, 7), (9, 9)):
        made.at(now_ms)
        assert made._port.clock == clock
    made.at(1000)
    assert made.send(b"21.4 C", CONFIRMED | LONG) is Event.WAITING
    sent = made.packets()
    assert made.poll(1284) is Event.NOTHING and made.packets() == []
    assert made.poll(1285) is Event.NOTHING and made.packets() == sent and made._port.clock == 1285


@pytest.mark.parametrize(("options", "length"), [(LISTENS, 5), (LISTENS | STREAM, 40), (255, 40), (251, 5)])
def test_on_a_stream_packets_have_one_length(options: int, length: int) -> None:
    assert end(options, 40).on_line(b"short") == b"short".ljust(length, b"\0")


def test_packets_are_told_apart_and_once() -> None:
    made = end(SHORT | LISTENS, 12)
    assert made.head == (5, SHORT | LISTENS, 12)
    assert made.send(bytes(20), LONG) is Event.SENT
    packets = made.packets()
    assert [len(packet) for packet in packets] == [12, 12, 12, 8]
    assert [packet[2] for packet in packets] == [0, 1, 2, 0x83]
    assert made.packets() == []
