"""What both studies say of public keys on an UNO and a Pico, over two radios: figures and sentences. After
a change of the recorded figures, or one that is meant, look at the difference that this makes:

    PYTHONPATH=src:tests .venv/bin/python tests/unit/publickey/test_exact_asymmetric.py && git diff tests/data
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from goldens.text import plain
from motecrypt.catalog import Catalog
from motecrypt.studies.rf import asymmetric as rf
from motecrypt.studies.wlan import asymmetric as wlan

KEPT = Path(__file__).parents[2] / "data" / "asymmetric.json"
#: Rows of these devices and algorithms: others may come; claims over all of them are judged elsewhere.
ROWS = re.compile(
    r"-(pico|uno)(-(x25519|rsa2048|aes|rsa|elgamal|edhoc|edhoc-once|edhoc-day|agree|verify|sign).*)?$"
)
RADIOS = ("srf", "lora")


def told() -> str:
    """A line for each row."""
    catalog = Catalog.load()
    rows = [*wlan.asymmetric(catalog), *rf.asymmetric("a source", catalog)]
    found: list[Any] = [plain(row) for row in rows if ROWS.search(row.id)]
    first, *more = [section for part in (wlan, rf) for section in part.sections(catalog)]
    for section in (first, *more):
        found.append([section.title, list(section.columns), section.text])
        found += [
            list(map(str, row))
            for row in section.rows
            if {str(row[0]), str(row[1])} & {"pico", "uno", *RADIOS}
        ]
    found += [plain(record) for record in rf.table(catalog) if record["radio"] in RADIOS]
    return (
        "[\n" + ",\n".join(json.dumps(each, ensure_ascii=False, sort_keys=True) for each in found) + "\n]\n"
    )


def test_what_is_said_of_public_keys_is_what_was_said() -> None:
    assert told().splitlines() == KEPT.read_text().splitlines()


if __name__ == "__main__":
    KEPT.write_text(told())
