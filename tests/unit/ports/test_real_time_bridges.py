"""Radios with packets in real time: programs and virtual bridges together."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from commands_running import finish, provision, radios, start, wait_for
from motecrypt.link.keys import create_master_file

pytestmark = pytest.mark.long


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A gateway's key, and that of node 5 on a serial line."""
    create_master_file(tmp_path / "key")
    provision(tmp_path, 5)
    return tmp_path


@pytest.mark.parametrize("radio", ["nrf24", "lora"])
def test_readings_pass_bridges_to_a_gateway(radio: str, folder: Path) -> None:
    """A radio with packets: the ports speak the bridge's protocol, without any other notice."""
    made = start("key", "node7", "--node", "7", "--of", "key", "--radio", radio, folder=folder)
    assert finish(made)[1] == "" and made.returncode == 0
    with radios(folder, radio=radio):
        gateway = start("gateway", "b", "--key", "key", "--radio", radio, "--csv", "log.csv", folder=folder)
        wait_for((folder / "key.gateway.socket").exists)
        words = ("--key", "node7", "--radio", radio, "--json")
        sender = start("send", "a", *words, "21.4 C", "x" * 300, folder=folder)
        output, errors = finish(sender)
        assert sender.returncode == 0 and json.loads(output)["accepted"] == 2, errors
        wrong = start("send", "a", "--key", "node7", "x", folder=folder)
        assert "node 7: provisioned for a packet radio, and srf has a serial line" in finish(wrong)[1]
        gateway.send_signal(signal.SIGINT)
        _, told = finish(gateway)
    assert (
        "node 5: provisioned for a serial radio, and" in told
        and "bridge for" not in told
        and "the bridge" not in told
    )
    assert [row.split(",")[4] for row in (folder / "log.csv").read_text().splitlines()[1:]] == [
        "21.4 C",
        "x" * 300,
    ]
