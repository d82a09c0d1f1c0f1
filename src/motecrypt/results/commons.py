"""Result sets that anyone can publish, sign, read and join: a folder of parts and a signed list of them.

    DIR/manifest.json        the parts with their hashes, and who publishes them
    DIR/manifest.json.sig    signature of the list by an SSH key, as `ssh-keygen -Y sign` makes it
    DIR/uno-1a2b....jsonl    measurements of one device: a line each, in the order of their keys

A part's name has the hash of its content, so a set can be on any web server or in any repository, and a part
that did not change stays the same file.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from motecrypt import __version__
from motecrypt.base.errors import InputError
from motecrypt.base.model import Measurement
from motecrypt.base.paths import make_dir, open_regular, written_atomically
from motecrypt.results import rows
from motecrypt.results.forms import plain

FORMAT = 1
NAMESPACE = "motecrypt-results"
"""Of the signatures: one made for something else is not accepted."""
MANIFEST = "manifest.json"
MANIFEST_BYTES_MAX = 1 << 20
PART_BYTES_MAX = 1 << 30
LINE_BYTES_MAX = 1 << 16
SIGN_TIMEOUT_S = 120
_PUBLISHER = re.compile(r"[\w.+@-]{1,100}", re.ASCII)
_PART = re.compile(r"[a-z0-9][a-z0-9-]{0,60}-([0-9a-f]{64})\.jsonl")


def publish(every: Iterable[tuple[str, Measurement]], folder: Path, publisher: str, key: Path | None) -> int:
    """Write a set into a folder, replacing an older one of the same publisher; returns how many measurements.

    Figures that failed only for the moment are left out. Parts that the new list does not name are deleted
    last, so a reader always finds all parts of the list that it has read.

    Parameters
    ----------
    every
        Cell keys and measurements.
    publisher
        By which name the readers know the key, such as an e-mail address.
    key
        The SSH key that signs; None: no signature.

    Raises
    ------
    InputError
        The folder has a set of someone else or cannot be written, or `ssh-keygen` refuses the key.
    """
    if not _PUBLISHER.fullmatch(publisher):
        raise InputError(f"publisher '{publisher}': one word, such as an e-mail address")
    make_dir(folder)
    if (folder / MANIFEST).exists() and (
        other := _manifest(_listed(folder), folder)["publisher"]
    ) != publisher:
        raise InputError(f"{folder}: has the set of {other}; choose another folder")
    kept = sorted((m.device, key_, m) for key_, m in every if not m.transient)
    parts: list[dict[str, Any]] = []
    for device, group in groupby(kept, key=lambda each: each[0]):
        lines = [_line(key_, m) for _, key_, m in group]
        content = "".join(lines).encode()
        digest = hashlib.sha256(content).hexdigest()
        name = f"{re.sub('[^a-z0-9-]', '-', device.lower())[:60]}-{digest}.jsonl"
        with written_atomically(folder / name) as file:
            file.write(content)
        parts.append({"file": name, "sha256": digest, "measurements": len(lines)})
    told = {"format": FORMAT, "motecrypt": __version__, "publisher": publisher, "parts": parts}
    text = (json.dumps(told, indent=1) + "\n").encode()
    signature = _signed(text, key) if key is not None else None
    with written_atomically(folder / MANIFEST) as file:
        file.write(text)
    if signature is None:
        (folder / f"{MANIFEST}.sig").unlink(missing_ok=True)
    else:
        with written_atomically(folder / f"{MANIFEST}.sig") as file:
            file.write(signature)
    for path in folder.iterdir():
        if _PART.fullmatch(path.name) and path.name not in {part["file"] for part in parts}:
            path.unlink()
    return len(kept)


def fetch(folder: Path, signers: Path | None) -> tuple[str, Iterator[tuple[str, Measurement]]]:
    """The publisher of a set, and its measurements with their keys, one by one; each part is verified before.

    Parameters
    ----------
    signers
        Whose signatures count: a file of lines "NAME ssh-ed25519 KEY" (ssh-keygen's allowed signers). None:
        the signature is not looked at.

    Raises
    ------
    InputError
        No set is there, it is damaged or from a newer motecrypt, or nobody among the signers has signed it.
    """
    text = _listed(folder)
    told = _manifest(text, folder)
    publisher = str(told["publisher"])
    if signers is not None:
        _verify(text, folder, publisher, signers)
    parts = [(part["file"], part["sha256"]) for part in told["parts"]]
    for name, digest in parts:
        if _digest(folder / name) != digest:
            raise InputError(f"{folder / name}: not as the list says; fetch the set again")
    return publisher, (row for name, _ in parts for row in _rows(folder / name))


def _line(key: str, measurement: Measurement) -> str:
    return (
        json.dumps({"key": key, **plain(measurement)}, sort_keys=True, ensure_ascii=False, default=dict)
        + "\n"
    )


def _rows(path: Path) -> Iterator[tuple[str, Measurement]]:
    reader = rows.Reader(str(path))
    with open_regular(path) as file:
        while line := file.readline(LINE_BYTES_MAX + 1):
            try:
                told = json.loads(line) if len(line) <= LINE_BYTES_MAX else None
            except (ValueError, RecursionError):
                told = None
            if not isinstance(told, dict):
                raise InputError(f"{path}: a line that is not a measurement")
            yield rows.key(told.pop("key", None), str(path)), reader.from_plain(told)


def _listed(folder: Path) -> bytes:
    with open_regular(folder / MANIFEST) as file:
        return file.read(MANIFEST_BYTES_MAX + 1)


def _manifest(text: bytes, folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        told = json.loads(text) if len(text) <= MANIFEST_BYTES_MAX else None
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict) or not isinstance(told.get("format"), int):
        raise InputError(f"{path}: not the list of a result set")
    if told["format"] > FORMAT:
        raise InputError(f"{path}: from a newer motecrypt (format {told['format']}); upgrade motecrypt")
    parts = told.get("parts")
    sound = bool(_PUBLISHER.fullmatch(str(told.get("publisher")))) and isinstance(parts, list)
    for part in parts if isinstance(parts, list) else ():
        named = _PART.fullmatch(str(part.get("file"))) if isinstance(part, dict) else None
        sound = sound and named is not None and named[1] == part.get("sha256")
    if not sound:
        raise InputError(f"{path}: damaged: it names something other than parts with their hashes")
    return told


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with open_regular(path) as file:
        size = 0
        while block := file.read(1 << 20):
            size += len(block)
            if size > PART_BYTES_MAX:
                raise InputError(f"{path}: longer than {PART_BYTES_MAX:,} bytes")
            found.update(block)
    return found.hexdigest()


def _signed(text: bytes, key: Path) -> bytes:
    """The signature of a text by an SSH key: with its private file, or its public one and an agent."""
    if not key.is_file():
        raise InputError(f"{key}: no such SSH key; make one: ssh-keygen -t ed25519")
    with tempfile.TemporaryDirectory(prefix="motecrypt-sign.") as scratch:
        path = Path(scratch) / MANIFEST
        path.write_bytes(text)
        done = _ssh_keygen(["-Y", "sign", "-n", NAMESPACE, "-f", str(key), str(path)], b"")
        if done.returncode != 0:
            raise InputError(f"{key}: ssh-keygen cannot sign with it: {_last(done.stderr)}")
        return path.with_name(f"{MANIFEST}.sig").read_bytes()


def _verify(text: bytes, folder: Path, publisher: str, signers: Path) -> None:
    signature = folder / f"{MANIFEST}.sig"
    if not signers.is_file():
        raise InputError(f"{signers}: no such file of allowed signers")
    if not signature.is_file():
        raise InputError(f"{folder}: has no signature; to read it anyway: --unsigned")
    words = ["-Y", "verify", "-n", NAMESPACE, "-I", publisher, "-f", str(signers), "-s", str(signature)]
    done = _ssh_keygen(words, text)
    if done.returncode != 0:
        raise InputError(f"{folder}: not signed by {publisher} with a key in {signers}: {_last(done.stderr)}")


def _ssh_keygen(words: list[str], text: bytes) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise InputError("ssh-keygen is missing: apt-get install --no-install-recommends openssh-client")
    try:
        return subprocess.run(
            [program, *words], input=text, capture_output=True, timeout=SIGN_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"ssh-keygen did not end within {SIGN_TIMEOUT_S} s") from None


def _last(text: bytes) -> str:
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else "it printed no reason"
