"""What the adviser takes and gives: frozen records of plain data, units in the names.

Everything the answer depends on is in here, so that the same function can be written in another
language over the same data (`dataclasses.asdict` gives JSON). It reads neither files nor the catalog.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from motecrypt.link.lengths import LinkLengths

NEEDS = ("confidentiality", "integrity", "replay", "constant-time")
USUAL_NEEDS = NEEDS[:3]
DELIVERIES = ("unconfirmed", "confirmed", "one-way")
EXCLUDED = ("broken", "needs", "failed", "budget")


@dataclass(frozen=True)
class Point:
    """Median cycles of one implementation at one message length, or between two on the straight line."""

    message_bytes: int
    setup_cycles: float
    encrypt_cycles: float
    decrypt_cycles: float


@dataclass(frozen=True)
class Candidate:
    """One implementation in one placement, as measured.

    Attributes
    ----------
    nonce : "counter", "random" or "none": how its nonces are made.
    message_bytes_min, message_bytes_multiple : which lengths the cipher takes; others are padded.
    flash_bytes, ram_bytes, stack_bytes : beyond the same firmware with a no-op cipher; None unmeasured.
    timing_varies : whether its time differed over the random inputs: its cycles, or behind a cache its
        addresses.
    points : by message length, ascending.
    status, reason : "ok", or why it did not run, as the bench stored it; "not measured" otherwise.
    """

    cipher: str
    implementation: str
    key_bits: int
    placement: str
    cache: str
    security: str
    security_reason: str
    nonce: str
    nonce_bytes: int
    tag_bytes: int
    message_bytes_min: int
    message_bytes_multiple: int
    flash_bytes: int | None
    ram_bytes: int | None
    stack_bytes: int | None
    timing_varies: bool
    points: tuple[Point, ...]
    status: str
    reason: str

    @property
    def flash_taken(self) -> int:
        """Bytes; 0 unmeasured."""
        return self.flash_bytes or 0

    @property
    def ram_taken(self) -> int:
        """Bytes with the deepest stack; 0 unmeasured."""
        return (self.ram_bytes or 0) + (self.stack_bytes or 0)

    @property
    def name(self) -> str:
        """Cipher and implementation, and the placement where it is not the flash."""
        place = "" if self.placement == "flash" else f" in {self.placement.upper()}"
        return f"{self.cipher} {self.implementation}{place}" + (
            f" ({self.key_bits:d} bits)" if str(self.key_bits) not in self.cipher else ""
        )


@dataclass(frozen=True)
class DeviceFacts:
    """A device: clock, memories, supply range, currents in mA.

    Attributes
    ----------
    of : "board", the stock board, or "chip", the chip alone.
    sleeps : whether the program sleeps between messages.
    store_byte_us : time to write a byte of the storage that the link keeps its counters in.
    unknown : which of `idle_ma` (then the active current), `wake_us` and `store_byte_us` (then 0) its folder
        lacks.
    """

    name: str
    title: str
    of: str
    clock_hz: int
    flash_bytes: int
    ram_bytes: int
    volts: float
    volts_min: float
    volts_max: float
    active_ma: float
    idle_ma: float
    sleep_ma: float
    sleeps: bool
    wake_us: float
    store_byte_us: float
    message_bytes_max: int
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class RadioPart:
    """A radio. `air_us[n]` is the air time of one packet with n payload bytes; [0] is 0.
    `duty_percent` is how much of an hour its band lets one sender be on the air; 100 where nothing is
    known to limit it. `unknown`: which of `sleep_ma` and `wake_us` its file lacks; they are 0 then."""

    name: str
    title: str
    packet_bytes: int
    timeout_us: float
    serial_byte_us: float
    gap_us: float
    turn_round_us: float
    supply_v: float
    tx_ma: float
    rx_ma: float
    sleep_ma: float
    wake_us: float
    duty_percent: float
    air_us: tuple[float, ...]
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class SuiteWork:
    """What the link computes with one cipher, in units of its work; see data/link.toml."""

    base: int
    block: int
    block_bytes: int
    part_blocks: bool
    derive: int
    prove: int
    setup: bool


@dataclass(frozen=True)
class LinkFacts(LinkLengths):
    """What the secure link sends, keeps and computes; see data/link.toml. `suites` by the cipher's name."""

    answer_ms: int
    tries: int
    short_after_answer: int
    long_every: int
    claim_sent: int
    claim_received: int
    save_bytes_changed: int
    suites: Mapping[str, SuiteWork]


@dataclass(frozen=True)
class BatteryPart:
    """Cells in series as one battery.

    Attributes
    ----------
    capacity_mah : at the low currents of a node, to `volts_empty`.
    volts, volts_full, volts_empty : of the whole battery.
    self_discharge_percent_per_year : of the rated capacity.
    shelf_years : the longest life at any load; 0 where no such figure is published.
    pulse_ma : the largest current it can give for some milliseconds.
    curve : (volts of the whole battery, fraction of the charge that is used by then), falling volts.
    """

    name: str
    title: str
    cells: int
    capacity_mah: float
    volts: float
    volts_full: float
    volts_empty: float
    self_discharge_percent_per_year: float
    shelf_years: float
    pulse_ma: float
    curve: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class RegulatorPart:
    """What is between battery and device: `kind` is "none", "linear" or "switch"; `efficiency` counts
    for the last only."""

    name: str
    kind: str
    title: str
    efficiency: float
    quiescent_ma: float
    dropout_v: float
    volts_in_min: float
    volts_in_max: float


@dataclass(frozen=True)
class Budgets:
    """What a cipher may take; None: any.

    Attributes
    ----------
    flash_max, ram_max : bytes; RAM with its deepest stack.
    latency_us_max : from the message in memory to its last byte out of the receiver's radio.
    overhead_max : bytes added to the message before the radio.
    """

    flash_max: int | None = None
    ram_max: int | None = None
    latency_us_max: float | None = None
    overhead_max: int | None = None


@dataclass(frozen=True)
class Question:
    """What is asked.

    Attributes
    ----------
    message_bytes, answer_bytes : bytes of an application's message sent, and of one received for each
        (0: none). The link's own answers are counted by themselves.
    interval_s : seconds from one message to the next.
    delivery : of `DELIVERIES`: "confirmed" is answered by the gateway, "unconfirmed" is not, and a
        "one-way" node never listens.
    loss : the share of packets that are lost, each way, below 1.
    needs : of `NEEDS`. With "replay" the secure link carries the message; without, the cipher alone does.
    """

    message_bytes: int
    interval_s: float
    answer_bytes: int = 0
    delivery: str = "unconfirmed"
    loss: float = 0.0
    budgets: Budgets = Budgets()
    needs: tuple[str, ...] = USUAL_NEEDS

    @property
    def linked(self) -> bool:
        """Whether the secure link carries the message."""
        return "replay" in self.needs

    def document(self) -> dict[str, Any]:
        """The same as JSON, with its budgets next to the others."""
        fields = asdict(self)
        budgets, needs = fields.pop("budgets"), fields.pop("needs")
        return {**fields, **budgets, "needs": needs}


@dataclass(frozen=True)
class EnergyShares:
    """Microjoules drawn from the battery for one message and the time until the next.

    Attributes
    ----------
    cpu_uj : encrypting, deriving keys, checking answers.
    store_uj : writing the link's counters.
    send_uj, receive_uj : the radio, with the device idling meanwhile.
    between_uj : device and radio until the next message, asleep where the program sleeps.
    wake_uj : device and radio.
    regulator_uj : what regulating loses, and its own current.
    self_discharge_uj : what the battery loses by itself meanwhile.
    total_uj : the sum.
    """

    cpu_uj: float
    store_uj: float
    send_uj: float
    receive_uj: float
    between_uj: float
    wake_uj: float
    regulator_uj: float
    self_discharge_uj: float
    total_uj: float

    @property
    def cpu_percent(self) -> float:
        """The share of computing, in per cent."""
        return self.cpu_uj / self.total_uj * 100


@dataclass(frozen=True)
class MessageCosts:
    """What one message costs: of a candidate, or of plaintext.

    Attributes
    ----------
    form : "short" or "long" where the link carries the usual message, "stored" where it is a record in a
        storage, "alone" otherwise.
    packet_sizes : bytes of each packet of the usual message, the first time that it is sent.
    sealed_bytes : what of these is not filling; `overhead_bytes` of them are not the message, `tag_bytes`
        of those the tag.
    packets_mean, cycles, cpu_us, air_time_us : means over all messages, with long ones between short
        ones, repetitions and answers. `air_time_us` is the node's own.
    latency_us : of the usual message, when nothing is lost. busy_us : the mean from wake-up to rest.
    lost : the share of messages that do not arrive or, confirmed, are given up.
    """

    form: str
    packet_sizes: tuple[int, ...]
    sealed_bytes: int
    overhead_bytes: int
    tag_bytes: int
    packets_mean: float
    cycles: float
    setup_us: float
    cpu_us: float
    air_time_us: float
    latency_us: float
    busy_us: float
    lost: float
    energy: EnergyShares
    life_days: float

    @property
    def packets(self) -> int:
        """Packets of the usual message, sent once."""
        return len(self.packet_sizes)

    @property
    def air_bytes(self) -> int:
        """Bytes handed to the radio for the usual message, sent once."""
        return sum(self.packet_sizes)

    def per_kb(self, message_bytes: int) -> dict[str, float]:
        """Time and energy to encrypt 1,024 bytes of data in such messages."""
        share = 1024 / message_bytes
        return {"cpu_us_per_kb": self.cpu_us * share, "cpu_uj_per_kb": self.energy.cpu_uj * share}


@dataclass(frozen=True)
class Entry:
    """One ranked candidate with its reason."""

    rank: int
    candidate: Candidate
    costs: MessageCosts
    more_energy_percent: float
    weight: float
    reason: str


@dataclass(frozen=True)
class Exclusion:
    """One candidate that is not ranked. `budgets` names those it breaks; empty: no budget helps.
    `excess` is the largest of need over budget among them. `failed`: it has no figures, and would be in
    the running with some. `unmeasured`: nobody has tried it yet, at this length."""

    candidate: Candidate
    budgets: tuple[str, ...]
    reason: str
    excess: float = 0.0
    failed: bool = False
    unmeasured: bool = False

    @property
    def group(self) -> str:
        """Which of `EXCLUDED` it belongs to."""
        if self.candidate.security == "broken":
            return "broken"
        return "failed" if self.failed else "budget" if self.budgets else "needs"


@dataclass(frozen=True)
class Advice:
    """The answer.

    Attributes
    ----------
    refusal : why this supply cannot run this device at all; empty otherwise.
    entries : best first. exclusions : in the order of the candidates.
    notes : what a person would miss, a sentence each.
    warnings : those of the notes that call for an action or a decision, the most important first.
    plaintext : the costs of the same messages unprotected.
    supply_volts_min : below this the device stops; `usable` is the charge that flows until then.
    """

    refusal: str
    entries: tuple[Entry, ...]
    exclusions: tuple[Exclusion, ...]
    notes: tuple[str, ...]
    plaintext: MessageCosts | None
    usable: float
    supply_volts_min: float
    warnings: tuple[str, ...] = ()
