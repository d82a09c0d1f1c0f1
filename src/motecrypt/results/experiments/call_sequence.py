"""The question what one call costs as a program makes it: the key set up, then the call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from motecrypt.base.model import Operation
from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

KIND = "call-sequence"
VERSION = 1


class CallAnswer(Answer):
    """The costs of the call, or why there are none."""

    @classmethod
    def from_json(cls, stored: object) -> Self | None:
        """A `CallFailure` or `CallCosts`; None where the stored JSON is neither."""
        if cls is not CallAnswer:
            return super().from_json(stored)
        read = CallFailure.from_json(stored) or CallCosts.from_json(stored)
        return read if isinstance(read, cls) else None


@dataclass(frozen=True)
class CallFailure(CallAnswer):
    """Why the sequence did not run, in one line."""

    failed: str


@dataclass(frozen=True)
class CallCosts(CallAnswer):
    """What set-up and call cost.

    Attributes
    ----------
    setup_core_cycles, call_core_cycles
        Core cycles with a warm cache.
    setup_misses_cold, call_misses_cold
        Lines missed with the cache emptied before it.
    call_misses_kept
        Lines missed by the call with what the set-up left.
    code_lines_new, table_lines_new
        Flash lines that the call touches first, of code and of tables.
    functions
        Where most instructions ran: a function's name and its share.
    misses_after
        Lines of other code between the passes of a loop, and the call's misses then.
    """

    setup_core_cycles: int
    setup_misses_cold: int
    call_core_cycles: int
    call_misses_kept: int
    call_misses_cold: int
    code_lines_new: int
    table_lines_new: int
    functions: tuple[tuple[str, float], ...]
    misses_after: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class CallQuestion(ExperimentQuestion):
    """Set-up and one call of a library on a device with a flash cache.

    Attributes
    ----------
    key, nonce, message
        The plaintext's bytes as hexadecimal digits; for decryption the oracle makes the ciphertext.
    operation
        "encrypt" or "decrypt": what follows the set-up.
    toolchain
        Who compiles it; empty for the system's own.
    """

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION
    ANSWER: ClassVar[type[Answer]] = CallAnswer

    device: str
    library: str
    configuration: str
    cipher: str
    key: str
    nonce: str
    message: str
    operation: Operation
    toolchain: str = ""

    def answer(self, results: Results) -> CallAnswer | None:
        """The newest stored `CallCosts` or `CallFailure`, or None where there is neither."""
        found = self.find(results)
        return None if found is None else CallAnswer.from_json(found.outcome)

    def asked(self) -> dict[str, Any]:
        """Every field but the toolchain, which says how an answer is made."""
        asked = dict(vars(self))
        del asked["toolchain"]
        return asked
