"""Results files as earlier versions of the format wrote them."""

from __future__ import annotations

import sqlite3

BACK = {
    6: """
        ALTER TABLE experiment RENAME TO finding;
        DROP INDEX experiment_by_question;
        CREATE INDEX finding_by_question ON finding (kind, version, asked);
    """,
    5: "DROP TABLE claim;",
    4: """
        ALTER TABLE measurement DROP COLUMN system_toolchain;
        ALTER TABLE measurement DROP COLUMN toolchain;
    """,
}
"""What makes a file of the format after into one of this format; before 4 the rows themselves differ."""


def take_back(connection: sqlite3.Connection, version: int) -> None:
    """Make a file of today's format into one of an earlier."""
    for number, script in BACK.items():
        if number >= version:
            connection.executescript(script)
    connection.execute(f"PRAGMA user_version = {version}")
