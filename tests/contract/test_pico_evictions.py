"""What docs/fidelity.md states of other code between two passes is what the calls of the Pico study give."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from documented import missing
from motecrypt.measuring.experiments.call_sequence import CallSequence
from motecrypt.results import Results
from motecrypt.studies.pico import evictions
from motecrypt.studies.pico.figures import KEY_BITS, printed, sequences, timings
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")


def test_one_amount_of_other_code_explains_what_the_page_states(results: Results) -> None:
    asked = [q for q in sequences() if q.cipher != f"aes{KEY_BITS[1]}-cbc"]  # for 192 bits nothing is printed
    assert len(asked) == 8 and (3, KEY_BITS[1]) not in printed()
    for question in asked:
        failed = CallSequence.of(question).ensure(results).outcome.get("failed")
        if failed:
            pytest.skip(f"{question.library}: {failed}")
    explained = evictions.explained(timings(results))
    best, count = evictions.most(explained)
    others = max(len(rows) for lines, rows in explained.items() if lines != best)
    told = f"{best * 8 // 1024} KB explain {count} of the 8 printed times within 5 %, no other amount"
    assert missing("fidelity.md", f"{told} more than {others}.") == []
