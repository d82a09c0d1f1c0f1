"""What a transfer costs on a radio: packets and bytes, and the block size that is best. Pure.

`bare`: packets of TFTP are packets of the radio. `over_link`: they are messages of the secure link
(docs/link.md): an ACK goes unconfirmed and in short form where that is possible, a block of more than
`PLAIN_MAX` fragments goes confirmed, so that only missing fragments are sent again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from motecrypt.link.lengths import (
    Framing,
    content_bytes,
    is_short,
    link_lengths,
    long_sizes,
    message_bytes_max,
    short_room,
)
from motecrypt.link.tftp.packets import BLOCK_MAX, BLOCK_MIN, HEAD, Opcode, Packet

PLAIN_MAX = 2
"""Fragments of a message that is not confirmed: of more, one that is lost would cost too many."""
ACK_BYTES = len(Packet(Opcode.ACK).encode())


@dataclass(frozen=True)
class TransferCost:
    """Of one transfer without loss.

    Attributes
    ----------
    blocks : DATA packets of TFTP.
    sender_packets, sender_bytes : what the end that has the file sends, answers of the link included.
    receiver_packets, receiver_bytes : the same of the other end.
    """

    blocks: int
    sender_packets: int
    sender_bytes: int
    receiver_packets: int
    receiver_bytes: int

    @property
    def packets(self) -> int:
        """Of both."""
        return self.sender_packets + self.receiver_packets

    @property
    def bytes(self) -> int:
        """Of both."""
        return self.sender_bytes + self.receiver_bytes


@dataclass(frozen=True)
class MessageCost:
    """Of one packet of TFTP on the way: radio packets and bytes, and those of the link's answer to it."""

    packets: int
    bytes: int
    answers: int = 0
    answer_bytes: int = 0


def ack_bytes(framing: Framing) -> int:
    """How long an ACK is made: on a stream a short packet must be filled."""
    fills = short_room(link_lengths(), framing)
    return max(ACK_BYTES, fills) if framing.stream and framing.short else ACK_BYTES


def confirmed(message_bytes: int, framing: Framing) -> bool:
    """Whether a packet of TFTP is sent as a confirmed message."""
    return len(long_sizes(link_lengths(), framing, message_bytes)) > PLAIN_MAX


def link_message(message_bytes: int, framing: Framing) -> MessageCost:
    """Of one packet of TFTP inside the link, both ends synchronised."""
    link = link_lengths()
    if is_short(link, framing, message_bytes):
        return MessageCost(1, message_bytes + link.short_overhead_bytes)
    sizes = long_sizes(link, framing, message_bytes)
    if not confirmed(message_bytes, framing):
        return MessageCost(len(sizes), sum(sizes))
    answer = framing.packet_bytes if framing.stream else link.answer_bytes
    return MessageCost(len(sizes), sum(sizes), 1, answer)


def bare_message(message_bytes: int, packet_bytes: int) -> MessageCost:
    """Of one packet of TFTP that is sent as it is, in as many packets of the radio as it takes."""
    return MessageCost(-(-message_bytes // packet_bytes), message_bytes)


def over_link(file_bytes: int, block_bytes: int, framing: Framing) -> TransferCost:
    """Of a file that a client reads inside the link, from its request to the last ACK, without loss."""
    ack = ack_bytes(framing)
    return _whole(file_bytes, block_bytes, ack, lambda count: link_message(count, framing), timeout_s=5)


def bare(file_bytes: int, block_bytes: int, packet_bytes: int) -> TransferCost:
    """The same without the link."""
    return _whole(
        file_bytes, block_bytes, ACK_BYTES, lambda count: bare_message(count, packet_bytes), timeout_s=5
    )


def _whole(
    file_bytes: int, block_bytes: int, ack: int, message: Callable[[int], MessageCost], timeout_s: int
) -> TransferCost:
    asked = {"blksize": str(block_bytes), "timeout": str(timeout_s), "tsize": "0"}
    request = Packet(Opcode.READ, name="log", options=asked)
    agreed = Packet(Opcode.OACK, options={**asked, "tsize": str(file_bytes)})
    full, rest = divmod(file_bytes, block_bytes)
    sent = [(1, len(agreed.encode())), (full, HEAD + block_bytes), (1, HEAD + rest)]
    received = [(1, len(request.encode())), (full + 2, ack)]
    sums = [0, 0, 0, 0]
    for own, other, lengths in ((0, 2, sent), (2, 0, received)):
        for count, length in lengths:
            if count:
                cost = message(length)
                sums[own] += count * cost.packets
                sums[own + 1] += count * cost.bytes
                sums[other] += count * cost.answers
                sums[other + 1] += count * cost.answer_bytes
    return TransferCost(
        blocks=full + 1,
        sender_packets=sums[0],
        sender_bytes=sums[1],
        receiver_packets=sums[2],
        receiver_bytes=sums[3],
    )


def best_block(framing: Framing, room: int | None = None) -> int:
    """The block size with the fewest radio packets for each byte inside the link.

    Parameters
    ----------
    room : int, optional
        The longest message that both ends have room for; by default the link's longest.
    """
    link = link_lengths()
    longest = message_bytes_max(link, framing)
    longest = min(longest if room is None else room, longest, BLOCK_MAX + HEAD)
    ack = link_message(ack_bytes(framing), framing).packets

    def each(block: int) -> float:
        cost = link_message(HEAD + block, framing)
        return (cost.packets + cost.answers + ack) / block

    around = content_bytes(link, framing, HEAD)
    piece = framing.packet_bytes - link.piece_head_bytes
    filled = (count * piece - around for count in range(1, link.pieces_max + 1))
    return min(
        (block for block in (*filled, longest - HEAD) if BLOCK_MIN <= block <= longest - HEAD), key=each
    )
