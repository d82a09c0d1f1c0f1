"""What is gated: benchmarks, each with its figures. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from motecrypt.base.model import Measurement

#: Measures of which less is better, in the order in which they are shown, with their units.
UNITS = {
    "flash": "bytes",
    "ram": "bytes",
    "stack": "bytes",
    "stack_worst": "bytes",
    "cycles": "cycles",
    "timing_varies": "",
    "battery_days": "days",
}
GROWING = ("flash", "ram", "stack", "stack_worst", "cycles")
"""Those that have a limit of growth by default. `timing_varies` is 0 or 1; more `battery_days` are better."""


@dataclass(frozen=True)
class Benchmark:
    """One thing that has figures: a build, one of its operations at a length, a firmware, or its function.

    Attributes
    ----------
    name : such as uno/mylibrary/rc4/128/encrypt/16.
    build : the benchmark that its code belongs to: its own name, or that of the build.
    figures : by measure (`UNITS`).
    reason : why there are no figures; empty where it ran.
    status : "ok" or the word of the failure.
    compiler : who compiled it; empty where that is not known.
    """

    name: str
    build: str
    figures: Mapping[str, float] = field(default_factory=dict)
    status: str = "ok"
    reason: str = ""
    compiler: str = ""

    @property
    def ran(self) -> bool:
        """Whether it has figures."""
        return self.status == "ok"


def build_name(m: Measurement, toolchain: str = "") -> str:
    """The name of a measurement's build: device, implementation, cipher, and what is unusual of it.

    Parameters
    ----------
    toolchain
        The toolchain that was asked for by name; empty where it is the system's own.
    """
    unusual = [m.placement] if m.placement != "flash" else []
    unusual += ["".join(m.flags_asked.split())] if m.flags_asked else []
    unusual += [toolchain] if toolchain else []
    return "/".join([m.device, m.implementation, m.cipher, *unusual])


def cell_name(m: Measurement, toolchain: str = "") -> str:
    """The name of a measurement: its build's, key, cache, operation and lengths."""
    lengths = f"{m.message_bytes}+{m.ad_bytes}" if m.ad_bytes else f"{m.message_bytes}"
    cache = [m.cache] if m.cache != "none" else []
    return "/".join([build_name(m, toolchain), f"{m.key_bits}", *cache, m.operation, lengths])


def benchmarks_of(measurements: Iterable[Measurement], toolchain: str = "") -> list[Benchmark]:
    """Benchmarks of measurements: one for each build with its sizes, one for each cell."""
    found: dict[str, Benchmark] = {}
    for m in measurements:
        name, build = cell_name(m, toolchain), build_name(m, toolchain)
        if m.status != "ok":
            found[name] = Benchmark(name, build, {}, m.status, m.reason, m.compiler)
            continue
        sizes = {"flash": m.flash_bytes, "ram": m.ram_bytes}
        figures = {"cycles": m.cycles_median, "stack": m.stack_bytes, "timing_varies": m.timing_varies}
        found.setdefault(build, Benchmark(build, build, _known(sizes), compiler=m.compiler))
        found[name] = Benchmark(name, build, _known(figures), compiler=m.compiler)
    return list(found.values())


def _known(figures: Mapping[str, float | bool | None]) -> dict[str, float]:
    return {measure: int(value) for measure, value in figures.items() if value is not None}
