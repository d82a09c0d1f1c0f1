"""Ascon in assembly on a simulated UNO: a chain of messages against the oracle, always in the same time."""

from __future__ import annotations

import subprocess
from pathlib import Path

from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.catalog.oracles import oracle
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import FreeRun, run_freely

HERE = Path(__file__).parent
ASCON = FIRMWARE / "ciphers" / "ascon"
MESSAGES = 200
FLAGS = ("-mmcu=atmega328p", "-Os", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-DF_CPU=16000000UL")


def chained(messages: int) -> bytes:
    """The key after a number of messages, as ascon_chain.c changes it."""
    encrypt = oracle(Catalog.load().cipher("ascon-aead128"))
    key, message, ad = bytes(16), bytearray(41), bytes(18)
    for number in range(messages):
        length = number % 41
        message[length] ^= 0x5A
        nonce = number.to_bytes(4, "little") + bytes(12)
        message[:length], tag = encrypt(key, nonce, ad[: number % 19], bytes(message[:length]))
        key = bytes(a ^ b for a, b in zip(key, tag, strict=True))
        changed = bytearray(tag)
        changed[number % 16] ^= 1 << number % 8
        ad = bytes(changed) + ad[16:]
    return key


def ran(folder: Path, messages: int) -> list[str]:
    """What the chip prints."""
    uno = Catalog.load().device("uno")
    places = (FIRMWARE / "include", FIRMWARE / "modes", ASCON)
    command = [
        *("avr-gcc", *FLAGS, '-DCIPHER_HEADER="ascon_avr.h"', "-DCIPHER_TAG_BYTES=16"),
        *(f"-DMESSAGES={messages}UL", *(f"-I{place}" for place in places)),
        *(str(uno.folder / name) for name in uno.hal),
        *(str(HERE / "ascon_chain.c"), str(ASCON / "ascon_aead128.c"), str(ASCON / "ascon_avr.S")),
        *("-o", str(folder / "chain.elf")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    output = bytearray()
    asked = FreeRun(until=".", max_seconds=36_000)
    ended = run_freely(read_image(folder / "chain.elf", uno), uno, asked, output.extend)
    assert ended.reason == "until", ended
    return output.decode().rstrip(".").split()


def test_messages_are_those_of_the_oracle_and_a_permutation_takes_one_time(tmp_path: Path) -> None:
    key, told, least, most = ran(tmp_path, MESSAGES)
    assert told == "11", "each message came back, and each changed tag was refused"
    assert key == chained(MESSAGES).hex()
    assert least == most
