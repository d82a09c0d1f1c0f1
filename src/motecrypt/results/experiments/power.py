"""The data of an audit's power part, as views read it."""

from __future__ import annotations

from dataclasses import dataclass

from motecrypt.results.experiments.answers import Answer


@dataclass(frozen=True)
class PowerPoint(Answer):
    """Attacks with one number of traces: the bits of the key that were left to search, in the mean; how many
    attacks found the key, and the interval of that share (95 %)."""

    traces: int
    guessing_entropy_bits: float
    experiments: int = 0
    successes: int = 0
    success_low: float = 0.0
    success_high: float = 1.0


@dataclass(frozen=True)
class PowerCurve(Answer):
    """Attacks at one level of noise in one model; `snr` None: no noise."""

    model: str
    attacker: str
    snr: float | None
    points: tuple[PowerPoint, ...]


@dataclass(frozen=True)
class PowerCorrelation(Answer):
    """Correlations over the instructions, of right guesses and of wrong ones, and their source lines."""

    first_instruction: int
    traces: int
    right: tuple[float, ...]
    wrong: tuple[float, ...]
    places: tuple[str, ...] = ()


@dataclass(frozen=True)
class PowerAttack(Answer):
    """One attack on one variant."""

    title: str
    curves: tuple[PowerCurve, ...]
    correlation: PowerCorrelation | None = None


@dataclass(frozen=True)
class PowerTest(Answer):
    """The t-test: the largest |t| of each instruction, and its source line."""

    first_instruction: int = 0
    threshold: float | None = None
    curve: tuple[float, ...] = ()
    places: tuple[str, ...] = ()


@dataclass(frozen=True)
class PowerRow(Answer):
    """One variant."""

    variant: str
    attacks: tuple[PowerAttack, ...]
    t_test: PowerTest | None = None


@dataclass(frozen=True)
class PowerData(Answer):
    """All variants on one device, the audited one first."""

    rows: tuple[PowerRow, ...]
