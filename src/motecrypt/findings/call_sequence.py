"""The question what one call costs as a program makes it: the key set up, then the call."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from motecrypt.findings import FindingQuestion
from motecrypt.model import Operation

KIND = "call-sequence"
VERSION = 1


@dataclass(frozen=True)
class CallQuestion(FindingQuestion):
    """Set-up and one call of a library on a device with a flash cache.

    Attributes
    ----------
    key, nonce, message
        The plaintext's bytes as hexadecimal digits; for decryption the oracle makes the ciphertext.
    operation
        "encrypt" or "decrypt": what follows the set-up.
    """

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION

    device: str
    library: str
    configuration: str
    cipher: str
    key: str
    nonce: str
    message: str
    operation: Operation

    def asked(self) -> dict[str, Any]:
        """Every field."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
