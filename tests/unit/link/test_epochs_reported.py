"""After a restored backup: which nodes have not confirmed their new epoch, as each command reports it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import run
from gateway_bed import OPTIONS, PACKET, Field, Radio
from link_ends import native
from motecrypt.link.gateway.opening import open_gateway
from motecrypt.link.keys import create_master_file
from motecrypt.link.native import BROADCAST, CONFIRMED, LONG, SHORT, STREAM, Event, NativeLink
from motecrypt.link.ports import session
from motecrypt.link.told import NodeEvent

OPEN = "nodes that have not confirmed their new epoch"
VOID = "nodes that cannot be notified of a new epoch and need new keys"
NODES = {5: OPTIONS, 6: OPTIONS, 7: SHORT | STREAM, BROADCAST: OPTIONS}


class Bed:
    """A gateway's key; nodes 5 and 6, node 7 which sends only, and a group; nobody is at the port."""

    def __init__(self, folder: Path) -> None:
        self.key, self.radio = folder / "key", Radio()
        self.nodes: dict[int, NativeLink] = {}
        create_master_file(self.key)
        gateway = open_gateway(self.key, None, PACKET)
        for node, options in NODES.items():
            self.nodes[node] = native()
            self.nodes[node].begin(gateway.provision(node, options))
        gateway.close()

    def confirm(self, node: int) -> list[NodeEvent]:
        """The node gets its offer, and the gateway its answer."""
        gateway = open_gateway(self.key, None, PACKET)
        gateway.poll(1000)
        for packet in gateway.take_packets():
            if packet[0] & 63 == node:
                self.nodes[node].receive(packet)
        gateway.receive(self.nodes[node].packets(), lambda messages: [True] * len(messages))
        gateway.close()
        return gateway.take_events()


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    return Bed(tmp_path)


def test_receive_names_them_at_its_start_and_at_its_end(bed: Bed, capfd: pytest.CaptureFixture[str]) -> None:
    given = ("receive", bed.radio.path, "--key", bed.key, "--seconds", 0)
    code, _, errors = run(capfd, *given)
    assert code == 0 and OPEN not in errors and VOID not in errors
    code, _, errors = run(capfd, *given, "--restored")
    assert code == 0 and errors.splitlines() == [
        f"motecrypt: {VOID}: node 7, the group",
        f"motecrypt: {OPEN}: node 5, node 6; each is notified until it confirms",
        "motecrypt: mode safe, items 0, faults 0, messages 0, forged 0, skipped bytes 0",
        f"motecrypt: {OPEN}: node 5, node 6; run this again, without --restored",
    ]
    assert bed.confirm(6) == [NodeEvent(6, Event.RENEWED)]
    code, out, errors = run(capfd, *given, "--json")
    assert code == 0 and json.loads(out)["summary"]["epoch_unconfirmed"] == [5]
    assert errors == f"motecrypt: {OPEN}: node 5; each is notified until it confirms\n"
    assert bed.confirm(5) == [NodeEvent(5, Event.RENEWED)] and bed.confirm(5) == []
    code, out, errors = run(capfd, *given, "--json")
    assert (code, json.loads(out)["summary"]["epoch_unconfirmed"], errors) == (0, [], "")


def test_the_gateways_own_counts_name_them(bed: Bed, capfd: pytest.CaptureFixture[str]) -> None:
    given = ("gateway", bed.radio.path, "--key", bed.key, "--seconds", 0)
    code, _, errors = run(capfd, *given, "--restored")
    last = errors.splitlines()[-1]
    assert code == 0 and f"motecrypt: {OPEN}: node 5, node 6; each is notified until it confirms\n" in errors
    assert last.endswith(f"; {OPEN}: node 5, node 6") and f"{VOID}: node 7, the group\n" in errors
    bed.confirm(5)
    code, out, _ = run(capfd, *given, "--json")
    assert code == 0 and json.loads(out.splitlines()[-1])["summary"]["epoch_unconfirmed"] == [6]
    bed.confirm(6)
    code, _, errors = run(capfd, *given)
    assert code == 0 and OPEN not in errors


def test_the_list_of_nodes_marks_them(bed: Bed, capfd: pytest.CaptureFixture[str]) -> None:
    run(capfd, "receive", bed.radio.path, "--key", bed.key, "--seconds", 0, "--restored")
    bed.confirm(6)
    given = ("provision", "--list", "--key", bed.key)
    code, out, _ = run(capfd, *given, "--json")
    told = {entry["node"]: (entry["epoch_unconfirmed"], entry["void"]) for entry in json.loads(out)}
    assert code == 0
    assert told == {5: (True, False), 6: (False, False), 7: (False, True), BROADCAST: (False, True)}
    marked = [line for line in run(capfd, *given)[1].splitlines() if "not confirmed" in line]
    assert len(marked) == 1 and "5" in marked[0].split()[:2]


def test_send_says_what_it_waited_for(
    bed: Bed, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "BUSY_S", 0.1)
    run(capfd, "receive", bed.radio.path, "--key", bed.key, "--seconds", 0, "--restored")
    code, _, errors = run(capfd, "send", bed.radio.path, "--key", bed.key, "--to", 5, "open")
    assert code == 1 and errors.splitlines()[-1] == (
        "motecrypt: message: unconfirmed (the node has not confirmed its new epoch, and receives nothing "
        "before; is it in range?)"
    )


def test_a_service_reports_each_node_that_confirms(tmp_path: Path) -> None:
    field = Field(tmp_path, 5, 6)
    field.nodes[5].send(b"21.4 C", LONG)
    old = field.packets(5)
    field.gateway.restored(1_800_000_000)
    assert field.service.statistics()["epoch_unconfirmed"] == [5, 6]
    for packet in field.gateway.take_packets():
        if packet[0] & 63 == 6:
            field.nodes[6].receive(packet)
    field.nodes[6].packets()  # its answer is lost: a message under the new epoch confirms it, too
    field.gateway.receive(old, lambda messages: [True] * len(messages))
    field.up(6, b"21.4 C", LONG | CONFIRMED)
    told = field.service.statistics()
    assert told["epoch_unconfirmed"] == [5] and told["messages"] == 1
    assert told["nodes"]["5"]["forged"] == 1, "what it sends under its old epoch"
    assert field.told == ["node 6: confirmed its new epoch"]
    field.up(6, b"21.5 C", LONG | CONFIRMED)
    assert field.told == ["node 6: confirmed its new epoch"]
    field.crash()
