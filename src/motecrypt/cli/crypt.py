"""motecrypt crypt: encrypt or decrypt hexadecimal bytes with our own C code."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from motecrypt.app.selection import nearest_length, parse_hex, select
from motecrypt.attack.audits.weak_keys import key_warnings
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cipher
from motecrypt.link import read_hex_key
from motecrypt.link.files import secrets


@click.command(
    epilog="Example: motecrypt crypt rc4d --key 0102030405060708090a0b0c0d0e0f10 " + "00" * 16,
)
@click.argument("cipher_name", metavar="CIPHER")
@click.argument("data", metavar="[HEX|-]", default="-")
@click.option("--key", default=None, help="The key in hexadecimal; other users can see it while this runs.")
@click.option("--key-file", type=click.Path(path_type=Path), help="A file with the key in hexadecimal.")
@click.option("--key-env", metavar="NAME", help="Take the key, in hexadecimal, from this variable.")
@click.option("--nonce", default="", help="The nonce or IV in hexadecimal.")
@click.option("--ad", default="", help="Associated data in hexadecimal.")
@click.option("--decrypt", is_flag=True, help="Decrypt; for an AEAD, append the tag to the ciphertext.")
@click.option(
    "--variant", default=None, help="Variant of our implementation ('motecrypt list implementations')."
)
def command(
    cipher_name: str,
    data: str,
    key: str | None,
    key_file: Path | None,
    key_env: str | None,
    nonce: str,
    ad: str,
    decrypt: bool,
    variant: str | None,
) -> None:
    """Encrypt or decrypt HEX (or standard input with -) and print HEX. A tag follows the ciphertext.

    CIPHER may be a folder of your own, such as ./mycipher; its known answers are run first.

    A real key belongs in --key-file or --key-env: the arguments of a running command are in the process
    list and in the shell's history.
    """
    from motecrypt.build.setup import need
    from motecrypt.build.toolchain.native import open_cipher

    chosen = select([cipher_name])
    cipher = chosen.cipher
    message = parse_hex(sys.stdin.read() if data == "-" else data, "the message")
    key_bytes = _key(key, key_file, key_env)
    nonce_bytes, ad_bytes = (parse_hex(text, what) for text, what in ((nonce, "--nonce"), (ad, "--ad")))
    _check(cipher, key_bytes, nonce_bytes, ad_bytes)
    body_bytes = len(message) - (cipher.tag_bytes if decrypt else 0)
    if body_bytes < 0:
        raise InputError(
            f"{cipher.name}: {len(message)} bytes are too short for its {cipher.tag_bytes}-byte tag"
        )
    _check_length(cipher, body_bytes)
    for warning in key_warnings(cipher.name, key_bytes):
        print(f"motecrypt: warning: {warning}", file=sys.stderr)
    need("host")
    chosen.prove_own()
    engine = open_cipher(cipher.name, variant, chosen.catalog)
    engine.setup(key_bytes)
    if decrypt:
        body, tag = message[:body_bytes], message[body_bytes:]
        print(engine.decrypt(body, nonce_bytes, ad_bytes, tag).hex())
    else:
        ciphertext, tag = engine.encrypt(message, nonce_bytes, ad_bytes)
        print((ciphertext + tag).hex())


def _key(key: str | None, key_file: Path | None, key_env: str | None) -> bytes:
    if sum(given is not None for given in (key, key_file, key_env)) != 1:
        raise InputError("--key-file, --key-env, --key: give one of them")
    if key_file is not None:
        return read_hex_key(key_file)
    text = secrets.from_environment(key_env) if key_env is not None else str(key)
    try:
        return bytes.fromhex("".join(text.split()))
    except ValueError:  # without the text: it may be most of a key
        where = "--key" if key_env is None else f"--key-env {key_env}"
        raise InputError(f"{where}: not hexadecimal (two digits a byte)") from None


def _check(cipher: Cipher, key: bytes, nonce: bytes, ad: bytes) -> None:
    bits = len(key) * 8
    if cipher.key_bits_allowed:
        low, high, step = cipher.key_bits_allowed
        fits = low <= bits <= high and (bits - low) % step == 0
        expected = f"{low} to {high} bits"
    else:
        fits = bits in cipher.key_bits
        expected = " or ".join(map(str, cipher.key_bits)) + " bits"
    if not fits:
        raise InputError(f"the key: {bits} bits; {cipher.name} takes {expected}")
    if cipher.nonce_bytes == 0 and nonce:
        raise InputError(f"--nonce: {cipher.name} has no nonce")
    if cipher.nonce_bytes and not nonce:
        raise InputError(f"--nonce: missing; {cipher.name} needs one of {cipher.nonce_bytes} bytes")
    if ad and not cipher.associated_data:
        raise InputError(f"--ad: {cipher.name} does not take associated data")


def _check_length(cipher: Cipher, length: int) -> None:
    rule = cipher.message
    if length < rule.min or length % rule.multiple:
        raise InputError(
            f"{cipher.name}: a message of {length} bytes; it takes {nearest_length(cipher, length)}"
        )
