"""What a compiler is given of a node: a cipher as `measure` compiles it, the link's core and its storage.

The host's own build of the core is `toolchain/link.py`; this is the one for devices and exported libraries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from motecrypt.base.errors import InputError
from motecrypt.base.model import Cipher
from motecrypt.build.toolchain.firmware import BuildRequest, CipherInputs, cipher_inputs
from motecrypt.catalog import FIRMWARE
from motecrypt.link.native import DEFINES, FOLDER, LISTENS, SHORT, STREAM, SUITES, Suite

NODE = FOLDER / "node"
MODES = FIRMWARE.resolve() / "modes"
"""Which the suites have their own of."""
ANSWER_MS = 250
"""How long an answer may take: the gateway's default."""

_CORE = ("link.c", "keys.c", "store.c")
_SUITES: dict[str, Suite] = {
    "aes128-ccm4": "aes128-ccm",
    "aes128-ccm8": "aes128-ccm",
    "aes128-ccm16": "aes128-ccm",
    "ascon-aead128": "ascon-aead128",
}


@dataclass(frozen=True)
class FixedRadio:
    """A node for one kind of radio alone, which makes its code smaller.

    Attributes
    ----------
    options : the options of its key block.
    packet_bytes : the length of its packets.
    answer_ms : how long an answer may take.
    """

    options: int
    packet_bytes: int
    answer_ms: int = ANSWER_MS


def suite_of(cipher: Cipher) -> Suite:
    """The link's suite with that cipher.

    Raises
    ------
    InputError
        The link has none.
    """
    if cipher.name not in _SUITES:
        raise InputError(f"the link has no {cipher.name}; it has {', '.join(_SUITES)}")
    return _SUITES[cipher.name]


def link_options(*, serial: bool, sends_only: bool) -> int:
    """The options of a key block for a radio: on a serial line packets have no length of their own."""
    return SHORT | (0 if sends_only else LISTENS) | (STREAM if serial else 0)


def node_inputs(
    request: BuildRequest,
    suite: Suite,
    fixed: FixedRadio | None = None,
    storage: str = "",
    boards: Sequence[str] = (),
) -> CipherInputs:
    """Sources, directories and definitions of a node.

    Parameters
    ----------
    request
        The cipher's build: its implementation, device and placement.
    fixed
        The one radio that it is for; None: what its key block says.
    storage, boards
        Header and sources of its storage and clock, from `link/node`; "" for the core alone.
    """
    given = cipher_inputs(request)
    own = [*(FOLDER / name for name in _CORE), FIRMWARE / SUITES[suite].sources[0]]  # and its suite
    glue = [NODE / name for name in ("node.c", *boards)] if storage else []
    kept = [define for define in given.defines if not define.startswith(("CIPHER_TAG_BYTES=", "CIPHER_KEY_"))]
    defines = [*kept, *(define.removeprefix("-D") for define in DEFINES), f"LINK_SUITE={SUITES[suite].suite}"]
    if storage:
        defines.append(f'LINK_STORAGE_HEADER="{storage}"')
    if fixed is not None:
        defines += [f"LINK_OPTIONS={fixed.options}", f"LINK_PACKET_BYTES={fixed.packet_bytes}"]
        defines.append(f"LINK_ANSWER_MS={fixed.answer_ms}")
    return CipherInputs(
        (*own, *glue, *(path for path in given.sources if path.parent != MODES)),
        (*given.directories, FOLDER, *([NODE] if storage else [])),
        tuple(defines),
    )
