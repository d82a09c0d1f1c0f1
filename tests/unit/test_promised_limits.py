"""The limits, pauses and times that pages promise are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from motecrypt.catalog.places import FIRMWARE
from motecrypt.link import file_parts as files
from motecrypt.link import stored_files, stream
from motecrypt.link.files import container
from motecrypt.link.gateway import control, drain, lines, notices, orders, protocols, service, spool, tally
from motecrypt.link.gateway.protocols.coap import proxy as coap
from motecrypt.link.gateway.protocols.coap import udp
from motecrypt.link.gateway.protocols.tftp import node_files
from motecrypt.link.gateway.protocols.tftp import proxy as tftp
from motecrypt.link.gateway.sinks import mqtt
from motecrypt.link.tftp import pipe
from motecrypt.measuring.cluster import batches, crew, host, start
from motecrypt.present.bundle import archive
from motecrypt.results import claims

DOCS = Path(__file__).resolve().parents[2] / "docs"

#: Page, what it says, the values of the code, and what they are in the page's words.
PROMISED = [
    ("gateway", "tried again after 0.5 s, then 1 s, up to 60 s", (drain.FIRST_S, drain.LONGEST_S), (0.5, 60)),
    ("gateway", "(`--queue`, 100,000 messages", spool.WAITING_MAX, 100_000),
    ("gateway", "messages a second, averaged over ten seconds", tally.BURST_S, 10),
    (
        "gateway",
        "One order is in progress for each node. 20 may wait",
        (orders.WAITING_MAX, service.INBOX_MAX),
        (20, 20),
    ),
    ("gateway", "| orders that wait | 20 for each node", orders.WAITING_MAX, 20),
    ("gateway", "wait for CoAP or TFTP | 16 of each node", protocols.INBOX_MAX, 16),
    ("gateway", "wait for a serial port | 4,096 for each node", lines.OUTPUT_MAX, 4096),
    (
        "gateway",
        "about a node | 10 together, then one a minute",
        (notices.LINES_MAX, notices.EVERY_S),
        (10, 60),
    ),
    ("gateway", "counts as whole blocks of 4,096 bytes", stored_files.BLOCK, 4096),
    ("gateway", "give their room back within 10 s", stored_files.LOOK_S, 10),
    ("gateway", "Of 1,000 files of one name", files.NAMES_MAX, 1000),
    ("gateway", "connections to the socket | 16 in all", control.CLIENTS_MAX, 16),
    ("gateway", "(default 10; 0: not at all)", orders.WAIT_S, 10),
    ("gateway", "any text up to 64 letters", orders.TOKEN_MAX, 64),
    ("gateway", "/NAME` (port 1883), or `mqtts:` for TLS (port 8883)", [*mqtt.PORTS.values()], [1883, 8883]),
    ("gateway", "Ten messages are published at a time", mqtt.MqttSink.batch, 10),
    ("gateway", "without any progress for 10 s", (mqtt.CONNECT_S, mqtt.ACKNOWLEDGE_S), (10, 10)),
    ("gateway", "1,000 outcomes wait", mqtt.OUTCOMES_MAX, 1000),
    ("gateway", "NAME has at most 100 letters, digits", mqtt.NAME_MAX, 100),
    ("tftp", "get blocks of up to 512 bytes", tftp.CLIENT_TERMS.block_max, 512),
    (
        "tftp",
        "ten times, the gateway twenty times toward a node",
        (tftp.CLIENT_TERMS.tries, tftp.NODE_TRIES),
        (10, 20),
    ),
    ("tftp", "A file of a client may wait with 16 MiB at the gateway", pipe.HELD_MAX, 16 << 20),
    ("tftp", "a file that a node puts has at most 16 MiB", node_files.FILE_MAX, 16 << 20),
    ("tftp", "One transfer at a time for each node, 16 clients", tftp.CLIENTS_MAX, 16),
    (
        "coap",
        "repetition (2 s, four times) and deduplication (247 s)",
        (udp.ACK_TIMEOUT_S, udp.MAX_RETRANSMIT, udp.EXCHANGE_S),
        (2, 4, 247),
    ),
    ("coap", "response takes more than 1 s, the client gets an empty acknowledgement", udp.ACK_AFTER_S, 1),
    ("coap", "After 60 s without a response it gets 5.04", coap.NODE_S, 60),
    ("coap", "older than its Max-Age by 5 s is requested again", coap.RENEW_S, 5),
    ("coap", "every 30 s a notification is confirmable", coap.CONFIRM_S, 30),
    ("coap", "Four requests wait for one node (then 5.03)", coap.WAITING_MAX, 4),
    ("coap", "eight of its requests at servers", coap.FORWARDED_MAX, 8),
    (
        "coap",
        "eight observed resources with 16 clients each",
        (coap.OBSERVATIONS_MAX, coap.OBSERVERS_MAX),
        (8, 16),
    ),
    ("coap", "2,000 remembered requests", udp.SEEN_MAX, 2000),
    ("sweep", "batches of about two seconds", batches.BATCH_S, 2),
    ("sweep", "its batches go to others after 30 s", (crew.HANGS_S, host.GONE_S), (30, 30)),
    ("sweep", "a worker ends five times in a row at its start", start.SOON_MAX, 5),
    ("formats", "every 15 seconds for another 60", (claims.RENEW_S, claims.CLAIM_S), (15, 60)),
    ("formats", "at most 200 plain files", archive.FILES_MAX, 200),
    ("files", "at most 1 GiB is granted", container.ARGON_KIB_MAX, 1 << 20),
    ("files", "Argon2id: passes, at most 16", container.ARGON_PASSES_MAX, 16),
    ("files", "Argon2id: lanes, at most 16", container.ARGON_LANES_MAX, 16),
    ("link", "a packet begins after 20 ms of silence", stream.SILENCE_MS, 20),
    ("link", "name in UTF-8 (at most 100)", files.NAME_MAX, 100),
]
#: Page, what it says, a header of a node's code, the name there, and its value in milliseconds or times.
PROMISED_OF_NODES = [
    ("tftp", "ten times, the gateway", "tftp/tftp.h", "TFTP_TRIES", 10),
    ("coap", "tries again after 5 s, then after twice as long", "coap/client.h", "COAP_RETRY_MS", 5000),
    ("coap", "up to 320 s", "coap/client.h", "COAP_RETRY_MAX_MS", 320_000),
    ("link", "tries without progress | 10", "link/link.h", "LINK_TRIES", 10),
    ("link", "fragments of a message | 15 at most", "link/link.h", "LINK_PIECES_MAX", 15),
    ("link", "claimed by one write to storage | 64", "link/link.h", "LINK_SEND_BLOCK", 64),
    ("link", "to 127 above", "link/link.h", "LINK_STEP_MAX", 127),
    ("link", "replay window | 16 counters", "link/link.h", "LINK_WINDOW", 16),
    ("link", "that an end bears | 4,096; one", "link/link.h", "LINK_FAILURES_MAX", 4096),
    ("link", "one is forgiven for each 32 counters", "link/link.h", "LINK_FORGIVEN", 32),
    ("link", "with 64 failures or fewer left", "link/link.h", "LINK_FAILURES_SPARE", 64),
    ("link", "the newest 16 of its receiver", "link/link.h", "LINK_FRESH", 16),
    ("link", "that bring nothing new | 32", "link/link.h", "LINK_ANSWERS_MAX", 32),
    ("link", "every 32nd message, and the first after a start", "link/link.h", "LINK_LONG_EVERY", 32),
    ("link", "A node stores 15 ahead", "link/link.h", "LINK_RECEIVE_AHEAD", 15),
    ("link", "Node n waits 7 n ms longer", "link/link.h", "LINK_SPREAD_MS", 7),
]


def _page(name: str) -> str:
    return " ".join((DOCS / f"{name}.md").read_text().split())


@pytest.mark.parametrize(("page", "words", "value", "promised"), PROMISED, ids=lambda part: str(part)[:40])
def test_what_a_page_promises_is_what_the_code_keeps_to(
    page: str, words: str, value: object, promised: object
) -> None:
    assert words in _page(page), "the page says something else now: change this row with it"
    assert value == promised


@pytest.mark.parametrize(("page", "words", "header", "name", "promised"), PROMISED_OF_NODES)
def test_what_a_page_promises_of_nodes_is_in_their_code(
    page: str, words: str, header: str, name: str, promised: int
) -> None:
    assert words in _page(page), "the page says something else now: change this row with it"
    assert re.findall(rf"\b{name} = (\d+),", (FIRMWARE / header).read_text()) == [str(promised)]
