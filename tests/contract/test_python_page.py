"""docs/python.md: its examples run, one after another, in one folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from motecrypt.link.keys import create_master_file
from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL)


@needs_tool_set("avr", "link", "host")
@pytest.mark.long
def test_its_examples_run(tmp_path: Path) -> None:
    create_master_file(tmp_path / "gateway.key", "aes128-ccm")
    (tmp_path / "report.txt").write_text("21.4 C\n" * 100)
    own = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MOTECRYPT_DB": str(tmp_path / "results.db")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", "\n".join(EXAMPLES)],
        cwd=tmp_path,
        env=own,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(EXAMPLES) > 5 and len(done.stdout.splitlines()) > 10
    assert (tmp_path / "McAes" / "library.properties").is_file() and (tmp_path / "node5.eep").is_file()
