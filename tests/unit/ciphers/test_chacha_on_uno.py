"""ChaCha20-Poly1305 on a simulated UNO, in assembly and in C: vectors, random messages at each address and in
place, changed ones, Poly1305 at the edges of its reduction. Only lengths change what a message takes."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.catalog.oracles import Vector, oracle, vectors
from motecrypt.simulate.runners import simavr
from motecrypt.simulate.runners.session import Options, Region, Session
from tool_sets import skip_without
from unit.ciphers.test_poly1305 import CLAMP, FULL, P, expected

CATALOG = Catalog.load()
UNO = CATALOG.device("uno")
CIPHER = CATALOG.cipher("chacha20-poly1305")
HERE = Path(__file__).parent
FLAGS = ("-std=gnu99", "-Wall", "-Wextra", "-Werror", "-DCIPHER_TAG_BYTES=16")
RANDOM_MESSAGES = 150
LONGEST_DRAWN = 140
STACK_BYTES = 245
OK, BAD_TAG = 0, 4
FRAME_END = b"~"
ANSWER_SECONDS = 300
SEED = "chacha on uno"


@dataclass(frozen=True)
class Request:
    """A message to seal, or to open, and its place: see requests_on_uno.c."""

    opens: bool
    key: bytes
    nonce: bytes
    ad: bytes
    message: bytes
    tag: bytes = bytes(16)
    place: int = 0x80

    def frame(self) -> bytes:
        lengths = b"".join(len(part).to_bytes(2, "little") for part in (self.ad, self.message))
        head = (b"o" if self.opens else b"s") + bytes([self.place]) + lengths
        return head + self.key + self.nonce + self.ad + self.message + self.tag


@dataclass(frozen=True)
class Answer:
    status: int
    message: bytes
    tag: bytes
    untouched: bool


class Chip:
    """One variant on the simulated chip."""

    def __init__(self, session: Session) -> None:
        self._session = session
        assert self._heard() == bytes(1)

    def _heard(self) -> bytes:
        """A message from the chip."""
        deadline, heard = time.monotonic() + ANSWER_SECONDS, b""
        while not heard.endswith(FRAME_END):
            heard += self._session.read(deadline)
            assert time.monotonic() < deadline, "no answer"
        return bytes.fromhex(heard[:-1].decode())

    def _exchange(self, frame: bytes) -> tuple[bytes, list[Region]]:
        """The answer, and what each call took."""
        self._session.write(frame.hex().encode() + FRAME_END)
        heard = self._heard()
        return heard, self._session.regions()

    def ask(self, request: Request) -> tuple[Answer, Region]:
        """The answer, and what it took."""
        size = len(request.message)
        heard, (taken,) = self._exchange(request.frame())
        return Answer(heard[0], heard[1 : 1 + size], heard[1 + size : -1], heard[-1] == 1), taken

    def poly1305(self, r: int, s: int, blocks: Sequence[int]) -> tuple[int, list[int]]:
        """The tag, and each block's cycles."""
        parts = b"".join(number.to_bytes(16, "little") for number in (r, s, *blocks))
        tag, taken = self._exchange(b"p" + bytes([len(blocks)]) + parts)
        return int.from_bytes(tag, "little"), [region.cycles for region in taken]


@pytest.fixture(scope="module", params=["avr", "avr-small", "bytes"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """requests_on_uno.c around a variant."""
    skip_without("avr")
    elf = tmp_path_factory.mktemp("chacha") / "requests.elf"
    body = next(
        i for i in CATALOG.implementations_of(CIPHER.name, "uno", ["motecrypt"]) if i.variant == request.param
    )
    command = [
        *(UNO.compiler.command, *UNO.compiler.machine_flags, *UNO.compiler.flags, *FLAGS),
        *(f"-D{define}" for define in (*UNO.compiler.defines, f'CIPHER_HEADER="{body.header}"')),
        *(f"-I{place}" for place in (FIRMWARE / "include", FIRMWARE / "modes", body.folder)),
        *(str(UNO.folder / name) for name in UNO.hal),
        *(str(body.folder / source) for source in body.sources),
        *(str(HERE / "requests_on_uno.c"), "-o", str(elf)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return elf


@pytest.fixture(scope="module")
def chip(program: Path) -> Iterator[Chip]:
    with simavr.open_session(UNO, program, 0, Options()) as session:
        yield Chip(session)


def test_every_vector(chip: Chip) -> None:
    known: list[Vector] = [v for v in vectors(CIPHER) if (len(v.nonce), len(v.tag)) == (12, 16)]
    assert sum(v.valid for v in known) == sum(v.valid for v in vectors(CIPHER))
    for v in known:
        opened, _ = chip.ask(Request(True, v.key, v.nonce, v.ad, v.ciphertext, v.tag))
        if not v.valid:
            assert opened == Answer(BAD_TAG, bytes(len(v.ciphertext)), v.tag, untouched=True), v.where
            continue
        assert opened == Answer(OK, v.message, v.tag, untouched=True), v.where
        sealed, _ = chip.ask(Request(False, v.key, v.nonce, v.ad, v.message))
        assert sealed == Answer(OK, v.ciphertext, v.tag, untouched=True), v.where


def test_random_messages_at_each_address_and_changed_ones(chip: Chip) -> None:
    source, seal = random.Random(SEED), oracle(CIPHER)
    for number in range(RANDOM_MESSAGES):
        key, nonce = source.randbytes(32), source.randbytes(12)
        lengths = (0, 1, 15, 16, 17, 63, 64, 65, number % LONGEST_DRAWN)
        ad, message = (source.randbytes(source.choice(lengths)) for _ in range(2))
        place = number % 8 | (0x80 if number % 3 == 0 else 0)
        ciphertext, tag = seal(key, nonce, ad, message)
        sealed, _ = chip.ask(Request(False, key, nonce, ad, message, place=place))
        assert sealed == Answer(OK, ciphertext, tag, untouched=True), number
        opened, _ = chip.ask(Request(True, key, nonce, ad, ciphertext, tag, place))
        assert opened == Answer(OK, message, tag, untouched=True), number
        changed = bytearray(ciphertext + tag)
        changed[source.randrange(len(changed))] ^= 1 << source.randrange(8)
        forged = Request(True, key, nonce, ad, bytes(changed[:-16]), bytes(changed[-16:]), place)
        refused, _ = chip.ask(forged)
        assert refused == Answer(BAD_TAG, bytes(len(message)), forged.tag, untouched=True), number


def test_only_lengths_change_what_a_message_takes(program: Path) -> None:
    """The cycles at any address; at one address the branches, the memory that is touched, and the stack."""
    source = random.Random(SEED)
    sizes = (32, 12, 9, 70)
    drawn = [[bytes([fill]) * size for size in sizes] for fill in (0, 255)]
    drawn += [[source.randbytes(size) for size in sizes] for _ in range(30)]
    with simavr.open_session(UNO, program, 0, Options(trace=True)) as session:
        chip = Chip(session)
        fixed = [chip.ask(Request(False, *parts))[1] for parts in drawn]
        moved = [chip.ask(Request(False, *parts, place=n % 8))[1] for n, parts in enumerate(drawn)]
    assert len({taken.trace for taken in fixed}) == 1 and fixed[0].trace is not None
    assert len({taken.trace for taken in moved}) == 8, "a trace has addresses"
    assert len({taken.cycles for taken in fixed + moved}) == 1
    assert {taken.stack_bytes for taken in fixed + moved} == {fixed[0].stack_bytes}
    assert (fixed[0].stack_bytes or 999) <= STACK_BYTES


def test_poly1305_where_its_reduction_has_edges(chip: Chip) -> None:
    """Sums around p, the largest factors, long carries, random numbers: all in the same time."""
    source, cases = random.Random(SEED), []
    for above in range(-6, 12):
        whole = P + above - 3 * 2**128
        cases += [(1, s, [min(whole, FULL), max(0, whole - FULL), 0]) for s in (0, FULL)]
    edges = (0, 1, 5, FULL - 5, FULL - 1, FULL)
    cases += [(r, 0, [b] * count) for count in range(8) for b in edges for r in (1, 3, 4, CLAMP, FULL)]
    for _ in range(300):
        cut = source.randrange(129)
        blocks = [
            source.getrandbits(128) >> cut << cut | source.choice((0, (1 << cut) - 1)) for _ in range(4)
        ]
        cases.append((source.getrandbits(128) | source.choice((0, CLAMP)), source.getrandbits(128), blocks))
    taken = set()
    for case in cases:
        tag, cycles = chip.poly1305(*case)
        assert tag == expected(*case), case
        taken.update(cycles)
    assert len(taken) == 1, "each block takes the same time"
