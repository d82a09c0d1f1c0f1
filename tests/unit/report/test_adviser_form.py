"""The adviser's form on the report's page begins with the defaults of `motecrypt advise`, each of them."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from click import Context

from motecrypt.adviser import api as advise
from motecrypt.catalog import Catalog
from motecrypt.cli.advise import command
from motecrypt.present.report import gather, render
from motecrypt.present.report.content import Content
from motecrypt.present.report.orders import PageOrder, parse_order
from motecrypt.results import Results
from report_data import fill

#: Options without a field: another question, or how the terminal's answer is shown.
WITHOUT_FIELD = {
    *("storage", "storage-ma", "packet-bytes", "cipher", "library", "keys"),
    *("top", "all", "why-not", "jobs", "db", "json", "wide"),
}
NAMES = ("nano", "nrf52840", "leonardo", "ch32v003")


class Form(HTMLParser):
    """What the fields of the adviser's form have before anybody touches them, by name; boxes as a list."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.values: dict[str, Any] = {}
        self._inside, self._select = False, ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._inside = self._inside or given.get("id") == "adviser-form"
        name = given.get("name") or ""
        if not self._inside:
            return
        if tag == "select":
            self._select = name
        elif tag == "option" and self._select and ("selected" in given or self._select not in self.values):
            self.values[self._select] = given["value"]
        elif tag == "input" and given.get("type") == "checkbox":
            self.values.setdefault(name, []).extend([given["value"]] if "checked" in given else [])
        elif tag == "input":
            self.values[name] = given.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "form"
        if tag == "select":
            self._select = ""


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Content:
    """A report about devices with currents of board and chip, of one of them, or of none."""
    with Results(tmp_path_factory.mktemp("form") / "results.db") as results:
        fill(results, family="ascon", devices=("uno", *NAMES), lengths=(16,))
        return gather(results, Catalog.load())


@pytest.fixture
def fields(content: Content) -> dict[str, Any]:
    """The fields of the report's form."""
    return Form(render(content, bundle="")).values


def test_every_field_begins_with_the_default_of_its_option(fields: dict[str, Any]) -> None:
    options = {option.opts[0].removeprefix("--"): option for option in command.params}
    assert set(options) - WITHOUT_FIELD == set(fields) == {*advise.USUAL, *advise.EXAMPLE}
    context = Context(command)
    for name, value in fields.items():
        default = options[name].get_default(context)
        if name in advise.EXAMPLE:
            assert value == str(advise.EXAMPLE[name]), name
        elif name == "need":
            assert ",".join(value) == default
        elif isinstance(value, list):
            assert bool(value) is bool(default), name
        else:
            assert value == ("" if default is None else str(default)), name


def test_the_question_of_a_program_and_an_order_have_these_defaults_too() -> None:
    asked = advise.Question(message_bytes=20, interval_s=10)
    order = parse_order({"kind": "advise", "devices": ["uno"], "bytes": [20]})
    assert order == PageOrder("advise", ("uno",), (), (20,))
    for usual in (asked, order):
        assert (usual.answer_bytes, usual.delivery, usual.needs) == (0, "unconfirmed", advise.USUAL_NEEDS)
    assert (asked.loss, asked.budgets) == (0, advise.Budgets(None, None, None, None))


def test_the_help_ends_with_the_example_that_the_form_begins_with() -> None:
    assert command.epilog == (
        "Example: motecrypt advise --device uno --radio srf --bytes 20 --every 10s --battery 3xAA"
    )


def test_constant_time_alone_asks_for_more_in_an_order_too() -> None:
    whole = ("confidentiality", "integrity", "replay", "constant-time")
    for asked, needs in (([], ()), (["constant-time"], whole), (["replay", "constant-time"], whole[2:])):
        document = {"kind": "advise", "devices": ["uno"], "bytes": [20], "needs": asked}
        assert parse_order(document).needs == needs


def test_a_device_is_offered_where_the_command_answers_for_it(content: Content) -> None:
    """With the reasons that the command gives where it does not."""
    data = content.adviser
    assert set(data["candidates"]) == {"uno", *NAMES} - {"ch32v003"}  # that has no known current awake
    assert set(data["devices"]) == {"uno", "nano"} and set(data["chips"]) == set(data["candidates"])
    assert data["refusals"]["nano"] == {
        "board": [
            "",
            "nano: its folder has no current asleep of the stock board; use --bare-chip for the chip alone",
        ],
        "chip": ["", ""],
    }
    of_board = "nrf52840: its folder has no currents of the stock board; use --bare-chip for the chip alone"
    assert data["refusals"]["nrf52840"] == {"board": [of_board, of_board], "chip": ["", ""]}
    assert [text[:52] for text in data["refusals"]["leonardo"]["chip"]] == [
        "",
        "leonardo: its folder has no 'active' and 'sleep' cur",
    ]
