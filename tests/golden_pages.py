"""Writes the small pictures of the pages again, of all views or of some: golden_pages.py [VIEW]...

Look at each difference before it is committed: `--shots DIR` also writes the whole screenshots.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path

from page_fonts import environment
from page_views import PICTURES, VIEWS, as_png, fields_of, pages, screenshots

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]


def main() -> None:
    """Write the pictures of the named views, or of all."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description="Write the small pictures of the pages again.")
    parser.add_argument("views", nargs="*", metavar="VIEW", help=", ".join(view.name for view in VIEWS))
    parser.add_argument("--shots", type=Path, help="a directory for the whole screenshots")
    chosen = parser.parse_args()
    unknown = set(chosen.views) - {view.name for view in VIEWS}
    if unknown:
        parser.exit(2, f"golden_pages: unknown view '{sorted(unknown)[0]}'\n")
    program = next(path for name in ("chromium", "chromium-browser") if (path := shutil.which(name)))
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as folder, sync_playwright() as driver:
        fonts = {**os.environ, **environment(Path(folder))}
        browser = driver.chromium.launch(executable_path=program, args=ARGUMENTS, env=fonts)
        made, reader = pages(Path(folder)), browser.new_page()
        for view in VIEWS:
            if chosen.views and view.name not in chosen.views:
                continue
            [shot] = screenshots(browser, view, made[view.page])
            (PICTURES / f"{view.name}.png").write_bytes(as_png(reader, fields_of(reader, shot)))
            if chosen.shots is not None:
                chosen.shots.mkdir(parents=True, exist_ok=True)
                (chosen.shots / f"{view.name}.png").write_bytes(shot)
            print(PICTURES / f"{view.name}.png")
        browser.close()


if __name__ == "__main__":
    main()
