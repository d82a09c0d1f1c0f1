"""One mutant tried: in a copy of the tree, by the tests that own it, within a deadline."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

from motecrypt.build.toolchain.drivers import DRIVERS, RECIPES
from motecrypt.build.toolchain.includes import reached
from mutants.model import KILLED, SURVIVED, TIMED_OUT, UNCOUNTED, Mutant, Result
from mutants.owners import ROOT, Owner
from mutants.server import NO_TESTS

NOT_COPIED = (".git", ".venv", "__pycache__", ".hypothesis", ".pytest_cache", ".mypy_cache", ".ruff_cache")
COMPILE_TIMEOUT_S = 120
BASELINE_TIMEOUT_S = 900
DEADLINE_MIN_S = 60.0
OUTPUT_CHARACTERS = 3000
MARK = "MOTECRYPT_MUTANT"
NOTHING_RAN = "every test was skipped"


class Server:
    """The program that runs pytest (server.py), with a deadline for each request."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-P", str(Path(__file__).with_name("server.py"))]
            environment = {**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
            environment.pop("PYTHONPATH", None)
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
        return self._process

    def run(
        self, arguments: list[str], folder: Path, environment: dict[str, str], log: Path, deadline_s: float
    ) -> int | None:
        """The exit code of pytest; None when it did not end in time."""
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        request = {"arguments": arguments, "folder": str(folder), "environment": environment, "log": str(log)}
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        number = int(process.stdout.readline())
        late = threading.Event()

        def end() -> None:
            late.set()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(number, signal.SIGKILL)  # with what it started, whatever environment that has

        timer = threading.Timer(deadline_s, end)
        timer.start()
        try:
            code = int(process.stdout.readline())
        finally:
            timer.cancel()
        return None if late.is_set() else code

    def close(self) -> None:
        """No more requests."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait(COMPILE_TIMEOUT_S)


class Tree:
    """A copy of the project that one worker breaks and fixes."""

    def __init__(self, place: Path, cache: Path) -> None:
        self.root = place / "tree"
        self._scratch = place / "scratch"
        self._cache = cache
        shutil.copytree(ROOT, self.root, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
        # Bytecode that is checked by content: a mutant may be as long as the original and as new.
        command = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "src"]
        subprocess.run(command, cwd=self.root, check=True, timeout=600)
        self._server = Server()

    def close(self) -> None:
        """End the server."""
        self._server.close()

    def baseline(self, owner: Owner) -> Result:
        """The owner's tests over the tree as it is."""
        nothing = Mutant("", owner.domain, 0, "none", 0, 0, "", "", "")
        return self._run(nothing, owner, BASELINE_TIMEOUT_S)

    def try_out(self, mutant: Mutant, owner: Owner, deadline_s: float) -> Result:
        """Apply the mutant, run the tests, restore the file."""
        file = self.root / mutant.path
        original = file.read_text()
        try:
            before = self._compiled(mutant, owner)
            file.write_text(mutant.applied(original))
            if mutant.path.endswith(".js") and not _parses(file):
                return Result(mutant, UNCOUNTED, note="does not parse")
            if owner.compile and mutant.path.endswith((".c", ".cc")):
                after = self._compiled(mutant, owner)
                if after is None:
                    return Result(mutant, UNCOUNTED, note="does not compile")
                if after == before:
                    return Result(mutant, UNCOUNTED, note="compiles to the same code")
            result = self._run(mutant, owner, deadline_s)
            if result.outcome == SURVIVED and file.parent == self.root / DRIVERS.relative_to(ROOT):
                self._scratch.mkdir(parents=True, exist_ok=True)
                if same_in_drivers(file, original, self._scratch / "object.o"):
                    return Result(mutant, UNCOUNTED, note="compiles to the same code")
            return result
        finally:
            file.write_text(original)

    def _compiled(self, mutant: Mutant, owner: Owner) -> bytes | None:
        """The object file of a C source; None where it does not compile."""
        if not owner.compile or not mutant.path.endswith((".c", ".cc")):
            return None
        target = self._scratch / "object.o"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        filled = owner.compile.replace("{source}", mutant.path).replace("{object}", str(target))
        done = subprocess.run(
            shlex.split(filled), cwd=self.root, capture_output=True, timeout=COMPILE_TIMEOUT_S, check=False
        )
        return target.read_bytes() if done.returncode == 0 else None

    def _run(self, mutant: Mutant, owner: Owner, deadline_s: float) -> Result:
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir(parents=True)
        arguments = [*owner.tests, "-x", "-q", "--tb=short", "-m", "not slow", "--hypothesis-seed=0"]
        arguments += ["-p", "no:cacheprovider", "-p", "no:xdist"]
        arguments += ["--basetemp", str(self._scratch / "tests")]
        if owner.select:
            arguments += ["-k", owner.select]
        mark = uuid.uuid4().hex
        started = time.monotonic()
        log = self._scratch / "output"
        environment = self._environment(mark) | {"MOTECRYPT_TEST_PROCESSOR_S": str(deadline_s / 3)}
        code = self._server.run(arguments, self.root, environment, log, deadline_s)
        _end_all(mark)
        seconds = time.monotonic() - started
        said = log.read_text(errors="replace") if log.exists() else ""
        outcome, note = _judged(mutant, code, said)
        return Result(mutant, outcome, round(seconds, 1), said[-OUTPUT_CHARACTERS:], note)

    def _environment(self, mark: str) -> dict[str, str]:
        return {
            **os.environ,
            MARK: mark,
            "PYTHONPATH": str(self.root / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "MOTECRYPT_CACHE": str(self._cache),
            "MOTECRYPT_TEST_ALL": "1",  # all random inputs, as wide tests run, too
            "MOTECRYPT_DB": str(self._scratch / "results.db"),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(self._scratch / "hypothesis"),
        }


def same_in_drivers(file: Path, original: str, scratch: Path) -> bool:
    """Whether every driver that a file is part of compiles to the same code with the file's other text.

    The file has that other text afterwards.
    """
    mutated, parts = file.read_text(), 0
    for recipe in RECIPES.values():
        source = file.parent / recipe.source
        if source.suffix == ".c" and file in reached([source], []):
            command = [recipe.compiler, "-O2", "-c", str(source), *recipe.flags(), "-o", str(scratch)]
            codes = []
            for text in (mutated, original):
                file.write_text(text)
                subprocess.run(command, check=True, capture_output=True, timeout=COMPILE_TIMEOUT_S)
                codes.append(scratch.read_bytes())
            if codes[0] != codes[1]:
                return False
            parts += 1
    return parts > 0


def _parses(script: Path) -> bool:
    """Whether Node can read a script."""
    command = ["node", "--check", str(script)]
    return (
        subprocess.run(command, capture_output=True, timeout=COMPILE_TIMEOUT_S, check=False).returncode == 0
    )


def _judged(mutant: Mutant, code: int | None, said: str) -> tuple[str, str]:
    if code is None:
        return TIMED_OUT, "the tests did not end within their deadline"
    if code in (0, NO_TESTS):
        return SURVIVED, NOTHING_RAN if code else ""
    # A build that fails in a test is the compiler's result, not the test's.
    if not mutant.path.endswith(".py") and re.search(
        rf"{re.escape(Path(mutant.path).name)}:\d+:\d+: (fatal )?error: ", said
    ):
        return UNCOUNTED, "does not compile"
    return KILLED, f"pytest ended with {code}"


def _end_all(mark: str) -> None:
    """End every program that the tests left behind; those carry our mark in their environment."""
    wanted = f"{MARK}={mark}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            left = wanted in (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(entry.name), signal.SIGKILL)


def deadline_s(baseline_s: float) -> float:
    """How long a mutant's tests may take, by what they take without it."""
    return max(DEADLINE_MIN_S, 30 + 4 * baseline_s)
