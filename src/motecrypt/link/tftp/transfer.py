"""One transfer, as a state machine: packets and the time go in, packets come out. Independent of the
transport.

The file's other end may be slow (a radio): while it has nothing to give, or has not kept what came, nothing
is sent and no deadline runs. Duplicates of an ACK are never answered; of a block only the last one is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from motecrypt.link.tftp.packets import (
    BLOCK,
    BLOCK_MAX,
    BLOCK_MIN,
    NUMBER_MAX,
    Opcode,
    Packet,
    TftpCode,
    TftpError,
    error_packet,
    number_in,
)

BLOCKS = 1 << 16
"""Block numbers continue with 0 after 65535."""


class TransferFile(Protocol):
    """What a transfer reads or writes. Any of its calls may raise TftpError, which ends the transfer."""

    def size(self) -> int | None:
        """The file's size, if it is known."""

    def ready(self) -> bool:
        """Whether a server's transfer may begin."""

    def opened(self, size: int | None) -> None:
        """The server has answered a client that reads, and perhaps sent the file's size."""

    def read(self, at: int, count: int) -> bytes | None:
        """The next bytes, fewer only at the end; None: not yet. Each byte is requested once, in order."""

    def write(self, at: int, content: bytes, last: bool) -> None:
        """Take the next bytes."""

    def kept(self, at: int) -> bool:
        """Whether all before `at` is where it is to be, and at the end the whole file."""

    def close(self, error: TftpError | None) -> None:
        """The transfer is over; None: the file is whole."""


@dataclass(frozen=True)
class Terms:
    """How one end does transfers.

    Attributes
    ----------
    block_max : bytes of a block at most.
    timeout_s : how long an answer may take; a client may ask a server for another one.
    tries : of one packet.
    ack_bytes : zeros fill an ACK to so many bytes.
    tell_timeout : a client asks the server for its own `timeout_s`.
    """

    block_max: int = BLOCK
    timeout_s: float = 1.0
    tries: int = 10
    ack_bytes: int = 4
    tell_timeout: bool = False


class TftpTransfer:
    """One end of one transfer; use `ask` or `serve`.

    Attributes
    ----------
    packets : to be sent, in order. Call `sent` when one has left.
    over : whether it has ended.
    error : why it failed; None while it runs and when the file is whole.
    """

    def __init__(self, terms: Terms, file: TransferFile, sends: bool, client: bool) -> None:
        self._terms, self._file, self._sends, self._client = terms, file, sends, client
        self.packets: deque[bytes] = deque()
        self.over = False
        self.error: TftpError | None = None
        self.block_bytes = BLOCK
        self._timeout_s = terms.timeout_s
        self._asked: Packet | None = None
        self._agreed: dict[str, str] = {}
        self._opening, self._waiting, self._proven = True, False, client
        self._last = b""
        self._block = self._at = self._length = self._tries = 0
        self._ended = False
        self._since_s = 0.0

    # --- how it begins

    @classmethod
    def ask(cls, terms: Terms, file: TransferFile, name: str, writing: bool) -> TftpTransfer:
        """A client's: ask for a file, or with `writing` offer one."""
        made = cls(terms, file, sends=writing, client=True)
        options = {"blksize": str(terms.block_max)}
        if terms.tell_timeout:
            options["timeout"] = str(min(255, max(1, round(terms.timeout_s))))
        size = file.size() if writing else 0
        if size is not None:
            options["tsize"] = str(size)
        made._asked = Packet(Opcode.WRITE if writing else Opcode.READ, name=name, options=options)
        made._send(made._asked.encode())
        return made

    @classmethod
    def serve(cls, terms: Terms, file: TransferFile, request: Packet) -> TftpTransfer:
        """A server's: answer a request, as soon as the file is ready."""
        made = cls(terms, file, sends=request.opcode is Opcode.READ, client=False)
        made._asked = request
        made._waiting = True
        made._guarded(made._begin)
        return made

    def _begin(self) -> None:
        assert self._asked is not None
        if not self._file.ready():
            return
        wanted = self._asked.options
        block = number_in(wanted, "blksize", BLOCK_MIN, BLOCK_MAX)
        if block is not None:
            self.block_bytes = min(block, self._terms.block_max)
            self._agreed["blksize"] = str(self.block_bytes)
        elif self._terms.block_max < BLOCK:
            raise TftpError(TftpCode.NO_OPTION, f"ask for blksize {self._terms.block_max} or less")
        timeout = number_in(wanted, "timeout", 1, 255)
        if timeout is not None:
            self._timeout_s = timeout
            self._agreed["timeout"] = str(timeout)
        told = number_in(wanted, "tsize", 0, NUMBER_MAX)
        size = self._file.size() if self._sends else told
        if told is not None and size is not None:
            self._agreed["tsize"] = str(size)
        self._waiting = False
        if self._agreed:
            self._send(Packet(Opcode.OACK, options=self._agreed).encode())
        elif self._sends:
            self._go_on(1)
        else:
            self._acknowledge()

    # --- what comes

    def receive(self, packet: Packet, now_s: float) -> None:
        """Take a packet of the peer."""
        self._guarded(lambda: self._receive(packet, now_s))

    def _receive(self, packet: Packet, now_s: float) -> None:
        if packet.opcode is Opcode.DATA and not self._sends:
            self._data(packet, now_s)
        elif self.over:
            return
        elif packet.opcode is Opcode.ERROR:
            code = TftpCode(packet.block) if packet.block <= TftpCode.NO_OPTION else TftpCode.UNDEFINED
            self._end(TftpError(code, packet.name or code.name.lower().replace("_", " ")))
        elif packet.opcode in (Opcode.READ, Opcode.WRITE):
            if self.repeated(packet) and not self._waiting:
                self._again(now_s)
        elif packet.opcode is Opcode.ACK and self._sends:
            self._ack(packet.block, now_s)
        elif packet.opcode is Opcode.OACK and self._client:
            self._oack(packet.options, now_s)

    def _oack(self, options: dict[str, str], now_s: float) -> None:
        if not self._opening:
            return
        if self._agreed:  # it comes again: the ACK was lost
            self._again(now_s)
            return
        asked = self._asked.options if self._asked is not None else {}
        block = number_in(options, "blksize", BLOCK_MIN, self._terms.block_max)
        odd = set(options) - set(asked)
        if odd or ("blksize" in options and block is None) or (block or BLOCK) > self._terms.block_max:
            raise TftpError(TftpCode.NO_OPTION, "what was chosen was not asked for")
        self.block_bytes, self._agreed = block or BLOCK, options or {"blksize": str(BLOCK)}
        self._progress(now_s)
        if self._sends:
            self._go_on(1)
        else:
            self._file.opened(number_in(options, "tsize", 0, NUMBER_MAX))
            self._acknowledge()

    def _ack(self, block: int, now_s: float) -> None:
        if self._waiting or block != self._block:
            return  # a duplicate: to answer it would double every block from here on
        self._proven = True
        if self._opening:
            self._without_options()
            self._progress(now_s)
            self._go_on(1)
        elif self._length < self.block_bytes:
            self._end(None)
        else:
            self._at += self._length
            self._progress(now_s)
            self._go_on((block + 1) % BLOCKS)

    def _without_options(self) -> None:
        """A server without options has answered."""
        if self._client and not self._agreed and self._terms.block_max < BLOCK:
            raise TftpError(TftpCode.NO_OPTION, f"blocks of {BLOCK} bytes are too long here")

    def _data(self, packet: Packet, now_s: float) -> None:
        if packet.block == self._block and not self._opening:
            if not self._waiting and (self.error is None):
                self._again(now_s)  # its ACK was lost
            return
        if self.over or self._waiting or packet.block != (self._block + 1) % BLOCKS:
            return
        if self._opening:
            self._without_options()
            if self._client and not self._agreed:
                self._file.opened(None)
        if len(packet.content) > self.block_bytes:
            raise TftpError(TftpCode.ILLEGAL, f"a block of more than {self.block_bytes} bytes")
        self._proven, self._opening = True, False
        self._ended = len(packet.content) < self.block_bytes
        self._block = packet.block
        self._file.write(self._at, packet.content, self._ended)
        self._at += len(packet.content)
        self._progress(now_s)
        self._waiting = True
        self._acknowledge()

    # --- what goes

    def _progress(self, now_s: float) -> None:
        self._tries, self._since_s = 0, now_s

    def _go_on(self, block: int) -> None:
        """Send the block that begins at `_at`, as soon as it is there."""
        self._opening, self._waiting, self._block = False, True, block
        self._offer()

    def _offer(self) -> None:
        content = self._file.read(self._at, self.block_bytes)
        if content is not None:
            self._waiting, self._length = False, len(content)
            self._send(Packet(Opcode.DATA, self._block, content).encode())

    def _acknowledge(self) -> None:
        """Acknowledge what came last, as soon as it is kept."""
        if self._opening or self._file.kept(self._at):
            self._waiting = False
            self._send(Packet(Opcode.ACK, self._block).encode().ljust(self._terms.ack_bytes, b"\0"))
            if self._ended:
                self._end(None)

    def _send(self, packet: bytes) -> None:
        self._last = packet
        self.packets.append(packet)

    def _again(self, now_s: float) -> None:
        self._since_s = now_s
        if self._last not in self.packets:
            self.packets.append(self._last)

    def sent(self, now_s: float) -> None:
        """A packet has left: from now on its answer is waited for."""
        self._since_s = now_s

    def poll(self, now_s: float) -> None:
        """Go on with what had to wait, and send again what was not answered in time."""
        if not self.over:
            self._guarded(lambda: self._poll(now_s))

    def _poll(self, now_s: float) -> None:
        if self._waiting:
            self._since_s = now_s
            if self._opening:
                self._begin()
            elif self._sends:
                self._offer()
            else:
                self._acknowledge()
        elif not self.packets and now_s - self._since_s >= self._timeout_s:
            self._tries += 1
            if self._tries >= self._terms.tries:
                self._end(TftpError(TftpCode.UNDEFINED, "no answer"))
            elif self._repeats():
                self._again(now_s)
            self._since_s = now_s

    def _repeats(self) -> bool:
        """At first the client repeats what it asked, later the sender its block: no packet has two timers.

        A client that has not answered once gets no more packets than it has sent requests.
        """
        return self._client if self._opening else self._sends and self._proven

    @property
    def due_s(self) -> float:
        """When `poll` has something to do; while it waits for the file, whenever that continues."""
        return self._since_s + self._timeout_s

    # --- how it ends

    def repeated(self, request: Packet) -> bool:
        """Whether it is the request that this serves, again, because nothing of the answer has come."""
        return not self._client and request == self._asked and not self._proven and not self.over

    def replace(self, error: TftpError) -> None:
        """End it without a word to the peer, who has done so."""
        self.packets.clear()
        if not self.over:
            self._end(error)

    def abort(self, error: TftpError) -> None:
        """End it; the peer is reported."""
        if not self.over:
            self._fail(error)

    def _guarded(self, act: Callable[[], None]) -> None:
        try:
            act()
        except TftpError as error:
            self._fail(error)

    def _fail(self, error: TftpError) -> None:
        self.packets.clear()
        self.packets.append(error_packet(error.code, str(error)))
        if not self.over:
            self._end(error)

    def _end(self, error: TftpError | None) -> None:
        self.over, self.error = True, error
        self._file.close(error)
