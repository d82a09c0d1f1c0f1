"""The commands that make an export, as they are advised: what writes one is not loaded for its name."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from motecrypt.air.radios import Radio
from motecrypt.air.radios.air import air_time_us
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cipher, Device, Implementation
from motecrypt.catalog import Catalog
from motecrypt.catalog.typed import typed_cipher, typed_device, typed_path
from motecrypt.exports.targets import Target, for_device, target_for

if TYPE_CHECKING:
    from motecrypt.exports.link_node import FixedRadio

PACKET_BYTES_MIN = 12
_AVR_MESSAGE_BYTES = 216


def next_step(catalog: Catalog, device: Device, cipher: str, implementation: str, placement: str) -> str:
    """The command that exports what was advised for a device; empty where it is not ours to export."""
    meant = target_for(device, catalog)
    for body in catalog.implementations_of(cipher, device.name, ["motecrypt"]):
        if body.name != implementation:
            continue
        named = {
            "target": meant.name,
            "cipher": typed_cipher(catalog.cipher(cipher)),
            "variant": body.variant,
        }
        if not body.runs_on(meant.core) and meant.tested_on_device:
            named["device"] = typed_device(device)
        if body.runs_on(meant.core) or "device" in named:
            return export_command({**named, "placement": placement}, "")
    return ""


def export_command(named: dict[str, str], url: str) -> str:
    """The command that makes an export of a cipher, by the names of its parts."""
    words = ["motecrypt", "export", named["target"], "DIR", "--cipher", named["cipher"]]
    if "device" in named:
        words += ["--device", named["device"]]
    words += ["--variant", named["variant"]]
    if named["placement"] != "flash":
        words += ["--placement", named["placement"]]
    return shlex.join([*words, *(["--url", url] if url else [])])


@dataclass(frozen=True)
class LinkRadio:
    """The one radio that an export is for.

    Attributes
    ----------
    radio : with the packet length that was asked for.
    sends_only : whether the node never listens.
    """

    radio: Radio
    sends_only: bool = False

    @property
    def serial(self) -> bool:
        """Whether it hangs on a serial line, where packets have no length of their own."""
        return self.radio.is_serial

    @property
    def fixed(self) -> FixedRadio:
        """What is then constant."""
        from motecrypt.exports.link_node import FixedRadio, link_options

        options = link_options(serial=self.serial, sends_only=self.sends_only)
        return FixedRadio(options, self.radio.packet_bytes, self.answer_ms)

    @property
    def answer_ms(self) -> int:
        """How long an answer may take: the usual time, or four packets' on a slow radio."""
        from motecrypt.exports.link_node import ANSWER_MS

        packets_ms = 4 * float(air_time_us(self.radio, self.radio.packet_bytes)) / 1000
        return max(ANSWER_MS, 100 * math.ceil(packets_ms / 100))


def next_link_step(
    catalog: Catalog, device: Device, cipher: str, implementation: str, placement: str, radio: LinkRadio
) -> str:
    """The command that exports the link as it was advised for a device and a radio; empty where the
    implementation is not ours to export.

    Raises
    ------
    InputError
        Such packets are too long for the device.
    """
    meant = target_for(device, catalog)
    if meant.link_devices and device.simulated:
        meant = for_device(meant, device)
    for body in catalog.implementations_of(cipher, device.name, ["motecrypt"]):
        if body.name == implementation and body.runs_on(meant.core):
            check_packets(meant, radio.radio.packet_bytes)
            named = None if radio.radio.file is None else typed_path(radio.radio.file)
            words = radio_words(radio, named)
            return link_command(
                meant, typed_device(device), catalog.cipher(cipher), body, placement, "", words
            )
    return ""


def check_packets(target: Target, packet_bytes: int) -> None:
    """InputError where the link does not take such packets, or the target has no room for them."""
    if packet_bytes < PACKET_BYTES_MIN:
        raise InputError(f"packets of {packet_bytes} bytes; the link takes {PACKET_BYTES_MIN} to 255")
    if target.link.storage == "eeprom.h" and packet_bytes + 6 > _AVR_MESSAGE_BYTES:
        raise InputError(
            f"--packet-bytes {packet_bytes}: an AVR has room for packet and message of "
            f"{_AVR_MESSAGE_BYTES} bytes together"
        )


def radio_words(radio: LinkRadio | None, name: str | None = None) -> list[str]:
    """The options for a radio; a user's own one has this name, or one as if it were in the current folder."""
    if radio is None:
        return []
    own = radio.radio.file
    name = name or (radio.radio.name if own is None else f"./{own.name}")
    words = ["--radio", name, "--packet-bytes", str(radio.radio.packet_bytes)]
    return [*words, *(["--sends-only"] if radio.sends_only else [])]


def link_command(
    target: Target,
    device: str,
    cipher: Cipher,
    body: Implementation,
    placement: str,
    url: str,
    radio: list[str],
) -> str:
    """The command that makes an export of the link; `radio`: its options (`radio_words`)."""
    words = ["motecrypt", "export", target.name, "DIR", "--cipher", cipher.name]
    words += ["--device", device] if target.named_device else []
    words += ["--variant", body.variant]
    words += ["--placement", placement] if placement != "flash" else []
    words += ["--link", *radio]
    return shlex.join([*words, *(["--url", url] if url else [])])
