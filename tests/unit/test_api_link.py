"""The functions of the link: sending, receiving, a gateway and keys, between virtual radios in real time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from queue import Queue
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt import (
    Channel,
    CryptRequest,
    FileForm,
    FileKey,
    FileRequest,
    GatewayRecord,
    GatewayRequest,
    GatewaySinks,
    Mqtt,
    NodeKeyRequest,
    NodeProtocols,
    PaperLink,
    RadiosRequest,
    Received,
    ReceiveRequest,
    SendRequest,
    SerialRadio,
    Stop,
    Until,
    build_node,
    create_key_file,
    create_master_file,
    crypt,
    decrypt_file,
    encrypt_file,
    load_radio,
    node_key,
    receive,
    receive_paper,
    registered,
    send,
    send_paper,
    serve_gateway,
    virtual_radios,
)
from motecrypt.app import send as app_send
from motecrypt.base.errors import InputError
from motecrypt.link.file_parts import file_parts
from motecrypt.link.gateway.items import Item
from motecrypt.link.gateway.sinks import Sink
from motecrypt.link.native import CONFIRMED, FILE, LISTENS, SHORT, STREAM, TAG_16, Event
from motecrypt.link.stream import StreamReader
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host", "link")

LINE = SerialRadio(load_radio("srf"))
DEADLINE_S = 60.0


def beside(work: Callable[[], Any]) -> Callable[[], Any]:
    """Begin the work in a thread; gives what it returned."""
    made: list[Any] = []
    thread = threading.Thread(target=lambda: made.append(work()))
    thread.start()

    def result() -> Any:
        thread.join(DEADLINE_S)
        assert made, "the work failed, or takes too long"
        return made[0]

    return result


@pytest.fixture
def ports() -> Iterator[Sequence[str]]:
    """Two virtual radios that run."""
    stop, made = Stop(), Queue[Sequence[str]]()
    radios = beside(lambda: virtual_radios(RadiosRequest(LINE.radio), made.put, DEADLINE_S, stop))
    yield made.get(timeout=DEADLINE_S)
    stop.ask()
    radios()


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """The key of a gateway, and that of its node 5."""
    create_master_file(tmp_path / "key")
    node_key(tmp_path / "node5", NodeKeyRequest(5), tmp_path / "key")
    return tmp_path


def test_messages_and_a_file_arrive(
    keys: Path, ports: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    came: list[Received] = []
    (keys / "data.bin").write_bytes(bytes(range(60)))
    asked = ReceiveRequest(ports[0], LINE, keys / "key", keys / "inbox", until=Until(2, DEADLINE_S))
    received = beside(lambda: receive(asked, came.append))
    told: list[tuple[int, int, str]] = []
    request = SendRequest(ports[1], LINE, keys / "node5", [b"hello"], [keys / "data.bin"])
    sent = send(request, lambda *each: told.append(each))
    result = received()
    assert capsys.readouterr() == ("", "") and sent.failed == "" and sent.items == 2 and sent.node == 5
    assert sent.accepted_bytes == sent.message_bytes == 65 and told[-1] == (65, 65, "data.bin")
    assert sent.document()["sent_bytes"] == sent.line.sent_bytes > 65
    message, file = came
    assert (message.node, message.content, message.document()["message"]) == (5, b"hello", "hello")
    assert file.document()["file"] == str(keys / "inbox" / "data.bin")
    assert (keys / "inbox" / "data.bin").read_bytes() == bytes(range(60))
    assert (result.items, result.faults, result.epoch_unconfirmed) == (2, 0, ())


def test_a_receiver_ends_when_it_is_asked_to(keys: Path, ports: Sequence[str]) -> None:
    stop = Stop()
    received = beside(lambda: receive(ReceiveRequest(ports[0], LINE, keys / "node5"), print, stop=stop))
    stop.ask()
    counts = dict.fromkeys(("items", "faults", "messages", "forged", "skipped_bytes"), 0)
    assert received().document() == {"mode": "safe", **counts, "seconds": None}


def test_a_message_of_a_published_mode_arrives(tmp_path: Path, ports: Sequence[str]) -> None:
    create_key_file(tmp_path / "aes")
    came: list[Received] = []
    said: list[str] = []
    link = PaperLink(ports[0], LINE, "B", tmp_path / "aes", 0.25)
    received = beside(lambda: receive_paper(link, came.append, Until(1, DEADLINE_S), said.append))
    sent = send_paper(replace(link, port=ports[1]), [b"hello"], said.append)
    assert received().items == 1 and [each.content for each in came] == [b"hello"]
    assert sent.failed == "" and sent.messages[0]["sent_bytes"] == 32
    assert sorted(told.partition(")")[2] for told in said) == [
        " exists to reproduce a paper; do not deploy it",
        ": anyone can forge these messages",
    ]
    with pytest.raises(InputError, match="mode C needs one"):
        send_paper(PaperLink(ports[1], LINE, "C"), [b"hello"])


class Kept(Sink):
    """A sink of the program's own, which ends the gateway with its first item."""

    name = "kept"

    def __init__(self, stop: Stop) -> None:
        self.items: list[Item] = []
        self._stop = stop

    def deliver(self, items: Sequence[Item]) -> None:
        self.items += items
        self._stop.ask()


def test_a_gateway_delivers_to_a_sink_of_the_programs_own(keys: Path, ports: Sequence[str]) -> None:
    stop = Stop()
    kept, ready, listening = Kept(stop), threading.Event(), list[Any]()
    asked = GatewayRequest([ports[0]], LINE, keys / "key", sinks=GatewaySinks(own=[kept]))

    def at_work(what: Any) -> None:
        listening.append(what)
        ready.set()

    served = beside(lambda: serve_gateway(asked, ready=at_work, seconds=DEADLINE_S, stop=stop))
    assert ready.wait(DEADLINE_S) and listening == [{"ports": [ports[0]], "nodes": [5]}]
    assert send(SendRequest(ports[1], LINE, keys / "node5", [b"hello"])).outcomes == {"accepted": 1}
    counts = served()
    assert [(item.node, item.content) for item in kept.items] == [(5, b"hello")]
    assert counts["messages"] == 1 and counts["sinks"]["kept"]["delivered"] == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"ports": ["p", "./p"]}, "named twice"),
        ({"sinks": GatewaySinks(mqtt=Mqtt(commands=True))}, "they need --mqtt"),
        ({"sinks": GatewaySinks(csv=[Path("key.gateway")])}, "gateway's own record"),
        ({"protocols": NodeProtocols(bare=[5])}, "such nodes speak CoAP"),
        ({"protocols": NodeProtocols([5], [5], "0")}, "node 5 is in both"),
        ({"protocols": NodeProtocols([5])}, "name the protocol"),
        ({"protocols": NodeProtocols(tftp="0")}, "name the nodes"),
        ({"protocols": NodeProtocols((), [5], "0", tftp="0")}, "name the nodes"),
        ({"record": GatewayRecord(Path("none/state"))}, "No such file"),
    ],
)
def test_a_gateway_that_cannot_be_is_an_input_error(
    changes: dict[str, Any], said: str, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(keys)
    with pytest.raises(InputError, match=said):
        serve_gateway(replace(GatewayRequest(["p"], LINE, Path("key")), **changes))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"key_file": Path("key")}, "--to: missing"),
        ({"to": 5}, "is a node's key"),
        ({"key_file": Path("key"), "to": 6}, "node 6"),
        ({"files": [Path("none")]}, "--file none"),
        ({"line": replace(LINE, radio=load_radio("srf", 24))}, "provisioned for packets of 12 bytes"),
        ({"line": replace(LINE, module_key=Path("long"))}, "the module's AES takes 16"),
        ({"port": "none"}, "port none: does not exist"),
        ({"messages": [bytes(9999)]}, "is the most, else use --file"),
    ],
)
def test_what_cannot_be_sent_is_an_input_error(
    changes: dict[str, Any], said: str, keys: Path, ports: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(keys)
    create_key_file(Path("long"))
    with pytest.raises(InputError, match=said):
        send(replace(SendRequest(ports[1], LINE, Path("node5"), [b"hello"]), **changes))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"key_file": Path("node5"), "restored": True}, "use them with a gateway's key"),
        ({"group": Path("node5")}, "--key must be a node's key"),
        ({"key_file": Path("node5"), "group": Path("key")}, "--key must be a node's key"),
        ({"output": Path("key", "in")}, "--output key/in"),
    ],
)
def test_what_cannot_be_received_is_an_input_error(
    changes: dict[str, Any], said: str, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(keys)
    with pytest.raises(InputError, match=said):
        receive(replace(ReceiveRequest("none", LINE, Path("key")), **changes), print)


def test_a_nodes_key_file_has_its_options_and_is_made_once(keys: Path) -> None:
    request = NodeKeyRequest(7, 24, one_way=True, long_only=True, tag_16=True)
    node_key(keys / "node7", request, keys / "key")
    entries = {entry.node: entry for entry in registered(keys / "key", None, LINE.radio)}
    assert (entries[7].options, entries[7].packet_bytes) == (STREAM | TAG_16, 24)
    assert (entries[5].options, entries[5].packet_bytes) == (STREAM | LISTENS | SHORT, 12)
    for wrong, said in (
        (replace(request, node=5), "node 5: already has keys"),
        (replace(request, member=True), "use it with --node group"),
        (NodeKeyRequest(63, member=True, replace=True), "without --replace"),
        (NodeKeyRequest(63, one_way=True), "only receive"),
    ):
        with pytest.raises(InputError, match=said):
            node_key(keys / "new", wrong, keys / "key")
        assert not (keys / "new").exists()
    node_key(keys / "again", NodeKeyRequest(5, replace=True), keys / "key")
    assert {e.node: e.generation for e in registered(keys / "key", None, LINE.radio)} == {5: 2, 7: 1}


@needs_tool_set("avr", "arduino")
def test_a_node_gets_its_firmware_and_an_eeprom_that_stays(keys: Path) -> None:
    elf, eeprom = keys / "7.elf", keys / "7.eeprom"
    build_node(elf, eeprom, NodeKeyRequest(7), keys / "key")
    kept = eeprom.read_bytes()
    assert elf.read_bytes().startswith(b"\x7fELF") and kept[:2] == bytes([3, 7]) and len(kept) == 1024
    build_node(elf, eeprom, NodeKeyRequest(7), keys / "key")
    assert eeprom.read_bytes() == kept
    for node, example, said in ((8, "thermometer", "is node 7's"), (7, "none", "none")):
        with pytest.raises(InputError, match=said):
            build_node(elf, eeprom, NodeKeyRequest(node), keys / "key", example=example)
    with pytest.raises(InputError, match="node 5: already has keys"):
        build_node(elf, keys / "new", NodeKeyRequest(5), keys / "key")
    assert not (keys / "new").exists()


# --- radios, files and messages


def test_radios_say_what_passed(tmp_path: Path) -> None:
    def write(ports: Sequence[str]) -> None:
        assert ports == [str(tmp_path / "a"), str(tmp_path / "b")]
        Path(ports[0]).write_bytes(b"twelve bytes")

    links = [tmp_path / "a", tmp_path / "b"]
    found = virtual_radios(RadiosRequest(LINE.radio, Channel(loss=1.0), links=links), write, 0.5)
    assert (found.ports[0]["sent"], found.ports[0]["lost"], found.network) == (1, 1, None)
    assert "modelled_air_time_us" in found.document()["packets"][0] and not links[0].is_symlink()
    many = virtual_radios(RadiosRequest(LINE.radio, nodes=3), lambda ports: None, 0.0)
    assert len(many.ports) == len(many.document()["ports"]) == 3 and many.network is not None
    for wrong, said in (
        (RadiosRequest(LINE.radio, levels=Path("x")), "needs --nodes"),
        (RadiosRequest(LINE.radio, links=links[:1]), "give it twice"),
        (RadiosRequest(LINE.radio, nodes=3, links=links), "give it 3 times"),
    ):
        with pytest.raises(InputError, match=said):
            virtual_radios(wrong, lambda ports: None)


@pytest.mark.parametrize("kind", ["modern", "crypt-and-hash"])
def test_a_file_is_encrypted_and_decrypted(kind: str, tmp_path: Path) -> None:
    plain, sealed, back = (tmp_path / name for name in ("plain", "sealed", "back"))
    plain.write_bytes(bytes(range(100)))
    create_key_file(tmp_path / "key")
    key, said, told = FileKey(tmp_path / "key"), list[str](), list[tuple[int, int]]()
    request = FileRequest(plain, sealed, FileForm(kind))
    written = encrypt_file(request, key, lambda *each: told.append(each), said.append)
    assert written == sealed.stat().st_size > 100
    assert told[-1] == (100, 100) and len(said) == (kind != "modern")
    assert decrypt_file(FileRequest(sealed, back), key) == 100
    assert back.read_bytes() == plain.read_bytes()
    with pytest.raises(InputError, match="give one of them"):
        decrypt_file(FileRequest(sealed, tmp_path / "other"), FileKey())
    with pytest.raises(InputError, match="give one of them"):
        decrypt_file(FileRequest(sealed, tmp_path / "other"), FileKey(tmp_path / "key", "KEY"))


def test_a_password_is_asked_for_once_and_only_where_it_is_needed(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("text")
    asked: list[int] = []

    def ask() -> str:
        asked.append(1)
        return "hex:" + "5a" * 16

    wrong = FileRequest(tmp_path / "plain", tmp_path / "sealed", FileForm(cipher="rc4"))
    with pytest.raises(InputError, match="the format modern has"):
        encrypt_file(wrong, FileKey(ask=ask))
    with pytest.raises(InputError, match="cannot be read"):
        decrypt_file(FileRequest(tmp_path / "none", tmp_path / "sealed"), FileKey(ask=ask))
    assert not asked and encrypt_file(replace(wrong, form=FileForm()), FileKey(ask=ask)) and len(asked) == 1


def test_a_message_is_encrypted_and_decrypted() -> None:
    request = CryptRequest("aes128-ccm8", b"hello", bytes(range(16)), bytes(13), b"ad")
    sealed = crypt(request)
    back = replace(request, message=sealed, decrypt=True)
    assert len(sealed) == 5 + 8 and crypt(back) == b"hello"
    for changes, said in (
        ({"key": b"short"}, "40 bits"),
        ({"nonce": b""}, "needs one of"),
        ({"message": b"x", "decrypt": True}, "too short for its"),
        ({"cipher": "rc4", "nonce": b"x"}, "rc4 has no nonce"),
        ({"cipher": "rc4", "nonce": b""}, "does not take associated data"),
        ({"cipher": "des-ecb", "key": bytes(8), "nonce": b"", "ad": b""}, "a message of 5 bytes"),
    ):
        with pytest.raises(InputError, match=said):
            crypt(replace(request, **changes))  # type: ignore[arg-type]
    warned: list[str] = []
    crypt(CryptRequest("des-ecb", bytes(8), bytes.fromhex("0101010101010101")), warned.append)
    assert [text.partition(":")[0] for text in warned] == [
        "every byte of the key is the same",
        "weak DES key",
    ]


def test_a_refused_file_is_announced_five_times_in_all_each_time_under_another_label(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A part that is not answered is sent as often. Only "accepted" for the end is an accepted file."""
    sent: list[bytes] = []
    outcomes: list[Event] = []

    def transmit(port: object, talk: object, start: Callable[[], object], stop: Stop) -> Event:
        start()
        return outcomes.pop(0) if outcomes else Event.REFUSED

    monkeypatch.setattr(app_send, "transmit", transmit)
    way: Any = SimpleNamespace(end=None, packet_bytes=12, send=lambda part, how: sent.append(part))
    monkeypatch.setattr(app_send, "Talk", lambda *given: None)

    def told(*first: Event) -> str:
        sent.clear()
        outcomes[:] = first
        port: Any = None
        delivery = app_send._Delivery(port, way, app_send.SendHow().tries, Stop(), StreamReader(12))
        content = bytes(20)
        item = app_send._Item("a", lambda: file_parts("a", content, 60), 20, CONFIRMED | FILE, True)
        return delivery.item(item, lambda done: None)

    assert told() == "refused" and len(sent) == 5 == len({part[1:5] for part in sent})
    assert {part[0] for part in sent} == {1}
    accepted = [Event.ACCEPTED] * 3
    assert told(*accepted) == "accepted" and [part[0] for part in sent] == [1, 2, 3]
    for part in range(3):
        for other, times in ((Event.REFUSED, 1), (Event.UNCONFIRMED, 5), (Event.STORAGE, 1)):
            assert told(*accepted[:part], *[other] * times) == other.name.lower(), part
