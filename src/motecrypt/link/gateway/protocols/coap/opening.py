"""Opens what the CoAP proxy needs: sockets to listen at, and one to each server that nodes may reach."""

from __future__ import annotations

import socket
from collections.abc import Sequence

from motecrypt.base.errors import InputError
from motecrypt.link.gateway.protocols.address import listen_udp
from motecrypt.link.gateway.protocols.coap.proxy import CoapProxy
from motecrypt.link.gateway.protocols.coap.where import CoapServer, read_server


def open_coap(
    listen: str | None, servers: Sequence[str], nodes: Sequence[int], bare: Sequence[int] = ()
) -> CoapProxy:
    """A proxy with open sockets.

    Parameters
    ----------
    listen : str, optional
        "[HOST:]PORT" for clients.
    servers : sequence of str
        "coap://HOST[:PORT]" each; their names are looked up once, here.
    nodes, bare : sequence of int
        Nodes that speak CoAP over the link, and over the bare transport.

    Raises
    ------
    InputError
        What is wrong with one of them.
    """
    named = [read_server(text) for text in servers]
    if len(set(named)) < len(named):
        raise InputError("--coap-server: one server is named twice")
    listeners = [] if listen is None else listen_udp("--coap", listen)
    reached: list[socket.socket] = []
    try:
        for server in named:
            reached.append(_connected(server))
            own = [each.getsockname()[:2] for each in listeners]
            if reached[-1].getpeername()[:2] in own:
                raise InputError(f"--coap-server coap://{server.host}: that is this gateway itself")
    except InputError:
        for each in (*listeners, *reached):
            each.close()
        raise
    return CoapProxy(listeners, list(zip(named, reached, strict=True)), nodes, bare)


def _connected(server: CoapServer) -> socket.socket:
    try:
        found = socket.getaddrinfo(server.host, server.port, type=socket.SOCK_DGRAM)
        family, kind, protocol, _, address = found[0]
        made = socket.socket(family, kind | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, protocol)
        try:
            made.connect(address)
        except OSError:
            made.close()
            raise
    except OSError as error:
        raise InputError(f"--coap-server coap://{server.host}: {error.strerror}; name another") from None
    return made
