"""Lines and instructions of a profile, and which sources may be read for a firmware that nobody trusts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.annotate import Listing, annotate, parse_objdump, source_text
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.profiling import Profile, profile
from motecrypt.simulate.emulate.run import FreeRun
from tool_sets import needs_tool_set

HERE = Path(__file__).parent
UNO = Catalog.load().device("uno")


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("annotate") / "profiled.elf"
    flags = ["-mmcu=atmega328p", "-Os", "-gdwarf-4"]
    subprocess.run(["avr-gcc", *flags, HERE / "profiled.c", "-o", target], check=True)
    return target


@pytest.fixture(scope="module")
def found(elf: Path) -> Profile:
    return profile(read_image(elf, UNO), UNO, FreeRun(max_seconds=1), lambda data: None)


@pytest.fixture(scope="module")
def listings(elf: Path, found: Profile) -> tuple[Listing, ...]:
    return annotate(found, read_image(elf, UNO), UNO, (HERE,))


@needs_tool_set("avr")
def test_every_counted_cycle_is_in_one_listing(found: Profile, listings: tuple[Listing, ...]) -> None:
    instructions = [i for listing in listings for line in listing.lines for i in line.instructions]
    assert {i.address: (i.times, i.cycles) for i in instructions} == dict(found.instructions)
    assert len(instructions) == len(found.instructions)
    assert all(i.text for i in instructions)
    assert [listing.cycles for listing in listings] == sorted((x.cycles for x in listings), reverse=True)


@needs_tool_set("avr")
def test_lines_have_their_text_and_figures(found: Profile, listings: tuple[Listing, ...]) -> None:
    ours = next(listing for listing in listings if listing.name.endswith("profiled.c"))
    text = (HERE / "profiled.c").read_text().splitlines()
    assert ours.found and all(line.text == text[line.number - 1] for line in ours.lines)
    ran = {line.number: line for line in ours.lines if line.instructions}
    for cost in found.lines:
        if cost.file == ours.name and cost.line:
            assert (ran[cost.line].cycles, ran[cost.line].times) == (cost.cycles, cost.times)
    numbers = [line.number for line in ours.lines]
    around = {n + by for n in ran for by in range(-3, 4)} & set(range(1, len(text) + 1))
    assert set(numbers) == around and numbers == sorted(numbers)


@needs_tool_set("avr")
def test_an_instruction_has_the_text_of_its_address(found: Profile, listings: tuple[Listing, ...]) -> None:
    leaf = next(f for f in found.symbols.functions if f.name == "leaf")
    inside = [
        i
        for listing in listings
        for line in listing.lines
        for i in line.instructions
        if leaf.start <= i.address < leaf.end
    ]
    last = max(inside, key=lambda i: i.address)
    assert last.text == "ret" and last.cycles == 4 * last.times


@needs_tool_set("avr")
def test_instructions_of_a_hex_file_have_the_texts_of_its_elf(
    elf: Path, found: Profile, listings: tuple[Listing, ...]
) -> None:
    plain = elf.with_suffix(".hex")
    subprocess.run(["avr-objcopy", "-O", "ihex", elf, plain], check=True)
    texts = [
        {i.address: i.text for listing in listed for line in listing.lines for i in line.instructions}
        for listed in (listings, annotate(found, read_image(plain, UNO), UNO, ()))
    ]
    assert texts[0] == texts[1] and all(texts[1].values())


@needs_tool_set("avr")
def test_without_an_allowed_folder_there_is_no_source(elf: Path, found: Profile, tmp_path: Path) -> None:
    listings = annotate(found, read_image(elf, UNO), UNO, (tmp_path,))
    ours = next(listing for listing in listings if listing.name.endswith("profiled.c"))
    assert not ours.found and all(line.text == "" and line.instructions for line in ours.lines)


@needs_tool_set("avr")
def test_the_stack_over_time_reaches_the_deepest_stack(found: Profile) -> None:
    stack = found.stack_over_time
    assert stack is not None
    assert max(slot[0] for slot in stack.slots if slot) == found.ended.stack_bytes
    assert len(stack.slots) == -(-found.ended.cycles // stack.slot_cycles)
    assert {slot[1] for slot in stack.slots if slot} >= {"leaf", "down"}


def test_sources_are_read_from_allowed_folders_alone(tmp_path: Path) -> None:
    allowed, other = (tmp_path / name for name in ("allowed", "other"))
    allowed.mkdir()
    other.mkdir()
    for folder in (allowed, other):
        for name in ("a.c", "notes.txt"):
            (folder / name).write_text("one\ntwo\n")
    (allowed / "link.c").symlink_to(other / "a.c")
    (allowed / "trick.c").symlink_to(allowed / "notes.txt")
    (allowed / "folder.c").mkdir()
    folders = [allowed.resolve()]
    assert source_text(str(allowed / "a.c"), folders) == ["one", "two"]
    assert source_text("a.c", folders) == ["one", "two"]
    for name in (
        str(other / "a.c"),
        "../other/a.c",
        str(allowed / "../other/a.c"),
        "link.c",
        "trick.c",
        "notes.txt",
        "folder.c",
        "a\0.c",
        "missing.c",
        "",
    ):
        assert source_text(name, folders) is None, name


def test_a_huge_source_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_bytes(b"x" * ((4 << 20) + 1))
    assert source_text("a.c", [tmp_path.resolve()]) is None


def test_what_a_disassembler_prints_is_read() -> None:
    text = (
        "/tmp/x:     file format binary\n\nDisassembly of section .data:\n\n00000080 <.data>:\n"
        "  80:\t0e 94 6f 00 \tcall\t0xde\t;  0xde\n"
        "  84:\t4770      \tbx\tlr\n  86:\tf000 f812 \tbl\t0xae\n\t...\n"
    )
    assert parse_objdump(text) == {0x80: "call 0xde ; 0xde", 0x84: "bx lr", 0x86: "bl 0xae"}
