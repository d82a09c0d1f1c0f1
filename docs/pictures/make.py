"""Draws the pictures of README and docs again: `python docs/pictures/make.py [PICTURE]...`.

`answer` and `session` are SVG files of what commands print, `report` and `explorer` PNG files of a window.
The first two need the tool sets of the commands, the others also the tool set "browser" and Pillow.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
COLUMNS = 100
ANSWER = (
    "motecrypt advise --device uno --radio srf --bytes 20 --every 10s --battery 3xAA "
    "--cipher ascon-aead128 --cipher aes128-ccm8"
)
SESSION = "motecrypt demo"
REPORTED = ("motecrypt reproduce", "motecrypt report -o report.html")
EXPLORED = (
    "motecrypt measure --device uno --device pico --cipher ascon-aead128 --cipher aes128-ccm8 "
    "--cipher chacha20-poly1305 --cipher rc4d --cipher aes128-cbc --library motecrypt --bytes 16,32,64",
    "motecrypt report -o report.html",
)
EXPLORER = "#explorer?x=flash&y=time&security=recommended,acceptable,legacy,broken"
WINDOW = {"width": 1100, "height": 800}
BYTES_MAX = 150_000
TIMEOUT_S = 1200
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")


def printed(command: str, folder: Path, environment: dict[str, str] | None = None) -> str:
    """What a command prints on standard output, with its colours."""
    words = shlex.split(command)[1:]
    paths = os.pathsep.join((str(ROOT / "src"), os.environ.get("PYTHONPATH", "")))
    colours = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    own = {"PYTHONPATH": paths, "MOTECRYPT_DB": str(folder / "results.db")}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "motecrypt", *words],
        cwd=folder,
        env={**(environment or os.environ), **colours, **own},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        timeout=TIMEOUT_S,
        check=True,
    )
    return done.stdout.decode()


def drawn(command: str, output: str) -> str:
    """A terminal that shows a command and what it printed, as SVG without fonts from elsewhere."""
    from rich.console import Console
    from rich.text import Text

    shown = Text.from_ansi(f"\x1b[1m$ {command}\x1b[0m\n{output.rstrip()}")
    console = Console(record=True, width=COLUMNS, file=StringIO())
    console.print(shown)
    svg = console.export_svg(title="motecrypt", unique_id="motecrypt")
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    return re.sub(r"[ \t]+$", "", svg.replace("Fira Code", "DejaVu Sans Mono"), flags=re.MULTILINE)


def answer(folder: Path) -> None:
    """The adviser's answer."""
    write("answer.svg", drawn(ANSWER, printed(ANSWER, folder)).encode())


def session(folder: Path) -> None:
    """The demo, from a choice to readings at a gateway."""
    write("session.svg", drawn(SESSION, printed(SESSION, folder)).encode())


def report(folder: Path) -> None:
    """The top of the report in a browser."""
    for command in REPORTED:
        printed(command, folder)
    write("report.png", shot(folder / "report.html"))


def explorer(folder: Path) -> None:
    """The report's explorer in a browser."""
    for command in EXPLORED:
        printed(command, folder)
    write("explorer.png", shot(folder / "report.html", EXPLORER, "#explorer-plot svg", "#explorer"))


def shot(page_file: Path, address: str = "", seen: str = "body", top: str = "body") -> bytes:
    """A window of a page from an element on, when something can be seen in it."""
    from playwright.sync_api import sync_playwright

    program = next(path for name in ("chromium", "chromium-browser") if (path := shutil.which(name)))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": WINDOW["width"], "height": WINDOW["height"]})
        page.goto(page_file.as_uri() + address)
        page.wait_for_load_state("networkidle")
        page.wait_for_selector(seen, timeout=120_000)
        page.evaluate("top => document.querySelector(top).scrollIntoView()", top)
        page.wait_for_timeout(500)
        picture = page_file.with_suffix(".png")
        page.screenshot(path=picture, timeout=120_000)
        browser.close()
    return smaller(picture)


def smaller(path: Path) -> bytes:
    """A screenshot with 64 colours, which is a third of the size."""
    from PIL import Image

    with Image.open(path) as image:
        target = BytesIO()
        image.convert("RGB").quantize(64).save(target, "PNG", optimize=True)
    return target.getvalue()


def write(name: str, content: bytes) -> None:
    """Replace a picture, which must stay small."""
    if len(content) > BYTES_MAX:
        raise SystemExit(f"{name}: {len(content):,} bytes; at most {BYTES_MAX:,}")
    (FOLDER / name).write_bytes(content)
    print(f"{FOLDER / name}: {len(content):,} bytes")


PICTURES: dict[str, Callable[[Path], None]] = {
    "answer": answer,
    "session": session,
    "report": report,
    "explorer": explorer,
}


def main(names: list[str]) -> None:
    """Draw the named pictures, or all."""
    for name in names or PICTURES:
        if name not in PICTURES:
            raise SystemExit(f"{name}: no such picture; choose from {', '.join(PICTURES)}")
        with tempfile.TemporaryDirectory(prefix="motecrypt-") as folder:
            PICTURES[name](Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
