"""The two cores of the simulated Pico, both busy, next to one of them.

The same loop runs on core 0 alone and on both cores, in turns, in processor time, medians. Threshold: a
simulated second of both takes at most 9 times as long as one of core 0 alone, which looks at no other core.
Simulated instructions a second are printed next to it, and those with `--contention`, where each access to
memory waits for its turn.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "unit" / "arm"))

from two_core_builds import build  # noqa: E402

from motecrypt.build.setup import need  # noqa: E402
from motecrypt.build.toolchain.drivers import driver  # noqa: E402
from motecrypt.catalog import Catalog  # noqa: E402
from motecrypt.simulate.emulate.images import Image, read_image  # noqa: E402
from motecrypt.simulate.emulate.run import ChipSettings, FreeRun, run_freely  # noqa: E402

RUNS = 5
SECONDS = 1.0
MOST = 9.0
BOTH, ONE = 6, 9  # parts of tests/unit/arm/two_cores.c


def main() -> int:
    """Measure all and print a line for each."""
    need("pico")
    driver("arm")  # compiled now, so that no run counts that
    ratios, one_rates, both_rates = [], [], []
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as name:
        one, both = (_image(Path(name), part) for part in (ONE, BOTH))
        for _ in range(RUNS):
            seconds_one, rate_one = _speed(one, FreeRun(max_seconds=SECONDS))
            seconds_both, rate_both = _speed(both, FreeRun(max_seconds=SECONDS))
            ratios.append(seconds_both / seconds_one)
            one_rates.append(rate_one)
            both_rates.append(rate_both)
        _, contended = _speed(both, FreeRun(max_seconds=SECONDS / 10, chip=ChipSettings(contention=True)))
    ratio = statistics.median(ratios)
    print(
        f"a second of both cores: {ratio:.2f} times one core's (at most {MOST:.0f}); million instructions a "
        f"second: both cores {statistics.median(both_rates) / 1e6:.0f}, one core "
        f"{statistics.median(one_rates) / 1e6:.0f}, both with contention {contended / 1e6:.0f}"
    )
    return 0 if ratio <= MOST else 1


def _image(folder: Path, part: int) -> Image:
    return read_image(build(folder, part), Catalog.load().device("pico"))


def _speed(image: Image, how: FreeRun) -> tuple[float, float]:
    """Processor time, and instructions of all cores a second of it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = run_freely(image, Catalog.load().device("pico"), how, lambda data: None)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, (ended.extra["instructions"] + ended.extra["instructions_core1"]) / seconds


if __name__ == "__main__":
    sys.exit(main())
