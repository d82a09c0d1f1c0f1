"""Each simulated core against an engine of others: a fixed sample of the campaign (`./test campaign
--lockstep`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from kits import needs_kit, needs_npm, skip_without
from lockstep import corpus
from lockstep.avr import UNO, AvrRun, Simavr
from lockstep.engine import Difference, Engine, EngineFault, Program, differences, run
from lockstep.main import compared
from lockstep.pairs import AVR8JS, PAIRS, RP2040JS
from motecrypt.catalog import Catalog

SAMPLE = {"pico": 12, "ch32v003": 10}


@pytest.mark.crosscheck
@needs_npm(AVR8JS)
@needs_npm(RP2040JS)
@pytest.mark.parametrize("name", PAIRS)
def test_a_sample_ends_alike_in_both_engines(name: str, tmp_path: Path) -> None:
    pair = PAIRS[name]
    skip_without(*pair.needs)
    assert list(map(str, compared(pair, range(SAMPLE.get(name, 40)), tmp_path))) == []


@needs_kit("avr")
def test_both_avr_drivers_end_alike(tmp_path: Path) -> None:
    programs = [UNO.program(seed) for seed in range(1000, 1030)]
    assert differences(UNO, [Simavr(UNO)], AvrRun(UNO), programs, tmp_path) == []


@needs_kit("avr")
@pytest.mark.parametrize("engine", [Simavr(UNO), AvrRun(UNO)], ids=["simavr", "avr_run"])
def test_a_skip_passes_over_one_adiw(engine: Engine, tmp_path: Path) -> None:
    """With every constant; the instruction after it must run."""
    words = [f"{name} r24, {number}" for name in ("adiw", "sbiw") for number in range(64)]
    skipped = [Program(0, (f"clr r2\nsbrc r2, 0\n{word}\ninc r20",)) for word in words]
    states = {
        ended.state for ended in run(UNO, engine, [*skipped, Program(0, ("clr r2\ninc r20",))], tmp_path)
    }
    assert len(states) == 1


@pytest.mark.crosscheck
@needs_kit("avr")
@needs_npm(AVR8JS)
def test_firmware_of_the_benchmark_says_and_takes_the_same(tmp_path: Path) -> None:
    catalog, device = Catalog.load(), Catalog.load().device("uno")
    body = next(i for i in catalog.implementations_of("aes128-ccm8", "uno") if i.variant == "fast")
    firmware = corpus.built(device, body, "flash")
    assert firmware is not None
    sent = corpus.frames(16, catalog.cipher("aes128-ccm8").nonce_bytes)
    one = corpus.ours(device, firmware, sent)
    assert one is not None and len(one.cycles) == 3 and len(one.answers) == len(sent) + 1
    assert one == corpus.theirs(device, UNO, firmware, sent, AVR8JS, tmp_path)


class Wrong:
    """An engine with a fault of its own: it takes one register for another, or never ends."""

    name = "wrong"

    def __init__(self, fault: str) -> None:
        self.fault = fault

    def run(self, firmware: Path, folder: Path) -> tuple[bytes, list[int] | None]:
        sent, cycles = Simavr(UNO).run(firmware, folder)
        if self.fault == "ends":
            raise EngineFault("it never ended")
        if self.fault == "cycles":
            return sent, [taken + number for number, taken in enumerate(cycles or [])]
        source = (folder / "lockstep.S").read_text()
        at = source.count("\np") and 2 * UNO.state_bytes + 2 * 20 + 1  # of the first program, r20
        changed = bytearray(sent)
        changed[at] ^= "swap r20" in source
        return bytes(changed), cycles


@needs_kit("avr")
def test_a_difference_is_found_and_shrunk_to_what_causes_it(tmp_path: Path) -> None:
    pieces = ("inc r1", "com r2", "swap r20", "dec r3", "neg r4")
    (found,) = differences(UNO, [Simavr(UNO)], Wrong("state"), [Program(7, pieces)], tmp_path)
    assert found.program.pieces == ("swap r20",) and found.what.startswith("r20 ")
    assert str(found) == f"seed 7: {found.what}\nswap r20"
    (found,) = differences(UNO, [Simavr(UNO)], Wrong("cycles"), [Program(7, pieces)], tmp_path)
    assert found.what == "0 cycles / 1" and found.program.pieces == ()
    (found,) = differences(UNO, [Simavr(UNO)], Wrong("ends"), [Program(7, pieces)], tmp_path)
    assert found.what.endswith(" / it never ended")
    assert isinstance(found, Difference)
