"""TFTP at the gateway: files of nodes for clients on UDP, files of a folder for nodes, and what nodes put.

The gateway ends TFTP on each side. Toward a client it is a server. Toward a node it is a client when a client
has asked, and a server when the node asks. Each side has its own block size and its own retransmissions: a
client's timer of a second asks nothing of the radio. Each node has one transfer at a time, and a node's own
request comes first.
"""

from __future__ import annotations

import re
import socket
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from motecrypt.link.gateway.notices import NodeNotices
from motecrypt.link.gateway.protocols import Downlink, NodeProtocol
from motecrypt.link.gateway.protocols.address import shown
from motecrypt.link.gateway.protocols.tftp.node_files import FolderInlet, FolderOutlet, checked_name
from motecrypt.link.gateway.shares import gives_way
from motecrypt.link.native import framing
from motecrypt.link.stored_files import NodeFiles, ShareUsed
from motecrypt.link.tftp.cost import ack_bytes, best_block, confirmed
from motecrypt.link.tftp.packets import (
    BLOCK,
    NETASCII,
    NUMBER_MAX,
    OCTET,
    Opcode,
    Packet,
    TftpCode,
    TftpError,
    error_packet,
    number_in,
    read_packet,
)
from motecrypt.link.tftp.pipe import NetasciiInlet, NetasciiOutlet, Pipe
from motecrypt.link.tftp.transfer import Terms, TftpTransfer, TransferFile

CLIENTS_MAX = 16
"""Transfers with clients at a time. When all run, the address with most of them loses its last one to an
address with fewer."""
CLIENT_TERMS = Terms(block_max=BLOCK, timeout_s=1.0, tries=10)
"""Longer blocks take a radio longer than clients wait for one."""
NODE_TRIES = 20
"""Of one packet to a node; a client waits about as long (tftp-hpa 25 s)."""
LINGER_S = 5.0
"""How long the last ACK is repeated for a client that did not receive it."""
DATAGRAM_MAX = 65_536
READS_MAX = 64
"""Datagrams taken at one socket in a row."""
_PATH = re.compile(r"/?node/([0-9]{1,2})/(.*)", re.DOTALL)
_COUNTED = (
    "fetched",
    "delivered",
    "read_by_nodes",
    "put_by_nodes",
    "failed",
    "refused_requests",
    "malformed",
)
_LEFT = ("accepted", "sent")
_LOST = ("unconfirmed", "refused", "busy")

Address = tuple[str, int] | tuple[str, int, int, int]


@dataclass
class _TftpNode:
    """A node, and its transfer: the running one or the last.

    Attributes
    ----------
    flying : a packet has no outcome yet.
    """

    number: int
    terms: Terms
    transfer: TftpTransfer | None = None
    flying: bool = False

    @property
    def busy(self) -> bool:
        """Whether a transfer is running."""
        return self.transfer is not None and not self.transfer.over


@dataclass
class _TftpClient:
    """A client's transfer, at a port of its own."""

    line: socket.socket
    address: Address
    transfer: TftpTransfer
    partner: TftpTransfer
    over_s: float | None = None


class TftpProxy(NodeProtocol):
    """Serves clients at these sockets, and nodes.

    Parameters
    ----------
    sockets : sequence of socket
        Bound to UDP ports, not blocking.
    heads : mapping of int to (int, int)
        Options and packet length of each node's link.
    timeout_s : float
        How long a node's answer may take, once a packet has left.
    folder : Path, optional
        Whose files nodes may read.
    inbox : Path, optional
        Where files go that nodes put. stored: what each may have there.
    """

    name = "tftp"

    def __init__(
        self,
        sockets: Sequence[socket.socket],
        heads: Mapping[int, tuple[int, int]],
        timeout_s: float,
        folder: Path | None = None,
        inbox: Path | None = None,
        notice: Callable[[str], None] = lambda told: None,
        stored: NodeFiles | None = None,
    ) -> None:
        self._listeners, self._heads, self._timeout_s = list(sockets), heads, timeout_s
        self._folder, self._inbox, self._stored = folder, inbox, stored
        self._notice = NodeNotices(notice)
        self._nodes: dict[int, _TftpNode] = {}
        self._clients: list[_TftpClient] = []
        self._counts = dict.fromkeys(_COUNTED, 0)

    def speaks(self, content: bytes) -> bool:
        """Its packets begin with 0, which neither text nor CoAP does."""
        return len(content) >= 4 and content[0] == 0

    def begin(self, downlink: Downlink) -> None:
        """Work out how transfers with each node are done."""
        self._downlink = downlink
        for number, longest in downlink.longest.items():
            framed = framing(*self._heads[number])
            block = best_block(framed, longest)
            terms = Terms(block, self._timeout_s, NODE_TRIES, ack_bytes(framed), True)
            self._nodes[number] = _TftpNode(number, terms)

    def addresses(self) -> list[str]:
        """Of the listeners."""
        return [shown(each) for each in self._listeners]

    def statistics(self) -> dict[str, int]:
        """Transfers by the outcome of them."""
        return dict(self._counts)

    def sockets(self) -> Sequence[socket.socket]:
        """The ports that take requests, and one for each client."""
        return [*self._listeners, *(client.line for client in self._clients)]

    def close(self) -> None:
        """Send the error to the clients, and end."""
        for client in self._clients:
            client.transfer.abort(TftpError(TftpCode.UNDEFINED, "the gateway ends"))
            self._send_to(client, 0.0)
            client.line.close()
        for line in self._listeners:
            line.close()

    def _count(self, what: str) -> None:
        self._counts[what] += 1

    # --- nodes

    def heard(self, node: int, content: bytes, now_s: float) -> None:
        """A packet of a node."""
        packet = read_packet(content)
        state = self._nodes.get(node)
        if packet is None or state is None:
            self._count("malformed")
        elif packet.opcode in (Opcode.READ, Opcode.WRITE):
            self._asked_by_node(state, packet, now_s)
        elif state.transfer is not None:
            state.transfer.receive(packet, now_s)
        elif packet.opcode is Opcode.DATA and not state.flying:  # the gateway was restarted meanwhile
            self._say(state, error_packet(TftpCode.UNKNOWN_ID, "no transfer"), lambda: None)

    def _asked_by_node(self, node: _TftpNode, request: Packet, now_s: float) -> None:
        current = node.transfer
        if current is not None and current.repeated(request):
            current.receive(request, now_s)
            return
        if current is not None and not current.over:
            current.replace(TftpError(TftpCode.UNDEFINED, f"node {node.number}: has begun another transfer"))
        try:
            if request.mode != OCTET:
                raise TftpError(TftpCode.ILLEGAL, "only mode octet")
            file = self._file_for(node, request)
        except TftpError as error:
            self._count("refused_requests")
            node.transfer = None
            self._say(node, error_packet(error.code, str(error)), lambda: None)
            return
        node.transfer = TftpTransfer.serve(
            node.terms, _Counted(file, self._ended_by_node(node.number, request)), request
        )

    def _ended_by_node(self, number: int, request: Packet) -> Callable[[TftpError | None], None]:
        what = "read_by_nodes" if request.opcode is Opcode.READ else "put_by_nodes"

        def ended(error: TftpError | None) -> None:
            self._count(what if error is None else "failed")
            if error is not None and isinstance(error.__cause__, ShareUsed):
                self._notice(number, str(error.__cause__))

        return ended

    def _file_for(self, node: _TftpNode, request: Packet) -> TransferFile:
        if request.opcode is Opcode.READ:
            if self._folder is None:
                raise TftpError(TftpCode.NOT_FOUND, "no folder to read from")
            return FolderOutlet(self._folder, request.name)
        if self._inbox is None:
            raise TftpError(TftpCode.NO_ACCESS, "no folder for files")
        return FolderInlet(
            self._inbox,
            node.number,
            request.name,
            lambda path, length: self._notice(node.number, f"node {node.number}: {path}: {length} bytes"),
            self._stored,
        )

    def _say(self, node: _TftpNode, packet: bytes, left: Callable[[], None]) -> None:
        """Send a packet to a node; one is on its way at a time."""
        node.flying = True
        asked = node.transfer

        def told(outcome: str) -> None:
            node.flying = False
            if outcome in _LEFT or outcome in _LOST:
                left()
            elif asked is not None and not asked.over:
                asked.replace(TftpError(TftpCode.UNDEFINED, f"node {node.number}: {outcome}"))

        sure = confirmed(len(packet), framing(*self._heads[node.number]))
        # A node that only serves files may never have sent anything. It is asked too.
        self._downlink.send(node.number, packet, told, sure, wait_s=0)

    def _send_to_node(self, node: _TftpNode, now_s: float) -> None:
        transfer = node.transfer
        if transfer is None or node.flying:
            return
        transfer.poll(now_s)
        if transfer.packets:
            self._say(node, transfer.packets.popleft(), lambda: transfer.sent(self._now_s))

    # --- clients

    def readable(self, ready: socket.socket, now_s: float) -> None:
        """Datagrams wait."""
        self._now_s = now_s
        client = next((each for each in self._clients if each.line is ready), None)
        for _ in range(READS_MAX):
            try:
                data, address = ready.recvfrom(DATAGRAM_MAX)
            except OSError:  # nothing more, or a client's port is closed: its deadline ends it
                return
            packet = read_packet(data)
            if packet is None:
                self._count("malformed")
            elif client is None:
                self._asked_by_client(ready, address, packet, now_s)
            elif client.address == address:
                client.transfer.receive(packet, now_s)
            elif packet.opcode is not Opcode.ERROR:
                _answer(ready, address, error_packet(TftpCode.UNKNOWN_ID, "this port is another client's"))

    def _asked_by_client(
        self, listener: socket.socket, address: Address, packet: Packet, now_s: float
    ) -> None:
        known = next((each for each in self._clients if each.address == address), None)
        if known is not None and known.transfer.repeated(packet):
            known.transfer.receive(packet, now_s)
            return
        if packet.opcode not in (Opcode.READ, Opcode.WRITE):
            self._count("malformed")
            return
        try:
            client = self._client(listener, address, packet)
        except TftpError as error:
            self._count("refused_requests")
            _answer(listener, address, error_packet(error.code, str(error)))
            return
        self._clients.append(client)

    def _client(self, listener: socket.socket, address: Address, request: Packet) -> _TftpClient:
        writing = request.opcode is Opcode.WRITE
        if request.mode not in (OCTET, NETASCII):
            raise TftpError(TftpCode.ILLEGAL, "give mode octet (binary)")
        path = _PATH.fullmatch(request.name)
        if path is None:
            raise TftpError(TftpCode.NOT_FOUND, "give node/N/NAME")
        node, name = self._nodes.get(int(path[1])), checked_name(path[2])
        if node is None:
            raise TftpError(TftpCode.NOT_FOUND, f"node {path[1]}: does not speak TFTP here")
        if node.busy:
            raise TftpError(TftpCode.UNDEFINED, f"node {path[1]}: is busy with another transfer")
        if len(self._clients) >= CLIENTS_MAX and not self._make_room(address[0]):
            raise TftpError(TftpCode.UNDEFINED, f"{CLIENTS_MAX} transfers are running")
        text = request.mode == NETASCII  # its size is another one for the node
        size = None if text else number_in(request.options, "tsize", 0, NUMBER_MAX)
        pipe = Pipe(through=writing, size=size)
        inlet = NetasciiInlet(pipe) if text else pipe.inlet
        outlet = NetasciiOutlet(pipe) if text else pipe.outlet
        line = _beside(listener)
        own = _Counted(inlet if writing else outlet, self._ended_by_client(writing))
        serving = TftpTransfer.serve(CLIENT_TERMS, own, request)
        node.transfer = TftpTransfer.ask(node.terms, pipe.outlet if writing else pipe.inlet, name, writing)
        return _TftpClient(line, address, serving, node.transfer)

    def _make_room(self, host: str) -> bool:
        """End a transfer of the address with most of them, if one of this address may take its place."""
        greedy = gives_way(Counter(client.address[0] for client in self._clients), host)
        if greedy is None:
            return False
        client = [each for each in self._clients if each.address[0] == greedy][-1]
        client.transfer.abort(TftpError(TftpCode.UNDEFINED, "it makes room for another client"))
        self._send_to(client, self._now_s)
        client.partner.abort(TftpError(TftpCode.UNDEFINED, "its client has ended it"))
        client.line.close()
        self._clients.remove(client)
        return True

    def _ended_by_client(self, writing: bool) -> Callable[[TftpError | None], None]:
        what = "delivered" if writing else "fetched"
        return lambda error: self._count(what if error is None else "failed")

    def _send_to(self, client: _TftpClient, now_s: float) -> None:
        while client.transfer.packets:
            _answer(client.line, client.address, client.transfer.packets.popleft())
            client.transfer.sent(now_s)

    # --- both

    def poll(self, now_s: float) -> float:
        """Send what is due on both sides."""
        self._now_s = now_s
        for client in list(self._clients):
            self._tend(client, now_s)
        due = [now_s + LINGER_S]
        for node in self._nodes.values():
            self._send_to_node(node, now_s)
            if node.busy and not node.flying and node.transfer is not None:
                due.append(node.transfer.due_s)
        for client in self._clients:
            client.transfer.poll(now_s)  # what a node's transfer has just brought about
            self._send_to(client, now_s)
            if not client.transfer.over:
                due.append(client.transfer.due_s)
        return min(due)

    def _tend(self, client: _TftpClient, now_s: float) -> None:
        transfer = client.transfer
        if not transfer.over:
            return
        if transfer.error is not None and not client.partner.over:
            client.partner.abort(transfer.error)
        if client.over_s is None:
            client.over_s = now_s
        elif now_s - client.over_s >= (LINGER_S if transfer.error is None else 0):
            client.line.close()
            self._clients.remove(client)


class _Counted:
    """A file whose end is reported."""

    def __init__(self, file: TransferFile, ended: Callable[[TftpError | None], None]) -> None:
        self._file, self._ended = file, ended
        self.size, self.ready, self.opened = file.size, file.ready, file.opened
        self.read, self.write, self.kept = file.read, file.write, file.kept

    def close(self, error: TftpError | None) -> None:
        """Report it, too."""
        self._file.close(error)
        self._ended(error)


def _beside(listener: socket.socket) -> socket.socket:
    """A port of its own for one transfer (RFC 1350, section 4), at the same address."""
    try:
        made = socket.socket(listener.family, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
        made.bind((listener.getsockname()[0], 0))
    except OSError as error:
        raise TftpError(TftpCode.UNDEFINED, error.strerror or "no port") from None
    return made


def _answer(line: socket.socket, address: Address, packet: bytes) -> None:
    """What cannot be sent is lost; the other end asks again."""
    with suppress(OSError):
        line.sendto(packet, address)
