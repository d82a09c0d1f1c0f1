"""A test that goes round forever, in Python or in C, fails instead of resting."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "loop", ["while True: pass", "hashlib.pbkdf2_hmac('sha256', b'p', b's', 1_000_000_000)"]
)
def test_it_is_ended_and_says_where_it_was(tmp_path: Path, loop: str) -> None:
    (tmp_path / "test_loop.py").write_text(f"import hashlib\ndef test_endless():\n    {loop}\n")
    path = os.pathsep.join(str(ROOT / name) for name in ("tests", "src"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider", tmp_path],
        env={**os.environ, "PYTHONPATH": path, "MOTECRYPT_TEST_PROCESSOR_S": "0.5"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == -signal.SIGVTALRM
    assert "in test_endless" in done.stderr
