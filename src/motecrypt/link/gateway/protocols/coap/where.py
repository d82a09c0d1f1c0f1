"""Which node or server a CoAP request is for (docs/coap.md), and what of its options continues. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

from motecrypt.base.errors import InputError
from motecrypt.link.gateway.protocols.coap.message import (
    UNSAFE,
    CoapMessage,
    Code,
    Option,
    block_exponent,
    block_value,
    plain,
    uint,
)

PORT = 5683
LINK_FORMAT = 40
LIST_EXPONENT = 1
"""The list of nodes goes in blocks of 32 bytes: an unverified address gets little more than it sent."""
HOPS = 16
"""Hop-Limit where a request has none (RFC 8768)."""
_NODE_HOST = re.compile(r"node-(0|[1-9][0-9]?)(\..*)?", re.IGNORECASE)
_KNOWN = frozenset(Option)
_PLACE = (Option.PROXY_URI, Option.PROXY_SCHEME, Option.URI_HOST, Option.URI_PORT)


class CoapRefusal(Exception):
    """A request that the proxy answers itself.

    Attributes
    ----------
    code, options : the response's.
    """

    def __init__(self, code: Code, why: str, options: tuple[tuple[int, bytes], ...] = ()) -> None:
        super().__init__(why)
        self.code, self.options = code, options


@dataclass(frozen=True)
class CoapServer:
    """A server that nodes may reach, as it was named.

    Attributes
    ----------
    host, port : as in coap://HOST:PORT, in lower case.
    """

    host: str
    port: int = PORT


def read_server(text: str) -> CoapServer:
    """A server from "coap://HOST[:PORT]".

    Raises
    ------
    InputError
        It is no such text.
    """
    wrong = InputError(f"--coap-server {text}: not a server; give coap://HOST[:PORT]")
    try:
        parts = urlsplit(text)
        port = parts.port or PORT
    except ValueError:
        raise wrong from None
    if parts.scheme != "coap" or not parts.hostname or parts.path not in ("", "/"):
        raise wrong
    if parts.username or parts.query or parts.fragment:
        raise wrong
    return CoapServer(parts.hostname, port)


def check_options(message: CoapMessage, code: Code) -> None:
    """No option is there that a proxy may not pass on without knowing it."""
    for number, _ in message.options:
        if number == 0 or (number & UNSAFE and number not in _KNOWN):  # 0 is reserved
            raise CoapRefusal(code, f"option {number}")


def count_hop(request: CoapMessage) -> CoapMessage:
    """The request with one hop less to go."""
    found = request.values(Option.HOP_LIMIT)
    if not found:
        return request.having(Option.HOP_LIMIT, uint(HOPS))
    left = int.from_bytes(found[0], "big")
    if len(found) > 1 or len(found[0]) != 1 or left == 0:
        raise CoapRefusal(Code.BAD_REQUEST, "Hop-Limit")
    if left == 1:
        raise CoapRefusal(Code.HOP_LIMIT_REACHED, "motecrypt gateway")
    return request.without(Option.HOP_LIMIT).having(Option.HOP_LIMIT, uint(left - 1))


def node_of(request: CoapMessage) -> tuple[int | None, CoapMessage]:
    """The node that a request from UDP is for, and the request as the node gets it.

    The node is in the host (node-7, in Proxy-Uri or Uri-Host), or else in the path (/node/7/...). None:
    it is for the gateway itself.

    Raises
    ------
    CoapRefusal
        It is for neither.
    """
    check_options(request, Code.BAD_OPTION)
    request = count_hop(request).without(Option.HOP_LIMIT)
    proxied = bool(request.values(Option.PROXY_URI) or request.values(Option.PROXY_SCHEME))
    host, _, request = _unfold(request)
    named = _NODE_HOST.fullmatch(host or "")
    if named is not None:
        return int(named[1]), request
    if proxied:
        raise CoapRefusal(Code.NO_PROXYING, "unknown node name; coap://node-7/ is node 7")
    path = request.values(Option.URI_PATH)
    if len(path) >= 2 and path[0] == b"node" and path[1].isdigit() and len(path[1]) <= 2:
        rest = request.without(Option.URI_PATH)
        for segment in path[2:]:
            rest = rest.having(Option.URI_PATH, segment)
        return int(path[1]), rest
    return None, request


def node_list(request: CoapMessage, nodes: Iterable[int]) -> CoapMessage:
    """The answer to a request that is for the gateway itself: the list of its nodes (RFC 6690).

    Raises
    ------
    CoapRefusal
        It asks for something else.
    """
    if request.values(Option.URI_PATH) != [b".well-known", b"core"]:
        raise CoapRefusal(Code.NOT_FOUND, "nodes are at /node/N/")
    if request.code != Code.GET:
        raise CoapRefusal(Code.NOT_ALLOWED, "GET it")
    links = ",".join(f"</node/{number}>" for number in nodes)
    found = request.number(Option.BLOCK2)
    asked = LIST_EXPONENT if found is None else found
    exponent = min(asked & 7, LIST_EXPONENT)
    begin, size = (asked >> 4) * (16 << (asked & 7)), 16 << exponent
    part, more = links[begin : begin + size], len(links) > begin + size
    if not part:
        raise CoapRefusal(Code.BAD_REQUEST, "the list has no such block")
    options: tuple[tuple[int, bytes], ...] = ((Option.CONTENT_FORMAT, uint(LINK_FORMAT)),)
    if more or begin:
        options += ((Option.BLOCK2, block_value(begin // size, more, exponent)),)
    return replace(plain(Code.CONTENT, part), options=options)


def too_long(request: CoapMessage, length: int, longest: int) -> CoapRefusal:
    """A request that makes a message of this length, for a node that takes shorter ones: what fits."""
    hint: tuple[tuple[int, bytes], ...] = ()
    if request.values(Option.BLOCK1):  # RFC 7959, 2.9.3: a smaller block
        hint = ((int(Option.BLOCK1), block_value(0, True, block_exponent(longest))),)
    elif request.payload:  # without one, section 4: the room. aiocoap ends with an error at a block
        hint = ((int(Option.SIZE1), uint(max(0, longest - length + len(request.payload)))),)
    return CoapRefusal(Code.TOO_LARGE, f"this node takes {longest} bytes in one message", hint)


def server_of(request: CoapMessage, servers: tuple[CoapServer, ...]) -> tuple[int, CoapMessage]:
    """The place of the server that a node's request is for, and the request as the server gets it.

    A request that names no host is for the first server.

    Raises
    ------
    CoapRefusal
        Nodes may not reach that server.
    """
    check_options(request, Code.BAD_OPTION)
    request = count_hop(request)
    host, port, request = _unfold(request)
    for place, server in enumerate(servers):
        if host is None or (host.lower(), port or PORT) == (server.host, server.port):
            if not server.host.replace(".", "").isdigit() and ":" not in server.host:
                request = request.having(Option.URI_HOST, server.host.encode())
            return place, request
    raise CoapRefusal(Code.NO_PROXYING, "--coap-server names the servers that nodes may reach")


def _unfold(request: CoapMessage) -> tuple[str | None, int | None, CoapMessage]:
    """Host and port of a request, from whichever option has them, and the request without them."""
    uris = request.values(Option.PROXY_URI)
    if not uris:
        scheme = request.values(Option.PROXY_SCHEME)
        if scheme and scheme[0].lower() != b"coap":
            raise CoapRefusal(Code.NO_PROXYING, "only the scheme coap is served")
        hosts = request.values(Option.URI_HOST)
        host = hosts[0].decode("latin-1") if hosts else None
        return host, request.number(Option.URI_PORT), request.without(*_PLACE)
    try:
        parts = urlsplit(uris[0].decode())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise CoapRefusal(Code.BAD_OPTION, "Proxy-Uri is not a URI") from None
    if parts.scheme.lower() != "coap" or not host:
        raise CoapRefusal(Code.NO_PROXYING, "only the scheme coap is served")
    request = request.without(*_PLACE, Option.URI_PATH, Option.URI_QUERY)
    for segment in parts.path.split("/")[1:] if parts.path not in ("", "/") else []:
        request = request.having(Option.URI_PATH, unquote(segment).encode())
    for query in parts.query.split("&") if parts.query else []:
        request = request.having(Option.URI_QUERY, unquote(query).encode())
    return host, port, request
