"""The MQTT sink against mosquitto: logins, TLS, rights, a broker that is away, slow or silent, commands."""

from __future__ import annotations

import json
import queue
import select
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway_bed import DEADLINE_S, Field, item
from motecrypt.link.gateway.drain import Drain
from motecrypt.link.gateway.sinks import SinkError
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.native import CONFIRMED, Event
from motecrypt.link.state import FileStore
from tool_sets import needs_tool_set

pytestmark = [needs_tool_set("mqtt", "mosquitto")]

USERS = ("gateway", "app", "reader")
RIGHTS = """
user gateway
topic readwrite motecrypt/home/#
user app
topic readwrite motecrypt/#
user reader
topic read motecrypt/home/#
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Mosquitto:
    """The broker, and a client that has subscribed to everything."""

    def __init__(self, folder: Path, *lines: str, tls: bool = False) -> None:
        self.folder, self.port, self.tls = folder, free_port(), tls
        passwords, rights = folder / "passwords", folder / "rights"
        passwords.touch()
        for user in USERS:
            command = ["mosquitto_passwd", "-b", passwords, user, f"secret of {user}"]
            subprocess.run(command, check=True, timeout=60, capture_output=True)
            (folder / user).write_text(f"secret of {user}\n")
            (folder / user).chmod(0o600)
        rights.write_text(RIGHTS)
        (folder / "conf").write_text(
            "\n".join(
                [
                    "user root",
                    f"listener {self.port} 127.0.0.1",
                    "allow_anonymous false",
                    f"password_file {passwords}",
                    f"acl_file {rights}",
                    *lines,
                ]
            )
            + "\n"
        )
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                ["/usr/sbin/mosquitto", "-c", str(self.folder / "conf")], stdout=log, stderr=log
            )
        wait_for(lambda: self._answers())

    def _answers(self) -> bool:
        assert self.process is not None and self.process.poll() is None, (self.folder / "log").read_text()
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self) -> None:
        """Kill it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(DEADLINE_S)
            self.process = None

    def broker(self, user: str = "gateway", **given: Any) -> Any:
        """How the sink finds it."""
        from motecrypt.link.gateway.sinks.mqtt import Broker

        named = {"host": "127.0.0.1", "port": self.port, "name": "home", "password": f"secret of {user}"}
        return Broker(**{**named, "tls": self.tls, "user": user, **given})


class Listening:
    """Who sees all that is published."""

    def __init__(self, broker: Mosquitto) -> None:
        import paho.mqtt.client as paho
        from paho.mqtt.enums import CallbackAPIVersion

        self.got: queue.Queue[Any] = queue.Queue()
        ready = threading.Event()
        self.client = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
        self.client.username_pw_set("app", "secret of app")
        if broker.tls:
            self.client.tls_set(str(broker.folder / "ca.pem"))
        self.client.on_connect = lambda client, *_: client.subscribe("motecrypt/#", qos=2)
        self.client.on_subscribe = lambda *_: ready.set()
        self.client.on_message = lambda client, data, message: self.got.put(message)
        self.client.connect("127.0.0.1", broker.port)
        self.client.loop_start()
        assert ready.wait(DEADLINE_S)

    def next(self, end: str) -> Any:
        """The next message whose topic ends so."""
        while True:
            message = self.got.get(timeout=DEADLINE_S)
            if message.topic.endswith(end):
                return message

    def close(self) -> None:
        """Leave."""
        self.client.disconnect()
        self.client.loop_stop()


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Mosquitto]:
    made = Mosquitto(tmp_path)
    yield made
    made.stop()


@pytest.fixture
def app(mosquitto: Mosquitto) -> Iterator[Listening]:
    made = Listening(mosquitto)
    yield made
    made.close()


def sink_of(broker: Any, *given: Any) -> Any:
    from motecrypt.link.gateway.sinks.mqtt import MqttSink

    return MqttSink(broker, *given)


def test_items_are_published_with_their_ids(mosquitto: Mosquitto, app: Listening) -> None:
    sink = sink_of(mosquitto.broker())
    assert sink.name == f"mqtt:127.0.0.1:{mosquitto.port}/home"
    sink.deliver([item(number) for number in range(sink.batch)])
    assert app.next("/gateway").payload == b"online"
    for number in range(sink.batch):
        message = app.next("/message")
        assert message.topic == "motecrypt/home/node/5/message" and message.qos == 1 and not message.retain
        assert json.loads(message.payload) == item(number).record()
        assert message.properties.UserProperty == [("id", f"5.1.0.{number}")]
        assert message.properties.ContentType == "application/json"
    sink.finish()
    assert app.next("/gateway").payload == b"offline"


@pytest.mark.parametrize(
    ("broker", "said"),
    [
        ({"password": "wrong"}, "refuses the connection: (Not authorized|Bad user name or password)"),
        (
            {"user": None, "password": None},
            "refuses the connection: (Not authorized|Bad user name or password)",
        ),
        ({"host": "127.0.0.1", "port": 1}, "cannot be reached: Connection refused"),
        ({"host": "no-such-host.invalid"}, "cannot be reached: "),
        ({"name": "elsewhere"}, "does not accept messages: Not authorized"),
        (
            {"user": "reader", "password": "secret of reader"},
            "does not accept messages: Not authorized",
        ),
    ],
)
def test_what_the_broker_does_not_take_is_no_delivery(
    mosquitto: Mosquitto, broker: dict[str, Any], said: str
) -> None:
    sink = sink_of(mosquitto.broker(**broker))
    with pytest.raises(SinkError, match=rf"^MQTT broker \S+ {said}") as error:
        sink.deliver([item(1)])
    assert "secret" not in str(error.value)
    sink.finish()


class Between:
    """A connection to the broker that can be slow, silent or cut."""

    def __init__(self, port: int, at: int = 0) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", at))
        self.port = int(self._listener.getsockname()[1])
        self.silent = False
        self.connections = 0
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self._over.is_set():
            ends = {end: other for pair in self._pairs for end, other in (pair, pair[::-1])}
            ready, _, _ = select.select([self._listener, *ends], [], [], 0.02)
            for end in ready:
                if end is self._listener:
                    here, _ = self._listener.accept()
                    self.connections += 1
                    self._pairs.append((here, socket.create_connection(("127.0.0.1", self._port))))
                elif not self._pass(end, ends[end]):
                    break

    def _pass(self, end: socket.socket, other: socket.socket) -> bool:
        try:
            data = end.recv(4096)
            to_gateway = any(end is there for _, there in self._pairs)
            if data and not (self.silent and to_gateway):
                other.sendall(data)
        except OSError:
            data = b""
        if not data:
            self.cut([pair for pair in self._pairs if end in pair])
        return bool(data)

    def cut(self, some: list[tuple[socket.socket, socket.socket]] | None = None) -> None:
        """End all connections, or some."""
        for pair in list(self._pairs) if some is None else some:
            self._pairs.remove(pair)
            for each in pair:
                each.close()

    def close(self) -> None:
        """Stop."""
        self._over.set()
        self._thread.join(DEADLINE_S)
        self.cut()
        self._listener.close()


@pytest.fixture
def between(mosquitto: Mosquitto) -> Iterator[Between]:
    made = Between(mosquitto.port)
    yield made
    made.close()


def test_a_silent_broker_is_given_up_and_gets_the_same_again(
    mosquitto: Mosquitto, app: Listening, between: Between, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("motecrypt.link.gateway.sinks.mqtt.ACKNOWLEDGE_S", 0.3)
    monkeypatch.setattr("motecrypt.link.gateway.sinks.mqtt.CONNECT_S", 5.0)
    sink = sink_of(mosquitto.broker(port=between.port))
    sink.deliver([item(1)])
    between.silent = True
    with pytest.raises(SinkError, match=r"has acknowledged nothing for 0\.3 s"):
        sink.deliver([item(2), item(3)])
    monkeypatch.setattr("motecrypt.link.gateway.sinks.mqtt.CONNECT_S", 0.3)
    with pytest.raises(SinkError, match=r"has not answered for 0\.3 s"):
        sink.deliver([item(2), item(3)])
    monkeypatch.setattr("motecrypt.link.gateway.sinks.mqtt.CONNECT_S", 5.0)
    between.silent = False
    sink.deliver([item(2), item(3)])
    ids = [json.loads(app.next("/message").payload)["id"] for _ in range(5)]
    assert ids == ["5.1.0.1", "5.1.0.2", "5.1.0.3", "5.1.0.2", "5.1.0.3"], "at least once, under one id"
    sink.finish()


def test_a_connection_that_is_cut_is_made_again(
    mosquitto: Mosquitto, app: Listening, between: Between
) -> None:
    sink = sink_of(mosquitto.broker(port=between.port))
    sink.idle(0.1)
    assert app.next("/gateway").payload == b"online"
    between.cut()
    with pytest.raises(SinkError, match="has ended the connection"):
        for _ in range(100):
            sink.idle(0.05)
    assert app.next("/gateway").payload == b"offline", "its last will"
    sink.deliver([item(1)])
    assert json.loads(app.next("/message").payload)["id"] == "5.1.0.1" and between.connections == 2
    sink.finish()


def test_a_broker_that_is_away_delays_no_node_and_gets_all_when_it_is_back(
    tmp_path: Path, mosquitto: Mosquitto, app: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("motecrypt.link.gateway.drain.LONGEST_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = int(unused.getsockname()[1])
    folder = tmp_path / "field"
    folder.mkdir()
    field = Field(folder, 5)
    field.drain(sink_of(mosquitto.broker(port=port)))
    for number in range(30):
        assert field.up(5, b"%06d" % number, CONFIRMED) == [Event.ACCEPTED]
    assert field.spool.waiting == 30 and "cannot be reached: Connection refused" in field.told[0]
    back = Between(mosquitto.port, port)
    field.until(lambda: field.spool.waiting == 0)
    assert [json.loads(app.next("/message").payload)["message"] for _ in range(30)] == [
        f"{number:06}" for number in range(30)
    ]
    assert field.told[-1].endswith("works again")
    field.crash()
    back.close()


def test_what_is_no_broker_is_no_delivery() -> None:
    from motecrypt.link.gateway.sinks.mqtt import Broker

    for said in (
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\x20\xff\xff\xff\xff\xff",
        b"\x20\x03\x00\x00\xff",
        b"",
    ):
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def serve(listener: socket.socket = listener, said: bytes = said) -> None:
                line, _ = listener.accept()
                with line:
                    line.recv(4096)
                    line.sendall(said)

            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            sink = sink_of(Broker("127.0.0.1", listener.getsockname()[1], False, "home"))
            with pytest.raises(
                SinkError,
                match=r"has ended the connection|sends data that is not "
                r"MQTT|refuses",
            ):
                sink.deliver([item(1)])
            thread.join(DEADLINE_S)
            sink.finish()


def test_a_broker_is_asked_for_mqtt_5_and_gets_so_many_messages_before_its_first_acknowledgement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It has little memory for them, and notices the gateway's silence after one and a half times 20 s."""
    from motecrypt.link.gateway.sinks.mqtt import Broker

    monkeypatch.setattr("motecrypt.link.gateway.sinks.mqtt.ACKNOWLEDGE_S", 0.2)
    said = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            line, _ = listener.accept()
            with line:
                said.extend(line.recv(4096))
                line.sendall(b"\x20\x03\0\0\0")
                while data := line.recv(4096):
                    said.extend(data)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        sink = sink_of(Broker("127.0.0.1", listener.getsockname()[1], False, "home"))
        with pytest.raises(SinkError, match="has acknowledged nothing"):
            sink.deliver([item(number) for number in range(30)])
        thread.join(DEADLINE_S)
    assert said[0] >> 4 == 1 and said[2:9] == b"\0\4MQTT\5" and said[10:12] == b"\0\24", "CONNECT"
    assert said.count(b"motecrypt/home/gateway") == 2, "its last will, and that it is there"
    assert said.count(b"motecrypt/home/node/5/message") == 16 - 1


def test_the_end_waits_for_no_broker(tmp_path: Path, mosquitto: Mosquitto, between: Between) -> None:
    between.silent = True
    with Spool(FileStore(tmp_path / "spool")) as spool:
        sink = sink_of(mosquitto.broker(port=between.port))
        drain = Drain(sink, spool.path, spool.register([sink.name])[sink.name], print)
        drain.start()
        wait_for(lambda: between.connections == 1)
        drain.stop()
        drain.join(5.0)
        assert not drain.is_alive()


def certificates(folder: Path) -> list[str]:
    """An authority, a server's and a gateway's certificate; what mosquitto needs to know of them."""

    def openssl(*words: object) -> None:
        command = ["openssl", *map(str, words)]
        subprocess.run(command, cwd=folder, check=True, timeout=120, capture_output=True)

    new = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl(*new, "-x509", "-subj", "/CN=authority", "-days", 2, "-keyout", "ca.key", "-out", "ca.pem")
    openssl(*new, "-x509", "-subj", "/CN=stranger", "-days", 2, "-keyout", "other.key", "-out", "other.pem")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    for name in ("server", "gateway"):
        openssl(*new, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        sign = ("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial")
        openssl(*sign, "-days", 2, "-extfile", "names", "-out", f"{name}.pem")
    return [
        f"cafile {folder / 'ca.pem'}",
        f"certfile {folder / 'server.pem'}",
        f"keyfile {folder / 'server.key'}",
        "tls_version tlsv1.2",
    ]


def test_tls_with_a_login_and_with_a_certificate_and_with_neither(tmp_path: Path) -> None:
    lines = certificates(tmp_path)
    mosquitto = Mosquitto(tmp_path, *lines, tls=True)
    try:
        app = Listening(mosquitto)
        sink = sink_of(mosquitto.broker(ca=tmp_path / "ca.pem"))
        sink.deliver([item(1)])
        assert json.loads(app.next("/message").payload)["id"] == "5.1.0.1"
        sink.finish()
        for ca in (None, tmp_path / "other.pem"):
            with pytest.raises(SinkError, match="cannot be reached: its certificate is not trusted: "):
                sink_of(mosquitto.broker(ca=ca)).deliver([item(1)])
        with pytest.raises(
            SinkError, match="cannot be reached: its certificate is not trusted: Hostname mismatch"
        ):
            sink_of(mosquitto.broker(ca=tmp_path / "ca.pem", host="localhost")).deliver([item(1)])
        with pytest.raises(SinkError, match=r"ended the connection|cannot be reached"):
            sink_of(mosquitto.broker(tls=False)).deliver([item(1)])
        app.close()
    finally:
        mosquitto.stop()
    named = ["require_certificate true", "use_identity_as_username true"]
    mosquitto = Mosquitto(tmp_path, *lines, *named, tls=True)
    try:
        own = {"certificate": tmp_path / "gateway.pem", "key": tmp_path / "gateway.key"}
        broker = mosquitto.broker(ca=tmp_path / "ca.pem", user=None, password=None, **own)
        assert broker.known and not mosquitto.broker(user=None, password=None).known
        sink = sink_of(broker)
        sink.deliver([item(2)])
        sink.finish()
        with pytest.raises(SinkError, match="MQTT broker"):
            sink_of(mosquitto.broker(ca=tmp_path / "ca.pem")).deliver([item(2)])
    finally:
        mosquitto.stop()


def test_commands_reach_their_node_and_their_outcome_who_sent_them(
    tmp_path: Path, mosquitto: Mosquitto, app: Listening
) -> None:
    folder = tmp_path / "field"
    folder.mkdir()
    app.client.publish("motecrypt/home/node/5/command", '{"text": "old"}', qos=1, retain=True)
    assert app.next("/command").payload == b'{"text": "old"}'
    field = Field(folder, 5, outcome_s=DEADLINE_S)
    notices: list[str] = []
    sink = sink_of(mosquitto.broker(), field.service.commanded, notices.append)
    field.drain(sink)
    field.up(5, b"21.4 C", CONFIRMED)
    app.next("/message")
    field.until(lambda: sink.dropped == 1)
    for topic, payload in (
        ("5", b'{"hex": "6988", "id": "one"}'),
        ("5", b"no json"),
        ("9", b'{"text": "x"}'),
        ("x", b'{"text": "x"}'),
        ("123", b'{"text": "x"}'),
    ):
        app.client.publish(f"motecrypt/home/node/{topic}/command", payload, qos=2)
    commanded: list[bytes] = []

    def turn() -> bool:
        for event in field.turn():
            if event is Event.COMMANDED:
                commanded.append(field.nodes[5].message())
                field.nodes[5].answer(True)
        field.radios[0].put(*field.packets(5))  # an answer, or the same to a command that came again
        return sink.dropped == 3 and field.service._outbox.told == {"accepted": 1, "not heard": 1}

    field.service._outbox._waiting.clear()
    field.until(lambda: turn() or _hurry(field))
    assert commanded == [b"i\x88"] and notices == []
    told = [json.loads(app.next("/outcome").payload) for _ in range(3)]
    assert {"node": 5, "outcome": "accepted", "id": "one"} in told
    assert {each["outcome"] for each in told} == {"accepted", "dropped", "not heard"}
    field.crash()


def _hurry(field: Field) -> bool:
    """What waits for a node that is never received need not take ten seconds here."""
    for waiting in field.service._outbox._waiting.values():
        for number, (order, _) in enumerate(waiting):
            if order.node == 9:
                waiting[number] = (order, 0.0)
    return False


def test_who_has_no_right_commands_no_node(mosquitto: Mosquitto, tmp_path: Path) -> None:
    came: list[int] = []
    sink = sink_of(mosquitto.broker(), lambda node, text, tell: came.append(node))
    sink.idle(0.1)
    for user, topic in (("reader", "home/node/5"), ("app", "other/node/6"), ("app", "home/node/7")):
        command = ["mosquitto_pub", "-p", str(mosquitto.port), "-u", user, "-P", f"secret of {user}"]
        subprocess.run(
            [*command, "-q", "2", "-t", f"motecrypt/{topic}/command", "-m", '{"text": "x"}'],
            check=False,
            timeout=DEADLINE_S,
            capture_output=True,
        )
    for _ in range(200):
        sink.idle(0.05)
        if came:
            break
    assert came == [7]
    sink.finish()


def test_a_gateway_that_may_not_subscribe_says_so() -> None:
    from paho.mqtt.packettypes import PacketTypes
    from paho.mqtt.reasoncodes import ReasonCode

    from motecrypt.link.gateway.sinks.mqtt import Broker

    notices: list[str] = []
    sink = sink_of(Broker("host", 1883, False, "home"), None, notices.append)
    sink._on_subscribe(None, None, 1, [ReasonCode(PacketTypes.SUBACK, "Granted QoS 2")], None)
    assert notices == []
    sink._on_subscribe(None, None, 1, [ReasonCode(PacketTypes.SUBACK, "Not authorized")], None)
    assert notices == ["MQTT broker host: commands are not allowed there: Not authorized"]
