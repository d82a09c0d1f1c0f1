"""What the adviser takes and gives: frozen records of plain data, units in the names.

Everything the answer depends on is in here, so that the same function can be written in another
language over the same data (`dataclasses.asdict` gives JSON). Knows no files and no catalog.
"""

from __future__ import annotations

from dataclasses import dataclass

NEEDS = ("confidentiality", "integrity", "replay")
BUDGETS = ("flash", "ram", "latency", "overhead", "interval")


@dataclass(frozen=True)
class Point:
    """Median cycles of one implementation at one message length."""

    message_bytes: int
    setup_cycles: int
    encrypt_cycles: int
    decrypt_cycles: int


@dataclass(frozen=True)
class Candidate:
    """One implementation in one placement, as measured.

    Attributes
    ----------
    nonce : "counter" (only its low bytes travel), "random" (all `nonce_bytes` travel) or "none".
    message_bytes_min, message_bytes_multiple : which lengths the cipher takes; others are padded.
    flash_bytes, ram_bytes, stack_bytes : beyond the same firmware with an empty cipher; None unmeasured.
    timing_varies : whether the cycles differed over the random inputs.
    points : by message length, ascending.
    status, reason : "ok", or why it did not run, as the bench stored it; "not measured" otherwise.
    """

    cipher: str
    implementation: str
    key_bits: int
    placement: str
    cache: str
    standing: str
    standing_reason: str
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
    def name(self) -> str:
        """Cipher and implementation, and the placement where it is not the flash."""
        place = "" if self.placement == "flash" else f" in {self.placement.upper()}"
        return f"{self.cipher} {self.implementation}{place}" + (
            f" ({self.key_bits} bits)" if str(self.key_bits) not in self.cipher else ""
        )


@dataclass(frozen=True)
class DeviceFacts:
    """A device: clock, memories, supply range, currents in mA."""

    name: str
    title: str
    clock_hz: int
    flash_bytes: int
    ram_bytes: int
    volts: float
    volts_min: float
    volts_max: float
    active_ma: float
    idle_ma: float
    sleep_ma: float
    wake_us: float
    message_bytes_max: int


@dataclass(frozen=True)
class RadioPart:
    """A radio. `air_us[n]` is the air time of one packet with n payload bytes; [0] is 0."""

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
    air_us: tuple[float, ...]


@dataclass(frozen=True)
class BatteryPart:
    """Cells in series as one battery.

    Attributes
    ----------
    capacity_mah : at the low currents of a mote, to `volts_empty`.
    volts, volts_full, volts_empty : of the whole battery.
    self_discharge_percent_per_year : of the rated capacity.
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
    pulse_ma: float
    curve: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class RegulatorPart:
    """What lies between battery and device: `kind` is "none", "linear" or "switch"; `efficiency` counts
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
class Question:
    """What is asked. Budgets that are None do not count.

    Attributes
    ----------
    message_bytes, answer_bytes : plaintext bytes sent, and received in answer (0: no answer).
    interval_s : seconds from one message to the next.
    counter_bytes : low bytes of the message counter that travel with each message.
    flash_max, ram_max : bytes the cipher may take; RAM with its deepest stack.
    latency_us_max : from the message in memory to its last byte out of the receiver's radio.
    overhead_max : bytes added to the message before the radio: tag, counter or IV, block padding.
    needs : of `NEEDS`.
    """

    message_bytes: int
    interval_s: float
    answer_bytes: int = 0
    counter_bytes: int = 2
    flash_max: int | None = None
    ram_max: int | None = None
    latency_us_max: float | None = None
    overhead_max: int | None = None
    needs: tuple[str, ...] = NEEDS


@dataclass(frozen=True)
class EnergyShares:
    """Microjoules taken from the battery for one message and the time until the next.

    Attributes
    ----------
    cpu_uj : encrypting (and decrypting the answer).
    send_uj, receive_uj : the radio, with the device idling meanwhile.
    sleep_uj, wake_uj : device and radio.
    regulator_uj : what regulating loses, and its own current.
    self_discharge_uj : what the battery loses by itself meanwhile.
    total_uj : the sum.
    """

    cpu_uj: float
    send_uj: float
    receive_uj: float
    sleep_uj: float
    wake_uj: float
    regulator_uj: float
    self_discharge_uj: float
    total_uj: float


@dataclass(frozen=True)
class MessageCosts:
    """What one message costs: of a candidate, or of plaintext."""

    sealed_bytes: int
    overhead_bytes: int
    air_bytes: int
    packets: int
    cycles: float
    setup_us: float
    cpu_us: float
    air_time_us: float
    latency_us: float
    busy_us: float
    energy: EnergyShares
    life_days: float


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
    the running with some."""

    candidate: Candidate
    budgets: tuple[str, ...]
    reason: str
    excess: float = 0.0
    failed: bool = False


@dataclass(frozen=True)
class Advice:
    """The answer.

    Attributes
    ----------
    refusal : why this supply cannot run this device at all; empty otherwise.
    entries : best first. exclusions : in the order of the candidates.
    notes : what a person would miss, a sentence each.
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
