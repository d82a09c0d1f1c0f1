"""Which files a source reads: the quick search finds what the plain one does, in folders as they are now."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motecrypt.build.toolchain import includes
from motecrypt.build.toolchain.includes import find, reached
from motecrypt.build.toolchain.toolchain import BuildError

PARTS = ["#", " ", "\t", "\n", "\r\n", "include", "include_next", "import", "incbin", ".include", ".incbin"]
PARTS += [
    '"a.h"',
    "<b.h>",
    '"',
    "<",
    ">",
    "MACRO",
    "//",
    "x",
    "/*",
    "\\\n",
    "_",
    "#include <c.h>\n",
    "\n#include M",
]
LONG_AGO_S = 1_000_000_000


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=16).map("".join))
def test_every_line_that_includes_is_found(text: str) -> None:
    content = text.encode()
    names, macros = includes._included(content)
    plain = [*includes._INCLUDE.findall(content), *includes._ASSEMBLER_INCLUDE.findall(content)]
    assert sorted(names) == sorted(name.decode() for name in plain)
    named = [rest.strip() if how == b"include" else b"" for how, rest in includes._COMPUTED.findall(content)]
    assert [*macros] == [name.decode() if re.fullmatch(rb"[A-Za-z_]\w*", name) else "" for name in named]


def made(folder: Path, *names: str) -> None:
    """Empty files."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")


def asked(folder: Path, name: str) -> str:
    """Where a header of that name is found below a folder, first in `a` and then in `b`."""
    found = find(name, [str(folder / "a"), str(folder / "b")])
    return "" if found is None else str(found.relative_to(folder.resolve()))


def test_a_header_is_looked_for_in_each_folder_in_turn(tmp_path: Path) -> None:
    made(tmp_path, "a/one.h", "b/one.h", "b/two.h", "b/inner/three.h", "b/µ.h", "b/A.h")
    (tmp_path / "b" / "four.h").mkdir()
    (tmp_path / "b" / "link.h").symlink_to(tmp_path / "a" / "one.h")
    (tmp_path / "a" / "to").symlink_to(tmp_path / "b")
    for name, place in {
        "one.h": "a/one.h",
        "two.h": "b/two.h",
        "inner/three.h": "b/inner/three.h",
        "../a/one.h": "a/one.h",
        "inner/../two.h": "b/two.h",
        "to/two.h": "b/two.h",
        "to/../a/one.h": "a/one.h",
        "link.h": "a/one.h",
        "µ.h": "b/µ.h",
        "A.h": "b/A.h",
        "a.h": "",
        "four.h": "",
        "two.h/x.h": "",
        "none/x.h": "",
        "no\0ne/x.h": "",
        "no\0ne.h": "",
        "inner/": "",
        "..": "",
        str(tmp_path / "b" / "two.h"): "b/two.h",
        str(tmp_path / "b" / "none.h"): "",
        "/none.h": "",
    }.items():
        assert asked(tmp_path, name) == place, name


def reading(folder: Path, at_s: float) -> Callable[[], list[str]]:
    """What a source that includes x.h reads; the folders before it were last changed at that time."""
    made(folder, "first/y.h", "second/x.h")
    (folder / "main.c").write_text('#include "x.h"\n')
    folders = [folder / "first", folder / "second"]
    for each in folders:
        os.utime(each, (at_s, at_s))

    def names() -> list[str]:
        return [path.parent.name for path in reached([folder / "main.c"], folders) if path.name == "x.h"]

    return names


@pytest.mark.parametrize("long_ago", [True, False])
def test_a_header_that_comes_later_is_found(tmp_path: Path, long_ago: bool) -> None:
    names = reading(tmp_path, LONG_AGO_S if long_ago else time.time())
    assert names() == names() == ["second"]
    made(tmp_path, "first/x.h")
    assert names() == ["first"]
    (tmp_path / "first" / "x.h").unlink()
    assert names() == ["second"]
    made(tmp_path, "first/x.h.gch")
    with pytest.raises(BuildError, match=r"first/x\.h\.gch: a precompiled header"):
        names()


def test_a_folder_that_just_changed_is_listed_again(tmp_path: Path) -> None:
    """Two changes within one step of the file system's clock give it the same time."""
    now_s = time.time()
    names = reading(tmp_path, now_s)
    assert names() == ["second"]
    made(tmp_path, "first/x.h")
    os.utime(tmp_path / "first", (now_s, now_s))
    assert names() == ["first"]


def test_a_folder_that_did_not_change_is_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = reading(tmp_path, LONG_AGO_S)
    names()
    listed: list[str] = []
    monkeypatch.setattr(includes.os, "listdir", lambda folder: listed.append(folder) or [])
    names()
    assert str(tmp_path / "first") not in listed and str(tmp_path / "second") not in listed


def test_a_folder_that_cannot_be_listed_is_asked_for_each_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = reading(tmp_path, time.time())

    def refused(folder: str) -> list[str]:
        raise PermissionError(folder)

    monkeypatch.setattr(includes.os, "listdir", refused)
    assert names() == ["second"]


def test_a_name_is_found_where_the_file_system_ignores_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path, "a/x.h")
    isfile = os.path.isfile
    monkeypatch.setattr(includes.os.path, "isfile", lambda path: isfile(path.replace("X.h", "x.h")))
    assert asked(tmp_path, "X.h") == "a/X.h" and asked(tmp_path, "Y.h") == ""
