"""The real crypt_and_hash program, built from Mbed TLS's own source as the library folder pins it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from motecrypt.base.paths import cache_dir, make_dir
from motecrypt.build.setup import need
from motecrypt.build.toolchain.sources import source_root
from motecrypt.catalog import FIRMWARE

PARTS = "aes blowfish arc4 des md md5 sha1 sha256 sha512 ripemd160 cipher cipher_wrap platform_util platform"
PARTS += " constant_time ccm gcm chacha20 chachapoly poly1305 camellia aria nist_kw error asn1parse asn1write"
PARTS += " pkcs5 aesni padlock"


@pytest.fixture(scope="session")
def crypt_and_hash() -> Path:
    """The program; compiled once and kept next to the other built things."""
    need("host")
    root = source_root(FIRMWARE / "libraries" / "mbedtls")
    program = make_dir(cache_dir() / "test-programs") / f"crypt_and_hash-{root.parent.name}"
    if not program.exists():
        settings = program.with_suffix(".h")
        names = "AES_C BLOWFISH_C ARC4_C DES_C SHA1_C SHA256_C SHA512_C MD_C CIPHER_C CIPHER_MODE_CBC"
        names += " CIPHER_MODE_CTR CIPHER_PADDING_PKCS7 FS_IO PLATFORM_C"
        settings.write_text("".join(f"#define MBEDTLS_{name}\n" for name in names.split()))
        sources = [root / "programs" / "aes" / "crypt_and_hash.c"]
        sources += [p for part in PARTS.split() if (p := root / "library" / f"{part}.c").exists()]
        scratch = program.with_suffix(".part")
        command = ["gcc", "-O2", f'-DMBEDTLS_CONFIG_FILE="{settings}"', "-I", root / "include", "-I"]
        command += [root / "library", *sources, "-o", scratch]
        done = subprocess.run(
            [str(c) for c in command], capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        scratch.replace(program)
    return program
