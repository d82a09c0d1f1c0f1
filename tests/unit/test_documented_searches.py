"""docs/bounds.md has what the logs of research/ say."""

from __future__ import annotations

import re
import tomllib

from documented import DOCS

RESEARCH = DOCS.parent / "research"
SEARCH, TUNE = ((RESEARCH / name / "log.txt").read_text(encoding="utf-8") for name in ("search", "tune"))
PAGE = (DOCS / "bounds.md").read_text(encoding="utf-8")


def test_the_proof_of_the_page_is_in_the_log() -> None:
    """The longest takes minutes, so its line is compared."""
    none = r"double: (\d) instructions: [\d,]+ beginnings tried, 0 sequences right, 0 nearly"
    lengths = [int(length) for length in re.findall(none, SEARCH)]
    assert lengths == list(range(2, max(lengths) + 1))
    assert f"none of up to {max(lengths)} instructions (constants" in PAGE
    assert f"Doubling cannot take fewer than {max(lengths) + 1} (" in PAGE


def test_the_page_has_the_seeds_of_the_log() -> None:
    for kernel, best in (("double", 6), ("mix", 13), ("mix-high", 14)):
        rows = re.findall(
            rf"^{kernel}: seed (\d): ([\d,]+) candidates, [\d,]+ right, from \d+ to (\d+)", SEARCH, re.M
        )
        assert {int(to) for _, _, to in rows} == {best}
        (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{kernel}`")]
        assert f"seeds 1 to {len(rows)}, " in row
        (candidates,) = {count for _, count, _ in rows}
        assert candidates in row or f"{int(candidates.replace(',', '')) // 1_000_000} million" in row


def test_the_page_has_the_kernels_and_cycles_of_the_log() -> None:
    section = PAGE.partition("## A search for orders, registers and layouts")[2]
    runs = re.findall(
        r"^(\S+) on (\S+): seed 1: ([\d,]+) steps.* from ([\d,]+) to ([\d,]+) cycles", TUNE, re.M
    )
    told = {}
    for kernel, device, steps, before, after in runs:
        told.setdefault(kernel, f"| `{kernel}` | {device} | {steps} | {before} | {after} |")
    assert set(told) == set(tomllib.loads((RESEARCH / "tune" / "kernels.toml").read_text(encoding="utf-8")))
    assert all(row in section for row in told.values())
    layouts = re.findall(r"^(\S+) on stm32f4-168: .* from ([\d,]+) to ([\d,]+) cycles", TUNE, re.M)
    assert len(layouts) == 3
    for kernel, before, after in layouts:
        assert re.search(rf"`{kernel}`\s(takes\s)?{after}\s(cycles\s)?for\s{before}", section), kernel
