"""Each simulated core against an engine of others: a fixed sample of the campaign (`./test campaign
--lockstep`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import lockstep.kept
import lockstep.main
from lockstep import corpus
from lockstep.avr import MEGA, UNO, Avr8js, AvrRun, Simavr
from lockstep.engine import Difference, Engine, EngineFault, Program, differences, run
from lockstep.main import compared, of_programs
from lockstep.pairs import AVR8JS, PAIRS, RP2040JS, Pair
from lockstep.thumb import REGISTERS
from motecrypt.catalog import Catalog
from tool_sets import needs_npm, needs_tool_set, skip_without

SEEDS = {"uno": [5046], "pico run": [321, 463, 623], "ch32v003": []}
"""Beside the first of each: those that have shown what avr8js.mjs and rp2040js.mjs correct."""


@pytest.mark.crosscheck
@needs_npm(AVR8JS)
@needs_npm(RP2040JS)
@pytest.mark.parametrize("name", PAIRS)
def test_a_sample_ends_alike_in_both_engines(name: str, tmp_path: Path) -> None:
    pair = PAIRS[name]
    skip_without(*pair.needs)
    seeds = [*range(min(40, pair.batch)), *SEEDS.get(name, [])]
    assert list(map(str, compared(pair, seeds, tmp_path))) == []


def test_interrupts_come_in_the_programs_that_have_them(tmp_path: Path) -> None:
    skip_without("pico")
    for name in ("pico run", "pico2 run"):
        pair = PAIRS[name]
        programs = [pair.core.program(seed) for seed in range(8)]
        ends = run(pair.core, pair.ours[0], programs, tmp_path)
        at = 4 * len(REGISTERS)
        counts = [int.from_bytes(ended.state[at : at + 4], "little") for ended in ends]
        pended = [sum("e000ed04" in piece or "svc" in piece for piece in p.pieces) for p in programs]
        timed = [int(p.interrupt_after is not None) for p in programs]
        assert sum(counts) >= 3 and all(
            (count > 0) <= (timed[n] + pended[n] > 0) for n, count in enumerate(counts)
        )


def test_a_stopped_campaign_continues(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The programs that were compared are not compared again, and what differed is printed again; with other
    engines all are compared."""
    asked: list[Sequence[int]] = []

    def compare(pair: Pair, seeds: Sequence[int], _: Path) -> list[str]:
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(seeds)
        return ["it differs"] if seeds[0] == 7 else []

    monkeypatch.setattr(lockstep.main, "compared", compare)
    monkeypatch.setattr(lockstep.kept, "cache_dir", lambda: tmp_path)
    monkeypatch.setattr(lockstep.kept, "identity", lambda device, pair: pair.core.name)
    pair = PAIRS["uno"]
    with pytest.raises(KeyboardInterrupt):
        of_programs("uno", pair, 3 * pair.batch, 7, tmp_path)
    first = asked.copy()
    asked.clear()
    assert of_programs("uno", pair, 2 * pair.batch + 5, 7, tmp_path) == 1
    assert [*first, *asked] == [
        range(7, 7 + pair.batch),
        range(7 + pair.batch, 7 + 2 * pair.batch),
        range(7 + 2 * pair.batch, 7 + 2 * pair.batch + 5),
    ]
    assert capsys.readouterr().out.count("it differs") == 2
    asked.clear()
    assert of_programs("uno", replace(pair, core=MEGA), 1, 7, tmp_path) == 1 and asked == [range(7, 8)]


@needs_tool_set("avr")
def test_both_avr_drivers_end_alike(tmp_path: Path) -> None:
    programs = [UNO.program(seed) for seed in range(1000, 1030)]
    assert differences(UNO, [Simavr(UNO)], AvrRun(UNO), programs, tmp_path) == []


@needs_tool_set("avr")
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
@needs_tool_set("avr")
@needs_npm(AVR8JS)
@pytest.mark.parametrize(("cipher", "variant"), [("aes128-ccm8", "fast"), ("rc4", "kipe-opt")])  # EEPROM
def test_firmware_of_the_benchmark_says_and_takes_the_same(cipher: str, variant: str, tmp_path: Path) -> None:
    catalog, device = Catalog.load(), Catalog.load().device("uno")
    body = next(i for i in catalog.implementations_of(cipher, "uno") if i.variant == variant)
    firmware = corpus.built(device, body, "flash")
    assert firmware is not None
    sent = corpus.frames(16, catalog.cipher(cipher).nonce_bytes)
    one = corpus.ours(device, firmware, sent)
    assert len(one.cycles) == 3 and len(one.answers) == len(sent) + 1
    assert one == corpus.theirs(device, Avr8js(UNO, AVR8JS), firmware, sent, tmp_path)


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


@needs_tool_set("avr")
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
