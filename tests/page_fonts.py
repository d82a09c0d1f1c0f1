"""The fonts of the tests' browser: DejaVu alone, from Debian's package, on every machine."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path("/usr/share/fonts/truetype/dejavu")
PACKAGE = "fonts-dejavu-core"
FILES = tuple(f"DejaVu{face}{bold}.ttf" for face in ("Sans", "SansMono", "Serif") for bold in ("", "-Bold"))
#: What pages ask for, and what they get. For a class of fonts Chromium asks for Arial or Times New Roman.
_GIVEN = {
    "sans-serif": "DejaVu Sans",
    "system-ui": "DejaVu Sans",
    "Arial": "DejaVu Sans",
    "serif": "DejaVu Serif",
    "Times New Roman": "DejaVu Serif",
    "monospace": "DejaVu Sans Mono",
    "Monospace": "DejaVu Sans Mono",
}
_ALIAS = "<alias binding='same'><family>{}</family><prefer><family>{}</family></prefer></alias>"
#: Letters are drawn as on a Debian without a desktop's settings.
_CONFIGURATION = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>{folder}</dir>
  <cachedir>{cache}</cachedir>
  {aliases}
  <selectfont>
    <rejectfont><glob>*</glob></rejectfont>
    <acceptfont>{accepted}</acceptfont>
  </selectfont>
  <match target="pattern">
    <edit name="antialias" mode="assign"><bool>true</bool></edit>
    <edit name="hinting" mode="assign"><bool>true</bool></edit>
    <edit name="hintstyle" mode="assign"><const>hintslight</const></edit>
    <edit name="rgba" mode="assign"><const>none</const></edit>
  </match>
</fontconfig>
"""


def missing() -> str:
    """Which of the fonts is not installed; empty when all are."""
    return next((name for name in FILES if not (FOLDER / name).is_file()), "")


def environment(folder: Path) -> dict[str, str]:
    """What a browser's environment adds, with the files of fontconfig in a folder."""
    text = _CONFIGURATION.format(
        folder=FOLDER,
        cache=folder / "cache",
        aliases="".join(_ALIAS.format(asked, given) for asked, given in _GIVEN.items()),
        accepted="".join(f"<glob>{FOLDER / name}</glob>" for name in FILES),
    )
    (folder / "fonts.conf").write_text(text)
    return {"FONTCONFIG_FILE": str(folder / "fonts.conf")}
