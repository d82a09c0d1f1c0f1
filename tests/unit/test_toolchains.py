"""Pinned toolchains: what a descriptor may say, where one is found, and what is refused of an archive."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from motecrypt.app import toolchains as _toolchains
from motecrypt.app.plan import toolchains_by_device
from motecrypt.app.selection import select
from motecrypt.base import process
from motecrypt.base.errors import InputError
from motecrypt.base.model import DebianPackage, Toolchain, ToolchainTarget
from motecrypt.build.setup.tool_sets import tool_sets
from motecrypt.build.toolchain import debian, pinned, toolchain
from motecrypt.build.toolchain.toolchain import BuildError
from motecrypt.catalog import Catalog
from motecrypt.catalog.toolchains import read_toolchain
from motecrypt.cli import application
from tool_sets import needs_tool_set

CATALOG = Catalog.load()
UNO, PICO = CATALOG.device("uno"), CATALOG.device("pico")
ARCHITECTURE = "amd64"
GOOD = """title = "Toy"
release = "bookworm"
source = "here"
[[target]]
replaces = "avr-gcc"
command = "toy-gcc"
version = "toy-gcc 1.0"
libraries = ["libc6"]
[[target.package]]
name = "toy"
version = "1:1.0-2"
sha256 = { amd64 = "HASH", arm64 = "HASH" }
""".replace("HASH", "a" * 64)


# --- descriptors -------------------------------------------------------------------------------------


def test_a_toolchain_is_its_file(tmp_path: Path) -> None:
    path = tmp_path / "toy-1.toml"
    path.write_text(GOOD)
    read = read_toolchain(path)
    assert (read.name, read.release, read.title) == ("toy-1", "bookworm", "Toy")
    target = read.target_for("avr-gcc")
    assert target is not None and read.target_for("toy-gcc") is None
    assert target.packages == (DebianPackage("toy", "1:1.0-2", (("amd64", "a" * 64), ("arm64", "a" * 64))),)
    own = Catalog.load(toolchains=[path])
    assert own.toolchain("toy-1") == read and own.toolchain("gcc-14") == CATALOG.toolchain("gcc-14")


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ('"bookworm"', '"../x"', "'release' is '../x'; expected the name of a Debian release"),
        ('release = "bookworm"', "", "'release' is missing"),
        ('"toy-gcc"', '"/bin/sh"', "'command' is '/bin/sh'; expected the name of a GCC or Clang"),
        ('"avr-gcc"', '"rm -rf"', "'command' is 'rm -rf'"),
        (
            '"toy"\nversion',
            '"-oDir=/"\nversion',
            "'name' is '-oDir=/'; expected the name of a Debian package",
        ),
        ('"1:1.0-2"', '"1 0"', "'version' is '1 0'"),
        ('"libc6"', '"libc6=*"', "'libraries' is 'libc6=\\*'"),
        ("a" * 64, "a" * 63, "is not 64 hexadecimal digits"),
        ("amd64 =", "vax =", "unknown 'vax'"),
        ('replaces = "avr-gcc"', 'replaces = "avr-gcc"\nresources = "/x"', "'resources' is '/x'"),
        ("[[target.package]]", '[[target.link]]\npath = "usr/a"\nto = "../b"\n[[target.package]]', "'to' is"),
        ('replaces = "avr-gcc"', 'replaces = "avr-gcc"\ntriple = "-x"', "'triple' is '-x'"),
        ('replaces = "avr-gcc"', 'replaces = "avr-gcc"\ninclude = ["../etc"]', "'include' is '../etc'"),
        ('replaces = "avr-gcc"', 'replaces = "avr-gcc"\ncompile_flags = ["-wrapper"]', "is not allowed"),
        ('replaces = "avr-gcc"', 'replaces = "avr-gcc"\nlinker = "ld; x"', "'command' is 'ld; x'"),
    ],
)
def test_what_no_toolchain_has_is_named(tmp_path: Path, was: str, now: str, told: str) -> None:
    path = tmp_path / "toy.toml"
    assert was in GOOD
    path.write_text(GOOD.replace(was, now))
    with pytest.raises(InputError, match=told) as error:
        read_toolchain(path)
    assert "toy.toml" in str(error.value) and "\n" not in str(error.value)


def test_one_compiler_is_replaced_once_and_one_name_is_one_file(tmp_path: Path) -> None:
    path = tmp_path / "toy.toml"
    path.write_text(GOOD + GOOD[GOOD.index("[[target]]") :])
    with pytest.raises(InputError, match="two targets replace 'avr-gcc'"):
        read_toolchain(path)
    path.write_text(GOOD[: GOOD.index("[[target]]")] + "target = []\n")
    with pytest.raises(InputError, match="'target' is empty"):
        read_toolchain(path)
    own = tmp_path / "gcc-14.toml"
    own.write_text(GOOD)
    with pytest.raises(InputError, match=r"toolchain 'gcc-14' is also in .*give the file another name"):
        Catalog.load(toolchains=[own])
    bad = tmp_path / "a b.toml"
    bad.write_text(GOOD)
    with pytest.raises(InputError, match="the file's name is 'a b'"):
        read_toolchain(bad)


def test_ours_pin_a_whole_toolchain_for_both_kinds_of_computer() -> None:
    for chain in CATALOG.toolchains.values():
        for target in chain.targets:
            assert target.packages and target.libraries
            assert target.command.partition("-")[0] in target.version
            for package in target.packages:
                assert {"all"} == set(dict(package.sha256)) or {"amd64", "arm64"} <= set(dict(package.sha256))
    for name, device in (("gcc-5.4", UNO), ("gcc-14", UNO), ("gcc-12", PICO), ("gcc-14", PICO)):
        assert CATALOG.toolchain(name).target_for(device.compiler.command)


# --- what a user says --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--toolchain", "gcc-5"], "unknown toolchain 'gcc-5'; did you mean gcc-5.4"),
        (["--toolchain", "./none.toml"], "none.toml: cannot be read"),
        (["--toolchain", "gcc-12"], "gcc-12 has nothing for uno, which takes avr-gcc; there are for it: "),
        (["--toolchain", "gcc-5.4", "--toolchain", "gcc-12"], "gcc-12 has nothing for uno"),
        (["--toolchain", "gcc-14", "--mirror", "somewhere"], "--mirror 'somewhere' is not the address"),
        (["--toolchain", "gcc-14", "--mirror", "http://a b/"], "is not the address of a Debian archive"),
        (["--toolchain", "gcc-14", "--mirror", "http://a/[x=y]"], "is not the address of a Debian archive"),
    ],
)
def test_a_wrong_choice_is_one_line(arguments: list[str], told: str, tmp_path: Path) -> None:
    command = ["measure", "--cipher", "rc4", "--db", str(tmp_path / "r.db"), *arguments]
    done = CliRunner().invoke(application, command)
    assert isinstance(done.exception, InputError), done.output
    assert told in str(done.exception) and "\n" not in str(done.exception)


def test_each_device_takes_the_toolchains_that_are_for_it() -> None:
    chosen = select((), (), ("uno", "pico"), ("gcc-5.4", "gcc-12", "gcc-14"))
    assert toolchains_by_device(chosen) == {"uno": ["gcc-5.4", "gcc-14"], "pico": ["gcc-12", "gcc-14"]}
    assert toolchains_by_device(select((), (), ("uno",))) == {"uno": [""]}
    with pytest.raises(InputError, match=r"gcc-5\.4 has nothing for pico"):
        toolchains_by_device(select((), (), ("uno", "pico"), ("gcc-5.4",)))


# --- the system's own --------------------------------------------------------------------------------

TARGET = ToolchainTarget(
    replaces="avr-gcc",
    command="toy-gcc",
    version="toy-gcc 1.0",
    linker="",
    compile_flags=(),
    include=(),
    packages=(DebianPackage("toy", "1.0-2", ((ARCHITECTURE, "a" * 64),)),),
    libraries=(),
)


@pytest.fixture
def toy(tmp_path: Path) -> Toolchain:
    return Toolchain("toy", "Toy", "bookworm", "here", tmp_path / "toy.toml", (TARGET,))


def _installed(monkeypatch: pytest.MonkeyPatch, version: str, packages: Mapping[str, str] | None) -> None:
    def identity(command: str) -> str:
        if not version:
            raise InputError(f"{command} is missing")
        return version

    monkeypatch.setattr(pinned, "identity", identity)
    monkeypatch.setattr(pinned, "_installed", lambda names: packages)


@pytest.mark.parametrize(
    ("version", "packages", "same"),
    [
        ("toy-gcc 1.0", {"toy": "1.0-2"}, True),
        ("toy-gcc 1.0", {"toy": "1.0-2+b3"}, True),  # only built again
        ("toy-gcc 1.0", None, True),  # no dpkg here: only the compiler's version is known
        ("toy-gcc 1.0", {"toy": "1.0-3"}, False),
        ("toy-gcc 1.0", {"toy": "1.0-2+deb12u1"}, False),
        ("toy-gcc 1.0", {}, False),
        ("toy-gcc 1.1", {"toy": "1.0-2"}, False),
        ("", {"toy": "1.0-2"}, False),
    ],
)
def test_the_systems_own_is_taken_where_all_of_it_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
    toy: Toolchain,
    version: str,
    packages: Mapping[str, str] | None,
    same: bool,
) -> None:
    _installed(monkeypatch, version, packages)
    assert pinned.is_system(TARGET) is same
    if same:
        assert pinned.place(toy, TARGET).root == ""
        used = pinned.with_toolchain(UNO, "toy", {"toy": toy}).compiler
        assert (used.command, used.toolchain, used.root) == ("toy-gcc", "toy", "")


def test_the_systems_compiler_is_told_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = CATALOG.toolchain("gcc-5.4")
    target = chain.targets[0]
    _installed(monkeypatch, target.version, {p.name: p.version for p in target.packages})
    used = pinned.with_toolchain(UNO, "", CATALOG.toolchains)
    assert used.compiler == replace(UNO.compiler, toolchain="gcc-5.4")
    _installed(monkeypatch, "avr-gcc (GCC) 7.3.0", {})
    assert pinned.with_toolchain(UNO, "", CATALOG.toolchains) == UNO


def test_a_tool_set_comes_without_a_compiler_where_a_toolchain_takes_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(_toolchains, "need_each", asked.extend)
    monkeypatch.setattr(_toolchains, "place", lambda chain, target, mirror: asked.append(chain.name))
    monkeypatch.setattr(_toolchains, "is_system", lambda target: False)
    monkeypatch.setattr(_toolchains, "_release", lambda: "trixie")
    _toolchains.need_toolchain(CATALOG, UNO, "gcc-5.4")
    assert asked == [("avr", False), "gcc-5.4"]
    asked.clear()
    _toolchains.need_toolchain(CATALOG, UNO, "gcc-14")  # this release's own: installed, were it not faked
    assert asked[0] == ("avr", True)
    asked.clear()
    monkeypatch.setattr(_toolchains, "is_system", lambda target: True)
    _toolchains.need_toolchain(CATALOG, UNO, "gcc-5.4")
    assert asked == [("avr", True)]
    for name, command in (("avr", "avr-gcc"), ("pico", "arm-none-eabi-gcc")):
        whole, rest = tool_sets()[name], tool_sets()[name].without_compiler
        assert command in whole.commands and command not in rest.commands and "gcc" in rest.commands
        assert set(whole.compiler) == {
            *(set(whole.debian) - set(rest.debian)),
            *(set(whole.commands) - set(rest.commands)),
            *(set(whole.files) - set(rest.files)),
        }


# --- unpacking ---------------------------------------------------------------------------------------


def _package(folder: Path, name: str, files: Mapping[str, str]) -> Path:
    """A real .deb with these programs in it."""
    tree = folder / f"{name}-tree"
    for path, text in {"DEBIAN/control": _CONTROL.format(name=name), **files}.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
        (tree / path).chmod(0o755)
    made = folder / f"{name}_1.0-2_{ARCHITECTURE}.deb"
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", tree, made], check=True, capture_output=True)
    return made


_CONTROL = """Package: {name}
Version: 1.0-2
Architecture: amd64
Maintainer: nobody
Description: for a test
"""
_COMPILER = '#!/bin/sh\ncase "$1" in --version) echo "toy-gcc 1.0";; *) echo;; esac\n'


@pytest.fixture
def archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toy: Toolchain
) -> tuple[Toolchain, ToolchainTarget, list[tuple[str, ...]]]:
    """A toolchain whose one package an archive brings, and what the archive was asked for."""
    made = _package(tmp_path, "toy", {"usr/bin/toy-gcc": _COMPILER})
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    asked: list[tuple[str, ...]] = []

    def packages(release: str, names: Sequence[str], folder: Path, mirror: str = "") -> dict[str, Path]:
        asked.append((release, *names, mirror))
        return {name: Path(shutil.copy(made, folder / made.name)) for name in names}

    monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(debian, "packages", packages)
    monkeypatch.setattr(pinned, "architecture", lambda: ARCHITECTURE)
    monkeypatch.setattr(pinned, "_failed", {})
    target = replace(TARGET, packages=(DebianPackage("toy", "1.0-2", ((ARCHITECTURE, digest),)),))
    return replace(toy, targets=(target,)), target, asked


Archive = tuple[Toolchain, ToolchainTarget, list[tuple[str, ...]]]


def test_what_is_fetched_is_unpacked_once_and_used_from_there(
    archive: Archive, capsys: pytest.CaptureFixture[str]
) -> None:
    chain, target, asked = archive
    root = pinned.place(chain, target, "http://mirror.invalid/debian").root
    assert asked == [("bookworm", "toy", "http://mirror.invalid/debian")]
    assert "fetching the toolchain toy (toy of Debian bookworm)" in capsys.readouterr().err
    used = pinned.with_toolchain(UNO, "toy", {"toy": chain}).compiler
    assert len(asked) == 1
    assert used.command == f"{root}/usr/bin/toy-gcc" and used.root == root and used.toolchain == "toy"
    assert toolchain.identity(used.command) == "toy-gcc 1.0"
    assert used.machine_flags == UNO.compiler.machine_flags
    assert sorted(path.name[0] for path in Path(root).parent.iterdir()) == ["t"]  # no scratch is left


def test_links_that_only_an_installation_makes_are_made(archive: Archive) -> None:
    chain, target, _ = archive
    target = replace(target, links=(("usr/lib", "usr/bin"),))
    root = Path(pinned.place(chain, target).root)
    assert (root / "usr" / "lib").readlink() == Path("bin") and (root / "usr" / "lib" / "toy-gcc").is_file()


def test_a_package_with_another_hash_is_refused_and_leaves_nothing(archive: Archive, tmp_path: Path) -> None:
    chain, target, asked = archive
    wrong = replace(target, packages=(DebianPackage("toy", "1.0-2", ((ARCHITECTURE, "0" * 64),)),))
    for _ in range(2):
        with pytest.raises(
            InputError, match=r"has the hash .*…, pinned is 0000000000000000…: refused"
        ) as told:
            pinned.place(chain, wrong)
        assert "\n" not in str(told.value) and "--mirror ADDRESS" in str(told.value)
    assert len(asked) == 1  # tried once: a command must not wait again for each cell
    assert not list((tmp_path / "cache" / "toolchains").iterdir())


def test_what_cannot_be_had_says_what_would_do(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    chain, target, _ = archive

    def offline(*_: object) -> None:
        raise BuildError("http://archive.invalid bookworm: no such host")

    monkeypatch.setattr(debian, "packages", offline)
    with pytest.raises(InputError) as told:
        pinned.place(chain, target)
    assert str(told.value) == (
        "toolchain toy is not available: http://archive.invalid bookworm: no such host; it needs toy of "
        "Debian "
        "bookworm, from this machine's sources or with --mirror ADDRESS"
    )
    monkeypatch.setattr(pinned, "architecture", lambda: "vax")
    with pytest.raises(InputError, match="toy is pinned for amd64, and this is vax"):
        pinned.place(chain, target)
    with pytest.raises(InputError, match=r"no toy-gcc in PATH that calls itself 'toy-gcc 1\.0'"):
        pinned.place(chain, replace(target, packages=()))


def test_a_program_that_does_not_run_here_gets_its_own_libraries(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain, target, asked = archive
    target = replace(target, libraries=("libtoy",))
    ran = iter((False, True))
    wrapped: list[Path] = []
    monkeypatch.setattr(pinned, "_runs", lambda root, target: next(ran))
    monkeypatch.setattr(pinned, "_wrap", wrapped.append)
    pinned.place(replace(chain, targets=(target,)), target)
    assert [names[1] for names in asked] == ["toy", "libtoy"] and len(wrapped) == 1
    monkeypatch.setattr(pinned, "_runs", lambda root, target: False)
    other = replace(target, libraries=("libtoy", "libother"))
    with pytest.raises(InputError, match=r"toy-gcc does not run here, not even with its own libraries"):
        pinned.place(chain, other)


def test_what_a_compiler_runs_itself_has_to_run_too(tmp_path: Path) -> None:
    script = tmp_path / "usr" / "bin" / "toy-gcc"
    script.parent.mkdir(parents=True)
    part = tmp_path / "usr" / "lib" / "cc1"
    part.parent.mkdir()
    script.write_text(f'#!/bin/sh\ncase "$1" in -print-prog-name=cc1) echo {part};; esac\n')
    part.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    part.chmod(0o755)
    assert not pinned._runs(tmp_path, TARGET)
    part.write_text("#!/bin/sh\n")
    assert pinned._runs(tmp_path, TARGET)
    script.write_text("#!/bin/sh\nexit 127\n")
    assert not pinned._runs(tmp_path, TARGET)


@needs_tool_set("host")
def test_a_wrapped_program_uses_the_libraries_beside_it_and_knows_its_own_name(tmp_path: Path) -> None:
    """With this system's C library in the place of an unpacked one; and after the whole has moved."""
    root = tmp_path / "root"
    loader, library = (
        Path(
            subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()
        )
        for name in ("ld-linux-x86-64.so.2", "libc.so.6")
    )
    if not loader.is_file():
        pytest.skip("the loader of x86-64 is not here")
    beside = root / "usr" / "lib" / "x86_64-linux-gnu"
    beside.mkdir(parents=True)
    for file in (loader, library):
        shutil.copy(file.resolve(), beside / file.name)
    source = tmp_path / "say.c"
    source.write_text(
        "#include <stdio.h>\nint main(int n, char **words) {\n"
        '  FILE *maps = fopen("/proc/self/maps", "r"); char line[4096];\n'
        '  printf("%s|%s\\n", words[0], words[n - 1]);\n'
        "  while (fgets(line, sizeof line, maps)) fputs(line, stdout);\n  return 0;\n}\n"
    )
    program = root / "usr" / "bin" / "say"
    program.parent.mkdir()
    subprocess.run(["gcc", source, "-o", program], check=True)
    (program.parent / "script").write_text("#!/bin/sh\n")
    (program.parent / "script").chmod(0o755)
    other = root / "usr" / "lib" / "parts" / "other"
    other.parent.mkdir(parents=True)
    other.symlink_to("../../bin/say")
    pinned._wrap(root)
    assert (program.parent / "script").read_text() == "#!/bin/sh\n"
    moved = tmp_path / "moved here"
    root.rename(moved)
    command = moved / "usr" / "bin" / "say"
    done = subprocess.run([command, "a  b$c"], capture_output=True, text=True, check=True)
    first, *maps = done.stdout.splitlines()
    assert first == f"{command}|a  b$c"
    linked = moved / "usr" / "lib" / "parts" / "other"  # a link's place is another than its program's
    done = subprocess.run([linked, "x"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == f"{linked}|x"
    libraries = {line.split(None, 5)[5] for line in maps if ".so" in line}
    assert libraries and all(path.startswith(str(moved)) for path in libraries), libraries


# --- archives ----------------------------------------------------------------------------------------


@pytest.fixture
def keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(debian.MIRROR_VARIABLE, raising=False)
    return debian.KEYRING


def _apt(monkeypatch: pytest.MonkeyPatch, folder: Path, **fails: str) -> list[list[str]]:
    """apt-get, faked: download leaves the packages asked for, update a list; those in `fails` fail."""
    ran: list[list[str]] = []
    monkeypatch.setattr(debian, "listed", lru_cache(debian.listed.__wrapped__))

    def run(command: Sequence[object], **options: object) -> process.Outcome:
        words = [str(part) for part in command]
        ran.append(words)
        if "indextargets" in words:
            return process.Outcome(0, "Debian\thttp://archive.invalid/debian\tstable\n", "")
        verb = next(word for word in words if word in ("update", "download"))
        if verb in fails:
            return process.Outcome(100, "", fails[verb])
        lists = Path(next(w for w in words if w.startswith("Dir::State::Lists=")).partition("=")[2])
        if verb == "update":
            (lists / "archive_Packages").write_text("")
        for name in words[words.index(verb) + 1 :]:
            (folder / f"{name}_1_all.deb").write_text("")
        return process.Outcome(0, "", "")

    monkeypatch.setattr(process, "run", run)
    return ran


def _verbs(ran: list[list[str]]) -> list[str]:
    return [word for words in ran for word in words if word in ("indextargets", "update", "download")]


@pytest.mark.skipif(not debian.KEYRING.exists(), reason="Debian's keyring is not installed")
def test_packages_come_from_one_signed_archive_and_nothing_of_the_systems_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keyring: Path
) -> None:
    ran = _apt(monkeypatch, tmp_path)
    found = debian.packages("trixie", ["a", "b"], tmp_path)
    assert found == {"a": tmp_path / "a_1_all.deb", "b": tmp_path / "b_1_all.deb"}
    assert _verbs(ran) == ["indextargets", "update", "download"]
    sources = next((tmp_path / "cache" / "debian").rglob("sources.list")).read_text()
    assert sources == (
        f"deb [signed-by={keyring} target=Packages] http://archive.invalid/debian trixie main\n"
    )
    for option in (
        "Dir::Etc::SourceParts=/dev/null",
        "Dir::Etc::PreferencesParts=/dev/null",
        "Acquire::AllowInsecureRepositories=false",
        "APT::Get::AllowUnauthenticated=false",
        "APT::Update::Error-Mode=any",
    ):
        assert option in ran[-1]
    assert debian.packages("trixie", ["c"], tmp_path)  # the lists are there
    assert _verbs(ran)[3:] == ["download"]
    debian.packages("trixie", ["a"], tmp_path, "http://own.invalid/debian")
    assert _verbs(ran)[4:] == ["update", "download"]


@pytest.mark.skipif(not debian.KEYRING.exists(), reason="Debian's keyring is not installed")
def test_an_archive_that_fails_is_named_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keyring: Path
) -> None:
    ran = _apt(monkeypatch, tmp_path, update="E: Could not resolve 'archive.invalid'")
    named = "http://archive.invalid/debian trixie: "
    told = f"{named}the network cannot be reached (Could not resolve 'archive.invalid')"
    with pytest.raises(BuildError, match=f"^{re.escape(told)}$"):
        debian.packages("trixie", ["a"], tmp_path)
    assert _verbs(ran) == ["indextargets", "update"]
    _apt(monkeypatch, tmp_path, update="E: The repository is not signed.")
    with pytest.raises(BuildError, match=f"^{re.escape(named)}E: The repository is not signed"):
        debian.packages("trixie", ["a"], tmp_path)
    _apt(monkeypatch, tmp_path, download="E: Unable to locate package a")
    with pytest.raises(BuildError, match="Unable to locate package a"):
        debian.packages("trixie", ["a"], tmp_path)
    monkeypatch.setenv(debian.MIRROR_VARIABLE, "no address")
    with pytest.raises(InputError, match="MOTECRYPT_MIRROR 'no address' is not the address"):
        debian.packages("trixie", ["a"], tmp_path)


def test_without_the_archives_keys_nothing_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keyring: Path
) -> None:
    monkeypatch.setattr(debian, "KEYRING", tmp_path / "no-keys.gpg")
    ran = _apt(monkeypatch, tmp_path)
    with pytest.raises(BuildError, match="install debian-archive-keyring"):
        debian.packages("trixie", ["a"], tmp_path)
    assert not ran


RELEASE = """Origin: Debian
Label: Debian
Suite: trixie
Codename: trixie
Architectures: amd64 arm64
Components: main
Date: Sat, 01 Aug 2026 00:00:00 UTC
SHA256:
 {hash} {size} main/binary-amd64/Packages
 {hash} {size} main/binary-arm64/Packages
"""


@pytest.mark.skipif(not debian.KEYRING.exists(), reason="Debian's keyring is not installed")
@pytest.mark.parametrize("signature", ["none", "broken"])
def test_what_debian_has_not_signed_is_refused(tmp_path: Path, keyring: Path, signature: str) -> None:
    """By the real apt-get, of an archive that is here and is otherwise as it should be."""
    made = _package(tmp_path, "toy", {"usr/bin/toy-gcc": _COMPILER})
    site = tmp_path / "site"
    data = made.read_bytes()
    entry = _CONTROL.format(name="toy") + (
        f"Filename: pool/{made.name}\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n"
    )
    for place in ("amd64", "arm64"):
        lists = site / "dists" / "trixie" / "main" / f"binary-{place}"
        lists.mkdir(parents=True)
        (lists / "Packages").write_text(entry)
    (site / "pool").mkdir()
    shutil.copy(made, site / "pool" / made.name)
    text = RELEASE.format(hash=hashlib.sha256(entry.encode()).hexdigest(), size=len(entry))
    if signature == "none":
        (site / "dists" / "trixie" / "Release").write_text(text)
    else:
        head = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n"
        tail = "-----BEGIN PGP SIGNATURE-----\n\niQIzBAEBCAAdFiEE\n=abcd\n-----END PGP SIGNATURE-----\n"
        (site / "dists" / "trixie" / "InRelease").write_text(f"{head}{text}\n{tail}")
    folder = tmp_path / "got"
    folder.mkdir()
    with pytest.raises(BuildError):
        debian.packages("trixie", ["toy"], folder, f"file:{site}")
    assert not list(folder.glob("*.deb"))


@pytest.mark.parametrize("good", ["http://mirror.example/debian/", "https://a.b:80/x", "file:/srv/debian"])
def test_a_mirror_is_an_address(good: str) -> None:
    assert debian.checked_mirror(good, "--mirror") == good.rstrip("/")


@pytest.mark.parametrize(
    "bad", ["", "x", "ftp://a/b", "http://", "http://a b", "http://a\n", "copy:/x", "http://a/]"]
)
def test_what_is_no_address_is_refused(bad: str) -> None:
    with pytest.raises(InputError, match="is not the address of a Debian archive"):
        debian.checked_mirror(bad, "--mirror")


def test_the_list_tells_every_toolchain() -> None:
    done = CliRunner().invoke(application, ["list", "toolchains", "--json"])
    rows = {row["toolchain"]: row for row in json.loads(done.output)}
    assert set(rows) == set(CATALOG.toolchains) and "avr-libc 1:2.2.1-1" in rows["gcc-14"]["packages"]
    assert rows["gcc-14"]["for"] == "avr-gcc, arm-none-eabi-gcc"


def test_clang_is_told_what_puts_a_table_into_flash() -> None:
    """It ignores avr-libc's attribute without an error; GCC turns the attribute into this section."""
    clang = CATALOG.toolchain("clang-19")
    target = clang.target_for("avr-gcc")
    assert target is not None and '-D__progmem__=section(".progmem.data")' in target.compile_flags
    arm = clang.target_for("arm-none-eabi-gcc")
    assert arm is not None and not any("progmem" in flag for flag in arm.compile_flags)
