"""The stored format and its migrations. docs/formats.md describes it for outsiders."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from motecrypt.base.errors import InputError
from motecrypt.base.paths import open_regular

APPLICATION_ID = 0x6D6F7465  # `mote`
_BEGINNING = b"SQLite format 3\0"


def check_is_database(path: Path) -> None:
    """InputError for a file that is not SQLite's; SQLite would write into an empty one, only to read it."""
    with open_regular(path) as file:
        if file.read(len(_BEGINNING)) != _BEGINNING:
            raise InputError(f"{path}: not a results file; choose another with --db")


def question(asked: Any) -> str:
    """A question as text, by which results are found: keys sorted, and 51.0 as 51, the same number."""
    return json.dumps(_whole(asked), sort_keys=True, separators=(",", ":"))


def _whole(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _whole(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _questions_of_whole_numbers(connection: sqlite3.Connection) -> None:
    """Formats before kept the questions' numbers as they came."""
    for row, asked in connection.execute("SELECT rowid, asked FROM finding").fetchall():
        try:
            text = question(json.loads(asked))
        except (ValueError, TypeError, RecursionError):
            continue  # damaged: no question finds it
        connection.execute("UPDATE finding SET asked = ? WHERE rowid = ?", (text, row))


def _shortfalls_from_sentences(connection: sqlite3.Connection) -> None:
    """Up to format 2, what does not fit was one sentence of fixed form; from format 3 on it is data."""
    form = re.compile(r"does not fit: needs ([0-9,]+) of ([0-9,]+) bytes of (flash|RAM)")
    rows = connection.execute(
        "SELECT key, reason, extra FROM measurement WHERE status = 'does-not-fit'"
    ).fetchall()
    for key, sentence, extra in rows:
        read = form.fullmatch(sentence) if isinstance(sentence, str) else None
        if read is None:
            continue
        needed, available = (int(text.replace(",", "")) for text in read.groups()[:2])
        try:
            kept = json.loads(extra)
        except ValueError:
            continue  # damaged: reported by the reader of the row
        if not isinstance(kept, dict):
            continue
        shortfall = {"memory": read[3].lower(), "needed": needed, "available": available}
        changed = json.dumps(
            {**kept, "failure": "does-not-fit", "shortfall": shortfall}, sort_keys=True, separators=(",", ":")
        )
        connection.execute("UPDATE measurement SET extra = ? WHERE key = ?", (changed, key))


#: One step per version, a script or a function; the file's user_version says how many have been applied.
MIGRATIONS: tuple[str | Callable[[sqlite3.Connection], None], ...] = (
    """
    CREATE TABLE measurement (
        key TEXT PRIMARY KEY,
        device TEXT NOT NULL, library TEXT NOT NULL, configuration TEXT NOT NULL,
        cipher TEXT NOT NULL, variant TEXT NOT NULL, key_bits INTEGER NOT NULL,
        operation TEXT NOT NULL, message_bytes INTEGER NOT NULL, ad_bytes INTEGER NOT NULL,
        tag_bytes INTEGER NOT NULL, placement TEXT NOT NULL, cache TEXT NOT NULL,
        cycles_min INTEGER, cycles_median INTEGER, cycles_max INTEGER, inputs INTEGER NOT NULL,
        timing_varies INTEGER, time_us REAL, flash_bytes INTEGER, flash_symbol_bytes INTEGER,
        ram_bytes INTEGER, eeprom_bytes INTEGER, stack_bytes INTEGER,
        status TEXT NOT NULL, reason TEXT NOT NULL, compiler TEXT NOT NULL, flags TEXT NOT NULL,
        runner TEXT NOT NULL, cycles_exact INTEGER NOT NULL, elf_sha256 TEXT NOT NULL,
        measured_at TEXT NOT NULL, motecrypt_version TEXT NOT NULL, extra TEXT NOT NULL
    );
    CREATE INDEX measurement_by_cipher ON measurement (cipher, device, library);
    CREATE TABLE finding (
        kind TEXT NOT NULL, version INTEGER NOT NULL, inputs TEXT NOT NULL, outcome TEXT NOT NULL,
        made_at TEXT NOT NULL, motecrypt_version TEXT NOT NULL,
        PRIMARY KEY (kind, version, inputs)
    );
    """,
    # The request is stored separately from how it was made. In existing rows, the flags asked are those that
    # the compiler was given, less the machine's; none if they are the default flags of the devices and
    # variants of that format. A failed build kept the flags asked already. Of findings, what was asked is
    # the inputs without builds, hashes of code, tools and machines.
    """
    ALTER TABLE measurement ADD COLUMN flags_asked TEXT NOT NULL DEFAULT '';
    UPDATE measurement SET flags_asked = CASE
        WHEN compiler = '' THEN flags
        WHEN flags IN (
            '-O2', '-O2 -O2',
            '-mmcu=atmega328p -Os', '-mmcu=atmega328p -Os -O2', '-mmcu=atmega328p -Os -mstrict-X',
            '-mcpu=cortex-m0plus -mthumb -Os', '-mcpu=cortex-m0plus -mthumb -Os -O2'
        ) THEN ''
        ELSE trim(replace(replace(flags, '-mmcu=atmega328p', ''), '-mcpu=cortex-m0plus -mthumb', ''))
    END;
    ALTER TABLE finding ADD COLUMN asked TEXT NOT NULL DEFAULT '';
    UPDATE finding SET asked = CASE kind
        WHEN 'audit' THEN json_remove(inputs, '$.build', '$.builds', '$.code', '$.device', '$.runner')
        WHEN 'call-sequence' THEN json_remove(inputs, '$.build', '$.code', '$.runner')
        WHEN 'data-types' THEN json_remove(inputs, '$.sources')
        WHEN 'features' THEN json_remove(inputs, '$.build', '$.code')
        WHEN 'host-speed' THEN json_set(
            json_remove(inputs, '$.counter', '$.driver', '$.ours', '$.processor'),
            '$.libraries',
            json((SELECT json_group_array(key) FROM json_each(inputs, '$.libraries')))
        )
        WHEN 'password-derivation' THEN json_remove(inputs, '$.processor')
        WHEN 'pico-file' THEN json_remove(inputs, '$.firmware', '$.runner', '$.times')
        WHEN 'wlan-transfer' THEN json_remove(inputs, '$.program')
        ELSE inputs
    END;
    CREATE INDEX finding_by_question ON finding (kind, version, asked);
    """,
    _shortfalls_from_sentences,
    _questions_of_whole_numbers,
    # Of the rows there are, the compiler's own word shows which of the toolchains of that format it was.
    """
    ALTER TABLE measurement ADD COLUMN toolchain TEXT NOT NULL DEFAULT '';
    ALTER TABLE measurement ADD COLUMN system_toolchain INTEGER NOT NULL DEFAULT 1;
    UPDATE measurement SET toolchain = CASE compiler
        WHEN 'avr-gcc (GCC) 5.4.0' THEN 'gcc-5.4'
        WHEN 'avr-gcc (GCC) 14.2.0' THEN 'gcc-14'
        WHEN 'arm-none-eabi-gcc (15:12.2.rel1-1) 12.2.1 20221205' THEN 'gcc-12'
        WHEN 'arm-none-eabi-gcc (15:14.2.rel1-1) 14.2.1 20241119' THEN 'gcc-14'
        ELSE ''
    END;
    """,
    # Who is measuring what (results/claims.py); deadline: seconds since 1970.
    """
    CREATE TABLE claim (key TEXT PRIMARY KEY, owner TEXT NOT NULL, deadline REAL NOT NULL);
    """,
    """
    ALTER TABLE finding RENAME TO experiment;
    DROP INDEX finding_by_question;
    CREATE INDEX experiment_by_question ON experiment (kind, version, asked);
    """,
)

VERSION = len(MIGRATIONS)


@cache
def statements() -> dict[str, str]:
    """The statement that made each table and index of this version, by its name."""
    connection = sqlite3.connect(":memory:")
    try:
        for step in MIGRATIONS:
            if isinstance(step, str):
                connection.executescript(step)
            else:
                step(connection)
        found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        return dict(found.fetchall())
    finally:
        connection.close()
