"""The judge of candidates: the exact simulator of the kernel's device.

A firmware has the whole cipher once for each candidate. Each encrypts the same messages; their sum is
compared with the oracle's, and its cycles must not vary more than before. The best is then measured as any
other implementation.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Measurement
from motecrypt.build.toolchain.scripts import link_flags
from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import oracle
from motecrypt.measuring import bench
from motecrypt.results import Results
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import ChipSettings, FreeRun, run_freely
from tune.code import Line
from tune.kernels import CANDIDATE, Kernel, run

HERE = Path(__file__).resolve().parent
INPUTS = 6
MESSAGE = 64
TOGETHER = {"avr": 5}
TOGETHER_ELSEWHERE = 32


@dataclass(frozen=True)
class Verdict:
    """A candidate in the simulator.

    Parameters
    ----------
    right
        Whether all outputs are the oracle's, and all messages came back.
    cycles, spread
        The most cycles of all inputs, and what the fewest are below them.
    """

    right: bool
    cycles: int
    spread: int
    stack_bytes: int

    def better(self, other: Verdict) -> bool:
        """Whether it is right, takes fewer cycles, and neither varies more nor needs more stack."""
        fits = self.spread <= other.spread and self.stack_bytes <= other.stack_bytes
        return self.right and fits and self.cycles < other.cycles


class Judge:
    """Builds and runs candidates of one kernel in a folder."""

    def __init__(self, kernel: Kernel, folder: Path) -> None:
        self.kernel, self.folder = kernel, folder
        self.runs = 0
        self.template = self._preprocessed()
        self._others = self._compiled_others()
        self._names = self._exported()
        self._wanted = self._sum()

    def together(self) -> int:
        """How many candidates are in one firmware."""
        return TOGETHER.get(self.kernel.core.prefix.rstrip("-"), TOGETHER_ELSEWHERE)

    def _preprocessed(self) -> str:
        source = self.folder / "template.S"
        source.write_text(self.kernel.template(), encoding="utf-8")
        return run([*self.kernel.command(), "-E", "-P", source], self.kernel.name)

    def _compiled_others(self) -> list[Path]:
        made = []
        body = self.kernel.body
        for number, source in enumerate(body.sources):
            path = (body.folder / source).resolve()
            if path == self.kernel.source.resolve():
                continue
            made.append(self.folder / f"other{number}.o")
            cipher = Catalog.load().cipher(body.cipher)
            define = f"-DCIPHER_TAG_BYTES={cipher.tag_bytes}"
            header = f'-DCIPHER_HEADER="{body.header}"'
            run([*self.kernel.command(), define, header, "-c", path, "-o", made[-1]], self.kernel.name)
        return made

    def _assembled(self, text: str, made: Path) -> None:
        source = made.with_suffix(".s")
        source.write_text(text, encoding="utf-8")
        flags = [flag for flag in self.kernel.device.compiler.machine_flags if "float" not in flag]
        run([f"{self.kernel.core.prefix}as", *flags, source, "-o", made], self.kernel.name)

    def _exported(self) -> list[str]:
        first = self.folder / "first.o"
        self._assembled(self.source(self.kernel.code()), first)
        shown = run([f"{self.kernel.core.prefix}nm", "-g", "--defined-only", first, *self._others], "nm")
        return sorted({row.split()[2] for row in shown.splitlines() if len(row.split()) == 3})

    def _sum(self) -> int:
        """The sum of judge.c, by the oracle."""
        cipher = Catalog.load().cipher(self.kernel.body.cipher)
        seal, drawn, total = oracle(cipher), 1, 0

        def draw(count: int) -> bytes:
            nonlocal drawn
            made = bytearray()
            for _ in range(count):
                drawn = (drawn * 1664525 + 1013904223) & 0xFFFFFFFF
                made.append(drawn >> 24)
            return bytes(made)

        for _ in range(INPUTS):
            key, nonce, plain = draw(cipher.key_bits[0] // 8), draw(cipher.nonce_bytes), draw(MESSAGE)
            text, tag = seal(key, nonce, b"", plain)
            for byte in text + tag:
                total = (total * 31 + byte) & 0xFFFFFFFF
        return total

    def source(self, code: Sequence[Line]) -> str:
        """The preprocessed source with this code in the kernel's place."""
        return self.template.replace(CANDIDATE, "\n".join(self.kernel.core.printed(code)))

    def verdicts(self, sources: Sequence[str]) -> list[Verdict]:
        """What the simulator says of preprocessed sources, in their order."""
        made: list[Verdict] = []
        for at in range(0, len(sources), self.together()):
            made += self._together(sources[at : at + self.together()])
        return made

    def _together(self, sources: Sequence[str]) -> list[Verdict]:
        kernel, objects = self.kernel, []
        for number, source in enumerate(sources):
            plain = self.folder / f"c{number}.o"
            self._assembled(source, plain)
            renames = self.folder / f"names{number}"
            renames.write_text("".join(f"{name} c{number}_{name}\n" for name in self._names))
            for i, object_ in enumerate((plain, *self._others)):
                renamed = self.folder / f"c{number}_{i}.o"
                command = [f"{kernel.core.prefix}objcopy", f"--redefine-syms={renames}", object_, renamed]
                run(command, kernel.name)
                objects.append(renamed)
        names = " ".join(f"X(c{number})" for number in range(len(sources)))
        (self.folder / "candidates.h").write_text(f"#define CANDIDATES(X) {names}\n")
        return self._ran(self._linked(objects), len(sources))

    def _linked(self, objects: Sequence[Path]) -> Path:
        kernel, made = self.kernel, self.folder / "judge.elf"
        device, cipher = kernel.device, Catalog.load().cipher(kernel.body.cipher)
        defines = (
            *(f"CIPHER_TAG_BYTES={cipher.tag_bytes}", f'CIPHER_HEADER="{kernel.body.header}"'),
            *(f"KEY_LENGTH={cipher.key_bits[0] // 8}", f"NONCE_LENGTH={cipher.nonce_bytes}"),
            *(f"MESSAGE={MESSAGE}", f"INPUTS={INPUTS}"),
        )
        run(
            [
                *(*kernel.command(), *(f"-D{define}" for define in defines), f"-I{self.folder}"),
                *(HERE / "judge.c", *(device.folder / name for name in device.hal), *objects),
                *(*link_flags(device, "flash"), "-o", made),
            ],
            kernel.name,
        )
        return made

    def _ran(self, firmware: Path, count: int) -> list[Verdict]:
        output, device = bytearray(), self.kernel.device
        cache = "none" if device.placements["flash"].caches == ("none",) else "kept"
        how = FreeRun(until=".", max_seconds=600, chip=ChipSettings(cache=cache))
        ended = run_freely(read_image(firmware, device), device, how, output.extend)
        if ended.reason != "until":
            raise MotecryptError(f"{self.kernel.name}: the judge's firmware ended with {ended.reason}")
        numbers = [int(word, 16) for word in output.decode().rstrip(".").split()]
        self.runs += count
        made = []
        for at in range(0, 5 * count, 5):
            total, faults, least, most, stack = numbers[at : at + 5]
            made.append(Verdict(total == self._wanted and not faults, most, most - least, stack))
        return made


def measured(kernel: Kernel, code: str, results: Results, folder: Path) -> list[Measurement]:
    """The kernel's cipher with other code, measured as any implementation: set-up and both directions.

    Raises
    ------
    InputError
        The catalog has no such implementation.
    """
    source = folder / kernel.source.name
    source.write_text(kernel.template().replace(CANDIDATE, code), encoding="utf-8")
    catalog, body = Catalog.load(), kernel.body
    places = [source if (body.folder / s).resolve() == kernel.source.resolve() else s for s in body.sources]
    if places == list(body.sources):
        raise InputError(f"kernel '{kernel.name}': {kernel.source.name} is no source of its implementation")
    sources = tuple(
        os.path.relpath(place, body.folder) if isinstance(place, Path) else place for place in places
    )
    changed = replace(body, sources=sources)
    others = tuple(changed if one == body else one for one in catalog.implementations)
    catalog = replace(catalog, implementations=others)
    cells = bench.cells_for(catalog, kernel.device, changed, message_bytes=[16, 64])
    found = bench.ensure(cells, results, catalog)
    return [found[cell] for cell in cells]
