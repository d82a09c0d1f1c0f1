"""Pinned toolchains, step by step: what is the same, where one is, what is fetched, wrapped and run."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Sequence
from dataclasses import replace
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest

from motecrypt.base.errors import InputError
from motecrypt.base.model import Compiler, DebianPackage, Toolchain, ToolchainTarget
from motecrypt.base.process import Outcome
from motecrypt.build.toolchain import BuildError, debian, pinned

OK, BAD = Outcome(0, "", ""), Outcome(1, "", "a.c:3: error: no")


def test_debians_rebuilds_are_the_same_version() -> None:
    assert pinned._same_version("1.2-3", "1.2-3") and pinned._same_version("1.2-3+b12", "1.2-3")
    for other in ("1.2-4", "1.2-3+b", "1.2-3+b1x", "1.2-3+deb12u1", ""):
        assert not pinned._same_version(other, "1.2-3")


def test_which_packages_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "b 2.0 config-files\nc  not-installed\nd 3 installed more\ne 4 installed\n"
    asked: list[str] = []

    def run(command: Sequence[str], work_s: float) -> Outcome:
        asked.append(" ".join(command[3:]))
        return Outcome(1, said, "no package x")

    monkeypatch.setattr(pinned, "_whole", {})
    monkeypatch.setattr(pinned.process, "run", run)
    monkeypatch.setattr(pinned.shutil, "which", lambda name: "/bin/" + name)
    for _ in range(2):  # what is missing may be there the next time
        assert pinned._installed(("b", "c", "d", "e")) == {"e": "4"} and pinned._installed(()) is None
    said = "a 1.0 installed\ne 4 installed\n"
    for _ in range(2):
        assert pinned._installed(("a", "e")) == {"a": "1.0", "e": "4"}
    assert asked == ["b c d e", "b c d e", "a e"]
    monkeypatch.setattr(pinned.shutil, "which", lambda name: None)
    assert pinned._installed(("a",)) is None


def test_a_pinned_compiler_takes_the_devices_place() -> None:
    own = Compiler("old-gcc", ("-m",), ("-Os",), (), ())
    chain = Toolchain("toy", "Toy", "r", "s", Path("toy.toml"), ())
    bare = ToolchainTarget(
        replaces="old-gcc", command="gcc", version="1", linker="", compile_flags=(), include=(), packages=(),
        libraries=(),
    )  # fmt: skip
    full = replace(bare, linker="ld", compile_flags=("-x",), include=("usr/a", "usr/b"), resources="usr/res")
    for target, root, changes in (
        (bare, "", {"command": "gcc"}),
        (bare, "/r", {"command": "/r/usr/bin/gcc", "root": "/r"}),
        (
            full,
            "",
            {"command": "gcc", "linker": "ld", "compile_flags": ("-x", "-isystem/usr/a", "-isystem/usr/b")},
        ),
        (
            full,
            "/r",
            {
                "command": "/r/usr/bin/gcc",
                "linker": "/r/usr/bin/ld",
                "compile_flags": ("-x", "-resource-dir=/r/usr/res", "-isystem/r/usr/a", "-isystem/r/usr/b"),
                "root": "/r",
            },
        ),
    ):
        found: Any = SimpleNamespace(root=root)
        assert pinned._compiler(own, chain, target, found) == replace(own, toolchain="toy", **changes)
    assert pinned._commands(Path("/r"), full) == [Path("/r/usr/bin/gcc"), Path("/r/usr/bin/ld")]
    assert pinned._commands(Path("/r"), replace(full, linker="gcc")) == [Path("/r/usr/bin/gcc")]
    assert pinned._commands(Path("/r"), bare) == [Path("/r/usr/bin/gcc")]


def test_a_machine_and_what_it_unpacks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = [Outcome(0, " amd64 \n", "")]
    monkeypatch.setattr(pinned.process, "run", lambda command, work_s: told[0])
    assert pinned.architecture.__wrapped__() == "amd64"
    told[0] = Outcome(None, "", "")
    for machine, debians in (("x86_64", "amd64"), ("aarch64", "arm64"), ("riscv64", "riscv64")):
        monkeypatch.setattr(pinned.os, "uname", lambda named=machine: SimpleNamespace(machine=named))
        assert pinned.architecture.__wrapped__() == debians
    told[0] = Outcome(2, "", "dpkg-deb: error: no archive")
    with pytest.raises(
        BuildError, match=r"^x\.deb cannot be unpacked: dpkg-deb: error: no archive$"
    ) as failed:
        pinned._unpack([Path("x.deb")], tmp_path)
    assert failed.value.transient
    (tmp_path / "x.deb").write_text("x")
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"  # SHA-256 of "x"
    pinned._check(tmp_path / "x.deb", digest)
    with pytest.raises(
        BuildError, match=rf"^x\.deb has the hash {digest[:16]}…, pinned is {'a' * 16}…: refused$"
    ):
        pinned._check(tmp_path / "x.deb", "a" * 64)


TARGET = ToolchainTarget(
    replaces="old-gcc", command="gcc", version="gcc 1", linker="", compile_flags=(), include=(), packages=(),
    libraries=(),
)  # fmt: skip


def test_the_systems_own_has_its_linker_too(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"gcc": "gcc 1", "ld": "ld 9"}

    def identity(command: str) -> str:
        if command not in there:
            raise InputError(f"no {command}")
        return there[command]

    monkeypatch.setattr(pinned, "identity", identity)
    assert pinned.is_system(TARGET) and pinned.is_system(replace(TARGET, linker="ld"))
    assert not pinned.is_system(replace(TARGET, linker="gold"))
    assert not pinned.is_system(replace(TARGET, version="gcc 2"))
    assert not pinned.is_system(replace(TARGET, command="cc"))


def test_an_unpacked_compiler_runs_where_all_that_it_runs_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken: list[str] = []
    parts = {part: str(tmp_path / "lib" / part) for part in pinned._PARTS}

    def run(command: list[Any]) -> Outcome:
        program, asked = str(command[0]), str(command[1])
        if asked == "--version":
            return BAD if program in broken else OK
        return Outcome(0, parts[asked.partition("=")[2]] + "\n", "")

    monkeypatch.setattr(pinned.process, "run", run)
    both = replace(TARGET, linker="ld")
    assert pinned._runs(tmp_path, both)
    for program in (*parts.values(), *(str(tmp_path / "usr/bin" / name) for name in ("gcc", "ld"))):
        broken[:] = [program]
        assert not pinned._runs(tmp_path, both)
    first = next(iter(parts))
    for elsewhere in ("/usr/bin/as", "as"):  # a program outside this folder is the system's
        parts[first] = elsewhere
        broken[:] = [elsewhere]
        assert pinned._runs(tmp_path, both)


def test_where_a_toolchain_lies_tells_what_is_in_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pinned, "cache_dir", lambda: tmp_path)
    monkeypatch.setattr(pinned, "architecture", lambda: "amd64")
    chain = Toolchain("toy", "Toy", "r", "s", Path("toy.toml"), ())
    roots = {
        pinned._root(replace(chain, release=release), target)
        for release in ("r", "q")
        for target in (TARGET, replace(TARGET, libraries=("x",)), replace(TARGET, links=(("a", "b"),)))
    }
    assert len(roots) == 6 and {root.parent for root in roots} == {tmp_path / "toolchains"}
    for root in roots:
        name, _, digest = root.name.rpartition("-")
        assert name == "toy-gcc" and len(digest) == 16
    monkeypatch.setattr(pinned, "architecture", lambda: "arm64")
    assert pinned._root(chain, TARGET) not in roots


def test_what_is_a_program(tmp_path: Path) -> None:
    import shutil
    import sys

    program = tmp_path / "program"
    shutil.copy(Path(sys.executable).resolve(), program)
    program.chmod(0o755)
    assert pinned._is_program(program)
    program.rename(tmp_path / "lib.so.1")
    assert not pinned._is_program(tmp_path / "lib.so.1")
    (tmp_path / "lib.so.1").rename(program)
    (tmp_path / "link").symlink_to(program)
    (tmp_path / "script").write_text("#!/bin/sh\n")
    (tmp_path / "script").chmod(0o755)
    for other in ("link", "script", "none", "."):
        assert not pinned._is_program(tmp_path / other)
    program.chmod(0o644)
    assert not pinned._is_program(program)


# --- fetched -----------------------------------------------------------------------------------------------

CHAIN = Toolchain("toy", "Toy", "r", "s", Path("toy.toml"), ())
X = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"  # SHA-256 of "x"


@pytest.fixture
def fetching(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """What a fetch does, one after the other; each package is a file with an x in it."""
    done: list[Any] = []

    def packages(release: str, names: Sequence[str], folder: Path, mirror: str) -> dict[str, Path]:
        done.append((release, [*names], mirror))
        for name in names:
            (folder / name).write_text("x")
        return {name: folder / name for name in names}

    def unpack(files: Any, target: Path) -> None:
        done.append(("unpack", [file.name for file in files]))
        (target / "usr").mkdir(exist_ok=True)

    monkeypatch.setattr(pinned, "cache_dir", lambda: tmp_path)
    monkeypatch.setattr(pinned, "architecture", lambda: "amd64")
    monkeypatch.setattr(pinned, "is_system", lambda target: False)
    monkeypatch.setattr(pinned, "_failed", {})
    monkeypatch.setattr(pinned, "_locks", {})
    monkeypatch.setattr(pinned.shutil, "which", lambda name: name)
    monkeypatch.setattr(debian, "packages", packages)
    monkeypatch.setattr(pinned, "_unpack", unpack)
    monkeypatch.setattr(pinned, "_wrap", lambda root: done.append("wrap"))
    monkeypatch.setattr(pinned, "_runs", lambda root, target: True)
    return done


def target(*pins: tuple[str, str, str], **changes: Any) -> ToolchainTarget:
    packages = tuple(DebianPackage(name, "1", ((kind, digest),)) for name, kind, digest in pins)
    return replace(TARGET, packages=packages, **changes)


BOTH = (("p", "all", X), ("q", "amd64", X))


def test_a_place_is_named_by_all_that_is_in_it(fetching: list[Any], tmp_path: Path) -> None:
    wanted = target(*BOTH, libraries=("l",), links=(("usr/a", "usr/b"),))
    packages = f'[["p", [["all", "{X}"]]], ["q", [["amd64", "{X}"]]]]'
    said = f'[1, "r", {packages}, ["l"], [["usr/a", "usr/b"]], "amd64"]'
    digest = hashlib.sha256(said.encode()).hexdigest()[:16]
    root = tmp_path / "toolchains" / f"toy-gcc-{digest}"
    assert pinned._root(CHAIN, wanted) == root
    assert pinned.place(CHAIN, wanted, "http://m") == pinned.Place(str(root))
    assert fetching == [("r", ["p", "q"], "http://m"), ("unpack", ["p", "q"])]
    assert (root / "usr/a").readlink() == Path("b") and list(root.parent.iterdir()) == [root]
    assert pinned.place(CHAIN, wanted) == pinned.Place(str(root)) and len(fetching) == 2


def test_what_does_not_run_gets_libraries_and_is_tried_once_more(
    fetching: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for answers, names, told in (
        ([False, False], ("l", "m"), r"\(l, m\)"),
        ([False, False], (), r"\(none are named\)"),
        ([False, True], ("l", "m"), ""),
    ):
        fetching.clear()
        runs = iter(answers)
        monkeypatch.setattr(pinned, "_failed", {})
        monkeypatch.setattr(pinned, "_runs", lambda root, target, runs=runs: next(runs))
        wanted = target(*BOTH, libraries=names)
        if told:
            said = f"gcc does not run here, not even with its own libraries {told};"
            with pytest.raises(InputError, match=said):
                pinned.place(CHAIN, wanted)
        else:
            assert pinned.place(CHAIN, wanted) == pinned.Place(str(pinned._root(CHAIN, wanted)))
        assert fetching[2:] == [("r", list(names), ""), ("unpack", list(names)), "wrap"]


def test_what_is_pinned_for_another_computer_is_not_fetched(
    fetching: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = target(("p", "all", X), ("q", "arm64", X))
    with pytest.raises(
        InputError, match=r"^toolchain toy is not available: q is pinned for arm64, and this is amd64; "
    ):
        pinned.place(CHAIN, wanted)
    for missing in ("apt-get", "dpkg-deb"):
        monkeypatch.setattr(pinned, "_failed", {})
        monkeypatch.setattr(
            pinned.shutil, "which", lambda name, missing=missing: None if name == missing else name
        )
        with pytest.raises(
            InputError, match="apt-get and dpkg-deb are not available; it needs p, q of Debian r, from"
        ):
            pinned.place(CHAIN, target(*BOTH))
    assert fetching == []
    monkeypatch.setattr(pinned.shutil, "which", lambda name: name)
    for kind in ("all", "amd64"):
        with pytest.raises(
            InputError, match=r"p has the hash 2d711642b726b044…, pinned is 0000000000000000…: refused"
        ):
            pinned.place(CHAIN, target(("p", kind, "0" * 64)))


def test_a_failure_is_told_again_but_not_tried_again_unless_of_another_mirror(
    fetching: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    def offline(release: str, names: object, folder: object, mirror: str) -> Any:
        tried.append(mirror)
        raise BuildError("no net")

    monkeypatch.setattr(debian, "packages", offline)
    for mirror in ("", "", "http://m", "http://m"):
        with pytest.raises(
            InputError, match=r"^toolchain toy is not available: no net; it needs p, q of Debian r"
        ):
            pinned.place(CHAIN, target(*BOTH), mirror)
    assert tried == ["", "http://m"]


def test_another_process_may_have_been_faster(fetching: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def occupied(path: Path, to: Path) -> Path:
        if made:
            to.mkdir(parents=True)
        raise OSError(39, "not empty")

    monkeypatch.setattr(Path, "rename", occupied)
    made = False
    with pytest.raises(OSError, match="not empty"):
        pinned.place(CHAIN, target(*BOTH))
    made = True
    assert Path(pinned.place(CHAIN, target(*BOTH)).root).is_dir()


def test_what_was_unpacked_ahead_is_only_finished(fetching: list[Any]) -> None:
    wanted = target(*BOTH, links=(("usr/a", "usr/b"),))
    root = pinned._root(CHAIN, wanted)
    for _ in range(2):  # once
        pinned.stage(CHAIN, wanted, "http://m")
        assert fetching == [("r", ["p", "q"], "http://m"), ("unpack", ["p", "q"])]
        assert [path.name for path in root.parent.iterdir()] == [f".{root.name}.unpacked"]
    assert pinned.place(CHAIN, wanted) == pinned.Place(str(root)) and len(fetching) == 2
    assert (root / "usr/a").readlink() == Path("b") and list(root.parent.iterdir()) == [root]
    pinned.stage(CHAIN, wanted)
    assert len(fetching) == 2 and list(root.parent.iterdir()) == [root]


def test_what_is_the_systems_own_or_has_no_packages_is_not_unpacked_ahead(
    fetching: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned.stage(CHAIN, target())
    monkeypatch.setattr(pinned, "is_system", lambda target: True)
    pinned.stage(CHAIN, target(*BOTH))
    assert fetching == []


def test_what_is_not_as_pinned_is_not_unpacked_ahead(fetching: list[Any]) -> None:
    with pytest.raises(BuildError, match=r"p has the hash 2d711642b726b044…, pinned is 0000000000000000…"):
        pinned.stage(CHAIN, target(("p", "all", "0" * 64)))
    assert len(fetching) == 1 and not list(pinned._root(CHAIN, target()).parent.iterdir())


def test_what_another_process_is_fetching_is_waited_for(
    fetching: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = pinned._root(CHAIN, target(*BOTH))
    held: list[IO[str]] = []

    def other_was_faster(lock: IO[str]) -> None:
        alone(lock)
        held.append(Path(lock.name).open())  # noqa: SIM115
        with pytest.raises(BlockingIOError):
            flock(held[0], LOCK_EX | LOCK_NB)
        root.mkdir(parents=True)

    alone = debian.alone
    monkeypatch.setattr(debian, "alone", other_was_faster)
    assert pinned.place(CHAIN, target(*BOTH)) == pinned.Place(str(root)) and fetching == []
    flock(held[0], LOCK_EX | LOCK_NB)  # it is let go again
    held[0].close()


def test_programs_are_started_by_the_loader_beside_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        pinned,
        "_is_program",
        lambda path: not path.is_symlink() and path.name in ("gcc", "cc1") and path.is_file(),
    )
    files = ("usr/bin/gcc", "usr/lib/gcc/cc1", "usr/lib/x86_64-linux-gnu/libc.so.6", "usr/share/text")
    for name in (*files, "lib/x86_64-linux-gnu/libm.so"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "usr/bin/cc").symlink_to("gcc")
    (tmp_path / "usr/bin/gone").symlink_to("nothing")
    (tmp_path / "usr/lib/ld-linux-a.so.1").symlink_to("x86_64-linux-gnu/libc.so.6")
    before = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*"))
    pinned._wrap(tmp_path)  # no loader that is a file of its own
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == before
    for name in ("b", "c"):
        (tmp_path / f"usr/lib/ld-linux-{name}.so.2").write_text("loader")
    (tmp_path / "usr/lib/ld-linux-aa.so.2").mkdir()
    pinned._wrap(tmp_path)
    libraries = "$here/../../lib/x86_64-linux-gnu:$here/../lib/x86_64-linux-gnu"
    start = f'exec "$here/../lib/ld-linux-b.so.2" --library-path "{libraries}" --argv0 "$0" "$here/.gcc" "$@"'
    for script in ("gcc", "cc"):
        place = tmp_path / "usr/bin" / script
        assert place.read_text() == f"#!/bin/sh\nhere=${{0%/*}}\n{start}\n" and not place.is_symlink()
        assert stat.S_IMODE(place.stat().st_mode) == 0o755
    assert (tmp_path / "usr/bin/.gcc").read_text() == "usr/bin/gcc"
    inner = (tmp_path / "usr/lib/gcc/cc1").read_text()
    assert 'exec "$here/../ld-linux-b.so.2"' in inner and '"$here/.cc1" "$@"' in inner
    assert (tmp_path / "usr/lib/gcc/.cc1").read_text() == "usr/lib/gcc/cc1"
    assert (tmp_path / "usr/bin/gone").is_symlink() and (
        tmp_path / "usr/share/text"
    ).read_text() == "usr/share/text"


def test_whose_toolchain_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Compiler("gcc", (), (), (), ())
    device: Any = SimpleNamespace(name="d", compiler=replace(own, command="old-gcc"))
    chains = [
        replace(CHAIN, name=name, targets=(replace(TARGET, replaces=replaces),))
        for name, replaces in (("a", "old-gcc"), ("b", "gcc"), ("c", "old-gcc"), ("d", "gcc"))
    ]
    monkeypatch.setattr(pinned, "is_system", lambda target: target.replaces == "gcc")
    assert pinned.name_of(own, chains) == "b" and pinned.name_of(own, chains[:1]) == ""
    for command in ("ff", "hh"):  # another compiler in its place is not it
        renamed = replace(chains[1], targets=(replace(TARGET, replaces="gcc", command=command),))
        assert pinned.name_of(own, [renamed]) == ""
    assert pinned.name_of(replace(own, command="old-gcc"), chains) == ""
    assert pinned.target_of(chains[0], device, chains) is chains[0].targets[0]
    for known, there in ((chains, "; there are for it: a, c"), (chains[1:2], "")):
        with pytest.raises(InputError) as told:
            pinned.target_of(chains[1], device, known)
        assert str(told.value) == f"toolchain b has nothing for d, which takes old-gcc{there}"


def test_no_system_package_may_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinned, "identity", lambda command: "gcc 1")
    asked: list[Any] = []
    for installed, same in (
        (None, True), ({"p": "1", "q": "1+b2"}, True), ({"p": "1"}, False), ({"p": "1", "q": "2"}, False),
    ):  # fmt: skip
        monkeypatch.setattr(pinned, "_installed", lambda names, found=installed: asked.append(names) or found)
        assert pinned.is_system(target(*BOTH)) is same
    assert set(asked) == {("p", "q")}
