"""The secure link as the adviser counts with it: data/link.toml, read and checked."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from motecrypt.adviser.model import LinkFacts, SuiteWork
from motecrypt.base.descriptor import Table
from motecrypt.link.lengths import FILE, LENGTHS

RULES = (
    "answer_ms",
    "tries",
    "short_after_answer",
    "long_every",
    "claim_sent",
    "claim_received",
    "save_bytes_changed",
)
WORK = ("base", "block", "block_bytes", "derive", "prove")


@lru_cache(maxsize=1)
def link_facts() -> LinkFacts:
    """The secure link's lengths, rules and work, from data/link.toml."""
    return read_link(FILE)


def read_link(path: Path) -> LinkFacts:
    """The same from a file; InputError for what is not as it should be."""
    table = Table.read(path)
    packets, rules = table.table("packets"), table.table("rules")
    suites = {name: _read_suite(t) for name, t in table.named_tables("suite").items()}
    table.done()

    facts = LinkFacts(
        **{name: packets.integer(name, low=1, high=255) for name in LENGTHS},
        **{name: rules.integer(name, low=1, high=65535) for name in RULES},
        suites=suites,
    )
    packets.done()
    rules.done()
    return facts


def _read_suite(table: Table) -> SuiteWork:
    work = SuiteWork(
        **{name: table.integer(name, low=1) for name in WORK},
        part_blocks=table.flag("part_blocks", False),
        setup=table.flag("setup", False),
    )
    table.done()
    return work
