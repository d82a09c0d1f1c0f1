"""Who may know whom (docs/design.md), over every import in the package."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "motecrypt"

PURE = ("radios", "energy", "audits", "advise", "compare", "protocol", "model", "descriptor", "inputs")
OUTSIDE_WORLD = {"serial", "subprocess", "sqlite3", "socket", "pty", "termios"}

#: room -> rooms of ours that it must not import
FORBIDDEN = {
    "runners": {"results", "report", "bench", "studies", "experiments"},
    "report": {"runners", "build", "bench"},
    "studies": {"build", "runners", "native"},
    "advise": {"results", "bench", "build", "runners"},
    "compare": {"bench", "build", "runners"},
    "radios": {"results", "bench", "build", "runners", "ports", "link"},
    "audits": {"results", "bench", "build", "runners", "native"},
    "results": {"bench", "build", "runners"},
    "build": {"results", "bench", "runners", "experiments", "studies"},
}


def _modules() -> list[Path]:
    return [p for p in PACKAGE.rglob("*.py") if "firmware" not in p.parts]


def _room(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0].removesuffix(".py")


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


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
    if room in PURE:
        outside = {name.split(".")[0] for name in _imports(path)} & OUTSIDE_WORLD
        assert not outside, f"{room} is pure"
    assert not imported & FORBIDDEN.get(room, set()), f"{room} must not know these"


def test_every_listed_room_exists() -> None:
    rooms = {_room(path) for path in _modules()}
    assert {"runners", "results", "build", "studies"} <= rooms


def test_ciphers_never_include_the_hal() -> None:
    for folder in ("ciphers", "modes", "libraries"):
        for source in (PACKAGE / "firmware" / folder).rglob("*.[ch]"):
            assert '"hal.h"' not in source.read_text(errors="replace"), source
