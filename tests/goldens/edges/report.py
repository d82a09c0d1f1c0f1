"""What the report makes of few and odd results."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

from goldens.text import digest, plain, told_cost, told_figure
from motecrypt.base.model import ExperimentResult, Measurement
from motecrypt.catalog import Catalog
from motecrypt.present.report import charts, content, explorer, page, sources, tables, tiles
from motecrypt.present.report.costs import join
from motecrypt.studies import highlights
from motecrypt.studies.claim_ids import ClaimId
from motecrypt.studies.counts import KINDS, VERDICTS, facts, sentences, tally
from motecrypt.studies.facts import Comparison, Tolerance


def _comparisons(random: Random, count: int) -> list[Comparison]:
    """Rows with and without numbers, of few tables, columns and units."""
    values: tuple[Any, ...] = (None, "a", 0.0, 1.0, 2.0, 3.0, 4)
    rows = []
    for number in range(count):
        published, measured = random.choice(values), random.choice((*values[1:], None))
        named = random.choice(("", "", *ClaimId))
        if named:  # the results quote these: they have a number in the paper
            published = random.choice((2.0, 3.0))
        rows.append(
            Comparison(
                source="Someone",
                table=random.choice(("table 1", "table 1", "claims", "Claims of all", "")),
                row=f"row {random.randrange(count)}" if number % 2 else f"row {number}",
                column=random.choice(("time", "this host, size", "x")),
                unit=random.choice(("", "ms", "ms")),
                published=published,
                measured=measured,
                ratio=random.choice((None, 0.0, -1.0, 0.5, 2.0, 1.0, 2.5)),
                verdict=random.choice(VERDICTS),
                note=random.choice(("", "for a reason")),
                brief=random.choice(("", "in brief")),
                figures=random.choice(({}, {}, {"warm_us": random.choice((0.6, 1.0, 2.0, 2.4))})),
                id=f"row-{number}",
                topic=named,
                kind=random.choice(KINDS),
                better=random.choice((None, False, True)),
                like_for_like=random.choice(("author's code", "same algorithm, ours", "other")),
                tolerance=random.choice((None, Tolerance(), Tolerance(0.05), Tolerance(0.1, 2.0, "model"))),
            )
        )
    return rows


def _measurements(random: Random, count: int) -> list[Measurement]:
    """Of few ciphers, devices and lengths; some failed, some twice."""
    made = []
    nothing: dict[str, Any] = dict.fromkeys(Measurement.__dataclass_fields__)
    for _ in range(count):
        status = random.choice(("ok", "ok", "ok", "does-not-fit", "fault"))
        short = {"memory": random.choice(("ram", "flash", "message")), "needed": 9, "available": 8}
        cycles = random.choice((None, 10, 10, 20))
        given: dict[str, Any] = {
            "device": random.choice(("uno", "uno", "pico", "host", "gone")),
            "library": random.choice(("motecrypt", "other")),
            "configuration": "",
            "cipher": random.choice(("aes128-cbc", "aes128-ccm8", "rc4", "ascon-aead128", "empty")),
            "variant": random.choice(("fast", "small")),
            "key_bits": 128,
            "operation": random.choice(("setup", "encrypt", "encrypt", "encrypt", "decrypt")),
            "message_bytes": random.choice((0, 16, 16, 32, 48, 15)),
            "ad_bytes": random.choice((0, 0, 0, 8)),
            "placement": random.choice(("flash", "ram")),
            "cache": random.choice(("", "none", "warm", "cold")),
            "cycles_min": cycles,
            "cycles_max": random.choice((cycles, cycles, 21)),
            "time_us": random.choice((1.0, 2.0, 2.0, 30.0, 0.125)) if status == "ok" else None,
            "timing_varies": random.choice((None, False, False, True)),
            "flash_bytes": random.choice((None, 900, 1000)),
            "ram_bytes": random.choice((None, 0, 30)),
            "stack_bytes": random.choice((None, 10, 20)),
            "status": status,
            "reason": "" if status == "ok" else random.choice(("", "too large", "broke")),
            "compiler": random.choice(("", "gcc 5", "gcc 14")),
            "flags": random.choice(("-Os", "-O2 -mmcu=x", "-O3 -flto -g")),
            "flags_asked": random.choice(("", "", "-O2")),
            "runner": random.choice(("simavr 1", "board 1", "")),
            "cycles_exact": random.choice((True, True, False)),
            "measured_at": random.choice(("2026-01-02T00", "2026-01-01T00", "2026-03-01T00")),
            "extra": {"shortfall": short} if status == "does-not-fit" else {},
        }
        made.append(Measurement(**{**nothing, **given}))
    return made


def _audits(random: Random) -> list[Any]:
    """Results of audits, some of no shape."""
    found = []
    for number in range(random.randrange(2, 9)):
        data: dict[str, Any] = {}
        if random.random() < 0.6:
            matrix = {"input": "key", "input_bytes": 1, "output_bytes": 2}
            matrix["percent_changed_by_input_bit_and_output_byte"] = [[n, 100 - n] for n in range(8)]  # type: ignore[assignment]
            data = {random.choice(("encrypt", "tag", "odd")): {"matrix": matrix}}
        part = random.choice(("diffusion", "integrity", "attack:ciphertext", "attack:x"))
        outcome: dict[str, Any] = {
            "title": f"T{number}",
            "verdict": "v",
            "weight": random.choice(("bad", "good", "bad", "odd")),
            "sentences": random.choice(([], ["It falls."], ["It falls, " + "and more, " * 40])),
            "data": data,
        }
        inputs = {"cipher": random.choice(("rc4", "aes128-cbc")), "part": part, "implementation": "i"}
        if random.random() < 0.5:
            inputs["quick"] = True  # type: ignore[assignment]
        found.append(ExperimentResult("audit", 1, inputs, outcome, f"2026-02-0{number + 1}T00:00"))
    return found


def report_edges() -> dict[str, Any]:
    """What the report makes of few and odd results."""
    catalog = Catalog.load()
    said, rows, words, figures, seen = [], [], [], [], []
    for number in range(40):
        random = Random(f"report {number}")
        measurements = _measurements(random, random.choice((0, 1, 4, 30, 80)))
        costs = join(measurements, catalog.devices)
        table = explorer.ExplorerTable(catalog)
        table.add(costs)
        audits = _audits(random)
        by_cipher = content._audits(SimpleNamespace(experiments=lambda kind, audits=audits: audits))  # type: ignore[arg-type]
        ciphers = [
            content._cipher(cipher, [c for c in costs if c.cipher == name], by_cipher.get(name, []), [])
            for name, cipher in catalog.ciphers.items()
            if name in ("aes128-cbc", "aes128-ccm8", "rc4", "ascon-aead128")
        ]
        all_seen = content._Seen()
        all_seen.add(measurements[: len(measurements) // 2])
        all_seen.add(measurements[len(measurements) // 2 :])
        seen.append(
            [
                all_seen.first,
                all_seen.last,
                content._devices(all_seen, catalog)
                and [
                    [d.device.name, d.cells, d.failed, d.runners, d.compilers]
                    for d in content._devices(all_seen, catalog)
                ],
                [name for name, *_ in content._libraries(all_seen, catalog)],
            ]
        )
        rows.append(table.whole())
        said.append(
            [
                [
                    c.cipher.name,
                    c.message_bytes,
                    c.lengths,
                    c.measured,
                    sorted(c.best),
                    len(c.costs),
                    plain(c.audit),
                ]
                for c in ciphers
            ]
        )
        said[-1] += [[told_cost(cost, catalog) for cost in part.costs] for part in ciphers]
        drawn = [figure for part in ciphers for figure in part.figures]
        drawn += content._front_figures(ciphers, catalog)
        figures.append([told_figure(figure) for figure in drawn])
        compared = {
            name: _comparisons(random, random.choice((2, 9, 60))) for name in ("rc4d", "rf", "pico", "wlan")
        }
        module = SimpleNamespace(TITLE="t", SOURCE="s")
        parts = []
        for name, own in compared.items():
            counts = Counter(row.verdict for row in facts(own))
            parts.append(
                sources.SourcePart(
                    name,
                    f"T {name}",
                    "s",
                    "c",
                    sources._words(own, "do it"),
                    {v: counts.get(v, 0) for v in VERDICTS},
                    sources._told(own),
                    [],
                    own,
                    [],
                )
            )
            figures[-1] += [told_figure(figure) for figure in sources._paired(name, module, own, "c")]  # type: ignore[arg-type]
        words.append(
            [
                [[part.words, part.measured, [row.row for row in part.against]] for part in parts],
                [[t.kind, t.text, len(t.rows), len(t.table)] for t in tiles.tiles(parts, ciphers)],
                [[tally(own), *sentences(own)] for own in compared.values()],
                plain([[h.study, h.text, len(h.rows)] for h in highlights.highlights(compared)]),
                plain([[h.study, h.text] for h in highlights.highlights({"rf": compared["rf"]}, 40)]),
            ]
        )
    numbers = (None, "a", 0, 12345, 2.0, 999.5, 1000.5, 0.123456, 1e-4, 0.99e-4, -1234.5, -0.5, 12.3456)
    titled = {
        "a": {"title": "one", "x": 1},
        "b": {"title": {"text": "two"}},
        "c d": {"title": {}},
        "e": {"$schema": 1},
    }
    return {
        "report said": [digest(plain(said)), *said[3][:2]],
        "report rows": [digest(plain(rows))],
        "report words": [digest(words), *words[:6]],
        "report figures": [digest(figures), *(len(each) for each in figures)],
        "report seen": [digest(seen), *seen[:6]],
        "report numbers": [[tables.number(value), tables.number(value, 2)] for value in numbers],
        "report embedded": ["".join(page.embedded({"a": "</script>&", "b": Path("x")}))],
        "report redrawn": [
            [f.name, f.title, f.caption, f.command, dict(f.specification)]
            for f in sources._redrawn(SimpleNamespace(SOURCE="s"), titled, "c")  # type: ignore[arg-type]
        ],
        "report slugs": [sources.slug(text) for text in ("A b", "--", "µs, 3 x", "x_y")],
        "report levels": [
            charts._level(percent) for percent in (0, 0.1, 4.9, 5, 14.9, 15, 15.1, 94, 95.1, 100)
        ],
        "report rounded": [explorer._rounded(value) for value in (None, 0.0, 1.23456789, 1234567.8)],
    }
