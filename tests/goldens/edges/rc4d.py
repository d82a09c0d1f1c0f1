"""The RC4D study over made-up figures of its variants and features."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any

from goldens.edges.told import Told
from goldens.text import digest, plain
from motecrypt.results.experiments.features import Features
from motecrypt.results.experiments.sketch import SketchFigures
from motecrypt.studies.rc4d import claims as rc4d_claims
from motecrypt.studies.rc4d import figures as rc4d_figures
from motecrypt.studies.rc4d import study as rc4d
from motecrypt.studies.rc4d.sketches import Authors, recorded

TIMES = (1.0, 1.2, 2.0, 2.4, 2.5, 3.0, 5.0, 6.0, 10.0, 12.0)
VARIANTS = tuple(
    f"{letters}{style}" for letters in ("", "k-", "ki-", "kip-", "kipe-") for style in ("plain", "opt")
)
VARIANTS += ("plain-modulo", "ki-undo", "kip-undo", "kipe-undo")


def _variants(random: Random) -> rc4d_figures.VariantFigures:
    of, failed = {}, {}
    names = [*((c, v) for c in ("rc4", "rc4d") for v in VARIANTS), ("rc4d-two-key", "k-opt")]
    for name in [*names, ("aes128-ecb", "small"), ("aes128-ecb", "fast")]:
        if random.random() < 0.02:
            failed[name] = random.choice(("too large", "wrong"))
        elif random.random() > 0.01:
            time = random.choice(TIMES)
            of[name] = rc4d_figures.VariantFigure(
                *name,
                time,
                random.choice((time, time / 2, 2 * time)),
                *(
                    random.choice((3, 4, 10, 12, 13, 40)),
                    random.choice((16, 255, 256, 257)),
                    random.choice((0, 256)),
                ),
                random.choice((20, 300)),
            )
    return rc4d_figures.VariantFigures(of, failed)


def _feature_set(random: Random) -> dict[str, Features]:
    return {
        name: Features(
            random.choice(("any", "multiples of 16", "16", "about", "zero")),
            random.choice(("any", "16", "5 to 256", "32", "1")),
            random.choice(("none", "block", "full")),
            (17, 33),
            random.choice((8, 16)),
            random.choice(((), (1,), (2, 1))),
            random.choice((1, 3)),
            random.choice((True, False)),
        )
        for name in rc4d.PROBES
        if random.random() < 0.9
    }


def _authors(random: Random) -> Authors:
    """Some sketches run here, faster and smaller or slower and larger than recorded."""
    return Authors(
        {
            row: SketchFigures(
                figures.time_ms * random.choice((0.5, 1.0, 2.0)),
                figures.flash_bytes + random.choice((-9, 0, 900)),
                figures.ram_bytes,
            )
            for row, figures in recorded().items()
            if random.random() < 0.6
        }
    )


def rc4d_edges() -> dict[str, Any]:
    """Claims, table and features of the RC4D study."""
    told, told_features = Told(), Told()
    for number in range(60):
        random = Random(f"rc4d {number}")
        found, features = _variants(random), _feature_set(random)
        recovered = random.choice((0, 1, 9))
        data = {"keys": 9, "recovered": recovered, "queries_mean": random.choice((1.5, 2.5, 139.6))}
        attack = random.choice((None, SimpleNamespace(data=data), SimpleNamespace(data={})))
        evidence = rc4d_figures.Measured("s", "claims", found, features, attack)  # type: ignore[arg-type]
        authors = _authors(Random(f"authors {number}"))
        told.add(rc4d_claims.claims(evidence, authors))
        told.add(rc4d._table(found, authors))
        told_features.add(rc4d._feature_rows(features))
        claimed = replace(rc4d._claim_section(rc4d_claims.claims(evidence, authors)), text="")
        told.add_sections(
            [
                rc4d._table_section(found),
                rc4d._sketch_section(authors),
                rc4d._variants_section(found),
                rc4d._feature_section(features),
                claimed,
            ]
        )
    whys = []
    for number in range(12):
        found = _variants(Random(f"why {number}"))
        for cipher in ("rc4", "rc4d", "aes128-ecb"):
            best = [found.fastest(cipher, "ki"), found.smallest(cipher), found.fastest(cipher)]
            whys.append(
                [
                    found.why(cipher),
                    found.why(cipher, "ki"),
                    found.why(cipher, ""),
                    *(None if each is None else each.variant for each in best),
                ]
            )
    return {
        "rc4d": told.whole(),
        "rc4d features": told_features.whole(),
        "rc4d best": [digest(whys), *whys[:9]],
        "rc4d printed": [[row.label, *plain(row).values()] for row in rc4d_figures.printed()],
    }
