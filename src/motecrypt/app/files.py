"""Encrypt and decrypt files of any size, in constant memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from motecrypt.base.errors import InputError
from motecrypt.base.paths import open_regular
from motecrypt.link.files import container, crypt_and_hash, secrets

MODERN, COMPATIBLE = "modern", "crypt-and-hash"
COMPATIBLE_WARNING = "crypt-and-hash is for compatibility only: " + "; ".join(crypt_and_hash.WEAKNESSES)

FileProgress = Callable[[int, int], None]
"""Gets how many bytes are done, of how many."""
Warn = Callable[[str], None]


@dataclass(frozen=True)
class FileKey:
    """Where the key comes from: one of these.

    Attributes
    ----------
    key_file : of `motecrypt key`; for crypt-and-hash any bytes.
    key_env : a variable with a password, or with "hex:" and a key.
    ask : gives such a text; called only when it is needed.
    """

    key_file: Path | None = None
    key_env: str | None = None
    ask: Callable[[], str] | None = None

    def modern(self) -> container.Secret:
        """The key for a file of the modern format."""
        path = self._path()
        if path is None:
            return secrets.modern_text(*self._text())
        from motecrypt.link import read_key_file  # with all of the link, which passwords need not wait for

        return container.Secret(key=read_key_file(path))

    def compatible(self, warn: Warn) -> bytes:
        """The key for a file of crypt-and-hash."""
        path = self._path()
        if path is None:
            return secrets.compatible_text(*self._text())
        if secrets.exposed(path):
            warn(f"key file {path}: others on this machine can read it; run 'chmod 600 {path}'")
        return secrets.compatible_key_file(path)

    def _path(self) -> Path | None:
        if self.key_file is not None and self.key_env is not None:
            raise InputError("--key-file and --key-env: give one of them")
        return self.key_file

    def _text(self) -> tuple[str, str]:
        if self.key_env is not None:
            return secrets.from_environment(self.key_env), f"--key-env {self.key_env}"
        if self.ask is None:
            raise InputError("--key-file, --key-env: give one of them")
        return self.ask(), "the key typed"


@dataclass(frozen=True)
class FileForm:
    """The format: "modern" or "crypt-and-hash"; None: modern, or what the file is. Of the modern one also
    the bytes of a `chunk`, of the other the `digest`."""

    kind: str | None = None
    cipher: str | None = None
    digest: str | None = None
    chunk: int = 65536


@dataclass(frozen=True)
class FileRequest:
    """A file to read, and a new one to write.

    Attributes
    ----------
    typed : the path that crypt-and-hash has in its IV, by default that of `source`.
    force : replace `target`. allow_costly : accept a header that needs more than 64 MiB for the password.
    """

    source: Path
    target: Path
    form: FileForm = field(default_factory=FileForm)
    typed: str | None = None
    force: bool = False
    allow_costly: bool = False


def encrypt_file(
    request: FileRequest,
    key: FileKey,
    progress: FileProgress | None = None,
    warn: Warn = lambda told: None,
) -> int:
    """Encrypt a file; the bytes written. InputError for what cannot be."""
    form, source, force = request.form, request.source, request.force
    kind = form.kind or MODERN
    known = container.CIPHERS if kind == MODERN else crypt_and_hash.CIPHERS
    if form.cipher is not None and form.cipher not in known:
        raise InputError(f"--cipher {form.cipher}: the format {kind} has: {', '.join(known)}")
    if kind == MODERN:
        if form.digest is not None:
            raise InputError("--digest is only for --format crypt-and-hash; omit it")
        return container.encrypt_file(
            *(source, request.target, key.modern()),
            cipher=form.cipher or "aes256-gcm",
            chunk_bytes=form.chunk,
            force=force,
            progress=progress,
        )
    warn(COMPATIBLE_WARNING)
    cipher, typed = form.cipher or "aes256-cbc", request.typed or str(source)
    if cipher.endswith("-ctr") and Path(typed).is_file() and Path(typed).stat().st_size % 16:
        warn("the original program decrypts CTR files only if their length is a multiple of 16")
    return crypt_and_hash.encrypt_file(
        *(source, request.target, key.compatible(warn)),
        cipher=cipher,
        digest=form.digest or "sha512",
        path_in_iv=typed,
        force=force,
        progress=progress,
    )


def decrypt_file(
    request: FileRequest,
    key: FileKey,
    progress: FileProgress | None = None,
    warn: Warn = lambda told: None,
) -> int:
    """Decrypt a file, which appears only if every byte was found genuine; its bytes.

    InputError for what cannot be; MotecryptError for a wrong key, or a file that was changed.
    """
    form, source = request.form, request.source
    with open_regular(source):
        pass  # a file that cannot be read is reported before any warning or question about its format
    if (form.kind or (MODERN if container.is_container(source) else COMPATIBLE)) == MODERN:
        if form.cipher is not None or form.digest is not None:
            raise InputError(
                "--cipher, --digest: a file of the modern format contains them; omit both options"
            )
        return container.decrypt_file(
            *(source, request.target, key.modern()),
            force=request.force,
            allow_costly=request.allow_costly,
            progress=progress,
        )
    warn(COMPATIBLE_WARNING)
    return crypt_and_hash.decrypt_file(
        *(source, request.target, key.compatible(warn)),
        cipher=form.cipher or "aes256-cbc",
        digest=form.digest or "sha512",
        force=request.force,
        progress=progress,
    )
