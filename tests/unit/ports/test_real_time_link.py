"""The link in real time: programs, virtual radios and a simulated mote together. Deadlines are generous."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from motecrypt.errors import InputError
from motecrypt.link import create_key_file, read_key_file
from motecrypt.ports.mote import RunningMote
from motecrypt.ports.serial_port import SerialPort
from motecrypt.toolchain.drivers import driver
from motecrypt.toolchain.mote import Mote, build_mote

pytestmark = pytest.mark.long

SOURCE = Path(__file__).resolve().parents[3] / "src"
DEADLINE_S = 120.0


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
def radios(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A pair of virtual radios at a and b in the folder."""
    process = start("radio", "srf", "--link", "a", "--link", "b", *options, folder=folder)
    end = time.monotonic() + DEADLINE_S
    while not (folder / "b").is_symlink():
        assert process.poll() is None and time.monotonic() < end, finish(process)
        time.sleep(0.02)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        finish(process)


def listening(folder: Path, *options: str) -> subprocess.Popen[str]:
    """A receiver at b that has opened its port."""
    process = start("receive", "b", "--json", *options, folder=folder)
    end = time.monotonic() + DEADLINE_S
    while process.poll() is None and not (folder / "key.window.lock").exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    time.sleep(0.3)
    return process


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def highest_counter(folder: Path, stream: int) -> int:
    """The highest counter that the receiver has accepted from a stream; -1 before the first."""
    window = folder / "key.window"
    if not window.exists():
        return -1
    streams = json.loads(window.read_text().splitlines()[0])["streams"]
    return int(streams[str(stream)][0]) if str(stream) in streams else -1


def records(output: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in output.splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create_key_file(tmp_path / "key")
    return tmp_path


def test_ten_kilobytes_arrive_intact_under_loss(folder: Path) -> None:
    content = random.Random(1).randbytes(10_240)
    (folder / "data.bin").write_bytes(content)
    with radios(folder, "--loss", "0.1", "--seed", "3"):
        receiver = listening(folder, "--key", "key", "--output", "inbox", "--count", "2")
        sender = start("send", "a", "--key", "key", "--json", "--file", "data.bin", "hello", folder=folder)
        output, errors = finish(sender)
        assert sender.returncode == 0, errors
        received, _ = finish(receiver)
    summary = json.loads(output)
    assert summary["unconfirmed"] == summary["refused"] == 0 and summary["frames_sent_again"] > 0
    first, second, last = records(received)
    assert first["message"] == "hello" and second["bytes"] == 10_240
    assert (folder / "inbox" / "data.bin").read_bytes() == content
    assert last["summary"]["accepted"] == summary["accepted"]  # type: ignore[index]


def test_the_papers_modes_carry_messages(folder: Path) -> None:
    for mode, expected in (("T", 14), ("P", 36), ("B", 32)):
        with radios(folder):
            options = ["--mode", mode, "--key", "key"]
            receiver = start("receive", "b", "--json", *options, "--count", "1", folder=folder)
            time.sleep(0.5)
            for _ in range(20):
                # No mode of the paper's tells whether anybody listens yet.
                sender = start("send", "a", "--json", *options, "fourteen bytes", folder=folder)
                output, errors = finish(sender)
                assert sender.returncode == 0 and "do not deploy" in errors
                if receiver.poll() is not None:
                    break
            received, _ = finish(receiver)
        row = json.loads(output)["messages"][0]
        assert row["sent_bytes"] == expected and row["message_bytes"] == 14
        assert records(received)[0]["message"] == "fourteen bytes"


def test_another_key_is_told_and_nothing_is_accepted(folder: Path) -> None:
    create_key_file(folder / "other")
    with radios(folder):
        receiver = listening(folder, "--key", "key")
        sender = start("send", "a", "--key", "other", "secret", folder=folder)
        _, errors = finish(sender)
        assert sender.returncode == 1 and "the same key?" in errors.splitlines()[-1]
        receiver.send_signal(signal.SIGTERM)
        received, _ = finish(receiver)
    assert receiver.returncode == 0 and records(received)[-1]["summary"]["accepted"] == 0  # type: ignore[index]


def test_another_packet_length_is_told(folder: Path) -> None:
    with radios(folder):
        receiver = listening(folder, "--key", "key", "--packet-bytes", "24")
        sender = start("send", "a", "--key", "key", "hello", folder=folder)
        _, errors = finish(sender)
        assert sender.returncode == 1 and "same packet length" in errors.splitlines()[-1]
        receiver.send_signal(signal.SIGINT)
        assert finish(receiver) and receiver.returncode == 0


def test_a_port_that_vanishes_is_one_line_and_the_receiver_waits(folder: Path) -> None:
    with radios(folder) as pair:
        receiver = listening(folder, "--key", "key", "--count", "1")
        (folder / "big").write_bytes(bytes(200_000))
        sender = start("send", "a", "--key", "key", "--file", "big", folder=folder)
        wait_for((folder / "key.window").exists)
        pair.send_signal(signal.SIGINT)
        _, errors = finish(sender)
        assert sender.returncode == 1 and "vanished" in errors.splitlines()[-1]
        pair.wait(DEADLINE_S)
    with radios(folder):
        # Both ends are new ports; the receiver finds its own again.
        sender = start("send", "a", "--key", "key", "here again", folder=folder)
        for _ in range(20):
            _, errors = finish(sender)
            if sender.returncode == 0:
                break
            sender = start("send", "a", "--key", "key", "here again", folder=folder)
        received, errors = finish(receiver)
    assert "waiting for it" in errors and "is back" in errors
    assert records(received)[0]["message"] == "here again"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["send", "/dev/nonesuch", "--key", "key", "x"], "does not exist"),
        (["receive", "/dev/nonesuch", "--key", "key"], "does not exist"),
        (["send", "key", "--key", "key", "x"], "no serial port"),
        (["send", "a", "x"], "--key: missing"),
        (["send", "a", "--key", "open", "x"], "chmod 600"),
        (["send", "a", "--key", "short", "x"], "16, 24 or 32"),
        (["send", "a", "--key", "key", "--packet-bytes", "0", "x"], "it takes 1 to 240"),
        (["send", "a", "--key", "key", "--radio", "smoke", "x"], "unknown radio"),
        (["radio", "srf", "--loss", "2"], "probability"),
        (["mote", "--key", "key", "--stream", "0", "x.elf"], "another one for each mote"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(folder: Path, arguments: Sequence[str], message: str) -> None:
    (folder / "open").write_text("00" * 32)
    (folder / "short").write_text("00" * 5)
    (folder / "short").chmod(0o600)
    process = start(*arguments, folder=folder)
    _, errors = finish(process)
    assert process.returncode == 2 and message in errors and errors.count("\n") == 1, errors


def test_a_busy_port_and_a_damaged_counter_are_refused(folder: Path) -> None:
    master, slave = os.openpty()
    tty.setraw(slave)
    name = os.ttyname(slave)
    with SerialPort(name), pytest.raises(InputError, match="busy"):
        SerialPort(name)
    (folder / "key.counter").write_text("7\n")
    process = start("send", name, "--key", "key", "x", folder=folder)
    _, errors = finish(process)
    assert process.returncode == 2 and "damaged" in errors and errors.count("\n") == 1
    assert not select.select([master], [], [], 0)[0], "nothing may be sent"
    os.close(master)
    os.close(slave)


def test_command_mode_over_a_port(folder: Path) -> None:
    with radios(folder), SerialPort(str(folder / "a")) as port:
        time.sleep(1.2)
        answer = b""
        for text in (b"+++", b"ATPK\r", b"ATZZ\r", b"ATDN\r"):
            port.write(text)
            end = time.monotonic() + DEADLINE_S
            before = len(answer)
            while time.monotonic() < end and not answer[before:].endswith((b"OK\r", b"ERR\r")):
                select.select([port], [], [], 1.0)
                answer += port.read()
    assert answer == b"OK\r0C\rOK\rERR\rOK\r"


def test_the_modules_own_encryption_is_switched_on_at_both_ends(folder: Path) -> None:
    create_key_file(folder / "module", 16)
    options = ["--key", "key", "--module-key", "module"]
    with radios(folder):
        receiver = start("receive", "b", "--json", *options, "--count", "1", folder=folder)
        sender = start("send", "a", *options, "sealed twice", folder=folder)
        _, errors = finish(sender)
        for _ in range(5):
            # The receiver's module may have been set up after the sender's first question was over.
            if sender.returncode == 0:
                break
            sender = start("send", "a", *options, "sealed twice", folder=folder)
            _, errors = finish(sender)
        assert sender.returncode == 0, errors
        received, _ = finish(receiver)
    assert records(received)[0]["message"] == "sealed twice"


def test_bytes_never_come_before_the_model_says(folder: Path) -> None:
    process = start("radio", "srf", "--link", "a", "--link", "b", "--json", folder=folder)
    while not (folder / "b").is_symlink():
        assert process.poll() is None
        time.sleep(0.02)
    with SerialPort(str(folder / "a")) as first, SerialPort(str(folder / "b")) as second:
        begun = time.monotonic()
        first.write(bytes(31))
        got = b""
        while len(got) < 31 and time.monotonic() < begun + DEADLINE_S:
            select.select([second], [], [], 1.0)
            got += second.read()
        took = time.monotonic() - begun
    process.send_signal(signal.SIGINT)
    output, _ = finish(process)
    assert got == bytes(31) and took > 31 * 86.8e-6 + 0.1
    pacing = json.loads(output[output.index("}\n{") + 2 :])["pacing"]
    assert pacing["deliveries"] == 3 and pacing["median_us"] >= 0 and pacing["overrun_bytes"] == 0


def readings(output: str) -> list[str]:
    return [str(record["message"]) for record in records(output)[:-1]]


def test_uno_to_gateway_in_the_safe_mode_with_a_power_cut(folder: Path) -> None:
    build_mote(Mote("safe", read_key_file(folder / "key"), stream=7, interval_ms=100), folder / "mote.elf")
    with radios(folder, "--loss", "0.1", "--seed", "5"):
        receiver = listening(folder, "--key", "key", "--count", "8")
        for last in (False, True):
            mote = RunningMote(driver("avr_run"), folder / "mote.elf", str(folder / "a"), folder / "eeprom")
            try:
                if last:
                    received, errors = finish(receiver)
                else:
                    time.sleep(1.5)
            finally:
                mote.cut_power()
    shown = readings(received)
    assert len(shown) == 8 and all(text.endswith("t=24.6C") for text in shown), errors
    identities = [(record["stream"], record["counter"]) for record in records(received)[:-1]]
    assert len(set(identities)) == 8 and {stream for stream, _ in identities} == {7}
    summary = records(received)[-1]["summary"]
    assert summary["not_genuine"] == 0  # type: ignore[index]


def test_the_mote_never_repeats_a_counter_over_power_cuts(folder: Path) -> None:
    build_mote(Mote("safe", read_key_file(folder / "key"), stream=3, interval_ms=20), folder / "mote.elf")
    with radios(folder):
        receiver = listening(folder, "--key", "key", "--seconds", "6")
        for _ in range(3):
            with RunningMote(
                driver("avr_run"), folder / "mote.elf", str(folder / "a"), folder / "eeprom"
            ) as mote:
                time.sleep(1.2)
                mote.cut_power()
        received, _ = finish(receiver)
    counters = [int(str(record["counter"])) for record in records(received)[:-1]]
    assert len(set(counters)) == len(counters) > 3 and counters == sorted(counters)
    assert max(counters) > 128


def test_uno_to_gateway_in_the_papers_mode(folder: Path) -> None:
    build_mote(Mote("C", read_key_file(folder / "key"), interval_ms=1500), folder / "mote.elf")
    with radios(folder):
        options = ["--key", "key", "--mode", "C", "--gap-ms", "500", "--count", "2"]
        receiver = start("receive", "b", "--json", *options, folder=folder)
        time.sleep(1.0)
        with RunningMote(driver("avr_run"), folder / "mote.elf", str(folder / "a")):
            received, errors = finish(receiver)
    assert all(text.startswith("n=000") for text in readings(received)), errors
    assert records(received)[0]["received_bytes"] == 32


def test_a_damaged_eeprom_keeps_the_mote_silent(folder: Path) -> None:
    build_mote(Mote("safe", read_key_file(folder / "key"), interval_ms=20), folder / "mote.elf")
    (folder / "eeprom").write_bytes(bytes(1024))
    master, slave = os.openpty()
    tty.setraw(slave)
    with RunningMote(driver("avr_run"), folder / "mote.elf", os.ttyname(slave), folder / "eeprom"):
        assert not select.select([master], [], [], 2.0)[0]
    os.close(master)
    os.close(slave)
