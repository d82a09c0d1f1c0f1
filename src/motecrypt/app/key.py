"""Make the key file of a node, from its gateway's master key."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from motecrypt.base.errors import InputError
from motecrypt.link.gateway.opening import open_registry
from motecrypt.link.keys import create_private, read_master_file


@dataclass(frozen=True)
class NodeKeyRequest:
    """A node on a computer.

    Attributes
    ----------
    node : 0 to 62, or 63 for the broadcast group. packet_bytes : of its radio, 12 to 255.
    serial : its radio is a serial line; else it has packets, behind a bridge.
    replace : make the earlier node with this number invalid.
    member : one more member of the group, with the existing key.
    one_way : it sends and never receives. long_only : no packets with short tags.
    tag_16 : tags of 16 bytes, not 8, in long messages.
    """

    node: int
    packet_bytes: int = 12
    replace: bool = False
    member: bool = False
    one_way: bool = False
    long_only: bool = False
    tag_16: bool = False
    serial: bool = True

    @property
    def group(self) -> bool:
        """Whether it is a member of the group."""
        from motecrypt.link.native import BROADCAST

        return self.node == BROADCAST

    def options(self) -> int:
        """The same as the link's options."""
        from motecrypt.link.native import LISTENS, SHORT, STREAM, TAG_16

        flags = (
            (LISTENS, not self.one_way),
            (SHORT, not self.long_only),
            (TAG_16, self.tag_16),
            (STREAM, self.serial),
        )
        return sum(flag for flag, on in flags if on)

    def write(
        self,
        file: Path,
        form: Callable[[bytes], bytes],
        gateway_key: Path,
        state: Path | None,
        before: Callable[[], object] = lambda: None,
    ) -> None:
        """Provision the node, and write what `form` makes of its storage to a new file; `before` that, when
        it is known that the number is free."""
        with closing(open_registry(gateway_key, state, self.packet_bytes)) as nodes:
            if not self.member:
                nodes.check_free(self.node, self.replace)
            before()

            def made() -> bytes:
                if self.member:
                    return nodes.member()
                return nodes.provision(self.node, self.options(), self.replace)

            create_private(file, lambda: form(made()))


def node_key(file: Path, request: NodeKeyRequest, gateway_key: Path, state: Path | None = None) -> None:
    """Write the key and the counters of a node to a new file, and note it in the gateway's record.

    InputError for what excludes each other, a number that has keys already, or a file that is there.
    """
    from motecrypt.link.node import node_record

    if request.member and (not request.group or request.replace):
        raise InputError("--member: use it with --node group, without --replace")
    if request.group and request.one_way:
        raise InputError("--one-way: a group's members only receive; omit it")
    suite, _ = read_master_file(gateway_key)
    request.write(file, lambda storage: node_record(suite, storage), gateway_key, state)
