"""The modules that make files of the repository do nothing when they are only asked what they do."""

from __future__ import annotations

import subprocess
import sys

import pytest

MODULES = ("_dictionary", "_hardware", "_protection", "_public_key", "_records", "_reference")


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize(("word", "code"), [("--help", 0), ("--halp", 2)])
def test_help_and_unknown_words_make_nothing(name: str, word: str, code: int) -> None:
    command = [sys.executable, "-P", "-m", f"motecrypt.cli.{name}", word]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code and "Traceback" not in done.stderr
    assert len((done.stdout + done.stderr).splitlines()) >= 1
    assert code == 0 or word in done.stdout + done.stderr
