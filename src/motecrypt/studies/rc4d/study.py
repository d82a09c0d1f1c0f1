"""Kwasnicki, "Strong encryption for small payloads on Arduino": its table, its features, its claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from motecrypt.base.model import Section
from motecrypt.results import Results
from motecrypt.results.experiments.audit import AuditQuestion
from motecrypt.results.experiments.features import FeatureQuestion, Features
from motecrypt.results.experiments.sketch import SketchQuestion
from motecrypt.studies.facts import Comparison, Tolerance
from motecrypt.studies.rc4d import sketches
from motecrypt.studies.rc4d.claims import claims
from motecrypt.studies.rc4d.figures import (
    LETTERS,
    Measured,
    Printed,
    VariantFigure,
    VariantFigures,
    figures,
    printed,
)
from motecrypt.studies.rc4d.sketches import AuthorFigure, Authors, joined, sketch_of
from motecrypt.studies.words import words

ORDER = 10
TITLE = "RC4D on an Arduino UNO"
SOURCE = words("rc4d").source

TABLE = "Type, time, space"
CLAIMS = "Claims"

#: The source's columns, and our counterparts.
PROBES = {
    "AES": FeatureQuestion("aes128-ecb", "small"),
    "RC4": FeatureQuestion("rc4", "opt"),
    "RC4 k": FeatureQuestion("rc4", "k-opt"),
    "RC4D": FeatureQuestion("rc4d", "opt"),
    "RC4D k": FeatureQuestion("rc4d", "k-opt"),
    "two keys": FeatureQuestion("rc4d-two-key", "k-opt"),
}
ATTACK = AuditQuestion("rc4d", "attack:rc4d-chosen-plaintext", quick=True)

#: What the source prints of them: payload in bytes, key in bytes, diffusion.
PRINTED_FEATURES = {
    "AES": ("16", "16", "block"),
    "RC4": ("any", "any", "none"),
    "RC4 k": ("any", "16", "none"),
    "RC4D": ("any", "any", "full"),
    "RC4D k": ("any", "16", "full"),
}
FEATURE_NAMES = ("payload", "key length", "diffusion")

COMPILER = Tolerance(0.05, 0.0, "compiler: another release changes these programs by some per cent")
MEMORY = Tolerance(0.0, 0.0, "counted in bytes")
#: By column: the printed figure, its unit and the tolerance.
_COLUMNS = {
    "time": ("time_ms", "ms", COMPILER),
    "flash": ("flash_bytes", "bytes", COMPILER),
    "RAM": ("ram_bytes", "bytes", MEMORY),
    "EEPROM": ("eeprom_bytes", "bytes", MEMORY),
}


def comparisons(results: Results) -> list[Comparison]:
    """Every figure, feature and claim of the source next to ours."""
    found = figures(results)
    features, authors = _features(results), Authors.stored(results)
    return [
        *_table(found, authors),
        *_feature_rows(features),
        *_claim_rows(results, found, features, authors),
    ]


def sketch_questions() -> list[SketchQuestion]:
    """The rows that `reproduce rc4d --sketch ROW=FILE` fills with the author's code."""
    return sketches.questions()


def sections(results: Results) -> list[Section]:
    """The table, our variants, the features and the claims, for people."""
    found = figures(results)
    features, authors = _features(results), Authors.stored(results)
    return [
        _table_section(found),
        _sketch_section(authors),
        _variants_section(found),
        _feature_section(features),
        _claim_section(_claim_rows(results, found, features, authors)),
    ]


# --- the table --------------------------------------------------------------------------------------


def _table(found: VariantFigures, authors: Authors) -> list[Comparison]:
    rows: list[Comparison] = []
    for row in printed():
        fastest = found.fastest(row.cipher, row.letters)
        smallest = found.smallest(row.cipher, row.letters)
        name = (row.cipher, row.letters, row.style)
        rows += _figure_rows(row, "time", fastest, found, authors.time_ms(*name))
        rows += _figure_rows(row, "flash", smallest, found, authors.flash_bytes(*name))
        # Of RAM and EEPROM the source prints only what is additional.
        if row.ram_bytes:
            rows += _figure_rows(row, "RAM", smallest, found, authors.ram_bytes(*name))
        # The sketches state no EEPROM: they write it when they run.
        rows += _figure_rows(row, "EEPROM", smallest, found) if row.eeprom_bytes else []
    return rows


def _figure_rows(
    row: Printed,
    column: str,
    ours: VariantFigure | None,
    found: VariantFigures,
    author: AuthorFigure | None = None,
) -> list[Comparison]:
    """The printed figure next to the author's code, and derived from it next to ours; without the author's
    code next to ours alone."""
    attribute, unit, room = _COLUMNS[column]
    name = "-".join(("rc4d-table", row.cipher, row.letters or "base", row.style, column.lower()))
    published, said, rows = float(getattr(row, attribute)), words("rc4d"), []
    place = {"name": name, "printed": row, "figure": column, "unit": unit, "tolerance": room}
    if author is not None:
        sketch = {
            "sketch": sketch_of(row),
            "here": author.run_here,
            "recorded": sketches.provenance()["recorded"],
        }
        rows.append(
            said.row(
                "sketch",
                **place | sketch,
                published=published,
                measured=author.value,
                like_for_like=author.like_for_like,
                eeprom=row.letters == "kipe",
            )
        )
    rows.append(
        said.row(
            "figure",
            **place,
            published=published,
            measured=None if ours is None else round(float(getattr(ours, attribute)), 1),
            kind="figure" if author is None else "derived",
            derived_from=() if author is None else (name,),
            derived=author is not None,
            reason=found.why(row.cipher, row.letters),
            ours=ours,
            once=ours is not None and column == "time" and row.cipher == "aes128-ecb",
        )
    )
    return rows


def _table_section(found: VariantFigures) -> Section:
    rows = []
    for row in printed():
        fastest = found.fastest(row.cipher, row.letters)
        smallest = found.smallest(row.cipher, row.letters)
        if fastest is None or smallest is None:
            rows.append([row.label, f"{row.time_ms:.0f}", *("",) * 3, str(row.flash_bytes), *("",) * 6])
            continue
        rows.append(
            [
                row.label,
                f"{row.time_ms:.0f}",
                f"{fastest.time_ms:.0f}",
                f"{fastest.time_ms / row.time_ms:.2f}",
                fastest.variant,
                str(row.flash_bytes),
                str(smallest.flash_bytes),
                f"{smallest.flash_bytes / row.flash_bytes:.2f}",
                smallest.variant,
                *(str(smallest.ram_bytes), str(smallest.eeprom_bytes), str(smallest.stack_bytes)),
            ]
        )
    return words("rc4d").section("table", rows)


def _sketch_section(authors: Authors) -> Section:
    """Printed figures next to the author's code, row by row."""
    rows = []
    for row in printed():
        name = (row.cipher, row.letters, row.style)
        time, flash, ram = authors.time_ms(*name), authors.flash_bytes(*name), authors.ram_bytes(*name)
        rows.append(
            [
                *(row.label, sketch_of(row), f"{row.time_ms:.0f}", f"{time.value:.0f}"),
                *(f"{time.value / row.time_ms:.3f}", str(row.flash_bytes), f"{flash.value:.0f}"),
                *(f"{flash.value / row.flash_bytes:.3f}", str(row.ram_bytes), f"{ram.value:.0f}"),
                "here" if joined(max, time, flash, ram).run_here else "recorded",
            ]
        )
    noop = ", ".join(sketches.noop_rows())
    return words("rc4d").section("sketches", rows, of=sketches.provenance(), noop=noop)


def _variants_section(found: VariantFigures) -> Section:
    by_row = {(row.cipher, row.letters): row for row in printed() if row.style == "opt"}
    by_row |= {(row.cipher, row.letters): row for row in printed() if row.style == "plain"}
    rows = []
    for figure in sorted(found.of.values(), key=_place):
        row = by_row.get(("rc4d" if figure.cipher.startswith("rc4d") else figure.cipher, figure.letters))
        rows.append(
            [
                figure.cipher,
                figure.variant,
                f"{figure.time_ms:.0f}",
                f"{figure.time_ms / row.time_ms:.2f}" if row else "",
                *map(str, (figure.flash_bytes, figure.ram_bytes, figure.eeprom_bytes, figure.stack_bytes)),
            ]
        )
    failed = "".join(f" Not run: {' '.join(name)}: {reason}." for name, reason in found.failed.items())
    return words("rc4d").section("variants", rows, failed=failed)


def _place(figure: VariantFigure) -> tuple[str, int, str]:
    return figure.cipher, LETTERS.index(figure.letters), figure.variant


# --- features ---------------------------------------------------------------------------------------


def _features(results: Results) -> dict[str, Features]:
    stored = {name: probe.answer(results) for name, probe in PROBES.items()}
    return {name: found for name, found in stored.items() if found is not None}


def _feature_rows(features: Mapping[str, Features]) -> list[Comparison]:
    rows = []
    for name, values in PRINTED_FEATURES.items():
        for feature, published in zip(FEATURE_NAMES, values, strict=True):
            if name not in features:
                rows.append(_feature_row(name, feature, published, None, published, ""))
                continue
            measured, expected, note = _feature(features[name], feature, published)
            rows.append(_feature_row(name, feature, published, measured, expected, note))
    return rows


def _feature_row(
    name: str, feature: str, published: str, measured: str | None, expected: str, note: str
) -> Comparison:
    return words("rc4d").row(
        "feature",
        name=f"{name}-{feature}".lower().replace(" ", "-"),
        cipher=name,
        feature=feature,
        diffusion=feature == "diffusion",
        published=published,
        measured=measured,
        expected=expected,
        note=note,
    )


def _feature(found: Features, feature: str, published: str) -> tuple[str, str, str]:
    """What was found, in which words the paper would have it, and what to know of it."""
    if feature == "diffusion":
        measured = str(found.diffusion)
        lengths = ", ".join(map(str, found.diffusion_lengths))
        note = f"every plaintext bit changed, at {lengths} bytes"
        if measured == "block":
            note += f"; blocks of {found.block_bytes} bytes"
        return measured, published, note
    if feature == "key length":
        if published == "any":
            return str(found.keys), "5 to 256", "40 to 2048 bits, as the source says of RC4"
        return str(found.keys), published, ""
    note = ""
    if found.identity_bytes:
        note = f"a message of {found.identity_bytes[0]} byte is sent as itself"
    if published == "16":
        return str(found.messages), "multiples of 16", "one block or more, in ECB"
    return str(found.messages), published, note


def _feature_section(features: Mapping[str, Features]) -> Section:
    rows = _feature_rows(features)
    lines = [[r.row, r.column, _plain(r.published), _plain(r.measured), r.verdict, r.note] for r in rows]
    return words("rc4d").section("features", lines, two=features.get("two keys"))


# --- claims -----------------------------------------------------------------------------------------


def _claim_rows(
    results: Results, found: VariantFigures, features: Mapping[str, Features], authors: Authors
) -> list[Comparison]:
    evidence = Measured(
        source=SOURCE,
        table=CLAIMS,
        figures=found,
        features=features,
        attack=ATTACK.answer(results),
        printed_key=PRINTED_FEATURES["RC4D"][1],
    )
    return claims(evidence, authors)


def _claim_section(rows: Sequence[Comparison]) -> Section:
    lines = [[r.row, _plain(r.published), _plain(r.measured), r.verdict, r.note] for r in rows]
    return words("rc4d").section("claims", lines)


def _plain(value: float | str | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:g}"
