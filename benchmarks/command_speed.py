"""What commands that only read cost, next to an empty Python program.

Thresholds, in processor time and as ratios within one run: `--help` at most 8 times, `list ciphers` 20 times
and `advise` with all candidates stored 50 times what `python -c pass` takes; writing the report at most 30
times what `list ciphers` takes; Chromium opens the report for at most 4 times an empty page's time (left out
where it is not installed). The median of several rounds in which all take turns.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from motecrypt.results import Results  # noqa: E402
from report_data import fill  # noqa: E402

ROUNDS = 5
TIMEOUT_S = 120.0
ADVISE = [
    *("advise", "--device", "uno", "--radio", "srf", "--bytes", "20", "--every", "10s", "--battery", "3xAA"),
    "--json",
]
CHROMIUM = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
HEADLESS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]


def main() -> int:
    """Time all, print the ratios, and say whether the thresholds hold."""
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as name:
        folder = Path(name)
        with Results(folder / "filled.db") as results:
            fill(results)
        report = folder / "report.html"
        (folder / "empty.html").write_text("<!doctype html><title>empty</title>")
        ours = [sys.executable, "-P", "-m", "motecrypt"]
        commands = {
            "pass": [sys.executable, "-P", "-c", "pass"],
            "help": [*ours, "--help"],
            "list": [*ours, "list", "ciphers"],
            "advise": [*ours, *ADVISE, "--db", str(folder / "advise.db")],
            "report": [*ours, "report", "-o", str(report), "--db", str(folder / "filled.db")],
        }
        if CHROMIUM is None:
            print("Chromium is not installed: opening the report is left out")
        else:
            for what, page in (("empty page", folder / "empty.html"), ("open report", report)):
                # Virtual time lets scripts come to their end, however slow the machine is.
                ending = ["--virtual-time-budget=5000", "--dump-dom", page.as_uri()]
                commands[what] = [CHROMIUM, *HEADLESS, f"--user-data-dir={folder / 'profile'}", *ending]
        for command in commands.values():
            _processor_s(command, folder)  # builds and measures what is not there yet
        took: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                took[name].append(_processor_s(command, folder))
    median = {name: statistics.median(each) for name, each in took.items()}
    limits = (
        ("help", "pass", 8.0),
        ("list", "pass", 20.0),
        ("advise", "pass", 50.0),
        ("report", "list", 30.0),
    )
    held = [_held(median, name, base, limit) for name, base, limit in limits]
    if CHROMIUM is not None:
        held.append(_held(median, "open report", "empty page", 4.0))
    return 0 if all(held) else 1


def _held(median: dict[str, float], name: str, base: str, threshold: float) -> bool:
    ratio = median[name] / median[base]
    print(
        f"{name}: {ratio:.2f} times '{base}', which takes {median[base]:.3f} s (at most {threshold:g} wanted)"
    )
    return ratio <= threshold


def _processor_s(command: list[str], folder: Path) -> float:
    """The processor time that a command and its children take, in seconds."""
    before = os.times()
    done = subprocess.run(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=TIMEOUT_S,
        check=False,
        env={**os.environ, "HOME": str(folder)} if command[0] == CHROMIUM else None,
    )
    after = os.times()
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command[:4])} failed: {done.stderr.decode(errors='replace').strip()}")
    return after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    sys.exit(main())
