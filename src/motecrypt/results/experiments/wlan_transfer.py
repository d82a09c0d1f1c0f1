"""The question how long a file takes over Wi-Fi, and what it costs the sender."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from motecrypt.air.wlan import dcf, parameters
from motecrypt.air.wlan.protection import security
from motecrypt.base.errors import InputError
from motecrypt.base.model import ExperimentResult
from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

KIND = "wlan-transfer"
VERSION = 1
NS3, CLOSED_FORM = "ns-3", "closed form"


def missing_note() -> str:
    """What to say when the closed form serves in ns-3's place."""
    return "ns-3 could not be installed; using the closed form (for ns-3: apt-get install libns3-dev g++)"


@dataclass(frozen=True)
class Spread:
    """Mean, least and largest of the runs, and the half-width of the mean's 95 % interval."""

    mean: float
    low: float
    high: float
    half_width: float

    def __mul__(self, factor: float) -> Spread:
        """All four times a factor."""
        return Spread(**{name: value * factor for name, value in vars(self).items()})


@dataclass(frozen=True)
class WlanTransfer(Answer):
    """What a transfer took.

    Attributes
    ----------
    sender_joule, receiver_joule
        Energy of the radios.
    data_frames, data_frame_bytes
        Frames with data, and their bytes on the air.
    complete, delivered_bytes
        Whether all of the file arrived in every run, and how much in the worst.
    note
        What to know of it, for people.
    engine
        NS3 or CLOSED_FORM; not among the stored figures but in the question.
    """

    seconds: Spread
    sender_joule: Spread
    receiver_joule: Spread
    data_frames: Spread
    data_frame_bytes: Spread
    complete: bool
    delivered_bytes: int
    note: str = ""
    engine: str = ""

    def scaled(self, factor: float) -> WlanTransfer:
        """That of a file so many times larger: every frame costs what it cost."""
        return replace(
            self,
            seconds=self.seconds * factor,
            sender_joule=self.sender_joule * factor,
            receiver_joule=self.receiver_joule * factor,
            data_frames=self.data_frames * factor,
            data_frame_bytes=self.data_frame_bytes * factor,
            delivered_bytes=round(self.delivered_bytes * factor),
        )


@dataclass(frozen=True)
class WlanQuestion(ExperimentQuestion):
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
    ANSWER: ClassVar[type[Answer]] = WlanTransfer

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

    def find(self, results: Results) -> ExperimentResult | None:
        """The newest stored answer, ns-3's before the closed form's, or None. Runs nothing."""
        engines = (self.asked_of(engine) for engine in (NS3, CLOSED_FORM))
        found = (self.shaped(results.newest_experiment(KIND, VERSION, asked)) for asked in engines)
        return next((experiment for experiment in found if experiment is not None), None)

    def answer(self, results: Results) -> WlanTransfer | None:
        """The same as figures, with the engine that they come from."""
        return answer_of(self.find(results))


def answer_of(found: ExperimentResult | None) -> WlanTransfer | None:
    """A result's figures, with the engine that they come from; None for none or one of another shape."""
    answer = None if found is None else WlanTransfer.from_json(found.outcome)
    if found is None or answer is None:
        return None
    return replace(answer, engine=CLOSED_FORM if found.inputs.get("engine") == CLOSED_FORM else NS3)
