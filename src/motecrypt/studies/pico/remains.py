"""A reader's question on the Pico source: does the plaintext remain in the flash? Pure views."""

from __future__ import annotations

from motecrypt.base.model import Section
from motecrypt.results import Results
from motecrypt.results.experiments import recorded
from motecrypt.results.experiments.remains import PIECE_BYTES, RemainsQuestion, Step
from motecrypt.studies.facts import Comparison
from motecrypt.studies.pico.figures import TOOLCHAIN
from motecrypt.studies.words import words

QUESTION = RemainsQuestion(6300, toolchain=TOOLCHAIN)
TABLE = "Files: plaintext in the flash"
STEPS: dict[Step, tuple[str, str]] = {
    "encrypted": ("after encryption, as the source leaves it", "the program keeps the file that it encrypts"),
    "emptied": (
        "after the plaintext's file was emptied",
        "littlefs gives its blocks free and erases them only when it needs them again",
    ),
    "overwritten": (
        "after it was overwritten with zeros, then emptied",
        "littlefs writes changed content to other blocks, so the zeros are next to the plaintext",
    ),
    "erased": (
        "after all used blocks were erased and the ciphertext written again",
        "the ciphertext still decrypts",
    ),
    "refused": (
        "after a forged ciphertext was decrypted and refused",
        "the format's program writes plaintext before it checks the HMAC; the last buffer was not written",
    ),
}


def comparisons(results: Results) -> list[Comparison]:
    """What the flash holds after each step; the source does not print it."""
    answer = QUESTION.answer(results)
    found = {} if answer is None else {row.step: row for row in answer.rows}
    rows = []
    for step, (title, why) in STEPS.items():
        own = found.get(step)
        found_share = None if own is None else 100 * own.found / own.pieces
        told = {"step": step, "title": title, "reason": why, "own": own}
        rows.append(words("pico").row("remains", **told, measured=found_share))
    return rows


def sections(results: Results) -> list[Section]:
    """The same for people, with the answer."""
    rows = comparisons(results)
    lines = [[r.row, _shown(r.measured), r.note] for r in rows]
    experiment = QUESTION.find(results)
    days = recorded.days([experiment] if experiment is not None else [])
    when = f" As recorded on {', '.join(days)}; --full runs it again." if days else ""
    told = {"size": QUESTION.size, "piece": PIECE_BYTES, "when": when}
    return [words("pico").section("remains", lines, there=experiment is not None, **told)]


def _shown(value: float | str | None) -> str:
    return f"{value:.1f}" if isinstance(value, float) else "not measured"
