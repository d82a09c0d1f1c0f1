"""motecrypt wlan: a file over Wi-Fi: bytes, frames, time and energy."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from motecrypt.air.wlan import account, capture, dcf, filecost, parameters, samples
from motecrypt.air.wlan.protection import SECURITIES, security
from motecrypt.app.selection import match_ciphers
from motecrypt.base.energy import Battery, parse_battery
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cipher
from motecrypt.base.paths import open_regular, read_regular
from motecrypt.build.setup import have, need
from motecrypt.build.toolchain import native
from motecrypt.catalog import Catalog
from motecrypt.catalog.processors import processor
from motecrypt.cli._output import (
    db_option,
    open_results,
    print_json,
    print_next,
    print_table,
    progress,
    table_options,
    typed_with,
)
from motecrypt.measuring import bench
from motecrypt.measuring.experiments import transfer_wlan
from motecrypt.measuring.experiments.transfer_wlan import TransferWlan
from motecrypt.results.findings.wlan_transfer import CLOSED_FORM, WlanTransfer, answer_of, missing_note

CAPTURE_LIMIT = 64_000_000
ACTIVE_MA_MAX = 10_000
HOST = "host"
NOT_KNOWN = "not known"
SOUND_CIPHER = "ascon-aead128"
"""The cipher that the next command adds where nothing is encrypted."""


@click.command(
    epilog="Example: motecrypt wlan report.txt --cipher aes128-ctr --mode adhoc --security wep --signal poor"
)
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--sample", help="Instead of a file: a generated one, such as text:2M, image:100k, audio:1M, video:5M."
)
@click.option("--cipher", "cipher_name", default="none", show_default=True, help="Cipher of the file.")
@click.option("--key-bits", type=int, default=None, help="Its key length (default: the cipher's first).")
@click.option("--encoding", type=click.Choice(samples.ENCODINGS), default="none", show_default=True)
@click.option("--mode", type=click.Choice(dcf.MODES), default="adhoc", show_default=True)
@click.option(
    "--security", "security_name", type=click.Choice(list(SECURITIES)), default="open", show_default=True
)
@click.option("--signal", type=click.Choice(dcf.SIGNALS), default="good", show_default=True)
@click.option("--phy", type=click.Choice(["b", "g"]), default="b", show_default=True, help="802.11b or g.")
@click.option("--protocol", type=click.Choice(dcf.PROTOCOLS), default="tcp", show_default=True)
@click.option("--card", type=click.Choice(parameters.names("card")), default="wavelan", show_default=True)
@click.option("--device", "devices", multiple=True, help="Device that runs the cipher; may be repeated.")
@click.option(
    "--active-ma",
    "active",
    multiple=True,
    metavar="DEVICE=MA",
    help="A device's current while it computes, in mA, such as uno=9.2; may be repeated.",
)
@click.option("--seeds", type=click.IntRange(1, 50), default=3, show_default=True, help="Runs of ns-3.")
@click.option("--closed-form", is_flag=True, help="Use the closed form, without ns-3.")
@click.option("--battery", default="1000mAh,3.7V", show_default=True, help="Charge and voltage.")
@click.option(
    "--processor", "cpu", default="sample-700mhz", show_default=True, help="The host's energy model."
)
@click.option(
    "--capture", "capture_path", type=click.Path(path_type=Path, dir_okay=False), help="Write a pcap."
)
@db_option
@table_options
def command(
    file: Path | None,
    sample: str | None,
    cipher_name: str,
    key_bits: int | None,
    encoding: str,
    mode: str,
    security_name: str,
    signal: str,
    phy: str,
    protocol: str,
    card: str,
    devices: Sequence[str],
    active: Sequence[str],
    seeds: int,
    closed_form: bool,
    battery: str,
    cpu: str,
    capture_path: Path | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Show what it takes to send a file over Wi-Fi, encrypted or not.

    Bytes and frames, the cipher's time on this host and on motes, the transfer's time by ns-3 (the
    closed form where it is not installed), energy of processor and radio, and the battery's share.
    """
    if capture_path is not None or (sample or "").startswith(("image", "video")):
        need("wlan")
    path = _file(file, sample)
    size = _size(path)
    catalog = Catalog.load()
    cipher = None if cipher_name == "none" else _cipher(catalog, cipher_name)
    bits = _key_bits(cipher, key_bits)
    cells_battery = parse_battery(battery)
    cipher_bytes = filecost.ciphertext_bytes(cipher, size) if cipher else size
    sent = samples.encoded_bytes(cipher_bytes, encoding)
    request = TransferWlan(sent, mode, security_name, signal, phy, protocol, card, seeds)
    host = processor(cpu)
    if devices and cipher is None:
        raise InputError("--device: nothing is encrypted; choose a --cipher to see its time")
    chosen = _devices(catalog, devices) if cipher else []
    active_ma = _active_ma(active, chosen)
    with open_results(db) as results:
        notes: list[str] = []
        if closed_form:
            engine, moved = CLOSED_FORM, WlanTransfer.from_json(transfer_wlan.closed_outcome(request))
        else:
            part = min(sent, transfer_wlan.SIMULATED_BYTES)
            finding = replace(request, size=part).ensure(results)
            moved = answer_of(finding)
            assert moved is not None, "a transfer is stored in its shape"
            if moved.engine == CLOSED_FORM:
                notes.append(missing_note())
            engine, moved = moved.engine, moved.scaled(sent / part)
            if part < sent:
                engine += f", {part / 1e6:g} MB and the rest in proportion"
        assert moved is not None, "the closed form has the shape of a stored transfer"
        if moved.note:
            notes.append(moved.note)
        shares = []
        for name in chosen:
            cells = filecost.cells(catalog, name, cipher.name, bits) if cipher else []
            with progress("measuring") as report:
                measured = bench.ensure(cells, results, catalog, None, report)
            device = catalog.device(name)
            cost = filecost.best(device, measured.values())
            if cost is None:
                why = next((m.reason for m in measured.values() if m.status != "ok"), "no implementation")
                notes.append(f"{name}: {cipher_name} was not measured: {why}")
            else:
                shares.append(
                    account.share(
                        *(cost, size, device, host, moved.seconds.mean, moved.sender_joule.mean),
                        *(cells_battery, active_ma.get(name)),
                    )
                )
    if cipher and not chosen:
        notes.append(f"{cipher.name} was not timed: no compiler is installed; --device uno installs one")
    sizes = account.payload(size, cipher_bytes, sent, protocol)
    if not moved.complete:
        notes.append(f"only {moved.delivered_bytes:,} of {sent:,} bytes arrived")
    if cipher and cipher.standing in ("broken", "legacy"):
        notes.append(
            f"{cipher.name} is {cipher.standing}: {cipher.standing_reason} ({cipher.standing_source})"
        )
    notes.append("time, energy and battery are simulated or modelled; nothing was measured on the air")
    notes.append(f"{security(security_name).title}: {security(security_name).note}")
    written = None
    if capture_path is not None:
        written = _capture(path, cipher, bits, encoding, request, capture_path)
    if as_json:
        print_json(
            {
                "file": str(path),
                "request": asdict(request) | {"cipher": cipher_name, "encoding": encoding},
                "payload": asdict(sizes) | {"growth": sizes.growth},
                "engine": engine,
                "transfer": {k: v for k, v in asdict(moved).items() if k != "engine" and (k != "note" or v)},
                "battery_percent_radio": 100 * moved.sender_joule.mean / cells_battery.energy_j,
                "cipher": [
                    asdict(s) | {"energy_share": s.energy_share, "time_share": s.time_share} for s in shares
                ],
                "capture": written,
                "notes": notes,
            }
        )
        return
    _print(path, request, cipher_name, sizes, engine, moved, shares, cells_battery, notes, written)
    print_next(_next(path, cipher, captured=written is not None))


def _next(path: Path, cipher: Cipher | None, *, captured: bool) -> str:
    """The same with a cipher; then the weaknesses of a weak one, or the frames of the transfer."""
    if cipher is None:
        return typed_with("--cipher", SOUND_CIPHER)
    if cipher.standing in ("broken", "legacy"):
        return shlex.join(["motecrypt", "audit", cipher.name])
    if captured or _size(path) > CAPTURE_LIMIT:
        return shlex.join(["motecrypt", "file", "encrypt", str(path), f"{path.name}.enc"])
    return typed_with("--capture", "transfer.pcap")


def _file(file: Path | None, sample: str | None) -> Path:
    if (file is None) == (sample is None):
        raise InputError("name one file, or use a generated one with --sample text:2M")
    if sample is not None:
        kind, _, size = sample.partition(":")
        return samples.sample(kind, account.parse_size(size or "1M"))
    assert file is not None
    return file


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
    if size == 0:
        raise InputError(f"{path}: is empty; name a file with at least one byte")
    return size


def _cipher(catalog: Catalog, name: str) -> Cipher:
    return catalog.cipher(match_ciphers(catalog, name)[0])


def _key_bits(cipher: Cipher | None, key_bits: int | None) -> int | None:
    if cipher is None:
        if key_bits is not None:
            raise InputError("--key-bits: nothing is encrypted; choose a --cipher, or omit it")
        return None
    if key_bits is not None and key_bits not in cipher.key_bits:
        known = ", ".join(map(str, cipher.key_bits))
        raise InputError(f"{cipher.name}: no key of {key_bits} bits is measured; available: {known}")
    return key_bits or cipher.key_bits[0]


def _devices(catalog: Catalog, devices: Sequence[str]) -> list[str]:
    """The devices asked for, with their kits installed; by default those whose kits are there."""
    if not devices:
        return [name for name, device in catalog.devices.items() if have(device.kit)]
    for name in devices:
        need(catalog.device(name).kit)
    return list(dict.fromkeys(devices))


def _active_ma(given: Sequence[str], devices: Sequence[str]) -> dict[str, float]:
    """The currents of ``uno=9.2``, in mA by device; InputError for other text, or of no use."""
    found = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            current = float(value)
        except ValueError:
            current = 0.0
        if not 0 < current <= ACTIVE_MA_MAX:
            raise InputError(
                f"--active-ma '{text}': write DEVICE=MA, as in uno=9.2 (above 0, up to {ACTIVE_MA_MAX})"
            )
        if name == HOST:
            raise InputError(f"--active-ma '{text}': choose this computer's energy model with --processor")
        if name not in devices:
            raise InputError(f"--active-ma '{text}': no such device here; add --device {name}")
        found[name] = current
    return found


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


def _known(value: float | None, form: str, factor: float = 1.0) -> str:
    return NOT_KNOWN if value is None else f"{factor * value:{form}}"


def _print(
    path: Path,
    request: TransferWlan,
    cipher_name: str,
    sizes: account.Payload,
    engine: str,
    moved: WlanTransfer,
    shares: Sequence[account.Share],
    battery: Battery,
    notes: Sequence[str],
    written: dict[str, Any] | None,
) -> None:
    seconds, frames = moved.seconds, moved.data_frames
    spread = f" ± {seconds.half_width:.3f}" if seconds.half_width else ""
    encrypted = f"{sizes.cipher_bytes:,} bytes (nonce or IV, padding and tag included)"
    rows = [
        ["file", f"{sizes.file_bytes:,} bytes"],
        *([["encrypted", encrypted]] if cipher_name != "none" else []),
        ["sent", f"{sizes.sent_bytes:,} bytes, {sizes.growth:.4f} of the file, {sizes.packets:,} packets"],
        [
            "data frames",
            f"{frames.mean:,.0f}, {moved.data_frame_bytes.mean:,.0f} bytes on the air",
        ],
        ["security", f"{security(request.security).frame_bytes} bytes in each frame"],
        ["transfer", f"{seconds.mean:.3f} s{spread} ({engine})"],
        ["radio, sender", f"{moved.sender_joule.mean:.3f} J"],
        ["radio, receiver", f"{moved.receiver_joule.mean:.3f} J"],
        ["battery, radio", f"{100 * moved.sender_joule.mean / battery.energy_j:.4f} %"],
    ]
    title = (
        f"{path.name} over 802.11{request.phy}, {request.mode}, {request.security}, {request.signal} signal, "
        f"{request.protocol}, card {request.card}"
    )
    text = "\n".join(notes)
    if written is not None:
        quoted = " ".join(f"'{part}'" if " " in part or '"' in part else part for part in written["tshark"])
        text += f"\ncapture: {written['frames']:,} frames; tshark -r {written['path']} {quoted}"
    print_table(title, ["what", "how much"], rows, "" if shares else text)
    if shares:
        table = [
            [
                *(s.device, s.implementation, f"{s.cipher_seconds:.4g}", _known(s.cipher_joule, ".4g")),
                *(_known(s.energy_share, ".2f", 100), f"{100 * s.time_share:.2f}"),
                *(_known(s.battery_percent, ".4f"), s.energy_model),
            ]
            for s in shares
        ]
        columns = [
            "device",
            f"{cipher_name} by",
            "s",
            "J",
            "% of energy",
            "% of time",
            "% of battery",
            "energy model",
        ]
        print_table("The cipher compared with the sender's radio", columns, table, text)
