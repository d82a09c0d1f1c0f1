"""Cycles against rp2040js, an independent model of RP2040: the same binary, the same frames.

It counts one cycle less for PUSH with LR and for POP with PC than ARM's table; with those counted in the
trace, the difference must be nothing at all. It has no flash cache: warm figures are compared.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from arm_snippets import pico
from elftools.elf.elffile import ELFFile

from motecrypt.base import process
from motecrypt.base.frames import Frames, decode, encode
from motecrypt.build.toolchain import BuildRequest, Firmware, build
from motecrypt.catalog import Catalog
from motecrypt.measuring.bench import cells_for
from motecrypt.simulate.runners import Options, Region, arm
from tool_sets import NPM, needs_npm, needs_tool_set

MODULE = NPM / "rp2040js" / "dist" / "esm" / "index.js"
KEY, NONCE, MESSAGE = bytes(range(16)), bytes(range(16, 32)), bytes(range(48))

pytestmark = [
    pytest.mark.crosscheck,
    needs_tool_set("pico"),
    needs_npm(MODULE),
]

REQUESTS = [("K", KEY), ("N", NONCE), ("M", MESSAGE), ("R", b"\0\1\0"), ("R", b"\1\1\0"), ("R", b"\2\1\0")]


def frames(nonce: bool) -> list[bytes]:
    """Key, nonce, message, then set-up, encryption and decryption."""
    wanted = [r for r in REQUESTS if nonce or r[0] != "N"]
    return [encode(number, kind, payload) for number, (kind, payload) in enumerate(wanted, start=1)]


def theirs(built: Firmware, sent: list[bytes], folder: Path) -> tuple[list[int], list[bytes]]:
    """Cycles of the regions and the frames that came back, by rp2040js."""
    with built.elf.open("rb") as file:
        loaded = [
            [segment["p_paddr"], segment.data().hex()]
            for segment in ELFFile(file).iter_segments("PT_LOAD")
            if segment["p_filesz"]
        ]
        entry = ELFFile(file)["e_entry"]
    job = {
        "segments": loaded,
        "sp": pico().simulator["stack_limit"] + 0x8000,
        "pc": entry,
        "mark": pico().simulator["mark_address"],
        "frames": [frame.hex() for frame in sent],
        "limit": 20_000_000,
    }
    path = folder / "job.json"
    path.write_text(json.dumps(job))
    script = Path(__file__).parents[2] / "lockstep" / "rp2040js.mjs"
    outcome = process.run(["node", script, MODULE, path], timeout_s=100)
    assert outcome.ok, outcome.errors
    said = json.loads(outcome.output)
    assert said["finished"], "rp2040js came to its limit of steps"
    return said["regions"], Frames().feed(bytes.fromhex(said["output"]))


def ours(built: Firmware, sent: list[bytes], options: Options) -> tuple[list[Region], list[bytes]]:
    """The same by our driver."""
    answers = Frames()
    came: list[bytes] = []
    deadline = time.monotonic() + 60
    with arm.open_session(pico(), built.elf, built.data_end, options) as session:
        for number, frame in enumerate([b"", *sent], start=1):  # the first answer is the greeting
            if frame:
                session.write(frame)
            while len(came) < number and time.monotonic() < deadline:
                came += answers.feed(session.read(deadline))
        return session.regions(), came


def known_differences(built: Firmware, dump: Path) -> list[int]:
    """For each region, how many PUSH with LR and POP with PC ran."""
    with built.elf.open("rb") as file:
        segments = [(s["p_vaddr"], s.data()) for s in ELFFile(file).iter_segments("PT_LOAD") if s["p_filesz"]]

    def code_at(address: int) -> int:
        for base, data in segments:
            if base <= address < base + len(data):
                return int.from_bytes(data[address - base : address - base + 2], "little")
        raise AssertionError(f"no code at {address:#x}")

    counts = [0]
    before = None
    for line in dump.read_text().splitlines():
        if line == "end":
            counts.append(0)
            before = None
            continue
        pc = int(line.split()[0], 16)
        if pc != before:  # one line for each register of a PUSH or POP
            counts[-1] += code_at(pc) & 0xFF00 in (0xB500, 0xBD00)
        before = pc
    return counts[:-1]


@pytest.mark.parametrize("placement", ["flash", "ram"])
@pytest.mark.parametrize(
    ("cipher", "variant"), [("aes128-cbc", "small"), ("rc4", "plain"), ("ascon-aead128", "words")]
)
def test_every_cycle_is_explained(tmp_path: Path, cipher: str, variant: str, placement: str) -> None:
    catalog = Catalog.load()
    body = next(i for i in catalog.implementations_of(cipher, "pico") if i.variant == variant)
    if not cells_for(catalog, pico(), body, message_bytes=[48], placements=[placement]):
        placement = "flash"
    built = build(BuildRequest(pico(), body, placement))
    sent = frames(nonce=catalog.cipher(cipher).nonce_bytes > 0)
    their_cycles, their_frames = theirs(built, sent, tmp_path)
    regions, _ = ours(built, sent, Options())
    dump = tmp_path / "dump"
    traced, _ = ours(built, sent, Options(trace=True, dump=dump))
    assert [r.cycles for r in traced] == [r.cycles for r in regions]
    assert len(their_frames) == len(sent) + 1
    assert len(regions) == 3
    for our, their, known in zip(regions, their_cycles, known_differences(built, dump), strict=True):
        print(
            f"{cipher} {variant} {placement}: ours {our.cycles}, rp2040js {their}, PUSH LR and POP PC {known}"
        )
        assert abs(our.cycles - their) <= 0.02 * our.cycles + 4
        assert our.cycles - their == known


def test_the_output_is_the_same_too(tmp_path: Path) -> None:
    catalog = Catalog.load()
    body = next(i for i in catalog.implementations_of("aes128-cbc", "pico") if i.variant == "small")
    built = build(BuildRequest(pico(), body, "flash"))
    sent = frames(nonce=True)
    _, their_frames = theirs(built, sent, tmp_path)
    _, our_frames = ours(built, sent, Options())
    for our, their in zip(map(decode, our_frames), map(decode, their_frames), strict=True):
        assert our[:2] == their[:2]
        if our[1] == "r":  # except for the board's timer, as rp2040js's clock is stopped in this script
            assert our[2][:1] + our[2][5:] == their[2][:1] + their[2][5:]
        else:
            assert our[2] == their[2]
