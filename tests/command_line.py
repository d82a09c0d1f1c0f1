"""A command in this process, as the tests run it."""

from __future__ import annotations

import pytest

from motecrypt.cli import main


def run(capture: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    said = capture.readouterr()
    return int(stop.value.code or 0), said.out, said.err
