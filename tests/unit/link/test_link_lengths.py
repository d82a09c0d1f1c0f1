"""The lengths of the link's packets are those that its core sends, in every framing."""

from __future__ import annotations

import pytest

from link_ends import begun
from motecrypt.link import native as core
from motecrypt.link.lengths import Framing, is_short, link_lengths, long_sizes, message_bytes_max, short_room
from motecrypt.link.native import GATEWAY, LISTENS, LONG, SHORT, STREAM, TAG_16, Event, KeyBlock, framing


@pytest.mark.parametrize("options", range(16))
@pytest.mark.parametrize("packet_bytes", [12, 13, 40, 255])
def test_the_lengths_of_long_messages_are_the_cores(packet_bytes: int, options: int) -> None:
    options |= LISTENS  # the others change no length
    link, framed = link_lengths(), framing(options, packet_bytes)
    longest = message_bytes_max(link, framed)
    assert longest == core.message_bytes_max(options, packet_bytes, 0)
    for length in {0, 1, 6, packet_bytes - 3, 100, longest - 1, longest} & set(range(longest + 1)):
        node = begun(KeyBlock(5, options, packet_bytes, 1, bytes(16)))
        assert node.send(bytes(length), LONG) in (Event.SENT, Event.WAITING)
        sent = tuple(len(node.on_line(packet)) for packet in node.packets())
        assert long_sizes(link, framed, length) == sent, length
    node = begun(KeyBlock(5, options, packet_bytes, 1, bytes(16)))
    assert node.send(bytes(longest + 1), LONG) == Event.TOO_LONG


def test_a_short_packet_is_filled_on_a_stream_alone() -> None:
    link = link_lengths()
    assert short_room(link, Framing(12, True)) == 6
    assert [is_short(link, Framing(12, True), length) for length in (5, 6, 7)] == [False, True, False]
    assert [is_short(link, Framing(12, False), length) for length in (0, 6, 7)] == [True, True, False]
    assert not is_short(link, Framing(12, True, short=False), 6)


def test_a_framing_is_read_from_options() -> None:
    assert framing(SHORT | STREAM | LISTENS, 12) == Framing(12, stream=True, short=True, wide_tag=False)
    assert framing(TAG_16 | GATEWAY, 40) == Framing(40, stream=False, short=False, wide_tag=True)
