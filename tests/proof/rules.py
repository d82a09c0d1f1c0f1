"""The rules of commands and of epochs: commands.pml and epochs.pml, which Spin checks in all their states."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from motecrypt.base.model import DebianPackage, Toolchain, ToolchainTarget
from motecrypt.build.toolchain.pinned import place

HERE = Path(__file__).parent
TIMEOUT_S = 900
SPIN = ToolchainTarget(
    replaces="spin",
    command="spin",
    version="Spin Version 6.5.2",
    linker="",
    compile_flags=(),
    include=(),
    packages=(
        DebianPackage(
            "spin",
            "6.5.2+dfsg-2",
            (
                ("amd64", "4da62cab550cac39bb5fd8fd49a403a18ff34119883e536b21337b49687924b6"),
                ("arm64", "6d7b94a1112110492804e094e7215c84ea822d70d3f82a5f0bb43d45dc5a49b9"),
            ),
        ),
    ),
    libraries=("libc6",),
)
MODELS = ("commands", "epochs")


@dataclass(frozen=True)
class Broken:
    """Rules that a model must find wrong: an older version's, or today's without one of them."""

    model: str
    rules: int = 21
    without: int = 0
    prove: int = 0


BROKEN = {
    "a command from before a start, by the rules of version 2.0": Broken("commands", rules=20, prove=1),
    "two commands of one message, by the rules of version 2.0": Broken("commands", rules=20, prove=2),
    "a start does not forget what may be named": Broken("commands", without=1),
    "a message serves any number of commands": Broken("commands", without=2),
    "one backup twice under one clock, by the rules of version 2.0": Broken("epochs", rules=20, prove=1),
    "a clock that was set back, by the rules of version 2.0": Broken("epochs", rules=20, prove=2),
    "epochs without random bits": Broken("epochs", without=1),
    "no other epoch after a refusal": Broken("epochs", without=2),
    "a node takes another epoch of its number": Broken("epochs", without=3),
    "an offer that was not confirmed counts as an epoch": Broken("epochs", without=4),
}


def spin() -> str:
    """The program: the system's, else Debian's, unpacked into the cache; InputError where there is none."""
    if found := shutil.which("spin"):
        return found
    root = place(Toolchain("spin", "Spin", "trixie", "Debian 13", Path(__file__), (SPIN,)), SPIN).root
    return f"{root}/usr/bin/spin" if root else "spin"


def check(program: str, model: str, rules: int = 21, without: int = 0, prove: int = 0) -> tuple[str, int]:
    """What does not hold, or nothing, and how many states were visited."""
    defines = [f"-DRULES={rules}", f"-DWITHOUT={without}", f"-DPROVE={prove}"]
    with TemporaryDirectory(prefix="motecrypt-spin.") as folder:
        for command in (
            [program, "-a", *defines, str(HERE / f"{model}.pml")],
            ["gcc", "-O2", "-w", "-DSAFETY", "-DMEMLIM=6000", "-o", "pan", "pan.c"],
            ["./pan", "-m1000000", "-E"],
        ):
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
            )
            if done.returncode != 0 and command[0] != "./pan":
                raise RuntimeError(f"{model}: {done.stdout[-500:]}{done.stderr[-500:]}")
    states = re.search(r"(\d+) states, stored", done.stdout)
    if states is None or "max search depth too small" in done.stdout or "MEMLIM bound" in done.stdout:
        raise RuntimeError(f"{model}: {done.stdout[-500:]}{done.stderr[-500:]}")
    wrong = re.search(r"assertion violated (.*)", done.stdout)
    if bool(wrong) == ("errors: 0" in done.stdout):
        raise RuntimeError(f"{model}: {done.stdout[-500:]}")
    return (wrong[1] if wrong else ""), int(states[1])
