"""`motecrypt leak` as a user sees it, on the library of the examples."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[3]
pytestmark = needs_tool_set("avr")


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "motecrypt", "leak", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by the command in the example's first lines."""
    target = tmp_path_factory.mktemp("leak") / "harness.elf"
    told = (ROOT / "examples/leakage/harness.cpp").read_text().splitlines()
    start = next(number for number, line in enumerate(told) if "avr-g++" in line)
    words = " ".join(line.lstrip("/ ").rstrip("\\") for line in told[start : start + 2]).split()
    subprocess.run([*words[:-1], target], check=True, cwd=ROOT)
    return target


WINDOW = ("--function", "encrypt_block", "--from", "start", "--traces", "3000")


def test_the_leaking_lines_of_a_users_library(elf: Path) -> None:
    done = command(elf, *WINDOW, "--instructions", "400")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1].split() == ["Result:", "it", "leaks"]
    source = (ROOT / "examples/mylibrary/src/BlockAes.cpp").read_text().splitlines()
    first = next(line for line in lines if line.startswith("BlockAes.cpp:"))
    assert "block[i]" in source[int(first.split()[0].partition(":")[2]) - 1]
    assert lines[-1].startswith("Next: motecrypt leak")


def test_the_json_has_the_curve_and_repeats_by_seed(elf: Path) -> None:
    arguments = (*WINDOW, "--instructions", "60", "--model", "distance", "--json")
    told = json.loads(command(elf, *arguments).stdout)
    assert (told["verdict"], told["traces"], told["instructions"]) == ("leaks", 3000, [60, 60])
    assert len(told["curve"]["t"]) == len(told["curve"]["pcs"]) == 60
    assert "result" not in told["curve"]["rows"]
    strongest = told["orders"][0]["leaks"][0]
    assert strongest["strength"] == told["orders"][0]["largest"] == max(map(max, told["curve"]["t"]))
    assert told == json.loads(command(elf, *arguments).stdout)
    assert told["curve"] != json.loads(command(elf, *arguments, "--seed", "2").stdout)["curve"]


@pytest.mark.parametrize("name", ["t.trs", "saved"])
def test_saved_traces_give_key_bytes_of_a_users_library(elf: Path, tmp_path: Path, name: str) -> None:
    arguments = (*WINDOW, "--traces", "1200", "--instructions", "700", "--model", "weight")
    done = command(elf, *arguments, "--save", tmp_path / name)
    assert done.returncode == 0, done.stderr
    told = json.loads(command(tmp_path / name, "--attack", "aes-encrypt-first", "--json").stdout)
    assert told["samples"] == 700 and 250 < told["traces"] < 350
    assert told["above"] == told["curve"][-1][1] == 2, "the window reaches the first S-boxes of the round"


def test_coefficients_make_one_sample_of_an_instruction(elf: Path, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("[coefficients]\nresult = 1.0\nregister = 0.7\n")
    arguments = (*WINDOW, "--instructions", "100", "--coefficients", tmp_path / "own.toml", "--json")
    told = json.loads(command(elf, *arguments).stdout)
    assert (told["model"]["name"], told["curve"]["rows"], told["verdict"]) == ("own.toml", ["sum"], "leaks")


def test_a_path_that_depends_on_the_input_is_the_result(elf: Path) -> None:
    done = command(elf, *WINDOW)
    assert done.returncode == 0
    told = " ".join(done.stdout.split())
    assert "the path depends on the input from BlockAes.cpp:" in told
    line = int(told.partition("from BlockAes.cpp:")[2].partition(" ")[0])
    source = (ROOT / "examples/mylibrary/src/BlockAes.cpp").read_text().splitlines()
    assert "0x80" in source[line - 1] or "factor" in source[line - 1], source[line - 1]
    assert done.stdout.splitlines()[-1].endswith("--align")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--function", "encrypt_blok"), "did you mean encrypt_block?"),
        (("--function", "encrypt_block", "--traces", "10"), "at least 400 are needed"),
        (("--function", "encrypt_block", "--snr", "0"), "above zero"),
        (("--function", "encrypt_block", "--pairs", "a-b"), "two numbers"),
        (("--function", "encrypt_block", "--shared", "leak_x"), "no such variable"),
        ((), "name its --function to assess; or give traces"),
        (("--controls", "--device", "host"), "host: traces are recorded on simulated devices only"),
    ],
)
def test_bad_input_is_one_line(elf: Path, arguments: tuple[str, ...], told: str) -> None:
    done = command(elf, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_without_anything_to_assess_it_says_what_to_give() -> None:
    done = command()
    assert (done.returncode, done.stdout) == (2, "")
    (said,) = done.stderr.strip().splitlines()
    assert said.endswith("give a FIRMWARE and its --function, a --cipher, or --controls")


def test_the_controls_pass() -> None:
    done = command("--controls", "--traces", "4600", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert [each["passed"] for each in told] == [True] * 8
    assert told[-1]["place"]["file"].endswith("controls_avr.S")


def test_a_cipher_of_ours_leaks_in_its_benchmark_firmware() -> None:
    arguments = ("--cipher", "aes128-ecb", "--traces", "2000", "--instructions", "120", "--json")
    told = json.loads(command(*arguments).stdout)
    assert (told["verdict"], told["instructions"]) == ("leaks", [120, 120])
    assert any(place["file"].endswith((".c", ".S", ".h")) for place in told["orders"][0]["leaks"])
    key = json.loads(command(*arguments, "--vary", "key").stdout)
    assert key["verdict"] == "leaks" and key["curve"]["pcs"] != told["curve"]["pcs"]
    wrong = command("--cipher", "aes128-ecb", "--variant", "tabels")
    assert wrong.returncode == 2 and "did you mean tables" in wrong.stderr


@pytest.mark.parametrize("name", ["traces.npz", "traces.trs"])
def test_saved_traces_are_tested_like_captured_ones(elf: Path, name: str, tmp_path: Path) -> None:
    saved = tmp_path / name
    done = command(elf, *WINDOW, "--instructions", "150", "--model", "weight", "--save", saved)
    assert done.returncode == 0, done.stderr
    told = json.loads(command(saved, "--json").stdout)
    assert (told["traces"], told["verdict"]) == (1500, "leaks")
    assert "samples, every other one in set 2" in command(saved).stdout
