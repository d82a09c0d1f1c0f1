"""How a node can get its keys, what each way costs there, and what it protects: pure arithmetic over records.

Costs come on top of the advised cipher's messages. A handshake is EDHOC with X25519; its computation is the
fastest recorded implementation's, its messages are packets of the node's radio. Waiting for the gateway,
repetitions and hashes are not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from motecrypt.adviser.costs import YEAR_S, battery_uj, shelf_days
from motecrypt.adviser.exchange import plain_form
from motecrypt.adviser.model import (
    BatteryPart,
    DeviceFacts,
    Entry,
    Question,
    RadioPart,
    RegulatorPart,
)
from motecrypt.adviser.publickey.entropy import Entropy
from motecrypt.adviser.publickey.handshakes import Compute, Handshake
from motecrypt.base.energy import time_us

DAY_S = 86400.0
#: The most of a node's energy that a stronger way may take and still be advised, in per cent.
ENERGY_PERCENT_MAX = 5.0


@dataclass(frozen=True)
class KeyWay:
    """A way to keys: how often a handshake runs (None: never, 0: once), and what it protects."""

    name: str
    title: str
    handshake_every_s: float | None
    captured: str
    past: str
    gateway: str


_OWN_ALONE = "reads and forges its own messages alone"
#: From the weakest to the strongest.
KEY_WAYS = (
    KeyWay(
        "shared",
        "one key in all nodes",
        None,
        "reads and forges the messages of all nodes",
        "all recorded messages of all nodes can be read",
        "holds the key",
    ),
    KeyWay(
        "per-node",
        "a key for each node, derived at the gateway from a master key",
        None,
        _OWN_ALONE,
        "its own recorded messages can be read",
        "holds the master key: an attacker who gets it has all keys",
    ),
    KeyWay(
        "handshake-once",
        "EDHOC with X25519 when the node is installed",
        0.0,
        _OWN_ALONE,
        "its own recorded messages since then can be read",
        "its long-term key alone does not open recorded messages; it keeps each node's current key",
    ),
    KeyWay(
        "handshake-daily",
        "EDHOC with X25519 once a day",
        DAY_S,
        "forges its own messages until it is excluded",
        "the last day's alone can be read: forward secrecy from day to day",
        "its long-term key alone does not open recorded messages; it keeps a day's keys",
    ),
)


@dataclass(frozen=True)
class KeyPlan:
    """One way on one node.

    Attributes
    ----------
    why_not : why it does not run there; empty where it does.
    handshake_us, handshake_uj : computing and air time of one handshake, and what it draws from the battery.
    packets, air_bytes : of one handshake, both directions.
    year_uj : of all handshakes in a year; for "once" that one.
    energy_percent : this next to the year's whole energy without it.
    life_days : battery life with it.
    flash_bytes, ram_bytes : of the largest public-key operation, its stack included, next to the cipher.
    warning : what to know before taking it, such as where its randomness comes from.
    behind : for which operations faster code is public, and how many times its cycles are counted here.
    """

    way: KeyWay
    why_not: str
    handshake_us: float
    handshake_uj: float
    packets: int
    air_bytes: int
    year_uj: float
    energy_percent: float
    life_days: float
    flash_bytes: int
    ram_bytes: int
    warning: str
    behind: tuple[str, ...] = ()

    @property
    def runs(self) -> bool:
        """Whether the node can do it."""
        return not self.why_not


@dataclass(frozen=True)
class KeyNode:
    """The node by its parts, and the share of its battery that can be used."""

    question: Question
    device: DeviceFacts
    radio: RadioPart
    battery: BatteryPart
    regulator: RegulatorPart
    usable: float


def key_plans(
    node: KeyNode, entry: Entry, handshake: Handshake, computed: Compute, entropy: Entropy
) -> list[KeyPlan]:
    """Every way, from the weakest to the strongest.

    Parameters
    ----------
    entry : the advised cipher with the costs of its messages.
    handshake, computed : the handshake, and what the device computes for it.
    entropy : where the device's randomness comes from.
    """
    return [_plan(node, entry, way, handshake, computed, entropy) for way in KEY_WAYS]


def advised(plans: Sequence[KeyPlan]) -> KeyPlan:
    """The strongest that runs, has a source of randomness and takes at most 5 % of the energy."""
    fit = [plan for plan in plans if plan.runs and plan.energy_percent <= ENERGY_PERCENT_MAX]
    return fit[-1]


def keys_document(plans: Sequence[KeyPlan]) -> dict[str, Any]:
    """The ways as JSON, with the name of the advised one."""
    ways = []
    for plan in plans:
        fields = asdict(plan)
        ways.append({**fields.pop("way"), "runs": plan.runs, **fields})
    return {"advised": advised(plans).way.name, "energy_percent_max": ENERGY_PERCENT_MAX, "ways": ways}


def _plan(
    node: KeyNode, entry: Entry, way: KeyWay, handshake: Handshake, computed: Compute, entropy: Entropy
) -> KeyPlan:
    if way.handshake_every_s is None:
        return KeyPlan(way, "", 0.0, 0.0, 0, 0, 0.0, 0.0, entry.costs.life_days, 0, 0, "")
    why_not = _why_not(node, entry, computed, entropy)
    packets, sent_us, received_us, air_bytes = _messages(node.radio, handshake)
    cpu_us = time_us(computed.cycles, node.device.clock_hz)
    handshake_uj = _drawn_uj(node, cpu_us, sent_us, received_us)
    a_year = YEAR_S / way.handshake_every_s if way.handshake_every_s else 1.0
    year_uj = handshake_uj * a_year
    base_uj = entry.costs.energy.total_uj * YEAR_S / node.question.interval_s
    warning = "" if entropy.quality == "generator" else f"randomness: {entropy.title}; {entropy.advice}"
    return KeyPlan(
        way=way,
        why_not=why_not,
        handshake_us=cpu_us + sent_us + received_us,
        handshake_uj=handshake_uj,
        packets=packets,
        air_bytes=air_bytes,
        year_uj=year_uj,
        energy_percent=100 * year_uj / base_uj,
        life_days=_life_days(node, entry, handshake_uj, way.handshake_every_s),
        flash_bytes=computed.flash_bytes,
        ram_bytes=computed.ram_bytes,
        warning=warning,
        behind=computed.behind,
    )


def _why_not(node: KeyNode, entry: Entry, computed: Compute, entropy: Entropy) -> str:
    """The first thing that prevents a handshake: no answers, no figure, no randomness, no room."""
    if node.question.delivery == "one-way":
        return "a one-way node does not listen, and a handshake needs answers"
    if computed.missing:
        return computed.missing
    if entropy.quality == "none":
        return f"no source of randomness in the chip: {entropy.advice}"
    question, device = node.question, node.device
    flash = entry.candidate.flash_taken + computed.flash_bytes
    ram = entry.candidate.ram_taken + computed.ram_bytes
    for what, taken, budget, has in (
        ("flash", flash, question.budgets.flash_max, device.flash_bytes),
        ("RAM", ram, question.budgets.ram_max, device.ram_bytes),
    ):
        most = has if budget is None else min(has, budget)
        if taken > most:
            return f"{taken:,} bytes of {what} with the cipher's: {most:,} may be taken"
    return ""


def _messages(radio: RadioPart, handshake: Handshake) -> tuple[int, float, float, int]:
    """Packets, time on the air sent and received in us, and bytes in packets."""
    packets, times, taken = 0, [0.0, 0.0], 0
    for number, size in enumerate(handshake.flights):
        sizes = plain_form(radio, size).sizes
        packets += len(sizes)
        taken += sum(sizes)
        times[number % 2] += sum(radio.air_us[one] for one in sizes)
    return packets, times[0], times[1], taken


def _drawn_uj(node: KeyNode, cpu_us: float, sent_us: float, received_us: float) -> float:
    """What the battery gives for it: through a linear regulator or none the whole voltage counts."""
    device, radio, battery, regulator = node.device, node.radio, node.battery, node.regulator
    charge = [(device.volts, device.active_ma, cpu_us)]
    charge += [(device.volts, device.idle_ma, sent_us + received_us)]
    charge += [(radio.supply_v, radio.tx_ma, sent_us), (radio.supply_v, radio.rx_ma, received_us)]
    if regulator.kind == "switch":
        return sum(volts * ma * us for volts, ma, us in charge) * 1e-3 / regulator.efficiency
    return sum(battery.volts * ma * us for _, ma, us in charge) * 1e-3


def _life_days(node: KeyNode, entry: Entry, handshake_uj: float, every_s: float) -> float:
    charge_uj = battery_uj(node.battery) * node.usable
    message_uw = entry.costs.energy.total_uj / node.question.interval_s
    if every_s:
        seconds = charge_uj / (message_uw + handshake_uj / every_s)
    else:
        seconds = max(0.0, charge_uj - handshake_uj) / message_uw
    return min(seconds / DAY_S, shelf_days(node.battery))
