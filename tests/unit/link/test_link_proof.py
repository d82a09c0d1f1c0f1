"""The faults of `./test proof --faults` are faults of today's sources; the proofs themselves take minutes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from motecrypt.link.native import FOLDER
from proof.main import FAULTS, PROOFS, changed
from proof.rules import BROKEN, HERE, MODELS


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_changes_what_its_proof_is_of(what: str, tmp_path: Path) -> None:
    fault = FAULTS[what]
    assert fault.proof in PROOFS and bool(fault.define) != bool(fault.old)
    harnesses = changed(tmp_path, fault)
    assert (harnesses / PROOFS[fault.proof].harness).is_file()
    if fault.define:
        assert any(fault.define in path.read_text() for path in FOLDER.glob("*.c"))
    else:
        now = (tmp_path / "src/motecrypt/firmware/link" / fault.file).read_text()
        assert now != (FOLDER / fault.file).read_text()


def test_each_proof_has_a_fault_that_it_must_find() -> None:
    proven = {PROOFS[fault.proof].harness for fault in FAULTS.values()}
    assert proven == {proof.harness for proof in PROOFS.values()}


def test_each_model_has_rules_that_it_must_find_wrong() -> None:
    """Of version 2.0, and today's without each one that a model can leave out."""
    for model in MODELS:
        text = (HERE / f"{model}.pml").read_text()
        broken = [each for each in BROKEN.values() if each.model == model]
        left_out = {int(digit) for digit in re.findall(r"WITHOUT [!=]= (\d+)", text)}
        assert {each.without for each in broken if each.rules == 21} == left_out >= {1, 2}
        assert {each.prove for each in broken if each.rules == 20} == {1, 2}
