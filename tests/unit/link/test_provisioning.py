"""What carries keys to a node: images, QR codes, files that nobody else reads, the registry, the command."""

from __future__ import annotations

import json
import os
import stat
import struct
import sys
import types
import zlib
from pathlib import Path

import pytest

from command_line import run
from link_ends import native
from motecrypt.base.errors import InputError
from motecrypt.link import provisioning
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.native import (
    LISTENS,
    SHORT,
    STREAM,
    TAG_16,
    Event,
    node_key,
)
from motecrypt.link.state import FileStore, MemoryStore
from motecrypt.link.told import NodeEntry
from open_handles import handles

MASTER = bytes(range(16))
IMAGE = bytes((7 * i + 3) % 256 for i in range(188))


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no disk: what is durable is another test's matter."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


# --- images


def from_hex(text: str) -> dict[int, int]:
    """An Intel HEX file as memory, each record checked."""
    memory: dict[int, int] = {}
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        assert line[0] == ":"
        record = bytes.fromhex(line[1:])
        assert sum(record) % 256 == 0 and record[0] == len(record) - 5
        at, kind, data = int.from_bytes(record[1:3], "big"), record[3], record[4:-1]
        assert kind == (number == len(lines))
        memory.update({at + i: byte for i, byte in enumerate(data)})
    return memory


@pytest.mark.parametrize("at", [0, 1, 300, 836, 65536 - 188])
def test_an_eeprom_image_is_intel_hex(at: int) -> None:
    text = provisioning.eeprom_hex(IMAGE, at).decode()
    assert from_hex(text) == {at + i: byte for i, byte in enumerate(IMAGE)}
    assert text.splitlines()[-1] == ":00000001FF" and max(map(len, text.splitlines())) == 11 + 32


def test_a_record_of_hex_is_as_intel_has_it() -> None:
    """A record from Intel's specification (1988), section 3."""
    assert provisioning.eeprom_hex(bytes.fromhex("214601360121470136007EFE09D21901"), 0x0100).startswith(
        b":10010000214601360121470136007EFE09D2190140\n"
    )


@pytest.mark.parametrize("at", [-1, 65536 - 187])
def test_an_eeprom_has_an_end(at: int) -> None:
    with pytest.raises(InputError, match=f"address {at} of an EEPROM; give 0 to 65348"):
        provisioning.eeprom_hex(IMAGE, at)


def test_a_flash_image_is_page_0_and_nothing_else() -> None:
    made = provisioning.flash_image(IMAGE)
    told = IMAGE + bytes(4)
    assert made == (told + struct.pack("<I", zlib.crc32(told))).ljust(8192, b"\xff")


@pytest.mark.parametrize("offset", [0, 0x1000, 0x1F0000, 0x1FF000, 0xFFE000])
def test_a_uf2_has_every_page_of_both_sectors(offset: int) -> None:
    made = provisioning.uf2(IMAGE, offset)
    assert len(made) == 32 * 512
    data = b""
    for number in range(32):
        block = made[512 * number : 512 * (number + 1)]
        head = struct.unpack("<8I", block[:32])
        assert head == (
            *(0x0A324655, 0x9E5D5157, 0x2000, 0x10000000 + offset + 256 * number),
            *(256, number, 32, 0xE48BFF56),
        )
        assert block[32 + 256 : 508] == bytes(220) and block[508:] == bytes.fromhex("306fb10a")
        data += block[32 : 32 + 256]
    assert data == provisioning.flash_image(IMAGE)
    assert provisioning.uf2(IMAGE) == provisioning.uf2(IMAGE, 0x1F0000)


def test_pages_lie_behind_the_flashs_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provisioning, "_FLASH_BASE", 0x101FF000)
    made = provisioning.uf2(IMAGE, 0x1F1000)
    places = [int.from_bytes(made[at + 12 : at + 16], "little") for at in range(0, len(made), 512)]
    assert places == [0x103F0000 + 256 * number for number in range(32)]


@pytest.mark.parametrize("offset", [-4096, 1, 0x1F0100, 0xFFF000])
def test_a_flash_has_sectors_and_an_end(offset: int) -> None:
    with pytest.raises(InputError, match=r"give a multiple of 0x1000 below 0xffe001"):
        provisioning.uf2(IMAGE, offset)


def test_a_key_block_as_text() -> None:
    assert provisioning.block_text(IMAGE) == "MC2:" + IMAGE[:24].hex().upper()


# --- QR codes


def test_a_qr_code_has_the_text_that_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for the library: what it is asked for."""
    asked: list[object] = []

    class Code:
        def save(self, file: object, **how: object) -> None:
            asked.append(how)
            file.write(b"png")  # type: ignore[attr-defined]

        def terminal(self, file: object, **how: object) -> None:
            asked.append(how)
            file.write("modules")  # type: ignore[attr-defined]

    def make(text: str, **how: object) -> Code:
        asked.append((text, how))
        return Code()

    monkeypatch.setitem(sys.modules, "segno", types.SimpleNamespace(make=make))
    assert provisioning.qr_png("MC2:00") == b"png"
    assert provisioning.qr_terminal("MC2:01") == "modules"
    whole = {"micro": False}
    assert asked == [
        ("MC2:00", whole),
        {"kind": "png", "scale": 8},
        ("MC2:01", whole),
        {"compact": True},
    ]


def test_a_picture_and_a_terminal_show_the_same_code() -> None:
    segno = pytest.importorskip("segno")
    text = provisioning.block_text(IMAGE)
    modules = [list(row) for row in segno.make(text, micro=False).matrix_iter(border=4)]
    png = provisioning.qr_png(text)
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", png[16:24]) == (8 * len(modules), 8 * len(modules))
    lines = provisioning.qr_terminal(text).splitlines()
    assert len(lines) == (len(modules) + 1) // 2 and {len(line) for line in lines} == {len(modules)}
    for row, line in enumerate(lines):
        for column, shown in enumerate(line):  # light modules are drawn
            pair = [
                modules[2 * row][column],
                modules[2 * row + 1][column] if 2 * row + 1 < len(modules) else 1,
            ]
            assert shown == {(0, 0): "█", (0, 1): "▀", (1, 0): "▄", (1, 1): " "}[pair[0], pair[1]]


# --- files


def test_files_are_new_and_their_owners_alone(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"

    def make() -> dict[Path, bytes]:
        assert one.exists() and two.exists()  # before a generation is used
        return {one: b"1", two: b"22"}

    provisioning.write_private(make, [one, two])
    assert (one.read_bytes(), two.read_bytes()) == (b"1", b"22")
    assert {stat.S_IMODE(path.stat().st_mode) for path in (one, two)} == {0o600}


def test_files_are_opened_so_that_no_other_program_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, asked = os.open, []

    def open_(path: Path, flags: int, mode: int = 0o777) -> int:
        asked.append((path, flags, mode))
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", open_)
    one = tmp_path / "one"
    provisioning.write_private(lambda: {one: b"1"}, [one])
    assert asked == [
        (one, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600),
        (tmp_path, os.O_RDONLY | os.O_CLOEXEC, 0o777),
    ]

    def gone() -> dict[Path, bytes]:
        two.unlink()
        raise InputError("no")

    two = tmp_path / "two"
    with pytest.raises(InputError, match=r"^no$"):
        provisioning.write_private(gone, [two])


def test_where_a_file_is_already_nothing_is_made(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    two.write_bytes(b"mine")
    before = handles()
    with pytest.raises(InputError, match="two: File exists; give a new file's name"):
        provisioning.write_private(lambda: pytest.fail("made"), [one, two])
    assert not one.exists() and two.read_bytes() == b"mine"
    assert handles() <= before


def test_what_fails_leaves_no_file(tmp_path: Path) -> None:
    one = tmp_path / "one"

    def make() -> dict[Path, bytes]:
        raise InputError("no")

    before = handles()
    with pytest.raises(InputError, match="no"):
        provisioning.write_private(make, [one])
    assert not one.exists()
    provisioning.write_private(lambda: {one: b"1"}, [one])
    assert one.read_bytes() == b"1" and handles() <= before


def test_a_full_disk_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match="one: cannot be written: No space left on device; free some space"):
        provisioning.write_private(lambda: {tmp_path / "one": b"1"}, [tmp_path / "one"])
    assert list(tmp_path.iterdir()) == []


# --- the registry


def test_the_registry_has_every_number_that_was_given_out() -> None:
    store = MemoryStore()
    gateway = Gateway(store, MASTER, packet_bytes=20)
    assert gateway.registry() == ()
    gateway.provision(7, SHORT | LISTENS | STREAM)
    gateway.provision(3, SHORT)
    gateway.provision(7, SHORT | LISTENS | TAG_16)
    gateway.restored(1_000)
    seven = NodeEntry(7, 2, SHORT | LISTENS | TAG_16, 20, epoch_unconfirmed=True)
    told = (NodeEntry(3, 1, void=True), seven)
    assert gateway.registry() == told
    assert Gateway(store, MASTER, packet_bytes=12).registry() == told


# --- the command


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "gateway.key"
    path.write_text(f"motecrypt-link:aes128-ccm:{MASTER.hex()}\n")
    path.chmod(0o600)
    return path


def test_every_form_holds_the_same_keys_and_the_gateway_knows_them(
    key: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files = {name: tmp_path / name for name in ("eep", "eeprom", "uf2", "flash", "image")}
    given = [word for name, path in files.items() for word in (f"--{name}", path)]
    more = ("--eeprom-at", 200, "--flash-offset", "0x100000", "--block")
    code, out, err = run(capfd, "provision", 5, "--key", key, *given, *more)
    assert (code, err) == (0, "")
    image = files["image"].read_bytes()
    assert out.splitlines() == [
        *(f"{path}: keys of node 5, generation 1; write it once, then delete it" for path in files.values()),
        provisioning.block_text(image),
    ]
    options = SHORT | LISTENS | STREAM
    head = bytes([3, 5, options, 12, 1, 0, 0, 0])
    assert image[:24] == head + node_key("aes128-ccm", MASTER, 5, 1)
    assert files["eep"].read_bytes() == provisioning.eeprom_hex(image, 200)
    assert files["eeprom"].read_bytes() == b"\xff" * 200 + image + b"\xff" * 636
    assert files["uf2"].read_bytes() == provisioning.uf2(image, 0x100000)
    assert files["flash"].read_bytes() == provisioning.flash_image(image)
    assert {stat.S_IMODE(path.stat().st_mode) for path in files.values()} == {0o600}
    record = tmp_path / "gateway.key.gateway"
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    store = FileStore(record)
    gateway = Gateway(store, MASTER)
    node = native()
    assert node.begin(image) is Event.NOTHING
    node.send(b"21.4 C")
    got = []
    gateway.receive(node.packets(), lambda messages: [bool(got.append(m.content)) or True for m in messages])
    assert got == [b"21.4 C"]
    store.close()


def test_each_call_raises_the_generation(
    key: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state"
    key.write_text(f"motecrypt-link:ascon-aead128:{MASTER.hex()}\n")
    given = (9, "--key", key, "--state", state, "--radio", "nrf24", "--json")
    for generation, more in ((1, ()), (2, ("--sends-only", "--packet-bytes", 16)), (3, ("--long-tags",))):
        code, out, _ = run(capfd, "provision", *given, "--block", *more)
        told = json.loads(out)
        block = bytes.fromhex(told.pop("block")[4:])
        options = {1: SHORT | LISTENS, 2: SHORT, 3: SHORT | LISTENS | TAG_16}[generation]
        packet_bytes = 16 if generation == 2 else 32
        assert code == 0 and told == {
            "node": 9,
            "generation": generation,
            "options": options,
            "packet_bytes": packet_bytes,
            "files": [],
        }
        assert block[:6] == bytes([3, 9, options, packet_bytes, generation, 0])
        assert block[8:] == node_key("ascon-aead128", MASTER, 9, generation)
    code, out, _ = run(capfd, "provision", *given[1:], "--list")
    assert code == 0 and json.loads(out) == [
        {
            "node": 9,
            "generation": 3,
            "options": 11,
            "packet_bytes": 32,
            "void": False,
            "epoch_unconfirmed": False,
        }
    ]
    assert "of a packet radio, both ways" in run(capfd, "provision", *given[1:-1], "--list")[1]
    code, out, _ = run(capfd, "provision", *given, "--image", tmp_path / "image")
    assert "block" not in json.loads(out) and json.loads(out)["files"] == [str(tmp_path / "image")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["5"],
            "choose how to transfer its keys: --eep, --eeprom, --uf2, --flash, --image, --block, "
            "--qr or --png",
        ),
        (["--block"], "name the node: a number from 0 to 62"),
        (
            ["5", "--block", "--radio", "srf", "--packet-bytes", "11"],
            "packets of 11 bytes; the link takes 12",
        ),
        (["5", "--eep", "{}/x", "--eeprom-at", "65349"], "address 65349 of an EEPROM"),
        (["5", "--eeprom", "{}/x", "--eeprom-at", "837"], "address 837 of an UNO's EEPROM; give 0 to 836"),
        (["5", "--eeprom", "{}/x", "--eeprom-at", "-1"], "address -1 of an UNO's EEPROM; give 0 to 836"),
        (["5", "--uf2", "{}/x", "--flash-offset", "0x1f0001"], "give a multiple of 0x1000"),
        (["5", "--uf2", "{}/x", "--flash-offset", "x"], "--flash-offset x: not a number"),
        (["5", "--uf2", "{}/x", "--eep", "{}/x"], "named twice"),
        (["5", "--image", "{}/gateway.key"], "gateway.key: File exists; give a new file's name"),
        (["5", "--image", "{}/no/x"], "No such file or directory"),
        (["5", "--image", "{}/gateway.key.gateway"], "gateway.key.gateway: belongs to the gateway's record"),
        (["5", "--eep", "{}/gateway.key.gateway.new"], "belongs to the gateway's record"),
        (["5", "--state", "{}/x", "--eep", "{}/x"], "belongs to the gateway's record"),
    ],
)
def test_what_is_refused_uses_no_generation(
    arguments: list[str], message: str, key: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = [argument.replace("{}", str(tmp_path)) for argument in arguments]
    code, out, err = run(capfd, "provision", "--key", key, *given)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1
    assert not (tmp_path / "gateway.key.gateway").exists() and not (tmp_path / "x").exists()


def test_a_master_key_has_16_bytes(key: Path, capfd: pytest.CaptureFixture[str]) -> None:
    key.write_text("00" * 16)
    code, _, err = run(capfd, "provision", 5, "--key", key, "--block")
    assert code == 2 and "not the master key of a gateway" in err
    key.chmod(0o644)
    code, _, err = run(capfd, "provision", 5, "--key", key, "--block")
    assert code == 2 and "others can read or write it" in err


@pytest.mark.parametrize("umask", [0, 0o22, 0o77])
def test_a_folder_for_keys_is_its_owners_alone(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        with provisioning.new_folder(tmp_path / "keys"):
            assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700
    finally:
        os.umask(before)
