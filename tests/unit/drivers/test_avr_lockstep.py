"""Time that is granted to a simulated AVR piece by piece: exact, and ended early by bytes that it sends."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from avr_snippets import CHIP, UART, assemble

from motecrypt.build.toolchain.drivers import driver
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")

ECHO = UART + "next:\n    rcall take\n    inc r24\n    rcall send\n    rjmp next\n"


class Granted:
    """The driver, spoken to."""

    def __init__(self, code: str, folder: Path, *options: str) -> None:
        (folder / "image").write_bytes(assemble(code, folder))
        command = [driver("avr_run"), *CHIP, "--image", folder / "image", "--lockstep", "--events", "2"]
        self.process = subprocess.Popen(
            [*map(str, command), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.told = self.hear()

    def hear(self) -> dict[str, object]:
        """The next event."""
        assert self.process.stderr is not None
        told: dict[str, object] = json.loads(self.process.stderr.readline())
        return told

    def grant(self, cycle: int, given: bytes = b"") -> dict[str, object]:
        """Another piece."""
        assert self.process.stdin is not None
        self.process.stdin.write(cycle.to_bytes(8, "little") + len(given).to_bytes(2, "little") + given)
        self.process.stdin.flush()
        return self.hear()


def test_a_piece_ends_where_it_was_granted_to_or_with_each_byte_sent(tmp_path: Path) -> None:
    node = Granted(ECHO, tmp_path)
    assert node.told == {"event": "reached", "cycle": 0, "output": ""}
    for cycle in (5, 1_000_000, 32_000_000):
        told = node.grant(cycle)
        assert cycle <= int(str(told["cycle"])) <= cycle + 4 and told["output"] == ""
    sent = [node.grant(64_000_000, b"ab"), node.grant(64_000_000)]
    assert [each["output"] for each in sent] == ["62", "63"]
    # A byte takes 80 cycles on the line, and libsimavr's receiver as long again.
    first, second = (int(str(each["cycle"])) for each in sent)
    assert 32_000_080 < first < second < 32_000_400
    assert node.grant(64_000_000)["output"] == ""
    assert node.grant(64_000_400, b"z")["output"] == "7b", "what is granted later is heard later"
    assert node.process.communicate(timeout=20)[0] == b"", "standard output is left alone"


def test_more_bytes_come_behind_those_on_their_way(tmp_path: Path) -> None:
    node = Granted(ECHO, tmp_path)
    node.grant(1_000)
    output = [str(node.grant(cycle, bytes([cycle % 251]) * 3)["output"]) for cycle in (1_010, 1_020, 1_030)]
    output += [str(node.grant(10_000)["output"]) for _ in range(12)]
    expected = b"".join(bytes([cycle % 251 + 1]) * 3 for cycle in (1_010, 1_020, 1_030))
    assert bytes.fromhex("".join(output)) == expected
    node.process.kill()
    node.process.communicate(timeout=20)


@pytest.mark.parametrize("half", [b"", b"\0\0\0", (99).to_bytes(8, "little") + b"\x02\0x"])
def test_without_more_time_it_ends(half: bytes, tmp_path: Path) -> None:
    node = Granted(ECHO, tmp_path)
    _, said = node.process.communicate(half, timeout=20)
    ended = json.loads(said.splitlines()[-1])
    assert (ended["event"], ended["detail"]) == ("stopped", "no more time is granted")
    assert node.process.returncode == 0


def test_more_bytes_than_the_line_holds_end_it(tmp_path: Path) -> None:
    node = Granted(ECHO, tmp_path)
    assert node.grant(10, bytes(4097))["event"] == "stopped"
    node.process.communicate(timeout=20)
