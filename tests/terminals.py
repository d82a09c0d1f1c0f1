"""Programs of a page of the docs that run side by side, as in terminals."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEADLINE_S = 240


class Terminals:
    """Programs that run side by side in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, words: list[str]) -> Path:
        """Start a command; the file that has what it says."""
        said = self.folder / f"said{len(self.running)}"
        python = [sys.executable, "-u", "-m", "motecrypt"]
        with said.open("wb") as out:
            self.running.append(
                subprocess.Popen(
                    [*python, *words[1:]] if words[0] == "./motecrypt" else words,
                    cwd=self.folder,
                    env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "MOTECRYPT_DB": "r.db"},
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                )
            )
        return said

    def finish(self, words: list[str]) -> str:
        """Run a command to its end."""
        said = self.start(words)
        assert self.running.pop().wait(DEADLINE_S) == 0, said.read_text()
        return said.read_text()

    def until(self, condition: Callable[[], object]) -> None:
        """Wait, while all are running."""
        end = time.monotonic() + DEADLINE_S
        while not condition():
            told = [path.read_text(errors="replace") for path in self.folder.glob("said*")]
            assert time.monotonic() < end and all(each.poll() is None for each in self.running), told
            time.sleep(0.05)

    def close(self) -> None:
        """End them, the last one first."""
        for each in reversed(self.running):
            each.terminate()
            each.wait(DEADLINE_S)
