"""What the functions of `app` ask of others, in which order, and what they report."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.app import audit, ci, export, gate, leak, measure, node, several, sweep
from motecrypt.base import process
from motecrypt.base.errors import InputError
from motecrypt.base.process import Outcome
from motecrypt.build.toolchain.toolchain import BuildError
from motecrypt.catalog import Catalog
from motecrypt.gate.plan import read_gate_plan
from motecrypt.measuring.audits import Unavailable
from motecrypt.studies import Needs

Steps = list[tuple[int, int, str]]


def kept_in(steps: Steps) -> Any:
    """Progress that keeps its reports."""
    return lambda done, total, what: steps.append((done, total, what))


# --- the gate's own program ------------------------------------------------------------------------------

CONFIG = """
devices = ["uno", "pico"]
[[library]]
folder = "mine"
ciphers = ["rc4", "rc4d"]
toolchain = "chains/own.toml"
flags = ["-O2", "-DX=1"]
bytes = [16, 32]
ad_bytes = [0, 8]
key_bits = [128, 256]
placements = ["flash", "ram"]
variants = ["small"]
[[cipher]]
name = "aes128-cbc"
libraries = ["motecrypt"]
devices = ["due"]
toolchain = "gcc-8"
"""


@pytest.fixture
def row() -> dict[str, Any]:
    """What `measure --json` prints of one cell."""
    sizes = {"flash_bytes": 10, "ram_bytes": 2, "cycles_median": 7, "stack_bytes": 3, "timing_varies": None}
    names = {"device": "uno", "library": "motecrypt", "configuration": "", "cipher": "rc4", "variant": ""}
    cell = {"key_bits": 128, "operation": "encrypt", "message_bytes": 16, "ad_bytes": 0, "tag_bytes": 0}
    rest = {"placement": "flash", "cache": "none", "status": "ok", "reason": "", "extra": {}, "flags": ""}
    known = dict.fromkeys(gate.Measurement.__dataclass_fields__)
    return known | sizes | names | cell | rest | {"of_a_newer_version": 1}


def test_the_program_of_a_tree_is_asked_for_all_of_an_entry(
    row: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "motecrypt.toml").write_text(CONFIG)
    plan = read_gate_plan(tmp_path / "motecrypt.toml")
    asked: list[list[str]] = []
    outcome = Outcome(0, json.dumps([row]), "")

    def run(words: list[Any], cwd: Path, work_s: float, asleep: int) -> Outcome:
        assert (cwd, work_s, asleep) == (tmp_path, 4 * process.LONG_S * process.processors(), 300)
        asked.append([str(word) for word in words])
        return outcome

    monkeypatch.setattr(gate.process, "run", run)
    taken = gate.take_with_own_program(plan, tmp_path, tmp_path / "db")
    start = [f"{tmp_path}/motecrypt", "measure", "--db", f"{tmp_path}/db", "--json"]
    first = (
        f"--cipher rc4 --cipher rc4d --library {tmp_path}/mine --device uno --device pico --variant small "
        "--placement flash --placement ram --toolchain chains/own.toml --flags"
    ).split()
    lengths = ["--bytes", "16,32", "--ad-bytes", "0,8", "--key-bits", "128,256"]
    assert asked[0] == [*start, *first, "-O2 -DX=1", *lengths]
    second = ["--cipher", "aes128-cbc", "--library", "motecrypt", "--device", "due", "--toolchain", "gcc-8"]
    assert asked[1] == [*start, *second, "--bytes", "16,64", "--ad-bytes", "0"]
    names = ["uno/motecrypt/rc4/own", "uno/motecrypt/rc4/own/128/encrypt/16"]
    assert [b.name for b in taken.benchmarks] == [*names, *[n.replace("own", "gcc-8") for n in names]]
    assert taken.benchmarks[0].figures == {"flash": 10, "ram": 2}
    outcome = replace(outcome, code=1)  # some failed
    assert len(gate.take_with_own_program(plan, tmp_path, tmp_path / "db").benchmarks) == 4
    for code, output, said in ((2, "", "no such cipher"), (0, "{", "no measurements"), (0, "[1]", "no meas")):
        outcome = Outcome(code, output, "error: no such cipher")
        with pytest.raises(InputError, match=f"motecrypt: .*{said}"):
            gate.take_with_own_program(plan, tmp_path, tmp_path / "db")
    outcome = Outcome(0, json.dumps([row | {"status": "failed", "extra": {"transient": True}}]), "")
    with pytest.raises(
        gate.HinderedError, match="uno/motecrypt/rc4/128/encrypt/16: could not be measured now"
    ):
        gate.take_with_own_program(plan, tmp_path, tmp_path / "db")


def test_a_firmwares_input_is_read_from_its_begin() -> None:
    with gate.fed(b"some bytes") as descriptor:
        assert os.read(descriptor, 99) == b"some bytes"


def test_an_entry_without_a_length_that_its_ciphers_take_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "motecrypt.toml").write_text(
        '[[cipher]]\nname = "aes128-cbc"\ndevices = ["uno"]\nbytes = [7]\n'
    )
    (entry,) = read_gate_plan(tmp_path / "motecrypt.toml").measured
    with pytest.raises(InputError, match=r"^aes128-cbc: nothing to measure: no cipher takes its lengths$"):
        gate._cells(entry, tmp_path)
    folder = Path(__file__).parents[2] / "examples"
    place = next(p.parent for p in folder.rglob("library.toml"))
    _, cells = gate._cells(replace(entry, message_bytes=(7, 16)), tmp_path)
    assert {cell.message_bytes for cell in cells} == {16}
    with pytest.raises(InputError, match=r"no library.toml there; \[\[library\]\] 'folder' names"):
        gate._cells(replace(entry, folder="nowhere", cipher=""), place)


def test_facts_of_a_gate_name_each_compiler_once_and_why_a_stack_is_not_known() -> None:
    def ended(reason: str, *notes: str) -> Any:
        return SimpleNamespace(
            stack_reason=reason, notes=notes, unmodelled=[f"{note} block" for note in notes]
        )

    built = [SimpleNamespace(compiler=name) for name in ("gcc 9", "", "gcc 12", "gcc 9")]
    taken: Any = SimpleNamespace(
        benchmarks=built, ended={"uno/a": ended("several stacks"), "uno/b": ended("", "slow", "late")}
    )
    facts = ci.CiResult(None, taken, None).facts  # type: ignore[arg-type]
    assert facts[1:] == [
        "compiler: gcc 12",
        "compiler: gcc 9",
        "uno/a: several stacks, so no deepest one",
        *("uno/b: slow", "uno/b: late"),
        *("uno/b: not modelled, but used: slow block", "uno/b: not modelled, but used: late block"),
    ]


# --- a sweep's estimate ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("jobs", "processes"), [(3, 3), (None, 2)])
def test_an_estimate_takes_some_firmwares_of_each_device(
    jobs: int | None, processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = [("-O1",), ("-O2",), ("-O3",), ("-Os",)]
    one = measure.Lengths(key_bits=(128,))
    asked_for = measure.MeasureRequest(
        ["rc4"], ["uno"], ["motecrypt"], ["opt"], (), one, measure.Builds(flags)
    )
    planned = measure.plan(asked_for)
    cells = [replace(cell, device=device) for device in ("uno", "due") for cell in planned.cells]
    known, of_one = planned.catalog, len(cells) // 8
    clock, asked = [0.0], []
    stored = {cells[0]: SimpleNamespace(transient=False), cells[1]: SimpleNamespace(transient=True)}

    def ensure(some: Any, results: Any, catalog: Any, jobs: int, report: Any) -> None:
        asked.append((len(some), jobs))
        clock[0] += 1.5 * len(some) if some[0].device == "uno" else 10 * len(some)
        report(len(some), len(some), "x")

    stages: list[str] = []

    class Shown:
        @contextmanager
        def stage(self, title: str) -> Any:
            stages.append(title)
            yield lambda *_: None

    monkeypatch.setattr(sweep, "processors", lambda: 2)
    monkeypatch.setattr(sweep.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(sweep.bench, "ensure", ensure)
    monkeypatch.setattr(sweep.bench, "cell_keys", lambda catalog, cells: {cell: cell for cell in cells})
    results: Any = SimpleNamespace(measurement=stored.get)
    made: Any = SimpleNamespace(cells=cells, catalog=known)
    found = sweep.estimate(made, results, jobs, Shown())
    assert asked == [(2 * of_one - 1, 1), (2 * of_one, 1)] and stages == ["sampling uno", "sampling due"]
    assert (found.cells, found.cells_left, found.processes) == (len(cells), 4 * of_one, processes)
    assert found.seconds_of_one_process == 2 * of_one * (1.5 + 10)
    assert found.seconds == round(2 * of_one * 11.5 / processes, 1)
    stored.update({cell: SimpleNamespace(transient=False) for cell in cells})
    nothing = sweep.estimate(made, results, jobs, None)
    assert nothing == sweep.SweepEstimate(len(cells), 0, 0.0, 0.0, processes)


# --- audits ----------------------------------------------------------------------------------------------


def test_each_operation_is_followed_and_what_cannot_be_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = [SimpleNamespace(name=name, operations=["sign"]) for name in ("a", "b", "c", "d")]
    bodies.insert(1, SimpleNamespace(name="public", operations=["verify"]))
    lines = [SimpleNamespace(kind="branch", function=f"f{n}", line=f"/x/y.c:{n}") for n in range(5)]

    def follow(catalog: Any, algorithm: Any, body: Any) -> Any:
        if body.name in ("a", "c"):
            raise {"a": Unavailable, "c": BuildError}[body.name](f"why {body.name}")
        seen = lines if body.name == "b" else lines[:4]
        return SimpleNamespace(
            sightings=seen, operation="sign", implementation=body.name, verdict="fails", public=[1, 2]
        )

    monkeypatch.setattr(audit, "follow", follow)
    monkeypatch.setattr(audit, "need", lambda *names: None)
    monkeypatch.setattr(audit, "secret_parts", lambda algorithm, operation: operation == "sign")
    catalog: Any = SimpleNamespace(public_key_implementations_of=lambda name, device: bodies)
    steps: Steps = []
    rows, without = audit.followed(catalog, SimpleNamespace(name="x"), kept_in(steps))  # type: ignore[arg-type]
    assert without == ["a sign: why a", "c sign: why c"]
    four = tuple(f"branch in f{n} (y.c:{n})" for n in range(4))
    assert [(row.implementation, row.places) for row in rows] == [("b", (*four, "1 more")), ("d", four)]
    assert {(row.algorithm, row.operation, row.public_values) for row in rows} == {("x", "sign", 2)}
    assert steps == [*((n, 4, f"{name} sign") for n, name in enumerate("abcd")), (4, 4, "done")]


def test_the_steps_of_parts_are_counted_together() -> None:
    parts: Any = [SimpleNamespace(part=name) for name in "ab"]
    steps: Steps = []
    counted = audit._Steps(parts, kept_in(steps))
    counted.of(parts[0])(1, 5, "first")
    counted.of(parts[1])(0, 3, "second")
    counted.end(parts[0])
    counted.end(parts[1])
    assert steps == [(1, 6, "first"), (1, 8, "second"), (5, 8, "a"), (8, 8, "b")]


def test_a_trace_has_one_input_for_how_its_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []

    def draw(variables: Any, sizes: list[int], count: int, seed: tuple[int, int]) -> list[bytes]:
        drawn.append((variables, sizes, count, seed))
        return [b"input"]

    found = SimpleNamespace(orders=[SimpleNamespace(leaks="l1"), SimpleNamespace(leaks="l2")], parts_at=7)
    steps: Steps = []

    def assess(recorder: Any, variables: Any, question: Any, report: Any) -> Any:
        report(3, 9)
        return found

    monkeypatch.setattr(leak, "drawn", draw)
    monkeypatch.setattr(leak, "assess", assess)
    monkeypatch.setattr(leak, "places", lambda image, device, found, leaks: (image, device, leaks))
    monkeypatch.setattr(leak, "line_of", lambda image, device, at: f"line {at}")
    recorder = SimpleNamespace(
        image="i", device="d", pokes=[SimpleNamespace(bytes=4), SimpleNamespace(bytes=2)], ended=lambda x: x
    )
    made: Any = SimpleNamespace(recorder=recorder, variables="v", question=SimpleNamespace(seed=5))
    result: Any = leak.leak_plan(made, kept_in(steps))
    assert drawn == [("v", [4, 2], 1, (5, 0))] and steps == [(3, 9, "traces")]
    places = (("i", "d", "l1"), ("i", "d", "l2"))
    assert tuple(vars(result).values()) == (made, found, places, "line 7", b"input")
    found.parts_at = None
    assert None in vars(leak.leak_plan(made)).values()


# --- nodes


@pytest.mark.parametrize(
    ("content", "interval", "sketch_interval", "context", "said"),
    [
        (None, 5, False, False, "--interval-ms: the example 'e' has no interval; leave it out"),
        (None, None, False, True, "the example 'e' needs an OSCORE context; make a new file"),
        (bytes(2000), None, False, True, "the example 'e' needs an OSCORE context; make a new file"),
        (bytes(9), None, False, False, "contains no node; name a new file"),
        (bytes([9, 7]) + bytes(1022), None, False, False, "contains no node; name a new file"),
        (bytes([3, 8]) + bytes(1022), 5, True, False, "is node 8's; name a new file for node 7"),
    ],
)
def test_a_nodes_firmware_is_not_built_for_what_does_not_fit(
    content: bytes | None,
    interval: int | None,
    sketch_interval: bool,
    context: bool,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sketch = SimpleNamespace(interval=sketch_interval, context=context)
    monkeypatch.setattr(node, "need", lambda *names: None)
    monkeypatch.setattr(node, "read_master_file", lambda file: ("suite", b""))
    monkeypatch.setattr(node, "plan_sketch", lambda catalog, suite, name: sketch)
    monkeypatch.setattr(node, "read_regular", lambda path, most: path.read_bytes()[:most])
    monkeypatch.setattr(node, "has_context", lambda content, at: content[at:] != bytes(len(content) - at))
    monkeypatch.setattr(node, "build_example", lambda *given: pytest.fail("it is built"))
    eeprom = tmp_path / "eeprom"
    if content is not None:
        eeprom.write_bytes(content)
    request: Any = SimpleNamespace(node=7)
    with pytest.raises(InputError, match=said):
        node.build_node(tmp_path / "elf", eeprom, request, tmp_path / "key", None, "e", interval)


# --- exports, studies, measurements ----------------------------------------------------------------------


def test_the_links_costs_are_measured_where_they_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    from motecrypt.measuring.experiments import link_cost

    had = {"avr": True, "host": True}
    steps: Steps = []
    asked: list[str] = []

    def ensure(results: Any, say: Any) -> Any:
        say("building")
        return SimpleNamespace(outcome=asked[-1], made_at="2026-01-02T03:04")

    class Fake:
        @staticmethod
        def of(question: Any) -> Any:
            asked.append("outcome")
            return SimpleNamespace(ensure=ensure)

    monkeypatch.setattr(link_cost, "LinkCost", Fake)
    monkeypatch.setattr(export, "have", had.get)
    monkeypatch.setattr(export, "LinkCostAnswer", SimpleNamespace(from_json=lambda told: told or None))
    question: Any = SimpleNamespace(device="uno", answer=lambda results: "stored")
    catalog: Any = SimpleNamespace(device=lambda name: SimpleNamespace(tool_set="avr"))

    def costs(report: Any) -> Any:
        return export._link_costs(question, catalog, None, report)  # type: ignore[arg-type]

    assert costs(None) == "stored" and not asked
    assert costs(kept_in(steps)) == ("outcome", "2026-01-02")
    assert steps == [(0, 1, "building"), (1, 1, "")]
    for part in had:
        had.update(avr=True, host=True)
        had[part] = False
        assert costs(kept_in(steps)) == "stored"


@pytest.mark.parametrize(
    ("security", "reason", "said"),
    [
        ("broken", "bias", "x is BROKEN (bias): for study only; it does not protect data"),
        ("legacy", "old", "x is legacy: old"),
        ("unrated", "", "x is unrated: it is not rated"),
        ("recommended", "good", ""),
        ("acceptable", "good", ""),
    ],
)
def test_an_export_warns_of_its_cipher(security: str, reason: str, said: str) -> None:
    cipher = SimpleNamespace(name="x", security=security, security_reason=reason)
    made = export.ExportResult(Path("f"), None, SimpleNamespace(cipher=cipher), ())  # type: ignore[arg-type]
    assert made.warning == said


@pytest.mark.parametrize(
    ("target", "files", "about", "said"),
    [
        ("arduino", ["examples/KnownAnswer/KnownAnswer.ino"], {}, "motecrypt run 'a b/x/examples/"),
        ("arduino", [], {}, "motecrypt audit rc4"),
        ("c", ["examples/KnownAnswer/KnownAnswer.ino"], {}, "motecrypt audit rc4"),
        ("c", [], {"link": 1}, "motecrypt key gateway.key --link"),
    ],
)
def test_what_follows_an_export(
    target: str, files: list[str], about: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = SimpleNamespace(
        about=about,
        cipher=Catalog.load().cipher("aes128-ccm8" if about else "rc4"),
        files=files,
        figures=SimpleNamespace(missing=[SimpleNamespace(command="", device="UNO")]),
    )
    made = export.ExportResult(Path("a b/x"), SimpleNamespace(name=target), library, ())  # type: ignore[arg-type]
    step = made.next_command()
    assert step.startswith(said)
    assert step.endswith("--libraries 'a b' --until right") == ("motecrypt run" in said)


@pytest.mark.parametrize(("jobs", "threads"), [(3, 3), (None, 7)])
def test_as_many_experiments_run_as_is_asked_or_processors_allow(
    jobs: int | None, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    executor = several.ThreadPoolExecutor

    def pool(count: int) -> Any:
        made.append(count)
        return executor(count)

    monkeypatch.setattr(several, "ThreadPoolExecutor", pool)
    monkeypatch.setattr(several, "processors", lambda: 7)
    monkeypatch.setattr(several.bench, "ensure", lambda *given: None)
    several.work([Needs()], None, jobs, lambda *_: None)  # type: ignore[arg-type]
    assert made == [threads]


@pytest.mark.parametrize(
    ("statuses", "wrong", "failed"),
    [
        ((), 0, True),
        (("ok",), 0, False),
        (("ok", "does-not-fit"), 0, False),
        (("does-not-fit",), 0, True),
        (("ok", "failed", "zz"), 2, True),
    ],
)
def test_which_measurements_are_wrong(statuses: tuple[str, ...], wrong: int, failed: bool) -> None:
    figures: Any = tuple(SimpleNamespace(status=status) for status in statuses)
    result = measure.MeasureResult(figures, None)  # type: ignore[arg-type]
    assert (len(result.wrong), result.failed) == (wrong, failed)
    assert [each.status for each in result.ok] == [s for s in statuses if s == "ok"]


@pytest.mark.parametrize(
    ("request_", "cells"),
    [
        (measure.MeasureRequest(ciphers=["rc4"], variants=["opt"]), {("flash", (), 128)}),
        (
            measure.MeasureRequest(
                ciphers=["rc4"], variants=["opt"], builds=measure.Builds(flag_sets=[(), ("-O3",)])
            ),
            {("flash", (), 128), ("flash", ("-O3",), 128)},
        ),
    ],
)
def test_a_plan_has_every_combination(request_: measure.MeasureRequest, cells: set[Any]) -> None:
    made = measure.plan(replace(request_, devices=()))  # the default one
    ours = [cell for cell in made.cells if cell.implementation.library == "motecrypt"]
    assert {cell.device for cell in made.cells} == {"uno"}
    assert {(cell.placement, cell.flags, cell.key_bits) for cell in ours} == cells


def test_a_boards_tools_are_those_of_its_flashing(monkeypatch: pytest.MonkeyPatch) -> None:
    from motecrypt.measuring.bench import board

    needed: list[tuple[str, ...]] = []
    monkeypatch.setattr(measure, "need", lambda *names: needed.append(names))
    monkeypatch.setattr(board, "measure_on_board", lambda *given: given)
    known = Catalog.load()
    for name in ("uno", "pico", "esp32c3"):
        made: Any = SimpleNamespace(cells=[SimpleNamespace(device=name)], catalog=known)
        assert measure.measure_on_board(made, "port", "results") == (
            made.cells,
            "port",
            "results",
            known,
            None,
        )  # type: ignore[arg-type, comparison-overlap]
        flashing = known.device(name).flashing
        tool = measure.TOOLS[flashing.tool] if flashing else ""
        assert needed.pop() == (("board", tool) if tool else ("board",))
    measure.measure_on_board(SimpleNamespace(cells=[], catalog=known), "port", "results")  # type: ignore[arg-type]
    assert needed == [("board",)]
