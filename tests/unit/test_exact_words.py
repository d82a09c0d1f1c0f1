"""What is said to the letter: the complaints about descriptors, and what programs said."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base import paths, process
from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.base.process import Outcome
from motecrypt.build.toolchain import toolchain
from motecrypt.results import Results

# --- descriptors -------------------------------------------------------------------------------------------


def table(text: str) -> Table:
    return Table.parse(text, "f.toml")


@pytest.mark.parametrize(
    ("text", "take", "said"),
    [
        ("", lambda t: t.text("a"), "f.toml: 'a' is missing; expected a string"),
        (
            "packet = 1",
            lambda t: t.integer("packets"),
            "f.toml: 'packets' is missing; expected a whole number; "
            "there is 'packet': did you mean 'packets'?",
        ),
        ("a = 1", lambda t: t.text("a"), "f.toml: 'a' is 1; expected a string"),
        ("a = ' '", lambda t: t.text("a", filled=True), "f.toml: 'a' is ' '; expected some text"),
        (
            "a = 'ret'",
            lambda t: t.text("a", choices=("red", "blue")),
            "f.toml: 'a' is 'ret'; expected one of red, blue (did you mean 'red'?)",
        ),
        ("a = true", lambda t: t.integer("a"), "f.toml: 'a' is True; expected a whole number"),
        ("a = 1", lambda t: t.integer("a", low=2), "f.toml: 'a' is 1; expected a whole number from 2 on"),
        ("a = 9", lambda t: t.integer("a", high=8), "f.toml: 'a' is 9; expected a whole number of at most 8"),
        (
            "a = 9999",
            lambda t: t.integer("a", low=1, high=2000),
            "f.toml: 'a' is 9999; expected a whole number from 1 to 2,000",
        ),
        ("a = 0", lambda t: t.number("a", above=0), "f.toml: 'a' is 0; expected a number above 0"),
        (
            "a = 3",
            lambda t: t.number("a", above=0, high=2),
            "f.toml: 'a' is 3; expected a number above 0, at most 2",
        ),
        ("a = 'x'", lambda t: t.number("a"), "f.toml: 'a' is 'x'; expected a number"),
        ("a = 1", lambda t: t.flag("a"), "f.toml: 'a' is 1; expected true or false"),
        ("a = [1]", lambda t: t.texts("a"), "f.toml: 'a' is [1]; expected a list of strings"),
        (
            "a = ['x', 'rad']",
            lambda t: t.texts("a", choices=("x", "red")),
            "f.toml: 'a' is 'rad'; expected strings of x, red (did you mean 'red'?)",
        ),
        (
            "a = []",
            lambda t: t.text_or_texts("a"),
            "f.toml: 'a' is []; expected a string or a list of strings",
        ),
        ("a = [true]", lambda t: t.integers("a"), "f.toml: 'a' is [True]; expected a list of whole numbers"),
        (
            "a = [[1, 2, 3]]",
            lambda t: t.points("a"),
            "f.toml: 'a' is [[1, 2, 3]]; "
            "expected a list of pairs of numbers, such as [[1.5, 0.0], [0.9, 1.0]]",
        ),
        ("a = 1", lambda t: t.table("a"), "f.toml: 'a' is 1; expected a table"),
        ("a = [1]", lambda t: t.tables("a"), "f.toml: 'a' is [1]; expected an array of tables ([[a]])"),
        ("[a]\nb = 1", lambda t: t.named_tables("a"), "f.toml: 'a.b' is 1; expected tables such as [a.name]"),
        (
            "[a.b]",
            lambda t: t.named_tables("a", choices=("xyz", "uvw")),
            "f.toml: unknown 'a.b'; available: xyz, uvw",
        ),
        (
            "[a.xyy]",
            lambda t: t.named_tables("a", choices=("xyz",)),
            "f.toml: unknown 'a.xyy' (did you mean 'xyz'?)",
        ),
        (
            "a = 1",
            lambda t: t.every_table(),
            "f.toml: 'a' is outside a table; write [a] with its values below",
        ),
        (
            "a = 1\nb = 2",
            lambda t: (t.integer("xyz", 0), t.done()),
            "f.toml: unknown 'a', 'b'; available: xyz",
        ),
        (
            "xyy = 1",
            lambda t: (t.integer("xyz", 0), t.done()),
            "f.toml: unknown 'xyy' (did you mean 'xyz'?)",
        ),
        (
            "[a]\nb = [{c = 1}]",
            lambda t: t.table("a").tables("b")[0].done(),
            "f.toml: a: b[0]: unknown 'c'; ",
        ),
        (
            "[a.b]\nc = 1",
            lambda t: t.named_tables("a")["b"].flag("c"),
            "f.toml: a.b: 'c' is 1; expected true",
        ),
    ],
)
def test_complaints_about_descriptors(text: str, take: Callable[[Table], Any], said: str) -> None:
    with pytest.raises(InputError) as told:
        take(table(text))
    assert str(told.value) == said or (said.endswith(("; ", "true")) and str(told.value).startswith(said))


def test_what_descriptors_hold_is_given() -> None:
    read = table(
        "a = 'x'\nb = 2\nc = 2\nd = true\ne = ['p']\nf = 'qr'\ng = [1, 2]\nh = [[1, 2.5]]\ni = {j = 1}"
    )
    assert (read.text("a", filled=True), read.integer("b", low=2, high=2)) == ("x", 2)
    number = read.number("c", low=2, high=2, above=1)
    assert number == 2 and isinstance(number, float) and read.flag("d") is True
    assert (read.texts("e"), read.text_or_texts("f"), read.integers("g")) == (("p",), ("qr",), (1, 2))
    assert read.points("h") == ((1.0, 2.5),) and read.plain() == {"i": {"j": 1}}
    assert read.table("i").integer("j") == 1
    read.done()
    assert (read.text("z", "d"), read.integer("z", 5, low=9), read.flag("z", False)) == ("d", 5, False)
    missing: float | None = read.number("z", None)
    assert missing is None
    assert (read.texts("z", ["u"]), read.integers("z", ()), read.tables("z", [])) == (("u",), (), [])


@pytest.mark.parametrize(("depth", "fits"), [(15, True), (16, True), (17, False)])
def test_descriptors_nest_so_deeply_and_no_deeper(depth: int, fits: bool) -> None:
    text = "a = " + "[" * (depth - 1) + "1" + "]" * (depth - 1)
    if fits:
        table(text)
    else:
        with pytest.raises(InputError, match="nested too deeply; 16 tables are the most"):
            table(text)


def complaint(text: str, take: Callable[[Table], Any]) -> str:
    with pytest.raises(InputError) as told:
        take(table(text))
    return str(told.value)


def test_of_much_that_is_wrong_the_first_is_told() -> None:
    keys = [f"other{number}" for number in range(7)]
    text = "".join(f"{key} = 1\n" for key in keys)
    told = ", ".join(f"'{key}'" for key in keys[:5])
    assert complaint(text, lambda t: (t.flag("z", True), t.flag("z", True), t.done())) == (
        f"f.toml: unknown {told}; available: z"
    )
    near = "; there is 'packetb' and 'packeta': did you mean 'packet'?"
    text = "packetb = 1\npacketa = 1\npackecc = 1\nxxx = 1"
    said = complaint(text, lambda t: t.text("packet"))
    assert said == f"f.toml: 'packet' is missing; expected a string{near}"
    choices = ("packeta", "packetb", "packecc", "xxx")
    said = complaint("a = 'packet'", lambda t: t.text("a", choices=choices))
    assert said == (
        f"f.toml: 'a' is 'packet'; expected one of {', '.join(choices)} "
        "(did you mean 'packetb' or 'packeta'?)"
    )
    for length, shown in ((58, "'" + "x" * 58 + "'"), (59, "'" + "x" * 59 + "...")):
        said = complaint(f"a = '{'x' * length}'", lambda t: t.flag("a"))
        assert said == f"f.toml: 'a' is {shown}; expected true or false"
    for length, shown in ((60, "x" * 60), (61, "x" * 60 + "...")):
        assert complaint(f"{'x' * length} = 1", lambda t: t.every_table()).startswith(
            f"f.toml: '{shown}' is outside"
        )


def test_numbers_are_finite_and_have_64_bits() -> None:
    most = 2**63 - 1
    assert table(f"a = {most}\nb = {-most}").plain() == {"a": most, "b": -most}
    for value, said in (
        (most + 1, "f.toml: a: b[1]: a whole number beyond 64 bits"),
        (-most - 1, "f.toml: a: b[1]: a whole number beyond 64 bits"),
        ("inf", "f.toml: a: b[1]: is inf; expected a finite number"),
        ("nan", "f.toml: a: b[1]: is nan; expected a finite number"),
    ):
        with pytest.raises(InputError) as told:
            table(f"a.b = [1.5, {value}]")
        assert str(told.value) == said
    deep = "k" * 70
    text = "a = 1"
    for _ in range(17):
        text = f"{deep} = {{ {text} }}"
    with pytest.raises(InputError) as told:
        table(text)
    where = ("f.toml" + f": {'k' * 60}..." * 17)[:180]
    assert str(told.value) == f"{where}: nested too deeply; 16 tables are the most"


def test_a_descriptor_is_read_up_to_a_megabyte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "f.toml"

    def said() -> str:
        with pytest.raises(InputError) as told:
            Table.read(place)
        return str(told.value).removeprefix(f"{place}: ")

    assert said() == "cannot be read: No such file or directory"
    place.write_text("a = 1\n" + "#" * ((1 << 20) - 6))
    assert Table.read(place).integer("a") == 1 and Table.read(place).where == str(place)
    place.write_text("a = 1\n" + "#" * ((1 << 20) - 5))
    assert said() == "longer than 1,048,576 bytes: not a descriptor"
    asked: list[int] = []
    content = SimpleNamespace(read=lambda most: asked.append(most) or b"a = 1")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", lambda path, mode: contextlib.nullcontext(content))
        assert Table.read(place).integer("a") == 1 and asked == [(1 << 20) + 1]
    place.write_bytes(b"a = '\xff'")
    assert said().startswith("not valid TOML: 'utf-8' codec can't decode byte 0xff")
    place.write_text("a = 1\na = 2")
    assert said().startswith("not valid TOML: Cannot overwrite a value")
    place.write_text("a = " + "[" * 50_000)
    assert said() == "nested too deeply; 16 tables are the most"
    place.unlink()
    place.mkdir()
    assert said() == "is not a regular file"
    with pytest.raises(InputError, match=r"not valid TOML: embedded null byte|cannot be read"):
        Table.read(Path("a\0b"))


PAIRS = "a list of pairs of numbers, such as [[1.5, 0.0], [0.9, 1.0]]"


@pytest.mark.parametrize(
    ("text", "take", "said"),
    [
        ("a = 'x'", lambda t: t.text("a", choices=("y",), filled=True), "'a' is 'x'; expected one of y"),
        ("a = 1.5", lambda t: t.integer("a", low=1), "'a' is 1.5; expected a whole number from 1 on"),
        ("a = 3", lambda t: t.number("a", low=4), "'a' is 3; expected a number from 4 on"),
        ("a = 5", lambda t: t.number("a", high=4), "'a' is 5; expected a number of at most 4"),
        ("a = -1", lambda t: t.number("a", above=-1), "'a' is -1; expected a number above -1"),
        ("a = true", lambda t: t.number("a"), "'a' is True; expected a number"),
        ("a = 'x'", lambda t: t.flag("a"), "'a' is 'x'; expected true or false"),
        ("a = 'x'", lambda t: t.texts("a"), "'a' is 'x'; expected a list of strings"),
        (
            "a = ['x', 1]",
            lambda t: t.text_or_texts("a"),
            "'a' is ['x', 1]; expected a string or a list of strings",
        ),
        ("a = 1", lambda t: t.text_or_texts("a"), "'a' is 1; expected a string or a list of strings"),
        ("a = [1, 1.5]", lambda t: t.integers("a"), "'a' is [1, 1.5]; expected a list of whole numbers"),
        *(
            (
                f"a = [[1, 2], {wrong}]",
                lambda t: t.points("a"),
                f"'a' is [[1, 2], {shown}]; expected {PAIRS}",
            )
            for wrong, shown in (
                ("1", "1"),
                ("[1]", "[1]"),
                ("[1, true]", "[1, True]"),
                ("['x', 1]", "['x', 1]"),
            )
        ),
        ("a = [{}, 1]", lambda t: t.tables("a"), "'a' is [{}, 1]; expected an array of tables ([[a]])"),
        ("", lambda t: t.named_tables("a"), "'a' is missing; expected tables such as [a.name]"),
    ],
)
def test_more_complaints_about_descriptors(text: str, take: Callable[[Table], Any], said: str) -> None:
    assert complaint(text, take) == f"f.toml: {said}"


# --- programs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("errors", "line"),
    [
        ("a\nx.c:1: error: no\nlater", "x.c:1: error: no"),
        ("/error/x\nld: undefined reference to y\n", "ld: undefined reference to y"),
        ("/error/x\nlast", "/error/x"),
        ("first\n\n last \n", "last"),
        ("first\ncollect2: error: ld returned 1", "first"),
        ("collect2: error: ld returned 1\n", "collect2: error: ld returned 1"),
        ("x\nregion `text' overflowed, OVERFLOW\ny", "region `text' overflowed, OVERFLOW"),
        (" \n", "ended with code 3"),
    ],
)
def test_the_line_that_tells_most(errors: str, line: str) -> None:
    outcome = Outcome(3, "", errors)
    assert outcome.first_error == line and not outcome.ok and Outcome(0, "", "").ok


def test_programs_that_end_in_every_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CPATH", "/astray")
    code = (
        "import os, sys; print(os.environ['LC_ALL'], os.environ.get('CPATH'), sys.stdin.read()); sys.exit(5)"
    )
    assert process.run([sys.executable, "-c", code]) == Outcome(5, "C.UTF-8 None \n", "")
    assert process.run(["no-such-program-here", "x"]) == Outcome(None, "", "no-such-program-here: not found")
    gone = tmp_path / "gone"
    assert process.run([sys.executable], cwd=gone) == Outcome(None, "", f"{gone}: not found")
    late = process.run([sys.executable, "-c", "import time; time.sleep(60)"], timeout_s=0.2)
    assert late == Outcome(-9, "", f"{sys.executable}: killed after 0.2 s")
    (tmp_path / "plain").write_text("x")
    denied = process.run([tmp_path / "plain", "x"])
    assert denied == Outcome(None, "", f"{tmp_path / 'plain'}: cannot be run: Permission denied")


def test_no_program_runs_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[float, float | None]] = []

    def finish(started: object, watch: object, work_s: float, timeout_s: float | None) -> tuple[bytes, bytes]:
        given.append((work_s, timeout_s))
        return b"gcc 1", b""

    monkeypatch.setattr(process, "_finish", finish)
    process.run(["true"])
    toolchain.run_compiler(["true"])
    assert given == [(120, None)] * 2
    given.clear()
    toolchain.installed_file.__wrapped__("true", (), "libx.so")
    assert given == [(20, None)]
    process.run(["true"], timeout_s=3, work_s=4)
    assert given[1:] == [(4, 3)] and process.LONG_S == 300


# --- places ------------------------------------------------------------------------------------------------


def test_where_things_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOTECRYPT_CACHE", "MOTECRYPT_DB", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert paths.cache_dir() == tmp_path / ".cache" / "motecrypt"
    assert paths.default_results() == tmp_path / ".local" / "share" / "motecrypt" / "results.db"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "d"))
    assert paths.cache_dir() == tmp_path / "c" / "motecrypt"
    assert paths.default_results() == tmp_path / "d" / "motecrypt" / "results.db"
    monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("MOTECRYPT_DB", "here.db")
    assert paths.cache_dir() == tmp_path / "own" and paths.default_results() == Path("here.db")


def test_what_is_no_place_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (OSError("why"), RuntimeError("why")):

        def resolve(path: Path, error: Exception = error) -> Path:
            raise error

        with monkeypatch.context() as patch:
            patch.setenv("MOTECRYPT_CACHE", "here")
            patch.setattr(Path, "resolve", resolve)
            with pytest.raises(InputError, match=r"^here: no place for a cache: why$"):
                paths.cache_dir()

    def home() -> Path:
        raise RuntimeError("no home")

    for name in ("MOTECRYPT_CACHE", "MOTECRYPT_DB", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", home)
    for ask, name in ((paths.cache_dir, "XDG_CACHE_HOME"), (paths.default_results, "XDG_DATA_HOME")):
        with pytest.raises(InputError, match=rf"^this user has no home directory; set HOME or {name}$"):
            ask()


def test_a_file_that_cannot_be_read_or_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "f"
    place.write_bytes(b"old")
    with paths.open_regular(place) as file:
        assert os.get_inheritable(file.fileno()) is False and file.read() == b"old"

    class Broken:
        def __enter__(self) -> Any:
            return SimpleNamespace(read=fail)

        def __exit__(self, *_: object) -> None:
            """Nothing to close."""

    def fail(*_: object) -> Any:
        raise OSError(5, "why")

    with monkeypatch.context() as patch:
        patch.setattr(paths, "open_regular", lambda path: Broken())
        with pytest.raises(InputError, match=rf"^{place}: cannot be read: why$"):
            paths.read_regular(place)
    limits: list[int] = []
    whole = SimpleNamespace(read=lambda most: limits.append(most) or b"all")
    with monkeypatch.context() as patch:
        patch.setattr(Broken, "__enter__", lambda self: whole)
        patch.setattr(paths, "open_regular", lambda path: Broken())
        assert paths.read_regular(place) == b"all" and limits == [(64 << 20) + 1]
    with monkeypatch.context() as patch:
        patch.setattr(paths.os, "fsync", fail)
        with pytest.raises(InputError) as told:
            paths.write_atomically(place, b"new")
    assert str(told.value) == f"{place}: cannot be written: why; free some space or choose another place"

    def lost(path: Path, target: Path) -> None:
        path.unlink()
        fail()

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", lost)
        with pytest.raises(InputError, match="cannot be written: why"):
            paths.write_atomically(place, b"new")
    assert place.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == ["f"]


def test_a_long_name_leaves_room_for_the_temporary_ones_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    replace = Path.replace

    def replaced(path: Path, target: Path) -> Path:
        made.append(path.name)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", replaced)
    paths.write_atomically(tmp_path / ("n" * 255), b"")
    paths.write_atomically(tmp_path / "short", b"")
    assert [len(name) for name in made] == [1 + 200 + 1 + 12, 1 + 5 + 1 + 12]
    assert made[0].startswith("." + "n" * 200 + ".") and made[1].startswith(".short.")


def test_files_are_read_whole_up_to_a_length(tmp_path: Path) -> None:
    place = tmp_path / "f"
    place.write_bytes(b"x" * 1000)
    assert paths.read_regular(place, 1000) == b"x" * 1000
    with pytest.raises(InputError, match=r": longer than 999 bytes$"):
        paths.read_regular(place, 999)
    os.mkfifo(tmp_path / "pipe")
    for name, said in (
        ("none", "No such file or directory"),
        ("", "Is a directory"),
        ("pipe", "not a regular file"),
    ):
        with pytest.raises(InputError, match=f": cannot be read: {said}$"):
            paths.read_regular(tmp_path / name)
    with pytest.raises(InputError, match=r"'a\\x00b': cannot be read: "):
        paths.read_regular(Path("a\0b"))


def test_files_are_written_whole_and_keep_their_permissions(tmp_path: Path) -> None:
    place = tmp_path / "new" / "f"
    before = os.umask(0o027)
    try:
        paths.write_atomically(place, b"one")
    finally:
        os.umask(before)
    assert place.read_bytes() == b"one" and place.stat().st_mode & 0o777 == 0o640
    place.chmod(0o604)
    paths.write_atomically(place, b"two")
    assert place.read_bytes() == b"two" and place.stat().st_mode & 0o777 == 0o604
    assert [p.name for p in place.parent.iterdir()] == ["f"]
    with pytest.raises(
        InputError, match="cannot be written: Is a directory; free some space or choose another"
    ):
        paths.write_atomically(place.parent, b"")
    assert [p.name for p in tmp_path.iterdir()] == ["new"]
    with pytest.raises(InputError, match=f"{place}: cannot be created: "):
        paths.make_dir(place)


def test_pipes_and_databases_are_not_written_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with Results(tmp_path / "r.db"):
        pass
    whole = (tmp_path / "r.db").read_bytes()
    (tmp_path / "link").symlink_to("r.db")
    names = {p.name for p in tmp_path.iterdir()}
    for name, said in (
        ("pipe", "is not a regular file; give another name"),
        ("r.db", "is a database, such as a results file; give another name"),
        ("link", "is a database, such as a results file; give another name"),
    ):
        with pytest.raises(InputError, match=f"{tmp_path / name}: {said}$"):
            paths.write_atomically(tmp_path / name, b"new")
    assert {p.name for p in tmp_path.iterdir()} == names
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "link").is_symlink()
    assert (tmp_path / "r.db").read_bytes() == whole
    (tmp_path / "dangling").symlink_to("none")
    paths.write_atomically(tmp_path / "dangling", b"new")
    assert (tmp_path / "dangling").read_bytes() == b"new" and not (tmp_path / "none").exists()
