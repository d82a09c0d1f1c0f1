"""Whether what is asked can be exported, and a library's metadata are as their descriptions ask.

arduino-builder, for one, compiles a library whose `includes` names no file and whose `architectures` is a
typing error; such a library fails only where its user meets it. Each check reads the written folder.

Sources: Arduino library specification 1.5, rev. 2.2; PlatformIO's fields of library.json; Zephyr's page on
modules; Espressif's page on idf_component.yml.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from motecrypt.base.errors import InputError
from motecrypt.base.model import Device, Implementation

CATEGORIES = (
    *("Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing"),
    *("Data Storage", "Data Processing", "Other", "Uncategorized"),
)
_NEEDED = (
    "name",
    "version",
    "author",
    "maintainer",
    "sentence",
    "paragraph",
    "category",
    "url",
    "architectures",
)
_KNOWN = (*_NEEDED, "depends", "includes", "dot_a_linkage", "precompiled", "ldflags")
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.-]+\.[A-Za-z]{2,}(:\d+)?(/[\x21-\x7e]*)?")
_ARCHITECTURE = re.compile(r"[A-Za-z0-9_-]+")
_DEPENDENCY = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,62}( ?\([<>=!&|^~0-9A-Za-z. -]+\))?")
_FILE = re.compile(r"[A-Za-z0-9_.-]+")
_YAML_LINE = re.compile(r'( *)(- )?(?:([A-Za-z_][\w.-]*):)?(?: ?("(?:[^"\\]|\\.)*"|[A-Za-z0-9_./-][^:#]*))?')


def check_address(url: str, where: str) -> None:
    """Refuse a string that is not a web address; an empty one is allowed."""
    if url and not _ADDRESS.fullmatch(url):
        raise InputError(f"{where}: '{url[:60]}' is not a web address; expected https://...")


def check_placement(placement: str, device: Device, body: Implementation) -> None:
    """Refuse a place for the tables that this device, or this implementation, does not have."""
    places = [place for place in device.placements if place in (body.placements or ("flash",))]
    if placement not in places:
        raise InputError(f"--placement {placement}: {body.name} takes {', '.join(places)}")


def check_export(folder: Path) -> None:
    """Check every file of a written export that has a description.

    Raises
    ------
    InputError
        At the first that is not as its description asks.
    """
    for path in sorted(folder.rglob("*")):
        _check_file(path, folder)
    for name, check in _CHECKS.items():
        if (folder / name).is_file():
            check(folder, (folder / name).read_text(encoding="utf-8"))
    for path in folder.rglob("CMakeLists.txt"):
        _check_cmake(path, folder)


def _check_file(path: Path, folder: Path) -> None:
    where = path.relative_to(folder)
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        raise InputError(f"{where}: a symbolic link, which a library must not contain")
    if stat.S_ISREG(mode) and mode & 0o111:
        raise InputError(f"{where}: an executable file, which a library must not contain")
    if not _FILE.fullmatch(path.name):
        raise InputError(f"{where}: a name with characters other than letters, digits and _.-")


def _check_properties(folder: Path, text: str) -> None:
    values: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        key, equals, value = line.partition("=")
        if not equals or key not in _KNOWN or key in values:
            raise InputError(f"library.properties: line {number}: not one 'key=value' of the specification")
        values[key] = value.strip()
    for key in _NEEDED:
        if key not in values or (not values[key] and key != "url"):
            raise InputError(f"library.properties: '{key}' is missing or empty")
    name = values["name"]
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.-]*", name) or len(name) > 63:
        raise InputError(
            f"library.properties: name '{name}': expected up to 63 letters, digits, spaces and _.-"
        )
    if name.lower().startswith("arduino"):
        raise InputError(f"library.properties: name '{name}': only Arduino's own libraries begin with it")
    _check_version(values["version"], "library.properties")
    check_address(values["url"], "library.properties: url")
    if values["category"] not in CATEGORIES:
        raise InputError(f"library.properties: category '{values['category']}': unknown category")
    for one in values["architectures"].split(","):
        if one != "*" and not _ARCHITECTURE.fullmatch(one):
            raise InputError(
                f"library.properties: architectures: '{one}' is neither the name of an architecture nor *"
            )
    for one in filter(None, values.get("depends", "").split(",")):
        if not _DEPENDENCY.fullmatch(one.strip()):
            raise InputError(f"library.properties: depends: '{one}' is not the name of a library")
    for one in filter(None, values.get("includes", "").split(",")):
        if not (folder / "src" / one.strip()).is_file():
            raise InputError(f"library.properties: includes: there is no src/{one.strip()}")


def _check_version(version: str, where: str) -> None:
    if not _VERSION.fullmatch(version):
        raise InputError(f"{where}: version '{version}': expected one such as 1.2.3")


def _check_keywords(folder: Path, text: str) -> None:
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.split("\t")
        if len(parts) != 2 or not re.fullmatch(r"\w+", parts[0]):
            raise InputError(f"keywords.txt: line {number}: expected a name, one tab and a kind")
        if parts[1] not in ("KEYWORD1", "KEYWORD2", "KEYWORD3", "LITERAL1"):
            raise InputError(f"keywords.txt: line {number}: '{parts[1]}' is not a kind of keyword")


def _check_library_json(folder: Path, text: str) -> None:
    try:
        values = json.loads(text)
    except ValueError as error:
        raise InputError(f"library.json: no valid JSON: {error}") from None
    name = str(values.get("name", ""))
    if not re.fullmatch(r"[A-Za-z0-9](-?[A-Za-z0-9_.])*", name) or len(name) > 50:
        raise InputError(f"library.json: name '{name}': expected up to 50 letters, digits and single dashes")
    _check_version(str(values.get("version", "")), "library.json")
    if not 0 < len(str(values.get("description", ""))) <= 255:
        raise InputError("library.json: description: expected 1 to 255 characters")
    check_address(str(values.get("homepage", "")), "library.json: homepage")
    for header in values.get("headers", []):
        if not (folder / "src" / header).is_file():
            raise InputError(f"library.json: headers: there is no src/{header}")
    build = values.get("build", {})
    for key in ("srcDir", "includeDir"):
        if not (folder / build.get(key, "src")).is_dir():
            raise InputError(f"library.json: build: {key}: no such folder")
    if values.get("license", "MIT") != "MIT":
        raise InputError("library.json: license: expected that of LICENSE")


def _check_module(folder: Path, text: str) -> None:
    values = simple_yaml(text, "zephyr/module.yml")
    build = values.get("build")
    if not values.get("name") or not isinstance(build, Mapping):
        raise InputError("zephyr/module.yml: 'name' and 'build' are needed")
    if not (folder / str(build.get("cmake")) / "CMakeLists.txt").is_file():
        raise InputError(f"zephyr/module.yml: cmake: there is no {build.get('cmake')}/CMakeLists.txt")
    if not (folder / str(build.get("kconfig"))).is_file():
        raise InputError(f"zephyr/module.yml: kconfig: there is no {build.get('kconfig')}")


def _check_component(folder: Path, text: str) -> None:
    values = simple_yaml(text, "idf_component.yml")
    _check_version(str(values.get("version", "")), "idf_component.yml")
    check_address(str(values.get("url", "")), "idf_component.yml: url")
    if values.get("license", "MIT") != "MIT" or not values.get("description"):
        raise InputError("idf_component.yml: 'description' is needed, and as 'license' that of LICENSE")


def _check_sample(folder: Path, text: str) -> None:
    values = simple_yaml(text, "sample.yaml")
    if not isinstance(values.get("sample"), Mapping) or not isinstance(values.get("tests"), Mapping):
        raise InputError("sample.yaml: 'sample' and 'tests' are needed")


_CHECKS: dict[str, Callable[[Path, str], None]] = {
    "library.properties": _check_properties,
    "keywords.txt": _check_keywords,
    "library.json": _check_library_json,
    "zephyr/module.yml": _check_module,
    "idf_component.yml": _check_component,
    "samples/known_answer/sample.yaml": _check_sample,
}


def _check_cmake(path: Path, folder: Path) -> None:
    """Every source that a CMake file names is there."""
    text = path.read_text(encoding="utf-8")
    where = path.relative_to(folder)
    for name in re.findall(r"[^\s\"()]+\.c\b", text):
        source = name.replace("${CMAKE_CURRENT_LIST_DIR}", str(path.parent))
        if not (path.parent / source).is_file():
            raise InputError(f"{where}: there is no {name}")
    if text.count("(") != text.count(")"):
        raise InputError(f"{where}: a parenthesis is missing")


def simple_yaml(text: str, where: str) -> dict[str, Any]:
    """The mappings and lists of a YAML file that uses no more of the language: blocks, words and "texts"."""
    top: dict[str, Any] = {"": {}}
    stack: list[tuple[int, dict[str, Any], str]] = []  # indent, container, open key
    for number, line in enumerate(text.splitlines(), 1):
        match = _YAML_LINE.fullmatch(line)
        if match is None or (match[3] is None and match[2] is None):
            raise InputError(f"{where}: line {number}: not understood")
        indent = len(match[1])
        while stack and stack[-1][0] >= indent:
            stack.pop()
        container, key = stack[-1][1:] if stack else (top, "")
        value: Any = json.loads(match[4]) if (match[4] or "").startswith('"') else match[4]
        if match[2]:
            if not isinstance(container.get(key), list):
                container[key] = []
            container[key].append(value)
            continue
        if not isinstance(container.get(key), dict):
            container[key] = {}
        inner = container[key]
        if match[3] in inner:
            raise InputError(f"{where}: line {number}: '{match[3]}' appears twice")
        inner[match[3]] = value
        stack.append((indent, inner, str(match[3])))
    made: dict[str, Any] = top[""]
    return made
