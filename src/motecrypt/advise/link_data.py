"""The secure link as the adviser counts with it: data/link.toml, read and checked."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from motecrypt.advise.records import LinkFacts, SuiteWork
from motecrypt.catalog import DATA
from motecrypt.descriptor import Table


@lru_cache(maxsize=1)
def link_facts() -> LinkFacts:
    """The secure link's lengths, rules and work, from data/link.toml."""
    return read_link(DATA / "link.toml")


def read_link(path: Path) -> LinkFacts:
    """The same from a file; InputError for what is not as it should be."""
    table = Table.read(path)
    packets, rules = table.table("packets"), table.table("rules")
    suites = {name: _read_suite(t) for name, t in table.named_tables("suite").items()}
    table.done()

    def packet(name: str) -> int:
        return packets.integer(name, low=1, high=255)

    def rule(name: str) -> int:
        return rules.integer(name, low=1, high=65535)

    facts = LinkFacts(
        packet_bytes_min=packet("packet_bytes_min"),
        packet_bytes_max=packet("packet_bytes_max"),
        short_overhead_bytes=packet("short_overhead_bytes"),
        short_tag_bytes=packet("short_tag_bytes"),
        piece_head_bytes=packet("piece_head_bytes"),
        long_overhead_bytes=packet("long_overhead_bytes"),
        long_tag_bytes=packet("long_tag_bytes"),
        pieces_max=packet("pieces_max"),
        answer_bytes=packet("answer_bytes"),
        answer_ms=rule("answer_ms"),
        tries=rule("tries"),
        short_after_answer=rule("short_after_answer"),
        one_way_long_every=rule("one_way_long_every"),
        claim_sent=rule("claim_sent"),
        claim_received=rule("claim_received"),
        save_bytes_changed=rule("save_bytes_changed"),
        suites=suites,
    )
    packets.done()
    rules.done()
    return facts


def _read_suite(table: Table) -> SuiteWork:
    work = SuiteWork(
        base=table.integer("base", low=1),
        block=table.integer("block", low=1),
        block_bytes=table.integer("block_bytes", low=1),
        part_blocks=table.flag("part_blocks", False),
        derive=table.integer("derive", low=1),
        prove=table.integer("prove", low=1),
        setup=table.flag("setup", False),
    )
    table.done()
    return work
