"""What can be written: each folder in `targets` is one, with its target.toml and templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.catalog import Catalog, nearest
from motecrypt.exports.examples import Example, Program, all_examples

TARGETS = Path(__file__).resolve().parent / "targets"


@dataclass(frozen=True)
class TargetFile:
    """One file of an export: its template, where it goes, and for which kinds of cipher (empty: all)."""

    template: str
    path: str
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class LinkTarget:
    """How a target has the secure link.

    Attributes
    ----------
    storage : the header of its storage, in `firmware/link/node`.
    boards : the sources of its storage and clock, next to it.
    provision : the options of `motecrypt provision` that its README shows.
    figure_flags : what the target's own build adds to the device's compiler flags.
    figures_note : what its figures are not of.
    example : the files of each example, with {name} and {Name} in their paths; the first is its program,
        whose template is in the example's own folder.
    """

    storage: str
    boards: tuple[str, ...]
    provision: str
    tested: str
    figure_flags: tuple[str, ...]
    figures_note: str
    files: tuple[TargetFile, ...]
    example: tuple[TargetFile, ...]

    def examples(self) -> list[tuple[Example, Program]]:
        """The examples that have a program for this target, by name."""
        form = self.example[0].template
        return [(example, example.programs[form]) for example in all_examples() if form in example.programs]

    def example_paths(self, example: Example) -> list[str]:
        """Where the files of an example go, in the order of `example`."""
        return [
            file.path.replace("{name}", example.name).replace("{Name}", example.title)
            for file in self.example
        ]


@dataclass(frozen=True)
class Target:
    """A form of library.

    Attributes
    ----------
    title : such as "an Arduino library".
    device : the device of ours that means it: its definitions, and its next step in `advise`.
    also_for : other devices that mean it.
    core : whose best variant is taken where none is named, and which a variant must be for.
    sources : the folder for the interface and the C files.
    takes_flags : whether such a library can ask for compiler flags.
    cached : whether a processor that it is for may have a data cache, or a cache before its flash.
    tested : what was tested of such exports, for their README.
    link_devices : how it has the link on a device that is named: a pattern of its core, and the link there.
        The first that matches counts.
    tested_on_device : the same of those for a device that is named (`for_device`); empty where none can be.
    named_device : that device, or "".
    """

    name: str
    title: str
    device: str
    also_for: tuple[str, ...]
    core: str
    sources: str
    takes_flags: bool
    cached: bool
    tested: str
    figures_note: str
    example_folder: str
    example_include: str
    example_main: str
    example_begin: str
    files: tuple[TargetFile, ...]
    link: LinkTarget
    link_devices: tuple[tuple[str, LinkTarget], ...] = ()
    tested_on_device: str = ""
    named_device: str = ""


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
    meant += [one for one in found if device.name in one.also_for]
    return meant[0] if meant else target("c", catalog)


def for_device(form: Target, device: Device) -> Target:
    """The same form of library for a device: with the best variant there, and the flags of its figures.

    Raises
    ------
    InputError
        When the form is for devices of its own, or the device is not simulated.
    """
    if not form.tested_on_device:
        raise InputError(f"--device is for plain C; leave it out, or export c instead of {form.name}")
    if not device.simulated or device.core == form.core:
        raise InputError(
            f"--device {device.name}: name a simulated microcontroller ('motecrypt list devices')"
        )
    return replace(
        form,
        title=f"{form.title} for {device.title}",
        device=device.name,
        core=device.core,
        takes_flags=True,
        cached=False,
        tested=form.tested_on_device,
        figures_note="`CMakeLists.txt` compiles the library with the flags that it was measured with.",
        link=next(link for cores, link in form.link_devices if fnmatchcase(device.core, cores)),
        named_device=device.name,
    )


def measured_devices(catalog: Catalog) -> set[str]:
    """The devices whose figures every export shows: those that a target means first."""
    return {read_target(TARGETS / name, catalog).device for name in target_names()}


def example_sleeps(device: Device, catalog: Catalog) -> tuple[str, ...]:
    """The radios with which an example sleeps between messages, of what a device's owner would install."""
    examples = target_for(device, catalog).link.examples()
    radios = [radio for example, program in examples if program.sleeps for radio in example.radios]
    return tuple(dict.fromkeys(radios))


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
        also_for=tuple(catalog.device(name).name for name in table.texts("also_for", [])),
        core=table.text("core", device.core),
        sources=table.text("sources", "src"),
        takes_flags=table.flag("takes_flags", True),
        cached=table.flag("cached", False),
        tested=table.text("tested", filled=True).strip(),
        tested_on_device=table.text("tested_on_device", "").strip(),
        figures_note=table.text("figures_note", "").strip(),
        example_folder=table.text("example_folder", "examples/known_answer"),
        example_include=table.text("example_include", ""),
        example_main=table.text("example_main", "int main(void)"),
        example_begin=table.text("example_begin", ""),
        files=tuple(_read_files(table.tables("file"))),
        link=_read_link(table.table("link")),
        link_devices=tuple(
            (entry.text("cores", filled=True), _read_link(entry)) for entry in table.tables("link_device", [])
        ),
    )
    table.done()
    return read


def _read_files(entries: Sequence[Table]) -> list[TargetFile]:
    files = []
    for entry in entries:
        template = entry.text("template", filled=True)
        files.append(TargetFile(template, entry.text("path", template), entry.texts("kinds", [])))
        entry.done()
    return files


def _read_link(entry: Table) -> LinkTarget:
    read = LinkTarget(
        storage=entry.text("storage", filled=True),
        boards=entry.texts("boards"),
        provision=entry.text("provision", filled=True),
        tested=entry.text("tested", filled=True).strip(),
        figure_flags=entry.texts("figure_flags", []),
        figures_note=entry.text("figures_note", "").strip(),
        files=tuple(_read_files(entry.tables("file"))),
        example=tuple(_read_files(entry.tables("example"))),
    )
    entry.done()
    return read
