"""The demos for the Pico: what they print is right by another library's AES; other names are refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from command_line import run
from motecrypt.base.errors import InputError
from motecrypt.simulate.demos import DEMOS, Demo, demo
from tool_sets import needs_tool_set

TESTS = [name for name in DEMOS if name != "littleFsAes"]


def test_each_test_that_can_be_had_is_there_for_both_keys() -> None:
    assert list(DEMOS) == [
        *("aesTest", "aesTest-256", "aesTest3", "aesTest3-256", "aesTest4", "aesTest4-256", "littleFsAes")
    ]
    assert demo("aesTest4-256") == Demo("tiny-aes-c", "", 256, 4) and demo("Blink.ino") is None
    assert demo("littleFsAes") == Demo("", "", 128, 0, "none")
    for name in ("aesTest1", "aesTest2-256"):
        with pytest.raises(InputError, match=rf"{name}: its library is on no package registry"):
            demo(name)


def sealed(text: str, key_bits: int) -> str:
    key = bytes((i * 7 + 1) & 0xFF for i in range(key_bits // 8))
    engine = Cipher(algorithms.AES(key), modes.CBC(bytes(0xF0 - i for i in range(16)))).encryptor()
    return (engine.update(text.encode() + b"\0") + engine.finalize()).hex().upper()


@needs_tool_set("pico")
@pytest.mark.long
@pytest.mark.parametrize("name", TESTS)
def test_a_string_is_encrypted_and_decrypted_on_the_terminal(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "run", name, "--device", "pico", "--json")
    assert code == 0, err
    told = json.loads(out)
    text = f"AES_Test_{DEMOS[name].digit} - Hello! Testing AES Encryption here"
    lines = told["uart"].splitlines()
    assert lines[:2] == [f"INPUT: {text}", f"Cipher Text: {sealed(text, DEMOS[name].key_bits)}"]
    assert (lines[3], lines[5], told["reason"]) == (f"Plain Text: {text}", "SUCCESS", "stop")
    for line, what in ((lines[2], "Encryption"), (lines[4], "Decryption")):
        time = re.fullmatch(rf"{what} Time \(us\): (\d+)", line)
        assert time is not None and 50 < int(time[1]) < 2000


@needs_tool_set("pico")
@pytest.mark.long
def test_a_file_is_encrypted_in_the_picos_flash(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "run", "littleFsAes", "--device", "pico", "--json")
    assert code == 0, err
    told = json.loads(out)
    lines = told["uart"].splitlines()
    assert told["reason"] == "stop"
    assert lines[1:3] == ["FileSystem mounted!", "File Size (W): 630"] and lines[-1] == "Example Done!"
    for line, what, printed in ((lines[3], "Encryption", 2343), (lines[4], "Decryption", 2338)):
        time = re.fullmatch(rf"{what} Done, Time taken: (\d+) ms", line)
        assert time is not None and int(time[1]) == pytest.approx(printed, rel=0.05)


@needs_tool_set("pico")
def test_a_demo_needs_its_device_and_a_file_of_its_name_comes_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = run(capsys, "run", "aesTest", "--device", "uno")
    assert code == 2 and "aesTest: the demo is for the pico; add --device pico" in err
    monkeypatch.chdir(tmp_path)
    Path("aesTest").write_text("no firmware")
    code, out, err = run(capsys, "run", "aesTest", "--device", "pico")
    assert code == 2 and "aesTest: " in err and "SUCCESS" not in out
