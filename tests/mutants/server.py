"""Runs pytest again and again, each time in a process of its own that has the libraries loaded: started once,
it is asked line by line (JSON) and forks for each request. Our own modules are never loaded here, so that
each process reads them as they are then. Importing pytest again takes longer than most tests.

A request has `arguments`, `folder`, `environment` and `log`; the answers are the process's number and, once
it ended, its exit code (negative: a signal; that of pytest for no tests also where all were skipped).
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import signal
import sys
from typing import Any

PR_SET_PDEATHSIG = 1  # <sys/prctl.h>
NO_TESTS = 5  # pytest's exit code where there is none
PRELOADED = (
    *("pytest", "_pytest.junitxml", "hypothesis", "hypothesis.strategies", "hypothesis.extra.pytestplugin"),
    *("numpy", "click", "click.testing", "rich.console", "rich.table", "jinja2", "elftools.elf.elffile"),
    *("cryptography.hazmat.primitives.ciphers.aead", "cryptography.hazmat.primitives.kdf.hkdf"),
    *("Crypto.Cipher.AES", "sqlite3", "subprocess", "ctypes", "concurrent.futures", "tomllib"),
)


def main() -> None:
    """Answer requests until the input ends."""
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _run(json.loads(line))
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


class _Ran:
    """A plugin that counts what passed."""

    def __init__(self) -> None:
        self.passed = 0

    def pytest_runtest_logreport(self, report: Any) -> None:
        """At the end of each step of a test."""
        self.passed += report.when == "call" and report.passed


def _run(request: dict[str, Any]) -> None:
    """In the new process: become what `python -m pytest` in that folder would be."""
    os.setsid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # a killed server must not leave a test running
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.path[:0] = os.environ["PYTHONPATH"].split(os.pathsep)
    sys.dont_write_bytecode = True
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    import pytest

    code, ran = 3, _Ran()
    try:
        code = int(pytest.main(request["arguments"], plugins=[ran]))
        code = NO_TESTS if code == 0 and not ran.passed else code
    except BaseException as error:
        print(repr(error))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
