"""Exported ciphers as this computer runs them: the C files that an export writes, for any compiler.

Targets that write the same cipher write the same C files: it is one library here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from motecrypt.base.model import Cipher, Implementation
from motecrypt.catalog import Catalog
from motecrypt.exports.library import Export, choose, plan
from motecrypt.exports.link import plan_link
from motecrypt.exports.targets import target, target_names
from motecrypt.exports.timing import places
from motecrypt.results import Results

NAMES = (
    *("cipher_setup", "cipher_encrypt", "cipher_decrypt", "cipher_context", "cipher_io", "cipher_status"),
    *("CIPHER_OK", "CIPHER_BAD_KEY", "CIPHER_BAD_NONCE", "CIPHER_BAD_LENGTH", "CIPHER_BAD_TAG"),
    *("CIPHER_TAG_BYTES", "CIPHER_KEY_BYTES_MAX"),
)
"""Of cipher.h, without an export's prefix."""


@dataclass(frozen=True)
class ExportedCipher:
    """A library of one cipher; what an export writes of it is made when it is asked for.

    Attributes
    ----------
    targets : those that can write it. Their C files are the same.
    """

    cipher: Cipher
    body: Implementation
    placement: str
    targets: tuple[str, ...]

    @property
    def name(self) -> str:
        """Such as "aes128-ccm8 small ram"."""
        words = [self.cipher.name, self.body.variant]
        return " ".join([*words, *([] if self.placement == "flash" else [self.placement])])

    @property
    def prefix(self) -> str:
        """Before each of its names."""
        return planned(self, self.targets[0]).prefix

    @property
    def files(self) -> Mapping[str, bytes]:
        """Its C files, by their path below the folder for sources."""
        return c_files(self, self.targets[0])

    @property
    def key(self) -> str:
        """Of the files' contents."""
        return _key(self.files)

    def write(self, folder: Path) -> list[Path]:
        """Write the files; returns the sources."""
        return _write(self.files, folder)

    def _taken(self) -> list[int]:
        """Bytes of keys: a build with room for a long key of a family takes the shorter ones."""
        family = [
            bits // 8
            for cipher in Catalog.load().ciphers.values()
            if (cipher.family, cipher.mode) == (self.cipher.family, self.cipher.mode)
            for bits in cipher.key_bits
        ]
        return sorted({size for size in family if 8 * size <= max(self.body.key_bits)})

    def defines(self) -> list[str]:
        """For a source that uses cipher.h without the prefix."""
        rule, cipher = self.cipher.message, self.cipher
        lengths = ",".join(str(bits // 8) for bits in self.body.key_bits)
        given = {
            "EXPORT_HEADER": f'"{self.prefix.rstrip("_")}.h"',
            "EXPORT_KEY_BYTES": lengths,
            "EXPORT_NONCE_BYTES": str(cipher.nonce_bytes),
            "EXPORT_AD": str(int(cipher.associated_data)),
            "EXPORT_MIN": str(rule.min),
            "EXPORT_MULTIPLE": str(rule.multiple),
            **{name: f"{self.prefix}{name}" for name in NAMES},
        }
        flags = [f"{self.prefix}BROKEN_IS_KNOWN"] if cipher.security == "broken" else []
        if cipher.key_bits_allowed is None:
            given["EXPORT_KEYS_TAKEN"] = ",".join(str(size) for size in self._taken())
        flags += ["EXPORT_NONCE_VARIES"] if cipher.mode in ("ccm", "siv", "hctr2") else []
        # RC4 and RC4D have neither, and do not look.
        flags += ["EXPORT_NONCE_VARIES", "EXPORT_AD_IGNORED"] if cipher.family in ("rc4", "rc4d") else []
        return [*(f"-D{name}={value}" for name, value in given.items()), *(f"-D{flag}" for flag in flags)]


@lru_cache(maxsize=8)
def planned(library: ExportedCipher, name: str) -> Export:
    """What a target writes of it, without figures."""
    catalog = Catalog.load()
    form = target(name, catalog)
    with Results(Path(":memory:")) as results:
        return plan(catalog, form, library.cipher, library.body, results, placement=library.placement)


def c_files(library: ExportedCipher, name: str) -> dict[str, bytes]:
    """Its C files as a target writes them, without a class for C++."""
    made, sources = planned(library, name), target(name, Catalog.load()).sources
    return {
        str(PurePosixPath(path).relative_to(sources)): content
        for path, content in made.files.items()
        if path.startswith(f"{sources}/") and PurePosixPath(path).suffix in (".c", ".h")
        if PurePosixPath(path).stem != made.class_name
    }


def exported_ciphers() -> list[ExportedCipher]:
    """Every library that an export can write and this computer can run."""
    catalog = Catalog.load()
    forms = [target(name, catalog) for name in target_names()]
    found: dict[tuple[str, str, str], tuple[Cipher, Implementation, list[str]]] = {}
    for cipher in catalog.ciphers.values():
        for body in catalog.implementations_of(cipher.name, "host", ["motecrypt"]):
            for form in forms:
                for placement in places(catalog, form, body) if body.runs_on(form.core) else ():
                    there = found.setdefault((cipher.name, body.variant, placement), (cipher, body, []))
                    there[2].append(form.name)
    return [
        ExportedCipher(cipher, body, placement, tuple(names))
        for (_, _, placement), (cipher, body, names) in found.items()
    ]


@dataclass(frozen=True)
class ExportedLink:
    """The core of the link with one cipher, as an export for plain C writes it."""

    cipher: Cipher
    body: Implementation

    @property
    def files(self) -> Mapping[str, bytes]:
        """Its C files without the node's storage and clock, which a harness has; and names without prefix."""
        catalog = Catalog.load()
        made = plan_link(catalog, target("c", catalog), self.cipher, self.body)
        folder = f"src/{made.prefix.rstrip('_')}/"
        files = {
            path.removeprefix(folder): content
            for path, content in made.files.items()
            if path.startswith(folder) and PurePosixPath(path).name not in ("node.c", "file.c")
        }
        used = (re.findall(rf"\b{made.prefix}(\w+)", content.decode()) for content in files.values())
        names = sorted({name for found in used for name in found})
        lines = (f"#define {name} {made.prefix}{name}\n" for name in names)
        return {**files, "names.h": "".join(lines).encode()}

    @property
    def key(self) -> str:
        """Of the files' contents."""
        return _key(self.files)

    @property
    def name(self) -> str:
        """With the key: its sources are not those of the ciphers alone."""
        return f"link {self.cipher.name} {self.key}"

    def write(self, folder: Path) -> list[Path]:
        """Write the files; returns the sources."""
        return _write(self.files, folder)

    def defines(self) -> list[str]:
        """For a source that uses link.h without the prefix."""
        return ["-DOWN_INPUTS", "-include", "export_config.h", "-include", "names.h"]


def exported_links() -> list[ExportedLink]:
    """One for each of its ciphers."""
    catalog = Catalog.load()
    form = target("c", catalog)
    ciphers = [catalog.cipher(name) for name in ("aes128-ccm8", "ascon-aead128")]
    return [ExportedLink(cipher, choose(catalog, cipher, form, None)) for cipher in ciphers]


def _key(files: Mapping[str, bytes]) -> str:
    whole = "\0".join(f"{path}\0{content.decode()}" for path, content in sorted(files.items()))
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def _write(files: Mapping[str, bytes], folder: Path) -> list[Path]:
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return [folder / path for path in sorted(files) if path.endswith(".c")]
