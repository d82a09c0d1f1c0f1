"""Debian's archives, read with a configuration of our own: nothing of the system's is changed or installed.

apt-get does the work, since it checks the whole chain: the signature of a release by Debian's archive keys,
by that the hashes of its lists, by these the hash of each package. The archive is this machine's own, by its
apt sources, or one that the user names.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from fcntl import LOCK_EX, LOCK_NB, flock
from functools import lru_cache
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from motecrypt.base import process
from motecrypt.base.errors import FailureKind, InputError
from motecrypt.base.paths import cache_dir, make_dir
from motecrypt.build.toolchain.toolchain import BuildError

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
#: The mirror to use where neither the caller nor an option names one; empty: this machine's own.
MIRROR_VARIABLE = "MOTECRYPT_MIRROR"
_SCHEMES = ("http", "https", "file")


@lru_cache(maxsize=1)
def listed() -> list[tuple[str, str, str]]:
    """Label, site and release of each archive among this machine's apt sources; asked once.

    Raises
    ------
    BuildError
        There is none.
    """
    asked = process.run(["apt-get", "indextargets", "--format", "$(LABEL)\t$(SITE)\t$(RELEASE)"])
    found = sorted(set(_fields(asked.output)))
    if not found:
        raise BuildError(
            "no Debian archive among this machine's apt sources ('apt-get update' may be due)",
            kind=FailureKind.MISSING,
        )
    return found


def _fields(output: str) -> Iterator[tuple[str, str, str]]:
    """The lines of three fields; of what apt-get says otherwise, nothing."""
    for line in output.splitlines():
        fields = line.split("\t")
        if len(fields) == 3 and fields[1]:
            yield fields[0], fields[1], fields[2]


def main_sites(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    """The sites of Debian's main archive among these, or of all where none calls itself so."""
    return sorted({site for _, site, _ in [row for row in rows if row[0] == "Debian"] or rows})


def checked_mirror(text: str, where: str) -> str:
    """An archive's address, as it is.

    Raises
    ------
    InputError
        It is not an address that fits one word of a line for apt; `where` names its origin.
    """
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    plain = text.isascii() and text.isprintable() and not set(text) & set(" []\"'#\\")
    if not plain or parts.scheme not in _SCHEMES or not (parts.netloc or parts.scheme == "file"):
        shown = text.encode("unicode_escape").decode()[:60]
        raise InputError(
            f"{where} '{shown}' is not the address of a Debian archive; write http://mirror.example/debian"
        )
    return text.rstrip("/")


def apt_options(folder: Path, sources: Sequence[str]) -> list[str]:
    """What makes apt-get work in a folder of its own, with these lines as its only sources."""
    make_dir(folder / "lists" / "partial")
    (folder / "sources.list").write_text("".join(f"{line}\n" for line in sources))
    return [
        *("-o", f"Dir::Etc::SourceList={folder / 'sources.list'}", "-o", "Dir::Etc::SourceParts=/dev/null"),
        *("-o", f"Dir::State::Lists={folder / 'lists'}", "-o", f"Dir::Cache={folder}"),
        *("-o", "APT::Sandbox::User=", "-o", "Acquire::Retries=3", "-o", "Acquire::Languages=none"),
    ]


def packages(
    release: str, names: Sequence[str], folder: Path, mirror: str = "", architecture: str = ""
) -> Mapping[str, Path]:
    """Packages of a release, as .deb files in a folder, by name; each checked by the archive's signature.

    Parameters
    ----------
    mirror
        The archive to use; empty: this machine's own, or MOTECRYPT_MIRROR.
    architecture
        By Debian's name, as arm64; empty: this machine's.

    Raises
    ------
    BuildError
        One is not available: no archive, no network, a signature that is not Debian's, no such package.
    """
    if not KEYRING.exists():
        raise BuildError(
            f"{KEYRING} is missing, by which a release is checked; install debian-archive-keyring",
            kind=FailureKind.MISSING,
        )
    own = os.environ.get(MIRROR_VARIABLE, "")
    chosen = mirror or (checked_mirror(own, MIRROR_VARIABLE) if own else "")
    sites = [chosen] if chosen else main_sites(listed())
    lines = [f"deb [signed-by={KEYRING} target=Packages] {site} {release} main" for site in sites]
    other = (
        [f"APT::Architecture={architecture}", f"APT::Architectures={architecture}"] if architecture else []
    )
    place = make_dir(cache_dir() / "debian" / f"{release}-{_digest([*lines, *other])}")
    status = place / "status"
    with (place / "lock").open("w") as lock:
        alone(lock)
        status.touch()
        options = [
            *apt_options(place, lines),
            *("-o", f"Dir::State::status={status}"),  # packages installed here are not candidates
            *("-o", "Dir::Etc::Preferences=/dev/null", "-o", "Dir::Etc::PreferencesParts=/dev/null"),
            *(word for option in other for word in ("-o", option)),
            *("-o", "APT::Default-Release=", "-o", "APT::Update::Error-Mode=any"),
            *("-o", "Acquire::AllowInsecureRepositories=false", "-o", "APT::Get::AllowUnauthenticated=false"),
        ]
        apt = ["apt-get", "-qq", *options]
        download = [*apt, "download", *names]
        # Lists that are there already may do; else they are fetched, and it is tried again.
        outcome = process.run(download, timeout_s=process.LONG_S, cwd=folder) if _has_lists(place) else None
        if outcome is None or not outcome.ok:
            outcome = process.run([*apt, "update"], timeout_s=process.LONG_S, cwd=folder)
            if outcome.ok:
                outcome = process.run(download, timeout_s=process.LONG_S, cwd=folder)
    if not outcome.ok:
        raise BuildError(f"{sites[0]} {release}: {outcome.first_error}", kind=FailureKind.MISSING)
    found = {name: path for name in names for path in sorted(folder.glob(f"{name}_*.deb"))}
    missing = [name for name in names if name not in found]
    if missing:
        raise BuildError(
            f"{sites[0]} {release}: did not bring {', '.join(missing)}", kind=FailureKind.MISSING
        )
    return found


def alone(file: IO[str]) -> None:
    """Wait until no other process has locked the file, as long as fetching may take, and lock it.

    Raises
    ------
    BuildError
        Another process holds it too long.
    """
    deadline = time.monotonic() + 3 * process.LONG_S
    while True:
        try:
            flock(file, LOCK_EX | LOCK_NB)
            return
        except OSError:
            if time.monotonic() > deadline:
                raise BuildError(
                    f"{file.name}: held by another process", kind=FailureKind.MISSING, transient=True
                ) from None
            time.sleep(0.1)


def _has_lists(place: Path) -> bool:
    return any((place / "lists").glob("*_Packages*"))


def _digest(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
