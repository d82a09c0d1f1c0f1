"""Opens what the TFTP proxy needs, and works out how long a node's answer may take."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from motecrypt.base.errors import InputError
from motecrypt.link.gateway.protocols.address import listen_udp
from motecrypt.link.gateway.protocols.tftp.proxy import TftpProxy
from motecrypt.link.stored_files import NodeFiles

TIMEOUT_S_MAX = 255
"""The longest timeout that the option can hold (RFC 2349)."""


def open_tftp(
    listen: str | None,
    folder: Path | None,
    inbox: Path | None,
    heads: Mapping[int, tuple[int, int]],
    patience_ms: int,
    notice: Callable[[str], None],
    stored: NodeFiles | None = None,
) -> TftpProxy:
    """A proxy with open sockets.

    Parameters
    ----------
    listen : str, optional
        "[HOST:]PORT" for clients.
    folder : Path, optional
        Whose files nodes may read.
    inbox : Path, optional
        Where files go that nodes put. stored: what each may have there.
    heads : mapping of int to (int, int)
        Options and packet length of the link of each node that speaks TFTP.
    patience_ms : int
        How long the link waits for an answer: as long as the longest message and its answer take.

    Raises
    ------
    InputError
        What is wrong with one of them.
    """
    if folder is not None and not folder.is_dir():
        raise InputError(f"--tftp-folder {folder}: no folder")
    listeners = [] if listen is None else listen_udp("--tftp", listen)
    timeout_s = min(TIMEOUT_S_MAX, math.ceil(patience_ms / 1000))
    return TftpProxy(listeners, heads, timeout_s, folder, inbox, notice, stored)
