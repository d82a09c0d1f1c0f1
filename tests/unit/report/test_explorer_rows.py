"""The explorer's figures without a browser: what its scripts choose, sort and name, in Node."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from motecrypt.present import report
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("node")
STATIC = Path(report.__file__).with_name("static")
SCRIPTS = ("explorer-data.js", "explorer-table.js")
COLUMNS = (
    *("device", "cipher", "implementation", "library", "kind", "security", "placement", "flags", "varies"),
    *("stacks", "key_bits", "message_bytes", "flash_bytes", "ram_bytes"),
    *("setup_us", "encrypt_us", "decrypt_us", "setup_uj", "encrypt_uj", "decrypt_uj"),
)
ROW = {
    "device": "uno",
    "cipher": "aes128-ccm8",
    "implementation": "motecrypt/tiny",
    "library": "motecrypt",
    "kind": "aead",
    "security": "recommended",
    "placement": "flash",
    "flags": "",
    "varies": "none seen",
    "stacks": "10,,30",
    "key_bits": 128,
    "message_bytes": 16,
    "flash_bytes": 1000,
    "ram_bytes": 100,
    "setup_us": 1.5,
    "encrypt_us": 20.25,
    "decrypt_us": 30,
    "setup_uj": 2.5,
    "encrypt_uj": 21.25,
    "decrypt_uj": 31,
}


def told(code: str, rows: list[dict[str, Any]] | None = None) -> Any:
    """What an expression gives after the scripts, over rows that differ from `ROW` in these fields."""
    made = [{**ROW, **row} for row in rows or [{}]]
    words = sorted({str(row[name]) for row in made for name in COLUMNS[:10]})
    data = {
        "columns": COLUMNS,
        "worded": [*range(10)],
        "words": words,
        "rows": [[words.index(row[n]) if i < 10 else row[n] for i, n in enumerate(COLUMNS)] for row in made],
    }
    scripts = "".join((STATIC / name).read_text(encoding="utf-8") for name in SCRIPTS)
    program = f"{scripts}\nconst report = {json.dumps({'explorer': data})};\n"
    program += f"console.log(JSON.stringify((() => {{ {code} }})()));"
    done = subprocess.run(
        ["node", "-"], input=program, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_rows_are_made_of_words_and_numbers_once() -> None:
    (row,) = told("return explorerRows() === explorerRows() ? explorerRows() : [];")
    stacks = {"setup_stack_bytes": 10, "encrypt_stack_bytes": None, "decrypt_stack_bytes": 30}
    assert row == {**{name: value for name, value in ROW.items() if name != "stacks"}, **stacks}
    assert told("return rowName(explorerRows()[0]);") == "uno|aes128-ccm8|motecrypt/tiny|128|flash|"


def test_figures_have_a_title_with_what_they_are_of() -> None:
    rows = [{"placement": "flash, cold"}, {"placement": "ram, warm"}, {"placement": "flash"}]
    titles = "return ['time', 'energy', 'flash', 'ram', 'stack', 'security']"
    titles += ".map((name) => quantityTitle(name, 'decrypt', explorerRows()));"
    assert told(titles, rows) == [
        "time to decrypt, µs, cold or warm flash cache",
        "energy to decrypt, µJ, cold or warm flash cache",
        *("flash, bytes", "RAM without stack, bytes", "stack to decrypt, bytes", "security status"),
    ]
    assert told("return quantityTitle('time', 'setup', explorerRows());") == "time to set up the key, µs"
    values = "return Object.values(QUANTITIES).map((each) => each.of(explorerRows()[0], 'encrypt'));"
    assert told(values, [{"stacks": "1,2,3"}]) == [20.25, 21.25, 1000, 100, 2, 0]


def test_a_figure_has_four_digits_or_is_whole() -> None:
    texts = {
        "null": "",
        "undefined": "",
        "0": "0",
        "7": "7",
        "1234": "1,234",
        "1000.4": "1,000",
        "-1000.6": "-1,001",
        "999.96": "1000",
        "0.123456": "0.1235",
        "12.5": "12.5",
    }
    assert told(f"return [{', '.join(texts)}].map(figureText);") == [*texts.values()]


def test_the_front_has_what_no_other_of_the_device_beats() -> None:
    points = [
        *(("uno", 3, 1), ("uno", 1, 3), ("uno", 1, 4), ("uno", 2, 3), ("uno", 2, 2), ("uno", 4, 1)),
        *(("pico", 9, 9), ("pico", 8, 9), ("pico", 9, 0)),
    ]
    made = json.dumps([{"x": x, "y": y, "row": {"device": device}} for device, x, y in points])
    front = told(f"return paretoFront({made}).map((p) => [p.row.device, p.x, p.y]);")
    assert front == [["pico", 8, 9], ["pico", 9, 0], ["uno", 1, 3], ["uno", 2, 2], ["uno", 3, 1]]


EVERYTHING = (
    "const all = (name) => new Set(explorerRows().map((row) => row[name]));"
    "const state = {search: '', device: all('device'), library: all('library'), security: all('security'),"
    " cache: 'cold'};"
)


CHOICES = {
    "": "abde",
    "state.cache = 'warm'": "abce",
    "state.device.delete('pico')": "abe",
    "state.library.delete('bearssl')": "ade",
    "state.security.delete('broken')": "abd",
    "state.flashMax = 1000": "ade",
    "state.flashMax = 0": "e",
    "state.ramMax = 100": "abd",
    "state.ramMax = 99": "b",
    "state.constant = true": "abe",
    "state.search = 'PICO  flash'": "d",
    "state.search = 'bear uno'": "b",
    "state.search = '-Os'": "a",
    "state.search = 'stream'": "e",
    "state.search = 'rc4 pico'": "",
}
"""Changes to a choice of everything, and the rows that are left."""


def test_filters_choose_rows() -> None:
    rows = [
        {"flags": "-Os"},
        {"library": "bearssl", "implementation": "bearssl/ct", "flash_bytes": 1001, "ram_bytes": 50},
        {"device": "pico", "placement": "flash, warm", "flash_bytes": 2000, "ram_bytes": 200},
        {"device": "pico", "placement": "flash, cold", "varies": "seen"},
        {"cipher": "rc4", "kind": "stream", "security": "broken", "flash_bytes": 0, "ram_bytes": 101},
    ]
    chosen = "chosenRows(state).map((row) => 'abcde'[explorerRows().indexOf(row)]).join('')"
    each = ", ".join(f"(() => {{ {EVERYTHING} {change}; return {chosen}; }})()" for change in CHOICES)
    assert dict(zip(CHOICES, told(f"return [{each}];", rows), strict=True)) == CHOICES


def test_the_command_measures_what_is_shown() -> None:
    rows = [{"library": "b"}, {"device": "pico", "library": "a"}, {"cipher": "rc4", "library": "a"}]
    command = "return rowsCommand(explorerRows(), 32);"
    assert told(command, rows) == (
        "motecrypt measure --device pico --device uno --cipher aes128-ccm8 --cipher rc4 "
        "--library a --library b --bytes 32"
    )
    names = "abcd"
    assert "--library c" in told(command, [{"library": name} for name in names[:3]])
    assert "--library" not in told(command, [{"library": name} for name in names])
    assert told("return rowsCommand([], 32);") == ""


def test_lines_over_lengths_are_of_the_quickest_of_each_device() -> None:
    def series(per_byte: float, lengths: tuple[int, ...], **more: Any) -> list[dict[str, Any]]:
        return [{"message_bytes": n, "encrypt_us": per_byte * n, **more} for n in lengths]

    rows = [
        *series(3, (16, 32, 64), implementation="motecrypt/slow"),
        *series(2, (16, 32, 64), implementation="motecrypt/quick", placement="ram"),
        *series(1, (16, 32), implementation="motecrypt/short"),
        *series(1, (16, 32, 64), cipher="rc4", flags="-O3", encrypt_us=None),
        *series(5, (0, 1, 2), cipher="rc4", implementation="motecrypt"),
        *series(4, (0, 1, 2), cipher="rc4", implementation="motecrypt"),
        *series(6, (1, 2, 3), device="pico", cipher="rc4", implementation="motecrypt"),
    ]
    lines = told(
        "return lengthLines(explorerRows(), {lengthsOf: 'time', operation: 'encrypt'})"
        ".map((line) => [line.name, line.cost, line.placement, line.group, [...line.values]]);",
        rows,
    )
    assert lines == [
        ["uno rc4 motecrypt, 128 bit", 0, "flash", "uno rc4", [[0, 0], [1, 4], [2, 8]]],
        [
            "uno aes128-ccm8 motecrypt/quick (ram)",
            2,
            "ram",
            "uno aes128-ccm8",
            [[16, 32], [32, 64], [64, 128]],
        ],
        ["pico rc4 motecrypt, 128 bit", 6, "flash", "pico rc4", [[1, 6], [2, 12], [3, 18]]],
    ]


ORDERS = {
    "flash false": "bacd",
    "flash true": "cabd",
    "time false": "cabd",
    "energy false": "abcd",
    "security false": "badc",
    "security true": "cdab",
    "implementation false": "dabc",
    "implementation true": "bcad",
    "front false": "cabd",
    "nothing false": "cabd",
    "stack true": "abcd",
    "device false": "dabc",
    "device true": "abcd",
}
"""Of four rows, by the column and whether it descends."""


def test_the_table_sorts_and_unknown_figures_are_last() -> None:
    unknown = {"flash_bytes": None, "encrypt_us": None}
    rows = [
        {"flash_bytes": 200, "encrypt_us": 5, "security": "acceptable"},
        {"flash_bytes": 30, "encrypt_us": 5, "implementation": "z"},
        {"flash_bytes": 1000, "encrypt_us": 4, "security": "broken", "implementation": "z"},
        {**unknown, "security": "legacy", "implementation": "a", "device": "pico"},
    ]
    code = (
        "const rows = explorerRows(); const front = new Map([[rows[2], 1], [rows[0], 2]]);"
        f"return {json.dumps([*ORDERS])}.map((order) => {{"
        "const [sort, turn] = order.split(' ');"
        "const state = {sort, descending: turn === 'true', operation: 'encrypt'};"
        "return sortedRows(rows, state, front).map((row) => 'abcd'[rows.indexOf(row)]).join(''); });"
    )
    assert dict(zip(ORDERS, told(code, rows), strict=True)) == ORDERS


def test_values_for_csv_have_every_field() -> None:
    code = (
        "const rows = explorerRows(); const front = new Map([[rows[0], 1]]);"
        "return explorerValues(rows, {operation: 'setup'}, front)"
        ".map((row) => [row.front, row.operation, row.device]);"
    )
    assert told(code, [{}, {"device": "pico"}]) == [[1, "setup", "uno"], [None, "setup", "pico"]]
