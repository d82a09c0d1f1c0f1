"""House rules for records, over the package's sources: they never change, except those named here."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lint.sources import modules

#: What changes while it is used: tallies, what is being gathered, and stores.
CHANGING = {
    "AskedOfNode",
    "CoapClient",
    "CrowdResult",
    "End",
    "Frame",
    "GatewayTally",
    "MemoryStore",
    "Module",
    "NodeTally",
    "NotMade",
    "Pacing",
    "PortTally",
    "SourceModule",
    "Stage",
    "Station",
    "Tally",
    "_Air",
    "_CoapSeen",
    "Forwarded",
    "_Line",
    "_PowerSteps",
    "_Sent",
    "_SentBatch",
    "_Station",
    "_TftpClient",
    "_TftpNode",
}


def _dataclasses() -> Iterator[tuple[str, bool]]:
    for source in modules():
        for node in source.nodes:
            if not isinstance(node, ast.ClassDef):
                continue
            for decorator in node.decorator_list:
                call = decorator if isinstance(decorator, ast.Call) else None
                name = call.func if call else decorator
                if isinstance(name, ast.Name) and name.id == "dataclass":
                    given = {k.arg: ast.unparse(k.value) for k in call.keywords} if call else {}
                    yield node.name, given.get("frozen") == "True"


def test_a_class_with_declared_fields_is_a_record_or_says_what_else() -> None:
    for source in modules():
        for node in source.nodes:
            if not isinstance(node, ast.ClassDef) or node.bases:
                continue
            fields = [item for item in node.body if isinstance(item, ast.AnnAssign)]
            declared = [item for item in fields if "ClassVar" not in ast.unparse(item.annotation)]
            marks = [ast.unparse(decorator) for decorator in node.decorator_list]
            assert not declared or any(mark.startswith("dataclass") for mark in marks), node.name


def test_records_are_frozen() -> None:
    changing = {name for name, frozen in _dataclasses() if not frozen}
    assert changing == CHANGING
