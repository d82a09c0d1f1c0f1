"""Cycles that others published of real chips, next to what our simulators count for the same code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from motecrypt.adviser.hardware.fidelity import Fidelity
from motecrypt.adviser.hardware.residuals import (
    ALONE,
    ANOTHER,
    COMPILERS,
    EXCLUDED,
    SCORED,
    SEEN,
    SHORTEST,
    Residual,
    by_device,
)
from motecrypt.adviser.hardware.rows import settings
from motecrypt.base.model import Section
from motecrypt.results import Results
from motecrypt.studies.facts import Comparison, Tolerance
from motecrypt.studies.hardware.charts import residual_chart
from motecrypt.studies.hardware.compared import Compared, compared, not_compared
from motecrypt.studies.words import words

ORDER = 50
TITLE = "Published cycles of real chips"
SOURCE = words("hardware").source

#: A row with these scorings is compared; others are shown, without a verdict.
JUDGED = (SCORED, SEEN, EXCLUDED)

#: Rows with these are run, but not compared.
NOT_COMPARED = {COMPILERS: f"{COMPILERS} on it", ANOTHER: ANOTHER, SHORTEST: SHORTEST, ALONE: ALONE}


def comparisons(results: Results) -> list[Comparison]:
    """Every published row whose code was run, without those on which our toolchains differ."""
    return [_comparison(each) for each in compared(results) if each.residual.scoring in JUDGED]


def _comparison(ran: Compared) -> Comparison:
    own = ran.residual
    row, goal = own.row, settings().goals[own.chip.memory]
    stated = ", ".join(text for text in (row.flags, row.wait_states) if text)
    cause = settings().cause_of(own.chip.device, row.code)
    return words("hardware").row(
        "residual",
        source=row.source,
        own=own,
        row_of=row,
        code=_short(row.code),
        column=_level(row.flags),
        unit=row.unit.replace("_per_", "/"),
        published=round(own.published, 6),
        measured=round(own.ours, 3),
        tolerance=Tolerance(
            goal.percentile_95,
            round(own.resolution + own.spread * own.published, 3),
            "goal of the model, spread of our toolchains, steps of the clock that was read",
        ),
        like_for_like="author's code, recorded" if ran.recorded else "author's code",
        cause=cause,
        known="consistent with" if cause else "unknown",
        toolchains=", ".join(run.name for run in own.figures.runs),
        percent=100 * own.share,
        spread=100 * own.spread if own.spread else None,
        scored=own.scored,
        stated=stated or None,
        day=ran.day if ran.recorded else None,
        figures={
            "scored": int(own.scored),  # summaries skip the others
            "cycles": round(own.cycles, 3),
            "residual_percent": round(100 * own.share, 3),
            "toolchain_spread_percent": round(100 * own.spread, 3),
        },
    )


def _level(flags: str) -> str:
    """The optimisation of a compiler's flags; empty where they name none."""
    return next((flag for flag in flags.replace(";", " ").split() if flag.startswith("-O")), "")


def _short(code: str) -> str:
    """The end of a code's path: its beginning is in the source."""
    owner, _, rest = code.partition(" ")
    return "/".join(rest.split("/")[-2:]) if rest else owner


def tables(results: Results) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """The residuals, the fidelity of each device, and what was laid down before, for `--json --rows`."""
    ran = compared(results)
    return {
        "residuals": [_residual_data(each) for each in ran],
        "fidelity": [_fidelity_data(each) for each in _fidelities(ran)],
        "parameters": [vars(each) for each in settings().parameters],
        "excluded": [vars(each) for each in settings().excluded],
        "differences": [vars(each) for each in settings().differences],
        "compilers": [vars(each) for each in settings().compilers_known],
        "variants": [vars(each) for each in settings().variants],
        "training": [vars(each) for each in settings().training],
        "not_compared": [
            {"row": row.id, "chip": row.chip, "code": row.code, "reason": reason}
            for row, reason in not_compared(ran)
        ],
    }


def _residual_data(ran: Compared) -> dict[str, Any]:
    own = ran.residual
    return {
        "row": own.row.id,
        "device": own.chip.device,
        "chip": own.row.chip,
        "memory": own.chip.memory,
        "code": own.row.code,
        "title": own.title,
        "published": own.published,
        "less": "" if own.less is None else own.less.id,
        "unit": own.row.unit,
        "ours": own.ours,
        "cycles": own.cycles,
        "residual": own.share,
        "toolchain_spread": own.spread,
        "scoring": own.scoring,
        "recorded": ran.day if ran.recorded else "",
        "repository": own.figures.code,
        "commit": own.figures.commit,
        "runner": own.figures.runner,
        "build": None if own.figures.build is None else vars(own.figures.build),
        "runs": [vars(run) for run in own.figures.runs],
    }


def _fidelity_data(own: Fidelity) -> dict[str, Any]:
    goal = settings().goals[own.memory]
    return {
        **vars(own),
        "kind": own.kind,
        "goal_median": goal.median,
        "goal_percentile_95": goal.percentile_95,
        "reached": own.median <= goal.median and own.percentile_95 <= goal.percentile_95,
    }


def _fidelities(ran: Sequence[Compared]) -> list[Fidelity]:
    return list(by_device(each.residual for each in ran).values())


def charts(results: Results) -> dict[str, dict[str, Any]]:
    """The residuals of each chip."""
    return residual_chart(compared(results))


def overview(results: Results) -> list[Section]:
    """What a reader wants first: the fidelity of each device."""
    return [_fidelity_section(compared(results))]


def sections(results: Results) -> list[Section]:
    """The fidelity of each device, the residuals, what was laid down, and what is not compared."""
    ran = compared(results)
    return [
        _fidelity_section(ran),
        *(_residual_section(device, own) for device, own in _grouped(ran).items()),
        _laid_down(),
        _left_out(ran),
    ]


def _grouped(ran: Sequence[Compared]) -> dict[str, list[Compared]]:
    grouped: dict[str, list[Compared]] = {}
    for each in ran:
        grouped.setdefault(each.residual.chip.device, []).append(each)
    return grouped


def _fidelity_section(ran: Sequence[Compared]) -> Section:
    rows = []
    grouped = _grouped(ran)
    for own in _fidelities(ran):
        data = _fidelity_data(own)
        rows.append(
            [
                *(own.device, own.memory, str(own.rows), str(len(grouped[own.device]))),
                *(_percent(own.median), _percent(own.percentile_95), _percent(own.worst)),
                f"{_percent(data['goal_median'])}, {_percent(data['goal_percentile_95'])}",
                "yes" if data["reached"] else "no",
                *(own.text, own.kind, own.covers, own.condition),
            ]
        )
    return words("hardware").section("fidelity", rows)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _residual_section(device: str, ran: Sequence[Compared]) -> Section:
    rows = [_residual_row(each.residual) for each in ran]
    days = sorted({each.day for each in ran if each.recorded})
    told = ", ".join(days) if days else None
    return words("hardware").section("residuals", rows, device=device, days=told)


def _residual_row(own: Residual) -> list[str]:
    return [
        *(own.row.id, _short(own.row.code), own.title, own.row.flags),
        *(own.row.unit.replace("_per_", "/"), f"{own.published:g}", f"{own.ours:.6g}"),
        f"{100 * own.share:+.1f} %",
        f"{100 * own.spread:.1f} %" if own.spread else "",
        own.scoring,
    ]


def _laid_down() -> Section:
    rules = settings()
    rows = [
        ["parameter", each.device, each.name, each.value, "fitted" if each.fitted else "", each.source]
        for each in rules.parameters
    ]
    rows += [["seen", each.device, ", ".join(each.codes), "", "", each.reason] for each in rules.training]
    rows += [["excluded", "", ", ".join(each.codes), "", "", each.reason] for each in rules.excluded]
    rows += [["difference", "", ", ".join(each.codes), "", "", each.reason] for each in rules.differences]
    rows += [
        ["variant", "", " ".join((each.toolchain, *each.flags)), "", "", each.reason]
        for each in rules.variants
    ]
    rows += [
        ["compiler", each.device, ", ".join(each.codes), each.toolchain, "", each.reason]
        for each in rules.compilers_known
    ]
    return words("hardware").section("laid-down", rows, most=_percent(rules.compilers))


def _left_out(ran: Sequence[Compared]) -> Section:
    counted = Counter((row.chip, reason) for row, reason in not_compared(list(ran)))
    other = Counter(
        (each.residual.row.chip, reason)
        for each in ran
        if (reason := NOT_COMPARED.get(each.residual.scoring))
    )
    rows = [[chip, reason, str(count)] for (chip, reason), count in sorted((counted + other).items())]
    return words("hardware").section("left-out", rows)
