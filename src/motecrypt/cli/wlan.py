"""motecrypt wlan: a file over Wi-Fi: bytes, frames, time and energy."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from motecrypt.air.wlan import account, dcf, parameters, samples
from motecrypt.air.wlan.protection import SECURITIES, security
from motecrypt.app.wlan import CAPTURE_LIMIT, WlanRequest, WlanResult
from motecrypt.app.wlan import wlan as send_file
from motecrypt.base.errors import InputError
from motecrypt.build.setup import need
from motecrypt.cli._output import (
    db_option,
    print_json,
    print_next,
    print_table,
    progress,
    table_options,
    typed_with,
)
from motecrypt.cli._request import FILE, taken

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
@click.option("--cipher", default="none", show_default=True, help="Cipher of the file, or your own folder.")
@click.option("--key-bits", type=int, help="Its key length (default: the cipher's first).")
@click.option("--encoding", type=click.Choice(samples.ENCODINGS), default="none", show_default=True)
@click.option("--mode", type=click.Choice(dcf.MODES), default="adhoc", show_default=True)
@click.option("--security", type=click.Choice(list(SECURITIES)), default="open", show_default=True)
@click.option("--signal", type=click.Choice(dcf.SIGNALS), default="good", show_default=True)
@click.option("--phy", type=click.Choice(["b", "g"]), default="b", show_default=True, help="802.11b or g.")
@click.option("--protocol", type=click.Choice(dcf.PROTOCOLS), default="tcp", show_default=True)
@click.option("--card", type=click.Choice(parameters.names("card")), default="wavelan", show_default=True)
@click.option(
    "--device",
    "devices",
    multiple=True,
    help="Device that runs the cipher, or your own folder; may be repeated.",
)
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
@click.option("--processor", default="sample-700mhz", show_default=True, help="The host's energy model.")
@click.option("--capture", type=FILE, help="Write a pcap.")
@db_option
@table_options
def command(
    file: Path | None,
    sample: str | None,
    active: Sequence[str],
    db: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Show what it takes to send a file over Wi-Fi, encrypted or not.

    Bytes and frames, the cipher's time on this host and on nodes, the transfer's time by ns-3 (the
    closed form where it is not installed), energy of processor and radio, and the battery's share.
    """
    if (sample or "").startswith(("image", "video")):
        need("wlan")
    request = taken(WlanRequest, given | {"file": _file(file, sample), "active_ma": _active_ma(active)})
    with progress("measuring") as report:
        found = send_file(request, db, report)
    if as_json:
        print_json(found.document())
    else:
        _print(found)
        print_next(_next(found))


def _next(found: WlanResult) -> str:
    """The same with a cipher; then the weaknesses of a weak one, or the frames of the transfer."""
    cipher, path = found.cipher, found.request.file
    if cipher is None:
        return typed_with("--cipher", SOUND_CIPHER)
    if cipher.security in ("broken", "legacy"):
        named = found.request.cipher
        return shlex.join(["motecrypt", "audit", named if "/" in named else cipher.name])
    if found.capture is not None or found.payload.file_bytes > CAPTURE_LIMIT:
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


def _active_ma(given: Sequence[str]) -> dict[str, float]:
    """The currents of ``uno=9.2``, in mA by device."""
    found = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            found[name] = float(value)
        except ValueError:
            raise InputError(f"--active-ma '{text}': write DEVICE=MA, as in uno=9.2") from None
    return found


def _known(value: float | None, form: str, factor: float = 1.0) -> str:
    return NOT_KNOWN if value is None else f"{factor * value:{form}}"


def _print(found: WlanResult) -> None:
    request, moved, sizes, way = found.request, found.transfer, found.payload, found.request.way
    seconds, frames, shares = moved.seconds, moved.data_frames, found.shares
    spread = f" ± {seconds.half_width:.3f}" if seconds.half_width else ""
    encrypted = f"{sizes.cipher_bytes:,} bytes (nonce or IV, padding and tag included)"
    rows = [
        ["file", f"{sizes.file_bytes:,} bytes"],
        *([["encrypted", encrypted]] if found.cipher else []),
        ["sent", f"{sizes.sent_bytes:,} bytes, {sizes.growth:.4f} of the file, {sizes.packets:,} packets"],
        ["data frames", f"{frames.mean:,.0f}, {moved.data_frame_bytes.mean:,.0f} bytes on the air"],
        ["security", f"{security(way.security).frame_bytes} bytes in each frame"],
        ["transfer", f"{seconds.mean:.3f} s{spread} ({moved.engine})"],
        ["radio, sender", f"{moved.sender_joule.mean:.3f} J"],
        ["radio, receiver", f"{moved.receiver_joule.mean:.3f} J"],
        ["battery, radio", f"{100 * moved.sender_joule.mean / found.battery.energy_j:.4f} %"],
    ]
    title = (
        f"{request.file.name} over 802.11{way.phy}, {way.mode}, {way.security}, {way.signal} signal, "
        f"{way.protocol}, card {way.card}"
    )
    text = "\n".join(found.notes)
    if (written := found.capture) is not None:
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
        assert found.cipher is not None, "a share is of its time"
        columns = ["device", f"{found.cipher.name} by", "s", "J", "% of energy", "% of time"]
        columns += ["% of battery", "energy model"]
        print_table("The cipher compared with the sender's radio", columns, table, text)
