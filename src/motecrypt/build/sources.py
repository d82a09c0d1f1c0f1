"""Where a library's source lies on disk: fetched at first use, or beside its descriptor."""

from __future__ import annotations

from pathlib import Path

from motecrypt.build.toolchain import BuildError


def source_root(package: str, folder: Path) -> Path:
    """The directory of a library's unpacked source.

    `package` "here" means the library's own folder (a user's library); anything else is fetched by
    the package clients that the folder's library.toml names.
    """
    if package == "here":
        return folder
    raise BuildError(f"library source '{package}' cannot be fetched")
