"""A node with OSCORE on the bare transport behind the gateway, and aiocoap at the far end."""

from __future__ import annotations

import asyncio
import gc
import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bare_world import NODE, BareWorld
from motecrypt.link.gateway.bare import bare_packets
from motecrypt.link.gateway.protocols.coap import udp
from motecrypt.link.gateway.protocols.coap.context import new_context
from motecrypt.link.gateway.protocols.coap.message import CoapKind, CoapMessage, Code, Option, decode
from motecrypt.link.stream import SILENCE_MS
from tool_sets import needs_tool_set

SOON_S = 25.0
pytestmark = [needs_tool_set("coap", "host")]


def with_aiocoap(world: BareWorld, act: Callable[[Any, str], Any]) -> Any:
    """What a coroutine returns that gets a client with the context of the node, and the proxy's address."""
    import aiocoap
    from aiocoap.proxy.client import ProxyForwarder

    told: list[Any] = []

    async def main() -> None:
        context = await aiocoap.Context.create_client_context()
        credentials = json.loads((world.client_folder / "credentials.json").read_text())
        context.client_credentials.load_from_dict(credentials)
        try:
            through = ProxyForwarder(f"coap://{world.address}", context)
            told.append(await asyncio.wait_for(act(through, f"coap://node-{NODE}"), SOON_S))
        finally:
            await context.shutdown()

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    world.until(lambda: not thread.is_alive())
    gc.collect()  # aiocoap writes its numbers when a context goes
    assert told, "it failed"
    return told[0]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[BareWorld]:
    made = BareWorld(tmp_path)
    yield made
    made.close()


async def get(through: Any, uri: str) -> bytes:
    """The payload of a GET."""
    import aiocoap

    response = await through.request(aiocoap.Message(code=aiocoap.GET, uri=uri)).response
    assert response.code == aiocoap.CONTENT, response
    return bytes(response.payload)


def test_aiocoap_reads_and_writes_end_to_end(world: BareWorld) -> None:
    import aiocoap

    async def act(through: Any, uri: str) -> list[bytes]:
        got = [await get(through, f"{uri}/temperature")]
        put = aiocoap.Message(code=aiocoap.PUT, uri=f"{uri}/led", payload=b"1")
        got.append(bytes([int((await through.request(put).response).code)]))
        return [*got, await get(through, f"{uri}/led"), await get(through, f"{uri}/.well-known/core")]

    got = with_aiocoap(world, act)
    assert got == [b"+21.4C", bytes([Code.CHANGED]), b"1", b"</temperature>;obs,</led>"]
    assert world.node.led == b"1"
    for word in (b"temp", b"led", b"21.4"):
        assert not any(word in packet for packet in world.air)
    assert world.proxy.statistics()["timeouts"] == 0


def test_aiocoap_observes_end_to_end(world: BareWorld) -> None:
    import aiocoap

    async def act(through: Any, uri: str) -> list[bytes]:
        asked = through.request(aiocoap.Message(code=aiocoap.GET, uri=f"{uri}/temperature", observe=0))
        got = [bytes((await asked.response).payload)]
        temperatures = iter((b"+22.0C", b"+22.1C"))
        world.say([packet for each in world.node.notify(next(temperatures)) for packet in each])
        async for notified in asked.observation:
            got.append(bytes(notified.payload))
            if len(got) == 3:
                break
            world.say([packet for each in world.node.notify(next(temperatures)) for packet in each])
        return got

    assert with_aiocoap(world, act) == [b"+21.4C", b"+22.0C", b"+22.1C"]


def test_a_lossy_radio_is_borne_by_repetition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(udp, "ACK_TIMEOUT_S", 0.2)
    world = BareWorld(tmp_path, loss=0.05)
    try:

        async def act(through: Any, uri: str) -> list[bytes]:
            return [await get(through, f"{uri}/temperature") for _ in range(8)]

        assert with_aiocoap(world, act) == [b"+21.4C"] * 8
        counts = world.proxy.statistics()
        assert counts["repeated"] > 0 and counts["timeouts"] == 0
    finally:
        world.close()


def test_the_context_goes_on_after_restarts_of_both_ends(world: BareWorld) -> None:
    async def act(through: Any, uri: str) -> list[bytes]:
        return [await get(through, f"{uri}/temperature") for _ in range(3)]

    got = []
    for _ in range(2):
        got += with_aiocoap(world, act)
        world.restart()
        # A restart skips up to 16 numbers of the client, so that each is used once.
        path = world.client_folder / "sequence.json"
        sequence = json.loads(path.read_text())
        sequence["next-to-send"] += 16
        path.write_text(json.dumps(sequence))
    assert got == [b"+21.4C"] * 6


@pytest.mark.parametrize("restarted", [False, True], ids=["running", "restarted"])
def test_what_was_heard_on_the_air_cannot_be_used_again(world: BareWorld, restarted: bool) -> None:
    import aiocoap

    async def act(through: Any, uri: str) -> int:
        put = aiocoap.Message(code=aiocoap.PUT, uri=f"{uri}/led", payload=b"1")
        return int((await through.request(put).response).code)

    assert with_aiocoap(world, act) == Code.CHANGED
    if restarted:
        world.restart()
    heard = [packet for packet in world.air if packet[0] & 0x80]
    from motecrypt.link.gateway.bare import BareReader

    reader = BareReader()
    (request,) = [each.message for each in map(reader.take, heard) if each.message]
    replayed = decode(request)
    answers = []
    for mid in (replayed.mid, replayed.mid ^ 1):
        again = CoapMessage(
            replayed.kind, replayed.code, mid, replayed.token, replayed.options, replayed.payload
        )
        said = [
            packet
            for each in bare_packets(NODE, again.encode(), mid, 12)
            for packet in world.node.receive(each, world.now_ms)
        ]
        reader = BareReader()
        answers.append(decode(next(told.message for told in map(reader.take, said) if told.message)))
    assert all(answer.kind is CoapKind.ACK for answer in answers)
    if restarted:
        assert [answer.code for answer in answers] == [0x81, 0x81], "it may have been taken before: refused"
        return
    assert answers[0].values(Option.OSCORE), "the same message: the same answer, nothing done"
    assert answers[1].code == 0x81, "another one: refused"


def test_without_a_context_nothing_is_served(world: BareWorld) -> None:
    import aiocoap

    async def act(through: Any, uri: str) -> list[int]:
        from aiocoap import Context

        plain = await Context.create_client_context()
        codes = []
        for path, code in (("temperature", aiocoap.GET), ("led", aiocoap.PUT)):
            message = aiocoap.Message(
                code=code, uri=f"coap://{world.address}/node/{NODE}/{path}", payload=b"1"
            )
            codes.append(int((await plain.request(message).response).code))
        await plain.shutdown()
        return codes

    assert with_aiocoap(world, act) == [0x81, 0x81] and world.node.led == b"0"


def test_storage_that_fails_serves_nothing(world: BareWorld) -> None:
    import aiocoap

    world.node.break_storage(True)

    async def act(through: Any, uri: str) -> str:
        put = aiocoap.Message(code=aiocoap.PUT, uri=f"{uri}/led", payload=b"1")
        try:
            await through.request(put).response
        except aiocoap.error.Error as error:
            return type(error).__name__
        return "served"

    assert with_aiocoap(world, act) != "served" and world.node.led == b"0"


def test_orders_for_a_bare_node_are_refused(world: BareWorld) -> None:
    from motecrypt.link.gateway.orders import order_of

    told: list[dict[str, object]] = []
    world.field.service.ordered(order_of(NODE, {"hex": "00"}, told.append))
    world.until(lambda: told)
    assert told[0]["outcome"] == "dropped" and "bare transport" in str(told[0]["why"])


def test_random_packets_of_a_bare_node_cost_nothing_but_themselves(world: BareWorld) -> None:
    random_, line = random.Random(7), world.field.lines[0]
    for number in range(300):
        message = bytes([0x40 | random_.randrange(64)]) + random_.randbytes(random_.randrange(60))
        world.say(bare_packets(NODE, message, number, 12, down=False))
        world.turn()
    names = ("node_malformed", "malformed", "strays", "doubles")
    world.until(lambda: sum(world.proxy.statistics()[name] for name in names) > 30)
    for _ in range(50):  # and what the line takes for parts of packets from then on
        world.say([bytes([NODE]) + random_.randbytes(11) for _ in range(3)])
        world.field.service.turn(world.field.stop)
    time.sleep(2 * SILENCE_MS / 1000)
    line.packets = line.radio.put_packets
    assert world.field.service.statistics()["not_taken"]["broken"] > 0

    async def act(through: Any, uri: str) -> bytes:
        return await get(through, f"{uri}/temperature")

    assert with_aiocoap(world, act) == b"+21.4C"
    assert not any("dropped" in line for line in world.field.told)


# --- the node observes a server


class Setpoint:
    """aiocoap's server of the resource setpoint, which only the holder of the context may read."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.port = folder, 0
        self.change: Callable[[bytes], None] = lambda payload: None
        self._over: Callable[[], None] = lambda: None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        end = time.monotonic() + SOON_S
        while not self.port:
            assert time.monotonic() < end
            time.sleep(0.01)

    async def _serve(self) -> None:
        import socket

        import aiocoap
        from aiocoap import resource
        from aiocoap.oscore_sitewrapper import OscoreSiteWrapper

        class Value(resource.ObservableResource):
            payload = b"21"

            async def render_get(self, request: Any) -> Any:
                known = isinstance(request.remote.authenticated_claims, list)
                if not known or ":node" not in request.remote.authenticated_claims:
                    return aiocoap.Message(code=aiocoap.UNAUTHORIZED)
                return aiocoap.Message(payload=self.payload)

        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        value, site, loop = Value(), resource.Site(), asyncio.get_running_loop()
        site.add_resource(["setpoint"], value)
        context = await aiocoap.Context.create_server_context(None, bind=("127.0.0.1", port))
        context.server_credentials.load_from_dict({":node": {"oscore": {"basedir": str(self._folder)}}})
        context.serversite = OscoreSiteWrapper(site, context.server_credentials)
        over = asyncio.Event()

        def change(payload: bytes) -> None:
            value.payload = payload
            value.updated_state()

        self.change = lambda payload: loop.call_soon_threadsafe(change, payload) and None
        self._over = lambda: loop.call_soon_threadsafe(over.set) and None
        self.port = port
        await over.wait()
        await context.shutdown()

    def close(self) -> None:
        """End it."""
        self._over()
        self._thread.join(SOON_S)


def test_the_node_observes_aiocoap_end_to_end(tmp_path: Path) -> None:
    context = new_context(NODE)
    (tmp_path / "server").mkdir()
    for path, content in context.client_files(tmp_path / "server").items():
        path.write_bytes(content)
    server = Setpoint(tmp_path / "server")
    world = BareWorld(tmp_path, (f"coap://127.0.0.1:{server.port}",), observes=True, context=context)
    try:
        world.until(lambda: world.node.setpoint[2] == 1)
        assert world.node.setpoint == (Code.CONTENT, b"21", 1)
        for number, payload in enumerate((b"22", b"23"), 2):
            server.change(payload)
            world.until(lambda: world.node.setpoint[2] == number)  # noqa: B023 - called at once
            assert world.node.setpoint == (Code.CONTENT, payload, number)
        world.restart()
        world.until(lambda: world.node.setpoint[2] == 1)
        assert world.node.setpoint == (Code.CONTENT, b"23", 1), "registered again after a loss of power"
        server.change(b"24")
        world.until(lambda: world.node.setpoint[1] == b"24")
        assert not any(word in packet for packet in world.air for word in (b"setp", b"22", b"23"))
    finally:
        world.close()
        server.close()
