"""The ways a command ends badly, and the kind of failure. Imports nothing else of the project.

A message is for people. Code asks an error's `kind` and whether it is `transient`, never its words.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FailureKind(StrEnum):
    """What went wrong, for code that decides by it and for stored results."""

    FAILED = "failed"
    INPUT = "input"
    # builds
    REFUSED = "refused"  # by the compiler or linker
    INTERRUPTED = "interrupted"  # killed, no room left, or changed on the way
    MISSING = "missing"  # a tool, package or source that is not here
    DOES_NOT_FIT = "does-not-fit"
    # firmware that runs
    CRASHED = "crashed"
    STACK = "stack"
    FLOOD = "flood"
    SILENT = "silent"
    ENDED = "ended"  # the simulator was ended from outside
    # what it answers
    HALF_FRAME = "half-frame"
    CHECKSUM = "checksum"
    PROTOCOL_VERSION = "protocol-version"
    GARBLED = "garbled"
    DENIED = "denied"  # the firmware refuses a request
    WRONG_STATUS = "wrong-status"
    WRONG_BYTES = "wrong-bytes"
    WRONG_TAG_ACCEPTED = "wrong-tag-accepted"
    PLAINTEXT_SHOWN = "plaintext-shown"
    # boards
    BOARD = "board"


@dataclass(frozen=True)
class StackOverflow:
    """How far a stack grew into the data below it, when the simulator stopped: link addresses."""

    stack_pointer: int
    limit: int  # where the data end

    @property
    def bytes(self) -> int:
        """By how much it is too deep, at least: the run stopped there."""
        return self.limit - self.stack_pointer


class MotecryptError(Exception):
    """Something measured or checked failed: one line for the user, exit code 1.

    Parameters
    ----------
    message
        What happened, where, and what to do.
    kind
        What went wrong; each class has its usual kind.
    transient
        Whether it may succeed the next time, as the cause is not the measured code. Such an outcome is
        reported, not stored, and tried again.
    """

    exit_code = 1
    usual_kind = FailureKind.FAILED

    def __init__(
        self, message: str = "", *, kind: FailureKind | None = None, transient: bool = False
    ) -> None:
        super().__init__(message)
        self.kind = kind or self.usual_kind
        self.transient = transient


class InputError(MotecryptError):
    """Bad arguments or input: one line that says what, where and how to fix it; exit code 2."""

    exit_code = 2
    usual_kind = FailureKind.INPUT
