"""A house rule: an option of Python's library that has one sensible value has it everywhere."""

from __future__ import annotations

import ast

from lint.sources import everything

USUAL = {
    "sort_keys": True,  # of JSON: the same text for equal records
    "ensure_ascii": False,
    "allow_nan": False,  # JSON has neither
    "missing_ok": True,
    "exist_ok": True,
    "parents": True,
    "ignore_errors": True,
    "cancel_futures": True,
    "daemon": True,
    "text": True,
    "capture_output": True,
    "check": False,  # our code looks at the code itself
    "break_on_hyphens": False,
    "trim_blocks": True,
    "lstrip_blocks": True,
    "slots": True,
    "flush": True,
    "shell": False,
}


def test_each_option_has_its_value() -> None:
    others, seen = [], set()
    for source in everything():
        for node in source.nodes:
            if not isinstance(node, ast.Call):
                continue
            for given in node.keywords:
                if given.arg in USUAL and isinstance(given.value, ast.Constant):
                    seen.add(given.arg)
                    if isinstance(given.value.value, bool) and given.value.value is not USUAL[given.arg]:
                        others.append(f"{source.place.as_posix()}:{node.lineno}: {given.arg}")
    assert not others and seen > {"sort_keys", "ensure_ascii", "missing_ok"}
