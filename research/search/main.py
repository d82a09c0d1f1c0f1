"""Look for shorter instruction sequences for a kernel of our assembly on Cortex-M0+.

    main.py --list                              the kernels (kernels.toml)
    main.py KERNEL [--seed N]... [--steps N]    change the code at random, keep what is shorter
    main.py KERNEL --judge                      then measure the cipher with the shortest code
    main.py KERNEL --prove N                    try every sequence of up to N instructions

Equal seeds and steps give equal results. The judge is the ordinary measurement: every output against the
oracle, cycles, stack, and whether branches or addresses vary with the data. docs/bounds.md has the results.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Measurement
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.measuring import bench
from motecrypt.results import Results

HERE = Path(__file__).resolve().parent
TIMEOUT_S = 3600
STEPS = 5_000_000
STEPS_MAX = 10_000_000_000
PROVED_MAX = 6
"""STEPS_MAX of prove.c."""
OPERATIONS = (
    *("nop", "movs", "mvns", "rsbs", "uxtb", "uxth", "sxtb", "sxth", "rev", "rev16", "revsh"),
    *("ands", "orrs", "eors", "bics", "muls", "rors", "lsls-by", "lsrs-by"),
    *("adds", "subs", "lsls", "lsrs", "asrs", "mov", "add"),
)
"""In the order of machine.h."""
SHIFTS = ("lsls", "lsrs", "asrs")
HIGH = ("mov", "add")


@dataclass(frozen=True)
class Kernel:
    """A kernel of kernels.toml."""

    name: str
    about: str
    target: int
    variables: tuple[str, ...]
    low: dict[str, int]
    high: dict[str, int]
    code: tuple[str, ...]
    source: str
    lines: tuple[str, ...]
    names: dict[str, str]

    @property
    def readable(self) -> tuple[str, ...]:
        """The registers that ordinary instructions read, in the order of their numbers."""
        return (*self.variables, *self.low)


def kernels() -> dict[str, Kernel]:
    """The kernels by name."""
    table = Table.read(HERE / "kernels.toml")
    return {name: _kernel(name, entry) for name, entry in table.every_table().items()}


def _kernel(name: str, entry: Table) -> Kernel:
    low, high = entry.table("low").plain(), entry.table("high").plain()
    return Kernel(
        name=name,
        about=entry.text("about"),
        target=entry.integer("target"),
        variables=entry.texts("variables"),
        low={key: int(value) for key, value in low.items()},
        high={key: int(value) for key, value in high.items()},
        code=tuple(line for line in entry.text("code").splitlines() if line),
        source=entry.text("source", ""),
        lines=entry.texts("lines", []),
        names={key: str(value) for key, value in entry.table("names", {}).plain().items()},
    )


# --- sequences as text and as numbers ----------------------------------------------------------------


def encoded(kernel: Kernel, line: str) -> tuple[int, int, int, int]:
    """A line of assembly as operation, destination and operands of machine.h."""
    name, _, rest = line.partition(" ")
    words = [word.strip() for word in rest.split(",")]
    if name in ("lsls", "lsrs") and len(words) == 2:
        name += "-by"
    d = kernel.variables.index(words[0])
    if name in HIGH:
        return OPERATIONS.index(name), d, list(kernel.high).index(words[1]), 0
    a = kernel.readable.index(words[1])
    b = 0
    if name in SHIFTS:
        b = int(words[2].removeprefix("#"))
    elif len(words) == 3 and name != "rsbs":
        b = kernel.readable.index(words[2])
    return OPERATIONS.index(name), d, a, b


def decoded(kernel: Kernel, numbers: Sequence[int]) -> str:
    """The opposite."""
    operation, d, a, b = numbers
    name, to = OPERATIONS[operation], kernel.variables[d]
    if name in HIGH:
        return f"{name} {to}, {list(kernel.high)[a]}"
    if name in SHIFTS:
        return f"{name} {to}, {kernel.readable[a]}, #{b}"
    if name in ("adds", "subs"):
        return f"{name} {to}, {kernel.readable[a]}, {kernel.readable[b]}"
    end = ", #0" if name == "rsbs" else ""
    return f"{name.removesuffix('-by')} {to}, {kernel.readable[a]}{end}"


# --- the two searches --------------------------------------------------------------------------------


def compiled(name: str, folder: Path) -> Path:
    """The program of one search, compiled with this computer's compiler."""
    made = folder / name
    command = ["cc", "-O3", "-std=gnu11", str(HERE / f"{name}.c"), "-o", str(made), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise InputError(f"{name}.c does not compile: {done.stderr.strip().splitlines()[0]}")
    return made


@dataclass(frozen=True)
class Climb:
    """What one seed found: the shortest right sequence, and how many were tried and right."""

    seed: int
    steps: int
    right: int
    code: tuple[str, ...]
    seconds: float


def climb(kernel: Kernel, seed: int, steps: int, program: Path) -> Climb:
    """Change the kernel's code at random.

    Raises
    ------
    MotecryptError
        The code of kernels.toml is wrong.
    """
    low, high = (",".join(f"{value:x}" for value in side.values()) for side in (kernel.low, kernel.high))
    arguments = [str(kernel.target), str(seed), str(steps), str(len(kernel.variables)), low, high]
    begin = "".join(" ".join(map(str, encoded(kernel, line))) + "\n" for line in kernel.code)
    before = _processor_s()
    done = _run([str(program), *arguments], begin, kernel)
    if done.returncode:
        raise MotecryptError(f"{kernel.name}: {done.stderr.strip() or f'exit code {done.returncode}'}")
    *lines, last = done.stdout.splitlines()
    code = tuple(decoded(kernel, [int(word) for word in line.split()]) for line in lines)
    words = last.split()
    return Climb(seed, int(words[3]), int(words[5]), code, _processor_s() - before)


@dataclass(frozen=True)
class Proof:
    """All sequences of one length: how many beginnings were tried, and how many sequences are right."""

    length: int
    tried: int
    right: int
    nearly: int
    seconds: float


def prove(kernel: Kernel, length: int, program: Path) -> Proof:
    """Try every sequence of a length, with the constants in registers that ordinary instructions read.

    Raises
    ------
    MotecryptError
        The search cannot exclude every last instruction for its inputs.
    """
    constants = [f"{value:x}" for value in kernel.low.values()]
    before = _processor_s()
    done = _run([str(program), str(kernel.target), str(length), *constants], "", kernel)
    if done.returncode:
        raise MotecryptError(f"{kernel.name}: prove.c ended with {done.returncode}")
    words = done.stdout.splitlines()[-1].split()
    return Proof(length, int(words[1]), int(words[3]), int(words[5]), _processor_s() - before)


def _run(command: Sequence[str], given: str, kernel: Kernel) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, input=given, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise MotecryptError(f"{kernel.name}: stopped after {TIMEOUT_S} s; search less") from None


def _processor_s() -> float:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


# --- the judge ---------------------------------------------------------------------------------------

DESCRIPTOR = """\
family = "judged"
title = "a candidate of research/search"
source = "kernels.toml"

[[cipher]]
name = "judged-ecb"
kind = "block mode"
mode = "ecb"
key_bits = [128]
nonce_bytes = 0
tag_bytes = 0
associated_data = false
message = { min = 0, max = 65535, multiple = 16 }

[[implementation]]
variant = "candidate"
ciphers = ["judged-ecb"]
cores = ["cortex-m0*"]
block_header = "aes_armv6m_small.h"
sources = ["aes_armv6m_small.S", "aes_armv6m_blocks.S"]
placements = ["flash"]
"""

ORACLE = """\
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes


def encrypt(cipher, key, nonce, ad, message):
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(message) + encryptor.finalize(), b""
"""


def replaced(kernel: Kernel, source: str, code: Sequence[str]) -> str:
    """The source with other code in place of the kernel's lines.

    Raises
    ------
    InputError
        The lines are not in the source, or more than once; or the code needs a register that is not there.
    """
    rows = source.splitlines()
    stripped = [row.strip() for row in rows]
    count = len(kernel.lines)
    places = [i for i in range(len(rows)) if stripped[i : i + count] == list(kernel.lines)]
    if len(places) != 1:
        raise InputError(
            f"{kernel.source}: the lines of kernel '{kernel.name}' are there {len(places)} times"
        )
    made = []
    for line in code:
        name, _, rest = line.partition(" ")
        words = [word.strip() for word in rest.split(",")]
        missing = [word for word in words if not word.startswith("#") and word not in kernel.names]
        if missing:
            raise InputError(f"'{line}' needs {missing[0]}, which {kernel.source} has in no register there")
        made.append(f"    {name} {', '.join(kernel.names.get(word, word) for word in words)}")
    rows[places[0] : places[0] + count] = made
    return "\n".join(rows) + "\n"


def judge(kernel: Kernel, code: Sequence[str], results: Results, folder: Path) -> list[Measurement]:
    """Measure AES-128 on the Pico with this code: set-up, and a block in both directions."""
    cipher = folder / "judged"
    shutil.copytree(FIRMWARE / "ciphers" / "aes", cipher)
    source = cipher / Path(kernel.source).name
    source.write_text(replaced(kernel, source.read_text(), code))
    (cipher / "cipher.toml").write_text(DESCRIPTOR)
    (cipher / "oracle.py").write_text(ORACLE)
    shutil.rmtree(cipher / "vectors")
    catalog = Catalog.load(ciphers=[cipher])
    (body,) = catalog.implementations_of("judged-ecb", "pico")
    cells = bench.cells_for(catalog, catalog.device("pico"), body, message_bytes=[16], caches=["warm"])
    found = bench.ensure(cells, results, catalog)
    return [found[cell] for cell in cells]


def _within(low: int, high: int) -> Callable[[str], int]:
    """What reads an option's whole number; argparse complains of any other."""

    def number(text: str) -> int:
        if not re.fullmatch("[0-9]{1,20}", text) or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text}: give a whole number, {low} to {high}")
        return int(text)

    return number


def main(words: Sequence[str]) -> int:
    """Run the search that the words ask for."""
    known = kernels()
    parser = argparse.ArgumentParser(
        prog="research/search/main.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kernel", nargs="?", choices=list(known))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--seed", type=_within(0, 2**64 - 1), action="append")
    parser.add_argument("--steps", type=_within(1, STEPS_MAX), default=STEPS)
    parser.add_argument("--prove", type=_within(2, PROVED_MAX), metavar="N")
    parser.add_argument("--judge", action="store_true")
    chosen = parser.parse_args(words)
    if chosen.list or chosen.kernel is None:
        for name, kernel in known.items():
            print(f"{name:10} {len(kernel.code):2} instructions; {kernel.about}")
        return 0
    kernel = known[chosen.kernel]
    try:
        with tempfile.TemporaryDirectory() as folder:
            if chosen.prove is not None:
                return _prove(kernel, chosen.prove, Path(folder))
            return _climb(kernel, chosen.seed or [1], chosen.steps, chosen.judge, Path(folder))
    except MotecryptError as error:
        print(f"search: {error}", file=sys.stderr)
        return error.exit_code


def _prove(kernel: Kernel, longest: int, folder: Path) -> int:
    program = compiled("prove", folder)
    for length in range(2, longest + 1):
        proof = prove(kernel, length, program)
        print(
            f"{kernel.name}: {length} instructions: {proof.tried:,} beginnings tried, {proof.right} "
            f"sequences right, {proof.nearly} nearly; {proof.seconds:.0f} s",
            flush=True,
        )
        if proof.right or proof.nearly:
            break
    return 0


def _climb(kernel: Kernel, seeds: Sequence[int], steps: int, judged: bool, folder: Path) -> int:
    program = compiled("climb", folder)
    codes = {}
    for seed in seeds:
        found = climb(kernel, seed, steps, program)
        print(
            f"{kernel.name}: seed {seed}: {found.steps:,} candidates, {found.right:,} right, from "
            f"{len(kernel.code)} to {len(found.code)} instructions; {found.seconds:.0f} s",
            flush=True,
        )
        codes[found.code] = seed
    shortest = min(map(len, codes))
    with Results(folder / "results.db") as results:
        for code in (code for code in codes if len(code) == shortest):
            print("   ", "; ".join(code))
            if judged:
                _judge(kernel, code, results, folder / f"seed{codes[code]}")
    return 0


def _judge(kernel: Kernel, code: Sequence[str], results: Results, folder: Path) -> None:
    folder.mkdir()
    for m in judge(kernel, code, results, folder):
        vary = "vary" if m.timing_varies else "do not vary"
        print(
            f"    {m.operation} 16 bytes: {m.status}, {m.cycles_median} cycles, {m.stack_bytes} bytes of "
            f"stack, branches and addresses {vary} {m.reason}".rstrip()
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
