"""`motecrypt report --serve` from outside: a measurement ordered, stored, shown; ended by Ctrl-C."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from motecrypt.results import Results
from tool_sets import needs_tool_set

TIMEOUT_S = 120.0
pytestmark = [pytest.mark.long, needs_tool_set("avr")]


def _ask(port: int, method: str, path: str, order: object = None, origin: str = "") -> tuple[int, bytes]:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    headers = {"Origin": origin or f"http://127.0.0.1:{port}", "Content-Type": "application/json"}
    body = None if order is None else json.dumps(order)
    link.request(method, path, body, headers if method == "POST" else {})
    answer = link.getresponse()
    found = answer.status, answer.read()
    link.close()
    return found


def _ended(port: int, token: str, number: int) -> dict[str, Any]:
    until = time.monotonic() + TIMEOUT_S
    while time.monotonic() < until:
        state: dict[str, Any] = json.loads(_ask(port, "GET", f"/{token}/progress")[1])
        if state["number"] == number and state["state"] != "running":
            return state
        time.sleep(0.1)
    raise AssertionError("the measurement did not end")


def test_an_order_is_measured_stored_and_shown(tmp_path: Path) -> None:
    db = tmp_path / "results.db"
    command = [sys.executable, "-P", "-m", "motecrypt", "report", "--serve", "--db", str(db)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests may run in the background
    ) as program:
        try:
            assert program.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:(\d+)/([\w-]+)/", program.stdout.readline())
            assert found
            port, token = int(found[1]), found[2]
            status, page = _ask(port, "GET", f"/{token}/")
            assert status == 200
            assert b"nothing that this report shows" in page and b'id="measure-form"' in page
            assert b"connect-src 'self'" in page
            order = {"kind": "measure", "devices": ["uno"], "ciphers": ["rc4d"], "bytes": [16]}
            assert _ask(port, "POST", f"/{token}/measure", order, "http://evil.example")[0] == 403
            assert not db.exists()  # nothing was measured for another page
            status, answer = _ask(port, "POST", f"/{token}/measure", order)
            assert status == 202, answer
            state = _ended(port, token, 1)
            assert state["state"] == "done", state
            with Results(db, make=False) as results:
                stored = results.newest_measurements(cipher="rc4d")
            assert {m.message_bytes for m in stored} == {16}
            assert any(m.status == "ok" and m.cycles_median for m in stored)
            page = _ask(port, "GET", f"/{token}/")[1]
            assert b'id="explorer-form"' in page and b"nothing that this report shows" not in page
            wrong = {**order, "ciphers": ["no-such-cipher"]}
            number = json.loads(_ask(port, "POST", f"/{token}/measure", wrong)[1])["number"]
            state = _ended(port, token, number)
            assert state["state"] == "failed" and "no-such-cipher" in state["message"]
            program.send_signal(signal.SIGINT)
            out, err = program.communicate(timeout=TIMEOUT_S)
        finally:
            program.kill()
    assert program.returncode == 0, err
    assert out.rstrip().endswith("Stopped.")
    assert token not in err
    assert not list(tmp_path.glob("*.html"))
