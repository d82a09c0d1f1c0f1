"""What docs/radio.md states of many nodes and of protocols, and docs/link.md of sizes, is what they are."""

from __future__ import annotations

import re

import pytest

from documented import DOCS, missing, with_recorded
from motecrypt.results import Results
from motecrypt.results.experiments.crowd import CrowdQuestion, CrowdRow
from motecrypt.studies.rf import crowd, protocols
from unit.link.test_link_on_uno import MOST_CYCLES_AND_STACK, MOST_FLASH_AND_RAM

WORDS = {
    (False, crowd.SPREAD_MS): "unconfirmed",
    (True, crowd.SPREAD_MS): "confirmed",
    (True, 0.0): "confirmed, one deadline for all",
}
SHOWN = (1, 10, 20, 50)


@pytest.fixture
def recorded(results: Results) -> Results:
    return with_recorded(results, "rf")


def _way(question: CrowdQuestion) -> str:
    return WORDS.get((question.confirmed, question.spread_ms), "unconfirmed")


def _arrived(row: CrowdRow, confirmed: bool) -> str:
    share = f"{100 * row.share:.1f}".removesuffix(".0") + " %"
    late = row.latency_p99_ms
    assert late is not None
    if not confirmed:
        return share
    return f"{share}, {late:.1f} ms" if late < 10 else f"{share}, {late:,.0f} ms"


def test_the_table_of_many_nodes(recorded: Results) -> None:
    lines = []
    for question in crowd.questions():
        answer = question.answer(recorded)
        assert answer is not None
        by_nodes = {row.nodes: row for row in answer.rows if row.interval_s == 1}
        cells = [_arrived(by_nodes[nodes], question.confirmed) for nodes in SHOWN]
        lines.append(f"| {_way(question)} | {' | '.join(cells)} |")
    assert missing("radio.md", *lines) == []


def test_the_table_of_where_networks_break_down(recorded: Results) -> None:
    last = crowd.sections(recorded)[-1]
    told = {"none up to 50": "not up to 50"}
    lines = []
    for question, row in zip(crowd.questions(), last.rows, strict=True):
        nodes = told.get(row[2], f"{row[2]} nodes")
        lines.append(f"| `{row[0]}` | {_way(question)} | {nodes} | {row[3]} |")
    assert missing("radio.md", *lines) == []


def test_what_the_page_says_of_slow_readings_and_of_the_channel(recorded: Results) -> None:
    rows = list(crowd.rows(recorded))
    slow = [row.share for _, row in rows if (row.nodes, row.interval_s) == (50, 10)]
    used = {
        question.spread_ms: f"{100 * row.air_share:.0f} %"
        for question, row in rows
        if (question.radio, question.confirmed) == ("srf", True) and (row.nodes, row.interval_s) == (50, 1)
    }
    assert (
        missing(
            "radio.md",
            f"serve 50 nodes ({100 * min(slow):.1f} % or more)",
            f"(at 50 nodes it is in use for {used[crowd.SPREAD_MS]} of the time, with one deadline for all "
            f"{used[0.0]})",
            f"{crowd.SPREAD_MS:g} ms from node to node",
        )
        == []
    )


def test_the_table_of_protocols() -> None:
    found = {(r.radio, r.protocol, r.loss): r for r in protocols.rows(payloads=(6,))}
    lines = []
    for protocol in dict.fromkeys(r.protocol for r in found.values()):
        alone = [found[radio, protocol, 0.0] for radio in ("srf", "nrf24", "802.15.4")]
        lost = [found["srf", protocol, loss] for loss in (0.01, 0.05, 0.1)]
        cells = [f"{r.packets:g}, {r.air_bytes:g}, {r.delivery_ms:.1f} ms" for r in alone]
        cells += [
            f"{100 * r.delivered:.2f} %, {r.done_ms:,.0f} ms, {r.sender_uj / 1000:.1f} mJ" for r in lost
        ]
        lines.append(f"| {protocol} | {' | '.join(cells)} |")
    assert len(lines) > 8 and missing("radio.md", *lines) == []


def test_what_readings_of_two_lengths_cost_by_the_link() -> None:
    found = {(r.payload_bytes, r.protocol): r for r in protocols.rows(("srf",), (6, 14)) if r.loss == 0}
    short, long = (found[payload, "link, unconfirmed"] for payload in (6, 14))
    paper = found[6, "C: AES-CBC in hex"]
    assert (
        missing(
            "radio.md",
            f"6 bytes is {short.written_bytes} bytes in one packet and is delivered after "
            f"{short.delivery_ms:.1f} ms. One of 14 bytes is {long.written_bytes} bytes in "
            f"{long.packets:g} packets and is delivered after {long.delivery_ms:.1f} ms. The paper's "
            f"hex string without IV is {paper.written_bytes} bytes in {paper.packets:g} packets and is "
            "delivered after "
            f"{paper.delivery_ms:.0f} ms.",
        )
        == []
    )


def test_the_sizes_of_the_link_are_those_that_its_test_allows_and_their_parts_are_all() -> None:
    both, sends = MOST_FLASH_AND_RAM["5.4"]["both ways"], MOST_FLASH_AND_RAM["5.4"]["sends only"]
    (seal, stack), (seal_fast, stack_fast) = (MOST_CYCLES_AND_STACK["5.4"][aes] for aes in ("tiny", "fast"))
    newer = [MOST_FLASH_AND_RAM["14.2"][way][0] for way in ("both ways", "sends only")]
    assert (
        missing(
            "link.md",
            f"| flash, both directions; sending only (`aes_tiny`) | {both[0]:,} bytes; {sends[0]:,} bytes |",
            f"without message buffers; sending only | {both[1]} bytes; {sends[1]} bytes |",
            f"| stack at most | {stack} bytes; {stack_fast} bytes |",
            f"| seal or open a reading of 6 bytes | {seal:,} cycles; {seal_fast:,} cycles |",
            f"The {both[0]:,} bytes are:",
            f"takes {newer[0]:,} bytes in both directions and {newer[1]:,} bytes for sending only",
        )
        == []
    )
    page = (DOCS / "link.md").read_text(encoding="utf-8")
    parts = page.partition("bytes are:")[2].partition("With avr-gcc 14.2")[0]
    cells = [line.split("|")[2] for line in parts.splitlines() if line.startswith("| ")][1:]
    numbers = re.findall(r"[0-9,]+", " ".join(cells))
    assert sum(int(number.replace(",", "")) for number in numbers) == both[0]
