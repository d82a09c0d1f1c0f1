"""Instructions against QEMU with -icount: the same benchmark firmware, linked for its microbit (Cortex-M0).

QEMU logs every instruction (one to a translation block): between the marks its program counters must be
ours, one by one, and so must their number.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from arm_snippets import pico
from microbit_board import QEMU, RUNS_IT, microbit, requests

from motecrypt.base import process
from motecrypt.base.model import Device
from motecrypt.build.toolchain import BuildRequest, Firmware, build
from motecrypt.build.toolchain.sizes import symbols
from motecrypt.catalog import Catalog
from motecrypt.simulate.runners import Fault, Options, Region, arm
from tool_sets import needs_tool_set

STORE_R0_TO_R3 = 0x6018

pytestmark = [
    pytest.mark.crosscheck,
    needs_tool_set("pico"),
    needs_tool_set("qemu"),
]


def ours(device: Device, built: Firmware, dump: Path) -> tuple[list[Region], list[list[int]]]:
    """The regions, and the program counters of each after its first mark up to its second."""
    regions: list[Region] = []
    deadline = time.monotonic() + 60
    with arm.open_session(device, built.elf, 0, Options(trace=True, dump=dump)) as session:
        while len(regions) < 3 and time.monotonic() < deadline:
            regions += session.regions()
            time.sleep(0.01)
        with pytest.raises(Fault, match="breakpoint"):
            session.read(deadline)
    counters: list[list[int]] = [[]]
    for line in dump.read_text().splitlines():
        if line == "end":
            counters.append([])
        elif not counters[-1] or counters[-1][-1] != int(line.split()[0], 16):
            counters[-1].append(int(line.split()[0], 16))  # several addresses of one instruction: once
    return regions, counters[:3]


def theirs(elf: Path, log: Path, store: int) -> list[list[int]]:
    """The same program counters by QEMU."""
    version = process.run([QEMU, "--version"]).output
    found = re.search(r"version (\d+)\.(\d+)", version)
    assert found, version
    one_each = (
        ["-singlestep"] if (int(found[1]), int(found[2])) < (8, 1) else ["-accel", "tcg,one-insn-per-tb=on"]
    )
    outcome = process.run(
        [
            *(QEMU, *RUNS_IT),
            *(
                "-icount",
                "shift=0",
                *one_each,
                "-d",
                "exec,nochain",
                "-D",
                log,
                "-kernel",
                elf,
            ),
        ],
        timeout_s=100,
    )
    assert outcome.ok, outcome.errors
    executed: list[int] = []
    for line in log.read_text().splitlines():
        if line.startswith("Trace"):
            executed.append(int(line.split("/")[1], 16))
        elif line.startswith(("Stopped execution", "cpu_io_recompile")):
            executed.pop()  # traced, but the counter ran out, or it meets a device: it comes again
    marks = [at for at, counter in enumerate(executed) if counter == store]
    return [executed[b + 1 : e + 1] for b, e in zip(marks[::2], marks[1::2], strict=True)]


@pytest.mark.parametrize(
    ("cipher", "variant"), [("aes128-cbc", "small"), ("rc4", "plain"), ("ascon-aead128", "words")]
)
def test_the_same_instructions_run(tmp_path: Path, cipher: str, variant: str) -> None:
    catalog = Catalog.load()
    body = next(i for i in catalog.implementations_of(cipher, "pico") if i.variant == variant)
    wanted = [
        ("K", bytes(range(16))),
        ("N", bytes(catalog.cipher(cipher).nonce_bytes)),
        ("M", bytes(range(48))),
    ]
    wanted += [("R", bytes([operation, 1, 0])) for operation in (0, 1, 2)]
    device = microbit(pico(), requests(wanted))
    built = build(BuildRequest(device, body, "flash"))
    store = symbols(built.elf)["hal_mark"] & ~1
    code = process.run(["arm-none-eabi-objdump", "-d", "--disassemble=hal_mark", built.elf]).output
    assert re.search(rf"{store + 2:x}:\s+{STORE_R0_TO_R3:x}\s", code), code
    regions, counters = ours(device, built, tmp_path / "dump")
    expected = theirs(built.elf, tmp_path / "log", store + 2)
    assert [r.extra["instructions"] for r in regions] == [len(e) for e in expected]
    assert counters == expected
    print(f"{cipher} {variant}: {[len(e) for e in expected]} instructions, all the same")
