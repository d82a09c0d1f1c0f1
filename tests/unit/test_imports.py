"""Who may know whom (docs/design.md), over every import in the package."""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "motecrypt"

ROOMS: dict[str, list[str]] = tomllib.loads((PACKAGE.parents[1] / "tests" / "rooms.toml").read_text())[
    "rooms"
]
PURE = (
    *("adviser", "adviser.publickey", "adviser.records", "air", "air.radios", "attack.audits", "base.energy"),
    *("base.model", "base.descriptor", "present.compare", "studies"),
)
OUTSIDE_WORLD = {"serial", "subprocess", "sqlite3", "socket", "pty", "termios"}
#: No package, however deep, of these is reached by a view.
MAKERS = ("build", "measuring", "simulate.runners", "simulate.callgraph", "simulate.ports")
VIEWS = ("adviser", "gate", "present.compare", "present.report", "present.terminal", "results", "studies")


def _modules() -> list[Path]:
    return [p for p in PACKAGE.rglob("*.py") if "firmware" not in p.parts]


def _row(name: str) -> str:
    """The row of a module or package, such as `air.radios` for motecrypt.air.radios.levels."""
    parts = name.split(".")[1:]
    return next(
        (row for n in range(len(parts), 0, -1) if (row := ".".join(parts[:n])) in ROOMS), ".".join(parts)
    )


def _may(row: str) -> set[str]:
    listed = ROOMS[row]
    wide = tuple(f"{name.removesuffix('.*')}." for name in listed if name.endswith(".*"))
    return {row, *listed, *(each for each in ROOMS if f"{each}.".startswith(wide))}


@cache
def _nodes(path: Path) -> tuple[ast.AST, ...]:
    """All of a module's syntax, read only once."""
    return tuple(ast.walk(ast.parse(path.read_text())))


def _dotted(path: Path) -> str:
    return ".".join(("motecrypt", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _modules_imported(path: Path, known: set[str]) -> set[str]:
    """The modules of ours that a file imports: of `from a import b`, a.b where that is a module, else a."""
    found: set[str] = set()
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in known else node.module)
    return found & known


def test_every_import_is_listed() -> None:
    """In packages.toml, where a new package needs a row; and no row lists what is not imported."""
    names = {_dotted(path): path for path in _modules()}
    used: dict[str, set[str]] = {row: set() for row in ROOMS}
    wrong = []
    for name, path in names.items():
        if name in ("motecrypt", "motecrypt.__main__"):
            continue
        row = _row(name)
        assert row in ROOMS, f"{name}: write a row for its package in tests/rooms.toml"
        for found in _modules_imported(path, set(names)) - {"motecrypt"}:
            used[row].add(_row(found))
            if _row(found) not in _may(row):
                wrong.append(
                    f"{name} imports {found}; tests/rooms.toml does not list {_row(found)} for {row}"
                )
    assert not wrong, "\n".join(wrong)
    unused = {
        row: left
        for row, listed in ROOMS.items()
        if (left := {name for name in listed if not name.endswith(".*")} - used[row])
    }
    assert not unused, f"tests/rooms.toml lists what nothing imports: {unused}"


def test_pure_rooms_do_not_touch_the_world() -> None:
    for path in _modules():
        if _row(_dotted(path)) in PURE or _dotted(path).removeprefix("motecrypt.") in PURE:
            outside = {name.split(".")[0] for name in _imports(path)} & OUTSIDE_WORLD
            assert not outside, f"{path}: {outside}"


def test_views_reach_nothing_that_measures() -> None:
    """Not even through others: a stored figure is shown without any compiler, simulator or tool set."""
    names = {_dotted(path): path for path in _modules()}
    graph = {name: _modules_imported(path, set(names)) for name, path in names.items()}
    inside = tuple(f"{view}." for view in VIEWS)
    views = [name for name in names if f"{_row(name)}.".startswith(inside) and not name.endswith(".needs")]
    assert len(views) > 30
    for view in views:
        reached: set[str] = set()
        ahead = [view]
        while ahead:
            name = ahead.pop()
            if name not in reached:
                reached.add(name)
                ahead += graph[name]
        makers = {
            name
            for name in reached
            if f"{name}.".startswith(tuple(f"motecrypt.{maker}." for maker in MAKERS))
            or name.endswith(".needs")
        }
        assert not makers, f"{view} reaches {sorted(makers)}"


def test_the_house_is_as_small_as_it_was() -> None:
    """Packages at the top of src/motecrypt, and arrows: one package there that imports another."""
    names = {_dotted(path): path for path in _modules()}
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    arrows = {
        (one, other)
        for name, path in names.items()
        for found in _modules_imported(path, set(names))
        if (one := _top(name)) in packages and (other := _top(found)) in packages and one != other
    }
    assert len(packages) <= 20, sorted(packages)
    assert len(arrows) < 100, sorted(arrows)
    rows = {one: {other for first, other in arrows if first == one} for one in packages}
    while free := {one for one, others in rows.items() if not others & set(rows)}:
        rows = {one: others for one, others in rows.items() if one not in free}
    assert not rows, f"a circle among {sorted(rows)}"


def _top(name: str) -> str:
    return [*name.split("."), ""][1]


def test_no_room_is_a_hall() -> None:
    """Few loose modules next to the directories, and no overlong module."""
    loose = [p.name for p in PACKAGE.glob("*.py")]
    assert len(loose) <= 10, loose
    long = [p for p in _modules() if len(p.read_text().splitlines()) > 500]
    assert not long, long


def test_no_two_classes_share_a_name() -> None:
    places: dict[str, list[str]] = {}
    for path in _modules():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_no_circles() -> None:
    """Data flow one way: following imports never leads back, type-only imports included."""
    names = {_dotted(path): path for path in _modules()}
    graph = {
        name: {found for found in _modules_imported(path, set(names)) if found != name}
        for name, path in names.items()
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail[trail.index(name) :], name))
        if name in done:
            return
        for found in sorted(graph[name]):
            visit(found, (*trail, name))
        done.add(name)

    for name in sorted(graph):
        visit(name, ())


def test_ciphers_never_include_the_hal() -> None:
    for folder in ("ciphers", "modes", "libraries"):
        for source in (PACKAGE / "firmware" / folder).rglob("*.[ch]"):
            assert '"hal.h"' not in source.read_text(errors="replace"), source


def test_test_files_have_names_of_their_own() -> None:
    """pytest imports each by its name alone: of two with one name it collects one."""
    names = [path.name for path in (PACKAGE.parents[1] / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
