"""Fixtures shared by all suites: results in a scratch directory, firmware cached once for the session."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line does: suites run side by side
os.environ.pop("COLUMNS", None)  # tables are as wide as without a terminal, whatever runs the tests

from motecrypt.build.setup import shortages
from motecrypt.results import Results

pytest_plugins = ["costs"]

#: What a person's own git is set to changes no commit of the tests.
_GIT = {
    "commit.gpgsign": "false",
    "tag.gpgsign": "false",
    "core.autocrlf": "false",
    "core.hooksPath": os.devnull,
}
os.environ["GIT_CONFIG_COUNT"] = str(len(_GIT))
for _number, (_name, _value) in enumerate(_GIT.items()):
    os.environ |= {f"GIT_CONFIG_KEY_{_number}": _name, f"GIT_CONFIG_VALUE_{_number}": _value}

# A busy machine is slow, independent of the code: examples have no deadline.
settings.register_profile("motecrypt", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("motecrypt")


#: Seconds of its own processor time in user mode after which a test counts as endless; in C no
#: exception ends it.
PROCESSOR_S = float(os.environ.get("MOTECRYPT_TEST_PROCESSOR_S", "100"))


def pytest_configure(config: pytest.Config) -> None:
    """Keep the original standard error for the traceback of an ended test, before pytest redirects it."""
    faulthandler.register(signal.SIGVTALRM, file=os.dup(2), chain=True)


@pytest.fixture(autouse=True)
def _ends() -> Iterator[None]:
    """A test that never ends is a failed one: its process ends, after a traceback."""
    signal.setitimer(signal.ITIMER_VIRTUAL, PROCESSOR_S)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@pytest.fixture(autouse=True)
def _own_shortages() -> None:
    """Parts that an earlier test in this process lacked are not reported at the end of this one's command."""
    shortages.summary()


@pytest.fixture
def results(tmp_path: Path) -> Iterator[Results]:
    """An empty results file."""
    with Results(tmp_path / "results.db") as opened:
        yield opened
