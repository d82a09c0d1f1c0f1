"""One radio module as its serial port shows it: settings, and the command mode that changes them.

The commands and their answers follow the SRF's (Ciseco / Wireless Things): values in hex, each line
ended by a carriage return, ``OK`` or ``ERR`` as the answer, command mode left by ATDN or after five
seconds without a command. The other radios here get the same command mode, so one program serves all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from motecrypt.air.radios.catalog import Radio

GUARD_US = 1_000_000
"""Silence that must come before and after ``+++``: one second."""

COMMAND_TIMEOUT_US = 5_000_000
"""Command mode ends after this time without a command."""

LINE_MAX = 80
"""Longer command lines are answered with ERR; the longest real one, ATEK and 32 digits, has 36."""

AIR_RATES = {1: 250_000, 2: 38_400, 3: 1_200, 4: 100_000, 5: 50_000}
"""ATDR code to air rate in baud."""

FIRMWARE = "0.40B motecrypt"


@dataclass(frozen=True)
class Settings:
    """What the command mode sets. Two modules receive each other when `network` agrees."""

    packet_bytes: int
    timeout_ms: int
    baud: int
    turn_round_ms: int
    air_rate: int = 1
    network_id: int = 0x5AA5
    channel: int = 0
    encrypted: int = 0
    key: str = "0" * 32

    @classmethod
    def of(cls, radio: Radio) -> Settings:
        """The settings of a module fresh from its box."""
        baud = int(radio.value("serial_baud")) if "serial_baud" in radio.figures else 0
        return cls(
            radio.packet_bytes,
            round(radio.value("timeout_ms")),
            baud,
            round(radio.value("turn_round_us") / 1000),
        )

    def network(self) -> tuple[int, int, int, int, str]:
        """What both ends must share to receive each other."""
        key = self.key if self.encrypted else ""
        return (self.packet_bytes, self.air_rate, self.network_id, self.channel, key)


@dataclass(frozen=True)
class _Number:
    """A setting held as a number: its name, its range, its digits when printed, whether ATAC applies it."""

    name: str
    low: int
    high: int
    digits: int
    pending: bool = False


_NUMBERS = {
    "PK": _Number("packet_bytes", 1, 240, 2),
    "RO": _Number("timeout_ms", 1, 0xFFFF, 1),
    "RT": _Number("turn_round_ms", 0, 0xFF, 1),
    "DR": _Number("air_rate", 1, 5, 1, pending=True),
    "BD": _Number("baud", 0x4B0, 0x3D090, 1, pending=True),
    "CN": _Number("channel", 0, 0xFF, 1, pending=True),
    "ID": _Number("network_id", 0, 0xFFFF, 4),
    "EE": _Number("encrypted", 0, 1, 1),
}


@dataclass
class Module:
    """The state of one module: settings in force, pending and stored; data mode or command mode."""

    radio: Radio
    settings: Settings = field(init=False)
    commanding: bool = False
    serial_number: str = "00000001"

    def __post_init__(self) -> None:
        self.settings = Settings.of(self.radio)
        self._stored = self.settings
        self._pending: dict[str, int] = {}
        self._line = bytearray()

    def apply(self) -> Radio:
        """The radio's figures under the settings in force."""
        settings, radio = self.settings, self.radio
        values: dict[str, float] = {"packet_bytes": settings.packet_bytes, "timeout_ms": settings.timeout_ms}
        if settings.baud:
            values["serial_baud"] = settings.baud
        if settings.turn_round_ms != round(radio.value("turn_round_us") / 1000):
            values["turn_round_us"] = settings.turn_round_ms * 1000
        if "air_rate_baud" in radio.figures and settings.air_rate != 1:
            values["air_rate_baud"] = AIR_RATES[settings.air_rate]
        return radio.with_figures(**values)

    def enter(self) -> bytes:
        """Begin command mode; the answer that the program waits for."""
        self.commanding = True
        self._line.clear()
        return b"OK\r"

    def restart(self) -> None:
        """Lose power: what ATWR did not store is removed."""
        self.settings, self.commanding, self._pending = self._stored, False, {}
        self._line.clear()

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Bytes that came in command mode.

        Returns
        -------
        tuple[bytes, bytes]
            The answers, and what follows ATDN and so is data again.
        """
        answers = bytearray()
        for position, byte in enumerate(data):
            if byte == 0x0D:
                line = self._line.decode("latin-1").strip().upper()
                too_long = len(self._line) > LINE_MAX
                self._line.clear()
                if line or too_long:
                    answers += (b"ERR" if too_long else self._command(line).encode("latin-1")) + b"\r"
                if not self.commanding:
                    return bytes(answers), bytes(data[position + 1 :])
            elif byte != 0x0A and len(self._line) <= LINE_MAX:
                self._line.append(byte)
        return bytes(answers), b""

    def _command(self, line: str) -> str:
        if not line.startswith("AT"):
            return "ERR"
        name, argument = line[2:4], line[4:].strip()
        if name in _NUMBERS:
            return self._number(_NUMBERS[name], argument)
        plain: dict[str, Callable[[], None]] = {
            "": lambda: None,
            "AC": self._apply_pending,
            "DN": self._done,
            "RE": self._restore,
            "WR": self._write,
        }
        if name in plain:
            if argument:
                return "ERR"
            plain[name]()
            return "OK"
        if name in ("EK", "EA"):
            return self._key(name, argument)
        shown = {"VR": FIRMWARE, "SN": self.serial_number}
        return f"{shown[name]}\rOK" if name in shown and not argument else "ERR"

    def _number(self, number: _Number, argument: str) -> str:
        if not argument:
            return f"{getattr(self.settings, number.name):0{number.digits}X}\rOK"
        if len(argument) > 8 or any(digit not in "0123456789ABCDEF" for digit in argument):
            return "ERR"
        value = int(argument, 16)
        high = number.high
        if number.name == "packet_bytes":
            high = int(self.radio.value("packet_bytes_max"))
        if not number.low <= value <= high:
            return "ERR"
        if number.pending:
            self._pending[number.name] = value
        else:
            self._set(number.name, value)
        return "OK"

    def _set(self, name: str, value: int | str) -> None:
        self.settings = replace(self.settings, **{name: value})  # type: ignore[arg-type]

    def _key(self, name: str, argument: str) -> str:
        """ATEK takes 32 hex digits and gives the key back to anyone who asks; ATEA takes 16 characters."""
        if not argument:
            return f"{self.settings.key}\rOK" if name == "EK" else "ERR"
        if name == "EA":
            argument = argument.encode("latin-1").hex().upper()
        if len(argument) != 32 or any(digit not in "0123456789ABCDEF" for digit in argument):
            return "ERR"
        self._set("key", argument)
        return "OK"

    def _apply_pending(self) -> None:
        for name, value in self._pending.items():
            self._set(name, value)
        self._pending = {}

    def _done(self) -> None:
        self.commanding = False

    def _restore(self) -> None:
        self.settings, self._pending = Settings.of(self.radio), {}

    def _write(self) -> None:
        self._stored = self.settings
