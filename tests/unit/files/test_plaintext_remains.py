"""What a Pico's flash holds of a plaintext is looked for in its image, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, get_args

import pytest

from motecrypt.base.errors import MotecryptError
from motecrypt.measuring.experiments.files import BACK, PLAIN, SEALED
from motecrypt.measuring.experiments.remains import PlaintextRemains, count, erase, marked, pieces_of
from motecrypt.results import Results
from motecrypt.results.experiments.remains import Step
from motecrypt.simulate.file_node import NodeFileError, Storage
from motecrypt.studies.pico import remains
from tool_sets import needs_tool_set


def test_each_piece_occurs_once_and_a_shorter_end_is_left_out() -> None:
    plain = marked(630)
    pieces = pieces_of(plain)
    assert (len(plain), len(pieces), {len(piece) for piece in pieces}) == (630, 39, {16})
    assert len(set(pieces)) == 39 and plain.startswith(b"".join(pieces))
    assert (
        count(pieces, plain) == 39 and count(pieces, plain[1:]) == 38 and count(pieces, plain + plain) == 39
    )


class Disk:
    """In place of a board: a disk of four blocks that keeps what files held until a block is erased."""

    def __init__(self, accepts: bool = False, keeps: bool = True) -> None:
        self.files: dict[str, bytes] = {}
        self.blocks = [b"\xff" * 4096] * 4
        self.accepts, self.keeps, self.loaded = accepts, keeps, list[int]()

    def write(self, name: str, content: bytes) -> None:
        self.files[name] = content
        if content:
            at = [block == b"\xff" * 4096 for block in self.blocks].index(True)
            self.blocks[at] = content.ljust(4096, b"\xff")

    def read(self, name: str) -> bytes:
        return self.files[name]

    def format(self) -> None:
        self.files = {}

    def dump(self, storage: Storage) -> bytes:
        return b"".join(self.blocks)

    def load_block(self, index: int, content: bytes) -> None:
        self.loaded.append(index)
        self.blocks[index] = content

    def job(
        self, form: str, source: str, target: str, key: bytes, *, decrypts: bool = False, rounds: int
    ) -> None:
        held = self.files[source]
        if source == "forged.aes" and not self.accepts:
            raise NodeFileError("forged.aes to output.txt", -200)
        self.write(target, bytes(byte ^ 0x55 for byte in held) if self.keeps else b"other")


def boards(disks: Sequence[Disk], monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = iter(disks)

    @contextmanager
    def board(self: PlaintextRemains) -> Iterator[tuple[Any, Storage]]:
        yield next(waiting), Storage(clock_hz=1, block_bytes=4096, block_count=4)

    monkeypatch.setattr(PlaintextRemains, "_board", board)


def test_the_steps_are_looked_at_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    disks = [Disk(), Disk(), Disk()]
    boards(disks, monkeypatch)
    outcome = PlaintextRemains(640).run()
    assert {row["step"]: row["found"] for row in outcome["rows"]} == {
        "encrypted": 40,
        "emptied": 40,
        "overwritten": 40,
        "erased": 0,
        "refused": 0,
    }
    assert outcome["image_bytes"] == 4 * 4096 and {row["pieces"] for row in outcome["rows"]} == {40}
    assert disks[1].loaded == [0, 1, 2]  # not the block that was blank
    assert set(disks[0].files) == {PLAIN, SEALED} and set(disks[1].files) == {SEALED, BACK}


def test_a_board_that_fails_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    boards([Disk(), Disk(keeps=False)], monkeypatch)
    with pytest.raises(MotecryptError, match="not encrypted to the same"):
        PlaintextRemains(640).run()
    boards([Disk(keeps=False), Disk(keeps=False)], monkeypatch)
    with pytest.raises(MotecryptError, match="does not decrypt after erasing"):
        PlaintextRemains(640).run()
    boards([Disk(), Disk(), Disk(accepts=True)], monkeypatch)
    with pytest.raises(MotecryptError, match="a forged file was accepted"):
        PlaintextRemains(640).run()


def test_only_blocks_that_hold_something_are_erased() -> None:
    disk = Disk()
    disk.blocks[2] = b"\xff" * 4095 + b"\xfe"
    erase(disk, Storage(clock_hz=1, block_bytes=4096, block_count=4), b"".join(disk.blocks))  # type: ignore[arg-type]
    assert disk.loaded == [2] and set(b"".join(disk.blocks)) == {0xFF}


@needs_tool_set("pico")
@pytest.mark.long
def test_on_the_simulated_pico_plaintext_remains_until_its_blocks_are_erased(results: Results) -> None:
    asked = PlaintextRemains(2000, toolchain="gcc-12")
    experiment = asked.ensure(results)
    answer = asked.answer(results)
    assert answer is not None and answer.image_bytes == 1 << 20
    found = {row.step: row.found for row in answer.rows}
    assert {row.pieces for row in answer.rows} == {125}
    assert (found["encrypted"], found["emptied"], found["overwritten"], found["erased"]) == (125, 125, 125, 0)
    assert 60 <= found["refused"] < 125  # a buffer of 1,024 bytes of 2,000
    assert asked.ensure(results) == experiment


def test_the_study_tells_each_step_and_the_answer(results: Results) -> None:
    assert set(remains.STEPS) == set(get_args(Step))
    (section,) = remains.sections(results)
    assert section.text == "" and {row[1] for row in section.rows} == {"not measured"}
    steps = [("encrypted", 4), ("emptied", 4), ("overwritten", 2), ("erased", 0)]
    rows = [{"step": step, "found": found, "pieces": 4} for step, found in steps]
    question = remains.QUESTION
    outcome = {"rows": rows, "image_bytes": 9}
    results.store_experiment(question.KIND, question.VERSION, question.asked(), outcome)
    told = {row.id: row for row in remains.comparisons(results)}
    assert told["pico-remains-overwritten"].measured == 50.0
    assert told["pico-remains-overwritten"].note.startswith("2 of 4 pieces; littlefs writes")
    assert told["pico-remains-refused"].measured is None
    assert {row.verdict for row in told.values()} == {"not printed"}
    (section,) = remains.sections(results)
    assert "Yes, until its blocks are erased" in section.text and "recorded" not in section.text
    assert [row[1] for row in section.rows] == ["100.0", "100.0", "50.0", "0.0", "not measured"]
