"""The report as a file: whole, self-contained, made from what is stored; its figures and their data."""

from __future__ import annotations

import csv
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from documented import missing
from motecrypt.base.errors import MotecryptError
from motecrypt.catalog import Catalog
from motecrypt.cli.report import command
from motecrypt.present.report import charts, gather, render
from motecrypt.present.report.content import Content
from motecrypt.present.report.costs import join
from motecrypt.present.report.figure import Figure
from motecrypt.present.report.page import embedded
from motecrypt.present.report.sources import slug
from motecrypt.present.report.tables import number
from motecrypt.present.report.vega import javascript, without_addresses
from motecrypt.results import Results
from motecrypt.results.experiments.audit import DiffusionMatrix
from motecrypt.studies import names, study
from motecrypt.studies.facts import Comparison
from report_data import fill
from tool_sets import needs_tool_set

#: How many bytes a part of the page may have for each of what it shows: about a sixth more than it has.
#: Limits for each, so that another cipher or study breaks none, and what is written twice does.
EACH_BYTES_MAX = {
    "table of all measurements, a measurement": 30,
    "adviser, a measurement": 11,
    "charts, a chart": 5700,
    "data of the sources' tables, a row": 187,
    "markup, a row of a table": 410,
}
ADDRESS = re.compile(r"https?://|(?:src|href)\s*=\s*[\"']//|@import|url\(", re.IGNORECASE)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results file with made-up figures of every implementation."""
    path = tmp_path_factory.mktemp("report") / "results.db"
    with Results(path) as results:
        fill(results)
    return path


def _data(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    read: dict[str, object] = json.loads(found[1])
    return read


def each_bytes(page: str, content: Content) -> dict[str, float]:
    """For each of `EACH_BYTES_MAX`, the bytes that the page has; counted in what it is made from."""

    def bytes_of(value: object) -> int:
        return sum(len(piece.encode()) for piece in embedded(value))

    data = _data(page)
    markup = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    sections = [section for part in content.sources for section in part.sections]
    rows = sum(len(part.rows) for part in content.sources) + sum(len(section.rows) for section in sections)
    sizes = (
        (bytes_of(data["explorer"]), content.measurements),
        (bytes_of(data["adviser"]), content.measurements),
        (bytes_of(data["figures"]), len(content.all_figures())),
        (bytes_of(data["tables"]), rows),
        (len(markup.encode()), markup.count("<tr")),
    )
    return {name: size / of for name, (size, of) in zip(EACH_BYTES_MAX, sizes, strict=True)}


def too_large(page: str, content: Content) -> list[str]:
    """The parts with more than they may have."""
    found = each_bytes(page, content)
    return [name for name, most in EACH_BYTES_MAX.items() if found[name] > most]


def test_no_part_of_the_page_is_larger_than_what_it_shows(filled: Path) -> None:
    with Results(filled) as results:
        content = gather(results, Catalog.load())
    page = render(content, bundle="")
    assert too_large(page, content) == [], each_bytes(page, content)
    assert 'id="measure-form"' not in page, "a page that no server serves cannot measure"
    doubled = dict(content.explorer) | {"rows": [*content.explorer["rows"], *content.explorer["rows"]]}
    twice = render(replace(content, explorer=doubled), bundle="")
    assert too_large(twice, content) == ["table of all measurements, a measurement"]
    words = "; ".join(f"{most:,} bytes in the {name}" for name, most in EACH_BYTES_MAX.items())
    assert missing("report.md", f"| at most {words} |") == []


def test_the_report_is_one_file_without_addresses(filled: Path, tmp_path: Path) -> None:
    javascript()  # bundled once for each version of the tool set, then kept
    target = tmp_path / "report.html"
    done = CliRunner().invoke(command, ["-o", str(target), "--db", str(filled)])
    assert done.exit_code == 0, done.output
    page = target.read_text()
    assert page.count(javascript()) == 1
    markup = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not ADDRESS.search(markup)
    assert "http://" not in page and "https://" not in page
    assert "gcc &lt;made up&gt; &amp; co" in page  # text from results never becomes markup
    assert page.rstrip().endswith("</html>")
    assert not list(tmp_path.glob(".report*"))  # nothing half-written is left


def test_every_source_and_cipher_is_told(filled: Path) -> None:
    catalog = Catalog.load()
    with Results(filled) as results:
        content = gather(results, catalog)
    page = render(content, bundle="")
    for name in names():
        assert f'id="source-{name}"' in page
    for name in catalog.ciphers:
        assert f'id="cipher-{name}"' in page
    assert "does not fit: needs 3,175" in page
    names_of = [figure.name for figure in content.all_figures()]
    assert len(names_of) == len(set(names_of))
    assert all(figure.caption and figure.command.startswith("motecrypt ") for figure in content.all_figures())
    data = _data(page)
    assert set(data["figures"]) == set(names_of)  # type: ignore[call-overload]


def test_empty_results_say_what_to_run(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    done = CliRunner().invoke(command, ["-o", str(target), "--db", str(tmp_path / "none.db")])
    assert done.exit_code == 0
    assert "motecrypt reproduce rc4d" in done.output
    page = target.read_text()
    assert "nothing that this report shows" in page
    assert "motecrypt reproduce" in page
    assert 'id="explorer"' not in page


def test_a_source_that_cannot_be_told_here_says_why(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> None:
        raise MotecryptError("the compiler 'gcc' is missing")

    monkeypatch.setattr(study("rc4d"), "comparisons", missing)
    results.store_experiment("transfer", 1, {"a": 1}, {"b": 2})
    page = render(gather(results, Catalog.load()), bundle="")
    assert "cannot be determined on this machine: the compiler" in page
    assert 'id="source-rf"' in page


def test_an_experiment_alone_is_not_nothing(results: Results) -> None:
    assert gather(results, Catalog.load()).empty
    results.store_experiment("transfer", 1, {"a": 1}, {"b": 2})
    content = gather(results, Catalog.load())
    assert not content.empty
    assert "transfer 1" in render(content, bundle="")


@pytest.mark.long
@needs_tool_set("plots")
def test_figures_are_written_with_captions_and_data(tmp_path: Path) -> None:
    filled = tmp_path / "some.db"
    with Results(filled) as results:
        fill(results, family="rc4d")
    done = CliRunner().invoke(
        command,
        ["-o", str(tmp_path / "r.html"), "--figures", str(tmp_path / "f"), "--db", str(filled), "--json"],
    )
    assert done.exit_code == 0, done.output
    count = json.loads(done.stdout)["figures"]
    svgs = sorted((tmp_path / "f").glob("*.svg"))
    assert len(svgs) == count == len(list((tmp_path / "f").glob("*.csv")))
    for svg in svgs:
        assert svg.read_text().startswith("<svg")
        assert svg.with_suffix(".pdf").read_bytes().startswith(b"%PDF")
        rows = list(csv.DictReader(svg.with_suffix(".csv").read_text().splitlines()))
        assert rows, svg.name
        assert f"## {svg.stem}" in (tmp_path / "f" / "captions.md").read_text()


def test_data_cannot_end_its_element() -> None:
    text = "".join(embedded({"note": "</script><!-- <b> & "}))
    assert "<" not in text and "&" not in text
    assert json.loads(text) == {"note": "</script><!-- <b> & "}


def test_addresses_are_taken_from_scripts_and_namespaces_stay() -> None:
    script = without_addresses(
        'a="https://vega.github.io/schema/vega/v6.json";b="http://www.w3.org/2000/svg"'
    )
    assert "http://" not in script and "https://" not in script
    assert r"http:\/\/www.w3.org\/2000/svg" in script or r"http:\/\/www.w3.org/2000/svg" in script
    assert "schema/vega/v6.json" in script


def test_of_two_measurements_the_newest_counts_and_operations_are_joined(results: Results) -> None:
    fill(results)
    catalog = Catalog.load()
    some = results.measurements(cipher="rc4d", device="uno", message_bytes=16)
    costs = join([*some, *some], catalog.devices)
    assert len(costs) == len({m.variant for m in some})
    assert all(set(cost.operations) == {"setup", "encrypt", "decrypt"} for cost in costs)
    assert {cost.flags for cost in costs} == {"", "-O2"}  # a variant's own; -Os is the device's


def test_pairs_of_one_column_are_one_panel_and_of_more_several() -> None:
    rows = [Comparison("s", "t", f"r{i}", "c", "ms", 10.0 * i, 9.0 * i, 0.9, "matches") for i in range(1, 5)]
    assert "layer" in charts.paired({"c": rows}, "ms")
    several = charts.paired({"c": rows, "d": rows}, "ms")
    assert len(several["concat"]) == 2
    figure = Figure("f", "f", "caption", "motecrypt", several)
    assert len(figure.data()) == 8
    assert figure.as_csv().splitlines()[0] == "panel,row,paper,ours,verdict"


def test_heat_maps_keep_never_and_always() -> None:
    matrix = tuple((0,) * 8 + (100,) * 8 for _ in range(8))
    shown = DiffusionMatrix(
        input="key", input_bytes=1, output_bytes=16, percent_changed_by_input_bit_and_output_byte=matrix
    )
    values = charts.heat_maps({"key": shown})["concat"][0]["data"]["values"]
    assert [(v["output"], v["output_end"], v["percent"]) for v in values] == [(0, 8, 0), (8, 16, 100)]


def test_an_axis_is_logarithmic_where_values_span_much() -> None:
    assert charts.axis_of("x", [1, 5], "t")["scale"]["zero"]
    wide = charts.axis_of("x", [0.5, 5000], "t")
    assert wide["scale"]["type"] == "log"
    assert wide["axis"]["values"][0] <= 0.5 and wide["axis"]["values"][-1] >= 5000
    assert charts.axis_of("x", [0, 5000], "t")["scale"]["zero"]  # zero has no logarithm


@pytest.mark.parametrize(
    ("value", "told"),
    [(None, ""), (1234567, "1,234,567"), (0.123456, "0.1235"), (12345.6, "12,346"), (3.0, "3"), ("C", "C")],
)
def test_numbers_for_people(value: float | str | None, told: str) -> None:
    assert number(value) == told


def test_slugs_are_file_names() -> None:
    assert slug("Table 1: time, µs / byte") == "table-1-time-s-byte"
