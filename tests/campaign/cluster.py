"""A sweep on two hosts, in network namespaces, while workers are killed, stopped and cut off.

Host 1 has the scheduler, a worker and the sweep; host 2, which has a cache of its own, two workers, and one
with another compiler. When a twentieth is stored, a worker of host 2 is killed; at a quarter, the network
between the hosts is cut for longer than the scheduler waits for a worker; at a half, host 1's worker is
stopped (SIGSTOP) and stays so. A computer without a certificate, and one with a certificate of another
authority, try to connect. All rows must then be those of a sweep on one computer.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from motecrypt.app.sweep_plan import read_plan
from motecrypt.base.paths import cache_dir
from motecrypt.measuring.cluster.keys import make_keys

CELLS = 10_000
CUT_S = 45.0
DEADLINE_S = 3600.0
HOSTS = {"mc-host1": "10.213.77.1", "mc-host2": "10.213.77.2"}
PORT = 8786
SCHEDULER = f"tls://{HOSTS['mc-host1']}:{PORT}"
CACHED = ("libraries", "drivers")
"""What a host would fetch or build at first use; its firmware it has to build or to be given."""
PLAN = """
title = "two hosts"
[[sweep]]
ciphers = ["ascon-aead128", "aes128-ccm8", "aes128-ccm16"]
libraries = ["motecrypt"]
flags = ["", "-O2", "-O3"]
bytes = "1-{last}"
"""
KNOCK = """
import socket, ssl, sys
host, port, kind = sys.argv[1:]
line = socket.create_connection((host, int(port)), 20)
try:
    if kind == "tls":
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        line = context.wrap_socket(line)
    line.settimeout(20)
    line.sendall(bytes(64))
    told = line.recv(1)
except (ssl.SSLError, ConnectionError):
    told = b""
print("refused" if not told else f"got an answer: {told!r}")
"""
"""Connects without a certificate, with TLS or without. A scheduler answers those that it accepts."""
Rows = list[tuple[object, ...]]


def plan(folder: Path, cells: int) -> Path:
    """A plan of at least so many cells."""
    path = folder / "plan.toml"
    path.write_text(PLAN.format(last=1))
    each = len(read_plan(path).cells)
    path.write_text(PLAN.format(last=-(-cells // each)))
    return path


def rows(path: Path) -> Rows:
    """All measurements, without the time of their making."""
    with closing(sqlite3.connect(path)) as connection:
        names = [name for _, name, *_ in connection.execute("PRAGMA table_info(measurement)")]
        kept = ", ".join(name for name in names if name != "measured_at")
        return connection.execute(f"SELECT {kept} FROM measurement ORDER BY key").fetchall()


def campaign(cells: int) -> int:
    """0 when nothing was lost and nobody was let in."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        print("campaign: --cluster makes network namespaces: run it as root, with iproute2", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="motecrypt-campaign.") as scratch:
        folder = Path(scratch)
        path = plan(folder, cells)
        with _hosts(), _processes() as start:
            print(f"{len(read_plan(path).cells):,} cells", flush=True)
            wrong = Trial(folder, path, start).run()
        began = time.monotonic()
        alone = _command("sweep", str(path), "--jobs", "2", "--db", str(folder / "alone.db"))
        subprocess.run(alone, check=True, timeout=DEADLINE_S, capture_output=True)
        print(f"one computer: {time.monotonic() - began:.0f} s", flush=True)
        ours, theirs = rows(folder / "cluster.db"), rows(folder / "alone.db")
        differ = len(set(map(repr, ours)) ^ set(map(repr, theirs)))
        print(f"{len(ours):,} rows, {differ} differ from those of one computer")
        if differ or len(ours) != len(theirs):
            wrong.append("rows differ")
    print("; ".join(wrong) or "nothing lost, nobody let in")
    return 1 if wrong else 0


class Trial:
    """One sweep with all that goes wrong on the way."""

    def __init__(self, folder: Path, path: Path, start: Callable[..., subprocess.Popen[bytes]]) -> None:
        self._folder, self._path, self._start = folder, path, start
        self._db = folder / "cluster.db"
        self._total = len(read_plan(path).cells)
        make_keys(folder / "keys", ["host1", "host2"], 2)
        make_keys(folder / "others", ["stranger"], 2)

    def run(self) -> list[str]:
        """What went wrong; nothing, if all is well."""
        one, two = HOSTS
        self._begin(one, "cluster", "scheduler", "--listen", SCHEDULER, *self._tls("host1"))
        time.sleep(5)
        near = self._begin(one, "cluster", "worker", SCHEDULER, "--workers", "1", *self._tls("host1"))
        far = self._begin(two, "cluster", "worker", SCHEDULER, "--workers", "2", *self._tls("host2"))
        self._begin(
            two, "cluster", "worker", SCHEDULER, "--workers", "1", *self._tls("host2"), path=self._compiler()
        )
        wrong = self._strangers()
        began, said = time.monotonic(), self._folder / "said"
        words = ("sweep", str(self._path), "--cluster", SCHEDULER, *self._tls("host1"), "--db", str(self._db))
        with said.open("wb") as file:
            sweep = self._begin(one, *words, output=file)
            self._reach(sweep, 0.05)
            os.kill(_children(far)[0], signal.SIGKILL)
            self._tell("killed a worker of host 2", began)
            self._reach(sweep, 0.25)
            _ip("-n", two, "link", "set", "mc-link2", "down")
            self._tell("cut the network", began)
            time.sleep(CUT_S)
            _ip("-n", two, "link", "set", "mc-link2", "up")
            self._tell("joined the network", began)
            self._reach(sweep, 0.5)
            os.kill(_children(near)[0], signal.SIGSTOP)
            self._tell("stopped the worker of host 1", began)
            code = sweep.wait(DEADLINE_S)
        self._tell(f"ended with {code}", began)
        text = said.read_text()
        print("".join(f"  {line}\n" for line in text.splitlines() if "worker" in line), end="", flush=True)
        if code != 0:
            wrong.append(f"the sweep ended with {code}: {text.strip().splitlines()[-1:]}")
        if "refused: compiles for uno with" not in text:
            wrong.append("the other compiler was not refused")
        carried = sum(int(_traffic(two, way)) for way in ("rx_bytes", "tx_bytes"))
        print(f"host 2 sent and received {carried / 1e6:.1f} MB", flush=True)
        return wrong

    def _tls(self, name: str) -> tuple[str, str]:
        return "--tls", str(self._folder / "keys" / name)

    def _begin(
        self, host: str, *words: str, path: str = "", output: object = None
    ) -> subprocess.Popen[bytes]:
        cache = self._folder / f"cache-{host}"
        if not cache.exists():
            for name in CACHED:
                if (cache_dir() / name).is_dir():
                    shutil.copytree(cache_dir() / name, cache / name, symlinks=True)
        environment = {"MOTECRYPT_CACHE": str(cache)}
        if path:
            environment["PATH"] = f"{path}:{os.environ['PATH']}"
        return self._start(host, words, environment, output)

    def _compiler(self) -> str:
        """A folder with an avr-gcc that says that it is another one."""
        folder = self._folder / "bin"
        folder.mkdir()
        real = shutil.which("avr-gcc")
        other = folder / "avr-gcc"
        other.write_text(
            f'#!/bin/sh\n[ "$1" = --version ] && echo "avr-gcc (GCC) 99.0" && exit\nexec {real} "$@"\n'
        )
        other.chmod(0o755)
        return str(folder)

    def _strangers(self) -> list[str]:
        """Connect without a right certificate; what was let in, or refused for another reason."""
        wrong = []
        other = str(self._folder / "others/stranger")
        tried = self._begin(
            "mc-host2",
            *("sweep", str(self._path), "--cluster", SCHEDULER, "--tls", other),
            *("--db", str(self._folder / "stranger.db")),
            output=subprocess.PIPE,
        )
        said, _ = tried.communicate(timeout=120)
        line = said.decode().strip().splitlines()[-1:]
        if tried.returncode != 2 or "it refuses the certificate" not in "".join(line):
            wrong.append(f"another authority: exit code {tried.returncode}, {line}")
        for what in ("tls", "tcp"):
            words = ["ip", "netns", "exec", "mc-host2", sys.executable, "-P", "-c", KNOCK]
            knocked = subprocess.run(
                [*words, HOSTS["mc-host1"], str(PORT), what],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            if knocked.stdout != "refused\n":
                wrong.append(f"no certificate, {what}: {knocked.stdout or knocked.stderr}")
        return wrong

    def _reach(self, sweep: subprocess.Popen[bytes], share: float) -> None:
        """Wait until this share is stored."""
        until = time.monotonic() + DEADLINE_S
        while time.monotonic() < until and sweep.poll() is None:
            if self._db.exists() and len(_keys(self._db)) >= share * self._total:
                return
            time.sleep(0.2)
        raise SystemExit(f"campaign: {share:.0%} was never reached; the sweep ended with {sweep.poll()}")

    def _tell(self, what: str, began: float) -> None:
        stored = len(_keys(self._db)) if self._db.exists() else 0
        print(f"{time.monotonic() - began:6.0f} s, {stored:6,} stored: {what}", flush=True)


def _keys(db: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(db, timeout=30)) as connection:
        try:
            return connection.execute("SELECT key FROM measurement").fetchall()
        except sqlite3.OperationalError:  # no table yet
            return []


def _command(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "motecrypt", *words]


def _children(process: subprocess.Popen[bytes]) -> list[int]:
    told = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(pid) for pid in told.split()]


def _traffic(host: str, way: str) -> str:
    command = ["ip", "netns", "exec", host, "cat", f"/sys/class/net/mc-link2/statistics/{way}"]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, timeout=20, check=False)
    if done.returncode != 0:
        raise SystemExit(f"campaign: ip {' '.join(words)}: {done.stderr.strip()}")


@contextmanager
def _hosts() -> Iterator[None]:
    """Two namespaces with a cable between them."""
    try:
        for name in HOSTS:
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
        one, two = HOSTS
        _ip("link", "add", "mc-link1", "netns", one, "type", "veth", "peer", "name", "mc-link2", "netns", two)
        for number, (name, address) in enumerate(HOSTS.items(), 1):
            _ip("-n", name, "address", "add", f"{address}/24", "dev", f"mc-link{number}")
            _ip("-n", name, "link", "set", f"mc-link{number}", "up")
        yield
    finally:
        for name in HOSTS:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, timeout=20, check=False)


@contextmanager
def _processes() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start programs in namespaces; all are ended, however the block ends."""
    begun: list[subprocess.Popen[bytes]] = []

    def start(
        host: str, words: Sequence[str], environment: Mapping[str, str], output: object
    ) -> subprocess.Popen[bytes]:
        command = ["ip", "netns", "exec", host, *_command(*words)]
        stream = subprocess.DEVNULL if output is None else output
        process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=stream,  # type: ignore[arg-type]
            stderr=subprocess.STDOUT,
        )
        begun.append(process)
        return process

    try:
        yield start
    finally:
        for process in begun:
            if process.poll() is None:
                for child in _children(process):
                    os.kill(child, signal.SIGCONT)
                process.terminate()
        for process in begun:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
