"""The commands of docs/tftp.md, and TFTP clients of three makers with a simulated UNO over a lossy radio."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from test_gateway_page import ROOT, Terminals

from documented import missing
from tool_sets import needs_tool_set

PAGE = (ROOT / "docs" / "tftp.md").read_text()
CLIENT_S = 240
LENGTHS_AND_BLOCKS = ((0, 8), (1, 9), (511, 64), (512, 512), (20_000, 512))
"""Bytes of files, and the block sizes with which atftp asks for them."""


def blocks() -> list[list[list[str]]]:
    """The blocks of commands of that section, as words."""
    section = PAGE.split("## From nothing to a node's log\n")[1].split("\n## ")[0]
    return [
        [shlex.split(line) for line in block.splitlines()]
        for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    ]


def numbers(count: int) -> bytes:
    """What the node's file `count-N` is."""
    return b"".join(b"%06d\n" % line for line in range(count // 7 + 1))[:count]


@contextmanager
def served(folder: Path) -> Iterator[Terminals]:
    """The radio, the node and the gateway of the page, once it has begun."""
    (radio,), (key, make, node), (gateway,), *_ = blocks()
    terminals = Terminals(folder)
    try:
        terminals.start(radio)
        terminals.until((folder / "air-b").exists)
        terminals.finish(key)
        terminals.finish(make)
        running = terminals.start(node)
        terminals.until(lambda: "running at" in running.read_text())
        heard = terminals.start(gateway)
        terminals.until(lambda: "gateway of 1 nodes" in heard.read_text())
        yield terminals
    finally:
        terminals.close()


def client(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a client to its end."""
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=CLIENT_S, check=False)


@pytest.mark.long
@needs_tool_set("avr", "arduino", "link", "tftp")
def test_the_page_leads_from_nothing_to_a_nodes_log_and_three_clients_get_files(tmp_path: Path) -> None:
    import tftpy

    lengths, sizes = zip(*LENGTHS_AND_BLOCKS, strict=True)
    told = f"files of {min(lengths)} to {max(lengths):,} bytes over a radio that loses packets to atftp"
    assert missing("tftp.md", told, f"block sizes of {min(sizes)} to {max(sizes)} bytes") == []
    (first, second, third), (echo, put) = blocks()[3:]
    with served(tmp_path) as terminals:
        for words in (first, second, third):
            done = client(tmp_path, *words)
            assert done.returncode == 0, done.stderr
        for name in ("log", "again"):
            lines = (tmp_path / name).read_text().splitlines()
            assert lines and all(re.fullmatch(r"[+-]\d\d\.\dC", line) for line in lines)
        assert (tmp_path / "numbers").read_bytes() == numbers(512)
        assert echo[:2] == ["echo", "-n"] and echo[3:] == [">", "interval"]
        (tmp_path / "interval").write_text(echo[2])
        assert client(tmp_path, *put).returncode == 0
        (tmp_path / "interval").write_text("never")
        assert client(tmp_path, *put).returncode != 0, "the node refuses what is no number"
        for length, size in LENGTHS_AND_BLOCKS:
            name = f"count-{length}"
            words = ["atftp", "--option", f"blksize {size}", "--option", "tsize 0", "--get"]
            done = client(
                tmp_path, *words, "--remote-file", f"node/7/{name}", "--local-file", name, "localhost", "6969"
            )
            assert done.returncode == 0 and (tmp_path / name).read_bytes() == numbers(length), done.stderr
        for length in (0, 511, 512):
            name = f"count-{length}"
            (tmp_path / name).unlink()
            done = client(
                tmp_path, "tftp", "-m", "binary", "127.0.0.1", "6969", "-c", "get", f"node/7/{name}", name
            )
            assert done.returncode == 0 and (tmp_path / name).read_bytes() == numbers(length), done.stdout
        for size in (8, 512):
            made = tftpy.TftpClient("127.0.0.1", 6969, options={"blksize": size, "tsize": 0})
            made.download("node/7/count-512", str(tmp_path / f"tftpy-{size}"), timeout=10)
            assert (tmp_path / f"tftpy-{size}").read_bytes() == numbers(512)
        with pytest.raises(tftpy.TftpShared.TftpFileNotFoundError):
            made.download("node/7/none", str(tmp_path / "none"), timeout=10)
        last = terminals.running[-1]
        last.send_signal(signal.SIGTERM)
        assert last.wait(CLIENT_S) == 0
        terminals.running.pop()


@needs_tool_set("tftp")
@pytest.mark.parametrize("block", [8, 100, 512])
def test_the_gateways_side_gets_and_puts_files_at_another_makers_server(tmp_path: Path, block: int) -> None:
    """py3tftp has a server and no client."""
    import socket
    import time

    sys.path.insert(0, str(ROOT / "tests"))
    from motecrypt.link.tftp.packets import read_packet
    from motecrypt.link.tftp.transfer import Terms, TftpTransfer
    from tftp_ends import Memory

    content = bytes(range(256)) * 4
    (tmp_path / "there").write_bytes(content)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind(("127.0.0.1", 0))
        port = line.getsockname()[1]
    command = [sys.executable, "-m", "py3tftp", "--host", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    watch = threading.Timer(60, server.kill)
    watch.start()
    try:
        for name, writing in (("there", False), ("back", True)):
            file = Memory(content)
            transfer = TftpTransfer.ask(Terms(block_max=block, timeout_s=0.5, tries=60), file, name, writing)
            to = ("127.0.0.1", port)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
                line.settimeout(0.05)
                while not transfer.over or transfer.packets:
                    while transfer.packets:
                        line.sendto(transfer.packets.popleft(), to)
                        transfer.sent(time.monotonic())
                    try:
                        data, to = line.recvfrom(65536)
                    except TimeoutError:
                        pass
                    else:
                        packet = read_packet(data)
                        assert packet is not None
                        transfer.receive(packet, time.monotonic())
                    transfer.poll(time.monotonic())
            assert transfer.error is None and transfer.block_bytes == block
            assert writing or file.arrived == content
        end = time.monotonic() + 20  # that server acknowledges the last block before it writes the file
        while (tmp_path / "back").read_bytes() != content and time.monotonic() < end:
            time.sleep(0.02)
        assert (tmp_path / "back").read_bytes() == content
    finally:
        watch.cancel()
        server.terminate()
        server.wait(10)
