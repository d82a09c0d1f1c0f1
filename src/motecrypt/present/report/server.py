"""Serves the report on this computer alone, and takes its orders. Knows HTTP and who may ask; never measures.

Only 127.0.0.1 listens. Every address begins with a random token, so another program or page cannot guess one.
The name in Host must be ours: a foreign name that resolves to this computer is refused. An order must come
from our own page (Origin, Sec-Fetch-Site) and be JSON, which no form of another page can send.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.present.report.orders import parse_order
from motecrypt.present.report.work import BusyError, Work

HOST = "127.0.0.1"
ORDER_BYTES_MAX = 65_536
CONNECTIONS_MAX = 32
REQUEST_TIMEOUT_S = 10.0
ROOM_TIMEOUT_S = 1.0
"""How long a new connection waits for the room of one that was closed for it."""
TOKEN_BYTES = 32
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class RefusedError(MotecryptError):
    """A request that is not answered, with its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class ReportServer:
    """The report at an address of its own, until it is closed.

    Parameters
    ----------
    page
        Makes the page; called again after each measurement.
    work
        What measures.
    port
        Of 127.0.0.1; 0: a free one.

    Raises
    ------
    InputError
        The port is taken or not allowed.
    """

    def __init__(self, page: Callable[[], str], work: Work, port: int = 0, token: str = "") -> None:
        self.work = work
        self.token = token or secrets.token_urlsafe(TOKEN_BYTES)
        self._page, self._made = page, b""
        self._lock = threading.Lock()
        try:
            self._server = _Server((HOST, port), _handler(self))
        except OSError as error:
            raise InputError(f"--port {port}: cannot listen there: {error.strerror}") from error
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="report", daemon=True
        )

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a request for us names as its host."""
        return (f"{HOST}:{self.port}", f"localhost:{self.port}")

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def close(self) -> bool:
        """Stop the measurement and the server; whether both ended in time."""
        ended = self.work.close()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(REQUEST_TIMEOUT_S)
        return ended and not self._thread.is_alive()

    def forget(self) -> None:
        """Make the page again when it is asked for: the results changed."""
        with self._lock:
            self._made = b""

    def page(self) -> bytes:
        """The page, made where it is not there yet."""
        with self._lock:
            if not self._made:
                self._made = self._page().encode()
            return self._made

    def checked(self, method: str, path: str, headers: Mapping[str, str]) -> str:
        """What a request asks for, below the token; RefusedError for one that is not of our own page."""
        if headers.get("Host") not in self.hosts:
            raise RefusedError(421, "not the host of this report")
        parts = path.partition("?")[0].split("/", 2)
        if len(parts) != 3 or parts[0] or not hmac.compare_digest(parts[1].encode(), self.token.encode()):
            raise RefusedError(404, "not found")
        ours = {f"http://{host}" for host in self.hosts}
        origin, site = headers.get("Origin"), headers.get("Sec-Fetch-Site")
        if origin is not None and origin not in ours:
            raise RefusedError(403, "asked for by another page")
        if method == "POST" and origin is None:
            raise RefusedError(403, "an order without an origin")
        if site not in (None, "same-origin", *(("none",) if method == "GET" else ())):
            raise RefusedError(403, "asked for by another page")
        return parts[2]

    def answer(self, method: str, asked: str, body: bytes) -> tuple[int, str, bytes]:
        """Status, type and content of the answer to a request that is one of ours."""
        if method == "GET" and asked == "":
            return 200, "text/html; charset=utf-8", self.page()
        if method == "GET" and asked == "progress":
            return _json(200, asdict(self.work.state()))
        if method == "POST" and asked == "stop":
            self.work.stop()
            return _json(202, {"state": "stopping"})
        if method == "POST" and asked == "measure":
            try:
                order = parse_order(json.loads(body))
            except (ValueError, RecursionError):
                raise RefusedError(400, "the order is not JSON") from None
            except InputError as error:
                raise RefusedError(400, str(error)) from error
            try:
                return _json(202, {"number": self.work.begin(order)})
            except BusyError as error:
                raise RefusedError(409, str(error)) from error
        raise RefusedError(404, "not found")


def _json(status: int, value: Mapping[str, Any]) -> tuple[int, str, bytes]:
    return status, "application/json", json.dumps(value).encode()


class _Server(ThreadingHTTPServer):
    """As many connections at a time as a page needs; no more threads than that."""

    daemon_threads = True
    request_queue_size = 16

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._room = threading.BoundedSemaphore(CONNECTIONS_MAX)
        self._silent: dict[socket.socket, None] = {}
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread of its own. Where there is no room, the connection that has been silent for longest
        makes it: one that asks for nothing must not keep a reader out."""
        if not self._room.acquire(blocking=False):
            for oldest in list(self._silent)[:1]:
                self.asks(oldest)
                with suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)  # ends the wait of its thread, which frees the room
            if not self._room.acquire(timeout=ROOM_TIMEOUT_S):
                self.shutdown_request(request)
                return
        self._silent[request] = None
        super().process_request(request, client_address)

    def asks(self, request: socket.socket) -> None:
        """This connection has asked for something: it is no longer silent."""
        self._silent.pop(request, None)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One connection, then its room is free."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.asks(request)
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Silent: a reader went away."""


def _handler(report: ReportServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """One request: checked, then answered."""

        timeout = REQUEST_TIMEOUT_S
        server_version = "motecrypt"
        sys_version = ""
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer("GET")

        def do_POST(self) -> None:
            self._answer("POST")

        def _answer(self, method: str) -> None:
            cast(_Server, self.server).asks(self.connection)
            self.close_connection = True  # one request each, so that bytes after it are not read as another
            try:
                hosts = self.headers.get_all("Host") or []
                if len(hosts) != 1 or len(self.headers.get_all("Origin") or []) > 1:
                    raise RefusedError(400, "one Host, at most one Origin")
                asked = report.checked(
                    method, self.path, {name.title(): value for name, value in self.headers.items()}
                )
                self._send(*report.answer(method, asked, self._body(method)))
            except RefusedError as error:
                self._send(*_json(error.status, {"error": str(error)}))
            except MotecryptError as error:
                self._send(*_json(500, {"error": str(error)}))
            except (TimeoutError, ConnectionError):
                return

        def _body(self, method: str) -> bytes:
            if method == "GET":
                return b""
            if self.headers.get_content_type() != "application/json":
                raise RefusedError(415, "an order is JSON")
            length = self.headers.get("Content-Length", "")
            if not (length.isascii() and length.isdigit()) or "Transfer-Encoding" in self.headers:
                raise RefusedError(411, "an order names its length")
            if int(length) > ORDER_BYTES_MAX:
                raise RefusedError(413, f"an order has at most {ORDER_BYTES_MAX:,} bytes")
            return self.rfile.read(int(length))

        def _send(self, status: int, kind: str, content: bytes) -> None:
            self.send_response(status)
            for name, value in {
                **_HEADERS,
                "Content-Type": kind,
                "Content-Length": str(len(content)),
            }.items():
                self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *values: Any) -> None:
            """Nothing: addresses have the token in them."""

    return Handler
