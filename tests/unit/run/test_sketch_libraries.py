"""Which libraries a sketch is built with: those whose headers it includes. Its text is UTF-8."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from motecrypt.build.toolchain.arduino import _libraries_of

ROOT = Path(__file__).resolve().parents[3]


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


_COMPILES = """
import sys
from pathlib import Path
from motecrypt.build.toolchain import arduino

def stop(sources, *_):
    print(ascii(sources[0].read_bytes().decode("utf-8")))
    raise SystemExit

arduino._objects = stop
sketch, work = map(Path, sys.argv[1:])
arduino._compile([sketch], [], [], [], work)
"""


def test_a_sketch_is_utf8_whatever_the_language_of_the_system_is(tmp_path: Path) -> None:
    sketch = tmp_path / "s.ino"
    sketch.write_bytes('// 21 °C\nvoid setup() { Serial.print("°"); }\nvoid loop() { }\n'.encode())
    environment = {
        **os.environ,
        "LC_ALL": "POSIX",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONPATH": str(ROOT / "src"),
    }
    command = [sys.executable, "-X", "utf8=0", "-c", _COMPILES, str(sketch), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert r'Serial.print("\xb0")' in done.stdout
