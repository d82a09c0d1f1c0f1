"""What the binding to our C code passes on, and what it refuses."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base.errors import InputError
from motecrypt.build.toolchain import native
from motecrypt.build.toolchain.native import BadTag, NativeCipher


class Fake:
    """A library that answers with a status, and turns over what it is given."""

    def __init__(self, status: int = 0) -> None:
        self.status = status
        self.keys: list[tuple[bytes, int]] = []
        self.called: list[tuple[str, dict[str, Any]]] = []

    def cipher_setup(self, context: object, key: bytes, count: int) -> int:
        self.keys.append((key, count))
        return self.status

    def _turned(self, name: str, given: Any) -> int:
        io = ctypes.cast(given, ctypes.POINTER(native._Io)).contents
        data = ctypes.string_at(io.input, io.bytes)
        told = {"nonce": io.nonce, "ad": io.ad, "ad_bytes": io.ad_bytes, "nonce_bytes": io.nonce_bytes}
        self.called.append((name, told | {"data": data, "tag": ctypes.string_at(io.tag, 16)}))
        ctypes.memmove(io.output, data[::-1], len(data))
        self.called[-1][1]["kept"] = ctypes.string_at(io.input, io.bytes)
        ctypes.memmove(io.tag, bytes(range(16)), 16)
        return self.status

    def cipher_encrypt(self, context: object, given: Any) -> int:
        return self._turned("encrypt", given)

    def cipher_decrypt(self, context: object, given: Any) -> int:
        return self._turned("decrypt", given)


def cipher(fake: Fake, allowed: int = 16, tag_bytes: int = 4) -> NativeCipher:
    made = object.__new__(NativeCipher)
    made.cipher = SimpleNamespace(name="x", tag_bytes=tag_bytes)  # type: ignore[assignment]
    made.implementation = SimpleNamespace(key_bytes_allowed=allowed)  # type: ignore[assignment]
    made._library, made._context = fake, ctypes.c_void_p()  # type: ignore[assignment]
    return made


@pytest.mark.parametrize(
    ("allowed", "count", "passed"),
    [
        (16, 1, 1),
        (16, 16, 16),
        (300, 255, 255),
        (300, 256, 0),
        (256, 256, 0),
        (16, 17, None),
        (300, 257, None),
    ],
)
def test_a_key_is_passed_on_up_to_what_is_allowed(allowed: int, count: int, passed: int | None) -> None:
    fake = Fake()
    made = cipher(fake, allowed)
    if passed is None:
        limit = min(allowed, 256)
        with pytest.raises(
            InputError, match=rf"^x: a key of {count} bytes is too long; it takes up to {limit}$"
        ):
            made.setup(bytes(count))
        assert not fake.keys
    else:
        made.setup(bytes(count))
        assert fake.keys == [(bytes(count), passed)]


def test_no_key_is_none_of_256_bytes() -> None:
    fake = Fake()
    with pytest.raises(InputError, match=r"^x: bad key length \(0 bytes\)$"):
        cipher(fake).setup(b"")
    assert not fake.keys


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (1, r"x: bad key length \(3 bytes\)"),
        (2, r"x: bad nonce length \(3 bytes\)"),
        (3, r"x: bad message or associated-data length \(3 bytes\)"),
        (4, "x: the tag is wrong: message, key, nonce or associated data differ"),
        (9, r"x: 9 \(3 bytes\)"),
    ],
)
def test_a_status_is_an_error_by_its_meaning(status: int, said: str) -> None:
    made = cipher(Fake(status))
    kind = BadTag if status == 4 else InputError
    for call in (
        lambda: made.setup(b"key"),
        lambda: made.encrypt(b"abc"),
        lambda: made.decrypt(b"abc", tag=bytes(4)),
    ):
        with pytest.raises(kind, match=f"^{said}$"):
            call()


@pytest.mark.parametrize("in_place", [True, False])
def test_all_parts_of_a_message_are_passed_on(in_place: bool) -> None:
    fake = Fake()
    made = cipher(fake)
    parts = {"nonce": b"nonce", "ad": b"data", "ad_bytes": 4, "nonce_bytes": 5, "data": b"abc"}
    kept = {"kept": b"cba" if in_place else b"abc"}
    assert made.encrypt(b"abc", b"nonce", b"data", in_place=in_place) == (b"cba", bytes(range(4)))
    assert fake.called.pop() == ("encrypt", parts | kept | {"tag": bytes(16)})
    assert made.decrypt(b"abc", b"nonce", b"data", b"TAG!", in_place=in_place) == b"cba"
    assert fake.called.pop() == ("decrypt", parts | kept | {"tag": b"TAG!" + bytes(12)})
    made.encrypt(b"", bytes(255))
    assert fake.called.pop()[1]["nonce_bytes"] == 255
    for call, said in (
        (lambda: made.encrypt(b"", bytes(256)), "x: a nonce of 256 bytes is too long"),
        (lambda: made.decrypt(b"", tag=bytes(3)), "x: a tag of 3 bytes; it has 4"),
        (lambda: made.decrypt(b"", tag=bytes(5)), "x: a tag of 5 bytes; it has 4"),
    ):
        with pytest.raises(InputError, match=f"^{said}$"):
            call()
    assert not fake.called and cipher(fake, tag_bytes=20).encrypt(b"")[1] == bytes(range(16))


def test_the_variant_that_is_asked_for_is_opened_else_one_in_constant_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bodies = [
        SimpleNamespace(variant=variant, name=f"motecrypt/{variant}", timing=timing)
        for variant, timing in (("a", "tables"), ("b", "constant"), ("c", "constant"))
    ]
    catalog: Any = SimpleNamespace(cipher=lambda name: name, implementations_of=lambda name, device: bodies)
    monkeypatch.setattr(native, "open_implementation", lambda cipher, body: (cipher, body.variant))

    def opened(variant: str | None) -> Any:
        return native.open_cipher("x", variant, catalog)

    assert [opened(variant) for variant in (None, "a", "motecrypt/c")] == [("x", "b"), ("x", "a"), ("x", "c")]
    with pytest.raises(InputError, match=r"^x: no implementation 'd' runs on the host$"):
        opened("d")
    bodies.clear()
    with pytest.raises(InputError, match=r"^x: no implementation runs on the host$"):
        opened(None)
