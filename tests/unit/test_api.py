"""The functions that a program imports: a request in, a result out; nothing printed, no exit."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import motecrypt
from motecrypt import (
    Builds,
    Lengths,
    MeasureRequest,
    MeasureResult,
    measure,
)
from motecrypt.app.measure import plan
from motecrypt.base.errors import InputError
from motecrypt.base.paths import default_results
from motecrypt.results import Results
from tool_sets import needs_tool_set

APP = Path(motecrypt.__file__).parent / "app"
PARAMETERS_MAX = 8
SMALL = MeasureRequest(
    ciphers=["rc4"],
    libraries=["motecrypt"],
    lengths=Lengths(message_bytes=[8]),
    builds=Builds(placements=["flash"]),
)


@needs_tool_set("avr")
def test_a_measurement_is_made_once_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[int, int, str]] = []
    first = measure(SMALL, tmp_path / "r.db", progress=lambda *each: told.append(each))
    assert first.ok and not first.failed and len(first.ok) == len(first.figures)
    assert {(f.device, f.cipher, f.message_bytes, f.placement) for f in first.ok} <= {
        ("uno", "rc4", 8, "flash"),
        ("uno", "rc4", 0, "flash"),
    }
    assert told[-1][0] == told[-1][1] > 0
    again = measure(SMALL, str(tmp_path / "r.db"))
    assert again.figures == first.figures
    with Results(tmp_path / "r.db") as opened:
        assert measure(SMALL, opened).rows() == first.rows()
    assert first.rows()[0]["cycles_median"] == first.figures[0].cycles_median
    assert capsys.readouterr() == ("", "")


@needs_tool_set("avr")
def test_without_a_file_the_default_one_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOTECRYPT_DB", str(tmp_path / "own.db"))
    assert measure(SMALL).ok and default_results().exists()


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (MeasureRequest(), "say what to measure"),
        (MeasureRequest(ciphers=["rc5x"]), "rc5x"),
        (MeasureRequest(ciphers=["rc4"], devices=["unoo"]), "did you mean"),
        (MeasureRequest(ciphers=["rc4"], public_keys=["x25519"]), "measure those apart"),
        (MeasureRequest(public_keys=["x25519"], lengths=Lengths(ad_bytes=[4])), "measure those apart"),
        (MeasureRequest(ciphers=["rc4"], builds=Builds(flag_sets=[["-wrapper", "x"]])), "-wrapper"),
        (MeasureRequest(ciphers=["rc4"], builds=Builds(placements=["moon"])), "no placement 'moon'"),
        (MeasureRequest(ciphers=["aes128-cbc"], lengths=Lengths(message_bytes=[7])), "multiples of 16"),
    ],
)
def test_a_wrong_request_is_an_input_error(request_: MeasureRequest, said: str) -> None:
    with pytest.raises(InputError, match=said):
        plan(request_)


def test_words_for_many_are_spelled_out() -> None:
    made = plan(MeasureRequest(ciphers=["recommended"], devices=["all"], libraries=["motecrypt"]))
    ciphers = {cell.implementation.cipher for cell in made.cells}
    assert len({cell.device for cell in made.cells}) > 20 and len(ciphers) > 3
    assert {made.catalog.cipher(name).security for name in ciphers} == {"recommended"}


def test_what_failed_is_not_what_does_not_fit() -> None:
    class Figure:
        def __init__(self, status: str) -> None:
            self.status = status

    def failed(*statuses: str) -> bool:
        return MeasureResult(tuple(map(Figure, statuses)), None).failed  # type: ignore[arg-type]

    assert failed() and failed("does-not-fit") and failed("ok", "wrong")
    assert not failed("ok") and not failed("ok", "does-not-fit")


# --- all functions --------------------------------------------------------------------------------------


def test_every_name_is_there_and_documented_with_types() -> None:
    page = (APP.parents[2] / "docs" / "python.md").read_text()
    for name in motecrypt.__all__:
        assert name in dir(motecrypt)
        thing = getattr(motecrypt, name)
        if name == "__version__":
            continue
        assert inspect.getdoc(thing) and f"`{name}" in page, name
        if is_dataclass(thing):
            assert thing.__dataclass_params__.frozen and len(fields(thing)) <= PARAMETERS_MAX, name
    with pytest.raises(AttributeError, match="no attribute 'measures'"):
        _ = motecrypt.measures


def test_app_prints_nothing_ends_nothing_and_knows_no_command_line() -> None:
    for path in APP.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("print", "sys.exit", "exit", "input"), f"{path}:{node.lineno}"
            if isinstance(node, ast.FunctionDef):
                count = len(node.args.args + node.args.kwonlyargs)
                assert count <= PARAMETERS_MAX, f"{path}:{node.lineno}: {count} parameters"
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = (
                    [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
                )
                assert not any(n.split(".")[0] in ("click", "rich") for n in names), f"{path}:{node.lineno}"


def test_importing_motecrypt_loads_nothing_else() -> None:
    code = "import sys, motecrypt; print(sorted(n for n in sys.modules if n.startswith('motecrypt')))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "['motecrypt']"
