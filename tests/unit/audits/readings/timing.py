"""Verdicts over made-up timings and taints, and how they are reported."""

from __future__ import annotations

from typing import Any

from goldens.text import plain
from motecrypt.attack.audits import taint, timing


def timings() -> dict[str, Any]:
    """Traces, splits and verdicts; sightings and what they come to."""
    none = timing.NO_ADDRESS
    dump = f"10 {none}\n12 20\n12 24\n14 {none}\n12 28\nend\nend\nff {none}\nend\n00 1\nend\ncut {none}\n"
    traces = list(timing.read_dump(dump))

    def trace(successors: Any, addresses: Any) -> timing.Trace:
        return timing.Trace(successors, addresses, 1)

    ways = [
        trace({1: ["2", "3"], 3: ["4"]}, {1: ["10"], 2: ["1000", "10"]}),
        trace({1: ["2"], 3: ["5"], 9: ["1"]}, {1: ["11"], 2: ["1000"]}),
        trace({1: ["2", "3", "1"]}, {2: ["1000", "1001"], 5: ["7"]}),
        trace({}, {}),
    ]

    def memory(address: int) -> str:
        return "flash" if address >= 0x1000 else "ram"

    found = {
        "none": (),
        "ram": (timing.Split(1, "address", "ram"),),
        "flash": (timing.Split(1, "address", "ram"), timing.Split(2, "address", "flash")),
        "branch": (timing.Split(1, "branch"), timing.Split(2, "address", "flash")),
    }

    def seen(kind: Any, line: str, times: int = 1, function: str = "f") -> taint.Sighting:
        return taint.Sighting(kind, function, line, times)

    branch, address = seen("branch", "a:1"), seen("address", "a:1")
    runs: list[dict[str, list[taint.Sighting]]] = [
        {"encrypt": e, "decrypt": d, "refuse": r}
        for e, d, r in (
            *(([], [], []), ([], [branch], [branch]), ([branch], [branch], [branch]), ([], [branch], [])),
            *(([], [], [branch]), ([], [branch, address], [branch, address])),
            ([], [branch, seen("branch", "a:2")], [branch, seen("branch", "a:2")]),
            ([], [branch, seen("branch", "a:2", 2)], [branch, seen("branch", "a:2", 2)]),
            ([], [branch, seen("branch", "a:2")], [branch, seen("branch", "a:3")]),
            ([address], [seen("address", "a:1", 5)], [seen("address", "a:1", 3)]),
            ([seen("address", "b", 2, "g"), seen("address", "b", 1, "e")], [], []),
            ([], [seen("branch", "a:1", 4)], [seen("branch", "a:1", 4)]),
            ([], [branch], [branch, seen("branch", "a:1", 7)]),
        )
    ]
    return {
        "traces": plain(traces),
        "wanted": [
            [each.instructions for each in timing.read_dump(dump, wanted)]
            for wanted in ([], [True], [False, True], [True, False, True, True], [True] * 9)
        ],
        "splits": plain(
            [
                timing.splits([ways[n] for n in of], memory)
                for of in ("01", "02", "03", "30", "012")
                for of in [list(map(int, of))]
            ]
        ),
        "verdicts": [
            [name, cached, cycles, timing.verdict(cycles, splits, flash_cached=cached)]
            for name, splits in found.items()
            for cached in (False, True)
            for cycles in ([7], [7, 7], [7, 8])
        ],
        "meanings": plain([timing.MEANING, taint.MEANING]),
        "judged": [plain(taint.judge(each, tagged)) for each in runs for tagged in (True, False)],
    }
