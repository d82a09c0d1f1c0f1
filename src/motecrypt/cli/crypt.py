"""motecrypt crypt: encrypt or decrypt hexadecimal bytes with our own C code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from motecrypt.app.crypt import CryptRequest, crypt
from motecrypt.app.selection import parse_hex
from motecrypt.base.errors import InputError
from motecrypt.cli._output import print_note
from motecrypt.cli._request import taken
from motecrypt.link import read_hex_key
from motecrypt.link.files import secrets


def _hex(_: click.Context, option: click.Parameter, text: str) -> bytes:
    return parse_hex(text, option.opts[0])


@click.command(
    epilog="Example: motecrypt crypt rc4d --key 0102030405060708090a0b0c0d0e0f10 " + "00" * 16,
)
@click.argument("cipher", metavar="CIPHER")
@click.argument("data", metavar="[HEX|-]", default="-")
@click.option("--key", help="The key in hexadecimal; other users can see it while this runs.")
@click.option("--key-file", type=click.Path(path_type=Path), help="A file with the key in hexadecimal.")
@click.option("--key-env", metavar="NAME", help="Take the key, in hexadecimal, from this variable.")
@click.option("--nonce", default="", callback=_hex, help="The nonce or IV in hexadecimal.")
@click.option("--ad", default="", callback=_hex, help="Associated data in hexadecimal.")
@click.option("--decrypt", is_flag=True, help="Decrypt; for an AEAD, append the tag to the ciphertext.")
@click.option("--variant", help="Variant of our implementation ('motecrypt list implementations').")
def command(data: str, key: str | None, key_file: Path | None, key_env: str | None, **given: Any) -> None:
    """Encrypt or decrypt HEX (or standard input with -) and print HEX. A tag follows the ciphertext.

    CIPHER may be a folder of your own, such as ./mycipher; its known answers are run first.

    A real key belongs in --key-file or --key-env: the arguments of a running command are in the process
    list and in the shell's history.
    """
    message = parse_hex(sys.stdin.read() if data == "-" else data, "the message")
    given |= {"message": message, "key": _key(key, key_file, key_env)}
    print(crypt(taken(CryptRequest, given), lambda told: print_note(f"warning: {told}")).hex())


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
