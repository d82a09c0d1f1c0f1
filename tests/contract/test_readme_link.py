"""The README's way from a choice to a simulated node and its gateway, command by command."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 240


def commands() -> list[list[str]]:
    """The commands of that section, each as words without ./motecrypt."""
    section = (ROOT / "README.md").read_text().split("### From a choice to a running node\n")[1]
    blocks = re.findall(r"```sh\n(.*?)```", section.split("\n## ")[0], re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    assert all(line.startswith("./motecrypt ") for line in lines)
    return [shlex.split(line)[1:] for line in lines]


@pytest.mark.long
@needs_tool_set("avr", "arduino")
def test_a_newcomer_gets_from_advice_to_a_node_that_the_gateway_hears(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MOTECRYPT_DB": str(tmp_path / "r.db")}

    def start(words: list[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "motecrypt", *words],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="backslashreplace",  # the node's output is not text
        )

    *first, node, gateway = commands()
    assert [words[0] for words in (*first, node, gateway)] == [
        *("advise", "export", "key", "provision", "run", "receive"),
    ]
    for words in first:
        with start(words) as made:
            out, err = made.communicate(timeout=DEADLINE_S)
            assert made.returncode == 0, err
            assert words[0] != "advise" or "aes128-ccm8" in out
    with start(node) as running:
        try:
            line = tmp_path / node[node.index("--uart") + 1]
            end = time.monotonic() + DEADLINE_S
            while not line.exists() and running.poll() is None and time.monotonic() < end:
                time.sleep(0.05)
            with start(gateway) as receiving:
                out, err = receiving.communicate(timeout=DEADLINE_S)
            assert receiving.returncode == 0, err
        finally:
            running.terminate()
            running.communicate(timeout=DEADLINE_S)
    shown = [bytes.fromhex(line.removeprefix("node 5: ")) for line in out.splitlines()]
    numbers = [int.from_bytes(content[:2], "little") for content in shown]
    assert len(numbers) == 2 and numbers[0] < numbers[1]  # a slow machine may miss the first
    assert {len(content) for content in shown} == {6}
