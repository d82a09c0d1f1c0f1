"""What is stored: chosen by names, asked with SQL, joined with other files, published and fetched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from motecrypt.app.selection import match_ciphers
from motecrypt.base.errors import InputError
from motecrypt.base.model import Measurement
from motecrypt.build.setup import need
from motecrypt.catalog import Catalog, nearest
from motecrypt.results import Results, Stored, opened
from motecrypt.results.merge import Merged, keyed, merge, merge_rows
from motecrypt.results.reading import select

if TYPE_CHECKING:
    from motecrypt.results.query import QueryAnswer


@dataclass(frozen=True)
class StoredRequest:
    """Which stored measurements; an empty choice is all.

    Attributes
    ----------
    ciphers : names or families.
    status : such as "ok" or "does-not-fit"; None: any.
    every : also older figures of cells that were measured again.
    """

    devices: Sequence[str] = ()
    ciphers: Sequence[str] = ()
    public_keys: Sequence[str] = ()
    libraries: Sequence[str] = ()
    status: str | None = None
    every: bool = False


def stored_in(results: Results, request: StoredRequest, catalog: Catalog) -> Iterator[Measurement]:
    """The measurements, one after the other, the newest of each cell.

    Raises
    ------
    InputError
        A name that neither the catalog nor the results have.
    """
    for device in request.devices:
        catalog.device(device.removesuffix("-board"))
    own = results.distinct("cipher")
    names = [n for c in request.ciphers for n in ([c] if c in own else match_ciphers(catalog, c))]
    names += [name if name in own else catalog.public_key(name).name for name in request.public_keys]
    libraries = results.distinct("library")
    for library in request.libraries:
        if library not in libraries:
            catalog.library(library)
    status, statuses = request.status, {"ok", *results.distinct("status")}
    if status is not None and status not in statuses:
        raise InputError(nearest("status", status, statuses))
    filters = {"device": request.devices, "cipher": names, "library": request.libraries}
    return select(
        results,
        every=request.every,
        status=status,
        **{column: list(values) for column, values in filters.items() if values},
    )


def merge_results(sources: Sequence[Path | str], results: Stored = None) -> list[Merged]:
    """Join results files, such as those of a sweep's shards, into one; gives the outcome of each.

    Raises
    ------
    InputError
        A source is not a results file, or is the file that the others are joined into.
    """
    with opened(results) as into:
        return [merged for _, merged in merged_one_by_one(list(map(Path, sources)), into)]


def merged_one_by_one(sources: Sequence[Path], into: Results) -> Iterator[tuple[Path, Merged]]:
    """As `merge_results`, each as soon as it is joined."""
    for source in sources:
        if not source.is_file():
            raise InputError(f"{source}: there is no such results file")
    for source in sources:
        if into.path.exists() and source.samefile(into.path):
            raise InputError(f"{source}: is the file that the others are joined into; name another --db")
        yield source, merge(into, source)


def publish_results(
    folder: Path, publisher: str, key: Path | None = None, devices: Sequence[str] = (), results: Stored = None
) -> int:
    """Write the measurements as a set of files that others can verify and join; gives how many there are.

    Parameters
    ----------
    publisher
        A name for readers.
    key
        The SSH key that signs; None: unsigned.
    devices
        Only these; empty: all.
    """
    from motecrypt.results import commons

    if key is not None:
        need("signing")
    with opened(results, make=False) as stored:
        there = stored.distinct("device")
        for device in devices:
            if device not in there:
                raise InputError(nearest("device", device, there))
        every = ((k, m) for k, m in keyed(stored) if not devices or m.device in devices)
        return commons.publish(every, folder, publisher, key)


def fetch_results(folder: Path, signers: Path | None, results: Stored = None) -> tuple[str, Merged]:
    """Verify a published set and join it into the results; who published it, and the outcome.

    Parameters
    ----------
    signers
        Whose signatures count, as in ssh-keygen's allowed signers; None: nothing is verified.
    """
    from motecrypt.results import commons

    if signers is not None:
        need("signing")
    publisher, every = commons.fetch(folder, signers)
    with opened(results) as into:
        return publisher, merge_rows(into, every, newest=False)


def query_results(sql: str, files: Sequence[Path] = (), results: Stored = None) -> QueryAnswer:
    """Ask the measurements with SQL: the table `results`, or `every` with older figures.

    Parameters
    ----------
    files
        Parquet files to ask instead of the results.
    """
    need("query")
    from motecrypt.results.query import ask, copy_of

    if files:
        return ask(sql, files)
    with opened(results, make=False) as stored:
        return ask(sql, [copy_of(stored)])
