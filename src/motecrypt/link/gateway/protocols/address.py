"""Where a protocol listens: UDP sockets, on this computer alone unless a host is named."""

from __future__ import annotations

import errno
import socket

from motecrypt.base.errors import InputError

LOOPBACK = ("127.0.0.1", "::1")


def listen_udp(option: str, text: str) -> list[socket.socket]:
    """Sockets that are bound and do not block, from "[HOST:]PORT"; without HOST on both loopback addresses.

    Port 0 takes a free one.

    Raises
    ------
    InputError
        The text has another form, or the port cannot be used.
    """
    host, _, number = text.rpartition(":")
    if not (number.isascii() and number.isdigit() and int(number) <= 65535) or (not host and ":" in text):
        raise InputError(f"{option} {text}: not a port; give PORT or HOST:PORT, such as 5683")
    port = int(number)
    found: list[socket.socket] = []
    try:
        if host:
            return [_bound(host.strip("[]"), port)]
        for address in LOOPBACK:
            try:
                found.append(_bound(address, port))
            except OSError as error:
                if not found or error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    raise
                continue  # a computer without IPv6
            port = int(found[0].getsockname()[1])
    except OSError as error:
        for each in found:
            each.close()
        raise InputError(f"{option} {text}: {error.strerror}; name another") from None
    return found


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    made = socket.socket(family, kind | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, protocol)
    try:
        made.bind(address)
    except OSError:
        made.close()
        raise
    return made


def shown(bound: socket.socket) -> str:
    """Where a socket listens, as HOST:PORT."""
    host, port = bound.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
