"""Which libraries a sketch is built with: those whose headers it includes, no other sketch."""

from __future__ import annotations

from pathlib import Path

from motecrypt.toolchain.arduino import _libraries_of


def test_a_header_next_to_the_file_belongs_to_no_other_library(tmp_path: Path) -> None:
    library, sketch, other = tmp_path / "Lib", tmp_path / "Lib/examples/One", tmp_path / "Lib/examples/Two"
    for folder in (library / "src" / "core", sketch, other):
        folder.mkdir(parents=True)
    (library / "src" / "Lib.h").write_text('#include "core/part.h"\n')
    (library / "src" / "core" / "part.h").write_text("")
    (library / "src" / "core" / "part.c").write_text('#include "part.h"\n')
    (other / "part.h").write_text("")
    (other / "part.c").write_text("")
    (sketch / "One.ino").write_text("#include <Lib.h>\n")
    places = (tmp_path, sketch.parent)
    assert _libraries_of([sketch / "One.ino"], places, sketch) == [library]
