"""Exported libraries in a sketchbook, and their examples built by Arduino's own builder.

arduino-builder 1.3.25 with Debian's core needs its own `hardware` folder next to Arduino's, a folder to build
in, and DECIMAL_DIG, which gcc-avr 5.4 has in C alone and the core's WString.cpp uses.
"""

from __future__ import annotations

from pathlib import Path

from motecrypt.base import process
from motecrypt.exports.library import Export

HARDWARE = ("/usr/share/arduino/hardware", "/usr/share/arduino-builder")


class Sketchbook:
    """A folder with `libraries`, and builds of their examples."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._builds = 0

    def build(self, planned: Export, example: str, board: str, *, lto: bool = True) -> Path:
        """The ELF of an example, by the flags of Arduino's platform.txt; C perhaps without LTO."""
        self._builds += 1
        made = self.folder / f"build{self._builds}"
        made.mkdir()
        (self.folder / "cache").mkdir(exist_ok=True)
        sketch = self.folder / "libraries" / planned.name / "examples" / example / f"{example}.ino"
        command = ["arduino-builder", "-compile", "-fqbn", f"arduino:avr:{board}", "-build-path", made]
        command += [word for folder in HARDWARE for word in ("-hardware", folder)]
        command += [
            "-tools",
            "/usr/bin",
            "-libraries",
            self.folder / "libraries",
            "-build-cache",
            self.folder / "cache",
        ]
        command += ["-built-in-libraries", f"{HARDWARE[0]}/arduino/avr/libraries", "-warnings", "all"]
        command += ["-prefs=compiler.cpp.extra_flags=-DDECIMAL_DIG=__DECIMAL_DIG__"]
        command += [] if lto else ["-prefs=compiler.c.extra_flags=-fno-lto"]
        outcome = process.run([*command, sketch], timeout_s=300)
        assert outcome.ok, outcome.output + outcome.errors
        ours = [
            line for line in outcome.errors.splitlines() if str(self.folder) in line and "warning" in line
        ]
        assert not ours, ours
        return made / f"{example}.ino.elf"
