"""Descriptor to ELF: sizes, compiler identity, cached by content.

`build(request)` returns a Firmware or raises BuildError with the compiler's first error. The key of a
build is known before it is made (`key_of`), so that what has not changed is neither built nor run.
"""

from motecrypt.build.toolchain.firmware import BuildError, BuildRequest, Firmware, build, key_of

__all__ = ["BuildError", "BuildRequest", "Firmware", "build", "key_of"]
