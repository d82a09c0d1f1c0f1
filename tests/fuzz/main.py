"""`./test fuzz`: runs hostile firmware in drivers that check each access to memory (ASan, UBSan).

A driver may end a run as it likes (exit codes 0, 2 and 3); it may not crash, break a rule of C, or hang. With
--checked, libsimavr itself is built from its source with the same checks; without, the system's is used, and
only our code and what is allocated are checked. Equal seeds make equal firmware.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

from fuzz.cores import CORES
from fuzz.exports import fuzz_exports
from fuzz.firmware import avr_image, damaged, pico_image
from fuzz.link import fuzz_link
from motecrypt.base.errors import MotecryptError
from motecrypt.base.paths import cache_dir, make_dir
from motecrypt.build.toolchain import libraries
from motecrypt.build.toolchain.drivers import DRIVERS, RECIPES
from motecrypt.build.toolchain.includes import file_hash, reached
from motecrypt.build.toolchain.sources import source_root
from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.images import ARM, Segment, elf_of
from motecrypt.simulate.runners.arm import command as arm_command
from motecrypt.simulate.runners.session import Options

HERE = Path(__file__).parent
AVR = 83
ALLOWED = (0, 2, 3)
RUN_TIMEOUT_S = 120
COMPILE_TIMEOUT_S = 600
CHECKS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DSANDBOX_OFF")
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=0:exitcode=99:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:exitcode=98",
}
TARGETS = ("avr_run", "simavr", "arm")
LINK, EXPORTS = "link", "exports"


def main(arguments: Sequence[str]) -> int:
    """Fuzz until the time limit is reached; 0 when nothing was found."""
    parser = argparse.ArgumentParser(prog="./test fuzz", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=300, help="for how long (default: 300)")
    parser.add_argument("--seed", type=int, default=0, help="the first firmware's seed (default: 0)")
    parser.add_argument(
        "--only",
        choices=(*TARGETS, LINK, *CORES, EXPORTS),
        help="one driver instead of all three in turn, or the core of the link, of a node's TFTP or of a "
        "bridge, or every exported cipher",
    )
    parser.add_argument(
        "--checked", action="store_true", help="libsimavr from source, with every access checked"
    )
    parser.add_argument(
        "--executions",
        type=int,
        default=0,
        help="of cores and exports: end after so many, such as 100000000 (of exports with those that --keep "
        "counts)",
    )
    parser.add_argument("--keep", type=Path, default=Path("fuzz-found"), help="where to put what was found")
    chosen = parser.parse_args(arguments)
    if chosen.only == LINK:
        return fuzz_link(chosen.seconds, chosen.seed, chosen.keep, chosen.executions)
    if chosen.only in CORES:
        return CORES[chosen.only].fuzz(chosen.seconds, chosen.seed, chosen.keep, chosen.executions)
    if chosen.only == EXPORTS:
        return fuzz_exports(chosen.seconds, chosen.seed, chosen.keep, chosen.executions)
    targets = [chosen.only] if chosen.only else list(TARGETS)
    try:
        drivers = {name: checked_driver(name, chosen.checked) for name in targets}
    except MotecryptError as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return 2
    ends, count, found = time.monotonic() + chosen.seconds, 0, 0
    work = make_dir(cache_dir() / "fuzz" / str(os.getpid()))
    try:
        while time.monotonic() < ends:
            seed, name = chosen.seed + count // len(targets), targets[count % len(targets)]
            count += 1
            told = try_once(name, drivers[name], seed, work)
            if told:
                found += 1
                kept = make_dir(chosen.keep) / f"{name}-{seed}"
                shutil.copytree(work, kept, dirs_exist_ok=True)
                (kept / "told.txt").write_text(told)
                print(f"fuzz: {name} --seed {seed}: {told.strip().splitlines()[0]} ({kept})", flush=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    last = chosen.seed + (count - 1) // len(targets)
    print(f"{count:,} hostile firmwares (seeds {chosen.seed} to {last}), {found} that broke a driver")
    return 1 if found else 0


def checked_driver(name: str, checked_library: bool = False) -> Path:
    """The driver with its checks on, compiled at first use and kept by content."""
    recipe = RECIPES[name]
    flags = [*CHECKS, *recipe.flags()]
    if name != "arm" and checked_library:
        library = _checked_simavr()
        own = [str(library) if Path(flag).name.startswith("libsimavr.so") else flag for flag in flags]
        flags = [*CHECKS, f"-Wl,-rpath,{library.parent}", *own[len(CHECKS) :]]
    hashes = [file_hash(path) for path in reached([DRIVERS / recipe.source], [])]
    key = hashlib.sha256("\0".join([*hashes, *flags]).encode()).hexdigest()[:16]
    target = make_dir(cache_dir() / "fuzz") / f"{name}-{key}"
    if not target.exists():
        _compile([*flags[: len(CHECKS)], str(DRIVERS / recipe.source), *flags[len(CHECKS) :]], target)
    return target


def _compile(arguments: Sequence[str], target: Path) -> None:
    scratch = target.with_name(f".{target.name}.{os.getpid()}")
    command = ["gcc", *arguments, "-o", str(scratch)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise MotecryptError(f"{target.name} does not compile: {done.stderr.strip().splitlines()[-1]}")
    scratch.replace(target)


def _checked_simavr() -> Path:
    """libsimavr with AddressSanitizer, and of its chips the ATmega328P."""
    source = source_root(HERE / "simavr")
    folder = make_dir(cache_dir() / "fuzz" / f"simavr-{file_hash(HERE / 'simavr' / 'library.toml')[:16]}")
    target = folder / "libsimavr.so.2"
    if not target.exists():
        (folder / "sim_core_config.h").write_text(
            '#define CONFIG_SIMAVR_VERSION "1.6"\n#define CONFIG_MEGA328 1\n'
        )
        (folder / "sim_core_decl.h").write_text(
            '#include "sim_core_config.h"\nextern avr_kind_t mega328;\n'
            "#ifdef AVR_KIND_DECL\navr_kind_t *avr_kind[] = {&mega328, NULL};\n#endif\n"
        )
        with suppress(FileExistsError):
            (folder / "simavr").symlink_to(source / "sim")
        cores = ["sim_mega328.c", "sim_megax8.c"]
        files = [*(f for f in sorted((source / "sim").glob("*.c")) if f.name != "run_avr.c")]
        files += [source / "cores" / core for core in cores]
        libelf = [flag for flag in libraries.flags("simavr", "gcc") if flag.startswith(("-I", "-L", "-Wl"))]
        places = [*(f"-I{p}" for p in (folder, source / "sim", source / "cores")), *libelf]
        _compile(
            [
                *("-O1", "-g", "-w", "-fsanitize=address", "-shared", "-fPIC", "-Wl,-soname,libsimavr.so.2"),
                *(*places, "-idirafter", "/usr/lib/avr/include", *map(str, files), "-lelf"),
            ],
            target,
        )
    return target


def try_once(name: str, driver: Path, seed: int, work: Path) -> str | None:
    """Run one firmware; what the driver did wrong, or None."""
    random = Random(f"{name} {seed}")
    for old in list(work.iterdir()):
        old.unlink()
    command = [str(driver), *(_arm(random, work) if name == "arm" else _avr(name, random, work))]
    (work / "command").write_text("\n".join(command))
    (work / "input").write_bytes(random.choice((b"", b"\x7e" * 99, random.randbytes(random.randrange(9000)))))
    try:
        with (work / "input").open("rb") as stdin:
            done = subprocess.run(
                command,
                stdin=stdin,
                capture_output=True,
                timeout=RUN_TIMEOUT_S,
                env={**os.environ, **ENVIRONMENT},
                check=False,
            )
    except subprocess.TimeoutExpired:
        return f"hangs: no end within {RUN_TIMEOUT_S} s"
    said = done.stderr.decode(errors="replace")
    if done.returncode in ALLOWED:
        return None
    lines = [line for line in said.splitlines() if "ERROR: " in line or "runtime error" in line]
    return f"exit code {done.returncode}: {lines[0] if lines else 'no word'}\n{said}"


def _functions(random: Random, work: Path, addresses: Sequence[int]) -> Iterator[str]:
    """A profile, with functions that need not make sense."""
    lines = []
    for _ in range(random.randrange(20)):
        start = random.choice((*addresses, random.randrange(1 << 32)))
        lines.append(
            f"{start:x} {random.choice((start + 40, start, 0, 0xFFFFFFFF, random.randrange(1 << 32))):x}"
        )
    (work / "functions").write_text("\n".join(lines))
    yield from ("--profile", str(work / "profile"), "--functions", str(work / "functions"))


def _avr(name: str, random: Random, work: Path) -> list[str]:
    image = avr_image(random)
    options = [
        "--mcu",
        "atmega328p",
        "--clock",
        "16000000",
        "--max-cycles",
        str(random.choice((20000, 300000))),
    ]
    options += ["--data-end", "0x200"] if random.random() < 0.2 else []
    if name == "simavr":
        options += ["--mark", hex(random.choice((0x3E, 0x4A, 0x25)))]
        options += ["--trace"] if random.random() < 0.5 else []
        options += ["--dump", str(work / "dump")] if random.random() < 0.1 else []
        elf = elf_of([Segment(0, image), Segment(0x810000, bytes(random.randrange(1, 2000)))], AVR, 0)
        (work / "firmware").write_bytes(damaged(random, elf) if random.random() < 0.3 else elf)
        return [*options, str(work / "firmware")]
    (work / "firmware").write_bytes(image)
    options += ["--image", str(work / "firmware")]
    if random.random() < 0.5:
        options += _functions(random, work, range(0, len(image) + 8, 2))
    options += ["--eeprom", str(work / "eeprom")] if random.random() < 0.2 else []
    options += ["--start", "0x7000"] if random.random() < 0.1 else []
    options += [option for option in ("--input", "--stamps", "--bare") if random.random() < 0.2]
    options += ["--adc", "1234"] if random.random() < 0.1 else []
    return options + (["--until", "abab"] if random.random() < 0.2 else [])


def _arm(random: Random, work: Path) -> list[str]:
    image, entry = pico_image(random)
    segments = [Segment(0x10000100, image)]
    if random.random() < 0.3:
        segments.append(Segment(random.choice((0x20000000, 0x20041000, 0x10FFFFFF, 0)), random.randbytes(64)))
    elf = elf_of(segments, ARM, entry)
    (work / "firmware").write_bytes(damaged(random, elf) if random.random() < 0.2 else elf)
    cache = random.choice(("warm", "cold", "kept"))
    whole = arm_command(Catalog.load().device("pico"), work / "firmware", Options(cache=cache))
    command = [str(part) for part in whole[1:-1]]
    for key in ("--events", "--max-cycles"):
        del command[command.index(key) : command.index(key) + 2]
    if random.random() < 0.3:
        command += ["--nor", "100:2000:3000:4000", "--sd", f"{random.choice((0, 1, 64))}:10:20"]
    if random.random() < 0.4:
        command += ["--max-cycles", str(random.choice((20000, 300000)))]
        command += ["--trace"] if random.random() < 0.5 else []
        command += ["--dump", str(work / "dump")] if random.random() < 0.1 else []
    else:
        command += ["--free", "--max-seconds", "0.002", "--max-output", "5000"]
        if random.random() < 0.5:
            command += _functions(random, work, range(0x10000100, 0x10000100 + len(image) + 8, 2))
        command += [option for option in ("--input", "--stamps", "--bare") if random.random() < 0.2]
    return [*command, str(work / "firmware")]
