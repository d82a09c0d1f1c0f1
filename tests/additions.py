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
#: What is added: from the root of the tree, to the package's folder.
ADDED = {
    "examples/xtea": "firmware/ciphers/xtea",
    "examples/toydh": "firmware/publickey/toydh",
    "examples/mylibrary": "firmware/libraries/mylibrary",
    "examples/mega": "firmware/devices/mega",
    "src/motecrypt/firmware/devices/stm32l1": "firmware/devices/another-arm",
    "examples/rfm69.toml": "data/radios/rfm69.toml",
    "examples/study": "studies/calls",
}


def copy(place: Path) -> Path:
    """The tree at that place, with the additions; its packages as they are."""
    shutil.copytree(ROOT, place, ignore=LEFT_OUT, symlinks=True)
    for source, target in ADDED.items():
        taken, where = ROOT / source, place / PACKAGE / target
        if taken.is_dir():
            shutil.copytree(taken, where, ignore=LEFT_OUT)
        else:
            shutil.copy(taken, where)
    plan = place / PACKAGE / "studies" / "calls" / "plan.py"
    own = "Catalog.load(devices=[Path(__file__).resolve().parents[1] / LARGE])"
    text = plan.read_text()
    assert own in text
    plan.write_text(text.replace(own, "Catalog.load()").replace("from pathlib import Path\n\n", ""))
    return place


def main(arguments: list[str]) -> int:
    """Run pytest in a copy."""
    with tempfile.TemporaryDirectory(prefix="motecrypt-additions.") as scratch:
        place = copy(Path(scratch) / "tree")
        asked = arguments or ["tests/golden"]
        command = [sys.executable, "-P", "-m", "pytest", "-p", "no:cacheprovider", "-q", *asked]
        paths = os.pathsep.join(str(place / name) for name in ("src", "tests"))
        return subprocess.run(
            command, cwd=place, env={**os.environ, "PYTHONPATH": paths}, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
