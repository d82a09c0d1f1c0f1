"""Captures: read back by scapy, opened and decrypted by tshark with the key alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from motecrypt.air.wlan import dcf
from motecrypt.air.wlan.capture import Captured, pieces, write_capture
from motecrypt.air.wlan.protection import SECURITIES, security
from motecrypt.base.errors import InputError
from tool_sets import needs_tool_set

pytest.importorskip("scapy", reason="scapy is not installed: pip install 'motecrypt[wlan]'")

PAYLOAD = bytes(range(256)) * 20
FLAGS = {"True": "1", "False": "0"}


def _tshark(captured: Captured, *fields: str, show: str = "") -> list[list[str]]:
    command = [
        "tshark",
        "-r",
        captured.path,
        *captured.tshark,
        "-o",
        "wlan.check_checksum:TRUE",
        "-T",
        "fields",
    ]
    for name in fields:
        command += ["-e", name]
    if show:
        command += ["-Y", show]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    # A flag is 1 or 0 to tshark 4.0 and True or False to 4.4.
    return [[FLAGS.get(word, word) for word in line.split("\t")] for line in done.stdout.splitlines()]


@pytest.mark.crosscheck
@needs_tool_set("tshark")
@pytest.mark.parametrize("mode", dcf.MODES)
@pytest.mark.parametrize("name", list(SECURITIES))
def test_tshark_decrypts_the_capture_and_finds_the_payload(tmp_path: Path, name: str, mode: str) -> None:
    captured = write_capture(
        tmp_path / "transfer.pcap", pieces(PAYLOAD, "tcp"), mode=mode, security_name=name, protocol="tcp"
    )
    rows = _tshark(captured, "wlan.fcs.status", "wlan.fc.fromds", "tcp.payload")
    assert len(rows) == captured.frames
    assert {row[0] for row in rows} == {"1"}, "a frame check sequence is wrong"
    last_hop = "1" if mode == "infrastructure" else "0"
    assert bytes.fromhex("".join(row[2] for row in rows if row[1] == last_hop)) == PAYLOAD
    if name != "open":  # without the key nothing is to be seen
        blind = Captured(**{**vars(captured), "tshark": []})
        assert not any(row[0] for row in _tshark(blind, "tcp.payload"))


@pytest.mark.crosscheck
@needs_tool_set("tshark")
def test_the_shared_key_handshake_has_its_four_frames(tmp_path: Path) -> None:
    captured = write_capture(
        tmp_path / "figure1.pcap", pieces(b"x", "udp"), security_name="wep", protocol="udp"
    )
    rows = _tshark(
        captured,
        "wlan.fixed.auth.alg",
        "wlan.fixed.auth_seq",
        "wlan.fc.protected",
        "wlan.fixed.status_code",
        "wlan.tag.challenge_text",
        show="wlan.fc.type_subtype==0x0b",
    )
    assert [row[:4] for row in rows] == [
        ["1", f"0x000{step}", protected, "0x0000"]
        for step, protected in ((1, "0"), (2, "0"), (3, "1"), (4, "0"))
    ]
    assert rows[1][4] == rows[2][4] and len(rows[1][4]) == 2 * 128


@pytest.mark.parametrize("protocol", dcf.PROTOCOLS)
@pytest.mark.parametrize("name", list(SECURITIES))
def test_the_frames_have_the_lengths_that_the_models_use(tmp_path: Path, name: str, protocol: str) -> None:
    size = 8 * dcf.payload_per_packet(protocol)
    captured = write_capture(
        tmp_path / "c.pcap", pieces(bytes(size), protocol), security_name=name, protocol=protocol
    )
    full = dcf.PACKET_BYTES + dcf.LLC_BYTES + dcf.MAC_BYTES + security(name).frame_bytes
    assert max(captured.data_frame_bytes) == full
    modelled = dcf.transfer(size, protocol=protocol, security_bytes=security(name).frame_bytes)
    joining = 6 if protocol == "tcp" else 0  # opening and closing the connection
    assert captured.data_frames == modelled.data_frames + joining


def test_scapy_reads_it_and_the_same_inputs_give_the_same_file(tmp_path: Path) -> None:
    from scapy.layers.dot11 import Dot11, Dot11CCMP
    from scapy.utils import rdpcap

    for name in ("one.pcap", "two.pcap"):
        write_capture(tmp_path / name, pieces(PAYLOAD, "udp"), security_name="ccmp", protocol="udp")
    assert (tmp_path / "one.pcap").read_bytes() == (tmp_path / "two.pcap").read_bytes()
    frames = rdpcap(str(tmp_path / "one.pcap"))
    assert frames[0].haslayer(Dot11)
    numbers = [f[Dot11CCMP].PN0 for f in frames if f.haslayer(Dot11CCMP)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_capture(tmp_path / "no" / "c.pcap", pieces(b"x", "udp"), protocol="udp")
