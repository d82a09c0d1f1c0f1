"""The link core's assembly for AVR does what its C does, in random states and with random arguments.

The proofs, the fuzzer and the campaign run on that C.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.link.native import DEFINES, LISTENS, SHORT, STREAM, TAG_16
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import FreeRun, run_freely
from unit.link.test_link_on_uno import ARDUINO

HERE = Path(__file__).parent
STATES = (
    *("hand_over", "answer", "link_answer", "transmit"),
    *("link_send", "link_save", "link_load_record", "link_receive"),
)
SUITE = ("link_key", "link_prf", "link_crypt")
"""The functions, in the order of avr_states.c."""
STATE_OPTIONS = (
    (SHORT | LISTENS | STREAM, 12),
    (SHORT | LISTENS | TAG_16, 20),
    (SHORT | STREAM, 12),
    (LISTENS, 32),
    (SHORT, 120),
)
"""Options and packet lengths. How often each function runs with them, and those of the suite in all:"""
STATE_CASES, SUITE_CASES = 400, 60


def sums(folder: Path, count: int, *flags: str) -> list[list[str]]:
    """What each case of each function left behind, as a sum."""
    uno = Catalog.load().device("uno")
    places = (FIRMWARE / name for name in ("link", "include", "modes", "ciphers/aes"))
    include = [part for place in places for part in ("-I", str(place))]
    sources = (HERE / "avr_states.c", *(uno.folder / name for name in uno.hal))
    target = folder / "states.elf"
    defines = (*DEFINES, '-DBLOCK_HEADER="aes_tiny.h"', f"-DCOUNT={count}", "-DSEED=20261123ul")
    aes = FIRMWARE / "ciphers/aes/aes_tiny.c"
    done = subprocess.run(
        ["avr-gcc", *ARDUINO, *defines, *flags, *include, *map(str, sources), str(aes), "-o", str(target)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    output = bytearray()
    ended = run_freely(read_image(target, uno), uno, FreeRun(until=".", max_seconds=120), output.extend)
    assert ended.reason == "until", ended
    lines = output.decode().split(".")[0].splitlines()
    return [[line[at : at + 4] for at in range(0, len(line), 4)] for line in lines]


def compare(folder: Path, functions: tuple[str, ...], count: int, *flags: str) -> None:
    ours = sums(folder, count, *flags)
    plain = sums(folder, count, *flags, "-DLINK_PLAIN_C")
    assert len(ours) == len(plain) == len(functions)
    for function, one, other in zip(functions, ours, plain, strict=True):
        assert len(one) == len(other) == count
        assert len(set(other)) > count // 2  # the cases differ
        assert [case for case in range(count) if one[case] != other[case]] == [], function


@pytest.mark.parametrize(("options", "packet_bytes"), STATE_OPTIONS)
def test_states(options: int, packet_bytes: int, tmp_path: Path) -> None:
    compare(tmp_path, STATES, STATE_CASES, f"-DLINK_OPTIONS={options}", f"-DLINK_PACKET_BYTES={packet_bytes}")


def test_suite_and_keys(tmp_path: Path) -> None:
    compare(tmp_path, SUITE, SUITE_CASES, "-DSUITE", "-DLINK_OPTIONS=7", "-DLINK_PACKET_BYTES=12")
