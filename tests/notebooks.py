"""Runs the example notebook: `PYTHONPATH=src:tests python tests/notebooks.py` keeps what it printed in it."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "examples" / "notebook" / "results.ipynb"
CELL_TIMEOUT_S = 300


def executed(notebook: Path = NOTEBOOK) -> Any:
    """The notebook as it is after a run in an empty folder, where its kernel finds this motecrypt."""
    import nbformat
    from nbclient import NotebookClient

    read = nbformat.read(notebook, as_version=4)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    try:
        with tempfile.TemporaryDirectory(prefix="motecrypt-") as folder:
            place = {"metadata": {"path": folder}}
            NotebookClient(read, timeout=CELL_TIMEOUT_S, kernel_name="python3", resources=place).execute()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
    return read


def printed(notebook: Any) -> list[str]:
    """What each cell of code printed, and its errors."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return ["".join(part for out in cell["outputs"] for part in _text(out)) for cell in cells]


def _text(output: Any) -> list[str]:
    told = output.get("text") or output.get("data", {}).get("text/plain") or output.get("traceback", "")
    return [told] if isinstance(told, str) else list(told)


def keep() -> None:
    """Run the notebook and keep the outputs, without times and versions."""
    import nbformat

    done = executed()
    for cell in done.cells:
        cell.metadata = {}
    done.metadata["language_info"] = {"name": "python"}
    nbformat.write(done, NOTEBOOK)


def stored() -> Any:
    """The notebook as it is in the repository, read without a package."""
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))


if __name__ == "__main__":
    keep()
