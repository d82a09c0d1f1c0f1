"""The question how long messages take over a serial radio, in each of the link's modes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from motecrypt.air.radios import load_radio
from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

KIND = "radio transfer"
VERSION = 2
MODES = ("T", "C", "P", "B", "safe")


@dataclass(frozen=True)
class TransferRow:
    """One message in one mode: bytes and times in microseconds, to deliver by timeout in ms as text."""

    mode: str
    message_bytes: int
    sent_bytes: int
    packets: int
    air_us: float
    write_us: float
    encryption_us: float
    delivery_us: Mapping[str, float]
    confirmed_us: float | None = None


@dataclass(frozen=True)
class RadioTransfers(Answer):
    """Each message in each mode."""

    rows: tuple[TransferRow, ...]


@dataclass(frozen=True)
class TransferQuestion(ExperimentQuestion):
    """Messages of these sizes, in every mode, on one radio with each of these timeouts.

    Attributes
    ----------
    radio : name of a radio with a serial line.
    message_bytes : lengths of the messages.
    timeouts_ms : the radio's timeouts to try.
    """

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION
    ANSWER: ClassVar[type[Answer]] = RadioTransfers

    radio: str
    message_bytes: tuple[int, ...]
    timeouts_ms: tuple[float, ...]

    def answer(self, results: Results) -> RadioTransfers | None:
        """The newest stored answer, or None where there is none of its shape."""
        found = self.find(results)
        return None if found is None else RadioTransfers.from_json(found.outcome)

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
