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
from motecrypt.base.model import ExperimentResult
from motecrypt.build.toolchain.files import FileFirmware, build_files, firmware_key
from motecrypt.catalog import Catalog
from motecrypt.measuring.experiments.files import ANSWER_S, BACK, PLAIN, SEALED, open_board
from motecrypt.results import Results
from motecrypt.results.experiments.pico_file import storage_times
from motecrypt.results.experiments.remains import PIECE_BYTES, RemainsQuestion, Step
from motecrypt.simulate.file_node import FileNode, NodeFileError, Storage
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

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """The result, run now if it is not stored."""
        found = self.kept(results, self.inputs())
        if found is not None:
            return found
        if progress is not None:
            progress(f"plaintext that remains of {self.size} bytes")
        return results.store_experiment(self.KIND, self.VERSION, self.inputs(), self.run(), self.asked())

    def run(self) -> dict[str, Any]:
        """Each step on a file system of its own, or after the step before."""
        plain = marked(self.size)
        pieces, found = pieces_of(plain), dict[Step, int]()
        with self._board() as (node, storage):
            sealed = self._encrypt(node, plain)
            found["encrypted"] = count(pieces, node.dump(storage))
            node.write(PLAIN, b"")
            found["emptied"] = count(pieces, node.dump(storage))
        with self._board() as (node, storage):
            if self._encrypt(node, plain) != sealed:
                raise MotecryptError("plaintext that remains: the same file is not encrypted to the same")
            node.write(PLAIN, bytes(self.size))
            node.write(PLAIN, b"")
            image = node.dump(storage)
            found["overwritten"] = count(pieces, image)
            erase(node, storage, image)
            node.format()
            node.write(SEALED, sealed)
            found["erased"] = count(pieces, node.dump(storage))
            node.job("published", SEALED, BACK, KEY, decrypts=True, rounds=self.rounds)
            if node.read(BACK) != plain:
                raise MotecryptError("plaintext that remains: the ciphertext does not decrypt after erasing")
        with self._board() as (node, storage):
            node.write(FORGED, sealed[:-1] + bytes([sealed[-1] ^ 1]))
            try:
                node.job("published", FORGED, BACK, KEY, decrypts=True, rounds=self.rounds)
            except NodeFileError:
                found["refused"] = count(pieces, node.dump(storage))
            else:
                raise MotecryptError("plaintext that remains: a forged file was accepted")
            size = storage.block_bytes * storage.block_count
        rows = [{"step": step, "found": own, "pieces": len(pieces)} for step, own in found.items()]
        return {"rows": rows, "image_bytes": size}

    def _encrypt(self, node: FileNode, plain: bytes) -> bytes:
        node.write(PLAIN, plain)
        node.job("published", PLAIN, SEALED, KEY, rounds=self.rounds)
        return node.read(SEALED)

    @contextmanager
    def _board(self) -> Iterator[tuple[FileNode, Storage]]:
        """A board with an empty file system in an erased flash."""
        device = Catalog.load().device("pico")
        with open_board(device, build_files(self._firmware), "flash", "none") as session:
            node = FileNode(session, ANSWER_S)
            storage = node.wait_greeting()
            node.format()
            yield node, storage


def erase(node: FileNode, storage: Storage, image: bytes) -> None:
    """Erase every block that holds anything in the image."""
    blank = b"\xff" * storage.block_bytes
    for index in range(storage.block_count):
        if image[index * storage.block_bytes : (index + 1) * storage.block_bytes] != blank:
            node.load_block(index, blank)
