"""Every constant and every default is what tests/golden/constants.json keeps; no zip cuts short unseen."""

from __future__ import annotations

import ast
import json

import golden_constants

#: Where sequences of unequal length are meant: the rest of the longer one is left.
UNEQUAL = {
    "audits/timing.py: _first_difference",
    "bench/passes.py: _difference",
    "cli/radio.py: command",
    "studies/rf/claims.py: _of_the_print",
}


def test_constants_and_defaults_are_as_decided() -> None:
    """Those that are new or gone do not matter: the next one to write the file anew takes them in."""
    kept, said = json.loads(golden_constants.PLACE.read_text()), json.loads(golden_constants.written())
    changed = [
        f"{path}: {name}: {values[name]}, now {said[path][name]}"
        for path, values in kept.items()
        for name in values
        if name in said.get(path, {}) and said[path][name] != values[name]
    ]
    assert not changed, f"if this is meant, run: {golden_constants.COMMAND}"


def test_sequences_side_by_side_are_of_one_length_but_where_it_is_meant() -> None:
    found = set()
    for path in sorted(golden_constants.PACKAGE.rglob("*.py")):
        if "firmware" in path.parts or "zip(" not in path.read_text():
            continue
        local = path.relative_to(golden_constants.PACKAGE).as_posix()
        tree = ast.parse(path.read_text())
        for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "zip":
                    strict = {k.arg: ast.unparse(k.value) for k in node.keywords}.get("strict")
                    if strict != "True":
                        found.add(f"{local}: {function.name}")
    assert found == UNEQUAL
