"""The question how long messages take over a serial radio, in each of the link's modes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from motecrypt.findings import FindingQuestion
from motecrypt.radios import load_radio

KIND = "radio transfer"
VERSION = 1
MODES = ("T", "C", "P", "B", "safe")


@dataclass(frozen=True)
class TransferQuestion(FindingQuestion):
    """Messages of these sizes, in every mode, on one radio with each of these timeouts.

    Attributes
    ----------
    radio : name of a radio with a serial line.
    message_bytes : lengths of the messages.
    timeouts_ms : the radio's timeouts to try.
    """

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION

    radio: str
    message_bytes: tuple[int, ...]
    timeouts_ms: tuple[float, ...]

    def asked(self) -> dict[str, Any]:
        """The request, with all figures of the radio: a changed one is another question."""
        figures = {name: figure.value for name, figure in load_radio(self.radio).figures.items()}
        return {
            "radio": self.radio,
            "figures": figures,
            "message_bytes": list(self.message_bytes),
            "timeouts_ms": list(self.timeouts_ms),
            "modes": list(MODES),
        }
