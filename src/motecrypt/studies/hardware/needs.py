"""What the study of real chips needs: its rows are of code that users bring (`reproduce hardware --library
FOLDER`), so a fresh clone measures nothing and shows what is recorded."""

from __future__ import annotations

from motecrypt.adviser.hardware.recorded import recorded_questions
from motecrypt.studies import Long, Needs


def needs() -> Needs:
    """The recorded answers; `--full` has nothing to add to them."""
    return Needs(long=Long([], recorded_questions()))
