"""`advise --need power-resistance`: only protected code, by what its strongest attacker needs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import run
from motecrypt.adviser import protection
from motecrypt.adviser.model import Advice, Entry
from motecrypt.adviser.protection import Resistance, by_resistance, factor_of, read_resistances
from motecrypt.adviser.rank import ORDER
from motecrypt.base.errors import InputError
from tool_sets import needs_tool_set
from unit.advise.test_exact_gather import FAST

ASKED = ("--device", "uno", "--radio", "srf", "--bytes", "20", "--every", "10s", "--battery", "3xAA")
ROWS = (
    Resistance("uno", "plain", "correlation", 0.5, 10, 500, 100),
    Resistance("uno", "masks", "pairs", 0.5, 10, 5000, 2500),
    Resistance("uno", "masks", "table", 0.5, 10, 500, 120),
    Resistance("uno", "order", "pairs", 0.5, 10, 9000, None),
    Resistance("uno", "order", "table", 0.5, 10, 5000, 1600),
    Resistance("uno", "strong", "table", 0.5, 10, 3000, None),
    Resistance("uno", "order", "table", 0.1, 10, 5000, 1),
)


def test_the_strongest_attacker_counts() -> None:
    found = {name: factor_of(ROWS, name) for name in ("masks", "order", "strong", "plain")}
    assert [one.text for one in found.values() if one] == [
        "1.2 times",
        "16 times",
        "more than 30 times",
        "1.0 times",
    ]
    assert found["order"] is not None and found["order"].attacker == "table"
    assert factor_of(ROWS, "unknown") is None and factor_of(ROWS[1:], "masks") is None
    assert factor_of(ROWS, "plain", 0.1) is None


def entry(variant: str, rank: int, security: str = "recommended") -> Entry:
    from motecrypt.adviser.gather import candidate
    from motecrypt.catalog import Catalog

    cipher = replace(Catalog.load().cipher("aes128-ccm8"), security=security)  # type: ignore[arg-type]
    made = candidate(cipher, replace(FAST, variant=variant), 128, "flash", "none")
    return Entry(rank, made, None, 0.0, 0.0, "because")  # type: ignore[arg-type]


def test_ranks_go_by_security_then_by_resistance() -> None:
    names = (
        ("masks", "recommended"),
        ("unknown", "recommended"),
        ("strong", "legacy"),
        ("order", "recommended"),
    )
    entries = tuple(entry(name, rank, security) for rank, (name, security) in enumerate(names, start=1))
    answer = by_resistance(Advice("", entries, (), ("a note",), None, 0.0, 0.0), ROWS, ORDER)
    variants = [one.candidate.implementation.rpartition("/")[2] for one in answer.entries]
    assert variants == ["order", "masks", "unknown", "strong"]
    assert [one.rank for one in answer.entries] == [1, 2, 3, 4]
    assert answer.entries[0].reason == "16 times the traces of unprotected code at SNR 0.5; because"
    assert answer.entries[2].reason == "not attacked; because"
    assert answer.notes == (protection.LIMITS, "a note") and answer.warnings == (protection.LIMITS,)
    assert "not a proof" in protection.LIMITS and "two samples" in protection.LIMITS


def test_the_shipped_rows_cover_every_protected_variant() -> None:
    from motecrypt.catalog import Catalog

    rows = read_resistances()
    for variant in {body.variant for body in Catalog.load().protected}:
        assert factor_of(rows, variant) is not None
    for core in ("avr", "armv6m"):
        shuffled, in_order = (factor_of(rows, f"{core}-masked{end}") for end in ("", "-in-order"))
        assert shuffled is not None and in_order is not None
        assert shuffled.factor > 4 * in_order.factor


def test_the_pages_numbers_of_traces_are_the_shipped_ones() -> None:
    rows = read_resistances()
    page = (Path(__file__).resolve().parents[3] / "docs/protection.md").read_text()
    for device, variant in {(row.device, row.variant): None for row in rows}:
        own = {row.attacker: row for row in rows if row.variant == variant}
        cells = []
        for attacker in ("correlation", "pairs", "table"):
            row = own.get(attacker)
            text = "" if row is None else f"{row.traces or row.most:,}"
            cells.append(f"more than {text}" if row is not None and row.traces is None else text)
        factor = factor_of(rows, variant)
        assert factor is not None
        line = next(one for one in page.splitlines() if f"{device}, `{variant}`" in one and "times |" in one)
        assert [cell.strip() for cell in line.split("|")][4:-1] == [*cells, factor.text]


def test_the_shipped_file_is_as_it_is_written() -> None:
    assert protection.resistances_as_text(protection.resistances()) == protection.FILE.read_text()


def test_a_row_with_an_unknown_word_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "protection.toml"
    names = '[[resistance]]\ndevice = "uno"\nvariant = "a"\nattacker = "pairs"\n'
    text = f"{names}snr = 0.5\nexperiments = 1\nmost = 2\n"
    file.write_text(text)
    assert read_resistances(file) == (Resistance("uno", "a", "pairs", 0.5, 1, 2, None),)
    file.write_text(text + "more = 1\n")
    with pytest.raises(InputError, match="more"):
        read_resistances(file)


@needs_tool_set("avr")
def test_the_command_ranks_protected_code_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, "advise", *ASKED, "--need", "power-resistance", "--json", "--db", tmp_path / "r.db"
    )
    assert code == 0
    told = json.loads(out)
    named = [one["implementation"] for one in told["ranked"]]
    assert len(named) >= 6 and all(name.startswith("motecrypt/avr-masked") for name in named)
    assert named[0] == "motecrypt/avr-masked"
    resistance = told["power_resistance"]
    assert resistance["limits"] == protection.LIMITS and resistance["snr"] == 0.5
    assert len(resistance["ranks"]) == len(named)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--need", "replay,power-resistance"), "has no protected variant; omit replay"),
        (("--need", "power"), "unknown; choose from"),
        (("--need", "power-resistance", "--cipher", "ascon-aead128"), "no protected implementation fits uno"),
    ],
)
def test_bad_input_is_one_line(
    options: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "advise", *ASKED, *options)
    assert (code, out) == (2, "") and told in err and err.count("\n") == 1
