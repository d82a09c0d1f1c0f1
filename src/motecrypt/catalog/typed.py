"""How a command that is typed in the current folder names things: ours by name, a user's own by its path.

Commands that are printed to be copied name things only in this way.
"""

from __future__ import annotations

import os
from pathlib import Path

from motecrypt.base.model import Cipher, Device
from motecrypt.catalog.places import PACKAGE


def typed_path(path: Path) -> str:
    """A file or folder from the current one, always with a slash: without one it would be a name."""
    here = os.path.relpath(path)
    return here if here == ".." or here.startswith("../") else f"./{here}"


def is_own(folder: Path) -> bool:
    """Whether a folder is the user's own."""
    return PACKAGE not in folder.parents


def typed_cipher(cipher: Cipher) -> str:
    """A cipher; a folder may hold several."""
    return f"{typed_path(cipher.folder)}/{cipher.name}" if is_own(cipher.folder) else cipher.name


def typed_device(device: Device) -> str:
    """A device."""
    return typed_path(device.folder) if is_own(device.folder) else device.name
