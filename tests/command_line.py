"""A command in this process, as the tests run it."""

from __future__ import annotations

import io
import os
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

import pytest

from motecrypt.cli import main


def run(capture: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    said = capture.readouterr()
    return int(stop.value.code or 0), said.out, said.err


def ran(*arguments: object, cwd: Path | None = None, **environment: str) -> CompletedProcess[str]:
    """The same as a process would return it, also in a module's fixture.

    A process takes a second to begin; what only a process shows (signals, pipes, closed streams) is tested
    with one.
    """
    words = [str(argument) for argument in arguments]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with (
        chdir(cwd or Path.cwd()),
        patch.dict(os.environ, environment),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as stop,
    ):
        main(words)
    said = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
    return CompletedProcess(words, int(stop.value.code or 0), *said)
