"""The benchmark firmware by itself: each request and answer (docs/formats.md), and damaged ones."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from natively import DEADLINE_S, compiled, limited

from motecrypt.base.frames import encode
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")

KEY, NONCE, AD, MESSAGE = 8, 0x104, 6, 0x210
HELLO = struct.pack("<IIHHHHB", 0x0A0B0C0D, 261, KEY, NONCE, AD, MESSAGE, 3)
CHECKSUM, VERSION, REQUEST, TOO_LONG = 1, 2, 3, 4


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = str(Path(__file__).parent)
    return compiled("bench_harness.c", tmp_path_factory.mktemp("bench"), f"-I{here}")


def talk(program: Path, *sent: bytes) -> tuple[bytes, list[str]]:
    """All that it sends after its greeting, and what it asked of the device and the cipher."""
    done = subprocess.run(
        [program],
        input=b"".join(sent),
        capture_output=True,
        timeout=DEADLINE_S,
        check=True,
        preexec_fn=limited,
    )
    greeting = encode(0, "h", HELLO)
    assert done.stdout.startswith(greeting)
    first, *log = done.stderr.decode().splitlines()
    assert first == "init"
    return done.stdout[len(greeting) :], log


def ran(sequence: int, status: int, tag: bytes, output: bytes) -> bytes:
    return encode(sequence, "r", bytes([status]) + struct.pack("<II", 0x7E7D0304, 0x05060708) + tag + output)


def ok(sequence: int) -> bytes:
    return encode(sequence, "k")


def error(sequence: int, failure: int) -> bytes:
    return encode(sequence, "e", bytes([failure]))


def test_it_says_what_it_holds(program: Path) -> None:
    assert talk(program) == (b"", [])
    assert talk(program, encode(0x7E, "H"))[0] == encode(0x7E, "h", HELLO)


def test_an_operation_runs_on_what_was_given(program: Path) -> None:
    message = bytes(range(0x70, 0x90))
    answers, log = talk(
        program,
        encode(1, "K", b"\x05\x11"),
        encode(2, "N", bytes(5) + b"\x7d"),
        encode(3, "A", b"\x31\x32"),
        encode(4, "M", message),
        encode(5, "R", b"\0\1\0"),
        encode(6, "R", b"\1\1\0"),
        encode(7, "R", b"\2\1\0"),
        encode(8, "R", b"\1\2\0"),
    )
    added = bytes((b + 0x11) & 255 for b in message)
    assert answers == b"".join(
        [
            *(ok(n) for n in (1, 2, 3, 4)),
            ran(5, 0, bytes(3), message),
            ran(6, 0, b"\x32\x7d\x7e", added),
            ran(7, 0, b"\x32\x7d\x7e", message),
            ran(8, 0, b"\x32\x7d\x7e", bytes((b + 0x22) & 255 for b in message)),
        ]
    )
    whole = ["paint", "timer", "mark 1", "{}", "mark 0", "cycles", "depth"]
    once = [[line.format(what) for line in whole] for what in ("setup 2", "encrypt 32 2 6", "decrypt 32 2 6")]
    twice = [*once[1][:5], *once[1][2:]]
    assert log == [*once[0], *once[1], *once[2], *twice]


def test_it_stops_at_the_first_failure_and_counts_to_65535(program: Path) -> None:
    answers, log = talk(program, encode(1, "K", b"\x01"), encode(2, "R", b"\0\5\0"))
    assert answers == ok(1) + ran(2, 1, bytes(3), b"") and log.count("setup 1") == 1
    answers, log = talk(program, encode(1, "N", bytes(3)), encode(2, "R", b"\1\5\0"))
    assert answers == ok(1) + ran(2, 2, b"\x01\0\x7e", b"") and log.count("mark 1") == 1
    answers, log = talk(program, encode(1, "T", b"\x09ab"), encode(2, "M", b"x"), encode(3, "R", b"\2\3\0"))
    assert answers == ok(1) + ok(2) + ran(3, 4, b"\x09ab", b"x")
    for repetitions, count in ((b"\0\0", 0), (b"\7\0", 7), (b"\2\1", 258)):
        answers, log = talk(program, encode(1, "R", b"\1" + repetitions))
        assert log.count("mark 1") == log.count("mark 0") == count and len(answers) > 10


@pytest.mark.parametrize(
    ("kind", "most"), [("K", KEY), ("N", NONCE), ("A", AD), ("M", MESSAGE), ("T", 16), ("H", 0)]
)
def test_each_store_has_its_length(program: Path, kind: str, most: int) -> None:
    fits, over = encode(1, kind, b"x" * most), encode(2, kind, b"x" * (most + 1))
    answers, _ = talk(program, fits, over, encode(3, "Q"))
    assert answers == (ok(1) if kind != "H" else encode(1, "h", HELLO)) + error(2, TOO_LONG) + error(
        3, REQUEST
    )
    if kind == "M":
        answers, _ = talk(program, fits, encode(2, "R", b"\2\1\0"), over, encode(3, "R", b"\1\0\0"))
        assert answers.endswith(ran(3, 0, bytes(3), b"x" * most))


@pytest.mark.parametrize(
    ("payload", "right"),
    [(b"\2\0\0", True), (b"\3\0\0", False), (b"\1\0", False), (b"\1\0\0\0", False), (b"", False)],
)
def test_a_run_has_its_form(program: Path, payload: bytes, right: bool) -> None:
    answers, log = talk(program, encode(4, "R", payload))
    if right:
        assert answers == ran(4, 0, bytes(3), b"")
    else:
        assert answers == error(4, TOO_LONG if len(payload) > 3 else REQUEST) and log == []


def test_damage_costs_one_frame(program: Path) -> None:
    good = encode(3, "H")
    answer = encode(3, "h", HELLO)
    for n in range(1, len(good) - 1):
        damaged = good[:n] + bytes([good[n] ^ 0x40]) + good[n + 1 :]
        answers, _ = talk(program, damaged, good)
        sequence = damaged[2]
        if good[n] ^ 0x40 not in (0x7D, 0x7E):
            assert answers == error(sequence, CHECKSUM) + answer
    for sent in (good[:-1], b"\x7e\x01\x03H\x12\x7d\x7e"):
        answers, _ = talk(program, sent, good)
        assert answers.endswith(answer)
    assert talk(program, b"\x7e\x01\x03H\x12\x7d\x7e", b"\x7e\x7e", good)[0] == error(3, CHECKSUM) + answer
    assert talk(program, b"\x7e\x7e\x7e", good)[0] == answer
    assert talk(program, good[:-1], good)[0] == 2 * answer, "one delimiter between two frames is enough"


@pytest.mark.parametrize("length", range(6))
def test_a_frame_that_is_too_short(program: Path, length: int) -> None:
    whole = encode(9, "H")[1:-1]
    answers, _ = talk(program, b"\x7e" + whole[:length] + b"\x7e", encode(1, "H"))
    first = {0: b"", 5: encode(9, "h", HELLO)}.get(length, error(9 if length > 1 else 0, CHECKSUM))
    assert answers == first + encode(1, "h", HELLO)


def test_another_version_and_requests_that_are_none(program: Path) -> None:
    assert talk(program, encode(1, "H", version=2))[0] == error(1, VERSION)
    assert talk(program, encode(1, "Z", version=2))[0] == error(1, VERSION)
    assert talk(program, encode(2, "Z"), encode(3, "Z", b"abc"))[0] == error(2, REQUEST) + error(3, REQUEST)


def test_a_frame_without_end_is_given_up(program: Path) -> None:
    answers, _ = talk(program, b"\x7e\x01\x05M" + b"x" * (0xFFFF - 3), b"\x7e", encode(1, "H"))
    assert answers == error(5, TOO_LONG) + encode(1, "h", HELLO)
    answers, _ = talk(program, b"\x7e\x01\x05M" + b"x" * (0xFFFE - 3), b"\x7e", encode(1, "H"))
    assert answers == error(5, CHECKSUM) + encode(1, "h", HELLO)
