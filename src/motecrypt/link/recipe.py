"""How the link's core (firmware/link) is compiled for a computer, with each suite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from motecrypt.catalog.places import FIRMWARE

FOLDER = FIRMWARE / "link"
FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared", "-fPIC")
DEFINES = ("-DCIPHER_TAG_BYTES=16", "-DCIPHER_TAG_VARIES", "-DCIPHER_NO_AD", "-DCIPHER_KEY_BYTES_MAX=16")

Suite = Literal["aes128-ccm", "ascon-aead128"]


@dataclass(frozen=True)
class SuiteRecipe:
    """How the core is compiled for one suite: its defines, and sources from firmware/."""

    suite: int
    defines: tuple[str, ...]
    folders: tuple[str, ...]
    sources: tuple[str, ...]

    def command(
        self, sources: Sequence[Path] = (), flags: Sequence[str] = FLAGS, compiler: str = "gcc"
    ) -> list[str | Path]:
        """The compiler's command line without its output; `sources` take the place of native.c."""
        places = (FIRMWARE / name for name in ("link", "include", "modes", *self.folders))
        include = [part for place in places for part in ("-I", place)]
        own = [FOLDER / name for name in ("link.c", "keys.c", "store.c")]
        wanted = [*own, *(FIRMWARE / name for name in self.sources), *(sources or [FOLDER / "native.c"])]
        return [compiler, *flags, *DEFINES, f"-DLINK_SUITE={self.suite}", *self.defines, *include, *wanted]


SUITES: dict[Suite, SuiteRecipe] = {
    "aes128-ccm": SuiteRecipe(
        1,
        ('-DCIPHER_HEADER="ccm.h"', '-DBLOCK_HEADER="aes_sliced.h"'),
        ("ciphers/aes",),
        ("link/suite_ccm.c", "ciphers/aes/aes_sliced.c"),
    ),
    "ascon-aead128": SuiteRecipe(
        2,
        ('-DCIPHER_HEADER="ascon_words.h"',),
        ("ciphers/ascon",),
        ("link/suite_ascon.c", "ciphers/ascon/ascon_aead128.c", "ciphers/ascon/ascon_words.c"),
    ),
}
