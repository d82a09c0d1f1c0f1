"""The stored format and its migrations. docs/formats.md describes it for outsiders."""

from __future__ import annotations

APPLICATION_ID = 0x6D6F7465  # "mote"

#: One script per version; the file's user_version says how many have been applied.
MIGRATIONS = (
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
)

VERSION = len(MIGRATIONS)
