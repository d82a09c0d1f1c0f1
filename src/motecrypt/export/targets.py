"""What can be written: each folder in `targets` is one, with its target.toml and templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from motecrypt.catalog import Catalog, nearest
from motecrypt.descriptor import Table
from motecrypt.errors import InputError
from motecrypt.model import Device

TARGETS = Path(__file__).resolve().parent / "targets"


@dataclass(frozen=True)
class TargetFile:
    """One file of an export: its template, where it goes, and for which kinds of cipher (empty: all).

    Attributes
    ----------
    radios : the radios that a link's example is for ("serial": those on a serial line); empty: all.
    sleeps : whether this example lets chip and radio sleep between messages: `advise` counts sleep then.
    """

    template: str
    path: str
    kinds: tuple[str, ...]
    radios: tuple[str, ...] = ()
    sleeps: bool = False


@dataclass(frozen=True)
class LinkTarget:
    """How a target has the secure link.

    Attributes
    ----------
    storage : the header of its storage, in `firmware/link/node`.
    boards : the sources of its storage and clock, beside it.
    provision : the options of `motecrypt provision` that its README shows.
    """

    storage: str
    boards: tuple[str, ...]
    provision: str
    tested: str
    files: tuple[TargetFile, ...]


@dataclass(frozen=True)
class Target:
    """A form of library.

    Attributes
    ----------
    title : such as "an Arduino library".
    device : the device of ours that stands for it: its definitions, and its next step in `advise`.
    core : whose best variant is taken where none is named, and which a variant must be for.
    sources : the folder for the interface and the C files.
    takes_flags : whether such a library can ask for compiler flags.
    tested : what was tested of such exports, for their README.
    """

    name: str
    title: str
    device: str
    core: str
    sources: str
    takes_flags: bool
    tested: str
    figures_note: str
    example_folder: str
    example_include: str
    example_main: str
    example_begin: str
    files: tuple[TargetFile, ...]
    link: LinkTarget


def target_names() -> list[str]:
    """All there are."""
    return sorted(path.parent.name for path in TARGETS.glob("*/target.toml"))


def target(name: str, catalog: Catalog) -> Target:
    """One by name; InputError with the nearest names otherwise."""
    if name not in target_names():
        raise InputError(nearest("export", name, target_names()))
    return read_target(TARGETS / name, catalog)


def target_for(device: Device, catalog: Catalog) -> Target:
    """What a device's owner would install: the first target that names it, else plain C."""
    found = [read_target(TARGETS / name, catalog) for name in target_names()]
    meant = [one for one in found if one.device == device.name and one.core == device.core]
    return meant[0] if meant else target("c", catalog)


def example_sleeps(device: Device, catalog: Catalog) -> tuple[str, ...]:
    """The radios with which an example sleeps between messages, of what a device's owner would install."""
    files = target_for(device, catalog).link.files
    return tuple(dict.fromkeys(radio for file in files if file.sleeps for radio in file.radios))


def sleepers(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """The same for each device that has such an example, by its name."""
    found = {name: example_sleeps(device, catalog) for name, device in catalog.devices.items()}
    return {name: radios for name, radios in found.items() if radios}


def read_target(folder: Path, catalog: Catalog) -> Target:
    """One from its folder; InputError when its target.toml is not as those that there are."""
    table = Table.read(folder / "target.toml")
    device = catalog.device(table.text("device"))
    read = Target(
        name=folder.name,
        title=table.text("title", filled=True),
        device=device.name,
        core=table.text("core", device.core),
        sources=table.text("sources", "src"),
        takes_flags=table.flag("takes_flags", True),
        tested=table.text("tested", filled=True).strip(),
        figures_note=table.text("figures_note", "").strip(),
        example_folder=table.text("example_folder", "examples/known_answer"),
        example_include=table.text("example_include", ""),
        example_main=table.text("example_main", "int main(void)"),
        example_begin=table.text("example_begin", ""),
        files=tuple(_read_files(table.tables("file"))),
        link=_read_link(table.table("link")),
    )
    table.done()
    return read


def _read_files(entries: Sequence[Table]) -> list[TargetFile]:
    files = []
    for entry in entries:
        template = entry.text("template", filled=True)
        kinds, radios = entry.texts("kinds", []), entry.texts("radios", [])
        path, sleeps = entry.text("path", template), entry.flag("sleeps", False)
        files.append(TargetFile(template, path, kinds, radios, sleeps))
        entry.done()
    return files


def _read_link(entry: Table) -> LinkTarget:
    read = LinkTarget(
        storage=entry.text("storage", filled=True),
        boards=entry.texts("boards"),
        provision=entry.text("provision", filled=True),
        tested=entry.text("tested", filled=True).strip(),
        files=tuple(_read_files(entry.tables("file"))),
    )
    entry.done()
    return read
