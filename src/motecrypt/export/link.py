"""One export of the secure link: its core, a cipher, storage and clock of the target, and examples.

As `library.py` for ciphers alone: a view over the catalogue and the build's own list of files.
"""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import dataclass
from typing import Any

from motecrypt import __version__
from motecrypt.catalog import Catalog
from motecrypt.errors import InputError
from motecrypt.export.checks import check_address, check_placement
from motecrypt.export.figures import ExportFigures
from motecrypt.export.library import EVERYWHERE, Export, Renderer
from motecrypt.export.sources import CONFIG, exported_inputs
from motecrypt.export.targets import Target, TargetFile, target_for
from motecrypt.model import Cipher, Device, Implementation
from motecrypt.radios import Radio
from motecrypt.radios.air import air_time_us
from motecrypt.toolchain import BuildRequest
from motecrypt.toolchain.link import STORAGE_BYTES
from motecrypt.toolchain.link_node import ANSWER_MS, FixedRadio, link_options, node_inputs, suite_of

PACKET_BYTES = {"arduino": 32, "platformio": 32}
"""The longest packet that examples have room for where no radio is named."""

PACKET_BYTES_MIN = 12
_PACKET_BYTES_ELSEWHERE = 250
_SERIAL_BYTES = 12
_AVR_MESSAGE_BYTES = 216
_TITLES = {"aes128-ccm": "AES-128-CCM", "ascon-aead128": "Ascon-AEAD128"}


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
        return self.radio.serial_byte_us > 0

    @property
    def fixed(self) -> FixedRadio:
        """What is then constant."""
        options = link_options(serial=self.serial, sends_only=self.sends_only)
        return FixedRadio(options, self.radio.packet_bytes, self.answer_ms)

    @property
    def answer_ms(self) -> int:
        """How long an answer may take: the usual time, or four packets' on a slow radio."""
        packets_ms = 4 * float(air_time_us(self.radio, self.radio.packet_bytes)) / 1000
        return max(ANSWER_MS, 100 * math.ceil(packets_ms / 100))


def plan_link(
    catalog: Catalog,
    target: Target,
    cipher: Cipher,
    body: Implementation,
    *,
    placement: str = "flash",
    url: str = "",
    radio: LinkRadio | None = None,
) -> Export:
    """All files of an export of the link.

    Parameters
    ----------
    radio
        The one that it is for; None: any.

    Raises
    ------
    InputError
        When the link has no such cipher, the implementation does not take that placement, or the packets are
        longer than an AVR holds.
    """
    suite = suite_of(cipher)
    device = catalog.device(target.device)
    check_placement(placement, device, body)
    check_address(url, "--url")
    fixed = radio.fixed if radio else None
    if fixed:
        _check_packets(target, fixed.packet_bytes)
    names = [suite, body.variant, *([] if placement == "flash" else [placement])]
    if radio:
        names += [radio.radio.name, str(radio.radio.packet_bytes), *(["sends"] if radio.sends_only else [])]
    words = ["link", *(word for word in re.split(r"[^A-Za-z0-9]+", "-".join(names)) if word)]
    folder = "_".join(["mc", *words]).lower()
    prefix = f"{folder}_"
    class_name = "Mc" + "".join(word[:1].upper() + word[1:] for word in words)
    request = BuildRequest(device, body, placement)
    given = node_inputs(request, suite, fixed, target.link.storage, target.link.boards)
    copied = exported_inputs(given, ("node.h",), prefix)
    packet_bytes = fixed.packet_bytes if fixed else PACKET_BYTES.get(target.name, _PACKET_BYTES_ELSEWHERE)
    command = _command(target, cipher, body, placement, url, radio)
    context: dict[str, Any] = {
        "target": target,
        "tool": f"motecrypt {__version__}",
        "version": __version__,
        "name": f"motecrypt-{'-'.join(words).lower()}",
        "suite": {"name": suite, "title": _TITLES[suite]},
        "cipher": cipher,
        "variant": body.variant,
        "folder": folder,
        "prefix": prefix,
        "class_name": class_name,
        "config": CONFIG,
        "headers": copied.headers,
        "compiled": copied.compiled,
        "flags": [*device.compiler.flags, *body.c_flags],
        "fixed": fixed,
        "packet_bytes": packet_bytes,
        "serial_bytes": fixed.packet_bytes if radio and fixed and radio.serial else _SERIAL_BYTES,
        "wide_bytes": fixed.packet_bytes if fixed else _PACKET_BYTES_ELSEWHERE,
        "answer_ms": fixed.answer_ms if fixed else ANSWER_MS,
        "storage_bytes": STORAGE_BYTES,
        "provision": _provision(target, radio),
        "radio_words": shlex.join(_radio_words(radio)) if radio else "--radio srf",
        "url": url,
        "own": "",
        "broken": False,
        "command": command,
    }
    render = Renderer(target)
    files = {f"{target.sources}/{folder}/{name}": text.encode() for name, text in copied.files.items()}
    files[f"{target.sources}/{folder}.h"] = render("link/interface.h", context)
    files["README.md"] = render("link/README.md", context)
    files["LICENSE"] = render(EVERYWHERE["LICENSE"], context)
    for file in target.link.files:
        if _fits(file, radio):
            files[file.path.replace("{class}", class_name)] = render(file.template, context)
    about = {
        "motecrypt": __version__,
        "target": target.name,
        "cipher": cipher.name,
        "variant": body.variant,
        "placement": placement,
        "link": 2,
        "prefix": prefix,
    }
    return Export(str(context["name"]), prefix, class_name, cipher, body, files, ExportFigures(), about)


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
    for body in catalog.implementations_of(cipher, device.name, ["motecrypt"]):
        if body.name == implementation and body.runs_on(meant.core):
            _check_packets(meant, radio.radio.packet_bytes)
            return _command(meant, catalog.cipher(cipher), body, placement, "", radio)
    return ""


def _check_packets(target: Target, packet_bytes: int) -> None:
    if packet_bytes < PACKET_BYTES_MIN:
        raise InputError(f"packets of {packet_bytes} bytes; the link takes {PACKET_BYTES_MIN} to 255")
    if target.link.storage == "eeprom.h" and packet_bytes + 6 > _AVR_MESSAGE_BYTES:
        raise InputError(
            f"--packet-bytes {packet_bytes}: an AVR has room for packet and message of "
            f"{_AVR_MESSAGE_BYTES} bytes together"
        )


def _fits(file: TargetFile, radio: LinkRadio | None) -> bool:
    """Whether a file is for the radio: an example for another one would stay silent."""
    if radio is None or not file.radios:
        return True
    kinds = ("serial",) if radio.serial else (radio.radio.name,)
    return bool(set(kinds) & set(file.radios)) and not (radio.sends_only and "listens" in file.kinds)


def _radio_words(radio: LinkRadio) -> list[str]:
    words = ["--radio", radio.radio.name, "--packet-bytes", str(radio.radio.packet_bytes)]
    return [*words, *(["--sends-only"] if radio.sends_only else [])]


def _provision(target: Target, radio: LinkRadio | None) -> str:
    """The options of the README's `provision`, for the radio asked for."""
    if radio is None:
        return target.link.provision
    shown = shlex.split(target.link.provision)
    return shlex.join([*_radio_words(radio), *shown[shown.index("--radio") + 2 :]])


def _command(
    target: Target, cipher: Cipher, body: Implementation, placement: str, url: str, radio: LinkRadio | None
) -> str:
    words = ["motecrypt", "export", target.name, "DIR", "--cipher", cipher.name, "--variant", body.variant]
    words += ["--placement", placement] if placement != "flash" else []
    words += ["--link", *(_radio_words(radio) if radio else [])]
    return shlex.join([*words, *(["--url", url] if url else [])])
