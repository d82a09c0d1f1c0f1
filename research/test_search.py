"""What is proved and found for a kernel whose shortest code is known, and the judge."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.catalog import FIRMWARE
from motecrypt.results import Results
from tool_sets import skip_without

FOLDER = Path(__file__).resolve().parent / "search"
LOG = (FOLDER / "log.txt").read_text(encoding="utf-8")


def _program() -> ModuleType:
    name = "search_main"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, FOLDER / "main.py")
        assert spec is not None and spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


search = _program()
KERNELS = search.kernels()
SUM, DOUBLE = KERNELS["sum"], KERNELS["double"]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    skip_without("host")
    folder = tmp_path_factory.mktemp("search")
    yield {name: search.compiled(name, folder) for name in ("climb", "prove")}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=lambda kernel: kernel.name)
def test_code_becomes_numbers_and_code_again(kernel: object) -> None:
    code = kernel.code  # type: ignore[attr-defined]
    assert [search.decoded(kernel, search.encoded(kernel, line)) for line in code] == list(code)


@pytest.mark.parametrize(
    "line",
    [
        *("lsls x, sixteen", "lsrs x, t", "lsrs t, x, #31", "asrs t, x, #1", "adds t, x, eight"),
        *("subs x, t, x", "rsbs t, x, #0", "revsh x, t", "bics t, t", "rors x, sixteen"),
    ],
)
def test_each_form_of_instruction_becomes_numbers_and_itself_again(line: str) -> None:
    assert search.decoded(SUM, search.encoded(SUM, line)) == line


def test_the_shortest_known_code_is_proved_to_be_the_shortest(programs: dict[str, Path]) -> None:
    """Three instructions are not enough for the sum of four bytes, four are."""
    three, four = (search.prove(SUM, length, programs["prove"]) for length in (3, 4))
    assert (three.right, three.nearly) == (0, 0) and three.tried > 100_000
    assert four.right > 0 and four.nearly == 0


def test_the_shortest_known_code_is_found_and_equal_seeds_find_the_same(programs: dict[str, Path]) -> None:
    found = [search.climb(SUM, seed, 200_000, programs["climb"]) for seed in (1, 1, 2)]
    assert len(found[0].code) == 4 < len(SUM.code)
    assert (found[0].code, found[0].right) == (found[1].code, found[1].right)
    assert found[0].right != found[2].right


def test_wrong_code_is_not_begun_with(programs: dict[str, Path]) -> None:
    wrong = replace(SUM, code=(*SUM.code[:-1], "ands x, t"))
    with pytest.raises(MotecryptError, match="the sequence to begin with is wrong"):
        search.climb(wrong, 1, 1000, programs["climb"])


def test_a_high_register_is_only_moved_and_added(programs: dict[str, Path]) -> None:
    found = search.climb(KERNELS["mix-high"], 1, 20_000, programs["climb"])
    assert len(found.code) <= len(KERNELS["mix-high"].code)
    for line in found.code:
        assert "highest" not in line or line.startswith(("mov ", "add "))


def test_the_log_has_what_the_search_finds(programs: dict[str, Path]) -> None:
    """The first lines of the proof and of the climb, run again."""
    for length in (2, 3):
        proof = search.prove(DOUBLE, length, programs["prove"])
        told = (
            f"double: {length} instructions: {proof.tried:,} beginnings tried, {proof.right} sequences right"
        )
        assert told in LOG, told
    (steps, right) = re.search(
        r"double: seed 1: ([\d,]+) candidates, ([\d,]+) right, from 7 to 6", LOG
    ).groups()  # type: ignore[union-attr]
    found = search.climb(DOUBLE, 1, int(steps.replace(",", "")), programs["climb"])
    assert (f"{found.right:,}", len(found.code)) == (right, 6)


def source() -> str:
    return (FIRMWARE / "ciphers" / DOUBLE.source).read_text(encoding="utf-8")


def test_the_kernels_lines_are_those_of_the_cipher() -> None:
    hand = [line.replace("\\x", "x") for line in DOUBLE.lines]
    assert search.replaced(DOUBLE, source(), ("movs x, t",)).count("    movs \\x, SUM\n") == 1
    assert len(hand) == 6 and all(line in source() for line in DOUBLE.lines)


def test_code_that_needs_another_register_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"'ands t, s' needs s, which aes/aes_armv6m_small.S has in no register"
    ):
        search.replaced(DOUBLE, source(), ("ands t, s",))
    with pytest.raises(InputError, match="are there 0 times"):
        search.replaced(replace(DOUBLE, lines=("nop",)), source(), ("movs x, t",))


@pytest.mark.parametrize(("last", "status"), [("eors x, t", "ok"), ("orrs x, t", "wrong-output")])
def test_the_judge_measures_the_cipher_with_the_candidate(last: str, status: str, tmp_path: Path) -> None:
    skip_without("pico")
    code = ("lsrs t, x, #7", "ands t, lowest", "muls t, reduction", "adds x, x, x", "bics x, lowest", last)
    with Results(tmp_path / "results.db") as results:
        found = {m.operation: m for m in search.judge(DOUBLE, code, results, tmp_path)}
    assert found["encrypt"].status == status
    assert status != "ok" or (found["encrypt"].cycles_min == found["encrypt"].cycles_max)


def test_the_kernels_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert search.main(["--list"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in KERNELS)
    with pytest.raises(SystemExit) as stop:
        search.main(["nothing"])
    assert stop.value.code == 2


@pytest.mark.parametrize(
    "words",
    [
        *(
            ["--steps", "0"],
            ["--steps", "-5"],
            ["--steps", "10000000001"],
            ["--prove", "1"],
            ["--prove", "7"],
        ),
        *(["--seed", "-1"], ["--seed", str(2**64)], ["--seed", "1_0"]),
    ],
)
def test_numbers_that_the_search_cannot_take_are_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        search.main(["sum", f"{words[0]}={words[1]}"])
    assert (
        ended.value.code == 2 and f"argument {words[0]}: {words[1]}: give a whole" in capsys.readouterr().err
    )


def test_a_search_that_takes_too_long_is_one_line(
    programs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "TIMEOUT_S", 0.05)
    with pytest.raises(MotecryptError, match=r"^sum: stopped after 0\.05 s; search less$"):
        search.climb(SUM, 1, 5_000_000_000, programs["climb"])
