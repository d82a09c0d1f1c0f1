"""What a firmware needs to be assessed: a function, and variables that take a run's inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from motecrypt.attack.leakage.assessment import Variable
from motecrypt.attack.leakage.recording import Poke, Recorder, Window
from motecrypt.base.elf import elf_file, symbols_of
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.catalog import nearest
from motecrypt.simulate.emulate.images import Image

#: Names of a harness's variables, and what they are in a test of inputs.
VARIABLES = {"leak_input": "vary", "leak_key": "fixed", "leak_random": "random"}
VARIABLE_BYTES_MOST = 4096


@dataclass(frozen=True)
class LeakWindow:
    """Which instructions are assessed, and what varies.

    Attributes
    ----------
    function : of a firmware: its first call; of a cipher the window is its encryption.
    start : the function at which inputs are put into memory; None: the same.
    skip, instructions : leave these out first; the most that are assessed, None: to its end.
    vary : "input" or "key": which of leak_input and leak_key is fixed in one class and random in the other.
        The key is the same in all runs of a test of inputs; inputs are random in all runs of a test of keys.
        Of a cipher "key" is its key set-up.
    shared : variables that take two Boolean shares: the masked value, then the mask.
    """

    function: str | None = None
    start: str | None = None
    skip: int = 0
    instructions: int | None = None
    vary: str = "input"
    shared: Sequence[str] = ()


@dataclass(frozen=True)
class _Symbol:
    address: int
    bytes: int
    kind: str


def _symbols(elf: Path) -> dict[str, _Symbol]:
    with elf_file(elf) as opened:
        arm = opened["e_machine"] == "EM_ARM"
        found = {}
        for symbol in symbols_of(opened):
            kind, address = symbol["st_info"]["type"], symbol["st_value"]
            if symbol.name and symbol["st_shndx"] != "SHN_UNDEF":
                address &= ~1 if arm and kind == "STT_FUNC" else ~0
                found[symbol.name] = _Symbol(address, symbol["st_size"], kind)
    return found


def harness(
    image: Image, device: Device, window: LeakWindow, uart: bytes = b"", max_seconds: float = 10.0
) -> tuple[Recorder, tuple[Variable, ...]]:
    """Find a firmware's function and variables by their names.

    Parameters
    ----------
    uart
        What the firmware receives.
    max_seconds
        Simulated time within which the function has to be called.

    Raises
    ------
    InputError
        For a firmware without symbols, or without such a function or variable.
    """
    function = window.function or ""
    if image.elf is None:
        raise InputError(f"{image.path}: has no symbols; give the linked ELF file")
    symbols = _symbols(image.elf)
    roles = VARIABLES if window.vary == "input" else VARIABLES | {"leak_key": "vary", "leak_input": "random"}
    found = {name: symbols[name] for name in roles if name in symbols}
    varied = f"leak_{window.vary}"
    if varied not in found:
        raise InputError(
            f"{image.path}: has no variable {varied}; add such an array that {function} reads "
            "(docs/leakage.md)"
        )
    for name in window.shared:
        if name not in found:
            raise InputError(f"--shared {name}: the firmware has no such variable; it has {', '.join(found)}")
    for name, symbol in found.items():
        if not 0 < symbol.bytes <= VARIABLE_BYTES_MOST:
            raise InputError(
                f"{image.path}: {name} has {symbol.bytes:,} bytes; up to {VARIABLE_BYTES_MOST:,} are possible"
            )
    begin, at = (_function(image, symbols, name) for name in (window.start or function, function))
    pokes = tuple(Poke(name, symbol.address, symbol.bytes) for name, symbol in found.items())
    variables = tuple(Variable(name, roles[name], 2 if name in window.shared else 1) for name in found)
    recorded = Window(function, at, begin, window.skip, window.instructions)
    return Recorder(image, device, recorded, pokes, uart, max_seconds), variables


def _function(image: Image, symbols: dict[str, _Symbol], name: str) -> int:
    functions = {key for key, symbol in symbols.items() if symbol.kind in ("STT_FUNC", "STT_NOTYPE")}
    if name not in functions:
        real = {key for key, symbol in symbols.items() if symbol.kind == "STT_FUNC"}
        if not real:
            raise InputError(f"{image.path}: has no symbols; link it without -s")
        raise InputError(f"{image.path}: {nearest('function', name, real)}")
    return symbols[name].address
