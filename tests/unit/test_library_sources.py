"""Library sources: pinned by hash, fetched once, refused when they differ; never half there. No network."""

from __future__ import annotations

import functools
import hashlib
import http.server
import io
import os
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from motecrypt.base import process
from motecrypt.base.errors import InputError
from motecrypt.build.setup import summary
from motecrypt.build.toolchain import BuildError, debian, sources
from motecrypt.build.toolchain.sources import Source, source_root, sources_of
from motecrypt.catalog import Catalog
from motecrypt.measuring import bench
from motecrypt.results import Results

ARCHIVE = "toy_1.0.orig.tar.gz"
RC4 = Path(__file__).parents[2] / "examples" / "mylibrary"


def _archive(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


GOOD = _archive(
    {
        "toy-1.0/arcfour.c": (RC4 / "src" / "arcfour.c").read_bytes(),
        "toy-1.0/arcfour.h": (RC4 / "src" / "arcfour.h").read_bytes(),
    }
)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _library(folder: Path, *places: tuple[str, str], root: str = "toy-1.0") -> Path:
    """A library's folder whose source comes from the places given: client and TOML of its hash."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rc4.c").write_text((RC4 / "rc4.c").read_text())
    (folder / "rc4.h").write_text((RC4 / "rc4.h").read_text())
    text = 'title = "Toy"\ninclude = ["@/."]\n'
    for client, digest in places:
        text += f'[[source]]\nclient = "{client}"\npackage = "toy"\nversion = "1.0"\nfile = "{ARCHIVE}"\n'
        text += f'sha256 = {digest}\nfolder = "{root}"\n'
    text += '[[implementation]]\nciphers = ["rc4"]\nheader = "rc4.h"\nsources = ["rc4.c", "@/arcfour.c"]\n'
    (folder / "library.toml").write_text(text)
    return folder


def _pin(data: bytes) -> str:
    return f'"{_hash(data)}"'


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sources, "_failed", {})
    summary()  # forgets what earlier tests went without


def _client(
    monkeypatch: pytest.MonkeyPatch, name: str, answer: bytes | str | Callable[[], bytes]
) -> list[Source]:
    """A faked client that brings these bytes, or fails with this line; returns what it is asked for."""
    asked: list[Source] = []

    def fetch(source: Source, scratch: Path) -> Path:
        asked.append(source)
        if isinstance(answer, str):
            raise BuildError(answer)
        archive = scratch / ARCHIVE
        archive.write_bytes(answer() if callable(answer) else answer)
        return archive

    monkeypatch.setitem(sources.CLIENTS, name, fetch)
    return asked


def test_a_pinned_source_is_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _client(monkeypatch, "debian", GOOD)
    folder = _library(tmp_path / "toy", ("debian", _pin(GOOD)))
    for _ in range(3):
        assert (source_root(folder) / "arcfour.c").is_file()
    assert len(asked) == 1


def test_another_hash_is_refused_and_nothing_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _client(monkeypatch, "debian", GOOD)
    folder = _library(tmp_path / "toy", ("debian", f'"{"0" * 64}"'))
    with pytest.raises(BuildError) as caught:
        source_root(folder)
    told = str(caught.value)
    assert "\n" not in told and "debian toy" in told and ARCHIVE in told and "refused" in told
    assert f"{_hash(GOOD)[:16]}…, pinned is {'0' * 16}…" in told
    assert not list((tmp_path / "cache").rglob("arcfour.c"))


def test_any_hash_of_a_list_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _client(monkeypatch, "debian", GOOD)
    folder = _library(tmp_path / "toy", ("debian", f'["{"0" * 64}", {_pin(GOOD)}]'))
    assert source_root(folder).name == "toy-1.0"
    assert source_root(folder).is_dir()


def test_half_an_archive_is_refused_by_its_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _client(monkeypatch, "debian", GOOD[: len(GOOD) // 2])
    folder = _library(tmp_path / "toy", ("debian", _pin(GOOD)))
    with pytest.raises(BuildError, match=rf"\({len(GOOD) // 2} bytes\) has the hash"):
        source_root(folder)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (GOOD[: len(GOOD) // 2], "cannot be unpacked"),
        (b"<html>no such file</html>", "cannot be unpacked"),
        (_archive({"other/arcfour.c": b""}), "has no folder 'toy-1.0'"),
        (_archive({"../../outside.c": b"x"}), "a file outside its folder"),
        (_archive({"/outside.c": b"x"}), "a file outside its folder"),
    ],
    ids=["cut", "page", "other folder", "upwards", "absolute"],
)
def test_a_pinned_archive_that_is_no_good_leaves_nothing(
    data: bytes, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _client(monkeypatch, "debian", data)
    folder = _library(tmp_path / "toy", ("debian", _pin(data)))
    with pytest.raises(BuildError, match=line):
        source_root(folder)
    assert not list((tmp_path / "cache" / "sources").iterdir())
    assert not list(tmp_path.rglob("outside.c"))


def test_the_second_place_serves_when_the_first_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _client(monkeypatch, "debian", "apt has no network")
    _client(monkeypatch, "crate", GOOD)
    folder = _library(tmp_path / "toy", ("debian", _pin(GOOD)), ("crate", _pin(GOOD)))
    assert source_root(folder).is_dir()


def test_a_source_that_cannot_be_had_names_every_place_and_is_not_waited_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _client(monkeypatch, "debian", "apt has no network")
    _client(monkeypatch, "pypi", "no such release")
    folder = _library(tmp_path / "toy", ("debian", _pin(GOOD)), ("pypi", _pin(GOOD)))
    for _ in range(3):
        with pytest.raises(BuildError) as caught:
            source_root(folder)
        assert str(caught.value) == (
            "source of toy is not available: debian toy: apt has no network; pypi toy: no such release"
        )
    assert len(asked) == 1
    assert summary() == (
        "could not be installed and was omitted: "
        "the source of toy (debian toy: apt has no network; pypi toy: no such release)"
    )
    assert summary() == ""


def test_a_faster_process_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _library(tmp_path / "toy", ("debian", _pin(GOOD)))

    def other_process_first() -> bytes:
        ready = tmp_path / "cache" / "sources" / f"toy-{_hash(GOOD)[:16]}" / "toy-1.0"
        ready.mkdir(parents=True)
        (ready / "arcfour.c").write_text("")
        return GOOD

    _client(monkeypatch, "debian", other_process_first)
    assert source_root(folder).is_dir()


def test_cells_without_a_source_are_stored_as_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, results: Results
) -> None:
    _client(monkeypatch, "debian", b"not the archive")
    catalog = Catalog.load(libraries=[_library(tmp_path / "toy", ("debian", _pin(GOOD)))])
    device = catalog.device("host")
    (body,) = catalog.implementations_of("rc4", "host", ["toy"])
    cells = bench.cells_for(catalog, device, body, message_bytes=[16])
    found = bench.ensure(cells, results, catalog)
    assert {m.status for m in found.values()} == {"build-failed"} and len(found) == 3
    assert all("has the hash" in m.reason for m in found.values())
    assert len(results.measurements(library="toy", status="build-failed")) == 3


def test_once_the_source_is_there_the_cells_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, results: Results
) -> None:
    catalog = Catalog.load(libraries=[_library(tmp_path / "toy", ("debian", _pin(GOOD)))])
    (body,) = catalog.implementations_of("rc4", "host", ["toy"])
    cells = bench.cells_for(catalog, catalog.device("host"), body, message_bytes=[16])
    _client(monkeypatch, "debian", "no network")
    bench.ensure(cells, results, catalog)
    monkeypatch.setattr(sources, "_failed", {})  # the next command
    _client(monkeypatch, "debian", GOOD)
    assert {m.status for m in bench.ensure(cells, results, catalog).values()} == {"ok"}


@pytest.mark.parametrize("bad", ['"abc"', f'"{"g" * 64}"', "[]", "7"])
def test_a_hash_that_is_none_is_named(bad: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"library\.toml.*sha256"):
        sources_of(_library(tmp_path / "toy", ("debian", bad)))


def test_an_unknown_client_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'client' is 'ftp'; expected one of debian, pypi, crate"):
        sources_of(_library(tmp_path / "toy", ("ftp", _pin(GOOD))))


# --- the clients, over a faked `process.run` ---------------------------------------------------------

SOURCE = Source("debian", "toy", "1.0", ARCHIVE, (_hash(GOOD),), "toy-1.0")


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    """This machine's archives are asked for once in a process; here by each test."""
    debian.listed.cache_clear()
    yield
    debian.listed.cache_clear()


def _runs(monkeypatch: pytest.MonkeyPatch, *answers: tuple[str, process.Outcome, str]) -> list[list[str]]:
    """Answers by a word of the command; the last of each names a file that the command then leaves."""
    ran: list[list[str]] = []

    def run(command: list[str], **options: object) -> process.Outcome:
        ran.append([str(part) for part in command])
        for word, outcome, leaves in answers:
            if word in ran[-1]:
                where = options.get("cwd")
                if leaves and isinstance(where, Path):
                    (where / leaves).parent.mkdir(parents=True, exist_ok=True)
                    (where / leaves).write_bytes(GOOD)
                return outcome
        return process.Outcome(0, "", "")

    monkeypatch.setattr(process, "run", run)
    return ran


def test_debian_without_an_archive_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _runs(monkeypatch)
    with pytest.raises(BuildError, match="no Debian archive among this machine's apt sources"):
        sources._from_debian(SOURCE, tmp_path)


LISTED = process.Outcome(
    0, "Debian\thttp://archive.invalid/debian\tstable\nDebian-Security\thttp://security.invalid/\tsafe\n", ""
)


def test_debian_finds_upstream_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = _runs(
        monkeypatch, ("indextargets", LISTED, ""), ("--download-only", process.Outcome(0, "", ""), ARCHIVE)
    )
    assert sources._from_debian(SOURCE, tmp_path).name == ARCHIVE
    assert ran[-1][-1] == "toy"
    assert _archives(tmp_path, "own") == [
        "http://archive.invalid/debian stable",
        "http://security.invalid/ safe",
    ]


def _archives(scratch: Path, release: str) -> list[str]:
    """The places in the sources file that apt was given: site and release of each."""
    lines = (scratch / release / "sources.list").read_text().splitlines()
    assert all(line.startswith("deb-src ") and line.endswith(" main") for line in lines)
    return [" ".join(line.split()[-3:-1]) for line in lines]


def test_a_named_release_is_looked_up_in_the_machines_main_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _runs(monkeypatch, ("indextargets", LISTED, ""), ("--download-only", process.Outcome(0, "", ""), ARCHIVE))
    found = sources._from_debian(replace(SOURCE, releases=("older", "newer")), tmp_path)
    assert found == tmp_path / "older" / ARCHIVE
    assert _archives(tmp_path, "older") == ["http://archive.invalid/debian older"]
    assert not (tmp_path / "newer").exists()


def test_releases_are_tried_in_order_and_the_first_reason_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = process.Outcome(100, "", "E: The repository does not have a Release file. error: older is gone")
    ran = _runs(monkeypatch, ("indextargets", LISTED, ""), ("update", gone, ""))
    with pytest.raises(BuildError, match="older is gone"):
        sources._from_debian(replace(SOURCE, releases=("older", "newer")), tmp_path)
    assert _archives(tmp_path, "newer") == ["http://archive.invalid/debian newer"]
    assert len([command for command in ran if "update" in command]) == 2


@pytest.mark.parametrize("bad", ['"book worm"', '"../x"', '["bookworm", "[trusted=yes]"]', "12"])
def test_a_release_that_is_no_word_is_named(bad: str, tmp_path: Path) -> None:
    folder = _library(tmp_path / "toy", ("debian", _pin(GOOD)))
    text = (folder / "library.toml").read_text()
    (folder / "library.toml").write_text(text.replace("package =", f"release = {bad}\npackage ="))
    with pytest.raises(InputError, match=r"library\.toml.*release"):
        sources_of(folder)


def test_a_client_that_brings_another_version_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _runs(monkeypatch, ("indextargets", LISTED, ""), ("--download-only", LISTED, "toy_1.1.orig.tar.gz"))
    with pytest.raises(BuildError, match=f"did not bring {ARCHIVE}"):
        sources._from_debian(SOURCE, tmp_path)


def test_a_clients_own_words_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _runs(monkeypatch, ("download", process.Outcome(1, "", "ERROR: no matching distribution"), ""))
    with pytest.raises(BuildError, match="no matching distribution"):
        sources._from_pypi(SOURCE, tmp_path)


CANARY = 'import os, pathlib; pathlib.Path(os.environ["CANARY"]).write_text("code of the archive ran")\n'
HOSTILE = _archive(
    {
        "toy-1.0/setup.py": CANARY.encode(),
        "toy-1.0/own.py": CANARY.encode(),
        "toy-1.0/pyproject.toml": (
            b'[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n'
        ),
        "toy-1.0/arcfour.c": b"",
    }
)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package index on this machine's own loopback, with one archive; gives the canary's path."""
    project = tmp_path / "index" / "toy"
    project.mkdir(parents=True)
    (project / "toy-1.0.tar.gz").write_bytes(HOSTILE)
    (project / "index.html").write_text('<!DOCTYPE html><a href="toy-1.0.tar.gz">toy-1.0.tar.gz</a>')

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *arguments: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=tmp_path / "index")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name in [name for name in os.environ if name.startswith("PIP_")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.setenv("CANARY", str(tmp_path / "canary"))
        yield tmp_path / "canary"
        server.shutdown()


def test_nothing_of_a_source_distribution_is_run(tmp_path: Path, index: Path) -> None:
    plain = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "toy==1.0"]
    process.run([*plain, "--dest", str(tmp_path)], cwd=tmp_path)
    assert index.exists(), "pip alone runs the archive's code: without that this test shows nothing"
    index.unlink()
    folder = _library(tmp_path / "toy", ("pypi", _pin(HOSTILE)))
    described = (folder / "library.toml").read_text().replace(ARCHIVE, "toy-1.0.tar.gz")
    (folder / "library.toml").write_text(described)
    assert (source_root(folder) / "own.py").is_file()
    assert not index.exists()


def test_a_release_that_the_index_has_not_is_told_in_pips_words(tmp_path: Path, index: Path) -> None:
    with pytest.raises(BuildError, match=r"toy==2\.0"):
        sources._from_pypi(replace(SOURCE, client="pypi", version="2.0", file="toy-2.0.tar.gz"), tmp_path)


def test_an_archive_is_named_without_a_path(tmp_path: Path) -> None:
    folder = _library(tmp_path / "toy", ("pypi", _pin(GOOD)))
    described = (folder / "library.toml").read_text().replace(ARCHIVE, "../toy.tar.gz")
    (folder / "library.toml").write_text(described)
    with pytest.raises(InputError, match=r"file '\.\./toy\.tar\.gz' is a path"):
        sources_of(folder)


@pytest.mark.parametrize("client", ["debian", "pypi", "crate"])
@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('package = "toy"', 'package = "--log={there}"', "'package' is '--log="),
        ('package = "toy"', 'package = "-o=Dir::Bin::dpkg=x"', "'package' is '-o=Dir"),
        ('package = "toy"', 'package = "toy @ file:///x"', "'package' is 'toy @ file"),
        ('package = "toy"', 'package = "../toy"', "'package' is '../toy'"),
        ('package = "toy"', 'package = ""', "'package' is ''"),
        ('version = "1.0"', 'version = "/../../x"', "'version' is '/../../x'"),
        ('version = "1.0"', "version = '1.0\"\\npath = \"x'", "'version' is "),
        (f'file = "{ARCHIVE}"', 'file = "**x"', "'file' is '**x'"),
        (f'file = "{ARCHIVE}"', 'file = ".."', "'file' is '..'"),
    ],
)
def test_a_client_is_given_names_and_no_options(
    client: str, old: str, new: str, told: str, tmp_path: Path
) -> None:
    folder = _library(tmp_path / "toy", (client, _pin(GOOD)))
    described = (folder / "library.toml").read_text()
    assert old in described
    (folder / "library.toml").write_text(
        described.replace(old, new.replace("{there}", str(tmp_path / "log")))
    )
    with pytest.raises(InputError) as caught:
        source_root(folder)
    assert told in str(caught.value) and "library.toml" in str(caught.value)
    assert not (tmp_path / "log==1.0").exists()


def test_a_folder_named_like_the_archive_is_not_taken_for_it(tmp_path: Path) -> None:
    (tmp_path / ARCHIVE).mkdir()
    with pytest.raises(BuildError, match=f"did not bring {ARCHIVE}"):
        sources._found(tmp_path, SOURCE, process.Outcome(0, "", ""))


def test_a_crate_needs_cargo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(BuildError, match="cargo is not installed"):
        sources._from_crate(SOURCE, tmp_path)


def test_a_crate_is_taken_from_cargos_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/cargo")
    _runs(monkeypatch, ("fetch", process.Outcome(0, "", ""), "cargo/registry/cache/x/toy-1.0.crate"))
    assert sources._from_crate(SOURCE, tmp_path).name == "toy-1.0.crate"


CRATES = ("micro-ecc", "monocypher-ed25519", "pqclean")
"""Libraries that only cargo brings; without it their cells fail with that reason."""


def test_every_library_of_ours_is_pinned() -> None:
    for library in Catalog.load().libraries.values():
        if library.fetched:
            places = sources_of(library.folder)
            assert places and all(place.sha256 and place.folder for place in places), library.name
            # What every Debian has: apt-get with the release named, or pip. Neither has the rest.
            assert places[0].client == "pypi" or places[0].releases or library.name in CRATES, library.name
