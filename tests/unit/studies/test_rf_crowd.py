"""What the RF study says of many nodes: each table has its networks; the break-down is the first below."""

from __future__ import annotations

from typing import Any

from motecrypt.link.native import SPREAD_MS
from motecrypt.results import Results
from motecrypt.studies.rf import crowd
from motecrypt.studies.rf import study as rf


def outcome(question: crowd.CrowdQuestion, share: float) -> dict[str, Any]:
    """All networks deliver that share, except the smallest ones."""
    zeros = ("skipped", "packets", "packets_again", "answers", "collided", "deaf", "air_share", "goodput_bps")
    return {
        "rows": [
            {
                "nodes": nodes,
                "interval_s": interval_s,
                "readings": 10,
                "share": 1.0 if nodes < 20 or interval_s > 2 else share,
                **dict.fromkeys(zeros, 0),
                "fairness": 1.0,
            }
            for nodes, interval_s in question.networks
        ]
    }


def test_without_answers_it_says_so(results: Results) -> None:
    (section,) = crowd.sections(results)
    assert section.rows == [["not simulated yet", "reproduce rf --full simulates them, in minutes"]]
    assert crowd.charts(results) == {} and crowd.table(results) == []


def test_each_way_has_its_table_and_the_last_says_where_it_breaks_down(results: Results) -> None:
    for question in crowd.questions():
        share = 0.5 if question.confirmed else 0.99
        results.store_experiment(question.KIND, question.VERSION, question.asked(), outcome(question, share))
    *tables, last = crowd.sections(results)
    networks = len(crowd.NODES) + len(crowd.INTERVALS_S)
    assert [len(table.rows) for table in tables] == [3 * networks, 3 * networks, networks]
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)
    assert {row[0] for row in tables[2].rows} == {"srf"} and tables[0].rows[0][-4:] == [""] * 4
    assert [row[:2] for row in last.rows][:2] == [["srf", "confirmed"], ["nrf24", "confirmed"]]
    assert last.rows[0][2:] == ["20", "2 s"]
    assert crowd.SPREAD_MS == SPREAD_MS and last.rows[-1][1] == "confirmed, one deadline for all"
    assert last.rows[3][2:] == ["none up to 50", "none down to 0.25 s"]
    assert "recorded" not in last.text
    charts = crowd.charts(results)
    assert rf.charts(results).items() > charts.items()
    assert {len(chart["data"]["values"]) for chart in charts.values()} == {7 * len(crowd.NODES)}
    assert len(crowd.table(results)) == 7 * networks
