"""Runs a sketch that the user has, as `motecrypt run` does, and keeps what it printed and takes."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from motecrypt.base.errors import InputError
from motecrypt.base.model import ExperimentResult
from motecrypt.base.paths import read_regular
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.results.experiments.sketch import KIND, VERSION, SketchQuestion
from motecrypt.simulate.emulate.images import Image
from motecrypt.simulate.emulate.run import Ended, FreeRun, run_freely

#: The end of a sketch: it prints how long its loop took.
UNTIL = " ms"
MAX_SECONDS = 120.0
MAX_OUTPUT_BYTES = 1 << 16
_TIME = re.compile(r"(?<![\w.+-])(\d{1,9}(?:\.\d{1,6})?) ms\Z")
_NOT_HEX = re.compile(r"[^0-9a-f]")


@dataclass(frozen=True)
class SketchRun:
    """A built program and the row that it is for."""

    question: SketchQuestion
    image: Image
    name: str

    def ensure(self, results: Results) -> ExperimentResult:
        """The result: the same program is run once, and is the row's newest answer again.

        Raises
        ------
        InputError
            When it does not print the row's ciphertext, or no time.
        """
        program = hashlib.sha256(read_regular(self.image.path)).hexdigest()
        inputs = {**self.question.asked(), "program_sha256": program}
        kept = self.question.kept(results, inputs)
        outcome = dict(kept.outcome) if kept is not None else self._run()
        return results.store_experiment(KIND, VERSION, inputs, outcome, self.question.asked())

    def _run(self) -> dict[str, Any]:
        if self.image.ram_bytes is None:
            raise InputError(f"{self.name}: states no RAM; give the sketch or its ELF file")
        text = bytearray()
        how = FreeRun(until=UNTIL, max_seconds=MAX_SECONDS, max_output=MAX_OUTPUT_BYTES)
        device = Catalog.load().device(self.question.device)
        ended = run_freely(self.image, device, how, text.extend)
        return {
            "time_ms": self._time_ms(text.decode("ascii", "replace"), ended),
            "flash_bytes": self.image.flash_bytes,
            "ram_bytes": self.image.ram_bytes,
        }

    def _time_ms(self, text: str, ended: Ended) -> float:
        """The time that the sketch printed, after the ciphertext that it must print."""
        if ended.reason != "until":
            raise InputError(
                f"{self.name}: it did not print 'N ms' within {MAX_SECONDS:g} s of simulated time "
                f"({ended.detail}); a sketch for --sketch ends so"
            )
        if self.question.prints not in _NOT_HEX.sub("", text.lower()):
            raise InputError(
                f"{self.name}: it does not print the ciphertext {self.question.prints}; is it the sketch of "
                f"{self.question.row}?"
            )
        found = _TIME.search(text[: text.rindex(UNTIL) + len(UNTIL)])
        if found is None or float(found[1]) > 1000 * ended.seconds:
            raise InputError(
                f"{self.name}: '{text.splitlines()[-1].strip()}' is not a time that the run can have taken"
            )
        return float(found[1])
