"""The gateway's local socket: orders and questions of programs of the same user, a line of JSON each.

A file that its owner alone can use is all the access control there is; nothing listens on a network.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.gateway.orders import TEXT_MAX, Told
from motecrypt.link.gateway.shares import gives_way

CLIENTS_MAX = 16
"""Connections. When all are used, the program with most of them loses its oldest to a program with fewer."""
REPLIES_MAX = 1 << 20
"""Bytes that wait for a client that does not read."""

Asked = Callable[[dict[str, Any], Told], None]
"""Gets a request, and what takes its one answer, now or later."""


class _Client:
    """One program that is connected."""

    def __init__(self, line: socket.socket) -> None:
        self.line, self.process = line, _process(line)
        self.read = b""
        self.to_write = b""
        self.gone = False

    def tell(self, answer: dict[str, Any]) -> None:
        """Answer it."""
        self.to_write += json.dumps(answer).encode() + b"\n"
        self.gone = self.gone or len(self.to_write) > REPLIES_MAX

    def fileno(self) -> int:
        """For select."""
        return self.line.fileno()


class ControlSocket:
    """Listens at a path; used from one thread.

    Raises
    ------
    InputError
        The path cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._clients: list[_Client] = []
        self.refused = 0
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            if stat.S_ISSOCK(path.lstat().st_mode):
                path.unlink()  # of a killed gateway: this process holds the record's lock
        except FileNotFoundError:
            pass
        try:
            before = os.umask(0o177)
            try:
                with _near(path) as short:
                    self._listener.bind(short)
            finally:
                os.umask(before)
        except OSError as error:
            self._listener.close()
            raise InputError(f"socket {path}: {error.strerror}; name another with --socket") from None
        self._listener.listen(CLIENTS_MAX)
        self._listener.setblocking(False)

    def readers(self) -> list[Any]:
        """What to wait for."""
        return [self._listener, *self._clients]

    def writers(self) -> list[Any]:
        """What to wait for room at."""
        return [client for client in self._clients if client.to_write]

    def turn(self, ready: list[Any], asked: Asked) -> None:
        """Take what has come, and write what is to be reported."""
        if self._listener in ready:
            self._accept()
        for client in list(self._clients):
            if client in ready and not client.gone:
                self._read(client, asked)
            self._write(client)
            if client.gone:
                client.line.close()
                self._clients.remove(client)

    def _accept(self) -> None:
        try:
            line, _ = self._listener.accept()
        except OSError:
            return
        client = _Client(line)
        if len(self._clients) >= CLIENTS_MAX and not self._make_room(client.process):
            self.refused += 1
            line.close()
            return
        line.setblocking(False)
        self._clients.append(client)

    def _make_room(self, process: int) -> bool:
        greedy = gives_way(Counter(client.process for client in self._clients), process)
        if greedy is None:
            return False
        oldest = next(client for client in self._clients if client.process == greedy)
        oldest.line.close()
        self._clients.remove(oldest)
        return True

    def _read(self, client: _Client, asked: Asked) -> None:
        try:
            data = client.line.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        client.gone = not data
        client.read += data
        *lines, client.read = client.read.split(b"\n")
        if len(client.read) > TEXT_MAX:
            lines, client.read = [*lines, client.read], b""
        for line in lines:
            try:
                request = json.loads(line[: TEXT_MAX + 1])
                if not isinstance(request, dict):
                    raise ValueError
                asked(request, client.tell)
            except (ValueError, RecursionError):
                self.refused += 1
                client.tell({"error": "not a request: give one line of JSON"})
            except InputError as error:
                self.refused += 1
                client.tell({"error": str(error)})

    def _write(self, client: _Client) -> None:
        try:
            while client.to_write:
                client.to_write = client.to_write[client.line.send(client.to_write) :]
        except BlockingIOError:
            return
        except OSError:
            client.gone = True

    def close(self) -> None:
        """Write what can be written, and go."""
        for client in self._clients:
            self._write(client)
            client.line.close()
        self._listener.close()
        with suppress(OSError):
            self.path.unlink()


def _process(line: socket.socket) -> int:
    """The id of the process at the other end (unix(7), SO_PEERCRED)."""
    credentials = struct.Struct("3i")
    given = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, credentials.size)
    return int(credentials.unpack(given)[0])


def ask(path: Path, request: dict[str, Any], seconds: float) -> dict[str, Any]:
    """One request to the gateway that listens there, and its answer.

    Raises
    ------
    InputError
        Nobody listens there, or the gateway refuses the request.
    MotecryptError
        It does not answer, or cannot do what is asked.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(seconds)
        try:
            with _near(path) as short:
                line.connect(short)
        except PermissionError as error:
            raise InputError(
                f"socket {path}: {error.strerror}; only the gateway's user may use it: run this as that user"
            ) from None
        except OSError as error:
            raise InputError(f"socket {path}: {error.strerror}; is 'motecrypt gateway' running?") from None
        got = b""
        try:
            line.sendall(json.dumps(request).encode() + b"\n")
            while not got.endswith(b"\n"):
                data = line.recv(65536)
                if not data:
                    raise MotecryptError(f"socket {path}: the gateway has ended; the outcome is unknown")
                got += data
        except OSError:
            raise MotecryptError(
                f"socket {path}: no answer for {seconds:g} s; the outcome is unknown"
            ) from None
    answer: dict[str, Any] = json.loads(got)
    if "error" in answer:
        raise InputError(str(answer["error"]))
    if "failed" in answer:
        raise MotecryptError(str(answer["failed"]))
    return answer


@contextmanager
def _near(path: Path) -> Iterator[str]:
    """A name for a path that a socket's address has room for (108 bytes), however deep it is."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
