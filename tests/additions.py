"""A copy of the tree with one more of each kind, to show that adding something changes no test.

    PYTHONPATH=src:tests .venv/bin/python tests/additions.py [PYTEST ARGUMENT]...

runs the tests in the copy: `tests/golden` without arguments. The additions are the examples, put where
docs/adding.md says, and an ARM device that is a copy of one of ours.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src") / "motecrypt"
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache", "node_modules"
)
#: What is added, by its place in the package: from the root of the tree.
ADDED = {
    "firmware/ciphers/xtea": "examples/xtea",
    "firmware/publickey/toydh": "examples/toydh",
    "firmware/libraries/mylibrary": "examples/mylibrary",
    "firmware/devices/own-mega": "examples/mega",
    "firmware/devices/own-arm": "src/motecrypt/firmware/devices/stm32l1",
    "data/radios/rfm69.toml": "examples/rfm69.toml",
    "data/toolchains/own-gcc.toml": "src/motecrypt/data/toolchains/gcc-14.toml",
    "studies/own_calls": "examples/study",
}
OWN_DEVICE = "Catalog.load(devices=[Path(__file__).resolve().parents[1] / LARGE])"


def copy(place: Path) -> Path:
    """The tree at that place; its packages as they are."""
    shutil.copytree(ROOT, place, ignore=LEFT_OUT, symlinks=True)
    return place


def add(place: Path, target: str) -> None:
    """One of `ADDED` to the tree at that place."""
    taken, where = ROOT / ADDED[target], place / PACKAGE / target
    if taken.is_dir():
        shutil.copytree(taken, where, ignore=LEFT_OUT)
    else:
        shutil.copy(taken, where)
    if target.startswith("studies/"):
        text = (where / "plan.py").read_text()
        assert OWN_DEVICE in text
        text = text.replace(OWN_DEVICE, "Catalog.load()").replace("from pathlib import Path\n\n", "")
        text = text.replace('"mega"', '"mega2560"')
        (where / "plan.py").write_text(text)


def main(arguments: list[str]) -> int:
    """Run pytest in a copy."""
    with tempfile.TemporaryDirectory(prefix="motecrypt-additions.") as scratch:
        place = copy(Path(scratch) / "tree")
        for target in ADDED:
            add(place, target)
        asked = arguments or ["tests/golden"]
        command = [sys.executable, "-P", "-m", "pytest", "-p", "no:cacheprovider", "-q", *asked]
        paths = os.pathsep.join(str(place / name) for name in ("src", "tests"))
        return subprocess.run(
            command, cwd=place, env={**os.environ, "PYTHONPATH": paths}, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
