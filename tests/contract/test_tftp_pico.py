"""The example `log` on a simulated Pico: what is in its flash comes through the gateway to atftp."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pico_log import LINE, NOW, SECTOR, Held, PicoLog, lines
from tool_sets import needs_tool_set

pytestmark = [pytest.mark.long, needs_tool_set("pico", "link", "tftp")]
KEYS_AT = 0x1F0000


@pytest.mark.parametrize(("block", "node_block"), [(8, 0), (512, 8)])
def test_the_log_of_a_simulated_pico_comes_whole(block: int, node_block: int, tmp_path: Path) -> None:
    log = lines(400)
    with PicoLog(tmp_path, Held(log, block_max=node_block)) as pico:
        assert pico.fetch(block) == log + NOW


def test_a_full_ring_forgets_its_oldest_sector_and_the_interval_is_put(tmp_path: Path) -> None:
    whole = lines(2 * SECTOR // LINE - 1)  # one line is free: the next reading takes it
    with PicoLog(tmp_path, Held(whole, KEYS_AT - 2 * SECTOR)) as pico:
        rest = whole[SECTOR:] + NOW
        assert pico.fetch(512) == rest
        pico.put("interval", b"100")
        time.sleep(1)
        pico.put("interval", b"60000000")
        longer = pico.fetch(512)
    more, odd = divmod(len(longer) - len(rest), LINE)
    assert longer == rest + more * NOW and more > 1 and not odd


def test_a_sector_with_holes_is_erased_and_another_program_s_flash_is_taken(tmp_path: Path) -> None:
    torn = b"\xff" * 64 + b"\x5a" * (SECTOR - 64)  # an erasure that a loss of power ended
    with PicoLog(
        tmp_path, Held(lines(3) + b"\xff" * (SECTOR - 3 * LINE) + torn, KEYS_AT - 2 * SECTOR)
    ) as pico:
        assert pico.fetch(512) == lines(3) + NOW


def test_a_flash_full_of_something_else_is_taken_over(tmp_path: Path) -> None:
    other = b"\x5a" * SECTOR
    with PicoLog(tmp_path, Held(2 * other, KEYS_AT - 2 * SECTOR)) as pico:
        assert pico.fetch(512) == other + NOW
