"""The tool behind `./test mutants`: who owns what, what is drawn, and what C it makes. Without cosmic-ray."""

from __future__ import annotations

import ast
import fnmatch
import os
import queue
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from motecrypt.base.model import Implementation
from motecrypt.build.toolchain.drivers import Recipe
from motecrypt.catalog import FIRMWARE, Catalog
from mutants import cmutants, execute, jsmutants, main, owners, pythonmutants, sample
from mutants.model import KILLED, SURVIVED, Mutant, Result, Tally, edit
from tool_sets import needs_tool_set

OWNED = owners.load()
SOURCES = owners.every_source()


def test_every_source_has_an_owner_or_a_reason() -> None:
    assert set(OWNED.sources()) | {path for path in SOURCES if OWNED.excused(path)} == set(SOURCES)
    assert all(reason for reason in OWNED.left_out.values())


def test_a_pattern_has_one_owner() -> None:
    """The first would have its sources, and the tests of the other would never run for them."""
    patterns = [pattern for owner in OWNED.owners for pattern in owner.sources]
    assert [pattern for pattern in set(patterns) if patterns.count(pattern) > 1] == []


def test_what_is_left_out_is_there_and_its_tests_are() -> None:
    for pattern, tests in OWNED.left_out_tests.items():
        assert fnmatch.filter(SOURCES, pattern), f"{pattern} fits no source"
        assert [path for path in tests if not (owners.ROOT / path).exists()] == []


def test_what_has_no_mutants_has_tests() -> None:
    rest = [path for path in SOURCES if not path.endswith(owners.MUTATED)]
    assert {Path(path).suffix for path in rest} == {".S"}
    for path in rest:
        assert any(t and fnmatch.fnmatch(path, p) for p, t in OWNED.left_out_tests.items()), path


def test_a_source_without_mutants_is_not_given_an_owner() -> None:
    everything = owners.Owner("views", ("src/motecrypt/*",), ("tests/unit",))
    with pytest.raises(ValueError, match=r"no tests own .*\.(js|S)"):
        replace(OWNED, owners=(everything,), left_out={}).sources()


def test_every_test_is_named_for_a_source_or_has_a_reason() -> None:
    assert OWNED.unowned_tests() == [], "name them for a source in owners.toml, or under other_tests"
    for pattern, reason in OWNED.other_tests.items():
        fitting = fnmatch.filter(owners.every_test(), pattern)
        assert fitting and len(reason) > 20, pattern
        assert not all(map(OWNED.owns, fitting)), f"{pattern}: owns sources already"


def test_a_new_source_and_a_new_test_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    tests, sources = owners.every_test(), owners.every_source()
    monkeypatch.setattr(owners, "every_test", lambda: [*tests, "tests/unit/test_new.py"])
    assert OWNED.unowned_tests() == ["tests/unit/test_new.py"]
    for new in ("new.py", "firmware/new.c", "report/new.js"):
        monkeypatch.setattr(owners, "every_source", lambda new=new: [*sources, f"src/motecrypt/{new}"])
        with pytest.raises(ValueError, match=f"no tests own src/motecrypt/{new}"):
            OWNED.sources()


@pytest.mark.parametrize("owner", OWNED.owners, ids=lambda owner: owner.sources[0])
def test_owners_name_sources_and_tests_that_exist(owner: owners.Owner) -> None:
    for pattern in owner.sources:
        assert fnmatch.filter(SOURCES, pattern), f"{pattern} fits no source"
    for path in owner.tests:
        assert (owners.ROOT / path).exists(), path


ON_A_CHIP = ("_on_uno", "_on_pico", "_on_stm32f4", "_on_riscv", "masked", "test_poly1305")
"""Parts of the names of test files whose tests run many messages of a cipher on a simulated chip; Poly1305's
compile the code of chips for this computer."""


def test_what_only_a_chip_runs_is_owned_by_tests_that_run_it_there() -> None:
    """A measurement has a few blocks: an entry of a table may be missing from all of them."""
    catalog = Catalog.load()
    host = catalog.device("host").core
    by_host = {file for body in catalog.implementations if body.runs_on(host) for file in _files(body)}
    alone = {
        file
        for body in catalog.implementations
        if body.library == "motecrypt" and not body.runs_on(host)
        for file in _files(body) - by_host
    }
    assert len(alone) > 10
    wrong = []
    for file in sorted(alone):
        owner = OWNED.of(f"src/motecrypt/{file}")
        if owner is None or not any(part in test for test in owner.tests for part in ON_A_CHIP):
            wrong.append(file)
    assert not wrong


def _files(body: Implementation) -> set[str]:
    """Files in C of an implementation, in the folder of its cipher."""
    named = [body.folder / source for source in body.sources]
    named += [body.folder / define.split('"')[1] for define in body.defines if define.count('"') == 2]
    named.append(body.folder / body.header)
    inside = [path.resolve() for path in named if path.suffix in (".c", ".h") and path.exists()]
    return {path.relative_to(FIRMWARE.parent).as_posix() for path in inside if "ciphers" in path.parts}


def test_what_is_called_equivalent_is_still_there_and_argued() -> None:
    keys = {(e.path, e.before, e.after, e.under) for e in owners.equivalents()}
    assert len(keys) == len(owners.equivalents())
    for entry in owners.equivalents():
        text = (owners.ROOT / entry.path).read_text()
        assert entry.before in text, f"{entry.path}: no longer there: {entry.before}"
        assert entry.under in text
        assert len(entry.argument) > 20 and entry.before != entry.after, entry


def test_a_sample_is_shared_out_as_said() -> None:
    given = sample.quotas(OWNED, set(OWNED.domains), 240)
    assert sum(given.values()) == 240 == sum(domain.share for domain in OWNED.domains.values())
    assert sum(given[name] for name, domain in OWNED.domains.items() if domain.strict) >= 60
    assert sum(sample.quotas(OWNED, set(OWNED.domains), 31).values()) == 31
    assert sample.quotas(OWNED, {"link"}, 7) == {"link": 7}


C_SOURCE = """
#define NOT 1 + 1
/* a + b */
static const char *text = "a + b";
int f(int a, uint8_t *b) {
    int c = -a * 2;
    if (a < 3 && !b) {
        return 0x0f;
    }
    c |= 1;
    g(c);
    for (;;) {
        break;
    }
}
"""


def test_c_is_changed_in_its_code_alone() -> None:
    made = {
        (place.line, edit("f.c", "x", place.operator, C_SOURCE, cmutants.mutated(C_SOURCE, place)).after)
        for place in cmutants.places(C_SOURCE)
    }
    assert {line for line, _ in made} == {6, 7, 8, 10, 11, 13}
    assert {after for line, after in made if line == 6} == {
        "int c =  a * 2;",
        "int c = -a + 2;",
        "int c = -a * 3;",
        "int c = -a * 1;",
    }
    assert {after for line, after in made if line == 7} == {
        "if (a <= 3 && !b) {",
        "if (a > 3 && !b) {",
        "if (a < 4 && !b) {",
        "if (a < 2 && !b) {",
        "if (a < 3 || !b) {",
        "if (a < 3 &&  b) {",
        "if (!(a < 3 && !b)) {",
        "if (0) {",
    }
    assert {after for line, after in made if line == 8} == {"return 0x10;", "return 0x0e;"}
    assert {after for line, after in made if line == 10} >= {"c &= 1;", "c = 1;", ";", "c |= 2;"}
    assert {after for line, after in made if line in (11, 13)} == {";", "continue;"}


JS_SOURCE = r"""
// a + b
const text = "a + b" + '1', rule = /[/"]a+ 1/g.test(text), half = total / 2 / rest;
if (a < 3 && !b) {
  drawn = `${rows.map((x) => { return `<${x - 1}>`; })} + 1`;
  return known(c) ? -1 : [...d];
}
items.forEach((one) => {
  show(one);
  let left = Math.min(one, other?.some(known));
});
c += 1;
while (true) break;
"""


def test_javascript_is_changed_in_its_code_alone() -> None:
    made = {
        (place.line, edit("f.js", "x", place.operator, JS_SOURCE, jsmutants.mutated(JS_SOURCE, place)).after)
        for place in jsmutants.places(JS_SOURCE)
    }
    start = """const text = "a + b" """
    assert {after for line, after in made if line == 3} == {
        start + """- '1', rule = /[/"]a+ 1/g.test(text), half = total / 2 / rest;""",
        *(
            start + f"""+ '1', rule = /[/"]a+ 1/g.test(text), half = total {half} rest;"""
            for half in ("* 2 /", "/ 2 *", "/ 1 /", "/ 3 /")
        ),
    }
    assert {after for line, after in made if line == 4} == {
        *(
            f"if ({c}) {{"
            for c in ("a <= 3 && !b", "a > 3 && !b", "a < 4 && !b", "a < 2 && !b", "a < 3 || !b")
        ),
        *(f"if ({c}) {{" for c in ("a < 3 &&  b", "!(a < 3 && !b)", "false")),
    }
    inner = {after.partition("<")[2] for line, after in made if line == 5 and after != ";"}
    assert inner == {f"${{{x}}}>`; }})}} + 1`;" for x in ("x + 1", "x - 0", "x - 2")}
    assert (5, ";") in made
    assert {after for line, after in made if line == 6} == {
        *(
            "return known(c) ?  1 : [...d];",
            "return known(c) ? -0 : [...d];",
            "return known(c) ? -2 : [...d];",
        ),
        *(f"return known(c) {more} ? -1 : [...d];" for more in ("|| true", "&& false")),
    }
    assert {after for line, after in made if line == 9} == {";"}
    assert {after for line, after in made if line == 10} == {
        "let left = Math.max(one, other?.some(known));",
        "let left = Math.min(one, other?.every(known));",
    }
    assert {after for line, after in made if line == 12} == {"c -= 1;", "c = 1;", "c += 2;", "c += 0;", ";"}
    assert {after for line, after in made if line == 13} == {
        *("while (false) break;", "while (true) continue;"),
    }
    assert {after for line, after in made if line == 8} == {";"}
    assert {line for line, _ in made} == {3, 4, 5, 6, 8, 9, 10, 12, 13}


@needs_tool_set("node")
def test_most_changed_scripts_can_be_read(tmp_path: Path) -> None:
    script = tmp_path / "a.js"
    for name in ("present/report/static/explorer-data.js", "present/pages/static/flame.js"):
        text = (owners.ROOT / owners.SOURCES / name).read_text()
        every = jsmutants.places(text)
        assert len(every) > 100
        for place in every[:: len(every) // 3]:
            script.write_text(jsmutants.mutated(text, place))
            assert execute._parses(script), place
    script.write_text("let a = (;")
    assert not execute._parses(script)


def test_a_longer_array_is_no_mutant() -> None:
    source = "static uint8_t a[4];\nint f(int *p) { uint8_t b[8], c; return p[2] + g(p, a[3]); }\n"
    numbers = {place.new for place in cmutants.places(source) if place.operator.startswith("number")}
    assert numbers == {"3", "7", "1", "2", "4"}  # 3: of a and of p[2]; 4: of a[3]; no 5, no 9
    source = "struct s { int a[20 * N + 40]; int b[80 - 1]; int c[sizeof(int) + 60]; };\n"
    numbers = {place.new for place in cmutants.places(source) if place.operator.startswith("number")}
    assert numbers == {"19", "39", "79", "81", "0", "2", "59", "61"}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("f(os.O_RDWR | os.O_CREAT)", "f(os.O_RDWR + os.O_CREAT)", True),
        ("f(os.O_RDWR | os.O_CREAT)", "f(os.O_RDWR & os.O_CREAT)", False),
        ("x = 1 << 3", "x = 4 * 2", True),
        ("x = 1 << 3", "x = 1 << 4", False),
        ("x = 1", "x = 2", False),
        ("x = a | 1", "x = a + 1", False),
        ("f(a)", "f(b)", False),
        ("f(a, 1 + 1)", "f(b, 1 + 1)", False),
        ("x is None", "x is not None", False),
        ("def f(): pass", "def g(): pass", False),
        ("x = -1", "x = 1", False),
        ("f(re.S | re.M)", "f(re.S + re.M)", True),
        ("f(re.S | re.M)", "f(re.S - re.M)", False),
        ("x = A | B", "x = A ^ B", True),
        ("x = A | C", "x = A ^ C", False),
        ("x = A | D", "x = A ^ D", False),
        ("x = a | B", "x = a ^ B", False),
        # without a common bit nothing is carried
        ("x = a << 4 | b & 15", "x = a << 4 ^ b & 15", True),
        ("x = (a << 4) | (b & 15)", "x = (a << 4) + (b & 15)", True),
        ("x = a << 4 | b & 15", "x = a << 4 + b & 15", False),
        ("x = a << 4 | b & 16", "x = a << 4 ^ b & 16", False),
        ("x = a >> 4 & 8 | b & 7", "x = a >> 4 & 8 ^ b & 7", True),
        ("x = a >> 4 & 8 | b & 7", "x = a >> 4 & 8 & b & 7", False),
        ("x = (b & 0x70) >> 4 | a & 8", "x = (b & 0x70) >> 4 ^ a & 8", True),
        ("x = (b & 0x80) >> 4 | a & 8", "x = (b & 0x80) >> 4 ^ a & 8", False),
        ("x = a << 4 | b", "x = a << 4 ^ b", False),
        ("x = a << n | b & 1", "x = a << n ^ b & 1", False),
        ("x = a | True", "x = a ^ True", False),
        ("x = a | b", "x = a ^ b", False),
        # the least or the greatest number that there can be
        ("f(a & 15 == 0)", "f(a & 15 <= 0)", True),
        ("f(a & 15 != 0)", "f(a & 15 > 0)", True),
        ("f(a & 15 != 0)", "f(a & 15 >= 0)", False),
        ("f(a & 15 == 15)", "f(a & 15 >= 15)", True),
        ("f(a & 15 != 15)", "f(a & 15 < 15)", True),
        ("f(a & 15 == 15)", "f(a & 15 <= 15)", False),
        ("f(a & 15 == 14)", "f(a & 15 >= 14)", False),
        ("f(a & 15 == 1)", "f(a & 15 <= 1)", False),
        ("f(len(a) == 0)", "f(len(a) <= 0)", True),
        ("f(long(a) == 0)", "f(long(a) <= 0)", False),
        ("f(a % 4 != 0)", "f(a % 4 > 0)", True),
        ("f(a % n != 0)", "f(a % n > 0)", False),
        ("f(a % -4 != 0)", "f(a % -4 > 0)", False),
        ("f(a == 0)", "f(a <= 0)", False),
        ("f(a - 4 == 0)", "f(a - 4 <= 0)", False),
        ("f(a & 15 == 0 == b)", "f(a & 15 <= 0 == b)", False),
    ],
)
def test_what_has_the_same_value_for_all_inputs_is_no_mutant(one: str, other: str, same: bool) -> None:
    names = lambda: {"A": 1, "B": 2, "C": 3}  # noqa: E731
    assert pythonmutants._mean_the_same(ast.parse(one), ast.parse(other), names) is same


def test_the_constants_of_a_module_are_its_own_and_those_it_imports() -> None:
    assert pythonmutants.named("A, _B = 1, 2\nC = 3\nd = 4\nF = 'f'\nG = f(1)\n") == {"A": 1, "_B": 2, "C": 3}
    imported = pythonmutants.named("from motecrypt.base.descriptor import KEYS_TOLD as K, Table, NONE\n")
    assert imported == {"K": 5}


HANDLERS = """
try: pass
except json.JSONDecodeError as é: pass
except (struct.error, ValueError): pass
except OSError: pass
except: pass
"""


def test_each_exception_of_a_handler_is_replaced_whole() -> None:
    changed = []
    for number in range(len(pythonmutants.caught(HANDLERS))):
        place = pythonmutants.Place(0, 0, pythonmutants.EXCEPTION, number)
        text = pythonmutants.mutated(HANDLERS, place)
        assert text is not None
        changed.append(edit("f.py", "x", place.operator, HANDLERS, text).after)
    assert changed == [
        "except CosmicRayTestingException as é: pass",
        "except (CosmicRayTestingException, ValueError): pass",
        "except (struct.error, CosmicRayTestingException): pass",
        "except CosmicRayTestingException: pass",
    ]


CACHED = """
@lru_cache(maxsize=64)
@functools.lru_cache(typed=1, maxsize=32 + 1)
def f(a: Literal[5], b: int = 4) -> Literal[6]:
    c: Literal[7] = 8
    return g(maxsize=9)
if TYPE_CHECKING:
    import h
class A:
    d: int = field(hash=False, default=3)
"""


def test_annotations_their_imports_and_sizes_of_caches_are_left_alone() -> None:
    lines = CACHED.splitlines()
    silent = pythonmutants._silent(CACHED)
    assert all(start[0] == end[0] for start, end in silent)
    told = sorted(lines[line - 1][first:last] for (line, first), (_, last) in silent)
    assert told == [
        *("32 + 1", "64", "False", "Literal[5]", "Literal[6]", "Literal[7]", "TYPE_CHECKING", "int", "int")
    ]


def test_an_error_is_told_once_no_worker_is_left_to_hide_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> Iterator[Mutant]:
        yield edit("f.py", "x", "number", "a = 1\n", "a = 2\n")
        raise AttributeError("no mutant here")

    def work(run: main.Run, tasks: queue.Queue[Mutant | None], *_: object) -> None:
        while tasks.get() is not None:
            pass
        ended.append(run)

    ended: list[main.Run] = []
    monkeypatch.setattr(main, "_cache_copy", lambda scratch: scratch / "cache")
    monkeypatch.setattr(main.Run, "_work", work)
    run = main.Run(OWNED, 1, 1, (), tmp_path / "results.json", main.Baselines())
    monkeypatch.setattr(run, "_wanted", fails)
    with pytest.raises(AttributeError, match="no mutant here"):
        run.go(tmp_path, jobs=2, again=False)
    assert len(ended) == 2


@pytest.mark.parametrize(
    ("before", "rules"),
    [
        ("LIMIT = 5", ["golden/test_constants.py"]),
        ("LOW, _HIGH_2 = 1, 2", ["golden/test_constants.py"]),
        ("SIZES: tuple[int, ...] = (1, 2)", ["golden/test_constants.py"]),
        ("limit = 5", []),
        ("LIMIT == 5", []),
        ("NAME = 'x'", []),
        ("@dataclass(frozen=True)", ["unit/test_records.py"]),
        ("def f(self, *, force: bool) -> None:", ["unit/test_signatures.py"] * 2),
    ],
)
def test_a_house_rule_owns_the_lines_that_it_is_about(before: str, rules: list[str]) -> None:
    path = "src/motecrypt/present/pages/charts.py"
    owner = OWNED.of(path)
    assert owner is not None
    expected = [f"tests/{rule}" for rule in rules]
    judge = OWNED.judge_of(path, before)
    assert judge.tests == (*expected, *owner.tests)
    assert (
        judge.select == (f"({owner.select}) or {Path(rules[0]).stem}" if rules else owner.select) or rules[1:]
    )
    assert [each.tests for each in OWNED.judges_of(path, before)] == [owner.tests, *((t,) for t in expected)]
    script = OWNED.judge_of("src/motecrypt/present/pages/static/pages.js", before)
    assert script == OWNED.of("src/motecrypt/present/pages/static/pages.js")


class CountedTree:
    """A tree whose tests take a second, or fail."""

    def __init__(self, outcome: str, note: str = "") -> None:
        self.outcome, self.note, self.runs = outcome, note, 0

    def baseline(self, owner: owners.Owner) -> Result:
        self.runs += 1
        return Result(
            Mutant("", owner.domain, 0, "none", 0, 0, "", "", ""), self.outcome, 1.5, note=self.note
        )


def test_several_seeds_run_the_tests_without_a_mutant_once() -> None:
    baselines, tree = main.Baselines(), CountedTree(SURVIVED)
    one, other = OWNED.owners[:2]
    assert [baselines.seconds(tree, owner) for owner in (one, other, one, other)] == [1.5] * 4
    assert tree.runs == 2
    with pytest.raises(main.TestsFail, match="these fail without any mutant"):
        main.Baselines().seconds(CountedTree(KILLED), one)


def test_tests_that_cannot_run_here_judge_no_mutant() -> None:
    tree = CountedTree(SURVIVED, execute.NOTHING_RAN)
    with pytest.raises(main.TestsFail, match=r"all of these are skipped here: tests/.*motecrypt doctor"):
        main.Baselines().seconds(tree, OWNED.owners[0])


@pytest.fixture(scope="module")
def server() -> Iterator[execute.Server]:
    running = execute.Server()
    yield running
    running.close()


@pytest.mark.parametrize(
    ("tests", "code"),
    [
        ("def test_a(): pass", 0),
        ("import pytest\ndef test_a(): pass\ndef test_b(): pytest.skip('x')", 0),
        ("import pytest\ndef test_b(): pytest.skip('x')", 5),
        ("import pytest\n@pytest.mark.skip\ndef test_b(): pass", 5),
        ("def test_a(): assert 0", 1),
    ],
)
def test_the_server_tells_tests_that_are_all_skipped(
    server: execute.Server, tmp_path: Path, tests: str, code: int
) -> None:
    (tmp_path / "test_made.py").write_text(tests)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    arguments = ["test_made.py", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    assert server.run(arguments, tmp_path, environment, tmp_path / "log", 60) == code
    mutant = Mutant("a.py", "files", 1, "x", 0, 0, "", "", "")
    said = {0: (SURVIVED, ""), 5: (SURVIVED, execute.NOTHING_RAN), 1: (KILLED, "pytest ended with 1")}
    assert execute._judged(mutant, code, "") == said[code]


def test_the_quickest_file_stays_first_where_no_workers_share_the_tests() -> None:
    """Costs put the costliest first, for workers; a mutant's tests end with the first failure."""
    files = ["tests/unit/test_zips.py", "tests/unit/test_cli.py"]
    ways = (["-p", "no:xdist"], [])
    command = [sys.executable, "-P", "-m", "pytest", *files, "--collect-only", "-p", "no:cacheprovider"]
    found = []
    for more in ways:
        done = subprocess.run([*command, *more], cwd=owners.ROOT, capture_output=True, text=True, check=True)
        names = re.findall(r"tests/unit/test_(?:zips|cli)\.py", done.stdout)
        found.append(list(dict.fromkeys(names)))
    assert found == [files, files[::-1]]


def test_one_file_of_results_holds_one_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["--seed", "1", "2", "--output", str(tmp_path / "both.json")]) == 2
    assert "--output: give one --seed with it" in capsys.readouterr().err


@needs_tool_set("host")
@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("enum { limit = 1 + 1 };\n", True),
        ("enum { limit = 3 };\n", False),
        ("enum { limit = 2 }; enum { unused = 3 };\n", True),
    ],
)
def test_what_every_driver_compiles_to_the_same_code_is_no_mutant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, same: bool
) -> None:
    for name in ("one", "other"):
        (tmp_path / f"{name}.c").write_text('#include "part.h"\nint main(void) { return limit; }\n')
    (tmp_path / "apart.c").write_text("not C\n")
    (tmp_path / "part.h").write_text("")
    monkeypatch.setattr(
        execute, "RECIPES", {name: Recipe(f"{name}.c", "gcc", tuple) for name in ("one", "other", "apart")}
    )
    part, original = tmp_path / "part.h", "enum { limit = 2 };\n"
    part.write_text(text)
    assert execute.same_in_drivers(part, original, tmp_path / "object.o") is same
    assert part.read_text() == original
    (tmp_path / "lone.h").write_text("")
    assert not execute.same_in_drivers(tmp_path / "lone.h", "x", tmp_path / "object.o"), "no driver has it"


def test_an_edit_is_found_again_and_applied() -> None:
    mutant = edit("f.py", "x", "number", "a = 1\nb = 22\n", "a = 1\nb = 23\n")
    assert (mutant.line, mutant.before, mutant.after) == (2, "b = 22", "b = 23")
    assert mutant.applied("a = 1\nb = 22\n") == "a = 1\nb = 23\n"


def test_a_time_out_is_no_kill_and_an_equivalent_is_not_judged() -> None:
    tally = Tally({"killed": 8, "survived": 1, "time-out": 1, "equivalent": 3, "uncounted": 5})
    assert (tally.sample, tally.judged, tally.score) == (13, 10, 0.8)
    assert Tally().score == 1.0
