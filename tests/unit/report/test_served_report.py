"""The served report: what it answers, whom it refuses, its one measurement at a time. Measures nothing."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from motecrypt.adviser.api import NEEDS
from motecrypt.app.serve import measured
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.cli import report as report_command
from motecrypt.present.report.orders import PageOrder, parse_order
from motecrypt.present.report.server import CONNECTIONS_MAX, ORDER_BYTES_MAX, ReportServer
from motecrypt.present.report.work import BusyError, Measure, StoppedError, Watch, Work

ORDER = {"kind": "measure", "devices": ["uno"], "ciphers": ["rc4d"], "bytes": [16]}
DEADLINE_S = 20.0


class Fake:
    """Measures nothing: keeps the orders, and waits for `go_on` where `waits` is set."""

    def __init__(self) -> None:
        self.orders: list[PageOrder] = []
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.waits = False
        self.error: Exception | None = None

    def __call__(self, order: PageOrder, watch: Watch) -> str:
        self.orders.append(order)
        watch(0, 2, "")
        watch.running(["first"])
        self.begun.set()
        while self.waits and not self.go_on.wait(0.01):
            watch.running(["first"])
        if self.error is not None:
            raise self.error
        watch(2, 2, "second")
        return "2 figures are there"


@pytest.fixture
def fake() -> Fake:
    return Fake()


@pytest.fixture
def served(fake: Fake) -> Iterator[ReportServer]:
    pages = iter(range(1, 100))
    work = Work(fake, DEADLINE_S, lambda: server.forget())
    server = ReportServer(lambda: f"<p>page {next(pages)}</p>", work)
    server.start()
    yield server
    assert server.close()


def _ask(
    server: ReportServer, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """An answer to a request of our own page, with what `headers` change; of "" a header is left out."""
    sent = {"Host": f"127.0.0.1:{server.port}", "Sec-Fetch-Site": "same-origin"}
    if method == "POST":
        sent |= {"Origin": f"http://127.0.0.1:{server.port}", "Content-Type": "application/json"}
        sent |= {"Content-Length": str(len(body or b""))}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    link.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in sent.items():
        if value:
            link.putheader(name, value)
    link.endheaders(body)
    answer = link.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    link.close()
    return found


def _order(server: ReportServer, document: object = ORDER, **headers: str) -> tuple[int, Any]:
    status, _, body = _ask(
        server, "POST", f"/{server.token}/measure", json.dumps(document).encode(), **headers
    )
    return status, json.loads(body)


def _ended(work: Work) -> None:
    thread = work._thread
    assert thread is not None
    thread.join(20)
    assert not thread.is_alive()


# --- answers ---------------------------------------------------------------------------------------


def test_the_page_is_served_to_this_computer_alone(served: ReportServer) -> None:
    assert served._server.server_address[0] == "127.0.0.1"
    assert len(served.token) >= 43  # 256 bits
    status, headers, body = _ask(served, "GET", f"/{served.token}/")
    assert (status, body) == (200, b"<p>page 1</p>")
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"  # the address has the token in it
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "Python" not in headers["Server"]
    assert _ask(served, "GET", f"/{served.token}/", Host=f"localhost:{served.port}")[0] == 200
    assert _ask(served, "GET", f"/{served.token}/", Sec_Fetch_Site="none")[2] == b"<p>page 1</p>"


def test_two_servers_have_two_tokens() -> None:
    servers = [ReportServer(str, Work(Fake(), 1)) for _ in range(2)]
    assert servers[0].token != servers[1].token
    for server in servers:
        server._server.server_close()


def test_an_order_is_measured_and_the_page_made_again(served: ReportServer, fake: Fake) -> None:
    assert _ask(served, "GET", f"/{served.token}/")[2] == b"<p>page 1</p>"
    assert _order(served) == (202, {"number": 1})
    _ended(served.work)
    assert fake.orders == [PageOrder("measure", ("uno",), ("rc4d",), (16,))]
    state = json.loads(_ask(served, "GET", f"/{served.token}/progress")[2])
    assert (state["state"], state["done"], state["total"]) == ("done", 2, 2)
    assert state["message"] == "2 figures are there"
    assert state["deadline_s"] == DEADLINE_S
    assert _ask(served, "GET", f"/{served.token}/")[2] == b"<p>page 2</p>"


def test_one_order_at_a_time(served: ReportServer, fake: Fake) -> None:
    fake.waits = True
    assert _order(served)[0] == 202
    assert fake.begun.wait(20)
    status, answer = _order(served)
    assert status == 409
    assert "another measurement is running" in answer["error"]
    state = json.loads(_ask(served, "GET", f"/{served.token}/progress")[2])
    assert (state["state"], state["number"], state["running"]) == ("running", 1, ["first"])
    assert _ask(served, "POST", f"/{served.token}/stop", b"{}")[0] == 202
    _ended(served.work)
    state = json.loads(_ask(served, "GET", f"/{served.token}/progress")[2])
    assert state["state"] == "stopped"
    assert "what was measured before is kept" in state["message"]
    fake.waits = False
    assert _order(served) == (202, {"number": 2})


# --- refusals --------------------------------------------------------------------------------------

PAGE, MEASURE = "/{token}/", "/{token}/measure"
HOSTILE: list[tuple[str, str, str, dict[str, str], int]] = [
    ("a name that resolves to this computer", "GET", PAGE, {"Host": "evil.example:{port}"}, 421),
    ("another port", "GET", PAGE, {"Host": "127.0.0.1:1"}, 421),
    ("no port", "GET", PAGE, {"Host": "127.0.0.1"}, 421),
    ("no host", "GET", PAGE, {"Host": ""}, 400),
    ("no token", "GET", "/", {}, 404),
    ("half a token", "GET", "/{half}/", {}, 404),
    ("another token", "GET", "/{other}/", {}, 404),
    ("more than the token", "GET", "/{token}x/", {}, 404),
    ("the token without its end", "GET", "/{token}", {}, 404),
    ("the token as a question", "GET", "/?token={token}", {}, 404),
    ("a file", "GET", "/{token}/../../etc/passwd", {}, 404),
    ("a file, written otherwise", "GET", "/{token}/%2e%2e/etc/passwd", {}, 404),
    ("an order as a link", "GET", MEASURE, {}, 404),
    ("the page inside another", "GET", PAGE, {"Sec-Fetch-Site": "cross-site"}, 403),
    ("a script of another page", "GET", "/{token}/progress", {"Origin": "http://evil.example"}, 403),
    ("an order of another page", "POST", MEASURE, {"Origin": "http://evil.example"}, 403),
    ("an order of another port", "POST", MEASURE, {"Origin": "http://127.0.0.1:1"}, 403),
    ("an order of our name with https", "POST", MEASURE, {"Origin": "https://127.0.0.1:{port}"}, 403),
    ("an order of a file", "POST", MEASURE, {"Origin": "null"}, 403),
    ("an order of nobody", "POST", MEASURE, {"Origin": ""}, 403),
    ("an order of another site", "POST", MEASURE, {"Sec-Fetch-Site": "cross-site"}, 403),
    ("an order of this computer's other pages", "POST", MEASURE, {"Sec-Fetch-Site": "same-site"}, 403),
    ("an order by a typed address", "POST", MEASURE, {"Sec-Fetch-Site": "none"}, 403),
    ("an order with another host", "POST", MEASURE, {"Host": "evil.example"}, 421),
    ("an order without the token", "POST", "/measure", {}, 404),
    ("a form", "POST", MEASURE, {"Content-Type": "application/x-www-form-urlencoded"}, 415),
    ("a form of text", "POST", MEASURE, {"Content-Type": "text/plain"}, 415),
    ("too much", "POST", MEASURE, {"Content-Length": str(ORDER_BYTES_MAX + 1)}, 413),
    ("no length", "POST", MEASURE, {"Content-Length": ""}, 411),
    ("a length that is none", "POST", MEASURE, {"Content-Length": "-5"}, 411),
    ("two lengths", "POST", MEASURE, {"Transfer-Encoding": "chunked"}, 411),
    ("a stop of another page", "POST", "/{token}/stop", {"Origin": "http://evil.example"}, 403),
    ("another method", "PUT", MEASURE, {}, 501),
    ("what asks before it sends", "OPTIONS", MEASURE, {"Origin": "http://evil.example"}, 501),
]


@pytest.mark.parametrize(
    ("method", "path", "changed", "status"), [h[1:] for h in HOSTILE], ids=[h[0] for h in HOSTILE]
)
def test_hostile_requests_are_refused(
    served: ReportServer, fake: Fake, method: str, path: str, changed: dict[str, str], status: int
) -> None:
    words = {"token": served.token, "half": served.token[:20], "other": "A" * 43, "port": served.port}
    body = json.dumps(ORDER).encode() if method == "POST" else None
    headers = {name.replace("-", "_"): value.format(**words) for name, value in changed.items()}
    found, answered, content = _ask(served, method, path.format(**words), body, **headers)
    assert found == status
    assert served.token not in str(answered) and served.token.encode() not in content
    assert b"page" not in content.replace(b"another page", b"")
    assert "Access-Control-Allow-Origin" not in answered
    assert fake.orders == []
    assert served.work.state().state == "idle"


def test_a_second_host_is_refused(served: ReportServer) -> None:
    ours = f"Host: 127.0.0.1:{served.port}\r\n"
    for more in ("Host: evil.example\r\n", ours):
        with socket.create_connection(("127.0.0.1", served.port), timeout=20) as link:
            link.sendall(f"GET /{served.token}/ HTTP/1.1\r\n{ours}{more}\r\n".encode())
            assert link.recv(200).startswith(b"HTTP/1.1 400 ")


def test_a_second_request_on_a_connection_is_not_read(served: ReportServer) -> None:
    first = f"GET /x HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as link:
        link.sendall((first + first.replace("/x", f"/{served.token}/")).encode())
        answer = b""
        while more := link.recv(4096):
            answer += more
    assert answer.count(b"HTTP/1.1 ") == 1
    assert answer.startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"not json", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 60_000, "not JSON"),
        (b"[1]", "not an object"),
        (b"{}", "kind"),
        (b'{"kind": "run"}', "kind"),
    ],
    ids=["words", "bytes", "depth", "list", "nothing", "kind"],
)
def test_an_order_that_is_none_is_refused(served: ReportServer, fake: Fake, body: bytes, said: str) -> None:
    status, _, content = _ask(served, "POST", f"/{served.token}/measure", body)
    assert status == 400
    assert said in json.loads(content)["error"]
    assert fake.orders == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"devices": ["../evil"]}, "a name of the catalog"),
        ({"devices": ["/tmp/evil"]}, "a name of the catalog"),
        ({"ciphers": ["."]}, "a name of the catalog"),
        ({"ciphers": ["--db=x"]}, "a name of the catalog"),
        ({"ciphers": ["rc4d\n"]}, "a name of the catalog"),
        ({"ciphers": [7]}, "a name of the catalog"),
        ({"ciphers": "rc4d"}, "ciphers: choose at least one"),
        ({"ciphers": []}, "ciphers: choose at least one"),
        ({"devices": ["uno"] * 9}, "devices: at most 8, not 9"),
        ({"bytes": [0]}, "bytes: a whole number from 1 to 65,535, not '0'"),
        ({"bytes": [65536]}, "bytes: a whole number"),
        ({"bytes": [True]}, "bytes: a whole number"),
        ({"bytes": ["16"]}, "bytes: a whole number"),
        ({"bytes": [1.5]}, "bytes: a whole number"),
        ({"bytes": list(range(1, 19))}, "bytes: at most 16, not 18"),
        ({"flags": ["-fplugin=evil.so"]}, "unknown field 'flags'"),
        ({"needs": []}, "unknown field 'needs'"),
        ({"kind": "advise"}, "unknown field 'ciphers'"),
        ({"flags": [], "cflags": []}, "unknown field 'cflags'"),
        ({"f" * 41: 1}, f"unknown field '{'f' * 40}'"),
        ({"a\nb": 1}, r"unknown field 'a\nb'"),
        ({"bytes": ["x" * 41]}, f"not '{'x' * 40}'"),
        ({"ciphers": ["/" * 41]}, f"not '{'/' * 40}'"),
    ],
)
def test_an_order_of_what_is_not_offered_is_refused(changed: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=r"^[^\n]*$") as refused:
        parse_order({**ORDER, **changed})
    assert said in str(refused.value)


def test_an_order_of_the_adviser() -> None:
    asked = {"kind": "advise", "devices": ["uno"], "bytes": [20], "answer": 4, "delivery": "one-way"}
    assert parse_order({**asked, "needs": ["replay", "integrity"]}) == PageOrder(
        "advise", ("uno",), (), (20,), 4, "one-way", ("integrity", "replay")
    )
    for wrong in (
        {"delivery": "x"},
        {"needs": ["x"]},
        {"needs": NEEDS[0]},
        {"answer": -1},
        {"bytes": [1, 2]},
    ):
        with pytest.raises(InputError):
            parse_order({**asked, **wrong})


# --- the work --------------------------------------------------------------------------------------


def _state_of(measure: Measure) -> tuple[str, str]:
    work = Work(measure, DEADLINE_S)
    work.begin(parse_order(ORDER))
    _ended(work)
    return work.state().state, work.state().message


def test_a_failure_is_told_and_the_next_order_taken(fake: Fake) -> None:
    fake.error = MotecryptError("the compiler is missing")
    assert _state_of(fake) == ("failed", "the compiler is missing")
    fake.error = RuntimeError("a fault")
    assert _state_of(fake) == ("failed", "RuntimeError: a fault")
    fake.error = None
    assert _state_of(fake) == ("done", "2 figures are there")


def test_a_measurement_ends_at_its_deadline(fake: Fake) -> None:
    now = [100.0]
    fake.waits = True
    work = Work(fake, 60, clock=lambda: now[0])
    work.begin(parse_order(ORDER))
    assert fake.begun.wait(20)
    now[0] += 60
    Watch(work).running(["still"])
    now[0] += 1
    _ended(work)
    assert work.state().state == "stopped"
    assert "stopped after 60 s, its deadline" in work.state().message
    with pytest.raises(StoppedError):
        Watch(work)(1, 2, "")


def test_closing_ends_the_measurement_and_takes_no_more(fake: Fake) -> None:
    fake.waits = True
    work = Work(fake, DEADLINE_S)
    work.begin(parse_order(ORDER))
    assert fake.begun.wait(20)
    assert work.close()
    assert work.state().state == "stopped"
    with pytest.raises(BusyError):
        work.begin(parse_order(ORDER))


def test_an_order_of_what_does_not_exist_says_so(tmp_path: Path) -> None:
    watch = Watch(Work(Fake(), DEADLINE_S))
    with pytest.raises(InputError, match="no-such"):
        measured(PageOrder("measure", ("uno",), ("no-such",), (16,)), watch, tmp_path / "r.db")
    with pytest.raises(InputError, match="no-such"):
        measured(PageOrder("advise", ("no-such",), (), (16,)), watch, tmp_path / "r.db")
    assert not (tmp_path / "r.db").exists()


# --- the command -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--serve", "--json"], "--json: --serve writes no file"),
        (["--serve", "-o", "x.html"], "--output: --serve writes no file"),
        (["--serve", "--figures", "x"], "--figures: --serve writes no file"),
        (["--serve", "--deadline", "10"], "--deadline '10'"),
        (["--port", "8080"], "--port: needs --serve"),
        (["--deadline", "5min"], "--deadline: needs --serve"),
    ],
)
def test_options_that_do_not_go_together(words: list[str], said: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(report_command.command, [*words, "--db", str(tmp_path / "r.db")])
    assert isinstance(done.exception, InputError)
    assert said in str(done.exception)


def test_a_port_that_is_taken_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=rf"^--port {port}: cannot listen there: [^\n]*in use$"):
            ReportServer(str, Work(Fake(), 1), port)


@pytest.mark.parametrize("begun", [b"", b"GET /", b"GET / HTTP/1.1\r\nHost: "])
def test_connections_that_ask_for_nothing_keep_no_reader_out(served: ReportServer, begun: bytes) -> None:
    idle = []
    try:
        for _ in range(CONNECTIONS_MAX + 10):
            idle.append(socket.create_connection(("127.0.0.1", served.port), timeout=DEADLINE_S))
            idle[-1].sendall(begun)
        for number in range(3):
            reader = http.client.HTTPConnection("127.0.0.1", served.port, timeout=DEADLINE_S / 4)
            reader.request("GET", f"/{served.token}/progress")
            assert (number, reader.getresponse().status) == (number, 200)
        assert idle[0].recv(1) == b""  # the oldest was closed for a newer one
        idle[-1].sendall(b"\r\n" * 3)
    finally:
        for each in idle:
            each.close()
