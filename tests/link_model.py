"""The link's formats in plain Python, from docs/link.md alone; shares nothing with the core in C.

AES comes from `cryptography`, Ascon's permutation from its oracle. Run it to write the test vectors again:
``PYTHONPATH=src:tests python tests/link_model.py``.
"""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.cmac import CMAC

from motecrypt.catalog import FIRMWARE

VECTORS = FIRMWARE / "link" / "vectors" / "link.json"
SUITES = {"aes128-ccm": 1, "ascon-aead128": 2}
SHORT, LISTENS, STREAM, TAG_16, GATEWAY = 1, 2, 4, 8, 128
CONFIRMED = 0x40
MESSAGE, COMMAND, EPOCH, FILE = 0, 1, 2, 3
ACCEPTED, REFUSED, MISSING = range(3)


def _ascon_oracle() -> Any:
    path = FIRMWARE / "ciphers" / "ascon" / "oracle.py"
    spec = importlib.util.spec_from_file_location("ascon_oracle", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ASCON = _ascon_oracle()


def cxof128(message: bytes, customisation: bytes, length: int) -> bytes:
    """Ascon-CXOF128 (SP 800-232, algorithm 7)."""

    def blocks(data: bytes) -> list[int]:
        padded = data + b"\x01" + bytes(7 - len(data) % 8)
        return [int.from_bytes(padded[i : i + 8], "little") for i in range(0, len(padded), 8)]

    state = ASCON._permute([0x0000080000CC0004, 0, 0, 0, 0], 12)
    for block in [8 * len(customisation), *blocks(customisation), *blocks(message)]:
        state[0] ^= block
        state = ASCON._permute(state, 12)
    out = state[0].to_bytes(8, "little")
    while len(out) < length:
        state = ASCON._permute(state, 12)
        out += state[0].to_bytes(8, "little")
    return out[:length]


def prf(suite: int, key: bytes, data: bytes) -> bytes:
    """The suite's pseudorandom function: 16 bytes."""
    if suite == 2:
        return cxof128(key + data, b"mcl2", 16)
    mac = CMAC(algorithms.AES(key))
    mac.update(data)
    return mac.finalize()


def derive(suite: int, key: bytes, ident: int, node: int, salt: int, epoch: int) -> bytes:
    """SP 800-108, counter mode, one block."""
    context = bytes([suite, ident, node]) + salt.to_bytes(2, "little") + epoch.to_bytes(4, "little")
    return prf(suite, key, b"\x01mcl2\x00" + context + b"\x80")


def _aes(key: bytes, block: bytes) -> bytes:
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)


def _ccm(key: bytes, nonce: bytes, message: bytes, tag_bytes: int) -> tuple[bytes, bytes]:
    """CCM block by block (SP 800-38C, appendix A), for the whole encrypted MAC."""
    flags = (tag_bytes - 2) // 2 << 3 | 1
    mac = _aes(key, bytes([flags]) + nonce + len(message).to_bytes(2, "big"))
    out = b""
    for index in range(0, len(message), 16):
        part = message[index : index + 16]
        mac = _aes(key, bytes(a ^ b for a, b in zip(mac, part.ljust(16, b"\0"), strict=True)))
        stream = _aes(key, b"\x01" + nonce + (index // 16 + 1).to_bytes(2, "big"))
        out += bytes(a ^ b for a, b in zip(part, stream, strict=False))
    last = _aes(key, b"\x01" + nonce + bytes(2))
    return out, bytes(a ^ b for a, b in zip(mac, last, strict=True))


def encrypt(suite: int, key: bytes, nonce: bytes, message: bytes, tag_bytes: int) -> tuple[bytes, bytes]:
    """Ciphertext and full tag."""
    if suite == 1:
        return _ccm(key, nonce.ljust(13, b"\0"), message, tag_bytes)
    sealed: tuple[bytes, bytes] = ASCON.encrypt("ascon-aead128", key, nonce.ljust(16, b"\0"), b"", message)
    return sealed


@dataclass(frozen=True)
class Packed:
    """A message as packets, with its full tag."""

    packets: tuple[bytes, ...]
    full_tag: bytes


@dataclass(frozen=True)
class Model:
    """What both ends of one node's link know."""

    suite: int
    node_key: bytes
    node: int
    options: int
    packet_bytes: int
    generation: int
    epoch: int = 0
    salt: int = -1
    """Of the epoch; -1: the generation."""
    version: int = 3
    """Of the key block."""

    @property
    def own_salt(self) -> int:
        """The epoch's."""
        return self.generation if self.salt < 0 else self.salt

    @property
    def long_tag(self) -> int:
        """Bytes of a long message's tag."""
        return 16 if self.options & TAG_16 else 8

    def key(self, use: int, tag_bytes: int) -> bytes:
        """A derived key."""
        salt, epoch = (self.own_salt, self.epoch) if use < 4 else (self.generation, 0)
        return derive(self.suite, self.node_key, 32 * use + tag_bytes, self.node, salt, epoch)

    def short(self, down: int, counter: int, message: bytes, confirmed: bool) -> Packed:
        """A short packet."""
        head = 64 * confirmed + self.node
        nonce = bytes([head, 0]) + counter.to_bytes(4, "little")
        sealed, tag = encrypt(self.suite, self.key(down, 4), nonce, message, 4)
        return Packed((bytes([head, counter & 0xFF]) + sealed + tag[:4],), tag)

    def long(self, down: int, counter: int, message: bytes, flags: int) -> Packed:
        """A long message; `flags` are bits 4 to 6 of the third byte."""
        head = 128 + self.node
        nonce = bytes([head, flags]) + counter.to_bytes(4, "little")
        use = 4 if flags & 0x30 == 0x20 else down
        sealed, tag = encrypt(self.suite, self.key(use, self.long_tag), nonce, message, self.long_tag)
        content = counter.to_bytes(4, "little")[1:] + sealed + tag[: self.long_tag] + b"\x80"
        piece = self.packet_bytes - 3
        if self.options & STREAM:
            content += bytes(-len(content) % piece)
        pieces = [content[i : i + piece] for i in range(0, len(content), piece)]
        packets = [
            bytes([head, counter & 0xFF, flags | index | (0x80 if index == len(pieces) - 1 else 0)]) + part
            for index, part in enumerate(pieces)
        ]
        return Packed(tuple(packets), tag)

    def answer(self, down: int, counter: int, full_tag: bytes, outcome: int, detail: int) -> bytes:
        """The answer to a message of that direction."""
        head = bytes([192 + self.node, counter & 0xFF]) + (4 * detail + outcome).to_bytes(2, "little")
        tag = bytes(16) if outcome == MISSING else full_tag
        data = head + counter.to_bytes(4, "little") + bytes(8) + tag
        return head + prf(self.suite, self.key(2 + down, 8), data)[:8]

    def check(self, data: bytes) -> bytes:
        """A check value of storage."""
        return prf(self.suite, self.key(5, 4), data)[:4]

    def key_block(self, gateway: bool) -> bytes:
        """The first 28 bytes of storage."""
        options = self.options | (GATEWAY if gateway else 0)
        head = bytes([self.version, self.node, options, self.packet_bytes]) + self.generation.to_bytes(
            2, "little"
        )
        block = head + bytes(2) + self.node_key
        return block + self.check(block[:16])

    def slot(self, send: int, receive: int, failures: int = 0) -> bytes:
        """A slot of storage."""
        record = failures.to_bytes(2, "little") + self.own_salt.to_bytes(2, "little")
        record += b"".join(number.to_bytes(4, "little") for number in (receive, send, self.epoch))
        return record + self.check(record)


def node_key(suite: int, master: bytes, node: int, generation: int, restored: bytes = b"") -> bytes:
    """A node's key; `restored` are the 15 random bytes of a restoration."""
    return derive(
        suite, prf(suite, master, b"\2" + restored) if restored else master, 6 * 32, node, generation, 0
    )


def _link(suite: int, random: Random, index: int) -> dict[str, Any]:
    """One node's link and its messages, in the form of the vectors."""
    master, node, generation = random.randbytes(16), (0, 5, 62)[index % 3], random.choice((0, 1, 0xA1B2))
    options = SHORT | LISTENS | (STREAM if index % 2 == 0 else 0) | (TAG_16 if index % 3 == 2 else 0)
    packet_bytes = (12, 32, 60)[index % 3]
    model = Model(suite, node_key(suite, master, node, generation), node, options, packet_bytes, generation)
    epoch, salt = random.choice(((0, -1), (0x0007ABCD, 0xBEEF), (0x65432100, -1), (0x65632100, 7)))
    model = replace(model, epoch=epoch, salt=salt)
    messages = []
    for number in range(11):
        down = number % 2
        counter = 77 if number == 10 else random.choice((1, 127, 128, 255, 256, 0x00FFFFFF, 0x89ABCDEF))
        room = packet_bytes - 6
        if number < 4:
            message = random.randbytes(room if options & STREAM else random.randrange(room + 1))
            confirmed = number >= 2
            packed, form, flags = model.short(down, counter, message, confirmed), "short", 64 * confirmed
        elif number == 10:
            message, flags = bytes(range(20)), CONFIRMED | 16 * FILE
            packed, form = model.long(down, counter, message, flags), "long"
        else:
            flags = (0, CONFIRMED, CONFIRMED | 16 * COMMAND)[number % 3]
            longest = 15 * (packet_bytes - 3) - 4 - model.long_tag
            message = random.randbytes((0, 1, 16, 17, random.randrange(longest + 1), longest)[number - 4])
            packed, form = model.long(down, counter, message, flags), "long"
        answers = {
            name: model.answer(down, counter, packed.full_tag, outcome, detail).hex()
            for name, outcome, detail in (
                ("accepted", ACCEPTED, 0),
                ("accepted, no short packets", ACCEPTED, 1),
                ("refused", REFUSED, (counter + 1) & 0x3FFF),
                ("missing", MISSING, 0x2A5),
            )
        }
        messages.append(
            {
                "down": down,
                "counter": counter,
                "form": form,
                "flags": flags,
                "message": message.hex(),
                "packets": [packet.hex() for packet in packed.packets],
                "full_tag": packed.full_tag.hex(),
                "answers": answers,
            }
        )
    new = replace(model, epoch=epoch + (1 << 18), salt=random.randrange(1 << 16))
    offer = new.own_salt.to_bytes(2, "little")
    renewed = model.long(1, new.epoch, offer, CONFIRMED | 16 * EPOCH)
    old_form = model.long(1, new.epoch, b"", CONFIRMED | 16 * EPOCH)
    restored = random.randbytes(15)
    return {
        "suite": next(name for name, number in SUITES.items() if number == suite),
        "master": master.hex(),
        "node": node,
        "generation": generation,
        "epoch": epoch,
        "salt": model.own_salt,
        "options": options,
        "packet_bytes": packet_bytes,
        "node_key": model.node_key.hex(),
        "restored": restored.hex(),
        "node_key_when_restored": node_key(suite, master, node, generation, restored).hex(),
        "keys": {
            str(32 * use + tag): model.key(use, tag).hex()
            for use, tags in {0: (4, 8, 16), 1: (4, 8, 16), 2: (8,), 3: (8,), 4: (8, 16), 5: (4,)}.items()
            for tag in tags
        },
        "key_block_node": model.key_block(gateway=False).hex(),
        "key_block_gateway": model.key_block(gateway=True).hex(),
        "slot": {"send": 64, "receive": 31, "failures": 0x8040, "bytes": model.slot(64, 31, 0x8040).hex()},
        "messages": messages,
        "epoch_message": {
            "epoch": new.epoch,
            "salt": new.own_salt,
            "packets": [packet.hex() for packet in renewed.packets],
            "answer": new.answer(1, new.epoch, renewed.full_tag, ACCEPTED, 0).hex(),
            "refused": new.answer(1, new.epoch, renewed.full_tag, REFUSED, 0x2BCD).hex(),
            "packets_of_version_2_0": [packet.hex() for packet in old_form.packets],
        },
    }


def vectors() -> dict[str, Any]:
    """All test vectors."""
    random = Random("motecrypt link 2")
    return {
        "source": "tests/link_model.py, written from docs/link.md",
        "links": [_link(suite, random, index) for suite in SUITES.values() for index in range(6)],
    }


if __name__ == "__main__":
    VECTORS.write_text(json.dumps(vectors(), indent=1) + "\n")
    print(f"{VECTORS.relative_to(Path.cwd())}: written")
