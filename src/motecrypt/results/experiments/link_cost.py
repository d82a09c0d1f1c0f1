"""The question what an exported link takes of a chip: flash, RAM, stack, and the cycles of its steps."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

KIND = "link-cost"
VERSION = 1


class LinkCostAnswer(Answer):
    """What the link takes, or why that is not known."""

    @classmethod
    def from_json(cls, stored: object) -> Self | None:
        """A `LinkCostFailure` or `LinkCosts`; None where the stored JSON is neither."""
        if cls is not LinkCostAnswer:
            return super().from_json(stored)
        read = LinkCostFailure.from_json(stored) or LinkCosts.from_json(stored)
        return read if isinstance(read, cls) else None


@dataclass(frozen=True)
class LinkCostFailure(LinkCostAnswer):
    """Why there is no figure, in one line."""

    failed: str


@dataclass(frozen=True)
class LinkCosts(LinkCostAnswer):
    """What the link takes of a chip.

    Attributes
    ----------
    flash_bytes, ram_bytes
        By difference to the same program without the link; RAM without `buffer_bytes`.
    buffer_bytes
        The buffers of one message each way.
    stack_bytes
        The deepest stack of all steps, with the calls down to them.
    reading_bytes
        The length of the messages.
    start_cycles, send_cycles
        Reading keys and counters; sending a short message.
    receive_cycles, refuse_cycles
        Taking a short message, refusing a forged one; None for a node that never listens.
    derive_cycles
        How much more a message takes where another key was used last.
    """

    compiler: str
    flash_bytes: int
    ram_bytes: int
    buffer_bytes: int
    stack_bytes: int
    reading_bytes: int
    start_cycles: int
    send_cycles: int
    derive_cycles: int
    receive_cycles: int | None = None
    refuse_cycles: int | None = None


@dataclass(frozen=True)
class LinkCostQuestion(ExperimentQuestion):
    """An exported link on one device.

    Attributes
    ----------
    cipher, variant, placement
        The implementation, and where its tables are.
    storage
        The header of its storage, in `firmware/link/node`.
    flags
        Of the compiler, next to the chip's own.
    options, packet_bytes
        Of the node's key block.
    fixed
        Whether these are constants of the program.
    """

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION
    ANSWER: ClassVar[type[Answer]] = LinkCostAnswer

    device: str
    cipher: str
    variant: str
    placement: str
    storage: str
    flags: tuple[str, ...]
    options: int
    packet_bytes: int
    fixed: bool

    def asked(self) -> dict[str, Any]:
        """All of it."""
        return {**asdict(self), "flags": list(self.flags)}

    def answer(self, results: Results) -> tuple[LinkCostAnswer, str] | None:
        """The newest stored answer and its date, or None where there is none."""
        found = self.find(results)
        read = None if found is None else LinkCostAnswer.from_json(found.outcome)
        return None if found is None or read is None else (read, found.made_at[:10])
