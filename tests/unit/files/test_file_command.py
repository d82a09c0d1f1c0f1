"""motecrypt file as a user types it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from motecrypt import FileRequest
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.cli import file as file_cli
from motecrypt.cli.file import command
from motecrypt.link import create_key_file
from motecrypt.link.files import container, crypt_and_hash


def run(*arguments: str | Path, typed: str | None = None, **environment: str) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments], input=typed, env=environment)


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain"
    path.write_bytes(b"some text\n" * 1000)
    return path


def test_modern_with_a_key_file_a_variable_and_a_prompt(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container, "ARGON_KIB", 64)
    key = tmp_path / "key"
    create_key_file(key)
    ways: list[tuple[list[str], str | None, dict[str, str]]] = [
        (["--key-file", str(key)], None, {}),
        (["--key-env", "FILE_KEY"], None, {"FILE_KEY": "correct horse"}),
        (["--key-env", "FILE_KEY"], None, {"FILE_KEY": "hex:" + "5a" * 16}),
        ([], "pass\npass\n", {}),
    ]
    for number, (options, typed, environment) in enumerate(ways):
        sealed, back = tmp_path / f"sealed{number}", tmp_path / f"back{number}"
        done = run("encrypt", *options, plain, sealed, typed=typed, **environment)
        assert done.exit_code == 0, done.output
        done = run("decrypt", *options, sealed, back, typed=typed, **environment)
        assert done.exit_code == 0, done.output
        assert back.read_bytes() == plain.read_bytes()
        assert "warning" not in done.output


def test_what_comes_through_a_pipe_is_for_as_long_in_a_folder_of_the_users_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_key_file(tmp_path / "key")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    seen: list[tuple[Path, int, bytes]] = []
    encrypt = file_cli.encrypt_file

    def watched(asked: FileRequest, *more: Any) -> int:
        folder = asked.source.parent
        seen.append((folder.parent, folder.stat().st_mode & 0o777, asked.source.read_bytes()))
        return encrypt(asked, *more)

    monkeypatch.setattr(file_cli, "encrypt_file", watched)
    umask = os.umask(0)
    try:
        for code in (0, 1):  # the second time the target is there
            done = run("encrypt", "--key-file", tmp_path / "key", "-", tmp_path / "sealed", typed="plain")
            assert done.exit_code == code
    finally:
        os.umask(umask)
    assert seen == [(tmp_path / "tmp", 0o700, b"plain")] * 2 and not list((tmp_path / "tmp").iterdir())


def test_compatible_warns_and_says_why(plain: Path, tmp_path: Path) -> None:
    sealed, back = tmp_path / "sealed", tmp_path / "back"
    kind = ["--format", "crypt-and-hash", "--key-env", "K"]
    done = run("encrypt", *kind, "--cipher", "aes128-ctr", "--digest", "sha256", plain, sealed, K="k")
    assert done.exit_code == 0
    assert "for compatibility only" in done.stderr
    assert "same key and IV" in done.stderr
    done = run(
        "decrypt", "--key-env", "K", "--cipher", "aes128-ctr", "--digest", "sha256", sealed, back, K="k"
    )
    assert done.exit_code == 0
    assert back.read_bytes() == plain.read_bytes()


@pytest.mark.parametrize("name", ["none", "."])
def test_a_source_that_cannot_be_read_is_told_before_anything_else(tmp_path: Path, name: str) -> None:
    done = run("decrypt", tmp_path / name, tmp_path / "back", typed="")
    assert isinstance(done.exception, InputError) and "cannot be read" in str(done.exception)
    assert not done.output, "no warning and no question"


def test_a_key_file_that_others_can_read(plain: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"raw bytes")
    key.chmod(0o644)
    done = run("encrypt", "--format", "crypt-and-hash", "--key-file", key, plain, tmp_path / "sealed")
    assert "others on this machine can read it" in done.stderr
    with pytest.raises(MotecryptError, match="others can read"):
        run_raising("encrypt", "--key-file", key, plain, tmp_path / "sealed2")


def run_raising(*arguments: str | Path) -> None:
    CliRunner().invoke(command, [str(a) for a in arguments], catch_exceptions=False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["encrypt", "--cipher", "rc4"], "modern has: aes256-gcm"),
        (["encrypt", "--format", "crypt-and-hash", "--cipher", "aes256-gcm"], "crypt-and-hash has: aes128"),
        (["encrypt", "--digest", "sha1"], "is only for --format crypt-and-hash"),
        (["encrypt", "--key-env", "NOT_THERE_AT_ALL"], "the variable is not set"),
        (["encrypt", "--key-env", "PATH", "--key-file", "x"], "give one of them"),
        (["decrypt", "--format", "modern", "--key-env", "PATH"], "not a file of the modern format"),
        (["decrypt", "--format", "modern", "--cipher", "rc4"], "contains them"),
        (["decrypt", "--key-env", "PATH"], "cannot be aes256-cbc|wrong key"),
    ],
)
def test_bad_requests(plain: Path, tmp_path: Path, arguments: list[str], said: str) -> None:
    with pytest.raises(MotecryptError, match=said):
        run_raising(*arguments, plain, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_path_goes_into_the_iv_as_it_was_typed(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kind = ["encrypt", "--format", "crypt-and-hash", "--key-env", "K"]
    for number, typed in enumerate(("plain", "./plain", ".//plain")):
        assert run(*kind, typed, f"sealed{number}", K="k").exit_code == 0
        expected = crypt_and_hash.initial_vector("sha512", plain.stat().st_size, typed)
        assert (tmp_path / f"sealed{number}").read_bytes()[:16] == expected
