"""What each audit says of ciphers in plain Python, from one seed, as text kept in tests/golden/audits.json.

After a change of an experiment that is meant, look at the difference that this makes:

    PYTHONPATH=src:tests .venv/bin/python tests/unit/audits/golden_audits.py && git diff tests/golden
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import audit_toys as toys

from goldens.text import digest, plain, written
from motecrypt.attack.audits import avalanche, determinism, integrity, statistics
from motecrypt.attack.audits.attacks import attacks_on
from motecrypt.attack.audits.oracle import Part

PLACE = Path(__file__).parents[2] / "golden" / "audits.json"
COMMAND = "PYTHONPATH=src:tests .venv/bin/python tests/unit/audits/golden_audits.py"
CIPHERS = {
    "rc4d": (toys.RC4D, toys.rc4d_access),
    "rc4": (toys.RC4, toys.rc4_access),
    **{f"aes128-{mode}": (toys.aes_cipher(mode), toys.aes_access(mode)) for mode in ("ecb", "cbc", "ctr")},
    "aes128-ccm8": (toys.CCM, toys.ccm_access),
    "chacha20-poly1305": (toys.CHACHA, toys.chacha_access),
    "rc4d-two-key": (
        toys.described("rc4d-two-key", key_bits=(256,)),
        toys.ToyAccess(lambda k, m, n, a: (toys.rc4d_two_keys(k, m), b""), lambda k, c, n, a, t: b""),
    ),
}
#: Ciphers whose diffusion is looked at: those that this takes little time with.
DIFFUSION = ("aes128-ecb", "aes128-cbc")
#: Attacks that take long in plain Python; tests of their own see what they recover.
LEFT_OUT = ("rc4d-ciphertext-only",)


def audited(name: str) -> dict[str, Any]:
    """Every part of one cipher's audit, and a digest of what it asked the cipher."""
    cipher, access = CIPHERS[name]
    audits: list[Callable[[Any], Part]] = []
    if name != "rc4d-two-key":
        audits += [
            lambda seen: determinism.audit(seen, cipher, 1),
            lambda seen: integrity.audit(seen, cipher, 1),
        ]
        audits.append(lambda seen: statistics.audit(seen, cipher, 1, quick=True))
    if name in DIFFUSION:
        audits.append(lambda seen: avalanche.audit(seen, cipher, 1, quick=True))
    attacks = [a for a in attacks_on(cipher) if a.NAME not in LEFT_OUT]
    audits += [lambda seen, a=a: a.run(seen, cipher, 1, True) for a in attacks]  # type: ignore[misc]
    found = {}
    for audit in audits:
        seen = toys.Told(access)
        part = audit(seen)
        found[f"{name} {part.name}"] = [*_told(part), seen.digest()]
    return found


def _told(part: Part) -> list[Any]:
    """Title, verdict, weight, sentences and data, without the processor's time; long rows as digests."""
    sentences = [re.sub(r"\d+(\.\d+)? (s|ms)\b", "T", sentence) for sentence in part.sentences]
    data = plain(
        {key: value for key, value in part.data.items() if "seconds" not in key and "_ms" not in key}
    )
    return [part.title, part.verdict, part.weight, *sentences, _short(data)]


def _short(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _short(each) for key, each in value.items()}
    return value if len(str(value)) < 400 else digest(value)


def main() -> None:
    """Write the file again."""
    made = {part: told for name in CIPHERS for part, told in audited(name).items()}
    PLACE.write_text(written(made))


if __name__ == "__main__":
    main()
