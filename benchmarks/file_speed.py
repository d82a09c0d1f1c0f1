"""`motecrypt file` against OpenSSL (the published format) and age (the modern one): one large file.

Thresholds, in processor time: at least 0.9 of the speed of `openssl enc` and `openssl dgst -hmac` together,
and at least the speed of `age` (left out where it is not installed), encrypting and decrypting. The two run
one after the other, now one first, now the other, and the figure is the ratio of the shortest times: other
load takes bandwidth of the memory, which only ever adds time, and more to one than to the other. And less
than 64 MB of memory for each, and for a file of 4 GB (sparse). All read and write the same file system in
memory; ours is the whole command, start of Python included, with its modules compiled, as after the first
run. --quick leaves the 4 GB out.
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
ROUNDS = 11
THRESHOLDS = {"crypt-and-hash": 0.9, "modern": 1.0}
OTHERS = {"crypt-and-hash": "openssl", "modern": "age"}
MEMORY_MB = 64
CANNOT_RUN = 77
KEY, IV = "42" * 32, "17" * 16
COMPILED = tempfile.TemporaryDirectory(prefix="motecrypt-")
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
    "PYTHONPATH": str(ROOT / "src"),
    "PYTHONPYCACHEPREFIX": COMPILED.name,
    "FILE_KEY": "hex:" + KEY,
}


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
    ours = {
        ("crypt-and-hash", "encrypt"): _motecrypt("encrypt", "crypt-and-hash", plain, sealed),
        ("crypt-and-hash", "decrypt"): _motecrypt("decrypt", "crypt-and-hash", sealed, back),
        ("modern", "encrypt"): _motecrypt("encrypt", "modern", plain, modern),
        ("modern", "decrypt"): _motecrypt("decrypt", "modern", modern, back),
    }
    others = {
        ("crypt-and-hash", "encrypt"): [_openssl("enc", "-e", plain, theirs), _hmac(theirs, digest)],
        ("crypt-and-hash", "decrypt"): [_hmac(theirs, digest), _openssl("enc", "-d", theirs, back)],
    }
    if shutil.which("age") and shutil.which("age-keygen"):
        key = folder / "age.key"
        subprocess.run(["age-keygen", "-o", str(key)], capture_output=True, timeout=60, check=True)
        public = next(line for line in key.read_text().splitlines() if "age1" in line).rpartition(" ")[2]
        others["modern", "encrypt"] = [["age", "-r", public, "-o", str(aged), str(plain)]]
        others["modern", "decrypt"] = [["age", "-d", "-i", str(key), "-o", str(back), str(aged)]]
    else:
        print("age is not installed: the modern format is compared with nothing")
    pairs: dict[tuple[str, str], list[tuple[float, float]]] = {turn: [] for turn in others}
    held = True
    for turn, command in ours.items():
        held &= _held_in_memory(turn, command)
    for number in range(ROUNDS):
        for turn, commands in others.items():
            both = {"ours": [ours[turn]], "other": commands}
            took = {who: sum(map(_run, both[who])) for who in sorted(both, reverse=number % 2 == 1)}
            pairs[turn].append((took["ours"], took["other"]))
    for (form, what), times in pairs.items():
        mine, its = (SIZE / 1e6 / min(each) for each in zip(*times, strict=True))
        ratio = mine / its
        threshold = THRESHOLDS[form]
        print(
            f"{what}, {form}: {mine:.0f} MB for a second of processor time, {OTHERS[form]} {its:.0f}: "
            f"ratio {ratio:.2f} (at least {threshold:g} wanted)",
            flush=True,
        )
        held &= ratio >= threshold
    return held


def _held_in_memory(turn: tuple[str, str], command: list[str]) -> bool:
    """Run a command once, which also compiles its modules, and compare its memory."""
    peak = _peak_mb(command)
    print(
        f"{turn[1]}, {turn[0]}: {peak:.0f} MB of memory for {SIZE >> 20} MB (less than {MEMORY_MB})",
        flush=True,
    )
    return peak < MEMORY_MB


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
