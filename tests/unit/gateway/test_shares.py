"""Shares of places that many use: what belongs to one is never taken by others."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motecrypt.link.gateway.shares import gives_way, may_add, share_of_each


@pytest.mark.parametrize(
    ("most", "peers", "each"), [(100_000, 1, 50_000), (100_000, 62, 806), (100, 0, 50), (3, 2, 1), (1, 62, 1)]
)
def test_half_of_the_places_belong_to_peers_and_one_at_least(most: int, peers: int, each: int) -> None:
    assert share_of_each(most, peers) == each


def test_one_peer_has_all_places_and_a_stranger_has_no_share() -> None:
    assert [may_add({5: used}, [5], 5, 4) for used in range(5)] == [True] * 4 + [False]
    assert [may_add({9: used}, [5, 6], 9, 8) for used in range(6)] == [True] * 4 + [False] * 2


@given(st.integers(1, 8), st.integers(0, 60), st.lists(st.integers(0, 7), max_size=300))
def test_whoever_comes_in_whatever_order_each_gets_its_share(peers: int, more: int, wants: list[int]) -> None:
    """The places of all are never exceeded, and a peer with less than its share is never refused."""
    most, used = 2 * peers + more, Counter[int]()
    for want in wants:
        peer = want % peers
        if may_add(used, range(peers), peer, most):
            used[peer] += 1
        else:
            assert used[peer] >= share_of_each(most, peers)
        assert used.total() <= most
    for peer in range(peers):
        while used[peer] < share_of_each(most, peers):
            assert may_add(used, range(peers), peer, most)
            used[peer] += 1
    assert used.total() <= most
    assert not wants or may_add({}, range(peers), 0, most, room=0), "also where others use places, too"


@pytest.mark.parametrize(
    ("used", "peer", "greedy"),
    [
        ({}, "a", None),
        ({"a": 4}, "a", None),
        ({"a": 4}, "b", "a"),
        ({"a": 2, "b": 2}, "c", "a"),
        ({"a": 1, "b": 3}, "a", "b"),
        ({"a": 1, "b": 2}, "a", None),
        ({"a": 1, "b": 1}, "c", None),
    ],
)
def test_who_has_two_more_gives_way(used: dict[str, int], peer: str, greedy: str | None) -> None:
    assert gives_way(used, peer) == greedy
