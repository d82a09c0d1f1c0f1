"""Exported programs, for every radio: they compile, their comments' commands work, none fails silently."""

from __future__ import annotations

import re
import shlex
import sys
from contextlib import suppress
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from command_line import run as motecrypt
from exports_bed import CATALOG, MASTER, planned, run
from motecrypt.air.radios import load_radio, radio_names
from motecrypt.app.export import export_bridge
from motecrypt.base.frames import Frames, ProtocolError, decode, encode
from motecrypt.build.toolchain.arduino import CORE, build_sketch
from motecrypt.exports.commands import LinkRadio
from motecrypt.exports.library import Export
from motecrypt.exports.targets import target_names
from motecrypt.link.bridge import NO_RADIO, BridgeHello
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.native import LISTENS, SHORT
from motecrypt.link.state import MemoryStore
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import ChipSettings, FreeRun, Uart, run_freely
from tool_sets import needs_tool_set

LIBRARIES = Path(__file__).resolve().parents[1] / "radio_libraries"
UNO = CATALOG.device("uno")
AVR_BYTES = 210  # the longest packet that an AVR has room for


def radio(name: str, packet_bytes: int = AVR_BYTES) -> LinkRadio:
    """With packets of that length, or its own longest ones."""
    loaded = load_radio(name)
    return LinkRadio(
        loaded.with_figures(packet_bytes=min(packet_bytes, int(loaded.value("packet_bytes_max"))))
    )


def sketches(made: Export) -> dict[str, str]:
    return {
        Path(path).stem: text.decode() for path, text in made.files.items() if Path(path).suffix == ".ino"
    }


def heard(elf: Path, seconds: float, eeprom: Path | None = None, given: Path | None = None) -> list[str]:
    """What a sketch says on its serial line within simulated seconds, in lines."""
    return heard_bytes(elf, seconds, eeprom, given).decode("latin-1").splitlines()


def heard_bytes(elf: Path, seconds: float, eeprom: Path | None, given: Path | None) -> bytes:
    """The same as it came."""
    said = bytearray()
    source = given.open("rb") if given else None
    how = FreeRun(
        max_seconds=seconds,
        chip=ChipSettings(eeprom=eeprom),
        uart=Uart(input=source.fileno() if source else None),
    )
    try:
        run_freely(read_image(elf, UNO), UNO, how, said.extend)
    finally:
        if source:
            source.close()
    return bytes(said)


# --- they compile


@needs_tool_set("avr", "arduino")
@pytest.mark.long
@pytest.mark.parametrize("name", [None, *radio_names()])
def test_the_sketches_for_every_radio_compile_at_its_longest_packets(
    name: str | None, tmp_path: Path
) -> None:
    made = planned("arduino", "aes128-ccm8", radio(name) if name else None)
    assert sketches(made) == sketches(planned("platformio", "aes128-ccm8", radio(name) if name else None))
    made.write(tmp_path / "lib")
    flags = [
        "-mmcu=atmega328p",
        "-DF_CPU=16000000L",
        "-DARDUINO=10819",
        "-std=gnu++11",
        "-fsyntax-only",
        "-Os",
    ]
    flags += ["-Wall", "-Werror", "-include", "Arduino.h"]
    core = [CORE / "cores/arduino", CORE / "variants/standard", CORE / "libraries/SPI/src"]
    flags += [f"-I{folder}" for folder in core]
    flags += [f"-I{folder}" for folder in [tmp_path / "lib/src", *LIBRARIES.glob("*/")]]
    every = sorted((tmp_path / "lib/examples").rglob("*.ino"))
    assert len(every) >= 1
    run(["avr-g++", *flags, "-x", "c++", *every], tmp_path)


# --- what they say


@pytest.mark.parametrize("target", target_names())
@pytest.mark.parametrize("name", radio_names())
def test_every_command_in_a_program_names_the_exported_radio(name: str, target: str) -> None:
    only = radio(name)
    made = planned(target, "aes128-ccm8", only)
    words = f"--radio {name} --packet-bytes {only.radio.packet_bytes} "
    for path, content in made.files.items():
        text = re.sub(r'"\s*\n\s*"|\n ?\* ?', " ", content.decode())
        for found in re.finditer(r"provision (?:NUMBER|group|\d+) --key \S+ (--\S.{0,60})", text):
            assert found[1].startswith(words), (path, found[0])
        assert "no keys: rather silent" not in text, path


@pytest.mark.parametrize("target", target_names())
def test_no_program_stops_silently(target: str) -> None:
    """A loop without a body, or a return of main, behind a failed start."""
    for path, content in planned(target, "aes128-ccm8").files.items():
        if "examples/" in path or "samples/" in path:
            assert not re.search(r"for \(;;\)\s+(?:;|delay|sleep_ms|nap)", content.decode()), path


# --- and do, on a simulated UNO


@needs_tool_set("avr", "arduino", "host")
@pytest.mark.long
@pytest.mark.parametrize("name", radio_names())
def test_keys_by_the_command_in_the_comment_are_taken(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The command is run as written and its line pasted; keys for another radio are refused with a reason."""
    made = planned("arduino", "aes128-ccm8", radio(name, 32), "tiny")
    made.write(tmp_path / "libs" / made.name)
    comment = sketches(made)["KeyChange"].split("*/")[0]
    (command,) = re.findall(r"`motecrypt (provision NUMBER [^`]*--block)`", re.sub(r"\n \* ", " ", comment))
    key = str(tmp_path / "gateway.key")
    assert motecrypt(capfd, "key", key, "--link")[0] == 0
    blocks = []
    other = "provision NUMBER --key gateway.key --radio nrf24 --packet-bytes 31 --block"
    for number, words in enumerate((other, command)):
        given = [{"NUMBER": str(number + 5), "gateway.key": key}.get(w, w) for w in shlex.split(words)]
        code, out, _ = motecrypt(capfd, *given)
        assert code == 0
        blocks.append(out.splitlines()[-1])
    elf = build_sketch(
        tmp_path / "libs" / made.name / "examples/KeyChange/KeyChange.ino", [tmp_path / "libs"]
    )
    given_again = "refused: generation 1 is not later than 1, which is here; provision the node again"
    words = f"This sketch needs keys of: motecrypt {command}"
    for lines, said in (
        (
            blocks,
            [f"refused: keys for another radio, with packets of 31 bytes. {words}", "node 6, generation 1"],
        ),
        (blocks[1:], [given_again]),
    ):
        (tmp_path / "input").write_text("".join(f"{line}\r\n" for line in lines))
        assert heard(elf, 1, tmp_path / "eeprom", tmp_path / "input")[1:] == said


@needs_tool_set("avr", "arduino")
@pytest.mark.long
@pytest.mark.parametrize("name", ["Rf24", "Rfm69", "Lora"])
def test_a_radio_is_used_as_its_data_sheet_allows(name: str, tmp_path: Path) -> None:
    """Each library is a model here that names a broken rule; its radio answers at the second try."""
    radio_name = {"Rf24": "nrf24", "Rfm69": "cc1101", "Lora": "lora"}[name]
    made = planned("arduino", "aes128-ccm8", radio(radio_name, 32), "tiny")
    made.write(tmp_path / "libs" / made.name)
    sketch = tmp_path / "libs" / made.name / "examples" / name / f"{name}.ino"
    sketch.write_text(sketch.read_text().replace(">= 60000)", ">= 1000)").replace(">= 10000)", ">= 1000)"))
    elf = build_sketch(sketch, [tmp_path / "libs", LIBRARIES])
    gateway = Gateway(MemoryStore(), MASTER, "aes128-ccm", 32)
    keys = gateway.provision(5, SHORT | LISTENS)
    eeprom = tmp_path / "eeprom"
    eeprom.write_bytes(b"\xff" * 1024)
    missing = heard(elf, 2.5, eeprom)
    assert "answers; check its supply and wiring" in missing[0]
    words = f"--radio {radio_name} --packet-bytes 32 --eep node.eep"
    assert missing[1:] == [
        f"{name}: no keys for this sketch: motecrypt provision NUMBER --key gateway.key {words}"
    ]
    eeprom.write_bytes(keys.ljust(1024, b"\xff"))
    said = heard(elf, 3.5, eeprom)
    packets = [bytes.fromhex(line.removeprefix("sent ")) for line in said[1:]]
    messages: list[bytes] = []

    def take(given: list[object]) -> list[bool]:
        messages.extend(message.content for message in given)  # type: ignore[attr-defined]
        return [True] * len(given)

    gateway.receive(packets, take)  # type: ignore[arg-type]
    assert len(messages) == 1 and len(messages[0]) == 2


@needs_tool_set("avr", "arduino")
@pytest.mark.long
def test_a_bridge_speaks_its_protocol(tmp_path: Path) -> None:
    """On an UNO, over a model of RF24 that prints what is sent; the radio answers at the second try."""
    folder = tmp_path / "MyBridge"
    export_bridge(load_radio("nrf24"), folder)
    elf = build_sketch(folder / "MyBridge.ino", [LIBRARIES])
    packet = bytes(range(0x70, 0x90))
    asked = [encode(1, "H"), encode(2, "S", bytes(33)), encode(3, "S", packet)]
    (tmp_path / "input").write_bytes(b"".join(asked) + bytes(40_000) + b"\x7e" + encode(4, "S", packet))
    said = heard_bytes(elf, 4.5, None, tmp_path / "input")
    frames = []
    for body in Frames().feed(said):
        with suppress(ProtocolError):
            frames.append(decode(body))
    kinds = [(sequence, kind, payload[:1]) for sequence, kind, payload in frames if kind not in "hd"]
    greetings = [BridgeHello.decode(payload) for _, kind, payload in frames if kind == "h"]
    assert [(hello.radio, hello.packet_min, hello.packet_max) for hello in greetings] == [
        ("nrf24", 1, 32)
    ] * 2
    assert kinds[0] == (0, "e", bytes([NO_RADIO])), "until it answers"
    assert (2, "s", b"\x02") in kinds or (0, "e", b"\x04") in kinds, "one byte too long"
    assert (3, "s", b"\0") in kinds and (3, "s", b"\3") in kinds, (
        "taken, and not sent: the radio is not there yet"
    )
    assert kinds[-1] == (4, "s", b"\0") and [frame[0] for frame in frames if frame[1] == "d"] == [4]
    assert f"sent {packet.hex().upper()}".encode() in said and b"broken" not in said


@needs_tool_set("avr", "arduino")
@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["Coap", "Command", "Group", "Log", "Oscore", "Sensor", "Thermometer", "Uart"]
)
def test_a_sketch_without_keys_says_so_once(name: str, tmp_path: Path) -> None:
    made = planned("arduino", "aes128-ccm8", radio("srf", 12), "tiny")
    made.write(tmp_path / "libs" / made.name)
    sketch = tmp_path / "libs" / made.name / "examples" / name / f"{name}.ino"
    said = heard(build_sketch(sketch, [tmp_path / "libs"]), 3.5)
    text = "".join(said).removeprefix("+++ATSM2ATDN")
    assert text.startswith(f"{name}: no ") and text.count("no ") == 1
    assert "motecrypt provision NUMBER --key gateway.key --radio srf --packet-bytes 12 --eep node.eep" in text
