"""The exported sketch that `motecrypt node` runs, next to a model of its loop: every byte, every command."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from link_ends import begun
from motecrypt.catalog import Catalog
from motecrypt.exports.library import choose
from motecrypt.exports.link import plan_link
from motecrypt.exports.targets import target
from motecrypt.link.native import (
    COMMAND,
    CONFIRMED,
    FILE,
    GATEWAY,
    LISTENS,
    LONG,
    SHORT,
    STREAM,
    TAG_16,
    Event,
    KeyBlock,
    NativeLink,
    Suite,
)
from motecrypt.link.stream import StreamReader

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")

PLAY = Path(__file__).with_name("thermometer_play.cpp")
NATIVE = Path(__file__).with_name("arduino_native")
INTERVAL_MS = 50
KEY = bytes(range(16))
TWO_WAYS = SHORT | LISTENS | STREAM
NO_KEYS = (
    "Thermometer: no keys for this sketch: "
    "motecrypt provision NUMBER --key gateway.key --radio srf --eep node.eep"
)
NO_COUNTERS = "Thermometer: no counters for the keys; provision the node again"
CIPHERS: dict[Suite, tuple[str, str]] = {
    "aes128-ccm": ("aes128-ccm8", "fast"),
    "ascon-aead128": ("ascon-aead128", "bytes"),
}


def compiled(folder: Path, suite: Suite) -> Path:
    """The sketch and its library as they are exported, with a board that plays a script."""
    catalog = Catalog.load()
    cipher, variant = CIPHERS[suite]
    meant, chosen = target("arduino", catalog), catalog.cipher(cipher)
    made = plan_link(catalog, meant, chosen, choose(catalog, chosen, meant, variant))
    for name, content in made.files.items():
        place = folder / suite / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    library = folder / suite / "src"
    sketch = folder / suite / "examples" / "Thermometer" / "Thermometer.ino"
    # Places in an EEPROM are numbers of 16 bits that become pointers: -w.
    flags = ["-O1", "-w", f"-I{NATIVE}", f"-I{library}", f"-DINTERVAL_MS={INTERVAL_MS}", "-c"]
    for command in (
        ["gcc", "-std=gnu99", *flags, *library.glob("*/*.c")],
        ["g++", "-std=gnu++11", *flags, f'-DSKETCH="{sketch}"', PLAY],
        ["g++", *(path.with_suffix(".o").name for path in (*library.glob("*/*.c"), PLAY)), "-o", "program"],
    ):
        words = [str(word) for word in command]
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=120, check=False, cwd=folder / suite
        )
        assert done.returncode == 0, done.stderr
    return folder / suite / "program"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("thermometer"), "aes128-ccm")


def end(options: int, packet_bytes: int = 12, node: int = 5, suite: Suite = "aes128-ccm") -> NativeLink:
    """One end of the node's link."""
    return begun(KeyBlock(node, options, packet_bytes, 1, KEY), suite)


def play(program: Path, storage: bytes, tenths: int, script: list[str]) -> list[str]:
    """The program's output."""
    arguments = [str(program), storage.hex(), str(tenths), *script]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=True)
    return [line for line in done.stdout.splitlines() if line]


class Node:
    """A model of the node's loop, which writes the script that the program then plays."""

    def __init__(self, options: int = TWO_WAYS, suite: Suite = "aes128-ccm", packet_bytes: int = 12) -> None:
        self.link = end(options, packet_bytes, suite=suite)
        self.gateway = end(options | GATEWAY, packet_bytes, suite=suite)
        self.storage = self.link.storage
        self.reader = StreamReader(packet_bytes)
        self.script: list[str] = []
        self.lines: list[str] = []
        self.got: list[bytes] = []
        self.now = self.begun = self.bytes = self.how = 0
        self.interval = INTERVAL_MS
        self.sent: list[bytes] = []
        self._reading()
        self._tell()

    def _reading(self) -> None:
        if not self.link.waiting:
            self.link.send(b"+21.4C", self.how)

    def _tell(self) -> None:
        packets = [self.link.on_line(packet) for packet in self.link.packets()]
        if packets:
            self.lines.append("send " + b"".join(packets).hex())
            self.sent += packets

    def _passed(self) -> None:
        self.link.poll(self.now)
        if self.now - self.begun >= self.interval:
            self.begun, self.bytes = self.now, 0
            self._reading()
        self._tell()

    def silence(self, milliseconds: int) -> None:
        """Nothing comes."""
        self.script.append(str(milliseconds))
        for _ in range(milliseconds):
            self.bytes = 0
            self.now += 1
            self._passed()

    def hears(self, data: bytes) -> None:
        """Bytes come, each in an eleventh of a millisecond."""
        self.script.append(f"x{data.hex()}")
        for byte in data:
            for packet in self.reader.packets(bytes([byte]), self.now):
                event = self.link.receive(packet)
                if event is Event.COMMANDED:
                    self.link.answer(self._obeys(self.link.message()))
                elif event in (Event.MESSAGE, Event.FILE_PART):
                    self.link.answer(False)
                if event is Event.FORGED or packet[0] & 63 != 5:
                    self.reader.slip()
            self.bytes += 1
            if self.bytes == 11:
                self.bytes = 0
                self.now += 1
            self._passed()

    def _obeys(self, command: bytes) -> bool:
        if command in (b"c", b"u"):
            self.how = CONFIRMED if command == b"c" else 0
            return True
        if len(command) == 3 and command[:1] == b"i" and command[1:] != b"\0\0":
            self.interval = int.from_bytes(command[1:], "little")
            return True
        return False

    def up(self) -> bytes:
        """The gateway takes what was sent; its answers."""
        for packet in self.sent:
            if self.gateway.receive(packet) is Event.MESSAGE:
                self.got.append(self.gateway.message())
                self.gateway.answer(True)
        self.sent.clear()
        return b"".join(self.gateway.on_line(packet) for packet in self.gateway.packets())

    def answered(self) -> None:
        """The first reading is answered, so that both are synchronised."""
        self.silence(30)
        self.hears(self.up())
        assert not self.link.waiting and self.got

    def tells(self, message: bytes, how: int) -> Event:
        """The gateway sends a message to the node; returns the outcome."""
        self.silence(25)
        assert self.gateway.send(message, how) is Event.WAITING
        self.hears(b"".join(self.gateway.packets()))
        event = Event.NOTHING
        for packet in [packet for packet in self.sent if packet[0] >> 6 == 3]:
            event = self.gateway.receive(packet)
        self.up()
        return event

    def agrees(self, program: Path) -> None:
        """The program does what the model does, to the last byte of its storage."""
        told = play(program, self.storage, 214, self.script)
        assert told == [*self.lines, "kept " + self.link.storage.hex()]


@pytest.fixture
def node() -> Node:
    """A node whose first reading is answered."""
    made = Node()
    made.answered()
    return made


@pytest.mark.parametrize("suite", ["aes128-ccm", "ascon-aead128"])
def test_a_node_that_sends_only(tmp_path: Path, suite: Suite) -> None:
    node = Node(SHORT | STREAM, suite)
    node.silence(5000)
    forms = [packet[0] >> 6 for packet in node.sent]
    assert forms[:5] == [2, 2, 0, 0, 0] and forms.count(2) == 2 * 4, "every 32nd is long"
    node.up()
    assert node.got == [b"+21.4C"] * 101
    node.agrees(compiled(tmp_path, suite))


@pytest.mark.parametrize("options", [TWO_WAYS, LISTENS | STREAM, LISTENS | STREAM | TAG_16])
def test_a_node_that_is_answered(program: Path, options: int) -> None:
    node = Node(options)
    node.answered()
    node.silence(1000)
    node.up()
    assert len(node.got) == 21
    node.agrees(program)


def test_what_is_not_answered_is_sent_again_and_no_reading_meanwhile(program: Path) -> None:
    node = Node()
    node.silence(10 * (250 + 7 * 5) - 1)
    assert len(set(node.lines)) == 1 and len(node.lines) == 10
    node.silence(1)
    assert len(set(node.lines)) == 2, "given up, and a new reading"
    node.answered()
    node.silence(200)
    node.agrees(program)


def test_commands_are_obeyed(program: Path, node: Node) -> None:
    assert node.tells(b"i\x2c\x01", CONFIRMED | COMMAND) is Event.ACCEPTED
    node.silence(1000)
    assert node.interval == 300 and len(node.sent) == 3
    assert node.tells(b"c", CONFIRMED | COMMAND) is Event.ACCEPTED
    node.silence(300)
    assert [packet[0] >> 6 for packet in node.sent][-1] == 1
    node.hears(node.up())
    assert node.tells(b"u", CONFIRMED | COMMAND) is Event.ACCEPTED
    node.silence(700)
    assert [packet[0] >> 6 for packet in node.sent][-1] == 0
    node.hears(node.up())  # each command needs a message of the node
    assert node.tells(b"i\xff\0", CONFIRMED | COMMAND) is Event.ACCEPTED and node.interval == 255
    node.silence(600)
    node.agrees(program)


@pytest.mark.parametrize(
    ("message", "how"),
    [
        *((command, COMMAND) for command in (b"", b"i", b"i\1", b"i\0\0", b"i\1\0\0", b"c!", b"x", b"j\1\0")),
        (b"c", 0),
        (b"u", FILE),
        (b"i\1\0", LONG),
    ],
)
def test_what_is_no_command_is_refused(program: Path, node: Node, message: bytes, how: int) -> None:
    assert node.tells(message, CONFIRMED | how) is Event.REFUSED
    node.silence(200)
    assert node.interval == INTERVAL_MS and not node.how
    node.agrees(program)


@pytest.mark.parametrize(("message_bytes", "answered"), [(20, True), (21, False)])
def test_a_message_that_it_has_no_room_for_is_passed_over(
    program: Path, message_bytes: int, answered: bool
) -> None:
    """The model has the room, and answers: what the program lacks is that answer alone."""
    node = Node()
    node.answered()
    assert node.tells(bytes(message_bytes), CONFIRMED | COMMAND) is Event.REFUSED
    node.silence(60)
    told = play(program, node.storage, 214, node.script)
    assert len(told) == len(node.lines) + (1 if answered else 0)


def test_a_command_that_was_held_back_is_not_obeyed(program: Path, node: Node) -> None:
    node.gateway.send(b"i\1\0", CONFIRMED | COMMAND)
    held = b"".join(node.gateway.packets())
    node.silence(20 * INTERVAL_MS)
    node.hears(held)
    assert node.interval == INTERVAL_MS
    node.silence(100)
    node.agrees(program)


def test_packets_of_others_and_noise_are_passed_over(program: Path, node: Node) -> None:
    assert node.tells(b"u", CONFIRMED | COMMAND) is Event.ACCEPTED
    other = end(TWO_WAYS | GATEWAY, node=6)
    other.send(b"for another", CONFIRMED)
    theirs = b"".join(other.packets())
    node.gateway.send(b"c", CONFIRMED | COMMAND)
    ours = b"".join(node.gateway.packets())
    for noise in (theirs, bytes([5, 9]) + bytes(10), b"\xff" * 50):
        node.silence(21)
        node.hears(noise + ours)
        assert not node.how, "behind what is none all is skipped to the next silence"
    node.silence(19)
    node.hears(ours)
    assert not node.how
    node.silence(20)
    node.hears(ours)
    assert node.how == CONFIRMED
    node.silence(100)
    node.agrees(program)


def test_a_line_that_is_never_quiet_does_not_hold_it(program: Path) -> None:
    node = Node(SHORT | STREAM)
    node.hears(b"\x46" * (11 * 120))
    assert len(node.lines) == 3
    node.agrees(program)


@pytest.mark.parametrize(
    ("storage", "reason"),
    [
        (b"\xff" * 188, NO_KEYS),
        (bytes(188), NO_KEYS),
        (end(TWO_WAYS, 13).storage, NO_KEYS),
        (end(TWO_WAYS).storage[:28] + b"\xff" * 160, NO_COUNTERS),
        (b"\2\6" + end(TWO_WAYS).storage[2:], NO_KEYS),
    ],
    ids=["erased", "zero", "long packets", "no record", "another number"],
)
def test_without_a_key_that_it_can_use_it_says_so_once_and_blinks(
    program: Path, storage: bytes, reason: str
) -> None:
    """The radio is on the same line: nothing else is sent, and no packet."""
    blinks = ["LED 1", "wait 250", "LED 0", "wait 250", "LED 1", "wait 250"]
    assert play(program, storage, 214, ["1000"]) == [f"say {reason}", *blinks, "kept " + storage.hex()]


@pytest.mark.parametrize(
    ("tenths", "text"),
    [
        (214, "+21.4C"),
        (-5, "-00.5C"),
        (-123, "-12.3C"),
        (999, "+99.9C"),
        (7, "+00.7C"),
        (0, "+00.0C"),
        (1234, "+23.4C"),
    ],
)
def test_a_reading_has_six_bytes(program: Path, tenths: int, text: str) -> None:
    node, gateway = end(SHORT | STREAM), end(SHORT | STREAM | GATEWAY)
    sent, _ = play(program, node.storage, tenths, ["10"])
    data = bytes.fromhex(sent.removeprefix("send "))
    events = [gateway.receive(data[at : at + 12]) for at in range(0, len(data), 12)]
    assert events[-1] is Event.MESSAGE and gateway.message() == text.encode()
