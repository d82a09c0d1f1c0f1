"""`./test campaign --ciphers`: which variants it runs, and that a difference is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaign import ciphers
from campaign.ciphers import DEVICES, Run, agrees, runs
from campaign.main import main
from motecrypt.catalog import Catalog

CATALOG = Catalog.load()


def test_each_assembly_source_for_these_devices_is_run() -> None:
    bodies = {
        (device, body.cipher, body.variant): {
            Path(source).name for source in body.sources if source.endswith(".S")
        }
        for device in DEVICES
        for body in CATALOG.implementations
        if body.library == "motecrypt" and body.runs_on(CATALOG.devices[device].core)
    }
    there = {(device, source) for (device, _, _), sources in bodies.items() for source in sources}
    assert len(there) >= 10
    sealing = [run for run in runs() if not run.key_bytes]
    given = {
        (run.device, source) for run in sealing for source in bodies[run.device, run.cipher, run.variant]
    }
    given |= {
        (run.device, source)
        for run in runs()
        if run.key_bytes and run.device in ciphers._BLOCKS
        for source in ciphers._BLOCKS[run.device][run.variant]
        if source.endswith(".S")
    }
    assert given == there
    aes = {run for run in runs() if run.key_bytes}
    assert {run.key_bytes for run in aes} == {16, 24, 32} and len(aes) == 3 * 6


@pytest.mark.parametrize(
    "run",
    [
        Run("uno", "chacha20-poly1305", "avr-small"),
        Run("pico", "ascon-aead128", "armv6m"),
        Run("stm32f4", "aes256", "armv7m", 32),
        Run("uno", "aes192", "avr", 24),
    ],
    ids=str,
)
def test_a_difference_is_noticed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert agrees(run, 30, tmp_path)
    tag, total = ciphers.messages_of("ascon-aead128", 30)
    monkeypatch.setattr(ciphers, "messages_of", lambda *_: (tag[:-1] + bytes([tag[-1] ^ 1]), total))
    monkeypatch.setattr(ciphers, "blocks_of", lambda *_: bytes(16))
    assert not agrees(run, 30, tmp_path)


def test_the_command_reports_each_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--ciphers", "--messages", "7", "--only", "armv7m-small"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" (")[0] for line in lines] == [
        "stm32f4 aes128-ccm16 armv7m-small: 7 messages agree",
        "stm32f4 aes256-ccm16 armv7m-small: 7 messages agree",
        "stm32f4 ascon-aead128 armv7m-small: 7 messages agree",
        "stm32f4 chacha20-poly1305 armv7m-small: 7 messages agree",
        *(f"stm32f4 aes{bits} armv7m-small: 7 blocks agree" for bits in (128, 192, 256)),
        "7 runs, 0 wrong",
    ]
    assert main(["--ciphers", "--only", "none-such"]) == 1


def test_every_run_is_kept_with_all_its_inputs() -> None:
    """What the whole campaign printed: a new variant needs a new one."""
    *kept, last = (Path(ciphers.__file__).parent / "ciphers.txt").read_text(encoding="utf-8").splitlines()
    expected = [
        f"{run}: {ciphers.INPUTS:,} {'blocks' if run.key_bytes else 'messages'} agree" for run in runs()
    ]
    assert [line.partition(" (")[0] for line in kept] == expected
    assert last == f"{len(expected)} runs, 0 wrong"


@pytest.mark.parametrize("number", ["0", "-1"])
def test_a_campaign_of_nothing_is_refused(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    from campaign.main import main

    with pytest.raises(SystemExit) as ended:
        main(["--ciphers", "--messages", number])
    assert ended.value.code == 2
    assert f"--messages {number}: expected a whole number from 1 on" in capsys.readouterr().err
