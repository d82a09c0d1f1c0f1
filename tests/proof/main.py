"""`./test proof`: bounded proofs of the link's core with CBMC: parser, replay window, counter store.
Spin checks its rules of commands and epochs in all states of a model.

CBMC 6.6.0 of Debian 13 is unpacked into the cache at first use (23 MB to fetch; nothing is installed); all
proofs take some minutes. The C is the product's own; README.md next to this file says what is assumed. With
--faults the code is broken in known ways, and each proof must fail.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from motecrypt.base.errors import MotecryptError
from motecrypt.base.model import DebianPackage, Toolchain, ToolchainTarget
from motecrypt.build.toolchain.pinned import place
from motecrypt.catalog import FIRMWARE
from motecrypt.link.native import DEFINES, FOLDER
from proof import rules

HERE = Path(__file__).parent
TIMEOUT_S = 900
CBMC = ToolchainTarget(
    replaces="cbmc",
    command="cbmc",
    version="6.6.0 (cbmc-6.6.0)",
    linker="",
    compile_flags=(),
    include=(),
    packages=(
        DebianPackage(
            "cbmc",
            "6.6.0-4",
            (
                ("amd64", "02560859a17049c976961c232c4fc58f0747b57f9b751a466b1f368a438b0e41"),
                ("arm64", "19f0459aa6d5433e3e607730df5eb1e9ffee75f1a749962ad4e899595de7fa10"),
            ),
        ),
        DebianPackage(
            "minisat",
            "1:2.2.1-8",
            (
                ("amd64", "0b3a870202e022bea8b04d140ded40d9137363566706750b4540518bc0eb63d7"),
                ("arm64", "d098295bf369b4e971f37953093f7f4b1b94f415bfbd9a5033958d92006fbb22"),
            ),
        ),
    ),
    libraries=("libc6", "libgcc-s1", "libstdc++6", "zlib1g"),
)


@dataclass(frozen=True)
class Proof:
    """A harness and how far its loops are unwound; that this is far enough is proven, too."""

    harness: str
    flags: tuple[str, ...]


def _proofs() -> dict[str, Proof]:
    cells = ("--unwind", "189", "--max-field-sensitivity-array-size", "256")
    packets = ("--unwind", "17", "--unwindset", "receive_long.0:64")
    return {
        "window": Proof("window.c", ("--unwind", "20")),
        **{
            f"parser {what}": Proof("parser.c", (f"-D{what.upper()}", *packets))
            for what in ("receive", "begin", "send", "poll")
        },
        "newest": Proof("newest.c", cells),
        "load": Proof("load.c", cells),
        **{f"save slot {slot}": Proof("save.c", (f"-DK={slot}", *cells)) for slot in range(8)},
    }


PROOFS = _proofs()


@dataclass(frozen=True)
class Fault:
    """A defect that a proof must find: a define, or a change of a source's text, which is there once."""

    proof: str
    define: str = ""
    file: str = "link.c"
    old: str = ""
    new: str = ""


FAULTS = {
    "a counter is taken twice": Fault("window", "MC_FAULT_NO_WINDOW"),
    "a failure is forgiven in a record that is not newer": Fault(
        "window", old="if (link->next >= link->record.receive) {", new="if (1) {"
    ),
    "a node's last stored counter is taken as it is": Fault(
        "window", old="link->next < link->record.receive;", new="link->next <= link->record.receive;"
    ),
    "a message is noted late": Fault("window", "MC_FAULT_LATE_CLAIM"),
    "the window is one too long": Fault("window", old="age >= LINK_WINDOW ||", new="age > LINK_WINDOW ||"),
    "a short packet's length is not checked": Fault(
        "parser receive", old="bytes + LINK_SHORT_TAG_BYTES > link->in_room", new="0"
    ),
    "a fragment's place is not checked": Fault(
        "parser receive", old="at + bytes > link->in_room + 3u", new="0"
    ),
    "storage is not read back": Fault("save slot 0", "MC_FAULT_NO_READ_BACK"),
    "one copy is enough": Fault("save slot 0", "MC_FAULT_ONE_COPY"),
    "a key block's figures are not checked": Fault("load", "MC_FAULT_MALFORMED"),
    "a damaged record is not doubted": Fault("load", "MC_FAULT_NO_DOUBT"),
    "a key without records is used": Fault("load", "MC_FAULT_ERASED_IS_NEW"),
    "the older record is taken": Fault(
        "newest", file="store.c", old="read[i] < newest[i]", new="read[i] > newest[i]"
    ),
    "the second copy is written over": Fault(
        "newest", file="store.c", old=" || slot - link->slot < SLOTS - 2", new=""
    ),
}


def main(arguments: Sequence[str]) -> int:
    """Prove, or see the proofs fail; 0 when all is as it must be."""
    parser = argparse.ArgumentParser(prog="./test proof", description=__doc__.partition("\n\n")[2])
    every = (*rules.MODELS, *PROOFS)
    parser.add_argument("names", nargs="*", metavar="PROOF", help=f"one of: {', '.join(every)}")
    parser.add_argument("--faults", action="store_true", help="break the code, and see each proof fail")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.names if name not in every]
    if unknown:
        parser.exit(2, f"test: unknown proof '{unknown[0]}'; available: {', '.join(every)}\n")
    wanted = chosen.names or every
    try:
        wrong = _rules(wanted, chosen.faults)
        if not set(wanted) & set(PROOFS):
            return 1 if wrong else 0
        found = place(Toolchain("cbmc", "CBMC", "trixie", "Debian 13", Path(__file__), (CBMC,)), CBMC)
    except MotecryptError as error:
        print(f"proof: {error}", file=sys.stderr)
        return 2
    cbmc = f"{found.root}/usr/bin/cbmc" if found.root else "cbmc"
    if chosen.faults:
        for what, fault in FAULTS.items():
            if fault.proof not in wanted:
                continue
            with TemporaryDirectory() as folder:
                failed, _ = prove(cbmc, PROOFS[fault.proof], changed(Path(folder), fault), fault.define)
            wrong += not failed
            told = f"fails: {failed[0]}" if failed else "HOLDS, and must not"
            print(f"{what}: {fault.proof} {told}", flush=True)
        return 1 if wrong else 0
    for name in [name for name in wanted if name in PROOFS]:
        started = time.monotonic()
        failed, count = prove(cbmc, PROOFS[name])
        wrong += bool(failed)
        print(f"{name}: {count} properties, {time.monotonic() - started:.0f} s", flush=True)
        for told in failed:
            print(f"  FAILED: {told}", flush=True)
    return 1 if wrong else 0


def _rules(wanted: Sequence[str], broken: bool) -> int:
    """Check the models, or see that they find broken rules; how many are not as they must be."""
    models = [name for name in rules.MODELS if name in wanted]
    program, wrong = rules.spin() if models else "", 0
    for what, each in rules.BROKEN.items() if broken else ():
        if each.model in models:
            said, _ = rules.check(program, each.model, each.rules, each.without, each.prove)
            wrong += not said
            print(f"{what}: {each.model} {'fails: ' + said if said else 'HOLDS, and must not'}", flush=True)
    for name in models if not broken else ():
        started = time.monotonic()
        said, states = rules.check(program, name)
        wrong += bool(said)
        print(f"{name}: {states:,} states, {time.monotonic() - started:.0f} s", flush=True)
        if said:
            print(f"  FAILED: {said}", flush=True)
    return wrong


def changed(folder: Path, fault: Fault) -> Path:
    """A tree like the project's in which the fault's text is changed; its harnesses."""
    link = folder / "src" / "motecrypt" / "firmware" / "link"
    shutil.copytree(FOLDER, link)
    harnesses = shutil.copytree(HERE, folder / "tests" / "proof")
    if fault.old:
        text = (link / fault.file).read_text()
        if text.count(fault.old) != 1:
            raise RuntimeError(f"{fault.file} does not have {fault.old!r} once: mend FAULTS in {__file__}")
        (link / fault.file).write_text(text.replace(fault.old, fault.new))
    return harnesses


def prove(cbmc: str, proof: Proof, harnesses: Path = HERE, define: str = "") -> tuple[list[str], int]:
    """The properties that do not hold, and how many there are."""
    link = harnesses.parents[1] / "src" / "motecrypt" / "firmware" / "link"
    include = [part for place in (link, FIRMWARE / "include") for part in ("-I", str(place))]
    command = [cbmc, str(harnesses / proof.harness), *DEFINES, "-DLINK_SUITE=1", *include, *proof.flags]
    command += [*([f"-D{define}"] if define else []), "--unwinding-assertions", "--object-bits", "12"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    lines = [line for line in done.stdout.splitlines() if re.search(r": (SUCCESS|FAILURE)$", line)]
    if not lines or (done.returncode == 0) != all(line.endswith("SUCCESS") for line in lines):
        raise RuntimeError(f"{proof.harness}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return [line.removesuffix(": FAILURE") for line in lines if line.endswith("FAILURE")], len(lines)
