"""motecrypt file: encrypt and decrypt files of any size."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import click

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.paths import open_regular
from motecrypt.cli._output import progress
from motecrypt.link.files import container, crypt_and_hash, secrets

MODERN, COMPATIBLE = "modern", "crypt-and-hash"
MIB = 1 << 20

_Function = TypeVar("_Function", bound=Callable[..., None])

PIPE = "-"
COPIED_BYTES = 1 << 16

_source = click.argument(
    "source", type=click.Path(allow_dash=True)
)  # as typed: the published format derives its IV from it
_target = click.argument("target", type=click.Path(path_type=Path, allow_dash=True))


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
@_source
@_target
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
@click.option(
    "--digest", type=click.Choice(list(crypt_and_hash.DIGESTS)), help="For crypt-and-hash; default sha512."
)
@click.option("--chunk", type=int, default=65536, show_default=True, help="Bytes a chunk (modern).")
@_key_options
def encrypt(
    source: str,
    target: Path,
    kind: str,
    cipher: str | None,
    digest: str | None,
    chunk: int,
    key_file: Path | None,
    key_env: str | None,
    force: bool,
) -> None:
    """Encrypt SOURCE into the new file TARGET; - is standard input, or output.

    With crypt-and-hash, the path as given goes into the IV, as in the original program.
    """
    if kind == MODERN:
        _refuse(cipher, container.CIPHERS, kind)
        if digest is not None:
            raise InputError("--digest is only for --format crypt-and-hash; omit it")
        secret = _modern_secret(key_file, key_env, new=True)
        with _files(source, target) as (read, written), _bar("encrypting") as report:
            size = container.encrypt_file(
                read,
                written,
                secret,
                cipher=cipher or "aes256-gcm",
                chunk_bytes=chunk,
                force=force,
                progress=report,
            )
    else:
        _refuse(cipher, crypt_and_hash.CIPHERS, kind)
        _warn(COMPATIBLE_WARNING)
        cipher = cipher or "aes256-cbc"
        if cipher.endswith("-ctr") and Path(source).is_file() and Path(source).stat().st_size % 16:
            _warn("the original program decrypts CTR files only if their length is a multiple of 16")
        typed = _compatible_secret(key_file, key_env, new=True)
        with _files(source, target) as (read, written), _bar("encrypting") as report:
            size = crypt_and_hash.encrypt_file(
                read,
                written,
                typed,
                cipher=cipher,
                digest=digest or "sha512",
                path_in_iv=source,
                force=force,
                progress=report,
            )
    _done(target, f"{size} bytes, {kind}")


@command.command(epilog="Example: motecrypt file decrypt --key-file my.key log.csv.enc log.csv")
@_source
@_target
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
@click.option(
    "--digest", type=click.Choice(list(crypt_and_hash.DIGESTS)), help="For crypt-and-hash; default sha512."
)
@click.option(
    "--allow-costly",
    is_flag=True,
    help="Accept a header that needs more than 64 MiB of memory for the password.",
)
@_key_options
def decrypt(
    source: str,
    target: Path,
    kind: str | None,
    cipher: str | None,
    digest: str | None,
    allow_costly: bool,
    key_file: Path | None,
    key_env: str | None,
    force: bool,
) -> None:
    """Decrypt SOURCE into the new file TARGET, which appears only if every byte was found genuine.

    - is standard input, or output, to which nothing goes before that.

    Only you can read TARGET; one that is replaced keeps its permissions.
    """
    with _files(source, target) as (read, written):
        with open_regular(read):
            pass  # a file that cannot be read is reported before any warning or question about its format
        size = _decrypt(read, written, kind, cipher, digest, (key_file, key_env), force, allow_costly)
    _done(target, f"{size} bytes")


def _decrypt(
    read: Path,
    written: Path,
    kind: str | None,
    cipher: str | None,
    digest: str | None,
    key: tuple[Path | None, str | None],
    force: bool,
    allow_costly: bool,
) -> int:
    key_file, key_env = key
    if kind is None:
        kind = MODERN if container.is_container(read) else COMPATIBLE
    if kind == MODERN:
        if cipher is not None or digest is not None:
            raise InputError(
                "--cipher, --digest: a file of the modern format contains them; omit both options"
            )
        secret = _modern_secret(key_file, key_env, new=False)
        with _bar("decrypting") as report:
            return container.decrypt_file(
                read, written, secret, force=force, allow_costly=allow_costly, progress=report
            )
    _warn(COMPATIBLE_WARNING)
    typed = _compatible_secret(key_file, key_env, new=False)
    with _bar("decrypting") as report:
        return crypt_and_hash.decrypt_file(
            read,
            written,
            typed,
            cipher=cipher or "aes256-cbc",
            digest=digest or "sha512",
            force=force,
            progress=report,
        )


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
        print(f"motecrypt: {said}", file=sys.stderr)
    else:
        print(f"{target}: {said}")


COMPATIBLE_WARNING = "crypt-and-hash is for compatibility only: " + "; ".join(crypt_and_hash.WEAKNESSES)


def _warn(text: str) -> None:
    print(f"motecrypt: warning: {text}", file=sys.stderr)


def _refuse(cipher: str | None, known: Collection[str], kind: str) -> None:
    if cipher is not None and cipher not in known:
        raise InputError(f"--cipher {cipher}: the format {kind} has: {', '.join(known)}")


def _typed(key_env: str | None, new: bool) -> tuple[str, str]:
    if key_env is not None:
        return secrets.from_environment(key_env), f"--key-env {key_env}"
    text: str = click.prompt(
        "Password (or hex: and a key)", hide_input=True, confirmation_prompt=new, err=True
    )
    return text, "the key typed"


def _modern_secret(key_file: Path | None, key_env: str | None, new: bool) -> container.Secret:
    if key_file is not None:
        _one(key_env)
        from motecrypt.link import read_key_file  # with all of the link, which passwords need not wait for

        return container.Secret(key=read_key_file(key_file))
    return secrets.modern_text(*_typed(key_env, new))


def _compatible_secret(key_file: Path | None, key_env: str | None, new: bool) -> bytes:
    if key_file is not None:
        _one(key_env)
        if secrets.exposed(key_file):
            _warn(f"key file {key_file}: others on this machine can read it; run 'chmod 600 {key_file}'")
        return secrets.compatible_key_file(key_file)
    return secrets.compatible_text(*_typed(key_env, new))


def _one(key_env: str | None) -> None:
    if key_env is not None:
        raise InputError("--key-file and --key-env: give one of them")


@contextmanager
def _bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Progress in MiB, for files that take a while."""
    with progress(title) as report:

        def told(done: int, total: int) -> None:
            if total >= 64 * MIB:
                report(done // MIB, total // MIB, "MiB")

        yield told
