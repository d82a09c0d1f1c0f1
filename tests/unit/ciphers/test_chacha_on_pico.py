"""ChaCha20-Poly1305 in assembly on a simulated Pico: every vector, and chained messages against the oracle.
Only lengths change what a message takes."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from motecrypt.catalog import FIRMWARE
from motecrypt.catalog.oracles import vectors
from motecrypt.simulate.runners import arm
from motecrypt.simulate.runners.session import Options
from tool_sets import skip_without
from unit.ciphers.sealed_on_pico import CATALOG, chained, ran
from unit.ciphers.test_chacha_on_uno import BAD_TAG, OK, Answer, Chip, Request

PICO = CATALOG.device("pico")
MESSAGES = 200
CIPHER = "chacha20-poly1305"
STACK_BYTES = 280
BOUNDS = (Path(__file__).resolve().parents[3] / "docs" / "bounds.md").read_text()


@pytest.mark.parametrize("variant", ["armv6m", "words13"])
def test_messages_are_those_of_the_oracle_and_all_take_the_same_time(tmp_path: Path, variant: str) -> None:
    """At each address, in place and not; bytes around them stay as they are; what is changed is refused."""
    tag, total, faults, stack, *cycles = ran(tmp_path, CIPHER, variant, MESSAGES, "TIMES_CHACHA")
    expected_tag, expected_total = chained(CIPHER, MESSAGES)
    assert (tag, int(total, 16), int(faults, 16)) == (expected_tag.hex(), expected_total, 0)
    least, most = [int(text, 16) for text in cycles[::2]], [int(text, 16) for text in cycles[1::2]]
    assert len(least) == 6 and least == most
    if variant == "armv6m":
        assert int(stack, 16) <= STACK_BYTES
        assert f"`chacha20_block` takes {least[0]:,} cycles" in BOUNDS
        assert f"`poly1305_block` takes {least[1]:,}" in BOUNDS
        assert least[2] < min(least[3:]), "words are read as words where they are at multiples of four"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """requests_on_uno.c around the assembly."""
    skip_without("pico")
    elf = tmp_path_factory.mktemp("chacha") / "requests.elf"
    bodies = CATALOG.implementations_of(CIPHER, "pico", ["motecrypt"])
    body = next(i for i in bodies if i.variant == "armv6m")
    command = [
        *(PICO.compiler.command, *PICO.compiler.machine_flags, *PICO.compiler.flags, "-std=gnu99"),
        *("-DCIPHER_TAG_BYTES=16", f'-DCIPHER_HEADER="{body.header}"'),
        *(f"-I{place}" for place in (FIRMWARE / "include", FIRMWARE / "modes", body.folder)),
        *PICO.compiler.link_flags,
        *(flag.replace("{device}", str(PICO.folder)) for flag in PICO.placements["flash"].link_flags),
        *(str(PICO.folder / name) for name in PICO.hal),
        *(str(body.folder / source) for source in body.sources),
        *(str(Path(__file__).with_name("requests_on_uno.c")), "-o", str(elf)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return elf


def test_every_vector(program: Path) -> None:
    known = [v for v in vectors(CATALOG.cipher(CIPHER)) if (len(v.nonce), len(v.tag)) == (12, 16)]
    assert sum(v.valid for v in known) > 100
    with arm.open_session(PICO, program, 0, Options()) as session:
        chip = Chip(session)
        for v in known:
            opened, _ = chip.ask(Request(True, v.key, v.nonce, v.ad, v.ciphertext, v.tag))
            if not v.valid:
                assert opened == Answer(BAD_TAG, bytes(len(v.ciphertext)), v.tag, untouched=True), v.where
                continue
            assert opened == Answer(OK, v.message, v.tag, untouched=True), v.where
            sealed, _ = chip.ask(Request(False, v.key, v.nonce, v.ad, v.message))
            assert sealed == Answer(OK, v.ciphertext, v.tag, untouched=True), v.where


@pytest.mark.parametrize("place", [0, 3, 0x82])
def test_only_lengths_change_branches_addresses_and_stack(program: Path, place: int) -> None:
    source = random.Random("chacha on pico")
    sizes = (32, 12, 21, 70)
    drawn = [[bytes([fill]) * size for size in sizes] for fill in (0, 255)]
    drawn += [[source.randbytes(size) for size in sizes] for _ in range(30)]
    with arm.open_session(PICO, program, 0, Options(trace=True)) as session:
        chip = Chip(session)
        taken = [chip.ask(Request(False, *parts, place=place))[1] for parts in drawn]
    assert len({each.trace for each in taken}) == 1 and taken[0].trace is not None
    assert len({each.cycles for each in taken}) == 1
    assert {each.stack_bytes for each in taken} <= set(range(200, STACK_BYTES + 1))
