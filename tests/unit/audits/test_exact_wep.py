"""The audit of WEP by aircrack-ng, step by step: what a listener receives, the command and its answer."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from subjects import subject

from motecrypt.base.process import Outcome
from motecrypt.measuring.audits import (
    Unavailable,
    wep,
)
from wifi_open import open_wep


def test_a_capture_is_what_any_listener_hears() -> None:
    key = bytes(range(1, 6))
    made = wep._capture(key, 1002, random.Random(3))
    assert struct.unpack_from("<IHHiIII", made) == (0xA1B2C3D4, 2, 4, 0, 0, 65535, 105)
    at, frames = 24, []
    while at < len(made):
        seconds, us, length, whole = struct.unpack_from("<IIII", made, at)
        assert length == whole
        frames.append((seconds, us, made[at + 16 : at + 16 + length]))
        at += 16 + length
    assert [frame[:2] for frame in (frames[0], frames[1], frames[999], frames[1001])] == [
        *((0, 0), (0, 1000), (0, 999_000), (1, 1000)),
    ]
    first = random.Random(3).randrange(1 << 24)
    ivs = [int.from_bytes(frame[24:27], "big") for _, _, frame in frames]
    assert ivs == [(first + n) % (1 << 24) for n in range(1, 1003)]
    choose = random.Random(3)
    choose.randrange(1 << 24)
    for number, (_, _, frame) in enumerate(frames[:3]):
        opened = open_wep(frame, key)
        asked = wep._request(number, choose)
        assert opened[24:] == asked[24:] and opened[:1] == asked[:1] == b"\x08"
        assert asked[22:24] == (number << 4).to_bytes(2, "little") and asked[4:10] == b"\xff" * 6
    last = wep._request(4097, random.Random(1))
    assert last[22:24] == b"\x10\x00" and 1 <= last[-1] <= 254
    arp = last[24:]
    assert arp[:8].hex() == "aaaa030000000806" and arp[8:16].hex() == "0001080006040001"
    assert (
        arp[16:22] == wep.STATION and arp[22:26] == bytes((10, 1, 1, 1)) and arp[32:35] == bytes((10, 1, 1))
    )
    turning = wep._capture(key, 3, SimpleNamespace(randrange=lambda low, *_: low - 2 if low > 9 else 7))  # type: ignore[arg-type]
    assert [turning[24 + (16 + len(frames[0][2])) * n + 16 + 24 :][:3].hex() for n in range(3)] == [
        *("ffffff", "000000", "000001"),
    ]


@pytest.mark.parametrize(("quick", "sizes"), [(True, [5]), (False, [5, 13])])
def test_each_key_is_told_found_or_not(
    quick: bool, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    cracked: list[Any] = []
    keys: list[bytes] = []

    def crack(capture: Path, key_file: Path, bits: int) -> bytes:
        cracked.append((capture.read_bytes(), bits))
        return keys[-1] if bits == 64 else b""

    monkeypatch.setattr(wep, "_capture", lambda key, frames, random: keys.append(key) or str(frames).encode())
    monkeypatch.setattr(wep, "_crack", crack)
    clock = iter(2.126 * n for n in range(50))
    monkeypatch.setattr(wep, "perf_counter", lambda: next(clock))
    part = wep.run(subject("rc4", quick=quick), wep.NAME, None)  # type: ignore[arg-type]
    assert [len(key) for key in keys] == sizes
    # Tews, Weinmann, Pyshkin (2007): 85,000 packets are enough for 95 % of the keys of 104 bits.
    assert wep.SIZES == {5: 30_000, 13: 85_000}
    assert cracked == [(str(wep.SIZES[size]).encode(), 8 * (size + 3)) for size in sizes]
    captures = [{"key_bits": 8 * n, "frames": wep.SIZES[n], "found": n == 5, "seconds": 2.13} for n in sizes]
    assert part.data == {"captures": captures}
    assert (part.verdict, part.weight) == (f"broken: 1 of {len(sizes)} keys", "bad")
    assert part.sentences[0] == "From 30,000 recorded frames, the key of 40 bits was found in 2.1 s."
    assert all("104 bits was not found" in sentence for sentence in part.sentences[1:])
    monkeypatch.setattr(wep, "_crack", lambda *_: b"")
    part = wep.run(subject("rc4", quick=quick), wep.NAME, None)  # type: ignore[arg-type]
    assert (part.verdict, part.weight) == ("not broken with these captures", "note")


def test_aircracks_command_and_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []
    answers = [Outcome(0, "", ""), Outcome(1, "", ""), Outcome(None, "", "gone")]
    monkeypatch.setattr(wep.process, "run", lambda command, **_: asked.append(command) or answers[0])
    key = tmp_path / "key"
    assert wep._crack(tmp_path / "c", key, 64) == b""
    command = [
        "aircrack-ng",
        "-a",
        "1",
        "-q",
        "-b",
        "02:00:00:00:00:10",
        "-n",
        "64",
        "-l",
        key,
        tmp_path / "c",
    ]
    assert asked == [command]
    key.write_text("0102ff\n")
    assert wep._crack(tmp_path / "c", key, 64) == b"\x01\x02\xff"
    answers[0] = answers[2]
    with pytest.raises(Unavailable, match=r"^gone$"):
        wep._crack(tmp_path / "c", key, 64)
    monkeypatch.setattr(wep, "have", lambda tool_set: tool_set == "aircrack")
    answers[0] = Outcome(0, "\n  Aircrack-ng 1.7  - (C)", "")
    assert wep.identity(subject("rc4"), wep.NAME) == {"runner": "aircrack-ng 1.7"}
    answers[0] = Outcome(0, "", "")
    assert wep.identity(subject("rc4"), wep.NAME) == {"runner": "aircrack-ng ?"}
    monkeypatch.setattr(wep, "have", lambda tool_set: False)
    with pytest.raises(Unavailable, match=r"^aircrack-ng is missing"):
        wep.identity(subject("rc4"), wep.NAME)
