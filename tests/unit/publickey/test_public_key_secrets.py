"""Whether secrets steer public-key operations: what is marked, what is seen, and the verdicts."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import run
from motecrypt.adviser.publickey.rows import recorded
from motecrypt.adviser.publickey.secrets import (
    CAUSES,
    CLEAN,
    TaintRow,
    by_operation,
    causes,
    secrets_text,
    taint_rows,
    taint_text,
    timing_verdict,
)
from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.catalog.publickey import read_public_key_folder
from motecrypt.measuring.audits.public_keys import follow, secret_parts
from tool_sets import needs_tool_set

CATALOG = Catalog.load()
TOY = Path(__file__).resolve().parents[3] / "examples" / "toydh"
CLEAN_ROW = TaintRow("x25519", "agree", "monocypher", CLEAN, (), 0, "2026-01-02")
VARIES = next(
    row
    for row in recorded()
    if (row.device, row.algorithm, row.operation, row.implementation)
    == ("pico", "x25519", "agree", "monocypher")
)


def test_what_nobody_may_know_is_marked() -> None:
    assert secret_parts(CATALOG.public_key("x25519"), "agree") == [(0, 32)]
    assert secret_parts(CATALOG.public_key("x25519"), "keygen") == [(0, 32)]
    assert secret_parts(CATALOG.public_key("ed25519"), "verify") == []
    lattice = CATALOG.public_key("ml-kem-512")
    assert secret_parts(lattice, "encapsulate") == [(800, 32)], "the randomness, after the public key"
    assert secret_parts(lattice, "decapsulate") == [(0, 768), (1600, 32)], "not the public key and its hash"
    assert secret_parts(CATALOG.public_key("rsa2048"), "sign") == [(4, 124), (132, 508)]


@pytest.mark.parametrize("wrong", ["[0]", "[-1, 2]", "[0, 0]", "[0, 5]", "[4, 1]"])
def test_a_part_outside_the_secret_key_is_refused(tmp_path: Path, wrong: str) -> None:
    text = (TOY / "algorithm.toml").read_text()
    before = 'operations = ["keygen", "agree"]\nsizes'
    assert before in text
    changed = f'operations = ["keygen", "agree"]\npublic_in_secret = {wrong}\nsizes'
    (tmp_path / "algorithm.toml").write_text(text.replace(before, changed))
    with pytest.raises(InputError, match=r"'public_in_secret' is .*expected offset and bytes, in turns"):
        read_public_key_folder(tmp_path, ["cortex-m4"])


@needs_tool_set("taint")
def test_memcheck_sees_what_a_secret_steers(tmp_path: Path) -> None:
    clean = Catalog.load(public_keys=[TOY])
    for body in clean.public_key_implementations_of("toydh", "host"):
        assert follow(clean, clean.public_key("toydh"), body).verdict == CLEAN
    folder = tmp_path / "toydh"
    shutil.copytree(TOY, folder)
    code, before = (TOY / "toydh.c").read_text(), "bit < 32; bit++"
    assert before in code
    (folder / "toydh.c").write_text(code.replace(before, "bit < 32 && exponent >> bit; bit++"))
    catalog = Catalog.load(public_keys=[folder])
    algorithm = catalog.public_key("toydh")
    bodies = {body.operations[0]: body for body in catalog.public_key_implementations_of("toydh", "host")}
    seen = follow(catalog, algorithm, bodies["agree"])
    assert seen.verdict == "secrets choose branches" and not seen.public
    assert {one.kind for one in seen.sightings} == {"branch"}
    assert all("toydh.c:" in one.line for one in seen.sightings)
    excused = replace(algorithm, public_functions=tuple(one.function for one in seen.sightings))
    again = follow(catalog, excused, bodies["agree"])
    assert again.verdict == CLEAN and again.public and not again.sightings


def test_the_verdict_names_who_is_to_blame() -> None:
    found, known = by_operation([CLEAN_ROW]), causes()

    def told(**changes: object) -> tuple[str, str]:
        one = timing_verdict(replace(VARIES, **changes), found, known)  # type: ignore[arg-type]
        return one.verdict, one.cause

    assert told(timing_varies=False) == ("constant", "")
    assert told(operation="verify")[0] == "public"
    assert told()[0] == "compiler" and "__aeabi_lmul" in told()[1]
    assert told(device="stm32f4") == ("unknown", "not found yet")
    assert told(implementation="other") == ("unknown", "not found yet"), "nobody followed its secrets"
    steered = replace(CLEAN_ROW, verdict="secrets choose branches", places=("branch in f (f.c:1)", "1 more"))
    one = timing_verdict(VARIES, by_operation([steered]), known)
    assert (one.verdict, one.cause) == ("source", "branch in f (f.c:1); 1 more")
    assert one.cycles_range == (VARIES.cycles_max or 0) - (VARIES.cycles_min or 0) > 0


def test_every_variation_that_is_recorded_has_a_cause() -> None:
    found, known = by_operation(taint_rows()), causes()
    told = {timing_verdict(row, found, known).verdict for row in recorded() if row.ran}
    assert told == {"constant", "public", "source", "compiler"}
    clean = {(row.algorithm, row.implementation) for row in taint_rows() if row.verdict == CLEAN}
    assert {("x25519", "monocypher"), ("x25519", "bearssl/m15"), ("rsa2048", "bearssl/i15")} <= clean
    assert ("p256-ecdh", "micro-ecc") not in clean


def test_experiments_are_read_as_they_are_written(tmp_path: Path) -> None:
    file = tmp_path / "taint.jsonl"
    rows = [CLEAN_ROW, replace(CLEAN_ROW, places=("a", "b"), public_values=2)]
    file.write_text(taint_text(rows))
    assert taint_rows(file) == rows
    document = json.loads(file.read_text().splitlines()[0])
    file.write_text(json.dumps(document | {"places": "a"}))
    with pytest.raises(InputError, match="'places' is 'a'; expected a list"):
        taint_rows(file)


def test_a_wrong_cause_is_named(tmp_path: Path) -> None:
    file = tmp_path / "causes.toml"
    file.write_text(CAUSES.read_text().replace('kind = "compiler"', 'kind = "luck"'))
    with pytest.raises(InputError, match="'kind' is 'luck'"):
        causes(file)


def test_the_section_shows_both() -> None:
    shown = secrets_text([VARIES, replace(VARIES, timing_varies=False)], [CLEAN_ROW])
    assert f"| x25519 | agree | monocypher | {CLEAN} |  |" in shown
    assert "| pico | x25519 | agree | monocypher | secrets, by the compiler | 9,429 | the compiler's" in shown
    assert shown.count("| pico |") == 1


def test_the_command_refuses_what_it_cannot_do(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, told in (
        (["x25519", "--part", "taint"], "audited as a whole"),
        (["x25519", "--device", "pico"], "audited as a whole"),
        (["ml-dsa-44"], "no operation with a secret input"),
    ):
        code, _, error = run(capsys, "audit", *arguments)
        assert code == 2 and told in error and len(error.splitlines()) == 1
