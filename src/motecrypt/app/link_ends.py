"""An end of the secure link at a serial radio: opened by its key file, and checked against the radio."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from motecrypt.base.errors import InputError
from motecrypt.link.keys import read_key_file

if TYPE_CHECKING:
    from motecrypt.air.radios import Radio
    from motecrypt.base.serial_port import SerialPort
    from motecrypt.link.gateway_end import Gateway
    from motecrypt.link.node import HostNode
    from motecrypt.link.ports.signals import Stop
    from motecrypt.link.stream import PortFraming

Notice = Callable[[str], None]
"""Gets one line for the user."""

UNCONFIRMED = "nodes that have not confirmed their new epoch"
GROUP_NOTICE = (
    "the group's key protects only against attackers without it: each member can forge messages to the "
    "others; it carries messages alone, no commands, files or keys"
)


@dataclass(frozen=True)
class SerialRadio:
    """What is at a serial port.

    Attributes
    ----------
    radio : of `load_radio`, with the packet length of both ends.
    module_key : a key file; the radio module's own AES-128 (ATEE1) is switched on with it.
    """

    radio: Radio
    baud: int = 115200
    module_key: Path | None = None

    def setup(self, stop: Stop) -> Callable[[SerialPort], None]:
        """What switches on the radio module's own encryption, where that is wanted."""
        if self.module_key is None:
            return lambda port: None
        if not self.radio.is_serial:
            raise InputError(f"--module-key: {self.radio.name} has no commands; omit it")
        key = read_key_file(self.module_key)
        if len(key) != 16:
            raise InputError(f"--module-key {self.module_key}: {len(key)} bytes; the module's AES takes 16")
        from motecrypt.link.ports.commands import configure

        return lambda port: configure(port, [f"ATEK{key.hex().upper()}", "ATEE1"], stop)

    def framing(self, port: str, notice: Notice, packet_bytes: int | None = None) -> PortFraming:
        """How packets pass a port: as a serial radio's bytes, or in a bridge's frames."""
        from motecrypt.link.bridge import BridgeLine
        from motecrypt.link.stream import StreamReader

        length = packet_bytes or self.radio.packet_bytes
        if self.radio.is_serial:
            return StreamReader(length)
        return BridgeLine(length, self.radio.name, lambda told: notice(f"port {port}: {told}"))

    def answer_ms(self) -> int:
        """How long an answer may take on this radio."""
        from motecrypt.air.link_timing import answer_ms

        return answer_ms(self.radio)

    def node(self, key_file: Path, ends: ExitStack) -> HostNode:
        """The node of a key file, which is free again when `ends` closes."""
        from motecrypt.link.gateway.opening import open_node

        node = ends.enter_context(closing(open_node(key_file, self.answer_ms())))
        self.check(node.number, node.options, node.packet_bytes)
        return node

    def gateway(self, key_file: Path, state: Path | None, ends: ExitStack) -> Gateway:
        """The gateway of a master key, whose record is free again when `ends` closes."""
        from motecrypt.link.gateway.opening import open_gateway, record_of
        from motecrypt.link.state import RecordInUse

        try:
            opened = open_gateway(key_file, state, self.radio.packet_bytes, self.answer_ms())
        except RecordInUse as held:
            if held.socket is None:
                raise
            raise InputError(
                f"state file {record_of(key_file, state)}: 'motecrypt gateway' is using it; send through its "
                f"socket, {held.socket}, or stop it first"
            ) from None
        return ends.enter_context(closing(opened))

    def check(self, node: int, options: int, packet_bytes: int) -> None:
        """Refuse a node that was provisioned for another packet length or kind of radio."""
        from motecrypt.link.native import STREAM

        if bool(options & STREAM) != self.radio.is_serial:
            was, now = ("a serial", "packets") if options & STREAM else ("a packet", "a serial line")
            raise InputError(
                f"{called(node)}: provisioned for {was} radio, and {self.radio.name} has {now}; give the "
                "--radio that its keys were made for"
            )
        if packet_bytes != self.radio.packet_bytes:
            raise InputError(
                f"{called(node)}: provisioned for packets of {packet_bytes} bytes, not "
                f"{self.radio.packet_bytes}; give --packet-bytes {packet_bytes}"
                + (", and set the radio's" if self.radio.is_serial else ", or the node's --radio")
            )

    def check_all(self, gateway: Gateway, restored: bool, notice: Notice, bare: Sequence[int] = ()) -> None:
        """Begin new epochs if the record comes from a backup; report the nodes that do not have theirs, and
        those that will not be received."""
        if restored and (void := gateway.restored(int(time.time()))):
            notice(f"nodes that cannot be notified of a new epoch and need new keys: {all_called(void)}")
        if waiting := gateway.epoch_unconfirmed:
            notice(f"{UNCONFIRMED}: {all_called(waiting)}; each is notified until it confirms")
        for number in set(gateway.nodes) - set(bare):
            try:
                self.check(number, *gateway.head(number))
            except InputError as error:
                notice(f"cannot receive: {error}")


def called(node: int) -> str:
    """A node in a message."""
    from motecrypt.link import told

    return told.called(node)


def all_called(nodes: Iterable[int]) -> str:
    """Nodes in a message."""
    return ", ".join(map(called, nodes))


def make_folder(output: Path) -> None:
    """The folder for files that arrive."""
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--output {output}: {error.strerror}") from None
