"""The gateway under restrictions of its systemd unit that a root can set without systemd.

These are: another user without privileges and capabilities, a file system on which only the folder of the
gateway can be written, and homes that are closed.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from gateway_bed import DEADLINE_S
from gateway_running import ROOT, Running
from motecrypt.base.paths import cache_dir
from motecrypt.link.file_parts import file_parts
from motecrypt.link.keys import create_master_file
from motecrypt.link.native import CONFIRMED, FILE, Event, link_library
from tool_sets import needs_tool_set

NOBODY = 65_534
SETUP = """
set -e
mount --make-rprivate /
mount --bind {folder} {folder}
mount -o remount,bind,ro /
mount -t tmpfs -o mode=000 none /home
cd {folder}
unprivileged="--no-new-privs --bounding-set -all --inh-caps -all"
exec setpriv --reuid {user} --regid {user} --clear-groups $unprivileged "$@"
"""


def _can() -> bool:
    if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("setpriv"):
        return False
    try:
        _as_unit(Path("/mnt"), ["true"], capture_output=True, timeout=60, check=True)
        read = [sys.executable, "-c", f"open({str(ROOT / 'src/motecrypt/__init__.py')!r})"]
        _as_unit(Path("/mnt"), read, capture_output=True, timeout=60, check=True)
    except (subprocess.SubprocessError, OSError):
        return False
    return True


def _words(folder: Path) -> list[str]:
    return ["unshare", "--mount", "sh", "-c", SETUP.format(folder=folder, user=NOBODY), "sh"]


def _as_unit(folder: Path, words: list[str], **given: object) -> subprocess.CompletedProcess[bytes]:
    done: subprocess.CompletedProcess[bytes] = subprocess.run([*_words(folder), *words], **given)  # type: ignore[call-overload]
    return done


class Restricted(Running):
    """The program under these restrictions."""

    def _popen(self, port: str, arguments: tuple[str, ...], out: IO[str]) -> subprocess.Popen[str]:
        os.chown(self.radio.path, NOBODY, NOBODY)
        for each in (self.folder, *self.folder.rglob("*")):
            os.chown(each, NOBODY, NOBODY, follow_symlinks=False)
        command = [sys.executable, "-m", "motecrypt", "gateway", port, "--key", "key", "--json", *arguments]
        return subprocess.Popen(
            [*_words(self.folder), *command],
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT / "src"),
                "PYTHONUNBUFFERED": "1",
                "MOTECRYPT_CACHE": str(self.folder / "cache"),
                "HOME": "/home/motecrypt",
            },
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of the user's own, where that user can come."""
    if not _can():
        pytest.skip("needs root, and the right to mount")
    made = Path(tempfile.mkdtemp(prefix="motecrypt-unit.", dir="/var/lib"))
    try:
        made.chmod(0o700)
        create_master_file(made / "key")
        (made / "cache" / "link").mkdir(parents=True)
        shutil.copy(link_library("aes128-ccm"), made / "cache" / "link")
        yield made
    finally:
        shutil.rmtree(made)


@pytest.mark.long
@needs_tool_set("link")
def test_the_gateway_works_under_the_restrictions_of_its_unit(folder: Path) -> None:
    sinks = ("--sqlite", "readings.db", "--csv", "readings.csv", "--csv-mb", "1", "--output", "inbox")
    running = Restricted(folder, *sinks)
    try:
        running.say(b"21.4 C")
        running.until(lambda: not running.node.waiting)
        for part in file_parts("log", b"line", 100):
            assert running.node.send(part, CONFIRMED | FILE) is Event.WAITING
            running.radio.put(*(running.node.on_line(packet) for packet in running.node.packets()))
            running.until(lambda: not running.node.waiting)
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(DEADLINE_S) == 0
    finally:
        running.process.kill()
        _, errors = running.process.communicate(timeout=DEADLINE_S)
    assert errors == ""
    with sqlite3.connect(folder / "readings.db") as base:
        assert [kind for (kind,) in base.execute("SELECT kind FROM messages")] == ["message", "file"]
    assert (folder / "inbox" / "log").read_bytes() == b"line"
    assert {each.stat().st_uid for each in folder.rglob("*")} == {NOBODY}
    assert cache_dir() != folder / "cache"
