"""Short names of source lines."""

from motecrypt.measuring.audits._places import tell_places


def test_lines_are_grouped_by_kind_and_file():
    places = [("branch", "a/x.c:41"), ("address", "a/y.c:7"), ("branch", "a/x.c:9"), ("branch", "a/x.c:41")]
    assert tell_places(places) == "branch at a/x.c:9 and 41; address at a/y.c:7"
    assert tell_places([("branch", "__udivsi3 (library code)")]) == "branch in __udivsi3 (library code)"
    assert tell_places(("address", f"x.c:{n}") for n in range(1, 12)).endswith("8 and 3 more lines")
    assert tell_places([]) == ""
