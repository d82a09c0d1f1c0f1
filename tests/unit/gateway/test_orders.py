"""Orders in JSON, the box they wait in, and the local socket that they come by."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.gateway import control as module
from motecrypt.link.gateway import orders
from motecrypt.link.gateway.control import ControlSocket, ask
from motecrypt.link.gateway.orders import Order, Outbox, read_order


def order(
    node: int = 5, wait_s: float = 10.0, told: list[dict[str, Any]] | None = None, way: str = "command"
) -> Order:
    return Order(node, b"x", way, wait_s, "", (told if told is not None else []).append)


def test_an_order_says_what_is_sent_and_how() -> None:
    told: list[dict[str, Any]] = []
    made = read_order(5, b'{"hex": "69 8813"}', told.append)
    assert (made.node, made.content, made.way, made.wait_s, made.token) == (
        5,
        b"i\x88\x13",
        "command",
        10.0,
        "",
    )
    made = read_order(0, b'{"text": "\xc3\xa4", "as": "unconfirmed", "wait_s": 0, "id": "a"}', told.append)
    assert (made.node, made.content, made.way, made.wait_s, made.token) == (
        0,
        b"\xc3\xa4",
        "unconfirmed",
        0,
        "a",
    )
    made.over("sent")
    made.over("dropped", "why")
    assert told == [
        {"node": 0, "outcome": "sent", "id": "a"},
        {"node": 0, "outcome": "dropped", "why": "why", "id": "a"},
    ]


@pytest.mark.parametrize(
    ("node", "text", "said"),
    [
        (5, b"", "give JSON"),
        (5, b"[1]", "give JSON"),
        (5, b"\xff", "give JSON"),
        (5, b"[" * 100_00, "give JSON"),
        (5, b'{"text": "%s"}' % (b"x" * orders.TEXT_MAX), "give JSON"),
        (5, b"{}", "give one of hex and text"),
        (5, b'{"hex": "00", "text": "x"}', "give one of hex and text"),
        (5, b'{"hex": "0"}', "hex or text cannot be read"),
        (5, b'{"hex": 7}', "hex or text cannot be read"),
        (5, b'{"text": null}', "hex or text cannot be read"),
        (5, b'{"text": "\\ud800"}', "hex or text cannot be read"),
        (5, b'{"text": "x", "to": 7}', "unknown field 'to'"),
        (5, b'{"text": "x", "node": 7}', "unknown field 'node'"),
        (5, b'{"text": "x", "as": "file"}', "as is one of command, message, unconfirmed"),
        (5, b'{"text": "x", "as": []}', "as is one of"),
        (5, b'{"text": "x", "wait_s": -1}', "wait_s is 0 to 3600"),
        (5, b'{"text": "x", "wait_s": 3601}', "wait_s is 0 to 3600"),
        (5, b'{"text": "x", "wait_s": NaN}', "wait_s is 0 to 3600"),
        (5, b'{"text": "x", "wait_s": true}', "wait_s is 0 to 3600"),
        (5, b'{"text": "x", "id": 7}', "its id is a text"),
        (5, b'{"text": "x", "id": "%s"}' % (b"x" * 65), "its id is a text of at most 64 letters"),
        (64, b'{"text": "x"}', "not a number from 0 to 62"),
        (-1, b'{"text": "x"}', "not a number from 0 to 62"),
        (True, b'{"text": "x"}', "not a number from 0 to 62"),
        ("5", b'{"text": "x"}', "not a number from 0 to 62"),
        (None, b'{"text": "x"}', "not a number from 0 to 62"),
    ],
)
def test_what_is_no_order_is_one_line(node: object, text: bytes, said: str) -> None:
    with pytest.raises(InputError, match=f"^invalid order: .*{said}") as error:
        read_order(node, text, print)
    assert "\n" not in str(error.value)


@settings(max_examples=50)
@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: json.dumps({"text": text}).encode()))
def test_any_bytes_are_an_order_or_one_line(text: bytes) -> None:
    try:
        assert read_order(5, text, print).node == 5
    except InputError as error:
        assert str(error).startswith("invalid order: ")


def test_the_box_gives_one_at_a_time_for_each_node() -> None:
    box, told = Outbox(2.0), list[dict[str, Any]]()
    assert not box
    first, second, other = order(told=told), order(told=told), order(6, told=told)
    for each in (first, second, other):
        box.add(each, 100.0)
    assert box and list(box.next(lambda node: False, 109.0)) == []
    assert list(box.next(lambda node: True, 109.0)) == [first, other]
    box.flying(first, 109.0)
    assert list(box.next(lambda node: True, 109.0)) == [other]
    box.over(other, "sent")
    box.outcome(9, "accepted")
    box.outcome(5, "accepted")
    box.heard(5)
    assert list(box.next(lambda node: True, 109.0)) == [second]
    box.flying(second, 109.0)
    box.expire(111.0)
    assert len(told) == 2 and box
    box.expire(111.1)
    assert [each["outcome"] for each in told] == ["sent", "accepted", "unconfirmed"] and not box
    assert box.told == {"sent": 1, "accepted": 1, "unconfirmed": 1}


def test_the_box_has_an_end_and_tells_it() -> None:
    box, told = Outbox(2.0), list[dict[str, Any]]()
    for node in range(orders.GROUP + 1):
        for _ in range(orders.WAITING_MAX + 1):
            box.add(order(node, told=told), 0.0)
    why = "20 others wait already for this node"
    assert told == [{"node": node, "outcome": "dropped", "why": why} for node in range(64)]
    box.flying(next(iter(box.next(lambda node: True, 0.0))), 0.0)
    told.clear()
    box.close()
    assert [each["outcome"] for each in told] == ["unconfirmed"] + ["not sent"] * (64 * 20 - 1) and not box


def test_who_orders_much_for_a_node_takes_turns_with_others() -> None:
    """One way fills its places with commands that wait for the node; the other one does not wait for them."""
    box, told = Outbox(2.0), list[dict[str, Any]]()
    many = [replace(order(told=told, wait_s=3600.0), source="broker") for _ in range(orders.WAITING_MAX)]
    few = [replace(order(told=told, way="message"), source="coap") for _ in range(2)]
    for each in (*many, *few):
        box.add(each, 0.0)
    assert not told
    (first,) = box.next(lambda node: True, 0.0)
    assert first is many[0], "one for the node at a time"
    box.flying(first, 0.0)
    box.outcome(5, "accepted")
    assert list(box.next(lambda node: True, 0.0)) == [few[0]], "and no second command before a message"
    box.flying(few[0], 0.0)
    box.outcome(5, "accepted")
    box.heard(5)
    assert list(box.next(lambda node: True, 0.0)) == [many[1]]
    box.flying(many[1], 0.0)
    box.outcome(5, "accepted")
    box.heard(5)
    assert list(box.next(lambda node: True, 0.0)) == [few[1]], "they take turns"


def test_an_order_waits_for_its_port_and_not_for_ever() -> None:
    box, told = Outbox(2.0), list[dict[str, Any]]()
    box.add(order(wait_s=0.0, told=told), 0.0)
    box.add(order(6, wait_s=0.0, told=told), 0.0)

    def now(now_s: float) -> list[int]:
        return [each.node for each in box.next(lambda node: True, now_s, lambda node: node != 5)]

    assert now(2.0) == [6] and not told
    assert now(2.1) == [6]
    assert told == [{"node": 5, "outcome": "not heard", "why": "its port does not take packets"}]


def test_a_command_waits_for_a_message_after_the_one_before() -> None:
    box, told = Outbox(2.0), list[dict[str, Any]]()
    first, second, third = (order(told=told) for _ in range(3))
    assert first.way == "command"
    plain = order(6, told=told, way="message")
    for each in (first, second, plain, third):
        box.add(each, 0.0)
    box.flying(first, 0.0)
    box.flying(plain, 0.0)
    for node in (5, 6):
        box.outcome(node, "accepted")
    again = order(6, told=told, way="message")
    box.add(again, 0.0)
    assert list(box.next(lambda node: True, 1.0)) == [again], "messages need none"
    box.heard(6)
    assert list(box.next(lambda node: True, 1.0)) == [again]
    box.heard(5)
    assert list(box.next(lambda node: True, 1.0)) == [second, again]
    box.flying(second, 1.0)
    box.outcome(5, "unconfirmed")
    list(box.next(lambda node: True, 10.1))
    assert told[-1]["outcome"] == "not heard" and len(told) == 4
    at_once = order(5, wait_s=0.0, told=told)
    box.add(at_once, 11.0)
    assert at_once in list(box.next(lambda node: True, 11.0)), "where nobody wants to wait"


def test_what_is_not_heard_is_given_up_and_what_need_not_wait_goes() -> None:
    box, told = Outbox(2.0), list[dict[str, Any]]()
    for wait_s in (10.0, 20.0):
        box.add(order(wait_s=wait_s, told=told), 0.0)
    at_once = order(6, wait_s=0.0)
    box.add(at_once, 0.0)
    assert list(box.next(lambda node: False, 10.0)) == [at_once] and not told
    list(box.next(lambda node: False, 10.1))
    assert [each["outcome"] for each in told] == ["not heard"]
    list(box.next(lambda node: False, 20.1))
    assert told[1]["why"] == "no packet from the node for 20 s"


# --- the socket


class Served:
    """A socket and a thread that serves it: an order is accepted, anything else as it says."""

    def __init__(self, path: Path) -> None:
        self.socket, self.over = ControlSocket(path), threading.Event()
        self.requests: list[dict[str, Any]] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        import select

        while not self.over.is_set():
            ready, _, _ = select.select(self.socket.readers(), self.socket.writers(), [], 0.01)
            self.socket.turn(ready, self._asked)

    def _asked(self, request: dict[str, Any], tell: orders.Told) -> None:
        self.requests.append(request)
        if "silent" in request:
            return
        if "bad" in request:
            raise InputError("invalid order: it is bad")
        tell({"outcome": "accepted", "long": "x" * request.get("long", 0)})

    def end(self) -> None:
        """Stop it."""
        self.over.set()
        self._thread.join(60)
        self.socket.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    deep = tmp_path / ("deep" * 30)
    deep.mkdir()
    made = Served(deep / "gateway.socket")
    yield made
    made.end()
    assert not made.socket.path.exists()


def test_a_program_asks_and_is_answered(served: Served) -> None:
    path = served.socket.path
    assert len(str(path)) > 108 and path.stat().st_mode & 0o777 == 0o600
    for long in (0, 200_000):
        assert ask(path, {"node": 5, "long": long}, 60)["outcome"] == "accepted"
    assert served.requests[0] == {"node": 5, "long": 0}
    with pytest.raises(InputError, match=r"^invalid order: it is bad$"):
        ask(path, {"bad": True}, 60)
    with pytest.raises(MotecryptError, match=r"no answer for 0\.05 s; the outcome is unknown"):
        ask(path, {"silent": True}, 0.05)


def test_what_is_no_request_is_told_and_counted(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX) as line:
        monkeypatch.chdir(served.socket.path.parent)
        line.connect("gateway.socket")
        line.settimeout(60)
        line.sendall(b"no json\n[1]\n" + b"[" * 20_000 + b"\n" + b'{"node": 5}\n')
        said = b""
        while said.count(b"\n") < 4:
            said += line.recv(4096)
        line.sendall(b"x" * 17_000)
        while said.count(b"\n") < 5:
            said += line.recv(4096)
    answers = [json.loads(each) for each in said.splitlines()]
    assert ["error" in each for each in answers] == [True, True, True, False, True]
    assert served.socket.refused == 4


def test_there_is_room_for_so_many_programs_and_no_more(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(served.socket.path.parent)
    lines = [socket.socket(socket.AF_UNIX) for _ in range(module.CLIENTS_MAX)]
    for line in lines:
        line.connect("gateway.socket")
        line.sendall(b'{"node": 5}\n')
        assert line.recv(100)
    with pytest.raises(MotecryptError, match=r"the gateway has ended|the outcome is unknown"):
        ask(served.socket.path, {"node": 5}, 60)
    lines.pop().close()
    for _ in range(100):
        try:
            assert ask(served.socket.path, {"node": 5}, 60)
            break
        except MotecryptError:
            continue
    for line in lines:
        line.close()


def test_a_program_with_many_connections_makes_room_for_another(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = iter([*[7] * module.CLIENTS_MAX, 8])
    monkeypatch.setattr(module, "_process", lambda line: next(processes))
    monkeypatch.chdir(served.socket.path.parent)
    lines = [socket.socket(socket.AF_UNIX) for _ in range(module.CLIENTS_MAX)]
    for line in lines:
        line.settimeout(60)
        line.connect("gateway.socket")
        line.sendall(b'{"node": 5}\n')
        assert line.recv(100)
    assert ask(served.socket.path, {"node": 5}, 60)["outcome"] == "accepted"
    assert lines[0].recv(100) == b"", "its oldest connection"
    lines[1].sendall(b'{"node": 5}\n')
    assert lines[1].recv(100), "its others go on"
    assert served.socket.refused == 0
    for line in lines:
        line.close()


def test_the_process_at_the_other_end_is_known() -> None:
    near, far = socket.socketpair()
    assert module._process(near) == os.getpid()
    near.close()
    far.close()


def test_a_gateway_that_ends_is_no_answer(tmp_path: Path) -> None:
    made = Served(tmp_path / "socket")
    told: list[str] = []

    def asks() -> None:
        with pytest.raises(MotecryptError) as error:
            ask(tmp_path / "socket", {"silent": True}, 60)
        told.append(str(error.value))

    thread = threading.Thread(target=asks)
    thread.start()
    while not made.requests:
        pass
    made.end()
    thread.join(60)
    assert told == [f"socket {tmp_path}/socket: the gateway has ended; the outcome is unknown"]
    with pytest.raises(InputError, match="No such file or directory; is 'motecrypt gateway' running"):
        ask(tmp_path / "socket", {}, 1)


def test_a_socket_that_was_left_behind_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()
    ControlSocket(path).close()
    path.write_text("a file")
    with pytest.raises(InputError, match=r"socket: Address already in use; name another with --socket"):
        ControlSocket(path)
    assert path.read_text() == "a file"
