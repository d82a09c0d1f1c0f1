"""Adds the link's core for computers without a compiler to the wheel: see src/motecrypt/link/prebuilt.py.

For each kind of machine whose compiler is here. MOTECRYPT_CORES=all: for every kind, or the build ends;
MOTECRYPT_CORES=none: for none; MOTECRYPT_CORES=x86_64,armhf: for these.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CoresHook(BuildHookInterface):
    """Compiles the cores into a folder of its own, so that the tree stays as it is."""

    folder = None

    def initialize(self, version, build_data):
        """Before a wheel is packed; an editable one is the tree, which compiles at first use."""
        asked = os.environ.get("MOTECRYPT_CORES", "")
        if version == "editable" or asked == "none":
            return
        kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        sys.path.insert(0, str(Path(self.root) / "src"))
        try:
            from motecrypt.link.prebuilt import COMPILERS, make_cores
        finally:
            sys.path.pop(0)
            sys.dont_write_bytecode = kept
        kinds = list(COMPILERS) if asked in ("", "all") else asked.split(",")
        self.folder = Path(tempfile.mkdtemp(prefix="motecrypt-cores."))
        made = make_cores(self.folder, kinds)
        missing = [COMPILERS[kind][0] for kind in kinds if kind not in made]
        if missing and asked:
            self.finalize(version, build_data, "")
            sys.exit(
                f"MOTECRYPT_CORES={asked}: no {' or '.join(missing)}; 'motecrypt doctor' has the packages"
            )
        for path in sorted(self.folder.iterdir()):
            build_data["force_include"][str(path)] = f"motecrypt/link/cores/{path.name}"

    def finalize(self, version, build_data, artifact_path):
        """After it."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
