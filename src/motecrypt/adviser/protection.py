"""Which protected implementation resists power analysis best, and what that does not promise.

Pure, except for its data file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from motecrypt.adviser.model import Advice, Entry
from motecrypt.base.descriptor import Table
from motecrypt.catalog import DATA

NEED = "power-resistance"
FILE = DATA / "protection.toml"
"""Made by `python -m made.protection`."""
_HEAD = """\
# Traces to the key of AES-128, made by python -m made.protection. Simulated, model "weight"; `snr`
# is that of the weight of one byte. `traces` is the least number from which on 80 % of the experiments find
# the whole key; without it, `most` were not enough. They do not predict a chip's: compare them at one SNR."""
SNR = 0.5
"""The ratio at which implementations are ranked."""
ATTACKERS = ("correlation", "pairs", "table")
LIMITS = (
    "Power resistance is that of simulated traces of a UNO or a Pico in counter mode, without coupling or "
    "glitches, and is not a proof for a chip. Attacks on two samples, or with a profile of a like device, "
    "still work. The masks need a secret seed that you store in each device (docs/protection.md)."
)


@dataclass(frozen=True)
class Resistance:
    """How many simulated traces one attacker needed for the key of an implementation.

    Attributes
    ----------
    attacker : "correlation", "pairs" or "table": docs/protection.md.
    snr : variance of the weight of one byte over the variance of the noise.
    most, traces : the most that were tried, and the least from which on 80 % of the experiments find the
        key; None: `most` are not enough.
    """

    device: str
    variant: str
    attacker: str
    snr: float
    experiments: int
    most: int
    traces: int | None


@dataclass(frozen=True)
class Factor:
    """Traces to the key in units of those of the code without protection, at one ratio.

    `at_least`: no attacker found the key; `factor` is then what is shown, not what is there.
    """

    factor: float
    attacker: str
    at_least: bool

    @property
    def text(self) -> str:
        """As it is shown."""
        number = f"{self.factor:.1f}" if self.factor < 10 else f"{self.factor:,.0f}"
        return f"more than {number} times" if self.at_least else f"{number} times"


def read_resistances(file: Path = FILE) -> tuple[Resistance, ...]:
    """The rows of a file; raises InputError at the first fault."""
    table = Table.read(file)
    rows = []
    for entry in table.tables("resistance"):
        rows.append(
            Resistance(
                device=entry.text("device", filled=True),
                variant=entry.text("variant", filled=True),
                attacker=entry.text("attacker", choices=ATTACKERS),
                snr=entry.number("snr", above=0),
                experiments=entry.integer("experiments", low=1),
                most=entry.integer("most", low=1),
                traces=entry.integer("traces", None, low=1),
            )
        )
        entry.done()
    table.done()
    return tuple(rows)


def resistances_as_text(rows: Iterable[Resistance]) -> str:
    """The file with these rows, as `read_resistances` takes it."""
    lines = [_HEAD]
    for row in rows:
        values = {name: value for name, value in asdict(row).items() if value is not None}
        lines += ["", "[[resistance]]"]
        lines += [f'{n} = "{v}"' if isinstance(v, str) else f"{n} = {v}" for n, v in values.items()]
    return "\n".join(lines) + "\n"


@lru_cache(maxsize=1)
def resistances() -> tuple[Resistance, ...]:
    """The rows that ship with the program."""
    return read_resistances()


def factor_of(rows: Iterable[Resistance], variant: str, snr: float = SNR) -> Factor | None:
    """What the strongest attacker needs for a variant; None where it was not attacked."""
    here = [row for row in rows if row.snr == snr]
    own = [row for row in here if row.variant == variant]
    if not own:
        return None
    unprotected = {row.device: row.traces for row in here if row.attacker == "correlation"}
    strongest = min(own, key=lambda row: (row.traces is None, row.traces or row.most))
    reference = unprotected.get(strongest.device)
    if reference is None:
        return None
    traces = strongest.traces if strongest.traces is not None else strongest.most
    return Factor(traces / reference, strongest.attacker, strongest.traces is None)


def by_resistance(answer: Advice, rows: Sequence[Resistance], statuses: Sequence[str]) -> Advice:
    """The same answer with its ranks by security status, then by resistance, then as they were.

    An implementation that was not attacked comes last in its status.
    """

    def key(entry: Entry) -> tuple[int, float, int]:
        found = _factor(rows, entry)
        return statuses.index(entry.candidate.security), -(found.factor if found else 0.0), entry.rank

    ranked = []
    for rank, entry in enumerate(sorted(answer.entries, key=key), start=1):
        found = _factor(rows, entry)
        told = f"{found.text} the traces of unprotected code at SNR {SNR:g}" if found else "not attacked"
        ranked.append(replace(entry, rank=rank, reason=f"{told}; {entry.reason}" if entry.reason else told))
    noted, warned = (LIMITS, *answer.notes), (LIMITS, *answer.warnings)
    return replace(answer, entries=tuple(ranked), notes=noted, warnings=warned)


def _factor(rows: Iterable[Resistance], entry: Entry) -> Factor | None:
    """Of our AES-128, in whatever mode; nothing else was attacked."""
    library, _, variant = entry.candidate.implementation.rpartition("/")
    if library != "motecrypt" or not entry.candidate.cipher.startswith("aes128-"):
        return None
    return factor_of(rows, variant)


def document(answer: Advice) -> dict[str, Any]:
    """The factors of all ranks as plain JSON values, with what they do not promise."""
    found = [_factor(resistances(), entry) for entry in answer.entries]
    factors = [None if one is None else {**asdict(one), "factor": round(one.factor, 2)} for one in found]
    return {"snr": SNR, "ranks": factors, "limits": LIMITS}
