"""The sample: which mutants a seed means."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from mutants import cmutants, jsmutants, pythonmutants
from mutants.model import Mutant, edit
from mutants.owners import ROOT, Owner, Owners


def quotas(owners: Owners, domains: set[str], count: int) -> dict[str, int]:
    """How many mutants each domain gets of `count`: by its share, rounded so that the sum is right."""
    shares = {name: owners.domains[name].share for name in sorted(domains)}
    total = sum(shares.values())
    exact = {name: count * share / total for name, share in shares.items()}
    given = {name: int(value) for name, value in exact.items()}
    rest = sorted(exact, key=lambda name: (given[name] - exact[name], name))
    for name in rest[: count - sum(given.values())]:
        given[name] += 1
    return given


def draw(
    owners: Owners, seed: int, count: int, only: tuple[str, ...] = ()
) -> Iterator[tuple[str, int, Iterator[Mutant]]]:
    """For each domain its name, how many mutants it should give, and its mutants in the seed's order.

    The caller takes from each until it has enough that compile. Every line of code has the same chance;
    no line comes twice before all came once.
    """
    sources = {p: o for p, o in owners.sources().items() if not only or p.startswith(only)}
    by_domain: dict[str, dict[str, Owner]] = defaultdict(dict)
    for path, owner in sources.items():
        by_domain[owner.domain][path] = owner
    for domain, quota in quotas(owners, set(by_domain), count).items():
        yield domain, quota, _in_order(sorted(by_domain[domain]), domain, seed)


def _in_order(paths: list[str], domain: str, seed: int) -> Iterator[Mutant]:
    source = random.Random(f"{seed} {domain}")
    lines = [(path, line) for path in paths for line in _lines(path)]
    source.shuffle(lines)
    used: set[tuple[str, str]] = set()
    while lines:
        again = []
        for path, line in lines:
            mutants = list(_mutants_of_line(path, domain, line))
            source.shuffle(mutants)
            fresh = next((m for make in mutants if (m := make()) and (m.path, m.name) not in used), None)
            if fresh is not None:
                used.add((fresh.path, fresh.name))
                again.append((path, line))
                yield fresh
        lines = again


def _kind(path: str) -> Any:
    return {".py": pythonmutants, ".js": jsmutants}.get(Path(path).suffix, cmutants)


@lru_cache(maxsize=512)
def _text(path: str) -> str:
    return (ROOT / path).read_text()


@lru_cache(maxsize=512)
def _places(path: str) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = defaultdict(list)
    for place in _kind(path).places(_text(path)):
        found[place.line].append(place)
    return found


def _lines(path: str) -> list[int]:
    """The lines that may have code; which of them can be mutated is found when one is drawn."""
    return [number for number, line in enumerate(_text(path).splitlines(), 1) if line.strip()]


def _mutants_of_line(path: str, domain: str, line: int) -> Iterator[Callable[[], Mutant | None]]:
    text = _text(path)
    kind = _kind(path)
    for place in _places(path).get(line, ()):

        def make(place: Any = place) -> Mutant | None:
            changed = kind.mutated(text, place)
            return edit(path, domain, place.operator, text, changed) if changed is not None else None

        yield make
