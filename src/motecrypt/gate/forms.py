"""A judgement as others read it: Markdown for a pull request, JUnit XML, Bencher Metric Format. Pure.

Sources: JUnit XML as Jenkins' xunit schema (junit-10.xsd) and GitLab read it; Bencher Metric Format as
bencher.dev's reference of adapters describes it: {benchmark: {measure: {"value": number}}}.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from motecrypt.base.text import printable
from motecrypt.gate.figures import UNITS, Benchmark
from motecrypt.gate.judge import Delta, GateCheck, Judgement, number

ROWS_MAX = 50
CAUSES_SHOWN = 5


def title(judgement: Judgement, base: str) -> str:
    """The outcome in one line."""
    failed, against = len(judgement.failed), f" against {base}" if base else ""
    checks = f"{len(judgement.checks):,} checks"
    if not failed:
        return f"passed: {checks}{against}"
    return f"{failed:,} of {checks} failed{against}"


def sentence(check: GateCheck) -> str:
    """What a failed check says."""
    if check.rule == "runs":
        return check.reason
    if check.value is None:
        return f"{check.measure} {check.reason} (base: {number(check.base)}); demanded: {check.demand}"
    was = "" if check.base is None else f" (base: {number(check.base)}{_grown(check)})"
    return f"{check.measure} {number(check.value)}{was}; demanded: {check.demand}"


def _grown(check: GateCheck) -> str:
    delta = Delta(check.benchmark, check.measure, check.base, check.value)
    return "" if check.value == check.base else f", {change(delta)}"


def change(delta: Delta) -> str:
    """How much a figure changed, with its share."""
    if delta.base is None:
        return "new"
    if delta.value is None:
        return "gone"
    share = "" if delta.percent is None else f" ({delta.percent:+.1f} %)"
    difference = delta.value - delta.base
    return f"{difference:+,.0f}{share}" if difference == int(difference) else f"{difference:+,.1f}{share}"


# --- Markdown ----------------------------------------------------------------------------------------


def markdown(judgement: Judgement, base: str, facts: Sequence[str]) -> str:
    """A summary for a pull request: the outcome, what failed and why, what changed, how it was made.

    Parameters
    ----------
    base
        What it was compared with; empty where with nothing.
    facts
        Lines of how the figures were made, such as the compilers.
    """
    mark = "✅" if judgement.passed else "❌"
    lines = [f"### {mark} motecrypt ci: {_text(title(judgement, base))}", ""]
    if judgement.failed:
        rows = [_failed_row(check) for check in judgement.failed]
        columns = ("benchmark", "measure", "base", "here", "change", "demanded", "cause")
        lines += [*_table(columns, rows), ""]
    changed = [delta for delta in judgement.deltas if delta.base is not None]
    if changed:
        body = [
            (
                _code(delta.benchmark),
                delta.measure,
                number(delta.base),
                number(delta.value),
                change(delta),
            )
            for delta in changed
        ]
        lines += ["<details><summary>Every change</summary>", ""]
        lines += [*_table(("benchmark", "measure", "base", "here", "change"), body), "", "</details>", ""]
    if base:
        more = f"; {len(judgement.new):,} benchmarks are new" if judgement.new else ""
        lines += [f"{judgement.equal:,} of {judgement.figures:,} figures are equal to the base{more}.", ""]
    lines += [f"- {_text(note)}" for note in (*judgement.notes, *facts)]
    return "\n".join(lines).rstrip() + "\n"


def _failed_row(check: GateCheck) -> tuple[str, ...]:
    if check.rule == "runs":
        return (_code(check.benchmark), "", "", "", "", check.demand, _text(check.reason))
    delta = Delta(check.benchmark, check.measure, check.base, check.value)
    causes = [*check.causes[:CAUSES_SHOWN]] or [check.reason]
    if len(check.causes) > CAUSES_SHOWN:
        causes.append(f"and {len(check.causes) - CAUSES_SHOWN} more")
    return (
        _code(check.benchmark),
        check.measure,
        number(check.base),
        number(check.value),
        "" if check.base is None else change(delta),
        check.demand,
        "<br>".join(map(_text, causes)),
    )


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows[:ROWS_MAX]]
    if len(rows) > ROWS_MAX:
        lines.append(f"| and {len(rows) - ROWS_MAX:,} more |{' |' * (len(columns) - 1)}")
    return lines


_MARKED = str.maketrans({c: f"\\{c}" for c in "\\`*_[]|#~"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})


def _text(text: str) -> str:
    """Text from outside, as Markdown shows it: nothing in it becomes a link, a tag or a column."""
    return " ".join(printable(text).translate(_MARKED).split())


def _code(text: str) -> str:
    return f"`{printable(text).replace('`', chr(39)).replace('|', '/')}`"


# --- JUnit -------------------------------------------------------------------------------------------


def junit(judgement: Judgement) -> bytes:
    """One test case for each check; a failed one has its sentence and its causes."""
    suite = ET.Element(
        "testsuite",
        name="motecrypt ci",
        tests=str(len(judgement.checks)),
        failures=str(len(judgement.failed)),
        errors="0",
        skipped="0",
        time="0",
    )
    for check in judgement.checks:
        name = f"{check.measure}: {check.demand}"
        of = printable(check.benchmark)
        case = ET.SubElement(suite, "testcase", classname=of, name=printable(name), time="0")
        if not check.passed:
            said = printable(sentence(check))
            failure = ET.SubElement(case, "failure", type=check.rule, message=said)
            failure.text = "\n".join(map(printable, (said, *check.causes)))
    suites = ET.Element("testsuites", name="motecrypt", tests=suite.get("tests", ""))
    suites.set("failures", suite.get("failures", ""))
    suites.append(suite)
    ET.indent(suites)
    text: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


# --- Bencher -----------------------------------------------------------------------------------------


def bencher(benchmarks: Sequence[Benchmark]) -> str:
    """Figures in Bencher Metric Format. Benchmarks that did not run are left out."""
    found = {
        benchmark.name: {
            measure.replace("_", "-"): {"value": value}
            for measure, value in benchmark.figures.items()
            if measure in UNITS
        }
        for benchmark in benchmarks
        if benchmark.ran
    }
    return json.dumps(found, indent=1) + "\n"
