"""WEP's key out of a capture of our own frames, by aircrack-ng. Skipped where that tool is missing.

RC4 itself is one thing, its use another: WEP puts a public counter in front of the key, and the first
keystream bytes under such related keys give the key away (Fluhrer, Mantin, Shamir, SAC 2001; here in the
form of Pyshkin, Tews, Weinmann, 2007). The capture holds what any listener receives: requests of the address
resolution protocol, whose first bytes are public.
"""

from __future__ import annotations

import re
import struct
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

from motecrypt.air.wlan.protection import seal_wep
from motecrypt.attack.audits.oracle import Part, randomness
from motecrypt.base import process
from motecrypt.base.model import Cipher
from motecrypt.build.setup import have
from motecrypt.measuring.audits import Subject, Unavailable
from motecrypt.results import Results

NAME = "attack:wep-capture"
TITLE = "WEP: the key from a capture, by aircrack-ng"

STATION, GATEWAY = bytes.fromhex("020000000001"), bytes.fromhex("020000000010")
BROADCAST = b"\xff" * 6
LINK_TYPE_80211 = 105
#: Key bytes and the frames captured: about twice what the attack needs for an even chance.
SIZES = {5: 30_000, 13: 85_000}


def names(cipher: Cipher, devices: Sequence[str]) -> list[str]:
    """The one part, for RC4."""
    return [NAME] if cipher.name == "rc4" else []


def others(cipher: Cipher) -> dict[str, str]:
    """For any other cipher: what the part needs."""
    return {} if cipher.name == "rc4" else {NAME: "RC4, on which WEP is based"}


def identity(subject: Subject, part: str) -> dict[str, Any]:
    """The version of aircrack-ng."""
    if not have("aircrack"):
        raise Unavailable("aircrack-ng is missing: apt-get install --no-install-recommends aircrack-ng")
    said = re.search(
        r"Aircrack-ng +(\S+)", process.run(["aircrack-ng", "--help"], work_s=process.ASKED_S).output
    )
    return {"runner": f"aircrack-ng {said.group(1) if said else '?'}"}


def run(subject: Subject, part: str, results: Results) -> Part:
    """Write a capture under a random key, and hand nothing but the file to aircrack-ng."""
    random = randomness(subject.seed, NAME)
    rows = []
    for size in [min(SIZES)] if subject.quick else SIZES:
        frames = SIZES[size]
        key = random.randbytes(size)
        with tempfile.TemporaryDirectory(prefix="motecrypt-") as folder:
            capture = Path(folder) / "wep.pcap"
            capture.write_bytes(_capture(key, frames, random))
            begin = perf_counter()
            found = _crack(capture, Path(folder) / "key", 8 * (size + 3))
            seconds = perf_counter() - begin
        rows.append(
            {
                "key_bits": 8 * size,
                "frames": frames,
                "found": found == key,
                "seconds": round(seconds, 2),
            }
        )
    broken = sum(bool(row["found"]) for row in rows)
    sentences = tuple(
        f"From {row['frames']:,} recorded frames, the key of {row['key_bits']} bits was "
        f"{'found' if row['found'] else 'not found'} in {row['seconds']:.1f} s."
        for row in rows
    )
    verdict = f"broken: {broken} of {len(rows)} keys" if broken else "not broken with these captures"
    return Part(NAME, TITLE, verdict, "bad" if broken else "note", sentences, {"captures": rows})


def _capture(key: bytes, frames: int, random: Random) -> bytes:
    """A capture file (pcap, IEEE 802.11 frames) of broadcast requests under counting IVs."""
    pieces = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, LINK_TYPE_80211)]
    iv = random.randrange(1 << 24)
    for number in range(frames):
        iv = (iv + 1) % (1 << 24)
        frame = seal_wep(_request(number, random), key, iv.to_bytes(3, "big"))
        microseconds = number * 1000
        pieces.append(struct.pack("<IIII", *divmod(microseconds, 1_000_000), len(frame), len(frame)))
        pieces.append(frame)
    return b"".join(pieces)


def _request(number: int, random: Random) -> bytes:
    """A data frame from the access point with a request of the address resolution protocol (RFC 826)."""
    header = b"\x08\x02\x00\x00" + BROADCAST + GATEWAY + STATION + (number % 4096 << 4).to_bytes(2, "little")
    wanted = bytes((10, 1, 1, random.randrange(1, 255)))
    arp = bytes.fromhex("0001080006040001") + STATION + bytes((10, 1, 1, 1)) + bytes(6) + wanted
    return header + bytes.fromhex("aaaa030000000806") + arp


def _crack(capture: Path, key_file: Path, key_bits: int) -> bytes:
    """Return the key that aircrack-ng finds, or b"". It sees the capture and the length of the key."""
    command = ["aircrack-ng", "-a", "1", "-q", "-b", GATEWAY.hex(":"), "-n", str(key_bits)]
    outcome = process.run([*command, "-l", key_file, capture], work_s=process.WORK_S * process.processors())
    if outcome.code is None:
        raise Unavailable(outcome.first_error)
    return bytes.fromhex(key_file.read_text(encoding="ascii").strip()) if key_file.exists() else b""
