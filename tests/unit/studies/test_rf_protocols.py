"""The table of protocols: lengths are those of the code and of the standards' examples, rows are whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from motecrypt.adviser.api import link_facts
from motecrypt.air.radios import load_radio
from motecrypt.cli import main
from motecrypt.link.gateway.protocols.coap.message import CoapKind, CoapMessage, Code, Option
from motecrypt.link.modes import encoded_bytes
from motecrypt.results import Results
from motecrypt.studies.rf import protocols
from motecrypt.studies.rf import study as rf


@pytest.mark.parametrize("payload", [1, 6, 15, 16, 24, 40])
def test_the_papers_modes_are_as_long_as_they_are_sent(payload: int) -> None:
    for mode in "TCP":
        assert protocols.paper_bytes(mode, payload, 12) == encoded_bytes(mode, payload)


@pytest.mark.parametrize("payload", [0, 6, 24])
def test_coap_is_as_long_as_the_gateways_messages(payload: int) -> None:
    path = ((Option.URI_PATH, b"t"),)
    request = CoapMessage(CoapKind.CON, Code.POST, 1, b"7", path, bytes(payload))
    assert protocols.coap_bytes(payload) == len(request.encode())
    response = CoapMessage(CoapKind.ACK, Code.CHANGED, 1, b"7", (), b"")
    assert protocols.coap_response_bytes() == len(response.encode())


def test_oscore_adds_what_the_examples_of_rfc_8613_show() -> None:
    """Appendix C.4 (no key identifier, no payload) and C.7 (a payload): messages before and after."""
    request = "44015d1f00003974396c6f63616c686f737483747631"
    protected = "44025d1f00003974396c6f63616c686f7374620914ff612f1092f1776f1c1668b3825e"
    response = "64455d1f00003974ff48656c6c6f20576f726c6421"
    sealed = "64445d1f0000397490ffdbaad1e9a7e7b2a813d3c31524378303cdafae119106"
    identifier = 1  # a byte that the example has not
    adds = (len(protected) - len(request)) // 2
    assert protocols.oscore_bytes(24) - protocols.coap_bytes(24) == adds + identifier
    adds = (len(sealed) - len(response)) // 2
    assert protocols.oscore_response_bytes() - protocols.coap_response_bytes() == adds


@pytest.mark.parametrize("payload", [6, 24])
def test_tftp_is_a_request_a_block_and_their_acks(payload: int) -> None:
    """RFC 1350, 5: opcode, name and mode with a zero behind each; opcode, number, content; opcode, number."""
    assert of("TFTP", payload=payload).written_bytes == (2 + 2 + 6) + 4 + (2 + 2 + payload) + 4


def test_every_protocol_is_there_with_every_loss() -> None:
    rows = protocols.rows()
    assert len(rows) == 3 * 2 * 4 * 9
    json.dumps(protocols.table())
    for row in rows:
        assert row.loss or row.delivered == 1.0
        assert 0 < row.delivered <= 1 and (row.told is None or row.told <= row.delivered)
        assert row.packets >= 1 and row.sender_uj > 0


def of(protocol: str, loss: float = 0.0, radio: str = "srf", payload: int = 6) -> protocols.ProtocolRow:
    """One row."""
    for row in protocols.rows([radio], [payload]):
        if row.loss == loss and row.protocol.startswith(protocol):
            return row
    raise AssertionError(protocol)


def test_a_reading_on_the_papers_radio() -> None:
    assert [of(name).packets for name in ("T", "C", "P", "link, u", "link, c")] == [1, 3, 3, 1, 2]
    assert [of(name).packets for name in ("CoAP, ", "CoAP with", "CoAP in", "TFTP")] == [3, 5, 7, 4]
    assert of("T").delivery_ms == pytest.approx(101.7, abs=0.1), "the radio waits for its timeout"
    assert of("link, c").delivery_ms == pytest.approx(2.883, abs=0.01)
    assert of("T", 0.1).delivered == pytest.approx(0.9) and of("C", 0.1).delivered == pytest.approx(0.729)
    assert of("link, c", 0.1).delivered > 0.9999 > of("CoAP with", 0.1).delivered > 0.99


def test_fragments_go_again_by_the_links_rules() -> None:
    whole, lossy = of("link, c", payload=24), of("link, c", 0.1, payload=24)
    assert whole.packets == 5 and whole.told == 1.0
    assert 5.5 < lossy.packets < 8 and lossy.delivered > 0.9999 and lossy.done_ms > 5 * whole.done_ms
    facts = link_facts()
    assert facts.tries == protocols.TFTP_TERMS.tries == 10
    assert load_radio("srf").packet_bytes == facts.packet_bytes_min


def test_the_study_has_them(results: Results) -> None:
    sections = [section for section in rf.sections(results) if "by each protocol" in section.title]
    assert [len(section.rows) for section in sections] == [18, 18, 18]
    assert all(len(row) == len(section.columns) for section in sections for row in section.rows)
    assert "RFC 8613" in sections[-1].text
    assert set(rf.tables(results)) >= {"protocols", "nodes"}


def test_the_command_gives_them_as_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = str(tmp_path / "results.db")
    with Results(tmp_path / "results.db"):
        pass
    arguments = ["reproduce", "rf", "--stored", "--json", "--db", db]
    rows = told(arguments, capsys)
    assert isinstance(rows, list) and rows[0]["table"] == "table 1"
    whole = told([*arguments, "--rows"], capsys)
    assert set(whole) == {"rf"} and whole["rf"]["comparisons"] == rows
    assert [len(whole["rf"]["tables"][name]) for name in ("protocols", "alternatives", "nodes")] == [
        216,
        8,
        0,
    ]
    assert whole["rf"]["tables"]["protocols"][0]["protocol"] == "T: plaintext"


def told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    """What the command prints, read."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert not ended.value.code
    return json.loads(capsys.readouterr().out)
