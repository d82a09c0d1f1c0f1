"""What an audit found: its parts, the readings, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from motecrypt.adviser.publickey.secrets import DEPENDS, TaintRow, TimingVerdict
from motecrypt.base.model import Cipher
from motecrypt.catalog.publickey import PublicKeyAlgorithm
from motecrypt.present.terminal import BLANK, TextAnswer, TextBlock, TextTable, TextWords
from motecrypt.results.experiments.audit import AuditAnswer

READING = {"good": "good", "note": "note", "bad": "weak", "skipped": "skipped"}


def secrets_view(
    algorithm: PublicKeyAlgorithm,
    rows: Sequence[TaintRow],
    timing: Sequence[TimingVerdict],
    lines: Sequence[tuple[str, str]],
) -> list[TextBlock]:
    """Whether secrets steer the operations of a public-key algorithm, here and on devices; then `lines`."""
    return [
        TextTable(
            f"Secrets of {algorithm.title}, followed on this computer",
            ["operation", "implementation", "verdict", "where"],
            [[row.operation, row.implementation, row.verdict, "; ".join(row.places)] for row in rows],
            "valgrind's memcheck, with secret keys, seeds and randomness marked; places that act on public "
            "values alone are not counted",
        ),
        TextTable(
            "Time on devices, as recorded",
            ["device", "operation", "implementation", "depends on", "by cycles", "cause"],
            [
                [t.device, t.operation, t.implementation, DEPENDS[t.verdict], f"{t.cycles_range:,}", t.cause]
                for t in timing
            ],
            "over secrets that are random, of few ones and of many; verification has public inputs",
        ),
        TextAnswer("", lines, f"motecrypt measure --public-key {algorithm.name} --device pico"),
    ]


def audit_view(
    cipher: Cipher,
    parts: Sequence[tuple[str, AuditAnswer]],
    audited: str,
    verdict: str,
    others: Iterable[str],
    command: str,
) -> list[TextBlock]:
    """The parts by name, their sentences and the verdict, the worst of their weights.

    `audited`: what was. `others`: the attacks that are of other ciphers. `command`: what comes next.
    """
    rows = [(name, READING.get(answer.weight, answer.weight), answer.verdict) for name, answer in parts]
    blocks: list[TextBlock] = [TextTable(f"Audit of {cipher.name}", ["part", "reading", "verdict"], rows)]
    for _, answer in parts:
        blocks.append(TextWords(f"{answer.title}: {answer.verdict}", "bold"))
        blocks += [TextAnswer("", [("", sentence)]) for sentence in answer.sentences]
    if len(parts) > 1:
        named = ", ".join(name.partition(":")[2] for name in others)
        blocks.append(TextWords(f"Attacks on other ciphers (--json says what each needs): {named}."))
    if not parts:
        return blocks
    reason = cipher.security_reason[:1].upper() + cipher.security_reason[1:]
    said = f". {reason} ({cipher.security_source})" if reason else ""
    weak = [name for name, answer in parts if answer.weight == "bad"]
    lines = [
        ("Audited", audited),
        ("Security status", f"{cipher.security}{said}"),
        ("Verdict", f"{READING[verdict]}: {_counted([answer.weight for _, answer in parts])}"),
        *([("Weak in", ", ".join(weak))] if weak else []),
    ]
    return [*blocks, BLANK, TextAnswer("", lines, command)]


def _counted(weights: Sequence[str]) -> str:
    """How many experiments had which result, those that found a weakness first."""
    words = {
        "bad": ("found a weakness", "found a weakness"),
        "note": ("has a note", "have a note"),
        "good": ("found no weakness", "found no weakness"),
        "skipped": ("was skipped", "were skipped"),
    }
    counts = [(weights.count(weight), words[weight]) for weight in words]
    first, *others = [(count, said[count > 1]) for count, said in counts if count]
    experiments = "experiment" if len(weights) == 1 else "experiments"
    told = [f"{first[0]} of {len(weights)} {experiments} {first[1]}"]
    return "; ".join(told + [f"{count} {said}" for count, said in others])
