"""Our C code as the audits' oracle: the only place where audits and native code meet."""

from __future__ import annotations

from motecrypt.attack.audits.oracle import Rejected
from motecrypt.build.toolchain.native import BadTag, NativeCipher


class NativeAccess:
    """Keyed instances of one compiled cipher. They share its memory; the key is set when it changes."""

    def __init__(self, native: NativeCipher) -> None:
        self._native = native
        self._holder: _Keyed | None = None

    def keyed(self, key: bytes) -> _Keyed:
        """Return the cipher under this key."""
        return _Keyed(self, key)

    def under(self, holder: _Keyed) -> NativeCipher:
        """Return the compiled cipher, with the holder's key set."""
        if self._holder is not holder:
            self._native.setup(holder.key)
            self._holder = holder
        return self._native


class _Keyed:
    def __init__(self, access: NativeAccess, key: bytes) -> None:
        self._access = access
        self.key = key

    def encrypt(self, message: bytes, nonce: bytes = b"", ad: bytes = b"") -> tuple[bytes, bytes]:
        return self._access.under(self).encrypt(message, nonce, ad)

    def decrypt(self, ciphertext: bytes, nonce: bytes = b"", ad: bytes = b"", tag: bytes = b"") -> bytes:
        try:
            return self._access.under(self).decrypt(ciphertext, nonce, ad, tag)
        except BadTag as wrong:
            raise Rejected from wrong
