"""Commands of motecrypt as processes of their own, with virtual radios between. Deadlines are generous."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from motecrypt.link.gateway.opening import open_gateway
from motecrypt.link.native import LISTENS, SHORT, STREAM
from motecrypt.link.node import node_record

SOURCE = Path(__file__).resolve().parents[1] / "src"
DEADLINE_S = 120.0
Process = subprocess.Popen[str]


def start(*arguments: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "motecrypt", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    try:
        return process.communicate(timeout=DEADLINE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"hangs: {process.args}: {process.communicate()}") from None


@contextmanager
def radios(folder: Path, *options: str, radio: str = "srf") -> Iterator[subprocess.Popen[str]]:
    """A pair of virtual radios at a and b in the folder."""
    process = start("radio", radio, "--link", "a", "--link", "b", *options, folder=folder)
    end = time.monotonic() + DEADLINE_S
    while not (folder / "b").is_symlink():
        assert process.poll() is None and time.monotonic() < end, finish(process)
        time.sleep(0.02)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        finish(process)


def listening(folder: Path, *options: str, port: str = "b", lock: str = "key.gateway.lock") -> Process:
    """A receiver that has opened its port."""
    (folder / lock).unlink(missing_ok=True)
    process = start("receive", port, "--json", *options, folder=folder)
    end = time.monotonic() + DEADLINE_S
    while process.poll() is None and not (folder / lock).exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    time.sleep(0.5)
    return process


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def records(output: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in output.splitlines()]


def provision(folder: Path, node: int, options: int = SHORT | LISTENS | STREAM, key: str = "key") -> bytes:
    """Make a node's key file; its storage."""
    gateway = open_gateway(folder / key, None, 12)
    storage = gateway.provision(node, options)
    path = folder / f"node{node}"
    path.touch(mode=0o600)
    path.write_bytes(node_record("aes128-ccm", storage))
    gateway.close()
    return storage
