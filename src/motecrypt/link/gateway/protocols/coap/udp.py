"""The message layer of CoAP over UDP (RFC 7252, section 4): acknowledgements, retransmission, duplicates.

It does not depend on nodes. Requests and responses go to its user; messages to retransmit and responses
already sent are kept here, within bounds.
"""

from __future__ import annotations

import random
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from motecrypt.link.gateway.protocols.coap.message import (
    CoapError,
    CoapKind,
    CoapMessage,
    Code,
    decode,
    empty,
)

ACK_TIMEOUT_S, ACK_RANDOM, MAX_RETRANSMIT = 2.0, 1.5, 4
EXCHANGE_S, NON_S = 247.0, 145.0
"""EXCHANGE_LIFETIME and NON_LIFETIME: the seconds for which a message ID names one message (section
4.8.2)."""
ACK_AFTER_S = 1.0
"""A confirmable request that has no response by then is acknowledged; its response follows by itself."""
SEEN_MAX = 2000
"""Requests that are remembered. When all are recent, the host with most of them makes room for others."""
SENT_MAX = 200
"""Messages that wait for their acknowledgement; with the same rule for whom they were sent to."""
DATAGRAM_MAX = 2048
READ_MAX = 100
"""Datagrams read in one go."""


class Datagrams(Protocol):
    """What of a socket is needed to send."""

    def sendto(self, data: bytes, address: Any, /) -> int:
        """Send a message to an address."""

    def getpeername(self) -> Any:
        """The address that it is connected to; OSError if it is not."""


@dataclass(frozen=True)
class Peer:
    """The other end: its address, and the socket that reaches it."""

    socket: Datagrams
    address: Any

    @property
    def host(self) -> Any:
        """Who it is, whatever its port: what shares of bounds are counted by."""
        return self.address[0] if isinstance(self.address, tuple) else self.address


@dataclass
class _CoapSeen:
    """A request that has come, and what was answered so far."""

    end_s: float
    ack_s: float | None
    reply: bytes = b""


@dataclass
class _Sent:
    """A confirmable message that was not acknowledged yet."""

    data: bytes
    again_s: float
    pause_s: float
    tries: int
    lost: Callable[[str], None]


class UdpLayer:
    """Messages to and from UDP.

    Attributes
    ----------
    counts : what was dropped, and why; what was sent again.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(seed)
        self._mid = self._random.randrange(0x10000)
        self._seen: dict[tuple[Peer, int], _CoapSeen] = {}
        self._sent: dict[tuple[Peer, int], _Sent] = {}
        self.counts = dict.fromkeys(("malformed", "doubles", "repeated", "overload", "unreachable"), 0)

    # --- what comes

    def receive(self, ready: socket.socket, now_s: float) -> Iterator[tuple[Peer, CoapMessage]]:
        """New requests, and responses; the rest is dealt with here."""
        for _ in range(READ_MAX):
            try:
                data, address = ready.recvfrom(DATAGRAM_MAX)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:  # of a socket that is connected to a server: nobody is there
                self._unreachable(ready, error.strerror or "nobody is there")
                return
            peer = Peer(ready, address)
            message = self.take(peer, data, now_s)
            if message is not None:
                yield peer, message

    def take(self, peer: Peer, data: bytes, now_s: float) -> CoapMessage | None:
        """A new request or response in what came; the rest is dealt with here."""
        try:
            message = decode(data)
        except CoapError:
            self.counts["malformed"] += 1
            if len(data) >= 4 and data[0] & 0xF0 == 0x40:  # confirmable
                self._write(peer, empty(CoapKind.RST, int.from_bytes(data[2:4], "big")))
            return None
        if message.kind in (CoapKind.ACK, CoapKind.RST):
            sent = self._sent.pop((peer, message.mid), None)
            if sent is not None and message.kind is CoapKind.RST:
                sent.lost("reset")
            answered = sent is not None and message.kind is CoapKind.ACK and message.is_response
            return message if answered else None
        if message.code == Code.EMPTY or not (message.is_request or message.is_response):
            self.counts["malformed"] += message.code != Code.EMPTY
            if message.kind is CoapKind.CON:  # a ping, or nothing that we know
                self._write(peer, empty(CoapKind.RST, message.mid))
            return None
        return message if self._is_new(peer, message, now_s) else None

    def _is_new(self, peer: Peer, message: CoapMessage, now_s: float) -> bool:
        confirmable = message.kind is CoapKind.CON
        seen = self._seen.get((peer, message.mid))
        if seen is not None and seen.end_s > now_s:
            self.counts["doubles"] += 1
            if seen.reply and confirmable:
                self._write(peer, seen.reply)
            return False
        if len(self._seen) >= SEEN_MAX:
            self._seen = {key: each for key, each in self._seen.items() if each.end_s > now_s}
            if len(self._seen) >= SEEN_MAX:
                self.counts["overload"] += 1
                oldest = _oldest_of_most(self._seen)
                if oldest[0].host == peer.host:
                    return False
                del self._seen[oldest]
        ack_s = now_s + ACK_AFTER_S if confirmable and message.is_request else None
        made = _CoapSeen(now_s + (EXCHANGE_S if confirmable else NON_S), ack_s)
        self._seen[peer, message.mid] = made
        if confirmable and message.is_response:
            made.reply = empty(CoapKind.ACK, message.mid)
            self._write(peer, made.reply)
        return True

    def refuse(self, peer: Peer, message: CoapMessage) -> None:
        """A response that nobody has asked for."""
        if message.kind is not CoapKind.ACK:
            reply = empty(CoapKind.RST, message.mid)
            self._write(peer, reply)
            seen = self._seen.get((peer, message.mid))
            if seen is not None:
                seen.reply = reply

    # --- what goes

    def respond(self, peer: Peer, request: CoapMessage, response: CoapMessage, now_s: float) -> None:
        """Answer a request: with its acknowledgement where that has not left yet, else by itself."""
        seen = self._seen.get((peer, request.mid))
        if request.kind is CoapKind.CON and seen is not None and seen.ack_s is not None:
            seen.ack_s = None
            seen.reply = _as(response, CoapKind.ACK, request.mid, request.token)
            self._write(peer, seen.reply)
        else:
            self.send(peer, request.kind, response, request.token, now_s)

    def send(
        self,
        peer: Peer,
        kind: CoapKind,
        message: CoapMessage,
        token: bytes,
        now_s: float,
        lost: Callable[[str], None] = lambda why: None,
    ) -> bool:
        """Send a message of its own ID; a confirmable one again until it is acknowledged, or `lost`.

        Returns
        -------
        bool
            False where too many wait for their acknowledgement, most of them by this peer's host.
        """
        self._mid = (self._mid + 1) & 0xFFFF
        data = _as(message, kind, self._mid, token)
        evicted = None
        if kind is CoapKind.CON:
            if len(self._sent) >= SENT_MAX:
                self.counts["overload"] += 1
                oldest = _oldest_of_most(self._sent)
                if oldest[0].host == peer.host:
                    return False
                evicted = self._sent.pop(oldest)
            pause_s = ACK_TIMEOUT_S * self._random.uniform(1, ACK_RANDOM)
            self._sent[peer, self._mid] = _Sent(data, now_s + pause_s, pause_s, 0, lost)
        self._write(peer, data)
        if evicted is not None:  # last, since its owner may send, too
            evicted.lost("overload")
        return True

    def poll(self, now_s: float) -> float:
        """Acknowledge and repeat what is due; when something is due next."""
        next_s = now_s + NON_S
        for (peer, mid), seen in self._seen.items():
            if seen.ack_s is None:
                continue
            if seen.ack_s <= now_s:
                seen.ack_s, seen.reply = None, empty(CoapKind.ACK, mid)
                self._write(peer, seen.reply)
            else:
                next_s = min(next_s, seen.ack_s)
        for key, sent in list(self._sent.items()):
            if key not in self._sent:  # lost meanwhile: its host cannot be reached, or it made room
                continue
            if sent.again_s <= now_s:
                if sent.tries == MAX_RETRANSMIT:
                    del self._sent[key]
                    sent.lost("no answer")
                    continue
                sent.tries += 1
                sent.pause_s *= 2
                sent.again_s = now_s + sent.pause_s
                self.counts["repeated"] += 1
                self._write(key[0], sent.data)
            next_s = min(next_s, sent.again_s)
        return next_s

    def _write(self, peer: Peer, data: bytes) -> None:
        try:
            peer.socket.sendto(data, peer.address)
        except BlockingIOError:
            self.counts["overload"] += 1
        except OSError as error:
            self._unreachable(peer.socket, error.strerror or "nobody is there")

    def _unreachable(self, where: Datagrams, why: str) -> None:
        self.counts["unreachable"] += 1
        for key in [key for key in self._sent if key[0].socket is where and _connected(where)]:
            self._sent.pop(key).lost(why)


def _oldest_of_most(kept: Mapping[tuple[Peer, int], Any]) -> tuple[Peer, int]:
    """The oldest entry of the host that has most of them."""
    most, _ = Counter(peer.host for peer, _ in kept).most_common(1)[0]
    return next(key for key in kept if key[0].host == most)


def _as(message: CoapMessage, kind: CoapKind, mid: int, token: bytes) -> bytes:
    return CoapMessage(kind, message.code, mid, token, message.options, message.payload).encode()


def _connected(where: Datagrams) -> bool:
    try:
        where.getpeername()
    except OSError:
        return False
    return True
