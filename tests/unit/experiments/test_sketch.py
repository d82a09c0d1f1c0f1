"""Sketches for a row of a paper: what counts as one, and what is kept of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from motecrypt.app import reproduce
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.cli import main
from motecrypt.cli.reproduce import command
from motecrypt.measuring.experiments import sketch
from motecrypt.measuring.experiments.sketch import SketchRun
from motecrypt.results import Results
from motecrypt.results.experiments.sketch import SketchFigures, SketchQuestion
from motecrypt.simulate.emulate.images import Image
from motecrypt.simulate.emulate.run import Ended, FreeRun
from motecrypt.studies import Needs
from tool_sets import needs_tool_set

QUESTION = SketchQuestion("rc4d", "rc4-plain", "uno", "9ac7cc9a")
RIGHT = "Hello\n9A c7 cc 9a 60 \n8856 ms"


def _image(tmp_path: Path, ram_bytes: int | None = 262) -> Image:
    path = tmp_path / "program"
    path.write_bytes(b"a program")
    return Image(path, (), None, 3986, ram_bytes, 0, path)


def _printing(
    monkeypatch: pytest.MonkeyPatch, text: str, reason: str = "until", seconds: float = 9.2
) -> list[FreeRun]:
    runs: list[FreeRun] = []

    def run(image: Image, device: Device, how: FreeRun, output: Callable[[bytes], None]) -> Ended:
        runs.append(how)
        assert device.name == "uno"
        output(text.encode())
        return Ended(reason, "its end", round(seconds * 16e6), seconds, 1, 0, 0, ())

    monkeypatch.setattr(sketch, "run_freely", run)
    return runs


def test_its_time_and_its_sizes_are_kept_and_it_is_run_once(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = _printing(monkeypatch, RIGHT)
    run = SketchRun(QUESTION, _image(tmp_path), "rc4.ino")
    run.ensure(results)
    run.ensure(results)
    assert QUESTION.answer(results) == SketchFigures(8856.0, 3986, 262)
    assert len(runs) == 1 and runs[0].until == " ms" and runs[0].max_seconds == 120.0
    assert runs[0].max_output == 65536


@pytest.mark.parametrize(
    ("text", "reason", "complaint"),
    [
        (
            RIGHT.replace("cc", "cd"),
            "until",
            "does not print the ciphertext 9ac7cc9a; is it the sketch of rc4-plain",
        ),
        ("9a c7 cc 9a\nready", "limit", "did not print 'N ms' within 120 s of simulated time"),
        ("Hello\n9a c7 cc 9a\nin\n-8856 ms", "until", "'-8856 ms' is not a time that the run can have taken"),
        ("9a c7 cc 9a\nsome ms", "until", "'some ms' is not a time that the run can have taken"),
        ("9a c7 cc 9a\n9201 ms", "until", "'9201 ms' is not a time that the run can have taken"),
    ],
)
def test_what_is_no_such_sketch_is_refused_and_nothing_is_kept(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, reason: str, complaint: str
) -> None:
    _printing(monkeypatch, text, reason)
    with pytest.raises(InputError, match=rf"^my\.ino: .*{complaint}"):
        SketchRun(QUESTION, _image(tmp_path), "my.ino").ensure(results)
    assert QUESTION.answer(results) is None


def test_a_time_as_long_as_the_run_counts_and_a_hex_file_does_not(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _printing(monkeypatch, RIGHT.replace("8856", "9200"))
    SketchRun(QUESTION, _image(tmp_path), "rc4.ino").ensure(results)
    image = replace(_image(tmp_path, None), path=tmp_path / "other")
    image.path.write_bytes(b"another")
    with pytest.raises(InputError, match="states no RAM; give the sketch or its ELF file"):
        SketchRun(QUESTION, image, "rc4.hex").ensure(results)


SKETCH = """
void setup() {
  Serial.begin(9600);
  unsigned long start = millis();
  delay(40);
  unsigned long end = millis();
  Serial.println("9a c7 cc 9a 60 9d 1e f7 b2 93 28 99 cd e4 1b 97 ");
  Serial.print(end - start);
  Serial.println(" ms");
}
void loop() {}
"""


@needs_tool_set("avr", "arduino")
def test_a_sketch_is_built_run_and_shown_as_the_authors_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduce, "needs", lambda name: Needs())
    file = tmp_path / "mine" / "mine.ino"
    file.parent.mkdir()
    file.write_text(SKETCH)
    db = str(tmp_path / "r.db")
    given = ["rc4d", "--sketch", f"rc4-plain={file}", "--json", "--db", db]
    done = CliRunner().invoke(command, given, catch_exceptions=False)
    rows = {row["id"]: row for row in json.loads(done.stdout)}
    row = rows["rc4d-table-rc4-base-plain-time"]
    assert (row["like_for_like"], row["verdict"]) == ("author's code", "differs")
    assert row["measured"] in (39.0, 40.0, 41.0)  # millis() steps by 1.024
    assert rows["rc4d-table-rc4-base-plain-flash"]["like_for_like"] == "author's code, recorded"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ("rc4d", "--sketch", "rc4-fast=a.ino"),
            "--sketch rc4-fast=a.ino: give ROW=FILE; the rows are aes-plain,",
        ),
        (("rc4d", "--sketch", "rc4-plain"), "--sketch rc4-plain: give ROW=FILE; the rows are aes-plain,"),
        (("rc4d", "--sketch", "rc4-plain=none.ino"), "none.ino: no such file"),
        (("rc4d", "--sketch", "rc4-plain=."), ".: a folder; name the file in it"),
        (("rf", "--sketch", "rc4-plain=a.ino"), "--sketch: no rows for sketches in rf"),
        (("rc4d", "--stored", "--sketch", "rc4-plain=a.ino"), "give it without --stored and --compiler"),
    ],
)
def test_a_wrong_row_or_file_is_one_line(
    words: tuple[str, ...], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["reproduce", *words, "--db", str(tmp_path / "r.db")])
    told = capsys.readouterr().err
    assert left.value.code == 2 and complaint in told and told.count("\n") == 1
