"""Makes the locks again: `python -m motecrypt.build.setup.lock` (needs uv). For maintainers."""

from __future__ import annotations

import subprocess
import sys

from motecrypt.catalog import DATA

# Published as sources alone, whose build would run their code: setup.sh takes wheels only. Nothing that we
# use imports them (cosmic-ray draws its HTML report with yattag), so the locks leave them out.
WITHOUT_WHEEL = ("yattag",)


def main() -> int:
    """Compile every locks/*.in to a hashed *.txt, each compatible with base."""
    locks = DATA / "locks"
    for source in sorted(locks.glob("*.in"), key=lambda p: (p.stem != "base", p.stem)):
        command = ["uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
        command += ["--generate-hashes", "--no-emit-index-url", "--no-emit-find-links", "--no-header"]
        command += ["--output-file", str(source.with_suffix(".txt")), str(source)]
        command += [f"--no-emit-package={name}" for name in WITHOUT_WHEEL]
        if source.stem != "base":
            command += ["--constraints", str(locks / "base.txt")]
        if subprocess.run(command, check=False).returncode != 0:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
