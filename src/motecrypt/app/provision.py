"""Give a node its number and its keys, from the gateway's master key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from motecrypt.air.radios import Radio
from motecrypt.base.errors import InputError
from motecrypt.build.setup import need
from motecrypt.exports.link_node import link_options
from motecrypt.link.gateway.opening import open_registry, record_of
from motecrypt.link.gateway.protocols.coap.context import CONTEXT_BYTES, new_context
from motecrypt.link.gateway.registry import NodeRegistry
from motecrypt.link.native import BROADCAST, STORAGE_BYTES, TAG_16
from motecrypt.link.prebuilt import core_needs
from motecrypt.link.provisioning import (
    FLASH_OFFSET,
    block_text,
    eeprom_hex,
    flash_image,
    new_folder,
    qr_png,
    uf2,
    whole_eeprom,
    write_private,
)
from motecrypt.link.told import NodeEntry


@dataclass(frozen=True)
class KeyFiles:
    """Files to write, each new, and readable by you alone.

    Attributes
    ----------
    eep : an EEPROM image for avrdude (Intel HEX). eeprom : a simulated UNO's EEPROM.
    eeprom_at : the first address of these.
    uf2 : two flash sectors for a Pico's drive, at `flash_offset`. flash : the same as they are.
    image : the storage itself, for a node in plain C.
    png : the key block as a QR code.
    """

    eep: Path | None = None
    eeprom: Path | None = None
    eeprom_at: int = 0
    uf2: Path | None = None
    flash_offset: int = FLASH_OFFSET
    flash: Path | None = None
    image: Path | None = None
    png: Path | None = None

    def forms(self) -> list[tuple[Path, Callable[[bytes], bytes]]]:
        """Each file that is asked for, and what makes its content of a storage."""
        known = (
            (self.eep, partial(eeprom_hex, at=self.eeprom_at)),
            (self.eeprom, partial(whole_eeprom, at=self.eeprom_at)),
            (self.uf2, partial(uf2, offset=self.flash_offset)),
            (self.flash, flash_image),
            (self.image, bytes),
            (self.png, lambda storage: qr_png(block_text(storage))),
        )
        return [(path, form) for path, form in known if path is not None]


@dataclass(frozen=True)
class ProvisionRequest:
    """A node, and how it gets its keys.

    Attributes
    ----------
    node : 0 to 62, or 63 for the broadcast group.
    radio : the node's: `load_radio(name, packet_bytes)`.
    sends_only : the node never listens.
    member : one more member of the group, with the existing key.
    long_tags : tags of 16 bytes in long messages.
    oscore : a new folder for an OSCORE context's client.
    shown : the key block is shown to the node, as text or as a QR code.
    """

    node: int
    radio: Radio
    files: KeyFiles = field(default_factory=KeyFiles)
    sends_only: bool = False
    member: bool = False
    long_tags: bool = False
    oscore: Path | None = None
    shown: bool = False


@dataclass(frozen=True)
class ProvisionResult:
    """What the node got. `block` is its key block: a secret."""

    node: int
    generation: int
    options: int
    packet_bytes: int
    files: Sequence[Path]
    block: str


def registered(key_file: Path, state: Path | None, radio: Radio) -> Sequence[NodeEntry]:
    """The nodes of a gateway's record, with their generations and what their key blocks say."""
    with closing(_opened(key_file, state, radio)) as nodes:
        return nodes.entries()


def _opened(key_file: Path, state: Path | None, radio: Radio) -> NodeRegistry:
    if not 12 <= radio.packet_bytes <= 255:
        raise InputError(f"packets of {radio.packet_bytes} bytes; the link takes 12 to 255")
    need(*core_needs())
    return open_registry(key_file, state, radio.packet_bytes)


def provision(request: ProvisionRequest, key_file: Path, state: Path | None = None) -> ProvisionResult:
    """Give a node new keys, and note it in the gateway's record. Its earlier keys are no longer taken.

    `key_file` has the gateway's master key; `state` is its record of nodes, by default next to its key. A
    gateway that serves that record makes the change, while messages flow.

    Raises
    ------
    InputError
        What excludes each other, a file that is there already, another program that has the record, or what
        a gateway that serves it refuses.
    MotecryptError
        That gateway ended, or cannot write its record.
    """
    node, files = request.node, request.files
    with closing(_opened(key_file, state, request.radio)) as nodes:
        context = None
        if request.oscore is not None:
            _check_context(request, nodes.suite)
            context = new_context(node)
        forms = _checked_forms(request, record_of(key_file, state))
        for path, form in forms.items():
            if path != files.png:
                form(bytes(STORAGE_BYTES + (CONTEXT_BYTES if context else 0)))  # before a generation is used
        if files.png:
            need("qr")
        options = link_options(serial=request.radio.serial_byte_us > 0, sends_only=request.sends_only)
        client_files = context.client_files(request.oscore) if context and request.oscore else {}
        storage = b""

        def make() -> dict[Path, bytes]:
            nonlocal storage
            tags = TAG_16 if request.long_tags else 0
            storage = nodes.member() if request.member else nodes.provision(node, options | tags, True)
            whole = context.stored(storage) if context else storage
            return {**{path: form(whole) for path, form in forms.items()}, **client_files}

        with new_folder(request.oscore) if request.oscore else nullcontext():
            write_private(make, [*forms, *client_files])
    generation = int.from_bytes(storage[4:6], "little")
    made = (*forms, *client_files)
    return ProvisionResult(node, generation, storage[2], storage[3], made, block_text(storage))


def _check_context(request: ProvisionRequest, suite: str) -> None:
    """InputError where the node can have no OSCORE context."""
    files = request.files
    if request.node == BROADCAST:
        raise InputError("--oscore: a context is for one node; name its number")
    if suite != "aes128-ccm":
        raise InputError(
            f"--oscore: AES-CCM is required, and this gateway's nodes use {suite}; use another key"
        )
    if request.sends_only:
        raise InputError("--oscore: a node that never listens cannot be asked; omit --sends-only")
    others = (files.uf2, files.flash, files.image, files.png)
    if not (files.eep or files.eeprom) or request.shown or any(others):
        raise InputError(
            "--oscore: only --eep and --eeprom hold a context; give one of them, and no other form"
        )


def _checked_forms(request: ProvisionRequest, record: Path) -> dict[Path, Callable[[bytes], bytes]]:
    """What makes the content of each file; InputError where keys cannot go to a node in this way."""
    kept = {record.with_name(record.name + suffix).resolve() for suffix in ("", ".new", ".lock", ".socket")}
    forms: dict[Path, Callable[[bytes], bytes]] = {}
    for path, form in request.files.forms():
        if path.resolve() in kept:
            raise InputError(f"{path}: belongs to the gateway's record; give another name")
        if path in forms:
            raise InputError(f"{path}: named twice; give each format its own file")
        forms[path] = form
    if request.member and request.node != BROADCAST:
        raise InputError("--member: a node has its own keys; the option is for 'group'")
    if request.sends_only and request.node == BROADCAST:
        raise InputError("--sends-only: a group's members only receive; omit it")
    if request.member and (request.shown or request.files.png):
        raise InputError(
            "--member: a key block has no counters, so old messages could be replayed; "
            "give --eep, --eeprom, --uf2, --flash or --image"
        )
    if not forms and not request.shown:
        raise InputError(
            "choose how to transfer its keys: --eep, --eeprom, --uf2, --flash, --image, --block, --qr "
            "or --png"
        )
    return forms
