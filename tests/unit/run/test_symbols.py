"""What is read of an ELF's symbols, lines and inlined functions, from tables made by hand."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from elftools.dwarf.ranges import BaseAddressEntry

from motecrypt.base.errors import InputError
from motecrypt.base.process import Outcome
from motecrypt.simulate.emulate import symbols
from motecrypt.simulate.emulate.images import ARM, Segment, elf_of
from motecrypt.simulate.emulate.symbols import Function, Inlined, Symbols, read_symbols
from unit.run.elf_files import avr_elf, with_sections

NOTYPE, OBJECT, FUNC = 0, 1, 2
TABLE = (
    *(("f", 0x100, 0x10, FUNC), ("g", 0x110, 0, FUNC), ("__h", 0x120, 0x100, FUNC), ("h", 0x120, 2, FUNC)),
    *(("i", 0x130, 0, FUNC), ("j", 0x200, 4, FUNC), ("__bad_k", 0x208, 0, FUNC), ("k", 0x208, 0x80, FUNC)),
    *(("__k", 0x208, 0, FUNC), ("label", 0x104, 0, NOTYPE), ("f.cold", 0x10C, 4, FUNC)),
    *(("$d", 0x106, 0, NOTYPE), ("", 0x106, 0, NOTYPE), ("table", 0x106, 4, OBJECT)),
    *(("behind", 0x140, 0, NOTYPE), ("before", 0xFE, 0, FUNC), ("data", 0x300, 0, NOTYPE)),
)
FUNCTIONS = (
    *(Function("f", 0x100, 0x110), Function("g", 0x110, 0x120), Function("h", 0x120, 0x130)),
    *(Function("i", 0x130, 0x140), Function("j", 0x200, 0x204), Function("k", 0x208, 0x210)),
)
LABELS = {
    0x104: "label",
    0x10C: "f.cold",
    **{function.start: function.name for function in FUNCTIONS},
}


def elf(folder: Path, table: Sequence[tuple[str, int, int, int]], thumb: bool = False) -> Path:
    names, entries = b"\0", bytes(16)
    for name, address, size, kind in table:
        odd = int(thumb and kind == FUNC)
        entries += struct.pack("<IIIBBH", len(names) if name else 0, address | odd, size, 0x10 | kind, 0, 1)
        names += name.encode() + b"\0"
    whole = elf_of([Segment(0x100, bytes(0x40))], ARM, 1) if thumb else avr_elf(Segment(0x100, bytes(0x40)))
    target = folder / "file.elf"
    target.write_bytes(
        with_sections(
            whole,
            {"name": ".text", "flags": 6, "address": 0x100, "data": bytes(0x40)},
            {"name": ".late", "flags": 4, "address": 0x200, "data": bytes(0x10)},
            {"name": ".data", "flags": 3, "address": 0x300, "data": bytes(0x10)},
            {"name": ".symtab", "kind": 2, "data": entries, "link": 5, "entry": 16},
            {"name": ".strtab", "kind": 3, "data": names},
        )
    )
    return target


@pytest.mark.parametrize("thumb", [False, True])
def test_functions_and_labels_of_a_table(thumb: bool, tmp_path: Path) -> None:
    for table in (TABLE, TABLE[::-1]):
        found = read_symbols(elf(tmp_path, table, thumb), "none")
        assert (found.functions, found.labels, found.lines, found.inlined) == (FUNCTIONS, LABELS, (), ())


def test_an_odd_address_is_one_on_an_avr(tmp_path: Path) -> None:
    found = read_symbols(elf(tmp_path, [("f", 0x101, 2, FUNC), ("l", 0x105, 0, NOTYPE)]), "none")
    assert found.functions == (Function("f", 0x101, 0x103),) and found.labels == {0x101: "f", 0x105: "l"}


def test_an_address_where_two_sections_meet_is_in_the_second() -> None:
    code = [(0x100, 0x140), (0x140, 0x150)]
    assert [symbols._end_of(code, at) for at in (0x100, 0x13F, 0x140, 0x14F)] == [0x140, 0x140, 0x150, 0x150]


def test_a_stripped_file_has_none(tmp_path: Path) -> None:
    place = tmp_path / "f"
    place.write_bytes(avr_elf(Segment(0, b"ab")))
    assert read_symbols(place, "none") == Symbols((), {}, (), ())


def test_what_is_damaged_is_told_and_what_is_not_understood_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = elf(tmp_path, TABLE)
    for error, said in ((ValueError("why"), "why"), (ValueError(), "ValueError")):

        def fail(opened: object, error: Exception = error) -> Any:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(symbols, "_functions", fail)
            with pytest.raises(InputError) as told:
                read_symbols(place, "none")
        assert str(told.value) == f"{place}: damaged ELF file ({said}); copy or build it again"
        with monkeypatch.context() as patch:
            patch.setattr(symbols, "_debug", fail)
            assert read_symbols(place, "none") == Symbols(FUNCTIONS, LABELS, (), ())


def test_a_line_holds_up_to_the_next() -> None:
    found = Symbols((), {5: "five"}, ((10, "a", 1), (20, "", 0), (30, "b", 5)), ())
    expected = {9: None, 10: ("a", 1), 19: ("a", 1), 20: None, 29: None, 30: ("b", 5), 999: ("b", 5)}
    assert {address: found.line_at(address) for address in expected} == expected
    assert (found.name_at(5), found.name_at(31)) == ("five", "0x1f")
    assert Symbols((), {}, (), ()).line_at(5) is None


def test_the_nicest_of_several_names_comes_first() -> None:
    names = ["a", "b", "_a", "z_", "__a", "a_b_c_d_e_f", "__bad", "__bad_"]
    assert sorted({*names}, key=symbols._for_people) == names


def test_names_are_made_plain_some_at_a_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []
    ends: list[int] = [0]
    answers: list[str | None] = [None]

    def run(command: list[str], work_s: float) -> Outcome:
        asked.append((command[0], len(command) - 1, command[1], work_s))
        plain = "".join(f"plain {name}\n" for name in command[1:])
        return Outcome(ends[0], plain if answers[0] is None else answers[0], "")

    monkeypatch.setattr(symbols.process, "run", run)
    names = {f"_Z{number:04}" for number in range(1001)} | {"main", "Z"}
    for code in (1, 0):
        ends[0] = code
        expected = {n: f"plain {n}" if code == 0 and n.startswith("_Z") else n for n in names}
        assert symbols._demangled(names, "filt") == expected
        assert [asked.pop(0) for _ in range(3)] == [
            ("filt", 500, "_Z0000", 20.0),
            ("filt", 500, "_Z0500", 20.0),
            ("filt", 1, "_Z1000", 20.0),
        ]
    for answer in ("", "one\ntwo\nthree\n"):  # not a line for each
        answers[0] = answer
        assert symbols._demangled({"_Za", "_Zb"}, "filt") == {"_Za": "_Za", "_Zb": "_Zb"}
    answers[0] = None
    inlined = [Inlined("_Zin", "_Zf", ((1, 2),))]
    monkeypatch.setattr(symbols, "_debug", lambda opened: ([(0x100, "f.c", 3)], inlined))
    table = [("_Zf", 0x100, 4, FUNC), ("_Zl", 0x108, 0, NOTYPE)]
    assert read_symbols(elf(tmp_path, table), "filt") == Symbols(
        (Function("plain _Zf", 0x100, 0x104),),
        {0x100: "plain _Zf", 0x108: "plain _Zl"},
        ((0x100, "f.c", 3),),
        (Inlined("plain _Zin", "plain _Zf", ((1, 2),)),),
    )


# --- DWARF -------------------------------------------------------------------------------------------------


class Die:
    """An entry of debugging information: its tag, its attributes, what is in it."""

    def __init__(self, tag: str, *children: Die, forms: str = "DW_FORM_addr", **attributes: Any) -> None:
        self.tag, self._children = f"DW_TAG_{tag}", children
        self.attributes = {
            f"DW_AT_{name}": SimpleNamespace(value=value, form=forms) for name, value in attributes.items()
        }

    def iter_children(self) -> Sequence[Die]:
        return self._children

    def get_DIE_from_attribute(self, name: str) -> Die:  # noqa: N802 - pyelftools's
        found: Die = self.attributes[name].value
        return found


def test_a_name_is_that_of_the_linker_or_of_what_it_leads_to() -> None:
    assert symbols._name_of(Die("x", name=b"n", linkage_name=b"l", MIPS_linkage_name=b"m")) == "l"
    assert symbols._name_of(Die("x", name=b"n", MIPS_linkage_name=b"m")) == "m"
    assert symbols._name_of(Die("x", name="n")) == "n"
    assert symbols._name_of(Die("x")) == ""
    die, other = Die("x", name=b"\xff"), Die("x", name=b"other")
    assert symbols._name_of(die) == "\ufffd"
    assert symbols._name_of(Die("x", abstract_origin=die, specification=other)) == "\ufffd"
    for links in range(1, 6):
        other = Die("x", specification=other)
        assert symbols._name_of(other) == ("other" if links < 4 else "")


def test_ranges_are_from_a_low_to_a_high_address_or_a_list() -> None:
    asked: list[Any] = []
    entries: list[Any] = []

    def listed(offset: int, cu: object) -> list[Any]:
        asked.append((offset, cu))
        return entries

    dwarf = SimpleNamespace(range_lists=lambda: SimpleNamespace(get_range_list_at_offset=listed))

    def ranges(die: Die, top: Die) -> Any:
        unit = SimpleNamespace(get_top_DIE=lambda: top)
        found = symbols._ranges_of(dwarf, unit, die)
        assert not asked or asked.pop() == (7, unit)
        return found

    top = Die("compile_unit", low_pc=0x1000)
    assert ranges(Die("x", low_pc=16, high_pc=20), top) == ((16, 20),)
    assert ranges(Die("x", low_pc=16, high_pc=20, forms="DW_FORM_data1"), top) == ((16, 36),)
    for die in (Die("x"), Die("x", low_pc=1), Die("x", high_pc=1)):
        assert ranges(die, top) == ()
    entries += [
        SimpleNamespace(begin_offset=1, end_offset=3),
        SimpleNamespace(begin_offset=5, end_offset=5),
        SimpleNamespace(begin_offset=6, end_offset=5),
        SimpleNamespace(begin_offset=7, end_offset=9, is_absolute=True),
        BaseAddressEntry(0, 0x2000),
        SimpleNamespace(begin_offset=1, end_offset=2, is_absolute=False),
    ]
    listing = Die("x", ranges=7, low_pc=3)
    assert ranges(listing, top) == ((0x1001, 0x1003), (7, 9), (0x2001, 0x2002))
    assert ranges(listing, Die("compile_unit")) == ((1, 3), (7, 9), (0x2001, 0x2002))


def program(version: int, folders: list[bytes], files: list[tuple[bytes, int]], *states: Any) -> Any:
    header = {
        "version": version,
        "include_directory": folders,
        "file_entry": [SimpleNamespace(name=name, dir_index=index) for name, index in files],
    }
    return SimpleNamespace(header=header, get_entries=lambda: [SimpleNamespace(state=s) for s in states])


def state(address: int, file: int = 1, line: int = 1, end: bool = False) -> Any:
    return SimpleNamespace(address=address, file=file, line=line, end_sequence=end)


def test_files_are_counted_from_1_and_since_version_5_from_0() -> None:
    folders, files = [b"/one", b"two"], [(b"a.c", 0), (b"b.c", 1), (b"/c.c", 1), (b"d.c", 2)]
    top = Die("compile_unit")
    for version in (2, 4):
        old = symbols._file_names(program(version, folders, files), top)
        assert old == {1: "a.c", 2: "/one/b.c", 3: "/c.c", 4: "two/d.c"}
    for version in (5, 6):
        new = symbols._file_names(program(version, folders, files[:3]), top)
        assert new == {0: "/one/a.c", 1: "two/b.c", 2: "/c.c"}


def test_lines_and_inlined_functions_of_all_units() -> None:
    origin = Die("subprogram", name=b"tiny")
    inner = Die("inlined_subroutine", low_pc=8, high_pc=9, linkage_name=b"_Zin")
    unnamed = Die("inlined_subroutine", low_pc=8, high_pc=9)
    nowhere = Die("inlined_subroutine", name=b"nowhere")
    holds = Die("inlined_subroutine", inner, abstract_origin=origin, low_pc=4, high_pc=12)
    body = Die("subprogram", Die("lexical_block", holds), unnamed, nowhere, name=b"main")
    loose = Die("inlined_subroutine", name=b"loose", low_pc=1, high_pc=2)
    nested = [
        Die(tag, Die("subprogram", Die("inlined_subroutine", low_pc=1, high_pc=2, name=b"t"), name=b"in"))
        for tag in ("namespace", "class_type", "structure_type")
    ]
    skipped = Die("x", Die("variable", Die("inlined_subroutine", low_pc=1, high_pc=2, name=b"no")))
    union = Die("union_type", Die("lexical_block", loose), name=b"u")
    anonymous = Die("subprogram", Die("subprogram", loose), name=b"outer")
    units = [
        SimpleNamespace(get_top_DIE=lambda: Die("compile_unit", body, *nested, skipped)),
        SimpleNamespace(get_top_DIE=lambda: Die("compile_unit", anonymous, loose, union)),
        SimpleNamespace(get_top_DIE=lambda: Die("compile_unit")),
    ]
    programs = [
        program(
            4, [], [(b"a.c", 0)], state(9, line=7), state(4), None, state(9, line=8), state(12, end=True)
        ),
        program(
            4,
            [],
            [(b"b.c", 0)],
            state(12, line=3),
            state(20, file=2),
            state(4, end=True),
            state(30, end=True),
        ),
        None,
    ]
    found = dict(zip(map(id, units), programs, strict=True))
    dwarf = SimpleNamespace(iter_CUs=lambda: units, line_program_for_CU=lambda unit: found[id(unit)])
    opened: Any = SimpleNamespace(has_dwarf_info=lambda: True, get_dwarf_info=lambda: dwarf)
    lines, inlined = symbols._debug(opened)
    assert lines == [(4, "a.c", 1), (9, "a.c", 8), (12, "b.c", 3), (20, "?", 1), (30, "", 0)]
    assert inlined == [
        Inlined("tiny", "main", ((4, 12),)),
        Inlined("_Zin", "main", ((8, 9),)),
        *[Inlined("t", "in", ((1, 2),))] * 3,
        Inlined("loose", "outer", ((1, 2),)),
        *[Inlined("loose", "", ((1, 2),))] * 2,
    ]
    assert symbols._debug(SimpleNamespace(has_dwarf_info=lambda: False)) == ([], [])  # type: ignore[arg-type]
