"""Libraries that drivers link: the system's own, or unpacked into the cache; and tool sets that need one."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base.errors import InputError
from motecrypt.base.model import DebianPackage, PinnedLibrary
from motecrypt.build.setup.tool_sets import ToolSet, tool_sets
from motecrypt.build.toolchain import BuildError, debian, drivers, libraries, pinned
from motecrypt.catalog import DATA, Catalog
from motecrypt.catalog.toolchains import read_library
from motecrypt.measuring import bench
from motecrypt.results import Results
from tool_sets import needs_tool_set

tool_sets_module = sys.modules[ToolSet.__module__]

CONTENT = b"a package"
TOY = PinnedLibrary(
    name="toy",
    title="the library Toy",
    release="bookworm",
    library="libtoy.so",
    headers=("toy/toy.h", "toyelf.h"),
    system=("libtoy-dev",),
    packages=(DebianPackage("libtoy", "1-2", (("amd64", hashlib.sha256(CONTENT).hexdigest()),)),),
)


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, list[str]]]:
    """What is asked of Debian's archive, on a made-up machine without the library."""
    asked: list[tuple[str, list[str]]] = []

    def packages(release: str, names: Sequence[str], folder: Path, mirror: str = "") -> dict[str, Path]:
        asked.append((release, list(names)))
        files = {name: folder / f"{name}_1_amd64.deb" for name in names}
        for file in files.values():
            file.write_bytes(CONTENT)
        return files

    def unpack(files: object, target: Path) -> None:
        (target / "usr/include/toy").mkdir(parents=True)
        folder = target / "usr/lib/x86_64-linux-gnu"
        folder.mkdir(parents=True)
        (folder / "libtoy.so.2").write_text("a library")
        (folder / "libtoy.so").symlink_to("libtoy.so.2")

    monkeypatch.setattr(debian, "packages", packages)
    monkeypatch.setattr(pinned, "_unpack", unpack)
    monkeypatch.setattr(pinned, "architecture", lambda: "amd64")
    monkeypatch.setattr(pinned.shutil, "which", lambda name: f"/bin/{name}")
    for module in (libraries, pinned):
        monkeypatch.setattr(module, "cache_dir", lambda: tmp_path / "cache")
    monkeypatch.setattr(libraries, "HEADERS", tmp_path / "include")
    monkeypatch.setattr(libraries, "library", lambda name: replace(TOY, name=name))
    monkeypatch.setattr(libraries, "_failed", {})
    return asked


def test_a_library_is_unpacked_once(fetched: list[Any], tmp_path: Path) -> None:
    assert not libraries.have("toy")
    with pytest.raises(BuildError, match=r"^the library Toy: missing; 'motecrypt doctor' shows"):
        libraries.flags("toy", "gcc")
    for _ in range(2):
        libraries.fetch("toy")
        assert libraries.have("toy") and fetched == [("bookworm", ["libtoy"])]
    (root,) = (tmp_path / "cache" / "libraries").iterdir()
    folder = root / "usr/lib/x86_64-linux-gnu"
    assert libraries.flags("toy", "gcc") == (
        f"-I{root}/usr/include",
        f"-L{folder}",
        f"{folder}/libtoy.so.2",
        f"-Wl,--disable-new-dtags,-rpath,{folder}",
    )
    assert libraries.headers("toy") == root / "usr/include"


def test_another_hash_or_release_is_another_folder(
    fetched: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    libraries.fetch("toy")
    others = (
        replace(TOY, release="trixie"),
        replace(TOY, packages=(replace(TOY.packages[0], sha256=(("amd64", "0" * 64),)),)),
    )
    for other in others:
        monkeypatch.setattr(libraries, "library", lambda name, other=other: other)
        assert not libraries.have("toy")


def test_the_systems_own_is_taken_where_all_its_headers_are(
    fetched: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Path("/usr/lib/libtoy.so.2")
    asked: list[tuple[str, object, str]] = []
    monkeypatch.setattr(libraries, "installed_file", lambda *given: asked.append(given) or own)
    (libraries.HEADERS / "toy").mkdir(parents=True)
    (libraries.HEADERS / "toy/toy.h").touch()
    assert not libraries.have("toy")
    (libraries.HEADERS / "toyelf.h").touch()
    assert libraries.have("toy") and libraries.flags("toy", "cc") == (str(own),)
    assert asked == [("cc", (), "libtoy.so")] and libraries.headers("toy") == libraries.HEADERS
    libraries.fetch("toy")
    assert fetched == []


def test_what_is_not_as_pinned_is_refused_and_asked_for_once(
    fetched: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wrong = replace(TOY, packages=(replace(TOY.packages[0], sha256=(("amd64", "0" * 64),)),))
    monkeypatch.setattr(libraries, "library", lambda name: wrong)
    for _ in range(2):
        with pytest.raises(
            InputError, match=r"^the library Toy is not available: .* pinned is 0000.*: refused$"
        ):
            libraries.fetch("toy")
    assert len(fetched) == 1 and not libraries.have("toy")
    assert not list((tmp_path / "cache" / "libraries").iterdir())


def test_an_architecture_that_nothing_is_pinned_for(
    fetched: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pinned, "architecture", lambda: "armhf")
    with pytest.raises(InputError, match=r"libtoy is pinned for amd64, and this is armhf$"):
        libraries.fetch("toy")
    assert fetched == []


@pytest.mark.parametrize("works", [True, False])
def test_a_tool_set_gets_its_library_or_else_installs_it(
    fetched: list[Any], monkeypatch: pytest.MonkeyPatch, works: bool
) -> None:
    tool_set = ToolSet("k", "a tool set", ("a",), (), (), (), 1, False, "", (), "toy")
    monkeypatch.setattr(tool_sets_module, "tool_sets", lambda: {"k": tool_set})
    installed: list[tuple[str, ...]] = []

    def install(some: ToolSet) -> None:
        installed.append(some.debian)
        (libraries.HEADERS / "toy").mkdir(parents=True)
        for header in TOY.headers:
            (libraries.HEADERS / header).touch()

    monkeypatch.setattr(tool_sets_module, "_install_debian", install)
    if not works:
        monkeypatch.setattr(pinned, "architecture", lambda: "armhf")
    before = tool_sets_module.state("k")
    assert (before.complete, before.missing, before.by_hand) == (False, ("toy",), ("libtoy-dev",))
    tool_sets_module.need("k")
    assert tool_sets_module.state("k").complete
    assert installed == ([] if works else [("libtoy-dev",)]) and len(fetched) == works


def test_our_libraries_descriptors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = {tool_set.library for tool_set in tool_sets().values()} - {""}
    assert named == {path.stem for path in (DATA / "libraries").glob("*.toml")}
    for name in named:
        read = read_library(name)
        assert all({"amd64", "arm64"} <= set(dict(package.sha256)) for package in read.packages)
    text = (DATA / "libraries" / "simavr.toml").read_text()
    monkeypatch.setattr("motecrypt.catalog.toolchains.LIBRARIES", tmp_path)
    for old, new in (("bookworm", "book worm"), ('"libelf-dev"]', '"-o"]'), ("title", "titel")):
        (tmp_path / "simavr.toml").write_text(text.replace(old, new, 1))
        with pytest.raises(InputError):
            read_library("simavr")


@needs_tool_set("avr")
def test_the_unpacked_library_is_the_systems_and_counts_as_it_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where the system's own is another build, its cycles are the same all the same."""

    def measured(name: str) -> tuple[list[object], tuple[str, ...]]:
        catalog = Catalog.load()
        body = next(b for b in catalog.implementations_of("rc4", "uno", ["motecrypt"]))
        cells = bench.cells_for(
            catalog, catalog.device("uno"), body, message_bytes=[24], placements=["flash"]
        )
        with Results(tmp_path / f"{name}.db") as results:
            found = bench.ensure(cells, results, catalog, jobs=1).values()
        assert {m.status for m in found} == {"ok"}
        return [(m.operation, m.cycles_median, m.stack_bytes) for m in found], drivers.RECIPES[
            "simavr"
        ].flags()

    installed, own = measured("installed")
    monkeypatch.setattr(libraries, "HEADERS", tmp_path)
    for cached in (drivers.driver, drivers.driver_identity):
        cached.cache_clear()
    try:
        libraries.fetch("simavr")
    except InputError as error:
        pytest.skip(str(error))
    try:
        unpacked, flags = measured("unpacked")
    finally:
        for cached in (drivers.driver, drivers.driver_identity):
            cached.cache_clear()
    assert unpacked == installed
    assert any("/libraries/simavr-" in flag and flag.endswith(".so.2") for flag in flags)
    linked = SimpleNamespace(own=own[-1] if len(own) == 1 else own[2], unpacked=flags[2])
    assert Path(linked.own).name == Path(linked.unpacked).name == "libsimavr.so.2"
