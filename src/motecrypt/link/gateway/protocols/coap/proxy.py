"""The gateway as a CoAP proxy between UDP and the nodes (docs/coap.md).

Towards a node there is the link: it confirms, repeats and protects, so requests go down non-confirmable in
confirmed messages of the link, with a token of one byte. Towards UDP, and towards nodes on the bare transport
(air.py), there is RFC 7252 in full (udp.py).
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import replace

from motecrypt.link.gateway.protocols import Downlink, NodeProtocol
from motecrypt.link.gateway.protocols.address import shown
from motecrypt.link.gateway.protocols.coap.air import BareAir, BareDownlink
from motecrypt.link.gateway.protocols.coap.message import (
    CoapError,
    CoapKind,
    CoapMessage,
    Code,
    Option,
    block_exponent,
    block_value,
    decode,
    empty,
    plain,
    uint,
)
from motecrypt.link.gateway.protocols.coap.nodes import (
    NEVER,
    AskedOfNode,
    CoapClient,
    CoapNode,
    Forwarded,
    last_of_greedy,
)
from motecrypt.link.gateway.protocols.coap.udp import EXCHANGE_S, Peer, UdpLayer
from motecrypt.link.gateway.protocols.coap.where import (
    CoapRefusal,
    CoapServer,
    check_options,
    node_list,
    node_of,
    server_of,
    too_long,
)

NODE_S = 60.0
"""Seconds in all to wait for a node's response after its request was ordered."""
SERVER_S = 120.0
WAITING_MAX = 4
"""Requests for one node that wait. Here and below, who has most of them gives way to others (shares.py)."""
OBSERVERS_MAX = 16
"""Clients that observe one resource of a node."""
OBSERVATIONS_MAX = 8
"""Resources of one node that are observed."""
CONFIRM_S = 30.0
"""At least so often a notification asks its client for an acknowledgement."""
FORWARDED_MAX = 8
"""Requests of one node that wait for a server's response."""
OBSERVABLE = (Code.GET, Code.FETCH)
REPLIES_MAX = 32
"""Answers to one node that are kept in case it asks again."""
MAX_AGE_S, RENEW_S = 60, 5.0
"""How long a notification is fresh unless it states a time; that much later the gateway asks again."""
EMPTY_BYTES = 4
_OUTCOMES = {"too long": Code.TOO_LARGE, "refused": Code.UNAVAILABLE, "busy": Code.UNAVAILABLE}
_UP, _DOWN = "requests", "forwarded"


class CoapProxy(NodeProtocol):
    """Serves nodes to CoAP clients, and servers to nodes.

    Parameters
    ----------
    listeners : sequence of socket
        UDP sockets where clients ask.
    servers : sequence of CoapServer and socket
        What nodes may reach, and the connected socket of each.
    nodes, bare : sequence of int
        Who speaks CoAP over the link, and over the bare transport.
    """

    name = "coap"

    def __init__(
        self,
        listeners: Sequence[socket.socket],
        servers: Sequence[tuple[CoapServer, socket.socket]],
        nodes: Sequence[int],
        bare: Sequence[int] = (),
    ) -> None:
        self._listeners, self._servers = list(listeners), list(servers)
        self._nodes = {
            number: CoapNode(number, lambda: self._now_s, number in bare)
            for number in sorted({*nodes, *bare})
        }
        self._udp, self._air = UdpLayer(), BareAir()
        self._forwarded: dict[tuple[Peer, bytes], Forwarded] = {}
        self._token = 0
        self._now_s = 0.0
        self._counts = dict.fromkeys(
            (_UP, "responses", "notifications", _DOWN, "refusals", "timeouts", "node_malformed", "strays"), 0
        )

    def speaks(self, content: bytes) -> bool:
        """Messages of CoAP version 1 begin with the bits 01."""
        return bool(content) and content[0] >> 6 == 1

    def begin(self, downlink: Downlink) -> None:
        """Keep the way down."""
        self._downlink = downlink
        self._air.begin(downlink)
        bare = BareDownlink(downlink, self._udp, self._air, lambda: self._now_s)
        for node in self._nodes.values():
            node.begin(bare if node.bare else downlink)

    def sockets(self) -> Sequence[socket.socket]:
        """All of them."""
        return [*self._listeners, *(each for _, each in self._servers)]

    def addresses(self) -> list[str]:
        """Of the listeners."""
        return [shown(each) for each in self._listeners]

    def statistics(self) -> dict[str, int]:
        """docs/coap.md has them."""
        return {**self._counts, **self._udp.counts}

    def close(self) -> None:
        """Close the sockets; those who wait get no answer, as when a host is switched off."""
        for each in self.sockets():
            each.close()

    def readable(self, ready: socket.socket, now_s: float) -> None:
        """Requests of clients, responses of servers."""
        self._now_s = now_s
        for peer, message in self._udp.receive(ready, now_s):
            if message.is_response:
                self._served(peer, message)
            elif ready in self._listeners:
                self._requested(peer, message)
            else:
                self._udp.refuse(peer, message)

    def poll(self, now_s: float) -> float:
        """Give up what takes too long; let the message layer repeat."""
        self._now_s = now_s
        for node in self._nodes.values():
            for asked in list(node.asked.values()):
                if asked.end_s <= now_s:
                    self._counts["timeouts"] += 1
                    self._fail(node, asked, Code.GATEWAY_TIMEOUT)
                elif asked.renew_s <= now_s:
                    self._renew(node, asked)
            node.send_next()
            node.replies = {key: kept for key, kept in node.replies.items() if kept[0] > now_s}
        for key, forwarded in [(k, each) for k, each in self._forwarded.items() if each.end_s <= now_s]:
            del self._forwarded[key]
            if not forwarded.answered:
                self._counts["timeouts"] += 1
                self._answer_node(forwarded, plain(Code.GATEWAY_TIMEOUT))
        every = [asked for node in self._nodes.values() for asked in node.asked.values()]
        ends = [min(asked.end_s, asked.renew_s) for asked in every]
        ends += [node.next_s for node in self._nodes.values() if node.waiting]
        ends += [forwarded.end_s for forwarded in self._forwarded.values()]
        return min([self._udp.poll(now_s), *ends])

    # --- from UDP to a node

    def _requested(self, peer: Peer, request: CoapMessage) -> None:
        client = CoapClient(peer, request)
        self._counts[_UP] += 1
        try:
            number, inner = node_of(request)
            if number is None:
                self._tell(client, node_list(inner, self._nodes))
            else:
                self._ask(client, number, inner)
        except CoapRefusal as refusal:
            self._counts["refusals"] += 1
            self._tell(client, replace(plain(refusal.code, str(refusal)), options=refusal.options))

    def _ask(self, client: CoapClient, number: int, request: CoapMessage) -> None:
        node = self._nodes.get(number)
        if node is None:
            raise CoapRefusal(Code.NOT_FOUND, f"node {number} does not use CoAP here")
        observe = request.number(Option.OBSERVE) if request.code in OBSERVABLE else None
        request = request.without(Option.OBSERVE)
        if observe is not None:
            self._leave(node, client)
        if observe != 0:
            self._pose(node, request, [client], None)
            return
        resource = replace(request, mid=0, token=b"", kind=CoapKind.NON).encode()
        asked = next((each for each in node.asked.values() if each.observes == resource), None)
        if asked is None:
            if len(node.observed) >= OBSERVATIONS_MAX:
                greedy = last_of_greedy(node.observed, client.peer.host)
                if greedy is None:
                    self._pose(node, request, [client], None)  # answered, and not observed
                    return
                self._end(node, greedy)
                self._unobserve(node, greedy)
            self._pose(node, request, [client], resource)
            return
        if len(asked.clients) >= OBSERVERS_MAX:
            last = asked.made_room(client.peer.host)
            if last is None:
                self._pose(node, request, [client], None)
                return
            self._tell(last, plain(Code.UNAVAILABLE))
        self._room(node, client)
        self._repose(node, asked, request)
        asked.clients.append(client)

    def _pose(
        self, node: CoapNode, request: CoapMessage, clients: list[CoapClient], observes: bytes | None
    ) -> None:
        """Send a request down under a new token."""
        self._room(node, clients[0])
        token = node.new_token()
        asked = AskedOfNode(token, 0, self._now_s + NODE_S, clients, observes)
        self._repose(node, asked, request)
        node.asked[token] = asked

    def _room(self, node: CoapNode, client: CoapClient) -> None:
        """A place for one more request, if this client's address has no more of them than others."""
        if max(len(node.unanswered), node.waiting) >= WAITING_MAX:
            greedy = last_of_greedy(node.unanswered, client.peer.host)
            if greedy is None:
                raise CoapRefusal(Code.UNAVAILABLE, f"{WAITING_MAX} requests wait for this node")
            self._end(node, greedy)

    def _end(self, node: CoapNode, asked: AskedOfNode) -> None:
        """It makes room for another client's."""
        node.withdraw(asked)
        self._fail(node, asked, Code.UNAVAILABLE)

    def _repose(self, node: CoapNode, asked: AskedOfNode, request: CoapMessage) -> None:
        """Send a request down under the token that it has, for those who wait for it."""
        node.withdraw(asked)
        if node.waiting >= WAITING_MAX:
            raise CoapRefusal(Code.UNAVAILABLE, f"{WAITING_MAX} requests wait for this node")
        mid = node.new_mid()
        if asked.observes is not None:
            request = request.having(Option.OBSERVE, uint(0))
        data = replace(request, kind=CoapKind.NON, mid=mid, token=asked.token).encode()
        longest = node.longest
        if len(data) > longest:
            raise too_long(request, len(data), longest)
        asked.mid, asked.end_s, asked.renew_s = mid, self._now_s + NODE_S, NEVER
        node.order(data, lambda outcome: self._reached(node, asked, mid, outcome), asked)

    def _renew(self, node: CoapNode, asked: AskedOfNode) -> None:
        """A notification is stale: perhaps the node has restarted and lost its observers."""
        request = decode(asked.observes or b"")
        if request.values(Option.OSCORE):
            self._fail(node, asked, Code.GATEWAY_TIMEOUT)  # only the client can protect another one
            return
        try:
            self._repose(node, asked, request)
        except CoapRefusal:
            asked.renew_s = self._now_s + RENEW_S

    def _reached(self, node: CoapNode, asked: AskedOfNode, mid: int, outcome: str) -> None:
        """Whether a request has reached its node."""
        if outcome != "accepted" and asked.mid == mid and node.asked.get(asked.token) is asked:
            self._counts["timeouts"] += outcome not in _OUTCOMES
            self._fail(node, asked, _OUTCOMES.get(outcome, Code.GATEWAY_TIMEOUT))

    def _fail(self, node: CoapNode, asked: AskedOfNode, code: Code) -> None:
        """Nothing will come: those who wait are informed, and those who observe."""
        del node.asked[asked.token]
        for client in asked.clients:
            self._tell(client, plain(code))

    def _tell(self, client: CoapClient, response: CoapMessage) -> None:
        """A client's first response is one to its request; those after it are notifications."""
        if not client.answered:
            client.answered = True
            self._counts["responses"] += 1
            self._udp.respond(client.peer, client.request, response, self._now_s)
            client.confirmed_s = self._now_s
            return
        self._counts["notifications"] += 1
        confirm = self._now_s - client.confirmed_s >= CONFIRM_S or not response.values(Option.OBSERVE)
        kind = CoapKind.CON if confirm else CoapKind.NON
        if confirm:
            client.confirmed_s = self._now_s
        self._udp.send(
            client.peer, kind, response, client.request.token, self._now_s, lambda why: self._gone(client)
        )

    # --- who observes

    def _gone(self, client: CoapClient) -> None:
        """A client does not want notifications any more, or is not there."""
        for node in self._nodes.values():
            self._leave(node, client)

    def _leave(self, node: CoapNode, client: CoapClient) -> None:
        """Anyone who asked under that token does not observe; without observers a node need not notify."""
        for asked in list(node.asked.values()):
            if asked.observes is None:
                continue
            asked.clients = [
                each
                for each in asked.clients
                if (each.peer, each.request.token) != (client.peer, client.request.token)
            ]
            if not asked.clients:
                del node.asked[asked.token]
                self._unobserve(node, asked)

    def _unobserve(self, node: CoapNode, asked: AskedOfNode) -> None:
        request = decode(asked.observes or b"").having(Option.OBSERVE, uint(1))
        if request.values(Option.OSCORE):
            return  # its next notification is reset
        data = replace(request, mid=node.new_mid(), token=asked.token).encode()
        node.order(data)

    # --- from a node

    def heard(self, node: int, content: bytes, now_s: float) -> None:
        """A node's response, or its request."""
        self._now_s = now_s
        try:
            message = decode(content)
        except CoapError:
            self._counts["node_malformed"] += 1
            return
        if self._nodes[node].bare:
            taken = self._udp.take(self._peer(node), content, now_s)
            if taken is None:
                return
            message = taken
        if message.is_request:
            self._forward(self._nodes[node], message, content)
        elif message.is_response:
            self._responded(self._nodes[node], message)
        elif message.kind is CoapKind.RST:
            self._nodes[node].settled()
            self._unwanted(lambda each: (each.node, each.mid) == (node, message.mid))
            for asked in [each for each in self._nodes[node].asked.values() if each.mid == message.mid]:
                self._fail(self._nodes[node], asked, Code.BAD_GATEWAY)
        elif message.kind is not CoapKind.ACK:
            self._counts["node_malformed"] += 1
            self._down(node, empty(CoapKind.RST, message.mid))

    def _responded(self, node: CoapNode, message: CoapMessage) -> None:
        asked = node.asked.get(message.token)
        node.settled()
        if message.kind is CoapKind.CON and not node.bare:
            self._down(node.number, empty(CoapKind.ACK if asked else CoapKind.RST, message.mid))
        if asked is None:
            self._counts["strays"] += 1
            if node.bare:
                self._udp.refuse(self._peer(node.number), message)
            elif message.kind is CoapKind.NON and message.values(Option.OBSERVE):
                self._down(node.number, empty(CoapKind.RST, message.mid))  # no client observes
            return
        try:
            check_options(message, Code.BAD_GATEWAY)
        except CoapRefusal as refusal:
            self._fail(node, asked, refusal.code)
            return
        observed = asked.observes is not None and bool(message.values(Option.OBSERVE)) and message.code < 0x80
        if observed:
            asked.notified = (asked.notified + 1) & 0xFFFFFF
            message = message.without(Option.OBSERVE).having(Option.OBSERVE, uint(asked.notified))
            max_age_s = message.number(Option.MAX_AGE)
            asked.renew_s = self._now_s + (MAX_AGE_S if max_age_s is None else max_age_s) + RENEW_S
            asked.end_s = NEVER
        else:
            message = message.without(Option.OBSERVE)
            del node.asked[message.token]
        for client in asked.clients:
            self._tell(client, message)

    def _peer(self, node: int) -> Peer:
        return Peer(self._air, node)

    def _down(self, node: int, data: bytes) -> None:
        bare = len(data) == EMPTY_BYTES  # an acknowledgement or reset: lost, it is asked for again
        self._downlink.send(node, data, lambda outcome: None, confirmed=not bare)

    # --- from a node to a server

    def _forward(self, node: CoapNode, request: CoapMessage, content: bytes) -> None:
        if content in node.replies:  # a confirmable request once more: the link itself never repeats
            self._down(node.number, node.replies[content][1])
            return
        mine = {key: each for key, each in self._forwarded.items() if each.node == node.number}
        if any(each.data == content for each in mine.values()):
            return
        self._counts[_DOWN] += 1
        observe = request.number(Option.OBSERVE) if request.code in OBSERVABLE else None
        end_s = self._now_s + SERVER_S
        forwarded = Forwarded(node.number, request, content, end_s, observes=observe == 0)
        try:
            if node.bare and not request.values(Option.OSCORE):
                # Anyone with a radio can have sent it; with OSCORE the server finds out who it was.
                raise CoapRefusal(Code.UNAUTHORIZED, "")
            place, outer = server_of(request, tuple(server for server, _ in self._servers))
            reach = self._servers[place][1]
            peer = Peer(reach, reach.getpeername())
            same = [
                key for key, each in mine.items() if each.observes and each.request.token == request.token
            ]
            if len(mine) - len(same) >= FORWARDED_MAX:
                raise CoapRefusal(Code.UNAVAILABLE, "")
            for key in same:  # it observes again, something else, or no more
                del self._forwarded[key]
            if observe is None:
                outer = outer.without(Option.OBSERVE)
            if outer.code == Code.GET and not outer.values(Option.BLOCK2):
                exponent = block_exponent(node.longest)
                outer = outer.having(Option.BLOCK2, block_value(0, False, exponent))
            token = next((token for where, token in same if where == peer), None)
            if token is None or observe is None:
                self._token = (self._token + 1) & 0xFFFFFFFF
                token = self._token.to_bytes(4, "big")
            self._forwarded[peer, token] = forwarded
            if not self._udp.send(
                peer, CoapKind.CON, outer, token, self._now_s, lambda why: self._unserved(peer, token)
            ):
                del self._forwarded[peer, token]
                raise CoapRefusal(Code.UNAVAILABLE, "")
        except CoapRefusal as refusal:
            self._counts["refusals"] += 1
            self._answer_node(forwarded, plain(refusal.code))

    def _served(self, peer: Peer, response: CoapMessage) -> None:
        key = (peer, response.token)
        forwarded = self._forwarded.get(key)
        if forwarded is None:
            self._counts["strays"] += 1
            self._udp.refuse(peer, response)
            return
        try:
            check_options(response, Code.BAD_GATEWAY)
        except CoapRefusal as refusal:
            response = plain(refusal.code)
        if forwarded.observes and response.values(Option.OBSERVE) and response.code < 0x80:
            max_age_s = response.number(Option.MAX_AGE)
            forwarded.end_s = self._now_s + (MAX_AGE_S if max_age_s is None else max_age_s) + SERVER_S
        else:
            del self._forwarded[key]
            response = response.without(Option.OBSERVE)
        self._answer_node(forwarded, response)

    def _unserved(self, peer: Peer, token: bytes) -> None:
        forwarded = self._forwarded.pop((peer, token), None)
        if forwarded is not None:
            self._counts["timeouts"] += 1
            self._answer_node(forwarded, plain(Code.GATEWAY_TIMEOUT))

    def _unwanted(self, which: Callable[[Forwarded], bool]) -> None:
        """A node does not want notifications of these: the server's next one is reset."""
        for key in [key for key, each in self._forwarded.items() if each.observes and which(each)]:
            del self._forwarded[key]

    def _answer_node(self, forwarded: Forwarded, response: CoapMessage) -> None:
        """The response to a node's request, or a notification."""
        node, request = self._nodes[forwarded.node], forwarded.request
        if len(replace(response, token=request.token).encode()) > node.longest:
            self._unwanted(lambda each: each is forwarded)
            response = plain(Code.BAD_GATEWAY)
        first, forwarded.answered = not forwarded.answered, True
        if node.bare:
            self._answer_bare(forwarded, response, first)
            return
        confirmable = first and request.kind is CoapKind.CON
        if confirmable:
            kind, mid = CoapKind.ACK, request.mid
        else:
            kind, mid = CoapKind.NON, node.new_mid()
            forwarded.mid = mid
        data = replace(response, kind=kind, mid=mid, token=request.token).encode()
        if confirmable:
            if len(node.replies) >= REPLIES_MAX:
                del node.replies[next(iter(node.replies))]
            node.replies[forwarded.data] = (self._now_s + EXCHANGE_S, data)
        self._down(node.number, data)

    def _answer_bare(self, forwarded: Forwarded, response: CoapMessage, first: bool) -> None:
        peer, request = self._peer(forwarded.node), forwarded.request
        if first:
            self._udp.respond(peer, request, response, self._now_s)
        else:
            self._udp.send(
                peer,
                CoapKind.CON,
                response,
                request.token,
                self._now_s,
                lambda why: self._unwanted(lambda each: each is forwarded),
            )
