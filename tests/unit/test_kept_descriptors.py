"""Files of the program are parsed once: what is kept of them is what parsing gives, and is never needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import motecrypt
from motecrypt.base import descriptor
from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError

OURS = descriptor._OURS

TEXT = 'name = "µ"\nsize = 9007199254740993\nshare = 0.1\n[inner]\nlist = [[1, 2], [true]]\n'
PLAIN = {"name": "µ", "size": 9007199254740993, "share": 0.1, "inner": {"list": [[1, 2], [True]]}}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a folder whose files count as the program's."""
    (tmp_path / "ours").mkdir()
    monkeypatch.setattr(descriptor, "_OURS", tmp_path / "ours")
    monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "descriptors"


def written(folder: Path, text: str = TEXT) -> Path:
    """A file of that text."""
    (folder / "a.toml").write_text(text, encoding="utf-8")
    return folder / "a.toml"


def never(*_: object) -> Any:
    raise AssertionError("parsed")


def test_a_file_of_the_program_is_parsed_once(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "ours")
    assert Table.read(file).plain() == PLAIN
    (kept,) = cache.iterdir()
    assert kept.suffix == ".json" and json.loads(kept.read_bytes()) == PLAIN
    with monkeypatch.context() as patched:
        patched.setattr(descriptor, "_parsed", never)
        assert Table.read(file).plain() == PLAIN
    assert Table.read(written(tmp_path / "ours", TEXT + "more = 1\n")).plain() == {
        **PLAIN,
        "inner": {"list": [[1, 2], [True]], "more": 1},
    }
    monkeypatch.setattr(descriptor, "_this_module", lambda: b"another version")
    monkeypatch.setattr(descriptor, "_parsed", never)
    with pytest.raises(AssertionError, match="parsed"):
        Table.read(file)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff", b"\0" * 40])
def test_what_is_kept_in_part_is_parsed_again(cache: Path, tmp_path: Path, content: bytes) -> None:
    file = written(tmp_path / "ours")
    Table.read(file)
    (kept,) = cache.iterdir()
    kept.write_bytes(content)
    assert Table.read(file).plain() == PLAIN
    assert json.loads(kept.read_bytes()) == PLAIN and [*cache.iterdir()] == [kept]


def test_what_came_with_the_program_is_its_own_folder() -> None:
    assert Path(motecrypt.__file__).resolve().parent == OURS


def test_a_users_own_file_is_not_kept(cache: Path, tmp_path: Path) -> None:
    assert Table.read(written(tmp_path)).plain() == PLAIN and not cache.exists()


def test_a_wrong_file_is_complained_of_each_time(cache: Path, tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(InputError, match=r"a\.toml: .*expected a finite number"):
            Table.read(written(tmp_path / "ours", "a = inf\n"))
    assert not cache.exists()


def test_nothing_needs_to_be_kept(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dated = Table.read(written(tmp_path / "ours", "day = 2020-01-01\n")).plain()
    assert str(dated["day"]) == "2020-01-01" and not [*cache.parent.rglob("*.*")]
    file = written(tmp_path / "ours")
    cache.parent.mkdir(exist_ok=True)
    cache.write_text("in the way")
    assert Table.read(file).plain() == PLAIN

    def homeless() -> Path:
        raise InputError("this user has no home directory")

    monkeypatch.setattr(descriptor, "cache_dir", homeless)
    assert Table.read(file).plain() == PLAIN
