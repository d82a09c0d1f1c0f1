"""Made-up content for pages, with names that a hostile firmware could choose, and a reader of pages."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

from made_rows import made_measurement
from motecrypt.base.model import Cipher
from motecrypt.catalog import Catalog
from motecrypt.present.compare.history import Collector, History
from motecrypt.results.experiments.audit import AuditAnswer
from motecrypt.simulate.emulate.annotate import Instruction, Listing, SourceLine
from motecrypt.simulate.emulate.profiling import CallNode, FunctionCost, Profile, StackOverTime
from motecrypt.simulate.emulate.run import Ended

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">\u202ecod"
"""Ends an element, brings a handler, and turns the direction of what follows."""


def made_profile() -> Profile:
    """main calls work 3 times, which calls the hostile one; 1,000 cycles."""
    names = ("(start-up)", "main", "work", HOSTILE, "tiny")
    own = (10, 90, 600, 299, 1)
    calls = (1, 1, 3, 6, 1)
    tree = tuple(
        CallNode(parent, name, times, cycles)
        for parent, name, times, cycles in zip((-1, 0, 1, 2, 1), names, calls, own, strict=True)
    )
    whole = (1000, 990, 899, 299, 1)
    functions = tuple(
        FunctionCost(name, 16 * n, calls[n], whole[n], own[n], (1, 2, 3), (1, 1, 2), 8 * n, "a.c", 3)
        for n, name in enumerate(names)
    )
    slots = ((4, "main"), (24, "work"), (32, HOSTILE), None, (4, "main"))
    return Profile(
        Ended("stop", "it has ended", 1000, 1000 / 16e6, 32, 2, 0, ("SPI: nothing is connected",)),
        tuple(sorted(functions, key=lambda cost: -cost.self_cycles)),
        (),
        (),
        True,
        {},
        calls_dropped=2,
        tree=tree,
        stack_over_time=StackOverTime(256, slots),
    )


def made_listings() -> tuple[Listing, ...]:
    """A source of four lines, two of which ran, and a function without lines."""
    ran = (Instruction(0x10, "ldi r24, 0x05", 3, 3), Instruction(0x12, "rcall .+6", 3, 9))
    lines = (
        SourceLine(1, "int work(void) {", 0, 0, ()),
        SourceLine(2, "  <b>twice</b>(5);", 3, 12, ran),
        SourceLine(7, "}", 3, 12, (Instruction(0x14, "ret", 3, 12),)),
    )
    bare = SourceLine(0, "", 6, 299, (Instruction(0x40, "", 6, 299),))
    return Listing("/src/a.c", True, 24, lines), Listing(HOSTILE, False, 299, (bare,))


class Read(HTMLParser):
    """A page's elements, the texts of its tables row by row, and its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.scripts: list[str] = []
        self._cell = self._script = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._cell = True
        if tag == "script":
            self.scripts.append("")
            self._script = True

    def handle_endtag(self, tag: str) -> None:
        self._cell = self._cell and tag not in ("td", "th")
        self._script = self._script and tag != "script"

    def handle_data(self, text: str) -> None:
        if self._script:
            self.scripts[-1] += text
        elif self._cell:
            self.rows[-1][-1] += text.strip()


def made_cipher() -> Cipher:
    """Any cipher, with a hostile reason."""
    return replace(Catalog.load().cipher("rc4d"), name="made", security_reason=HOSTILE)


def made_audit() -> list[tuple[str, AuditAnswer]]:
    """A part of each kind that has pictures, and one that has none."""
    timing = {
        "variant": "two",
        "placement": "flash",
        "cache": "none",
        "operation": "encrypt",
        "verdict": "cycles vary",
        "cycles_min": 900,
        "cycles_max": 1000,
        "inputs": 32,
        "splits": [{"kind": "branch", "memory": "", "function": "f", "line": "a.c:3", "pcs": [1]}],
        "spread": [[900, 3], [1000, 5]],
        "partings": [
            {"kind": "branch", "line": HOSTILE, "first": 7, "sequences": [[0x10, 0x20, 0x10], [0x10, 0x10]]}
        ],
    }
    points = [
        {"traces": n, "guessing_entropy_bits": bits, "experiments": 5, "successes": done}
        for n, bits, done in ((10, 100.0, 0), (100, 4.5, 1))
    ]
    curve = {"model": "weight", "attacker": "correlation", "snr": None, "points": points}
    test = {"first_instruction": 11, "threshold": 4.5, "curve": [1.0, 9.5], "places": ["aes.c:2", "aes.c:3"]}
    power = {"variant": "two", "attacks": [{"title": HOSTILE, "curves": [curve]}], "t_test": test}
    matrix = {
        "input": "plaintext",
        "input_bytes": 1,
        "output_bytes": 2,
        "percent_changed_by_input_bit_and_output_byte": [[100, 10 * n] for n in range(8)],
    }
    positions = [{"position": n, "p": 0.5, "most_frequent": 44, "times_chance": 2.0 + n} for n in (0, 1)]
    attack = {"queries_mean": 167.25, "found": {"one": 4, "two": 9}, "lengths": [{"keys": 3, "left": []}]}
    data = {
        "diffusion": {"encrypt": {"verdict": "full", "matrix": matrix}},
        "statistics": {"alarm": 1e-6, "positions": positions},
        "timing:uno": {"message_bytes": 16, "rows": [timing]},
        "power:uno": {"rows": [power]},
        "taint": {
            "rows": [{"variant": "two", "verdict": "v", "sightings": [{"kind": "branch", "line": HOSTILE}]}]
        },
        "integrity": {"changes": {"cut short": {"tried": 48, "unnoticed": 48}}},
        f"attack:{HOSTILE}": attack,
    }
    return [(n, AuditAnswer(f"Title of {n}", HOSTILE, "bad", (HOSTILE,), d)) for n, d in data.items()]


def made_history() -> History:
    """Three versions with hostile names: one figure changes in the last."""
    collector = Collector()
    for number, cycles in enumerate((1000, 1000, 1200)):
        m = replace(made_measurement(), variant=HOSTILE, cycles_median=cycles)
        collector.add_measurements(f"{number} {HOSTILE}", HOSTILE, [m])
    return collector.history()
