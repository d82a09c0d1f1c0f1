"""Library sources: fetched at first use by ordinary package clients, pinned by hash, never in the tree.

A library's folder names one or more places in its `library.toml`, tried in order:

    [[source]]
    client = "debian"                     # debian, pypi or crate
    package = "mbedtls"
    release = "bookworm"                  # debian: the release whose archive holds it, on any Debian;
                                          # a list is tried in order; without it, this machine's own
    file = "mbedtls_2.28.3.orig.tar.gz"   # debian: the upstream archive of the source package
    sha256 = "..."                        # or a list: any of these archives will do
    folder = "mbedtls-2.28.3"             # where in the archive its files are ("": the top)

Sources are written as "@/library/aes.c", relative to that folder. An archive that is not byte for byte one of
the pinned ones is not unpacked; one that was cut off in the middle of unpacking leaves nothing behind.
"""

from __future__ import annotations

import hashlib
import lzma
import os
import re
import shutil
import sys
import tarfile
import tempfile
import threading
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from motecrypt.base import process
from motecrypt.base.descriptor import Table
from motecrypt.base.errors import FailureKind, InputError
from motecrypt.base.paths import cache_dir, make_dir
from motecrypt.build.toolchain import debian
from motecrypt.build.toolchain.toolchain import BuildError

# What becomes part of a client's command line, manifest or pattern: no option, path, address or wildcard.
_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9+._-]*")
_VERSION = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9+._~!-]*)?")
_FILE = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9+._~:-]*)?")
_lock = threading.Lock()
_failed: dict[Path, str] = {}  # tried once a process: a command must not wait again for each cell


@dataclass(frozen=True)
class Source:
    """One place that a library's source can come from."""

    client: str
    package: str
    version: str
    file: str
    sha256: tuple[str, ...]
    folder: str
    releases: tuple[str, ...] = ()


def sources_of(folder: Path) -> list[Source]:
    """The places that a library's folder names; none for a library that carries its own files."""
    table = Table.read(folder / "library.toml")
    found = []
    for entry in table.tables("source", []):
        source = Source(
            client=entry.text("client", choices=CLIENTS),
            package=entry.text("package"),
            version=entry.text("version", ""),
            file=entry.text("file", ""),
            sha256=_hashes(entry),
            folder=entry.text("folder", ""),
            releases=_releases(entry),
        )
        entry.done()
        if "/" in source.file:
            raise InputError(f"{entry.where}: file '{source.file}' is a path; give the archive's name alone")
        for name, pattern, expected in (
            ("package", _PACKAGE, "a package's name: letters, digits and + . _ -"),
            ("version", _VERSION, "a version: letters, digits and + . _ ~ ! -"),
            ("file", _FILE, "an archive's name: letters, digits and + . _ ~ : -"),
        ):
            given = getattr(source, name)
            if not pattern.fullmatch(given):
                raise entry.wrong(name, given, expected)
        found.append(source)
    return found


def _hashes(entry: Table) -> tuple[str, ...]:
    """One hash or a list of them, each 64 hexadecimal digits."""
    hashes = entry.text_or_texts("sha256")
    for text in hashes:
        if len(text) != 64 or not set(text) <= set("0123456789abcdef"):
            raise InputError(f"{entry.where}: sha256 '{text[:20]}' is not 64 hexadecimal digits")
    return hashes


def _releases(entry: Table) -> tuple[str, ...]:
    """The Debian releases to look in: words, since each becomes part of a line for apt."""
    releases = entry.text_or_texts("release", [])
    for name in releases:
        if not re.fullmatch("[a-z][a-z0-9-]*", name):
            raise InputError(f"{entry.where}: release '{name[:20]}' is not the name of a Debian release")
    return releases


def source_root(folder: Path) -> Path:
    """The directory of a library's source: unpacked in the cache, or the library's own folder.

    Raises
    ------
    BuildError
        When no place gives an archive with the pinned hash; the line names each and why.
    """
    places = sources_of(folder)
    if not places:
        return folder
    with _lock:
        for source in places:
            for digest in source.sha256:
                root = _unpacked(folder.name, digest)
                if root.is_dir():
                    return root / source.folder
        if folder in _failed:
            raise BuildError(_failed[folder], kind=FailureKind.MISSING)
        failures = []
        for source in places:
            try:
                return _fetch(folder.name, source) / source.folder
            except BuildError as error:
                failures.append(f"{source.client} {source.package}: {error}")
        _failed[folder] = f"source of {folder.name} is not available: {'; '.join(failures)}"
        from motecrypt.build.setup import left_out

        left_out(f"the source of {folder.name}", "; ".join(failures))
        raise BuildError(_failed[folder], kind=FailureKind.MISSING)


def _unpacked(library: str, digest: str) -> Path:
    return cache_dir() / "sources" / f"{library}-{digest[:16]}"


def _fetch(library: str, source: Source) -> Path:
    place = _unpacked(library, source.sha256[0]).parent
    make_dir(place)
    with tempfile.TemporaryDirectory(dir=place, prefix=f".{library}.") as name:
        scratch = Path(name)
        print(
            f"motecrypt: fetching the source of {library} ({source.client} {source.package})",
            file=sys.stderr,
        )
        archive = CLIENTS[source.client](source, scratch)
        data = archive.read_bytes()
        got = hashlib.sha256(data).hexdigest()
        if got not in source.sha256:
            pinned = " or ".join(f"{digest[:16]}…" for digest in source.sha256)
            raise BuildError(
                f"{archive.name} ({len(data):,} bytes) has the hash {got[:16]}…, pinned is {pinned}: refused"
            )
        unpacked = scratch / "unpacked"
        _unpack(archive, unpacked)
        if not (unpacked / source.folder).is_dir():
            raise BuildError(f"{archive.name} has no folder '{source.folder}'")
        target = _unpacked(library, got)
        try:
            unpacked.rename(target)
        except OSError:
            if not target.is_dir():  # else another process was faster
                raise
        return target


def _unpack(archive: Path, target: Path) -> None:
    """Files and directories, nowhere but below `target`; links and devices are left out."""
    target.mkdir()
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                path = PurePosixPath(member.name)
                if path.is_absolute() or ".." in path.parts:
                    raise BuildError(f"{archive.name} has a file outside its folder: {member.name}")
                content = tar.extractfile(member) if member.isfile() else None
                if content is not None:
                    (target / path).parent.mkdir(parents=True, exist_ok=True)
                    with content, (target / path).open("wb") as file:
                        shutil.copyfileobj(content, file)
    except (tarfile.TarError, OSError, ValueError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise BuildError(f"{archive.name} cannot be unpacked: {error}") from error


def _found(scratch: Path, source: Source, outcome: process.Outcome) -> Path:
    pattern = source.file or f"{source.package}-{source.version}*"
    archive = next((path for path in sorted(scratch.rglob(pattern)) if path.is_file()), None)
    if archive is None:
        told = outcome.first_error if not outcome.ok else f"did not bring {source.file}"
        raise BuildError(told, kind=FailureKind.MISSING)
    return archive


def _from_debian(source: Source, scratch: Path) -> Path:
    """apt-get source with a sources file of our own: the system's configuration stays as it is."""
    found = debian.listed()
    failure = None
    for release in source.releases or (None,):
        if release is None:
            places = sorted({f"{site} {own}" for _, site, own in found})
        else:
            places = [f"{site} {release}" for site in debian.main_sites(found)]
        try:
            return _from_archives(source, scratch / (release or "own"), places)
        except BuildError as error:
            failure = failure or error
    raise failure or BuildError("no release to look in", kind=FailureKind.MISSING)


def _from_archives(source: Source, scratch: Path, places: Sequence[str]) -> Path:
    """The upstream archive from the places given, each "SITE RELEASE"."""
    signed = f"[signed-by={debian.KEYRING}] " if debian.KEYRING.exists() else ""
    options = debian.apt_options(scratch, [f"deb-src {signed}{place} main" for place in places])
    apt = ["apt-get", "-qq", *options]
    updated = process.run([*apt, "update"], timeout_s=process.LONG_S, cwd=scratch)
    command = [*apt, "source", "--download-only", source.package]
    outcome = process.run(command, timeout_s=process.LONG_S, cwd=scratch)
    return _found(scratch, source, outcome if updated.ok else updated)


def _from_pypi(source: Source, scratch: Path) -> Path:
    """pip download of a source distribution, with nothing of the archive run (pip_fetch.py)."""
    archive = scratch / (source.file or f"{source.package}-{source.version}.tar.gz")
    command: list[str | Path] = [
        sys.executable,
        "-P",
        Path(__file__).with_name("pip_fetch.py"),
        scratch,
        archive.name,
    ]
    command += ["download", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps"]
    command += ["--no-binary", ":all:", "--dest", scratch, f"{source.package}=={source.version}"]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    outcome = process.run(command, timeout_s=process.LONG_S, cwd=scratch, environment=environment)
    if archive.is_file():
        return archive
    told = outcome.first_error if not outcome.ok else f"did not bring {archive.name}"
    raise BuildError(told, kind=FailureKind.MISSING)


def _from_crate(source: Source, scratch: Path) -> Path:
    """cargo fetch of one crate; its archive is taken from cargo's cache."""
    if shutil.which("cargo") is None:
        raise BuildError("cargo is not installed", kind=FailureKind.MISSING)
    (scratch / "src").mkdir()
    (scratch / "src" / "lib.rs").write_text("")
    (scratch / "Cargo.toml").write_text(
        '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n'
        f'[dependencies]\n{source.package} = "={source.version}"\n'
    )
    home = scratch / "cargo"
    own = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    make_dir(home)
    for name in ("config.toml", "config", "credentials.toml"):
        if (own / name).exists():
            shutil.copy(own / name, home / name)
    environment = {**os.environ, "CARGO_HOME": str(home)}
    outcome = process.run(["cargo", "fetch"], timeout_s=process.LONG_S, cwd=scratch, environment=environment)
    return _found(home, replace(source, file=f"{source.package}-{source.version}.crate"), outcome)


CLIENTS: dict[str, Callable[[Source, Path], Path]] = {
    "debian": _from_debian,
    "pypi": _from_pypi,
    "crate": _from_crate,
}
