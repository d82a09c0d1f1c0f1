"""`motecrypt file` against `openssl enc` and `openssl dgst -hmac`: the published format, one large file.

Threshold: at least 0.9 of OpenSSL's throughput, encrypting and decrypting, the median of several rounds in
which both take turns; and less than 64 MB of memory for a file of 4 GB (sparse).
OpenSSL's time is that of its two commands one after the other, on the same file in the same file system in
memory; ours is the whole command, start of Python included. --quick leaves the 4 GB out.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIZE = 1 << 30
LARGE = 4 << 30
ROUNDS = 3
THRESHOLD = 0.9
MEMORY_MB = 64
CANNOT_RUN = 77
KEY, IV = "42" * 32, "17" * 16
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "FILE_KEY": "hex:" + KEY}


def main() -> int:
    """Compare, print, and say whether the thresholds hold."""
    if shutil.which("openssl") is None:
        print("the program openssl is not installed")
        return CANNOT_RUN
    shared = Path("/dev/shm")
    place = shared if shared.is_dir() and shutil.disk_usage(shared).free > 4 * SIZE else None
    with tempfile.TemporaryDirectory(prefix="motecrypt-", dir=place) as name:
        held = [_speed(Path(name))]
    if "--quick" not in sys.argv:
        with tempfile.TemporaryDirectory(prefix="motecrypt-") as name:
            if shutil.disk_usage(name).free < LARGE + (1 << 30):
                print(f"less than {(LARGE >> 30) + 1} GB free in {name}: the test of memory is left out")
            else:
                held.append(_memory(Path(name)))
    return 0 if all(held) else 1


def _speed(folder: Path) -> bool:
    plain, sealed, back = folder / "plain", folder / "sealed", folder / "back"
    block = os.urandom(1 << 20)
    with plain.open("wb") as file:
        for _ in range(SIZE >> 20):
            file.write(block)
    theirs, digest = folder / "theirs", folder / "digest"
    forth = [_openssl("enc", "-e", plain, theirs), _hmac(theirs, digest)]
    home = [_hmac(theirs, digest), _openssl("enc", "-d", theirs, back)]
    ours_forth, ours_home = _motecrypt("encrypt", plain, sealed), _motecrypt("decrypt", sealed, back)
    took: dict[str, list[float]] = {name: [] for name in ("openssl e", "ours e", "openssl d", "ours d")}
    for _ in range(ROUNDS):
        took["openssl e"].append(sum(_run(command) for command in forth))
        took["ours e"].append(_run(ours_forth))
        took["openssl d"].append(sum(_run(command) for command in home))
        took["ours d"].append(_run(ours_home))
    held = True
    for name, title in (("e", "encrypt"), ("d", "decrypt")):
        ratio = statistics.median(
            a / b for a, b in zip(took[f"openssl {name}"], took[f"ours {name}"], strict=True)
        )
        mine, other = (SIZE / 1e6 / statistics.median(took[f"{who} {name}"]) for who in ("ours", "openssl"))
        theirs_said = f"openssl enc + dgst {other:.0f} MB/s"
        print(f"{title}: {mine:.0f} MB/s, {theirs_said}: ratio {ratio:.2f} (at least {THRESHOLD})")
        held &= ratio >= THRESHOLD
    return held


def _memory(folder: Path) -> bool:
    plain, sealed = folder / "plain", folder / "sealed"
    with plain.open("wb") as file:
        file.truncate(LARGE)
    peak = _peak_mb(_motecrypt("encrypt", plain, sealed))
    print(f"memory for {LARGE >> 30} GB: {peak:.0f} MB (less than {MEMORY_MB})")
    return peak < MEMORY_MB


def _openssl(*parts: str | Path) -> list[str]:
    name, direction, source, target = map(str, parts)
    return f"openssl {name} -aes-256-cbc {direction} -K {KEY} -iv {IV} -in {source} -out {target}".split()


def _hmac(source: Path, target: Path) -> list[str]:
    return ["openssl", "dgst", "-sha512", "-hmac", KEY, "-out", str(target), str(source)]


def _motecrypt(what: str, source: Path, target: Path) -> list[str]:
    options = ["--format", "crypt-and-hash", "--key-env", "FILE_KEY", "--force"]
    return [sys.executable, "-P", "-m", "motecrypt", "file", what, *options, str(source), str(target)]


def _run(command: Sequence[str]) -> float:
    started = time.monotonic()
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, timeout=600, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command[:3])}: {done.stderr.decode(errors='replace').strip()}")
    return time.monotonic() - started


def _peak_mb(command: Sequence[str]) -> float:
    """The child's largest resident memory: measured by a process of its own, which has no other child."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *command],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=900,
        check=True,
    )
    return int(done.stdout) / 1024


if __name__ == "__main__":
    sys.exit(main())
