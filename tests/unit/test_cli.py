"""Every command as its user meets it: help with an example, one line for bad input, exit codes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from command_line import ran
from motecrypt.base.model import Measurement
from motecrypt.base.paths import write_atomically
from motecrypt.cli import RENAMED, application, main
from motecrypt.cli._output import print_table
from motecrypt.results import Results

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = application.list_commands(None)  # type: ignore[arg-type]


def started(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "motecrypt", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment},
        check=False,
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str) -> None:
    done = ran(name, "--help")
    assert done.returncode == 0
    assert "Example:" in done.stdout or any(
        "Example:" in ran(name, sub, "--help").stdout for sub in ("encrypt", "decrypt", "new")
    ), f"{name} --help has no example"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mesure"], "did you mean measure"),
        (["measure"], "say what to measure"),
        (["measure", "--cipher", "aes128-cbd"], "did you mean"),
        (["measure", "--cipher", "rc4d", "--device", "unno"], "unknown device 'unno'"),
        (["measure", "--cipher", "rc4d", "--library", "mbedtsl"], "unknown library"),
        (["measure", "--cipher", "aes128-cbc", "--bytes", "17"], "multiples of 16"),
        (["measure", "--cipher", "rc4d", "--bytes", "x"], "is not a length"),
        (["measure", "--cipher", "rc4d", "--placement", "disk"], "no placement 'disk'"),
        (["measure", "--cipher", "./nowhere"], "no cipher.toml there"),
        (["measure", "--cipher", "rc4d", "--jobs", "0"], "0 is not in the range"),
        (["crypt", "rc4d", "--key", "00zz", "00"], "not hexadecimal"),
        (["crypt", "rc4d", "--key", "00", "00"], "8 bits; rc4d takes"),
        (["crypt", "rc4d", "00"], "--key-file, --key-env, --key: give one of them"),
        (["crypt", "rc4d", "--key", "00", "--key-env", "HOME", "00"], "give one of them"),
        (["crypt", "rc4d", "--key-env", "NO_SUCH_VARIABLE", "00"], "not set"),
        (["crypt", "rc4d", "--key-file", "/no/such/file", "00"], "No such file"),
        (["crypt", "rc4d", "--key-file", "/dev/zero", "00"], "not a regular file"),
        (["crypt", "aes128-cbc", "--key", "00" * 16, "00" * 16], "--nonce: missing"),
        (["crypt", "aes128-ecb", "--key", "00" * 16, "00" * 15], "multiples of 16"),
        (["crypt", "aes128-ccm8", "--key", "00" * 16, "--nonce", "00" * 13, "--decrypt", "00"], "too short"),
        (["reproduce", "rc5d"], "unknown study"),
        (["list", "cipher"], "did you mean ciphers"),
        (["results", "--db", "/dev/null/r.db"], "unable to open database file; choose another"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments: list[str], said: str) -> None:
    done = ran(*arguments)
    assert done.returncode == 2, done
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr + done.stdout


def test_a_wrong_tag_is_exit_code_1() -> None:
    done = ran("crypt", "aes128-ccm8", "--key", "00" * 16, "--nonce", "00" * 13, "--decrypt", "00" * 24)
    assert done.returncode == 1
    assert "the tag is wrong" in done.stderr


KEY = "0102030405060708090a0b0c0d0e0f10"
ZEROS_UNDER_RC4D = "3f022b13fc02e704db7d8a9d96641b2df46c4c29dd2f34dc935f153e05e7729a"


@pytest.mark.parametrize(
    ("key", "plain", "cipher"),
    [
        (KEY, "00" * 32, ZEROS_UNDER_RC4D),
        ((b"Key____________" + b"\0").hex(), b"Hello World!".hex(), "6fa30fe5eb5d8da72f094be7"),
    ],
)
def test_crypt_gives_rc4ds_known_answers_both_ways(key: str, plain: str, cipher: str) -> None:
    assert ran("crypt", "rc4d", "--key", key, plain).stdout.strip() == cipher
    assert ran("crypt", "rc4d", "--key", key, "--decrypt", cipher).stdout.strip() == plain


def test_measure_and_results_agree(tmp_path: Path) -> None:
    db = str(tmp_path / "r.db")
    done = ran("measure", "--cipher", "rc4d", "--variant", "k-opt", "--bytes", "32", "--db", db, "--json")
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)
    assert {m["operation"] for m in measured} == {"setup", "encrypt", "decrypt"}
    wanted = """device library configuration cipher variant key_bits operation message_bytes ad_bytes
        tag_bytes
        placement cache cycles_min cycles_median cycles_max inputs timing_varies time_us flash_bytes
        flash_symbol_bytes ram_bytes eeprom_bytes stack_bytes status reason compiler flags runner cycles_exact
        elf_sha256 measured_at motecrypt_version"""
    assert set(wanted.split()) <= set(measured[0])
    shown = json.loads(ran("results", "--db", db, "--json").stdout)
    assert sorted(m["operation"] for m in shown) == ["decrypt", "encrypt", "setup"]
    table = ran("results", "--db", db, "--format", "csv").stdout.splitlines()
    assert len(table) == 4 and table[0].startswith("device,library")


def test_a_results_file_of_the_future_is_one_line(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "r.db"
    ran("results", "--db", str(path))
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    done = ran("results", "--db", str(path))
    assert done.returncode == 2 and "newer motecrypt" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["measure", "--cipher", "rc4d", "--bytes", "\N{SUPERSCRIPT TWO}"], "is not a length"),
        (["measure", "--cipher", "rc4d", "--bytes", "0-16777216"], "more than 65,536 lengths"),
        (["measure", "--cipher", "rc4d", "--flags", "-O2 '"], "no closing quotation"),
        (["measure", "--cipher", "rc4d", "--flags", ""], "no flags"),
        (["measure", "--cipher", "rc4d", "--flags=-O2 -wrapper /bin/sh"], "'-wrapper' is not allowed"),
        (["results", "--library", "mbedtsl"], "unknown library"),
        (["results", "--status", "done"], "unknown status 'done'"),
        (["airtime", "--timeout-ms", "nan"], "timeout_ms is nan"),
        (["radio", "srf", "--seconds", "-1"], "is not in the range"),
        (["wlan", "--sample", "text:1000G"], "a sample of 1,000,000,000,000 bytes"),
        (["wlan", "--sample", "text:10k", "--device", "uno"], "nothing is encrypted"),
        (["reproduce", "rc4d", "--figures", "drawn"], "none to redraw in rc4d; there are in: "),
    ],
)
def test_odd_values_are_one_line_too(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = ran(*arguments, MOTECRYPT_DB=str(tmp_path / "r.db"))
    assert done.returncode == 2, done
    assert said in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


@pytest.mark.parametrize("arguments", [["file"]])
def test_a_command_alone_shows_its_help_line_by_line(arguments: list[str]) -> None:
    done = ran(*arguments)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) > 10


def test_what_goes_wrong_behind_the_output_is_no_traceback() -> None:
    command = f"'{sys.executable}' -m motecrypt list implementations"
    endings = {f"{command} >/dev/full": 1, f"{command} >&-": 0, f"set -o pipefail; {command} | head -n 1": 0}
    for line, code in endings.items():
        done = subprocess.run(
            ["bash", "-c", line],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            check=False,
        )
        assert done.returncode == code, (line, done)
        assert "Traceback" not in done.stderr
        assert ("No space left" in done.stderr) == (code == 1)


def test_a_terminal_without_mu_gets_a_table(tmp_path: Path) -> None:
    done = started("results", PYTHONIOENCODING="ascii", MOTECRYPT_DB=str(tmp_path / "r.db"))
    assert done.returncode == 0, done.stderr


def test_measuring_what_does_not_compile_is_exit_code_1(tmp_path: Path) -> None:
    db = str(tmp_path / "r.db")
    which = ("--cipher", "rc4d", "--variant", "k-opt", "--db", db)
    assert ran("measure", *which, "--flags=-fno-such-flag").returncode == 1
    assert ran("measure", *which, "--bytes", "257").returncode == 1  # nothing ran
    assert ran("measure", *which, "--bytes", "32,257").returncode == 0  # that one does not fit is an answer


def test_results_show_the_newest_of_a_cell_and_all_on_demand(results: Results) -> None:
    def stored(key: str, cycles: int, at: str) -> None:
        figures = dict.fromkeys(Measurement.__dataclass_fields__, 1)
        texts = dict.fromkeys(("device", "library", "configuration", "cipher", "variant", "operation"), "own")
        results.store(
            {
                key: Measurement(
                    **{**figures, **texts, "cycles_median": cycles, "measured_at": at, "extra": {}}
                )
            }
        )

    stored("old", 5, "2026-01-01")
    stored("new", 4, "2026-01-02")
    shown = [
        [
            m["cycles_median"]
            for m in json.loads(ran("results", "--db", str(results.path), "--json", *more).stdout)
        ]
        for more in ([], ["--all"], ["--cipher", "own"])
    ]
    assert shown == [[4], [4, 5], [4]]


def test_numbers_are_never_broken_over_two_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    print_table("t", ("a name", "cycles"), [["word " * 20, "1,234,567"], ["word " * 20, "7,654,321"]])
    assert "1,234,567" in capsys.readouterr().out


def test_a_cell_without_end_is_cut(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    print_table("t", ("reason", "cycles"), [["x" * 1000, 1], ["y" * 20_000, 2]])
    text = capsys.readouterr().out
    assert (text.count("x"), text.count("y")) == (1000, 1002)  # "cycles" is there twice
    assert text.count(".") == 3


def test_what_a_run_went_without_is_its_last_line(tmp_path: Path) -> None:
    folder = tmp_path / "mylibrary"
    shutil.copytree(ROOT / "examples" / "mylibrary", folder)
    with (folder / "library.toml").open("a") as descriptor:
        descriptor.write(
            f'\n[[source]]\nclient = "pypi"\npackage = "toy"\nversion = "1.0"\nsha256 = "{"0" * 64}"\n'
        )
    done = ran(
        *("measure", "--cipher", "rc4", "--library", str(folder), "--device", "host", "--bytes", "16"),
        *("--db", str(tmp_path / "results.db")),
        MOTECRYPT_CACHE=str(tmp_path / "cache"),
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS=str(tmp_path),
    )
    last = done.stderr.splitlines()[-1]
    assert last.startswith(
        "motecrypt: could not be installed and was omitted: the source of mylibrary (pypi toy: "
    )
    assert done.stderr.count("could not be installed") == 1


def test_crypt_takes_its_key_from_a_file_or_a_variable(tmp_path: Path) -> None:
    key, file = "0102030405060708090a0b0c0d0e0f10", tmp_path / "key"
    file.write_text(f"{key}\n")
    file.chmod(0o600)
    message = "00" * 16
    typed = ran("crypt", "rc4d", "--key", key, message)
    assert typed.returncode == 0, typed.stderr
    assert ran("crypt", "rc4d", "--key-file", file, message).stdout == typed.stdout
    assert ran("crypt", "rc4d", "--key-env", "CRYPT_KEY", message, CRYPT_KEY=key).stdout == typed.stdout
    file.chmod(0o644)
    assert "others can read" in ran("crypt", "rc4d", "--key-file", file, message).stderr


def test_a_wrong_key_is_not_told_to_the_terminal() -> None:
    typed = "deadbeef" * 3 + "x"
    assert "deadbeef" not in ran("crypt", "rc4d", "--key", typed, "00").stderr
    assert "deadbeef" not in ran("crypt", "rc4d", "--key-env", "CRYPT_KEY", "00", CRYPT_KEY=typed).stderr


def test_a_written_file_respects_the_umask_and_keeps_the_replaced_ones_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a", b"1")
        assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640
        os.umask(0o077)
        write_atomically(tmp_path / "b", b"1")
        assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600
        (tmp_path / "a").chmod(0o600)
        os.umask(0o022)
        write_atomically(tmp_path / "a", b"2")
        assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
        assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]
    finally:
        os.umask(before)


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_a_command_works_under_the_name_it_had_and_tells_the_new_one(
    old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = []
    for name in (new, old):
        with pytest.raises(SystemExit) as ended:
            main([name, "--help"])
        assert ended.value.code == 0
        told.append(capsys.readouterr())
    assert told[0].out == told[1].out and not told[0].err
    assert told[1].err == f"motecrypt: '{old}' is '{new}' now; the old name goes with the next version\n"
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert f"  {new} " in (listed := capsys.readouterr().out) and f"\n  {old} " not in listed


def _options(command: click.Command) -> Iterator[click.Option]:
    """All options of a command and of those below it."""
    yield from (each for each in command.params if isinstance(each, click.Option))
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from _options(below)


def test_a_range_takes_no_infinity_and_nothing_that_is_no_number() -> None:
    seen = 0
    for option in _options(application):
        if not isinstance(option.type, click.FloatRange):
            continue
        for text in ("nan", "inf"):
            with pytest.raises(click.BadParameter, match=r"is not a finite number|is not in the range"):
                option.type.convert(text, option, click.Context(application))
        seen += 1
    assert seen > 10
