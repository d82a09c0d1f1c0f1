"""A simulated Pico with the exported example `log`, whose flash already holds a log of the length asked for.

`python tests/pico_log.py --bytes 600000` fetches it with atftp through the radio and the gateway, and prints
what that took (docs/tftp.md). The example is compiled as exported, over tests/pico_sdk.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from exports_bed import CATALOG, SRF, planned, run
from motecrypt.catalog import FIRMWARE
from motecrypt.link.provisioning import FLASH_OFFSET
from motecrypt.results.experiments.pico_file import storage_times
from motecrypt.simulate.runners.arm import command as arm_command
from motecrypt.simulate.runners.session import Options
from terminals import Terminals

ROOT = Path(__file__).resolve().parents[1]
FLASH, LOG_AT, SECTOR, LINE = 0x10000000, 0x100000, 4096, 8
CIPHER = "aes128-ccm8"
NOW = b"+27.0 C\n"
"""What the simulated Pico measures."""


def lines(count: int) -> bytes:
    """A number of lines of a log, each different from the one before."""
    return b"".join(b"+%02d.%d C\n" % (n // 10 % 100, n % 10) for n in range(count))


@dataclass(frozen=True)
class Held:
    """What the Pico begins with: a log, where in its flash that is, and its longest block (0: any)."""

    log: bytes
    log_at: int = LOG_AT
    block_max: int = 0


def build(folder: Path, keys: Path, held: Held) -> Path:
    """The exported example, with keys of `provision --flash` and a log in its flash; the ELF."""
    device = CATALOG.devices["pico"]
    made = planned("pico-sdk", CIPHER, SRF)
    made.write(folder / "lib")
    whole_sectors = len(held.log) + -len(held.log) % SECTOR
    (folder / "log.bin").write_bytes(held.log.ljust(whole_sectors, b"\xff"))  # else zeros may follow it
    parts = {".keys": (keys, FLASH_OFFSET), ".log": (folder / "log.bin", held.log_at)}
    (folder / "flash.S").write_text(
        "".join(f'.section {name},"a"\n.incbin "{file}"\n' for name, (file, _) in parts.items())
    )
    files = [path for place in ("src", "examples/log") for path in (folder / "lib" / place).rglob("*.[cS]")]
    files += [ROOT / "tests" / "pico_sdk" / "sdk.c", FIRMWARE / "files" / "nor.c", folder / "flash.S"]
    files += [device.folder / name for name in device.hal]
    include = [folder / "lib" / "src", FIRMWARE / "include", FIRMWARE / "files", ROOT / "tests" / "pico_sdk"]
    flags = [*device.compiler.machine_flags, *device.compiler.flags, "-std=gnu99"]
    flags += [f"-DLOG_AT={held.log_at:#x}", f"-DBLOCK_MAX={held.block_max}"]
    link = [*device.compiler.link_flags, f"-T{FIRMWARE / 'files' / 'files.ld'}"]
    link += [f"-Wl,--section-start={name}={FLASH + at:#x}" for name, (_, at) in parts.items()]
    elf = folder / "log.elf"
    run(
        [device.compiler.command, *flags, *(f"-I{each}" for each in include), *files, *link, "-o", elf],
        folder,
    )
    return elf


def command(elf: Path, port: Path) -> list[str]:
    """Run it at a virtual radio's port in real time; its flash can be erased and programmed."""
    device = CATALOG.devices["pico"]
    words = [part for part in arm_command(device, elf, Options()) if part != elf]
    at = words.index("--max-cycles")
    del words[at : at + 2]
    flash = storage_times()["flash"]
    in_us = [flash["program_page_us"], *(1000 * flash[f"erase_{n}_ms"] for n in ("4k", "32k", "64k"))]
    busy = ":".join(str(round(us * device.clock_hz / 1e6)) for us in in_us)
    words += ["--nor", busy, elf, "--free", "--real", "--port", port]
    return [str(word).replace("{events}", "2") for word in words]


class PicoLog:
    """The radio, the Pico as node 7 and the gateway, which serves TFTP, in a folder; a context.

    Attributes
    ----------
    port : of UDP, where the gateway serves.
    """

    def __init__(self, folder: Path, held: Held) -> None:
        self._folder = folder
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            line.bind(("127.0.0.1", 0))
            self.port = line.getsockname()[1]
        terminals = self._terminals = Terminals(folder)
        try:
            terminals.start(["./motecrypt", "radio", "srf", "--link", "air-a", "--link", "air-b"])
            terminals.until((folder / "air-b").exists)
            terminals.finish(["./motecrypt", "key", "gateway.key", "--link"])
            provision = ["./motecrypt", "provision", "7", "--key", "gateway.key", "--radio", "srf"]
            terminals.finish([*provision, "--flash", "node.flash"])
            elf = build(folder, folder / "node.flash", held)
            gateway = ["./motecrypt", "gateway", "air-b", "--key", "gateway.key", "--speaks", "7"]
            heard = terminals.start([*gateway, "--tftp", str(self.port)])
            terminals.until(lambda: "gateway of 1 nodes" in heard.read_text())
            terminals.start(command(elf, folder / "air-a"))
            terminals.until(lambda: "node 7: log" in heard.read_text())
        except BaseException:
            terminals.close()
            raise

    def __enter__(self) -> PicoLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._terminals.close()

    def fetch(self, block: int, limit_s: float = 120) -> bytes:
        """The Pico's log by atftp in blocks of that size."""
        self._atftp("--option", f"blksize {block}", "--get", "--remote-file", "node/7/log", limit_s=limit_s)
        return (self._folder / "local").read_bytes()

    def put(self, name: str, content: bytes) -> None:
        """A file to the Pico."""
        (self._folder / "local").write_bytes(content)
        self._atftp("--put", "--remote-file", f"node/7/{name}", limit_s=120)

    def _atftp(self, *words: str, limit_s: float) -> None:
        told = ["atftp", *words, "--local-file", "local", "localhost", str(self.port)]
        done = subprocess.run(
            told, cwd=self._folder, capture_output=True, text=True, timeout=limit_s, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def main() -> int:
    """Fetch a log once, and print what that took; 0 if it came whole."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--bytes", type=int, default=600_000, help="of the log (default: %(default)s)")
    parser.add_argument("--block", type=int, default=8, help="of the client (default: %(default)s)")
    parser.add_argument("--node-block", type=int, default=0, help="of the Pico at most (default: any)")
    chosen = parser.parse_args()
    log = lines(chosen.bytes // LINE)
    with (
        tempfile.TemporaryDirectory(prefix="motecrypt-pico.") as folder,
        PicoLog(Path(folder), Held(log, block_max=chosen.node_block)) as pico,
    ):
        begun = time.monotonic()
        got = pico.fetch(chosen.block, limit_s=7200)
        took = time.monotonic() - begun
    blocks = len(got) // chosen.block + 1
    whole = got == log + NOW
    print(f"{len(got):,} bytes in {blocks:,} blocks of {chosen.block}: {'whole' if whole else 'NOT WHOLE'}")
    print(f"{took:.0f} s on the clock, {len(got) / took:,.0f} bytes a second")
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
