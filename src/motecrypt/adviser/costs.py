"""What one message costs on a device, radio and battery: arithmetic over plain records, nothing else.

Model, also in docs/advise.md: the device wakes, encrypts (active), idles while the radio sends and
receives, and sleeps with the radio until the next message, if its program sleeps. E = V x I x t as in
`motecrypt.base.energy`. What is sent, and how often, is `exchange`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, inf

from motecrypt.adviser.exchange import (
    Exchange,
    Form,
    derive_cycles,
    exchange,
    forms,
    plain_form,
    power,
    prove_cycles,
    sent_once,
    streams,
    unit_cycles,
    usual_form,
)
from motecrypt.adviser.model import (
    BatteryPart,
    Candidate,
    DeviceFacts,
    EnergyShares,
    LinkFacts,
    MessageCosts,
    Point,
    Question,
    RadioPart,
    RegulatorPart,
    SuiteWork,
)
from motecrypt.adviser.storage import StoragePart
from motecrypt.base.energy import HOURS_PER_YEAR, Battery, energy_uj, time_us

YEAR_S = HOURS_PER_YEAR * 3600


@dataclass(frozen=True)
class Setting:
    """All but the candidate: what the costs depend on."""

    question: Question
    device: DeviceFacts
    radio: RadioPart
    link: LinkFacts
    battery: BatteryPart
    regulator: RegulatorPart
    storage: StoragePart | None = None  # set if the node stores its data; the radio is then its `as_radio`


@dataclass(frozen=True)
class Burst:
    """Packets sent back to back: until the sender's radio is done, its time on the air in that, and until
    the last byte has left the receiver's radio, in us."""

    on_us: float
    air_us: float
    delivered_us: float


@dataclass(frozen=True)
class Traffic:
    """One message on average over many, as expected values: see `MessageCosts`. Times in us."""

    usual: Form
    packets: float
    on_us: float
    air_us: float
    listen_us: float
    answers: float
    key_changes: float
    lost: float
    delivered_us: float


def taken_bytes(candidate: Candidate, message_bytes: int) -> int:
    """The least length that the cipher takes and the message fits into: it is padded to this."""
    multiple = candidate.message_bytes_multiple
    padded = -(-message_bytes // multiple) * multiple
    return max(padded, candidate.message_bytes_min)


def sealed_alone_bytes(candidate: Candidate, message_bytes: int) -> int:
    """Nonce, ciphertext and tag of a message that the cipher protects alone: all of it travels."""
    return candidate.nonce_bytes + taken_bytes(candidate, message_bytes) + candidate.tag_bytes


def at_length(points: tuple[Point, ...], message_bytes: int) -> Point | None:
    """Cycles of set-up, encryption and decryption at a length: as measured, between two measured
    lengths on the straight line; None outside of what was measured."""
    below = [p for p in points if p.message_bytes <= message_bytes]
    above = [p for p in points if p.message_bytes >= message_bytes]
    if not below or not above:
        return None
    a, b = below[-1], above[0]
    if a.message_bytes == b.message_bytes:
        return a
    part = (message_bytes - a.message_bytes) / (b.message_bytes - a.message_bytes)
    return Point(
        message_bytes,
        a.setup_cycles + part * (b.setup_cycles - a.setup_cycles),
        a.encrypt_cycles + part * (b.encrypt_cycles - a.encrypt_cycles),
        a.decrypt_cycles + part * (b.decrypt_cycles - a.decrypt_cycles),
    )


def burst(radio: RadioPart, sizes: Sequence[int]) -> Burst:
    """Packets of these lengths, handed over together: the air and the serial lines on both sides (if any)
    each carry one packet at a time, in parallel."""
    ready = free = out = air_us = 0.0
    for size in sizes:
        line_us = size * radio.serial_byte_us
        ready += line_us
        end = max(ready, free) + radio.air_us[size]
        air_us += radio.air_us[size]
        free = end + radio.gap_us
        out = max(out, end) + line_us
    return Burst(free, air_us, out)


def answer_sizes(link: LinkFacts, radio: RadioPart) -> tuple[int]:
    """The packet that carries one of the link's own answers."""
    return (radio.packet_bytes if streams(radio) else link.answer_bytes,)


def answer_us(link: LinkFacts, radio: RadioPart, last_bytes: int) -> float:
    """From the end of a packet on the air until its answer is in the node; the gateway's own time is not in
    it."""
    line_us = last_bytes * radio.serial_byte_us
    return line_us + radio.turn_round_us + burst(radio, answer_sizes(link, radio)).delivered_us


def patience_us(link: LinkFacts, radio: RadioPart) -> float:
    """How long the node waits before it sends again, as exports set it: the usual time, or on a slow radio
    that of four packets, in tenths of a second."""
    slow_ms = 100 * ceil(4 * radio.air_us[radio.packet_bytes] / 1000 / 100)
    return max(link.answer_ms, slow_ms) * 1000.0


def traffic(setting: Setting, linked: Sequence[tuple[float, Form]]) -> Traffic:
    """What these forms of a message, each with its share, keep the radio busy with."""
    question, radio, link = setting.question, setting.radio, setting.link
    usual = linked[0][1]
    packets = on_us = air_us = listen_us = answers = changes = lost = 0.0
    for share, form in linked:
        count = len(form.sizes)
        done = (
            exchange(count, question.loss, link.tries) if form.confirmed else sent_once(count, question.loss)
        )
        on, air, sent = _bursts(radio, form, done)
        silence_us = max(0.0, patience_us(link, radio) - on / total(done.bursts))
        waits_us = done.silences * silence_us
        if form.confirmed:
            waits_us += done.answers * answer_us(link, radio, form.sizes[-1])
        packets += share * sent
        on_us += share * on
        air_us += share * air
        listen_us += share * waits_us
        answers += share * done.answers
        changes += share * (2 * form.confirmed + (form.name != usual.name) * (1 if form.confirmed else 2))
        lost += share * done.lost
    delivered_us = burst(radio, usual.sizes).delivered_us
    return Traffic(usual, packets, on_us, air_us, listen_us, answers, changes, lost, delivered_us)


def _bursts(radio: RadioPart, form: Form, done: Exchange) -> tuple[float, float, float]:
    """Time of the sender's radio, of that on the air, and packets."""
    on = air = sent = 0.0
    for others, often in enumerate(done.bursts):
        one = burst(radio, (*form.sizes[:others], form.sizes[-1]))
        on += often * one.on_us
        air += often * one.air_us
        sent += often * (others + 1)
    return on, air, sent


def reply_us(setting: Setting, sizes: Sequence[int], confirmed: bool, last_bytes: int) -> float:
    """How long the node listens for an application's message that comes back for each of its own."""
    radio, link, loss = setting.radio, setting.link, setting.question.loss
    begins_us = radio.turn_round_us + (0.0 if confirmed else last_bytes * radio.serial_byte_us)
    comes_us = begins_us + burst(radio, sizes).delivered_us
    comes = power(1 - loss, len(sizes))
    return comes * comes_us + (1 - comes) * patience_us(link, radio)


def link_cycles(
    setting: Setting, work: SuiteWork, seal: Point, reply: Point | None, sent: Traffic
) -> tuple[float, float]:
    """Cycles for a message in the link on average over many, and saves of its state.

    One derived key is kept. It is derived again after another key was used: for an answer and the next
    message, for a long message between short ones, for a received message, and for each save, which takes as
    much again for its check value. The cipher's key is set up for each message.
    """
    link = setting.link
    unit = unit_cycles(work, seal)
    derive = derive_cycles(work, unit, seal.setup_cycles)
    cycles = seal.setup_cycles + seal.encrypt_cycles
    cycles += sent.answers * prove_cycles(work, unit, seal.setup_cycles)
    changes = sent.key_changes
    saves = 1 / link.claim_sent
    if reply is not None:
        cycles += reply.setup_cycles + reply.decrypt_cycles
        changes += 2
        saves += 1 / link.claim_received
    return cycles + (changes + 3 * saves) * derive, saves


def total(values: Iterable[float]) -> float:
    """The sum, from the first to the last: `sum` rounds otherwise from Python 3.12 on."""
    result = 0.0
    for value in values:
        result += value
    return result


def volts_needed(device: DeviceFacts, regulator: RegulatorPart) -> float:
    """The battery voltage below which the device is out of its range."""
    if regulator.kind == "none":
        return device.volts_min
    if regulator.kind == "linear":
        return device.volts + regulator.dropout_v
    return regulator.volts_in_min


def usable_fraction(battery: BatteryPart, volts_min: float) -> float:
    """The fraction of the rated charge that flows before the battery falls below `volts_min`."""
    if volts_min <= battery.volts_empty:
        return 1.0
    if volts_min > battery.volts_full:
        return 0.0
    curve = battery.curve
    for (high, used_before), (low, used_after) in pairwise(curve):
        if low <= volts_min <= high:
            if high == low:
                return used_after
            return used_before + (high - volts_min) / (high - low) * (used_after - used_before)
    return 1.0


def message_costs(setting: Setting, candidate: Candidate, usable: float) -> MessageCosts | None:
    """What a message costs that this candidate protects: in the link, or alone where the question needs only
    that; None where that length was not measured or did not run, or the link does not take it."""
    question = setting.question
    if candidate.status != "ok":
        return None
    seal = at_length(candidate.points, taken_bytes(candidate, question.message_bytes))
    reply = None
    if question.answer_bytes > 0:
        reply = at_length(candidate.points, taken_bytes(candidate, question.answer_bytes))
        if reply is None:
            return None
    if seal is None:
        return None
    if question.linked:
        return _linked_costs(setting, setting.link.suites[candidate.cipher], seal, reply, usable)
    form = plain_form(setting.radio, sealed_alone_bytes(candidate, question.message_bytes))
    back = plain_form(setting.radio, sealed_alone_bytes(candidate, question.answer_bytes))
    cycles = seal.encrypt_cycles + (reply.decrypt_cycles if reply is not None else 0)
    sizes = back.sizes if reply is not None else ()
    work = _Work(cycles, seal.setup_cycles, 0.0, candidate.tag_bytes)
    return _costs(setting, traffic(setting, ((1.0, form),)), sizes, work, usable)


def plain_costs(setting: Setting, usable: float) -> MessageCosts:
    """The same message unprotected."""
    question, radio = setting.question, setting.radio
    back = plain_form(radio, question.answer_bytes).sizes
    sent = traffic(setting, ((1.0, plain_form(radio, question.message_bytes)),))
    return _costs(setting, sent, back, _Work(0.0, 0.0, 0.0, 0), usable)


def _linked_costs(
    setting: Setting, work: SuiteWork, seal: Point, reply: Point | None, usable: float
) -> MessageCosts:
    question, radio, link = setting.question, setting.radio, setting.link
    sent = traffic(setting, forms(link, radio, question))
    back = usual_form(link, radio, question.answer_bytes).sizes if reply is not None else ()
    cycles, saves = link_cycles(setting, work, seal, reply, sent)
    tag_bytes = link.short_tag_bytes if sent.usual.name == "short" else link.long_tag_bytes
    return _costs(setting, sent, back, _Work(cycles, 0.0, saves, tag_bytes), usable)


@dataclass(frozen=True)
class _Work:
    """What protecting a message takes: cycles, those of the key that is set up once, saves, the tag."""

    cycles: float
    setup_cycles: float
    saves: float
    tag_bytes: int


def _costs(setting: Setting, sent: Traffic, back: Sequence[int], work: _Work, usable: float) -> MessageCosts:
    question, device, radio = setting.question, setting.device, setting.radio
    usual = sent.usual
    listen_us = sent.listen_us
    if back:
        listen_us += reply_us(setting, back, usual.confirmed, usual.sizes[-1])
    cpu_us = time_us(work.cycles, device.clock_hz)
    store_us = work.saves * setting.link.save_bytes_changed * device.store_byte_us
    wake_us = (device.wake_us + radio.wake_us) if device.sleeps else 0.0
    awake_us = wake_us + cpu_us + store_us + sent.on_us + listen_us
    energy = _energy(setting, cpu_us, store_us, (sent.on_us, sent.air_us, listen_us), awake_us)
    charge_days = battery_uj(setting.battery) * usable / energy.total_uj * question.interval_s / 86400
    sealed = sum(usual.sizes) - usual.filling_bytes
    return MessageCosts(
        form="stored" if setting.storage else usual.name,
        packet_sizes=usual.sizes,
        sealed_bytes=sealed,
        overhead_bytes=sealed - question.message_bytes,
        tag_bytes=work.tag_bytes,
        packets_mean=sent.packets,
        cycles=work.cycles,
        setup_us=time_us(work.setup_cycles, device.clock_hz),
        cpu_us=cpu_us,
        air_time_us=sent.air_us,
        latency_us=cpu_us + sent.delivered_us,
        busy_us=awake_us,
        lost=sent.lost,
        energy=energy,
        life_days=min(charge_days, shelf_days(setting.battery)),
    )


def shelf_days(battery: BatteryPart) -> float:
    """Days after which a battery is at its end, whatever draws from it; infinite where none is known."""
    return battery.shelf_years * YEAR_S / 86400 if battery.shelf_years else inf


def duty_percent(setting: Setting, costs: MessageCosts) -> float:
    """How much of the time the node is on the air, in per cent."""
    return costs.air_time_us / (setting.question.interval_s * 1e6) * 100


def battery_uj(battery: BatteryPart) -> float:
    """The rated energy: charge times nominal voltage, in microjoules."""
    return Battery(battery.capacity_mah, battery.volts).energy_j * 1e6


def _energy(
    setting: Setting, cpu_us: float, store_us: float, radio_us: tuple[float, float, float], awake_us: float
) -> EnergyShares:
    question, device, radio = setting.question, setting.device, setting.radio
    battery, regulator = setting.battery, setting.regulator
    on_us, air_us, listen_us = radio_us
    interval_us = question.interval_s * 1e6
    rest_us = max(0.0, interval_us - awake_us)
    device_v = battery.volts if regulator.kind == "none" else device.volts
    radio_v = radio.supply_v if regulator.kind == "switch" else min(radio.supply_v, battery.volts)
    device_rest_ma = device.sleep_ma if device.sleeps else device.active_ma
    radio_rest_ma = radio.sleep_ma if device.sleeps else radio.rx_ma
    wakes = 1.0 if device.sleeps else 0.0

    loads = {  # part: (volts, milliamperes, microseconds) of each load in it
        "cpu": [(device_v, device.active_ma, cpu_us)],
        "store": [(device_v, device.active_ma, store_us)],
        "send": [
            (radio_v, radio.rx_ma, on_us - air_us),
            (radio_v, radio.tx_ma, air_us),
            (device_v, device.idle_ma, on_us),
        ],
        "receive": [(radio_v, radio.rx_ma, listen_us), (device_v, device.idle_ma, listen_us)],
        "between": [(device_v, device_rest_ma, rest_us), (radio_v, radio_rest_ma, rest_us)],
        "wake": [
            (device_v, device.active_ma, wakes * device.wake_us),
            (radio_v, radio.rx_ma, wakes * radio.wake_us),
        ],
    }
    parts = {name: total(energy_uj(*one) for one in load) for name, load in loads.items()}
    used_uj = total(parts.values())
    if regulator.kind == "switch":
        lost_uj = used_uj / regulator.efficiency - used_uj
    else:
        every = [one for load in loads.values() for one in load]
        lost_uj = total(energy_uj(battery.volts - volts, ma, us) for volts, ma, us in every)
    lost_uj += energy_uj(battery.volts, regulator.quiescent_ma, interval_us)
    share = battery.self_discharge_percent_per_year / 100 * question.interval_s / YEAR_S
    self_uj = battery_uj(battery) * share
    return EnergyShares(
        cpu_uj=parts["cpu"],
        store_uj=parts["store"],
        send_uj=parts["send"],
        receive_uj=parts["receive"],
        between_uj=parts["between"],
        wake_uj=parts["wake"],
        regulator_uj=lost_uj,
        self_discharge_uj=self_uj,
        total_uj=used_uj + lost_uj + self_uj,
    )
