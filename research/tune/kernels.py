"""The kernels of kernels.toml: their code as the assembler sees it, and sources with other code there."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device, Implementation
from motecrypt.catalog import FIRMWARE, Catalog
from tune import arm, avr
from tune.code import Line
from tune.values import Algebra

FILE = Path(__file__).resolve().parent / "kernels.toml"
CANDIDATE = "MOTECRYPT_CANDIDATE"
TIMEOUT_S = 60


@dataclass(frozen=True)
class Core:
    """How the search treats the instructions of a core."""

    read: Callable[[str], list[Line]]
    printed: Callable[[Sequence[Line]], list[str]]
    estimated: Callable[[Sequence[Line]], float]
    algebra: Callable[[], Algebra]
    registers: tuple[str, ...]
    prefix: str
    disassembler: tuple[str, ...] = ()


_ARM_REGISTERS = (*(f"r{i}" for i in range(13)), "r14")
_ARM = partial(
    Core,
    printed=arm.printed,
    algebra=arm.algebra,
    registers=_ARM_REGISTERS,
    prefix="arm-none-eabi-",
    disassembler=("-M", "reg-names-raw"),
)
CORES = {
    "avr": Core(avr.read, avr.printed, avr.estimated, avr.algebra, avr.REGISTERS, "avr-"),
    "armv6m": _ARM(arm.Reader(thumb2=False).read, estimated=arm.estimated_m0),
    "armv7m": _ARM(arm.Reader(thumb2=True).read, estimated=arm.estimated_m4),
}


@dataclass(frozen=True)
class Kernel:
    """A kernel of kernels.toml."""

    name: str
    about: str
    source: Path
    first: str
    until: str
    core: Core
    device: Device
    body: Implementation
    dead: frozenset[str]
    flags: frozenset[str]

    def command(self) -> list[str]:
        """The compiler with the device's flags and the implementation's definitions."""
        compiler = self.device.compiler
        key_bytes = max(Catalog.load().cipher(self.body.cipher).key_bits) // 8
        defines = (*compiler.defines, *self.body.defines, f"CIPHER_KEY_BYTES_MAX={key_bytes}")
        places = (FIRMWARE / "include", FIRMWARE / "modes", self.body.folder)
        return [
            *(compiler.command, *compiler.machine_flags, *compiler.flags, "-std=gnu99"),
            *(f"-D{define}" for define in defines),
            *(f"-I{place}" for place in places),
        ]

    def template(self) -> str:
        """The source with CANDIDATE on a line of its own in place of the kernel.

        Raises
        ------
        InputError
            The kernel's lines are not in the source, or more than once.
        """
        rows, begin, end = self._place()
        label = re.match(r"\w+:", rows[begin].strip())
        made = [*rows[:begin], *([label[0]] if label else []), CANDIDATE, *rows[end:]]
        return "\n".join(made) + "\n"

    def _place(self) -> tuple[list[str], int, int]:
        """The source, and from which line to which the kernel is there."""
        rows = self.source.read_text(encoding="utf-8").splitlines()
        stripped = [row.strip() for row in rows]
        begins = [i for i, row in enumerate(stripped) if row == self.first]
        if len(begins) == 1 and self.until in stripped[begins[0] :]:
            return rows, begins[0], stripped.index(self.until, begins[0])
        raise InputError(
            f"{self.source}: '{self.first}' and then '{self.until}', between which kernel '{self.name}' is, "
            f"are there {len(begins)} times"
        )

    def original(self) -> str:
        """The kernel's own lines, with the labels that the search needs to find it in the object."""
        rows, begin, end = self._place()
        inside = [re.sub(r"^\s*\w+:", "", rows[begin]), *rows[begin + 1 : end]]
        apart = "    nop"  # from a label of the source, whose name objdump would show
        return "\n".join((apart, _label("tune_begins"), *inside, _label("tune_ends")))

    def code(self) -> list[Line]:
        """The kernel's instructions, with all macros expanded.

        Raises
        ------
        InputError
            An instruction is not known to the search, or the kernel has a branch.
        """
        with tempfile.TemporaryDirectory() as folder:
            source, made = Path(folder) / "kernel.S", Path(folder) / "kernel.o"
            source.write_text(self.template().replace(CANDIDATE, self.original()))
            run([*self.command(), "-c", source, "-o", made], f"kernel '{self.name}'")
            names = run([f"{self.core.prefix}nm", made], self.name)
            (end,) = (row.split()[0] for row in names.splitlines() if row.endswith(" tune_ends"))
            shown = run([f"{self.core.prefix}objdump", "-d", *self.core.disassembler, made], self.name)
        inside, lines = False, []
        for row in shown.splitlines():
            if row.endswith("<tune_begins>:"):
                inside = True
            found = re.match(r"\s*([0-9a-f]+):\t[0-9a-f ]+\t(.*)", row)
            if not inside or not found:
                continue
            if int(found[1], 16) >= int(end, 16):
                break
            lines += self.core.read(found[2])
        return lines


def _label(name: str) -> str:
    return f"    .ifndef {name}\n{name}:\n    .endif"


def run(command: Sequence[str | Path], what: str) -> str:
    """What a program prints.

    Raises
    ------
    InputError
        It ends with an error.
    """
    try:
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"{what}: {Path(str(command[0])).name} cannot be run: {error}") from error
    if done.returncode:
        reason = next((line for line in done.stderr.splitlines() if "rror" in line), done.stderr.strip())
        raise InputError(f"{what}: {Path(str(command[0])).name} fails: {reason}")
    return done.stdout


def kernels(path: Path = FILE) -> dict[str, Kernel]:
    """The kernels by name."""
    return {name: _kernel(name, entry) for name, entry in Table.read(path).every_table().items()}


def _kernel(name: str, entry: Table) -> Kernel:
    catalog = Catalog.load()
    device, cipher, variant = (entry.text(key) for key in ("device", "cipher", "variant"))
    body = next(
        (b for b in catalog.implementations_of(cipher, device, ["motecrypt"]) if b.variant == variant), None
    )
    if body is None:
        raise InputError(f"kernel '{name}': {cipher} has no variant '{variant}' for {device}")
    core = entry.text("core")
    if core not in CORES:
        raise InputError(f"kernel '{name}': core '{core}'; give one of {', '.join(CORES)}")
    made = Kernel(
        name=name,
        about=entry.text("about"),
        source=FIRMWARE / "ciphers" / entry.text("source"),
        first=entry.text("first"),
        until=entry.text("until"),
        core=CORES[core],
        device=catalog.device(device),
        body=body,
        dead=frozenset(entry.texts("dead")),
        flags=frozenset(entry.texts("flags", [])),
    )
    entry.done()
    return made
