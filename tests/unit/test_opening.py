"""How a function takes a results file: by its path or opened, and by compilers."""

from __future__ import annotations

from pathlib import Path

from motecrypt.results import Results
from motecrypt.results.opening import opened
from unit.test_store import made


def test_a_file_is_opened_by_its_path_or_stays_open_and_is_read_by_compilers(tmp_path: Path) -> None:
    figures = {
        name: made(day, toolchain=name, compiler=f"compiler {name}") for day, name in ((1, "b"), (2, "c"))
    }
    place = tmp_path / "r.db"
    with Results(place) as results:
        results.store(figures)
        for given in (place, str(place), results):
            for compilers, wanted in (((), ["b", "c"]), (("compiler c",), ["c"]), (["iler b"], ["b"])):
                with opened(given, compilers, make=False) as store:
                    assert sorted(each.toolchain for each in store.measurements()) == wanted
        assert len(results.measurements()) == 2  # it is still open
    for make in (False, True):
        with opened(place.with_name("none.db"), make=make) as store:
            assert store.measurements() == []
        assert place.with_name("none.db").exists() == make
