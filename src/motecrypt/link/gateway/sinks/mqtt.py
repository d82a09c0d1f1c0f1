"""An MQTT broker: each item is published with QoS 1 and counts once the broker has acknowledged it.

MQTT 5 alone, because only there a broker says that it refuses a message. One thread drives the connection.
One that fails is thrown away, so that what was not acknowledged is published again under its id, once.
"""

from __future__ import annotations

import json
import os
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from motecrypt.base.errors import InputError
from motecrypt.base.paths import open_regular
from motecrypt.link.gateway.items import Item
from motecrypt.link.gateway.queues import NewestKept
from motecrypt.link.gateway.sinks import Sink, SinkError

PORTS = {"mqtt": 1883, "mqtts": 8883}
CONNECT_S = 10.0
ACKNOWLEDGE_S = 10.0
"""Seconds without progress after which a connection is closed."""
KEEPALIVE_S = 20
AT_ONCE = 16
"""What brokers take before their first acknowledgement, unless they say otherwise."""
OUTCOMES_MAX = 1000
"""Outcomes that wait for a connection; then the node with most of them loses its oldest."""
NAME_MAX = 100

Commanded = Callable[[int, bytes, Callable[[dict[str, Any]], None]], None]
"""Gets a command for a node as received, and a callback for its outcome; may be called from any thread."""


@dataclass(frozen=True)
class Broker:
    """Where the broker is, and how to log in there.

    Attributes
    ----------
    name : the gateway's, in its topics.
    password : of `user`; never printed.
    ca : certificates to trust in place of the system's. certificate, key : this gateway's own, for TLS.
    """

    host: str
    port: int
    tls: bool
    name: str
    user: str | None = None
    password: str | None = None
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    @property
    def known(self) -> bool:
        """Whether the broker can know who this is."""
        return self.user is not None or self.certificate is not None

    @property
    def exposed(self) -> str:
        """What others can read on the way there: without TLS, and not on this computer. Empty: nothing."""
        here = self.host == "localhost"
        with suppress(ValueError):
            here = ip_address(self.host).is_loopback
        if self.tls or here:
            return ""
        return "messages" if self.password is None else "the password and messages"

    def topic(self, end: str) -> str:
        """A topic of this gateway."""
        return f"motecrypt/{self.name}/{end}"


def read_broker(
    url: str,
    password_file: Path | None = None,
    ca: Path | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
) -> Broker:
    """A broker by its URL, `mqtt://[USER@]HOST[:PORT]/NAME`, or `mqtts:` for TLS.

    Raises
    ------
    InputError
        What is wrong with it, or with one of the files.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS[parts.scheme]
        name = parts.path.strip("/")
        user = None if parts.username is None else unquote(parts.username)
        plain = name and all(letter.isalnum() or letter in "_.-" for letter in name) and name.isascii()
        if not parts.hostname or not plain or len(name) > NAME_MAX or parts.query or parts.fragment:
            raise ValueError
    except (ValueError, KeyError):
        raise InputError(
            "--mqtt: no broker; give mqtt://[USER@]HOST[:PORT]/NAME, or mqtts:; "
            "NAME has letters, digits and _.-"
        ) from None
    if parts.password is not None:
        raise InputError("--mqtt: a password on the command line is visible to all; use --mqtt-password")
    if (password_file is None) != (user is None):
        raise InputError("--mqtt-password: use it together with USER@ in --mqtt")
    tls = parts.scheme == "mqtts"
    if not tls and (ca or certificate or key):
        raise InputError(
            "--mqtt-ca, --mqtt-cert, --mqtt-cert-key: they are for TLS; begin --mqtt with mqtts:"
        )
    if (certificate is None) != (key is None):
        raise InputError("--mqtt-cert, --mqtt-cert-key: give both or none")
    password = None if password_file is None else _password(password_file)
    broker = Broker(parts.hostname, port, tls, name, user, password, ca, certificate, key)
    if tls:
        _context(broker)
    return broker


def _password(path: Path) -> str:
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_mode & 0o077:
            raise InputError(f"--mqtt-password {path}: others can read or write it; run 'chmod 600 {path}'")
        text = file.read(1025)
    try:
        password = text.decode().removesuffix("\n")
    except UnicodeDecodeError:
        password = ""
    if not password or len(text) > 1024:
        raise InputError(f"--mqtt-password {path}: no password; write one line into it")
    return password


def _context(broker: Broker) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=broker.ca)
        # Authorities made by mosquitto's own recipe name no key usage, which Python asks for from 3.13 on.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if broker.certificate is not None:
            context.load_cert_chain(broker.certificate, broker.key, password=lambda: b"")
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        names = ", ".join(str(path) for path in (broker.ca, broker.certificate, broker.key) if path)
        raise InputError(f"--mqtt-ca, --mqtt-cert, --mqtt-cert-key {names}: {_reason(error)}") from None
    return context


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason or error}"
    return str(getattr(error, "strerror", None) or error)


class MqttSink(Sink):
    """Publishes items at a broker, and takes commands from there if asked to.

    Parameters
    ----------
    broker : Broker
    commanded : callable, optional
        Gets commands; without it nothing is subscribed to.
    notice : callable
        Gets one line for the user.
    """

    batch = AT_ONCE - 6

    def __init__(
        self,
        broker: Broker,
        commanded: Commanded | None = None,
        notice: Callable[[str], None] = lambda told: None,
    ) -> None:
        self.name = f"mqtt:{broker.host}:{broker.port}/{broker.name}"
        self._broker, self._commanded, self._notice = broker, commanded, notice
        self._client: paho.Client | None = None
        self._answered: str | None = None
        self._acknowledged: dict[int, str] = {}
        self._outcomes: NewestKept[int, dict[str, Any]] = NewestKept(OUTCOMES_MAX)
        self._hurried = False
        self.dropped = 0

    # --- items

    def deliver(self, items: Sequence[Item]) -> None:
        """Publish them, and wait until the broker has acknowledged each."""
        client = self._connected()
        self._acknowledged.clear()
        waiting = set()
        for item in items:
            properties = Properties(PacketTypes.PUBLISH)
            properties.UserProperty = [("id", item.name)]
            properties.ContentType = "application/json"
            topic = self._broker.topic(f"node/{item.node}/{item.kind}")
            sent = client.publish(topic, json.dumps(item.record()), qos=1, properties=properties)
            waiting.add(sent.mid)
        end = time.monotonic() + ACKNOWLEDGE_S
        while waiting:
            before = len(waiting)
            self._loop(0.05)
            refused = [told for mid, told in self._acknowledged.items() if mid in waiting and told]
            if refused:
                raise self._lost(f"does not accept messages: {refused[0]}")
            waiting -= self._acknowledged.keys()
            if len(waiting) < before:
                end = time.monotonic() + ACKNOWLEDGE_S
            elif time.monotonic() > end:
                raise self._lost(f"has acknowledged nothing for {ACKNOWLEDGE_S:g} s")

    def idle(self, seconds: float) -> bool:
        """Keep the connection, take commands and publish their outcomes."""
        client = self._connected()
        while (got := self._outcomes.get()) is not None:
            node, told = got
            client.publish(self._broker.topic(f"node/{node}/outcome"), json.dumps(told), qos=1)
        self._loop(seconds)
        return True

    def hurry(self) -> None:
        """Wait for nothing any more."""
        self._hurried = True

    def finish(self) -> None:
        """Say good-bye."""
        if self._client is not None and self._client.is_connected():
            self._client.publish(self._broker.topic("gateway"), "offline", qos=1, retain=True)
            self._client.loop(0.2)
            self._client.disconnect()
        self._drop()

    # --- the connection

    def _connected(self) -> paho.Client:
        if self._client is not None:
            return self._client
        broker = self._broker
        client = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
        if broker.user is not None:
            client.username_pw_set(broker.user, broker.password)
        if broker.tls:
            client.tls_set_context(_context(broker))
        client.will_set(broker.topic("gateway"), "offline", qos=1, retain=True)
        client.max_inflight_messages_set(AT_ONCE)
        client.connect_timeout = CONNECT_S
        client.on_connect = self._on_connect
        client.on_publish = self._on_publish
        client.on_message = self._on_message
        client.on_subscribe = self._on_subscribe
        self._client, self._answered = client, None
        try:
            client.connect(broker.host, broker.port, keepalive=KEEPALIVE_S)
        except (OSError, ValueError) as error:
            raise self._lost(f"cannot be reached: {_reason(error)}") from None
        end = time.monotonic() + CONNECT_S
        while self._answered is None:
            self._loop(0.05)
            if time.monotonic() > end:
                raise self._lost(f"has not answered for {CONNECT_S:g} s")
        if self._answered:
            raise self._lost(self._refusal())
        if self._commanded is not None:
            client.subscribe(broker.topic("node/+/command"), qos=2)
        client.publish(broker.topic("gateway"), "online", qos=1, retain=True)
        return client

    def _loop(self, seconds: float) -> None:
        if self._hurried:
            raise SinkError("the gateway ends")
        try:
            well = self._client is not None and self._client.loop(seconds) == paho.MQTT_ERR_SUCCESS
        except Exception as error:  # what a broker sends that is no MQTT
            raise self._lost(f"sends data that is not MQTT: {type(error).__name__}") from None
        if not well:
            raise self._lost(self._refusal() or "has ended the connection")

    def _refusal(self) -> str:
        return f"refuses the connection: {self._answered}" if self._answered else ""

    def _lost(self, why: str) -> SinkError:
        self._drop()
        return SinkError(f"MQTT broker {self._broker.host}:{self._broker.port} {why}")

    def _drop(self) -> None:
        """Throw the connection away, with all that was published and not acknowledged."""
        client, self._client = self._client, None
        if client is not None and (handle := client.socket()) is not None:
            handle.close()

    # --- callbacks of the client, in this sink's thread

    def _on_connect(self, client: Any, data: Any, flags: Any, code: Any, properties: Any) -> None:
        self._answered = str(code) if code.is_failure else ""

    def _on_publish(self, client: Any, data: Any, mid: int, code: Any, properties: Any) -> None:
        self._acknowledged[mid] = str(code) if code.is_failure else ""

    def _on_subscribe(self, client: Any, data: Any, mid: int, codes: Any, properties: Any) -> None:
        if any(code.is_failure for code in codes):
            self._notice(f"MQTT broker {self._broker.host}: commands are not allowed there: {codes[0]}")

    def _on_message(self, client: Any, data: Any, message: paho.MQTTMessage) -> None:
        number = message.topic.split("/")[-2]
        if message.retain or not number.isascii() or not number.isdigit() or len(number) > 2:
            self.dropped += 1  # a retained command would be carried out at each connection
            return
        node = int(number)
        if self._commanded is not None:
            self._commanded(node, message.payload, lambda told: self._outcomes.put(node, told))
