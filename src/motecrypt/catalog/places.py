"""Where the package keeps what it ships."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
FIRMWARE = PACKAGE / "firmware"
DATA = PACKAGE / "data"
