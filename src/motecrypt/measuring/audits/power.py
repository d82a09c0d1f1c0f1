"""Power on a simulated device: what traces of its current show, and how many of them give the key.

Every variant of ours is attacked by correlation on simulated traces, over noise, again and again with fresh
keys; templates are tried as the stronger attacker; fixed and random inputs are compared. The verdict joins
the timing part's: what someone needs who has the device.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from motecrypt.attack import leakage
from motecrypt.attack.audits import power
from motecrypt.attack.audits.oracle import Part, key_bytes, nearest_length, randomness
from motecrypt.attack.leakage import campaign, cpa
from motecrypt.attack.leakage.assessment import LeakQuestion, Variable, assess
from motecrypt.attack.leakage.bench_firmware import bench_recorder
from motecrypt.base.model import Cipher, Device, Implementation
from motecrypt.build.toolchain import BuildRequest, Firmware, build, key_of
from motecrypt.catalog import Catalog
from motecrypt.measuring.audits import Subject, Unavailable, timing
from motecrypt.measuring.audits.timing import bodies_on, placements_of, simulated_device, source_lines
from motecrypt.results import Results
from motecrypt.results.experiments.audit import AuditQuestion
from motecrypt.simulate.runners import runner_of

#: Repeated attacks: of the audited variant and the best one for the device, and of the others.
EXPERIMENTS, EXPERIMENTS_OTHERS, EXPERIMENTS_QUICK = 20, 10, 5
#: The noise at which variants are compared, as SNR.
COMPARED_AT = 0.125
MESSAGE_BYTES = 16
#: Traces of the t-test, and how many instructions from the attacked ones on.
T_TEST_TRACES, T_TEST_TRACES_QUICK, T_TEST_INSTRUCTIONS = 20_000, 8_000, 400


def names(cipher: Cipher, devices: Sequence[str]) -> list[str]:
    """One part for each device."""
    return [f"power:{device}" for device in devices]


def others(cipher: Cipher) -> dict[str, str]:
    """None: every cipher has this part."""
    return {}


def identity(subject: Subject, part: str) -> dict[str, Any]:
    """The builds of all variants for the device, the simulator, and the code that analyses."""
    device = simulated_device(subject)
    bodies = bodies_on(subject, device)
    requests = [BuildRequest(device, body, placements_of(body, device)[0]) for body in bodies]
    sources = sorted(Path(leakage.__file__).parent.glob("*.py"))
    code = hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    return {
        "device": device.name,
        "builds": [key_of(request) for request in requests],
        "runner": runner_of(device.runner).identity(device),
        "analysis": code,
    }


def run(subject: Subject, part: str, results: Results) -> Part:
    """Attack every variant of ours on the device."""
    device = simulated_device(subject)
    attacks = campaign.attacks_on(subject.cipher)
    rows: list[dict[str, Any]] = []
    reasons: list[str] = []
    bodies = [
        (place == 0, body)
        for place, body in enumerate(bodies_on(subject, device))
        if 8 * key_bytes(subject.cipher) in body.key_bits
    ]
    plans = [_plan(subject, device, body, attacks, first=first) for first, body in bodies]
    steps = _PowerSteps(subject, device, 1 + sum(map(_curves_of, plans)))  # 1: the t-test
    for (first, body), planned in zip(bodies, plans, strict=True):
        try:
            rows.append(_row(subject, device, body, planned, steps, first=first))
        except campaign.TimeVaries as reason:
            rows.append(
                {
                    "variant": body.variant,
                    "placement": placements_of(body, device)[0],
                    "attacks": [],
                    "t_test": {"verdict": "path varies"},
                }
            )
            reasons.append(f"{body.variant}: {reason}")
    if not rows:
        raise Unavailable(f"no variant runs on {device.name}")
    timed = _timing(subject, device, results)
    audited, *_ = rows
    verdict, weight = power.judge(audited)
    sentences = power.sentences(rows, timed, device.name)
    data = {"rows": rows, "timing": timed, "compared_at_snr": COMPARED_AT, "not_aligned": reasons}
    return Part(part, f"Power on {device.name}", verdict, weight, tuple(sentences), data)


def _timing(subject: Subject, device: Device, results: Results) -> str:
    """The timing part's verdict on this device: as it is stored, or found now."""
    part, cipher = f"timing:{device.name}", subject.cipher
    folders = () if cipher.name in Catalog.load().ciphers else (cipher.folder,)
    asked = AuditQuestion(
        cipher.name, part, subject.seed, subject.quick, subject.implementation.variant, folders
    )
    stored = asked.answer(results)
    if stored is not None:
        return stored.verdict
    return timing.run(replace(subject, device=device.name), part, results).verdict


@dataclass
class _PowerSteps:
    """Counts what is done, and reports it: every recording, curve and test is a step."""

    subject: Subject
    device: Device
    total: int
    done: int = 0

    def begin(self, what: str) -> None:
        """Report what comes next."""
        self.subject.told(self.done, self.total, f"{self.device.name}: {what}")

    def end(self, what: str) -> None:
        """Report what was done."""
        self.done += 1
        self.begin(what)


@dataclass(frozen=True)
class _Planned:
    """One attack on one variant: at which noise, in which models, how often."""

    attack: campaign.PlannedAttack
    levels: tuple[campaign.Level, ...]
    models: tuple[str, ...]
    experiments: int
    template_at: float | None
    distances_at: tuple[float, ...]
    thorough: bool


def _plan(
    subject: Subject,
    device: Device,
    body: Implementation,
    attacks: Sequence[campaign.PlannedAttack],
    *,
    first: bool,
) -> list[_Planned]:
    """All attacks on the audited variant, one on the others; the first one thoroughly where it matters."""
    planned = []
    matters = not subject.quick and (first or body.best_on_core(device.core))
    chosen = [attack for attack in attacks if not (subject.quick and attack.late)] if first else attacks[:1]
    for place, attack in enumerate(chosen):
        thorough = matters and place == 0
        alone = not first and not thorough
        experiments = EXPERIMENTS if thorough else EXPERIMENTS_OTHERS
        levels = campaign.levels_of(attack.target, thorough=thorough, alone=alone)
        more = thorough and attack.target.guesses == 256
        planned.append(
            _Planned(
                attack,
                levels,
                campaign.MODEL_NAMES[:1] if alone else campaign.MODEL_NAMES,
                EXPERIMENTS_QUICK if subject.quick else experiments,
                COMPARED_AT if more else None,
                tuple(level.snr for level in levels if more and level.snr >= COMPARED_AT),
                thorough,
            )
        )
    return planned


def _curves_of(planned: Sequence[_Planned]) -> int:
    """Windows to find, and curves of one variant."""
    return sum(
        1 + len(one.levels) * len(one.models) + (one.template_at is not None) + len(one.distances_at)
        for one in planned
    )


def _row(
    subject: Subject,
    device: Device,
    body: Implementation,
    plans: Sequence[_Planned],
    steps: _PowerSteps,
    *,
    first: bool,
) -> dict[str, Any]:
    """What is kept of a variant: all attacks and the t-test of the audited one, one attack of the others."""
    placement = placements_of(body, device)[0]
    made: list[dict[str, Any]] = []
    skip: int | None = None
    for planned in plans:
        bed = _bed(subject, device, body, placement, planned.attack)
        steps.begin(f"{body.variant}, {planned.attack.target.title}")
        window = campaign.find_window(bed)
        steps.end(f"{body.variant}, {planned.attack.target.title}")
        skip = window.skip if skip is None else skip
        made.append(_attacked(bed, window, planned, steps))
    row: dict[str, Any] = {"variant": body.variant, "placement": placement, "attacks": made}
    if first:
        row["t_test"] = _t_test(
            subject, device, body, placement, plans[0].attack.vary if plans else "message", skip or 0
        )
        steps.end(f"{body.variant}, fixed against random")
    return row


def _bed(
    subject: Subject, device: Device, body: Implementation, placement: str, attack: campaign.PlannedAttack
) -> campaign.Bed:
    message_bytes = nearest_length(subject.cipher, MESSAGE_BYTES)
    return campaign.Bed(device, subject.cipher, body, placement, attack, message_bytes, subject.seed)


def _attacked(
    bed: campaign.Bed, window: campaign.AttackWindow, planned: _Planned, steps: _PowerSteps
) -> dict[str, Any]:
    attack = bed.attack
    found = campaign.curves(
        bed,
        window,
        planned.levels,
        planned.experiments,
        planned.models,
        planned.template_at,
        planned.distances_at,
        lambda what: steps.end(f"{bed.implementation.variant}, {what}"),
    )
    made = {
        "attack": attack.target.name,
        "title": attack.target.title,
        "operation": attack.operation,
        "key_parts": attack.target.parts,
        "window": {"skip": window.skip, "instructions": window.instructions, "executed": window.executed},
        "curves": [curve.as_json() for curve in found],
    }
    if planned.thorough:
        made["correlation"] = _correlation(bed, window, planned.levels[-1])
    return made


def _correlation(bed: campaign.Bed, window: campaign.AttackWindow, level: campaign.Level) -> dict[str, Any]:
    """Of one experiment: correlations over the instructions, of the right guesses and of all wrong ones."""
    shown = campaign.correlation_curve(bed, window, level)
    firmware = build(BuildRequest(bed.device, bed.implementation, bed.placement))
    best = [int(place) for place in np.argsort(shown.right)[::-1][:8]]
    places = _places(bed.device, firmware, window.marks.tolist())
    return {
        "snr": None if np.isinf(level.snr) else level.snr,
        "traces": level.traces_most,
        "first_instruction": window.skip,
        "right": [round(float(value), 3) for value in shown.right],
        "wrong": [round(float(value), 3) for value in shown.wrong],
        "lines": {str(place + window.skip): places[place] for place in best},
        "places": places,
    }


def _t_test(
    subject: Subject, device: Device, body: Implementation, placement: str, vary: str, skip: int
) -> dict[str, Any]:
    """Fixed against random inputs under one key, with noise; after their loading, where that is known."""
    cipher = subject.cipher
    random = randomness(subject.seed, "power", cipher.name)
    recorder = bench_recorder(
        device,
        body,
        cipher,
        "encrypt",
        random.randbytes(key_bytes(cipher)),
        random.randbytes(cipher.nonce_bytes),
        random.randbytes(nearest_length(cipher, MESSAGE_BYTES)),
        vary=vary,
        placement=placement,
        skip=skip,
        instructions=T_TEST_INSTRUCTIONS,
    )
    question = LeakQuestion(
        traces=T_TEST_TRACES_QUICK if subject.quick else T_TEST_TRACES,
        snr=COMPARED_AT,
        seed=subject.seed,
    )
    found = assess(recorder, [Variable(vary, "vary")], question)
    made: dict[str, Any] = {
        "verdict": found.verdict,
        "varied": vary,
        "traces": found.traces,
        "first_instruction": skip,
        "instructions": len(found.pcs),
        "snr": found.snr,
    }
    if not found.orders:
        return made
    order = found.orders[0]
    firmware = build(BuildRequest(device, body, placement))
    most = order.leaks[:200]
    places = _places(device, firmware, found.pcs.tolist())
    lines = dict.fromkeys(places[leak.instruction] for leak in most)
    strongest = [max(row) if np.isfinite(max(row)) else cpa.Z_95 * 1e3 for row in found.curve]
    return made | {
        "tests": order.tests,
        "threshold": round(order.threshold, 2),
        "largest_t": round(order.largest, 1),
        "leaking_samples": len(order.leaks),
        "lines": list(lines)[:12],
        "curve": [round(float(value), 1) for value in strongest],
        "places": places,
    }


def _places(device: Device, firmware: Firmware, pcs: Sequence[int]) -> list[str]:
    """The source line of each instruction."""
    found = source_lines(device, firmware, sorted(set(pcs)))
    return [found[pc][1] for pc in pcs]
