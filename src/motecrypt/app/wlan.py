"""Say what it takes to send a file over Wi-Fi, encrypted or not: bytes, frames, time and energy."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motecrypt.air.wlan import account, capture, filecost, samples
from motecrypt.air.wlan.protection import security
from motecrypt.app.selection import Selection, select
from motecrypt.base.energy import Battery, parse_battery
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cipher
from motecrypt.base.paths import open_regular, read_regular
from motecrypt.build.setup import have, need
from motecrypt.build.toolchain import native
from motecrypt.catalog.processors import processor
from motecrypt.measuring import bench
from motecrypt.measuring.experiments import transfer_wlan
from motecrypt.measuring.experiments.transfer_wlan import TransferWlan
from motecrypt.results import Results, opened
from motecrypt.results.experiments.wlan_transfer import CLOSED_FORM, WlanTransfer, answer_of, missing_note

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress

CAPTURE_LIMIT = 64_000_000
ACTIVE_MA_MAX = 10_000
HOST = "host"


@dataclass(frozen=True)
class WlanWay:
    """How a file is sent.

    Attributes
    ----------
    mode : "adhoc" or "infrastructure". security : "open", "wep" and others. signal : "good" or "poor".
    phy : "b" or "g". protocol : "tcp" or "udp". card : the sender's and the receiver's.
    seeds : runs of ns-3. closed_form : without ns-3.
    """

    mode: str = "adhoc"
    security: str = "open"
    signal: str = "good"
    phy: str = "b"
    protocol: str = "tcp"
    card: str = "wavelan"
    seeds: int = 3
    closed_form: bool = False


@dataclass(frozen=True)
class WlanSender:
    """What encrypts and sends.

    Attributes
    ----------
    devices : their names; empty: those whose compilers are installed.
    active_ma : currents while they compute, by device, where their own are not meant.
    battery : charge and voltage. processor : the energy model of this computer.
    """

    devices: Sequence[str] = ()
    active_ma: Mapping[str, float] = field(default_factory=dict)
    battery: str = "1000mAh,3.7V"
    processor: str = "sample-700mhz"


@dataclass(frozen=True)
class WlanRequest:
    """A file to send.

    Attributes
    ----------
    cipher : its name; "none": not encrypted.
    key_bits : None: the cipher's first.
    encoding : "none", "hex" or "base64".
    capture : a pcap to write, with every frame.
    """

    file: Path
    cipher: str = "none"
    key_bits: int | None = None
    encoding: str = "none"
    way: WlanWay = field(default_factory=WlanWay)
    sender: WlanSender = field(default_factory=WlanSender)
    capture: Path | None = None


@dataclass(frozen=True)
class WlanResult:
    """What it takes.

    Attributes
    ----------
    cipher : None: not encrypted.
    payload : bytes at each stage. transfer : times and energies of the radios, with the engine.
    shares : the cipher's time and energy, by device.
    capture : what was written, if it was asked for.
    """

    request: WlanRequest
    cipher: Cipher | None
    payload: account.Payload
    transfer: WlanTransfer
    shares: Sequence[account.Share]
    battery: Battery
    notes: Sequence[str]
    capture: dict[str, Any] | None

    def document(self) -> dict[str, Any]:
        """The same as JSON."""
        request, moved = self.request, asdict(self.transfer)
        way = {key: value for key, value in asdict(request.way).items() if key != "closed_form"}
        asked = {"size": self.payload.sent_bytes, **way, "walls_db": None}
        shares = (
            {**asdict(s), "energy_share": s.energy_share, "time_share": s.time_share} for s in self.shares
        )
        return {
            "file": str(request.file),
            "request": {**asked, "cipher": request.cipher, "encoding": request.encoding},
            "payload": {**asdict(self.payload), "growth": self.payload.growth},
            "engine": moved.pop("engine"),
            "transfer": {key: value for key, value in moved.items() if key != "note" or value},
            "battery_percent_radio": 100 * self.transfer.sender_joule.mean / self.battery.energy_j,
            "cipher": list(shares),
            "capture": self.capture,
            "notes": list(self.notes),
        }


def wlan(
    request: WlanRequest,
    results: Path | str | Results | None = None,
    progress: Progress | None = None,
) -> WlanResult:
    """What it takes to send a file over Wi-Fi: by ns-3, or the closed form where it is not installed.

    `results` and `progress` are as `measure` takes them.

    Raises
    ------
    InputError
        A file that cannot be read, a name that does not exist, or figures of no use.
    """
    if request.capture is not None:
        need("wlan")
    size, way, sender = _size(request.file), request.way, request.sender
    named = select([] if request.cipher == "none" else [request.cipher], devices=sender.devices)
    named.prove_own()
    catalog = named.catalog
    cipher = named.cipher if named.ciphers else None
    bits, battery = _key_bits(cipher, request.key_bits), parse_battery(sender.battery)
    cipher_bytes = filecost.ciphertext_bytes(cipher, size) if cipher else size
    sent = samples.encoded_bytes(cipher_bytes, request.encoding)
    asked = TransferWlan(sent, way.mode, way.security, way.signal, way.phy, way.protocol, way.card, way.seeds)
    host = processor(sender.processor)
    chosen = _devices(named, cipher, sender)
    shares: list[account.Share] = []
    with opened(results) as store:
        moved, notes = _moved(asked, store, way.closed_form)
        for name in chosen:
            assert cipher is not None, "without one no device is chosen"
            device, cells = catalog.device(name), filecost.cells(catalog, name, cipher.name, bits)
            measured = bench.ensure(cells, store, catalog, None, progress or (lambda *_: None))
            cost = filecost.best(device, measured.values())
            if cost is None:
                why = next((m.reason for m in measured.values() if m.status != "ok"), "no implementation")
                notes.append(f"{name}: {cipher.name} was not measured: {why}")
                continue
            radio = (moved.seconds.mean, moved.sender_joule.mean)
            shares.append(
                account.share(cost, size, device, host, *radio, battery, sender.active_ma.get(name))
            )
    if cipher and not chosen:
        notes.append(f"{cipher.name} was not timed: no compiler is installed; --device uno installs one")
    if not moved.complete:
        notes.append(f"only {moved.delivered_bytes:,} of {sent:,} bytes arrived")
    if cipher and cipher.security in ("broken", "legacy"):
        notes.append(
            f"{cipher.name} is {cipher.security}: {cipher.security_reason} ({cipher.security_source})"
        )
    notes.append("time, energy and battery are simulated or modelled; nothing was measured on the air")
    notes.append(f"{security(way.security).title}: {security(way.security).note}")
    written = None
    if request.capture is not None:
        written = _capture(request.file, cipher, bits, request.encoding, asked, request.capture)
    payload = account.payload(size, cipher_bytes, sent, way.protocol)
    return WlanResult(request, cipher, payload, moved, shares, battery, notes, written)


def _moved(asked: TransferWlan, results: Results, closed_form: bool) -> tuple[WlanTransfer, list[str]]:
    """The transfer, and what to know of it; of a large file a part is simulated."""
    notes = []
    if closed_form:
        moved = WlanTransfer.from_json(transfer_wlan.closed_outcome(asked))
        assert moved is not None, "the closed form has the shape of a stored transfer"
        moved = replace(moved, engine=CLOSED_FORM)
    else:
        part = min(asked.size, transfer_wlan.SIMULATED_BYTES)
        found = answer_of(replace(asked, size=part).ensure(results))
        assert found is not None, "a transfer is stored in its shape"
        if found.engine == CLOSED_FORM:
            notes.append(missing_note())
        more = f", {part / 1e6:g} MB and the rest in proportion" if part < asked.size else ""
        moved = replace(found.scaled(asked.size / part), engine=found.engine + more)
    return moved, notes + ([moved.note] if moved.note else [])


def _size(path: Path) -> int:
    """The file's length; nothing of it is read here, so it may be larger than memory."""
    try:
        if path.is_dir():
            raise InputError(f"{path}: is a directory; name a file")
        size = path.stat().st_size
        with open_regular(path):
            pass
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); name a file that you may read"
        ) from None
    if not size:
        raise InputError(f"{path}: is empty; name a file with at least one byte")
    return size


def _key_bits(cipher: Cipher | None, key_bits: int | None) -> int | None:
    if cipher is None:
        if key_bits is not None:
            raise InputError("--key-bits: nothing is encrypted; choose a --cipher, or omit it")
        return None
    if key_bits is not None and key_bits not in cipher.key_bits:
        known = ", ".join(map(str, cipher.key_bits))
        raise InputError(f"{cipher.name}: no key of {key_bits} bits is measured; available: {known}")
    return key_bits or cipher.key_bits[0]


def _devices(named: Selection, cipher: Cipher | None, sender: WlanSender) -> list[str]:
    """The devices asked for, with their tool sets installed; by default those whose tool sets are there."""
    if sender.devices and cipher is None:
        raise InputError("--device: nothing is encrypted; choose a --cipher to see its time")
    for device in named.devices:
        need(device.tool_set)
    here = [d for d in named.catalog.devices.values() if cipher and have(d.tool_set)]
    devices = [device.name for device in named.devices or here]
    for name, current in sender.active_ma.items():
        given = f"--active-ma '{name}={current:g}'"
        if not 0 < current <= ACTIVE_MA_MAX:
            raise InputError(f"{given}: write DEVICE=MA, as in uno=9.2 (above 0, up to {ACTIVE_MA_MAX})")
        if name == HOST:
            raise InputError(f"{given}: choose this computer's energy model with --processor")
        if name not in devices:
            raise InputError(f"{given}: no such device here; add --device {name}")
    return devices


def _capture(
    path: Path, cipher: Cipher | None, bits: int | None, encoding: str, request: TransferWlan, target: Path
) -> dict[str, Any]:
    """Encrypt the file with our own code and write every frame of its transfer."""
    if path.stat().st_size > CAPTURE_LIMIT:
        raise InputError(f"{path}: --capture takes files of up to {CAPTURE_LIMIT // 1_000_000} MB")
    data = read_regular(path, CAPTURE_LIMIT)
    key = b""
    if cipher is not None and bits is not None:
        seed = hashlib.shake_256(f"motecrypt capture {cipher.name}".encode())
        material = seed.digest(bits // 8 + cipher.nonce_bytes)
        key, nonce = material[: bits // 8], material[bits // 8 :]
        multiple = cipher.message.multiple
        if multiple > 1:
            padding = multiple - len(data) % multiple
            data += bytes([padding]) * padding
        body = native.open_cipher(cipher.name)
        body.setup(key)
        sealed, tag = body.encrypt(data, nonce)
        data = nonce + sealed + tag
    encoded = b"".join(samples.encode([data], encoding))
    written = capture.write_capture(
        target,
        capture.pieces(encoded, request.protocol),
        mode=request.mode,
        security_name=request.security,
        phy_name=request.phy,
        protocol=request.protocol,
    )
    record = {k: v for k, v in asdict(written).items() if k != "keys"}
    return record | {"cipher_key": key.hex()}
