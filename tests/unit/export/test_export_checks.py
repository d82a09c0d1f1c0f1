"""The check of a library's metadata finds what build tools pass over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.exports.checks import check_address, check_export, simple_yaml
from motecrypt.exports.library import choose, plan
from motecrypt.exports.targets import target
from motecrypt.results import Results

CATALOG = Catalog.load()


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no disk: what is durable is another test's matter."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


def _exported(name: str, folder: Path, results: Results) -> Path:
    cipher = CATALOG.cipher("ascon-aead128")
    meant = target(name, CATALOG)
    plan(CATALOG, meant, cipher, choose(CATALOG, cipher, meant, None), results).write(folder)
    return folder


FAULTS = [
    ("arduino", "library.properties", "name=motecrypt", "name=Arduino motecrypt", "only Arduino's own"),
    ("arduino", "library.properties", "name=motecrypt", "name=node+crypt", "expected up to 63 letters"),
    ("arduino", "library.properties", "name=motecrypt", f"name={'m' * 60}", "expected up to 63 letters"),
    ("arduino", "library.properties", "version=", "version=\nversion=", "line 3: not one"),
    ("arduino", "library.properties", "url=", "url=\nweb=", "line 9: not one"),
    ("arduino", "library.properties", "version=", "version=v", "expected one such as 1.2.3"),
    ("arduino", "library.properties", "sentence=", "sentence=\nignored=", "line 6: not one"),
    ("arduino", "library.properties", "paragraph=", "#paragraph=", "line 6: not one"),
    ("arduino", "library.properties", "author=the motecrypt authors\n", "", "'author' is missing"),
    ("arduino", "library.properties", "author=the motecrypt authors", "author=", "is missing or empty"),
    ("arduino", "library.properties", "url=", "url=motecrypt", "not a web address"),
    ("arduino", "library.properties", "category=Data Processing", "category=Crypto", "unknown category"),
    ("arduino", "library.properties", "architectures=avr", "architectures=a v r", "'a v r' is neither the "
        "name of an architecture nor [*]"),
    ("arduino", "library.properties", "architectures=avr", "architectures=avr,", "'' is neither the name "
        "of an architecture nor [*]"),
    ("arduino", "library.properties", "includes=", "includes=X", "there is no src/XMc"),
    ("arduino", "library.properties", "includes=", "depends=a;b\nincludes=", "'a;b' is not the name of "
        "a library"),
    ("arduino", "library.properties", "url=", "url=\nurl=", "line 9: not one"),
    ("arduino", "keywords.txt", "\t", " ", "line 1: expected a name, one tab and a kind"),
    ("arduino", "keywords.txt", "\t", "\t\t", "line 1: expected a name, one tab and a kind"),
    ("arduino", "keywords.txt", "\tKEYWORD1", "", "line 1: expected a name, one tab and a kind"),
    ("arduino", "keywords.txt", "\t", "+\t", "line 1: expected a name, one tab and a kind"),
    ("arduino", "keywords.txt", "KEYWORD1", "KEYWORD9", "line 1: 'KEYWORD9' is not a kind"),
    ("platformio", "library.json", '"name": "', '"name": "node--', "expected up to 50 letters"),
    ("platformio", "library.json", '"version": "', '"version": "x', "expected one such as 1.2.3"),
    ("platformio", "library.json", '"headers": ["', '"headers": ["X', "there is no src/XMc"),
    ("platformio", "library.json", '"srcDir": "src"', '"srcDir": "source"', "srcDir: no such folder"),
    ("platformio", "library.json", '"MIT"', '"GPL-3.0"', "expected that of LICENSE"),
    ("platformio", "library.json", '"MIT"', '"Zlib"', "expected that of LICENSE"),
    ("platformio", "library.json", "{", "", "no valid JSON"),
    ("platformio", "library.json", '"description": "', f'"description": "{"x" * 255}', "1 to 255 characters"),
    ("platformio", "library.json", '"description": "', '"description": "", "x": "', "1 to 255 characters"),
    ("zephyr", "zephyr/module.yml", "cmake: zephyr", "cmake: cmake", "there is no cmake/CMakeLists.txt"),
    ("zephyr", "zephyr/module.yml", "zephyr/Kconfig", "Kconfig", "there is no Kconfig"),
    ("zephyr", "zephyr/module.yml", "name: ", "title: ", "'name' and 'build' are needed"),
    ("zephyr", "samples/known_answer/sample.yaml", "sample:", "example:", "'sample' and 'tests' are needed"),
    ("zephyr", "zephyr/CMakeLists.txt", "ascon_aead128.c", "ascon.c", "there is no"),
    ("esp-idf", "idf_component.yml", 'version: "', 'version: "v', "expected one such as 1.2.3"),
    ("esp-idf", "idf_component.yml", "license: MIT", "license: BSD", "as 'license' that of LICENSE"),
    ("esp-idf", "idf_component.yml", "license: MIT", "license: Zlib", "as 'license' that of LICENSE"),
    ("esp-idf", "idf_component.yml", "description: ", "text: ", "'description' is needed"),
    ("esp-idf", "CMakeLists.txt", "src/", "source/", "there is no source/"),
    ("pico-sdk", "CMakeLists.txt", "STATIC", "(STATIC", "a parenthesis is missing"),
    ("pico-sdk", "CMakeLists.txt", "STATIC", "STATIC)", "a parenthesis is missing"),
    ("c", "CMakeLists.txt", "main.c", "nain.c", "there is no examples/known_answer/nain.c"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "file", "old", "new", "message"), FAULTS)
def test_a_fault_in_the_metadata_is_told(
    name: str, file: str, old: str, new: str, message: str, tmp_path: Path, results: Results
) -> None:
    folder = _exported(name, tmp_path / "lib", results)
    check_export(folder)
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=message) as told:
        check_export(folder)
    assert "\n" not in str(told.value)


def _described(name: str, results: Results) -> dict[str, str]:
    """The values of an export's library.properties or library.json."""
    planned = plan(
        CATALOG,
        target(name, CATALOG),
        CATALOG.cipher("ascon-aead128"),
        choose(CATALOG, CATALOG.cipher("ascon-aead128"), target(name, CATALOG), None),
        results,
    )
    text = planned.files["library.properties" if name == "arduino" else "library.json"].decode()
    if name == "arduino":
        return dict(line.split("=", 1) for line in text.splitlines())
    return dict(json.loads(text))


@pytest.mark.parametrize(
    ("name", "key", "longest"),
    [("arduino", "name", 63), ("platformio", "name", 50), ("platformio", "description", 255)],
)
def test_texts_are_as_long_as_their_descriptions_allow(
    name: str, key: str, longest: int, tmp_path: Path, results: Results
) -> None:
    folder = _exported(name, tmp_path / "lib", results)
    values = _described(name, results)
    for length, right in ((1, True), (longest, True), (longest + 1, False)):
        changed = {**values, key: "m" * length}
        if name == "arduino":
            text = "".join(f"{key}={value}\n" for key, value in changed.items())
            (folder / "library.properties").write_text(text)
        else:
            (folder / "library.json").write_text(json.dumps(changed))
        if right:
            check_export(folder)
        else:
            with pytest.raises(InputError, match=f"{key}.*{longest} "):
                check_export(folder)


@pytest.mark.parametrize(
    "key", ["name", "version", "author", "maintainer", "sentence", "paragraph", "category", "architectures"]
)
def test_what_every_arduino_library_has_is_needed_and_not_empty(
    key: str, tmp_path: Path, results: Results
) -> None:
    folder = _exported("arduino", tmp_path / "lib", results)
    values = _described("arduino", results)
    for changed in ({**values, key: ""}, {k: v for k, v in values.items() if k != key}):
        (folder / "library.properties").write_text("".join(f"{k}={v}\n" for k, v in changed.items()))
        with pytest.raises(InputError, match=f"'{key}' is missing or empty"):
            check_export(folder)


@pytest.mark.parametrize("mode", [0o744, 0o654, 0o645])
def test_whoever_may_execute_a_file_it_is_told(mode: int, tmp_path: Path, results: Results) -> None:
    folder = _exported("arduino", tmp_path / "lib", results)
    (folder / "LICENSE").chmod(0o666)
    check_export(folder)
    (folder / "LICENSE").chmod(mode)
    with pytest.raises(InputError, match=r"LICENSE: an executable file"):
        check_export(folder)


def test_links_executables_and_strange_names_are_told(tmp_path: Path, results: Results) -> None:
    folder = _exported("arduino", tmp_path / "lib", results)
    (folder / "src" / "a b.h").write_text("")
    with pytest.raises(InputError, match=r"src/a b\.h: a name with characters other than"):
        check_export(folder)
    (folder / "src" / "a b.h").rename(folder / "src" / "run.h")
    (folder / "src" / "run.h").chmod(0o744)
    with pytest.raises(InputError, match=r"src/run\.h: an executable file"):
        check_export(folder)
    (folder / "src" / "run.h").unlink()
    (folder / "link.md").symlink_to("README.md")
    with pytest.raises(InputError, match=r"link\.md: a symbolic link"):
        check_export(folder)


@pytest.mark.parametrize("url", ["", "https://example.org", "http://a.example.com:8080/x/y?z=1#top"])
def test_addresses(url: str) -> None:
    check_address(url, "--url")


@pytest.mark.parametrize(
    "url", ["example.org", "https://", "https://x", "ftp://example.org", "https://a.org/ b", "x\ny"]
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(InputError, match=r"(?s)--url: .* is not a web address"):
        check_address(url, "--url")


def test_of_a_long_address_the_beginning_is_told() -> None:
    with pytest.raises(InputError, match=rf"^--url: '{'x' * 60}' is not a web address"):
        check_address("x" * 61, "--url")


def test_what_stands_twice_is_named() -> None:
    with pytest.raises(InputError, match=r"^x: line 3: 'b' appears twice$"):
        simple_yaml("a:\n  b: 1\n  b: 2\n", "x")


def test_yaml_of_blocks_lists_and_texts() -> None:
    text = 'a: one\nb:\n  c: "x: \\"y\\" # z"\n  d:\n    e: 1.2\n  list:\n    - "f g"\n    - h\ni:\n'
    assert simple_yaml(text, "x") == {
        "a": "one",
        "b": {"c": 'x: "y" # z', "d": {"e": "1.2"}, "list": ["f g", "h"]},
        "i": None,
    }


@pytest.mark.parametrize("text", ["a: b: c\n", "a: [1]\n", "a\n", "a: 1\na: 2\n", '"a: 1\n', "a: x # y\n"])
def test_yaml_that_is_more_than_that_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"x: line [12]: "):
        simple_yaml(text, "x")
