"""Where a file's key comes from: what is taken, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.link.files import secrets
from motecrypt.link.files.container import Secret


def test_a_key_file_is_its_bytes_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "key"
    for content in (b"\n", b"key\n", bytes(511), bytes(512)):
        path.write_bytes(content)
        assert secrets.compatible_key_file(path) == content
    for content, said in ((b"", "0 bytes; the format takes 1 to 512"), (bytes(513), "more than 512 bytes")):
        path.write_bytes(content)
        with pytest.raises(InputError, match=said):
            secrets.compatible_key_file(path)
    with pytest.raises(InputError, match="No such file"):
        secrets.compatible_key_file(tmp_path / "none")


def test_text_is_itself_unless_it_says_hex() -> None:
    assert secrets.compatible_text("héx:00", "test") == "héx:00".encode()
    assert secrets.compatible_text("hex:00ff", "test") == b"\x00\xff"
    assert secrets.modern_text("hexes", "test") == Secret(password=b"hexes")
    for digits in (32, 48, 64):
        assert secrets.modern_text("hex:" + "a5" * (digits // 2), "test") == Secret(
            key=b"\xa5" * (digits // 2)
        )
    for text, said in (
        ("hex:", "an empty key"),
        ("hex:0", "two a byte"),
        ("hex:zz", "two a byte"),
        ("hex:" + "00" * 15, "15 bytes of key"),
        ("hex:" + "00" * 33, "33 bytes of key"),
    ):
        with pytest.raises(InputError, match=f"test: .*{said}"):
            secrets.modern_text(text, "test")


def test_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "value")
    assert secrets.from_environment("A_KEY") == "value"
    monkeypatch.setenv("A_KEY", "")
    for name in ("A_KEY", "NO_SUCH_KEY"):
        with pytest.raises(InputError, match="not set"):
            secrets.from_environment(name)


@pytest.mark.parametrize(
    ("mode", "exposed"), [(0o600, False), (0o700, False), (0o640, True), (0o601, True), (0o602, True)]
)
def test_who_else_can_read_it(tmp_path: Path, mode: int, exposed: bool) -> None:
    path = tmp_path / "key"
    path.touch()
    path.chmod(mode)
    assert secrets.exposed(path) is exposed
    assert secrets.exposed(tmp_path / "none") is False
