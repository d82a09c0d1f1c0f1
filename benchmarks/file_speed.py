"""`motecrypt file` against OpenSSL (the published format) and age (the modern one): one large file.

Thresholds, in processor time: at least 0.9 of the speed of `openssl enc` and `openssl dgst -hmac` together,
and at least the speed of `age` (left out where it is not installed), encrypting and decrypting: the least of
several rounds in which all take turns, since what shares a processor only ever adds to its time. And less
than 64 MB of memory for a file of 4 GB (sparse). All read and write the same file system in memory; ours is
the whole command, start of Python included. --quick leaves the 4 GB out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIZE = 1 << 29
LARGE = 4 << 30
ROUNDS = 5
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
    place = shared if shared.is_dir() and shutil.disk_usage(shared).free > 8 * SIZE else None
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
    theirs, digest, modern, aged = (folder / name for name in ("theirs", "digest", "modern", "aged"))
    turns = {
        ("openssl", "encrypt"): [_openssl("enc", "-e", plain, theirs), _hmac(theirs, digest)],
        ("crypt-and-hash", "encrypt"): [_motecrypt("encrypt", "crypt-and-hash", plain, sealed)],
        ("openssl", "decrypt"): [_hmac(theirs, digest), _openssl("enc", "-d", theirs, back)],
        ("crypt-and-hash", "decrypt"): [_motecrypt("decrypt", "crypt-and-hash", sealed, back)],
        ("modern", "encrypt"): [_motecrypt("encrypt", "modern", plain, modern)],
        ("modern", "decrypt"): [_motecrypt("decrypt", "modern", modern, back)],
    }
    pairs = [("crypt-and-hash", "openssl", THRESHOLD)]
    if shutil.which("age") and shutil.which("age-keygen"):
        key = folder / "age.key"
        subprocess.run(["age-keygen", "-o", str(key)], capture_output=True, timeout=60, check=True)
        public = next(line for line in key.read_text().splitlines() if "age1" in line).rpartition(" ")[2]
        turns["age", "encrypt"] = [["age", "-r", public, "-o", str(aged), str(plain)]]
        turns["age", "decrypt"] = [["age", "-d", "-i", str(key), "-o", str(back), str(aged)]]
        pairs.append(("modern", "age", 1.0))
    else:
        print("age is not installed: the modern format is compared with nothing")
    took: dict[tuple[str, str], list[float]] = {turn: [] for turn in turns}
    for _ in range(ROUNDS):
        for turn, commands in turns.items():
            took[turn].append(sum(_run(command) for command in commands))
    held = True
    for ours, other, threshold in pairs:
        for what in ("encrypt", "decrypt"):
            a, b = took[other, what], took[ours, what]
            ratio = min(a) / min(b)
            mine, its = (SIZE / 1e6 / min(each) for each in (b, a))
            print(
                f"{what}, {ours}: {mine:.0f} MB for a second of processor time, {other} {its:.0f}: "
                f"ratio {ratio:.2f} (at least {threshold:g} wanted)",
                flush=True,
            )
            held &= ratio >= threshold
    return held


def _memory(folder: Path) -> bool:
    plain, sealed = folder / "plain", folder / "sealed"
    with plain.open("wb") as file:
        file.truncate(LARGE)
    peak = _peak_mb(_motecrypt("encrypt", "crypt-and-hash", plain, sealed))
    print(f"memory for {LARGE >> 30} GB: {peak:.0f} MB (less than {MEMORY_MB})")
    return peak < MEMORY_MB


def _openssl(*parts: str | Path) -> list[str]:
    name, direction, source, target = map(str, parts)
    return f"openssl {name} -aes-256-cbc {direction} -K {KEY} -iv {IV} -in {source} -out {target}".split()


def _hmac(source: Path, target: Path) -> list[str]:
    return ["openssl", "dgst", "-sha512", "-hmac", KEY, "-out", str(target), str(source)]


def _motecrypt(what: str, form: str, source: Path, target: Path) -> list[str]:
    options = ["--format", form, "--key-env", "FILE_KEY", "--force"]
    return [sys.executable, "-P", "-m", "motecrypt", "file", what, *options, str(source), str(target)]


def _run(command: Sequence[str]) -> float:
    """Processor time of a command, in seconds."""
    before = os.times()
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, timeout=600, check=False)
    after = os.times()
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command[:3])}: {done.stderr.decode(errors='replace').strip()}")
    return after.children_user + after.children_system - before.children_user - before.children_system


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
