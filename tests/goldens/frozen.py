"""The small catalogue that the goldens are over: of all that motecrypt ships, what frozen.toml names.

Adding a cipher, an implementation, a library, a device, a radio or a study changes no golden, since it is
not among those. unit/test_whole_catalogue.py checks the views over the whole catalogue.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import motecrypt.air.radios.catalog
import motecrypt.catalog
import motecrypt.studies
from motecrypt.air.radios import Radio
from motecrypt.base.model import Implementation
from motecrypt.catalog import Catalog


@cache
def names() -> Mapping[str, frozenset[str]]:
    """What is in it, by kind."""
    read = tomllib.loads(Path(__file__).with_name("frozen.toml").read_text())
    return {kind: frozenset(of) for kind, of in read.items()}


def _of(kind: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the kind that are in it; all of its names must be known."""
    missing = names()[kind] - set(known)
    assert not missing, f"tests/goldens/frozen.toml: no {kind} {sorted(missing)}"
    return {name: value for name, value in known.items() if name in names()[kind]}


def restricted(catalog: Catalog) -> Catalog:
    """The catalogue without what is not in it."""

    def bodies(found: tuple[Implementation, ...]) -> tuple[Implementation, ...]:
        return tuple(
            body for body in found if body.cipher in known and body.name in names()["implementations"]
        )

    ciphers, public_keys = _of("ciphers", catalog.ciphers), _of("public_keys", catalog.public_keys)
    known = {**ciphers, **public_keys}
    return replace(
        catalog,
        ciphers=ciphers,
        implementations=bodies(catalog.implementations),
        libraries=_of("libraries", catalog.libraries),
        devices=_of("devices", catalog.devices),
        toolchains=_of("toolchains", catalog.toolchains),
        protected=bodies(catalog.protected),
        public_keys=public_keys,
        public_key_implementations=bodies(catalog.public_key_implementations),
    )


def inside() -> bool:
    """Whether `catalogue` is entered: what is kept of one catalogue is not of the other."""
    return motecrypt.studies.folders is folders


def folders() -> list[str]:
    """The studies that are in it."""
    return sorted(names()["studies"])


@contextmanager
def catalogue() -> Iterator[None]:
    """Within it, the catalogue, the radios and the studies are those of frozen.toml."""
    load, radios = motecrypt.catalog._load, motecrypt.air.radios.catalog._radios

    @cache
    def loaded(*own: tuple[Path, ...]) -> Catalog:
        return restricted(load(*own))

    @cache
    def few_radios(folder: Path) -> Mapping[str, Radio]:
        return _of("radios", radios(folder))

    with (
        patch("motecrypt.catalog._load", loaded),
        patch("motecrypt.air.radios.catalog._radios", few_radios),
        patch("motecrypt.studies.folders", folders),
    ):
        yield
