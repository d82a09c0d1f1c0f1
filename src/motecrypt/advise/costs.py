"""What one message costs on a device, radio and battery: arithmetic over plain records, nothing else.

Model, also in docs/advise.md: the device wakes, encrypts (active), idles while the radio sends and
receives, and sleeps with the radio until the next message. E = V x I x t as in `motecrypt.energy`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from motecrypt.advise.records import (
    BatteryPart,
    Candidate,
    DeviceFacts,
    EnergyShares,
    MessageCosts,
    Point,
    Question,
    RadioPart,
    RegulatorPart,
)

YEAR_S = 365.25 * 86400


@dataclass(frozen=True)
class Setting:
    """All but the candidate: what the costs depend on."""

    question: Question
    device: DeviceFacts
    radio: RadioPart
    battery: BatteryPart
    regulator: RegulatorPart


def taken_bytes(candidate: Candidate, message_bytes: int) -> int:
    """The least length that the cipher takes and the message fits into: it is padded to this."""
    multiple = candidate.message_bytes_multiple
    padded = -(-message_bytes // multiple) * multiple
    return max(padded, candidate.message_bytes_min)


def nonce_on_air_bytes(candidate: Candidate, counter_bytes: int) -> int:
    """What of the nonce travels: a random IV whole, of a counter the low bytes."""
    if candidate.nonce == "random":
        return candidate.nonce_bytes
    return min(counter_bytes, candidate.nonce_bytes) if candidate.nonce == "counter" else 0


def sealed_bytes(candidate: Candidate, message_bytes: int, counter_bytes: int) -> int:
    """Counter or IV, ciphertext and tag of a message."""
    ciphertext = taken_bytes(candidate, message_bytes)
    return nonce_on_air_bytes(candidate, counter_bytes) + ciphertext + candidate.tag_bytes


def at_length(points: tuple[Point, ...], message_bytes: int) -> tuple[float, float, float] | None:
    """Cycles of set-up, encryption and decryption at a length: as measured, between two measured
    lengths on the straight line; None outside of what was measured."""
    below = [p for p in points if p.message_bytes <= message_bytes]
    above = [p for p in points if p.message_bytes >= message_bytes]
    if not below or not above:
        return None
    a, b = below[-1], above[0]
    if a.message_bytes == b.message_bytes:
        return float(a.setup_cycles), float(a.encrypt_cycles), float(a.decrypt_cycles)
    part = (message_bytes - a.message_bytes) / (b.message_bytes - a.message_bytes)
    return (
        a.setup_cycles + part * (b.setup_cycles - a.setup_cycles),
        a.encrypt_cycles + part * (b.encrypt_cycles - a.encrypt_cycles),
        a.decrypt_cycles + part * (b.decrypt_cycles - a.decrypt_cycles),
    )


def on_air(radio: RadioPart, sealed: int) -> tuple[int, int, float]:
    """Bytes handed to the radio, packets, and air time in us. Where a packet that is not full waits
    for a timeout, the message is filled up to whole packets, as the link of motecrypt does."""
    packets = -(-sealed // radio.packet_bytes)
    handed = packets * radio.packet_bytes if radio.timeout_us > 0 else sealed
    full = handed // radio.packet_bytes
    rest = handed - full * radio.packet_bytes
    return handed, packets, full * radio.air_us[radio.packet_bytes] + radio.air_us[rest]


def delivery_us(radio: RadioPart, handed: int) -> float:
    """From the first byte on the sender's serial line to the last out of the receiver's radio: the
    closed form of `motecrypt.radios.costs`, which a test holds this to."""
    full = handed // radio.packet_bytes
    rest = handed - full * radio.packet_bytes
    line_us = radio.packet_bytes * radio.serial_byte_us
    air_us = radio.air_us[radio.packet_bytes]
    slot_us = air_us + radio.gap_us
    steady_us = max(line_us, slot_us)
    last_full_us = line_us + air_us + (full - 1) * steady_us + line_us if full else 0.0
    if rest == 0:
        return last_full_us
    air_free_us = line_us + (full - 1) * steady_us + slot_us if full else 0.0
    ready_us = handed * radio.serial_byte_us + radio.timeout_us
    rest_end_us = max(ready_us, air_free_us) + radio.air_us[rest]
    return max(rest_end_us, last_full_us) + rest * radio.serial_byte_us


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


def message_costs(
    setting: Setting, sealed: int, cycles: float, setup_cycles: float, sealed_answer: int, usable: float
) -> MessageCosts:
    """Time, energy and battery life of a message of `sealed` bytes that takes `cycles` to protect."""
    question, device, radio = setting.question, setting.device, setting.radio
    handed, packets, air_us = on_air(radio, sealed)
    write_us = handed * radio.serial_byte_us
    gap_us = packets * radio.gap_us
    send_us = max(write_us, 0.0) + air_us + gap_us
    answer_us = 0.0
    if sealed_answer > 0:
        _, answer_packets, answer_air_us = on_air(radio, sealed_answer)
        answer_us = radio.turn_round_us + answer_air_us + (answer_packets - 1) * radio.gap_us
    cpu_us = cycles / device.clock_hz * 1e6
    delivered_us = delivery_us(radio, handed)
    awake_us = device.wake_us + cpu_us + radio.wake_us + send_us + answer_us
    energy = _energy(setting, cpu_us, (write_us, air_us, gap_us, answer_us), awake_us)
    usable_uj = battery_uj(setting.battery) * usable
    return MessageCosts(
        sealed_bytes=sealed,
        overhead_bytes=sealed - question.message_bytes,
        air_bytes=handed,
        packets=packets,
        cycles=cycles,
        setup_us=setup_cycles / device.clock_hz * 1e6,
        cpu_us=cpu_us,
        air_time_us=air_us,
        latency_us=cpu_us + delivered_us,
        busy_us=max(awake_us, device.wake_us + cpu_us + radio.wake_us + delivered_us + answer_us),
        energy=energy,
        life_days=usable_uj / energy.total_uj * question.interval_s / 86400,
    )


def battery_uj(battery: BatteryPart) -> float:
    """The rated energy: charge times nominal voltage, in microjoules."""
    return battery.capacity_mah * 3.6 * battery.volts * 1e6


def _energy(
    setting: Setting, cpu_us: float, radio_us: tuple[float, float, float, float], awake_us: float
) -> EnergyShares:
    question, device, radio = setting.question, setting.device, setting.radio
    battery, regulator = setting.battery, setting.regulator
    write_us, air_us, gap_us, answer_us = radio_us
    interval_us = question.interval_s * 1e6
    sleep_us = max(0.0, interval_us - awake_us)
    device_v = battery.volts if regulator.kind == "none" else device.volts
    radio_v = radio.supply_v if regulator.kind == "switch" else min(radio.supply_v, battery.volts)

    loads = {  # part: (volts, milliamperes, microseconds) of each load in it
        "cpu": [(device_v, device.active_ma, cpu_us)],
        "send": [
            (radio_v, radio.rx_ma, write_us),
            (radio_v, radio.tx_ma, air_us),
            (device_v, device.idle_ma, write_us + air_us),
        ],
        "receive": [
            (radio_v, radio.rx_ma, gap_us + answer_us),
            (device_v, device.idle_ma, gap_us + answer_us),
        ],
        "sleep": [(device_v, device.sleep_ma, sleep_us), (radio_v, radio.sleep_ma, sleep_us)],
        "wake": [(device_v, device.active_ma, device.wake_us), (radio_v, radio.rx_ma, radio.wake_us)],
    }
    parts = {name: sum(v * ma * us / 1000 for v, ma, us in load) for name, load in loads.items()}
    everything = [one for load in loads.values() for one in load]
    if regulator.kind == "switch":
        drawn_uj = sum(v * ma * us / 1000 for v, ma, us in everything) / regulator.efficiency
    else:
        drawn_uj = sum(battery.volts * ma * us / 1000 for _, ma, us in everything)
    own_uj = battery.volts * regulator.quiescent_ma * interval_us / 1000
    lost_uj = drawn_uj - sum(parts.values()) + own_uj
    share = battery.self_discharge_percent_per_year / 100 * question.interval_s / YEAR_S
    self_uj = battery_uj(battery) * share
    return EnergyShares(
        cpu_uj=parts["cpu"],
        send_uj=parts["send"],
        receive_uj=parts["receive"],
        sleep_uj=parts["sleep"],
        wake_uj=parts["wake"],
        regulator_uj=lost_uj,
        self_discharge_uj=self_uj,
        total_uj=sum(parts.values()) + lost_uj + self_uj,
    )
