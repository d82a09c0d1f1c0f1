"""A bundle compared with its own manifest, with this program's inputs, and with what its results give."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from motecrypt import __version__
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell
from motecrypt.present.bundle import contents
from motecrypt.present.bundle.archive import NAME, Bundle, digest
from motecrypt.present.bundle.contents import DERIVED, INPUTS, MANIFEST, RESULTS, ROWS
from motecrypt.results import Results
from motecrypt.studies import folders

_SIZES = ("status", "flash_bytes", "flash_symbol_bytes", "ram_bytes", "eeprom_bytes", "cycles_exact")
_COUNTED = (
    *("cycles_min", "cycles_median", "cycles_max", "time_us", "inputs"),
    *("stack_bytes", "timing_varies", "elf_sha256"),
)
MANIFEST_BYTES_MAX = 1 << 20
COMPARED_BYTES_MAX = 64 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class BundleCheck:
    """One thing that was checked.

    Attributes
    ----------
    holds
        None: for information; it is not a fault.
    """

    what: str
    holds: bool | None
    told: str


@dataclass(frozen=True)
class Manifest:
    """What a bundle says of itself, checked for its form alone."""

    studies: tuple[str, ...]
    made_at: str
    version: str
    program_sha256: str
    files: Mapping[str, str]


def read_manifest(bundle: Bundle) -> Manifest:
    """The manifest of a bundle; InputError where it is none."""
    wrong = InputError("manifest.json of the bundle: not as motecrypt writes it; ask for the bundle again")
    try:
        told = json.loads(bundle.read(MANIFEST, MANIFEST_BYTES_MAX))
        files = {str(name): str(own["sha256"]) for name, own in told["files"].items()}
        manifest = Manifest(
            studies=tuple(map(str, told["studies"])),
            made_at=str(told["made_at"])[:40],
            version=str(told["versions"]["motecrypt"])[:40],
            program_sha256=str(told["versions"]["program_sha256"]),
            files=files,
        )
        form = told["format"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise wrong from None
    if isinstance(form, int) and form > contents.FORMAT:
        raise InputError("the bundle was made by a newer motecrypt; update this one")
    if form != contents.FORMAT or not all(map(_SHA256.fullmatch, files.values())):
        raise wrong
    if not all(map(NAME.fullmatch, files)) or not (manifest.made_at + manifest.version).isprintable():
        raise wrong  # a line break would make lines of its own in what is printed
    if not set(manifest.studies) <= set(folders()) or len(set(manifest.studies)) != len(manifest.studies):
        raise wrong
    return manifest


@contextmanager
def packed_results(bundle: Bundle) -> Iterator[Results]:
    """The results in a bundle, opened from a copy that is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as place:
        bundle.copy(RESULTS, Path(place) / RESULTS)
        with Results(Path(place) / RESULTS, make=False) as results:
            yield results


def verify(bundle: Bundle) -> Iterator[BundleCheck]:
    """One by one: the hashes, the inputs, and every derived file made again from the packed results.

    Raises
    ------
    InputError
        For what is not a bundle at all.
    """
    manifest = read_manifest(bundle)
    yield from _hashes(bundle, manifest)
    same = manifest.program_sha256 == contents.program_sha256()
    yield BundleCheck(
        "program",
        None,
        f"motecrypt {manifest.version}, these very files"
        if same
        else f"made by motecrypt {manifest.version} with other files than this {__version__}: what follows "
        "may differ for that reason",
    )
    yield _inputs(bundle, manifest, same)
    with packed_results(bundle) as results, tempfile.TemporaryDirectory(prefix="motecrypt-") as place:
        try:
            contents.derive(results, manifest.studies, Path(place))
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # a stranger's figures
            yield BundleCheck(
                RESULTS, False, f"no tables can be made from it: {type(error).__name__}: {error}"
            )
            return
        for name in DERIVED:
            yield _made_again(bundle, name, Path(place) / name)


def _hashes(bundle: Bundle, manifest: Manifest) -> Iterator[BundleCheck]:
    there, listed = set(bundle.names) - {MANIFEST}, set(manifest.files)
    wrong = [f"{name} is missing" for name in sorted(listed - there)]
    wrong += [f"{name} is not listed" for name in sorted(there - listed)]
    required = {RESULTS, *DERIVED, contents.REPORT}
    wrong += [f"{name} is not listed" for name in sorted(required - listed - there)]
    wrong += [
        f"{name} has another hash"
        for name in bundle.names
        if name in listed and bundle.hash(name) != manifest.files[name]
    ]
    yield BundleCheck("hashes", not wrong, _few(wrong) or f"{len(listed)} files as the manifest lists them")


def _inputs(bundle: Bundle, manifest: Manifest, same_program: bool) -> BundleCheck:
    """Other inputs are a fault only where the program is said to be the same."""
    own = contents.inputs()
    packed = {name for name in manifest.files if name.startswith(f"{INPUTS}/")}
    other = [f"{name}: this program has none" for name in sorted(packed - set(own))]
    other += [f"{name}: not in the bundle" for name in sorted(set(own) - packed)]
    for name in sorted(packed & set(own)):
        with own[name].open("rb") as file:
            if digest(file) != manifest.files[name]:
                other.append(f"{name}: differs from this program's")
    holds = not other or (False if same_program else None)
    return BundleCheck("inputs", holds, _few(other) or f"{len(packed)} files, the same as this program's")


def _few(told: list[str], most: int = 3) -> str:
    more = f"; and {len(told) - most} more" if len(told) > most else ""
    return "; ".join(told[:most]) + more


def _made_again(bundle: Bundle, name: str, ours: Path) -> BundleCheck:
    with ours.open("rb") as file:
        if name in bundle.names and digest(file) == bundle.hash(name):
            return BundleCheck(name, True, "the packed results give the same")
    if name not in bundle.names:
        return BundleCheck(name, False, "is not in the bundle")
    return BundleCheck(name, False, _difference(bundle, name, ours))


def _difference(bundle: Bundle, name: str, ours: Path) -> str:
    """How many lines differ, and of rows whose first does."""
    if bundle.size(name) > COMPARED_BYTES_MAX:
        return "differs from what the packed results give"
    theirs = bundle.read(name, COMPARED_BYTES_MAX).split(b"\n")
    own = ours.read_bytes().split(b"\n")
    apart = [n for n, (a, b) in enumerate(zip_longest(theirs, own)) if a != b]
    first = f"line {apart[0] + 1}"
    if (
        name == ROWS
        and apart[0] < len(own)
        and (found := re.search(rb'"id": "([a-z0-9.-]+)"', own[apart[0]]))
    ):
        first = found[1].decode()
    return f"{len(apart)} of {len(own)} lines differ from what the packed results give, first {first}"


def compare_measured(packed: Results, again: Results, cells: Sequence[Cell]) -> tuple[int, list[str]]:
    """How many cells were measured in both, and those whose figures or firmware differ.

    What a runner times instead of counts is compared by its firmware's sizes alone. Which runner that is, the
    figures that were measured here say: those in the bundle are not believed.
    """
    before, after = packed.newest(cells), again.newest(cells)
    both = [cell for cell in dict.fromkeys(cells) if cell in before and cell in after]
    apart = []
    for cell in both:
        old, new = before[cell], after[cell]
        timed = new.status == "ok" and not new.cycles_exact
        names = _SIZES if timed else (*_SIZES, *_COUNTED)
        changed = [name for name in names if getattr(old, name) != getattr(new, name)]
        if changed:
            what = f"{old.device} {old.cipher} {old.implementation} {old.operation} {old.message_bytes} bytes"
            other = f" ({new.compiler} instead of {old.compiler})" if new.compiler != old.compiler else ""
            apart.append(f"{what}: {', '.join(changed)}{other}")
    return len(both), apart
