"""Lines about nodes: what one node does fills no log."""

from __future__ import annotations

from motecrypt.link.gateway import notices
from motecrypt.link.gateway.notices import NodeNotices


def test_ten_lines_about_a_node_then_one_a_minute_and_others_have_their_own() -> None:
    now, told = [50.0], list[str]()
    notice = NodeNotices(told.append, lambda: now[0])
    assert (notices.LINES_MAX, notices.EVERY_S) == (10, 60)
    for number in range(100):
        notice(5, f"{number}")
    notice(6, "six")
    assert told == [*(f"{number}" for number in range(10)), "six"]
    told.clear()
    for _ in range(179):
        now[0] += 1.0
        notice(5, "again")
    assert told == [
        "again (149 more lines about this node were omitted)",
        "again (59 more lines about this node were omitted)",
    ]
    now[0] += 3600.0
    told.clear()
    for number in range(12):
        notice(5, f"{number}")
    assert told[0] == "0 (59 more lines about this node were omitted)"
    assert told[1:] == [f"{number}" for number in range(1, 10)], "no more than ten together"
