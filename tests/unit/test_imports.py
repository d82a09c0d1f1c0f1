"""Who may know whom (docs/design.md), over every import in the package."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "motecrypt"

PURE = ("radios", "energy", "advise", "compare", "model", "descriptor")
#: Modules of directories that are pure except for one folder that runs programs.
RUNS = PACKAGE / "audits" / "runs"
OUTSIDE_WORLD = {"serial", "subprocess", "sqlite3", "socket", "pty", "termios"}

#: directory -> our directories that it must not import
FORBIDDEN = {
    "runners": {"results", "report", "bench", "studies", "experiments", "audits"},
    "emulate": {"results", "report", "bench", "studies", "experiments", "audits"},
    "callgraph": {"results", "report", "bench", "studies", "experiments", "audits", "runners"},
    "report": {"runners", "toolchain", "bench", "emulate", "experiments"},
    "pages": {"runners", "toolchain", "bench", "experiments", "results"},
    "studies": {"toolchain", "runners", "emulate", "bench", "experiments"},
    "studies.needs": {"toolchain", "runners", "emulate"},
    "findings": {"toolchain", "runners", "emulate", "bench", "experiments", "studies"},
    "advise": {"results", "bench", "toolchain", "runners"},
    "compare": {"bench", "toolchain", "runners"},
    "gate": {
        "results",
        "bench",
        "toolchain",
        "runners",
        "emulate",
        "report",
        "studies",
        "experiments",
        "audits",
    },
    "publickey": {"results", "bench", "toolchain", "runners", "report", "studies", "experiments", "audits"},
    "records": {"results", "bench", "toolchain", "runners", "report", "studies", "experiments", "audits"},
    "radios": {"results", "bench", "toolchain", "runners", "ports", "link"},
    "audits": {"results", "bench", "toolchain", "runners"},
    "catalog": {"results", "bench", "toolchain", "runners", "studies", "experiments"},
    "results": {"bench", "toolchain", "runners"},
    "toolchain": {"results", "bench", "runners", "experiments", "studies"},
    "export": {"bench", "runners", "emulate", "experiments", "studies", "audits", "report", "advise"},
    "bundle": {"bench", "toolchain", "runners", "emulate", "experiments", "audits"},
    "bench": {"experiments", "studies", "audits", "report", "advise"},
}


def _modules() -> list[Path]:
    return [p for p in PACKAGE.rglob("*.py") if "firmware" not in p.parts]


def _room(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0].removesuffix(".py")


def _dotted(path: Path) -> str:
    return ".".join(("motecrypt", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _modules_imported(path: Path, known: set[str]) -> set[str]:
    """The modules of ours that a file imports: of `from a import b`, a.b where that is a module, else a."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in known else node.module)
    return found & known


def _rooms_imported(path: Path) -> set[str]:
    return {name.split(".")[1] for name in _imports(path) if name.startswith("motecrypt.")}


@pytest.mark.parametrize("path", _modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_keep_to_the_rooms(path: Path) -> None:
    room = _room(path)
    imported = _rooms_imported(path)
    if room == "model":
        assert not imported, "model imports nothing of ours"
    if room not in ("cli", "__main__"):
        assert "cli" not in imported, "only cli imports cli"
    if RUNS in path.parents:
        room = "audits.runs"
    if room == "studies" and path.name == "needs.py":
        room = "studies.needs"
    if room in (*PURE, "audits"):
        outside = {name.split(".")[0] for name in _imports(path)} & OUTSIDE_WORLD
        assert not outside, f"{room} is pure"
    assert not imported & FORBIDDEN.get(room, set()), f"{room} must not know these"


def test_every_listed_room_exists() -> None:
    rooms = {_room(path) for path in _modules()}
    assert {name.partition(".")[0] for name in FORBIDDEN} <= rooms


def test_views_reach_nothing_that_measures() -> None:
    """Not even through others: a stored figure is shown without any compiler, simulator or kit."""
    names = {_dotted(path): path for path in _modules()}
    graph = {name: _modules_imported(path, set(names)) for name, path in names.items()}
    views = [
        name
        for name in names
        if name.split(".")[1:2]
        in (
            ["studies"],
            ["report"],
            ["advise"],
            ["compare"],
            ["records"],
            ["gate"],
            ["results"],
            ["findings"],
        )
        and not name.endswith(".needs")
    ]
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
            if name.split(".")[1:2] in (["bench"], ["toolchain"], ["runners"], ["emulate"], ["experiments"])
            or name.startswith("motecrypt.audits.runs")
            or name.endswith(".needs")
        }
        assert not makers, f"{view} reaches {sorted(makers)}"


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
