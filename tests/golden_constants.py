"""The numbers that the models and views are built on, by module and name, as text kept in
tests/golden/constants.json: how many trials, which tolerance, which edge; what a field of a record, a
parameter or a key of a file is by default; to how many digits a function rounds. Most results stay the same
when one of them is off by one, so each is kept here.

After a change that is meant, look at the difference that this makes:

    PYTHONPATH=src:tests .venv/bin/python tests/golden_constants.py && git diff tests/golden/constants.json
"""

from __future__ import annotations

import ast
import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from goldens import frozen
from goldens.text import digest, plain
from motecrypt.studies.words import read_words

ROOT = Path(__file__).parents[1]
PLACE = Path(__file__).parent / "golden" / "constants.json"
COMMAND = "PYTHONPATH=src:tests .venv/bin/python tests/golden_constants.py"
ROOMS = (
    "adviser",
    "air/radios",
    "air/wlan",
    "app",
    "attack/audits",
    "attack/leakage",
    "base",
    "build/toolchain",
    "catalog",
    "exports",
    "gate",
    "measuring",
    "present",
    "results",
    "simulate",
)
LONG = 2000
"""Of a longer table a digest is kept."""


def sources() -> list[Path]:
    """The sources whose constants are kept: of the studies, those of the goldens."""
    package = ROOT / "src" / "motecrypt"
    rooms = [*ROOMS, *(f"studies/{name}" for name in frozen.folders())]
    found = [path for room in rooms for path in (package / room).rglob("*.py")]
    found += (package / "studies").glob("*.py")
    found += [package / "data" / "studies" / f"{name}.toml" for name in frozen.folders()]
    found = [path for path in found if path.exists()]
    return sorted(found)


def names(path: Path) -> Iterator[str]:
    """The constants of a module that have a number in them."""
    for node in ast.parse(path.read_text()).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if not isinstance(node, ast.Assign | ast.AnnAssign) or value is None:
            continue
        numbers = [each.value for each in ast.walk(value) if isinstance(each, ast.Constant)]
        if not any(isinstance(each, int | float) and not isinstance(each, bool) for each in numbers):
            continue
        for target in targets:
            for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(each, ast.Name) and each.id.isupper():
                    yield each.id


def constants(path: Path) -> dict[str, Any]:
    """Their values; of the words of a study what each row was published with and is judged by."""
    if path.suffix == ".toml":
        rows = read_words(path).rows
        judged = {
            name: [row[key] for key in ("published", "expected", "tolerance")] for name, row in rows.items()
        }
        return {name: plain(values) for name, values in judged.items() if values != [None] * 3}
    found, given = list(names(path)), defaults(path) | keys(path) | digits(path)
    if not found:
        return given
    module = path.relative_to(ROOT / "src").with_suffix("").as_posix().replace("/", ".")
    loaded = importlib.import_module(module.removesuffix(".__init__"))
    return {name: plain(getattr(loaded, name)) for name in found} | given


def defaults(path: Path) -> dict[str, Any]:
    """The numbers, True and False that fields of records and parameters have by default: `Record.field` and
    `function(parameter)`."""
    found: dict[str, ast.expr | None] = {}

    def visit(node: ast.AST, inside: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                given = child.args
                own = [*given.posonlyargs, *given.args]
                last = [*own[len(own) - len(given.defaults) :], *given.kwonlyargs]
                pairs = zip(last, [*given.defaults, *given.kw_defaults], strict=True)
                found.update({f"{inside}{child.name}({each.arg})": value for each, value in pairs})
                visit(child, f"{inside}{child.name}.")
            elif isinstance(child, ast.ClassDef):
                fields = (each for each in child.body if isinstance(each, ast.AnnAssign))
                found.update(
                    {f"{inside}{child.name}.{ast.unparse(each.target)}": each.value for each in fields}
                )
                visit(child, f"{inside}{child.name}.")
            else:
                visit(child, inside)

    visit(ast.parse(path.read_text()), "")
    numbers: dict[str, Any] = {}
    for name, value in found.items():
        number = value.operand if isinstance(value, ast.UnaryOp) else value
        if isinstance(number, ast.Constant) and isinstance(number.value, int | float) and value is not None:
            numbers[name] = ast.literal_eval(value)
    return numbers


def keys(path: Path) -> dict[str, float]:
    """What a key of a file is where it is not given: `key name in function`."""
    found: dict[str, float] = {}
    for function in ast.walk(ast.parse(path.read_text())):
        for node in ast.walk(function) if isinstance(function, ast.FunctionDef) else ():
            if not isinstance(node, ast.Call) or len(node.args) != 2:
                continue
            key, value = node.args
            reads = isinstance(node.func, ast.Attribute) and node.func.attr in ("flag", "integer", "number")
            if not reads or not isinstance(key, ast.Constant) or not isinstance(value, ast.Constant):
                continue
            if isinstance(value.value, int | float):
                found[f"key {key.value} in {function.name}"] = value.value
    return found


def digits(path: Path) -> dict[str, list[int]]:
    """To how many digits each function rounds, in its order: `round in function`."""
    found: dict[str, list[int]] = {}
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef):
            calls = [
                node for node in ast.walk(function) if isinstance(node, ast.Call) and len(node.args) == 2
            ]
            rounded = [call.args[1] for call in calls if ast.unparse(call.func) == "round"]
            places = [(each.lineno, each.value) for each in rounded if isinstance(each, ast.Constant)]
            if places:
                found.setdefault(f"round in {function.name}", []).extend(
                    int(str(value)) for _, value in sorted(places)
                )
    return found


def _named(value: object) -> str:
    """A function or another thing that is no figure: by its name."""
    return getattr(value, "__name__", type(value).__name__)


def _short(value: str) -> str:
    return value if len(value) < LONG else json.dumps(digest(value))


def written() -> str:
    """Every module's, a line for each constant."""
    rooms = []
    for path in sources():
        own = [
            f'  "{name}": {_short(json.dumps(value, ensure_ascii=False, default=_named))}'
            for name, value in constants(path).items()
        ]
        if own:
            where = path.relative_to(ROOT / "src" / "motecrypt").as_posix()
            rooms.append(f'"{where}": {{\n' + ",\n".join(own) + "\n}")
    return "{\n" + ",\n".join(rooms) + "\n}\n"


if __name__ == "__main__":
    PLACE.write_text(written())
