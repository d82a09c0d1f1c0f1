"""Real clients and servers of CoAP, libcoap's and aiocoap's, and a node behind the gateway."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from coap_beds import SpeakingNode
from coap_native import NativeCoap, compiled_coap
from gateway_bed import DEADLINE_S, Field
from motecrypt.link.gateway.protocols.coap.message import CoapKind, CoapMessage, Code, Option
from motecrypt.link.gateway.protocols.coap.opening import open_coap
from motecrypt.link.gateway.protocols.coap.oscore import derive_oscore
from motecrypt.link.native import CONFIRMED, Event
from oscore_native import NativeOscore, Status, compiled_oscore
from tool_sets import needs_tool_set

pytestmark = [needs_tool_set("coap")]


class World:
    """A gateway with node 7, which speaks CoAP, and programs at its UDP port."""

    def __init__(self, folder: Path, servers: tuple[str, ...] = ()) -> None:
        self.field = Field(folder, 7)
        self.proxy = open_coap("127.0.0.1:0", servers, [7])
        self.field.service.speak([self.proxy], [7])
        self.uri = f"coap://{self.proxy.addresses()[0]}"
        self.node = SpeakingNode(self.field, 7)
        assert self.field.up(7, b"+21.4C", CONFIRMED) == [Event.ACCEPTED]

    def until(self, over: Callable[[], object]) -> None:
        """Go on until something is so."""
        end = time.monotonic() + DEADLINE_S
        while not over():
            assert time.monotonic() < end, "it never came"
            self.node.turn()

    def client(self, *words: str, seconds: int = 10) -> str:
        """What coap-client says."""
        command = ["coap-client-notls", "-B", str(seconds), *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
            try:
                self.until(lambda: running.poll() is not None)
            finally:
                running.kill()
            assert running.stdout is not None
            return running.stdout.read().decode().strip()

    def with_aiocoap(self, act: Callable[[Any], Any]) -> Any:
        """What a coroutine with a client's context returns."""
        import aiocoap

        told: list[Any] = []

        async def main() -> None:
            context = await aiocoap.Context.create_client_context()
            try:
                told.append(await asyncio.wait_for(act(context), DEADLINE_S))
            finally:
                await context.shutdown()

        thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
        thread.start()
        self.until(lambda: not thread.is_alive())
        return told[0]

    def close(self) -> None:
        """End it."""
        for thread in self.field.service._protocols:
            thread.stop()
            thread.join(DEADLINE_S)
        self.field.crash()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


def test_libcoaps_client_reads_and_writes(world: World) -> None:
    assert world.client(f"{world.uri}/node/7/temperature") == "+21.4C"
    assert world.client("-P", world.uri, "coap://node-7/temperature") == "+21.4C"
    assert world.client("-m", "put", "-e", "1", f"{world.uri}/node/7/led") == ""
    assert world.node.led == b"1" and world.client(f"{world.uri}/node/7/led") == "1"
    assert world.client(f"{world.uri}/node/7/none") == "4.04"
    assert world.client(f"{world.uri}/.well-known/core") == "</node/7>"
    assert world.client(f"{world.uri}/node/7/text") == SpeakingNode.TEXT.decode(), "block by block"
    assert world.proxy.statistics()["timeouts"] == 0


def test_libcoaps_client_observes(world: World) -> None:
    command = ["coap-client-notls", "-s", "30", "-B", "30", f"{world.uri}/node/7/temperature"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
        try:
            world.until(lambda: world.proxy.statistics()["responses"])
            world.node.notify(b"+22.0C")
            world.until(lambda: world.proxy.statistics()["notifications"])
            running.terminate()
            world.until(lambda: running.poll() is not None)
        finally:
            running.kill()
        assert running.stdout is not None
        said = running.stdout.read().decode()
    assert said.replace("\n", "") == "+21.4C+22.0C"


def test_aiocoap_reads_writes_and_observes(world: World) -> None:
    import aiocoap

    async def act(context: Any) -> list[bytes]:
        got = []
        for path in ("temperature", "text"):
            got.append(
                (
                    await context.request(aiocoap.Message(code=1, uri=f"{world.uri}/node/7/{path}")).response
                ).payload
            )
        put = aiocoap.Message(code=3, uri=f"{world.uri}/node/7/led", payload=b"1")
        got.append(bytes([int((await context.request(put).response).code)]))
        asked = context.request(aiocoap.Message(code=1, uri=f"{world.uri}/node/7/temperature", observe=0))
        got.append((await asked.response).payload)
        world.node.notify(b"+22.0C")
        async for notified in asked.observation:
            got.append(notified.payload)
            break
        asked.observation.cancel()
        return got

    got = world.with_aiocoap(act)
    assert got == [b"+21.4C", SpeakingNode.TEXT, bytes([Code.CHANGED]), b"+21.4C", b"+22.0C"]
    assert world.node.led == b"1"


def test_aiocoap_reads_end_to_end_and_the_gateway_has_no_keys(world: World, tmp_path: Path) -> None:
    """OSCORE (RFC 8613): the node's C on one end, aiocoap on the other."""
    import aiocoap
    from aiocoap import oscore

    secret, shared = bytes(range(16)), ("-O2", "-shared", "-fPIC")
    settings = {"secret_hex": secret.hex(), "salt_hex": "", "sender-id_hex": "01", "recipient-id_hex": "07"}
    (tmp_path / "client").mkdir()
    (tmp_path / "client" / "settings.json").write_text(json.dumps(settings))
    client = oscore.FilesystemSecurityContext(str(tmp_path / "client"))
    server = NativeCoap(compiled_coap(tmp_path / "coap.so", *shared))
    keys = derive_oscore(secret, b"", b"\7", b"\1")
    end = NativeOscore(compiled_oscore(tmp_path / "oscore.so", *shared), keys, b"\7", b"\1")
    seen: list[bytes] = []

    def answer(data: bytes) -> bytes:
        plain = end.unprotect(data)
        assert isinstance(plain, bytes), plain
        told = end.protect(server.serve(plain), 123)
        assert isinstance(told, bytes), told
        seen.extend((data, told))
        return told

    world.node.answer = answer

    async def act(context: Any) -> list[bytes]:
        got = []
        for code, path, payload in ((1, "temperature", b""), (3, "led", b"on"), (1, "led", b"")):
            asked = aiocoap.Message(code=code, payload=payload)
            asked.opt.uri_path, asked.opt.uri_host, asked.opt.proxy_scheme = (path,), "node-7", "coap"
            outer, request_id = client.protect(asked)
            outer.unresolved_remote = world.proxy.addresses()[0]
            response = await context.request(outer).response
            got.append(client.unprotect(response, request_id)[0].payload)
        return got

    assert world.with_aiocoap(act) == [b"+21.4C", b"", b"on"]
    assert len(seen) == 6 and not any(word in each for each in seen for word in (b"temp", b"led", b"21.4"))
    for each in seen[0::2]:
        assert end.unprotect(each) is Status.REPLAYED


def test_a_payload_that_is_too_long_for_the_radio_is_told(world: World, tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"x" * 300)
    said = world.client("-m", "put", "-f", str(tmp_path / "long"), f"{world.uri}/node/7/led")
    assert said == "4.13 this node takes 123 bytes in one message"

    async def act(context: Any) -> Any:
        import aiocoap

        put = aiocoap.Message(code=3, uri=f"{world.uri}/node/7/led", payload=b"x" * 300)
        return await context.request(put).response

    got = world.with_aiocoap(act)
    assert (int(got.code), got.payload) == (0x8D, b"this node takes 123 bytes in one message")
    assert 64 < got.opt.size1 < 123, "what fits next to the path"


def test_a_node_reaches_libcoaps_server(tmp_path: Path) -> None:
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen(["coap-server-notls", "-A", "127.0.0.1", "-p", str(port)]) as server:
        world = World(tmp_path, (f"coap://127.0.0.1:{port}",))
        try:
            for mid in range(1, 50):  # until the server listens
                options = ((int(Option.URI_PATH), b"time"),)
                world.node.to_send.append(CoapMessage(CoapKind.NON, Code.GET, mid, b"n", options).encode())
                world.until(lambda: len(world.node.got) == mid)  # noqa: B023 - called at once
                if world.node.got[-1].code == Code.CONTENT:
                    break
                time.sleep(0.1)
            assert world.node.got[-1].code == Code.CONTENT and world.node.got[-1].token == b"n"
            assert b":" in world.node.got[-1].payload, "the time of day"
        finally:
            world.close()
            server.terminate()
