"""The report's pure parts at their edges: joined costs, choices among equals, sentences, files of figures."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt import studies
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Measurement
from motecrypt.catalog import Catalog
from motecrypt.present.report import charts, content, costs, export, headlines, tiles, vega
from motecrypt.present.report.figure import Figure, theme
from motecrypt.results.experiments.audit import DiffusionMatrix

DEVICES = Catalog.load().devices


def measurement(**changes: Any) -> Measurement:
    usual: dict[str, Any] = {
        "device": "uno",
        "library": "motecrypt",
        "configuration": "",
        "cipher": "rc4",
        "variant": "fast",
        "key_bits": 128,
        "operation": "encrypt",
        "message_bytes": 16,
        "ad_bytes": 0,
        "placement": "flash",
        "cache": "none",
        "cycles_min": 5,
        "cycles_max": 5,
        "time_us": 100.0,
        "timing_varies": False,
        "flash_bytes": 30,
        "ram_bytes": 20,
        "stack_bytes": 10,
        "status": "ok",
        "reason": "",
        "flags": "-Os",
        "runner": "simavr 1",
        "cycles_exact": True,
        "flags_asked": "",
        "extra": {},
    }
    return Measurement(**{**dict.fromkeys(Measurement.__dataclass_fields__), **usual, **changes})  # type: ignore[arg-type]


def joined(*given: Measurement) -> list[costs.Cost]:
    return costs.join(given, DEVICES)


def test_operations_of_one_implementation_are_joined() -> None:
    m = measurement
    (cost,) = joined(
        *(m(), m(operation="setup", time_us=7.0, stack_bytes=12, flash_bytes=99), m(time_us=1.0)),
        m(operation="decrypt", status="fault", reason="crashed", stack_bytes=None, flash_bytes=None),
        m(cipher="empty"),
    )
    assert (cost.time_us("encrypt"), cost.time_us("setup"), cost.time_us("decrypt")) == (100.0, 7.0, None)
    assert (cost.flash_bytes, cost.ram_bytes, cost.stack_bytes, cost.reason, cost.ran) == (
        30,
        20,
        12,
        "crashed",
        True,
    )
    assert (cost.placement, cost.flags, cost.varies, cost.shortfall) == ("flash", "", "none seen", None)
    uno = DEVICES["uno"]
    active = uno.current("active")
    assert active is not None
    assert cost.energy_uj("encrypt", uno) == pytest.approx(uno.volts * active.milliamperes * 100 / 1000)
    assert cost.energy_uj("decrypt", uno) is None is cost.energy_uj("encrypt", None)
    assert costs.place(m(cache="cold")) == "flash, cold" and costs.place(m(cache="")) == "flash"
    own = [f for f in uno.compiler.flags if f.startswith("-O")]
    (flagged,) = joined(m(flags=" ".join(["-O3", "-mmcu=x", "-flto", *own])))
    assert flagged.flags.split() == [f for f in ("-O3", "-flto") if f not in uno.compiler.flags]
    assert joined(m(device="gone", flags="-Os"))[0].flags == "-Os"


def test_what_differs_is_not_joined_and_what_is_fast_comes_first() -> None:
    m = measurement
    changes: list[dict[str, Any]] = [
        {"time_us": 50.0, "variant": "small"},
        *({"device": "pico"}, {"cipher": "aes128-cbc"}, {"library": "other"}, {"key_bits": 256}),
        *({"cache": "cold"}, {"flags_asked": "-O3"}, {"message_bytes": 32}, {"ad_bytes": 8}),
        *({"runner": "board 1"}, {"status": "fault"}),
    ]
    made = joined(m(), *(m(**change) for change in changes[:-1]))
    assert len(made) == len(changes)
    order = [(c.cipher, c.device, c.key_bits, c.message_bytes, c.ad_bytes) for c in made]
    assert order == sorted(order) and made[0].cipher == "aes128-cbc"
    uno = [c for c in made if (c.cipher, c.device, c.key_bits, c.message_bytes, c.ad_bytes) == order[-4]]
    assert uno[0].time_us("encrypt") in (50.0, 100.0)
    times = [
        c.time_us("encrypt") for c in joined(m(), m(variant="a", status="x"), m(variant="z", time_us=9.0))
    ]
    assert times == [9.0, 100.0, None]


def test_whether_time_varies() -> None:
    def varies(**changes: Any) -> str:
        return joined(measurement(**changes))[0].varies

    assert (
        varies() == "none seen"
        and varies(cycles_max=6) == "yes"
        and varies(timing_varies=True) == "addresses"
    )
    assert varies(cycles_max=6, cycles_exact=False) == "none seen"
    assert varies(timing_varies=None) == "?" and varies(status="fault", cycles_max=6) == "?"


def test_the_usual_length_is_one_at_which_many_ran() -> None:
    def usual(*lengths: int) -> int:
        made = [measurement(message_bytes=n, variant=str(at)) for at, n in enumerate(lengths)]
        return costs.usual_length(joined(*made))

    assert usual() == 16 and usual(16, 48, 48, 48, 48) == 16 and usual(16, *[48] * 5) == 48
    assert usual(8, 24) == 8 and usual(40, 20, 15) == 15 and usual(15, 17) == 15 and usual(16, 15) == 16
    assert costs.usual_length(joined(measurement(status="fault", message_bytes=99))) == 16


def test_the_best_of_each_device() -> None:
    m = measurement
    made = joined(
        *(m(variant="b"), m(variant="a", time_us=90.0), m(variant="c", time_us=90.0), m(device="pico")),
        *(m(variant="d", time_us=1.0, ad_bytes=4), m(variant="e", time_us=1.0, message_bytes=32)),
        m(variant="f", time_us=1.0, status="fault"),
    )
    best = costs.best_by_device(reversed(made), 16)
    assert {name: cost.implementation for name, cost in best.items()} == {
        "uno": "motecrypt/c",
        "pico": "motecrypt/fast",
    }
    assert costs.best_by_device(made, 16)["uno"].implementation == "motecrypt/a"


def test_a_line_over_length_needs_three_lengths() -> None:
    rc4 = Catalog.load().ciphers["rc4"]

    def figure(*lengths: int) -> Figure | None:
        return content._length_figure(rc4, joined(*(measurement(message_bytes=n) for n in lengths)))

    assert figure(16, 32) is None
    made = figure(16, 32, 48)
    assert made is not None and [row["message_bytes"] for row in made.data()] == [16, 32, 48]


# --- sentences ---------------------------------------------------------------------------------------------


def cipher(name: str, time: float | None = None, security: str = "recommended", **more: Any) -> Any:
    cost = SimpleNamespace(
        time_us=lambda operation: time, implementation="motecrypt/x", flash_bytes=1234, cipher=name
    )
    best = {} if time is None else {"uno": cost, "host": cost}
    usual = {"message_bytes": 16, "best": best, "costs": (), "audit": ()}
    return SimpleNamespace(cipher=SimpleNamespace(name=name, security=security), **{**usual, **more})


def test_the_fastest_recommended_cipher_is_told_beside_the_yardstick() -> None:
    two = [cipher("a", 2000.4), cipher("b", 1000.4)]
    told = "On uno the fastest recommended cipher measured is b (motecrypt/x): 1,000 µs for 16 bytes, "
    told += "1,234 bytes of flash"
    assert [text for _, text in headlines.told_cheapest(two)] == [f"{told}."]
    yard = cipher("aes128-cbc", 1500.0, security="unauthenticated")
    assert [text for _, text in headlines.told_cheapest([*two, yard])] == [
        f"{told}; aes128-cbc, which does not detect changes, takes 1,500 µs."
    ]
    assert [text for _, text in headlines.told_cheapest([two[0], yard])] == []
    longer = cipher("aes128-cbc", 1.0, security="x", message_bytes=32)
    assert [text for _, text in headlines.told_cheapest([*two, longer])] == [f"{told}."]
    odd = [cipher("c", 1.0, message_bytes=48), *two]
    assert [text for _, text in headlines.told_cheapest(odd)] == [f"{told}."]
    assert headlines._common_length([], "uno") == 0


def test_what_varies_and_what_does_not_fit() -> None:
    def cost(device: str = "uno", varies: str = "yes", ran: bool = True, memory: str = "") -> Any:
        short = SimpleNamespace(memory=memory, text="needs 9 of 8 bytes of RAM") if memory else None
        return SimpleNamespace(
            device=device,
            varies=varies,
            ran=ran,
            shortfall=short,
            cipher="c",
            implementation="i",
            placement="flash",
        )

    names = [cipher(f"c{n}", costs=(cost(), cost())) for n in range(7)]
    others = [
        cipher("d", costs=(cost("host"),)),
        cipher("e", costs=(cost(varies="addresses"),)),
        cipher("f", costs=(cost(ran=False),)),
    ]
    assert list(headlines.told_timing([*names, *others])) == [
        "The time of 7 ciphers depends on key or message in at least one implementation, "
        "which an attacker can measure: c0, c1, c2, c3, c4 and 2 more."
    ]
    assert list(headlines.told_timing(others)) == [] == list(headlines.told_room(others))
    room = [cipher("c", costs=(cost(memory="message"), cost(memory="ram"), cost(memory="flash")))]
    assert list(headlines.told_room(room)) == [
        "2 implementations do not fit their device, such as c by i (flash) on uno: needs 9 of 8 bytes of RAM."
    ]


def test_attacks_that_succeed_are_told_the_hardest_first() -> None:
    def part(name: str, weight: str = "bad", *sentences: str) -> Any:
        return SimpleNamespace(part=name, weight=weight, sentences=sentences, title="T", verdict="broken")

    one = cipher(
        "a", audit=(part("attack:x", "bad", "It falls."), part("integrity"), part("attack:y", "note"))
    )
    two = cipher("b", audit=(part("attack:ciphertext-only"),))
    assert list(headlines.told_attacks([one])) == ["a is broken in practice: It falls."]
    assert list(headlines.told_attacks([one, two])) == [
        "b is broken in practice: T: broken. Our attacks also succeed against a."
    ]
    assert (
        list(headlines.told_attacks([cipher("c", audit=(part("integrity"), part("attack:z", "good")))])) == []
    )


def test_verdicts_are_summed() -> None:
    def source(title: str, measured: bool = True, **counts: int) -> Any:
        return SimpleNamespace(title=title, measured=measured, counts=Counter(counts))

    wrong = "paper is inconsistent"
    known = [source("A", matches=3, differs=5, **{wrong: 1}), source("B", matches=2, **{wrong: 4})]
    assert list(headlines.told_verdicts([*known, source("C", measured=False, matches=99)])) == [
        "2 published sources were tested again: 5 of 15 figures and claims that could be checked match, "
        "5 differ, and in 5 the paper contradicts itself, a standard or physics, most of these (4) in “B”."
    ]
    assert list(headlines.told_verdicts([source("A")])) == [] == list(headlines.told_verdicts([]))


def test_long_sentences_end_at_a_comma() -> None:
    short = headlines._short
    assert short("x" * 225) == "x" * 225 and short("x" * 226) == "x" * 225 + "."
    assert short("a" * 61 + ", " + "b" * 300) == "a" * 61 + "."
    assert short("a" * 60 + ", " + "b" * 300) == "a" * 60 + ", " + "b" * 163 + "."
    assert short("a" * 100 + "), " + "b" * 20 + "; " + "c" * 300) == "a" * 100 + "), " + "b" * 20 + "."
    assert (
        headlines._list("abcde") == "a, b, c, d, e"
        and headlines._list("abcdef") == "a, b, c, d, e and 1 more"
    )


# --- figures -----------------------------------------------------------------------------------------------


def figure(**specification: Any) -> Figure:
    return Figure("f", "Title", "Caption.", "motecrypt x", specification)


VALUES = {"values": [{"a": 1, "b": "=x"}, {"a": 2, "c": None}, "no row"]}


def test_a_figures_data_is_in_its_specification() -> None:
    assert figure(data=VALUES).as_csv() == "a,b,c\n1,'=x,\n2,,\n"
    panels = figure(
        hconcat=[{"title": "P", "data": VALUES}, {"title": {"text": "Q"}, "layer": [{"data": VALUES}]}]
    )
    assert panels.panels == 2 and figure(data=VALUES).panels == 0 and figure(vconcat=[{}] * 3).panels == 3
    rows = panels.data()
    assert [row["a"] for row in rows] == [1, 2, 1, 2] and [row.get("panel") for row in rows][2:] == ["Q", "Q"]
    facet = figure(data={"name": "n"}, spec={"data": VALUES})
    assert [row["a"] for row in facet.data()] == [1, 2]
    given = Figure("f", "T", "C", "x", {"data": VALUES}, ({"z": 5},))
    assert given.data() == [{"z": 5}]


def test_figures_become_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(
        vega,
        "engine",
        lambda: SimpleNamespace(
            vegalite_to_svg=lambda given: drawn.append(given) or "<svg/>",
            svg_to_pdf=lambda given: [37, 80] if given == "<svg/>" else [],
        ),
    )
    two = [Figure("one", "A", "About one.", "make one", {"data": VALUES}), figure(hconcat=[])]
    said: list[Any] = []
    captions = export.export_figures(two, tmp_path / "out", lambda *given: said.append(given))
    assert said == [(0, 2, "one"), (1, 2, "f")] and captions == tmp_path / "out/captions.md"
    assert captions.read_text() == (
        "# Figures\n\n## one\n\nAbout one.\n\nCommand to make it again: `make one`.\n\n"
        "## f\n\nCaption.\n\nCommand to make it again: `motecrypt x`.\n"
    )
    assert (tmp_path / "out/one.svg").read_text() == "<svg/>" and (
        tmp_path / "out/f.pdf"
    ).read_bytes() == b"%P"
    assert (tmp_path / "out/one.csv").read_text() == two[0].as_csv()
    paper = theme("#1a1a1a", "white")
    assert drawn[0] == {"width": vega.WIDTH, "title": "A", "data": VALUES, "config": paper}
    assert drawn[1] == {"title": "Title", "hconcat": [], "config": paper}
    assert paper["background"] == "white" and paper["text"] == {"color": "#1a1a1a"}


def test_no_address_is_left_in_the_script() -> None:
    script = 'a="https://vega.github.io/x";b="http://www.w3.org/2000/svg";c="https://www.w3.org/x"'
    assert vega.without_addresses(script) == (
        'a="vega.github.io/x";b="http:\\/\\/www.w3.org/2000/svg";c="https:\\/\\/www.w3.org/x"'
    )


def test_the_script_is_made_once_for_each_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(vega, "cache_dir", lambda: tmp_path)
    monkeypatch.setattr(vega.importlib.util, "find_spec", lambda name: None)
    assert vega.javascript() == ""
    monkeypatch.setattr(vega.importlib.util, "find_spec", lambda name: name == "vl_convert")
    monkeypatch.setattr("importlib.metadata.version", lambda name: {"vl-convert-python": "9.8"}[name])
    made = iter(["see https://x.y/z"])
    monkeypatch.setattr(vega, "engine", lambda: SimpleNamespace(javascript_bundle=lambda: next(made)))
    assert vega.javascript() == vega.javascript() == "see x.y/z"
    assert (tmp_path / "report/vega-embed-9.8.js").read_text() == "see x.y/z"


# --- studies of one's own ----------------------------------------------------------------------------------

STUDY = "TITLE = SOURCE = 't'\ndef comparisons(results): return []\ndef sections(results): return []\n"
NEEDS = "from motecrypt.studies import Needs\nfrom .study import TITLE\ndef needs(): return Needs((TITLE,))\n"


def test_a_folder_of_ones_own_is_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, title in (("one", "A"), ("two", "B")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "study.py").write_text(STUDY.replace("'t'", repr(title)))
        (tmp_path / name / "needs.py").write_text(NEEDS)
        assert title == studies.study(str(tmp_path / name)).TITLE
        assert studies.needs(str(tmp_path / name)) == studies.Needs((title,))
    monkeypatch.chdir(tmp_path / "one")
    assert studies.study(".").TITLE == "A" and studies.study("./../two").TITLE == "B"
    (tmp_path / "one/rf").mkdir()
    (tmp_path / "one/mine").mkdir()
    (tmp_path / "one/mine/study.py").write_text(STUDY)
    with pytest.raises(
        InputError, match=r"^unknown study 'mine'; available: .*; the folder here is written \./mine$"
    ):
        studies.study("mine")
    with pytest.raises(InputError, match=r"^unknown study 'x'; available: .*, or your own folder$"):
        studies.study("x")
    with pytest.raises(
        InputError, match=r"^\./mine: no needs\.py there; your own study needs one \(docs/adding\.md\)$"
    ):
        studies.needs("./mine")
    orders = [getattr(studies.study(name), "ORDER", 99) for name in studies.names()]
    assert orders == sorted(orders) and sorted(studies.names()) == studies.folders()


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("1/0", InputError, r"study\.py: cannot be used: ZeroDivisionError: division by zero$"),
        (
            STUDY.replace("sections", "others"),
            InputError,
            r"study\.py: 'sections' is missing \(docs/adding\.md\)$",
        ),
        (
            "from motecrypt.base.errors import MotecryptError\nraise MotecryptError('mine')",
            MotecryptError,
            r"^mine$",
        ),
    ],
)
def test_a_folder_that_is_no_study_is_refused(
    text: str, error: type[Exception], told: str, tmp_path: Path
) -> None:
    (tmp_path / "study.py").write_text(text)
    with pytest.raises(error, match=told):
        studies.study(str(tmp_path))


def test_attacks_are_told_unless_the_studies_tell_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    told = tiles.ClaimId.RC4D_STRONGER_THAN_RC4
    attack = SimpleNamespace(part="attack:x", weight="bad", sentences=("It falls.",), title="T", verdict="v")
    hit = cipher("a", audit=(attack,))
    source = SimpleNamespace(name="s", title="S", measured=True, rows=(), counts=Counter(matches=1))
    asked: list[Any] = []
    for ids, expected in (([], True), (["a", "zzz"], True), (["a", told], False)):
        rows = [SimpleNamespace(topic=each) for each in ids]
        found = [
            SimpleNamespace(text="one", rows=rows, study="s"),
            SimpleNamespace(text="two", rows=(), study="s"),
        ]
        monkeypatch.setattr(
            tiles, "highlights", lambda given, most, found=found: asked.append((given, most)) or found
        )
        made = tiles.tiles([source, SimpleNamespace(name="no", measured=False)], [hit])
        said = ["one.", "two.", *(["a is broken in practice: It falls."] if expected else [])]
        assert [tile.text for tile in made[:-1]] == said
        assert made[-1].kind == "verdicts" and made[-1].text.startswith("1 published sources were tested")
    assert asked[0] == ({"s": ()}, 4)


# --- charts ------------------------------------------------------------------------------------------------


def test_the_ticks_of_an_axis() -> None:
    def ticks(*values: float) -> list[float] | None:
        made = charts.axis_of("f", values, "t")
        assert (made["field"], made["type"], made["title"]) == ("f", "quantitative", "t")
        if made["scale"] == {"zero": True, "nice": True}:
            assert made["axis"] == {"tickCount": 6}
            return None
        assert made["scale"] == {"type": "log", "nice": False, "padding": 9}
        assert made["axis"]["format"] == ",~r"
        return list(made["axis"]["values"])

    assert ticks(1, 20) == [1, 2, 5, 10, 20, 50, 100, 200, 500]
    assert ticks(0.5, 10) == [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50]
    assert ticks(1, 1000) == [1, 10, 100, 1000]
    assert ticks(5, 50_000) == [1, 10, 100, 1000, 10_000, 100_000]
    for linear in ((1, 19.9), (0, 1000), (-1, 1000), (5, 5), ()):
        assert ticks(*linear) is None


def test_a_chart_has_room_for_each_row() -> None:
    for count, height in ((1, 38), (2, 38), (3, 57), (10, 190)):
        values = [{"cipher": n, "device": "d", "value": 1.0} for n in range(count)]
        assert charts.by_cipher([*values, *values], "q")["height"] == height


def test_a_heat_map_tells_means_of_eight_bits_in_steps_of_ten() -> None:
    # Byte 0: never, seldom (1 bit of 8 at 8 %: 1 %), half; byte 1: 44, 45 and 46 % and always.
    bits = [(0, 0, 50)] * 7 + [(0, 8, 50)] + [(44, 46, 100)] * 8
    found = DiffusionMatrix("key", 2, 3, tuple(bits))
    made = charts.heat_maps({"one": found, "two": found})
    assert [panel["title"]["text"] for panel in made["concat"]] == ["one", "two"]
    panel = made["concat"][1]
    assert [
        (v["input"], v["input_end"], v["output"], v["output_end"], v["percent"])
        for v in panel["data"]["values"]
    ] == [
        (0, 1, 0, 1, 0),
        (0, 1, 1, 2, 5),
        (0, 1, 2, 3, 50),
        (1, 2, 0, 1, 40),
        (1, 2, 1, 2, 50),
        (1, 2, 2, 3, 100),
    ]
    assert panel["encoding"]["x"]["scale"] == {"domain": [0, 3], "nice": False}
    assert panel["encoding"]["y"]["scale"] == {"domain": [0, 2], "nice": False}
    rows = charts.heat_rows({"one": found})
    assert len(rows) == 48 and rows[0] == {
        "panel": "one",
        "input_bit": 0,
        "output_byte": 0,
        "changed_percent": 0,
    }
    assert rows[23] == {"panel": "one", "input_bit": 7, "output_byte": 2, "changed_percent": 50}


def test_neighbours_of_one_level_are_one_rectangle() -> None:
    runs = charts._runs(3, [10, 10, 10, 0, 10])
    assert [(r["output"], r["output_end"], r["percent"]) for r in runs] == [(0, 3, 10), (3, 4, 0), (4, 5, 10)]
    assert {(r["input"], r["input_end"]) for r in runs} == {(3, 4)}
