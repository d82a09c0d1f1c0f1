"""Data that one transfer receives and another one sends on, and text in the mode netascii."""

from __future__ import annotations

from motecrypt.link.tftp.packets import TftpCode, TftpError

HELD_MAX = 1 << 24
"""Bytes that may wait for the reader."""


class Pipe:
    """One file between two transfers: the receiving one writes `inlet`, the sending one reads `outlet`.

    Parameters
    ----------
    through : bool
        Whether a byte counts as kept only when the reader has passed it on. Then a peer with a final
        acknowledgement can be sure that the file has arrived.
    size : int, optional
        The file's size, where it is known before it comes.

    Attributes
    ----------
    begin : all bytes before it were passed on.
    wanted : bytes that the reader takes in one read; 0 before it has begun.
    """

    def __init__(self, through: bool, size: int | None = None) -> None:
        self.through = through
        self.known_size = size
        self.held = bytearray()
        self.begin = 0
        self.wanted = 0
        self.opened = self.ended = self.delivered = False
        self.error: TftpError | None = None
        self.inlet, self.outlet = Inlet(self), Outlet(self)

    def check(self) -> None:
        """Raise what the other end ended with."""
        if self.error is not None:
            raise self.error


class Inlet:
    """What is written into a pipe."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe

    def size(self) -> int | None:
        """Nobody reads here."""
        return None

    def ready(self) -> bool:
        """Once the reader has begun."""
        self._pipe.check()
        return self._pipe.wanted > 0

    def opened(self, size: int | None) -> None:
        """The file is there."""
        self._pipe.opened, self._pipe.known_size = True, size

    def read(self, at: int, count: int) -> bytes | None:
        """Nobody reads here."""
        raise TftpError(TftpCode.ILLEGAL, "not to be read")

    def write(self, at: int, content: bytes, last: bool) -> None:
        """Keep it for the reader."""
        pipe = self._pipe
        pipe.check()
        if len(pipe.held) + len(content) > HELD_MAX:
            raise TftpError(TftpCode.DISK_FULL, f"more than {HELD_MAX:,} bytes wait")
        pipe.held += content
        pipe.opened, pipe.ended = True, last

    def kept(self, at: int) -> bool:
        """Whether the reader has passed it on, if that is asked for, or needs more before it sends."""
        pipe = self._pipe
        pipe.check()
        return not pipe.through or (pipe.delivered if pipe.ended else at - pipe.begin < pipe.wanted)

    def close(self, error: TftpError | None) -> None:
        """Nothing more comes."""
        if error is not None and self._pipe.error is None:
            self._pipe.error = error


class NetasciiInlet(Inlet):
    """The same for text in the mode netascii, which continues as it was before its writer made that of it."""

    def __init__(self, pipe: Pipe) -> None:
        super().__init__(pipe)
        self._left = b""
        self._at = 0

    def write(self, at: int, content: bytes, last: bool) -> None:
        """Keep it for the reader; a CR at the end waits for the byte that says what it is."""
        text = self._left + content
        self._left = b"\r" if text.endswith(b"\r") and not last else b""
        text = text.removesuffix(self._left).replace(b"\r\n", b"\n").replace(b"\r\0", b"\r")
        super().write(self._at, text, last)
        self._at += len(text)

    def kept(self, at: int) -> bool:
        """Whether all of the text that came is kept."""
        return super().kept(self._at)


class Outlet:
    """What is read from a pipe."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe

    def size(self) -> int | None:
        """From the writer's side."""
        return self._pipe.known_size

    def ready(self) -> bool:
        """Once the file is there."""
        self._pipe.check()
        return self._pipe.opened

    def opened(self, size: int | None) -> None:
        """Nobody writes here."""

    def read(self, at: int, count: int) -> bytes | None:
        """What comes next; all before `at` was passed on."""
        pipe = self._pipe
        pipe.check()
        pipe.wanted = count
        del pipe.held[: at - pipe.begin]
        pipe.begin = at
        if len(pipe.held) < count and not pipe.ended:
            return None
        return bytes(pipe.held[:count])

    def write(self, at: int, content: bytes, last: bool) -> None:
        """Nobody writes here."""
        raise TftpError(TftpCode.ILLEGAL, "not to be written")

    def kept(self, at: int) -> bool:
        """Nobody writes here."""
        return True

    def close(self, error: TftpError | None) -> None:
        """It has all been passed on, or never will be."""
        self._pipe.delivered = error is None
        if error is not None and self._pipe.error is None:
            self._pipe.error = error


class NetasciiOutlet(Outlet):
    """The same in the mode netascii: a line ends with CR LF, and any other CR is followed by NUL."""

    def __init__(self, pipe: Pipe) -> None:
        super().__init__(pipe)
        self._text = bytearray()
        self._begin = 0

    def size(self) -> int | None:
        """It is not known before all was read."""
        return None

    def read(self, at: int, count: int) -> bytes | None:
        """The next bytes of the text."""
        pipe = self._pipe
        pipe.check()
        del self._text[: at - self._begin]
        self._begin = at
        self._text += bytes(pipe.held).replace(b"\r", b"\r\0").replace(b"\n", b"\r\n")
        pipe.held.clear()
        if len(self._text) < count and not pipe.ended:
            return None
        return bytes(self._text[:count])
