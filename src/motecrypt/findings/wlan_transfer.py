"""The question how long a file takes over Wi-Fi, and what it costs the sender."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from motecrypt.errors import InputError
from motecrypt.findings import FindingQuestion
from motecrypt.model import Finding
from motecrypt.results import Results
from motecrypt.wlan import dcf, parameters
from motecrypt.wlan.protection import security

KIND = "wlan-transfer"
VERSION = 1
NS3, CLOSED_FORM = "ns-3", "closed form"


def missing_note() -> str:
    """What to say when the closed form serves in ns-3's place."""
    return "ns-3 is not installed, the closed form serves (for ns-3: apt-get install libns3-dev g++)"


@dataclass(frozen=True)
class WlanQuestion(FindingQuestion):
    """One file sent over Wi-Fi.

    Attributes
    ----------
    size : int
        Bytes of the file as sent (after encryption and encoding).
    seeds : int
        Independent runs with ns-3, at least 1. The closed form has no seeds.
    walls_db : float, optional
        Instead of the signal's own.
    """

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION

    size: int
    mode: str = "adhoc"
    security: str = "open"
    signal: str = "good"
    phy: str = "b"
    protocol: str = "tcp"
    card: str = "wavelan"
    seeds: int = 3
    walls_db: float | None = None

    @property
    def walls(self) -> float:
        """Loss in walls between sender and receiver, dB."""
        return parameters.signal(self.signal).walls_db if self.walls_db is None else self.walls_db

    def check(self) -> None:
        """Raise InputError for anything that no engine could run."""
        if self.size < 1:
            raise InputError("an empty file cannot be sent: give a file of at least one byte")
        if self.seeds < 1:
            raise InputError(f"{self.seeds} seeds: at least one run is needed")
        dcf.phy(self.phy, self.mode)
        dcf.payload_per_packet(self.protocol)
        security(self.security)
        parameters.signal(self.signal)
        parameters.card(self.card)

    def asked(self) -> dict[str, Any]:
        """The question as ns-3 is asked it."""
        return self.asked_of(NS3)

    def asked_of(self, engine: str) -> dict[str, Any]:
        """The request for an engine, with the figures behind its names: a changed one is another question."""
        over, with_card = parameters.signal(self.signal), parameters.card(self.card)
        asked: dict[str, Any] = {
            "engine": engine,
            "bytes": self.size,
            "mode": self.mode,
            "frame_bytes": security(self.security).frame_bytes,
            "phy": self.phy,
            "protocol": self.protocol,
            "distance_m": over.distance_m,
            "walls_db": self.walls,
            "fading": over.fading,
            "exponent": over.exponent,
            "volts": with_card.volts,
            "milliampere": [with_card.tx_ma, with_card.rx_ma, with_card.idle_ma],
            "transmit_dbm": with_card.transmit_dbm,
        }
        if engine == NS3:
            return asked | {"seeds": self.seeds}
        levels = sorted(with_card.sensitivity_dbm.items())
        return asked | {"sensitivity_dbm": [[rate, level] for rate, level in levels]}

    def find(self, results: Results) -> Finding | None:
        """The newest stored answer, ns-3's before the closed form's, or None. Runs nothing."""
        engines = (self.asked_of(engine) for engine in (NS3, CLOSED_FORM))
        found = (results.newest_finding(KIND, VERSION, asked) for asked in engines)
        return next((finding for finding in found if finding is not None), None)
