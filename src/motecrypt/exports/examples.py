"""The programs that an export of the link comes with: each folder in `examples` is one.

A folder holds example.toml, and for each form of target the program as a template: `arduino.ino.j2` (for
PlatformIO, too), `pico-sdk.c.j2`, `zephyr.c.j2`, `esp-idf.c.j2`, `c.c.j2`, `device.c.j2` (plain C for a
device that is named). Adding one edits nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.build.toolchain.includes import reached
from motecrypt.catalog import FIRMWARE

EXAMPLES = Path(__file__).resolve().parent / "examples"


@dataclass(frozen=True)
class Program:
    """What one form of an example does.

    Attributes
    ----------
    sleeps : whether chip and radio sleep between messages: `advise` counts sleep then.
    runs : whether a simulated UNO can run it: `motecrypt node` offers it then.
    interval : whether it sends every INTERVAL_MS milliseconds, which the compiler's command line may give.
    """

    sleeps: bool = False
    runs: bool = False
    interval: bool = False


@dataclass(frozen=True)
class Example:
    """One program, in the forms that there are.

    Attributes
    ----------
    about : what it does: "the chip's temperature over a serial packet radio".
    radios : the radios that it is for ("serial": those on a serial line); empty: all.
    must_listen : whether it needs a node that listens.
    any_radio : whether it needs an export for any radio.
    sources : C files below `firmware` that are compiled with it; they and their includes are copied next to
        it.
    cipher : a cipher that `sources` call; its files are then copied, too.
    headers : with a cipher, the headers that the program includes.
    defines : with a cipher, more definitions for the compiler.
    context : whether its node needs an OSCORE context.
    programs : its forms, by the name of their template.
    """

    name: str
    about: str
    radios: tuple[str, ...] = ()
    must_listen: bool = False
    any_radio: bool = False
    sources: tuple[str, ...] = ()
    cipher: str = ""
    headers: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    context: bool = False
    programs: Mapping[str, Program] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Its name in the form of a class: KeyChange."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def compiled(self) -> tuple[str, ...]:
        """The names of `sources` in the program's folder."""
        return tuple(Path(source).name for source in self.sources)

    def beside(self) -> dict[str, bytes]:
        """`sources` and the headers that they include, by name.

        Raises
        ------
        InputError
            When two of them have the same name.
        """
        found: dict[str, bytes] = {}
        for path in reached([(FIRMWARE / source).resolve() for source in self.sources], []):
            if path.name in found:
                raise InputError(f"{path}: another file of the example '{self.name}' has that name")
            found[path.name] = path.read_bytes()
        return found


@lru_cache(maxsize=1)
def all_examples() -> tuple[Example, ...]:
    """Every example, by name."""
    return tuple(read_example(path.parent) for path in sorted(EXAMPLES.glob("*/example.toml")))


def read_example(folder: Path) -> Example:
    """One from its folder; InputError when its example.toml is not as those that there are."""
    table = Table.read(folder / "example.toml")
    about, radios = table.text("about", filled=True), table.texts("radios")
    must_listen, sources = table.flag("must_listen"), table.texts("sources", [])
    any_radio = table.flag("any_radio", False)
    cipher, headers, defines = (
        table.text("cipher", ""),
        table.texts("headers", []),
        table.texts("defines", []),
    )
    context = table.flag("context", False)
    programs = {}
    for path in sorted(folder.glob("*.j2")):
        name = path.name.removesuffix(".j2")
        entry = table.table(name)
        programs[name] = Program(
            sleeps=entry.flag("sleeps", False),
            runs=entry.flag("runs", False),
            interval=entry.flag("interval", False),
        )
        entry.done()
    table.done()
    return Example(
        folder.name,
        about,
        radios,
        must_listen,
        any_radio,
        sources,
        cipher,
        headers,
        defines,
        context,
        programs,
    )
