"""Does the plaintext of an encrypted file remain in the Pico's flash? Looked for in images of the flash.

The file firmware runs in the simulator, and its littlefs writes to the model of the flash chip. After each
step the whole file system is read block by block, as a thief would read the chip, and pieces of the plaintext
are looked for. Each piece occurs once in the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from motecrypt.base.errors import MotecryptError
from motecrypt.base.model import Finding
from motecrypt.build.toolchain.files import FileFirmware, build_files, firmware_key
from motecrypt.catalog import Catalog
from motecrypt.measuring.experiments.files import ANSWER_S, BACK, PLAIN, SEALED, open_board
from motecrypt.results import Results
from motecrypt.results.findings.pico_file import storage_times
from motecrypt.results.findings.remains import PIECE_BYTES, RemainsQuestion, Step
from motecrypt.simulate.file_mote import FileMote, MoteFileError, Storage
from motecrypt.simulate.runners import arm

KEY = bytes(range(1, 33))
FORGED = "forged.aes"


def marked(size: int) -> bytes:
    """A plaintext in which every piece occurs once; what is left at its end is shorter than a piece."""
    pieces = (f"plaintext {number:05};".encode() for number in range(size // PIECE_BYTES + 1))
    return b"".join(pieces)[:size]


def pieces_of(plain: bytes) -> list[bytes]:
    """The whole pieces of a plaintext."""
    ends = range(PIECE_BYTES, len(plain) + 1, PIECE_BYTES)
    return [plain[end - PIECE_BYTES : end] for end in ends]


def count(pieces: Sequence[bytes], image: bytes) -> int:
    """How many of the pieces are in an image, however often."""
    return sum(piece in image for piece in pieces)


class PlaintextRemains(RemainsQuestion):
    """One file, encrypted on the simulated Pico, and what its flash then holds."""

    @property
    def _firmware(self) -> FileFirmware:
        return FileFirmware(toolchain=self.toolchain)

    def inputs(self) -> dict[str, Any]:
        """What the outcome depends on."""
        return {
            **self.asked(),
            "firmware": firmware_key(self._firmware),
            "runner": arm.identity(Catalog.load().device("pico")),
            "times": dict(storage_times()["flash"]),
        }

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> Finding:
        """The finding, run now if it is not stored."""
        found = self.kept(results, self.inputs())
        if found is not None:
            return found
        if progress is not None:
            progress(f"plaintext that remains of {self.size} bytes")
        return results.store_finding(self.KIND, self.VERSION, self.inputs(), self.run(), self.asked())

    def run(self) -> dict[str, Any]:
        """Each step on a file system of its own, or after the step before."""
        plain = marked(self.size)
        pieces, found = pieces_of(plain), dict[Step, int]()
        with self._board() as (mote, storage):
            sealed = self._encrypt(mote, plain)
            found["encrypted"] = count(pieces, mote.dump(storage))
            mote.write(PLAIN, b"")
            found["emptied"] = count(pieces, mote.dump(storage))
        with self._board() as (mote, storage):
            if self._encrypt(mote, plain) != sealed:
                raise MotecryptError("plaintext that remains: the same file is not encrypted to the same")
            mote.write(PLAIN, bytes(self.size))
            mote.write(PLAIN, b"")
            image = mote.dump(storage)
            found["overwritten"] = count(pieces, image)
            erase(mote, storage, image)
            mote.format()
            mote.write(SEALED, sealed)
            found["erased"] = count(pieces, mote.dump(storage))
            mote.job("published", SEALED, BACK, KEY, decrypts=True, rounds=self.rounds)
            if mote.read(BACK) != plain:
                raise MotecryptError("plaintext that remains: the ciphertext does not decrypt after erasing")
        with self._board() as (mote, storage):
            mote.write(FORGED, sealed[:-1] + bytes([sealed[-1] ^ 1]))
            try:
                mote.job("published", FORGED, BACK, KEY, decrypts=True, rounds=self.rounds)
            except MoteFileError:
                found["refused"] = count(pieces, mote.dump(storage))
            else:
                raise MotecryptError("plaintext that remains: a forged file was accepted")
            size = storage.block_bytes * storage.block_count
        rows = [{"step": step, "found": own, "pieces": len(pieces)} for step, own in found.items()]
        return {"rows": rows, "image_bytes": size}

    def _encrypt(self, mote: FileMote, plain: bytes) -> bytes:
        mote.write(PLAIN, plain)
        mote.job("published", PLAIN, SEALED, KEY, rounds=self.rounds)
        return mote.read(SEALED)

    @contextmanager
    def _board(self) -> Iterator[tuple[FileMote, Storage]]:
        """A board with an empty file system in an erased flash."""
        device = Catalog.load().device("pico")
        with open_board(device, build_files(self._firmware), "flash", "none") as session:
            mote = FileMote(session, ANSWER_S)
            storage = mote.wait_greeting()
            mote.format()
            yield mote, storage


def erase(mote: FileMote, storage: Storage, image: bytes) -> None:
    """Erase every block that holds anything in the image."""
    blank = b"\xff" * storage.block_bytes
    for index in range(storage.block_count):
        if image[index * storage.block_bytes : (index + 1) * storage.block_bytes] != blank:
            mote.load_block(index, blank)
