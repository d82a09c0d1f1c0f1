"""What a newcomer meets first: motecrypt alone, completion in the shell, and what the demo refuses."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from motecrypt.app import demo as programs
from motecrypt.base.errors import MotecryptError
from motecrypt.cli import application, completion, demo

ROOT = Path(__file__).resolve().parents[2]


def started(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "motecrypt", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment},
        check=False,
    )


def test_motecrypt_alone_shows_three_things_to_try_that_there_are() -> None:
    done = started()
    assert (done.returncode, done.stderr) == (0, "")
    tried = [line.split() for line in done.stdout.splitlines() if line.startswith("  motecrypt ")]
    assert [words[1] for words in tried] == ["demo", "advise", "reproduce"]
    for _, name, *words in tried:
        command = application.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        parent = click.Context(application, help_option_names=["-h", "--help"])
        command.make_context(name, words, parent)  # its options are as written


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["mea"], {"measure"}),
        (["measure", "--dev"], {"--device"}),
        (["advise", "--radio", "lo"], {"lora"}),
        (["audit", "rc4d"], {"rc4d", "rc4d-two-key"}),
        (["measure", "--library", "mbed"], {"mbedtls"}),
        (["airtime", "--radio", "sr"], {"srf"}),
        (["advise", "--device", "x"], set()),
    ],
)
def test_commands_options_and_names_are_completed(
    typed: list[str], offered: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.shell_completion import BashComplete

    monkeypatch.setenv("COMP_WORDS", " ".join(["motecrypt", *typed]))
    monkeypatch.setenv("COMP_CWORD", str(len(typed)))
    out = BashComplete(application, {}, "motecrypt", completion.VARIABLE).complete().splitlines()
    found = {line.split(",", 1)[1] for line in out}
    assert (found >= offered) if offered else not found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_answer(shell: str) -> None:
    word = "pi" if shell == "fish" else "3"
    asked = {"COMP_WORDS": "motecrypt advise --device pi", "COMP_CWORD": word}
    done = started(_MOTECRYPT_COMPLETE=f"{shell}_complete", **asked)
    shown = {"bash": "plain,pico\n", "zsh": "plain\npico\n_\n", "fish": "plain,pico\n"}
    assert (done.returncode, done.stderr) == (0, "") and shown[shell] in done.stdout


def test_the_script_completes_in_the_shell_itself(tmp_path: Path) -> None:
    program = tmp_path / "motecrypt"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m motecrypt "$@"\n')
    program.chmod(0o755)
    line = f"""
        PATH={tmp_path}:$PATH; eval "$(motecrypt completion bash)"
        COMP_WORDS=(motecrypt audi); COMP_CWORD=1
        _motecrypt_completion motecrypt; echo "${{COMPREPLY[@]}}"; complete -p motecrypt
    """
    done = subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=False,
    )
    assert done.stderr == "" and done.stdout.splitlines()[0] == "audit"
    assert "-F _motecrypt_completion motecrypt" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_is_sound_where_that_shell_is(shell: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(started("completion", shell).stdout)
    assert "_MOTECRYPT_COMPLETE" in script.read_text() and f"{shell}_complete" in script.read_text()
    if program := shutil.which(shell):
        assert subprocess.run([program, "-n", script], timeout=60, check=False).returncode == 0


def test_a_shell_that_is_not_known_is_one_line() -> None:
    done = started("completion", "csh")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "'csh'" in done.stderr


# --- the demo ---------------------------------------------------------------------------------------


def test_the_demo_leaves_a_folder_alone_that_holds_something(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("kept")
    for folder in (tmp_path, tmp_path / "mine"):
        done = started("demo", str(folder))
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_step_of_the_demo_that_fails_ends_it(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(MotecryptError, match="motecrypt audit failed"):
        demo._run(["audit", "no-such-cipher"])
    assert "$ motecrypt audit no-such-cipher" in capfd.readouterr().out
    with demo._beside(["run", "/no/such/file.elf"]) as running:
        running.wait(60)
        with pytest.raises(MotecryptError, match=r"the node ended early: motecrypt: .*no/such/file\.elf"):
            programs.check(running, "the node")


def test_what_runs_beside_the_demo_is_ended(tmp_path: Path) -> None:
    ports = (tmp_path / "a", tmp_path / "b")
    radio = ["radio", "srf", *(word for port in ports for word in ("--link", str(port)))]
    with demo._beside(radio) as radios:
        programs.wait_for(ports, radios)
        assert radios.poll() is None
    assert radios.poll() is not None and not any(port.exists() for port in ports)


def test_a_gateway_that_hears_nothing_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "READING_S", 1.0)
    ports = (tmp_path / "a", tmp_path / "b")
    key = tmp_path / "k.key"
    node = ["provision", "5", "--key", str(key), "--radio", "srf", "--eeprom", str(tmp_path / "eeprom")]
    for words in (["key", str(key), "--link"], node):  # without a node the gateway would end by itself
        assert CliRunner().invoke(application, words).exit_code == 0
    with demo._beside(["radio", "srf", "--link", str(ports[0]), "--link", str(ports[1])]) as radios:
        programs.wait_for(ports, radios)
        with pytest.raises(MotecryptError, match="no reading within 1 s"):
            demo._receive(["gateway", str(ports[1]), "--key", str(key), "--stdout"], radios)


def test_a_reading_is_its_number_and_tenths_of_a_degree() -> None:
    told = programs._reading({"node": 5, "hex": "0201f6ff0000"})
    assert told == "node 5: reading 258, -1.0 degrees Celsius (0201f6ff0000)"
