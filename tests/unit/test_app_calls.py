"""Functions of `app` one by one: what they choose, answer and refuse."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.app import compare, demo, radio, report, results, serve
from motecrypt.app.stack import StackResult
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.catalog import Catalog
from motecrypt.exports.link import _told
from motecrypt.results.experiments.link_cost import LinkCostFailure, LinkCosts
from motecrypt.studies import judge

# --- results ---------------------------------------------------------------------------------------------

STORED = {"cipher": ["own", "rc4"], "library": ["mine"], "status": ["ok", "failed"], "device": ["uno"]}


@pytest.mark.parametrize(
    ("asked", "every", "filters"),
    [
        ({}, False, {}),
        ({"every": True}, True, {}),
        ({"devices": ["uno", "pico-board"]}, False, {"device": ["uno", "pico-board"]}),
        ({"ciphers": ["own"]}, False, {"cipher": ["own"]}),
        ({"ciphers": ["rc4", "aes128-ecb"]}, False, {"cipher": ["rc4", "aes128-ecb"]}),
        ({"public_keys": ["own", "x25519"]}, False, {"cipher": ["own", "x25519"]}),
        ({"libraries": ["mine", "motecrypt"]}, False, {"library": ["mine", "motecrypt"]}),
        ({"status": "failed"}, False, {}),
    ],
)
def test_stored_figures_are_chosen_by_names_of_either(
    asked: dict[str, Any], every: bool, filters: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[Any] = []
    monkeypatch.setattr(results, "select", lambda stored, **given: called.append(given))
    stored: Any = SimpleNamespace(distinct=STORED.get)
    results.stored_in(stored, results.StoredRequest(**asked), Catalog.load())
    assert called == [{"every": every, "status": asked.get("status"), **filters}]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"devices": ["unx"]}, "unknown device 'unx'"),
        ({"ciphers": ["rc4x"]}, "rc4x"),
        ({"public_keys": ["x2551"]}, "unknown public-key algorithm 'x2551'"),
        ({"libraries": ["mime"]}, "unknown library 'mime'"),
        ({"status": "failled"}, "unknown status 'failled'; did you mean failed"),
    ],
)
def test_a_name_that_neither_has_is_refused(asked: dict[str, Any], said: str) -> None:
    stored: Any = SimpleNamespace(distinct=STORED.get)
    with pytest.raises(InputError, match=said):
        results.stored_in(stored, results.StoredRequest(**asked), Catalog.load())


# --- reports ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"width": "90mm"}, "--width needs --figures DIR"),
        ({"titled": False}, "--no-title needs --width"),
        ({"titled": False, "figures": "f"}, "--no-title needs --width"),
        ({"pdf": "report.html", "output": "report.html"}, "this is the HTML file; name another"),
        ({"pdf": "x/../report.html", "output": "report.html"}, "this is the HTML file; name another"),
    ],
)
def test_a_report_that_cannot_be_made_is_refused_before_anything_is_read(
    asked: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(report, "need", lambda name: None)
    monkeypatch.setattr(report, "write_report", lambda *given: pytest.fail("it was not refused"))
    with pytest.raises(InputError, match=said):
        report.report(report.ReportRequest(**asked))
    assert [*tmp_path.iterdir()] == [tmp_path / "x"]


def test_a_page_orders_what_the_catalog_has(monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[Any] = []
    statuses = ["ok", "failed", "ok"]
    plan = SimpleNamespace(cells=[1, 2], prepare=lambda: planned.append("prepared"))

    def made(request: Any) -> Any:
        planned.append((request.ciphers, request.devices, request.lengths.message_bytes))
        return plan

    figures = SimpleNamespace(figures=[SimpleNamespace(status=status) for status in statuses])
    monkeypatch.setattr(serve, "plan", made)
    monkeypatch.setattr(serve, "measure_plan", lambda plan, stored, jobs, watch: figures)
    monkeypatch.setattr(serve, "opened", lambda stored: io.BytesIO())
    order: Any = SimpleNamespace(kind="measure", ciphers=["rc4"], devices=["uno"], message_bytes=[16])
    watched: list[Any] = []

    def asked() -> str:
        return serve.measured(order, lambda *given: watched.append(given), "db")

    assert asked() == "3 figures are there, 1 failed, each with its reason below its cipher"
    assert planned == [(["rc4"], ["uno"], [16]), "prepared"] and watched == [(0, 0, "preparing")]
    figures.figures = figures.figures[:1]
    plan.cells = [0] * serve.CELLS_MAX
    assert asked() == "1 figures are there"
    plan.cells = [0] * (serve.CELLS_MAX + 1)
    with pytest.raises(
        InputError, match=r"^20,001 figures at a time are too many: choose fewer, 20,000 at most$"
    ):
        asked()


@pytest.mark.parametrize("note", ["", "advise: no compiler"])
def test_a_page_asks_the_adviser(note: str, monkeypatch: pytest.MonkeyPatch) -> None:
    needed: list[Any] = []

    def ensure(name: str, needs: Any, *given: Any) -> str:
        needed.append((name, needs.tool_sets, needs.cells))
        return note

    def wanted(catalog: Any, device: Any, question: Any) -> Any:
        needed.append((device.name, question.message_bytes, question.answer_bytes, question.delivery))
        return [("a", [1, 2]), ("b", [3])]

    monkeypatch.setattr(serve, "ensure", ensure)
    monkeypatch.setattr(serve, "wanted", wanted)
    monkeypatch.setattr(serve, "opened", lambda stored: io.BytesIO())
    order: Any = SimpleNamespace(
        kind="advise",
        devices=["uno"],
        message_bytes=[24],
        answer_bytes=3,
        delivery="best-effort",
        needs=("confidentiality",),
    )
    assert serve.measured(order, lambda *given: None, None) == (
        note or "all figures for 24 bytes on uno are there"
    )
    assert needed == [("uno", 24, 3, "best-effort"), ("advise", ("avr",), [1, 2, 3])]


# --- histories of results files --------------------------------------------------------------------------


def test_the_files_of_a_folder_are_in_the_order_of_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="no such folder; --history takes a folder"):
        compare._in_folder(tmp_path / "none")
    with pytest.raises(InputError, match="contains no results files"):
        compare._in_folder(tmp_path)
    names = ["1", "2", "10", "v1.9", "v1.9b", "v1.10", "v2"]
    for name in names[::-1]:
        (tmp_path / f"{name}.db").write_text("")
    (tmp_path / "notes.txt").write_text("")
    assert [path.stem for path in compare._in_folder(tmp_path)] == [
        "v1.9",
        "v1.9b",
        "v1.10",
        "v2",
        "1",
        "2",
        "10",
    ]
    monkeypatch.setattr(compare, "FILES_MAX", 7)
    assert len(compare._in_folder(tmp_path)) == 7
    monkeypatch.setattr(compare, "FILES_MAX", 6)
    with pytest.raises(InputError, match="contains 7 results files; a history has 6 at most"):
        compare._in_folder(tmp_path)


def test_versions_are_told_apart_by_their_folders() -> None:
    assert compare._labels([Path("a/x.db"), Path("a/y.db")]) == ["x", "y"]
    assert compare._labels([Path("a/x.db"), Path("b/x.db")]) == ["a/x.db", "b/x.db"]
    with pytest.raises(InputError, match=r"^a/x\.db: is given twice; a version is given once$"):
        compare._labels([Path("b/x.db"), Path("a/x.db"), Path("a/x.db")])


# --- programs next to each other -------------------------------------------------------------------------


class Program:
    """A program that has ended with a code, or only does when it is killed."""

    def __init__(self, code: int | None, errors: bytes = b"", stubborn: bool = False) -> None:
        self.code, self.stderr, self.stdout, self.stubborn = code, io.BytesIO(errors), None, stubborn
        self.told: list[Any] = []

    def poll(self) -> int | None:
        return self.code

    def send_signal(self, number: int) -> None:
        self.told.append(number)

    def kill(self) -> None:
        self.told.append("kill")
        self.stubborn = False

    def wait(self, seconds: float) -> None:
        self.told.append(seconds)
        if self.stubborn:
            raise subprocess.TimeoutExpired("x", seconds)


def test_a_program_is_asked_to_end_and_then_made_to() -> None:
    for code, stubborn, told in (
        (0, False, [20.0]),
        (None, False, [15, 20.0]),
        (None, True, [15, 20.0, "kill", 20.0]),
    ):
        program: Any = Program(code, stubborn=stubborn)
        demo._end(program)
        assert program.told == told and program.stderr.closed


def test_a_program_that_ended_early_is_told_by_its_last_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for errors, said in ((b"first\nlast \n\n", "last"), (b"\n", "it said nothing")):
        ended: Any = Program(1, errors)
        with pytest.raises(MotecryptError, match=f"^the node ended early: {said}$"):
            demo.check(ended, "the node")
    running: Any = Program(None)
    demo.check(running, "the node")
    clock = [0.0]
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += 25

    monkeypatch.setattr(demo.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(demo.time, "sleep", sleep)
    demo.wait_for([], running)
    with pytest.raises(MotecryptError, match=r"^no virtual radios after 60 s$"):
        demo.wait_for([tmp_path, tmp_path / "none"], running)
    assert slept == [0.05] * 3
    with pytest.raises(MotecryptError, match=r"^the virtual radios ended early: why$"):
        demo.wait_for([tmp_path / "none"], Program(1, b"why"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("0300e100", "reading 3, 22.5"),
        ("ff01ffff", "reading 511, -0.1"),
        ("ffff0080", "reading 65535, -3276.8"),
    ],
)
def test_a_reading_is_a_number_and_tenths_of_a_degree(content: str, said: str) -> None:
    record = {"hex": content, "node": 5}
    assert demo._reading(record) == f"node 5: {said} degrees Celsius ({content})"


def test_a_link_to_a_port_replaces_an_older_one_but_no_file(tmp_path: Path) -> None:
    link = tmp_path / "radio"
    for port in ("/dev/one", "/dev/two"):
        radio._link(link, port)
        assert link.readlink() == Path(port)
    (tmp_path / "file").write_text("kept")
    for name in ("file", "none/radio"):
        with pytest.raises(InputError, match=rf"--link {tmp_path}/{name}: .*; choose another name$"):
            radio._link(tmp_path / name, "/dev/one")
    assert (tmp_path / "file").read_text() == "kept"


def test_stacks_were_seen_of_functions_that_were_called() -> None:
    costs = [
        SimpleNamespace(address=address, stack_bytes=stack, calls=calls)
        for address, stack, calls in (
            (1, 8, 2),
            (2, 8, 0),
            (3, None, 2),
            (4, 8, None),
            (5, 0, 1),
            (6, None, 0),
        )
    ]
    ran: Any = SimpleNamespace(functions=costs)
    assert StackResult(None, (), None, ran).seen == {1: 8, 5: 0}  # type: ignore[arg-type]
    assert StackResult(None, (), None, None).seen == {}  # type: ignore[arg-type]


# --- figures of the link, verdicts -----------------------------------------------------------------------


def test_a_readme_tells_what_the_link_takes() -> None:
    uno = Catalog.load().device("uno")
    found = LinkCosts("gcc 12", 12345, 678, 90, 1234, 8, 160_000, 16_008, 0, 8_000, None)
    told = _told((found, "2026-01-02"), uno, ["-O2"])
    assert told is not None and told["device"] == uno.title
    flags = f"`{' '.join((*uno.compiler.machine_flags, '-O2'))}`"
    assert told["sizes"] == [uno.title, "gcc 12", "2026-01-02", flags, "12,345", "678", "90", "1,234"]
    assert [(cycles, us) for _, cycles, us in told["steps"]] == [
        ("16,008", "1,000"),
        ("8,000", "500"),
        ("0", "0"),
        ("160,000", "10,000"),
    ]
    assert [name.split()[0] for name, _, _ in told["steps"]] == ["send", "take", "extra", "start:"]
    assert told["steps"][0][0] == "send a reading of 8 bytes in a short packet"
    failed = _told((LinkCostFailure("why"), "2026-01-02"), uno, [])
    assert failed == {"device": uno.title, "reason": "why", "sizes": ()}
    assert _told(None, uno, []) is None


@pytest.mark.parametrize(
    ("verdict", "published", "measured", "less", "better"),
    [
        ("differs", 10, 9, True, True),
        ("differs", 10, 11, True, False),
        ("differs", 10, 10, True, False),
        ("differs", 10, 10, False, False),
        ("differs", 10, 11, False, True),
        ("differs", 10, 9, False, False),
        ("matches", 10, 9, True, False),
        ("matches", "10", 9, True, None),
        ("differs", 10, "9", True, None),
        ("differs", 10, 9, None, None),
        ("not comparable", 10, 9, True, None),
    ],
)
def test_a_difference_is_better_in_one_direction(
    verdict: Any, published: object, measured: object, less: bool | None, better: bool | None
) -> None:
    assert judge._better(verdict, published, measured, less) is better
