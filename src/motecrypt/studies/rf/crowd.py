"""Many nodes on one channel, which the source names as what it leads to: where a network breaks down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from motecrypt.base.model import Section
from motecrypt.results import Results
from motecrypt.results.experiments import recorded
from motecrypt.results.experiments.crowd import SHARE, CrowdQuestion, CrowdRow, breaks_down
from motecrypt.studies.words import words

RADIOS = ("srf", "nrf24", "802.15.4")
NODES = (1, 2, 5, 10, 20, 35, 50)
INTERVALS_S = (10.0, 5.0, 2.0, 0.5, 0.25)
SECONDS = 120.0
SPREAD_MS = 7.0
"""By how much the deadlines of two nodes that follow each other differ (link.h, LINK_SPREAD_MS)."""
READING_BYTES = 6
NETWORKS = (*((nodes, 1.0) for nodes in NODES), *((NODES[-1], interval_s) for interval_s in INTERVALS_S))
WAYS = {
    (True, SPREAD_MS): "confirmed",
    (False, 0.0): "unconfirmed",
    (True, 0.0): "confirmed, one deadline for all",
}
"""Whether readings are confirmed, and by how much the deadlines of two nodes differ; how tables say it."""
COLUMNS = (
    *("radio", "nodes", "every s", "delivered %", "skipped", "sent again", "collided", "deaf"),
    *("channel in use %", "goodput bit/s", "fairness", "p50 ms", "p90 ms", "p99 ms", "max ms"),
)


def questions() -> list[CrowdQuestion]:
    """Each radio, confirmed and not; to compare, one deadline for all where radios wait for each other."""
    ways = [(radio, *way) for way in list(WAYS)[:2] for radio in RADIOS]
    ways.append((RADIOS[0], True, 0.0))
    return [
        CrowdQuestion(radio, confirmed, spread_ms, NETWORKS, SECONDS) for radio, confirmed, spread_ms in ways
    ]


def rows(results: Results) -> Iterator[tuple[CrowdQuestion, CrowdRow]]:
    """All networks that are stored, each with its question."""
    for question in questions():
        answer = question.answer(results)
        for row in () if answer is None else answer.rows:
            yield question, row


def table(results: Results) -> list[dict[str, Any]]:
    """All networks as plain records."""
    return [
        {
            "radio": question.radio,
            "confirmed": question.confirmed,
            "spread_ms": question.spread_ms,
            "reading_bytes": READING_BYTES,
            "seconds": question.seconds,
            **vars(row),
        }
        for question, row in rows(results)
    ]


def sections(results: Results) -> list[Section]:
    """A table for each way to send, and where each network breaks down."""
    stored = list(rows(results))
    if not stored:
        rows_told = [["not simulated yet", "reproduce rf --full simulates them, in minutes"]]
        return [Section("Many nodes: where a network breaks down", ("networks", "what to do"), rows_told)]
    made = [
        Section(
            f"Many nodes: {way}",
            COLUMNS,
            [
                _cells(question, row)
                for question, row in stored
                if (question.confirmed, question.spread_ms) == key
            ],
        )
        for key, way in WAYS.items()
    ]
    return [*made, _breakdown(results)]


def _cells(question: CrowdQuestion, row: CrowdRow) -> list[str]:
    late = (row.latency_p50_ms, row.latency_p90_ms, row.latency_p99_ms, row.latency_max_ms)
    return [
        question.radio,
        str(row.nodes),
        f"{row.interval_s:g}",
        f"{100 * row.share:.2f}",
        *(f"{count:,}" for count in (row.skipped, row.packets_again, row.collided, row.deaf)),
        f"{100 * row.air_share:.2f}",
        f"{row.goodput_bps:,.0f}",
        f"{row.fairness:.4f}",
        *("" if value is None else f"{value:,.1f}" for value in late),
    ]


def _breakdown(results: Results) -> Section:
    """With how many nodes, and with which interval of 50, less than the share arrives."""
    told = []
    for question in questions():
        answer = question.answer(results)
        if answer is None:
            continue
        by_nodes = [(row.nodes, row.share) for row in answer.rows if row.interval_s == 1]
        by_rate = [(1 / row.interval_s, row.share) for row in answer.rows if row.nodes == NODES[-1]]
        nodes, rate = breaks_down(by_nodes), breaks_down(by_rate)
        told.append(
            [
                question.radio,
                WAYS[question.confirmed, question.spread_ms],
                f"none up to {NODES[-1]}" if nodes is None else f"{nodes:g}",
                f"none down to {min(INTERVALS_S):g} s" if rate is None else f"{1 / rate:g} s",
            ]
        )
    found = [question.find(results) for question in questions()]
    days = recorded.days(experiment for experiment in found if experiment is not None)
    return words("rf").section(
        "nodes",
        told,
        most=NODES[-1],
        bytes=READING_BYTES,
        seconds=SECONDS,
        share=100 * SHARE,
        when=f" As recorded on {', '.join(days)}; --full simulates them again." if days else "",
    )


def charts(results: Results) -> dict[str, dict[str, Any]]:
    """The share delivered and the 99th percentile of the latency by the number of nodes."""
    values = [
        {
            "nodes": row.nodes,
            "delivered": round(100 * row.share, 3),
            "p99": row.latency_p99_ms,
            "network": f"{question.radio}, {WAYS[question.confirmed, question.spread_ms]}",
        }
        for question, row in rows(results)
        if row.interval_s == 1
    ]
    if not values:
        return {}
    return {
        "rf-nodes-delivered": _chart(
            "readings delivered by the number of nodes",
            values,
            "delivered",
            "readings delivered, %",
            "linear",
        ),
        "rf-nodes-latency": _chart(
            "99th percentile of the latency by the number of nodes",
            values,
            "p99",
            "99th percentile of the latency, ms",
            "log",
        ),
    }


def _chart(title: str, values: Sequence[Any], field: str, unit: str, scale: str) -> dict[str, Any]:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": title,
        "description": f"{title[:1].upper()}{title[1:]}: a reading of {READING_BYTES} bytes from each "
        f"node every second for {SECONDS:g} s over the secure link, simulated.",
        "background": "white",
        "width": 520,
        "height": 260,
        "data": {"values": list(values)},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "nodes", "type": "quantitative", "title": "nodes"},
            "y": {
                "field": field,
                "type": "quantitative",
                "title": unit,
                "scale": {"type": scale, "zero": False},
            },
            "color": {"field": "network", "type": "nominal", "sort": None, "title": None},
            "shape": {"field": "network", "type": "nominal", "sort": None, "title": None},
            "tooltip": [{"field": "network"}, {"field": "nodes"}, {"field": field, "format": ".4g"}],
        },
    }
