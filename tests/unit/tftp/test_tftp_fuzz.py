"""Malformed packets for the node's side of TFTP, in short: nothing found, and nearly all of it reached."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fuzz.cores import CORES
from fuzz.link import CHECKS, run
from motecrypt.link.tftp.packets import read_packet
from motecrypt.link.tftp.transfer import Terms, TftpTransfer
from tftp_ends import Memory


def test_malformed_packets_break_nothing(tmp_path: Path) -> None:
    assert run(CORES["tftp"].build(tmp_path / "program", *CHECKS), 20_000, 1) is None


def test_odd_packets_never_break_a_computers_transfer() -> None:
    """Nor do they make it send more than one packet each."""
    random = Random(5)
    heads = [b"\0\1log\0octet\0", b"\0\2log\0octet\0blksize\0008\0", b"\0\6blksize\0008\0", b"\0\5\0\1"]
    for _ in range(300):
        asked = read_packet(random.choice(heads[:2]))
        assert asked is not None
        client, writing = random.random() < 0.5, random.random() < 0.5
        file = Memory(bytes(random.randrange(2000)))
        transfer = (
            TftpTransfer.ask(Terms(), file, "log", writing)
            if client
            else TftpTransfer.serve(Terms(), file, asked)
        )
        for turn in range(60):
            transfer.packets.clear()
            numbered = bytes([0, random.randrange(3, 5), 0, random.randrange(4)]) + bytes(
                random.choice((0, 8, 512))
            )
            data = random.choice([*heads, numbered, numbered, random.randbytes(random.randrange(40))])
            packet = read_packet(data)
            if packet is not None:
                transfer.receive(packet, turn)
            assert len(transfer.packets) <= 1
            transfer.poll(turn)
        assert len(file.closed) == transfer.over


def test_the_inputs_reach_nearly_every_line_and_branch(tmp_path: Path) -> None:
    lines, branches = CORES["tftp"].coverage(tmp_path, 20_000)
    assert lines >= 98 and branches >= 95, (lines, branches)
