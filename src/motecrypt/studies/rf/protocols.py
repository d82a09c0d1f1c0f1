"""The same readings by each protocol that the source used or names: packets, bytes, time, energy.

Formats are those of the standards (RFC 7252, RFC 8613, RFC 1350) and of docs/link.md. Tests compare them with
the code that speaks them and with the examples of the standards. Retries follow each protocol's own rules, as
expected values (radios/retries.py, advise/exchange.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from motecrypt.adviser.api import link_facts
from motecrypt.adviser.costs import patience_us
from motecrypt.adviser.exchange import Form, exchange, usual_form
from motecrypt.adviser.gather import radio_part
from motecrypt.air.radios import Radio, costs, load_radio
from motecrypt.air.radios.air import overhead_bytes
from motecrypt.air.radios.retries import ExchangeOutcome, ExchangeStep, exchanged, reply_us
from motecrypt.base.model import Section
from motecrypt.link.tftp.cost import ACK_BYTES
from motecrypt.link.tftp.packets import HEAD, Opcode, Packet
from motecrypt.link.tftp.transfer import Terms
from motecrypt.studies.words import words

RADIOS = ("srf", "nrf24", "802.15.4")
PAYLOADS = (6, 24)
LOSSES = (0.0, 0.01, 0.05, 0.10)

AES_BLOCK = 16
COAP_HEAD, COAP_TOKEN, COAP_PATH, COAP_MARKER = 4, 1, 2, 1
"""RFC 7252, 3 and 5.10.1: the path is one letter behind its option's head."""
OSCORE_OPTION, OSCORE_RESPONSE_OPTION, OSCORE_CODE, OSCORE_TAG = 4, 1, 1, 8
"""RFC 8613, 5.4, 6.1: the option's head, flags, a sequence number and a key identifier of a byte each; in a
response the head alone. The code is encrypted, and AES-CCM-16-64-128 adds its tag."""
COAP_ACK_US, COAP_RANDOM_MEAN, COAP_TRIES = 2e6, 1.25, 5
"""RFC 7252, 4.8: ACK_TIMEOUT, the mean of ACK_RANDOM_FACTOR from 1 to 1.5; the first try and four more."""
TFTP_REQUEST = len(Packet(Opcode.WRITE, name="t").encode())
TFTP_TERMS = Terms()
"""RFC 1350 leaves waits and tries to programs: those of ours."""


@dataclass(frozen=True)
class ProtocolRow:
    """One payload by one protocol over one radio with one loss.

    `written_bytes` is what both ends write where nothing is lost; the rest is as in `ExchangeOutcome`.
    """

    radio: str
    protocol: str
    payload_bytes: int
    loss: float
    written_bytes: int
    packets: float
    air_bytes: float
    delivered: float
    told: float | None
    delivery_ms: float
    done_ms: float
    sender_uj: float


def paper_bytes(mode: str, payload: int, packet: int) -> int:
    """Bytes of the source's modes: plaintext, hex of padded CBC blocks, the same filled to whole packets."""
    if mode == "T":
        return payload
    digits = 2 * AES_BLOCK * (payload // AES_BLOCK + 1)
    return digits if mode == "C" else -(-digits // packet) * packet


def coap_bytes(payload: int) -> int:
    """A POST to a path of one letter; without payload no marker."""
    return COAP_HEAD + COAP_TOKEN + COAP_PATH + (COAP_MARKER + payload if payload else 0)


def coap_response_bytes() -> int:
    """The acknowledgement that brings 2.04 Changed."""
    return COAP_HEAD + COAP_TOKEN


def oscore_bytes(payload: int) -> int:
    """The same POST under OSCORE: path and payload are in the ciphertext."""
    inner = OSCORE_CODE + coap_bytes(payload) - COAP_HEAD - COAP_TOKEN + OSCORE_TAG
    return COAP_HEAD + COAP_TOKEN + OSCORE_OPTION + COAP_MARKER + inner


def oscore_response_bytes() -> int:
    """The same acknowledgement under OSCORE."""
    return coap_response_bytes() + OSCORE_RESPONSE_OPTION + COAP_MARKER + OSCORE_CODE + OSCORE_TAG


def rows(radios: Iterable[str] = RADIOS, payloads: Iterable[int] = PAYLOADS) -> list[ProtocolRow]:
    """Every protocol on each radio, with each payload and loss."""
    told = []
    for name in radios:
        radio = load_radio(name)
        for payload in payloads:
            for loss in LOSSES:
                told += _all(radio, payload, loss)
    return told


def _all(radio: Radio, payload: int, loss: float) -> list[ProtocolRow]:
    coap_waits = tuple(COAP_ACK_US * COAP_RANDOM_MEAN * 2**n for n in range(COAP_TRIES))
    tftp_waits = (TFTP_TERMS.timeout_s * 1e6,) * TFTP_TERMS.tries
    packet = radio.packet_bytes
    ways: list[tuple[str, tuple[ExchangeStep, ...], int]] = [
        (f"{mode}: {what}", (ExchangeStep(paper_bytes(mode, payload, packet)),), 0)
        for mode, what in (("T", "plaintext"), ("C", "AES-CBC in hex"), ("P", "C, filled"))
    ]
    found = [_row(radio, name, payload, loss, steps, at) for name, steps, at in ways]
    found += [_link(radio, payload, loss, confirmed) for confirmed in (False, True)]
    coap = ExchangeStep(coap_bytes(payload), coap_response_bytes(), coap_waits)
    oscore = ExchangeStep(oscore_bytes(payload), oscore_response_bytes(), coap_waits)
    asks = ExchangeStep(TFTP_REQUEST, ACK_BYTES, tftp_waits)
    data = ExchangeStep(HEAD + payload, ACK_BYTES, tftp_waits)
    found += [
        _row(radio, "CoAP, confirmable", payload, loss, (coap,), 0),
        _row(radio, "CoAP with OSCORE, confirmable", payload, loss, (oscore,), 0),
        _coap_in_link(radio, payload, loss),
        _row(radio, "TFTP, a file of it", payload, loss, (asks, data), 1),
    ]
    return found


def _coap_in_link(radio: Radio, payload: int, loss: float) -> ProtocolRow:
    """A non-confirmable POST in a confirmed message of the link; its response in another (docs/coap.md)."""
    up, up_bytes = _confirmed(radio, coap_bytes(payload), loss)
    down, down_bytes = _confirmed(radio, coap_response_bytes(), loss)
    turn_us = radio.value("turn_round_us")
    both = ExchangeOutcome(
        delivered=up.delivered,
        told=up.delivered * down.delivered,
        packets=up.packets + up.delivered * down.packets,
        air_bytes=up.air_bytes + up.delivered * down.air_bytes,
        own_air_us=up.own_air_us + up.delivered * down.reply_air_us,
        reply_air_us=up.reply_air_us + up.delivered * down.own_air_us,
        done_us=up.done_us + up.delivered * (turn_us + down.done_us),
        delivery_us=up.delivery_us,
    )
    return _told(radio, "CoAP in the link", payload, loss, up_bytes + down_bytes, both)


def _row(
    radio: Radio, name: str, payload: int, loss: float, steps: tuple[ExchangeStep, ...], at: int
) -> ProtocolRow:
    written = sum(step.request_bytes + step.reply_bytes for step in steps)
    return _told(radio, name, payload, loss, written, exchanged(radio, steps, at, loss))


def _told(
    radio: Radio, name: str, payload: int, loss: float, written: int, outcome: ExchangeOutcome
) -> ProtocolRow:
    return ProtocolRow(
        radio=radio.name,
        protocol=name,
        payload_bytes=payload,
        loss=loss,
        written_bytes=written,
        packets=round(outcome.packets, 4),
        air_bytes=round(outcome.air_bytes, 3),
        delivered=round(outcome.delivered, 6),
        told=None if outcome.told is None else round(outcome.told, 6),
        delivery_ms=round(outcome.delivery_us / 1000, 3),
        done_ms=round(outcome.done_us / 1000, 3),
        sender_uj=round(outcome.sender_uj(radio), 3),
    )


def _link(radio: Radio, payload: int, loss: float, confirmed: bool) -> ProtocolRow:
    """Over the secure link, both ends synchronised."""
    if confirmed:
        outcome, written = _confirmed(radio, payload, loss)
        return _told(radio, "link, confirmed", payload, loss, written, outcome)
    sizes = usual_form(link_facts(), radio_part(radio), payload).sizes
    return _row(radio, "link, unconfirmed", payload, loss, (ExchangeStep(sum(sizes)),), 0)


def _confirmed(radio: Radio, message: int, loss: float) -> tuple[ExchangeOutcome, int]:
    """A confirmed message of the link, and what both ends write; missing fragments go again by its rules."""
    facts, part = link_facts(), radio_part(radio)
    form = usual_form(facts, part, message, confirmed=True)
    answer = radio.packet_bytes if part.serial_byte_us else facts.answer_bytes
    patience = patience_us(facts, part)
    written = sum(form.sizes) + answer
    if len(form.sizes) > 1:
        return _fragments(radio, form, loss, answer, patience), written
    step = ExchangeStep(sum(form.sizes), answer, (patience,) * facts.tries)
    return exchanged(radio, (step,), 0, loss), written


def _fragments(radio: Radio, form: Form, loss: float, answer: int, patience: float) -> ExchangeOutcome:
    """A confirmed message of several fragments."""
    done = exchange(len(form.sizes), loss, link_facts().tries)
    own = burst_us = packets = air = 0.0
    for others, often in enumerate(done.bursts):
        burst = costs(radio, sum(form.sizes[:others]) + form.sizes[-1])
        own += often * float(burst.air_time_us)
        burst_us += often * float(burst.delivery_time_us)
        packets += often * float(burst.packets)
        air += often * float(burst.air_bytes)
    back = costs(radio, answer)
    begins = sum(done.bursts)
    # Answers that come, and as many again of those that were sent and lost.
    sent_back = done.answers / (1 - loss)
    answered_us = burst_us / begins + reply_us(radio, form.sizes[-1], answer)
    return ExchangeOutcome(
        delivered=1 - done.lost,
        told=1 - done.lost,
        packets=packets + sent_back * float(back.packets),
        air_bytes=air + sent_back * (answer + overhead_bytes(radio)),
        own_air_us=own,
        reply_air_us=sent_back * float(back.air_time_us),
        done_us=done.silences * patience + done.answers * answered_us,
        delivery_us=float(costs(radio, sum(form.sizes)).delivery_time_us),
    )


def table() -> list[dict[str, Any]]:
    """Every row as a plain record."""
    return [dict(vars(row)) for row in rows()]


def sections() -> list[Section]:
    """A table for each radio: without loss, and what losses make of it."""
    found = rows()
    lost = [f"{100 * loss:g} % lost: arrives, ms, uJ" for loss in LOSSES[1:]]
    made = []
    for name in RADIOS:
        whole: dict[tuple[str, int], list[ProtocolRow]] = {}
        for row in found:
            if row.radio == name:
                whole.setdefault((row.protocol, row.payload_bytes), []).append(row)
        lines = [
            [
                protocol,
                str(payload),
                f"{of_it[0].packets:g}",
                f"{of_it[0].air_bytes:g}",
                f"{of_it[0].delivery_ms:.1f}",
                f"{of_it[0].sender_uj:,.0f}",
                *(
                    f"{100 * row.delivered:.2f} %, {row.done_ms:,.1f}, {row.sender_uj:,.0f}"
                    for row in of_it[1:]
                ),
            ]
            for (protocol, payload), of_it in whole.items()
        ]
        one = words("rf").section("protocols", lines, radio=load_radio(name), last=name == RADIOS[-1])
        made.append(replace(one, columns=[*one.columns, *lost]))
    return made
