"""The benchmark firmware of a cipher as something to record: the same ELF that `measure` runs."""

from __future__ import annotations

from motecrypt.attack.leakage.recording import Poke, Recorder, Window
from motecrypt.base.errors import InputError
from motecrypt.base.frames import encode
from motecrypt.base.model import Cipher, Device, Implementation
from motecrypt.build.toolchain import BuildRequest, build
from motecrypt.build.toolchain.sizes import symbols
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.runners.protocol import OPERATION_CODES

FUNCTIONS = {"setup": "cipher_setup", "encrypt": "cipher_encrypt", "decrypt": "cipher_decrypt"}
#: Of a protected implementation: the state of its generator (firmware/random/sponge.c), and the function at
#: which that becomes random, where the generator has its seed.
RANDOM_STATE, RANDOM_STATE_BYTES = "random_state", 40
PROTECTED_FROM = {"setup": "random_block", "encrypt": "cipher_encrypt"}


def bench_recorder(
    device: Device,
    implementation: Implementation,
    cipher: Cipher,
    operation: str,
    key: bytes,
    nonce: bytes,
    message: bytes,
    *,
    vary: str = "message",
    placement: str = "flash",
    flags: tuple[str, ...] = (),
    skip: int = 0,
    instructions: int | None = None,
) -> Recorder:
    """Build a cipher's benchmark firmware and prepare it to be recorded.

    Parameters
    ----------
    operation
        "setup", "encrypt" or "decrypt"; the window is that function's call. Of a protected implementation it
        is the call of the function that works on masked values, and each run's input ends with
        `RANDOM_STATE_BYTES` for its generator, as a poke named "random".
    key, nonce, message
        What the firmware is given before; all runs have their lengths. The context is set up with the key.
    vary
        What each run's input replaces: "message", "nonce" or "key" (of a set-up).
    flags
        In place of the device's own, for the cipher's files.
    skip, instructions
        As of `Window`.

    Raises
    ------
    InputError
        When the firmware has no such variable or function.
    BuildError
        With the compiler's first error.
    """
    firmware = build(BuildRequest(device, implementation, placement, flags))
    found = symbols(firmware.elf)
    variables = {"key": key, "nonce": nonce, "message": message}
    if vary not in variables or not variables[vary]:
        raise InputError(f"{cipher.name}: inputs cannot replace '{vary}': the firmware is not given one")
    given = variables[vary]
    function, variable = FUNCTIONS[operation], f"{vary}_bytes"
    for name in (function, variable):
        if name not in found:
            raise InputError(f"{firmware.elf}: the firmware of {cipher.name} has no symbol {name}")
    frames = [("K", key), ("N", nonce), ("M", message)]
    frames += [("R", bytes([OPERATION_CODES["setup"], 1, 0]))] if operation != "setup" else []
    frames += [("R", bytes([OPERATION_CODES[operation], 1, 0]))]
    uart = b"".join(encode(number, kind, data) for number, (kind, data) in enumerate(frames, start=1))
    pokes: tuple[Poke, ...] = (Poke(vary, found[variable], len(given)),)
    start = function
    if implementation.protection is not None and operation != "decrypt":
        start, function = PROTECTED_FROM[operation], getattr(implementation.protection, operation)
        for name in (start, function, RANDOM_STATE):
            if name not in found:
                raise InputError(f"{firmware.elf}: the firmware of {cipher.name} has no symbol {name}")
        pokes = (*pokes, Poke("random", found[RANDOM_STATE], RANDOM_STATE_BYTES))
    thumb = 0 if device.core.startswith("avr") else 1
    window = Window(function, found[function] & ~thumb, found[start] & ~thumb, skip, instructions)
    return Recorder(read_image(firmware.elf, device), device, window, pokes, uart)
