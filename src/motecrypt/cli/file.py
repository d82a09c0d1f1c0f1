"""motecrypt file: encrypt and decrypt files of any size."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from motecrypt.app.files import COMPATIBLE, MODERN, FileKey, FileRequest, decrypt_file, encrypt_file
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.cli._output import print_note, progress
from motecrypt.cli._request import taken
from motecrypt.link.files import container, crypt_and_hash

MIB = 1 << 20
PIPE = "-"
COPIED_BYTES = 1 << 16

_Function = TypeVar("_Function", bound=Callable[..., None])
_digest_option = click.option(
    "--digest", type=click.Choice(list(crypt_and_hash.DIGESTS)), help="For crypt-and-hash; default sha512."
)


def _places(function: _Function) -> _Function:
    """SOURCE, as typed: the published format derives its IV from it; and TARGET."""
    target = click.argument("target", type=click.Path(path_type=Path, allow_dash=True))
    return click.argument("source", type=click.Path(allow_dash=True))(target(function))


def _key_options(function: _Function) -> _Function:
    for option in (
        click.option("--force", is_flag=True, help="Replace TARGET if it exists."),
        click.option("--key-env", metavar="NAME", help="Take the key or password from this variable."),
        click.option("--key-file", type=click.Path(path_type=Path), help="A file with the key."),
    ):
        function = option(function)
    return function


@click.group(epilog="Example: motecrypt file encrypt --key-file my.key log.csv log.csv.enc")
def command() -> None:
    """Encrypt or decrypt files of any size, in constant memory. Without a key option, a password is asked.

    Format "modern": AES-256-GCM or ChaCha20-Poly1305 in chunks; a key of 'motecrypt key', or a password
    through Argon2id. Format "crypt-and-hash": that of Mbed TLS's sample program, for its files only.
    """


@command.command(epilog="Example: motecrypt file encrypt --key-file my.key log.csv log.csv.enc")
@_places
@click.option(
    "--format",
    "kind",
    type=click.Choice([MODERN, COMPATIBLE]),
    default=MODERN,
    show_default=True,
    help="Format.",
)
@click.option(
    "--cipher",
    type=click.Choice([*container.CIPHERS, *crypt_and_hash.CIPHERS]),
    help="Default: aes256-gcm; with crypt-and-hash: aes256-cbc.",
)
@_digest_option
@click.option("--chunk", type=int, default=65536, show_default=True, help="Bytes a chunk (modern).")
@_key_options
def encrypt(source: str, target: Path, kind: str, **given: Any) -> None:
    """Encrypt SOURCE into the new file TARGET; - is standard input, or output.

    With crypt-and-hash, the path as given goes into the IV, as in the original program.
    """
    with _files(source, target) as (read, written), _bar("encrypting") as report:
        asked = taken(FileRequest, given | {"source": read, "target": written, "typed": source, "kind": kind})
        size = encrypt_file(asked, _key(given, new=True), report, _warn)
    _done(target, f"{size} bytes, {kind}")


@command.command(epilog="Example: motecrypt file decrypt --key-file my.key log.csv.enc log.csv")
@_places
@click.option(
    "--format",
    "kind",
    type=click.Choice([MODERN, COMPATIBLE]),
    help="Default: detected from the beginning of the file.",
)
@click.option(
    "--cipher",
    type=click.Choice(list(crypt_and_hash.CIPHERS)),
    help="For crypt-and-hash; default aes256-cbc.",
)
@_digest_option
@click.option(
    "--allow-costly",
    is_flag=True,
    help="Accept a header that needs more than 64 MiB of memory for the password.",
)
@_key_options
def decrypt(source: str, target: Path, **given: Any) -> None:
    """Decrypt SOURCE into the new file TARGET, which appears only if every byte was found genuine.

    - is standard input, or output, to which nothing goes before that.

    Only you can read TARGET; one that is replaced keeps its permissions.
    """
    with _files(source, target) as (read, written), _bar("decrypting") as report:
        asked = taken(FileRequest, given | {"source": read, "target": written})
        size = decrypt_file(asked, _key(given, new=False), report, _warn)
    _done(target, f"{size} bytes")


def _key(given: dict[str, Any], new: bool) -> FileKey:
    asked = partial(click.prompt, hide_input=True, confirmation_prompt=new, err=True)
    return taken(FileKey, given | {"ask": partial(asked, "Password (or hex: and a key)")})


@contextmanager
def _files(source: str, target: Path) -> Iterator[tuple[Path, Path]]:
    """The files to read and to write. For - they are in a folder of the user's alone for as long: what comes
    by standard input is copied there first, and nothing goes to standard output before all of it is right."""
    from_pipe, to_pipe = source == PIPE, str(target) == PIPE
    if not from_pipe and not to_pipe:
        yield Path(source), target
        return
    if to_pipe and sys.stdout.isatty():
        raise InputError("TARGET -: standard output is a terminal; send it to a file or a command")
    import shutil  # with what they import, a fiftieth of the time of a large file
    import tempfile

    with tempfile.TemporaryDirectory(prefix="motecrypt-") as name:
        read = Path(name, "in") if from_pipe else Path(source)
        written = Path(name, "out") if to_pipe else target
        try:
            if from_pipe:
                with read.open("xb") as file:
                    shutil.copyfileobj(sys.stdin.buffer, file, COPIED_BYTES)
            yield read, written
        except MotecryptError as error:
            said = str(error).replace(str(Path(name, "in")), "standard input")
            raise type(error)(said) from error
        if to_pipe:
            with written.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer, COPIED_BYTES)
            sys.stdout.buffer.flush()


def _done(target: Path, said: str) -> None:
    """The last line; next to what goes to standard output, on standard error."""
    if str(target) == PIPE:
        print_note(said)
    else:
        print(f"{target}: {said}")


def _warn(text: str) -> None:
    print_note(f"warning: {text}")


@contextmanager
def _bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Progress in MiB, for files that take a while."""
    with progress(title) as report:

        def told(done: int, total: int) -> None:
            if total >= 64 * MIB:
                report(done // MIB, total // MIB, "MiB")

        yield told
