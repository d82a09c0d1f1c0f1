"""A file over Wi-Fi: ns-3 where it is installed, the closed form where it is not. Stored as a result.

ns-3 runs as a separate program of ours (``drivers/wlan.cc``), once per seed. Stored are the
parameters, each run's figures, and their spread. Energy of the processor is not stored: it is
computed later, from the cipher's time.
"""

from __future__ import annotations

import hashlib
import json
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from motecrypt.air.wlan import dcf, parameters
from motecrypt.air.wlan.protection import security
from motecrypt.base import process
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import ExperimentResult
from motecrypt.base.process import processors
from motecrypt.build.setup import left_out
from motecrypt.build.toolchain import BuildError
from motecrypt.build.toolchain.drivers import driver
from motecrypt.results import Results
from motecrypt.results.experiments.wlan_transfer import (
    CLOSED_FORM,
    KIND,
    NS3,
    VERSION,
    WlanQuestion,
    missing_note,
)

SIMULATED_BYTES = 20_000_000  # larger files: this much is simulated, the rest follows in proportion

# Two-sided 95 % points of Student's t for n - 1 degrees of freedom.
_STUDENT = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26}


def student(samples: int) -> float:
    """The factor of the 95 % interval of a mean over that many samples (at least 2)."""
    return _STUDENT.get(samples - 1, 1.96 if samples > 30 else 2.2)


@lru_cache(maxsize=1)
def program() -> Path | None:
    """The compiled ns-3 program, or None where it is not available: why is reported when the command ends."""
    try:
        return driver("wlan")
    except (BuildError, InputError) as error:
        left_out("ns-3", str(error))
        return None


@lru_cache(maxsize=1)
def _source_hash() -> str:
    source = files("motecrypt.simulate.drivers").joinpath("wlan.cc").read_bytes()
    return hashlib.sha256(source).hexdigest()[:16]


class TransferWlan(WlanQuestion):
    """One transfer to be simulated."""

    def inputs(self, engine: str) -> dict[str, Any]:
        """What the stored outcome depends on: besides the question, the program."""
        return self.asked_of(engine) | ({"program": _source_hash()} if engine == NS3 else {})

    def stored(self, results: Results) -> ExperimentResult | None:
        """The result of this program if it is there, ns-3's before the closed form's; runs nothing."""
        return self.kept(results, self.inputs(NS3)) or self.kept(results, self.inputs(CLOSED_FORM))

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """The result of this transfer, simulated now if it is not stored."""
        (experiment,) = ensure_all([self], results, progress)
        return experiment

    def closed_form(self) -> dict[str, Any]:
        """The same transfer by the closed form: seconds and joules, without spread."""
        with_card = parameters.card(self.card)
        over = parameters.signal(self.signal)
        if self.walls_db is not None:
            over = parameters.Signal(**{**vars(over), "walls_db": self.walls_db})
        moved = dcf.transfer(
            self.size,
            mode=self.mode,
            phy_name=self.phy,
            protocol=self.protocol,
            security_bytes=security(self.security).frame_bytes,
            link=parameters.link(over, with_card, self.mode),
        )
        return {
            "seconds": moved.seconds,
            "sender_joule": parameters.radio_joule(
                with_card, moved.seconds, moved.sender_tx_us / 1e6, moved.sender_rx_us / 1e6
            ),
            "receiver_joule": parameters.radio_joule(
                with_card, moved.seconds, moved.receiver_tx_us / 1e6, moved.receiver_rx_us / 1e6
            ),
            "data_frames": moved.data_frames,
            "air_bytes": moved.air_bytes,
            "applies": moved.applies,
            "note": moved.note,
        }

    def _arguments(self, seed: int) -> list[str]:
        over, with_card = parameters.signal(self.signal), parameters.card(self.card)
        hops = 2 if self.mode == "infrastructure" else 1  # the access point is half-way
        values: Mapping[str, Any] = {
            "mode": self.mode,
            "phy": self.phy,
            "protocol": self.protocol,
            "bytes": self.size,
            "frame-bytes": security(self.security).frame_bytes,
            "seed": seed,
            "distance-m": over.distance_m,
            "walls-db": self.walls / hops,
            "fading": int(over.fading),
            "exponent": over.exponent,
            "tx-dbm": with_card.transmit_dbm,
            "volts": with_card.volts,
            "tx-ma": with_card.tx_ma,
            "rx-ma": with_card.rx_ma,
            "idle-ma": with_card.idle_ma,
            "limit-seconds": max(600, self.size // 10_000),
        }
        return [f"--{name}={value}" for name, value in values.items()]


def _run(compiled: Path, request: TransferWlan, seed: int) -> dict[str, Any]:
    outcome = process.run([compiled, *request._arguments(seed)])
    if not outcome.ok:
        raise MotecryptError(f"ns-3, seed {seed}: {outcome.first_error}")
    try:
        run: dict[str, Any] = json.loads(outcome.output)
    except json.JSONDecodeError:
        raise MotecryptError(f"ns-3, seed {seed}: printed no figures: {outcome.output[:80]!r}") from None
    return run


def summary(values: Sequence[float]) -> dict[str, float]:
    """Mean, least, largest, and the half-width of the mean's 95 % interval."""
    mean = statistics.fmean(values)
    half = 0.0
    if len(values) > 1:
        half = student(len(values)) * statistics.stdev(values) / math.sqrt(len(values))
    return {"mean": mean, "low": min(values), "high": max(values), "half_width": half}


def _outcome(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    ordered = sorted(runs, key=lambda run: int(run["seed"]))
    names = ("seconds", "sender_joule", "receiver_joule", "data_frames", "data_frame_bytes")
    outcome: dict[str, Any] = {name: summary([float(run[name]) for run in ordered]) for name in names}
    outcome["complete"] = all(run["complete"] for run in ordered)
    outcome["delivered_bytes"] = min(run["delivered_bytes"] for run in ordered)
    outcome["runs"] = ordered
    return outcome


def closed_outcome(request: TransferWlan) -> dict[str, Any]:
    """The closed form in the shape of a stored outcome, without spread."""
    form = request.closed_form()
    form["data_frame_bytes"] = form["air_bytes"]
    names = ("seconds", "sender_joule", "receiver_joule", "data_frames", "data_frame_bytes")
    outcome: dict[str, Any] = {name: summary([float(form[name])]) for name in names}
    return outcome | {"complete": True, "delivered_bytes": request.size, "runs": [], "note": form["note"]}


def ensure_all(
    requests: Sequence[TransferWlan], results: Results, progress: Callable[[str], None] | None = None
) -> list[ExperimentResult]:
    """The results of many transfers; the runs that are missing share the processors."""
    for request in requests:
        request.check()
    found = {request: request.stored(results) for request in requests}
    compiled = program() if any(_lacks(found[r]) for r in found) else None
    missing = [request for request in found if _lacks(found[request])]
    if compiled is None:
        if missing and progress is not None:
            progress(missing_note())
        for request in missing:
            outcome = closed_outcome(request)
            found[request] = results.store_experiment(
                KIND, VERSION, request.inputs(CLOSED_FORM), outcome, request.asked_of(CLOSED_FORM)
            )
    else:
        _simulate(compiled, missing, found, results, progress)
    return [experiment for experiment in (found[request] for request in requests) if experiment is not None]


def _lacks(experiment: ExperimentResult | None) -> bool:
    """A stored closed form is replaced as soon as ns-3 is there; a stored simulation never is."""
    return experiment is None or (experiment.inputs["engine"] == CLOSED_FORM and program() is not None)


def _simulate(
    compiled: Path,
    missing: Sequence[TransferWlan],
    found: dict[TransferWlan, ExperimentResult | None],
    results: Results,
    progress: Callable[[str], None] | None,
) -> None:
    with ThreadPoolExecutor(max_workers=processors()) as pool:
        waiting = {
            request: [pool.submit(_run, compiled, request, seed) for seed in range(1, request.seeds + 1)]
            for request in missing
        }
        try:
            for done, (request, futures) in enumerate(waiting.items(), start=1):
                runs = [future.result() for future in futures]
                found[request] = results.store_experiment(
                    KIND, VERSION, request.inputs(NS3), _outcome(runs), request.asked_of(NS3)
                )
                if progress is not None:
                    progress(f"Wi-Fi transfer {done} of {len(waiting)}: {request.mode} {request.security}")
        except BaseException:
            for futures in waiting.values():
                for future in futures:
                    future.cancel()
            raise
