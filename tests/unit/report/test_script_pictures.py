"""What the scripts of the pages draw, in Node with a small document (tests/data/scripts): every element, and
every specification of a chart. After a change that is meant, look at the difference that this makes:

    PYTHONPATH=src:tests .venv/bin/python tests/unit/report/test_script_pictures.py && git diff tests/data
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from motecrypt.present import pages, report
from motecrypt.present.report.figure import theme
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("node")
HERE = Path(__file__).parents[2] / "data" / "scripts"
PAGES = Path(pages.__file__).with_name("static")
REPORT = Path(report.__file__).with_name("static")
SPANS = [
    [0, 0, 0, 1500.5, 3],
    [1, 0, 1500.5, 101_500, 3],
    [2, 0, 101_500, 103_000, 3],
    [2, 1, 103_000, 104_000, 1],
]
LENGTHS = [
    {"spans": SPANS[:1] + SPANS[2:3], "delivered": 2500.0, "answered": None},
    {"spans": SPANS, "delivered": 103_000.0, "answered": 104_000.0},
    {
        "spans": [[2, 0, 10, 20, 12], [2, 0, 20, 30, 12], [3, 0, 30, 35, 24]],
        "delivered": 35.0,
        "answered": None,
    },
]
RADIO = {
    "kinds": ["serial in", "wait", "air", "serial out"],
    "variants": [{"name": "a", "lengths": LENGTHS}, {"name": "b", "lengths": LENGTHS[1:]}],
}
NODES = [[-1, 0, 1, 900, 100], [0, 1, 3, 600, 300], [1, 2, 1, 300, 300], [0, 3, 2, 199, 199], [0, 4, 1, 0, 0]]
PROFILE = {
    "total": 1000,
    "flame": {
        "names": ["main", "work", "inner", "io", "tiny", "idle"],
        "nodes": [*NODES, [-1, 5, 1, 100, 100]],
    },
    "stack": {
        "names": ["main", "work"],
        "unit": "ms",
        "slot": 1.5,
        "slots": [[4, 0], [1024, 1], None, [9, 0]],
    },
    "instructions": [
        [[["10", "ldi", 3, 3], ["12", "", 3, 9]], [["14", "ret", 1, 4]]],
        [[["40", "nop", 1, 988]]],
    ],
}
REPORT_DATA = {
    "theme": theme("#000000", "white"),
    "looks": {"uno": {"colour": "#111111", "shape": "square"}, "pico": {"colour": "#222222"}},
    "signs": {"good": "+", "bad": "-"},
    "figures": {},
    "explorer": {"columns": [], "worded": [], "words": [], "rows": []},
    "tables": {
        "words": ["good", "why", "what", "where", "1", "a text"],
        "columns": ["verdict", "why", "what", "where", "ours"],
        "sources": {
            "paper": {
                "sections": [
                    {"title": "First", "columns": ["a", ""], "rows": [[0, 4]], "text": ""},
                    {"title": "Second", "columns": ["b"], "rows": [[5], [4]], "text": "A note."},
                ],
                "rows": [[0, 1, 2, 3, 4]],
            }
        },
    },
}
CASES: dict[str, tuple[Any, list[Path]]] = {
    "radio": (RADIO, [PAGES / "pages.js", PAGES / "radio.js"]),
    "profile": (PROFILE, [PAGES / "pages.js", PAGES / "flame.js", PAGES / "source.js"]),
    "shared": ({}, [PAGES / "pages.js", PAGES / "history.js"]),
    "charts": (REPORT_DATA, [REPORT / "charts.js", REPORT / "page.js"]),
    "adviser": (REPORT_DATA, [REPORT / "adviser-charts.js"]),
    "serve": ({}, [REPORT / "serve.js"]),
    "explorer": (
        REPORT_DATA,
        [
            REPORT / "charts.js",
            REPORT / "explorer-data.js",
            REPORT / "explorer-charts.js",
            REPORT / "explorer-table.js",
        ],
    ),
}


def drawn(name: str) -> str:
    """What a case answers, a line for each part."""
    data, scripts = CASES[name]
    before = HERE / f"{name}-before.js"
    code = [f"const DATA = {json.dumps(data)};", f"{{\n{(HERE / 'dom.js').read_text()}}}"]
    code += [script.read_text() for script in (*([before] if before.exists() else []), *scripts)]
    code.append("const answer = (found) => console.log(JSON.stringify(Object.entries(found)));")
    code.append((HERE / f"{name}.js").read_text())
    done = subprocess.run(
        ["node", "-"], input="\n".join(code), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [json.dumps(entry, ensure_ascii=False) for entry in json.loads(done.stdout)]
    return "[\n" + ",\n".join(lines) + "\n]\n"


@pytest.mark.parametrize("name", CASES)
def test_the_scripts_draw_what_they_drew(name: str) -> None:
    assert drawn(name).splitlines() == (HERE / f"{name}.json").read_text().splitlines()


if __name__ == "__main__":
    for case in CASES:
        (HERE / f"{case}.json").write_text(drawn(case))
